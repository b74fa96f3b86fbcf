"""The KKT system of the joints' bilateral rows as a sparse matrix, its solution, and its redundancy; for looking at.

    [M  J'] [ a     ]   [f - gyroscopic]
    [J  0 ] [-forces] = [-J' v (derivative of J, times v) ]

Source: R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, equations 3.17 and 3.74. Steps do not use these copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mcsim.core.linear import least, product
from mcsim.solve.problems.dantzig import boxed

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

PROXIMAL = 1e-9  # part of a row's own J M^-1 J' that regularizes the factor; the iteration takes it out again
MOST_ITERATIONS = 20
PROGRESS = 0.5  # iterate while the residual falls by this factor at least


class Redundancy(NamedTuple):
    """How far the joints' rows say the same thing twice.

    rank: of J, dynamic bodies' columns only. redundant: rows less rank. null_space: (rows, redundant) orthonormal
    columns lambda with J' lambda = 0: sets of joint forces that move nothing, which the motion leaves open.
    """

    rank: int
    redundant: int
    null_space: np.ndarray


@dataclass(frozen=True, eq=False)
class KKT:
    """The KKT system of a world at one moment.

    matrix: scipy.sparse CSC (6 n + rows, 6 n + rows), [[M, J'], [J, 0]]. Columns and rows of the n bodies come first,
    twists [v; w] in world axes, in body order; then the joints' bilateral rows in the order of `World.rows`. A body
    that is not dynamic has an identity block in M and no entries in J: its acceleration is 0.
    rhs: (6 n + rows,) forces less the gyroscopic torque [N, N m], then minus J's derivative times v [m/s^2, rad/s^2].
    """

    matrix: csc_array
    rhs: np.ndarray
    body_count: int

    def __repr__(self) -> str:
        return f"<KKT system of {self.body_count} bodies and {len(self.rhs) - 6 * self.body_count} rows>"

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """-> accelerations (n, 6) [m/s^2, rad/s^2], of the centres of mass, world axes, and forces (rows,) [N, N m].

        M a = f + J' forces: the system's second unknown is -forces. Redundant rows are allowed: a is unique, and of all
        forces that give it these are the least, weighted by D = diag(J M^-1 J'). Found by the proximal iteration on a
        sparse LU of the matrix with -eps D in its lower right corner.
        """
        from scipy.sparse import block_diag, csc_array, dia_array  # here, since importing mcsim should stay light
        from scipy.sparse.linalg import inv, splu

        n = 6 * self.body_count
        if len(self.rhs) == 0:
            return np.zeros((0, 6)), np.zeros(0)
        jacobian = csc_array(self.matrix[n:, :n])
        rows = jacobian.shape[0]
        factored = self.matrix
        if rows:
            mobility = jacobian @ inv(csc_array(self.matrix[:n, :n]))
            diagonal = np.asarray(mobility.multiply(jacobian).sum(axis=1)).ravel()
            diagonal[diagonal <= 0.0] = 1.0
            corner = dia_array((-PROXIMAL * diagonal[None], [0]), shape=(rows, rows))
            factored = self.matrix + block_diag([csc_array((n, n)), corner], format="csc")
        factor = splu(csc_array(factored))
        x, last = np.zeros(len(self.rhs)), np.inf
        for _ in range(MOST_ITERATIONS):
            residual = self.rhs - self.matrix @ x
            worst = np.max(np.abs(residual))
            if worst == 0.0 or not worst < PROGRESS * last:
                break
            x, last = x + factor.solve(residual), worst
        return x[:n].reshape(-1, 6), -x[n:]


def kkt_system(jacobian: csr_array, mass_blocks: np.ndarray, forces: np.ndarray, targets: np.ndarray) -> KKT:
    """The KKT system from its parts.

    jacobian: (rows, 6 n) sparse, columns of what does not move already empty; mass_blocks: (n, 6, 6); forces: (n, 6);
    targets: (rows,) what J a is to be.
    """
    from scipy.sparse import block_array, bsr_array, csc_array

    n = len(mass_blocks)
    mass = bsr_array((mass_blocks, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n)) if n else csc_array((0, 0))
    rows = jacobian.shape[0]
    matrix = csc_array(mass)
    if rows:
        matrix = block_array([[mass, jacobian.T], [jacobian, csc_array((rows, rows))]], format="csc")
    matrix.eliminate_zeros()
    return KKT(matrix, np.concatenate([np.ravel(forces), targets]), n)


def redundancy(jacobian: np.ndarray, tolerance: float) -> Redundancy:
    """Rank and constraint-force null space of a (rows, columns) array, by the singular values of J with unit rows;
    those below `tolerance` times the largest count as 0. Rows without entries are redundant."""
    jacobian = np.asarray(jacobian, float)
    rows = len(jacobian)
    if rows == 0:
        return Redundancy(0, 0, np.zeros((0, 0)))
    lengths = np.linalg.norm(jacobian, axis=1)
    scales = np.where(lengths > 0.0, lengths, 1.0)
    left, values, _ = np.linalg.svd(jacobian / scales[:, None])
    rank = int(np.sum(values > tolerance * values[0])) if values[0] > 0.0 else 0
    # J' lambda = (J / s)' (s lambda) = 0
    null_space = np.linalg.qr(left[:, rank:] / scales[:, None])[0]
    return Redundancy(rank, rows - rank, null_space)


def bounded_forces(
    mobility: np.ndarray,
    jacobian: np.ndarray,
    right: np.ndarray,
    free: np.ndarray,
    motors: np.ndarray,
    wanted: np.ndarray,
    bounds: np.ndarray,
) -> np.ndarray:
    """(m,) forces along the rows `motors` (m, 6 n), within (m,) +-bounds, by which accelerations come to `wanted` (m,) with
    the joints' rows J a = right: a boxed problem in the joints' response. mobility: (6 n, 6 n) M^-1; jacobian: (rows,
    6 n) J;
    free: (6 n,) accelerations without either."""
    moved = np.column_stack([free, product(mobility, motors.T)])
    if len(jacobian):
        target = np.zeros((len(jacobian), len(motors) + 1))
        target[:, 0] = right
        back = product(mobility, jacobian.T)
        moved += product(back, least(product(jacobian, back), target - product(jacobian, moved))[0])
    alone, moved = moved[:, 0], moved[:, 1:].T
    response = product(moved, motors.T)
    return boxed(0.5 * (response + response.T), product(motors, alone) - wanted, -bounds, bounds)[0]
