"""Euler parameters: the matrices between rates of quaternions and angular velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.linear import dots
from mcsim.core.rotation import conjugates, products
from mcsim.scene.batches import batch, broadcast, unit_quaternions
from mcsim.scene.checks import FieldError, choose

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FRAMES = ("world", "body")


def G(q: ArrayLike) -> np.ndarray:
    """G (…, 3, 4) of q (…, 4): the angular velocity in **body** axes is w_body = 2 G q̇, and q̇ = ½ G' w_body.

    With q = (w, v), v = (x, y, z): G = [-v, w 1 - v×], the last three rows of the matrix of q* in q* q̇. It is linear in q;
    G q = 0; of unit quaternions G G' = 1, G' G = 1 - q q' and R = E G' (E. Haug, 1989, section 9.3, where it is G as well;
    A. Shabana writes Ḡ = 2 G).
    """
    q = batch(q, "q", 4)
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack([-x, w, z, -y, -y, -z, w, x, -z, y, -x, w], axis=-1).reshape(*q.shape[:-1], 3, 4)


def E(q: ArrayLike) -> np.ndarray:
    """E (…, 3, 4) of q (…, 4): the angular velocity in **world** axes is w = 2 E q̇, and q̇ = ½ E' w.

    With q = (w, v): E = [-v, w 1 + v×], the last three rows of the matrix of q* in q̇ q*. E = R G; E q = 0; of unit
    quaternions E E' = 1 (E. Haug, 1989, section 9.3; A. Shabana writes G = 2 E).
    """
    q = batch(q, "q", 4)
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack([-x, w, -z, y, -y, z, w, -x, -z, -y, x, w], axis=-1).reshape(*q.shape[:-1], 3, 4)


def L(orientations: ArrayLike) -> csr_array:
    """L(q) of n bodies, scipy.sparse CSR (7n, 6n): q̇ = L v.

    orientations (n, 4): unit quaternions, as `world.orientations`. q stacks [x; quaternion] of each body, 7 numbers: the
    centre of mass [m] and the quaternion (w, x, y, z); v stacks the twists [v; w] in world axes as a World has them, 6
    numbers: the centre of mass's velocity [m/s] and the angular velocity [rad/s]. Each block is [1 0; 0 ½ E'].
    """
    from scipy.sparse import csr_array

    q = unit_quaternions(orientations, "orientations")
    if q.ndim != 2:
        raise FieldError("orientations", f"must be (n, 4), a quaternion for each of n bodies, got {q.shape}")
    n = len(q)
    half = 0.5 * np.swapaxes(E(q), -1, -2)
    data = np.concatenate([np.ones((n, 3)), half.reshape(n, 12)], axis=1)
    columns = np.array([0, 1, 2, *(3, 4, 5) * 4]) + 6 * np.arange(n)[:, None]
    ends = np.cumsum(np.concatenate([[0], np.tile([1, 1, 1, 3, 3, 3, 3], n)]))
    return csr_array((data.ravel(), columns.ravel(), ends), shape=(7 * n, 6 * n))


def parameter_rates(q: ArrayLike, w: ArrayLike, frame: str = "world") -> np.ndarray:
    """q̇ (…, 4) [1/s] of quaternions q (…, 4) that turn with w (…, 3) [rad/s], in "world" axes: q̇ = ½ (0, w) q = ½ E' w;
    or in "body" axes: q̇ = ½ q (0, w) = ½ G' w."""
    q, w = broadcast(q=(batch(q, "q", 4), 1), w=(batch(w, "w", 3), 1))
    return 0.5 * _turning(q, w, choose(frame, FRAMES, "frame"))


def parameter_accelerations(q: ArrayLike, w: ArrayLike, alpha: ArrayLike, frame: str = "world") -> np.ndarray:
    """q̈ (…, 4) [1/s²] of quaternions q (…, 4) with the angular velocity w (…, 3) [rad/s] and acceleration alpha (…, 3)
    [rad/s²], both in axes of `frame`: q̈ = ½ E' alpha - ¼ (w·w) q, with G in place of E in "body" axes."""
    q, w, alpha = broadcast(q=(batch(q, "q", 4), 1), w=(batch(w, "w", 3), 1), alpha=(batch(alpha, "alpha", 3), 1))
    return 0.5 * _turning(q, alpha, choose(frame, FRAMES, "frame")) - 0.25 * dots(w, w)[..., None] * q


def angular_velocity(q: ArrayLike, qdot: ArrayLike, frame: str = "world") -> np.ndarray:
    """w (…, 3) [rad/s] of unit quaternions q (…, 4) with the rates qdot (…, 4) [1/s]: 2 E q̇ in "world" axes, 2 G q̇ in
    "body" axes. What of qdot would change the length of q is left out."""
    q, rate = broadcast(q=(unit_quaternions(q, "q"), 1), qdot=(batch(qdot, "qdot", 4), 1))
    inverse = conjugates(q)
    pair = (rate, inverse) if choose(frame, FRAMES, "frame") == "world" else (inverse, rate)
    return 2.0 * products(*pair)[..., 1:]


def _turning(q: np.ndarray, w: np.ndarray, frame: str) -> np.ndarray:
    """(0, w) q, or q (0, w)."""
    pure = np.concatenate([np.zeros((*w.shape[:-1], 1)), w], axis=-1)
    return products(pure, q) if frame == "world" else products(q, pure)
