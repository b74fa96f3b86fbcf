"""Mass properties: of solids inside triangles, of several parts together. Those of each shape stand with it.

Inertia is the full 3×3 tensor about the centre of mass [kg m²].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcsim.core._linear import solid_placed
from mcsim.core.linear import crosses, dot, dots, eigenvalues, product

SLENDEREST = 1e-12  # the least ratio of two principal moments


@dataclass(frozen=True, eq=False)
class MassProperties:
    """mass [kg], center (3,) [m], inertia (3, 3) about the center [kg m²], in the axes of one frame."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray

    def placed(self, position: np.ndarray, orientation: np.ndarray) -> "MassProperties":
        """The same, in the frame in which this one's frame has the given position and orientation."""
        return MassProperties(self.mass, *solid_placed(orientation, position, self.center, self.inertia))

    def scaled(self, factor: float) -> "MassProperties":
        """The same shape with another density."""
        return MassProperties(self.mass * factor, self.center, self.inertia * factor)


def centred(mass: float, ixx: float, iyy: float, izz: float) -> MassProperties:
    """Of a solid about its own frame's origin and axes."""
    return MassProperties(mass, np.zeros(3), np.array([[ixx, 0.0, 0.0], [0.0, iyy, 0.0], [0.0, 0.0, izz]]))


def polyhedron(triangles: np.ndarray, density: float) -> MassProperties:
    """The solid inside a closed surface of triangles (t, 3, 3), counter-clockwise seen from outside.

    By the divergence theorem the solid is the sum of the signed tetrahedra between a point o and each triangle
    (a, b, c from o, d = det[a b c], s = a + b + c):
        V = Σ d/6,   V c = Σ d/24 s,   ∫ x xᵀ = Σ d/120 (a aᵀ + b bᵀ + c cᵀ + s sᵀ),   I = tr(∫ x xᵀ) 1 - ∫ x xᵀ.
    The sums are taken about the corners' mean, then the moments again about the centre of mass, so that nothing large
    cancels, however far from the origin the solid is.
    """

    def sums(origin: Any) -> Any:
        corners = triangles - origin
        d = dots(corners[:, 0], crosses(corners[:, 1], corners[:, 2]))
        return corners, d, corners.sum(axis=1)

    origin = triangles.reshape(-1, 3).mean(axis=0)
    _, d, s = sums(origin)
    center = origin + product(d, s) / (4 * d.sum())
    corners, d, s = sums(center)
    weighted = d[:, None] * corners.reshape(-1, 9)
    second = (product(weighted.reshape(-1, 3).T, corners.reshape(-1, 3)) + product((d[:, None] * s).T, s)) / 120
    inertia = density * (np.trace(second) * np.eye(3) - second)
    return MassProperties(density * float(d.sum()) / 6, center, (inertia + inertia.T) / 2)


def combined(parts: Sequence[MassProperties]) -> MassProperties:
    """Several parts as one, by the parallel-axis theorem: I = Σ I_i + m_i (|d_i|² 1 - d_i d_iᵀ), d_i = c_i - c.

    Where parts overlap, the overlap counts once for each of them.
    """
    if len(parts) == 1:
        return parts[0]
    mass = sum(part.mass for part in parts)
    center = np.asarray(sum(part.mass / mass * part.center for part in parts))
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        inertia += part.inertia + part.mass * (dot(d, d) * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, center, inertia)


def inertia_problem(inertia: np.ndarray, unphysical: bool = False) -> str | None:
    """What keeps a symmetric 3×3 matrix from being the inertia of a solid; None if nothing does.

    unphysical: whether its moments may break the triangle inequality: no solid's do, but equations of motion can be
    solved with them all the same.
    """
    low, middle, high = eigenvalues(inertia)
    if not low > SLENDEREST * abs(high):
        return (
            f"must be positive definite, its principal moments are {low:.6g}, {middle:.6g}, {high:.6g}; "
            "even a thin rod has a small moment about its axis"
        )
    if not unphysical and low + middle < high * (1 - 1e-9):
        return (
            f"breaks the triangle inequality: of its principal moments {low:.6g}, {middle:.6g}, {high:.6g} the "
            "largest is more than the sum of the others, which no solid can have"
        )
    return None
