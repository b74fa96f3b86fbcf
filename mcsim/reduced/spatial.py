"""Spatial vectors in NumPy: motions [w; v], forces [n; f] (Featherstone, Rigid Body Dynamics Algorithms, chapter 2)."""

from __future__ import annotations

import numpy as np

from mcsim.core.linear import product


def cross_matrix(a: np.ndarray) -> np.ndarray:
    """(3, 3): takes b to a × b."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def motion_transform(place: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """X (6, 6): takes a motion [w; v] from a frame A to a frame B that stands in A at `place` (3,) and `turn` (3, 3).

    X = [E 0; -E r× E] with E = turn' and r = place (2.24); x_A = place + turn x_B.
    """
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = turn.T
    out[3:, :3] = product(-turn.T, cross_matrix(place))
    return out


def motion_cross(v: np.ndarray) -> np.ndarray:
    """v× (6, 6), which acts on motions (2.31)."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = cross_matrix(v[:3])
    out[3:, :3] = cross_matrix(v[3:])
    return out
