"""Plane: its arguments. Planes are not faces: pictures have them as ground."""

from __future__ import annotations  # signatures read as they are written here

from math import inf

import numpy as np

from mcsim.core.rotation import compose, from_axes, normalized
from mcsim.scene.checks import FieldError, Vector, direction, number
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


class Plane(Shape):
    """The half space n·x <= offset, for static bodies: what is below the plane is solid.

    normal: 3 numbers of any length but 0; offset [m] along the unit normal.
    `position` and `orientation` read back as the frame of the plane itself: origin on it, z along its normal.
    """

    type = "plane"
    massive = False
    normal: np.ndarray
    offset: float

    def __init__(
        self,
        normal: Vector,
        offset: float = 0.0,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        sensor: bool = False,
    ):
        normal, offset = direction(normal, "normal"), number(offset, "offset")
        unit = normalized(normal)
        self._describe(
            {
                "normal": normal,
                "offset": offset,
                "position": position,
                "orientation": orientation,
                "material": material,
                "sensor": sensor,
            },
            ORIGIN,
            normal=unit,
            offset=offset,
        )
        position, orientation = compose((self.position, self.orientation), (offset * unit, from_axes(unit)))
        self._set(position=position, orientation=orientation)

    @property
    def volume(self) -> float:
        """Infinite."""
        return inf

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        return Plane((0.0, 0.0, 1.0)), (1.0, 1.0, 1.0)

    def _triangles(self, detail: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
        """A square about the plane's origin, that faces up."""
        half = 0.5 * extent
        corners = np.array([(-half, -half, 0.0), (half, -half, 0.0), (half, half, 0.0), (-half, half, 0.0)])
        return corners, np.array([(0, 1, 2), (0, 2, 3)], np.int32)

    def mass_properties(self, density: float) -> MassProperties:
        raise FieldError("", "a plane has no mass: it is a half space without end")
