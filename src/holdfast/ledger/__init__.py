"""What each dataset may spend and has spent: paid before anything is measured, refused, or shown
again.

The promise rests on the paying half, which a reviewer reads in this order:

    entries.py      what is to be paid (charges: privacy/promise.py), what stands in a ledger
    book.py         all entries, and what several come to for one row and one day
    chain.py        every entry's hash, and the last one once more beside the releases
    sqlite_file.py  the file: one transaction at a time, all of it checked whenever it is opened
    recorder.py     limits are set, spends are recorded or refused
    pay.py          the one way to a release: paid, then measured; or stored before, and shown again

The other half grants nothing: `ledger.py` says what stands in a ledger, `recognition.py` and
`stored.py` know a release again, and let one of equal requests pay.
"""
