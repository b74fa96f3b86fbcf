"""Smooth motion between events, the active contacts as equations, and what a step's error leaves of those taken out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import least, product, solve
from mcsim.event import active
from mcsim.event.active import Closed, Forces
from mcsim.event.methods import STEPS, Rates, Step, Track
from mcsim.event.model import Model

AJAR = 1e-6  # [m] gaps of active contacts that are smaller are closed
SHUT = 1e-16  # [m] gaps of active contacts that are no larger stay as they are


class Smooth:
    """Steps of the integrator named `method`."""

    model: Model
    step_of: Callable[[Rates, float, np.ndarray, float, np.ndarray], Step]

    def __init__(self, model: Model, method: str) -> None:
        self.model, self.step_of = model, STEPS[method]

    def advance(
        self, time: float, y: np.ndarray, h: float, closed: Closed
    ) -> tuple[Track, np.ndarray, Forces | None, float]:
        """-> Track, state at its end, Forces at its beginning, estimated error."""
        model, system = self.model, self.model.system
        first = model.forces(y, closed) if closed.count or model.jointed else None

        def rates(_: float, y: np.ndarray) -> np.ndarray:
            if first is None:
                return system.rates(y, system.accelerations(y))  # balls in flight: nothing else is needed
            return system.rates(y, active.active_accelerations(model.kinds, closed, model.instant(y), first.enough))

        begin = system.rates(y, first.accelerations) if first is not None else rates(time, y)
        track, y1, error = self.step_of(rates, time, y, h, begin)
        if not np.isfinite(y1).all():
            raise SimulationError(
                f"t = {time + h:.9g} s: the state is not finite; a smaller dt may help; the last good state is kept"
            )
        return track, system.normalized(y1.copy()), first, error


def projected(model: Model, y: np.ndarray, closed: Closed, enough: np.ndarray | None = None) -> np.ndarray:
    """y with the errors of joints and of active contacts, and their rates, taken out: what a step's error leaves.
    enough: which of the contacts' equations are (Forces)."""
    if not closed.count and not model.jointed:
        return y
    y = model.instant(y).closed()
    if not closed.count:
        return y
    contacts = closed.contacts
    instant = model.instant(y)
    rows = model.rows(contacts, instant.poses)
    gaps = model.gaps_of(contacts, instant.poses)
    near = np.abs(gaps) < AJAR
    if np.max(np.abs(gaps[near]), initial=0.0) > SHUT:
        R = rows.R[::3][near]
        G, X = instant.answer(R)
        y = model.system.displaced(y, product(X, least(product(G, X), -gaps[near])[0]))
    own = closed.equations if enough is None else closed.equations[enough]
    R, rates = rows.R[own], rows.rates[own]
    G, X = instant.answer(R)
    A = product(G, X)
    push = least(A, -rates)[0] if enough is None else solve(A, -rates)
    return model.system.with_velocities(y, instant.u + product(X, push))
