"""The second reader: what a bundle says, computed again by code of its own.

docs/bundle.md is what it goes by. What it borrows from the maker is listed in docs/verify.md; no
promise rests on that.
"""
