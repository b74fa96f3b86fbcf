"""Contacts that close: their impacts, in the order that was chosen, and the end of bounces that come ever faster."""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import dot, least, product
from mcsim.event import active
from mcsim.event.active import Closed, Contacts, Key, Rows
from mcsim.event.log import Log
from mcsim.event.model import STRUCK, Model
from mcsim.event.rest import Rest
from mcsim.event.systems import Instant
from mcsim.solve.problems.impacts import Blow

ZENO_TIME = 1e-6  # [s] a contact whose further bounces all end within this is taken as closed
ZENO_HEIGHT = 1e-13  # [m] ... as is one whose next bounce is lower than this, near what rounding tells apart
MOST_BOUNCES = 200  # ... as is one that bounces more often within one step


class Impacts:
    """law, order: names of the restitution's law and of how several impacts at one time go. bounces: how often each
    contact (kind, number) closed in this step."""

    model: Model
    log: Log
    rest: Rest
    law: str
    order: str

    def __init__(self, model: Model, log: Log, rest: Rest, law: str, order: str) -> None:
        self.model, self.log, self.rest, self.law, self.order = model, log, rest, law, order
        self.begin_step()

    def begin_step(self) -> None:
        """Count bounces from none."""
        self.bounces: dict[Key, int] = {}

    def bounced(self, key: Key) -> None:
        """A contact closed."""
        self.bounces[key] = self.bounces.get(key, 0) + 1

    def settle(self, time: float, y: np.ndarray, later: np.ndarray | None = None) -> tuple[np.ndarray, Closed | None]:
        """Impacts of what closes, then the active set. later: a state a little later, for the LCP."""
        contacts = self.model.touching(y)
        if not len(contacts.kind):
            return y, active.NOTHING_CLOSED
        instant = self.model.instant(y)
        rates = self.model.rows(contacts, instant.poses).rates[::3]
        gaps = self.model.measured_gaps(y, contacts)
        contacts = contacts.of((gaps <= STRUCK) | (np.abs(rates) <= active.STILL))
        if not len(contacts.kind):
            return y, active.NOTHING_CLOSED
        rows = self.model.rows(contacts, instant.poses)
        if np.min(rows.rates[::3]) < -active.STILL:
            y = self._strike(time, y, instant, contacts, rows)
            later = None
        return self.rest.active_set(time, y, contacts, later)

    def _strike(self, time: float, y: np.ndarray, instant: Instant, contacts: Contacts, rows: Rows) -> np.ndarray:
        """The impact of all contacts that touch."""
        G, X = instant.answer(rows.R)
        A = product(G, X)
        blow = Blow(A, rows.rates, contacts.restitution, np.where(contacts.load > 0.0, 0.0, contacts.friction))
        try:
            impulses, _, finished = blow.solve(self.law, self.order)
        except SimulationError as error:
            self.log.note("unsolvable", contacts, f"t = {time:.9g} s: {error}, {self.log.among(contacts)}")
            raise SimulationError(
                f"t = {time:.9g} s: {error}, {self.log.among(contacts)}; the last good state is kept"
            ) from None
        if blow.residual > 0.0:
            self.log.note(
                "not converged",
                contacts,
                f"t = {time:.9g} s: an impact {self.log.among(contacts)} was not "
                f"solved to rounding (residual {blow.residual:.3g} N s)",
            )
        if not finished:
            self.log.note(
                "sequence",
                contacts,
                f"t = {time:.9g} s: impacts in sequence {self.log.among(contacts)} had "
                "no end and were ended by a plastic one to all of them",
            )
        gained = dot(impulses, rows.rates + 0.5 * product(A, impulses))
        if gained > 1e-9 * max(self.model.system.energy(y), 1e-300):
            self.log.note(
                "gained energy",
                contacts,
                f"t = {time:.9g} s: an impact gained {gained:.3g} J "
                f"{self.log.among(contacts)}; restitution_law='stronge' gains none",
            )
        self.log.struck(time, contacts, rows, impulses)
        after = self.model.system.with_velocities(y, instant.u + product(X, impulses))
        self.model.same_gaps(after, y)
        return self._close(time, after, contacts, rows, (G, X), impulses)

    def _close(
        self,
        time: float,
        y: np.ndarray,
        contacts: Contacts,
        rows: Rows,
        answer: tuple[np.ndarray, np.ndarray],
        impulses: np.ndarray,
    ) -> np.ndarray:
        """Zeno: contacts whose further bounces all fall within ZENO_TIME, or below ZENO_HEIGHT, get their normal
        velocities set to zero."""
        G, X = answer
        rates = (rows.rates + product(G, product(X, impulses)))[::3]
        opening = np.flatnonzero(rates > active.STILL)
        if not len(opening):
            return y
        _, closed = self.rest.active_set(time, y, contacts)
        instant = self.model.instant(y)
        forces = active.active_forces(self.model.kinds, closed or active.NOTHING_CLOSED, instant)
        now = self.model.rows(contacts, instant.poses)
        falling = (product(G, forces.accelerations) + instant.bias(now.R) + now.curvature)[::3]
        chosen = []
        for k in opening:
            e = contacts.restitution[k]
            struck = impulses[3 * k] > 0.0
            if falling[k] >= 0.0:
                continue
            next_one = -2.0 * rates[k] / falling[k]
            endless = e >= 1.0 and struck
            ends_soon = not endless and next_one < ZENO_TIME * ((1.0 - e) if struck else 1.0)
            low = 0.25 * next_one * rates[k] < ZENO_HEIGHT
            if ends_soon or low or self.bounces.get(contacts.keys[k], 0) > MOST_BOUNCES:
                chosen.append(k)
        if not chosen:
            return y
        held = np.union1d(chosen, np.flatnonzero(rates <= active.STILL))
        own = 3 * held
        push, _ = least(product(G, X)[np.ix_(own, own)], -now.rates[own])
        some = contacts.of(np.array(chosen))
        self.log.note(
            "zeno",
            some,
            f"t = {time:.9g} s: bounces that come ever faster {self.log.among(some)} were ended: the contact is closed",
        )
        for k in chosen:
            self.log.tell(time, "close", contacts.keys[k], rows.point[k])
        return self.model.system.with_velocities(y, instant.u + product(X[:, own], push))
