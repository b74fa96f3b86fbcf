"""The velocity transformation: all bodies' twists from generalized velocities, and the equations of motion by projection.

    v = T(y) ẏ        a = T ÿ + Ṫ ẏ        M a = ξ + forces of the joints        T' (forces of the joints) = tau
    T' M T ÿ = tau + T' (ξ - M Ṫ ẏ)

S. Kim, M. Vanderploeg, "A general and efficient method for dynamic analysis of mechanical systems using velocity
transformations", 1986; R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 3.2, where T is G of explicit
constraints and this is the projected form of a tree; of loops see `Formulation` and `Independent`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.maximal import applied_force, mass_matrix
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.kinds import QUATERNIONS
from mcsim.reduced.links import Link
from mcsim.reduced.rows import refuse_rotors
from mcsim.reduced.system import System
from mcsim.rotation import ORDERS, euler_drift, euler_jacobian, euler_jacobian_inverse, from_euler, normalize, to_euler
from mcsim.scene.batches import batch, broadcast
from mcsim.scene.checks import choose, show


class _Angles(NamedTuple):
    """Euler angles in place of a quaternion: where the quaternion stands in q, the angles in y, the angular velocity in qd
    and, for the rates of the angles, in ẏ."""

    name: str
    axes: str
    q: slice
    y: slice
    v: slice


class VelocityTransformation:
    """T(y) of a system's tree, with what belongs to it. Any leading axes are many states in one call.

    system: a System, or a Dynamics of one. euler: names of joints with a quaternion among their coordinates (ball joints,
        free ones), or of bodies that nothing holds, -> the order of Euler angles, one of mcsim.rotation.ORDERS, that are to
        take its place: intrinsic turns that lead from F_p, of a free body from the world, to F_s.

    Coordinates y are the system's q, but for such angles; rates ẏ (nv,) are the system's qd, but for the angles' rates,
    which stand in the place of the angular velocity. Without euler y is q, and ẏ is qd.

    ny, nv: their sizes. bodies: names of the bodies that T has rows of, those that move, in the scene's order: rows 6 i to
    6 i + 5 are the twist [v; w] of the i-th one, of its centre of mass, in world axes, as a World has it.
    """

    dynamics: Dynamics
    system: System
    bodies: tuple[str, ...]
    ny: int
    nv: int

    def __init__(self, system: System | Dynamics, euler: Mapping[str, str] | None = None):
        self.dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
        self.system = self.dynamics.system
        self.nv = self.system.nv
        refuse_rotors(self.system, "VelocityTransformation")
        if euler is not None and not isinstance(euler, Mapping):
            raise SceneError(f"euler must be a dict of orders by names, as {{'top': 'zxz'}}, got {show(euler)}")
        orders = {}
        for name, axes in (euler or {}).items():
            index = self.system.index(name)
            link = next(link for link in self.system.links if (link.q, link.v) == index)
            if link.kind not in QUATERNIONS:
                raise SceneError(
                    f"euler[{name!r}]: a {link.kind} joint has no quaternion among its coordinates, which angles could "
                    "replace; leave it out"
                )
            orders[link.number] = name, choose(axes, ORDERS, f"euler[{name!r}]")
        self._angles: list[_Angles] = []
        straight: list[tuple[int, int]] = []  # places in q and in y of what is the same in both
        self.ny = 0
        for link in self.system.links:
            same = link.q.stop - link.q.start
            if link.number in orders:
                same = QUATERNIONS[link.kind]
                self._angles.append(_angles(*orders[link.number], link, self.ny + same))
            straight += [(link.q.start + i, self.ny + i) for i in range(same)]
            self.ny += same + (3 if link.number in orders else 0)
        self._of_q, self._of_y = np.array(straight, np.intp).reshape(-1, 2).T
        self._moving = sorted(self.system.links, key=lambda link: link.body_number)
        self.bodies = tuple(link.body for link in self._moving)

    # ---- coordinates -------------------------------------------------------------------------------------------------

    def y(self, q: ArrayLike) -> np.ndarray:
        """(…, ny) of the system's q (…, nq)."""
        q = batch(q, "q", self.system.nq)
        out = np.empty((*q.shape[:-1], self.ny))
        out[..., self._of_y] = q[..., self._of_q]
        for angles in self._angles:
            out[..., angles.y] = to_euler(normalize(q[..., angles.q]), angles.axes)
        return out

    def q(self, y: ArrayLike) -> np.ndarray:
        """The system's q (…, nq) of y (…, ny)."""
        y = batch(y, "y", self.ny)
        out = np.empty((*y.shape[:-1], self.system.nq))
        out[..., self._of_q] = y[..., self._of_y]
        for angles in self._angles:
            out[..., angles.q] = from_euler(y[..., angles.y], angles.axes)
        return out

    def yd(self, y: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """ẏ (…, nv) of the system's qd (…, nv) at y. A SceneError at gimbal lock."""
        y, rate = self._state(y, qd, "qd")
        out = np.array(rate)
        for angles in self._angles:
            out[..., angles.v] = (self._inverse(angles, y) @ rate[..., angles.v, None])[..., 0]
        return out

    def qd(self, y: ArrayLike, yd: ArrayLike) -> np.ndarray:
        """The system's qd (…, nv) of ẏ (…, nv) at y."""
        y, rate = self._state(y, yd)
        out = np.array(rate)
        for angles in self._angles:
            jacobian = euler_jacobian(y[..., angles.y], angles.axes, frame="body")
            out[..., angles.v] = (jacobian @ rate[..., angles.v, None])[..., 0]
        return out

    # ---- the transformation ------------------------------------------------------------------------------------------

    def T(self, y: ArrayLike) -> np.ndarray:
        """T (…, 6 bodies, nv): v = T ẏ, the twists of all `bodies`, one below the other."""
        y = batch(y, "y", self.ny)
        q = self.q(y).reshape(-1, self.system.nq)
        out = np.zeros((len(q), 6 * len(self.bodies), self.nv))
        for i, body in enumerate(self.bodies):
            out[:, 6 * i : 6 * i + 6] = self.dynamics.body_jacobian(body, q)
        out = out.reshape(*y.shape[:-1], *out.shape[1:])
        for angles in self._angles:
            jacobian = euler_jacobian(y[..., angles.y], angles.axes, frame="body")
            out[..., angles.v] = out[..., angles.v] @ jacobian
        return out

    def drift(self, y: ArrayLike, yd: ArrayLike) -> np.ndarray:
        """Ṫ ẏ (…, 6 bodies): what of the bodies' accelerations [v̇; ẇ] is there where ÿ = 0."""
        y, rate = self._state(y, yd)
        change = np.zeros(rate.shape)  # of qd where ÿ = 0
        for angles in self._angles:
            change[..., angles.v] = euler_drift(y[..., angles.y], rate[..., angles.v], angles.axes, frame="body")
        parts = [self.q(y), self.qd(y, rate), change]
        linear, angular = self.dynamics.accelerations(*(part.reshape(-1, part.shape[-1]) for part in parts))
        numbers = [link.body_number for link in self._moving]
        both = np.concatenate([linear[:, numbers], angular[:, numbers]], axis=-1)
        return both.reshape(*rate.shape[:-1], 6 * len(self.bodies))

    def M(self, y: ArrayLike) -> np.ndarray:
        """M (…, 6 bodies, 6 bodies): the bodies' masses and inertias, over their twists; 0 of kinematic bodies."""
        y = batch(y, "y", self.ny)
        blocks = mass_matrix(*self._inertias(), self._orientations(y))
        out = np.zeros((*y.shape[:-1], 6 * len(self.bodies), 6 * len(self.bodies)))
        for i in range(len(self.bodies)):
            own = slice(6 * i, 6 * i + 6)
            out[..., own, own] = blocks[..., i, :, :]
        return out

    def xi(self, y: ArrayLike, yd: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """ξ (…, 6 bodies): gravity, gyroscopic moments -w × I w, and forces (…, bodies of the scene, 6), [f; n] at the
        centres of mass in world axes, as of Dynamics.forward_dynamics."""
        y, rate = self._state(y, yd)
        twists = (self.T(y) @ rate[..., None]).reshape(*rate.shape[:-1], len(self.bodies), 6)
        masses, inertias = self._inertias()
        outer = batch(np.zeros((len(self.system.scene.bodies), 6)) if forces is None else forces, "forces", "bodies", 6)
        if outer.shape[-2] != len(self.system.scene.bodies):
            raise SceneError(f"forces must be (…, {len(self.system.scene.bodies)}, 6), a row for each body of the scene")
        outer = outer[..., [link.body_number for link in self._moving], :]
        weights = self.dynamics.weights[[link.number for link in self._moving]]
        found = applied_force(masses, inertias, self._orientations(y), twists, weights, outer)
        return found.reshape(*found.shape[:-2], 6 * len(self.bodies))

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def mass_matrix(self, y: ArrayLike) -> np.ndarray:
        """T' M T (…, nv, nv)."""
        T = self.T(y)
        return np.swapaxes(T, -1, -2) @ self.M(y) @ T

    def bias_force(self, y: ArrayLike, yd: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """T' (M Ṫ ẏ - ξ) (…, nv): tau = T' M T ÿ + bias."""
        moved = (self.M(y) @ self.drift(y, yd)[..., None])[..., 0] - self.xi(y, yd, forces)
        return (np.swapaxes(self.T(y), -1, -2) @ moved[..., None])[..., 0]

    def forward_dynamics(self, y: ArrayLike, yd: ArrayLike, tau: ArrayLike, forces: ArrayLike | None = None) -> np.ndarray:
        """ÿ (…, nv) of T' M T ÿ = tau + T' (ξ - M Ṫ ẏ), of the tree alone. tau (…, nv): the forces along ẏ; of a kinematic
        body, whose motion is given, its ÿ. A SceneError at gimbal lock."""
        y, rate = self._state(y, yd)
        for angles in self._angles:
            self._inverse(angles, y)
        tau, bias = broadcast(tau=(batch(tau, "tau", self.nv), 1), yd=(self.bias_force(y, rate, forces), 1))
        given = np.zeros(self.nv, bool)
        for link in self.system.links:
            given[link.v] = link.prescribed
        h = self.mass_matrix(y)
        out = np.where(given, tau, 0.0)
        rest = (tau - bias - (h @ out[..., None])[..., 0])[..., ~given, None]
        out[..., ~given] = np.linalg.solve(h[..., ~given, :][..., ~given], rest)[..., 0]
        return out

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _state(self, y: ArrayLike, rate: ArrayLike, name: str = "yd") -> tuple[np.ndarray, np.ndarray]:
        y, found = broadcast(y=(batch(y, "y", self.ny), 1), **{name: (batch(rate, name, self.nv), 1)})
        return y, found

    def _inverse(self, angles: _Angles, y: np.ndarray) -> np.ndarray:
        try:
            return euler_jacobian_inverse(y[..., angles.y], angles.axes, frame="body")
        except SceneError as error:
            raise SceneError(f"{angles.name!r}: {error}") from None

    def _inertias(self) -> tuple[np.ndarray, np.ndarray]:
        bodies = [None if link.prescribed else self.system.scene.bodies[link.body_number] for link in self._moving]
        masses = [0.0 if body is None else body.mass for body in bodies]
        inertias = [np.zeros((3, 3)) if body is None else body.inertia for body in bodies]
        return np.array(masses), np.array(inertias).reshape(-1, 3, 3)

    def _orientations(self, y: np.ndarray) -> np.ndarray:
        """(…, bodies, 4)"""
        found = self.dynamics.poses(self.q(y).reshape(-1, self.system.nq))[1]
        found = found[:, [link.body_number for link in self._moving]]
        return found.reshape(*y.shape[:-1], len(self.bodies), 4)

    def __repr__(self) -> str:
        told = ", ".join(f"{angles.name!r} by {angles.axes!r}" for angles in self._angles)
        return (
            f"<VelocityTransformation of {self.system.scene.name!r}: T ({6 * len(self.bodies)}, {self.nv})"
            f"{', ' + told if told else ''}>"
        )


def _angles(name: str, axes: str, link: Link, first: int) -> _Angles:
    """Of a link whose angles begin at `first` in y."""
    quaternion = slice(link.q.start + QUATERNIONS[link.kind], link.q.stop)
    return _Angles(name, axes, quaternion, slice(first, first + 3), slice(link.v.stop - 3, link.v.stop))
