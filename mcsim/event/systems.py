"""What moves, as the event-driven simulation sees it: a state y, its smooth rates, and how it answers to contact
forces.

A system has velocities u (nv,) and H u' = f + G' lambda with rows G = R B: rows R act on the bodies' twists (6 n, [v;
w] in world axes), which are B u. Two kinds:

    FreeBodies   u are the twists themselves, B = 1, H is block-diagonal; joints are rows K u' = k (maximal coordinates)
    Tree         u = qd, B the bodies' Jacobians, H the mass matrix (generalized coordinates)

An Instant is one of them at one state: everything that contacts ask for there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcsim.core.linear import Cholesky, dot, dots, eigen, lengths, product, turned
from mcsim.core.rotation import matrices, multiply
from mcsim.event._bodies import accelerations, in_world, light
from mcsim.event.features import Poses
from mcsim.reduced.continuous import Flow
from mcsim.reduced.dynamics import Dynamics
from mcsim.state.arrays import BodyArrays

NOISE = 1e-13  # part of the largest acceleration that is rounding where such cancel
RANK = 1e-11  # part of the largest eigenvalue below which one of joints' rows counts as zero


def turned_by(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(n, 4) rates of unit quaternions q (n, 4) of bodies that turn at w (n, 3), world axes."""
    return 0.5 * multiply(np.stack([np.zeros(len(q)), *w.T]), q.T).T


class FreeBodies:
    """Bodies in maximal coordinates. y: positions, quaternions, velocities, angular velocities, one after the other.

    bodies: BodyArrays; gravity (3,) [m/s²]; joints: None, or a function of (x, q, v, w) -> JointRows at that state.
    """

    count: int
    size: int
    moves: np.ndarray
    inv_mass: np.ndarray
    inertia: np.ndarray
    inv_inertia: np.ndarray
    masses: np.ndarray
    pull: np.ndarray
    linear_damping: np.ndarray
    angular_damping: np.ndarray
    load: np.ndarray
    cuts: tuple[int, int, int]

    def __init__(self, bodies: BodyArrays, gravity: np.ndarray, joints: Callable[..., JointRows] | None = None) -> None:
        self.count = n = bodies.count
        self.size = 6 * n
        self.joints = joints
        self.moves = bodies.inv_mass > 0.0
        self.inv_mass = bodies.inv_mass.copy()
        self.inertia, self.inv_inertia = bodies.inertia.copy(), bodies.inv_inertia.copy()
        self.masses = np.where(self.moves, bodies.mass, 0.0)
        self.pull = np.where(self.moves[:, None], bodies.gravity_scale[:, None] * gravity, 0.0)
        self.linear_damping = np.where(self.moves, bodies.linear_damping, 0.0)
        self.angular_damping = np.where(self.moves, bodies.angular_damping, 0.0)
        self.load = np.where(self.moves[:, None], bodies.force, 0.0)
        self.cuts = 3 * n, 7 * n, 10 * n

    def read(self, bodies: BodyArrays) -> np.ndarray:
        """The state of BodyArrays."""
        return np.concatenate(
            [bodies.position.ravel(), bodies.orientation.ravel(), bodies.twist[:, :3].ravel(), bodies.twist[:, 3:].ravel()]
        )

    def write(self, y: np.ndarray, bodies: BodyArrays) -> None:
        """The same back."""
        x, q, v, w = self.parts(y)
        bodies.position[...], bodies.orientation[...] = x, q
        bodies.twist[:, :3], bodies.twist[:, 3:] = v, w

    def parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x (n, 3), q (n, 4), v, w (n, 3): views of y."""
        a, b, c = self.cuts
        return y[:a].reshape(-1, 3), y[a:b].reshape(-1, 4), y[b:c].reshape(-1, 3), y[c:].reshape(-1, 3)

    def poses(self, y: np.ndarray) -> Poses:
        """Of all bodies."""
        x, q, v, w = self.parts(y)
        return Poses(x, _unit(q), v, w)

    def velocities(self, y: np.ndarray) -> np.ndarray:
        """u (6 n,)"""
        _, _, v, w = self.parts(y)
        return np.concatenate([v, w], axis=1).ravel()

    def with_velocities(self, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """y with other velocities."""
        y, u = y.copy(), u.reshape(-1, 6)
        _, _, v, w = self.parts(y)
        v[...], w[...] = u[:, :3], u[:, 3:]
        return y

    def displaced(self, y: np.ndarray, move: np.ndarray) -> np.ndarray:
        """y moved by small displacements (6 n,), as u moves it in unit time."""
        y, move = y.copy(), move.reshape(-1, 6)
        x, q, _, _ = self.parts(y)
        x += move[:, :3]
        q += turned_by(q, move[:, 3:])
        return self.normalized(y)

    def normalized(self, y: np.ndarray) -> np.ndarray:
        """y with unit quaternions, in place."""
        _, q, _, _ = self.parts(y)
        q[...] = _unit(q)
        return y

    def accelerations(self, y: np.ndarray) -> np.ndarray:
        """(n, 6) of the bodies without joints and contacts."""
        _, q, v, w = self.parts(y)
        return accelerations(
            _unit(q),
            v,
            w,
            self.pull,
            self.load,
            self.inv_mass,
            self.inertia,
            self.inv_inertia,
            self.linear_damping,
            self.angular_damping,
        )

    def rates(self, y: np.ndarray, accelerations: np.ndarray) -> np.ndarray:
        """y' of accelerations (6 n,) or (n, 6)."""
        _, q, v, w = self.parts(y)
        accelerations = accelerations.reshape(-1, 6)
        out = np.empty_like(y)
        x_rate, q_rate, v_rate, w_rate = self.parts(out)
        x_rate[...], v_rate[...], w_rate[...] = v, accelerations[:, :3], accelerations[:, 3:]
        q_rate[...] = turned_by(q, w)
        return out

    def instant(self, y: np.ndarray) -> FreeInstant:
        """-> FreeInstant"""
        return FreeInstant(self, y)

    def energy(self, y: np.ndarray) -> float:
        """Kinetic energy [J]."""
        _, q, v, w = self.parts(y)
        own = turned(matrices(_unit(q)).swapaxes(1, 2), w)
        return 0.5 * (
            dot(self.masses, dots(v, v)) + np.sum(own * turned(np.where(self.moves[:, None, None], self.inertia, 0.0), own))
        )


def _unit(q: np.ndarray) -> np.ndarray:
    return q / lengths(q)[:, None]


class JointRows:
    """Rows of joints at one state: K (m, 6 n), what K u' is to be (m,), errors (m,) [m, rad], and the forces that
    joints add to the bodies (n, 6)."""

    K: np.ndarray
    wanted: np.ndarray
    errors: np.ndarray
    forces: np.ndarray

    def __init__(self, K: np.ndarray, wanted: np.ndarray, errors: np.ndarray, forces: np.ndarray) -> None:
        self.K, self.wanted, self.errors, self.forces = K, wanted, errors, forces


class FreeInstant:
    """FreeBodies at one state. free (6 n,): accelerations without contacts, with joints; noise [m/s²]: what of them is
    rounding, where they cancel."""

    system: FreeBodies
    y: np.ndarray
    poses: Poses
    u: np.ndarray
    inv_inertia: np.ndarray
    rows: JointRows | None
    root: np.ndarray
    free: np.ndarray
    noise: float

    def __init__(self, system: FreeBodies, y: np.ndarray) -> None:
        self.system, self.y = system, y
        self.poses = system.poses(y)
        self.u = system.velocities(y)
        self.inv_inertia = in_world(self.poses.R, system.inv_inertia)
        free = system.accelerations(y)
        self.rows = None
        if system.joints is not None:
            self.rows = rows = system.joints(*system.parts(y))
            free = free + self._light(rows.forces.reshape(1, -1)).reshape(-1, 6)
            self.KM = self._light(rows.K)  # (m, 6 n): K M^-1
            A = product(self.KM, rows.K.T)
            scale = 1.0 / np.sqrt(np.maximum(np.diag(A), 1e-300))
            values, vectors = eigen(A * scale[:, None] * scale)
            held = values > RANK * max(values[-1], 0.0) if len(values) else values > 0.0
            self.root = (scale[:, None] * vectors[:, held]) / np.sqrt(values[held])  # root root' = A^-1, least
        self.free = free.ravel()
        self.noise = NOISE * np.max(np.abs(self.free), initial=0.0)
        if self.rows is not None:
            self.free = self.free + self._pushed(rows.wanted - product(rows.K, self.free))

    def _light(self, rows: np.ndarray) -> np.ndarray:
        """rows M^-1, (m, 6 n)"""
        return light(np.ascontiguousarray(rows), self.system.inv_mass, self.inv_inertia)

    def _pushed(self, wanted: np.ndarray) -> np.ndarray:
        """The change of u' that changes K u' by `wanted`, with the least joint forces."""
        return product(self.KM.T, product(self.root, product(self.root.T, wanted)))

    def answer(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> G (m, nv) = R B and X (nv, m): accelerations that a unit of force along each row gives, joints held."""
        X = self._light(R)
        if self.rows is not None:
            part = product(X, self.rows.K.T, self.root)
            X = X - product(part, product(self.KM.T, self.root).T)
        return R, X.T

    def bias(self, R: np.ndarray) -> np.ndarray:
        """(m,) what R times the bodies' accelerations is at u' = 0."""
        return np.zeros(len(R))

    def closed(self) -> np.ndarray:
        """y with the joints' errors taken out, once; and with joints' rates zero."""
        if self.rows is None:
            return self.y
        y = self.system.displaced(self.y, -self._pushed(self.rows.errors))
        return self.system.with_velocities(y, self.u - self._pushed(product(self.rows.K, self.u)))


class Tree:
    """A spanning tree in generalized coordinates: y = (q, qd). dynamics: reduced.Dynamics; flow: reduced.Flow of it,
    with its tau and forces."""

    dynamics: Dynamics
    flow: Flow
    nq: int
    size: int
    body_of: list[int]
    names: list[str]
    count: int

    def __init__(self, dynamics: Dynamics, flow: Flow) -> None:
        self.dynamics, self.flow = dynamics, flow
        self.nq, self.size = flow.nq, len(flow.tau)
        self.body_of = [link.body_number for link in dynamics.system.links]
        self.names = [link.body for link in dynamics.system.links]
        self.count = len(dynamics.system.scene.bodies)

    def poses(self, y: np.ndarray) -> Poses:
        """Of all bodies."""
        x, q, v, w = self.dynamics.state(self.flow.normalized(y[: self.nq]), y[self.nq :])
        return Poses(x, q, v, w)

    def velocities(self, y: np.ndarray) -> np.ndarray:
        """u = qd"""
        return y[self.nq :]

    def with_velocities(self, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """y with other velocities."""
        return np.concatenate([y[: self.nq], u])

    def displaced(self, y: np.ndarray, move: np.ndarray) -> np.ndarray:
        """y moved by small displacements (nv,), as qd moves it in unit time."""
        q = y[: self.nq]
        return self.normalized(np.concatenate([q + self.flow.coordinate_rates(q, move), y[self.nq :]]))

    def normalized(self, y: np.ndarray) -> np.ndarray:
        """y with unit quaternions."""
        return np.concatenate([self.flow.normalized(y[: self.nq]), y[self.nq :]])

    def rates(self, y: np.ndarray, accelerations: np.ndarray) -> np.ndarray:
        """y' of accelerations qdd (nv,)."""
        return np.concatenate([self.flow.coordinate_rates(y[: self.nq], y[self.nq :]), accelerations])

    def accelerations(self, y: np.ndarray) -> np.ndarray:
        """qdd (nv,) without contacts."""
        return self.dynamics.forward_dynamics(
            self.flow.normalized(y[: self.nq]), y[self.nq :], self.flow.tau, self.flow.forces
        )

    def instant(self, y: np.ndarray) -> TreeInstant:
        """-> TreeInstant"""
        return TreeInstant(self, y)

    def energy(self, y: np.ndarray) -> float:
        """Kinetic energy [J]."""
        return float(self.dynamics.energy(self.flow.normalized(y[: self.nq]), y[self.nq :])[0])


class TreeInstant:
    """A Tree at one state. free (nv,): accelerations without contacts; noise as of FreeInstant."""

    system: Tree
    y: np.ndarray
    q: np.ndarray
    u: np.ndarray
    poses: Poses
    free: np.ndarray
    noise: float
    factor: Cholesky

    def __init__(self, system: Tree, y: np.ndarray) -> None:
        self.system, self.y = system, y
        self.q, self.u = system.flow.normalized(y[: system.nq]), y[system.nq :]
        self.poses = system.poses(y)
        self.free = system.accelerations(y)
        self.noise = NOISE * max(np.max(np.abs(part), initial=0.0) for part in (self.free, system.dynamics.weights))
        self.factor = Cholesky(system.dynamics.mass_matrix(self.q))

    def answer(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> G (m, nv) = R B and X (nv, m) = H^-1 G'."""
        G = np.zeros((len(R), self.system.size))
        for number, name in zip(self.system.body_of, self.system.names):
            own = R[:, 6 * number : 6 * number + 6]
            if np.any(own):
                G += product(own, self.system.dynamics.body_jacobian(name, self.q))
        return G, self.factor.solve(G.T)

    def bias(self, R: np.ndarray) -> np.ndarray:
        """(m,) R times the bodies' accelerations at qdd = 0."""
        linear, angular = self.system.dynamics.accelerations(self.q, self.u, np.zeros(self.system.size))
        return product(R, np.concatenate([linear, angular], axis=1).ravel())

    def closed(self) -> np.ndarray:
        """The tree's joints cannot be open."""
        return self.y


AnySystem = FreeBodies | Tree
Instant = FreeInstant | TreeInstant
