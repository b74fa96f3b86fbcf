"""The shapes that bodies are made of, and their registry SHAPES.

Every shape takes `position` [m] and `orientation` (unit quaternion) of its own frame in the body's frame, and
`material`, the body's if not given; the solid ones take `density` [kg/m³], the body's if not given. A `sensor` reports
what comes into it (world.events, world.overlaps) and pushes nothing; it has no mass unless it has a density of its own.
"""

from __future__ import annotations      # signatures read as they are written here

from math import inf
from typing import Any, ClassVar

import numpy as np

from mcsim.core.linear import lengths
from mcsim.scene import mass
from mcsim.scene.checks import (FieldError, Vector, direction, flag, items, not_negative, number, positive,
                                show, unit_quaternion, vector)
from mcsim.scene.described import Value
from mcsim.scene.hull import convex_hull
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.core.rotation import compose, from_axes, normalized

ORIGIN = (0.0, 0.0, 0.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class Shape(Value):
    """What all shapes have in common. A shape is fixed once made and may be given to several bodies.

    type: its name in files, a key of SHAPES.
    size: (3,) [m], radius, half lengths or half extents as far as the shape has them, else 0.
    position: (3,) [m], orientation: (4,), of the shape's frame in the body's frame.
    material: Material, or None for the body's. density: [kg/m³], or None for the body's.
    sensor: whether it only reports what comes into it.
    """

    type: ClassVar[str]
    massive: ClassVar[bool] = True      # False: no solid of its own, a dynamic body cannot have it
    size: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    material: Material | None
    density: float | None
    sensor: bool

    def _describe(self, arguments: dict[str, Any], size: Vector, **attributes: Any) -> None:
        """Check the arguments that all shapes have, and keep everything."""
        arguments["position"] = vector(arguments["position"], "position")
        arguments["orientation"] = unit_quaternion(arguments["orientation"], "orientation")
        if not isinstance(arguments["material"], Material | None):
            raise FieldError("material", f"must be a Material, got {show(arguments['material'])}")
        if arguments.get("density") is not None:
            arguments["density"] = positive(arguments["density"], "density")
        if "sensor" in arguments:
            arguments["sensor"] = flag(arguments["sensor"], "sensor")
        self._set(_arguments=arguments, size=np.array(size), position=np.array(arguments["position"]),
                  orientation=normalized(arguments["orientation"]), material=arguments["material"],
                  density=arguments.get("density"), sensor=arguments.get("sensor", False))
        self._set(**attributes)

    def to_dict(self) -> dict[str, Any]:
        """The shape as JSON data."""
        return {"type": self.type, **super().to_dict()}

    @property
    def volume(self) -> float:
        """[m³]"""
        return self._centred(1.0).mass

    @property
    def thickness(self) -> float:
        """[m] where it is thinnest; infinite of what has no two sides."""
        return inf

    def mass_properties(self, density: float) -> MassProperties:
        """Mass [kg], centre of mass (3,) and inertia (3, 3) about it, in the body's frame, for a density [kg/m³]."""
        return self._centred(density).placed(self.position, self.orientation)

    def _centred(self, density: float) -> MassProperties:
        """The same in the shape's frame."""
        raise NotImplementedError


class Sphere(Shape):
    """A ball of `radius` [m] about the shape's origin."""

    type = "sphere"
    radius: float

    def __init__(self, radius: float, *, position: Vector = ORIGIN, orientation: Vector = UPRIGHT,
                 material: Material | None = None, density: float | None = None, sensor: bool = False):
        radius = positive(radius, "radius")
        self._describe({"radius": radius, "position": position, "orientation": orientation, "material": material,
                        "density": density, "sensor": sensor}, (radius, 0.0, 0.0), radius=radius)

    @property
    def thickness(self) -> float:
        """[m] The diameter."""
        return 2.0 * self.radius

    def _centred(self, density: float) -> MassProperties:
        return mass.sphere(self.radius, density)


class Box(Shape):
    """A box with `half_extents` (3 numbers [m]) along the shape's x, y, z, about its origin."""

    type = "box"
    half_extents: np.ndarray

    def __init__(self, half_extents: Vector, *, position: Vector = ORIGIN, orientation: Vector = UPRIGHT,
                 material: Material | None = None, density: float | None = None, sensor: bool = False):
        half_extents = vector(half_extents, "half_extents")
        for i, extent in enumerate(half_extents):
            positive(extent, f"half_extents[{i}]")
        self._describe({"half_extents": half_extents, "position": position, "orientation": orientation,
                        "material": material, "density": density, "sensor": sensor}, half_extents,
                        half_extents=np.array(half_extents))

    @property
    def thickness(self) -> float:
        """[m] The least edge."""
        return 2.0 * float(min(self.half_extents))

    def _centred(self, density: float) -> MassProperties:
        return mass.box(self._arguments["half_extents"], density)


class Capsule(Shape):
    """All points within `radius` [m] of a segment along the shape's z, from -half_length to half_length [m]."""

    type = "capsule"
    radius: float
    half_length: float

    def __init__(self, radius: float, half_length: float, *, position: Vector = ORIGIN, orientation: Vector = UPRIGHT,
                 material: Material | None = None, density: float | None = None, sensor: bool = False):
        radius, half_length = positive(radius, "radius"), not_negative(half_length, "half_length")
        self._describe({"radius": radius, "half_length": half_length, "position": position, "orientation": orientation,
                        "material": material, "density": density, "sensor": sensor}, (radius, half_length, 0.0),
                       radius=radius, half_length=half_length)

    @property
    def thickness(self) -> float:
        """[m] The diameter."""
        return 2.0 * self.radius

    def _centred(self, density: float) -> MassProperties:
        return mass.capsule(self.radius, self.half_length, density)


class Cylinder(Shape):
    """A cylinder of `radius` [m] along the shape's z, from -half_length to half_length [m]."""

    type = "cylinder"
    radius: float
    half_length: float

    def __init__(self, radius: float, half_length: float, *, position: Vector = ORIGIN, orientation: Vector = UPRIGHT,
                 material: Material | None = None, density: float | None = None, sensor: bool = False):
        radius, half_length = positive(radius, "radius"), positive(half_length, "half_length")
        self._describe({"radius": radius, "half_length": half_length, "position": position, "orientation": orientation,
                        "material": material, "density": density, "sensor": sensor}, (radius, half_length, 0.0),
                       radius=radius, half_length=half_length)

    @property
    def thickness(self) -> float:
        """[m] The diameter or the length, the less of them."""
        return 2.0 * min(self.radius, self.half_length)

    def _centred(self, density: float) -> MassProperties:
        return mass.cylinder(self.radius, self.half_length, density)


class Plane(Shape):
    """The half space n·x <= offset, for static bodies: what is below the plane is solid.

    normal: 3 numbers of any length but 0; offset [m] along the unit normal.
    `position` and `orientation` read back as the frame of the plane itself: origin on it, z along its normal.
    """

    type = "plane"
    massive = False
    normal: np.ndarray
    offset: float

    def __init__(self, normal: Vector, offset: float = 0.0, *, position: Vector = ORIGIN,
                 orientation: Vector = UPRIGHT, material: Material | None = None, sensor: bool = False):
        normal, offset = direction(normal, "normal"), number(offset, "offset")
        unit = normalized(normal)
        self._describe({"normal": normal, "offset": offset, "position": position, "orientation": orientation,
                        "material": material, "sensor": sensor}, ORIGIN, normal=unit, offset=offset)
        position, orientation = compose((self.position, self.orientation), (offset * unit, from_axes(unit)))
        self._set(position=position, orientation=orientation)

    @property
    def volume(self) -> float:
        """Infinite."""
        return inf

    def mass_properties(self, density: float) -> MassProperties:
        raise FieldError("", "a plane has no mass: it is a half space without end")


class ConvexHull(Shape):
    """The convex hull of `points` (n, 3) [m], given in the shape's frame; at most 256 of them may be its vertices.

    Those inside are dropped, and triangles in one plane become one face. Read-only arrays, in the shape's frame:
    vertices (v, 3); faces, a list of arrays of vertex numbers, counter-clockwise seen from outside;
    face_normals (f, 3), unit, outwards; face_offsets (f,), n·x = offset; edges (e, 2), vertex numbers;
    radius, of the sphere about the shape's origin that holds every vertex.
    """

    type = "hull"
    vertices: np.ndarray
    faces: list[np.ndarray]
    face_normals: np.ndarray
    face_offsets: np.ndarray
    edges: np.ndarray
    radius: float
    _solid: MassProperties
    _thickness: float

    def __init__(self, points: Vector, *, position: Vector = ORIGIN, orientation: Vector = UPRIGHT,
                 material: Material | None = None, density: float | None = None, sensor: bool = False):
        rows = items(points, "a list of points, 3 numbers each", "points")
        points = tuple(vector(row, f"points[{i}]") for i, row in enumerate(rows))
        hull = convex_hull(np.array(points))
        self._describe({"points": points, "position": position, "orientation": orientation, "material": material,
                        "density": density, "sensor": sensor}, ORIGIN,
                       vertices=hull.vertices, faces=hull.faces, face_normals=hull.face_normals,
                       face_offsets=hull.face_offsets, edges=hull.edges,
                       radius=float(np.max(lengths(hull.vertices))), _thickness=hull.thickness,
                       _solid=mass.polyhedron(hull.triangles, 1.0))

    @property
    def thickness(self) -> float:
        """[m] The least distance of a face from the corner that is farthest from it."""
        return self._thickness

    def _centred(self, density: float) -> MassProperties:
        return self._solid.scaled(density)

    def __repr__(self) -> str:
        return f"<ConvexHull: {len(self.vertices)} vertices, {len(self.faces)} faces, {len(self.edges)} edges>"


SHAPES: dict[str, type[Shape]] = {shape.type: shape for shape in (Sphere, Box, Capsule, Cylinder, Plane, ConvexHull)}
