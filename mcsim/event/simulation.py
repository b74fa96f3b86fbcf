"""The course of a step of the event-driven simulation, R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, table 11.1.

    settle    contacts that close are struck; of those that touch at rest the LCP says which are active
    advance   smooth motion, the active contacts as equations, until the first of the events on the step's polynomial:
                  gain    a gap becomes zero                       -> an impact, then settle
                  leave   a contact goes over an edge              -> settle
                  force   an active contact's force would pull     -> the LCP, posed a little later
                  stick   friction would be more than mu times it  -> the same
                  slip    slipping ends                            -> the LCP
    ... and from there again, to the end of the step.

Nothing is kept from one step to the next but the state: what is active is found anew at every step's beginning. So a
run goes on to the same bits from a state that was kept. What the words above stand for is in parts of their own:

    model     what moves, and its gaps and contact forces at a state          knows none of the others
    log       what happened, what contacts gave, notes                        model
    smooth    a step of the integrator; errors taken out                      model
    search    the first event of such a step                                  model
    rest      which contacts are active, and what is done if none can be      model, log
    impacts   what closes is struck; bounces without end                      model, log, rest
    creep     implicit steps, where events or slips keep a step from its end  model, log, search
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.trig import fifth_root
from mcsim.event import active
from mcsim.event.active import Closed, Key, Kinds, Measured
from mcsim.event.creep import Creep
from mcsim.event.features import TurnLimit
from mcsim.event.impacts import Impacts
from mcsim.event.log import Happening, Log
from mcsim.event.methods import Track
from mcsim.event.model import Model
from mcsim.event.rest import Rest
from mcsim.event.search import LOOKAHEAD, Event, Search
from mcsim.event.smooth import Smooth, projected
from mcsim.event.systems import AnySystem

__all__ = ["Event", "Happening", "Simulation"]

TOLERANCE = 1e-11  # estimated error of a step of dopri, relative to 1 + the state's size, at which it is kept
SHORTEST = 1e-10  # part of a step to which it is divided at most
MOST_STEPS = 20000  # of the integrator in one step
PATIENCE = 60  # steps of the integrator but those to an impact ...
# ... in which it must get on by this part of the step; else slips that hinder it are stepped over
PROGRESS = 1.0 / 16.0
CREEP = 1.0 / 64.0  # ... by implicit steps of this part of the step: one, then two, four, ...
MOST_IDLE = 12  # events at one time, after which the next moment is stepped over too
MOST_EVENTS = 5000  # of one step, beyond which it is given up
AGAIN = 20.0  # by how much longer than the last a step after an event may be


class Simulation:
    """system: FreeBodies or Tree; kinds: list of Pairs, of which the first `shapes` are contacts of shapes, the others
    bounds of joints; method, impacts, law: names; bodies' names for messages."""

    def __init__(
        self,
        system: AnySystem | None,
        kinds: Kinds,
        shapes: int,
        names: Iterable[str],
        note: Callable[[str, Iterable[int], str], None],
        method: str = "dopri",
        impacts: str = "simultaneous",
        law: str = "newton",
    ) -> None:
        self._model = Model(system, kinds, shapes)
        self._log = Log(self._model, names, note)
        self._smooth = Smooth(self._model, method)
        self._search = Search(self._model)
        self._impacts = Impacts(self._model, self._log, Rest(self._model, self._log), law, impacts)
        self._creep = Creep(self._model, self._search, self._log)

    def take(self, kinds: Kinds) -> None:
        """Other pairs of features from now on."""
        self._model.take(kinds)

    def begin(self) -> None:
        """Forget what was reported."""
        self._log.begin()

    # ---- a step ------------------------------------------------------------------------------------------------------

    def step(self, time: float, y: np.ndarray, h: float) -> np.ndarray:
        """The state h later; `impulses` then holds what each contact gave meanwhile."""
        model, settle = self._model, self._impacts.settle
        self._log.begin_step()
        self._impacts.begin_step()
        model.begin(h)
        self._let: tuple[float, Key] | None = None  # (time, key) of the last event but impacts
        done, end = 0.0, h
        y, closed = settle(time, projected(model, y, active.NOTHING_CLOSED))
        events, reach, key = 0, h, None
        idle, vain, goal, creeps = 0, 0, PROGRESS * h, 1
        for _ in range(MOST_STEPS):
            left = min(end - done, reach)
            if end - done <= 1e-13 * end:
                return y
            vain += 1
            stuck = closed is None or (vain > PATIENCE and done < goal and closed.slips)
            if vain > PATIENCE:
                vain, goal = 0, done + PROGRESS * h
            if closed is None or stuck or idle > MOST_IDLE:
                y, passed = self._creep.advance(time + done, y, CREEP * h, end - done, creeps)
                done, reach, idle, creeps = done + passed, h, 0, 2 * creeps
                model.follow(y)
                y, closed = settle(time + done, y)
                continue
            track, y1, first, error = self._smooth.advance(time + done, y, left, closed)
            fits = error <= TOLERANCE or left <= SHORTEST * h
            reach = left * min(max(0.9 * fifth_root(TOLERANCE / max(error, 1e-300)), 0.1), 5.0)
            if not fits:
                continue
            event, last, gaps = self._search.first_event(y, track, y1, left, closed)
            if left > SHORTEST * h and model.missed(y, y1 if event is None else track(event.t)):
                reach = 0.25 * left
                continue
            if event is None:
                self._log.count(closed, first, last, left)
                if not closed.count and not model.jointed:
                    model.remember(y1, y, gaps)
                enough = None if last is None or closed.slips else last.enough
                y, done = projected(model, y1, closed, enough), done + left
                model.follow(y)
                closed = closed if last is None or last.rows is None else closed.following(last.rows)
                continue
            self._log.count(closed, first, first, event.t * left)
            cut = left < end - done
            now = time + done + event.t * left
            done += event.t * left
            y = projected(model, track(event.t), closed) if event.t > 0.0 else y
            model.follow(y)
            y, closed = self._happened(event, now, y, closed, track)
            idle = idle + (MOST_IDLE // 2 if event.key == key else 1) if event.t * left <= 1e-13 * end else 0
            vain -= event.what == "gain"
            reach = min(h, AGAIN * left) if cut else h
            events, key = events + 1, event.key
            if events > MOST_EVENTS:
                break
        raise SimulationError(
            f"t = {time + done:.9g} s: {events} events and {MOST_STEPS} steps of the integrator were "
            "not enough for one step"
            f"{'' if key is None else ', the last event between ' + self._log.who(key)}"
            "; a smaller dt, or a restitution that is not nearly 1, may help; the last good state "
            "is kept"
        )

    def _happened(
        self, event: Event, now: float, y: np.ndarray, closed: Closed, track: Track
    ) -> tuple[np.ndarray, Closed | None]:
        """-> the state after an event, and what is active from there."""
        key = event.key
        if event.what == "gain":
            self._impacts.bounced(key)
            return self._impacts.settle(now, y)
        point, later = self._model.place_of(y, key), None
        if event.what == "regain":
            later = track(self._search.sunk(track, key))
        elif event.what in ("force", "stick", "leave"):
            later = track(event.t + LOOKAHEAD)
        y, after = self._impacts.settle(now, y, later=later)
        if event.what == "force" and self._let == (now, key) and after is not None:
            after = after.without(key)  # it lets go so slowly that the problem has it closed still
        self._let = now, key
        names = {"force": "loss", "stick": "slip", "slip": "stick", "leave": "leave", "regain": "gain"}
        self._log.tell(now, names[event.what], key, point)
        return y, after

    # ---- what it is about, and what it found -------------------------------------------------------------------------

    def touching(self, y: np.ndarray) -> set[Key]:
        """Pairs of features of shapes (kind, number) that touch, a set."""
        return {key for key in self._model.touching(y).keys if key[0] < self._model.shapes}

    def measure(self, y: np.ndarray, pieces: Sequence[np.ndarray] | None = None) -> Measured:
        """For each kind of pairs (pieces, gaps, leaving) at a state; at given pieces, or those nearest."""
        return self._model.measure(y, pieces)

    @property
    def system(self) -> AnySystem:
        """What moves: it may be set between steps."""
        return self._model.system

    @system.setter
    def system(self, system: AnySystem) -> None:
        self._model.system = system

    @property
    def kinds(self) -> Kinds:
        """List of Pairs."""
        return self._model.kinds

    @property
    def turns(self) -> list[TurnLimit]:
        """Those of them that are limits of angles."""
        return self._model.turns

    @property
    def happenings(self) -> list[Happening]:
        """List of what happened since `begin`."""
        return self._log.happenings

    @property
    def impulses(self) -> dict[Key, np.ndarray]:
        """Of each contact (kind, number) what it gave in the last step (3,) [N s]."""
        return self._log.impulses

    @property
    def points(self) -> dict[Key, tuple[np.ndarray, np.ndarray]]:
        """Of each of those its last point and normal."""
        return self._log.points
