"""Surfaces without thickness or mass, for bodies that nothing moves: what meshes and height fields have in common.

Their tables of numbers are kept as read-only arrays, since they may have a million rows.
"""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.scene.checks import FieldError, items, vector
from mcsim.scene.hull import HUGE
from mcsim.scene.mass import MassProperties
from mcsim.scene.shapes._shape import Shape


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
        return type(self) is type(other) and all(
            np.array_equal(value, other._arguments[name]) for name, value in self._arguments.items()
        )

    def __hash__(self) -> int:
        return hash(
            (
                type(self),
                *(value.tobytes() if isinstance(value, np.ndarray) else value for value in self._arguments.values()),
            )
        )


def table(value: Any, field: str, width: int | None) -> np.ndarray:
    """A table of finite numbers, read-only; `width` numbers a row, or in each as many as in the first."""
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "iuf":
        if width is not None and value.shape[1] != width:
            raise FieldError(field, f"must be rows of {width} numbers, got an array of shape {value.shape}")
        rows = value.astype(np.float64)
    else:
        given = items(value, "a list of rows of numbers", field)
        if width is None:
            width = len(items(given[0], "a list of numbers", f"{field}[0]")) if given else 0
        rows = np.array([vector(row, f"{field}[{i}]", width) for i, row in enumerate(given)], np.float64).reshape(
            len(given), width
        )
    bad = np.argwhere(~(np.abs(rows) < HUGE))
    if len(bad):
        i, j = bad[0]
        wanted = f"below {HUGE:g} m" if np.isfinite(rows[i, j]) else "finite"
        raise FieldError(f"{field}[{i}][{j}]", f"must be {wanted}, got {rows[i, j]}")
    rows.flags.writeable = False
    return rows
