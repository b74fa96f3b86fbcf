"""Contacts at one state: their rows, which of them stay closed, and the forces of those that do.

A contact that is active is closed (its gap's acceleration is zero) and either "smooth" (no friction), "stick" (its
point's tangential acceleration is zero too) or "slip" (its friction is mu times its normal force, against the slip).
Their forces follow from as many equations. Where those are redundant (four legs of a table) the least forces are taken:
accelerations are the same for all, unless legs slip in different directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mcsim.core.linear import Singular, dots, least, length, lengths, product, solve, turned
from mcsim.event.features import TOUCHING, Pairs, Poses, rows_of
from mcsim.event.systems import Instant
from mcsim.solve.problems.coulomb import FrictionForces, apart, cone, joined, slipping

STILL = 1e-9  # [m/s] slower than this, a contact neither opens, closes nor slips
QUIET = 1e-8  # part of the largest acceleration of a contact problem below which one is zero
WEAK = 1e-9  # part of the largest contact force that may be missing before an event is seen
DOUBT = 10.0  # by how much more than its residual the answer of a contact problem is doubted

SMOOTH, STICK, SLIP = 0, 1, 2

Key = tuple[int, int]  # of a pair of features: its kind, and its number among those
Kinds = list[Pairs]
Measured = list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # of each kind pieces, gaps, leaving


class Contacts(NamedTuple):
    """Some pairs of features: kind (k,), number in that kind (k,), piece (k,); bodies (k, 2), friction, restitution; load
    (k,): of drives the most that they give, 0 of contacts."""

    kind: np.ndarray
    number: np.ndarray
    piece: np.ndarray
    bodies: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray
    load: np.ndarray

    @property
    def keys(self) -> list[Key]:
        """[(kind, number)]"""
        return list(zip(self.kind.tolist(), self.number.tolist()))

    def of(self, chosen: np.ndarray) -> Contacts:
        """Those of a mask or of numbers."""
        return Contacts(*(part[chosen] for part in self))


def gathered(kinds: Kinds, chosen: Iterable[tuple[np.ndarray, np.ndarray]]) -> Contacts:
    """chosen: for each kind of pairs (numbers, pieces)."""
    parts: list[list[np.ndarray]] = [[], [], [], [], [], [], []]
    for kind, (pairs, (numbers, pieces)) in enumerate(zip(kinds, chosen)):
        for part, own in zip(
            parts,
            (
                np.full(len(numbers), kind),
                numbers,
                pieces,
                pairs.bodies[numbers],
                pairs.friction[numbers],
                pairs.restitution[numbers],
                pairs.load[numbers],
            ),
        ):
            part.append(own)
    empty = (
        np.zeros(0, np.intp),
        np.zeros(0, np.intp),
        np.zeros(0, np.intp),
        np.zeros((0, 2), np.intp),
        np.zeros(0),
        np.zeros(0),
        np.zeros(0),
    )
    return Contacts(*(np.concatenate(part) if part else none for part, none in zip(parts, empty)))


class Rows(NamedTuple):
    """Rows of k contacts in threes [n, t, t]: R (3k, 6 bodies), curvature (3k,) and rates (3k,) = R times the bodies'
    twists; axes (k, 3, 3), point (k, 3)."""

    R: np.ndarray
    curvature: np.ndarray
    rates: np.ndarray
    axes: np.ndarray
    point: np.ndarray


def contact_rows(kinds: Kinds, contacts: Contacts, poses: Poses) -> Rows:
    """The rows of contacts at poses."""
    R, curvature, rates, axes, point = rows_of(kinds, contacts.kind, contacts.number, contacts.piece, poses)
    return Rows(R.reshape(len(R) * 3, -1), curvature.ravel(), rates.ravel(), axes, point)


class Closed:
    """The active contacts: modes (k,), and the world direction (k, 3) in which each slips, or begins to. given: forces
    of the equations, of which those of redundant contacts are the nearest that keep them closed; None: the least.
    doubt: part of the largest force by which forces may miss their conditions, as the problem was solved no better."""

    contacts: Contacts
    modes: np.ndarray
    directions: np.ndarray
    given: np.ndarray | None
    doubt: float
    count: int
    slips: bool
    equations: np.ndarray
    needed: np.ndarray
    among: np.ndarray

    def __init__(
        self,
        contacts: Contacts,
        modes: np.ndarray,
        directions: np.ndarray,
        given: np.ndarray | None = None,
        doubt: float = 0.0,
    ) -> None:
        self.contacts, self.modes, self.directions, self.given, self.doubt = contacts, modes, directions, given, doubt
        self.count = len(modes)
        row, drives = 3 * np.arange(self.count), contacts.load > 0.0
        stuck, slips = row[modes == STICK], row[modes == SLIP]
        self.equations = np.sort(np.concatenate([row[~drives], stuck + 1, row[(modes == STICK) & ~drives] + 2])).astype(
            np.intp
        )
        self.slips = bool(len(slips))
        tangents = np.concatenate([row[(modes == SLIP) & drives], slips + 1, slips + 2]).astype(np.intp)
        self.needed = np.sort(np.concatenate([self.equations, tangents]))
        self.among = np.searchsorted(self.needed, self.equations)  # where the equations are in those

    def following(self, rows: Rows) -> Closed:
        """The same, directions turned to where contacts slip now."""
        if not self.slips:
            return self
        slip, _ = slip_directions(self, rows)
        return Closed(self.contacts, self.modes, _in_world(slip, rows), self.given, self.doubt)

    def bearing(self, given: np.ndarray) -> Closed:
        """The same with given forces."""
        return Closed(self.contacts, self.modes, self.directions, given, self.doubt)

    def without(self, key: Key) -> Closed:
        """The others."""
        kept = np.array([own != key for own in self.contacts.keys], bool)
        return Closed(self.contacts.of(kept), self.modes[kept], self.directions[kept], None, self.doubt)

    def columns(self, slip: np.ndarray) -> np.ndarray:
        """(needed, equations): the forces of a unit of each unknown; slip (k, 2)."""
        out = np.zeros((len(self.needed), len(self.equations)))
        out[self.among, np.arange(len(self.equations))] = 1.0
        k = np.flatnonzero((self.modes == SLIP) & (self.contacts.load == 0.0))
        if len(k):
            row, column = np.searchsorted(self.needed, 3 * k), np.searchsorted(self.equations, 3 * k)
            out[row + 1, column], out[row + 2, column] = -self.contacts.friction[k] * slip[k].T
        return out

    def loads(self, slip: np.ndarray) -> np.ndarray:
        """(needed,) the forces of drives that slip."""
        out = np.zeros((self.count, 3))
        k = np.flatnonzero((self.modes == SLIP) & (self.contacts.load > 0.0))
        out[k, 1:] = -(self.contacts.friction * self.contacts.load)[k, None] * slip[k]
        return out.ravel()[self.needed]


class Forces(NamedTuple):
    """Of active contacts: impulses per second (3k,) in threes, accelerations of the system (nv,), rows, whether the
    equations were redundant, the slip speeds along the directions (k,), and which of the equations are enough for the
    accelerations (None: all, as they are redundant and slip). noise [N]: what of a force is rounding."""

    forces: np.ndarray
    accelerations: np.ndarray
    rows: Rows | None  # None: there are no active contacts
    redundant: bool
    speeds: np.ndarray
    enough: np.ndarray | None
    noise: float = 0.0


NOTHING = gathered([], [])
NOTHING_CLOSED = Closed(NOTHING, np.zeros(0, int), np.zeros((0, 3)))


def smoothly(contacts: Contacts) -> Closed:
    """Contacts as active ones without friction."""
    return Closed(contacts, np.full(len(contacts.kind), SMOOTH), np.zeros((len(contacts.kind), 3)))


def _in_world(slip: np.ndarray, rows: Rows) -> np.ndarray:
    """(k, 3) of slips (k, 2) in the rows' tangents."""
    return turned(rows.axes[:, 1:].swapaxes(1, 2), slip)


def slip_directions(closed: Closed, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """(k, 2) in the rows' tangents: along the slip, or where that is not there yet, or is over, along the direction
    that the contact was given, so that motion goes on smoothly past the end of a slip; and the speed along that
    direction."""
    tangents = rows.axes[:, 1:]
    given = turned(tangents, closed.directions)
    given /= np.maximum(lengths(given), 1e-300)[:, None]
    velocity = rows.rates.reshape(-1, 3)[:, 1:]
    speed = lengths(velocity)
    along = dots(given, velocity)
    taken = (speed > STILL) & (along > 0.1 * speed)
    return np.where(taken[:, None], velocity / np.maximum(speed, 1e-300)[:, None], given), along


def active_forces(kinds: Kinds, closed: Closed, instant: Instant) -> Forces:
    """Forces that keep the active contacts closed, and where they stick, sticking."""
    if not closed.count:
        return Forces(np.zeros(0), instant.free, None, False, np.zeros(0), None)
    rows = contact_rows(kinds, closed.contacts, instant.poses)
    slip, speeds = slip_directions(closed, rows)
    matrix, right, push, columns, given = _equations(closed, instant, rows, slip)
    start = np.zeros(len(right)) if closed.given is None else closed.given
    change, independent = least(matrix, right - product(matrix, start), 1e-10)
    redundant = len(independent) < len(right)
    solution = start + change
    forces = np.zeros(3 * closed.count)
    forces[closed.needed] = product(columns, solution) + closed.loads(slip)
    return Forces(
        forces,
        instant.free + product(push, solution) + given,
        rows,
        redundant,
        speeds,
        None if redundant and closed.slips else independent,
        instant.noise / max(np.max(np.diag(matrix), initial=0.0), 1e-300),
    )


def active_accelerations(kinds: Kinds, closed: Closed, instant: Instant, enough: np.ndarray | None) -> np.ndarray:
    """The same accelerations, by equations that are enough."""
    if enough is None:
        return active_forces(kinds, closed, instant).accelerations
    rows = contact_rows(kinds, closed.contacts, instant.poses)
    given: np.ndarray | float = 0.0
    if closed.slips:
        matrix, right, push, _, given = _equations(closed, instant, rows, slip_directions(closed, rows)[0])
    else:
        own = closed.equations[enough]
        R = rows.R[own]
        G, push = instant.answer(R)
        matrix, right = product(G, push), -(product(G, instant.free) + instant.bias(R) + rows.curvature[own])
    try:
        return instant.free + product(push, solve(matrix, right)) + given
    except Singular:
        return active_forces(kinds, closed, instant).accelerations


def pulls(closed: Closed, forces: Forces) -> list[tuple[int, str]]:
    """[(which, what)] of the active contacts whose forces they do not have."""
    limit = -max(max(WEAK, closed.doubt) * np.max(np.abs(forces.forces)), forces.noise, 1e-300)
    parts = forces.forces.reshape(-1, 3)
    found = [(k, "force") for k in np.flatnonzero(parts[:, 0] < limit).tolist()]
    return found + [
        (k, "stick")
        for k in np.flatnonzero(closed.modes == STICK).tolist()
        if friction_margin(parts[k], closed.contacts.friction[k], closed.contacts.load[k]) < limit
    ]


def friction_margin(part: np.ndarray, friction: float, load: float) -> float:
    """mu (lambda_n + load) - |lambda_t|"""
    return friction * (max(part[0], 0.0) + load) - length(part[1:])


def _equations(
    closed: Closed, instant: Instant, rows: Rows, slip: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of the unknowns' accelerations: matrix x = right; push: what they add to the system's; columns: to the forces;
    given: what drives that slip add to the system's."""
    R, columns = rows.R[closed.needed], closed.columns(slip)
    G, X = instant.answer(R)
    push, given = product(X, columns), product(X, closed.loads(slip))
    d = product(G, instant.free + given) + instant.bias(R) + rows.curvature[closed.needed]
    return product(G, push)[closed.among], -d[closed.among], push, columns, given


class Resolution(NamedTuple):
    """What contacts at rest do next. status: "solved", "several" and "none" (Painlevé, or a slot), "limit".
    closed: the active ones; rest (k,) bool: those that stay closed; forces: of the equations of the active ones."""

    status: str
    closed: Closed
    rest: np.ndarray
    forces: np.ndarray


def resolve(kinds: Kinds, contacts: Contacts, instant: Instant, slips: np.ndarray | None = None) -> Resolution:
    """Which contacts, closed and at rest in their normals, stay closed, stick or slip: the problem over accelerations.

    slips (k, 2): tangential velocities if not those of the instant (they are, of a state a little earlier)."""
    count = len(contacts.kind)
    if not count:
        return Resolution("solved", Closed(contacts, np.zeros(0, int), np.zeros((0, 3))), np.zeros(0, bool), np.zeros(0))
    rows = contact_rows(kinds, contacts, instant.poses)
    G, X = instant.answer(rows.R)
    A = product(G, X)
    A, d = 0.5 * (A + A.T), product(G, instant.free) + instant.bias(rows.R) + rows.curvature
    velocity = rows.rates.reshape(-1, 3)[:, 1:] if slips is None else slips
    speed = lengths(velocity)
    rough = contacts.friction > 0.0
    moving = rough & (speed > STILL)
    slip = np.where(moving[:, None], velocity / np.maximum(speed, 1e-300)[:, None], 0.0)
    status, forces, residual = _solve(A, d, contacts.friction, contacts.load, moving, slip)
    after = (product(A, forces) + d).reshape(-1, 3)
    scale = max(QUIET * np.max(np.abs(d)), instant.noise, 1e-300)
    rest = after[:, 0] <= scale
    modes = np.where(rough, np.where(moving, SLIP, STICK), SMOOTH)
    sideways = lengths(after[:, 1:])
    starting = (modes == STICK) & (sideways > scale)
    modes[starting] = SLIP
    slip[starting] = after[starting, 1:] / sideways[starting, None]
    directions = _in_world(slip, rows)
    closed = Closed(
        contacts.of(rest), modes[rest], directions[rest], None, DOUBT * residual / max(np.max(np.abs(forces)), 1e-300)
    )
    return Resolution(status, closed, rest, forces.reshape(-1, 3)[rest].ravel()[closed.equations])


def _solve(
    A: np.ndarray, d: np.ndarray, friction: np.ndarray, load: np.ndarray, moving: np.ndarray, slip: np.ndarray
) -> tuple[str, np.ndarray, float]:
    """-> status, forces (3k,), their natural map: of each group of contacts by itself."""
    answers = [
        (own, _solve_group(A[np.ix_(rows, rows)], d[rows], friction[own], load[own], moving[own], slip[own]))
        for own, rows in apart(A)
    ]
    whole = joined(A, d, answers)
    return whole.status, whole.impulses, whole.residual


def _solve_group(
    A: np.ndarray, d: np.ndarray, friction: np.ndarray, load: np.ndarray, moving: np.ndarray, slip: np.ndarray
) -> FrictionForces:
    """Where all that have friction slip, and bear it alone, an LCP; else the cone problem."""
    if np.any(friction) and not np.any((friction > 0.0) & ~moving) and not np.any(load):
        return slipping(A, d, friction, slip)
    return cone(A, d, friction, load, slip)


def place_of(kinds: Kinds, measured: Measured, poses: Poses, key: Key) -> np.ndarray:
    """(3,): where a pair (kind, number) is nearest at poses, touching or not."""
    chosen = [np.array([key[1]] if kind == key[0] else [], np.intp) for kind in range(len(kinds))]
    contacts = gathered(kinds, [(own, pieces[own]) for own, (pieces, *_) in zip(chosen, measured)])
    return contact_rows(kinds, contacts, poses).point[0]


def touching(kinds: Kinds, measured: Measured) -> Contacts:
    """Those that touch. measured: for each kind (pieces, gaps, leaving)."""
    chosen = []
    for pieces, gaps, leaving in measured:
        own = np.flatnonzero((gaps <= TOUCHING) & (leaving <= 0.0))
        chosen.append((own, pieces[own]))
    return gathered(kinds, chosen)
