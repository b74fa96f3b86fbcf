"""What a simulation moves, and at a state of it the gaps of its pairs of features, their rates, and contact forces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcsim.event import active
from mcsim.event.active import Closed, Contacts, Forces, Key, Kinds, Measured, Rows
from mcsim.event.features import FAR, TOUCHING, EdgeEdge, Poses, TurnLimit, VertexPolyhedron
from mcsim.event.systems import AnySystem, Instant

STRUCK = 1e-12  # [m] contacts that move are struck together where their gaps are no larger
OVERLAP = 1e-10  # [m] by how much a contact at rest, or two polyhedra, may sink before it is looked into


class Model:
    """system: FreeBodies or Tree, or None: it is set before the first step; kinds: list of Pairs, of which the first
    `shapes` are contacts of shapes, the others bounds of joints. It remembers the gaps and the forces of the state for
    which they were asked for last."""

    kinds: Kinds
    turns: list[TurnLimit]
    shapes: int

    system: AnySystem

    def __init__(self, system: AnySystem | None, kinds: Kinds, shapes: int) -> None:
        if system is not None:
            self.system = system
        self.shapes = shapes
        self.take(kinds)

    def take(self, kinds: Kinds) -> None:
        """Other pairs of features from now on."""
        self.kinds = kinds
        self.turns = [pairs for pairs in kinds if isinstance(pairs, TurnLimit)]
        self._forces: tuple[np.ndarray, Closed, Forces] | None = None  # (state, Closed, Forces) that were asked for last
        self._known: tuple[np.ndarray, Measured] | None = (
            None  # (state, what `measure` says of it): of a step's end, for the next
        )

    def begin(self, h: float) -> None:
        """A step of h [s] begins: forces and motors may have changed."""
        self._forces = None
        for pairs in self.kinds:
            pairs.horizon = h

    @property
    def jointed(self) -> bool:
        """Whether joints add equations, or may."""
        return getattr(self.system, "joints", True) is not None

    def poses(self, y: np.ndarray) -> Poses:
        """Of all bodies."""
        return self.system.poses(y)

    def instant(self, y: np.ndarray) -> Instant:
        """The system at one state."""
        return self.system.instant(y)

    def forces(self, y: np.ndarray, closed: Closed) -> Forces:
        """The active contacts' Forces, remembered of the last state."""
        if self._forces is None or self._forces[0] is not y or self._forces[1] is not closed:
            self._forces = y, closed, active.active_forces(self.kinds, closed, self.instant(y))
        return self._forces[2]

    def follow(self, y: np.ndarray) -> None:
        """Angles' limits count turns."""
        for pairs in self.turns:
            pairs.follow(self.poses(y))

    # ---- gaps --------------------------------------------------------------------------------------------------------

    def measure(self, y: np.ndarray, pieces: Sequence[np.ndarray] | None = None) -> Measured:
        """For each kind of pairs (pieces, gaps, leaving) at a state; at given pieces, or those nearest."""
        poses = self.poses(y)
        found = []
        for i, pairs in enumerate(self.kinds):
            piece = pairs.pieces(poses) if pieces is None else pieces[i]
            gaps = pairs.gaps(poses, piece)
            close = bool(np.any(gaps <= TOUCHING))
            found.append((piece, gaps, pairs.leaving(poses, piece) if close else np.full(pairs.count, FAR)))
        return found

    def measured(self, y: np.ndarray) -> Measured:
        """The same, remembered of the last state."""
        if self._known is None or self._known[0] is not y:
            self._known = y, self.measure(y)
        return self._known[1]

    def remember(self, y: np.ndarray, begin: np.ndarray, gaps: Sequence[np.ndarray]) -> None:
        """What the end y of a step from `begin` already knows of its gaps, those of the pieces there. Bodies in flight
        that nothing happened to begin the next step at it; pieces that may change are found anew."""
        poses, found = self.poses(y), []
        pieces = [piece for piece, *_ in self.measured(begin)]
        for pairs, piece, gap in zip(self.kinds, pieces, gaps):
            if isinstance(pairs, VertexPolyhedron):
                piece = pairs.pieces(poses)
                gap = pairs.gaps(poses, piece)
            close = bool(np.any(gap <= TOUCHING))
            found.append((piece, gap, pairs.leaving(poses, piece) if close else np.full(pairs.count, FAR)))
        self._known = y, found

    def same_gaps(self, y: np.ndarray, before: np.ndarray) -> None:
        """y differs from the state before by its velocities alone."""
        self._known = y, self.measured(before)

    def touching(self, y: np.ndarray) -> Contacts:
        """Contacts that touch."""
        return active.touching(self.kinds, self.measured(y))

    def measured_gaps(self, y: np.ndarray, contacts: Contacts) -> np.ndarray:
        """(k,) the contacts' gaps, at the pieces that were nearest."""
        measured = self.measured(y)
        return np.array([measured[i][1][k] for i, k in contacts.keys])

    def place_of(self, y: np.ndarray, key: Key) -> np.ndarray:
        """(3,): where a pair (kind, number) is nearest."""
        return active.place_of(self.kinds, self.measured(y), self.poses(y), key)

    def gaps_of(self, contacts: Contacts, poses: Poses) -> np.ndarray:
        """(k,) gaps along the contacts' normals; FAR of those that have left their faces and edges."""
        return np.array(
            [
                FAR if self.leaving(poses, i, k, piece) > 0.0 else self.kinds[i].gap_of(k, piece, poses)
                for (i, k), piece in zip(contacts.keys, contacts.piece.tolist())
            ]
        )

    def leaving(self, poses: Poses, i: int, number: int, piece: int) -> float:
        """How far a pair of kind i has left its face or edge [m]; at most 0 while it has not."""
        return self.kinds[i].leaving_of(number, piece, poses)

    def rows(self, contacts: Contacts, poses: Poses) -> Rows:
        """The rows of contacts at poses."""
        return active.contact_rows(self.kinds, contacts, poses)

    def gap_rates(self, y: np.ndarray, i: int, numbers: np.ndarray, pieces: np.ndarray) -> np.ndarray:
        """(m,) phi' of pairs of kind i."""
        pairs = self.kinds[i]
        some = active.gathered([pairs], [(numbers, pieces[numbers])])
        return active.contact_rows([pairs], some, self.poses(y)).rates[::3]

    def missed(self, y: np.ndarray, y1: np.ndarray) -> bool:
        """Whether polyhedra overlap deeper than they did and no event says so: their edges met and ceased to within a
        step that was too long, so that the gaps at its ends tell nothing."""
        for pairs in self.kinds:
            if isinstance(pairs, EdgeEdge):
                deep = pairs.separations(self.poses(y1)) + OVERLAP
                if np.any(deep < 0.0) and np.any(deep < np.minimum(pairs.separations(self.poses(y)), 0.0)):
                    return True
        return False
