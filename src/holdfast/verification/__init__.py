"""The parts of `holdfast.verify`: a second reader of the bundle, apart from the code that made it.

Nothing here imports a constructor, a privatizer, the mechanism, the release or the bundle. It
reads the format of docs/bundle.md and repeats every claim in integers and fractions.
"""
