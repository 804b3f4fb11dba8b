"""Tables in Spark: counted and drawn where they are, and written once."""

from holdfast.engines.spark.engine import privatize
from holdfast.engines.spark.release import SparkRelease, SparkTableRelease

__all__ = ["SparkRelease", "SparkTableRelease", "privatize"]
