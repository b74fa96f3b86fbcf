"""A step's rows as a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mcsim.core.linear import sparse_product
from mcsim.solve.assemble import second_rows
from mcsim.solve.problems.problem import Problem
from mcsim.state.fields import ROW_KINDS

if TYPE_CHECKING:
    from scipy.sparse import csr_array

JOINT, FRICTION, TWIST, ROLLING = (ROW_KINDS.index(name) for name in ("joint", "friction", "twist", "rolling"))

SOURCE_DTYPE = np.dtype([("kind", "U14"), ("source", "i4"), ("index", "i4"), ("bodies", "i4", 2)])


def in_threes(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers of the rows as a problem has them -> (order, contacts): the first 3 contacts are [n, t1, t2] each.

    rows: (r,) ROW_DTYPE. A contact is a friction pair under a cone with one normal; a normal without friction is a single
    row, and so is each of a pair that hangs on several normals.
    """
    pairs = np.flatnonzero((rows["kind"] == FRICTION) & (rows["block"] == 2) & (rows["normal_count"] == 1))
    threes = np.stack([rows["normal_begin"][pairs], pairs, pairs + 1], axis=1).reshape(-1)
    single = ~second_rows(rows)
    single[threes] = False
    return np.concatenate([threes, np.flatnonzero(single)]), len(pairs)


def matrices(rows: np.ndarray, width: int) -> tuple[csr_array, csr_array]:
    """J and J M^-1 (r, width) of ROW_DTYPE records over the bodies' twists, scipy.sparse CSR; a body of -1 has no
    columns."""
    from scipy.sparse import csr_array  # here, since importing mcsim should stay light

    bodies = np.repeat(np.stack([rows["body_a"], rows["body_b"]], axis=1), 6, axis=1)
    columns = 6 * bodies + np.tile(np.arange(6, dtype=np.int32), 2)
    stands = bodies >= 0
    begin = np.append(0, np.cumsum(stands.sum(axis=1)))
    return tuple(
        csr_array((rows[name][stands], columns[stands], begin), shape=(len(rows), width))
        for name in ("jacobian", "inv_mass_jacobian")
    )


def with_seconds(matrix: csr_array, rows: np.ndarray, order: np.ndarray) -> csr_array:
    """The rows of a matrix in a problem's order; the second record of a wide row is added to its first."""
    second = np.flatnonzero(second_rows(rows))
    ordered = matrix[order]
    if len(second):
        from scipy.sparse import csr_array

        place = np.empty(len(rows), np.intp)
        place[order] = np.arange(len(order))
        shift = csr_array(
            (np.ones(len(second)), (place[second - 1], np.arange(len(second)))), shape=(len(order), len(second))
        )
        ordered = (ordered + sparse_product(shift, matrix[second])).tocsr()
    return ordered


def loads(rows: np.ndarray) -> np.ndarray:
    """(r,) what bounds the friction rows that hang on several normals, by the impulses that these have now [N s, N m s]."""
    out = np.zeros(len(rows))
    for i in np.flatnonzero(
        (rows["kind"] == TWIST) | (rows["kind"] == ROLLING) | ((rows["kind"] == FRICTION) & (rows["normal_count"] > 0))
    ):
        row = rows[i]
        normals = rows[row["normal_begin"] : row["normal_begin"] + row["normal_count"]]
        weights = normals["lever"] if row["kind"] == TWIST else 1.0
        out[i] = max(0.0, row["friction"] * float(np.sum(weights * normals["impulse"])))
    return out


def problem_of_rows(
    rows: np.ndarray,
    jacobian: csr_array | None,
    response: csr_array | None,
    inverse_mass: csr_array | Callable[[], csr_array],
    velocity: np.ndarray,
    *,
    relaxed: int = 0,
    started: bool = False,
    yielding: float = 0.0,
) -> tuple[Problem, np.ndarray]:
    """-> (Problem, order): what the rows ask of impulses at these velocities.

    rows: (r,) ROW_DTYPE. jacobian, response: (r, m) J and J M^-1, or None: those over the bodies' twists; inverse_mass
    (m, m); velocity (m,). relaxed: which of the two biases and compliances. started: the rows' impulses act in `velocity`
    already; the problem is that of all impulses, and begins with them. yielding: compliance of the joints' rows, as a part
    of their own diagonal. order: as of in_threes.
    """
    order, contacts = in_threes(rows)

    def found(name: str) -> np.ndarray:
        """A field of the rows as the problem has them: records are long, and most of their fields are asked for nowhere."""
        return rows[name][order]

    if jacobian is None and len(order) == len(rows):
        jacobian, response = matrices(rows[order], len(velocity))
    else:
        whole = matrices(rows, len(velocity)) if jacobian is None else (jacobian, response)
        jacobian, response = (with_seconds(matrix, rows, order) for matrix in whole)
    kind = found("kind")
    bounds = np.stack([found("lower"), found("upper")], axis=1)[3 * contacts :]
    hung = np.isin(kind[3 * contacts :], (FRICTION, TWIST, ROLLING))
    if hung.any():
        load = loads(rows)[order[3 * contacts :]][hung]
        bounds[hung] = np.stack([-load, load], axis=1)
    impulse = found("impulse")
    free = velocity - sparse_product(response.T, impulse) if started else velocity
    compliance = found("compliance")[:, relaxed] + np.where(kind == JOINT, yielding * found("diagonal"), 0.0)
    source = np.zeros(len(order), SOURCE_DTYPE)
    source["kind"] = np.array(ROW_KINDS)[kind]
    source["source"], source["index"] = found("source"), found("index")
    source["bodies"] = np.stack([found("body_a"), found("body_b")], axis=1)
    problem = Problem._of_step(
        jacobian,
        response,
        inverse_mass,
        sparse_product(jacobian, free) + found("bias")[:, relaxed],
        found("friction")[1 : 3 * contacts : 3],
        bounds,
        compliance,
        impulse,
        free,
        source,
    )
    return problem, order
