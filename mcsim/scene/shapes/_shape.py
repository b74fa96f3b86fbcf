"""What all shapes have in common."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from math import inf
from typing import Any, ClassVar

import numpy as np

from mcsim.core.rotation import normalized
from mcsim.scene.checks import FieldError, Vector, count, flag, positive, show, unit_quaternion, vector
from mcsim.scene.described import Value, lock
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, halved

# Tables of arguments: rows of numbers, and of numbers of rows.
Points = Sequence[Vector] | np.ndarray
Corners = Sequence[Sequence[int]] | np.ndarray

# Where parts are by default, and the arrays that all of these have in common.
ORIGIN = (0.0, 0.0, 0.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
AT_ORIGIN, IS_UPRIGHT = lock(np.array(ORIGIN)), lock(np.array(UPRIGHT))

DETAIL = 24  # facets around a round shape
MOST_DETAIL = 1024
EXTENT = 20.0  # [m] side of the square that stands for a plane


class Shape(Value):
    """What all shapes have in common. A shape is fixed once made and may be given to several bodies.

    type: its name in files, a key of SHAPES. massive: whether a dynamic body may have it: it has a solid of its own.
    size: (3,) [m], radius, half lengths or half extents as far as the shape has them, else 0.
    position: (3,) [m], orientation: (4,), of the shape's frame in the body's frame.
    material: Material, or None for the body's. density: [kg/m³], or None for the body's.
    sensor: whether it only reports what comes into it.
    rounding: [m] radius of the ball that sweeps what `size` says; 0 of shapes that are not rounded.
    """

    type: ClassVar[str]
    massive: ClassVar[bool] = True  # False: no solid of its own, a dynamic body cannot have it
    size: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    material: Material | None
    density: float | None
    sensor: bool
    rounding: float = 0.0

    def _describe(self, arguments: dict[str, Any], size: Vector, **attributes: Any) -> None:
        """Check the arguments that all shapes have, and keep everything."""
        placed, turned = arguments["position"] is not ORIGIN, arguments["orientation"] is not UPRIGHT
        arguments["position"] = vector(arguments["position"], "position")
        arguments["orientation"] = unit_quaternion(arguments["orientation"], "orientation")
        if not isinstance(arguments["material"], Material | None):
            raise FieldError("material", f"must be a Material, got {show(arguments['material'])}")
        if arguments.get("density") is not None:
            arguments["density"] = positive(arguments["density"], "density")
        if "sensor" in arguments:
            arguments["sensor"] = flag(arguments["sensor"], "sensor")
        self._set(
            _arguments=arguments,
            size=np.array(size),
            position=np.array(arguments["position"]) if placed else AT_ORIGIN,
            orientation=normalized(arguments["orientation"]) if turned else IS_UPRIGHT,
            material=arguments["material"],
            density=arguments.get("density"),
            sensor=arguments.get("sensor", False),
        )
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

    @property
    def reach(self) -> float:
        """[m] how far it reaches from the shape's origin, at most."""
        return inf

    @property
    def extent(self) -> float:
        """[m] Its longest side."""
        return 2.0 * (self.size[0] + self.size[1])

    def facets(self, detail: int, cell: float) -> Facets:
        """It in flat faces. detail: of them around a round shape; cell: longest side of a face, as far as it is cut [m]."""
        raise NotImplementedError

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        """-> a shape of the same type, and by what factors along its axes this one is larger: one mesh draws all those of
        one form."""
        return self, (1.0, 1.0, 1.0)

    def triangles(self, detail: int = DETAIL, extent: float = EXTENT) -> tuple[np.ndarray, np.ndarray]:
        """-> vertices (v, 3) [m] in the shape's frame, triangles (t, 3) int32 vertex numbers, to draw or export it.

        Triangles are counter-clockwise seen from outside. Those of a solid are closed: each edge belongs to two of them. A
        Mesh and a HeightField have those that they are made of. World.shape_poses() says where the shape's frame is.
        detail: facets around a round shape, 3 to 1024. extent: side of the square that stands for a plane [m].
        """
        detail, extent = count(detail, "detail", 3, MOST_DETAIL), positive(extent, "extent")
        return self._triangles(detail, extent)

    def _triangles(self, detail: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
        """The same, of checked arguments."""
        return halved(self.facets(detail, inf))

    def mass_properties(self, density: float) -> MassProperties:
        """Mass [kg], centre of mass (3,) and inertia (3, 3) about it, in the body's frame, for a density [kg/m³]."""
        return self._centred(density).placed(self.position, self.orientation)

    def _centred(self, density: float) -> MassProperties:
        """The same in the shape's frame."""
        raise NotImplementedError
