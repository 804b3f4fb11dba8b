"""The second reader of a bundle, apart from the code that made it: `holdfast.verify`.

Nothing here imports a constructor, the mechanism, the release or the bundle. It reads the format
of docs/bundle.md and repeats every claim. It borrows the smooth fit and the words of a bundle, on
which no privacy claim rests.
"""

from holdfast.verify.report import Check, Damage, Failure, Verification
from holdfast.verify.several import verify

__all__ = ["Check", "Damage", "Failure", "Verification", "verify"]
