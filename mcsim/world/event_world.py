"""contact="event": a World or a ReducedWorld stepped by the event-driven simulation (mcsim/event).

The world's arrays are the state; a Simulation over the features of its shapes is made when it first steps, and anew
when bodies or joints have changed.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import dot, lengths, product, turned
from mcsim.core.notes import tell
from mcsim.event.features import Pairs, TurnLimit
from mcsim.event.joints import joint_pairs
from mcsim.event.pairs import contact_pairs
from mcsim.event.simulation import Simulation
from mcsim.event.systems import FreeBodies, JointRows, Tree
from mcsim.reduced.continuous import Flow
from mcsim.solve._assemble import jacobian_arrays
from mcsim.solve.assemble import second_rows
from mcsim.state.arrays import BodyArrays, excluded_pairs
from mcsim.state.fields import ROW_KINDS
from mcsim.step.stages import GROW, Pipeline
from mcsim.world.driven_joint import MOTOR_PD, MOTOR_POSITION
from mcsim.world.smooth import has_paced_motor

if TYPE_CHECKING:
    from mcsim.world.protocols import SteppedWorld, WorldOfTrees

Key = tuple[int, int]  # of a pair of features: its kind, and its number among those
ShapePair = tuple[int, int, int, int]  # the two bodies, then the numbers of the shapes in them

HAPPENING_DTYPE = np.dtype(
    [
        ("time", "f8"),
        ("kind", "U8"),
        ("body_a", "i4"),
        ("body_b", "i4"),
        ("position", "f8", 3),
        ("normal_impulse", "f8"),
        ("speed", "f8"),
    ]
)

AHEAD, BEHIND = [1, 2, 0], [2, 0, 1]  # coordinates after each one, and before it
JOINT = ROW_KINDS.index("joint")

BOUNDED = "which only contact='rigid' has: take it away, or make the world with contact='rigid'"


def in_trees(world: SteppedWorld) -> TypeGuard[WorldOfTrees]:
    """Whether it is a ReducedWorld, which stands on a higher floor than this."""
    return hasattr(type(world), "qd")


class EventRun:
    """The event-driven simulation of one world, with the bodies and joints that it has now."""

    pipeline: Pipeline
    steps: int
    impacts: int
    reduced: bool
    shapes: list[Pairs]
    simulation: Simulation
    jointed: bool

    def __init__(self, world: SteppedWorld) -> None:
        scene, k = world.scene, world._keywords
        self.pipeline = world._pipeline
        self.steps = self.impacts = 0  # of the last call of step()
        self.began: list[tuple[Any, ...]] = []
        self.ended: list[tuple[int, ...]] = []
        self.last: np.ndarray | None = None  # the state at the last step's end
        self.reduced = in_trees(world)
        refuse_bounds(world)
        self.shapes = contact_pairs(scene, excluded_pairs(scene, world._body_index))
        self.simulation = Simulation(
            None,
            self.shapes,
            len(self.shapes),
            world.body_names,
            partial(tell, self.pipeline.parts.noted),
            k["integrator"],
            k["impacts"],
            k["restitution_law"],
        )
        self._bound_joints(world)

    def step(self, world: SteppedWorld, n: int) -> None:
        """Make n steps. The world has the state before the step that fails."""
        simulation, pipeline = self.simulation, self.pipeline
        simulation.begin()
        pipeline.parts.noted.begin_call()
        self.began, self.ended = [], []
        self.begin(world)
        self.steps = 0
        y = self.read(world)
        try:
            for _ in range(n):
                time, h = world.time, world.substep
                before = simulation.touching(y)
                given: dict[Key, np.ndarray] = {}
                for k in range(world._keywords["substeps"]):
                    y = simulation.step(time + k * h, y, h)
                    for key, impulse in simulation.impulses.items():
                        given[key] = given.get(key, 0.0) + impulse
                if pipeline.parts.noted.end_step() and pipeline.one.strict:
                    raise world._not_done()
                self.write(world, y)
                self._count_turns(world)
                pipeline.steps += 1
                if self.reduced:
                    pipeline.space.end_steps()
                self.steps += 1
                self._log(pipeline.steps, before, given, simulation.touching(y))
        finally:
            pipeline.parts.noted.end_step()
            if self.jointed and self.last is not None:
                self.write(world, self.last)  # trial states were written there
            world._bodies.force[...] = 0.0
            self.impacts = sum(event.kind == "impact" for event in simulation.happenings)

    def _log(self, step: int, before: set[Key], given: dict[Key, np.ndarray], after: set[Key]) -> None:
        """Which shapes began and ceased to touch in a step: dicts of pairs of features (kind, number)."""
        kinds = self.simulation.kinds

        def shapes(keys: Iterable[Key]) -> dict[ShapePair, Key]:
            found: dict[ShapePair, Key] = {}
            for i, k in sorted(keys):
                found.setdefault((*kinds[i].bodies[k].tolist(), *kinds[i].shapes[k].tolist()), (i, k))
            return found

        touched, now = shapes({*given, *after}), shapes(after)
        old = shapes(before)
        for pair in sorted(set(touched) - set(old)):
            point, normal = self.simulation.points.get(touched[pair], (np.zeros(3), np.zeros(3)))
            impulse = sum(
                dot(normal, given[key])
                for key in given
                if (*kinds[key[0]].bodies[key[1]].tolist(), *kinds[key[0]].shapes[key[1]].tolist()) == pair
            )
            self.began.append((step, *pair, impulse, point, normal))
        self.ended += [(step, *pair) for pair in sorted((set(old) | set(touched)) - set(now))]

    # ---- the state ---------------------------------------------------------------------------------------------------

    def begin(self, world: SteppedWorld) -> None:
        """The system at the forces and settings of now."""
        bodies = world._bodies
        self.jointed = False
        if len(world._joints):
            self._bound_joints(world)
        if in_trees(world):
            flow = Flow(world.dynamics, world.tau.copy(), bodies.force.copy())
            self.simulation.system = Tree(world.dynamics, flow)
            return
        gravity = np.asarray(world._scene.gravity, float)
        self.jointed = bool(len(world._joints))
        self.simulation.system = FreeBodies(bodies, gravity, JointSource(world) if self.jointed else None)

    def _bound_joints(self, world: SteppedWorld) -> None:
        """The joints' limits, motors and friction as they are now."""
        bounds = joint_pairs(world.scene, world._joints, f"{type(world).__name__}(contact='event')")
        for pairs in bounds:
            if isinstance(pairs, TurnLimit):
                pairs.near[:] = [np.atleast_1d(world.joint(joint).position)[axis] for joint, axis in pairs.shapes.tolist()]
        self.simulation.take(self.shapes + bounds)

    def _count_turns(self, world: SteppedWorld) -> None:
        """What the next call of step() begins to count limited angles from."""
        for pairs in () if self.reduced else self.simulation.turns:
            for (joint, axis), angle in zip(pairs.shapes.tolist(), pairs.near):
                world._joints["axes"]["position"][joint, axis] = angle

    @property
    def _free(self) -> FreeBodies:
        """What moves in a World."""
        system = self.simulation.system
        assert isinstance(system, FreeBodies)
        return system

    def read(self, world: SteppedWorld) -> np.ndarray:
        """y"""
        if in_trees(world):
            y = np.concatenate([world.q, world.qd])
        else:
            y = self._free.read(world._bodies)
        if self.last is not None and np.array_equal(y, self.last):
            return self.last  # what is known of the last step's end holds
        self.last = y
        return y

    def write(self, world: SteppedWorld, y: np.ndarray) -> None:
        """Into the world's arrays."""
        self.last = y
        if in_trees(world):
            world.q[...], world.qd[...] = y[: len(world.q)], y[len(world.q) :]
        else:
            self._free.write(y, world._bodies)

    # ---- what it tells -----------------------------------------------------------------------------------------------

    def fill_contacts(self, dtype: np.dtype) -> np.ndarray:
        """Contacts that were active or struck in the last substep, as World.contacts."""
        simulation = self.simulation
        impulses = simulation.impulses
        out = np.zeros(len(impulses), dtype)
        gaps = [] if self.last is None or not len(out) else simulation.measure(self.last)
        for row, key in zip(out, sorted(impulses)):
            kind, number = key
            pairs = simulation.kinds[kind]
            point, normal = simulation.points[key]
            impulse = impulses[key]
            row["body_a"], row["body_b"] = pairs.bodies[number]
            row["position"], row["normal"], row["separation"] = point, normal, gaps[kind][1][number]
            row["normal_impulse"] = dot(normal, impulse)
            row["tangent_impulse"] = impulse - dot(normal, impulse) * normal
            row["friction"] = pairs.friction[number]
        return out

    def happenings(self) -> np.ndarray:
        """(k,) HAPPENING_DTYPE"""
        out = np.zeros(len(self.simulation.happenings), HAPPENING_DTYPE)
        for row, event in zip(out, self.simulation.happenings):
            row["time"], row["kind"], row["position"] = event.time, event.kind, event.position
            row["body_a"], row["body_b"] = event.bodies
            row["normal_impulse"], row["speed"] = event.normal_impulse, event.speed
        return out


class JointSource:
    """The joints' rows of a World at trial states: they are written into its arrays, and its pipeline asked."""

    world: SteppedWorld
    bodies: BodyArrays
    pipeline: Pipeline
    moves: np.ndarray
    gravity: np.ndarray
    driven: bool

    def __init__(self, world: SteppedWorld) -> None:
        self.world = world
        self.bodies, self.pipeline = world._bodies, world._pipeline
        self.moves = (self.bodies.inv_mass > 0.0)[:, None]
        self.gravity = np.asarray(world._scene.gravity, float)
        self.driven = bool(np.any(world._joints["axes"]["motor_mode"] == MOTOR_POSITION))

    def __call__(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, w: np.ndarray) -> JointRows:
        bodies = self.bodies
        bodies.position[...] = x
        bodies.orientation[...] = q / lengths(q)[:, None]
        bodies.twist[:, :3], bodies.twist[:, 3:] = v, w
        while self.pipeline.prepare() == GROW:
            self.pipeline.parts.room.grow()
        raw = self.pipeline.parts.plain.now()
        rows, K = self._joint_rows(raw)
        spins = self.world._spins()
        torques = _cross(w, spins)
        turning = np.zeros((len(x), 6))
        turning[:, 3:] = -turned(bodies.inv_inertia_world, torques)
        own = np.zeros((len(x), 6))
        own[:, :3] = bodies.mass[:, None] * (
            bodies.gravity_scale[:, None] * self.gravity - bodies.linear_damping[:, None] * v
        )
        own[:, 3:] = -bodies.angular_damping[:, None] * spins
        smooth = np.where(self.moves, self.pipeline.space.smooth_forces(), 0.0)
        right = -(rows["curvature"] - product(K, turning.ravel()))
        gyroscopic = np.zeros_like(smooth)
        gyroscopic[:, 3:] = np.where(self.moves, torques, 0.0)
        motors = self.world._motor_wrenches(raw, K, right, smooth - gyroscopic, turning.ravel()) if self.driven else 0.0
        forces = np.where(self.moves, smooth + motors - own - bodies.force, 0.0)
        return JointRows(K, right, rows["error"].copy(), forces)

    def _joint_rows(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of row records those of joints, and their J (m, 6 n) without columns of what does not move. Where there are
        wide rows, each of two records, the world's own way adds them."""
        rows = raw[raw["kind"] == JOINT]
        if np.any(second_rows(rows)):
            rows, J = self.world._rows_of_joints(raw)
            return rows, J.toarray()
        K = np.zeros((len(rows), 6 * self.bodies.count))
        place, columns, data = jacobian_arrays(rows)
        K[np.repeat(np.arange(len(rows)), np.diff(place)), columns] += data
        return rows, np.where(np.repeat(self.moves, 6), K, 0.0)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cross products of vectors (n, 3) side by side."""
    return a[:, AHEAD] * b[:, BEHIND] - a[:, BEHIND] * b[:, AHEAD]


def refuse_bounds(world: SteppedWorld) -> None:
    """What neither smooth motion nor an event covers, by name."""
    where, reduced = f"{type(world).__name__}(contact='event')", in_trees(world)
    for record, joint in zip(world._joints, world.scene.joints):
        axes = record["axes"][: record["axis_count"]]
        found = [
            (reduced and np.any(axes["motor_mode"] == MOTOR_POSITION), "a position motor"),
            (reduced and np.any(axes["motor_mode"] == MOTOR_PD), "a PD motor"),
            (has_paced_motor(record), "a motor with a max_velocity"),
            (np.any(axes["motion_mode"]), "a given motion"),
            (bool(record["breakable"]), "a force that breaks it"),
            (reduced and np.any(axes["has_spring"]), "a spring"),
            (not reduced and np.any(axes["armature"]), "an armature"),
        ]
        for is_so, what in found:
            if is_so:
                raise SceneError(f"{where}: joint {joint.name!r} has {what}, {BOUNDED}")
    if not in_trees(world):
        return
    tree = {link.joint.name for link in world.system.links if link.joint is not None}
    for joint in world.scene.joints:
        if joint.name not in tree:
            raise SceneError(
                f"{where}: joint {joint.name!r} closes a loop or couples others, which only World has "
                "with contact='event': take World"
            )
    for link in world.system.links:
        if link.prescribed:
            raise SceneError(
                f"{where}: body {link.body!r} is kinematic, which only World has with contact='event': take World"
            )
    for body in world.scene.bodies:
        if body.linear_damping or body.angular_damping:
            raise SceneError(
                f"{where}: body {body.name!r} has damping, which only World has with contact='event': take World"
            )
