"""Tables larger than memory: read in batches, written in batches, the same release."""

from holdfast.former.engines.stream.engine import privatize_stream

__all__ = ["privatize_stream"]
