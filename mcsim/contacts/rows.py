"""Contacts of free bodies as columns over their twists, and the bodies' inertia: what Equations takes from arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.maximal import mass_matrix
from mcsim.solve.problems import checks
from mcsim.solve.problems.contact_dynamics import shaped
from mcsim.solve.problems.impacts import contact_axes


def body_inertia(masses: ArrayLike, inertias: ArrayLike) -> np.ndarray:
    """H (6m, 6m) of m free bodies, block-diagonal: [mass 1, 0; 0, inertia] over each one's twist [v; w] of its centre of
    mass, world axes.

    masses (m,) [kg], positive; inertias (m, 3, 3) [kg m²] about the centres of mass, in world axes, symmetric."""
    inertias = shaped("inertias", inertias, (None, 3, 3))
    masses = checks.vector("masses", masses, len(inertias), "inertias")
    if not np.all(masses > 0.0):
        raise SceneError(
            f"masses[{np.argmin(masses)}] is {masses.min():g}; leave out what does not move, and give the others mass"
        )
    for i, inertia in enumerate(inertias):
        checks.symmetric(f"inertias[{i}]", inertia)
    H = np.zeros((len(masses), 6, len(masses), 6))
    each = np.arange(len(masses))
    H[each, :, each] = mass_matrix(masses, inertias, (1.0, 0.0, 0.0, 0.0))
    return H.reshape(6 * len(masses), -1)


def contact_rows(
    points: ArrayLike, normals: ArrayLike, bodies: Sequence[Sequence[int]], centers: ArrayLike, *, tangents: bool = False
) -> np.ndarray:
    """T (6m, c): what a unit of each contact's force does to m free bodies; T' of their twists are the rates of separation.

    points (c, 3) [m], normals (c, 3): unit, from a to b, world; bodies (c, 2): the numbers of a and b in `centers`, -1 for
    what does not move; centers (m, 3) [m], of mass. tangents: three columns a contact, [n, t1, t2] of `contact_axes`, as
    friction asks for: (6m, 3c).

        zeta = n . (v_b + w_b × r_b - v_a - w_a × r_a),   r = point - center

    A column has -[n; r_a × n] for a and [n; r_b × n] for b: the N of section 11.2, the force coming second as twists are
    [v; w] here."""
    points, normals = shaped("points", points, (None, 3)), shaped("normals", normals, (None, 3))
    centers, count = shaped("centers", centers, (None, 3)), len(points)
    numbers = np.asarray(bodies)
    if len(normals) != count:
        raise SceneError(f"normals are {len(normals)}, points {count}; give one normal a point")
    if numbers.shape != (count, 2) or numbers.dtype.kind not in "iu":
        raise SceneError(
            f"bodies must be ({count}, 2) whole numbers, a and b of each contact, got {numbers.dtype} {numbers.shape}"
        )
    if np.any((numbers < -1) | (numbers >= len(centers))):
        raise SceneError(f"bodies must be from -1 (what does not move) to {len(centers) - 1}, got {numbers.tolist()!r:.60}")
    each = 3 if tangents else 1
    T = np.zeros((6 * len(centers), each * count))
    for i, (point, normal, pair) in enumerate(zip(points, normals, numbers)):
        axes = contact_axes(normal)[:each]
        for sign, body in zip((-1.0, 1.0), pair):
            if body >= 0:
                moment = np.cross(point - centers[body], axes)
                T[6 * body : 6 * body + 6, each * i : each * i + each] += sign * np.concatenate([axes, moment], axis=1).T
    return T
