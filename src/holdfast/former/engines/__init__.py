"""The ways to run both stages: in memory, over a stream, on Spark, inside OpenDP."""
