"""What a verification found."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError


class Failure(Enum):
    """Why a check did not pass."""

    DAMAGE = "damage"
    """The release is not as it must be."""
    OTHER_SCHEMA = "other schema"
    """The release was made by a holdfast whose bundles this one does not read."""
    BESIDE = "beside"
    """Something else lies in the folder; it was not opened."""
    MACHINE = "machine"
    """The check could not be made here; that says nothing about the release."""


_VERDICTS = {
    None: "All that follows from the measurement was recomputed and holds.",
    Failure.DAMAGE: "This release is damaged. Get it again from its maker.",
    Failure.BESIDE: "A file that does not belong is in the folder. The rest holds.",
    Failure.OTHER_SCHEMA: "Another version of holdfast made this release; it was not checked.",
    Failure.MACHINE: "This release could not be checked on this machine.",
}


class Damage(HoldfastError):
    """Something in a bundle is not as it must be, or cannot be looked at; the message names it."""

    def __init__(self, message: str, failure: Failure = Failure.DAMAGE) -> None:
        super().__init__(message)
        self.failure = failure


class Found(NamedTuple):
    """What a check that passed has found."""

    detail: str
    warning: str | None = None
    """What a reader should know all the same."""


def shown(text: Any, width: int = 60) -> str:
    r"""Text from a bundle that nobody has checked, made safe for a screen.

    >>> shown("table.csv"), shown("\x1b[2Jhello")
    ("'table.csv'", "'\\x1b[2Jhello'")
    """
    words = ascii(text)
    return words if len(words) <= width else words[: width - 3] + "..."


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of a bundle.

    >>> import holdfast
    >>> check = holdfast.verify("no such folder").checks[0]
    >>> check.name, check.passed, check.failure.name  # there is nothing to look at
    ('folder', None, 'MACHINE')
    """

    name: str
    """What was looked at."""
    passed: bool | None
    """None where it was not made: because of an earlier failure, or of the machine."""
    detail: str
    """What was found; for a failure, the damage."""
    failure: Failure | None = None
    """Why it did not pass; None where it passed, or was not made because another failed."""
    warning: str | None = None
    """What a reader should know although it passed."""

    @property
    def held(self) -> bool:
        """Whether what needs it can be checked, as also beside a file that does not belong."""
        return self.passed is True or self.failure is Failure.BESIDE


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
    def failure(self) -> Failure | None:
        """Why it did not pass, the worst first; None if it passed."""
        failures = {check.failure for check in self.checks}
        order = (Failure.OTHER_SCHEMA, Failure.DAMAGE, Failure.MACHINE, Failure.BESIDE)
        return next((failure for failure in order if failure in failures), None)

    @property
    def verdict(self) -> str:
        """What it comes to, in a sentence."""
        if self.failure is None and self.warnings:
            return "What was recomputed holds, with a warning."
        return _VERDICTS[self.failure]

    @property
    def damage(self) -> tuple[str, ...]:
        """What is wrong, one sentence a failed check."""
        return tuple(check.detail for check in self.checks if check.passed is False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know although it passed."""
        return tuple(check.warning for check in self.checks if check.warning is not None)

    def require(self) -> None:
        """Raise a `HoldfastError` that names the damage, if there is any."""
        if self.passed:
            return
        reasons = (check.detail for check in self.checks if check.failure is self.failure)
        raise HoldfastError(f"`{self.folder}`: {' '.join(reasons)} {self.verdict}")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "folder": str(self.folder),
            "passed": self.passed,
            "failure": None if self.failure is None else self.failure.value,
            "simulated": self.simulated,
            "warnings": list(self.warnings),
            "checks": [
                {"check": check.name, "passed": check.passed, "detail": check.detail}
                for check in self.checks
            ],
        }
