"""Principal axes of inertia tensors, element by element, so that the bits do not depend on a linear algebra library."""

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.rotation import from_matrix

SWEEPS = 12


def principal_axes(inertia: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3, 3) symmetric -> orientations (n, 4) of the principal axes in the body's, moments (n, 3) ascending.

    Cyclic Jacobi rotations (G. Golub, C. Van Loan, "Matrix Computations", section 8.5), all tensors at once.
    """
    m = np.array(inertia, float).reshape(-1, 3, 3)
    axes = np.tile(np.eye(3), (len(m), 1, 1))
    for _ in range(SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            off = m[:, p, q]
            small = np.abs(off) <= 1e-20 * (np.abs(m[:, p, p]) + np.abs(m[:, q, q]))
            tau = (m[:, q, q] - m[:, p, p]) / np.where(small, 1.0, 2.0 * off)
            t = np.where(small, 0.0, np.where(tau >= 0.0, 1.0, -1.0) / (np.abs(tau) + np.sqrt(1.0 + tau * tau)))
            c = 1.0 / np.sqrt(1.0 + t * t)
            s = (t * c)[:, None]
            c = c[:, None]
            m[:, :, p], m[:, :, q] = c * m[:, :, p] - s * m[:, :, q], s * m[:, :, p] + c * m[:, :, q]
            m[:, p], m[:, q] = c * m[:, p] - s * m[:, q], s * m[:, p] + c * m[:, q]
            axes[:, :, p], axes[:, :, q] = c * axes[:, :, p] - s * axes[:, :, q], s * axes[:, :, p] + c * axes[:, :, q]
    moments = np.stack([m[:, i, i] for i in range(3)], axis=1)
    order = np.argsort(moments, axis=1, kind="stable")
    moments = np.take_along_axis(moments, order, axis=1)
    axes = np.take_along_axis(axes, order[:, None, :], axis=2)
    for a in axes:
        a[:, 2] = np.cross(a[:, 0], a[:, 1])
    return np.array([from_matrix(a) for a in axes]).reshape(-1, 4), moments
