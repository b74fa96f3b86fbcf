"""ReducedWorld: a scene in generalized coordinates, stepped and observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import inverse, length, product, sparse_product
from mcsim.reduced.agreement import allow
from mcsim.reduced.dynamics import Dynamics, as_state, given_velocities
from mcsim.reduced.system import System
from mcsim.reduced.user_joint import JointModel
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.checks import FieldError, Vector, items, reals
from mcsim.solve.assemble import jacobian_csr
from mcsim.state.arrays import bounces
from mcsim.step.stages import Pipeline
from mcsim.world.capabilities import INTEGRATOR_TABLE
from mcsim.world.choices import (
    BDF,
    DOP853,
    RK4,
    CompliantContact,
    ContactName,
    EventContact,
    FrictionName,
    JointsName,
    Radau,
    ReducedIntegratorName,
    RigidContact,
    Sleep,
    SolverName,
    StabilizationName,
    SweptJoints,
)
from mcsim.world.handles import AnyBody, BodyHandle
from mcsim.world.keywords import ReducedMore, resolved, resolved_again
from mcsim.world.record import REDUCED_RECORD, hand_over
from mcsim.world.settings import check_reduced_settings, kernel_settings, of_accelerations, sleep_settings
from mcsim.world.snapshots import Snapshot
from mcsim.world.tree_plan import (
    BROKEN,
    angles_of_joints,
    carry_over,
    note_torn,
    tree_plan,
)
from mcsim.world.world import World
from mcsim.world.written_velocities import agree, commit, follow_written, take_over

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mcsim.collide import Collider
    from mcsim.reduced.links import Link
    from mcsim.solve.kkt import KKT, Redundancy
    from mcsim.state.arrays import BodyArrays
    from mcsim.step._tree_space import TreeSpace
    from mcsim.world.protocols import There
    from mcsim.world.record import Holder

OF_TREES = ("tree", "roots", "ball", "models")  # keywords of the model, not of the step
INTEGRATE_REDUCED = 4  # state/_settings.pxd


class ReducedWorld(World):
    """A scene in generalized coordinates: a spanning tree of joints, whose coordinates q and velocities qd are the
    state. Joints of the tree cannot come apart.

    dt: step [s]. substeps: of length h = dt / substeps.
    tree, roots: which joints must be in the tree, which bodies are to be its roots; else chosen (System).
    ball: coordinates of ball joints, "quaternion" or "ypr" (yaw, pitch, roll), for all or by a dict of names.
    models: joint models of your own in the place of joints, by a dict of names (mcsim.reduced.JointModel), or
        "rack_pinion" for a rack and pinion that is the one joint between its bodies.
    integrator: "semi_implicit" (the default; of second order: an implicit midpoint step that keeps the energy of each
        tree, in as many pieces as the tree asks for; a symplectic one, RATTLE over the coordinates, where loops tie
        trees), "rk4" (classical Runge-Kutta, fourth order, loops, gears and springs in the accelerations; what is
        bounded acts as impulses around each substep), or "reference" (Dormand and Prince's method of order 8 on the
        same accelerations, in steps as long as a tolerance of 1e-13 allows, where nothing touches and no joint has
        limits). Or "radau" or "bdf" (the same by implicit methods, for what is stiff). Or mc.RK4, mc.DOP853,
        mc.Radau, mc.BDF.
    stabilization: of joints that close loops: "soft" (the default; impulses before the drift close them at its end),
        "projection" (after it q is projected onto the loops in the metric of H, then qd; the default of rk4 and reference),
        "baumgarte" (bias beta C / h) or "none" (they drift); of limits and contacts: "soft", also under "projection",
        "baumgarte" or "none".
    joints: mc.SweptJoints, with hertz, damping ratio and speed of loops and limits.
    solver: "si", or one of the laboratory. contact, iterations, friction, sleep, threads, strict and more: as of World;
        without more_iterations, least_iterations and position_rounds.

    The same scene, observers, contacts, queries and changes as World, beside what is of generalized coordinates: `q`,
    `qd`, forward_dynamics, inverse_dynamics, mass_matrix, bias_force, body_jacobian, to_maximal, from_maximal; `tau`,
    `index` and `system` (help(mcsim.reduced.System)) are those of its own tree. q and qd may be written at any time, and
    every observer follows; so may velocities and angular_velocities of the bodies, which joints make agree as after
    set_velocity. positions and orientations are read-only. What rests sleeps as in World, trees whole, under
    "semi_implicit" only; not what `tau`, a prescribed motion or a joint model of your own drives.
    """

    _more = ReducedMore

    def __init__(
        self,
        scene: Scene,
        *,
        dt: float = 1e-3,
        substeps: int | None = 1,
        tree: Iterable[Joint | str] | None = None,
        roots: Iterable[Body | str] | None = None,
        ball: str | Mapping[str, str] = "quaternion",
        models: Mapping[str, JointModel | str] | None = None,
        contact: ContactName | RigidContact | CompliantContact | EventContact = "rigid",
        solver: SolverName | None = None,
        iterations: int | None = None,
        stabilization: StabilizationName | None = None,
        friction: FrictionName | None = None,
        joints: JointsName | SweptJoints | None = None,
        integrator: ReducedIntegratorName | RK4 | DOP853 | Radau | BDF | None = None,
        sleep: bool | Sleep = True,
        threads: int = 1,
        strict: bool = False,
        **more: Unpack[ReducedMore],
    ):
        own = {
            name: value for name, value in locals().items() if name not in ("self", "scene", "more", "__class__", *OF_TREES)
        }
        keywords = resolved(ReducedWorld, own, more)
        self._choices: dict[str, Any] = {
            "tree": None if tree is None else _names(tree, "tree"),
            "roots": None if roots is None else _names(roots, "roots"),
            "ball": dict(ball) if isinstance(ball, Mapping) else ball,
            "models": dict(models) if isinstance(models, Mapping) else models,
        }
        self._check_scene(scene)
        self._said = self._choices | own | more
        self._start(scene, check_reduced_settings(keywords, scene))

    def _checked_keywords(self, said: Mapping[str, Any], scene: Scene) -> dict[str, Any]:
        return check_reduced_settings(resolved_again(ReducedWorld, said, OF_TREES), scene)

    # ---- machinery ---------------------------------------------------------------------------------------------------

    def _kernel_settings(self, scene: Scene) -> dict[str, Any]:
        own = {"integrator": "semi_implicit"}
        if self._keywords["stabilization"] == "projection":
            own["stabilization"] = "soft"  # limits and contacts; the pipeline projects loops by itself
        return kernel_settings(self._keywords | own, scene.gravity) | {
            "integrator": INTEGRATE_REDUCED,
            **of_accelerations(self._keywords),
            "first_kick": 0.5,
            "joint_warm_start": 0.0,  # loops are solved at once
        }

    def _new_pipeline(
        self,
        scene: Scene,
        bodies: BodyArrays,
        joints: np.ndarray,
        collider: Collider,
        settings: dict[str, Any],
        planned: bool = False,
    ) -> Pipeline:
        system = System(scene, **self._choices)
        state = bodies.position, bodies.orientation, bodies.twist[:, :3], bodies.twist[:, 3:]
        q, qd = system.coordinates(*state)
        struck = allow(system, q, qd, state)
        tau = np.zeros(system.nv)
        if "_pipeline" in vars(self):
            carry_over(self._space, system, q, qd, tau, struck)
        plan = tree_plan(
            system,
            scene,
            bodies.count,
            (q, qd, tau),
            INTEGRATOR_TABLE[self._keywords["integrator"]].smooth,
            self._keywords["stabilization"] == "projection",
        )
        pipeline = Pipeline(
            bodies,
            joints,
            collider,
            settings,
            bounces(scene, bodies.bounces),
            sleep_settings(self._keywords, scene.gravity, bodies),
            trees=plan,
        )
        note_torn(pipeline.parts.noted, system, scene, state)
        pipeline.space.system = system
        pipeline.space.dynamics = Dynamics(system, threads=self._keywords["threads"])
        return pipeline

    def _ends_relaxed(self) -> int:
        return 1

    def _inverse_mass(self) -> csr_array:
        """H^-1, (nv, nv) scipy.sparse; 0 for the velocities of kinematic bodies, which no impulse changes."""
        from scipy.sparse import csr_array

        free, h = self._free_mass()
        found = np.zeros((len(self.qd), len(self.qd)))
        found[np.ix_(free, free)] = inverse(h)
        return csr_array(found)

    def _free_mass(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the velocities that impulses change, and H of these."""
        free = np.flatnonzero(~given_velocities(self.system, None))
        return free, self.mass_matrix(self.q)[np.ix_(free, free)]

    @property
    def _pipeline(self) -> Pipeline:
        """The pipeline, its bodies where q and qd have them. For whoever has the world's turn, as all that follows q:
        in the middle of a step bodies are where the step has them."""
        if not self._turn.stepping:
            follow_written(self)
        return vars(self)["_pipeline"]

    @property
    def _space(self) -> TreeSpace:
        """The velocities of the trees, whatever is written into the bodies."""
        return vars(self)["_pipeline"].space

    @property
    def _bodies(self) -> BodyArrays:
        """The bodies' arrays, as q and qd have them."""
        if not self._turn.stepping:
            follow_written(self)
        return vars(self)["_bodies"]

    @property
    def _joints(self) -> np.ndarray:
        """The joints' records, with what those of the tree carried in the last substep."""
        if not self._turn.stepping:
            follow_written(self)
            self._space.recover()
        return vars(self)["_joints"]

    def _arrays(self) -> There:
        with self._turn.glance() as had:
            if had:
                self._there.pipeline.space.sync()
        return self._there

    def _led(self) -> TreeSpace:
        """The trees, their coordinates of kinematic bodies as those are: for who looks at them at any time."""
        space = self._there.pipeline.space
        with self._turn.glance() as had:
            if had:
                space.lead()
        return space

    @staticmethod
    def _as_shown(name: str, array: np.ndarray) -> np.ndarray:
        view = array.view()
        view.flags.writeable = name == "twist"
        return view

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance by n steps of dt. Forces applied before act through all of them and are then cleared.

        Raises SimulationError, with the last good state in place, where a state would become non-finite; with strict=True
        also where a step could not do something (`stats.notes`).
        """
        super().step(n)

    def _make_steps(self, n: int) -> None:
        take_over(self)  # what was written since: the step itself looks at q alone
        try:
            super()._make_steps(n)
        finally:
            self._space.recover()  # while q, qd and tau are those that the forces belong to

    def _turn_coordinate(self, joint: int, axis: int, angle: float) -> None:
        """A joint's coordinate is counted anew, by whole turns."""
        joints, axes, places = angles_of_joints(self.system, self._scene)
        self._pipeline.space.q[places[(joints == joint) & (axes == axis)]] += angle

    # ---- generalized coordinates -------------------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The model: links, joints, loops, which q and qd are whose."""
        return self._there.pipeline.space.system

    @property
    def dynamics(self) -> Dynamics:
        """The algorithms over the tree, at any state."""
        return self._there.pipeline.space.dynamics

    def _forces_of(self, joint: int) -> np.ndarray:
        name, space = self._there.scene.joints[joint].name, self._there.pipeline.space
        for link in space.system.links:
            if link.joint is not None and link.joint.name == name and link.v.stop > link.v.start:
                return space.tau[link.v]
        return super()._forces_of(joint)

    def index(self, which: Any) -> tuple[slice, slice]:
        """Where a tree joint's coordinates stand, or those of a body on a free joint of the model's own: (slice of q,
        slice of qd). which: handle or name."""
        return self.system.index(which)

    @property
    def q(self) -> np.ndarray:
        """(nq,) coordinates of the tree, the state itself: it may be written."""
        return self._led().q.view()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        with self._turn.alone("q"):
            self.q[...] = as_state(value, "q", len(self.q))

    @property
    def qd(self) -> np.ndarray:
        """(nv,) velocities of the tree, the state itself: it may be written."""
        return self._led().qd.view()

    @qd.setter
    def qd(self, value: ArrayLike) -> None:
        with self._turn.alone("qd"):
            self.qd[...] = as_state(value, "qd", len(self.qd))

    @property
    def tau(self) -> np.ndarray:
        """(nv,) forces of the tree's joints [N, N m], along qd, that act in every step until they are written anew, a view.
        Joints that close loops are not among them: see `joint(name).tau`."""
        return self._there.pipeline.space.tau.view()

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        with self._turn.alone("tau"):
            self.tau[...] = as_state(value, "tau", len(self.tau))

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """Accelerations qdd (nv,) of the tree alone, without loops, contacts, limits and motors; gravity acts.

        q (nq,), qd (nv,), tau (nv,) [N, N m]; forces (n, 6): force and torque about the centre of mass of each body, world
        axes. Each may have a leading axis: many states in one call, see Dynamics.forward_dynamics."""
        with self._turn.look("forward_dynamics"):
            return self.dynamics.forward_dynamics(q, qd, tau, forces)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """Joint forces tau (nv,) [N, N m] that give qdd (nv,) to the tree alone; q, qd, forces as of forward_dynamics,
        and see Dynamics.inverse_dynamics."""
        with self._turn.look("inverse_dynamics"):
            return self.dynamics.inverse_dynamics(q, qd, qdd, forces)

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """H (nv, nv) at q (nq,), or of many at once: see Dynamics.mass_matrix."""
        with self._turn.look("mass_matrix"):
            return self.dynamics.mass_matrix(q)

    def bias_force(self, q: ArrayLike, qd: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """C (nv,) of tau = H qdd + C at q and qd, with `forces` as of forward_dynamics: see Dynamics.bias_force."""
        with self._turn.look("bias_force"):
            return self.dynamics.bias_force(q, qd, forces)

    def body_jacobian(self, body: AnyBody, q: ArrayLike | None = None) -> np.ndarray:
        """(6, nv): takes qd to the body's twist [v; w] of its centre of mass, world axes; q: the present one if None."""
        q = self.q if q is None else q
        with self._turn.look("body_jacobian"):
            return self.dynamics.body_jacobian(self.body(body).name, q)

    def jacobian(self) -> csr_array:
        """J over the tree's velocities, scipy.sparse CSR of shape (rows, nv); rows as in `rows`. Joints of the tree have
        none of their own."""
        with self._observing("jacobian"):
            return self._tree_jacobian()

    def _tree_jacobian(self) -> csr_array:
        from scipy.sparse import csr_array

        bodies = [self.body_jacobian(i) for i in range(len(self.body_names))]
        velocities = np.array(bodies).reshape(6 * len(bodies), len(self.qd))
        return csr_array(sparse_product(jacobian_csr(self._raw_rows(), self._bodies.count), csr_array(velocities)))

    def delassus(self) -> csr_array:
        """A = J H^-1 J', scipy.sparse CSR of shape (rows, rows), without compliance; rows as in `rows`. The velocities of
        kinematic bodies, which no impulse changes, have no part in it."""
        from scipy.sparse import csr_array

        with self._observing("delassus"):
            jacobian = self._tree_jacobian().toarray()
            if not jacobian.size:
                return csr_array((len(jacobian), len(jacobian)))
            free, h = self._free_mass()
            product = jacobian[:, free] @ np.linalg.solve(h, jacobian[:, free].T)
            return csr_array(0.5 * (product + product.T))

    def maximal(self, **keywords: Any) -> World:
        """A World of the same scene, in the present state and at the present time; joints have made the turns that q
        tells, and `tau` goes on, but of joints that are described by yaw, pitch and roll. keywords: as of World; dt as
        here if not given. Joint models of the user's own are refused: World has none."""
        with self._turn.alone("maximal"):
            for name in self.system.own_models():
                raise SceneError(
                    f"ReducedWorld.maximal: joint {name!r} has a model of your own, which World does not "
                    "know; give the scene a UserJoint there"
                )
            world = World(self.scene, **({"dt": self.dt} | keywords))
            hand_over(self._recorded(), world._holder())
            world._pipeline.restored()
            world.wake()
            return world

    def kkt(self) -> KKT:
        """The KKT system of the accelerations of all bodies and joints now, in maximal coordinates: World.kkt of
        `maximal()`, in which `tau` is the least wrenches on the bodies that do the same. In generalized ones:
        mcsim.reduced.Formulation."""
        world = self.maximal()
        if np.any(self.tau):
            world.tau[...] = 0.0
            jacobians = np.concatenate([self.body_jacobian(i) for i in range(len(self.body_names))])
            wrenches = np.linalg.lstsq(jacobians.T, self.tau, rcond=None)[0]
            world._bodies.force += wrenches.reshape(-1, 6)
        return world.kkt()

    def redundancy(self, tolerance: float = 1e-9) -> Redundancy:
        """Rank of the bilateral rows of all joints now, in maximal coordinates: World.redundancy of `maximal()`. Over the
        tree, with names: mcsim.reduced.mobility."""
        return self.maximal().redundancy(tolerance)

    def loop_errors(self) -> np.ndarray:
        """(loops, 2): metres and radians by which the joints that close loops are off, in the order of system.loops."""
        with self._turn.look("loop_errors"):
            errors = self.joint_errors()
            return errors[[self._joint_index[loop.joint.name] for loop in self.system.loops]].reshape(-1, 2)

    def to_maximal(
        self, q: ArrayLike | None = None, qd: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The bodies' state at q and qd, by default the present ones: positions (n, 3), orientations (n, 4), velocities
        (n, 3), angular_velocities (n, 3), as World has it. q and qd may have a leading axis."""
        q, qd = self.q if q is None else q, self.qd if qd is None else qd
        with self._turn.look("to_maximal"):
            return self.dynamics.state(q, qd)

    def from_maximal(
        self,
        positions: ArrayLike,
        orientations: ArrayLike,
        velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        *,
        project: bool = False,
    ) -> None:
        """Take the state of all bodies, as World has it; velocities are 0 if not given.

        A state that breaks a joint of the tree by more than 1e-4 m, rad, m/s or rad/s is refused, unless `project`:
        then what the joints forbid of the poses is left out, and of the velocities what an impulse at the joints would
        take: the change that costs the least kinetic energy, by which momenta are kept. Nothing is changed if it fails.
        """
        given = {
            "positions": positions,
            "orientations": orientations,
            "velocities": velocities,
            "angular_velocities": angular_velocities,
        }
        try:
            state = [
                reals(np.zeros((len(self.body_names), 3)) if part is None else part, name) for name, part in given.items()
            ]
        except FieldError as error:
            raise SceneError(f"ReducedWorld.from_maximal: {error}") from None
        with self._turn.alone("from_maximal"):
            if not project:
                self._check_tree(state)
            q, qd = self.system.coordinates(*state)
            allow(self.system, q, qd, tuple(state))
            self._space.body_sync.forget_written()
            self._turn.last = None
            self.q[...], self.qd[...] = q, qd

    def _check_tree(self, state: Sequence[np.ndarray]) -> None:
        """Refuse a state of all bodies that breaks a joint of the tree."""
        errors = self.system.tree_errors(*state)
        if errors.size and errors.max() > BROKEN:
            i = int(np.argmax(errors.max(axis=-1)))
            joint = self.system.links[i].joint
            raise SceneError(
                f"ReducedWorld.from_maximal: joint {joint.name if joint else None!r} is off by "
                f"{errors[i, 0]:.3g} m, {errors[i, 1]:.3g} rad, {errors[i, 2]:.3g} m/s, "
                f"{errors[i, 3]:.3g} rad/s; pass project=True to leave that out"
            )

    # ---- the bodies --------------------------------------------------------------------------------------------------

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) read-only view: centres of mass, world [m]."""
        return self._as_shown("position", self._arrays().bodies.position)

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) read-only view: unit quaternions (w, x, y, z), body axes into the world."""
        return self._as_shown("orientation", self._arrays().bodies.orientation)

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) view: of the centres of mass, world axes [m/s]. What is written into it is taken over as by
        set_velocity, of all bodies at once, by the next step and by what changes velocities."""
        return self._arrays().bodies.twist[:, :3]

    @property
    def angular_velocities(self) -> np.ndarray:
        """(n, 3) view: world axes [rad/s]. It may be written, as `velocities`."""
        return self._arrays().bodies.twist[:, 3:]

    def set_pose(self, body: AnyBody, position: Vector | None = None, orientation: Vector | None = None) -> None:
        """Place a body that no joint of the tree holds: what hangs on it goes with it. `position` (3,) of its centre of
        mass [m], `orientation` (4,), world; None keeps what is."""
        super().set_pose(body, position, orientation)

    def _set_pose(self, body: AnyBody, position: Vector | None, orientation: Vector | None) -> None:
        link = self._link(body, "set_pose")
        if link.joint is not None:
            raise SceneError(
                f"ReducedWorld.set_pose: body {link.body!r} hangs on joint {link.joint.name!r}; "
                f"write that one's coordinates: q at index({link.joint.name!r})[0]"
            )
        if link.prescribed:
            return super()._set_pose(body, position, orientation)
        if position is not None:
            position = self._vector(position, "position", "set_pose")
        if orientation is not None:
            orientation = self._vector(orientation, "orientation", "set_pose", 4)
            self.q[link.q][3:] = orientation / length(orientation)
        if position is not None:
            self.q[link.q][:3] = position
        self._space.end_steps()  # quaternions keep to the side of this pose, looked at or not

    def _write_setting(self, body: int, field: str, value: Any) -> None:
        if field == "gravity_scale":  # which the trees are made with
            return self._set_body(body, {field: value}, field)
        return super()._write_setting(body, field, value)

    def set_velocity(self, body: AnyBody, velocity: Vector | None = None, angular_velocity: Vector | None = None) -> None:
        """Set a body's velocity [m/s] (centre of mass) and angular velocity [rad/s], world axes; None keeps what is.

        The bodies on joints with it keep theirs, but for the impulses at the joints of the tree that make all of them
        agree: the body itself is then slower than was asked for, as after the next step of a World. Loops follow in the
        next step."""
        super().set_velocity(body, velocity, angular_velocity)

    def _set_velocity(self, body: AnyBody, velocity: Vector | None, angular_velocity: Vector | None) -> None:
        link = self._link(body, "set_velocity")
        if link.prescribed:
            return super()._set_velocity(body, velocity, angular_velocity)
        if velocity is not None:
            velocity = self._vector(velocity, "velocity", "set_velocity")
        if angular_velocity is not None:
            angular_velocity = self._vector(angular_velocity, "angular_velocity", "set_velocity")
        commit(self)
        twists, written = vars(self)["_bodies"].twist.copy(), np.zeros((len(self.body_names), 2), bool)
        for half, given in enumerate((velocity, angular_velocity)):
            if given is not None:
                twists[link.body_number, 3 * half : 3 * half + 3] = given
                written[link.body_number, half] = True
        agree(self, twists, written)

    def _link(self, body: AnyBody, doing: str) -> Link:
        """The link of a body that moves."""
        name = self.body_names[self._find(body, BodyHandle)]
        number = self.system.link_of[name]
        if number < 0:
            raise SceneError(f"ReducedWorld.{doing}: body {name!r} is static: it is part of the base")
        return self.system.links[number]

    def apply_impulse(self, body: AnyBody, impulse: Vector, point: Vector | None = None) -> None:
        """Change the velocities at once by an impulse [N s] on a body, world axes, at `point` [m] (the centre of mass if
        None). The joints of the tree pass it on; loops do not feel it before the next step."""
        impulses: Any = [impulse]
        points: Any = None if point is None else [point]
        self.apply_impulses(impulses, [body], points)

    def apply_impulses(
        self, impulses: ArrayLike, bodies: Sequence[AnyBody] | np.ndarray | None = None, points: ArrayLike | None = None
    ) -> None:
        """The same for many bodies: (k, 3), or (k, 6) with angular ones [N m s]; as World.apply_impulses."""
        with self._turn.alone("apply_impulses"):
            chosen, wrenches = self._many(impulses, bodies, points, "impulses", "apply_impulses")
            commit(self)
            force = np.zeros(len(self.qd))
            for i, wrench in zip(chosen, wrenches):
                force += product(wrench, self.body_jacobian(int(i)))
            still = np.zeros(len(self.qd))
            moved, before = (self.forward_dynamics(self.q, still, tau) for tau in (force, still))
            with np.errstate(over="ignore", invalid="ignore"):
                qd = self.qd + (moved - before)
            if not np.isfinite(qd).all():
                raise SceneError("World.apply_impulses: coordinates would have more velocity than a number can hold")
            self.qd[...] = qd

    # ---- kept and taken back -----------------------------------------------------------------------------------------

    _RECORD = REDUCED_RECORD

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from an equal scene; goes on to the same bits."""
        super().restore(snapshot)

    def _check_kind(self, snapshot: Snapshot) -> None:
        if "q" not in snapshot.packed:
            raise SceneError("takes what ReducedWorld.snapshot() gave, not that of a World, whose state from_maximal takes")

    def _recorded(self) -> Holder:
        """With what was written as it was written, which goes on to be taken over."""
        holder = super()._recorded()
        if self._turn.last is not None:
            give_back, self._turn.last = self._turn.last, None
            give_back()
            holder.pipeline.space.sync()
        return holder

    def _catch_up(self) -> None:
        self._space.sync()
        self._space.recover()

    def _follow(self, holder: Holder) -> None:
        self._turn.last = None  # what was written into velocities before is of another state
        written = holder.bodies.twist.copy()
        space = holder.pipeline.space
        space.sync()
        space.body_sync.take_back_twists(written, space.body_sync.shown_twists)
        space.trust_records()


def _names(parts: Iterable[Any], field: str) -> list[str]:
    try:
        return [getattr(part, "name", part) for part in items(parts, f"a list of {field}", field)]
    except FieldError as error:
        raise SceneError(f"ReducedWorld: {error}") from None
