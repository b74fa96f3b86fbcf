"""Box: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

from math import pi

import numpy as np

from mcsim.core.linear import length
from mcsim.scene.checks import Vector, positive, vector
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, lattice
from mcsim.scene.shapes._rounded import Polyhedron, polyhedron_facets, radius_of_ball
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape

# Of the box of half extents 1: corners (8, 3), faces, their normals (6, 3).
SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
LOOPS = [np.array(loop) for loop in ((4, 6, 7, 5), (0, 1, 3, 2), (2, 3, 7, 6), (0, 4, 5, 1), (1, 5, 7, 3), (0, 2, 6, 4))]
NORMALS = np.repeat(np.eye(3), 2, axis=0) * np.tile([[1.0], [-1.0]], (3, 1))


def rounded_box(a: float, b: float, c: float, r: float, density: float) -> MassProperties:
    """A box of half extents a, b, c swept by a ball of radius r: slabs on its faces, quarters of a cylinder on its edges,
    eighths of a ball at its corners. A disc of radius r has ∫ |x| = 4/3 r³, a ball π/2 r⁴."""

    def second(a: float, b: float, c: float) -> float:
        """∫ x²"""
        faces = 8 * b * c * ((3 * a * a + 3 * a * r + r * r) * r) / 3 + 8 * a * (b + c) * r * a * a / 3
        edges = pi * r * r * 2 * a * a * a / 3 + 2 * (b + c) * r * r * (pi * a * a + 8 / 3 * a * r + pi / 4 * r * r)
        corners = pi * r * r * r * (4 / 3 * a * a + a * r + 4 / 15 * r * r)
        return 8 * a * b * c * a * a / 3 + faces + edges + corners

    m = density * (8 * a * b * c + 8 * r * (a * b + b * c + c * a) + 2 * pi * r * r * (a + b + c) + 4 / 3 * pi * r * r * r)
    x, y, z = (density * second(*sides) for sides in ((a, b, c), (b, c, a), (c, a, b)))
    return centred(m, y + z, z + x, x + y)


class Box(Shape):
    """A box with `half_extents` (3 numbers [m]) along the shape's x, y, z, about its origin.

    rounding: [m] radius of the ball that sweeps it, 0: none. A rounded box reaches by that much farther than its half
    extents on all sides; its edges and corners are as round as the ball.

        Box((0.1, 0.1, 0.1), rounding=0.02)  # 0.24 m wide
    """

    type = "box"
    half_extents: np.ndarray

    def __init__(
        self,
        half_extents: Vector,
        *,
        rounding: float = 0.0,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        half_extents = vector(half_extents, "half_extents")
        for i, extent in enumerate(half_extents):
            positive(extent, f"half_extents[{i}]")
        rounding = radius_of_ball(rounding)
        self._describe(
            {
                "half_extents": half_extents,
                "rounding": rounding,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            half_extents,
            half_extents=np.array(half_extents),
            rounding=rounding,
        )

    @property
    def thickness(self) -> float:
        """[m] From a face to the one across, the least."""
        return 2.0 * (min(self.half_extents.tolist()) + self.rounding)

    def _centred(self, density: float) -> MassProperties:
        """I_xx = m/3 (b² + c²) with half extents a, b, c."""
        a, b, c = self._arguments["half_extents"]
        if self.rounding > 0.0:
            return rounded_box(a, b, c, self.rounding, density)
        m = density * 8 * a * b * c
        return centred(m, m / 3 * (b * b + c * c), m / 3 * (c * c + a * a), m / 3 * (a * a + b * b))

    @property
    def reach(self) -> float:
        return length(self.size) + self.rounding

    @property
    def extent(self) -> float:
        return 2.0 * (max(self.half_extents) + self.rounding)

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        if self.rounding > 0.0:
            return Box(self.half_extents, rounding=self.rounding), (1.0, 1.0, 1.0)
        return Box((1.0, 1.0, 1.0)), tuple(self.half_extents.tolist())

    def facets(self, detail: int, cell: float) -> Facets:
        """Six faces, each a grid of cells, so that the painter can put other bodies between the parts of a long one."""
        half = self.half_extents
        if self.rounding > 0.0:
            return polyhedron_facets(Polyhedron(SIGNS * half, LOOPS, NORMALS), self.rounding, detail)
        counts = np.clip(np.ceil(2 * half / cell - 1e-9), 1, 24).astype(int)
        vertices: list[np.ndarray] = []
        faces: list[np.ndarray] = []
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            us = np.linspace(-half[u], half[u], counts[u] + 1)
            vs = np.linspace(-half[v], half[v], counts[v] + 1)
            sheet = np.zeros((len(us), len(vs), 3))
            sheet[..., u], sheet[..., v] = us[:, None], vs[None, :]
            for sign in (1.0, -1.0):
                sheet[..., axis] = sign * half[axis]
                faces.append(sum(len(corners) for corners in vertices) + lattice(len(us), len(vs), flipped=sign < 0))
                vertices.append(sheet.reshape(-1, 3).copy())
        return Facets(np.concatenate(vertices), np.concatenate(faces), outlined=bool((counts == 1).all()))
