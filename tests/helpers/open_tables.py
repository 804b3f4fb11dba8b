"""Tables opened for a test: their counts, their marks, and what is said where they are refused."""

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.tables.table import open_table


def counts_of(table, name=None):
    """The counts of a column, all batches together."""
    name = table.counts[0] if name is None else name
    return np.concatenate([batch.counts[name] for batch in table.batches()])


def counts(source, **options):
    """The counts of the only column of a source, as a list."""
    return counts_of(open_table(source, **options)).tolist()


def zeros(source, **options):
    """Which rows are publicly known to be zero."""
    parts = [batch.structural_zero for batch in open_table(source, **options).batches()]
    return np.concatenate(parts).tolist()


def missing(source, **options):
    """Which rows have no count."""
    table = open_table(source, **options)
    return np.concatenate([b.missing[table.counts[0]] for b in table.batches()]).tolist()


def replaced(table, new):
    """The table with other counts in its only column of them."""
    return table.replace({table.counts[0]: np.asarray(new)})


def groups(source, **options):
    """The name of the group of each row, None where no count is measured."""
    table = open_table(source, **options)
    names = [*table.partition.names, None]
    return [names[group] for batch in table.batches() for group in batch.group.tolist()]


def written(table, path, new=None, further=()):
    """The bytes of a file to which a table was written, with counts that follow from the true ones;
    further columns get the numbers of the rows."""
    with table.writer(path, further=further) as file:
        pairs = (_numbered(batch, new, further) for batch in table.batches(published=True))
        for batch, numbers in table.ordered(pairs):
            file.write(batch, numbers)
    return path.read_bytes()


def _numbered(batch, new, further):
    change = (lambda own: own * 7 % 1000) if new is None else new
    numbers = {name: change(own) for name, own in batch.counts.items()}
    rows = np.arange(batch.start, batch.start + len(batch))
    return batch, numbers | dict.fromkeys(further, rows)


def refusal(source, secret="424242", **options):
    """What the error says; it never holds the distinctive value, nor chains a library's error."""
    with pytest.raises(HoldfastError) as caught:
        open_table(source, **options)
    message = str(caught.value)
    assert secret not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return message
