"""The second reader of a bundle, apart from the code that made it: `holdfast.verify`.

Nothing here imports a constructor, the mechanism or what writes a bundle. It reads the format of
docs/bundle.md and repeats every claim. It borrows the fits of stage 1 with their noise, and the
words of a bundle; no privacy claim rests on these.
"""

from holdfast.former.verify.report import Check, Damage, Failure, Verification
from holdfast.former.verify.several import verify

__all__ = ["Check", "Damage", "Failure", "Verification", "verify"]
