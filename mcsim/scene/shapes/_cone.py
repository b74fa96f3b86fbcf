"""Cone: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.linear import length
from mcsim.core.trig import arctan2
from mcsim.scene.checks import Vector, positive
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._rounded import radius_of_ball, revolved_facets, rounded_cone
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


class Cone(Shape):
    """A circular cone along the shape's z: a base of `radius` [m] at z = -half_length, the apex at z = half_length [m].

    The origin is at half its height, as a cylinder's; its centre of mass is at z = -half_length / 2.

    rounding: [m] radius of the ball that sweeps it, 0: none. A rounded cone reaches by that much farther on all sides; its
    rim and its apex are as round as the ball, and its centre of mass is elsewhere.

        Cone(0.1, 0.2, rounding=0.02)  # 0.44 m high, 0.24 m across
    """

    type = "cone"
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
        """[m] Its height, or how far its side is from the point of the rim that is opposite: the less of them."""
        ruling = length((self.radius, 2.0 * self.half_length))
        return 2.0 * (self.half_length * min(1.0, 2.0 * self.radius / ruling) + self.rounding)

    def _centred(self, density: float) -> MassProperties:
        """With the height H: m = ρ π r² H / 3, I_zz = 3/10 m r², across it 3/80 m (4 r² + H²)."""
        if self.rounding > 0.0:
            return rounded_cone(self.radius, self.half_length, self.rounding, density)
        r, height = self.radius, 2.0 * self.half_length
        m = density * pi * r * r * height / 3
        across = 3 / 80 * m * (4 * r * r + height * height)
        return MassProperties(m, np.array([0.0, 0.0, -0.25 * height]), np.diag([across, across, 3 / 10 * m * r * r]))

    @property
    def reach(self) -> float:
        return length(self.size) + self.rounding

    @property
    def extent(self) -> float:
        return super().extent + 2.0 * self.rounding

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        if self.rounding > 0.0:
            return Cone(self.radius, self.half_length, rounding=self.rounding), (1.0, 1.0, 1.0)
        return Cone(1.0, 1.0), (self.radius, self.radius, self.half_length)

    def facets(self, detail: int, cell: float) -> Facets:
        r, h = self.radius, self.half_length
        if self.rounding > 0.0:
            side = float(arctan2(r, 2.0 * h))  # of its normal, over the base
            return revolved_facets((r, 0.0), (-h, h), self.rounding, (-pi / 2, side, pi / 2), detail)
        return revolved(np.array([0.0, r, 0.0]), np.array([-h, -h, h]), detail, 4)
