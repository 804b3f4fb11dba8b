"""What each dataset may spend and has spent: paid before anything is measured, refused, or shown
again.

The promise rests on the paying half, which a reviewer reads in this order:

    request.py      what a release costs: charges, and the payment that asks for them
    overlaps.py     what several spends come to for one row and one day
    book.py         entries in the order of writing, and what is left by them
    chain.py        every entry's hash, and the last one once more beside the releases
    sqlite_file.py  the file: one transaction at a time, all of it checked whenever it is opened
    ledger.py       limits are set, spends are recorded or refused
    pay.py          the one way to a release: paid, then measured; or stored before, and shown again

The other half saves budget and never grants any: `recognition.py` and `stored.py` know a release
again, `corrections.py` compares labels, `waiting.py` lets one of equal requests pay, `receipts.py`
compares a published release with its spend, `composition.py` states less than the sum.
"""
