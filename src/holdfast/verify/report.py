"""What a verification found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError


class Damage(HoldfastError):
    """Something in a bundle is not as it must be; the message names it."""


def shown(text: Any, width: int = 60) -> str:
    r"""Text from a bundle that nobody has checked, made safe for a screen.

    >>> shown("table.csv"), shown("\x1b[2Jhello")
    ("'table.csv'", "'\\x1b[2Jhello'")
    """
    words = ascii(text)
    return words if len(words) <= width else words[: width - 3] + "..."


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of a bundle."""

    name: str
    """What was looked at."""
    passed: bool | None
    """None where it could not be looked at because of an earlier failure."""
    detail: str
    """What was found; for a failure, the damage."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `holdfast.verify` found; true if every check passed.

    >>> bool(Verification(folder=Path("r"), checks=(Check(name="a", passed=None, detail=""),)))
    False
    """

    folder: Path
    """The bundle that was looked at."""
    checks: tuple[Check, ...]
    """Every check, in the order in which they were made."""
    simulated: bool | None = None
    """Whether the release says that it is a simulation; None where that could not be read."""

    @property
    def passed(self) -> bool:
        """Whether every check was made and passed."""
        return all(check.passed is True for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def damage(self) -> tuple[str, ...]:
        """What is wrong, one sentence a failed check."""
        return tuple(check.detail for check in self.checks if check.passed is False)

    def require(self) -> None:
        """Raise a `HoldfastError` that names the damage, if there is any."""
        if self.passed:
            return
        words = " ".join(self.damage)
        if "Hint:" in words:  # of another schema, which is no damage
            raise HoldfastError(f"`{self.folder}` cannot be read by this holdfast: {words}")
        raise HoldfastError(
            f"`{self.folder}` is not a whole holdfast release: {words} "
            "Hint: get it again from its maker."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "folder": str(self.folder),
            "passed": self.passed,
            "simulated": self.simulated,
            "checks": [
                {"check": check.name, "passed": check.passed, "detail": check.detail}
                for check in self.checks
            ],
        }
