"""What a run is, step by step: a Recorder takes it from a world, in blocks of steps, and a Run keeps it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.rotation import matrices
from mcsim.lab.nature import has_springs
from mcsim.lab.series import RESIDUAL_UNITS, run_frame, write_series
from mcsim.reduced import System
from mcsim.scene import Scene
from mcsim.world import World
from mcsim.world.laboratory import measured

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 256  # steps that are worked out together
BLOWN = 1e30  # kinetic energy of what has blown up [J]


# What a run keeps of every body, and of every joint, where its trajectories are kept: shapes of a row.
KEPT: dict[str, tuple[int, ...]] = {
    "positions": (-1, 3),
    "orientations": (-1, 4),
    "velocities": (-1, 3),
    "angular_velocities": (-1, 3),
    "joint_position_errors": (-1,),
    "joint_angle_errors": (-1,),
}


@dataclass(eq=False)
class Run:
    """What one method did with one step, at the beginning and after every step: arrays (t,), or (t, 3).

    time: [s]. joint_position_max, joint_position_rms [m], joint_angle_max, joint_angle_rms [rad]: by how much joints are
    open, the worst and the root mean square over all. velocity_drift [m/s], spin_drift [rad/s]: the worst velocity
    along what a joint forbids. energy, kinetic: [J]. linear_momentum [kg m/s], angular_momentum about the origin [kg m²/s].
    penetration [m]: the deepest. position_distance [m], angle_distance [rad]:
    to the reference trajectory, root mean square over the bodies; NaN without one. energy_error [J], momentum_error
    [kg m/s], spin_error [kg m²/s]: see Study. step_seconds (steps,) [s]: time of each call of step(), in a run of its
    own that records nothing.
    name, dt, seconds: which run it is. failure: why it ended early, "" if it did not. notes: what its steps could not do,
    sentences. body_names, joint_names: in the order of the arrays that have one entry for each.

    residuals: name -> (t,), as of world.stats.residuals after a step: "natural_map" and "dual" [N s, N m s], "velocity" and
    "primal" [m/s, rad/s], "complementarity" [J]; NaN at the beginning, and of those that the steps did not measure and the
    study was not asked for (compare(residuals=True)).
    trajectories: what `positions` and its kin return; empty if the study did not keep them.
    """

    name: str
    dt: float
    seconds: float
    time: np.ndarray
    joint_position_max: np.ndarray
    joint_position_rms: np.ndarray
    joint_angle_max: np.ndarray
    joint_angle_rms: np.ndarray
    velocity_drift: np.ndarray
    spin_drift: np.ndarray
    energy: np.ndarray
    kinetic: np.ndarray
    linear_momentum: np.ndarray
    angular_momentum: np.ndarray
    penetration: np.ndarray
    position_distance: np.ndarray
    angle_distance: np.ndarray
    energy_error: np.ndarray
    momentum_error: np.ndarray
    spin_error: np.ndarray
    step_seconds: np.ndarray
    failure: str = ""
    notes: list[str] = field(default_factory=list)
    residuals: dict[str, np.ndarray] = field(default_factory=dict)
    trajectories: dict[str, np.ndarray] = field(default_factory=dict)
    body_names: tuple[str, ...] = ()
    joint_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        """The number of steps that were made."""
        return len(self.time) - 1

    def __repr__(self) -> str:
        end = f", failed at {self.time[-1]:.4g} s" if self.failure else ""
        return f"<Run {self.name!r}: {len(self)} steps of {self.dt:.6g} s{end}>"

    @property
    def residual(self) -> np.ndarray:
        """residuals["natural_map"]"""
        return self.residuals["natural_map"]

    @property
    def positions(self) -> np.ndarray:
        """(t, bodies, 3) of the centres of mass [m]; static bodies too, in the order of `body_names`."""
        return self._kept("positions")

    @property
    def orientations(self) -> np.ndarray:
        """(t, bodies, 4) unit quaternions [w, x, y, z]"""
        return self._kept("orientations")

    @property
    def velocities(self) -> np.ndarray:
        """(t, bodies, 3) of the centres of mass [m/s]"""
        return self._kept("velocities")

    @property
    def angular_velocities(self) -> np.ndarray:
        """(t, bodies, 3) in the world's axes [rad/s]"""
        return self._kept("angular_velocities")

    @property
    def joint_position_errors(self) -> np.ndarray:
        """(t, joints) by how much each joint is open [m]: world.joint_errors()[:, 0], in the order of `joint_names`."""
        return self._kept("joint_position_errors")

    @property
    def joint_angle_errors(self) -> np.ndarray:
        """(t, joints) by how much each joint is turned open [rad]: world.joint_errors()[:, 1]."""
        return self._kept("joint_angle_errors")

    def csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the run over time, a line for the beginning and one for each step: a column for each array that has one
        number a time, or three, with its unit in brackets; empty where nothing is known."""
        write_series([self], path, told=False)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame over the time [s]; `frame.attrs["units"]` has the units by column. Needs pandas."""
        return run_frame(self)

    def _kept(self, name: str) -> np.ndarray:
        if name not in self.trajectories:
            raise SceneError(f"run {self.name!r} has no {name}: its trajectories were not kept; compare(trajectories=True)")
        return self.trajectories[name]


# What says which run it is, its arrays over time, and what holds further ones.
TOLD = ("name", "dt", "seconds", "failure", "notes")
HOLDERS = ("residuals", "trajectories", "body_names", "joint_names")
ARRAYS = tuple(f.name for f in fields(Run) if f.name not in (*TOLD, *HOLDERS))
# Those that follow from several runs, or are no recordings.
LATER = ("energy_error", "momentum_error", "spin_error", "step_seconds")


def trajectory_bytes(steps: int, scene: Scene) -> int:
    """The memory that the trajectories of a run take."""
    return 8 * (steps + 1) * (13 * len(scene.bodies) + 2 * len(scene.joints))


class Bodies:
    """The scene's bodies as arrays, for many states at once: (t, n, ...)."""

    def __init__(self, scene: Scene) -> None:
        dynamic = np.array([body.kind == "dynamic" for body in scene.bodies], bool)
        self.moving: np.ndarray = np.flatnonzero(dynamic)
        self.mass: np.ndarray = np.array([scene.bodies[i].mass for i in self.moving])
        self.inertia: np.ndarray = np.array([scene.bodies[i].inertia for i in self.moving]).reshape(-1, 3, 3)
        self.weight: np.ndarray = self.mass * np.array([scene.bodies[i].gravity_scale for i in self.moving])
        self.gravity: np.ndarray = np.asarray(scene.gravity, float)

    def spins(self, q: np.ndarray, w: np.ndarray) -> np.ndarray:
        """(t, k, 3) spin angular momenta about the centres of mass."""
        rotation = matrices(q)
        body = np.einsum("tkji,tkj->tki", rotation, w)
        return np.einsum("tkij,kjl,tkl->tki", rotation, self.inertia, body, optimize=True)

    def kinetic(self, v: np.ndarray, w: np.ndarray, spins: np.ndarray) -> np.ndarray:
        """(t,)"""
        return 0.5 * np.einsum("k,tki,tki->t", self.mass, v, v) + 0.5 * np.einsum("tki,tki->t", w, spins)

    def potential(self, x: np.ndarray) -> np.ndarray:
        """(t,) of gravity, zero at the origin."""
        return -np.einsum("k,tki,i->t", self.weight, x, self.gravity)

    def momentum(self, x: np.ndarray, v: np.ndarray, spins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> linear (t, 3), angular about the origin (t, 3)."""
        p = self.mass[:, None] * v
        return p.sum(axis=1), (np.cross(x, p) + spins).sum(axis=1)


def distances(x: np.ndarray, q: np.ndarray, other_x: np.ndarray, other_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-> (t,) root mean square over the bodies of how far they are apart [m], and turned to each other [rad].
    x (t, k, 3), q (t, k, 4)."""
    # Of unit quaternions p, q at an angle a: |p - q| = 2 sin(a / 4), or |p + q| for the nearer sign. Small angles keep
    # their digits, which those of a scalar product would lose.
    apart = np.minimum(np.linalg.norm(q - other_q, axis=-1), np.linalg.norm(q + other_q, axis=-1))
    angle = 4.0 * np.arcsin(np.minimum(0.5 * apart, 1.0))
    return _rms(np.linalg.norm(x - other_x, axis=-1)), _rms(angle)


def _rms(values: np.ndarray) -> np.ndarray:
    """Root mean square over the last axis, 0 of nothing."""
    return np.sqrt(np.mean(values * values, axis=-1)) if values.shape[-1] else np.zeros(values.shape[:-1])


class VelocityDrift:
    """The velocities along what joints forbid, of many states at once.

    A System knows those of its tree. Joints that close loops are in the tree of another System of the same scene, so
    there are as many as it takes to have each joint once. Couplings (gears, rods, ...) have none.
    """

    def __init__(self, scene: Scene) -> None:
        self._systems = []
        scene = _lasting(scene)
        left = None
        while left is None or left:
            system = System(scene) if left is None else System(scene, tree=_forest(scene, left))
            held = {link.joint.name for link in system.links if link.joint is not None}
            wanted = held if left is None else held & set(left)
            links = [link.number for link in system.links if link.joint is not None and link.joint.name in wanted]
            self._systems.append((system, links))
            left = [loop.joint.name for loop in system.loops if left is None or loop.joint.name in left]

    def of(self, *state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> (t,) the worst [m/s], the worst [rad/s]."""
        worst = np.zeros((2, len(state[0])))
        for system, links in self._systems:
            if links:
                errors = system.tree_errors(*state)[:, links, 2:].max(axis=1)
                np.maximum(worst, errors.T, out=worst)
        return worst[0], worst[1]


def _lasting(scene: Scene) -> Scene:
    """The scene with joints that no force breaks and no motion drives, all of which a tree may have."""
    joints = [
        joint.changed(break_force=inf, break_torque=inf, axes=[replace(axis, motion=None) for axis in joint.axes])
        for joint in scene.joints
    ]
    return scene.of_parts(list(scene.bodies), joints)


def _forest(scene: Scene, names: list[str]) -> list[str]:
    """Those of the joints that close no loop with the ones before them."""
    base = {None} | {body.name for body in scene.bodies if body.kind == "static"}
    root: dict[str | None, str | None] = {}

    def find(body: Any) -> Any:
        body = None if body in base else body
        while root.setdefault(body, body) != body:
            body = root[body]
        return body

    chosen = []
    joints = {joint.name: joint for joint in scene.joints}
    for name in names:
        a, b = find(joints[name].a), find(joints[name].b)
        if a != b:
            root[b] = a
            chosen.append(name)
    return chosen


class Recorder:
    """Takes the state of a world after every step, and works it out in blocks.

    drift: VelocityDrift or None. reference: what gives positions and orientations of the moving bodies at given times
    (.states(time)), or None. overlap: of the beginning [m], which the world does not know. trajectories: whether the states
    of all bodies and joints are kept. residuals: whether those are found that the steps did not measure. blown: after how
    many steps the energy was seen to have left all bounds; None if not.
    """

    def __init__(
        self,
        scene: Scene,
        world: World,
        steps: int,
        drift: VelocityDrift | None,
        reference: Any = None,
        *,
        overlap: float = 0.0,
        trajectories: bool = True,
        residuals: bool = False,
    ) -> None:
        self._world, self._drift, self._reference = world, drift, reference
        self._overlap, self._all_residuals = overlap, residuals
        self._bodies = Bodies(scene)
        self._springs = has_springs(scene)
        self._joints = len(scene.joints)
        n = len(scene.bodies)
        self._block = [np.empty((BLOCK, n, size)) for size in (3, 4, 3, 3)]
        self._out = {
            name: np.full((steps + 1, 3) if name.endswith("_momentum") else steps + 1, np.nan)
            for name in ARRAYS
            if name not in LATER
        }
        self._residuals = {name: np.full(steps + 1, np.nan) for name in RESIDUAL_UNITS}
        self._trajectories = {
            name: np.empty((steps + 1, self._joints if name.startswith("joint_") else n, *row[1:]))
            for name, row in KEPT.items()
            if trajectories
        }
        self._done = self._kept = 0
        self.blown: int | None = None

    def keep(self) -> None:
        """The world as it is now."""
        world, out, k = self._world, self._out, self._kept
        i = k - self._done
        for array, now in zip(
            self._block, (world.positions, world.orientations, world.velocities, world.angular_velocities)
        ):
            array[i] = now
        out["time"][k] = world.time
        if self._joints:
            errors = world.joint_errors()
            out["joint_position_max"][k], out["joint_angle_max"][k] = errors.max(axis=0)
            out["joint_position_rms"][k], out["joint_angle_rms"][k] = np.sqrt(np.mean(errors * errors, axis=0))
            if self._trajectories:
                for column, part in enumerate(("position", "angle")):
                    self._trajectories[f"joint_{part}_errors"][k] = errors[:, column]
        if self._springs:
            energy = world.energy()
            out["kinetic"][k], out["energy"][k] = energy.kinetic, energy.total
        overlap = -world.contacts["separation"].min(initial=0.0) if k else self._overlap
        out["penetration"][k] = max(0.0, overlap)
        if k:
            self._keep_residuals(k)
        self._kept += 1
        if self._kept - self._done == BLOCK:
            self._work_out()

    def _keep_residuals(self, k: int) -> None:
        """Of the step that was made. To find those that it did not measure takes longer than most steps do."""
        found = self._world.stats.residuals
        for name, value in (found if self._all_residuals else measured(found)).items():
            self._residuals[name][k] = value

    @np.errstate(over="ignore", invalid="ignore")
    def _work_out(self) -> None:
        """What follows from the states of a block."""
        count = self._kept - self._done
        part = slice(self._done, self._kept)
        state = [array[:count] for array in self._block]
        x, q, v, w = (array[:, self._bodies.moving] for array in state)
        out, bodies = self._out, self._bodies
        for name, array in zip(KEPT, state):
            if self._trajectories:
                self._trajectories[name][part] = array
        spins = bodies.spins(q, w)
        if not self._springs:
            out["kinetic"][part] = bodies.kinetic(v, w, spins)
            out["energy"][part] = out["kinetic"][part] + bodies.potential(x)
        out["linear_momentum"][part], out["angular_momentum"][part] = bodies.momentum(x, v, spins)
        if self._drift is not None:
            out["velocity_drift"][part], out["spin_drift"][part] = self._drift.of(*state)
        if self._reference is not None:
            out["position_distance"][part], out["angle_distance"][part] = distances(
                x, q, *self._reference.states(out["time"][part])
            )
        kinetic = out["kinetic"][part]
        if self.blown is None and not (kinetic < BLOWN).all():
            self.blown = self._done + int(np.argmin(kinetic < BLOWN))
        self._done = self._kept

    def follow(
        self, steps: int, after: Callable[[int], None], step: Callable[[], None] | None = None
    ) -> tuple[dict[str, Any], str, list[str]]:
        """The world makes so many steps, by step() if that is given, each kept; after(k), k from 1 on. -> arrays, why it
        ended early, "" if it did not, and what its steps could not do"""
        failure = ""
        self.keep()
        for k in range(1, steps + 1):
            try:
                (step or self._world.step)()
            except (SimulationError, SceneError) as error:  # some find only then what they cannot do
                failure = " ".join(str(error).split())
                break
            self.keep()
            if self.blown is not None:
                break
            after(k)
        arrays = self.arrays()
        if self.blown is not None and not failure:
            failure = f"unstable: the kinetic energy passed {BLOWN:.0e} J"
        made = len(arrays["time"]) - 1
        return arrays, failure, [f"{note.text} (in {note.total} of {made} steps)" for note in self._world.stats.all_notes]

    def arrays(self) -> dict[str, Any]:
        """All that was kept, until it blew up, by the names of Run."""
        self._work_out()
        count = self._kept if self.blown is None else max(1, self.blown)

        def cut(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: array if count == len(array) else array[:count].copy() for name, array in arrays.items()}

        return cut(self._out) | {"residuals": cut(self._residuals), "trajectories": cut(self._trajectories)}
