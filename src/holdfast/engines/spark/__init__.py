"""Tables in Spark: counted and drawn where they are, and written once."""

from holdfast.engines.spark.engine import SparkRelease, privatize

__all__ = ["SparkRelease", "privatize"]
