"""Scenes from tables of Denavit and Hartenberg's four parameters.

Two conventions are in use. With Rx, Rz rotations about and Tx, Tz translations along an axis, row i takes frame i-1 to

    standard (Denavit and Hartenberg 1955; Paul):  Rz(theta) Tz(d) Tx(a) Rx(alpha),  joint i along z of frame i-1
    modified (Craig; Khalil and Kleinfinger):      Rx(alpha) Tx(a) Rz(theta) Tz(d),  joint i along z of frame i

where the joint's coordinate is added to theta (revolute) or to d (prismatic). Frame i is that of link i; frame 0 is
the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import length
from mcsim.core.rotation import IDENTITY, Frame, compose, from_axes, relative
from mcsim.core.trig import cos, sin
from mcsim.scene import Capsule, HingeJoint, Scene, SliderJoint, Sphere, checks
from mcsim.scene.checks import FieldError, Vector, choose, show
from mcsim.scene.scene import EARTH

CONVENTIONS = ("standard", "modified")
JOINT_KINDS = ("revolute", "prismatic")
SLENDER = 0.05  # radius of the rods that stand for links, of the longest one's length
SMALLEST = 0.05  # radius of links where all are points [m]

Row = tuple[float, float, float, float] | tuple[float, float, float, float, str]


class _Link(NamedTuple):
    """A row of the table as a body: its joint's frame on the parent and on itself, and the two ends of its rod."""

    kind: str
    outer: Frame
    inner: Frame
    start: np.ndarray
    end: np.ndarray


def dh_scene(
    rows: Sequence[Row],
    convention: str = "standard",
    *,
    q: Sequence[float] | None = None,
    base: tuple[Vector, Vector] = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
    tool: Vector = (0.0, 0.0, 0.0),
    masses: Sequence[float] | None = None,
    centers: Sequence[Vector] | None = None,
    inertias: Sequence[Vector] | None = None,
    limits: Sequence[tuple[float | None, float | None] | None] | None = None,
    gravity: Vector = EARTH,
    name: str = "robot",
) -> Scene:
    """The scene of a robot arm from its Denavit-Hartenberg table: bodies link1, link2, … on joints joint1, joint2, …

    rows: (a [m], alpha [rad], d [m], theta [rad]) and kind, "revolute" if it is left out, or "prismatic"; of the
        joint's coordinate, theta or d is the zero.
    convention: "standard" or "modified", see the top of this file; the modified one's a and alpha are a_(i-1) and
        alpha_(i-1), as Craig prints them.
    q: coordinates at which the arm stands at the start [rad, m]; zeros.
    base: (position, quaternion) of frame 0 in the world. tool: (3,) of the last link's end, in its frame [m].
    masses [kg], centers (3,) of mass [m], inertias [kg m²] about these: one of each link, in its frame. What is left
        out is that of a rod from the link's joint to the next one, with a twentieth of the longest one's length as
        radius and 1000 kg/m³; inertias need masses, centers both.
    limits: (lower, upper) of each joint, or None.
    """
    convention = choose(convention, CONVENTIONS, "convention")
    table = [_row(row, i) for i, row in enumerate(checks.items(rows, "rows (a, alpha, d, theta, kind)", "rows"))]
    coordinates = np.zeros(len(table)) if q is None else np.array(checks.vector(q, "q", len(table)))
    given = {
        field: _each(value, len(table), field)
        for field, value in (("masses", masses), ("centers", centers), ("inertias", inertias), ("limits", limits))
    }
    for field, needs in (("inertias", "masses"), ("centers", "inertias")):
        if given[field] is not None and given[needs] is None:
            raise FieldError(field, f"need {needs} as well", name)
    make = _standard if convention == "standard" else _modified
    links = make(table, np.array(checks.vector(tool, "tool")))
    longest = max((length(link.end - link.start) for link in links), default=0.0)
    radius = SLENDER * longest or SMALLEST

    scene = Scene(gravity=gravity, name=name)
    position, orientation = checks.frame(base, "base")
    at: Frame = np.array(position), np.array(orientation)
    for i, link in enumerate(links):
        outer = compose(at, link.outer) if i == 0 else link.outer  # on the base, in the world
        at = compose(compose(compose(at, link.outer), _moved(link.kind, coordinates[i])), relative(link.inner, IDENTITY))
        scene.add_body(
            f"link{i + 1}",
            shape=_rod(link, radius),
            position=at[0],
            orientation=at[1],
            collision_mask=0,
            **_properties(link, given["masses"], given["centers"], given["inertias"], i),
        )
        joint = HingeJoint if link.kind == "revolute" else SliderJoint
        scene.add_joint(
            joint(
                f"link{i}" if i else None,
                f"link{i + 1}",
                name=f"joint{i + 1}",
                frame_a=outer,
                frame_b=link.inner,
                limits=None if given["limits"] is None else given["limits"][i],
            )
        )
    return scene


def _standard(table: list[tuple[float, float, float, float, str]], tool: np.ndarray) -> list[_Link]:
    """Rz(theta) Tz(d) is before the joint's motion, Tx(a) Rx(alpha) after it. The rod ends at the link's frame."""
    links = []
    for i, (a, alpha, d, theta, kind) in enumerate(table):
        inner = relative(compose(_along_x(a), _about_x(alpha)), IDENTITY)
        links.append(
            _Link(
                kind,
                compose(_about_z(theta), _along_z(d)),
                inner,
                compose(inner, _along_z(-d))[0],
                tool if i == len(table) - 1 else np.zeros(3),
            )
        )
    return links


def _modified(table: list[tuple[float, float, float, float, str]], tool: np.ndarray) -> list[_Link]:
    """All four are before the joint's motion. The rod ends where the next row's a ends."""
    ends = [np.array([a, 0.0, 0.0]) for a, *_ in table[1:]] + [tool]
    return [
        _Link(
            kind,
            compose(compose(_about_x(alpha), _along_x(a)), compose(_about_z(theta), _along_z(d))),
            IDENTITY,
            np.array([0.0, 0.0, -d]),
            end,
        )
        for (a, alpha, d, theta, kind), end in zip(table, ends)
    ]


def _along_x(way: float) -> Frame:
    return np.array([way, 0.0, 0.0]), IDENTITY[1]


def _along_z(way: float) -> Frame:
    return np.array([0.0, 0.0, way]), IDENTITY[1]


def _about_x(angle: float) -> Frame:
    return np.zeros(3), np.array([cos(angle / 2), sin(angle / 2), 0.0, 0.0])


def _about_z(angle: float) -> Frame:
    return np.zeros(3), np.array([cos(angle / 2), 0.0, 0.0, sin(angle / 2)])


def _moved(kind: str, q: float) -> Frame:
    """What the joint does at the coordinate q."""
    return _about_z(q) if kind == "revolute" else _along_z(q)


def _rod(link: _Link, radius: float) -> Capsule | Sphere:
    """A capsule whose axis goes from the link's start to its end; a ball if they are one point."""
    way = link.end - link.start
    size = length(way)
    if size < 1e-9:
        return Sphere(radius, position=link.end)
    return Capsule(radius, size / 2, position=(link.start + link.end) / 2, orientation=from_axes(way))


def _properties(
    link: _Link, masses: list[Any] | None, centers: list[Any] | None, inertias: list[Any] | None, i: int
) -> dict[str, Any]:
    """What add_body takes of mass, inertia and centre of mass."""
    given = {} if masses is None else {"mass": masses[i]}
    if inertias is not None:
        middle = (link.start + link.end) / 2
        given |= {"inertia": inertias[i], "center_of_mass": middle if centers is None else centers[i]}
    return given


def _row(row: Row, i: int) -> tuple[float, float, float, float, str]:
    parts = checks.items(row, "(a, alpha, d, theta, kind)", f"rows[{i}]")
    if len(parts) not in (4, 5):
        raise FieldError(f"rows[{i}]", f"must be (a, alpha, d, theta, kind), got {show(row)}")
    kind = choose(parts[4], JOINT_KINDS, f"rows[{i}][4]") if len(parts) == 5 else "revolute"
    a, alpha, d, theta = checks.vector(parts[:4], f"rows[{i}]", 4)
    return a, alpha, d, theta, kind


def _each(value: Sequence[Any] | None, count: int, field: str) -> list[Any] | None:
    """One thing for each row, or None."""
    if value is None:
        return None
    parts = checks.items(value, f"{count} of them, one a row", field)
    if len(parts) != count:
        raise SceneError(f"{field} must be {count} of them, one a row, got {len(parts)}")
    return parts
