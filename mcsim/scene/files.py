"""Scene files, read: JSON text, through the models of `schema.py`, to the classes.

What is wrong is answered by one line: the file, the place in it, the problem.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, Protocol

from pydantic import ValidationError

from mcsim.core.errors import SceneError
from mcsim.core.files import path_name, read_json
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, listing, show
from mcsim.scene.described import VERSION
from mcsim.scene.drives import Motion, Motor, Spring
from mcsim.scene.joints import JOINTS, Joint
from mcsim.scene.many_bodies import POSES, placed
from mcsim.scene.materials import Material
from mcsim.scene.pair_materials import PairMaterial
from mcsim.scene.schema import SceneModel
from mcsim.scene.shapes import SHAPES

# What bodies that are else alike have of their own.
PLACE = tuple(field for field, _ in POSES.values())


class Empty(Protocol):
    """What is filled from data: a Scene, which is above, since its own methods call what is here."""

    gravity: Any
    name: str
    _written: frozenset[str]

    def _add_body(self, name: str | None, make: Callable[[int, str], Body]) -> Body: ...
    def add_joint(self, joint: Joint) -> Joint: ...
    def ignore_collision(self, a: Body | str, b: Body | str) -> None: ...
    def body(self, which: Body | str) -> Body: ...
    def _set_pair(self, pair: PairMaterial) -> None: ...


def fill_from_file(scene: Empty, path: str | PathLike[str]) -> None:
    """Fill a new scene from a JSON file. FileNotFoundError if there is none, SceneError with the place if it is wrong."""
    fill(scene, read_json(path, "scene file"), path_name(path, "scene file"))


def fill(scene: Empty, data: Any, source: str = "") -> None:
    """Fill a new scene from JSON data. `source` stands in front of every error."""
    try:
        model = SceneModel.model_validate(data)
    except ValidationError as error:
        place, problem = _explain(error.errors(include_url=False, include_context=True)[0], data)
        raise _error(source, place, problem) from None
    fields = model.model_dump(exclude_unset=True)
    if type(fields["version"]) is not int or fields["version"] != VERSION:
        raise _error(source, "version", f"must be {VERSION}, got {show(fields['version'])}")
    with _at(source, ""):
        for key in ("gravity", "name"):
            if key in fields:
                setattr(scene, key, fields[key])
    scene._written = frozenset(fields)
    alike: dict[str, Body] = {}
    for i, body in enumerate(fields.get("bodies", ())):
        _add_body(scene, body, source, f"bodies[{i}]", alike)
    for i, joint in enumerate(fields.get("joints", ())):
        _add_joint(scene, joint, source, f"joints[{i}]")
    for i, pair in enumerate(fields.get("ignored_pairs", ())):
        with _at(source, f"ignored_pairs[{i}]"):
            if len(pair) != 2:
                raise FieldError("", f"must be the names of two bodies, got {show(pair)}")
            scene.ignore_collision(*pair)
    for i, pair in enumerate(fields.get("pair_materials", ())):
        with _at(source, f"pair_materials[{i}]"):
            scene._set_pair(_told_pair(scene, pair))


def _told_pair(scene: Empty, fields: dict[str, Any]) -> PairMaterial:
    """Of bodies that are there; materials may be there or not."""
    for end in ("a", "b") if fields.get("of", "bodies") == "bodies" else ():
        try:
            scene.body(fields[end])
        except FieldError as error:
            raise FieldError(end, f"is wrong: {error.problem}") from None
    return PairMaterial.from_arguments(fields)


# ---- from fields to classes ------------------------------------------------------------------------------------------


def _add_body(scene: Empty, fields: dict[str, Any], source: str, place: str, alike: dict[str, Body]) -> None:
    """alike: bodies without a pose by what was said of them, for many differ in that alone."""
    written, name = frozenset(fields), fields.pop("name", None)
    pose = {field: fields.pop(field) for field in PLACE if field in fields}
    key = repr(fields)
    if key not in alike:
        _make(fields, "material", Material, source, place)
        shapes = []
        for i, shape in enumerate(fields.pop("shapes", ())):
            here = f"{place}.shapes[{i}]"
            _make(shape, "material", Material, source, here)
            with _at(source, here):
                shapes.append(SHAPES[shape.pop("type")].from_arguments(shape))
        fields["shape"] = shapes

    def make(index: int, name: str) -> Body:
        if key not in alike:
            alike[key] = Body(0, "", **fields)
        return placed(alike[key], index, name, pose, written)

    with _at(source, place):
        scene._add_body(name, make)


def _add_joint(scene: Empty, fields: dict[str, Any], source: str, place: str) -> None:
    _make(fields, "motor", Motor, source, place)
    _make(fields, "spring", Spring, source, place)
    _make(fields, "motion", Motion, source, place)
    with _at(source, place):
        scene.add_joint(JOINTS[fields.pop("type")].from_arguments(fields))


def _make(fields: dict[Any, Any], name: str | int, kind: Any, source: str, place: str) -> None:
    """Replace the description of a material, motor or spring, or of a pair of them, by the object."""
    value = fields.get(name)
    if isinstance(value, list):
        made = dict(enumerate(value))
        for i in made:
            _make(made, i, kind, source, f"{place}.{name}")
        fields[name] = list(made.values())
    elif value is not None:
        with _at(source, f"{place}[{name}]" if isinstance(name, int) else f"{place}.{name}"):
            fields[name] = kind.from_arguments(value)


# ---- errors ----------------------------------------------------------------------------------------------------------


def _error(source: str, place: str, problem: str) -> SceneError:
    where = f"{place} {problem}" if place else problem
    return SceneError(f"{source}: {where}" if source else where)


@contextmanager
def _at(source: str, place: str) -> Iterator[None]:
    """Put the file and the place in it in front of what the classes complain about."""
    try:
        yield
    except FieldError as error:
        name = f" ({error.subject})" if error.subject else ""
        place = ".".join(part for part in (place, error.field) if part)
        raise _error(source, place, error.problem + name) from None


def _explain(error: Any, data: Any) -> tuple[str, str]:
    """Place and problem of one of pydantic's errors."""
    kind, place = error["type"], _place(error["loc"], data, error["type"] == "missing")
    got = show(error["input"])
    context = error.get("ctx", {})
    if kind == "missing":
        return place, "is missing"
    if kind == "unknown_field":
        return place, ("has an " if place else "") + error["msg"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        table = SHAPES if ".shapes[" in place else JOINTS
        wrong = f"got {show(context['tag'])}" if kind == "union_tag_invalid" else "it is missing"
        return f"{place}.type", f"must be one of: {listing(table)}; {wrong}"
    if kind in _EXPECTED:
        return place, f"must be {_EXPECTED[kind]}, got {got}"
    return place, f"is wrong: {error['msg']}, got {got}"


_EXPECTED = {
    "float_type": "a number",
    "finite_number": "finite",
    "int_type": "an integer",
    "string_type": "a string",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a pair [position, quaternion]",
    "too_long": "a pair [position, quaternion]",
    "model_type": "an object {…}",
    "model_attributes_type": "an object {…}",
    "dict_type": "an object {…}",
}


def _place(steps: tuple[Any, ...], data: Any, missing: bool) -> str:
    """pydantic's way to the error as it is written in Python; its choices within a union are left out."""
    place = ""
    for i, step in enumerate(steps):
        if isinstance(data, dict) and step != data.get("type") and (step in data or (missing and i == len(steps) - 1)):
            place += f".{step}" if place else str(step)
            data = data.get(step)
        elif isinstance(data, (list, tuple)) and isinstance(step, int):
            place += f"[{step}]"
            data = data[step] if step < len(data) else None
    return place
