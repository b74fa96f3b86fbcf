"""Spatial vectors by the formulas of the texts: Plücker transforms, cross products, inertias, and spaces that complement
each other, for one or for arrays of any leading axes.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2, whose numbers of equations are given. Motions are [w; v],
angular velocity [rad/s], then the velocity [m/s] of the body's point that is at the frame's origin; forces are [n; f], the
moment [N m] about the origin, then the force [N]; all in the frame's axes. What a World shows are twists [v; w] about the
centre of mass, in world axes: `angular_first` and `linear_first` lead from one order to the other, `translation` to another
point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.linear import product
from mcsim.core.rotation import cross_matrices
from mcsim.scene.batches import batch, broadcast
from mcsim.scene.calls import explain_functions
from mcsim.scene.checks import FieldError

__all__ = [
    "Parts",
    "angular_first",
    "complement",
    "cross_matrix",
    "decompose",
    "force_cross",
    "force_transform",
    "inertia",
    "is_direct_sum",
    "linear_first",
    "motion_cross",
    "motion_transform",
    "rotation",
    "translation",
]

RANK = 1e-8  # singular values below it, relative to the largest, count as zero
SWAPPED = [3, 4, 5, 0, 1, 2]


class Parts(NamedTuple):
    """A spatial vector as a sum, v = S a + T b. a (…, n), b (…, 6 - n): its coordinates."""

    a: np.ndarray
    b: np.ndarray


# ---- transforms ------------------------------------------------------------------------------------------------------


def cross_matrix(a: ArrayLike) -> np.ndarray:
    """a× (…, 3, 3) of a (…, 3): takes b to a × b (2.23)."""
    return cross_matrices(batch(a, "a", 3))


def rotation(E: ArrayLike) -> np.ndarray:
    """X (…, 6, 6) = [E 0; 0 E]: takes motions, and forces, from axes A to axes B with the same origin. E (…, 3, 3) takes
    vectors from A to B: if B is a body's axes and A the world's, E = R', R = mcsim.rotation.matrix(q) (2.20)."""
    E = batch(E, "E", 3, 3)
    out = np.zeros((*E.shape[:-2], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = E
    return out


def translation(r: ArrayLike) -> np.ndarray:
    """X (…, 6, 6) = [1 0; -r× 1]: takes motions [w; v] from a point to another one that is at r (…, 3) [m] from there, axes
    alike: v at the other is v - r × w = v + w × r (2.21)."""
    r = batch(r, "r", 3)
    out = np.zeros((*r.shape[:-1], 6, 6))
    out[...] = np.eye(6)
    out[..., 3:, :3] = -cross_matrices(r)
    return out


def motion_transform(E: ArrayLike, r: ArrayLike) -> np.ndarray:
    """X (…, 6, 6) = [E 0; -E r× E]: takes motions [w; v] from frame A to frame B, whose origin is at r (…, 3) [m] in A.
    E (…, 3, 3) takes vectors from A to B: x_B = E (x_A - r) (2.24)."""
    return _transform(E, r, False)


def force_transform(E: ArrayLike, r: ArrayLike) -> np.ndarray:
    """X* (…, 6, 6) = [E -E r×; 0 E]: takes forces [n; f] from frame A to frame B, as `motion_transform` takes motions;
    X* = (X⁻¹)', so that power is the same in both (2.25)."""
    return _transform(E, r, True)


def _transform(E: ArrayLike, r: ArrayLike, force: bool) -> np.ndarray:
    E, r = broadcast(E=(batch(E, "E", 3, 3), 2), r=(batch(r, "r", 3), 1))
    out = rotation(E)
    upper, lower = (slice(3), slice(3, 6)) if force else (slice(3, 6), slice(3))
    out[..., upper, lower] = product(-E, cross_matrices(r))
    return out


def motion_cross(v: ArrayLike) -> np.ndarray:
    """v× (…, 6, 6) = [w× 0; v× w×] of a motion v (…, 6) = [w; v]: takes motions fixed in a body that moves with v to their
    rates (2.31)."""
    v = batch(v, "v", 6)
    out = rotation(cross_matrices(v[..., :3]))
    out[..., 3:, :3] = cross_matrices(v[..., 3:])
    return out


def force_cross(v: ArrayLike) -> np.ndarray:
    """v×* (…, 6, 6) = [w× v×; 0 w×] = -(v×)' of a motion v (…, 6) = [w; v]: takes forces fixed in a body that moves with v
    to their rates (2.32)."""
    return -np.swapaxes(motion_cross(v), -1, -2)


def inertia(mass: ArrayLike, com: ArrayLike, I: ArrayLike) -> np.ndarray:  # noqa: E741 (what the text calls it)
    """(…, 6, 6) = [I + m c× c×' m c×; m c×' m 1] about a frame's origin: takes a motion [w; v] to the momentum [angular
    about the origin; linear].

    mass (…) [kg], com (…, 3) [m]: the centre of mass c in the frame; I (…, 3, 3) [kg m²] about the centre of mass, in the
    frame's axes (2.63).
    """
    mass, com, own = broadcast(mass=(batch(mass, "mass"), 0), com=(batch(com, "com", 3), 1), I=(batch(I, "I", 3, 3), 2))
    if (mass < 0.0).any():
        raise FieldError("mass", f"must not be negative, got {mass.min():.6g}")
    off = np.abs(own - np.swapaxes(own, -1, -2)).max(initial=0.0)
    if off > RANK * np.abs(own).max(initial=0.0):
        raise FieldError("I", f"must be symmetric, it is off by {off:.3g}; 0.5 (I + I') is")
    c, m = cross_matrices(com), mass[..., None, None]
    out = np.zeros((*mass.shape, 6, 6))
    out[..., :3, :3] = own - m * product(c, c)
    out[..., :3, 3:], out[..., 3:, :3], out[..., 3:, 3:] = m * c, -m * c, m * np.eye(3)
    return out


# ---- spaces ----------------------------------------------------------------------------------------------------------


def complement(S: ArrayLike) -> np.ndarray:
    """T (…, 6, 6 - n) with T' S = 0, of a motion subspace S (…, 6, n) of rank n: the forces that do no work on motions of
    S; of a space of forces, the motions on which they do none. Columns are orthonormal as plain numbers, N m and N, rad
    and m counted alike; any other basis is T times a matrix (section 3.5, Joint Constraints)."""
    S = batch(S, "S", 6, "n")
    u, s, _ = np.linalg.svd(S)
    if S.shape[-1] and (S.shape[-1] > 6 or (s[..., -1] <= RANK * s[..., 0]).any()):
        raise FieldError(
            "S", f"must have {S.shape[-1]} independent columns, at most 6: leave out those that others make up"
        )
    return u[..., S.shape[-1] :]


def is_direct_sum(S: ArrayLike, T: ArrayLike) -> np.ndarray:
    """(…) bool: whether each 6-vector is S a + T b in just one way: S (…, 6, n) and T (…, 6, m) have n + m = 6 columns, all
    of them independent. Both are of motions, as S and what a joint forbids, or both of forces, as T_a and T."""
    S, T = broadcast(S=(batch(S, "S", 6, "n"), 2), T=(batch(T, "T", 6, "m"), 2))
    if S.shape[-1] + T.shape[-1] != 6:
        return np.zeros(S.shape[:-2], bool)[()]
    s = np.linalg.svd(np.concatenate([_scaled(S), _scaled(T)], axis=-1), compute_uv=False)
    return s[..., -1] > RANK * s[..., 0]


def _scaled(columns: np.ndarray) -> np.ndarray:
    """Columns of length 1, so that their units do not count; those of zeros as they are."""
    size = np.linalg.norm(columns, axis=-2, keepdims=True)
    return columns / np.where(size > 0.0, size, 1.0)


def decompose(v: ArrayLike, S: ArrayLike, T: ArrayLike) -> Parts:
    """-> a (…, n), b (…, m) with v = S a + T b, for vectors v (…, 6) and spaces S (…, 6, n), T (…, 6, m) that make up the
    whole (`is_direct_sum`).

    Of a force that a joint passes on, f = T_a τ + T λ: decompose(f, T_a, T) gives τ and λ, and τ = S' f. Of a motion, with
    columns beside S for what the joint forbids, S part is what it allows (section 3.5).
    """
    v, S, T = broadcast(v=(batch(v, "v", 6), 1), S=(batch(S, "S", 6, "n"), 2), T=(batch(T, "T", 6, "m"), 2))
    if not np.all(is_direct_sum(S, T)):
        raise FieldError(
            "",
            f"S and T do not make up all 6-vectors in one way: they have {S.shape[-1]} and {T.shape[-1]} columns, which "
            "must be 6 together and independent",
        )
    found = np.linalg.solve(np.concatenate([S, T], axis=-1), v[..., None])[..., 0]
    return Parts(found[..., : S.shape[-1]], found[..., S.shape[-1] :])


# ---- the order of the two halves -------------------------------------------------------------------------------------


def angular_first(a: ArrayLike, axis: int = -1) -> np.ndarray:
    """[w; v] of [v; w], or [n; f] of [f; n]: a twist or force in a World's order in that of this module. axis: the one of
    six numbers; -2 for Jacobians (…, 6, n). Point and axes stay as they are."""
    return _swapped(a, axis)


def linear_first(a: ArrayLike, axis: int = -1) -> np.ndarray:
    """[v; w] of [w; v], or [f; n] of [n; f]: back from `angular_first`."""
    return _swapped(a, axis)


def _swapped(a: ArrayLike, axis: int) -> np.ndarray:
    array = batch(a, "a", "6")
    if not -array.ndim <= axis < array.ndim or array.shape[axis] != 6:
        raise FieldError("a", f"must have six numbers along axis {axis}, its shape is {array.shape}")
    return np.take(array, SWAPPED, axis=axis)


explain_functions(globals(), __all__)
