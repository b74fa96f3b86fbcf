"""World: a scene in maximal coordinates, stepped and observed."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from mcsim.collide import Collider, Surfaces
from mcsim.core._turn import Turn
from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.linear import turned
from mcsim.core.notes import failure_of
from mcsim.core.rotation import matrices
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, count, suggestion
from mcsim.state.arrays import BodyArrays, ShapeArrays, bounces, excluded_pairs, joint_records, material_grips, pair_grips
from mcsim.state.compliance import check_surfaces
from mcsim.state.fields import ROW_KINDS
from mcsim.state.motions import motion_calls
from mcsim.state.user_joints import user_joints
from mcsim.step.stages import GROW, NOT_DONE, NOT_FINITE, OK, UNSEEN, Pipeline
from mcsim.world.actions import Actions
from mcsim.world.capabilities import INTEGRATOR_TABLE
from mcsim.world.changes import Changes
from mcsim.world.choices import (
    BDF,
    DOP853,
    RK4,
    CompliantContact,
    ContactName,
    DirectJoints,
    EventContact,
    FrictionName,
    IntegratorName,
    JointsName,
    JointSolverName,
    Radau,
    Rattle,
    RigidContact,
    Sleep,
    SolverName,
    StabilizationName,
    SweptJoints,
    Variational,
)
from mcsim.world.contact_filter import ContactFilter, filter_calls
from mcsim.world.event_world import EventRun
from mcsim.world.failures import complete, explicit_springs
from mcsim.world.joint_forces import JointForces, carry_forces, plan_forces
from mcsim.world.keywords import More, resolved, resolved_again
from mcsim.world.laboratory import Laboratory, block_inverse_mass
from mcsim.world.live_settings import LiveSettings, Setting
from mcsim.world.members import WorldOfMembers
from mcsim.world.observers import Observers
from mcsim.world.protocols import There
from mcsim.world.queries import Queries
from mcsim.world.record import MOST_STEPS
from mcsim.world.settings import check_damping, check_settings, kernel_settings, sleep_settings
from mcsim.world.smooth import beyond_reference, check_smooth
from mcsim.world.snapshots import forgetful
from mcsim.world.state_files import StateFiles

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mcsim.core._noted import Noted

BUSY = (
    "World.{doing}: the world is in the middle of a step, "
    "or of being changed, copied or looked at by another thread; meanwhile a function that it calls (a "
    "residual, a motion) and other threads may only read its arrays: do it after that, or take turns"
)


class World(WorldOfMembers, JointForces, LiveSettings, Observers, Actions, Queries, Changes, StateFiles):
    """A scene in maximal coordinates: every body has a position, a quaternion and a twist; joints and contacts are
    rows.

    dt: step [s]. substeps: of length h = dt / substeps; 4, or so many that no body of the scene that is free of joints
        falls by more than a hundredth of its thickness from rest in one (at 1/60 s below 9 mm); with contact="event" 1.
    contact: "rigid"; "compliant": springs and dampers at every point, as the materials say; "event": impacts and other
        events located to rounding. Or mc.RigidContact, mc.CompliantContact, mc.EventContact, which hold what each reads.
    solver: "si" (the default: sequential impulses), "pgs" (Gauss-Seidel on the assembled matrix), or one of the laboratory,
        mcsim.solve.problems.SOLVERS: exact, and slow. iterations: sweeps of each pass of a substep; 4 with "soft", else 8.
    stabilization: of joints and contacts: "soft" (the default), "baumgarte", "split_impulse", "projection" (the default of
        rk4), "ggl", "none".
    friction: "cone" (the default) or "pyramid".
    joint_solver: "tree" (all joints at once by a sparse factorization, closed at the end of every drift) or "rows" (joint
        by joint, swept with the contacts). Default "tree", but "rows" with solver "pgs", which has no other, and in a
        net whose loops make a factorization too dear. joints: the same as "direct" or "rows", or mc.DirectJoints,
        mc.SweptJoints, with hertz, damping ratio and speed.
    integrator: "semi_implicit" (the default), "rk4" (fourth order, for smooth systems), "rattle" or "variational"
        (symplectic, joints closed at positions), "reference" or, of what is stiff, "radau" or "bdf" (smooth motions to
        a tolerance of 1e-13, in steps of their own); with contact="event" "dopri", "heun" or "euler". Or mc.RK4, mc.Rattle,
        mc.Variational, mc.DOP853, mc.Radau, mc.BDF, with what is theirs.
    sleep: whether bodies at rest fall asleep, or mc.Sleep, with speed and time. Under "rigid" and "semi_implicit" only.
    threads: 1; among which contacts and bodies are shared out, at most one a processor. Results do not depend on it.
        It pays from some hundreds of touching bodies on, where the processors are free.
    strict: True: a step that could not do something, which else only stands in `stats.notes` (docs/notes.md), raises
        SimulationError with the note's sentence, and the state is the one before it.
    more: fields of the objects as keywords, help(mcsim.world.keywords.More): hertz, damping_ratio, slop, push_speed, ... of
        contacts, joint_hertz, ... of joints, sleep_speed, ...

    What is not given has its default, told by help(mc.RigidContact) and so on; `world.settings` has the values in use.
    SceneError: a value is wrong, is given twice, or does not go with another (docs/settings.md).

    The world keeps a copy of the scene. It belongs to one thread at a time; step() releases the GIL, so that several
    worlds run in several threads. Bodies and joints may be added, removed and changed between steps (add_body, ...).
    """

    _more: type = More

    def __init__(
        self,
        scene: Scene,
        *,
        dt: float = 1 / 60,
        substeps: int | None = None,
        contact: ContactName | RigidContact | CompliantContact | EventContact = "rigid",
        solver: SolverName | None = None,
        iterations: int | None = None,
        stabilization: StabilizationName | None = None,
        friction: FrictionName | None = None,
        joint_solver: JointSolverName | None = None,
        joints: JointsName | DirectJoints | SweptJoints | None = None,
        integrator: IntegratorName | RK4 | DOP853 | Radau | BDF | Rattle | Variational | None = None,
        sleep: bool | Sleep = True,
        threads: int = 1,
        strict: bool = False,
        **more: Unpack[More],
    ):
        own = {name: value for name, value in locals().items() if name not in ("self", "scene", "more")}
        keywords = resolved(World, own, more)
        self._check_scene(scene)
        self._said = own | more
        self._start(scene, check_settings(keywords, scene))

    def _checked_keywords(self, said: Mapping[str, Any], scene: Scene) -> dict[str, Any]:
        """Keywords as they would be given to a new world of a scene, checked."""
        return check_settings(resolved_again(World, said), scene)

    def _check_scene(self, scene: Scene) -> None:
        if not isinstance(scene, Scene):
            raise SceneError(
                f"{type(self).__name__}: the first argument must be a Scene, got {type(scene).__name__}; "
                "mcsim.load(name) makes one"
            )

    def _start(self, scene: Scene, keywords: dict[str, Any]) -> None:
        """Begin with checked keywords."""
        self._begin(scene.sharing_parts(), keywords)
        vars(self).update(
            self._machinery(
                self._origin,
                BodyArrays.from_scene(self._origin),
                joint_records(self._origin, self._origin.numbers()[0]),
                ShapeArrays(self._origin),
            )
        )
        self._check_rates()
        self._follow_events()
        self._meet_shapes()
        self._prepare()
        if INTEGRATOR_TABLE[keywords["integrator"]].tolerant:
            with self._turn.alone("rows"):
                self._refuse_bounds()

    def _begin(self, origin: Scene, keywords: dict[str, Any]) -> None:
        """What a world has before any bodies: checked keywords, and the scene that it was made of, its own."""
        self._turn = Turn(BUSY)
        self._forgetful = forgetful()
        self._before_step = self._forget if self._forgetful else None
        self._keywords = keywords
        self._origin = origin
        self._parts = None  # of the last snapshot
        self._shown_scene: tuple[Scene, Scene] | None = None  # (scene, what a user sees of it)
        self._user_data = WeakKeyDictionary()  # first version of a body -> what was set in this world
        self._removed = WeakSet()  # parts that are here no longer, the first version of each
        self._contact_filter: ContactFilter | None = None
        self._dynamics = None
        self._event_run = None  # EventRun of contact="event"
        self._broken = None  # numbers of the joints that broke in the last call of step()

    def _machinery(
        self,
        scene: Scene,
        bodies: BodyArrays,
        joints: np.ndarray,
        shapes: ShapeArrays | None,
        collider: Collider | None = None,
        numbers: tuple[dict[str, int], dict[str, int]] | None = None,
        planned: bool = False,
    ) -> dict[str, Any]:
        """Name -> all attributes that depend on which bodies and joints there are. bodies: BodyArrays; joints:
        JOINT_DTYPE; shapes: ShapeArrays, from which a collider is made; or None: `collider` has or will have them.
        numbers: what scene.numbers() gives, if it is known. planned: the pipeline is to be told the present one's
        plan."""
        body_index, joint_index = numbers or scene.numbers()
        if self._keywords["contact"] == "compliant":
            check_surfaces(scene, excluded_pairs(scene, body_index))
        if collider is None:
            assert shapes is not None
            parts = (*shapes.pools, excluded_pairs(scene, body_index), Surfaces(shapes.surfaces))
            collider = Collider(shapes.shapes, *parts)
            collider.set_pair_grips(pair_grips(scene, body_index))
            collider.set_material_grips(material_grips(scene))
        user = user_joints(scene, joints, bodies)
        rows = 0 if user is None else user.rows.ctypes.data
        pipeline = self._new_pipeline(
            scene,
            bodies,
            joints,
            collider,
            self._kernel_settings(scene) | {"user_rows": rows},
            planned,
        )
        pipeline.parts.integrator.name(body_index, joint_index)
        self._make_forces(pipeline, scene, joints)
        _set_gears(joints, pipeline)
        pipeline.parts.set_user_joints(user)
        pipeline.parts.calls.of_time = motion_calls(scene, joints)
        pipeline.parts.set_laboratory(self._new_laboratory(pipeline.parts.noted))
        pipeline.parts.set_contact_filter(filter_calls(self._contact_filter, scene))
        pipeline.one.strict = self._keywords["strict"]
        pipeline.parts.sweeping.tolerance = self._keywords["tolerance"] if self._keywords["stop"] == "residual" else -1.0
        return {
            "_there": There(scene, body_index, joint_index, bodies, pipeline),
            "_bodies": bodies,
            "_joints": joints,
            "_collider": collider,
            "_user": user,
            "_pipeline": pipeline,
            "_breakable": bool(np.any(joints["breakable"])),
        }

    def _make_forces(self, pipeline: Pipeline, scene: Scene, joints: np.ndarray) -> None:
        """What a pipeline is to do for the forces of its joints, once there are any; those of the present one."""
        system = getattr(pipeline.space, "system", None)
        # Of what it is called with: a pipeline that pointed at itself would hold its memory until a collection of garbage.
        pipeline.parts.efforts.make = partial(plan_forces, scene=scene, joints=joints, system=system)
        old = vars(self).get("_pipeline")
        if old is not None:
            there = self._there.scene
            carry_forces(old, pipeline, scene.bodies == there.bodies and scene.joints == there.joints)

    def _kernel_settings(self, scene: Scene) -> dict[str, Any]:
        return kernel_settings(self._keywords, scene.gravity)

    def _new_pipeline(
        self,
        scene: Scene,
        bodies: BodyArrays,
        joints: np.ndarray,
        collider: Collider,
        settings: dict[str, Any],
        planned: bool = False,
    ) -> Pipeline:
        """What makes the steps of these bodies and joints."""
        pipeline = Pipeline(
            bodies,
            joints,
            collider,
            settings,
            bounces(scene, bodies.bounces),
            sleep_settings(self._keywords, scene.gravity, bodies),
            planned=planned,
        )
        if self._keywords["contact"] != "event":  # which moves bodies without a pipeline's steps
            bodies.watch.attend(self._turn)
        return pipeline

    def _new_laboratory(self, noted: Noted) -> Laboratory | None:
        """What solves the rows in place of the sweeps, or None."""
        k = self._keywords
        return (
            None
            if k["contact_model"] is None
            else Laboratory(
                k["solver"],
                k["contact_model"],
                k["tolerance"] if k["stop"] == "residual" else 0.0,
                k["iterations"],
                "direct" if k["joint_solver"] == "tree" else "rows",
                self._inverse_mass,
                lambda: self.body_names,
                noted,
            )
        )

    def _inverse_mass(self) -> csr_array:
        """The bodies' inverse masses, (6 n, 6 n) scipy.sparse."""
        now = self._bodies
        return block_inverse_mass(now.inv_mass, now.inv_inertia, matrices(now.orientation))

    def __repr__(self) -> str:
        there = self._there
        return (
            f"<{type(self).__name__} {there.scene.name!r}: {len(there.scene.bodies)} bodies, "
            f"{len(there.scene.joints)} joints, t = {there.pipeline.time:.6g} s>"
        )

    # ---- stepping ----------------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance by n steps of dt. Forces applied before act through all of them and are then cleared.

        Raises SimulationError, with the last good state in place, where a state would become non-finite; with strict=True
        also where a step could not do something (`stats.notes`).
        """
        if type(n) is not int or not 0 <= n <= MOST_STEPS:
            try:
                n = count(n, "n", 0, MOST_STEPS)
            except FieldError as error:
                raise SceneError(f"World.step: {error}") from None
        with self._turn.step("step"):
            try:
                self._make_steps(n)
            except SimulationError as error:
                complete(error, self)
                raise

    def _make_steps(self, n: int) -> None:
        whole = self._joints["broken"] == 0 if self._breakable else None
        try:
            if self._event_run is not None:
                if self._before_step is not None:
                    self._before_step()
                self._follow_events()
                return self._event_run.step(self, n)
            self._check_rates()
            if INTEGRATOR_TABLE[self._keywords["integrator"]].tolerant:
                self._refuse_bounds()
            status = self._pipeline.step(n) if self._before_step is None else self._step_singly(n, self._before_step)
            if status == UNSEEN:
                self._meet_shapes()
                status = self._pipeline.step(n)
            if status == NOT_FINITE:
                raise SimulationError(self._explain_failure())
            if status == NOT_DONE:
                raise self._not_done()
        finally:
            if whole is not None:
                self._broken = np.nonzero(whole & (self._joints["broken"] != 0))[0]

    def _step_singly(self, n: int, before_step: Callable[[], object]) -> int:
        """As Pipeline.step, with something that is done before each step and changes nothing: `_forget`, after which
        nothing but the record is known, or a look at the state."""
        status = OK
        self._meet_shapes()
        self._pipeline.begin_call()
        try:
            for _ in range(n):
                self._bodies.watch.tell_all()
                before_step()
                status = self._pipeline.go_on(1)
                if status != OK:
                    break
        finally:
            self._pipeline.end_call()
        return status

    def _check_rates(self) -> None:
        """Of damping, at the beginning and before steps: rates may be written at any time."""
        if self._keywords["integrator"] == "rk4":
            check_damping(self._scene.bodies, self._bodies, self.substep)

    def _follow_events(self) -> None:
        """The event-driven simulation of the bodies and joints there are, if that is how contacts are simulated."""
        run = self._event_run
        if self._keywords["contact"] == "event" and (run is None or run.pipeline is not self._pipeline):
            self._event_run = EventRun(self)

    def _refuse_bounds(self) -> None:
        """What steps to a tolerance cannot do, at the present state."""
        who = self._with_integrator()
        check_smooth(who, self.scene, self._joints)
        rows = self._raw_rows()
        for a, b in zip(*(rows[rows["kind"] == ROW_KINDS.index("normal")][side] for side in ("body_a", "body_b"))):
            raise beyond_reference(who, f"bodies {self.body_names[a]!r} and {self.body_names[b]!r}", "touch, or nearly so")

    def _admit_limits(self, part: str) -> None:
        """Asked before a handle gives limits to a part."""
        if INTEGRATOR_TABLE[self._keywords["integrator"]].tolerant:
            raise beyond_reference(self._with_integrator(), part, "is to have limits")

    def _with_integrator(self) -> str:
        return f"{type(self).__name__}(integrator={self._keywords['integrator']!r})"

    def _turn_coordinate(self, joint: int, axis: int, angle: float) -> None:
        """A joint's coordinate is counted anew: by whole turns, which the bodies do not know."""

    def _not_done(self) -> SimulationError:
        """The error of a step that could not do something, and was undone."""
        pipeline, scene = self._there.pipeline, self._scene
        return SimulationError(
            f"step {pipeline.steps + 1} (t = {self.time + self.dt:.6g} s): "
            f"{failure_of(pipeline.parts.noted, scene.bodies, scene.joints)}; the last good state is "
            "kept, for "
            "strict=True"
        )

    def _explain_failure(self) -> str:
        """Which step, which body, and what was on it."""
        i = self._pipeline.parts.arrays.failed_body
        name = self._scene.bodies[i].name
        joints = [joint.name for joint in self._scene.joints if name in (joint.a, joint.b)]
        found = self._collider.get_manifolds()
        touching = found[(found["body_a"] == i) | (found["body_b"] == i)]
        others = sorted({self.body_names[b] for m in touching for b in (m["body_a"], m["body_b"]) if b != i})
        now = self._bodies
        state = (*now.position[i], *now.orientation[i], *now.twist[i], *now.force[i])
        where = "the last good state is kept" if np.all(np.isfinite(state)) else "set its pose, velocity and forces anew"
        what = (
            "is not finite"
            if not self._pipeline.parts.arrays.failed_far
            else "is so far away, or turns so fast, that numbers no longer tell its points apart"
        )
        explicit = self._keywords["integrator"] == "rk4"
        springs = explicit_springs(joints, self._scene, self._joints, self.substep) if explicit else ""
        return (
            f"step {self._pipeline.steps + 1} (t = {self.time + self.dt:.6g} s): the state of body {name!r} {what}; "
            f"joints on it: {', '.join(joints) or 'none'}; contacts with: {', '.join(others) or 'none'}; "
            f"{where}; {springs}a smaller dt, more substeps or milder forces may help"
        )

    def _prepare(self, points: bool = False) -> None:
        """Rows at the present state; points: with friction at every point."""
        while (status := self._pipeline.prepare(points)) == GROW:
            self._pipeline.parts.room.grow()
        if status == NOT_FINITE:
            error = SimulationError(self._explain_failure())
            complete(error, self)
            raise error

    # ---- state -------------------------------------------------------------------------------------------------------

    @property
    def _scene(self) -> Scene:
        return self._there.scene

    @property
    def _body_index(self) -> dict[str, int]:
        return self._there.body_index

    @property
    def _joint_index(self) -> dict[str, int]:
        return self._there.joint_index

    @property
    def scene(self) -> Scene:
        """The world's own copy of its scene: the bodies and joints that there are, as they were when they were added.
        To be read; scene.copy() is one to change."""
        scene, shown = self._scene, self._shown_scene
        if shown is None or shown[0] is not scene:
            shown = self._shown_scene = scene, scene.numbered().frozen()
        return shown[1]

    def __setattr__(self, name: str, value: Any) -> None:
        """A name that says nothing to a world is an error, not another attribute. Classes of the user's own may have
        some."""
        if (
            name.startswith("_")
            or _may_be_set(getattr(type(self), name, None))
            or not type(self).__module__.startswith("mcsim.")
        ):
            return object.__setattr__(self, name, value)
        kind = type(self).__name__
        if name in self._keywords or name == "joints":
            raise AttributeError(
                f"{kind}.{name} is a setting from the beginning on; make another {kind} of world.scene.copy()"
            )
        if isinstance(getattr(self, name, None), np.ndarray):
            raise AttributeError(f"{kind}.{name} is an array of the state, to be written into: world.{name}[...] = …")
        public = [key for key in dir(type(self)) if not key.startswith("_")]
        settable = [key for key in public if getattr(getattr(type(self), key), "fset", None) is not None]
        what = "is read only" if hasattr(type(self), name) else "is not there" + suggestion(name, public)
        raise AttributeError(
            f"{kind}.{name} {what}; what may be set: {', '.join(settable)}, and what change_settings takes; "
            "the arrays are written into, set_pose, set_body and their like change the rest"
        )

    @property
    def substep(self) -> float:
        """h = dt / substeps [s]."""
        return self._keywords["dt"] / self._keywords["substeps"]

    @property
    def time(self) -> float:
        """[s]"""
        return self._there.pipeline.time

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
        return self._shown().position.view()

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) view: unit quaternions (w, x, y, z), body axes into the world."""
        return self._shown().orientation.view()

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) view: of the centres of mass, world axes [m/s]."""
        return self._shown().twist[:, :3]

    @property
    def angular_velocities(self) -> np.ndarray:
        """(n, 3) view: world axes [rad/s]."""
        return self._shown().twist[:, 3:]

    @property
    def forces(self) -> np.ndarray:
        """(n, 6) view: force and torque about the centre of mass for the next step() call, world axes [N, N m]."""
        return self._shown().force.view()

    @property
    def masses(self) -> np.ndarray:
        """(n,) [kg]; 0 unless dynamic."""
        return self._there.bodies.mass.copy()

    def _shown(self) -> BodyArrays:
        """The bodies' arrays, of which the user is given a view."""
        bodies = self._there.bodies
        bodies.watch.tell_all()
        return bodies

    def _arrays(self) -> There:
        """There, the arrays as the state has them: for who looks at them at any time."""
        return self._there

    @staticmethod
    def _as_shown(name: str, array: np.ndarray) -> np.ndarray:
        """What a user gets to see of an array of the bodies' state, by its name."""
        return array

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """-> positions (n, 3) [m], orientations (n, 4) of the frames in which the user placed the bodies' shapes."""
        with self._turn.look("frames"):
            q = self._bodies.orientation
            return self._bodies.position - turned(matrices(q), self._bodies.center_of_mass), q.copy()


def _may_be_set(attribute: Any) -> bool:
    """Whether an attribute of a class is one that takes another value."""
    return isinstance(attribute, Setting) or getattr(attribute, "fset", None) is not None


def _set_gears(joints: np.ndarray, pipeline: Pipeline) -> None:
    """What a gear keeps, where that is left to the pose at which it is added."""
    added = np.flatnonzero(np.isnan(joints["constant"]))
    if not len(added):
        return
    measured = pipeline.space.measured()
    for i in added:
        (a, b), axes = joints["geared"][i], joints["geared_axis"][i]
        q_a, q_b = (measured["axes"]["position"][j, k] for j, k in zip((a, b), axes))
        joints["constant"][i] = q_a + joints["ratio"][i] * q_b
