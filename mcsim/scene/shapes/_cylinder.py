"""Cylinder: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.linear import length
from mcsim.scene.checks import Vector, positive
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


def tube(radius: float, half_length: float, density: float) -> MassProperties:
    """Along z: I_zz = m r²/2, I_xx = m (r²/4 + h²/3) with half length h."""
    m = density * 2 * pi * radius * radius * half_length
    across = m * (radius * radius / 4 + half_length * half_length / 3)
    return centred(m, across, across, m * radius * radius / 2)


class Cylinder(Shape):
    """A cylinder of `radius` [m] along the shape's z, from -half_length to half_length [m]."""

    type = "cylinder"
    radius: float
    half_length: float

    def __init__(
        self,
        radius: float,
        half_length: float,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        radius, half_length = positive(radius, "radius"), positive(half_length, "half_length")
        self._describe(
            {
                "radius": radius,
                "half_length": half_length,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            (radius, half_length, 0.0),
            radius=radius,
            half_length=half_length,
        )

    @property
    def thickness(self) -> float:
        """[m] The diameter or the length, the less of them."""
        return 2.0 * min(self.radius, self.half_length)

    def _centred(self, density: float) -> MassProperties:
        return tube(self.radius, self.half_length, density)

    @property
    def reach(self) -> float:
        return length(self.size)

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        return Cylinder(1.0, 1.0), (self.radius, self.radius, self.half_length)

    def facets(self, detail: int, cell: float) -> Facets:
        r, h = self.radius, self.half_length
        return revolved(np.array([0.0, r, r, 0.0]), np.array([-h, -h, h, h]), detail, 4)
