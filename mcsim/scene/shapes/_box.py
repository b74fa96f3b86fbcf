"""Box: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.core.linear import length
from mcsim.scene.checks import Vector, positive, vector
from mcsim.scene.mass import MassProperties, centred
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, lattice
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Shape


class Box(Shape):
    """A box with `half_extents` (3 numbers [m]) along the shape's x, y, z, about its origin."""

    type = "box"
    half_extents: np.ndarray

    def __init__(
        self,
        half_extents: Vector,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        half_extents = vector(half_extents, "half_extents")
        for i, extent in enumerate(half_extents):
            positive(extent, f"half_extents[{i}]")
        self._describe(
            {
                "half_extents": half_extents,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            half_extents,
            half_extents=np.array(half_extents),
        )

    @property
    def thickness(self) -> float:
        """[m] The least edge."""
        return 2.0 * float(min(self.half_extents))

    def _centred(self, density: float) -> MassProperties:
        """I_xx = m/3 (b² + c²) with half extents a, b, c."""
        a, b, c = self._arguments["half_extents"]
        m = density * 8 * a * b * c
        return centred(m, m / 3 * (b * b + c * c), m / 3 * (c * c + a * a), m / 3 * (a * a + b * b))

    @property
    def reach(self) -> float:
        return length(self.size)

    @property
    def extent(self) -> float:
        return 2.0 * max(self.half_extents)

    def form(self) -> tuple[Shape, tuple[float, float, float]]:
        return Box((1.0, 1.0, 1.0)), tuple(self.half_extents.tolist())

    def facets(self, detail: int, cell: float) -> Facets:
        """Six faces, each a grid of cells, so that the painter can put other bodies between the parts of a long one."""
        half = self.half_extents
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
