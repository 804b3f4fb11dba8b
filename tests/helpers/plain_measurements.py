"""Everything that a measurement holds, as plain values."""

from holdfast.release import record


def plain(measurement):
    """What a bundle says of it, and the noisy counts."""
    tally = measurement.tally
    noisy = [tally.groups, tally.group.tolist(), tally.value.tolist(), tally.rows.tolist()]
    return record.plain(measurement, "tally") | {"tally": noisy}
