"""The solvers once more, slowly, in NumPy: dense matrices, library factorizations, a root finder for the cone."""

import numpy as np
from scipy.optimize import brentq

from solve_problems import BILATERAL, BOUNDED, CONE, KIND


def cone_solution(k, b, radius):
    """argmin 1/2 x'Kx - b'x over |x| <= radius, by eigenvectors and bisection of the secular equation."""
    if radius <= 0:
        return np.zeros(2)
    values, vectors = np.linalg.eigh(k)
    c = vectors.T @ b
    if np.linalg.norm(c / values) <= radius:
        return vectors @ (c / values)

    def excess(shift):
        return np.linalg.norm(c / (values + shift)) / radius - 1

    shift = brentq(excess, 0.0, np.linalg.norm(c) / radius, xtol=1e-300, rtol=1e-15, maxiter=500)
    x = c / (values + shift)
    return vectors @ (x * radius / np.linalg.norm(x))


def bound_of(rows, i, impulse):
    begin, count = rows["normal_begin"][i], rows["normal_count"][i]
    weights = rows["lever"][begin : begin + count] if rows["kind"][i] == KIND["twist"] else np.ones(count)
    return max(0.0, rows["friction"][i] * float(weights @ impulse[begin : begin + count]))


def block_solution(rows, i, k, b, impulse):
    """The impulses of the block at row i that solve K x = b within its bounds."""
    kind = rows["block_kind"][i]
    if kind == BILATERAL:
        return np.linalg.solve(k, b)
    if kind == CONE:
        return cone_solution(k, b, bound_of(rows, i, impulse))
    bound = bound_of(rows, i, impulse)
    lower, upper = (rows["lower"][i], rows["upper"][i]) if kind == BOUNDED else (-bound, bound)
    return np.clip(b / k[0], lower, upper)


def gauss_seidel(problem, rows, relaxed, sweeps):
    """-> (velocity (n, 6), impulse (rows,)) after so many sweeps on the dense A; does not touch the problem."""
    j = problem.jacobian(rows)
    response = problem.inv_mass_matrix() @ j.T
    a = j @ response
    impulse = rows["impulse"].copy()
    start = impulse.copy()
    u = j @ problem.velocity.ravel()
    for _ in range(sweeps):
        i = 0
        while i < len(rows):
            block = slice(i, i + rows["block"][i])
            compliance = rows["compliance"][block, relaxed]
            k = a[block, block] + np.diag(compliance)
            if np.trace(k) > 0:
                w = u[block] + rows["bias"][block, relaxed] + compliance * impulse[block]
                delta = block_solution(rows, i, k, k @ impulse[block] - w, impulse) - impulse[block]
                impulse[block] += delta
                u = u + a[:, block] @ delta
            i = block.stop
    velocity = problem.velocity + (response @ (impulse - start)).reshape(-1, 6)
    return velocity, impulse


def residuals(problem, rows, relaxed):
    """w (rows,) at the problem's velocities and the rows' impulses."""
    return (
        problem.jacobian(rows) @ problem.velocity.ravel()
        + rows["bias"][:, relaxed]
        + rows["compliance"][:, relaxed] * rows["impulse"]
    )
