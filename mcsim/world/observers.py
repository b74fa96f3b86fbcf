"""What a World tells about its present state: errors, contacts, energy, momentum, rows and matrices, statistics."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import product
from mcsim.core.notes import Note, notes_of
from mcsim.core.rotation import matrices
from mcsim.scene.checks import FieldError, not_negative
from mcsim.solve.assemble import delassus_csr, jacobian_csr, second_rows
from mcsim.solve.kkt import KKT, Redundancy, bounded_forces, kkt_system, redundancy
from mcsim.solve.problems import Problem
from mcsim.state.fields import AWAKE, ROW_KINDS
from mcsim.step.stages import STAGES
from mcsim.world.base import WorldBase
from mcsim.world.capabilities import RELAXING
from mcsim.world.driven_joint import MOTOR_POSITION
from mcsim.world.keywords import ReducedMore, Settings
from mcsim.world.laboratory import Residuals, problem_now
from mcsim.world.settings import joint_tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AXIS_ROWS = 6  # state/_joint.pxd

CONTACT_DTYPE = np.dtype(
    [
        ("body_a", "i4"),
        ("body_b", "i4"),
        ("position", "f8", 3),
        ("normal", "f8", 3),
        ("separation", "f8"),
        ("normal_impulse", "f8"),
        ("tangent_impulse", "f8", 3),
        ("friction", "f8"),
    ]
)

END_DTYPE = np.dtype([("step", "i8"), ("body_a", "i4"), ("body_b", "i4"), ("shape_a", "i4"), ("shape_b", "i4")])
BEGIN_DTYPE = np.dtype([*END_DTYPE.descr, ("impulse", "f8"), ("position", "f8", 3), ("normal", "f8", 3)])

ROW_VIEW_DTYPE = np.dtype(
    [
        ("kind", "U14"),
        ("source", "i4"),
        ("index", "i4"),
        ("bodies", "i4", 2),
        ("error", "f8"),
        ("bias", "f8"),
        ("compliance", "f8"),
        ("bounds", "f8", 2),
        ("friction", "f8"),
        ("impulse", "f8"),
    ]
)


class Energy(NamedTuple):
    """[J]; gravity's potential is zero at the origin, joint springs count as potential."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """kinetic + potential [J]"""
        return self.kinetic + self.potential


@dataclass
class Stats:
    """What the last step did.

    rows, joint_rows, contact_rows; manifolds, points: how many; iterations: sweeps over the rows in the step.
    residuals: by name: "natural_map", max |impulse - P(impulse - mass residual)| over all rows after the last sweep
    [N s, N m s]; "velocity", the largest correction of the last sweep [m/s, rad/s]; "primal" [m/s], "dual" [N s],
    "complementarity" [J] (help(mcsim.solve.problems.residuals)): of the last solve with a solver of the laboratory, else
    found when they are first read, on the rows as the step left them (NaN under contact="compliant").
    impacts: manifolds that bounced.
    times: seconds by stage, of the last call of step(); steps: how many steps that call made.
    notes: what the steps of the last call of step() could not do: a Note (kind, bodies, text) of each kind, with .joints,
    .figure and in how many steps (docs/notes.md). all_notes: the same of all steps since the world was made.
    """

    rows: int = 0
    joint_rows: int = 0
    contact_rows: int = 0
    manifolds: int = 0
    points: int = 0
    iterations: int = 0
    impacts: int = 0
    steps: int = 0
    residuals: Mapping[str, float] = field(default_factory=lambda: {"natural_map": 0.0, "velocity": 0.0})
    times: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    notes: list[Note] = field(default_factory=list)
    all_notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Events:
    """What happened in the last call of step(), all its n steps, until bodies are added or removed or a state is
    restored.

    broken: (k,) numbers of the joints that broke, in order.
    begin, end: (k,) structured arrays of contacts that began and ended, by step, then by pair of shapes: step (the
        world's number of it: it ended at the time step * dt), body_a, body_b, shape_a, shape_b (numbers in the bodies);
        begin also impulse (normal, of that step [N s]), position and normal (from a to b) of the deepest point, world.
        Two shapes touch from the step on in which their contact carries an impulse or they overlap at its end, until
        they are a fortieth of the speculative distance apart (0.5 mm for cubes of 1 m). What touches and
        falls asleep goes on to touch.
    sensor_begin, sensor_end: likewise what came into sensors and went out of them, as found at the end of every step:
        body_a, shape_a are the sensor.
    """

    broken: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))
    begin: np.ndarray = field(default_factory=lambda: np.zeros(0, BEGIN_DTYPE))
    end: np.ndarray = field(default_factory=lambda: np.zeros(0, END_DTYPE))
    sensor_begin: np.ndarray = field(default_factory=lambda: np.zeros(0, END_DTYPE))
    sensor_end: np.ndarray = field(default_factory=lambda: np.zeros(0, END_DTYPE))


class Observers(WorldBase):
    """The part of World that looks."""

    def joint_errors(self) -> np.ndarray:
        """(joints, 2): metres and radians by which what each joint forbids is off; limits are not counted."""
        with self._turn.look("joint_errors"):
            errors = self._pipeline.space.errors()
            if self._user is not None:
                self._user.fill_errors(errors, self._joints["broken"] != 0)
            return errors

    @property
    def contacts(self) -> np.ndarray:
        """(c,) structured array of the last step's contact points: body_a, body_b, position and normal (from a to b) in
        the world, separation [m] (negative = overlap), normal_impulse [N s] and tangent_impulse (3,) on b [N s], summed
        over the step's substeps, friction coefficient. The geometry is that at the beginning of the step, but for the
        separation, which is at its end; where what carries the bodies moves, the positions have gone with it."""
        with self._turn.telling("contacts"):
            if self._event_run is not None:
                return self._event_run.fill_contacts(CONTACT_DTYPE)
            found = self._collider.get_manifolds()
            mask = np.arange(4) < found["point_count"][:, None]
            owner = np.nonzero(mask)[0]
            points = found["points"][mask]
            out = np.zeros(len(points), CONTACT_DTYPE)
            for name in ("body_a", "body_b", "normal", "friction"):
                out[name] = found[name][owner]
            out["position"], out["separation"] = points["position"], points["separation"]
            out["normal_impulse"] = points["total_normal_impulse"]
            out["tangent_impulse"] = points["total_friction_impulse"]
            return out

    def _spins(self) -> np.ndarray:
        """(n, 3) spin angular momenta about the centres of mass, world [kg m^2/s]."""
        return self._pipeline.parts.arrays.spins()

    def energy(self) -> Energy:
        """Energy of the dynamic bodies, the joints' springs and their rotors (armature) [J]."""
        with self._turn.look("energy"), np.errstate(over="ignore", invalid="ignore"):
            moving = self._bodies.inv_mass > 0.0
            v, w = self._bodies.twist[:, :3], self._bodies.twist[:, 3:]
            masses = self._bodies.mass
            kinetic = 0.5 * np.sum(masses * np.sum(v * v, axis=1), where=moving) + 0.5 * np.sum(w * self._spins())
            rotors = self._joints["axes"]["armature"] * (self._joints["broken"] == 0)[:, None]
            if np.any(rotors):
                kinetic += 0.5 * np.sum(rotors * self._pipeline.space.measured()["axes"]["velocity"] ** 2)
            heights = self._bodies.position @ np.asarray(self._scene.gravity, float)
            gravity = -np.sum(masses * self._bodies.gravity_scale * heights, where=moving)
            return Energy(float(kinetic), float(gravity + self._pipeline.parts.spring_energy()))

    def momentum(self) -> tuple[np.ndarray, np.ndarray]:
        """-> linear (3,) [kg m/s] and angular momentum about the origin (3,) [kg m^2/s] of the dynamic bodies."""
        with self._turn.look("momentum"), np.errstate(over="ignore", invalid="ignore"):
            p = np.where(self._bodies.inv_mass > 0.0, self._bodies.mass, 0.0)[:, None] * self._bodies.twist[:, :3]
            return p.sum(axis=0), (np.cross(self._bodies.position, p) + self._spins()).sum(axis=0)

    @property
    def rows(self) -> np.ndarray:
        """(r,) structured array of the active rows at the present poses, those of `jacobian()` and `delassus()`.

        kind ("joint", "limit", "motor", "spring", "joint_friction", "armature", "normal", "friction", "twist",
        "rolling"); source: number of the joint or manifold; index: which constraint, axis or point of it; bodies (2,): a
        and b, -1 = the world, of a gear those of its first joint; error C [m, rad]; bias [m/s, rad/s] and compliance of
        the biased pass; bounds (2,) of the impulse (a friction row's are -inf, inf: `friction` times the normal impulses
        bounds it); impulse: the last substep's, the next warm start [N s, N m s]."""
        with self._observing("rows"):
            raw = self._raw_rows()
            second = second_rows(raw)
            if second.any():
                raw = raw[~second]
            out = np.empty(len(raw), ROW_VIEW_DTYPE)
            out["kind"] = np.array(ROW_KINDS, ROW_VIEW_DTYPE["kind"])[raw["kind"]]
            out["bias"], out["compliance"] = raw["bias"][:, 0], raw["compliance"][:, 0]
            out["bodies"][:, 0], out["bodies"][:, 1] = raw["body_a"], raw["body_b"]
            out["bounds"][:, 0], out["bounds"][:, 1] = raw["lower"], raw["upper"]
            for name in ("source", "index", "error", "friction", "impulse"):
                out[name] = raw[name]
            return out

    @contextmanager
    def _observing(self, doing: str) -> Iterator[None]:
        """The world's turn, to work on the state as the next step takes it over: with unit quaternions, and static bodies
        still. What the user has written stays as it is written until that step. doing: what a message calls it."""
        with self._turn.alone(doing):
            bodies = self._bodies
            written = bodies.orientation.copy(), bodies.twist.copy()
            try:
                yield
            finally:
                bodies.orientation[...], bodies.twist[...] = written

    def _raw_rows(self) -> np.ndarray:
        """The row records at the present poses. A step lays rows out for its beginning, so they are made anew. Sleeping
        bodies have rows like all others: then those of a copy of this world that is awake."""
        if self._pipeline.parts.islands.sleepers:
            return self._awake()._raw_rows()
        self._prepare()
        return self._pipeline.parts.plain.now()

    def _manifolds_now(self) -> np.ndarray:
        """(m,) records of the contacts at the present poses, those of sleeping bodies too."""
        if self._pipeline.parts.islands.sleepers:
            return self._awake()._manifolds_now()
        self._prepare()
        return self._collider.get_manifolds(present=True)

    @property
    def asleep(self) -> np.ndarray:
        """(n,) bool: the bodies that sleep (`World(sleep=True)`, the default)."""
        with self._turn.look("asleep"):
            return self._bodies.island != AWAKE

    def jacobian(self) -> csr_array:
        """J, scipy.sparse CSR of shape (rows, 6 n): columns are the twists [v; w] in body order; rows as in `rows`."""
        with self._observing("jacobian"):
            return jacobian_csr(self._raw_rows(), self._bodies.count)

    def delassus(self) -> csr_array:
        """A = J M^-1 J', scipy.sparse CSR of shape (rows, rows), without compliance; rows as in `rows`."""
        with self._observing("delassus"):
            return delassus_csr(self._raw_rows())

    def problem(self, relaxed: bool = False) -> Problem:
        """The contact and joint problem of the substep that would come next: friction at every point, velocities after
        a substep's forces, biases and compliances of the biased pass, or of the relax pass.

        `source` says of each row what it is; `warm_start` holds the impulses that the step would begin with;
        `velocity(impulses)` gives the twists (6 n,) that come out. Friction against rolling and twisting is bounded
        by what the normals carry now. Of compliant contacts it is the problem of a substep's first half, after half of
        its forces."""
        with self._observing("problem"):
            return problem_now(self, int(bool(relaxed)))

    def _rows_and_free(self) -> tuple[np.ndarray, csr_array, csr_array, np.ndarray]:
        """Row records with friction at every point, their J and J M^-1, and the velocities (m,) after a substep's
        forces."""
        if self._pipeline.parts.islands.sleepers:
            return self._awake()._rows_and_free()
        self._prepare(points=True)
        try:
            rows = self._pipeline.parts.plain.now().copy()
            if self._keywords["contact"] != "compliant":
                # of whole impulses, where a pass has half of them
                rows["compliance"][:, 0] *= self._pipeline.parts.borne
            return rows, *self._pipeline.space.row_matrices(), self._pipeline.space.kicked()
        finally:
            self._prepare()

    def _rows_and_velocity(self) -> tuple[np.ndarray, csr_array, csr_array, np.ndarray]:
        """Row records, their J and J M^-1, and the velocities (m,)."""
        if self._pipeline.parts.islands.sleepers:
            return self._awake()._rows_and_velocity()
        self._prepare()
        space = self._pipeline.space
        return self._pipeline.parts.plain.now().copy(), *space.row_matrices(), space.velocities()

    def _ends_relaxed(self) -> int:
        """Whether the last pass of a substep is one without bias: 0 or 1."""
        return int(self._keywords["stabilization"] in RELAXING)

    def _joint_rows(self) -> tuple[np.ndarray, csr_array]:
        """Records of the joints' bilateral rows now, and their J (rows, 6 n), CSR, without columns of what does not
        move."""
        return self._rows_of_joints(self._raw_rows())

    def _rows_of_joints(self, rows: np.ndarray) -> tuple[np.ndarray, csr_array]:
        """The same of given row records."""
        rows = rows[rows["kind"] == ROW_KINDS.index("joint")]
        jacobian = jacobian_csr(rows, self._bodies.count)
        jacobian.data *= np.repeat(self._bodies.inv_mass > 0.0, 6)[jacobian.indices]
        jacobian.eliminate_zeros()
        return rows[~second_rows(rows)], jacobian

    def kkt(self) -> KKT:
        """The KKT system of the accelerations now, [[M, J'], [J, 0]] (Featherstone 3.17), of the joints' bilateral
        rows.

        -> .matrix (6 n + rows square, scipy.sparse), .rhs, .solve() -> accelerations (n, 6), forces (rows,). Gravity,
        the user's forces, `tau`, damping, springs and PD motors count as forces, and what position motors give, so that
        their coordinates accelerate by -w^2 e - 2 z w de/dt. Limits, joint friction, velocity motors and contacts are left
        out. No stabilization: the second part of rhs is minus dJ/dt v.
        Redundant rows stay in the matrix, which is then singular; solve() copes. A world with armature is refused."""
        with self._observing("kkt"):
            self._refuse_rotors()
            if self._pipeline.parts.islands.sleepers:
                return self._awake().kkt()
            raw = self._raw_rows()
            rows, jacobian = self._rows_of_joints(raw)
            moving = self._bodies.inv_mass > 0.0
            forces = np.where(moving[:, None], self._pipeline.space.smooth_forces(), 0.0)
            rotations = matrices(self._bodies.orientation)
            gyroscopic = np.zeros_like(forces)
            gyroscopic[:, 3:] = np.cross(self._bodies.twist[:, 3:], self._spins())
            turning = np.zeros_like(forces)
            turning[:, 3:] = np.einsum(
                "nij,njk,nlk,nl->ni", rotations, self._bodies.inv_inertia, rotations, -gyroscopic[:, 3:]
            )
            blocks = np.tile(np.eye(6), (len(forces), 1, 1))
            blocks[moving, :3, :3] *= self._bodies.mass[moving, None, None]
            blocks[moving, 3:, 3:] = np.einsum("nij,njk,nlk->nil", rotations, self._bodies.inertia, rotations)[moving]
            # A row's curvature is dJ/dt v + J a of the free bodies' gyroscopic accelerations.
            right = -rows["curvature"] + jacobian @ turning.ravel()
            motors = self._motor_wrenches(raw, jacobian.toarray(), right, forces - gyroscopic, turning.ravel())
            return kkt_system(jacobian, blocks, forces - gyroscopic + motors, right)

    def _refuse_rotors(self) -> None:
        found = np.flatnonzero(np.any(self._joints["axes"]["armature"] > 0.0, axis=1))
        if len(found):
            raise SceneError(
                f"{type(self).__name__}.kkt: joint {self._scene.joints[found[0]].name!r} has an armature, which is in no "
                "body's mass: ReducedWorld.mass_matrix has it, or leave the armature out"
            )

    def _motor_wrenches(
        self, rows: np.ndarray, jacobian: np.ndarray, right: np.ndarray, forces: np.ndarray, turning: np.ndarray
    ) -> np.ndarray:
        """(n, 6) of position motors: each coordinate accelerates as its oscillator does, as far as forces reach. jacobian,
        right: J a = right of the joints' rows; turning: (6 n,) the bodies' accelerations by the gyroscopic torque."""
        rows = rows[rows["kind"] == ROW_KINDS.index("motor")]
        axes = self._joints["axes"][rows["source"], rows["index"] // AXIS_ROWS]
        to_position = axes["motor_mode"] == MOTOR_POSITION
        if not np.any(to_position):
            return np.zeros_like(forces)
        rows, axes, count = rows[to_position], axes[to_position], len(forces)
        mobility = np.zeros((count, 6, count, 6))
        for i in np.flatnonzero(self._bodies.inv_mass > 0.0):
            rotation = matrices(self._bodies.orientation[i : i + 1])[0]
            mobility[i, :3, i, :3] = self._bodies.inv_mass[i] * np.eye(3)
            mobility[i, 3:, i, 3:] = product(rotation, self._bodies.inv_inertia[i], rotation.T)
        mobility = mobility.reshape(6 * count, 6 * count)  # type: ignore[assignment]  # another shape
        motors = jacobian_csr(rows, count).toarray() * np.repeat(self._bodies.inv_mass > 0.0, 6)
        w = 2.0 * np.pi * axes["motor_hertz"]
        wanted = (
            -w * w * rows["error"]
            - 2.0 * axes["motor_damping_ratio"] * w * product(motors, self._bodies.twist.ravel())
            - rows["curvature"]
            + product(motors, turning)
        )
        given = bounded_forces(
            mobility, jacobian, right, product(mobility, forces.ravel()), motors, wanted, axes["motor_max_force"]
        )
        return product(given, motors).reshape(-1, 6)

    def redundancy(self, tolerance: float = 1e-9) -> Redundancy:
        """rank of the joints' bilateral rows now, the number of redundant ones, and null_space (rows, redundant): joint
        forces that move nothing. Dense singular values: for some hundreds of rows. A loop that has drifted open by d is
        redundant only to about d (in units of its size): a larger `tolerance` then tells."""
        with self._observing("redundancy"):
            try:
                tolerance = not_negative(tolerance, "tolerance")
            except FieldError as error:
                raise SceneError(f"World.redundancy: {error}") from None
            _, jacobian = self._joint_rows()
            return redundancy(jacobian.toarray(), tolerance)

    @property
    def stats(self) -> Stats:
        """Stats of the last step."""
        with self._turn.telling("stats"):
            pipeline, sweeping = self._pipeline, self._pipeline.parts.sweeping
            manifolds = self._collider.get_manifolds()
            geared = int(np.sum(second_rows(pipeline.parts.plain.now())))
            laboratory, run = pipeline.parts.laboratory, self._event_run
            return Stats(
                rows=pipeline.parts.context.joint_rows + pipeline.parts.context.contact_rows - geared,
                joint_rows=pipeline.parts.context.joint_rows - geared,
                contact_rows=pipeline.parts.context.contact_rows,
                manifolds=len(manifolds),
                points=int(manifolds["point_count"].sum()),
                iterations=sweeping.made if laboratory is None else laboratory.iterations,
                impacts=pipeline.parts.restitution.count if run is None else run.impacts,
                steps=pipeline.steps_made if run is None else run.steps,
                residuals=Residuals(
                    self,
                    {"natural_map": sweeping.residual, "velocity": sweeping.correction}
                    | ({} if laboratory is None else laboratory.residuals),
                ),
                times=dict(zip(STAGES, pipeline.times())),
                **{
                    name: notes_of(pipeline.parts.noted, self._scene.bodies, self._scene.joints, ever)
                    for name, ever in (("notes", False), ("all_notes", True))
                },
            )

    @property
    def event_log(self) -> np.ndarray:
        """(k,) structured array, of contact="event" alone: what happened in the last call of step(), by time. time [s],
        to rounding; kind: "impact", "limit" (a joint's is struck), "gain" (a contact at rest is pressed again), "loss"
        (its force would pull), "leave" (over an edge), "stick", "slip" (begins; of drives too), "close" (the end of
        ever faster bounces); body_a, body_b (-1: the world); position (3,); of impacts normal_impulse [N s] and speed,
        at which the contact closed [m/s]."""
        with self._turn.telling("event_log"):
            if self._event_run is None:
                raise SceneError("World.event_log: there is one with contact='event' alone")
            return self._event_run.happenings()

    @property
    def events(self) -> Events:
        """What happened in the last call of step(): contacts that began and ended, what came into sensors and went out
        of them, joints that broke. Each read makes new arrays."""
        with self._turn.telling("events"):
            self._meet_shapes()
            if self._event_run is not None:
                run = self._event_run
                return Events(begin=np.array(run.began, BEGIN_DTYPE), end=np.array(run.ended, END_DTYPE))
            sensors = self._pipeline.parts.sensors
            logs: list[Any] = [self._collider, *([] if sensors is None else [sensors])]
            found = [
                self._event_array(log.get_events(), began, dtype)
                for log in logs
                for began, dtype in ((1, BEGIN_DTYPE if log is self._collider else END_DTYPE), (0, END_DTYPE))
            ]
            broken = {} if self._broken is None else {"broken": self._broken}
            return Events(**broken, **dict(zip(("begin", "end", "sensor_begin", "sensor_end"), found)))

    def _event_array(self, log: np.ndarray, began: int, dtype: np.dtype) -> np.ndarray:
        """Those of a log that began, or ended; shapes by their number in the body, steps by the world's."""
        log = log[log["began"] == began]
        log = log[np.lexsort((log["shape_b"], log["shape_a"], log["step"]))]
        out = np.zeros(len(log), dtype)
        for name in dtype.names or ():
            out[name] = log[name]
        out["step"] += self._pipeline.steps - self._pipeline.steps_made
        for side in "ab":
            out[f"shape_{side}"] = self._shape_ranks[log[f"shape_{side}"]]
        return out

    @property
    def settings(self) -> Settings:
        """The keywords that this world runs with, a dict, defaults resolved; joint_solver: that of the joints it has
        now. Its `contact`, `joints`, `integrator` and `sleep` are the objects, as mc.RigidContact, with the values in
        use."""
        with self._turn.look("settings"):
            k = self._keywords
            if self._pipeline.parts.laboratory is None:
                direct = self._pipeline.parts.plan.tree is not None if len(self._joints) else joint_tree(k)
                k = k | {"joint_solver": "tree" if direct else "rows"}
            return Settings(k, self._more is ReducedMore, self._said)
