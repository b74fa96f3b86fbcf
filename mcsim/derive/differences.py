"""Central differences of a substep's rows along the motions of bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.derive.one_sided import OneSidedLaw
from mcsim.derive.rows import NORMAL, Layout, Rows, State
from mcsim.derive.substep import Substep
from mcsim.state.fields import ROW_KINDS

STEP = 1e-5  # by which bodies are moved [parts of their reach, rad], and their twists [1 m/s, 1 rad/s]
SHORTER = (1.0, 0.1, 0.01)  # parts of it that are tried, where contacts come or go

MOTOR = ROW_KINDS.index("motor")

ONE_SIDE = "the step has no derivative here, what is told is of one side"

# Bodies, axis, by how much each moves -> the rows then.
Read = Callable[[np.ndarray, int, np.ndarray], tuple[Layout, Rows]]


class Change(NamedTuple):
    """What becomes of rows as several bodies, of which no two share a row, move along (0 to 2) or about (3 to 5) an axis.

    size (bodies,): by how much each moves [m, rad]. rows: what changes by that. owner (r,): which of the bodies a row is
    of, -1: of none. acted (bodies, n) bool: on whom the forces change as each moves.
    """

    bodies: np.ndarray
    axis: int
    size: np.ndarray
    rows: Rows
    owner: np.ndarray
    acted: np.ndarray


class Differences:
    """Of the rows of a step. dynamic (n,) bool; reach (n,) [m]; together: pairs of bodies that forces along joints'
    coordinates act on; law: of biases. notes: what was seen, is added to. told: of a contact, by its record, whether
    friction is told of its two surfaces together."""

    def __init__(
        self,
        dynamic: np.ndarray,
        reach: np.ndarray,
        together: list[tuple[int, int]],
        law: OneSidedLaw,
        notes: list[str],
        told: Callable[[np.void], bool],
    ) -> None:
        self.law, self.dynamic, self.together, self.notes, self.told = law, dynamic, together, notes, told
        self.reach = np.where(np.isfinite(reach) & (reach > 0.0), reach, 1.0)

    def by_pose(self, substep: Substep) -> Iterator[Change]:
        """As the substep begins elsewhere; of the first, the step finds its contacts there."""

        def read(bodies: np.ndarray, axis: int, by: np.ndarray) -> tuple[Layout, Rows]:
            at = substep.at.moved(bodies, axis, by)
            return substep.reader.read(at if substep.first else substep.found, at, substep.ahead)

        return self._along(substep, read, self.reach)

    def by_found(self, substep: Substep) -> Iterator[Change]:
        """As the step finds its contacts elsewhere."""

        def read(bodies: np.ndarray, axis: int, by: np.ndarray) -> tuple[Layout, Rows]:
            return substep.reader.read(substep.found.moved(bodies, axis, by), substep.at, substep.ahead)

        return self._along(substep, read, self.reach)

    def by_twist(self, substep: Substep) -> Iterator[Change]:
        """As the substep begins with other twists, which position motors aim by."""

        def read(bodies: np.ndarray, axis: int, by: np.ndarray) -> tuple[Layout, Rows]:
            at: State = substep.at.hurried(bodies, axis, by)
            return substep.reader.read(at if substep.first else substep.found, at, substep.ahead)

        return self._along(substep, read, np.ones_like(self.reach))

    @staticmethod
    def twists_matter(layout: Layout) -> bool:
        """Whether rows depend on them."""
        return bool(np.any(layout.kind == MOTOR))

    def frictions(self, layout: Layout) -> np.ndarray:
        """(r, n) d mu / mu of each row by a factor on a body's coefficients: mu is the geometric mean of both, where it
        is not told of the pair."""
        out = np.zeros((len(layout), len(self.dynamic)))
        for i in np.flatnonzero(layout.kind > NORMAL):
            if self.told(layout.manifolds[layout.source[i]]):
                continue
            for body in layout.ends[i, 0]:
                if body >= 0:
                    out[i, body] += 0.5
        return out

    # ---- bodies several at a time ------------------------------------------------------------------------------------

    def _along(self, substep: Substep, read: Read, scale: np.ndarray) -> Iterator[Change]:
        for bodies in colours(self.dynamic, substep.layout, self.together if np.any(substep.rows.acting) else []):
            owner = np.full(len(substep.layout), -1)
            for k, body in enumerate(bodies):
                owner[(substep.layout.ends == body).any(axis=(1, 2))] = k
            acted = np.array([self._acted(body) for body in bodies])
            for axis in range(6):
                size = STEP * (scale[bodies] if axis < 3 else np.ones(len(bodies)))
                yield Change(bodies, axis, size, self._central(substep, read, bodies, axis, size), owner, acted)

    def _acted(self, body: int) -> np.ndarray:
        """(n,) bool: whose forces change as the body moves."""
        out = np.zeros(len(self.dynamic), bool)
        out[body] = True
        for a, b in self.together:
            if body in (a, b):
                out[[i for i in (a, b) if i >= 0]] = True
        return out

    def _central(self, substep: Substep, read: Read, bodies: np.ndarray, axis: int, size: np.ndarray) -> Rows:
        """Half of what changes from one side to the other: a shorter way where rows that matter come or go."""
        matters = self._matters(substep)
        for part in SHORTER:
            sides, layouts = [], []
            for sign in (1.0, -1.0):
                layout, rows = read(bodies, axis, sign * part * size)
                if not layout.same(substep.layout):
                    rows = rows.chosen(substep.layout.places_in(layout))
                sides.append(rows)
                layouts.append(layout)
            if not any(np.isnan(rows.bias[matters]).any() for rows in sides):
                found = sides[0].less(sides[1], 0.5 / part)
                found.bias = self.law.slopes(substep.layout, substep.rows, found)
                if all(layout.same(substep.layout) for layout in layouts):
                    return found
                return Rows(**{name: np.nan_to_num(array) for name, array in vars(found).items()})
        names = " and ".join(repr(substep.reader.world.body_names[i]) for i in bodies)
        raise SimulationError(
            f"step_derivatives: as {names} move by {size.min() * SHORTER[-1]:.1g}, contacts that press come or go: the "
            "step has no derivative here; another state, a little away, has one"
        )

    @staticmethod
    def _matters(substep: Substep) -> np.ndarray:
        """(r,) bool: the rows that give impulses."""
        out = np.ones(len(substep.layout), bool)
        for block, mode in zip(substep.solution.blocks, substep.solution.modes):
            out[block.rows] = mode.state not in ("open", "idle")
        return out

    def note(self, substep: Substep, row: int, what: str, then: str = ONE_SIDE) -> None:
        """That a row keeps the step from having one derivative."""
        names = [repr(substep.reader.world.body_names[i]) for i in substep.layout.ends[row, 0] if i >= 0]
        kind = ROW_KINDS[substep.layout.kind[row]]
        text = (
            f"the {kind} row of {' and '.join(names)} {what}: the step has no derivative here, what is told is of one side"
        )
        if text not in self.notes:
            self.notes.append(text)


def colours(dynamic: np.ndarray, layout: Layout, together: list[tuple[int, int]]) -> list[np.ndarray]:
    """Sets of dynamic bodies of which no two share a row, nor a neighbour among `together`: greedily, in order."""
    count = len(dynamic)
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for ends in layout.ends.reshape(-1, 4):
        bodies = [int(i) for i in ends if i >= 0 and dynamic[i]]
        for i in bodies:
            neighbours[i].update(bodies)
    beside: list[set[int]] = [set() for _ in range(count)]
    for a, b in together:
        for i, j in ((a, b), (b, a)):
            if i >= 0 and j >= 0:
                beside[i].add(j)
    for i in range(count):
        neighbours[i] |= beside[i] | {k for j in beside[i] for k in beside[j]}
    taken = np.full(count, -1)
    for i in np.flatnonzero(dynamic).tolist():
        used = {int(taken[j]) for j in neighbours[i] if j != i}
        taken[i] = next(k for k in range(count) if k not in used)
    return [np.flatnonzero(taken == c) for c in range(int(taken.max(initial=-1)) + 1)]
