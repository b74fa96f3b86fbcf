"""The text of a URDF file, to the links and joints that yourdfpy makes of it.

yourdfpy takes what is missing or no number as it comes, and knows neither lines nor the capsule. So the elements that
say something about the motion are checked first, by the table ELEMENTS, and handed to it alone: what is wrong is
answered by one line with the file, the line, the link or joint. Visuals, materials, transmissions and what simulators
add are left out.
"""

import re
from io import BytesIO
from math import inf, isfinite
from typing import Any, NamedTuple

from mcsim.core.errors import SceneError
from mcsim.io.xml_text import xml_of
from mcsim.scene.checks import choose, show

INSTALL = "URDF files need yourdfpy: pip install 'mcsim-physics[urdf]'"
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
LARGEST = 1e60  # far beyond use; products of several such numbers stay finite
SOLIDS = ("box", "cylinder", "sphere", "capsule", "mesh")


class Attribute(NamedTuple):
    """What an attribute must hold: `counts` numbers, or a text if that is empty."""

    required: bool = True
    counts: tuple[int, ...] = (1,)
    lowest: float = -inf  # numbers must be above it; at it, too, if it is 0 and `zero`
    zero: bool = True
    infinite: bool = False


NUMBER, GIVEN = Attribute(), Attribute(required=False)
TEXT = Attribute(counts=())
SIZE = Attribute(lowest=0.0, zero=False)
LIMIT = Attribute(required=False, infinite=True)
BOUND = Attribute(required=False, lowest=0.0, infinite=True)
VECTOR = Attribute(required=False, counts=(3,))
PRODUCT = Attribute(required=False)

ELEMENTS: dict[str, dict[str, Attribute]] = {
    "origin": {"xyz": VECTOR, "rpy": VECTOR},
    "mass": {"value": Attribute(lowest=0.0)},
    "inertia": {"ixx": NUMBER, "iyy": NUMBER, "izz": NUMBER, "ixy": PRODUCT, "ixz": PRODUCT, "iyz": PRODUCT},
    "box": {"size": Attribute(counts=(3,), lowest=0.0, zero=False)},
    "cylinder": {"radius": SIZE, "length": SIZE},
    "sphere": {"radius": SIZE},
    "capsule": {"radius": SIZE, "length": Attribute(lowest=0.0)},
    "mesh": {"filename": TEXT, "scale": Attribute(required=False, counts=(1, 3))},
    "parent": {"link": TEXT},
    "child": {"link": TEXT},
    "axis": {"xyz": Attribute(counts=(3,))},
    "limit": {"lower": LIMIT, "upper": LIMIT, "effort": BOUND, "velocity": BOUND},
    "dynamics": {"damping": Attribute(required=False, lowest=0.0), "friction": Attribute(required=False, lowest=0.0)},
    "mimic": {"joint": TEXT, "multiplier": GIVEN, "offset": GIVEN},
}


def read_robot(path: str) -> tuple[Any, dict[tuple[str, str], int]]:
    """-> yourdfpy's Robot with the links and joints of the file, and lines: ("link" or "joint", name) -> line.

    Numbers are checked to be numbers, sizes positive, names unique. A capsule comes as a Cylinder of its length, the
    round ends left out, with the name CAPSULE.
    """
    yourdfpy, etree = _require()
    root = _parse(etree, path)
    checked = etree.Element("robot", name=_text(path, root, "name", "robot"))
    lines: dict[Any, Any] = {}
    for kind, make in (("link", _link), ("joint", _joint)):
        for element in root.findall(kind):
            name = _text(path, element, "name", kind)
            if (kind, name) in lines:
                raise wrong(
                    path,
                    element.sourceline,
                    f"{kind} {show(name)}: the name is taken by another {kind}, in "
                    f"line {lines[kind, name]}; choose another name",
                )
            lines[kind, name] = element.sourceline
            checked.append(make(etree, path, element, f"{kind} {show(name)}"))
    robot = yourdfpy.URDF.load(BytesIO(etree.tostring(checked)), build_scene_graph=False, load_meshes=False).robot
    return robot, lines


CAPSULE = "capsule"  # the name that tells a capsule from a cylinder


def wrong(path: str, line: int | None, problem: str) -> SceneError:
    """The error for what stands in a line of the file."""
    return SceneError(f"{path}: line {line}: {problem}" if line else f"{path}: {problem}")


def _require() -> tuple[Any, Any]:
    try:
        import yourdfpy
        from lxml import etree
    except ImportError:
        raise ImportError(INSTALL) from None
    return yourdfpy, etree


def _parse(etree: Any, path: str) -> Any:
    """The root of the XML."""
    content = xml_of(path, "URDF file")
    content = _declared(content)
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = " ".join(str(error).split()).removesuffix(" (<string>, line 0)").split(" (<string>")[0] or "it is empty"
        raise wrong(path, getattr(error, "lineno", None), f"not XML: {reason}") from None
    if root.tag != "robot":
        raise wrong(path, root.sourceline, f"not a URDF: it must begin with <robot>, not <{root.tag}>")
    if root.find("link") is None:
        raise wrong(path, root.sourceline, "the robot has no link" + _hint_of_xacro(root))
    return root


def _declared(content: bytes) -> bytes:
    """The text with a declaration that XML allows. Some robots' files say version="0.0", or have it below an empty line or
    a comment, which other readers of robots pass over. Lines keep their numbers."""
    found = re.search(rb"<\?xml\b[^>]*\?>", content)
    if found is None or b"<robot" in content[: found.start()]:
        return content
    if found.start() > 0:
        return content[: found.start()] + b"\n" * found[0].count(b"\n") + content[found.end() :]
    return re.sub(rb"(\bversion\s*=\s*)([\"'])[\d.]*\2", rb"\g<1>\g<2>1.0\g<2>", found[0]) + content[found.end() :]


def _hint_of_xacro(root: Any) -> str:
    return "; expand its macros first, with: xacro robot.urdf.xacro > robot.urdf" if "xacro" in root.nsmap else ""


# ---- links and joints ------------------------------------------------------------------------------------------------


def _link(etree: Any, path: str, element: Any, subject: str) -> Any:
    """The link's mass and collision geometry, checked."""
    made = etree.Element("link", name=element.get("name"))
    inertial = _single(path, element, "inertial", subject)
    if inertial is not None and len(inertial):
        part = etree.SubElement(made, "inertial")
        for tag in ("origin", "mass", "inertia"):
            _copy(etree, path, inertial, tag, part, subject, required=tag == "mass")
        if float(part.find("mass").get("value")) > 0.0 and part.find("inertia") is None:
            raise wrong(path, inertial.sourceline, f"{subject}: <inertial> has no <inertia>")
    for collision in element.findall("collision"):
        if len(collision):
            _collision(etree, path, collision, made, subject)
    return made


def _collision(etree: Any, path: str, element: Any, made: Any, subject: str) -> None:
    geometry = _single(path, element, "geometry", subject)
    solids = [] if geometry is None else [child for child in geometry if isinstance(child.tag, str)]
    if len(solids) != 1 or solids[0].tag not in SOLIDS:
        got = ", ".join(f"<{solid.tag}>" for solid in solids) or "nothing"
        raise wrong(
            path, element.sourceline, f"{subject}: <collision> needs <geometry> with one of: {', '.join(SOLIDS)}; got {got}"
        )
    part = etree.SubElement(made, "collision")
    _copy(etree, path, element, "origin", part, subject)
    solid = _copy(etree, path, geometry, solids[0].tag, etree.SubElement(part, "geometry"), subject)
    if solid.tag == "capsule":  # which yourdfpy does not know
        solid.tag = "cylinder"
        part.set("name", CAPSULE)


def _joint(etree: Any, path: str, element: Any, subject: str) -> Any:
    """The joint, checked but for what its links say."""
    made = etree.Element("joint", name=element.get("name"), type=_text(path, element, "type", subject))
    try:
        choose(made.get("type"), JOINT_TYPES, "type")
    except SceneError as error:
        raise wrong(path, element.sourceline, f"{subject}: {error}") from None
    for tag in ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"):
        _copy(etree, path, element, tag, made, subject, required=tag in ("parent", "child"))
    if made.get("type") in ("revolute", "prismatic") and made.find("limit") is None:
        instead = "make it continuous" if made.get("type") == "revolute" else 'write <limit lower="-inf" upper="inf"/>'
        raise wrong(
            path, element.sourceline, f"{subject}: a {made.get('type')} joint needs <limit>; if it has none, {instead}"
        )
    return made


# ---- elements and attributes -----------------------------------------------------------------------------------------


def _single(path: str, parent: Any, tag: str, subject: str) -> Any:
    """The child of this tag, None if there is none."""
    found = parent.findall(tag)
    if len(found) > 1:
        raise wrong(path, found[1].sourceline, f"{subject}: has a second <{tag}>")
    return found[0] if found else None


def _copy(etree: Any, path: str, parent: Any, tag: str, made: Any, subject: str, required: bool = False) -> Any:
    """Put the child of this tag, if there is one, into `made`, with those of its attributes that count."""
    element = _single(path, parent, tag, subject)
    if element is None:
        if required:
            raise wrong(path, parent.sourceline, f"{subject}: has no <{tag}>")
        return None
    copy = etree.SubElement(made, tag)
    for name, attribute in ELEMENTS[tag].items():
        value = element.get(name)
        if value is not None and attribute.counts:
            copy.set(name, _numbers(path, element, name, attribute, subject))
        elif value is not None or attribute.required:
            copy.set(name, _text(path, element, name, f"{subject}: <{tag}>"))
    return copy


def _text(path: str, element: Any, name: str, subject: str) -> str:
    value = element.get(name)
    if not value:
        raise wrong(path, element.sourceline, f"{subject}: {name} {'is missing' if value is None else 'is empty'}")
    return value


def _numbers(path: str, element: Any, name: str, attribute: Attribute, subject: str) -> str:
    """The text of an attribute, once it is known to hold the right numbers."""
    text = element.get(name)
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    problem = None
    if len(values) not in attribute.counts or not all(isfinite(x) or attribute.infinite and x == x for x in values):
        count = " or ".join(map(str, attribute.counts))
        problem = "a number" if count == "1" else f"{count} numbers"
    elif any(LARGEST < abs(x) < inf for x in values):
        problem = f"below {LARGEST:g} in size"
    elif any(x < attribute.lowest or x == attribute.lowest and not attribute.zero for x in values):
        problem = "at least 0" if attribute.zero else "positive"
    if problem:
        hint = "; expand the xacro file first" if "${" in text else ""
        raise wrong(
            path, element.sourceline, f"{subject}: {name} of <{element.tag}> must be {problem}, got {show(text)}{hint}"
        )
    return " ".join(map(repr, values))
