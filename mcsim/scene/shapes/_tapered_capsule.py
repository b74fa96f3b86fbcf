"""TaperedCapsule: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi, sqrt

import numpy as np

from mcsim.core.trig import arcsin, cos, sin
from mcsim.scene.checks import FieldError, Vector, positive
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, revolved
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape

# Places in [-1, 1] and weights of Gauss's rule with three points, which is exact for polynomials of degree 5.
GAUSS = ((-sqrt(0.6), 5 / 9), (0.0, 8 / 9), (sqrt(0.6), 5 / 9))


class TaperedCapsule(Shape):
    """The convex hull of two balls on the shape's z: one of `bottom_radius` [m] about z = -half_length, one of `top_radius`
    [m] about z = half_length [m]. With equal radii it is a capsule.

    Neither ball holds the other: the radii differ by less than 2 half_length. The origin is half-way between the balls'
    centres; the centre of mass is nearer to the larger ball.

        mc.TaperedCapsule(0.1, 0.06, half_length=0.2)               # a forearm
    """

    type = "tapered_capsule"
    bottom_radius: float
    top_radius: float
    half_length: float

    def __init__(
        self,
        bottom_radius: float,
        top_radius: float,
        half_length: float,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        bottom_radius, top_radius = positive(bottom_radius, "bottom_radius"), positive(top_radius, "top_radius")
        half_length = positive(half_length, "half_length")
        if not abs(bottom_radius - top_radius) < 2.0 * half_length:
            raise FieldError(
                "half_length",
                f"must be above {abs(bottom_radius - top_radius) / 2:g}, half the difference of the radii, got "
                f"{half_length:g}: one of the balls holds the other; use Sphere({max(bottom_radius, top_radius):g})",
            )
        self._describe(
            {
                "bottom_radius": bottom_radius,
                "top_radius": top_radius,
                "half_length": half_length,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            (bottom_radius, top_radius, half_length),
            bottom_radius=bottom_radius,
            top_radius=top_radius,
            half_length=half_length,
        )

    @property
    def lean(self) -> float:
        """The sine of the angle by which the normals of its side lean to z: (bottom - top) / (2 half_length)."""
        return (self.bottom_radius - self.top_radius) / (2.0 * self.half_length)

    @property
    def thickness(self) -> float:
        """[m] The larger diameter: across any other direction it is wider."""
        return 2.0 * max(self.bottom_radius, self.top_radius)

    def _centred(self, density: float) -> MassProperties:
        """A solid of revolution, R(z) from the axis: m = ρ π ∫ R², its centre ρ π ∫ z R² / m,
        I_zz = ρ π ∫ R⁴ / 2, and about the origin and across it ρ π ∫ (R⁴ / 4 + z² R²).

        It is a segment of each ball, R² = r² - (z - z_ball)², and a frustum between, whose R is linear in z: the integrands
        are polynomials of degree 4, of which Gauss's rule gives the integrals themselves.
        """
        lower, upper, h, lean = self.bottom_radius, self.top_radius, self.half_length, self.lean
        square = (1.0 - lean) * (1.0 + lean)
        cuts = (-h - lower, lower * lean - h, upper * lean + h, h + upper)
        volume = first = along = across = 0.0
        for k in range(3):
            middle, half = 0.5 * (cuts[k] + cuts[k + 1]), 0.5 * (cuts[k + 1] - cuts[k])
            for place, weight in GAUSS:
                z, w = middle + half * place, pi * half * weight
                side = 0.5 * (lower + upper) - lean * z
                area = (  # R²
                    (lower - z - h) * (lower + z + h),
                    side * side / square,
                    (upper - z + h) * (upper + z - h),
                )[k]
                volume += w * area
                first += w * area * z
                along += w * area * area / 2
                across += w * area * (area / 4 + z * z)
        center = first / volume
        across -= volume * center * center
        inertia = np.diag([density * across, density * across, density * along])
        return MassProperties(density * volume, np.array([0.0, 0.0, center]), inertia)

    @property
    def reach(self) -> float:
        return self.half_length + max(self.bottom_radius, self.top_radius)

    @property
    def extent(self) -> float:
        return 2.0 * self.half_length + self.bottom_radius + self.top_radius

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        r = self.bottom_radius
        return TaperedCapsule(1.0, self.top_radius / r, self.half_length / r), (r, r, r)

    def facets(self, detail: int, cell: float) -> Facets:
        edge, parts = arcsin(self.lean), max(detail // 4, 2) + 1
        lower, upper = np.linspace(-np.pi / 2, edge, parts), np.linspace(edge, np.pi / 2, parts)
        count = int(np.clip(np.ceil(2 * self.half_length / cell), 1, 12)) + 1
        along = np.linspace(0.0, 1.0, count)[1:-1]
        radii = self.bottom_radius + along * (self.top_radius - self.bottom_radius)
        heights = (2.0 * along - 1.0) * self.half_length
        return revolved(
            np.concatenate([self.bottom_radius * cos(lower), radii * cos(edge), self.top_radius * cos(upper)]),
            np.concatenate(
                [
                    self.bottom_radius * sin(lower) - self.half_length,
                    heights + radii * sin(edge),
                    self.top_radius * sin(upper) + self.half_length,
                ]
            ),
            detail,
            4,
        )
