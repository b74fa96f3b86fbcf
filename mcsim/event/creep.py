"""Implicit steps of first order, over what the integrator and the events between its steps do not get past."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import product
from mcsim.event import active
from mcsim.event.active import Contacts, Key, Kinds, Measured, Rows
from mcsim.event.features import FAR, TOUCHING
from mcsim.event.log import Log
from mcsim.event.methods import Track
from mcsim.event.model import Model
from mcsim.event.search import Event, Search
from mcsim.event.smooth import projected
from mcsim.solve.problems.coulomb import cone

CREEP_ROUNDS = 6  # of an implicit step, each with the contacts that the last one found to close
SOFT = 4.0  # times what a free body gains in an implicit step: slower, what closes in it does not bounce
SUNK = 1e-6  # [m] contacts that overlap by more after an implicit step ask for a shorter one
HELD = 1e-3  # part of the largest impulse that the error of an implicit step may be


class Creep:
    """Steps of a Model that meet Coulomb's law as a whole; what they give and note goes into the Log."""

    model: Model
    search: Search
    log: Log

    def __init__(self, model: Model, search: Search, log: Log) -> None:
        self.model, self.search, self.log = model, search, log

    def advance(self, time: float, y: np.ndarray, h: float, left: float, most: int) -> tuple[np.ndarray, float]:
        """At most so many implicit steps, until something is gained. -> state, seconds"""
        done = 0.0
        for _ in range(most):
            step = h if left - done > 1.5 * h else left - done
            if step <= 1e-13 * left:
                break
            y, passed = self._creep(time + done, y, step)
            done += passed
            if passed < step:
                break
        return y, done

    def _creep(self, time: float, y: np.ndarray, h: float) -> tuple[np.ndarray, float]:
        """An implicit step of h, or to the first gap that becomes zero: contacts that hardly slip turn their slip so
        fast that the integrator gets nowhere. A shorter one where bodies would overlap after it. -> state, seconds"""
        for soft in (True, False, False, False, False):
            end, part, contacts, rows, impulses = self._implicit(time, y, h, soft)
            if not self._sank(y, end, contacts) and not self.model.missed(y, end):
                break
            h *= 1.0 if soft else 0.25
        for k, key in enumerate(contacts.keys):
            self.log.add(key, product(part * impulses[3 * k : 3 * k + 3], rows.axes[k]), rows.point[k], rows.axes[k, 0])
        self.log.note(
            "creep",
            contacts,
            f"t = {time:.9g} s: contacts {self.log.among(contacts)} hardly slip; they "
            "were stepped over by implicit steps of first order",
        )
        shut = self.model.gaps_of(contacts, self.model.poses(end)) <= TOUCHING  # a step cut short leaves some open
        return projected(self.model, end, active.smoothly(contacts.of(shut & (impulses[::3] > 0.0)))), part * h

    def _implicit(
        self, time: float, y: np.ndarray, h: float, soft: bool
    ) -> tuple[np.ndarray, float, Contacts, Rows, np.ndarray]:
        """Velocities after it meet Coulomb's law with the impulses of the whole step (J. J. Moreau), positions move with
        the mean of both velocities, or where contacts close at its beginning, with those after: the mean would keep half
        of that. What would sink in at once is a contact too; if `soft`, also gaps that close in it too slowly to bounce,
        for which the velocities leave room (D. Stewart, J. Trinkle). -> state, part of h, contacts, rows, impulses"""
        instant, measured = self.model.instant(y), self.model.measured(y)
        contacts = self.model.touching(y)
        slow = SOFT * h * max(np.max(np.abs(instant.free), initial=0.0), 1e-300)
        for rounds in range(CREEP_ROUNDS):
            rows = self.model.rows(contacts, instant.poses)
            G, X = instant.answer(rows.R)
            d = product(G, instant.free) + instant.bias(rows.R) + rows.curvature
            gaps = self.model.measured_gaps(y, contacts)
            room = np.where((gaps > TOUCHING) & (gaps < FAR), gaps, 0.0) / h
            answer = cone(
                product(G, X),
                rows.rates + h * d + np.repeat(room, 3) * np.tile([1.0, 0.0, 0.0], len(room)),
                contacts.friction,
                h * contacts.load,
            )
            impulses = answer.impulses
            if not answer.residual <= HELD * np.max(np.abs(impulses), initial=0.0):
                raise SimulationError(
                    f"t = {time:.9g} s: no impulses keep bodies apart {self.log.among(contacts)}; the "
                    "last good state is kept"
                )
            after = instant.u + h * instant.free + product(X, impulses)
            approaching = np.min(rows.rates[::3], initial=0.0) < -active.STILL
            moved = h * after if approaching or np.any(room) else 0.5 * h * (instant.u + after)
            y1 = self.model.system.with_velocities(self.model.system.displaced(y, moved), after)
            track = Track([y, y1 - y])
            events, _ = self.search.gains(y, track, y1, h, active.smoothly(contacts))
            first = min(events, key=lambda event: event.t, default=None)
            missed = [event.key for event in events if event.t == 0.0 or soft and self._soft(event, track, measured, slow)]
            if first is None or first.key not in missed or rounds == CREEP_ROUNDS - 1:
                break
            contacts = _with(self.model.kinds, contacts, missed, measured)
        part = min((event.t for event in events if event.t > 0.0), default=1.0)
        return self.model.system.normalized(track(part)), part, contacts, rows, impulses

    def _sank(self, y: np.ndarray, end: np.ndarray, contacts: Contacts) -> bool:
        """Whether contacts overlap more at the end than they did."""
        before, after, kinds = self.model.poses(y), self.model.poses(end), self.model.kinds
        return any(
            kinds[i].gap_of(k, piece, after) < min(kinds[i].gap_of(k, piece, before), 0.0) - SUNK
            for (i, k), piece in zip(contacts.keys, contacts.piece.tolist())
        )

    def _soft(self, event: Event, track: Track, measured: Measured, speed: float) -> bool:
        """Whether a gap that is one at the step's beginning closes no faster than that."""
        i, k = event.key
        pieces, gaps, _ = measured[i]
        return gaps[k] < FAR and self.model.gap_rates(track(event.t), i, np.array([k]), pieces)[0] > -speed


def _with(kinds: Kinds, contacts: Contacts, keys: Iterable[Key], measured: Measured) -> Contacts:
    """Contacts and those of keys besides."""
    every = set(contacts.keys) | set(keys)
    chosen = [np.array(sorted(k for kind, k in every if kind == i), np.intp) for i in range(len(kinds))]
    return active.gathered(kinds, [(own, measured[i][0][own]) for i, own in enumerate(chosen)])
