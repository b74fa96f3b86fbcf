"""Equations of friction where it slides, and how they change: Coulomb's law by the principle of maximum dissipation.

A cone of two rows with the slip s and the load N = sum of its normals:     x + mu N s / |s| = 0

Several points of a manifold rub together, on one limit surface (S. Goyal, A. Ruina, J. Papadopoulos, "Planar sliding
with dry friction", 1991; wide/_limit_surface.pxd). With s = (slip along the tangents, spin), the slip of point i is u_i
= E_i s, E_i = [[1, 0, -t0], [0, 1, -t1]], and what the points do together is

    x + sum mu N_i E_i' u_i / |u_i| + (0, 0, tau N sign(spin)) = 0

with tau the torsional friction. A body may turn about one of its points, which sticks: then u_k = 0, and of the three
equations that of the moment about point k remains. Or what has torsional friction slides without spin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Sliding(NamedTuple):
    """The residual of m equations of friction, and its derivatives.

    value (m,). by_slip (m, m), by_impulse (m, m): of the rows' own. by_load (m, normals): by the normals' impulses.
    by_friction (m,): by a factor on Coulomb's coefficients. by_offset (m, normals, 2): by where the points are.
    """

    value: np.ndarray
    by_slip: np.ndarray
    by_impulse: np.ndarray
    by_load: np.ndarray
    by_friction: np.ndarray
    by_offset: np.ndarray


def _direction(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """u / |u| and its derivative."""
    length = np.sqrt(u @ u)
    d = u / length
    return d, (np.eye(len(u)) - np.outer(d, d)) / length


def cone(x: np.ndarray, s: np.ndarray, friction: float, loads: np.ndarray) -> Sliding:
    """A pair of rows that slides (or rolls, with rolling friction)."""
    d, bend = _direction(s)
    load = float(loads.sum())
    return Sliding(
        x + friction * load * d,
        friction * load * bend,
        np.eye(2),
        friction * np.tile(d[:, None], len(loads)),
        friction * load * d,
        np.zeros((2, len(loads), 2)),
    )


def _place(offset: np.ndarray) -> np.ndarray:
    """E of a point: its turn is (offset along t2, - offset along t1)."""
    return np.array([[1.0, 0.0, -offset[1]], [0.0, 1.0, offset[0]]])


PLACE_BY_OFFSET = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]])


def slips(s: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """(points, 2) slip of every point of a manifold with the slip and spin s (3,)."""
    return np.array([_place(offset) @ s for offset in offsets]).reshape(-1, 2)


def surface(
    x: np.ndarray,
    s: np.ndarray,
    friction: float,
    torsional: float,
    loads: np.ndarray,
    offsets: np.ndarray,
    pivot: int | None = None,
    spins: bool = True,
) -> Sliding:
    """Three rows on their limit surface. pivot: the point that sticks, if one does. spins: False where torsional friction
    keeps it from spinning."""
    n = len(loads)
    value, by_slip, by_impulse = x.copy(), np.zeros((3, 3)), np.eye(3)
    by_load, by_friction, by_offset = np.zeros((3, n)), np.zeros(3), np.zeros((3, n, 2))
    for i in range(n):
        if i == pivot or not loads[i] > 0.0:
            continue
        E, c = _place(offsets[i]), friction * loads[i]
        d, bend = _direction(E @ s)
        value += c * E.T @ d
        by_slip += c * E.T @ bend @ E
        by_load[:, i] = friction * E.T @ d
        by_friction += c * E.T @ d
        for k in range(2):
            turned = PLACE_BY_OFFSET[k]
            by_offset[:, i, k] = c * (turned.T @ d + E.T @ bend @ (turned @ s))
    if torsional > 0.0 and spins:
        value[2] += torsional * loads.sum() * np.sign(s[2])
        by_load[2] += torsional * np.sign(s[2])
    found = Sliding(value, by_slip, by_impulse, by_load, by_friction, by_offset)
    if not spins:
        return _held(found, s, np.array([[0.0, 0.0, 1.0]]), np.eye(3)[:2], None)
    return found if pivot is None else _about(found, x, s, offsets, pivot)


def _held(
    found: Sliding, s: np.ndarray, held: np.ndarray, kept: np.ndarray, bend: tuple[int, np.ndarray] | None
) -> Sliding:
    """With `kept` combinations of the equations, and velocities `held` s = 0 in place of the others. bend: of a pivot, its
    number and how `held` s changes with its offset (2, 2)."""
    m = len(held)
    zero = np.zeros((m, found.by_load.shape[1]))
    by_offset = np.concatenate([np.zeros((m, *found.by_offset.shape[1:])), np.einsum("ab,bnk->ank", kept, found.by_offset)])
    if bend is not None:
        by_offset[:m, bend[0]] = bend[1]
    return Sliding(
        np.concatenate([held @ s, kept @ found.value]),
        np.concatenate([held, kept @ found.by_slip]),
        np.concatenate([np.zeros((m, 3)), kept @ found.by_impulse]),
        np.concatenate([zero, kept @ found.by_load]),
        np.concatenate([np.zeros(m), kept @ found.by_friction]),
        by_offset,
    )


def _about(found: Sliding, x: np.ndarray, s: np.ndarray, offsets: np.ndarray, pivot: int) -> Sliding:
    """Of what turns about a point: no force there has a moment about it."""
    E = _place(offsets[pivot])
    moment = np.array([[-E[0, 2], -E[1, 2], 1.0]])
    turned = np.stack([PLACE_BY_OFFSET[k] @ s for k in range(2)], axis=1)
    held = _held(found, s, E, moment, (pivot, turned))
    for k in range(2):
        change = np.array([-PLACE_BY_OFFSET[k][0, 2], -PLACE_BY_OFFSET[k][1, 2], 0.0])
        held.by_offset[2, pivot, k] += change @ found.value
    return held
