"""Rotations and frames in NumPy: quaternions (w, x, y, z) rotate body vectors into the world, Hamilton product.

A frame is a pair (position (3,), unit quaternion (4,)): it takes x to position + R x. Functions with names in the plural
take arrays of any leading axes, unchecked; `mcsim.rotation` is what users call.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from mcsim.core.linear import dot, length, lengths, product
from mcsim.core.trig import arctan2

Frame = tuple[np.ndarray, np.ndarray]
Quaternion = np.ndarray | Sequence[float]

_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
IDENTITY: Frame = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def normalized(a: Any) -> np.ndarray:
    """a / |a|, also where |a|² would underflow or overflow; the length must not be zero."""
    a = np.asarray(a, float)
    numbers = a.tolist()
    largest = max(map(abs, numbers))
    if not 1e-100 < largest < 1e100:
        a = a / largest
        numbers = a.tolist()
    size = 0.0
    for number in numbers:
        size += number * number
    size = sqrt(size)
    return a if size == 1.0 else a / size


def _numbers(q: Any) -> Any:
    """One quaternion's four numbers as Python has them, which are faster than NumPy's; those of several as they are."""
    return q.tolist() if isinstance(q, np.ndarray) and q.ndim == 1 else q


def multiply(p: Quaternion, q: Quaternion) -> np.ndarray:
    """The rotation q followed by p."""
    p, q = _numbers(p), _numbers(q)
    return np.array(
        [
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
        ]
    )


def conjugate(q: np.ndarray) -> np.ndarray:
    """The inverse rotation."""
    return np.array([q[0], -q[1], -q[2], -q[3]])


def rotation_vector(q: np.ndarray) -> np.ndarray:
    """(3,) axis times angle, 0 to pi [rad], of the unit quaternion q."""
    q = q if q[0] >= 0.0 else -q
    sine = length(q[1:])
    return 2.0 * q[1:] if sine < 1e-100 else q[1:] * (2.0 * arctan2(sine, float(q[0])) / sine)


def matrix(q: np.ndarray) -> np.ndarray:
    """R (3, 3) of the unit quaternion q."""
    w, x, y, z = _numbers(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrices(q: np.ndarray) -> np.ndarray:
    """R (…, 3, 3) of the unit quaternions q (…, 4)."""
    q = np.asarray(q, float)
    if q.size == 4:  # of Python's own numbers, which are faster
        return matrix(q.reshape(4)).reshape(*q.shape[:-1], 3, 3)
    return np.moveaxis(matrix(np.moveaxis(q, -1, 0)), (0, 1), (-2, -1))


def products(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(…, 4): the rotations q (…, 4), each followed by its p (…, 4)."""
    p, q = np.broadcast_arrays(p, q)
    return np.moveaxis(multiply(np.moveaxis(p, -1, 0), np.moveaxis(q, -1, 0)), 0, -1)


def conjugates(q: np.ndarray) -> np.ndarray:
    """(…, 4): the inverse rotations of q (…, 4)."""
    return q * _CONJUGATE


def rotated(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(…, 3): R a of each. Sums in one order, however many there are: so one gives the bits that it gives among many."""
    m = matrices(q)
    return m[..., 0] * a[..., :1] + m[..., 1] * a[..., 1:2] + m[..., 2] * a[..., 2:]


def rotated_back(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(…, 3): R' a of each."""
    m = matrices(q)
    return m[..., 0, :] * a[..., :1] + m[..., 1, :] * a[..., 1:2] + m[..., 2, :] * a[..., 2:]


def cross_matrices(a: np.ndarray) -> np.ndarray:
    """a× (…, 3, 3) of a (…, 3): takes b to a × b."""
    out = np.zeros((*a.shape, 3))
    out[..., 1, 0], out[..., 2, 1], out[..., 0, 2] = a[..., 2], a[..., 0], a[..., 1]
    out[..., 0, 1], out[..., 1, 2], out[..., 2, 0] = -a[..., 2], -a[..., 0], -a[..., 1]
    return out


def rotate(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """R a."""
    return product(matrix(q), a)


def from_matrix(m: np.ndarray) -> np.ndarray:
    """The unit quaternion of the rotation matrix m, by its largest component (Shepperd 1978); w >= 0."""
    i = int(np.argmax(np.array([m[0, 0] + m[1, 1] + m[2, 2], m[0, 0], m[1, 1], m[2, 2]])))
    q = normalized(_by_component(m, i))
    return -q if q[0] < 0 else q


def from_matrices(m: np.ndarray) -> np.ndarray:
    """The unit quaternions (…, 4) of the rotation matrices m (…, 3, 3), by `from_matrix`."""
    m = np.moveaxis(np.asarray(m, float), (-2, -1), (0, 1))
    largest = np.argmax([m[0, 0] + m[1, 1] + m[2, 2], m[0, 0], m[1, 1], m[2, 2]], axis=0)
    q = np.empty((4, *m.shape[2:]))
    for i in range(4):
        q[:, largest == i] = _by_component(m[:, :, largest == i], i)
    q = np.moveaxis(q, 0, -1)
    return q / np.where(q[..., :1] < 0, -1.0, 1.0) / lengths(q)[..., None]


def _by_component(m: np.ndarray, i: int) -> np.ndarray:
    """(4, …): 4 q_i q of the rotation matrices m (3, 3, …), which are exact where q_i is large."""
    if i == 0:
        trace = m[0, 0] + m[1, 1] + m[2, 2]
        return np.array([1 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    j, k = i % 3 + 1, (i + 1) % 3 + 1  # x, y, z in cyclic order
    a, b, c = i - 1, j - 1, k - 1
    q = np.empty((4, *m.shape[2:]))
    q[0] = m[c, b] - m[b, c]
    q[i] = 1 + m[a, a] - m[b, b] - m[c, c]
    q[j] = m[b, a] + m[a, b]
    q[k] = m[c, a] + m[a, c]
    return q


def perpendicular(n: np.ndarray) -> np.ndarray:
    """The unit vector at right angles to the unit vector n that is nearest to x; to y where n is nearly x."""
    reference = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    return normalized(reference - dot(reference, n) * n)


def from_axes(z: Any, x: Any = None) -> np.ndarray:
    """The quaternion of the axes whose z is along z, and whose x is along x, or else the `perpendicular` one.

    z = (0, 0, 1) alone gives the identity.
    """
    z = normalized(z)
    x = perpendicular(z) if x is None else normalized(x - dot(x, z) * z)
    (a, b, c), (d, e, f) = z.tolist(), x.tolist()
    return from_matrix(np.array([[d, b * f - c * e, a], [e, c * d - a * f, b], [f, a * e - b * d, c]]))


def compose(f: Frame, g: Frame) -> Frame:
    """The frame g, given in f, in what f is given in."""
    return f[0] + rotate(f[1], g[0]), normalized(multiply(f[1], g[1]))


def relative(f: Frame, g: Frame) -> Frame:
    """The frame g, given in the same as f, in f."""
    return product(matrix(f[1]).T, g[0] - f[0]), normalized(multiply(conjugate(f[1]), g[1]))
