"""What a simulation tells of itself: what happened and when, what each contact gave, and notes about bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from mcsim.core.linear import product
from mcsim.event.active import Closed, Contacts, Forces, Key, Rows
from mcsim.event.model import Model


class Happening(NamedTuple):
    """One event. time [s]; kind: "impact", "limit" (a joint's struck), "gain", "loss", "leave", "stick", "slip", "close";
    bodies (a, b), -1: the world; position (3,) [m]; normal_impulse [N s]; speed: at which the contact closed before,
    [m/s]; of an angle's limit [N m s] and [rad/s]."""

    time: float
    kind: str
    bodies: tuple[int, int]
    position: np.ndarray
    normal_impulse: float
    speed: float


class Log:
    """names: of the bodies; noted(kind, numbers of bodies, text) takes notes. impulses, points: of each contact of
    shapes (kind, number) what it gave in one step, and its last point and normal."""

    model: Model
    names: tuple[str, ...]
    noted: Callable[[str, Iterable[int], str], None]

    def __init__(self, model: Model, names: Iterable[str], noted: Callable[[str, Iterable[int], str], None]) -> None:
        self.model, self.names, self.noted = model, (*names, "the world"), noted
        self.begin()
        self.begin_step()

    def begin(self) -> None:
        """Forget what was reported."""
        self.happenings: list[Happening] = []

    def begin_step(self) -> None:
        """Forget what contacts gave."""
        self.impulses: dict[Key, np.ndarray] = {}
        self.points: dict[Key, tuple[np.ndarray, np.ndarray]] = {}

    def count(self, closed: Closed, first: Forces | None, last: Forces | None, seconds: float) -> None:
        """Add what active contacts gave, by the trapezoidal rule."""
        if first is None or last is None or last.rows is None:
            return  # nothing is active
        mean = 0.5 * (first.forces + last.forces).reshape(-1, 3) * seconds
        for k, key in enumerate(closed.contacts.keys):
            self.add(key, product(mean[k], last.rows.axes[k]), last.rows.point[k], last.rows.axes[k, 0])

    def add(self, key: Key, impulse: np.ndarray, point: np.ndarray, normal: np.ndarray) -> None:
        """A contact of shapes gave an impulse (3,) [N s]."""
        if key[0] >= self.model.shapes:
            return
        self.impulses[key] = self.impulses.get(key, 0.0) + impulse
        self.points[key] = point, normal

    def struck(self, time: float, contacts: Contacts, rows: Rows, impulses: np.ndarray) -> None:
        """Contacts were struck by impulses (3k,), and closed before at the rates of the rows."""
        parts, rates = impulses.reshape(-1, 3), rows.rates[::3]
        for k, key in enumerate(contacts.keys):
            if parts[k, 0] > 0.0:
                self.add(key, product(parts[k], rows.axes[k]), rows.point[k], rows.axes[k, 0])
                kind = "impact" if key[0] < self.model.shapes else "limit"
                self.tell(time, kind, key, rows.point[k], parts[k, 0], -rates[k])

    def tell(self, time: float, kind: str, key: Key, point: np.ndarray, impulse: float = 0.0, speed: float = 0.0) -> None:
        """Something happened to a pair of features."""
        world = len(self.names) - 1
        a, b = (-1 if body == world else body for body in self.model.kinds[key[0]].bodies[key[1]].tolist())
        self.happenings.append(Happening(time, kind, (a, b), point, float(impulse), float(speed)))

    def note(self, kind: str, contacts: Contacts, text: str) -> None:
        """About the bodies of contacts, for world.stats.notes."""
        self.noted(kind, set(contacts.bodies.ravel().tolist()) - {len(self.names) - 1}, text)

    def who(self, key: Key) -> str:
        """The names of the bodies of a pair of features, for messages."""
        a, b = self.model.kinds[key[0]].bodies[key[1]]
        return f"{self.names[a]!r} and {self.names[b]!r}"

    def among(self, contacts: Contacts) -> str:
        """The names of the bodies of contacts, for messages."""
        names = list(dict.fromkeys(self.names[i] for i in contacts.bodies.ravel()))
        return "between " + ", ".join(repr(name) for name in names[:6]) + (", ..." if len(names) > 6 else "")
