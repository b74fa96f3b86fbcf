"""What World's keywords `contact`, `joints`, `integrator` and `sleep` take beside a name: small objects that hold what
belongs together. None is what is left alone; `world.settings` has the objects with the values in use. Each is checked
when it is made: SceneError for a wrong value, and for what does not go together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from mcsim.scene.calls import explain_methods
from mcsim.scene.checks import FieldError, flag
from mcsim.world.capabilities import (
    CHECKS,
    CONTACT_TABLE,
    OF_BIAS,
    OF_LABORATORY,
    OF_ROUNDS,
    OF_SPRINGS,
    OF_SWEEPS,
    STABILIZATION_TABLE,
    check_goes,
    check_model,
    solver_of,
)

SolverName = Literal["si", "pgs", "admm", "newton", "ipm", "staggered", "nncg", "jacobi", "apgd", "bb", "lemke", "dantzig"]
StabilizationName = Literal["none", "baumgarte", "soft", "split_impulse", "projection", "ggl"]
IntegratorName = Literal[
    "semi_implicit", "rk4", "reference", "radau", "bdf", "rattle", "variational", "dopri", "euler", "heun"
]
ReducedIntegratorName = Literal["semi_implicit", "rk4", "reference", "radau", "bdf", "dopri", "euler", "heun"]
ContactName = Literal["rigid", "compliant", "event"]
JointsName = Literal["direct", "rows"]
JointSolverName = Literal["tree", "rows"]
FrictionName = Literal["cone", "pyramid"]
FrictionPointsName = Literal["central", "point"]
ModelName = Literal["ncp", "ccp", "pyramid", "frictionless"]
StopName = Literal["iterations", "residual"]
LawName = Literal["stronge", "newton", "poisson"]
CompliantLawName = Literal["linear", "hunt_crossley"]
OrderName = Literal["simultaneous", "sequential"]


class Choice:
    """What all of these objects share.

    keyword: of World, which takes it. says: keyword -> value that the object stands for by being there. names: field ->
    keyword that says the same, where that is called otherwise. checks: field -> check of its value.
    """

    keyword: ClassVar[str]  # the keyword of World that takes it
    says: ClassVar[Mapping[str, Any]]  # keyword -> value that it stands for by being there
    names: ClassVar[Mapping[str, str]] = {}  # field -> keyword of its own, where that is called otherwise
    checks: ClassVar[
        Mapping[str, Callable[[Any, str], Any]]
    ] = {}  # field -> check of its value, where no keyword says the same

    def __post_init__(self) -> None:
        try:
            for field, keyword in self.keywords().items():
                value = getattr(self, field)
                if value is not None:
                    object.__setattr__(self, field, (self.checks.get(field) or CHECKS[keyword])(value, field))
            self._check()
        except FieldError as error:
            raise error.within(type(self).__name__) from None

    def _check(self) -> None:
        """Refuse what does not go together."""

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Field -> the keyword that says the same."""
        return {field.name: cls.names.get(field.name, field.name) for field in fields(cls)}  # type: ignore[arg-type]  # kinds are dataclasses

    def given(self) -> dict[str, Any]:
        """Field -> value, of those that are not left alone."""
        return {field: value for field in self.keywords() if (value := getattr(self, field)) is not None}

    def spread(self) -> dict[str, tuple[str, Any]]:
        """Keyword -> (field, value), of those that are not left alone."""
        keywords = self.keywords()
        return {keywords[field]: (field, value) for field, value in self.given().items()}

    def _refuse(self, told: str, known: tuple[str, ...], read: tuple[str, ...]) -> None:
        """Refuse given fields of `known` that are not `read`."""
        for field in self.given():
            if field in known and field not in read:
                own = ", ".join(name for name in read if name in self.keywords()) or "none of them"
                raise FieldError(field, f"does not go with {told}, which reads {own}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


# ---- contact ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False)
class RigidContact(Choice):
    """contact="rigid": bodies touch by rows. What is left at None has the default named here.

    With dt the step, h a substep [s], g gravity, t the thickness of the thinner of two shapes.

    solver: "si" (the default: sequential impulses, matrix-free), "pgs" (Gauss-Seidel on the assembled J M^-1 J'), or
        one of the laboratory, mcsim.solve.problems.SOLVERS: each pass of a substep is then a Problem, friction at every
        point, solved by it; exact, and slow.
    iterations: sweeps of each pass of a substep (biased, relax, position rounds); 4 with "soft", else 8. Of a solver of
        the laboratory: its most, by default its own.
    first_iterations: likewise of the first step, which has no impulses to begin with; the next step takes half of them,
        and so on. 64 times as many where `iterations` is left alone, else as many.
    more_iterations: so many more in a relax pass, at most, over contacts of bodies that are outweighed ten times by
        what they touch, and what joints hold them, where a sweep still changes a velocity by more than 0.02 g h,
        without gravity t / (120000 h). 128, with stop="residual" 0. World alone.
    least_iterations: a pass ends after so many sweeps for bodies in touch with each other, and without joints, where
        the last one has changed no velocity by more than 2^-18 of that. 1 where `iterations` is left alone and `stop`
        not "residual", else all. Where contacts do not go several at a time (docs/step.md) a pass always has all. World
        alone.
    contact_model: of the laboratory: "ncp" (the default), "ccp", "pyramid", "frictionless" (help(mcsim.solve)). With
        solver "pgs" a model makes that the laboratory's.
    stop: "iterations", or "residual" (the default of the laboratory, or with a tolerance): at `tolerance` [m/s, N s,
        J], 1e-6, of each residual, with si and pgs of the natural map, but after `iterations`, then 1,000, at the
        latest.
    stabilization: "soft" (the default: springs of `hertz` and `damping_ratio`, then a relax pass), "baumgarte" (bias
        beta C / h), "split_impulse" (beta C is mended beside the velocities), "projection" (poses and velocities
        projected after the drift), "ggl" (the drift ends without errors, velocities projected), "none" (errors stay);
        of joints too (docs/theory/stabilization.md).
    position_rounds: position solves a substep of projection and ggl, 2. World alone.
    baumgarte: beta, the part of an error that baumgarte and split_impulse remove a substep, 0 to 1; 0.2.
    hertz [Hz], damping_ratio: of soft contacts; 0.52 / h (less with fewer than 4 iterations), and 2, which makes 10
        where they rest (E. Catto, "Solver2D", 2024).
    slop [m]: overlap that all but soft and none leave; 0.0005 t.
    push_speed [m/s]: the fastest at which an overlap is pushed apart; 2 t / s + 24.5 g h.
    friction: "cone" (the default) or "pyramid"; friction_points: "central" (the default: one a manifold, with twist) or
        "point".
    restitution_law: of impacts with friction, of joints too (docs/theory/impacts.md): "stronge" (the default: the work
        of the normal impulse comes back by e^2; gains no energy), "newton" (the speed comes back by e), "poisson" (the
        impulse does). restitution_threshold [m/s]: slower impacts do not bounce; 3 g dt.
    speculative_distance [m]: contacts exist from this separation on; t / 50, or the least of 7.34 g dt^2 and t / 4 if
        that is more.

    SceneError where a value is wrong, or is not read by the solver or the stabilization that is chosen.
    """

    solver: SolverName | None = None
    iterations: int | None = None
    first_iterations: int | None = None
    more_iterations: int | None = None
    least_iterations: int | None = None
    contact_model: ModelName | None = None
    stop: StopName | None = None
    tolerance: float | None = None
    stabilization: StabilizationName | None = None
    position_rounds: int | None = None
    baumgarte: float | None = None
    hertz: float | None = None
    damping_ratio: float | None = None
    slop: float | None = None
    push_speed: float | None = None
    friction: FrictionName | None = None
    friction_points: FrictionPointsName | None = None
    restitution_law: LawName | None = None
    restitution_threshold: float | None = None
    speculative_distance: float | None = None

    keyword: ClassVar[str] = "contact"
    says: ClassVar[Mapping[str, Any]] = {"contact": "rigid"}

    def _check(self) -> None:
        solver = self.solver or "si"
        k = {"solver": solver, "contact_model": self.contact_model}
        check_model(k)
        self._refuse(
            f"solver={solver!r}" + ("" if self.contact_model is None else " of the laboratory"),
            (*OF_SWEEPS, *OF_LABORATORY),
            solver_of(k).reads,
        )
        _check_stop(self)
        entry = STABILIZATION_TABLE[self.stabilization or "soft"]
        self._refuse(
            f"stabilization={self.stabilization or 'soft'!r}",
            (*OF_SPRINGS, *OF_BIAS, *OF_ROUNDS),
            tuple(dict.fromkeys((*entry.reads, *(entry.reduced_reads or ())))),
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class CompliantContact(Choice):
    """contact="compliant": every contact point is a spring and a damper without mass, as the materials say
    (mc.Material(stiffness=..., damping=...); docs/theory/compliant.md), with f >= 0 and Coulomb friction on a
    tangential spring and damper. Nothing sleeps or bounces by restitution; friction is that of each point. Under
    "semi_implicit" and the stabilization "soft" only, which is that of joints and limits.

    law: "linear" (the default), f = k z + d dz/dt, or "hunt_crossley", f = k z (1 + chi dz/dt) (K. Hunt and F. Crossley,
        1975), z the overlap [m].
    solver: "si" or "pgs". iterations: sweeps of each half of a substep, 8.
    first_iterations, more_iterations, least_iterations, stop, tolerance, friction, speculative_distance: as of
        RigidContact.

    SceneError where a value is wrong, or the solver is another.
    """

    law: CompliantLawName | None = None
    solver: Literal["si", "pgs"] | None = None
    iterations: int | None = None
    first_iterations: int | None = None
    more_iterations: int | None = None
    least_iterations: int | None = None
    stop: StopName | None = None
    tolerance: float | None = None
    friction: FrictionName | None = None
    speculative_distance: float | None = None

    keyword: ClassVar[str] = "contact"
    says: ClassVar[Mapping[str, Any]] = {"contact": "compliant"}
    names: ClassVar[Mapping[str, str]] = {"law": "compliant_law"}

    def _check(self) -> None:
        check_goes(
            {"contact": "compliant", "solver": self.solver or "si", "contact_model": None},
            "contact",
            CONTACT_TABLE["compliant"].goes,
            "solver",
        )
        _check_stop(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class EventContact(Choice):
    """contact="event": smooth motion between impacts and other events that are located to rounding, contact forces by
    LCPs over accelerations (docs/theory/event_driven.md; `world.event_log`), for studies of tens of bodies. Beside it
    only dt, substeps (1) and integrator are read: "dopri" (the default; fifth order, its polynomial fourth), "heun" (2)
    or "euler" (1), a step a substep or between events. Joints are closed after each. Nothing sleeps.

    impacts: of what closes at the same time: "simultaneous" (the default) or "sequential".
    restitution_law: "stronge" (the default), "newton" or "poisson", as of RigidContact.

    SceneError where a value is wrong.
    """

    impacts: OrderName | None = None
    restitution_law: LawName | None = None

    keyword: ClassVar[str] = "contact"
    says: ClassVar[Mapping[str, Any]] = {"contact": "event"}


def _check_stop(contact: RigidContact | CompliantContact) -> None:
    if contact.stop == "iterations" and contact.tolerance is not None:
        raise FieldError("tolerance", "goes with stop='residual', not with 'iterations'")


# ---- joints, integrators, sleep --------------------------------------------------------------------------------------

OF_JOINTS = {"hertz": "joint_hertz", "damping_ratio": "joint_damping_ratio", "push_speed": "joint_push_speed"}


@dataclass(frozen=True, kw_only=True, repr=False)
class _OfJoints(Choice):
    """What joints, or an integrator that solves them by itself, have for springs and speeds of theirs and of their
    limits."""

    hertz: float | None = None
    damping_ratio: float | None = None
    push_speed: float | None = None

    names: ClassVar[Mapping[str, str]] = OF_JOINTS


@dataclass(frozen=True, kw_only=True, repr=False)
class DirectJoints(_OfJoints):
    """joints="direct": all joints at once by a sparse factorization, closed at the end of every drift
    (docs/theory/tree.md). The default where a scene's loops do not make a factorization too dear. Not with solver
    "pgs", nor with an integrator that has a solver of its own; ReducedWorld has no such joints.

    What bounds them stays rows, swept with the contacts. Under "soft" a limit is pushed back as a spring is:
    hertz [Hz], damping_ratio: 1 / (4 h), h the substep [s], and 2.
    push_speed [m/s, rad/s]: the fastest at which a joint or a limit is closed; 3 l / s + 0.1 sqrt(g l), and of angles
        that over l: l twice the longest lever, or radius of gyration, of those bodies of the joint that move.

    SceneError where a value is wrong.
    """

    keyword: ClassVar[str] = "joints"
    says: ClassVar[Mapping[str, Any]] = {"joint_solver": "tree"}


@dataclass(frozen=True, kw_only=True, repr=False)
class SweptJoints(_OfJoints):
    """joints="rows": joint by joint, swept with the contacts. The default with solver "pgs", which has no other, and in
    a net whose loops make a factorization too dear. In a ReducedWorld these are the joints that close loops.

    hertz [Hz], damping_ratio: of soft joints and limits, 1 / (4 h), h the substep [s], and 2.
    push_speed [m/s, rad/s]: as of DirectJoints.

    SceneError where a value is wrong.
    """

    keyword: ClassVar[str] = "joints"
    says: ClassVar[Mapping[str, Any]] = {"joint_solver": "rows"}


@dataclass(frozen=True, kw_only=True, repr=False)
class RK4(_OfJoints):
    """integrator="rk4": classical Runge-Kutta over the KKT accelerations, fourth order, for smooth systems, with a
    direct solver of its own for joints (docs/theory/rk4.md). Limits, joint friction, velocity motors and contacts act
    as impulses around each substep, first order. Nothing sleeps.

    projection: True, the default: joints are projected onto their constraints at the end of each substep, poses and
        velocities, which is the stabilization "projection"; limits and contacts are soft. False: joints are drawn back
        by feedback, as the stabilization says: "soft", "baumgarte" or "none".
    hertz [Hz], damping_ratio: of the feedback of "soft", which they choose where no stabilization is named, and of
        limits: by default the least of 0.03 / h and 2 Hz, h the substep [s], and 2; of limits alone 1 / (4 h) and 2.
    push_speed [m/s, rad/s]: as of DirectJoints, of limits.

    SceneError where a value is wrong, or the feedback is too fast for the substep.
    """

    projection: bool | None = None

    keyword: ClassVar[str] = "integrator"
    says: ClassVar[Mapping[str, Any]] = {"integrator": "rk4"}
    checks: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {"projection": flag}

    def spread(self) -> dict[str, tuple[str, Any]]:
        found = super().spread()
        if found.pop("projection", (None, False))[1]:
            found["stabilization"] = "projection", "projection"
        return found


@dataclass(frozen=True, kw_only=True, repr=False)
class _Tolerant(Choice):
    """What integrators have that follow a tolerance."""

    tolerance: float | None = None
    creep: float | None = None

    keyword: ClassVar[str] = "integrator"
    names: ClassVar[Mapping[str, str]] = {"tolerance": "reference_tolerance", "creep": "reference_creep"}


@dataclass(frozen=True, kw_only=True, repr=False)
class DOP853(_Tolerant):
    """integrator="reference": what other runs are measured by. Dormand and Prince's method of order 8 over the KKT
    accelerations, in steps as long as its own estimate of the error allows, however long the substep is; joints are
    projected before each stage (docs/theory/rk4.md; E. Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential
    Equations I, 1993). For smooth motions: trees and loops, gears, springs, damping, prescribed motions, joints of your
    own. Joint friction, and motors with a velocity and a bound, act by a smooth law (docs/theory/joint_friction.md);
    motors for a position, or without a bound, by the acceleration that they ask for (docs/theory/motor.md). Limits and
    contacts are refused by name. Nothing sleeps. Where explicit steps become many, Radau's method is tried for the rest of
    a substep, and kept if its steps are longer.

    tolerance: of the error of a step, absolute and relative, of poses [m, rad] and velocities [m/s, rad/s]: 1e-13.
    creep: [m/s, rad/s] how fast what joint friction holds creeps under 0.7 of the friction, and how far from its velocity a
        motor is that gives 0.7 of its force: 1e-3. Half of it, half the creep and twice the steps.

    SceneError where a value is wrong.
    """

    says: ClassVar[Mapping[str, Any]] = {"integrator": "reference"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Radau(_Tolerant):
    """integrator="radau": the same motion as "reference" by an implicit method, for what is stiff: strong dampers, stiff
    springs, joint friction. Radau's method of five stages, of order 9; all stages by Newton's method, with a Jacobian that
    is analytic for trees of a ReducedWorld, else by differences of the accelerations (docs/theory/rk4.md; E. Hairer, G.
    Wanner, Solving Ordinary Differential Equations II, 1996). Near singular poses the explicit method goes on. A step's
    cost grows with the cube of the numbers that move: 12 a body in World, 2 a coordinate in ReducedWorld.

    tolerance, creep: as of DOP853.

    SceneError where a value is wrong.
    """

    says: ClassVar[Mapping[str, Any]] = {"integrator": "radau"}


@dataclass(frozen=True, kw_only=True, repr=False)
class BDF(_Tolerant):
    """integrator="bdf": the same motion as "reference" by backward differentiation formulas of orders 1 to 5, in the form
    of Shampine and Reichelt, that choose their order and their step, with a Jacobian as Radau has it
    (docs/theory/rk4.md; E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 1996). A step takes few
    evaluations, and equations of the numbers that move, a fifth as many as Radau's; steps are many where the tolerance is
    small, and each substep begins with order 1. It is for what is stiff, over long substeps, and a method of another kind
    to compare Radau's with. Where mechanisms pass singular poses take "reference".

    tolerance, creep: as of DOP853.

    SceneError where a value is wrong.
    """

    says: ClassVar[Mapping[str, Any]] = {"integrator": "bdf"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Rattle(_OfJoints):
    """integrator="rattle": joints closed at positions by a solver of their own, symplectic, second order, energy within
    a band for good (H. Andersen, 1983; docs/theory/variational.md). What has bounds acts as impulses around each
    substep, with the stabilization "none", "baumgarte" or "soft" for that only. SimulationError where joints cannot be
    closed. Nothing sleeps. World alone.

    hertz [Hz], damping_ratio, push_speed [m/s, rad/s]: of limits, as of DirectJoints.

    SceneError where a value is wrong.
    """

    keyword: ClassVar[str] = "integrator"
    says: ClassVar[Mapping[str, Any]] = {"integrator": "rattle"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Variational(_OfJoints):
    """integrator="variational": as Rattle, by quaternion increments (docs/theory/variational.md). World alone.

    hertz [Hz], damping_ratio, push_speed [m/s, rad/s]: of limits, as of DirectJoints.

    SceneError where a value is wrong.
    """

    keyword: ClassVar[str] = "integrator"
    says: ClassVar[Mapping[str, Any]] = {"integrator": "variational"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Sleep(Choice):
    """sleep=True: bodies that have been slower than `speed` for `time`, against what they lie on, which stands still or
    is kinematic and moves steadily without turning, sleep with all that they touch and that rests: they go with it and
    cost next to nothing until something touches or changes one of them (`world.asleep`, `world.wake`;
    docs/theory/sleeping.md). Beside what moves slowly its neighbours alone stay awake. What hangs on joints alone never
    sleeps. With contact "rigid" and integrator "semi_implicit" only.

    speed [m/s]: the least of 0.06 g dt and 0.014 sqrt(g r), at least r / 100 s, r how far the body reaches from its
        centre, g gravity.
    time [s]: 0.5.

    SceneError where a value is not positive.
    """

    speed: float | None = None
    time: float | None = None

    keyword: ClassVar[str] = "sleep"
    says: ClassVar[Mapping[str, Any]] = {"sleep": True}
    names: ClassVar[Mapping[str, str]] = {"speed": "sleep_speed", "time": "sleep_time"}


Kinds = Mapping[str, type[Choice]]  # by the name that is short for one
CONTACT_CHOICES: Kinds = {kind.says["contact"]: kind for kind in (RigidContact, CompliantContact, EventContact)}
JOINT_CHOICES: Kinds = {"direct": DirectJoints, "rows": SweptJoints}
INTEGRATOR_CHOICES: Kinds = {kind.says["integrator"]: kind for kind in (RK4, DOP853, Radau, BDF, Rattle, Variational)}
for _kind in (*CONTACT_CHOICES.values(), *JOINT_CHOICES.values(), *INTEGRATOR_CHOICES.values(), Sleep):
    explain_methods(_kind)  # made by dataclass, once the class was there
CHOICES: Mapping[str, Kinds] = {
    "contact": CONTACT_CHOICES,
    "joints": JOINT_CHOICES,
    "integrator": INTEGRATOR_CHOICES,
    "sleep": {"sleep": Sleep},
}
