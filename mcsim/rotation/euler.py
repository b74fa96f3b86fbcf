"""Euler angles of all twelve orders, and their rates.

Three turns one after the other, about axes that `axes` names: "zyx" is a turn about z, then about y, then about x.
Intrinsic turns, which is what all functions take if not told otherwise, are about the body's own axes, which the turns
before have moved: R = R_z(a_0) R_y(a_1) R_x(a_2), so that "zyx" are yaw, pitch and roll, and "zxz" are the angles that
Euler used. Extrinsic ones (extrinsic=True) are about the world's axes, which stay: R = R_x(a_2) R_y(a_1) R_z(a_0). So an
extrinsic "zyx" is the intrinsic "xyz" with the angles in the other order. (SciPy writes intrinsic orders in capital
letters, and extrinsic ones in small letters.)
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.linear import lengths
from mcsim.core.rotation import products, rotated, rotated_back
from mcsim.core.trig import arctan2, cos, sin
from mcsim.rotation.parameters import FRAMES
from mcsim.scene.batches import batch, broadcast, unit_quaternions
from mcsim.scene.checks import FieldError, choose

ORDERS: tuple[str, ...] = tuple(
    "".join(axes) for axes in itertools.product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]
)
LOCKED = 1e-12  # half the sine of the middle turn, counted from where the other two are about one line, that is taken for 0
SINGULAR = 1e-8  # a determinant of the matrix of rates that counts as zero
UNITS = np.eye(3)


def from_euler(angles: ArrayLike, axes: str = "zyx", *, extrinsic: bool = False) -> np.ndarray:
    """q (…, 4) of Euler angles (…, 3) [rad], in the order in which `axes` names them, one of ORDERS.

    Intrinsic turns: R = R_0(a_0) R_1(a_1) R_2(a_2), about the body's axes. extrinsic: R = R_2(a_2) R_1(a_1) R_0(a_0), about
    the world's.
    """
    turns = _turns(*_intrinsic(batch(angles, "angles", 3), _order(axes), extrinsic))
    return products(products(turns[0], turns[1]), turns[2])


def to_euler(q: ArrayLike, axes: str = "zyx", *, extrinsic: bool = False) -> np.ndarray:
    """Euler angles (…, 3) [rad] of unit quaternions q (…, 4), in the order in which `axes` names them; see `from_euler`.

    The first and the last are in (-π, π]. The middle one is in [-π/2, π/2] where the three axes differ, as "zyx", and in
    [0, π] where the first comes again, as "zxz". At its ends, where the other two turn about one line (gimbal lock), only
    their sum or difference is determined, and the last one is 0.

    With i, j, k = the first axis, the second, i × j, and an order i, j, i: q = (cos(b/2) cos s, cos(b/2) sin s, sin(b/2)
    cos d, sin(b/2) sin d) along 1, i, j, k, where s and d are half the sum and half the difference of first and last angle,
    so that two arcs give the four half angles; an order of three axes is one of these after a quarter turn about j
    (E. Bernardes, S. Viollet, "Quaternion to Euler angles conversion", 2022).
    """
    q = unit_quaternions(q, "q")
    order = _order(axes)
    i, j, k = order[::-1] if extrinsic else order
    three = i != k
    k = 3 - i - j
    sign = 1.0 if (j - i) % 3 == 1 else -1.0  # i × j = sign k
    if three:
        q = products(q, np.concatenate([[1.0], UNITS[j]]) * np.sqrt(0.5))
    together, beside = q[..., [0, 1 + i]], q[..., [1 + j, 1 + k]] * (1.0, sign)
    half_sum = np.asarray(arctan2(together[..., 1], together[..., 0]))
    half_difference = np.asarray(arctan2(beside[..., 1], beside[..., 0]))
    c, s = lengths(together), lengths(beside)
    # Where one of them is lost, the angle that is named last is zero, and the two are alike up to their sign.
    zero_first = -1.0 if extrinsic else 1.0
    half_difference = np.where(s < LOCKED, zero_first * half_sum, half_difference)
    half_sum = np.where(c < LOCKED, zero_first * half_difference, half_sum)
    first, last = half_sum + half_difference, half_sum - half_difference
    middle = 2.0 * np.asarray(arctan2(s, c))
    if three:
        middle, last = middle - 0.5 * np.pi, -sign * last
    found = np.stack([_wrapped(first), middle, _wrapped(last)], axis=-1)
    return found[..., ::-1] if extrinsic else found


def euler_jacobian(angles: ArrayLike, axes: str = "zyx", *, extrinsic: bool = False, frame: str = "world") -> np.ndarray:
    """B (…, 3, 3) at Euler angles (…, 3) [rad]: w = B times their rates, w [rad/s] in "world" or in "body" axes.

    Its columns are the axes about which the angles turn, where they stand now: of intrinsic turns in world axes e_0, R_0
    e_1 and R_0 R_1 e_2, R_0 and R_1 the first two turns. Its determinant is ±cos of the middle angle where the three axes
    differ, else ±sin: at gimbal lock it is singular.
    """
    return _jacobian(batch(angles, "angles", 3), _order(axes), extrinsic, choose(frame, FRAMES, "frame"))


def euler_jacobian_inverse(
    angles: ArrayLike, axes: str = "zyx", *, extrinsic: bool = False, frame: str = "world"
) -> np.ndarray:
    """B⁻¹ (…, 3, 3) at Euler angles (…, 3) [rad]: the angles' rates = B⁻¹ w, w [rad/s] in axes of `frame`. A SceneError at
    gimbal lock, where the first and the last angle turn about one line and no rates give a w across it."""
    angles, order = batch(angles, "angles", 3), _order(axes)
    B = _jacobian(angles, order, extrinsic, choose(frame, FRAMES, "frame"))
    # Rows of the inverse: cross products of the columns, over the determinant.
    a, b, c = np.moveaxis(B, -1, 0)
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)
    determinant = np.sum(a * rows[..., 0, :], axis=-1)
    lost = np.abs(determinant) < SINGULAR
    if lost.any():
        at = angles[lost][0, 1]
        other = "zxz" if order[0] != order[2] else "zyx"
        raise FieldError(
            "angles",
            f"are at gimbal lock: with the middle one at {at:.6g} rad the first and the last turn about one line, and "
            f"rates are not determined; take another order, as axes={other!r}, or quaternions: "
            "mcsim.rotation.parameter_rates",
        )
    return rows / determinant[..., None, None]


def euler_drift(
    angles: ArrayLike, rates: ArrayLike, axes: str = "zyx", *, extrinsic: bool = False, frame: str = "world"
) -> np.ndarray:
    """Ḃ θ̇ (…, 3) [rad/s²] at Euler angles (…, 3) [rad] and rates θ̇ (…, 3) [rad/s]: the angular acceleration is
    B θ̈ + Ḃ θ̇, in axes of `frame`.

    Each axis is carried by the turns outside of it. In world axes the drift is the sum over pairs of w_i × w_j, i outside
    of j, w_i the angular velocity about axis i alone; in body axes it is the same, turned, for w × w = 0.
    """
    angles, rates = broadcast(angles=(batch(angles, "angles", 3), 1), rates=(batch(rates, "rates", 3), 1))
    B = _jacobian(angles, _order(axes), extrinsic, choose(frame, FRAMES, "frame"))
    first, second, third = np.moveaxis(B * rates[..., None, :], -1, 0)
    if extrinsic:
        first, third = third, first
    return np.cross(first, second) + np.cross(first + second, third)


def _order(axes: str) -> tuple[int, int, int]:
    i, j, k = ("xyz".index(letter) for letter in choose(axes, ORDERS, "axes"))
    return i, j, k


def _intrinsic(angles: np.ndarray, order: tuple[int, int, int], extrinsic: bool) -> tuple[np.ndarray, tuple[int, ...]]:
    """Angles and axes of intrinsic turns."""
    return (angles[..., ::-1], order[::-1]) if extrinsic else (angles, order)


def _turns(angles: np.ndarray, order: tuple[int, ...]) -> list[np.ndarray]:
    """The quaternions (…, 4) of the three turns."""
    c, s = np.asarray(cos(0.5 * angles)), np.asarray(sin(0.5 * angles))
    return [np.concatenate([c[..., i, None], s[..., i, None] * UNITS[axis]], axis=-1) for i, axis in enumerate(order)]


def _jacobian(angles: np.ndarray, order: tuple[int, int, int], extrinsic: bool, frame: str) -> np.ndarray:
    turned, along = _intrinsic(angles, order, extrinsic)
    first, second, third = _turns(turned, along)
    if frame == "world":
        both = products(first, second)
        columns = [
            np.broadcast_to(UNITS[along[0]], turned.shape),
            rotated(first, UNITS[along[1]]),
            rotated(both, UNITS[along[2]]),
        ]
    else:
        both = products(second, third)
        columns = [
            rotated_back(both, UNITS[along[0]]),
            rotated_back(third, UNITS[along[1]]),
            np.broadcast_to(UNITS[along[2]], turned.shape),
        ]
    return np.stack(columns[::-1] if extrinsic else columns, axis=-1)


def _wrapped(angle: np.ndarray) -> np.ndarray:
    """In (-π, π]."""
    return np.minimum(angle - 2.0 * np.pi * np.ceil((angle - np.pi) / (2.0 * np.pi)), np.pi)
