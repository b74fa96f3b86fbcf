"""The event-driven simulation of R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, table 11.1.

    settle    contacts that close are struck; of those that touch at rest the LCP says which are active
    advance   smooth motion, the active contacts as equations, until the first of the events on the step's polynomial:
                  gain    a gap becomes zero                       -> an impact, then settle
                  leave   a contact goes over an edge              -> settle
                  force   an active contact's force would pull     -> the LCP, posed a little later
                  stick   friction would be more than mu times it  -> the same
                  slip    slipping ends                            -> the LCP
    ... and from there again, to the end of the step.

Nothing is kept from one step to the next but the state: what is active is found anew at every step's beginning. So a
run goes on to the same bits from a state that was kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import dot, least, length, lengths, product, solve
from mcsim.core.trig import fifth_root
from mcsim.event import active
from mcsim.event.features import FAR, TOUCHING, EdgeEdge, TurnLimit, VertexPolyhedron
from mcsim.event.methods import STEPS, Track
from mcsim.solve.problems.coulomb import cone
from mcsim.solve.problems.impacts import Blow

TOLERANCE = 1e-11           # estimated error of a step of dopri, relative to 1 + the state's size, at which it is kept
SHORTEST = 1e-10            # part of a step to which it is divided at most
MOST_STEPS = 20000          # of the integrator in one step
PATIENCE = 60               # steps of the integrator but those to an impact ...
# ... in which it must get on by this part of the step; else slips that hinder it are stepped over
PROGRESS = 1.0 / 16.0
CREEP = 1.0 / 64.0          # ... by implicit steps of this part of the step: one, then two, four, ...
CREEP_ROUNDS = 6            # of an implicit step, each with the contacts that the last one found to close
SOFT = 4.0                  # times what a free body gains in an implicit step: slower, what closes in it does not bounce
SUNK = 1e-6                 # [m] contacts that overlap by more after an implicit step ask for a shorter one
HELD = 1e-3                 # part of the largest impulse that the error of an implicit step may be
MOST_IDLE = 12              # events at one time, after which the next moment is stepped over too
MOST_EVENTS = 5000          # of one step, beyond which it is given up
ZENO_TIME = 1e-6            # [s] a contact whose further bounces all end within this is taken as closed
ZENO_HEIGHT = 1e-13         # [m] ... as is one whose next bounce is lower than this, near what rounding tells apart
MOST_BOUNCES = 200          # ... as is one that bounces more often within one step
LOOKAHEAD = 1e-3            # part of a step by which the LCP of a force that would pull is posed later
WEAK = 1e-9                 # part of the largest contact force that may be missing before an event is seen
AGAIN = 20.0                # by how much longer than the last a step after an event may be
ROOT = 1e-16                # part of a step to which events are located
AJAR = 1e-6                 # [m] gaps of active contacts that are smaller are closed
SHUT = 1e-16                # [m] gaps of active contacts that are no larger stay as they are
STRUCK = 1e-12              # [m] contacts that move are struck together where their gaps are no larger
OVERLAP = 1e-10             # [m] by how much a contact at rest, or two polyhedra, may sink before it is looked into

NO_DIRECTION = np.zeros((0, 3))


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


class Event(NamedTuple):
    """The next event of a step: t, in parts of it; what; key: (kind of pairs, number); which of the active contacts."""

    t: float
    what: str
    key: tuple[int, int]
    which: int = -1


class Simulation:
    """system: FreeBodies or Tree; kinds: list of Pairs, of which the first `shapes` are contacts of shapes, the others
    bounds of joints; method, impacts, law: names; bodies' names for messages."""

    def __init__(self, system, kinds, shapes, names, note, method="dopri", impacts="simultaneous", law="newton"):
        self.system, self.shapes, self.names = system, shapes, (*names, "the world")
        self.note = note
        self.step_of = STEPS[method]
        self.impacts, self.law = impacts, law
        self.impulses: dict[tuple, np.ndarray] = {}
        self.points: dict[tuple, tuple] = {}
        self.begin()
        self._last = None                           # (state, Closed, Forces) that were asked for last
        self._known = None                          # (state, what _measure says of it): of a step's end, for the next
        self.take(kinds)

    def take(self, kinds):
        """Other pairs of features from now on."""
        self.kinds = kinds
        self.turns = [pairs for pairs in kinds if isinstance(pairs, TurnLimit)]
        self._last = self._known = None

    def begin(self):
        """Forget what was reported."""
        self.happenings: list[Happening] = []

    # ---- a step ------------------------------------------------------------------------------------------------------

    def step(self, time, y, h):
        """The state h later; `impulses` then holds what each contact gave meanwhile."""
        self.impulses, self.points = {}, {}
        self.bounces: dict[tuple, int] = {}
        self._last = None                           # forces and motors may have changed
        self._let = None                            # (time, key) of the last event but impacts
        done, end = 0.0, h
        y = self._project(y, NOTHING_CLOSED)
        for pairs in self.kinds:
            pairs.horizon = h
        y, closed = self._settle(time, y)
        events, reach, key = 0, h, None
        idle, vain, goal, creeps = 0, 0, PROGRESS * h, 1
        for _ in range(MOST_STEPS):
            left = min(end - done, reach)
            if end - done <= 1e-13 * end:
                return y
            vain += 1
            stuck = closed is None or vain > PATIENCE and done < goal and closed.slips
            if vain > PATIENCE:
                vain, goal = 0, done + PROGRESS * h
            if stuck or idle > MOST_IDLE:
                y, passed = self._creep_on(time + done, y, CREEP * h, end - done, creeps)
                done, reach, idle, creeps = done + passed, h, 0, 2 * creeps
                self._follow(y)
                y, closed = self._settle(time + done, y)
                continue
            track, y1, first, error = self._smooth(time + done, y, left, closed)
            fits = error <= TOLERANCE or left <= SHORTEST * h
            reach = left * min(max(0.9 * fifth_root(TOLERANCE / max(error, 1e-300)), 0.1), 5.0)
            if not fits:
                continue
            event, last = self._first_event(y, track, y1, left, closed, first)
            if left > SHORTEST * h and self._missed(y, y1 if event is None else track(event.t)):
                reach = 0.25 * left
                continue
            if event is None:
                self._count(closed, first, last, left)
                if not closed.count and not self._jointed:
                    self._remember(*self._ahead)
                y, done = self._project(y1, closed, last.enough if closed.count and not closed.slips else None), done + left
                self._follow(y)
                closed = closed.following(last.rows) if closed.count else closed
                continue
            self._count(closed, first, first, event.t * left)
            cut = left < end - done
            now = time + done + event.t * left
            done += event.t * left
            y = self._project(track(event.t), closed) if event.t > 0.0 else y
            self._follow(y)
            y, closed = self._happened(event, now, y, closed, track)
            idle = idle + (MOST_IDLE // 2 if event.key == key else 1) if event.t * left <= 1e-13 * end else 0
            vain -= event.what == "gain"
            reach = min(h, AGAIN * left) if cut else h
            events, key = events + 1, event.key
            if events > MOST_EVENTS:
                break
        raise SimulationError(f"t = {time + done:.9g} s: {events} events and {MOST_STEPS} steps of the integrator were "
                              "not enough for one step"
                              f"{'' if key is None else ', the last event between ' + self._who(key)}"
                              "; a smaller dt, or a restitution that is not nearly 1, may help; the last good state "
                              "is kept")

    def _smooth(self, time, y, h, closed):
        """-> Track, state at its end, Forces at its beginning, estimated error."""
        first = self._forces(y, closed) if closed.count or self._jointed else None

        def rates(_, y):
            if first is None:
                return self.system.rates(y, self.system.accelerations(y))       # balls in flight: nothing else is needed
            return self.system.rates(y, active.active_accelerations(self.kinds, closed, self.system.instant(y),
                                                                    first.enough))

        begin = self.system.rates(y, first.accelerations) if first is not None else rates(time, y)
        track, y1, error = self.step_of(rates, time, y, h, begin)
        if not np.isfinite(y1).all():
            raise SimulationError(f"t = {time + h:.9g} s: the state is not finite; a smaller dt may help; the last "
                                  "good state is kept")
        return track, self.system.normalized(y1.copy()), first, error

    def _creep_on(self, time, y, h, left, most):
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

    def _creep(self, time, y, h):
        """An implicit step of h, or to the first gap that becomes zero: contacts that hardly slip turn their slip so
        fast that the integrator gets nowhere. A shorter one where bodies would overlap after it. -> state, seconds"""
        for soft in (True, False, False, False, False):
            end, part, contacts, rows, impulses = self._implicit(time, y, h, soft)
            if not self._sank(y, end, contacts) and not self._missed(y, end):
                break
            h *= 1.0 if soft else 0.25
        for k, key in enumerate(contacts.keys):
            self._add(key, product(part * impulses[3 * k:3 * k + 3], rows.axes[k]), rows.point[k], rows.axes[k, 0])
        self._note("creep", contacts, f"t = {time:.9g} s: contacts {self._among(contacts)} hardly slip; they were "
                   "stepped over by implicit steps of first order")
        shut = self._gaps_of(contacts, self.system.poses(end)) <= TOUCHING         # a step cut short leaves some open
        return self._project(end, _smoothly(contacts.of(shut & (impulses[::3] > 0.0)))), part * h

    def _implicit(self, time, y, h, soft):
        """Velocities after it meet Coulomb's law with the impulses of the whole step (J. J. Moreau), positions move with
        the mean of both velocities, or where contacts close at its beginning, with those after: the mean would keep half
        of that. What would sink in at once is a contact too; if `soft`, also gaps that close in it too slowly to bounce,
        for which the velocities leave room (D. Stewart, J. Trinkle). -> state, part of h, contacts, rows, impulses"""
        instant, measured = self.system.instant(y), self._measured(y)
        contacts = active.touching(self.kinds, measured)
        slow = SOFT * h * max(np.max(np.abs(instant.free), initial=0.0), 1e-300)
        for rounds in range(CREEP_ROUNDS):
            rows = active.contact_rows(self.kinds, contacts, instant.poses)
            G, X = instant.answer(rows.R)
            d = product(G, instant.free) + instant.bias(rows.R) + rows.curvature
            gaps = np.array([measured[i][1][k] for i, k in contacts.keys])
            room = np.where((gaps > TOUCHING) & (gaps < FAR), gaps, 0.0) / h
            answer = cone(product(G, X), rows.rates + h * d + np.repeat(room, 3) * np.tile([1.0, 0.0, 0.0], len(room)),
                          contacts.friction, h * contacts.load)
            impulses = answer.impulses
            if not answer.residual <= HELD * np.max(np.abs(impulses), initial=0.0):
                raise SimulationError(f"t = {time:.9g} s: no impulses keep bodies apart {self._among(contacts)}; the "
                                      "last good state is kept")
            after = instant.u + h * instant.free + product(X, impulses)
            approaching = np.min(rows.rates[::3], initial=0.0) < -active.STILL
            moved = h * after if approaching or np.any(room) else 0.5 * h * (instant.u + after)
            y1 = self.system.with_velocities(self.system.displaced(y, moved), after)
            track = Track([y, y1 - y])
            events = self._gains(y, track, y1, h, _smoothly(contacts))
            first = min(events, key=lambda event: event.t, default=None)
            missed = [event.key for event in events
                    if event.t == 0.0 or soft and self._soft(event, track, measured, slow)]
            if first is None or first.key not in missed or rounds == CREEP_ROUNDS - 1:
                break
            contacts = self._with(contacts, missed, measured)
        part = min((event.t for event in events if event.t > 0.0), default=1.0)
        return self.system.normalized(track(part)), part, contacts, rows, impulses

    def _sank(self, y, end, contacts):
        """Whether contacts overlap more at the end than they did."""
        before, after = self.system.poses(y), self.system.poses(end)
        return any(self.kinds[i].gap_of(k, piece, after) < min(self.kinds[i].gap_of(k, piece, before), 0.0) - SUNK
                   for (i, k), piece in zip(contacts.keys, contacts.piece.tolist()))

    def _soft(self, event, track, measured, speed):
        """Whether a gap that is one at the step's beginning closes no faster than that."""
        i, k = event.key
        return measured[i][1][k] < FAR and self._gap_rates(track(event.t), i, np.array([k]), measured[i][0])[0] > -speed

    def _with(self, contacts, keys, measured):
        """Contacts and those of keys besides."""
        every = set(contacts.keys) | set(keys)
        chosen = [np.array(sorted(k for kind, k in every if kind == i), np.intp) for i in range(len(self.kinds))]
        return active.gathered(self.kinds, [(own, measured[i][0][own]) for i, own in enumerate(chosen)])

    @property
    def _jointed(self):
        return getattr(self.system, "joints", True) is not None

    def _forces(self, y, closed):
        """The active contacts' Forces, remembered of the last state."""
        if self._last is None or self._last[0] is not y or self._last[1] is not closed:
            self._last = y, closed, active.active_forces(self.kinds, closed, self.system.instant(y))
        return self._last[2]

    def _count(self, closed, first, last, seconds):
        """Add what active contacts gave, by the trapezoidal rule."""
        if not closed.count:
            return
        mean = 0.5 * (first.forces + last.forces).reshape(-1, 3) * seconds
        for k, key in enumerate(closed.contacts.keys):
            self._add(key, product(mean[k], last.rows.axes[k]), last.rows.point[k], last.rows.axes[k, 0])

    def _add(self, key, impulse, point, normal):
        if key[0] >= self.shapes:
            return
        self.impulses[key] = self.impulses.get(key, 0.0) + impulse
        self.points[key] = point, normal

    def touching(self, y):
        """Pairs of features of shapes (kind, number) that touch, a set."""
        return {key for key in active.touching(self.kinds, self._measured(y)).keys if key[0] < self.shapes}

    def _follow(self, y):
        """Angles' limits count turns."""
        for pairs in self.turns:
            pairs.follow(self.system.poses(y))

    # ---- geometry ----------------------------------------------------------------------------------------------------

    def measure(self, y, pieces=None):
        """For each kind of pairs (pieces, gaps, leaving) at a state; at given pieces, or those nearest."""
        poses = self.system.poses(y)
        found = []
        for i, pairs in enumerate(self.kinds):
            piece = pairs.pieces(poses) if pieces is None else pieces[i]
            gaps = pairs.gaps(poses, piece)
            close = bool(np.any(gaps <= TOUCHING))
            found.append((piece, gaps, pairs.leaving(poses, piece) if close else np.full(pairs.count, FAR)))
        return found

    def _remember(self, y, pieces, gaps):
        """What the end of a step already knows of its gaps."""
        poses, found = self.system.poses(y), []
        for pairs, piece, gap in zip(self.kinds, pieces, gaps):
            if isinstance(pairs, VertexPolyhedron):
                piece = pairs.pieces(poses)
                gap = pairs.gaps(poses, piece)
            close = bool(np.any(gap <= TOUCHING))
            found.append((piece, gap, pairs.leaving(poses, piece) if close else np.full(pairs.count, FAR)))
        self._known = y, found

    def _measured(self, y):
        """The same, remembered of the last state."""
        if self._known is None or self._known[0] is not y:
            self._known = y, self.measure(y)
        return self._known[1]

    def _project(self, y, closed, enough=None):
        """y with the errors of joints and of active contacts, and their rates, taken out: what a step's error leaves.
        enough: which of the contacts' equations are (Forces)."""
        if not closed.count and not self._jointed:
            return y
        y = self.system.instant(y).closed()
        if not closed.count:
            return y
        contacts = closed.contacts
        instant = self.system.instant(y)
        rows = active.contact_rows(self.kinds, contacts, instant.poses)
        gaps = self._gaps_of(contacts, instant.poses)
        near = np.abs(gaps) < AJAR
        if np.max(np.abs(gaps[near]), initial=0.0) > SHUT:
            R = rows.R[::3][near]
            G, X = instant.answer(R)
            y = self.system.displaced(y, product(X, least(product(G, X), -gaps[near])[0]))
        own = closed.equations if enough is None else closed.equations[enough]
        R, rates = rows.R[own], rows.rates[own]
        G, X = instant.answer(R)
        A = product(G, X)
        push = least(A, -rates)[0] if enough is None else solve(A, -rates)
        return self.system.with_velocities(y, instant.u + product(X, push))

    def _gaps_of(self, contacts, poses):
        """(k,) gaps along the contacts' normals; FAR of those that have left their faces and edges."""
        return np.array([FAR if self._leaving(poses, i, k, piece) > 0.0 else self.kinds[i].gap_of(k, piece, poses)
                         for (i, k), piece in zip(contacts.keys, contacts.piece.tolist())])

    def _missed(self, y, y1):
        """Whether polyhedra overlap deeper than they did and no event says so: their edges met and ceased to within a
        step that was too long, so that the gaps at its ends tell nothing."""
        for pairs in self.kinds:
            if isinstance(pairs, EdgeEdge):
                deep = pairs.separations(self.system.poses(y1)) + OVERLAP
                if np.any(deep < 0.0) and np.any(deep < np.minimum(pairs.separations(self.system.poses(y)), 0.0)):
                    return True
        return False

    # ---- events ------------------------------------------------------------------------------------------------------

    def _first_event(self, y, track, y1, h, closed, first):
        """-> the earliest Event of a step or None, and the Forces at its end."""
        events = self._gains(y, track, y1, h, closed)
        last = None
        if closed.count:
            last = self._forces(y1, closed)
            events += self._changes(track, y1, closed, first, last)
        return min(events, key=lambda event: event.t, default=None), last

    def _gains(self, y, track, y1, h, closed):
        """Gaps that become zero."""
        found, after, before = [], [], self._measured(y)
        pieces = [part[0] for part in before]
        poses = self.system.poses(y1)
        active = set(closed.contacts.keys)
        speeds = lengths(poses.v)
        if len(self.kinds) > self.shapes:
            speeds += lengths(poses.w)           # of angles
        fastest = 2.0 * h * np.max(speeds, initial=0.0)
        for i, pairs in enumerate(self.kinds):
            start, end = before[i][1], pairs.gaps(poses, pieces[i])
            after.append(end)
            for k in self._suspects(i, y, y1, start, end, max(fastest, 1e-300), pieces[i]):
                if (i, int(k)) not in active:
                    t = self._gain(track, i, int(k), pieces[i], start[k], end[k], h)
                    if t is not None:
                        found.append(Event(t, "gain" if start[k] > STRUCK or t > 0.0 else "regain", (i, int(k))))
        # Bodies in flight that nothing happened to begin the next step here; pieces that may change are found anew.
        self._ahead = y1, [part[0] for part in before], after
        return found

    def _suspects(self, i, y, y1, start, end, fastest, pieces):
        """Numbers of the pairs of kind i whose gaps may become zero within the step: those that are negative at its
        end, those that touch at its beginning, and those that may dip below zero between: near, closing, then
        opening."""
        near = np.minimum(start, end) < np.maximum(fastest, np.abs(end - start))
        sure = (end < 0.0) | (start <= STRUCK)
        dips = np.flatnonzero(near & ~sure & (end < FAR) & (start < FAR))
        if len(dips):
            slow, fast = self._gap_rates(y, i, dips, pieces), self._gap_rates(y1, i, dips, pieces)
            dips = dips[(slow < 0.0) & (fast > 0.0)]
        return [*np.flatnonzero(sure), *dips]

    def _gap_rates(self, y, i, numbers, pieces):
        """(m,) phi' of pairs of kind i."""
        pairs = self.kinds[i]
        some = active.gathered([pairs], [(numbers, pieces[numbers])])
        return active.contact_rows([pairs], some, self.system.poses(y)).rates[::3]

    def _gain(self, track, i, k, pieces, start, end, h):
        """When gap k of kind i becomes zero, in parts of the step; None if it does not."""
        gap_of, piece = self.kinds[i].gap_of, int(pieces[k])
        level = min(start, 0.0) if start < -STRUCK else 0.0        # what overlaps already may open first

        def gap(t):
            return gap_of(k, piece, self.system.poses(track(t))) - level

        def rate(t):
            return float(self._gap_rates(track(t), i, np.array([k]), pieces)[0])

        if end == FAR:
            return None
        if start > STRUCK:
            if end < 0.0:
                return _root(gap, 0.0, 1.0)
            lowest = _root(lambda t: -rate(t), 0.0, 1.0)
            return _root(gap, 0.0, lowest) if gap(lowest) < 0.0 else None
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
        return _root(gap, low, high)

    @staticmethod
    def _regained(gap):
        """When a contact at rest, which is not active, closes again: at once (0), or where it has opened a little
        before, in parts of the step."""
        open_at = 0.0
        for t in _later(1e-6):
            value = gap(t)
            if value > STRUCK:
                open_at = t
            elif value < -STRUCK:
                return _root(gap, open_at, t) if open_at > 0.0 else 0.0
        return 0.0

    def _changes(self, track, y1, closed, first, last):
        """Active contacts that pull, slip or go over an edge, by the end of the step."""
        events, decided = [], False
        for which, what in self._violated(closed, last, y1):
            def margin(t, which=which, what=what):
                return self._margin(track(t), closed, which, what)

            if what in ("leave", "slip") or not last.redundant:
                value = margin(0.0)
                t = 0.0 if value <= 0.0 else _root(margin, 0.0, 1.0)
            elif decided:
                continue
            else:
                decided = True
                if self._holds(y1, closed):
                    continue
                t = self._let_go(track, closed)
            events.append(Event(t, what, closed.contacts.keys[which], which))
        return events

    def _let_go(self, track, closed):
        """When redundant contacts cease to have forces that keep them as they are."""
        def holds(t):
            return 1.0 if self._holds(track(t), closed) else -1.0

        return 0.0 if holds(0.0) < 0.0 else _root(holds, 0.0, 1.0)

    def _violated(self, closed, forces, y):
        """[(which, what)] of the active contacts whose conditions fail."""
        found = self._pulls(closed, forces)
        found += [(k, "slip") for k in np.flatnonzero((closed.modes == active.SLIP) & (forces.speeds < 0.0))]
        poses = self.system.poses(y)
        for k, (i, number) in enumerate(closed.contacts.keys):
            if self._leaving(poses, i, number, closed.contacts.piece[k]) > 0.0:
                found.append((k, "leave"))
        return [(int(k), what) for k, what in found]

    def _leaving(self, poses, i, number, piece):
        return self.kinds[i].leaving_of(number, piece, poses)

    def _margin(self, y, closed, which, what):
        """Positive while a contact's condition holds."""
        if what == "leave":
            i, number = closed.contacts.keys[which]
            return -self._leaving(self.system.poses(y), i, number, closed.contacts.piece[which])
        forces = active.active_forces(self.kinds, closed, self.system.instant(y))
        if what == "slip":
            return float(forces.speeds[which])
        part = forces.forces[3 * which:3 * which + 3]
        return float(part[0] if what == "force" else
                     _friction_margin(part, closed.contacts.friction[which], closed.contacts.load[which]))

    def _holds(self, y, closed):
        """Whether redundant contacts, whose least forces fail, have others that keep them closed as they are."""
        instant = self.system.instant(y)
        found = active.resolve(self.kinds, closed.contacts, instant)
        return found.status == "solved" and bool(found.rest.all()) and np.array_equal(found.closed.modes, closed.modes)

    def _happened(self, event, now, y, closed, track):
        """-> the state after an event, and what is active from there."""
        key = event.key
        if event.what == "gain":
            self.bounces[key] = self.bounces.get(key, 0) + 1
            return self._settle(now, y, key)
        point, later = active.place_of(self.kinds, self._measured(y), self.system.poses(y), key), None
        if event.what == "regain":
            later = track(self._sunk(track, key))
        elif event.what in ("force", "stick", "leave"):
            later = track(event.t + LOOKAHEAD)
        y, after = self._settle(now, y, later=later)
        if event.what == "force" and self._let == (now, key) and after is not None:
            after = after.without(key)                   # it lets go so slowly that the problem has it closed still
        self._let = now, key
        names = {"force": "loss", "stick": "slip", "slip": "stick", "leave": "leave", "regain": "gain"}
        self._tell(now, names[event.what], key, point)
        return y, after

    def _sunk(self, track, key):
        """When a contact that is regained at once is clearly too deep: there the LCP sees why."""
        i, k = key
        pairs = self.kinds[i]
        for t in _later(LOOKAHEAD):
            poses = self.system.poses(track(t))
            if pairs.gap_of(k, pairs.pieces(poses)[k], poses) < -0.1 * OVERLAP:
                return t
        return 1.0

    # ---- at an event -------------------------------------------------------------------------------------------------

    def _settle(self, time, y, key=None, later=None):
        """Impacts of what closes, then the active set. later: a state a little later, for the LCP."""
        measured = self._measured(y)
        contacts = active.touching(self.kinds, measured)
        if not len(contacts.kind):
            return y, NOTHING_CLOSED
        instant = self.system.instant(y)
        rates = active.contact_rows(self.kinds, contacts, instant.poses).rates[::3]
        gaps = np.array([measured[kind][1][number] for kind, number in contacts.keys])
        contacts = contacts.of((gaps <= STRUCK) | (np.abs(rates) <= active.STILL))
        if not len(contacts.kind):
            return y, NOTHING_CLOSED
        rows = active.contact_rows(self.kinds, contacts, instant.poses)
        if np.min(rows.rates[::3]) < -active.STILL:
            y = self._strike(time, y, instant, contacts, rows)
            later = None
        return self._rest(time, y, contacts, later)

    def _rest(self, time, y, contacts, later=None):
        """The active set of those contacts that touch and are at rest; None where only impulses could go on."""
        instant = self.system.instant(y)
        rates = active.contact_rows(self.kinds, contacts, instant.poses).rates.reshape(-1, 3)
        slow = rates[:, 0] <= active.STILL
        contacts, rates = contacts.of(slow), rates[slow]
        found = active.resolve(self.kinds, contacts, instant if later is None else self.system.instant(later), rates[:, 1:])
        if found.status == "none" and np.any(contacts.friction):
            stopped = self._stop(time, y, contacts)
            if stopped is not None:
                y, found = stopped, active.resolve(self.kinds, contacts, self.system.instant(stopped))
            if found.status == "none":
                self._note("painleve", contacts, f"t = {time:.9g} s: the contact forces of a slip have no solution "
                           f"(Painlevé) {self._among(contacts)}, and no impulse ends it: it was stepped over")
                return y, None
        if found.status == "several":
            self._note("painleve", contacts, f"t = {time:.9g} s: the contact forces of a slip have several solutions "
                       f"(Painlevé) {self._among(contacts)}; the one with the least forces was taken")
        if found.status == "none" and not np.any(contacts.friction):
            self._note("unsolvable", contacts, f"t = {time:.9g} s: no forces keep bodies apart {self._among(contacts)}")
            raise SimulationError(f"t = {time:.9g} s: no forces keep bodies apart {self._among(contacts)}: they are "
                                  "held between surfaces that close in on them; the last good state is kept")
        if found.status == "limit":
            self._note("not converged", contacts, f"t = {time:.9g} s: which contacts stick or slip "
                       f"{self._among(contacts)} was not found to rounding")
        return y, self._loaded(y, found)

    def _loaded(self, y, found):
        """What is active, with given forces where it is redundant and the least will not do: they would pull, or are not
        enough to stick, or give other accelerations, by what slips differently. Then those that were found, or if they
        may be, some between them and the least, which hold for longer."""
        closed = found.closed
        if not closed.count:
            return closed
        least = self._forces(y, closed)
        if not least.redundant or not closed.slips and not self._pulls(closed, least):
            return closed
        given = closed.bearing(found.forces)
        forces = self._forces(y, given)
        change = np.max(np.abs(forces.accelerations - least.accelerations))
        if change > WEAK * np.max(np.abs(least.accelerations)):
            return given
        for part in (0.5, 0.25, 0.125, 0.0625):
            between = closed.bearing(found.forces + part * (least.forces[closed.equations] - found.forces))
            if not self._pulls(closed, self._forces(y, between)):
                return between
        return given

    @staticmethod
    def _pulls(closed, forces):
        """[(which, what)] of the active contacts whose forces they do not have."""
        least = -max(max(WEAK, closed.doubt) * np.max(np.abs(forces.forces)), forces.noise, 1e-300)
        parts = forces.forces.reshape(-1, 3)
        found = [(k, "force") for k in np.flatnonzero(parts[:, 0] < least)]
        return found + [(k, "stick") for k in np.flatnonzero(closed.modes == active.STICK)
                        if _friction_margin(parts[k], closed.contacts.friction[k], closed.contacts.load[k]) < least]

    def _stop(self, time, y, contacts):
        """An impact without a collision: where slipping has no solution, it ends at once. The impulse is the least that
        stops the slip of the slipping contacts and keeps all closed; None if it is not one that friction can give."""
        instant = self.system.instant(y)
        rows = active.contact_rows(self.kinds, contacts, instant.poses)
        speeds = lengths(rows.rates.reshape(-1, 3)[:, 1:])
        rubbing = np.where(contacts.load > 0.0, 0.0, contacts.friction)
        stopped = np.flatnonzero((rubbing > 0.0) & (speeds > active.STILL))
        own = np.sort(np.concatenate([3 * np.arange(len(speeds)), 3 * stopped + 1, 3 * stopped + 2]))
        G, X = instant.answer(rows.R)
        impulse = np.zeros(len(rows.rates))
        impulse[own], _ = least(product(G, X)[np.ix_(own, own)], -rows.rates[own])
        parts = impulse.reshape(-1, 3)
        size = np.max(np.abs(parts))
        if np.any([part[0] < -WEAK * size or _friction_margin(part, mu, 0.0) < -WEAK * size
                   for part, mu in zip(parts, rubbing)]):
            return None
        self._note("painleve", contacts, f"t = {time:.9g} s: the contact forces of a slip have no solution (Painlevé) "
                   f"{self._among(contacts)}: it was stopped by an impulse")
        self._log_impulses(time, "impact", contacts, rows, impulse)
        return self.system.with_velocities(y, instant.u + product(X, impulse))

    def _strike(self, time, y, instant, contacts, rows):
        """The impact of all contacts that touch."""
        G, X = instant.answer(rows.R)
        A = product(G, X)
        blow = Blow(A, rows.rates, contacts.restitution, np.where(contacts.load > 0.0, 0.0, contacts.friction))
        try:
            impulses, _, finished = blow.solve(self.law, self.impacts)
        except SimulationError as error:
            self._note("unsolvable", contacts, f"t = {time:.9g} s: {error}, {self._among(contacts)}")
            raise SimulationError(f"t = {time:.9g} s: {error}, {self._among(contacts)}; the last good state is kept"
                                  ) from None
        if blow.residual > 0.0:
            self._note("not converged", contacts, f"t = {time:.9g} s: an impact {self._among(contacts)} was not solved "
                       f"to rounding (residual {blow.residual:.3g} N s)")
        if not finished:
            self._note("sequence", contacts, f"t = {time:.9g} s: impacts in sequence {self._among(contacts)} had no "
                       "end and were ended by a plastic one to all of them")
        gained = dot(impulses, rows.rates + 0.5 * product(A, impulses))
        if gained > 1e-9 * max(self.system.energy(y), 1e-300):
            self._note("gained energy", contacts, f"t = {time:.9g} s: an impact gained {gained:.3g} J "
                       f"{self._among(contacts)}; restitution_law='stronge' gains none")
        self._log_impulses(time, "impact", contacts, rows, impulses)
        y = self.system.with_velocities(y, instant.u + product(X, impulses))
        self._known = y, self._measured_again(y)
        return self._close(time, y, contacts, rows, (G, X), impulses)

    def _measured_again(self, y):
        """What is known of a state whose velocities alone have changed."""
        return self._known[1] if self._known is not None else self.measure(y)

    def _close(self, time, y, contacts, rows, answer, impulses):
        """Zeno: contacts whose further bounces all fall within ZENO_TIME, or below ZENO_HEIGHT, get their normal
        velocities set to zero."""
        G, X = answer
        rates = (rows.rates + product(G, product(X, impulses)))[::3]
        opening = np.flatnonzero(rates > active.STILL)
        if not len(opening):
            return y
        _, closed = self._rest(time, y, contacts)
        instant = self.system.instant(y)
        forces = active.active_forces(self.kinds, closed or NOTHING_CLOSED, instant)
        now = active.contact_rows(self.kinds, contacts, instant.poses)
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
        self._note("zeno", some, f"t = {time:.9g} s: bounces that come ever faster {self._among(some)} were ended: the "
                   "contact is closed")
        for k in chosen:
            self._tell(time, "close", contacts.keys[k], rows.point[k])
        return self.system.with_velocities(y, instant.u + product(X[:, own], push))

    # ---- what is told ------------------------------------------------------------------------------------------------

    def _log_impulses(self, time, kind, contacts, rows, impulses):
        parts, rates = impulses.reshape(-1, 3), rows.rates[::3]
        for k, key in enumerate(contacts.keys):
            if parts[k, 0] > 0.0:
                self._add(key, product(parts[k], rows.axes[k]), rows.point[k], rows.axes[k, 0])
                self._tell(time, kind if key[0] < self.shapes else "limit", key, rows.point[k], parts[k, 0], -rates[k])

    def _tell(self, time, kind, key, point, impulse=0.0, speed=0.0):
        world = len(self.names) - 1
        a, b = (-1 if body == world else body for body in self.kinds[key[0]].bodies[key[1]].tolist())
        self.happenings.append(Happening(time, kind, (a, b), point, float(impulse), float(speed)))

    def _note(self, kind, contacts, text):
        self.note(kind, set(contacts.bodies.ravel().tolist()) - {len(self.names) - 1}, text)

    def _who(self, key):
        a, b = self.kinds[key[0]].bodies[key[1]]
        return f"{self.names[a]!r} and {self.names[b]!r}"

    def _among(self, contacts):
        names = list(dict.fromkeys(self.names[i] for i in contacts.bodies.ravel()))
        return "between " + ", ".join(repr(name) for name in names[:6]) + (", ..." if len(names) > 6 else "")


def _friction_margin(part, friction, load):
    """mu (lambda_n + load) - |lambda_t|"""
    return friction * (max(part[0], 0.0) + load) - length(part[1:])


def _smoothly(contacts):
    """Contacts as active ones without friction."""
    return active.Closed(contacts, np.full(len(contacts.kind), active.SMOOTH), np.zeros((len(contacts.kind), 3)))


def _later(t):
    """Parts of a step from one on, ever longer ones, to its end."""
    while t < 1.0:
        yield t
        t *= 1.4142135623730951
    yield 1.0


def _root(function, low, high):
    """Where it goes from positive to negative, to ROOT or as near as doubles come: by the inverse quadratic through
    three points where that is safe, else by halving (T. Chandrupatla, "A new hybrid quadratic/bisection algorithm for
    finding the zero of a nonlinear function without using derivatives", 1997)."""
    at, value = high, function(high)
    if value >= 0.0:
        return high
    other, opposite = low, function(low)
    if opposite <= 0.0:
        return low
    third, beyond, part = other, opposite, 0.5
    for _ in range(300):
        x = at + part * (other - at)
        found = function(x)
        if (found > 0.0) == (value > 0.0):
            third, beyond = at, value
        else:
            third, beyond, other, opposite = other, opposite, at, value
        at, value = x, found
        best = at if abs(value) < abs(opposite) else other
        span = abs(other - at)
        if value == 0.0 or span <= ROOT + 1e-15 * abs(best):
            return best
        along, up = (at - other) / (third - other), (value - opposite) / (beyond - opposite)
        part = 0.5
        if up * up < along and (1.0 - up) * (1.0 - up) < 1.0 - along:
            part = (value / (opposite - value) * beyond / (opposite - beyond)
                    + (third - at) / (other - at) * value / (beyond - value) * opposite / (beyond - opposite))
        least_part = 0.5 * (ROOT + 1e-15 * abs(best)) / span
        part = min(max(part, least_part), 1.0 - least_part)
    return best


NOTHING_CLOSED = active.Closed(active.NOTHING, np.zeros(0, int), NO_DIRECTION)
