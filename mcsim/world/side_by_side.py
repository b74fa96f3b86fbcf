"""Which worlds of a rollout go several at a time, and how: those of trees that nothing but gravity and their joints' forces
moves (reduced/_side_by_side.pyx)."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Mapping

import numpy as np

from mcsim.world.reduced_world import ReducedWorld
from mcsim.world.world import World

MOST_SHAPES = 256  # of which all pairs are looked at
BLOCK = 8  # worlds a lane that are shared out at a time


class Abreast:
    """Worlds in the state that `world` has now, but for q, qd and tau. `world` is at their beginning whenever `fly` is
    called."""

    def __init__(self, world: ReducedWorld) -> None:
        space, bodies = world._space, world._bodies
        self.by = space.side_by_side()
        self.start, self.dt = world.time, world.dt
        self.q, self.qd, self.tau = world.q.copy(), world.qd.copy(), world.tau.copy()
        self.faces, self.faces_of_q = bodies.orientation.copy(), bodies.orientation.copy()
        numbers, faces = _turned(world)
        self.faces_of_q[numbers] = faces
        self.unmoved = np.flatnonzero(bodies.kind == 0)
        self.still = {name: getattr(bodies, name)[self.unmoved] for name in ("position", "orientation", "twist")}

    @staticmethod
    def suits(world: World) -> bool:
        """Whether these worlds come to the same bits side by side as one by one."""
        if not isinstance(world, ReducedWorld) or world._before_step is not None:
            return False
        if world._keywords["integrator"] != "semi_implicit":
            return False
        if world._waiting() is not None or world._space.body_sync.written() is not None:
            return False
        numbers, faces = _turned(world)
        if np.any(np.sum(faces * world._bodies.orientation[numbers], axis=1) < 0.5):  # q was written, with another sign
            return False
        return world._space.flies_alone() and not _may_touch(world)

    @property
    def block(self) -> int:
        """How many worlds are worth a call of `fly`, where there are enough."""
        return BLOCK * self.by.lanes

    def fly(
        self,
        some: range,
        steps: int,
        every: int,
        states: Mapping[str, np.ndarray],
        tau: np.ndarray | None,
        kept: Mapping[str, np.ndarray],
        lost: np.ndarray,
        stopped: np.ndarray,
    ) -> None:
        """Some worlds, by their numbers. states: "q" and "qd" of each where they are given; tau: that broadcasts to
        (worlds, steps, nv), or None. kept: the arrays of all worlds, by name; lost (worlds,) int8: written 1 of those
        that are to be made one by one; stopped (1,) int8: not 0 where all is to end."""
        count = len(lost)
        q = np.broadcast_to(states.get("q", self.q), (count, len(self.q)))
        qd = np.broadcast_to(states.get("qd", self.qd), (count, len(self.qd)))
        forces = np.broadcast_to(self.tau if tau is None else tau, (count, steps, len(self.tau)))
        faces = self.faces_of_q if "q" in states else self.faces
        for name, numbers in self.still.items():
            if name in kept and len(self.unmoved):
                kept[name][some.start : some.stop, :, self.unmoved] = numbers
        self.by.fly(some.start, some.stop, steps, every, q, qd, forces, faces, dict(kept), lost, stopped)


def _turned(world: ReducedWorld) -> tuple[np.ndarray, np.ndarray]:
    """Bodies that keep to the side of another quaternion than they have, where q is written; and those, (k, 4)."""
    turned = world._space.body_sync.turned_faces(world._pipeline.steps)
    return turned[:, 0].astype(np.intp), turned[:, 1:]


def _may_touch(world: World) -> bool:
    """Whether any two shapes may ever meet, whatever the poses: of two bodies of which one moves, that no joint or word of
    the user's keeps apart, and whose masks let them."""
    shapes = world._collider.get_shapes()
    shapes = shapes[shapes["sensor"] == 0]
    if len(shapes) > MOST_SHAPES:
        return True
    sees = (shapes["group"][:, None] & shapes["mask"]) != 0
    one, other = np.nonzero(np.triu(sees & sees.T, 1))
    pairs = np.unique(np.sort(np.stack([shapes["body"][one], shapes["body"][other]], axis=1), axis=1), axis=0)
    moves = world._bodies.kind != 0
    apart = {frozenset(pair) for pair in world._collider.get_excluded().reshape(-1, 2).tolist()}
    return any(a != b and (moves[a] or moves[b]) and frozenset((a, b)) not in apart for a, b in pairs.tolist())
