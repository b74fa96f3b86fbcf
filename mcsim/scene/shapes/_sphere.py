"""Sphere: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.trig import cos, sin
from mcsim.scene.checks import Vector, positive
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


class Sphere(Shape):
    """A ball of `radius` [m] about the shape's origin."""

    type = "sphere"
    radius: float

    def __init__(
        self,
        radius: float,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        radius = positive(radius, "radius")
        self._describe(
            {
                "radius": radius,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            (radius, 0.0, 0.0),
            radius=radius,
        )

    @property
    def thickness(self) -> float:
        """[m] The diameter."""
        return 2.0 * self.radius

    def _centred(self, density: float) -> MassProperties:
        """I = 2/5 m r²."""
        radius = self.radius
        m = density * 4 / 3 * pi * radius * radius * radius
        i = 2 / 5 * m * radius * radius
        return centred(m, i, i, i)

    @property
    def reach(self) -> float:
        return self.radius

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        return Sphere(1.0), (self.radius,) * 3

    def facets(self, detail: int, cell: float) -> Facets:
        latitudes = np.linspace(-np.pi / 2, np.pi / 2, max(detail // 2, 4) + 1)
        return revolved(self.radius * cos(latitudes), self.radius * sin(latitudes), detail, 4)
