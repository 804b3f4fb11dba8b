"""The second reader of a bundle, apart from the code that made it: `holdfast.verify`.

Nothing here imports a constructor, a privatizer, the mechanism, the release or the bundle. It
reads the format of docs/bundle.md and repeats every claim in integers and fractions.
"""

from holdfast.verify.bundle import Check, Damage, Verification, verify

__all__ = ["Check", "Damage", "Verification", "verify"]
