"""The rows of a step as functions of where its bodies are and how they move, and their differences.

A row is  J v + b + c lambda  with bounds of its impulse lambda. J, b, c and the bounds are functions of the poses x0 at
which the step found its contacts, and of the poses x and twists v with which a substep begins. The engine itself evaluates
them (Pipeline.prepare_later), so what is differentiated is what it solves, whatever joint or shape a row is of.
Differences are central, (f(e) - f(-e)) / 2 e.

Bodies that share no row are moved at once, by a colouring of the graph of rows (A. Curtis, M. Powell, J. Reid, "On the
estimation of sparse Jacobian matrices", 1974): so the work grows with how many bodies touch one, not with how many there
are.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.rotation import products
from mcsim.rotation import from_rotation_vector, normalize
from mcsim.solve.assemble import BLOCK_WIDE, second_rows
from mcsim.state.fields import ROW_KINDS
from mcsim.step.stages import GROW, OK
from mcsim.world import World

JOINT, NORMAL = ROW_KINDS.index("joint"), ROW_KINDS.index("normal")
NO_BODY = -2  # at the place of a second pair of bodies, where a row has one pair

# What says which row is which.
LABELS = ["kind", "source", "index", "body_a", "body_b", "block", "block_kind", "normal_begin", "normal_count"]


class State(NamedTuple):
    """Poses and twists of all bodies: positions (n, 3), orientations (n, 4), twists (n, 6)."""

    position: np.ndarray
    orientation: np.ndarray
    twist: np.ndarray

    def moved(self, bodies: np.ndarray, axis: int, by: np.ndarray) -> State:
        """Some bodies moved along an axis of the world (0 to 2) or turned about it (3 to 5), by so much each."""
        position, orientation = self.position.copy(), self.orientation.copy()
        if axis < 3:
            position[bodies, axis] += by
        else:
            vector = np.zeros((len(bodies), 3))
            vector[:, axis - 3] = by
            orientation[bodies] = normalize(products(from_rotation_vector(vector), orientation[bodies]))
        return State(position, orientation, self.twist)

    def hurried(self, bodies: np.ndarray, axis: int, by: np.ndarray) -> State:
        """With other twists of some bodies, along one of their six numbers."""
        twist = self.twist.copy()
        twist[bodies, axis] += by
        return State(self.position, self.orientation, twist)


@dataclass
class Rows:
    """The numbers of r rows, or what becomes of them as something changes.

    J (r, 2, 2, 6): of one pair of bodies, or two where a row is wide. bias, compliance (r, 2): of the biased pass and of
    the one without. lower, upper, friction, lever, error, size, push (r,). offset (r, 2): of a normal's point from its
    manifold's centre. acting (n, 6): what acts on the bodies.
    """

    J: np.ndarray
    bias: np.ndarray
    compliance: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    friction: np.ndarray
    lever: np.ndarray
    error: np.ndarray
    size: np.ndarray
    push: np.ndarray
    offset: np.ndarray
    acting: np.ndarray

    def __len__(self) -> int:
        return len(self.bias)

    def less(self, other: Rows, factor: float) -> Rows:
        """(this - other) factor; where both have no bound, 0."""
        with np.errstate(invalid="ignore"):
            parts = {name: factor * (getattr(self, name) - getattr(other, name)) for name in vars(self)}
        for name in ("lower", "upper"):
            parts[name][np.isinf(getattr(self, name))] = 0.0
        return Rows(**parts)

    def chosen(self, places: np.ndarray) -> Rows:
        """The rows at these places; NaN at those below 0."""
        parts = {}
        for name, array in vars(self).items():
            parts[name] = array if name == "acting" else array[places]
            if name != "acting":
                parts[name][places < 0] = np.nan
        return Rows(**parts)


@dataclass
class Layout:
    """Which rows there are: what a derivative holds.

    ends (r, 2, 2): numbers of the bodies of each pair, -1 the world, NO_BODY where there is no second pair. The others
    (r,): as of the records. labels: by which a layout is told from another; manifolds: the contacts that rows are of;
    central: whether friction acts at a manifold's centre.
    """

    ends: np.ndarray
    kind: np.ndarray
    source: np.ndarray
    index: np.ndarray
    block: np.ndarray
    block_kind: np.ndarray
    normal_begin: np.ndarray
    normal_count: np.ndarray
    labels: bytes
    manifolds: np.ndarray
    central: bool
    _keys: list[Hashable] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kind)

    def normals(self, row: int) -> np.ndarray:
        """The numbers of the normal rows that a row of friction hangs on."""
        return np.arange(self.normal_begin[row], self.normal_begin[row] + self.normal_count[row])

    def same(self, other: Layout) -> bool:
        """Whether the other one has the same rows in the same places."""
        return self.labels == other.labels

    def keys(self) -> list[Hashable]:
        """(r,) by which rows are found again where others come or go: of contacts by shapes and features."""
        if not self._keys and len(self):
            found: list[Hashable] = []
            for kind, source, index in zip(self.kind.tolist(), self.source.tolist(), self.index.tolist()):
                key: tuple[int, ...] = (kind, source, index)
                if kind >= NORMAL:
                    m = self.manifolds[source]
                    feature = int(m["points"]["feature"][index]) if index >= 0 else -1
                    key = (kind, int(m["shape_a"]), int(m["shape_b"]), int(m["part"]), feature)
                number = 0
                while (key, number) in found[-8:]:
                    number += 1
                found.append((key, number))
            self._keys = found
        return self._keys

    def places_in(self, other: Layout) -> np.ndarray:
        """(r,) where each of these rows is in another layout, -1: nowhere."""
        place = {key: i for i, key in enumerate(other.keys())}
        return np.array([place.get(key, -1) for key in self.keys()], np.intp)

    def impulses_of(self, manifolds: np.ndarray, joints: np.ndarray, J: np.ndarray) -> np.ndarray:
        """(r,) the impulses that the rows bore at the end of a step, by its joints' records and its contacts, of which
        those of the same features are the same."""
        out = np.zeros(len(self))
        for i in np.flatnonzero(self.kind < NORMAL):
            joint, index = joints[self.source[i]], int(self.index[i])
            if self.kind[i] == JOINT:
                out[i] = joint["impulse"][index] if index < len(joint["impulse"]) else 0.0
            elif index < joint["axes"]["impulse"].size:
                out[i] = joint["axes"]["impulse"].flat[index]
            elif index == joint["axes"]["impulse"].size:  # of a narrow cone's other rows nothing is kept
                out[i] = joint["swing_impulse"]
        known = {(int(m["shape_a"]), int(m["shape_b"]), int(m["part"])): m for m in manifolds}
        for i in np.flatnonzero(self.kind >= NORMAL):
            now = self.manifolds[self.source[i]]
            before = known.get((int(now["shape_a"]), int(now["shape_b"]), int(now["part"])))
            if before is not None:
                out[i] = self._impulse_of(int(i), now, before, J[i, 0, 1])
        return out

    def _impulse_of(self, row: int, now: np.void, before: np.void, J: np.ndarray) -> float:
        kind, index = ROW_KINDS[self.kind[row]], int(self.index[row])
        if kind == "twist":
            return float(before["twist_impulse"])
        if kind == "rolling":
            return float(before["rolling_impulse"] @ J[3:])
        if index < 0:
            return float(before["friction_impulse"] @ J[:3])
        points = before["points"][: before["point_count"]]
        found = np.flatnonzero(points["feature"] == now["points"]["feature"][index])
        if not len(found):
            return 0.0
        point = points[found[0]]
        return float(point["normal_impulse"] if kind == "normal" else point["friction_impulse"] @ J[:3])


class RowReader:
    """A copy of a world that is asked for its rows, and by nobody else for anything.

    begun: the State that its step begins with. h: substep [s].
    """

    def __init__(self, world: World) -> None:
        self.world, self.h, self.bodies = world, world.substep, world._bodies
        self.force = self.bodies.force.copy()
        self.tau = world.tau.copy()
        self._last: Layout | None = None
        self.begun = State(self.bodies.position.copy(), self.bodies.orientation.copy(), self.bodies.twist.copy())

    def read(self, found: State, at: State, ahead: float) -> tuple[Layout, Rows]:
        """The rows of a step that finds its contacts at one state, as a substep has them that begins `ahead` seconds later
        at another."""
        acting = np.zeros_like(self.force)
        self.bodies.position[...], self.bodies.orientation[...], self.bodies.twist[...] = found
        self.bodies.force[...] = self.force
        pipeline = self.world._pipeline
        while (status := pipeline.prepare_later(*at, acting, ahead)) == GROW:
            pipeline.parts.room.grow()
            self.bodies.position[...], self.bodies.orientation[...], self.bodies.twist[...] = found
        if status != OK:
            raise SimulationError("step_derivatives: the rows of the step cannot be found: a pose or a twist is not finite")
        self.records = pipeline.parts.plain.now().copy()
        return self._layout(self.records), _numbers(self.records, acting)

    @property
    def efforts(self) -> int:
        """nv, of the forces along joints' coordinates."""
        return len(self.tau)

    def effort_wrenches(self, found: State, at: State, ahead: float) -> np.ndarray:
        """(6 n, nv) what a unit of each force along a coordinate is as forces on the bodies at a state: they are linear."""
        out = np.zeros((len(self.force), 6, self.efforts))
        self.world.tau[...] = 0.0
        rest = self.read(found, at, ahead)[1].acting
        for k in range(self.efforts):
            self.world.tau[...] = 0.0
            self.world.tau[k] = 1.0
            out[:, :, k] = self.read(found, at, ahead)[1].acting - rest
        self.world.tau[...] = self.tau
        return out.reshape(6 * len(self.force), self.efforts)

    def _layout(self, records: np.ndarray) -> Layout:
        manifolds = self.world._collider.get_manifolds(present=True)
        labels = np.stack([records[name] for name in LABELS]).tobytes() + manifolds["points"]["feature"].tobytes()
        if self._last is None or self._last.labels != labels:
            self._last = self._new_layout(records, manifolds, labels)
        return self._last

    def _new_layout(self, records: np.ndarray, manifolds: np.ndarray, labels: bytes) -> Layout:
        second = second_rows(records)
        whole = np.cumsum(~second) - 1
        first = records[~second]
        ends = np.full((len(first), 2, 2), NO_BODY, np.intp)
        ends[:, 0] = np.stack([first["body_a"], first["body_b"]], axis=1)
        ends[whole[second], 1] = np.stack([records["body_a"][second], records["body_b"][second]], axis=1)
        hung = first["normal_count"] > 0
        begin = np.zeros(len(first), np.intp)
        begin[hung] = whole[first["normal_begin"][hung]]
        block = np.where(first["block_kind"] >= BLOCK_WIDE, 1, first["block"])
        names = ("kind", "source", "index", "block_kind", "normal_count")
        return Layout(
            ends=ends,
            block=block.astype(np.intp),
            normal_begin=begin,
            labels=labels,
            manifolds=manifolds,
            central=self.world._keywords["friction_points"] == "central",
            **{name: first[name].astype(np.intp) for name in names},
        )


def _numbers(records: np.ndarray, acting: np.ndarray) -> Rows:
    second = second_rows(records)
    first, whole = records[~second], np.cumsum(~second) - 1
    J = np.zeros((len(first), 2, 2, 6))
    J[:, 0] = first["jacobian"].reshape(-1, 2, 6)
    J[whole[second], 1] = records["jacobian"][second].reshape(-1, 2, 6)
    names = ("bias", "compliance", "lower", "upper", "friction", "lever", "error", "size", "push", "offset")
    return Rows(J=J, acting=acting, **{name: np.ascontiguousarray(first[name]) for name in names})
