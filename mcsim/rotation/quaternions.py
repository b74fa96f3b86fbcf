"""Quaternions as rotations: products, matrices, axes and angles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.linear import lengths, product
from mcsim.core.rotation import conjugates, from_matrices, matrices, products, rotated
from mcsim.core.trig import arctan2, cos, sin
from mcsim.scene.batches import batch, broadcast, unit_quaternions
from mcsim.scene.checks import FieldError

ORTHOGONAL = 1e-6  # by how much R' R may differ from 1
SHORTEST = 1e-150  # the square of a shorter length is none of float64's
Z = np.array([0.0, 0.0, 1.0])


def normalize(q: ArrayLike) -> np.ndarray:
    """(…, 4): the quaternions q (…, 4) divided by their lengths, which must not be 0."""
    q = batch(q, "q", 4)
    largest = np.abs(q).max(axis=-1, initial=0.0, keepdims=True)
    if not (largest > 0.0).all():
        raise FieldError("q", "has a quaternion of length zero, which is no rotation")
    q = q / largest
    return q / lengths(q)[..., None]


def multiply(p: ArrayLike, q: ArrayLike) -> np.ndarray:
    """(…, 4): Hamilton's product p q of p (…, 4) and q (…, 4). Of unit quaternions it is the rotation q followed by p:
    R(p q) = R(p) R(q)."""
    return products(*broadcast(p=(batch(p, "p", 4), 1), q=(batch(q, "q", 4), 1)))


def conjugate(q: ArrayLike) -> np.ndarray:
    """(…, 4): (w, -x, -y, -z) of q (…, 4). Of a unit quaternion it is the inverse rotation."""
    return conjugates(batch(q, "q", 4))


def rotate(q: ArrayLike, a: ArrayLike) -> np.ndarray:
    """(…, 3): R(q) a, the vectors a (…, 3) of body axes in world axes, by unit quaternions q (…, 4). Back it goes by
    rotate(conjugate(q), a)."""
    return rotated(*broadcast(q=(unit_quaternions(q, "q"), 1), a=(batch(a, "a", 3), 1)))


def matrix(q: ArrayLike) -> np.ndarray:
    """R (…, 3, 3) of unit quaternions q (…, 4): R = (w² - v·v) 1 + 2 v v' + 2 w v×, where v = (x, y, z). It takes body
    vectors into the world; its columns are the body's axes in the world."""
    return matrices(unit_quaternions(q, "q"))


def from_matrix(R: ArrayLike) -> np.ndarray:
    """q (…, 4), w >= 0, of rotation matrices R (…, 3, 3), from the largest of its components (S. Shepperd, "Quaternion
    from rotation matrix", 1978). R must be orthogonal to 1e-6, and no reflection."""
    R = batch(R, "R", 3, 3)
    off = np.abs(product(np.swapaxes(R, -1, -2), R) - np.eye(3)).max(initial=0.0)
    if off > ORTHOGONAL:
        raise FieldError("R", f"must be orthogonal: R' R differs from 1 by {off:.3g}; its columns are the body's axes")
    if np.any(np.sum(np.cross(R[..., 0], R[..., 1]) * R[..., 2], axis=-1) < 0.0):
        raise FieldError("R", "must be a rotation, its determinant is -1: change the sign of one axis")
    return from_matrices(R)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> np.ndarray:
    """q (…, 4) = (cos(angle/2), sin(angle/2) axis/|axis|): the turn by angle (…) [rad] about axis (…, 3), which may have
    any length but zero. A turn by an angle beyond π has w < 0 up to 3π."""
    axis, angle = broadcast(axis=(batch(axis, "axis", 3), 1), angle=(batch(angle, "angle"), 0))
    size = lengths(axis)
    if not (size > SHORTEST).all():
        raise FieldError("axis", "must not be zero: a turn needs a direction")
    half = 0.5 * angle
    return np.concatenate([np.asarray(cos(half))[..., None], (sin(half) / size)[..., None] * axis], axis=-1)


def to_axis_angle(q: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """-> axis (…, 3) of length 1, angle (…) in [0, π] [rad], of unit quaternions q (…, 4). q and -q are one rotation. The
    axis is (0, 0, 1) where nothing is turned."""
    q = unit_quaternions(q, "q")
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = lengths(q[..., 1:])
    turned = sine > SHORTEST
    axis = np.where(turned[..., None], q[..., 1:] / np.where(turned, sine, 1.0)[..., None], Z)
    return axis, np.where(turned, 2.0 * np.asarray(arctan2(sine, q[..., 0])), 0.0)[()]


def from_rotation_vector(r: ArrayLike) -> np.ndarray:
    """q (…, 4) of rotation vectors r (…, 3): the turn by |r| [rad] about r."""
    r = batch(r, "r", 3)
    size = lengths(r)
    turned = size > SHORTEST
    return from_axis_angle(np.where(turned[..., None], r, Z), np.where(turned, size, 0.0))


def to_rotation_vector(q: ArrayLike) -> np.ndarray:
    """r (…, 3): axis times angle [rad], |r| <= π, of unit quaternions q (…, 4)."""
    axis, angle = to_axis_angle(q)
    return np.asarray(angle)[..., None] * axis
