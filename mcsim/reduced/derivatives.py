"""Derivatives of the algorithms over a tree, by coordinates, velocities and what acts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.rotation import conjugates, products
from mcsim.core.trig import cos, sin
from mcsim.reduced import _derivatives, _dynamics
from mcsim.reduced.kinds import QUATERNIONS
from mcsim.reduced.links import Link
from mcsim.reduced.system import System
from mcsim.rotation import from_rotation_vector, normalize, to_rotation_vector

SMALL = 1e-6  # an angle below which (1 - cos a) / a is a / 2 to rounding


class InverseDerivatives(NamedTuple):
    """Derivatives (nv, nv) of inverse_dynamics, or (n, nv, nv) of n states: row i is tau[i], column j is what it is
    differentiated by.

    dtau_dq: by q along the velocities, qd and qdd kept. dtau_dqd: by qd. dtau_dqdd: by qdd, the mass matrix H.
    """

    dtau_dq: np.ndarray
    dtau_dqd: np.ndarray
    dtau_dqdd: np.ndarray


class ForwardDerivatives(NamedTuple):
    """Derivatives (nv, nv) of forward_dynamics, or (n, nv, nv) of n states: row i is qdd[i], column j is what it is
    differentiated by.

    dqdd_dq: by q along the velocities, qd and tau kept. dqdd_dqd: by qd. dqdd_dtau: by tau, the inverse of H, symmetric to
    the bit; where bodies are kinematic, whose tau is an acceleration, by that.
    """

    dqdd_dq: np.ndarray
    dqdd_dqd: np.ndarray
    dqdd_dtau: np.ndarray


class PoseDerivatives(NamedTuple):
    """Derivatives (bodies, 3, nv) of all bodies' poses by q along the velocities, or (n, bodies, 3, nv) of n states.

    position: of the centres of mass [m]. rotation: of the orientations, as rotation vectors in world axes [rad].
    """

    position: np.ndarray
    rotation: np.ndarray


class VelocityDerivatives(NamedTuple):
    """Derivatives (bodies, 3, nv) of all bodies' velocities, or (n, bodies, 3, nv) of n states.

    dv_dq, dw_dq: of the velocities [m/s] of the centres of mass and of the angular velocities [rad/s], world axes, by q
    along the velocities, qd kept. dv_dqd, dw_dqd: by qd, which are the derivatives of the poses.
    """

    dv_dq: np.ndarray
    dw_dq: np.ndarray
    dv_dqd: np.ndarray
    dw_dqd: np.ndarray


class Derivatives(_derivatives.Derivatives):
    """What Dynamics knows of derivatives.

    By q means along the velocities: column j is the rate of change where qd is the unit vector j, so that there are nv
    columns whatever nq is. A joint's coordinates that are no quaternion are differentiated by as they are, but for x and y
    of a planar joint, which move along x and y of F_s; a quaternion by the angles by which F_s turns about its own axes.
    `advance` goes such a step.
    """

    system: System

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, forces: ArrayLike | None = None
    ) -> InverseDerivatives:
        """Of inverse_dynamics at q (nq,), qd (nv,), qdd (nv,): dtau_dq, dtau_dqd, dtau_dqdd, (nv, nv) each.

        forces (bodies, 6): as of forward_dynamics; they keep their direction and torque in world axes, and act at the
        centres of mass wherever these go, as gravity does. Any argument may have a leading axis of n states. Exact but for
        rounding, some 1e-13 relative. Of the tree alone, as inverse_dynamics is: what closes loops is not there. Joints
        with a JointModel of the user's are refused (SceneError). By Singh, Russell and Wensing, "Efficient analytical
        derivatives of rigid-body dynamics using spatial vector algebra", 2022."""
        return InverseDerivatives(*self._differentiate(False, q, qd, qdd, forces))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None
    ) -> ForwardDerivatives:
        """Of forward_dynamics at q (nq,), qd (nv,), tau (nv,): dqdd_dq, dqdd_dqd, dqdd_dtau, (nv, nv) each.

        forces, leading axes, loops and joints of the user's: as of inverse_dynamics_derivatives. With H^-1 and the
        derivatives of inverse_dynamics at qdd, dqdd_dq = -H^-1 dtau_dq and dqdd_dqd = -H^-1 dtau_dqd (Carpentier and
        Mansard, "Analytical derivatives of rigid body dynamics algorithms", 2018). A SceneError where H is not positive
        definite. Accelerations of kinematic bodies are given: their rows are 0, but for the 1 by themselves."""
        return ForwardDerivatives(*self._differentiate(True, q, qd, tau, forces))

    def pose_derivatives(self, q: ArrayLike) -> PoseDerivatives:
        """Of poses at q (nq,): position, rotation, (bodies, 3, nv) each: body_jacobian of all bodies in one call; with a
        leading axis for q (n, nq)."""
        return PoseDerivatives(*self._differentiate_bodies(q, None, False))

    def velocity_derivatives(self, q: ArrayLike, qd: ArrayLike) -> VelocityDerivatives:
        """Of the velocities that `state` gives at q (nq,), qd (nv,): dv_dq, dw_dq, dv_dqd, dw_dqd, (bodies, 3, nv) each.
        Either argument may have a leading axis of n states. Joints with a JointModel of the user's are refused."""
        by_qd_v, by_qd_w, by_q_v, by_q_w = self._differentiate_bodies(q, qd, True)
        return VelocityDerivatives(by_q_v, by_q_w, by_qd_v, by_qd_w)

    def advance(self, q: ArrayLike, step: ArrayLike) -> np.ndarray:
        """q (nq,) after a motion of each joint with the constant velocities `step` (nv,) for a unit of time; quaternions
        have length 1 then. Either may have a leading axis of n states. The derivative of f(advance(q, step)) at step = 0
        is what all derivatives by q are."""
        q, step = _as_states({"q": (q, self.nq), "step": (step, self.nv)})
        moved = np.array(q)
        for link in self.system.links:
            moved[..., link.q] = _advanced(link, q[..., link.q], step[..., link.v])
        return moved

    def difference(self, q: ArrayLike, target: ArrayLike) -> np.ndarray:
        """(nv,) the steps that lead from q (nq,) to a target (nq,): advance(q, difference(q, target)) is target. What turns
        freely goes the shorter way, an angle as many turns as there are between the two. Either may have a leading axis of
        n states."""
        q, target = _as_states({"q": (q, self.nq), "target": (target, self.nq)})
        steps = np.zeros((*q.shape[:-1], self.nv))
        for link in self.system.links:
            steps[..., link.v] = _step_to(link, q[..., link.q], target[..., link.q])
        return steps


def _as_states(given: dict[str, tuple[ArrayLike, int]]) -> list[np.ndarray]:
    """Finite numbers of one state each, or of as many. given: name -> (value, size of one)."""
    arrays = {name: _dynamics.as_doubles(value, name) for name, (value, _) in given.items()}
    for name, value in arrays.items():
        size = given[name][1]
        if value.shape[-1] != size:
            raise SceneError(f"{name} must be ({size},), or (n, {size}) of n states, got {value.shape}")
        if not np.isfinite(value).all():
            raise SceneError(f"{name} has values that are not finite")
    (first, one), (second, other) = arrays.items()
    if one.ndim == other.ndim == 2 and len(one) != len(other):
        raise SceneError(f"{second} has {len(other)} states, {first} {len(one)}")
    states = np.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    return [np.broadcast_to(value, (*states, value.shape[-1])) for value in arrays.values()]


def _advanced(link: Link, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """A joint's q (…, nq) after its step (…, nv)."""
    if link.kind == "planar":
        return q + np.stack([*_planar_way(q[..., 2], step), step[..., 2]], axis=-1)
    if link.kind not in QUATERNIONS:
        return q + step
    n = QUATERNIONS[link.kind]
    turned = normalize(products(q[..., n:], from_rotation_vector(step[..., n:])))
    return np.concatenate([q[..., :n] + step[..., :n], turned], axis=-1)


def _step_to(link: Link, q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """A joint's step (…, nv) from its q (…, nq) to another."""
    way = target - q
    if link.kind == "planar":
        along_x, along_y = _own_way(q[..., 2], way)
        return np.stack([along_x, along_y, way[..., 2]], axis=-1)
    if link.kind not in QUATERNIONS:
        return way
    n = QUATERNIONS[link.kind]
    turn = to_rotation_vector(normalize(products(conjugates(q[..., n:]), target[..., n:])))
    return np.concatenate([way[..., :n], turn], axis=-1)


def _own_way(angle: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of _planar_way."""
    along, aside = _planar_way(angle, np.stack([np.ones_like(angle), np.zeros_like(angle), way[..., 2]], axis=-1))
    scale = along * along + aside * aside
    x, y = way[..., 0], way[..., 1]
    return (along * x + aside * y) / scale, (along * y - aside * x) / scale


def _planar_way(angle: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y in F_p by which F_s moves that goes along its own axes and turns at a constant rate."""
    x, y, turn = step[..., 0], step[..., 1], step[..., 2]
    small = np.abs(turn) < SMALL
    safe = np.where(small, 1.0, turn)
    along = np.where(small, 1.0, sin(safe) / safe)
    half = sin(0.5 * safe)
    aside = np.where(small, 0.5 * turn, 2.0 * half * half / safe)
    own_x, own_y = along * x - aside * y, aside * x + along * y
    sine, cosine = sin(angle), cos(angle)
    return cosine * own_x - sine * own_y, sine * own_x + cosine * own_y
