"""Tables in Spark: counted and drawn where they are, and written once."""

from holdfast.former.engines.spark.engine import privatize
from holdfast.former.engines.spark.release import SparkRelease, SparkTableRelease

__all__ = ["SparkRelease", "SparkTableRelease", "privatize"]
