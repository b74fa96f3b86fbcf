"""What a sample did: what it expected, and what came; times, errors and notes of its steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcsim.io import Recording
    from mcsim.scene import Scene


@dataclass(frozen=True)
class Expectation:
    """One thing that a sample says about its run.

    what: in words. value: what came; lower, upper: between which it should be; both None where `value` is True or False.
    unit: of the numbers.
    """

    what: str
    value: float | bool
    lower: float | None = None
    upper: float | None = None
    unit: str = ""

    @property
    def ok(self) -> bool:
        """Whether it came as expected."""
        if self.lower is None or self.upper is None:
            return bool(self.value)
        return bool(self.lower <= self.value <= self.upper)  # False for NaN

    def __str__(self) -> str:
        if self.lower is None or self.upper is None:
            return f"{self.what}: {'yes' if self.value else 'no'}"
        told = f"{self.what}: {self.value:.6g}{self.unit and ' ' + self.unit}, "
        if math.isinf(self.lower):
            return told + f"at most {self.upper:.6g}"
        if math.isinf(self.upper):
            return told + f"at least {self.lower:.6g}"
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        return told + f"expected {middle:.6g} ± {half:.3g}"


@dataclass
class Outcome:
    """What came of a sample.

    name; expectations; error: what ended it, as a sentence, or "". steps, bodies: how many;
    seconds: that steps took. joint_error: the worst of any joint at the times that were looked at [m or rad]; overlap: the
    deepest at the end [m], 0 for none. notes: kind -> in how many steps. scene, recording: to draw it, if it was recorded.
    """

    name: str
    expectations: list[Expectation] = field(default_factory=list)
    error: str = ""
    steps: int = 0
    bodies: int = 0
    seconds: float = 0.0
    joint_error: float = 0.0
    overlap: float = 0.0
    notes: dict[str, int] = field(default_factory=dict)
    scene: Scene | None = None
    recording: Recording | None = None

    @property
    def ok(self) -> bool:
        """Whether it ran to its end, and all came as expected."""
        return not self.failures

    @property
    def failures(self) -> list[str]:
        """What did not come as expected, a sentence each."""
        failed = [str(expectation) for expectation in self.expectations if not expectation.ok]
        return failed + [self.error] * bool(self.error)

    @property
    def milliseconds(self) -> float:
        """That a step took, on average."""
        return 1e3 * self.seconds / max(1, self.steps)

    def line(self) -> str:
        """One line: its name, and whether it was right or what was not."""
        return f"{self.name}: {'ok' if self.ok else '; '.join(self.failures)}"

    def to_dict(self) -> dict[str, Any]:
        """As data, for files."""
        return {
            "name": self.name,
            "ok": self.ok,
            "failures": self.failures,
            "steps": self.steps,
            "bodies": self.bodies,
            "seconds": self.seconds,
            "milliseconds_a_step": self.milliseconds,
            "joint_error": self.joint_error,
            "overlap": self.overlap,
            "notes": self.notes,
            "expectations": [str(expectation) for expectation in self.expectations],
        }
