"""What goes with what: one record for each solver, stabilization, integrator and kind of contact, and the check of each
keyword's value. Lists of names, defaults and messages are made of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcsim.event.methods import METHODS
from mcsim.scene.checks import FieldError, choose, count, flag, not_negative, positive, within
from mcsim.solve import SOLVERS as SWEEPERS
from mcsim.solve.problems import MODEL_DESCRIPTIONS, SOLVERS as LABORATORY
from mcsim.solve.problems.impacts import LAWS, ORDERS

FRICTIONS = {"pyramid": 0, "cone": 1}
FRICTION_POINTS = {"point": 0, "central": 1}
JOINT_SOLVERS = ("tree", "rows")
COMPLIANT_LAWS = {"linear": 0, "hunt_crossley": 1}
STOPS = ("iterations", "residual")

MOST_SUBSTEPS = 10_000
MOST_ITERATIONS = 1_000_000
MOST_MORE = 250
MOST_THREADS = 64


@dataclass(frozen=True)
class Goes:
    """Which names of another setting go with an entry. told: what a message says of the others after "'x' does not go
    with integrator='y'"; also: what it adds of some of them."""

    names: tuple[str, ...]
    told: str
    also: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Solver:
    """code: what Settings.solver holds; None: known to the laboratory alone. most, models: iterations by default and
    models of contact, of the laboratory. reads: the keywords that it reads, of those that not all do. goes: with which
    names of other settings, where not with all."""

    code: int | None
    reads: tuple[str, ...]
    goes: Mapping[str, Goes] = field(default_factory=dict)
    most: int | None = None
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stabilization:
    """code: what Settings.stabilization holds. reads: the keywords that it reads, of those that not all do;
    reduced_reads: in a ReducedWorld, None where that does not have it. sweeps: iterations by default. relaxes: whether
    a substep ends with a pass without bias. displaces: whether errors are mended by a displacement of their own, not by the
    rows' velocities."""

    code: int
    reads: tuple[str, ...]
    reduced_reads: tuple[str, ...] | None = None
    sweeps: int = 8
    reduced_sweeps: int = 8
    relaxes: bool = False
    displaces: bool = False


@dataclass(frozen=True)
class Integrator:
    """code: what Settings.integrator holds; None: not one of World's steps. goes: with which names of other settings,
    where not with all. contacts: with which kinds. reduced: whether ReducedWorld has it. sleeps: whether bodies may
    sleep. own_joints: whether it solves joints by itself, so that no joint_solver is chosen. closes: whether it
    closes them at positions. smooth: whether it follows accelerations, which hold joints closed. tolerant: whether in steps
    as long as a tolerance allows, so that what has bounds, or touches, is refused."""

    code: int | None
    goes: Mapping[str, Goes] = field(default_factory=dict)
    contacts: tuple[str, ...] = ("rigid",)
    reduced: bool = False
    sleeps: bool = False
    own_joints: bool = True
    closes: bool = False
    smooth: bool = False
    tolerant: bool = False


@dataclass(frozen=True)
class Contact:
    """goes: with which names of other settings, where not with all. sweeps: iterations by default, where not those of
    the stabilization. sleeps: whether bodies may sleep."""

    goes: Mapping[str, Goes] = field(default_factory=dict)
    sweeps: int | None = None
    sleeps: bool = False


# ---- the entries -----------------------------------------------------------------------------------------------------

OF_SWEEPS = (
    "iterations",
    "first_iterations",
    "more_iterations",
    "least_iterations",
    "stop",
    "tolerance",
    "friction",
    "friction_points",
)
OF_LABORATORY = ("iterations", "contact_model", "stop", "tolerance")
_SWEPT = {"joint_solver": Goes(("rows",), ": pass joint_solver='rows', or solver='si'")}
SOLVER_TABLE = {name: Solver(code, OF_SWEEPS, {} if name == "si" else _SWEPT) for name, code in SWEEPERS.items()}
LABORATORY_TABLE = {
    name: Solver(None, OF_LABORATORY, most=most, models=models) for name, (most, models, _) in LABORATORY.items()
}
ALL_SOLVERS = tuple(dict.fromkeys((*SOLVER_TABLE, *LABORATORY_TABLE)))

OF_SPRINGS = ("hertz", "damping_ratio", "push_speed", "joint_hertz", "joint_damping_ratio")
OF_BIAS = ("baumgarte", "slop", "push_speed")
OF_ROUNDS = ("slop", "push_speed", "position_rounds")
STABILIZATION_TABLE = {
    "none": Stabilization(0, (), ()),
    "baumgarte": Stabilization(1, OF_BIAS, OF_BIAS),
    "soft": Stabilization(2, OF_SPRINGS, OF_SPRINGS, 4, 4, relaxes=True),
    "split_impulse": Stabilization(3, OF_BIAS, displaces=True),
    # In a ReducedWorld it is for loops, and limits and contacts are soft.
    "projection": Stabilization(4, OF_ROUNDS, OF_SPRINGS, reduced_sweeps=4, relaxes=True, displaces=True),
    "ggl": Stabilization(5, OF_ROUNDS, relaxes=True, displaces=True),
}
STABILIZATIONS = {name: entry.code for name, entry in STABILIZATION_TABLE.items()}
REDUCED_STABILIZATIONS = tuple(name for name, entry in STABILIZATION_TABLE.items() if entry.reduced_reads is not None)
RELAXING = tuple(name for name, entry in STABILIZATION_TABLE.items() if entry.relaxes)

RK4_STABILIZATIONS = ("none", "baumgarte", "soft", "projection")
# Of those that close joints at the level of positions by themselves a stabilization is only for limits and contacts.
POSITION_STABILIZATIONS = ("none", "baumgarte", "soft")
_CLOSES_JOINTS = {
    "stabilization": Goes(
        POSITION_STABILIZATIONS,
        ", which closes joints by itself; for limits and contacts it takes " + ", ".join(POSITION_STABILIZATIONS),
    ),
    "solver": Goes(("si",), ": pass solver='si'"),
}
_DIRECT = {
    "solver": Goes(("si", "pgs"), ": pass integrator='semi_implicit'"),
    "joint_solver": Goes(("rows",), ", which has its own direct solver: pass joint_solver='rows'"),
    "stabilization": Goes(RK4_STABILIZATIONS, f"; it takes {', '.join(RK4_STABILIZATIONS)}"),
}
INTEGRATOR_TABLE = {
    "semi_implicit": Integrator(0, contacts=("rigid", "compliant"), reduced=True, sleeps=True, own_joints=False),
    "rk4": Integrator(1, _DIRECT, reduced=True, smooth=True),
    "rattle": Integrator(2, _CLOSES_JOINTS, closes=True),
    "variational": Integrator(3, _CLOSES_JOINTS, closes=True),
    "reference": Integrator(1, _DIRECT, reduced=True, smooth=True, tolerant=True),
    "radau": Integrator(1, _DIRECT, reduced=True, smooth=True, tolerant=True),
    "bdf": Integrator(1, _DIRECT, reduced=True, smooth=True, tolerant=True),
} | {name: Integrator(None, contacts=("event",), reduced=True) for name in METHODS}
IMPLICIT = {"radau": 1, "bdf": 2}  # of the Settings record
INTEGRATORS = {name: entry.code for name, entry in INTEGRATOR_TABLE.items() if entry.code is not None}
REDUCED_INTEGRATORS = tuple(name for name, entry in INTEGRATOR_TABLE.items() if entry.reduced and "rigid" in entry.contacts)
EVENT_INTEGRATORS = tuple(name for name, entry in INTEGRATOR_TABLE.items() if "event" in entry.contacts)
POSITION_INTEGRATORS = tuple(name for name, entry in INTEGRATOR_TABLE.items() if entry.closes)

_HALVES = ", whose forces act in the two halves of a substep around its drift: pass "
CONTACT_TABLE = {
    "rigid": Contact({"impacts": Goes(("sequential",), "; it goes with contact='event'")}, sleeps=True),
    # Each point is a spring of its own, in a step of two halves (docs/theory/compliant.md). With 4 sweeps a block on
    # four springs, 10^4 times too fast for the substep, never came to rest.
    "compliant": Contact(
        {
            "impacts": Goes(("sequential",), "; it goes with contact='event'"),
            "restitution_law": Goes((), ", whose damping takes its place"),
            "integrator": Goes(
                ("semi_implicit",), _HALVES + "integrator='semi_implicit'", {"rk4": ", or use ReducedWorld, which takes it"}
            ),
            "stabilization": Goes(("soft",), _HALVES + "stabilization='soft'"),
            "solver": Goes(
                ("si", "pgs"),
                ", where half of a point's impulse is given by the other half: pass solver='si' "
                "or 'pgs'; mc.solve(world.problem(), solver=...) solves the first half by any",
            ),
        },
        sweeps=8,
    ),
    "event": Contact({"solver": Goes(("si",), ", which has LCPs of its own: leave it out")}),
}
CONTACTS = tuple(CONTACT_TABLE)

# ---- values ----------------------------------------------------------------------------------------------------------


def one_of(names: Iterable[str]) -> Callable[[Any, str], str]:
    """The check of a name."""
    return lambda value, name: choose(value, names, name)


def _iterations(value: Any, name: str) -> int:
    return count(value, name, 1, MOST_ITERATIONS)


CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "dt": positive,
    "substeps": partial(count, lowest=1, highest=MOST_SUBSTEPS),
    "solver": one_of(ALL_SOLVERS),
    "joint_solver": one_of(JOINT_SOLVERS),
    "contact_model": one_of(MODEL_DESCRIPTIONS),
    "stop": one_of(STOPS),
    "tolerance": not_negative,
    "reference_tolerance": lambda value, name: within(value, 1e-15, 1e-2, name),
    "reference_creep": positive,
    "geometric_stiffness": not_negative,
    "stabilization": one_of(STABILIZATIONS),
    "friction": one_of(FRICTIONS),
    "friction_points": one_of(FRICTION_POINTS),
    "compliant_law": one_of(COMPLIANT_LAWS),
    "contact": one_of(CONTACTS),
    "impacts": one_of(ORDERS),
    "restitution_law": one_of(LAWS),
    "iterations": _iterations,
    "first_iterations": _iterations,
    "least_iterations": _iterations,
    "position_rounds": _iterations,
    "more_iterations": partial(count, lowest=0, highest=MOST_MORE),
    "baumgarte": lambda value, name: within(value, 0.0, 1.0, name),
    "hertz": not_negative,
    "damping_ratio": not_negative,
    "joint_hertz": not_negative,
    "joint_damping_ratio": not_negative,
    "slop": not_negative,
    "restitution_threshold": not_negative,
    "speculative_distance": not_negative,
    "push_speed": not_negative,
    "joint_push_speed": not_negative,
    "sleep": flag,
    "sleep_time": positive,
    "sleep_speed": positive,
    "threads": partial(count, lowest=1, highest=MOST_THREADS),
    "strict": flag,
}

# Keywords that say nothing of what a record holds: World.change_settings takes them.
CHANGEABLE = (
    "substeps",
    "iterations",
    "first_iterations",
    "least_iterations",
    "more_iterations",
    "position_rounds",
    "stop",
    "tolerance",
    "baumgarte",
    "hertz",
    "damping_ratio",
    "push_speed",
    "slop",
    "joint_hertz",
    "joint_damping_ratio",
    "joint_push_speed",
    "restitution_threshold",
    "speculative_distance",
    "sleep_speed",
    "sleep_time",
    "threads",
    "strict",
)


def follows_accelerations(k: Mapping[str, Any]) -> bool:
    """Whether the integrator that is named, if one is, holds joints closed by accelerations."""
    return k["integrator"] in INTEGRATOR_TABLE and INTEGRATOR_TABLE[k["integrator"]].smooth


def of_bounds(k: Mapping[str, Any]) -> str:
    """The stabilization of limits and contacts: what Runge-Kutta projects are joints alone, and those are soft then."""
    projects = k["stabilization"] == "projection" and follows_accelerations(k)
    return "soft" if projects else str(k["stabilization"])


def check(k: dict[str, Any], *names: str) -> None:
    """Values by these names, each checked in its place."""
    for name in names:
        k[name] = CHECKS[name](k[name], name)


def check_given(k: dict[str, Any], *names: str) -> None:
    """Likewise of those that are not None."""
    check(k, *(name for name in names if k[name] is not None))


def solver_of(k: Mapping[str, Any]) -> Solver:
    """The record of a solver, beside its model of contact: which one makes Gauss-Seidel the laboratory's."""
    if k["solver"] in SOLVER_TABLE and k["contact_model"] is None:
        return SOLVER_TABLE[k["solver"]]
    return LABORATORY_TABLE.get(k["solver"]) or SOLVER_TABLE[k["solver"]]


def check_goes(k: Mapping[str, Any], what: str, goes: Mapping[str, Goes], *names: str) -> None:
    """Refuse what does not go with the entry k[what], of the settings `names` that are not None."""
    for name in names:
        if name not in goes or k[name] is None:
            continue
        exact = name == "solver" and solver_of(k).code is None
        if exact or k[name] not in goes[name].names:
            raise FieldError(
                name, f"{k[name]!r} does not go with {what}={k[what]!r}{goes[name].told}{goes[name].also.get(k[name], '')}"
            )


def check_model(k: Mapping[str, Any]) -> None:
    """Refuse a model of contact that the solver does not solve."""
    model, solver = k["contact_model"], k["solver"]
    if model is None:
        return
    if solver not in LABORATORY_TABLE:
        raise FieldError(
            "contact_model",
            f"goes with a solver of the laboratory, not with {solver!r}: pass solver= one of {', '.join(LABORATORY_TABLE)}",
        )
    CHECKS["contact_model"](model, "contact_model")
    if model not in LABORATORY_TABLE[solver].models:
        raise FieldError(
            "contact_model",
            f"{model!r} is not solved by {solver}, which takes {', '.join(LABORATORY_TABLE[solver].models)}",
        )
