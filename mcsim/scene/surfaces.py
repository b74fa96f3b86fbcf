"""Mesh and HeightField: surfaces without thickness or mass, for bodies that nothing moves.

Their tables of numbers are kept as read-only arrays, since they may have a million rows.
"""

from __future__ import annotations      # signatures read as they are written here

from numbers import Integral
from typing import Any

import numpy as np

from mcsim.core.linear import lengths
from mcsim.scene.checks import FieldError, Vector, items, positive, show, vector
from mcsim.scene.hull import HUGE
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.shapes import ORIGIN, SHAPES, UPRIGHT, Shape


class Surface(Shape):
    """What a mesh and a height field have in common: arrays for arguments, and no mass."""

    massive = False

    @property
    def volume(self) -> float:
        """A surface has none."""
        return 0.0

    def mass_properties(self, density: float) -> MassProperties:
        raise FieldError("", "has no mass: it is a surface; give mass and inertia, or use ConvexHull")

    def same(self, other: Any) -> bool:
        return type(self) is type(other) and all(np.array_equal(value, other._arguments[name])
                                                 for name, value in self._arguments.items())

    def __hash__(self) -> int:
        return hash((type(self), *(value.tobytes() if isinstance(value, np.ndarray) else value
                                   for value in self._arguments.values())))


class Mesh(Surface):
    """Triangles, for static and kinematic bodies: a skin that holds from both sides.

    vertices (v, 3) [m] in the shape's frame; faces (f, 3), three vertex numbers each, counted from 0. Every body stays
    on the side of the skin on which it is, whichever way the faces are wound. Corners at equal places count as one, so
    it does not matter whether neighbours share them; faces without area are kept here but touch nothing.
    """

    type = "mesh"
    vertices: np.ndarray
    faces: np.ndarray

    def __init__(self, vertices: Vector, faces: Vector, *, position: Vector = ORIGIN, orientation: Vector = UPRIGHT,
                 material: Material | None = None):
        vertices = _numbers(vertices, "vertices", 3)
        faces = _faces(faces, len(vertices))
        corners = vertices[faces]
        with np.errstate(all="ignore"):
            area = lengths(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        if not (area > 0.0).any():
            raise FieldError("faces", "have no area: not one of them is a triangle")
        self._describe({"vertices": vertices, "faces": faces, "position": position, "orientation": orientation,
                        "material": material}, ORIGIN, vertices=vertices, faces=faces)

    def __repr__(self) -> str:
        return f"<Mesh: {len(self.vertices)} vertices, {len(self.faces)} faces>"


class HeightField(Surface):
    """A ground given by its heights on a grid, for static and kinematic bodies; what is below it is solid.

    heights (m, n) [m], at least 2 each way: heights[i, j] is z at x = (i - (m-1)/2) dx, y = (j - (n-1)/2) dy in the
    shape's frame, whose origin is thus under the middle. spacing: dx, dy or one number for both [m]. A cell is two
    triangles, parted by the line from (i, j) to (i+1, j+1).
    """

    type = "height_field"
    heights: np.ndarray
    spacing: np.ndarray

    def __init__(self, heights: Vector, spacing: float | Vector, *, position: Vector = ORIGIN,
                 orientation: Vector = UPRIGHT, material: Material | None = None):
        heights = _numbers(heights, "heights", None)
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
        self._describe({"heights": heights, "spacing": spacing, "position": position, "orientation": orientation,
                        "material": material}, ORIGIN, heights=heights, spacing=both)

    def __repr__(self) -> str:
        return f"<HeightField: {self.heights.shape[0]} by {self.heights.shape[1]} heights>"

    def triangles(self) -> tuple[np.ndarray, np.ndarray]:
        """The same surface as vertices (m n, 3) and faces (2 (m-1) (n-1), 3), wound to face up."""
        m, n = self.heights.shape
        x, y = ((np.arange(k) - (k - 1) / 2) * step for k, step in zip((m, n), self.spacing))
        vertices = np.stack([np.repeat(x, n), np.tile(y, m), self.heights.ravel()], axis=1)
        corner = (np.arange(m - 1)[:, None] * n + np.arange(n - 1)).ravel()
        faces = np.stack([corner, corner + n, corner + n + 1, corner, corner + n + 1, corner + 1], axis=1)
        return vertices, faces.reshape(-1, 3)


SHAPES.update({shape.type: shape for shape in (Mesh, HeightField)})


def _numbers(value: Any, field: str, width: int | None) -> np.ndarray:
    """A table of finite numbers, read-only; `width` numbers a row, or in each as many as in the first."""
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "iuf":
        if width is not None and value.shape[1] != width:
            raise FieldError(field, f"must be rows of {width} numbers, got an array of shape {value.shape}")
        table = value.astype(np.float64)
    else:
        rows = items(value, "a list of rows of numbers", field)
        if rows and width is None:
            width = len(items(rows[0], "a list of numbers", f"{field}[0]"))
        table = np.array([vector(row, f"{field}[{i}]", width) for i, row in enumerate(rows)], float).reshape(
            len(rows), width or 0)
    bad = np.argwhere(~(np.abs(table) < HUGE))
    if len(bad):
        i, j = bad[0]
        wanted = f"below {HUGE:g} m" if np.isfinite(table[i, j]) else "finite"
        raise FieldError(f"{field}[{i}][{j}]", f"must be {wanted}, got {table[i, j]}")
    table.flags.writeable = False
    return table


def _faces(value: Any, count: int) -> np.ndarray:
    """(f, 3) int32 numbers of vertices, of which there are `count`; read-only."""
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 3 and value.dtype.kind in "iu":
        faces = value
    else:
        rows = items(value, "a list of rows of three vertex numbers", "faces")
        for i, row in enumerate(rows):
            numbers = items(row, "three vertex numbers", f"faces[{i}]")
            if len(numbers) != 3 or not all(isinstance(k, Integral) and not isinstance(k, (bool, np.bool_))
                                            for k in numbers):
                raise FieldError(f"faces[{i}]", f"must be three vertex numbers, got {show(row)}")
        faces = np.array([[min(max(int(k), -1), count) for k in row] for row in rows], np.int64).reshape(-1, 3)
    if len(faces) == 0:
        raise FieldError("faces", "must be at least one")
    bad = np.argwhere((faces < 0) | (faces >= count))
    if len(bad):
        i, j = bad[0]
        raise FieldError(f"faces[{i}]", f"names vertex {int(value[i][j])}, but the {count} vertices are numbered from "
                                        f"0 to {count - 1}")
    faces = faces.astype(np.int32)
    faces.flags.writeable = False
    return faces
