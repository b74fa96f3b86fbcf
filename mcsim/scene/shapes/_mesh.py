"""Mesh: its arguments, its picture."""

from __future__ import annotations  # signatures read as they are written here

from numbers import Integral
from typing import Any

import numpy as np

from mcsim.core.linear import lengths
from mcsim.scene.checks import FieldError, Vector, items, show
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets, sheet
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Corners, Points
from mcsim.scene.shapes._surface import Surface, table


class Mesh(Surface):
    """Triangles, for static and kinematic bodies: a skin that holds from both sides.

    vertices (v, 3) [m] in the shape's frame; faces (f, 3), three vertex numbers each, counted from 0. Every body stays
    on the side of the skin on which it is, whichever way the faces are wound. Corners at equal places count as one, so
    it does not matter whether neighbours share them; faces without area are kept here but touch nothing.
    """

    type = "mesh"
    vertices: np.ndarray
    faces: np.ndarray

    def __init__(
        self,
        vertices: Points,
        faces: Corners,
        *,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
    ):
        vertices = table(vertices, "vertices", 3)
        faces = _faces(faces, len(vertices))
        corners = vertices[faces]
        with np.errstate(all="ignore"):
            area = lengths(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        if not (area > 0.0).any():
            raise FieldError("faces", "have no area: not one of them is a triangle")
        self._describe(
            {"vertices": vertices, "faces": faces, "position": position, "orientation": orientation, "material": material},
            ORIGIN,
            vertices=vertices,
            faces=faces,
        )

    def __repr__(self) -> str:
        return f"<Mesh: {len(self.vertices)} vertices, {len(self.faces)} faces>"

    @property
    def extent(self) -> float:
        return float(max(np.ptp(self.vertices, axis=0)))

    def facets(self, detail: int, cell: float) -> Facets:
        """The triangles as they are."""
        return sheet(self.vertices, self.faces)

    def _triangles(self, detail: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
        return self.vertices, self.faces


def _faces(value: Any, count: int) -> np.ndarray:
    """(f, 3) int32 numbers of vertices, of which there are `count`; read-only."""
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 3 and value.dtype.kind in "iu":
        faces = value
    else:
        rows = items(value, "a list of rows of three vertex numbers", "faces")
        for i, row in enumerate(rows):
            numbers = items(row, "three vertex numbers", f"faces[{i}]")
            if len(numbers) != 3 or not all(
                isinstance(k, Integral) and not isinstance(k, (bool, np.bool_)) for k in numbers
            ):
                raise FieldError(f"faces[{i}]", f"must be three vertex numbers, got {show(row)}")
        faces = np.array([[min(max(int(k), -1), count) for k in row] for row in rows], np.int64).reshape(-1, 3)
    if len(faces) == 0:
        raise FieldError("faces", "must be at least one")
    bad = np.argwhere((faces < 0) | (faces >= count))
    if len(bad):
        i, j = bad[0]
        raise FieldError(
            f"faces[{i}]", f"names vertex {int(value[i][j])}, but the {count} vertices are numbered from 0 to {count - 1}"
        )
    faces = faces.astype(np.int32)
    faces.flags.writeable = False
    return faces
