"""Cylinder: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.linear import length
from mcsim.scene.checks import Vector, positive
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._rounded import radius_of_ball, revolved_facets, rounded_cylinder
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


def tube(radius: float, half_length: float, density: float) -> MassProperties:
    """Along z: I_zz = m r²/2, I_xx = m (r²/4 + h²/3) with half length h."""
    m = density * 2 * pi * radius * radius * half_length
    across = m * (radius * radius / 4 + half_length * half_length / 3)
    return centred(m, across, across, m * radius * radius / 2)


class Cylinder(Shape):
    """A cylinder of `radius` [m] along the shape's z, from -half_length to half_length [m].

    rounding: [m] radius of the ball that sweeps it, 0: none. A rounded cylinder reaches by that much farther on all sides;
    its rims are as round as the ball.

        Cylinder(0.1, 0.2, rounding=0.02)  # 0.44 m long, 0.24 m across
    """

    type = "cylinder"
    radius: float
    half_length: float

    def __init__(
        self,
        radius: float,
        half_length: float,
        *,
        rounding: float = 0.0,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        radius, half_length = positive(radius, "radius"), positive(half_length, "half_length")
        rounding = radius_of_ball(rounding)
        self._describe(
            {
                "radius": radius,
                "half_length": half_length,
                "rounding": rounding,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            (radius, half_length, 0.0),
            radius=radius,
            half_length=half_length,
            rounding=rounding,
        )

    @property
    def thickness(self) -> float:
        """[m] The diameter or the length, the less of them."""
        return 2.0 * (min(self.radius, self.half_length) + self.rounding)

    def _centred(self, density: float) -> MassProperties:
        if self.rounding > 0.0:
            return rounded_cylinder(self.radius, self.half_length, self.rounding, density)
        return tube(self.radius, self.half_length, density)

    @property
    def reach(self) -> float:
        return length(self.size) + self.rounding

    @property
    def extent(self) -> float:
        return super().extent + 2.0 * self.rounding

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        if self.rounding > 0.0:
            return Cylinder(self.radius, self.half_length, rounding=self.rounding), (1.0, 1.0, 1.0)
        return Cylinder(1.0, 1.0), (self.radius, self.radius, self.half_length)

    def facets(self, detail: int, cell: float) -> Facets:
        r, h = self.radius, self.half_length
        if self.rounding > 0.0:
            return revolved_facets((r, r), (-h, h), self.rounding, (-pi / 2, 0.0, pi / 2), detail)
        return revolved(np.array([0.0, r, r, 0.0]), np.array([-h, -h, h, h]), detail, 4)
