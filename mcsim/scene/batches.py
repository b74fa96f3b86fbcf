"""Checks of arrays that may have leading axes, one for each of many cases: each returns float64 or raises a SceneError."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcsim.core.linear import lengths
from mcsim.scene.checks import QUATERNION_TOLERANCE, FieldError, show


def batch(value: Any, field: str, *shape: int | str) -> np.ndarray:
    """(…, *shape) finite numbers. A word in `shape` stands for any size, and is what a message calls it."""
    expected = "(…" + "".join(f", {size}" for size in shape) + ")"
    try:
        array = np.asarray(value, float)
    except (OverflowError, TypeError, ValueError):
        raise FieldError(field, f"must be numbers of the shape {expected}, got {show(value)}") from None
    fits = array.ndim >= len(shape) and all(
        isinstance(size, str) or size == found for size, found in zip(shape[::-1], array.shape[::-1])
    )
    if not fits:
        raise FieldError(field, f"must be {expected}, got {array.shape}")
    if not np.isfinite(array).all():
        raise FieldError(field, "must be finite numbers")
    return array


def unit_quaternions(value: Any, field: str) -> np.ndarray:
    """(…, 4) unit quaternions."""
    q = batch(value, field, 4)
    off = np.abs(lengths(q) - 1.0)
    if off.max(initial=0.0) > QUATERNION_TOLERANCE:
        length = lengths(q).flat[int(np.argmax(off))]
        raise FieldError(
            field,
            f"must be unit quaternions (w, x, y, z), one has the length {length:.6g}; "
            "mcsim.rotation.normalize makes them so",
        )
    return q


def broadcast(**arrays: tuple[np.ndarray, int]) -> list[np.ndarray]:
    """The arrays with the same leading axes, as NumPy broadcasts them. arrays: name=(array, number of its own axes)."""
    heads = {name: array.shape[: array.ndim - own] for name, (array, own) in arrays.items()}
    try:
        head = np.broadcast_shapes(*heads.values())
    except ValueError:
        told = ", ".join(f"{name} has {shape}" for name, shape in heads.items())
        raise FieldError("", f"the leading axes do not fit each other: {told}") from None
    return [np.broadcast_to(array, head + array.shape[array.ndim - own :]) for array, own in arrays.values()]
