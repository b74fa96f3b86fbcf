"""World's keywords by name: those that few need, what the objects of choices.py say in keywords, and the objects that
settings read back as.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

from mcsim.core.errors import SceneError
from mcsim.scene.checks import FieldError, choose, show, suggestion
from mcsim.world.capabilities import (
    CHECKS,
    CONTACT_TABLE,
    EVENT_INTEGRATORS,
    INTEGRATOR_TABLE,
    OF_BIAS,
    OF_LABORATORY,
    OF_ROUNDS,
    OF_SPRINGS,
    OF_SWEEPS,
    STABILIZATION_TABLE,
    follows_accelerations,
    of_bounds,
    solver_of,
)
from mcsim.world.choices import (
    CHOICES,
    CONTACT_CHOICES,
    INTEGRATOR_CHOICES,
    JOINT_CHOICES,
    RK4,
    Choice,
    CompliantContact,
    CompliantLawName,
    DirectJoints,
    EventContact,
    FrictionPointsName,
    LawName,
    ModelName,
    OrderName,
    RigidContact,
    Sleep,
    StopName,
    SweptJoints,
)


class ReducedMore(TypedDict, total=False):
    """The keywords of World and ReducedWorld that few need: the fields of the objects, each by its old name."""

    first_iterations: int | None
    contact_model: ModelName | None
    stop: StopName | None
    tolerance: float | None
    friction_points: FrictionPointsName
    baumgarte: float
    slop: float | None
    hertz: float | None
    damping_ratio: float
    joint_hertz: float | None
    joint_damping_ratio: float
    push_speed: float | None
    joint_push_speed: float | None
    restitution_threshold: float | None
    restitution_law: LawName | None
    speculative_distance: float | None
    compliant_law: CompliantLawName
    impacts: OrderName | None
    reference_tolerance: float
    reference_creep: float
    sleep_speed: float | None
    sleep_time: float


class More(ReducedMore, total=False):
    """Those of World alone."""

    more_iterations: int | None
    least_iterations: int | None
    position_rounds: int
    geometric_stiffness: float


# What is meant where a keyword is left alone; None: it follows from others (settings.py).
DEFAULTS: dict[str, Any] = dict.fromkeys(More.__annotations__) | {
    "solver": "si",
    "iterations": None,
    "joint_solver": None,
    "stabilization": "soft",
    "integrator": None,
    "friction": "cone",
    "friction_points": "central",
    "baumgarte": 0.2,
    "damping_ratio": 2.0,
    "joint_damping_ratio": 2.0,
    "position_rounds": 2,
    "sleep_time": 0.5,
    "compliant_law": "linear",
    "geometric_stiffness": 0.0,
    "reference_tolerance": 1e-13,
    "reference_creep": 1e-3,
}
OF_CONTACTS = {keyword for kind in CONTACT_CHOICES.values() for keyword in kind.keywords().values()}
OF_SOLVERS = {*OF_SWEEPS, *OF_LABORATORY}
OF_STABILIZATIONS = {*OF_SPRINGS, *OF_BIAS, *OF_ROUNDS}
OF_WORLD_ALONE = {name for name in More.__annotations__ if name not in ReducedMore.__annotations__}


def keyword_names(kind: Any) -> tuple[str, ...]:
    """All keywords of World or ReducedWorld."""
    own = inspect.signature(kind).parameters.values()
    return (*(p.name for p in own if p.kind is p.KEYWORD_ONLY), *kind._more.__annotations__)


def resolved_again(kind: Any, said: Mapping[str, Any], but: Iterable[str] = ()) -> dict[str, Any]:
    """As `resolved`, of all keywords that were given in one dict. but: those that are not looked at."""
    own = {
        name: said.get(name, parameter.default)
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in but
    }
    return resolved(kind, own, {name: value for name, value in said.items() if name in kind._more.__annotations__})


def resolved(kind: Any, own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """All keywords but `joints`, from those that are named in the constructor and the others: what objects hold is
    spread out, what is left alone has its default. SceneError where something is given twice, or does not go with an
    object."""
    for name in more:
        if name not in kind._more.__annotations__:
            names = keyword_names(kind)
            raise TypeError(
                f"{kind.__name__}: there is no keyword {show(name)}{suggestion(name, names)}; the keywords "
                f"are: {', '.join(names)}"
            )
    reduced = kind._more is ReducedMore
    try:
        choices = _choices(own)
        said = {
            name: value
            for name, value in own.items()
            if name not in choices and name != "joints" and (value is not None or name not in DEFAULTS)
        } | dict(more)
        given = said | _spread(choices, said)
        found = DEFAULTS | given | _projected(given, choices)
        if "joint_push_speed" not in said and found["joint_push_speed"] is None:
            found["joint_push_speed"] = said.get("push_speed")
        if choices:
            _check_choices(found, said, choices, reduced)
        return {name: found[name] for name in dict.fromkeys((*own, *found)) if name in found}
    except FieldError as error:
        raise SceneError(f"{kind.__name__}: {error}") from None


def _projected(given: Mapping[str, Any], choices: Mapping[str, Choice]) -> dict[str, Any]:
    """The stabilization of Runge-Kutta where none is named: joints are projected, unless that is declined, feedback is
    given its rates, or contacts are springs, which go with "soft" alone."""
    declined = getattr(choices.get("integrator"), "projection", None) is False
    fed = any(given.get(name) is not None for name in ("joint_hertz", "joint_damping_ratio"))
    smooth = follows_accelerations({"integrator": given.get("integrator")})
    if not smooth or declined or fed or given.get("contact") == "compliant":
        return {}
    return {} if given.get("stabilization") is not None else {"stabilization": "projection"}


def _choices(own: Mapping[str, Any]) -> dict[str, Choice]:
    """Keyword -> object, of those that are given by one. A name of joints is short for one."""
    found: dict[str, Choice] = {}
    for keyword, known in CHOICES.items():
        value = own.get(keyword)
        if keyword == "joints" and isinstance(value, str):
            choose(value, JOINT_CHOICES, keyword)
            value = JOINT_CHOICES[value]()
        if isinstance(value, Choice) and isinstance(value, tuple(known.values())):
            found[keyword] = value
        elif isinstance(value, Choice) or keyword == "joints" and value is not None:
            raise FieldError(
                keyword,
                f"takes {'True, False' if keyword == 'sleep' else 'a name'} or a "
                f"{', '.join(kind.__name__ for kind in known.values())}; got {show(value)}",
            )
    return found


def _spread(choices: Mapping[str, Choice], said: Mapping[str, Any]) -> dict[str, Any]:
    """What the objects say, in keywords; nothing may be said twice."""
    found: dict[str, Any] = {}
    by: dict[str, str] = {}

    def say(name: str, value: Any, who: str) -> None:
        other = f"{name}={said[name]!r}" if said.get(name) is not None else by.get(name)
        if name == "joint_push_speed" and said.get("push_speed") is not None:
            other = f"push_speed={said['push_speed']!r}"
        if other is not None and (name not in by or found[name] != value):
            raise FieldError(name, f"is given twice, by {other} and by {who}: leave one of them out")
        found[name], by[name] = value, who

    for keyword, choice in choices.items():
        who = type(choice).__name__
        for name, value in choice.says.items():
            say(name, value, f"{keyword}={who}(...)")
        for name, (field, value) in choice.spread().items():
            say(name, value, f"{keyword}={who}({field}={getattr(choice, field, value)!r})")
    return found


def _check_choices(k: Mapping[str, Any], said: Mapping[str, Any], choices: Mapping[str, Choice], reduced: bool) -> None:
    """Refuse what does not go with an object."""
    for name in ("solver", "stabilization", "contact"):
        CHECKS[name](k[name], name)
    contact = choices.get("contact")
    if isinstance(contact, RigidContact | CompliantContact | EventContact):
        _check_contact(k, said, contact, reduced)
    integrator = k["integrator"] or ("semi_implicit" if k["contact"] != "event" else EVENT_INTEGRATORS[0])
    entry = INTEGRATOR_TABLE[choose(integrator, INTEGRATOR_TABLE, "integrator")]
    joints = choices.get("joints")
    if joints is not None and entry.own_joints:
        kind = INTEGRATOR_CHOICES.get(integrator)
        fields = ", ".join(f"{name}={value!r}" for name, value in joints.given().items())
        raise FieldError(
            "joints",
            f"{joints!r} does not go with integrator={integrator!r}, which solves joints by "
            f"itself: {'leave it out' if kind is None else f'pass integrator={kind.__name__}({fields})'}",
        )
    if reduced and isinstance(joints, DirectJoints):
        raise FieldError(
            "joints",
            f"{joints!r} does not go with ReducedWorld, where joints of the tree cannot come "
            "apart: pass SweptJoints, of those that close loops, or leave it out",
        )
    runge = choices.get("integrator")
    if isinstance(runge, RK4) and runge.projection is False and k["stabilization"] == "projection":
        raise FieldError("stabilization", f"'projection' does not go with integrator={runge!r}: leave one of them out")
    if "sleep" in choices and not (entry.sleeps and CONTACT_TABLE[k["contact"]].sleeps):
        raise FieldError(
            "sleep",
            f"{choices['sleep']!r} does not go with integrator={integrator!r} and contact="
            f"{k['contact']!r}, under which nothing sleeps: leave it out",
        )
    read = _reads(k, reduced)
    for keyword in ("joints", "integrator"):
        for name, (field, _) in choices[keyword].spread().items() if keyword in choices else ():
            if name in OF_STABILIZATIONS and name not in read:
                raise FieldError(
                    field,
                    f"of {keyword}={choices[keyword]!r} does not go with stabilization="
                    f"{k['stabilization']!r}, which has no springs: pass stabilization='soft', or "
                    "leave it out",
                )


def _check_contact(
    k: Mapping[str, Any], said: Mapping[str, Any], contact: RigidContact | CompliantContact | EventContact, reduced: bool
) -> None:
    kind = type(contact).__name__
    own = contact.keywords()
    for name, value in said.items():
        if name in OF_CONTACTS and name not in own.values() and value is not None:
            raise FieldError(name, f"does not go with contact={kind}, which has {', '.join(own)}")
    whole = replace(
        contact, **{field: k[name] for field, name in own.items() if said.get(name) is not None or name == "stabilization"}
    )
    read = _reads(k, reduced)
    for name, (field, _) in whole.spread().items():
        if reduced and name in OF_WORLD_ALONE:
            raise FieldError(field, f"of contact={contact!r} does not go with ReducedWorld, which has none: leave it out")
        if isinstance(contact, RigidContact) and name in (OF_SOLVERS | OF_STABILIZATIONS) - {*read}:
            raise FieldError(
                field,
                f"of contact={contact!r} does not go with solver={k['solver']!r} and stabilization="
                f"{k['stabilization']!r}{' of ReducedWorld' if reduced else ''}: leave it out",
            )


def _reads(k: Mapping[str, Any], reduced: bool) -> tuple[str, ...]:
    """The keywords of solvers and stabilizations that those chosen read."""
    model = "ncp" if reduced and k["solver"] != "si" else k["contact_model"]  # pgs is there the laboratory's
    solver = solver_of({"solver": k["solver"], "contact_model": model})
    entry = STABILIZATION_TABLE[of_bounds(k)]
    found = (*solver.reads, *((entry.reduced_reads or ()) if reduced else entry.reads))
    return tuple(name for name in found if not (reduced and name in OF_WORLD_ALONE))


# ---- read back -------------------------------------------------------------------------------------------------------


class Settings(dict[str, Any]):
    """The keywords that a world runs with, by name, defaults resolved; None where a length or a speed follows from the
    bodies' sizes. `contact`, `joints`, `integrator` and `sleep` are the same as the objects that World takes: a world
    that is made with these four, dt, substeps, threads and strict goes the same way. given: the keywords that were given,
    as they were."""

    def __init__(self, keywords: Mapping[str, Any], reduced: bool, given: Mapping[str, Any]):
        super().__init__(keywords)
        self._reduced = reduced
        self.given = dict(given)

    @property
    def contact(self) -> RigidContact | CompliantContact | EventContact:
        """How bodies touch, with the values in use."""
        kind = CONTACT_CHOICES[self["contact"]]
        names = set(kind.keywords().values())
        if kind is RigidContact:
            names -= OF_SOLVERS | OF_STABILIZATIONS
            names |= {*_reads(self, self._reduced)}
        if self._reduced:
            names -= OF_WORLD_ALONE
        if self["stop"] != "residual":
            names -= {"tolerance"}
        return self._made(kind, names)

    @property
    def joints(self) -> DirectJoints | SweptJoints | None:
        """How joints are solved, with the values in use; None where the integrator does it by itself."""
        if INTEGRATOR_TABLE[self["integrator"]].own_joints:
            return None
        return self._made(JOINT_CHOICES["direct" if self["joint_solver"] == "tree" else "rows"], self._of_joints())

    @property
    def integrator(self) -> Any:
        """The integrator: its name, or where it has settings of its own its object, with the values in use."""
        kind = INTEGRATOR_CHOICES.get(self["integrator"])
        if kind is None:
            return self["integrator"]
        found = self._made(kind, self._of_joints() | {"reference_tolerance", "reference_creep"})
        return found if kind is not RK4 else replace(found, projection=self["stabilization"] == "projection")

    @property
    def sleep(self) -> Sleep | bool:
        """When bodies fall asleep, or False."""
        return self._made(Sleep, Sleep.names.values()) if self["sleep"] else False

    def _of_joints(self) -> set[str]:
        return {"joint_push_speed"} | {name for name in _reads(self, self._reduced) if name.startswith("joint_")}

    def _made(self, kind: type[Choice], names: Iterable[str]) -> Any:
        """The object of a kind, with those of its fields whose keyword is among the names."""
        names = set(names)
        return kind(**{field: self[name] for field, name in kind.keywords().items() if name in names})
