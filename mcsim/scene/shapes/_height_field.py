"""HeightField: its arguments, its picture."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.scene.checks import FieldError, Vector, positive, vector
from mcsim.scene.hull import HUGE
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, sheet
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Points
from mcsim.scene.shapes._surface import Surface, table


class HeightField(Surface):
    """A ground given by its heights on a grid, for static and kinematic bodies; what is below it is solid.

    heights (m, n) [m], at least 2 each way: heights[i, j] is z at x = (i - (m-1)/2) dx, y = (j - (n-1)/2) dy in the
    shape's frame, whose origin is thus under the middle. spacing: dx, dy or one number for both [m]. A cell is two
    triangles, parted by the line from (i, j) to (i+1, j+1).
    """

    type = "height_field"
    heights: np.ndarray
    spacing: np.ndarray

    def __init__(
        self,
        heights: Points,
        spacing: float | Vector,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
    ):
        heights = table(heights, "heights", None)
        if min(heights.shape) < 2:
            raise FieldError("heights", "must be at least 2 by 2 numbers, got {} by {}".format(*heights.shape))
        if np.ndim(spacing) == 0 and not isinstance(spacing, (str, bytes, dict, set)):
            spacing = positive(spacing, "spacing")
        else:
            spacing = vector(spacing, "spacing", 2)
            for i, step in enumerate(spacing):
                positive(step, f"spacing[{i}]")
        both = np.broadcast_to(np.array(spacing, float), (2,)).copy()
        if not both.max() * max(heights.shape) < HUGE:
            raise FieldError("spacing", f"makes it wider than {HUGE:g} m")
        self._describe(
            {
                "heights": heights,
                "spacing": spacing,
                "position": position,
                "orientation": orientation,
                "material": material,
            },
            ORIGIN,
            heights=heights,
            spacing=both,
        )

    def __repr__(self) -> str:
        return f"<HeightField: {self.heights.shape[0]} by {self.heights.shape[1]} heights>"

    def _triangles(self, detail: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
        """The same surface as vertices (m n, 3) and faces (2 (m-1) (n-1), 3), wound to face up."""
        m, n = self.heights.shape
        x, y = ((np.arange(k) - (k - 1) / 2) * step for k, step in zip((m, n), self.spacing))
        vertices = np.stack([np.repeat(x, n), np.tile(y, m), self.heights.ravel()], axis=1)
        corner = (np.arange(m - 1)[:, None] * n + np.arange(n - 1)).ravel()
        faces = np.stack([corner, corner + n, corner + n + 1, corner, corner + n + 1, corner + 1], axis=1)
        return vertices, faces.reshape(-1, 3).astype(np.int32)

    @property
    def extent(self) -> float:
        return float(max((np.array(self.heights.shape) - 1) * self.spacing))

    def facets(self, detail: int, cell: float) -> Facets:
        return sheet(*self.triangles())
