"""The forces along joints' coordinates of a world: where each stands, and the part of World that has them."""

from __future__ import annotations  # signatures read as they are written here

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import product
from mcsim.core.rotation import from_matrix
from mcsim.reduced.dynamics import Dynamics, as_state
from mcsim.reduced.links import Link
from mcsim.reduced.system import System
from mcsim.scene import Scene
from mcsim.state.fields import JOINT_DTYPE, JOINT_TYPES
from mcsim.world.base import WorldBase

if TYPE_CHECKING:
    from mcsim.step._joint_efforts import JointEfforts
    from mcsim.step.stages import Pipeline


class ForcePlan(NamedTuple):
    """system: the model whose velocities the first forces go with; of_tree: how many these are, 0 where the trees have
    them by themselves. slots: name of a joint that is not among those -> where its forces stand; free: likewise, of
    bodies that no joint of the scene holds."""

    system: System
    of_tree: int
    slots: dict[str, slice]
    free: dict[str, slice]


def plan_forces(
    efforts: JointEfforts,
    scene: Scene,
    joints: np.ndarray,
    system: System | None = None,
    values: np.ndarray | None = None,
) -> None:
    """Make room for the forces of a world's joints. joints: its records; system: of a world of trees, whose joints it
    leaves out; None: a model is made of the scene. values: of the same joints, to go on with; None: all are 0."""
    trees, system = system is not None, System(scene) if system is None else system
    numbers = {joint.name: i for i, joint in enumerate(scene.joints)}
    slots = {link.joint.name: link.v for link in system.links if link.joint is not None}
    free = {link.body: link.v for link in system.links if link.joint is None and not link.prescribed}
    size = of_tree = 0 if trees else system.nv
    held = set(slots)
    if trees:
        slots, free = {}, {}
    for name, i in numbers.items():
        count = int(joints["axis_count"][i])
        if name not in held and count:
            slots[name] = slice(size, size + count)
            size += count
    places = [(numbers[name], slot.start) for name, slot in slots.items() if slot.stop > slot.start]
    places += [(len(numbers) + k, slot.start) for k, slot in enumerate(free.values())]
    holders = _holders([system.links[system.link_of[name]] for name in free])
    efforts.take(np.zeros(size) if values is None else values, places, holders)
    efforts.plan = ForcePlan(system, of_tree, slots, free)


def _holders(links: list[Link]) -> np.ndarray:
    """(links,) JOINT_DTYPE: a free joint between the frames, on the world and on the body, that the model has of each."""
    records = np.zeros(len(links), JOINT_DTYPE)
    records["type"], records["axis_count"], records["body_a"] = JOINT_TYPES.index("free"), 6, -1
    for record, link in zip(records, links):
        place, turn = link.frame
        record["body_b"] = link.body_number
        record["anchor_a"], record["basis_a"] = link.place, from_matrix(link.turn)
        record["anchor_b"], record["basis_b"] = -product(turn.T, place), from_matrix(turn.T)
    return records


def carry_forces(old: Pipeline, new: Pipeline, same: bool) -> None:
    """What the pipeline of a world had, to the one that takes its place. same: they are of the same bodies and joints."""
    before, now = old.parts.efforts, new.parts.efforts
    if before.values is None:
        return
    if same:
        now.make(now, values=before.values)
    elif np.any(before.values):
        now.make(now)
        for mine, theirs in ((now.plan.slots, before.plan.slots), (now.plan.free, before.plan.free)):
            for name in mine.keys() & theirs.keys():
                if mine[name].stop - mine[name].start == theirs[name].stop - theirs[name].start:
                    now.values[mine[name]] = before.values[theirs[name]]


class JointForces(WorldBase):
    """The part of World that has the model of generalized coordinates, and forces along them."""

    def _efforts(self) -> JointEfforts:
        """The forces of the joints there are, made when somebody first asks."""
        efforts = self._there.pipeline.parts.efforts
        if efforts.values is None:
            efforts.make(efforts)
        return efforts

    def _forces_of(self, joint: int) -> np.ndarray:
        """The forces along a joint's coordinates: a view."""
        name = self._there.scene.joints[joint].name
        efforts = self._efforts()
        slot = efforts.plan.slots.get(name)
        if slot is None or slot.stop == slot.start:
            raise SceneError(
                f"joint {name!r} is a {self._there.scene.joints[joint].type} joint, which has no coordinate that a force "
                "could drive"
            )
        return efforts.values[slot]

    @property
    def system(self) -> System:
        """The model of the scene in generalized coordinates, with whose velocities `tau` goes: a spanning tree of the
        joints, as a ReducedWorld has it. system.coordinates(positions, orientations, velocities, angular_velocities) gives
        q and qd of the present state."""
        return self._efforts().plan.system

    @property
    def dynamics(self) -> Dynamics:
        """Inverse dynamics and the other algorithms over `system`, at any state."""
        system, scales = self.system, self._bodies.gravity_scale
        key = system, scales.tobytes()
        if self._dynamics is None or self._dynamics[0] != key:
            self._dynamics = key, Dynamics(_falling(system, scales))
        return self._dynamics[1]

    def index(self, which: Any) -> tuple[slice, slice]:
        """Where a joint of the model's tree stands in q and in `tau`, or a body that no joint holds: (slice of q, slice of
        qd). which: handle or name."""
        return self.system.index(which)

    @property
    def tau(self) -> np.ndarray:
        """(nv,) forces along the velocities of `system` [N, N m], a view: they act in every step until they are written
        anew. As ReducedWorld.tau: of a joint a force, on b and the opposite on a, along each of its free coordinates (of a
        ball about x, y, z of b's joint axes); of a body that no joint holds a force along the world's axes, and a torque
        about its own, on its centre of mass. Joints that close loops are not among them: see `joint(name).tau`.

        What is driven so does not sleep. A kinematic body's have no effect.
        """
        efforts = self._efforts()
        return efforts.values[: efforts.plan.of_tree].view()

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        with self._turn.alone("tau"):
            self.tau[...] = as_state(value, "tau", len(self.tau))


def _falling(system: System, scales: np.ndarray) -> System:
    """The same model of bodies that gravity pulls so many times as much, which may be set while a world runs."""
    scene = system.scene
    if all(body.gravity_scale == scale for body, scale in zip(scene.bodies, scales.tolist())):
        return system
    bodies = [body.changed(gravity_scale=scale) for body, scale in zip(scene.bodies, scales.tolist())]
    return System(scene.of_parts(bodies, scene.joints, scene.ignored_pairs))
