"""Velocities that users write into the arrays of a ReducedWorld's bodies: taken over by the next step, and by changes of
velocities. Until then an observer works on the state as they will make it, and leaves it as it was written.
"""

from __future__ import annotations  # signatures read as they are written here

from typing import TYPE_CHECKING

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.rotation import conjugate, rotate
from mcsim.reduced.agreement import allow

if TYPE_CHECKING:
    from mcsim.world.protocols import WorldOfTrees


def follow_written(world: WorldOfTrees) -> None:
    """The bodies as q and qd have them and, until whoever has the world's turn gives it back, q and qd as what is
    written into the bodies' velocities makes them."""
    space, bodies = world._space, vars(world)["_bodies"]
    space.sync()
    if not world._turn.taken or world._turn.last is not None or space.body_sync.written() is None:
        return
    qd, twist, shown = space.qd.copy(), bodies.twist.copy(), space.body_sync.shown_twists.copy()

    def give_back() -> None:
        if world._space is space:
            space.qd[...] = qd
            space.body_sync.take_back_twists(twist, shown)

    if np.all(np.isfinite(twist)):
        try:
            take_over(world)
        except SimulationError:  # q is none: there is nothing to see by it, and the step tells of it
            return
        world._turn.last = give_back


def take_over(world: WorldOfTrees) -> None:
    """Written velocities become the state: all at once, as set_velocity does it."""
    pipeline = vars(world)["_pipeline"]
    pipeline.space.sync()
    written = pipeline.space.body_sync.written()
    if written is None:
        return
    twist = vars(world)["_bodies"].twist
    for i in np.flatnonzero(np.any(written, axis=1)):
        if not np.all(np.isfinite(twist[i])):
            raise SimulationError(
                f"step {pipeline.steps + 1} (t = {world.time + world.dt:.6g} s): the velocity that was "
                f"written for body {world.body_names[i]!r} is not finite; set it anew"
            )
    try:
        agree(world, twist.copy(), written)
    except SceneError as error:
        raise SimulationError(f"step {pipeline.steps + 1} (t = {world.time + world.dt:.6g} s): {error}") from None


def commit(world: WorldOfTrees) -> None:
    """Before velocities change: what is written is taken over for good."""
    follow_written(world)
    world._turn.last = None


def agree(world: WorldOfTrees, twists: np.ndarray, written: np.ndarray) -> None:
    """qd as impulses at the joints make it of these twists (n, 6), where they are `written` (n, 2), and of the
    present ones elsewhere. A body that no joint of the tree holds is the root of its tree, and has exactly what is
    written."""
    space, bodies = world._space, vars(world)["_bodies"]
    asked, qd = space.body_sync.shown_twists.copy(), space.qd.copy()
    asked.reshape(-1, 2, 3)[written] = twists.reshape(-1, 2, 3)[written]
    for link in world.system.links:
        i = link.body_number
        if link.joint is None and not link.prescribed:
            if written[i, 0]:
                qd[link.v][:3] = twists[i, :3]
            if written[i, 1]:
                qd[link.v][3:] = rotate(conjugate(space.q[link.q][3:]), twists[i, 3:])
    allow(world.system, space.q, qd, (bodies.position, bodies.orientation, asked[:, :3], asked[:, 3:]))
    space.body_sync.forget_written()
    space.qd[...] = qd
    space.sync()
