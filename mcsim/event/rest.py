"""Contacts at rest: which of them are active, with what forces, and what is done where no forces go on."""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import least, lengths, product
from mcsim.event import active
from mcsim.event.active import Closed, Contacts
from mcsim.event.log import Log
from mcsim.event.model import Model


class Rest:
    """Contacts at rest of a Model; what stops a slip, and notes, go into the Log."""

    model: Model
    log: Log

    def __init__(self, model: Model, log: Log) -> None:
        self.model, self.log = model, log

    def active_set(
        self, time: float, y: np.ndarray, contacts: Contacts, later: np.ndarray | None = None
    ) -> tuple[np.ndarray, Closed | None]:
        """The active set of those contacts that touch and are at rest; None where only impulses could go on."""
        instant = self.model.instant(y)
        rates = self.model.rows(contacts, instant.poses).rates.reshape(-1, 3)
        slow = rates[:, 0] <= active.STILL
        contacts, rates = contacts.of(slow), rates[slow]
        posed = instant if later is None else self.model.instant(later)
        found = active.resolve(self.model.kinds, contacts, posed, rates[:, 1:])
        if found.status == "none" and np.any(contacts.friction):
            stopped = self._stop(time, y, contacts)
            if stopped is not None:
                y, found = stopped, active.resolve(self.model.kinds, contacts, self.model.instant(stopped))
            if found.status == "none":
                self.log.note(
                    "painleve",
                    contacts,
                    f"t = {time:.9g} s: the contact forces of a slip have no solution "
                    f"(Painlevé) {self.log.among(contacts)}, and no impulse ends it: it was stepped over",
                )
                return y, None
        if found.status == "several":
            self.log.note(
                "painleve",
                contacts,
                f"t = {time:.9g} s: the contact forces of a slip have several "
                f"solutions (Painlevé) {self.log.among(contacts)}; the one with the least forces was taken",
            )
        if found.status == "none" and not np.any(contacts.friction):
            text = f"t = {time:.9g} s: no forces keep bodies apart {self.log.among(contacts)}"
            self.log.note("unsolvable", contacts, text)
            raise SimulationError(
                f"{text}: they are held between surfaces that close in on them; the last good state is kept"
            )
        if found.status == "limit":
            self.log.note(
                "not converged",
                contacts,
                f"t = {time:.9g} s: which contacts stick or slip {self.log.among(contacts)} was not found to rounding",
            )
        return y, self._loaded(y, found)

    def _loaded(self, y: np.ndarray, found: active.Resolution) -> Closed:
        """What is active, with given forces where it is redundant and the least will not do: they would pull, or are not
        enough to stick, or give other accelerations, by what slips differently. Then those that were found, or if they
        may be, some between them and the least, which hold for longer."""
        closed = found.closed
        if not closed.count:
            return closed
        least = self.model.forces(y, closed)
        if not least.redundant or not closed.slips and not active.pulls(closed, least):
            return closed
        given = closed.bearing(found.forces)
        forces = self.model.forces(y, given)
        change = np.max(np.abs(forces.accelerations - least.accelerations))
        if change > active.WEAK * np.max(np.abs(least.accelerations)):
            return given
        for part in (0.5, 0.25, 0.125, 0.0625):
            between = closed.bearing(found.forces + part * (least.forces[closed.equations] - found.forces))
            if not active.pulls(closed, self.model.forces(y, between)):
                return between
        return given

    def _stop(self, time: float, y: np.ndarray, contacts: Contacts) -> np.ndarray | None:
        """An impact without a collision: where slipping has no solution, it ends at once. The impulse is the least that
        stops the slip of the slipping contacts and keeps all closed; None if it is not one that friction can give."""
        instant = self.model.instant(y)
        rows = self.model.rows(contacts, instant.poses)
        speeds = lengths(rows.rates.reshape(-1, 3)[:, 1:])
        rubbing = np.where(contacts.load > 0.0, 0.0, contacts.friction)
        stopped = np.flatnonzero((rubbing > 0.0) & (speeds > active.STILL))
        own = np.sort(np.concatenate([3 * np.arange(len(speeds)), 3 * stopped + 1, 3 * stopped + 2]))
        G, X = instant.answer(rows.R)
        impulse = np.zeros(len(rows.rates))
        impulse[own], _ = least(product(G, X)[np.ix_(own, own)], -rows.rates[own])
        parts = impulse.reshape(-1, 3)
        size = np.max(np.abs(parts))
        if np.any(
            [
                part[0] < -active.WEAK * size or active.friction_margin(part, mu, 0.0) < -active.WEAK * size
                for part, mu in zip(parts, rubbing)
            ]
        ):
            return None
        self.log.note(
            "painleve",
            contacts,
            f"t = {time:.9g} s: the contact forces of a slip have no solution "
            f"(Painlevé) {self.log.among(contacts)}: it was stopped by an impulse",
        )
        self.log.struck(time, contacts, rows, impulse)
        return self.model.system.with_velocities(y, instant.u + product(X, impulse))
