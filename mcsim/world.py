"""World: a scene in maximal coordinates, stepped and observed."""

import copy
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mcsim.collide import Collider
from mcsim.core.errors import SceneError, SimulationError
from mcsim.handles import BodyHandle, JointHandle
from mcsim.pipeline import GROW, NOT_FINITE, PIPELINES, STAGES, PositionPipeline
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, not_negative, suggestion, unit_quaternion, vector
from mcsim.settings import check_settings, count, joint_tree, kernel_settings, passes
from mcsim.solve.assemble import delassus_csr, jacobian_csr, second_rows
from mcsim.solve.kkt import KKT, Redundancy, kkt_system, redundancy
from mcsim.state.arrays import BodyArrays, ShapeArrays, excluded_pairs, joint_records
from mcsim.state.motions import motion_calls
from mcsim.state.user_joints import user_joints
from mcsim.state.fields import BODY_FIELDS, MANIFOLD_DTYPE, ROW_KINDS

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_STEPS = 2**62

CONTACT_DTYPE = np.dtype([
    ("body_a", "i4"), ("body_b", "i4"), ("position", "f8", 3), ("normal", "f8", 3), ("separation", "f8"),
    ("normal_impulse", "f8"), ("tangent_impulse", "f8", 3), ("friction", "f8")])

ROW_VIEW_DTYPE = np.dtype([
    ("kind", "U14"), ("source", "i4"), ("index", "i4"), ("bodies", "i4", 2), ("error", "f8"), ("bias", "f8"),
    ("compliance", "f8"), ("bounds", "f8", 2), ("friction", "f8"), ("impulse", "f8")])


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
    residuals: "natural_map", max |impulse - P(impulse - mass residual)| over all rows after the last sweep [N s, N m s], and
    "velocity", the largest correction of the last sweep [m/s, rad/s]. impacts: manifolds that bounced.
    times: seconds by stage, of the last call of step(); steps: how many steps that call made.
    notes: (kind, bodies, text) of what a user should know.
    """

    rows: int = 0
    joint_rows: int = 0
    contact_rows: int = 0
    manifolds: int = 0
    points: int = 0
    iterations: int = 0
    impacts: int = 0
    steps: int = 0
    residuals: dict = field(default_factory=lambda: {"natural_map": 0.0, "velocity": 0.0})
    times: dict = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    notes: list = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Events:
    """What happened in the last call of step(). broken: (k,) numbers of the joints that broke, in order."""

    broken: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The whole state of a world at one moment; picklable. Made by World.snapshot, taken back by World.restore."""

    steps: int
    start: float
    time: float
    arrays: dict
    joints: np.ndarray
    manifolds: np.ndarray

    def __repr__(self):
        return f"<Snapshot after {self.steps} steps: {len(self.arrays['position'])} bodies, {len(self.joints)} joints>"


class World:
    """A scene in maximal coordinates: every body has a position, a quaternion and a twist; joints and contacts are rows.

    World(scene, *, dt=1/60, substeps=4, ...). Keywords:
      dt: step [s]. substeps: of length h = dt / substeps.
      solver: "si" (sequential impulses, matrix-free) or "pgs" (Gauss-Seidel on the assembled J M^-1 J').
      iterations: sweeps of each pass of a substep (biased, relax, position rounds); default 4 for "soft", else 8.
      stabilization: "soft" (springs of `hertz` and `damping_ratio`, then a relax pass), "baumgarte" (bias beta C / h),
        "split_impulse" (beta C is mended beside the velocities), "projection" (poses and velocities projected after the
        drift), "ggl" (the drift ends without errors, velocities projected), "none" (joints drift).
      position_rounds: position solves a substep of projection and ggl, 2.
      friction: "cone" or "pyramid"; friction_points: "central" (one a manifold, with twist) or "point".
      baumgarte: beta, part of the error removed a substep by baumgarte and split_impulse, 0.2.
      slop: overlap that all but soft and none leave [m], 0.5 mm.
      hertz, damping_ratio: of soft contacts, 0.46 / h (less with fewer than 4 iterations) and 2. joint_hertz,
        joint_damping_ratio: of soft joints and limits, 1/(4 h) and 2.
      push_speed: fastest speed of pushing an overlap apart [m/s], 3.
      restitution_threshold: slower impacts do not bounce [m/s], 0.5.
      speculative_distance: contacts exist from this separation on [m], 0.02.
      joint_solver: "tree" (all joints at once by a sparse factorization, the joints closed at the end of every drift),
        "rows" (joint by joint, swept with the contacts). Default "tree", but "rows" with solver "pgs", which has no
        other, and in a net whose loops make a factorization too dear (pass "tree" to have it there too); `settings`
        tells which.
      geometric_stiffness: c of an implicit c h^2 K under "tree", 0.
      integrator: "semi_implicit", or "rk4" (with a direct solver of its own; classical Runge-Kutta over the KKT
        accelerations, for smooth systems: fourth order; stabilization "none", "baumgarte", "soft" or "projection", as
        feedback or projection at the joints; limits, joint friction, velocity motors and contacts as impulses around
        each substep, first order), "rattle" or "variational" (joints closed at positions by a solver of their own, so
        joint_solver is not read; symplectic, second order, energy within a band for good; "variational" by quaternion
        increments. What has bounds as under "rk4", stabilization "none", "baumgarte" or "soft" for that only.
        SimulationError where the joints cannot be closed).
        sleep: False. threads: 1. (More to come.)

    The world keeps a copy of the scene. It belongs to one thread at a time; step() releases the GIL.
    """

    def __init__(self, scene: Scene, *, dt=1 / 60, substeps=4, solver="si", iterations=None, joint_solver=None,
                 stabilization="soft", integrator="semi_implicit", geometric_stiffness=0.0, friction="cone",
                 friction_points="central",
                 baumgarte=0.2, slop=0.0005, hertz=None, damping_ratio=2.0, joint_hertz=None, joint_damping_ratio=2.0,
                 push_speed=3.0, restitution_threshold=0.5, speculative_distance=0.02, position_rounds=2, sleep=False,
                 threads=1):
        keywords = {name: value for name, value in locals().items() if name not in ("self", "scene")}
        if not isinstance(scene, Scene):
            raise SceneError(f"World: the first argument must be a Scene, got {type(scene).__name__}; mcsim.load(name) "
                             "makes one")
        self._keywords = check_settings(keywords)
        self._scene = scene.sharing_parts()
        self.dt = self._keywords["dt"]
        self.substep = self.dt / self._keywords["substeps"]
        self._body_index = {body.name: i for i, body in enumerate(self._scene.bodies)}
        self._joint_index = {joint.name: i for i, joint in enumerate(self._scene.joints)}
        self._bodies = BodyArrays.from_scene(self._scene)
        self._joints = joint_records(self._scene, self._body_index)
        shapes = ShapeArrays(self._scene)
        self._collider = Collider(shapes.shapes, shapes.hulls, shapes.vertices, shapes.face_normals, shapes.face_offsets,
                                  shapes.face_begin, shapes.face_index, shapes.edges,
                                  excluded_pairs(self._scene, self._body_index))
        self._user = user_joints(self._scene, self._joints, self._bodies)
        rows = 0 if self._user is None else self._user.rows.ctypes.data
        self._pipeline = PIPELINES[self._keywords["integrator"]](
            self._bodies, self._joints, self._collider,
            kernel_settings(self._keywords, self._scene.gravity) | {"user_rows": rows},
            bool(np.any(shapes.shapes["restitution"] > 0.0)))
        if isinstance(self._pipeline, PositionPipeline):
            self._pipeline.names = (self.body_names, self.joint_names)
        self._set_gears()
        self._pipeline.set_user_joints(self._user)
        self._pipeline.set_calls(motion_calls(self._scene, self._joints))
        self._masses = np.array([body.mass for body in self._scene.bodies], float)
        self._centers = np.array([body.center_of_mass for body in self._scene.bodies], float).reshape(-1, 3)
        self._breakable = bool(np.any(self._joints["breakable"]))
        self._steps_made = 0
        self._events = Events()
        self._running = False
        self._prepare()

    def _set_gears(self):
        """What a gear keeps, where that is left to the initial pose."""
        measured = self._pipeline.measure()
        for i in np.flatnonzero(np.isnan(self._joints["constant"])):
            (a, b), axes = self._joints["geared"][i], self._joints["geared_axis"][i]
            q_a, q_b = (measured["axes"]["position"][j, k] for j, k in zip((a, b), axes))
            self._joints["constant"][i] = q_a + self._joints["ratio"][i] * q_b

    def __repr__(self):
        return (f"<World {self._scene.name!r}: {len(self._scene.bodies)} bodies, {len(self._scene.joints)} joints, "
                f"t = {self.time:.6g} s>")

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def step(self, n=1) -> None:
        """Advance by n steps of dt. Forces applied before act through all of them and are then cleared.

        Raises SimulationError, with the last good state in place, where a state would become non-finite.
        """
        try:
            n = count(n, "n", 0, MOST_STEPS)
        except FieldError as error:
            raise SceneError(f"World.step: {error}") from None
        self._begin("step")
        pipeline = self._pipeline
        pipeline.clear_times()
        whole = self._joints["broken"] == 0 if self._breakable else None
        goal = pipeline.steps + n
        began = pipeline.steps
        try:
            while pipeline.steps < goal:
                status = pipeline.step(goal - pipeline.steps)
                if status == GROW:
                    pipeline.grow()
                elif status == NOT_FINITE:
                    raise SimulationError(self._explain_failure())
        finally:
            self._running = False
            pipeline.clear_forces()
            self._steps_made = pipeline.steps - began
            self._events = Events() if whole is None else Events(np.nonzero(whole & (self._joints["broken"] != 0))[0])

    def _refuse_while_running(self, doing):
        """A user's function, or another thread, may look at poses and velocities while a step is on its way, no more."""
        if self._running:
            raise SimulationError(f"World.{doing}: the world is in the middle of a step; a function that it calls (a "
                                  "residual, a motion) and other threads may only read its arrays: do it after the step")

    def _begin(self, doing):
        self._refuse_while_running(doing)
        self._running = True

    def _explain_failure(self):
        """Which step, which body, and what was on it."""
        i = self._pipeline.failed_body
        name = self._scene.bodies[i].name
        joints = [joint.name for joint in self._scene.joints if name in (joint.a, joint.b)]
        found = self._collider.get_manifolds()
        touching = found[(found["body_a"] == i) | (found["body_b"] == i)]
        others = sorted({self.body_names[b] for m in touching for b in (m["body_a"], m["body_b"]) if b != i})
        state = (*self._bodies.position[i], *self._bodies.orientation[i], *self._bodies.twist[i], *self._bodies.force[i])
        where = "the last good state is kept" if np.all(np.isfinite(state)) else "set its pose, velocity and forces anew"
        return (f"step {self._pipeline.steps + 1} (t = {self.time + self.dt:.6g} s): the state of body {name!r} is not "
                f"finite; joints on it: {', '.join(joints) or 'none'}; contacts with: {', '.join(others) or 'none'}; "
                f"{where}; a smaller dt, more substeps or milder forces may help")

    def _prepare(self):
        """Rows at the present state."""
        self._begin("rows")
        try:
            while (status := self._pipeline.prepare()) == GROW:
                self._pipeline.grow()
        finally:
            self._running = False
        if status == NOT_FINITE:
            raise SimulationError(self._explain_failure())

    # ---- state -------------------------------------------------------------------------------------------------------

    @property
    def scene(self) -> Scene:
        """The world's own copy of its scene (the initial state)."""
        return self._scene

    @property
    def time(self) -> float:
        """[s]"""
        return self._pipeline.start + self._pipeline.steps * self.dt

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names in the order of all body arrays."""
        return tuple(self._body_index)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names in the order of all joint arrays."""
        return tuple(self._joint_index)

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) view: centres of mass, world [m]."""
        return self._bodies.position

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) view: unit quaternions (w, x, y, z), body axes into the world."""
        return self._bodies.orientation

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) view: of the centres of mass, world axes [m/s]."""
        return self._bodies.twist[:, :3]

    @property
    def angular_velocities(self) -> np.ndarray:
        """(n, 3) view: world axes [rad/s]."""
        return self._bodies.twist[:, 3:]

    @property
    def forces(self) -> np.ndarray:
        """(n, 6) view: force and torque about the centre of mass for the next step() call, world axes [N, N m]."""
        return self._bodies.force

    @property
    def masses(self) -> np.ndarray:
        """(n,) [kg]; 0 unless dynamic."""
        return self._masses.copy()

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """-> positions (n, 3) [m], orientations (n, 4) of the frames in which the user placed the bodies' shapes."""
        q = self._bodies.orientation
        return self._bodies.position - _rotate(q, self._centers), q.copy()

    def body(self, body) -> BodyHandle:
        """The handle of a body, by name, number or handle."""
        return BodyHandle(self, i := self._find(body, self._body_index, BodyHandle, "body"), self.body_names[i])

    def joint(self, joint) -> JointHandle:
        """The handle of a joint, by name, number or handle."""
        return JointHandle(self, i := self._find(joint, self._joint_index, JointHandle, "joint"), self.joint_names[i])

    def _find(self, key, index, handle, what):
        if isinstance(key, handle):
            if key._world is not self:
                raise SceneError(f"{what} {key.name!r} belongs to another world")
            return key.index
        name = getattr(key, "name", key)                      # the scene's own handle
        if isinstance(name, str) and name in index:
            return index[name]
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(index):
            return int(key)
        close = suggestion(name, index) if isinstance(name, str) else ""
        raise SceneError(f"unknown {what} {name!r}{close or f'; there are {len(index)}: ' + ', '.join(list(index)[:12])}")

    # ---- acting ------------------------------------------------------------------------------------------------------

    def _dynamic(self, body, doing):
        self._refuse_while_running(doing)
        i = self._find(body, self._body_index, BodyHandle, "body")
        if self._bodies.inv_mass[i] == 0.0:
            raise SceneError(f"World.{doing}: body {self.body_names[i]!r} is {self.body(i).kind}; only dynamic bodies feel "
                             "forces")
        return i

    def _vector(self, value, name, doing, length=3):
        try:
            return np.array(vector(value, name, length) if length != 4 else unit_quaternion(value, name))
        except FieldError as error:
            raise SceneError(f"World.{doing}: {error}") from None

    def apply_force(self, body, force, point=None) -> None:
        """Add a force [N], world axes, at `point` [m] (world; the centre of mass if None), through the next step() call."""
        i = self._dynamic(body, "apply_force")
        force = self._vector(force, "force", "apply_force")
        torque = np.zeros(3)
        if point is not None:
            torque = np.cross(self._vector(point, "point", "apply_force") - self._bodies.position[i], force)
        self._bodies.force[i] += (*force, *torque)

    def apply_torque(self, body, torque) -> None:
        """Add a torque [N m], world axes, through the next step() call."""
        i = self._dynamic(body, "apply_torque")
        self._bodies.force[i, 3:] += self._vector(torque, "torque", "apply_torque")

    def apply_impulse(self, body, impulse, point=None) -> None:
        """Change the velocity at once by an impulse [N s], world axes, at `point` [m] (the centre of mass if None)."""
        i = self._dynamic(body, "apply_impulse")
        impulse = self._vector(impulse, "impulse", "apply_impulse")
        spin = np.zeros(3)
        if point is not None:
            arm = self._vector(point, "point", "apply_impulse") - self._bodies.position[i]
            rotation = _matrices(self._bodies.orientation[i:i + 1])[0]
            spin = rotation @ self._bodies.inv_inertia[i] @ rotation.T @ np.cross(arm, impulse)
        self._bodies.twist[i] += (*(self._bodies.inv_mass[i] * impulse), *spin)

    def set_pose(self, body, position=None, orientation=None) -> None:
        """Place a body: `position` (3,) of its centre of mass [m], `orientation` (4,), world; None keeps what is."""
        self._refuse_while_running("set_pose")
        i = self._find(body, self._body_index, BodyHandle, "body")
        if position is not None:
            position = self._vector(position, "position", "set_pose")
        if orientation is not None:
            q = self._vector(orientation, "orientation", "set_pose", 4)
            self._bodies.orientation[i] = q / np.linalg.norm(q)
        if position is not None:
            self._bodies.position[i] = position

    def set_velocity(self, body, velocity=None, angular_velocity=None) -> None:
        """Set a body's velocity [m/s] (centre of mass) and angular velocity [rad/s], world axes; None keeps what is."""
        self._refuse_while_running("set_velocity")
        i = self._find(body, self._body_index, BodyHandle, "body")
        if self.body(i).kind == "static":
            raise SceneError(f"World.set_velocity: body {self.body_names[i]!r} is static; make it kinematic to move it")
        if velocity is not None:
            velocity = self._vector(velocity, "velocity", "set_velocity")
        if angular_velocity is not None:
            self._bodies.twist[i, 3:] = self._vector(angular_velocity, "angular_velocity", "set_velocity")
        if velocity is not None:
            self._bodies.twist[i, :3] = velocity

    # ---- observers ---------------------------------------------------------------------------------------------------

    def joint_errors(self) -> np.ndarray:
        """(joints, 2): metres and radians by which what each joint forbids is off; limits are not counted."""
        errors = self._pipeline.errors()
        if self._user is not None:
            self._user.fill_errors(errors, self._joints["broken"] != 0)
        return errors

    @property
    def contacts(self) -> np.ndarray:
        """(c,) structured array of the last step's contact points: body_a, body_b, position and normal (from a to b) in
        the world, separation [m] (negative = overlap), normal_impulse [N s] and tangent_impulse (3,) on b [N s], summed
        over the step's substeps, friction coefficient. The geometry is that at the beginning of the step, but for the
        separation, which is at its end."""
        found = self._collider.get_manifolds()
        mask = np.arange(4) < found["point_count"][:, None]
        owner = np.nonzero(mask)[0]
        points = found["points"][mask]
        out = np.zeros(len(points), CONTACT_DTYPE)
        for name in ("body_a", "body_b", "normal", "friction"):
            out[name] = found[name][owner]
        out["position"], out["separation"] = points["position"], points["separation"]
        out["normal_impulse"], out["tangent_impulse"] = points["total_normal_impulse"], points["total_friction_impulse"]
        return out

    def _spins(self):
        """(n, 3) spin angular momenta about the centres of mass, world [kg m^2/s]."""
        rotations = _matrices(self._bodies.orientation)
        body = np.einsum("nji,nj->ni", rotations, self._bodies.twist[:, 3:])
        return np.einsum("nij,nj->ni", rotations, np.einsum("nij,nj->ni", self._bodies.inertia, body))

    def energy(self) -> Energy:
        """Energy of the dynamic bodies and the joint springs [J]."""
        moving = self._bodies.inv_mass > 0.0
        v, w = self._bodies.twist[:, :3], self._bodies.twist[:, 3:]
        kinetic = 0.5 * np.sum(self._masses * np.sum(v * v, axis=1), where=moving) + 0.5 * np.sum(w * self._spins())
        heights = self._bodies.position @ np.asarray(self._scene.gravity, float)
        gravity = -np.sum(self._masses * self._bodies.gravity_scale * heights, where=moving)
        return Energy(float(kinetic), float(gravity + self._pipeline.spring_energy()))

    def momentum(self) -> tuple[np.ndarray, np.ndarray]:
        """-> linear (3,) [kg m/s] and angular momentum about the origin (3,) [kg m^2/s] of the dynamic bodies."""
        p = np.where(self._bodies.inv_mass > 0.0, self._masses, 0.0)[:, None] * self._bodies.twist[:, :3]
        return p.sum(axis=0), (np.cross(self._bodies.position, p) + self._spins()).sum(axis=0)

    @property
    def rows(self) -> np.ndarray:
        """(r,) structured array of the active rows at the present poses, those of `jacobian()` and `delassus()`.

        kind ("joint", "limit", "motor", "spring", "joint_friction", "normal", "friction", "twist"); source: number of the
        joint or manifold; index: which constraint, axis or point of it; bodies (2,): a and b, -1 = the world, of a gear
        those of its first joint; error C [m,
        rad]; bias [m/s, rad/s] and compliance of the biased pass; bounds (2,) of the impulse (a friction row's are -inf, inf:
        `friction` times the normal impulses bounds it); impulse: the last substep's, the next warm start [N s, N m s]."""
        raw = self._raw_rows()
        raw = raw[~second_rows(raw)]
        out = np.zeros(len(raw), ROW_VIEW_DTYPE)
        out["kind"] = np.array(ROW_KINDS)[raw["kind"]]
        out["bias"], out["compliance"] = raw["bias"][:, 0], raw["compliance"][:, 0]
        out["bodies"] = np.stack([raw["body_a"], raw["body_b"]], axis=1)
        out["bounds"] = np.stack([raw["lower"], raw["upper"]], axis=1)
        for name in ("source", "index", "error", "friction", "impulse"):
            out[name] = raw[name]
        return out

    def _raw_rows(self):
        """The row records at the present poses. A step lays rows out for its beginning, so they are made anew."""
        self._prepare()
        return self._pipeline.rows_now()

    def jacobian(self) -> "csr_array":
        """J, scipy.sparse CSR of shape (rows, 6 n): columns are the twists [v; w] in body order; rows as in `rows`."""
        return jacobian_csr(self._raw_rows(), self._bodies.count)

    def delassus(self) -> "csr_array":
        """A = J M^-1 J', scipy.sparse CSR of shape (rows, rows), without compliance; rows as in `rows`."""
        return delassus_csr(self._raw_rows())

    def _joint_rows(self):
        """Records of the joints' bilateral rows now, and their J (rows, 6 n), CSR, without columns of what does not
        move."""
        rows = self._raw_rows()
        rows = rows[rows["kind"] == ROW_KINDS.index("joint")]
        jacobian = jacobian_csr(rows, self._bodies.count)
        jacobian.data *= np.repeat(self._bodies.inv_mass > 0.0, 6)[jacobian.indices]
        jacobian.eliminate_zeros()
        return rows[~second_rows(rows)], jacobian

    def kkt(self) -> KKT:
        """The KKT system of the accelerations now, [[M, J'], [J, 0]] (Featherstone 3.17), of the joints' bilateral
        rows.

        -> .matrix (6 n + rows square, scipy.sparse), .rhs, .solve() -> accelerations (n, 6), forces (rows,). Gravity,
        the user's forces, damping, springs and position motors count as forces. What has bounds (limits, joint
        friction, velocity motors, contacts) is left out. No stabilization: the second part of rhs is minus dJ/dt v.
        Redundant rows stay in the matrix, which is then singular; solve() copes."""
        rows, jacobian = self._joint_rows()
        moving = self._bodies.inv_mass > 0.0
        forces = np.where(moving[:, None], self._pipeline.smooth_forces(), 0.0)
        rotations = _matrices(self._bodies.orientation)
        gyroscopic = np.zeros_like(forces)
        gyroscopic[:, 3:] = np.cross(self._bodies.twist[:, 3:], self._spins())
        turning = np.zeros_like(forces)
        turning[:, 3:] = np.einsum("nij,njk,nlk,nl->ni", rotations, self._bodies.inv_inertia, rotations,
                                   -gyroscopic[:, 3:])
        blocks = np.tile(np.eye(6), (len(forces), 1, 1))
        blocks[moving, :3, :3] *= self._masses[moving, None, None]
        blocks[moving, 3:, 3:] = np.einsum("nij,njk,nlk->nil", rotations, self._bodies.inertia, rotations)[moving]
        # A row's curvature is dJ/dt v + J a of the free bodies' gyroscopic accelerations.
        return kkt_system(jacobian, blocks, forces - gyroscopic, -rows["curvature"] + jacobian @ turning.ravel())

    def redundancy(self, tolerance=1e-9) -> Redundancy:
        """rank of the joints' bilateral rows now, the number of redundant ones, and null_space (rows, redundant): joint
        forces that move nothing. Dense singular values: for some hundreds of rows. A loop that has drifted open by d is
        redundant only to about d (in units of its size): a larger `tolerance` then tells."""
        try:
            tolerance = not_negative(tolerance, "tolerance")
        except FieldError as error:
            raise SceneError(f"World.redundancy: {error}") from None
        _, jacobian = self._joint_rows()
        return redundancy(jacobian.toarray(), tolerance)

    @property
    def stats(self) -> Stats:
        """Stats of the last step."""
        pipeline = self._pipeline
        manifolds = self._collider.get_manifolds()
        geared = int(np.sum(second_rows(pipeline.rows_now())))
        return Stats(
            rows=pipeline.joint_row_count + pipeline.contact_row_count - geared,
            joint_rows=pipeline.joint_row_count - geared, contact_rows=pipeline.contact_row_count,
            manifolds=len(manifolds), points=int(manifolds["point_count"].sum()),
            iterations=passes(self._keywords) * self._keywords["iterations"] * self._keywords["substeps"],
            impacts=pipeline.impact_count, steps=self._steps_made,
            residuals={"natural_map": pipeline.residual, "velocity": pipeline.correction},
            times=dict(zip(STAGES, pipeline.times())),
            notes=pipeline.notes() if isinstance(pipeline, PositionPipeline) else [])

    @property
    def events(self) -> Events:
        """What happened in the last call of step(): `.broken`, numbers of the joints that broke."""
        return self._events

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that this world runs with, defaults resolved; joint_solver: that of the joints it has now."""
        direct = self._pipeline.tree is not None if len(self._joints) else joint_tree(self._keywords)
        return dict(self._keywords, joint_solver="tree" if direct else "rows")

    # ---- snapshots ---------------------------------------------------------------------------------------------------

    def _saved_arrays(self):
        return {f.name: getattr(self._bodies, f.name) for f in BODY_FIELDS if f.saved}

    def snapshot(self) -> Snapshot:
        """The whole state now: poses, twists, forces, joint and contact impulses, time."""
        arrays = {name: array.copy() for name, array in self._saved_arrays().items()}
        return Snapshot(self._pipeline.steps, self._pipeline.start, self.time, arrays, self._joints.copy(),
                        self._collider.get_manifolds())

    def restore(self, snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from an equal scene; goes on to the same bits."""
        if not isinstance(snapshot, Snapshot):
            raise SceneError(f"World.restore: takes what World.snapshot() gave, got {type(snapshot).__name__}")
        self._refuse_while_running("restore")
        arrays = self._saved_arrays()
        if len(snapshot.joints) != len(self._joints) or len(snapshot.arrays["position"]) != self._bodies.count:
            raise SceneError(f"World.restore: {snapshot!r} is of another scene; this world has {self._bodies.count} bodies, "
                             f"{len(self._joints)} joints")
        if any(np.any(snapshot.joints[n] != self._joints[n]) for n in ("type", "body_a", "body_b")):
            raise SceneError("World.restore: the snapshot's joints connect other bodies than this world's")
        for i, (theirs, own) in enumerate(zip(snapshot.joints, self._joints)):
            if _what_it_holds(theirs) != _what_it_holds(own):
                raise SceneError(f"World.restore: in the snapshot, joint {self.joint_names[i]!r} holds other coordinates or "
                                 "another length, pitch or ratio than in this world; restore a snapshot of an equal scene")
        self._collider.set_manifolds(np.asarray(snapshot.manifolds, MANIFOLD_DTYPE))
        for name, array in arrays.items():
            array[...] = snapshot.arrays[name]
        self._joints[...] = snapshot.joints
        if self._breakable:
            self._pipeline.replan()
        self._events = Events()
        self._pipeline.steps, self._pipeline.start = snapshot.steps, snapshot.start
        if self.time != snapshot.time:              # from a world of another dt
            self._pipeline.start = snapshot.time - snapshot.steps * self.dt

    def state_hash(self) -> str:
        """Hexadecimal digest of the whole state: equal if and only if every bit of it is."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(np.float64(self.time).tobytes())
        for array in (*self._saved_arrays().values(), self._joints, self._collider.get_manifolds()):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def __reduce__(self):
        return _rebuild, (self._scene, self._keywords, self.snapshot())

    def __deepcopy__(self, memo):
        return _rebuild(self._scene, self._keywords, self.snapshot())


def _what_it_holds(record):
    """What a joint's record says about how many rows it has, and which."""
    names = ("constant", "breakable", "disc", "ratio", "geared", "geared_axis", "user_size")
    return *(record[name].tobytes() for name in names), record["axes"]["motion_mode"].tobytes()


def _rebuild(scene, keywords, snapshot):
    world = World(scene, **keywords)
    world.restore(snapshot)
    return world


def _matrices(q):
    """(n, 4) quaternions -> (n, 3, 3) rotation matrices."""
    w, x, y, z = np.asarray(q, float).T
    return np.moveaxis(np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]), 2, 0)


def _rotate(q, a):
    """(n, 4), (n, 3) -> (n, 3) rotated vectors."""
    return np.einsum("nij,nj->ni", _matrices(q), a)
