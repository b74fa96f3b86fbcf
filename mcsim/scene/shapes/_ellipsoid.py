"""Ellipsoid: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.trig import cos, sin
from mcsim.scene.checks import Vector, positive, vector
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


class Ellipsoid(Shape):
    """An ellipsoid about the shape's origin, with the semi-axes `radii` (3,) [m] along the shape's x, y and z.

    mc.Ellipsoid((0.3, 0.2, 0.2))
    """

    type = "ellipsoid"
    radii: tuple[float, float, float]

    def __init__(
        self,
        radii: Vector,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        radii = tuple(positive(radius, f"radii[{k}]") for k, radius in enumerate(vector(radii, "radii")))
        self._describe(
            {
                "radii": radii,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            radii,
            radii=radii,
        )

    @property
    def thickness(self) -> float:
        """[m] The shortest diameter."""
        return 2.0 * min(self.radii)

    def _centred(self, density: float) -> MassProperties:
        """I_xx = m (b² + c²) / 5, and so on."""
        a, b, c = self.radii
        m = density * 4 / 3 * pi * a * b * c
        return centred(m, m * (b * b + c * c) / 5, m * (c * c + a * a) / 5, m * (a * a + b * b) / 5)

    @property
    def reach(self) -> float:
        return max(self.radii)

    @property
    def extent(self) -> float:
        return 2.0 * max(self.radii)

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        return Ellipsoid((1.0, 1.0, 1.0)), self.radii

    def facets(self, detail: int, cell: float) -> Facets:
        latitudes = np.linspace(-np.pi / 2, np.pi / 2, max(detail // 2, 4) + 1)
        ball = revolved(cos(latitudes), sin(latitudes), detail, 4)
        return Facets(ball.vertices * self.size, ball.faces, dark=ball.dark)
