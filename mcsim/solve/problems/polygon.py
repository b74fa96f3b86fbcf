"""How far impulses are from solving a contact problem whose friction is bounded by a regular polygon.

Of each contact t lies in mu n P, where P is the convex hull of `directions` unit vectors, and dissipates the most there:
t' u_t = -mu n max over P of -u_t' c. In the place of the two frictions of the pyramid (residuals.py):

    dual             the distance of t from mu n P [N s]
    complementarity  |n u_n + t' u_t + mu n max -u_t' c|, the last two what friction takes less than the most it can [J]
    natural_map      |t - P_(mu n P)(t - u_t / d)| [N s]

Source: D. Stewart, J. Trinkle, "An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and
Coulomb friction", 1996, for the polygon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mcsim.core.linear import product
from mcsim.solve.problems._system import MODELS

if TYPE_CHECKING:
    from mcsim.solve.problems.problem import Problem


def residuals(problem: Problem, corners: np.ndarray, impulses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """-> (6,) as System.residuals has them. corners: (directions, 2) of P."""
    slides = np.flatnonzero(np.isfinite(problem.friction))
    tangents = 3 * slides[:, None] + [1, 2]
    t, u = impulses[tangents], velocities[tangents]
    rest, still = impulses.copy(), velocities.copy()
    rest[tangents] = still[tangents] = 0.0
    found = problem.system.residuals(MODELS.index("pyramid"), rest, still)  # of all but these tangents
    if not len(slides):
        return found
    rest[3 * slides] = 0.0
    found[2] = problem.system.residuals(MODELS.index("pyramid"), rest, still)[2]  # nor of these contacts
    load = problem.friction[slides] * np.maximum(impulses[3 * slides], 0.0)
    stiffness = problem.system.local_blocks.reshape(-1, 9)[slides][:, [0, 4, 8]].max(axis=1)
    most = impulses[3 * slides] * (velocities[3 * slides] + problem.friction[slides] * product(-u, corners.T).max(axis=1))
    missing = np.abs((t * u).sum(axis=1) + most)
    moved = t - u / np.where(stiffness > 0.0, stiffness, np.inf)[:, None]
    off = t - nearest(corners, load, t)
    found[1] = max(found[1], np.sqrt((off * off).sum(axis=1)).max())
    found[2] = max(found[2], missing.max())
    found[3] = max(found[3], np.abs(t - nearest(corners, load, moved)).max())
    return found


def nearest(corners: np.ndarray, load: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(k, 2) the points of load P that are nearest to `points` (k, 2); load: (k,)."""
    begin = load[:, None, None] * corners
    way = load[:, None, None] * (np.roll(corners, -1, axis=0) - corners)
    length = np.maximum((way * way).sum(axis=2), np.finfo(float).tiny)
    off = points[:, None] - begin
    part = np.clip((off * way).sum(axis=2) / length, 0.0, 1.0)
    feet = begin + part[:, :, None] * way
    left = points[:, None] - feet
    best = feet[np.arange(len(points)), (left * left).sum(axis=2).argmin(axis=1)]
    inside = np.all(way[:, :, 0] * off[:, :, 1] >= way[:, :, 1] * off[:, :, 0], axis=1) & (load > 0.0)
    return np.where(inside[:, None], points, best)
