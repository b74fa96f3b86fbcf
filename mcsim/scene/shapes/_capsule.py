"""Capsule: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.trig import cos, sin
from mcsim.scene.checks import Vector, not_negative, positive
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._cylinder import tube
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape
from mcsim.scene.shapes._sphere import Sphere


class Capsule(Shape):
    """All points within `radius` [m] of a segment along the shape's z, from -half_length to half_length [m]."""

    type = "capsule"
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
        radius, half_length = positive(radius, "radius"), not_negative(half_length, "half_length")
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
        """[m] The diameter."""
        return 2.0 * self.radius

    def _centred(self, density: float) -> MassProperties:
        """A cylinder and two half balls, along z.

        A half ball's centre is 3/8 r above its flat face, so both together have, about the capsule's centre and across it,
        m (2/5 r² - (3/8 r)² + (h + 3/8 r)²) = m (2/5 r² + 3/4 h r + h²).
        """
        r, h = self.radius, self.half_length
        middle = tube(r, h, density)
        m = density * 4 / 3 * pi * r * r * r
        across = middle.inertia[0, 0] + m * (2 / 5 * r * r + 3 / 4 * h * r + h * h)
        return centred(middle.mass + m, across, across, middle.inertia[2, 2] + 2 / 5 * m * r * r)

    @property
    def reach(self) -> float:
        return self.radius + self.half_length

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        return Capsule(1.0, self.half_length / self.radius), (self.radius,) * 3

    def facets(self, detail: int, cell: float) -> Facets:
        if self.half_length == 0.0:
            return Sphere(self.radius).facets(detail, cell)
        cap = np.linspace(0.0, np.pi / 2, max(detail // 4, 2) + 1)
        middle = np.linspace(-1.0, 1.0, int(np.clip(np.ceil(2 * self.half_length / cell), 1, 12)) + 1)[1:-1]
        radii = self.radius * np.concatenate([cos(cap[::-1]), np.ones(len(middle)), cos(cap)])
        heights = np.concatenate(
            [
                -self.half_length - self.radius * sin(cap[::-1]),
                middle * self.half_length,
                self.half_length + self.radius * sin(cap),
            ]
        )
        return revolved(radii, heights, detail, 0)
