"""The drift of free bodies between two solves of their rows, and its derivative (docs/theory/rotation.md).

    x+ = x + h v,     q+ = turn(a w_m) q,     w+ = I(q+)^-1 L,     L = I(q) w kept

w_m is the implicit midpoint in body axes, I w_m + a w_m x I w_m = l, a = tan(h |w| / 2) / |w|, and turn(t) the turn by
2 atan(|t|) about t: the equations of integrate/_euler.pyx, which is where the engine makes the step. Here they are written
for complex numbers too, so that a derivative along a direction is the imaginary part of the result at an imaginary step,
without any difference and to rounding (J. Lyness, C. Moler, "Numerical differentiation of analytic functions", 1967).
"""

from __future__ import annotations

import numpy as np

from mcsim.core.rotation import matrices

TINY = 1e-30  # the imaginary step
PIECE_ANGLE = 0.5  # [rad] wide/_bodies.pxi: a faster turn is made in several pieces,
MOST_PIECES = 32  # at most so many
ROUNDS = 12  # of Newton's method at most, which squares its error in each
ROUNDING = 1e-12  # a change of so small a part is the last


def flown(
    R: np.ndarray, w: np.ndarray, inertia: np.ndarray, inverse: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """-> R+ (k, 3, 3), w+ (k, 3) of k bodies after h; R, w complex or not, inertia and its inverse in body axes."""
    l_world = _times(R, _times(inertia, _times(np.swapaxes(R, -1, -2), w)))
    speed = np.sqrt(np.sum(np.real(w) ** 2, axis=-1))
    pieces = np.where(h * speed > PIECE_ANGLE, np.minimum(np.ceil(h * speed / PIECE_ANGLE), MOST_PIECES), 1.0)
    out = np.array(R, dtype=w.dtype)
    for k in range(int(pieces.max(initial=1.0))):
        going = pieces > k
        out[going] = _turned(out[going], l_world[going], inertia[going], inverse[going], h / pieces[going])
    return out, _times(out, _times(inverse, _times(np.swapaxes(out, -1, -2), l_world)))


def _turned(R: np.ndarray, l_world: np.ndarray, inertia: np.ndarray, inverse: np.ndarray, h: np.ndarray) -> np.ndarray:
    """R after one piece."""
    l = _times(np.swapaxes(R, -1, -2), l_world)  # noqa: E741  # the spin momentum's own letter
    w = _times(inverse, l)
    a = _half_turn(h, np.sum(w * w, axis=-1))[:, None]
    m = w - a * _times(inverse, _cross(w, l))
    for _ in range(ROUNDS):
        spin = _times(inertia, m)
        off = spin + a * _cross(m, spin) - l
        slope = inertia + a[:, :, None] * (_crosses(m) @ inertia - _crosses(spin))
        change = np.linalg.solve(slope, off[..., None])[..., 0]
        m = m - change
        if np.abs(change).max(initial=0.0) <= ROUNDING * np.abs(w).max(initial=0.0):
            break
    return R @ _cayley(a * m)


def _half_turn(h: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """tan(h |w| / 2) / |w| of |w|^2: an even function, by its continued fraction, as wide/_bodies.pxi has it."""
    z = 0.25 * h * h * squared
    top = 135135.0 - z * (17325.0 - z * (378.0 - z))
    return 0.5 * h * top / (135135.0 - z * (62370.0 - z * (3150.0 - 28.0 * z)))


def _cayley(t: np.ndarray) -> np.ndarray:
    """The rotation (1 + [t]) (1 - [t])^-1 by 2 atan(|t|) about t."""
    X = _crosses(t)
    one = np.eye(3)
    return one + 2.0 / (1.0 + np.sum(t * t, axis=-1))[:, None, None] * (X + X @ X)


def _crosses(a: np.ndarray) -> np.ndarray:
    out = np.zeros((*a.shape, 3), dtype=a.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i, j], out[..., j, i] = -a[..., k], a[..., k]
    return out


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _times(_crosses(a), b)


def _times(m: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (m @ v[..., None])[..., 0]


def flight_derivative(
    orientation: np.ndarray, w: np.ndarray, inertia: np.ndarray, inverse: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> R+ (k, 3, 3), w+ (k, 3), D (k, 6, 6): of [turn of R+ about world axes; w+] by [turn of R; w].

    orientation (k, 4): unit quaternions; w (k, 3) [rad/s]; inertia, inverse (k, 3, 3) in body axes."""
    k, R = len(w), matrices(orientation)
    after, spins = flown(R, w, inertia, inverse, h)
    starts, rates = np.tile(R.astype(complex), (6, 1, 1, 1)), np.tile(w.astype(complex), (6, 1, 1))
    for axis in range(3):
        starts[axis] += 1j * TINY * _crosses(np.eye(3)[axis]) @ R
        rates[3 + axis, :, axis] += 1j * TINY
    there, fast = flown(
        starts.reshape(6 * k, 3, 3),
        rates.reshape(6 * k, 3),
        np.tile(inertia, (6, 1, 1)),
        np.tile(inverse, (6, 1, 1)),
        h,
    )
    turns = (there.imag / TINY).reshape(6, k, 3, 3) @ np.swapaxes(after, -1, -2)
    vectors = np.stack([turns[..., 2, 1], turns[..., 0, 2], turns[..., 1, 0]], axis=-1)
    changes = np.concatenate([vectors, (fast.imag / TINY).reshape(6, k, 3)], axis=-1)
    return after, spins, np.transpose(changes, (1, 2, 0))
