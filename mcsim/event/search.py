"""The first event of a smooth step: which gaps become zero in it and which active contacts cease to hold, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mcsim.core.linear import lengths
from mcsim.event import active
from mcsim.event.active import Closed, Forces, Key
from mcsim.event.features import FAR
from mcsim.event.methods import Track
from mcsim.event.model import OVERLAP, STRUCK, Model
from mcsim.event.roots import later, root

LOOKAHEAD = 1e-3  # part of a step by which the LCP of a force that would pull is posed later


class Event(NamedTuple):
    """The next event of a step: t, in parts of it; what; key: (kind of pairs, number); which of the active contacts."""

    t: float
    what: str
    key: tuple[int, int]
    which: int = -1


class Search:
    """Over the polynomials of steps of a Model. It keeps nothing."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def first_event(
        self, y: np.ndarray, track: Track, y1: np.ndarray, h: float, closed: Closed
    ) -> tuple[Event | None, Forces | None, list[np.ndarray]]:
        """-> the earliest Event of a step or None, the Forces at its end, and the gaps there, of each kind."""
        events, gaps = self.gains(y, track, y1, h, closed)
        last = None
        if closed.count:
            last = self.model.forces(y1, closed)
            events += self._changes(track, y1, closed, last)
        return min(events, key=lambda event: event.t, default=None), last, gaps

    def gains(
        self, y: np.ndarray, track: Track, y1: np.ndarray, h: float, closed: Closed
    ) -> tuple[list[Event], list[np.ndarray]]:
        """-> the Events of gaps that become zero, and the gaps at the end, of each kind."""
        found, after, before = [], [], self.model.measured(y)
        pieces = [part[0] for part in before]
        poses = self.model.poses(y1)
        held = set(closed.contacts.keys)
        speeds = lengths(poses.v)
        if len(self.model.kinds) > self.model.shapes:
            speeds += lengths(poses.w)  # of angles
        fastest = 2.0 * h * np.max(speeds, initial=0.0)
        for i, pairs in enumerate(self.model.kinds):
            start, end = before[i][1], pairs.gaps(poses, pieces[i])
            after.append(end)
            for k in self._suspects(i, y, y1, start, end, max(fastest, 1e-300), pieces[i]):
                if (i, int(k)) not in held:
                    t = self._gain(track, i, int(k), pieces[i], start[k], end[k], h)
                    if t is not None:
                        found.append(Event(t, "gain" if start[k] > STRUCK or t > 0.0 else "regain", (i, int(k))))
        return found, after

    def _suspects(
        self, i: int, y: np.ndarray, y1: np.ndarray, start: np.ndarray, end: np.ndarray, fastest: float, pieces: np.ndarray
    ) -> list[int]:
        """Numbers of the pairs of kind i whose gaps may become zero within the step: those that are negative at its
        end, those that touch at its beginning, and those that may dip below zero between: near, closing, then
        opening."""
        near = np.minimum(start, end) < np.maximum(fastest, np.abs(end - start))
        sure = (end < 0.0) | (start <= STRUCK)
        dips = np.flatnonzero(near & ~sure & (end < FAR) & (start < FAR))
        if len(dips):
            slow, fast = self.model.gap_rates(y, i, dips, pieces), self.model.gap_rates(y1, i, dips, pieces)
            dips = dips[(slow < 0.0) & (fast > 0.0)]
        return [*np.flatnonzero(sure), *dips]

    def _gain(self, track: Track, i: int, k: int, pieces: np.ndarray, start: float, end: float, h: float) -> float | None:
        """When gap k of kind i becomes zero, in parts of the step; None if it does not."""
        gap_of, piece = self.model.kinds[i].gap_of, int(pieces[k])
        level = min(start, 0.0) if start < -STRUCK else 0.0  # what overlaps already may open first

        def gap(t: float) -> float:
            return gap_of(k, piece, self.model.poses(track(t))) - level

        def rate(t: float) -> float:
            return float(self.model.gap_rates(track(t), i, np.array([k]), pieces)[0])

        if end == FAR:
            return None
        if start > STRUCK:
            if end < 0.0:
                return root(gap, 0.0, 1.0)
            lowest = root(lambda t: -rate(t), 0.0, 1.0)
            return root(gap, 0.0, lowest) if gap(lowest) < 0.0 else None
        opening, end = rate(0.0), end - level
        if end >= -OVERLAP and (end >= 0.0 or opening <= active.STILL):
            return None
        if opening <= active.STILL:
            return self._regained(gap)
        # It opens now and is closed at the end: a bounce within the step, which ends at about -2 v / a.
        bend = 2.0 * (end - opening * h)
        low = min(-opening * h / bend, 0.5)
        while gap(low) <= 0.0:
            low *= 0.25
            if low < 1e-12:
                return 0.0
        high = low
        while gap(high) > 0.0:
            low, high = high, min(2.0 * high, 1.0)
        return root(gap, low, high)

    @staticmethod
    def _regained(gap: Callable[[float], float]) -> float:
        """When a contact at rest, which is not active, closes again: at once (0), or where it has opened a little
        before, in parts of the step."""
        open_at = 0.0
        for t in later(1e-6):
            value = gap(t)
            if value > STRUCK:
                open_at = t
            elif value < -STRUCK:
                return root(gap, open_at, t) if open_at > 0.0 else 0.0
        return 0.0

    def _changes(self, track: Track, y1: np.ndarray, closed: Closed, last: Forces) -> list[Event]:
        """Active contacts that pull, slip or go over an edge, by the end of the step."""
        events, decided = [], False
        for which, what in self._violated(closed, last, y1):

            def margin(t: float, which: int = which, what: str = what) -> float:
                return self._margin(track(t), closed, which, what)

            if what in ("leave", "slip") or not last.redundant:
                value = margin(0.0)
                t = 0.0 if value <= 0.0 else root(margin, 0.0, 1.0)
            elif decided:
                continue
            else:
                decided = True
                if self._holds(y1, closed):
                    continue
                t = self._let_go(track, closed)
            events.append(Event(t, what, closed.contacts.keys[which], which))
        return events

    def _let_go(self, track: Track, closed: Closed) -> float:
        """When redundant contacts cease to have forces that keep them as they are."""

        def holds(t: float) -> float:
            return 1.0 if self._holds(track(t), closed) else -1.0

        return 0.0 if holds(0.0) < 0.0 else root(holds, 0.0, 1.0)

    def _violated(self, closed: Closed, forces: Forces, y: np.ndarray) -> list[tuple[int, str]]:
        """[(which, what)] of the active contacts whose conditions fail."""
        found = active.pulls(closed, forces)
        found += [(k, "slip") for k in np.flatnonzero((closed.modes == active.SLIP) & (forces.speeds < 0.0)).tolist()]
        poses = self.model.poses(y)
        for k, (i, number) in enumerate(closed.contacts.keys):
            if self.model.leaving(poses, i, number, closed.contacts.piece[k]) > 0.0:
                found.append((k, "leave"))
        return [(int(k), what) for k, what in found]

    def _margin(self, y: np.ndarray, closed: Closed, which: int, what: str) -> float:
        """Positive while a contact's condition holds."""
        if what == "leave":
            i, number = closed.contacts.keys[which]
            return -self.model.leaving(self.model.poses(y), i, number, closed.contacts.piece[which])
        forces = active.active_forces(self.model.kinds, closed, self.model.instant(y))
        if what == "slip":
            return float(forces.speeds[which])
        part = forces.forces[3 * which : 3 * which + 3]
        return float(
            part[0]
            if what == "force"
            else active.friction_margin(part, closed.contacts.friction[which], closed.contacts.load[which])
        )

    def _holds(self, y: np.ndarray, closed: Closed) -> bool:
        """Whether redundant contacts, whose least forces fail, have others that keep them closed as they are."""
        instant = self.model.instant(y)
        found = active.resolve(self.model.kinds, closed.contacts, instant)
        return found.status == "solved" and bool(found.rest.all()) and np.array_equal(found.closed.modes, closed.modes)

    def sunk(self, track: Track, key: Key) -> float:
        """When a contact that is regained at once is clearly too deep: there the LCP sees why."""
        i, k = key
        pairs = self.model.kinds[i]
        for t in later(LOOKAHEAD):
            poses = self.model.poses(track(t))
            if pairs.gap_of(k, pairs.pieces(poses)[k], poses) < -0.1 * OVERLAP:
                return t
        return 1.0
