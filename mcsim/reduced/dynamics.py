"""Dynamics: the algorithms over the tree of a System."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.rotation import IDENTITY, compose, matrices
from mcsim.reduced import _dynamics
from mcsim.reduced.derivatives import Derivatives
from mcsim.reduced.kinds import KINDS, QUATERNIONS
from mcsim.reduced.system import System
from mcsim.scene import Body
from mcsim.scene.checks import FieldError, Vector, count, listing, show, suggestion, vector

MOST_THREADS = 64
USER_NUMBERS = 54  # of a joint of the user's: _links.pxd

# A link as kernels know it: the record Link of _links.pxd.
LINK_DTYPE = np.dtype(
    [
        ("parent", "i4"),
        ("kind", "i4"),
        ("reversed", "i4"),
        ("q", "i4"),
        ("v", "i4"),
        ("freedoms", "i4"),
        ("body", "i4"),
        ("user", "i4"),
        ("given", "i4"),
        ("prescribed", "i4"),
        ("quaternion", "i4"),
        ("ways", "i4"),
        ("loose", "i4"),
        ("turn", "f8", (3, 3)),
        ("place", "f8", 3),
        ("constant", "f8"),
        ("mass", "f8"),
        ("com", "f8", 3),
        ("inertia", "f8", 6),
        ("weight", "f8", 3),
        ("armature", "f8", 6),
        ("pull", "f8", 3),
    ],
    align=True,
)


class Dynamics(Derivatives):
    """Forward and inverse dynamics, mass matrix and bias force of a System, of one state or of many in one call.

    system: the System. gravity (3,) [m/s²], the scene's by default; each body's gravity_scale counts.
    threads: among which calls for many states are shared out. Results do not depend on it.

    Coordinates q (nq,), velocities qd (nv,) and accelerations qdd (nv,) are those of the system (`system.index`). A
    Dynamics belongs to one thread at a time, and says so: SimulationError.
    """

    system: System
    weights: np.ndarray

    def __init__(self, system: System, gravity: Vector | None = None, threads: int = 1):
        if not isinstance(system, System):
            raise SceneError(
                f"{type(self).__name__}: the first argument must be a System, got {type(system).__name__}; "
                "mcsim.reduced.System(scene) makes one"
            )
        self.system = system
        gravity = np.array(vector(system.scene.gravity if gravity is None else gravity, "gravity"))
        bodies = system.scene.bodies
        frames = [compose((b.position, b.orientation), (b.center_of_mass, IDENTITY[1])) for b in bodies]
        try:
            threads = count(threads, "threads", 1, MOST_THREADS)
        except FieldError as error:
            raise SceneError(f"Dynamics: {error}") from None
        names = [f"body {link.body!r}" if link.joint is None else f"joint {link.joint.name!r}" for link in system.links]
        records = link_records(system, gravity)
        self.weights = records["weight"]  # (links, 3) gravity on each link [m/s²]
        self._given: Any = None, None  # which accelerations are given, and the algorithms for them
        self._made_of = (
            records,
            system.nq,
            system.nv,
            link_turns(system),
            np.array([p for p, _ in frames]).reshape(-1, 3),
            np.array([q for _, q in frames]).reshape(-1, 4),
            names,
            [(link.number, link.model.fill) for link in system.links if link.model is not None],
            threads,
        )
        super().__init__(*self._made_of)

    # ---- some accelerations given ------------------------------------------------------------------------------------

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        qdd: ArrayLike,
        given: ArrayLike | None,
        forces: ArrayLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """-> qdd (nv,), tau (nv,): where `given` (nv,) bool is True, the acceleration is known from qdd and the force
        is asked for; elsewhere the force is known from tau and the acceleration asked for (Featherstone, section
        9.2, Articulated-Body Hybrid Dynamics).

        What is not known of tau and qdd is not read. Accelerations of kinematic bodies are always given. q, qd, tau,
        qdd and forces (as of forward_dynamics) may have a leading axis of n states. By articulated bodies if each joint
        is either given or not; else by the mass matrix.
        """
        given = given_velocities(self.system, given)
        known = np.where(given, _dynamics.as_doubles(qdd, "qdd"), _dynamics.as_doubles(tau, "tau"))
        if all(given[link.v].all() or not given[link.v].any() for link in self.system.links):
            found = self._where_given(given).forward_dynamics(q, qd, known, forces)
        else:
            found = self._by_mass_matrix(q, qd, known, given, forces)
        return found, np.where(given, self.inverse_dynamics(q, qd, found, forces), known)

    def _where_given(self, given: np.ndarray) -> _dynamics.Dynamics:
        """The algorithms with these joints' accelerations given: of them forward dynamics reads tau as qdd."""
        key = given.tobytes()
        known, made = self._given  # both at once: another thread may set them
        if known != key:
            records = self._made_of[0].copy()
            for record, link in zip(records, self.system.links):
                record["given"] = bool(given[link.v].all())
            made = _dynamics.Dynamics(records, *self._made_of[1:])
            self._given = key, made
        return made

    def _by_mass_matrix(
        self, q: ArrayLike, qd: ArrayLike, known: np.ndarray, given: np.ndarray, forces: ArrayLike | None
    ) -> np.ndarray:
        """H qdd + C = tau, split into what is given and what is free."""
        free = ~given
        h, bias = self.mass_matrix(q), self.bias_force(q, qd, forces)
        moved = np.where(given, known, 0.0)
        rest = known - bias - np.einsum("...ij,...j->...i", h, moved)
        found = np.linalg.solve(h[..., free, :][..., free], rest[..., free, None])[..., 0]
        out = np.array(np.broadcast_to(moved, rest.shape))
        out[..., free] = found
        return out

    # ---- the factor of H ---------------------------------------------------------------------------------------------

    def ltl(self, q: ArrayLike) -> np.ndarray:
        """L (nv, nv), lower triangular, of H = L' L at q (nq,); (n, nv, nv) for q (n, nq).

        L has zeros where H has them: row k is zero but at k and at the velocities that `expanded_parent` leads to from
        there, so that no fill-in comes about (Featherstone, table 6.3). `ltl_solve` solves with it.
        """
        factor, failed = self._ltl(q)
        if failed >= 0:
            body = next(link.body for link in self.system.links if link.v.start <= failed < link.v.stop)
            raise SceneError(
                f"the mass matrix is not positive definite at the joint of body {body!r}: nothing that "
                "has mass moves with it, or its coordinates are singular"
            )
        return factor

    # ---- bodies and points -------------------------------------------------------------------------------------------

    def body_jacobian(self, body: Body | str, q: ArrayLike) -> np.ndarray:
        """(6, nv): takes qd to the body's twist [v; w] of its centre of mass, in world axes, as World has it; (n, 6, nv)
        for q (n, nq). It is 0 for a static body."""
        return self._jacobian(self.system.link_of[self._name(body)], q)

    def body_drift(self, body: Body | str, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """(6,): what body_jacobian's rate does, J' qd: the acceleration [v'; w'] of a body at qdd = 0; (n, 6) of n
        states."""
        number = self._number(body)
        linear, angular = self.accelerations(q, qd, np.zeros(self.nv))
        return np.concatenate([linear[..., number, :], angular[..., number, :]], axis=-1)

    def point_jacobian(self, body: Body | str, point: Vector, q: ArrayLike) -> np.ndarray:
        """(3, nv): takes qd to the velocity of a point fixed on a body, world axes; (n, 3, nv) for q (n, nq).

        point (3,) [m]: in the body's own frame, as its shapes are placed."""
        number = self._number(body)
        twist, arm = self.body_jacobian(body, q), self._arm(number, point, q)
        return twist[..., :3, :] - np.cross(arm[..., None], twist[..., 3:, :], axis=-2)

    def point_drift(self, body: Body | str, point: Vector, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """(3,): J' qd of point_jacobian, the acceleration of a point fixed on a body at qdd = 0; (n, 3) of n states."""
        number = self._number(body)
        drift, arm = self.body_drift(body, q, qd), self._arm(number, point, q)
        w = self.state(q, qd)[3][..., number, :]
        return drift[..., :3] + np.cross(drift[..., 3:], arm) + np.cross(w, np.cross(w, arm))

    def _arm(self, number: int, point: Vector, q: ArrayLike) -> np.ndarray:
        """(…, 3) from a body's centre of mass to a point given in its own frame, world axes."""
        body = self.system.scene.bodies[number]
        return matrices(self.poses(q)[1][..., number, :]) @ (np.array(vector(point, "point")) - body.center_of_mass)

    def _name(self, body: Body | str) -> str:
        name = getattr(body, "name", body)
        if not isinstance(name, str) or name not in self.system.link_of:
            raise SceneError(
                "there is no body "
                f"{show(name)}{suggestion(name, self.system.link_of) if isinstance(name, str) else ''}; "
                f"there are: {listing(list(self.system.link_of))}"
            )
        return name

    def _number(self, body: Body | str) -> int:
        """Place of a body in the scene's."""
        return list(self.system.link_of).index(self._name(body))

    # ---- sums over the bodies ----------------------------------------------------------------------------------------

    @property
    def mass(self) -> float:
        """Of all links together [kg]; kinematic bodies have none."""
        return float(sum(link.mass for link in self.system.links))

    def center_of_mass(self, q: ArrayLike) -> np.ndarray:
        """(3,) [m] of all links together, world; (n, 3) for q (n, nq)."""
        return self._masses() @ self.poses(q)[0][..., self._bodies(), :] / self._some_mass()

    def center_of_mass_velocity(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """(3,) [m/s] of the centre of mass of all links; (n, 3) of n states."""
        return self._masses() @ self.state(q, qd)[2][..., self._bodies(), :] / self._some_mass()

    def momentum(self, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """-> linear (3,) [kg m/s] and angular momentum (3,) about the world's origin [kg m²/s] of all links; (n, 3) of
        n states."""
        x, turn, v, w = self._links(q, qd)
        p = self._masses()[:, None] * v
        spin = (turn @ (self._inertias() @ (turn.swapaxes(-1, -2) @ w[..., None])))[..., 0]
        return p.sum(axis=-2), (np.cross(x, p) + spin).sum(axis=-2)

    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """(6,): linear momentum, and angular momentum about the centre of mass; (n, 6) of n states."""
        linear, angular = self.momentum(q, qd)
        return np.concatenate([linear, angular - np.cross(self.center_of_mass(q), linear)], axis=-1)

    def centroidal_momentum_matrix(self, q: ArrayLike) -> np.ndarray:
        """A (6, nv): takes qd to centroidal_momentum; (n, 6, nv) for q (n, nq)."""
        x, turn, _, _ = self._links(q, np.zeros(self.nv))
        arms = x - self.center_of_mass(q)[..., None, :]
        inertias = turn @ self._inertias() @ turn.swapaxes(-1, -2)
        total: Any = 0.0
        for i, link in enumerate(self.system.links):
            jacobian = self._jacobian(i, q)
            p = link.mass * jacobian[..., :3, :]
            spin = inertias[..., i, :, :] @ jacobian[..., 3:, :]
            total = total + np.concatenate([p, spin + np.cross(arms[..., i, :, None], p, axis=-2)], axis=-2)
        return np.asarray(total)

    def energy(self, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """-> kinetic and potential energy [J] of all links and rotors, (n,) of n states. Gravity's potential is zero at the
        world's origin; springs of joints do not count."""
        x, turn, v, w = self._links(q, qd)
        spin = (turn.swapaxes(-1, -2) @ w[..., None])[..., 0]
        kinetic = 0.5 * (
            np.einsum("i,...ij,...ij", self._masses(), v, v) + np.einsum("...ij,ijk,...ik", spin, self._inertias(), spin)
        )
        rotors = np.concatenate([np.zeros(0), *(link.armature for link in self.system.links)])
        if rotors.any():
            kinetic = kinetic + 0.5 * (np.asarray(qd, float) ** 2 @ rotors)
        return kinetic, -np.einsum("i,ij,...ij", self._masses(), self.weights, x)

    def _links(self, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, ...]:
        """Of the links: centres of mass (…, links, 3), axes (…, links, 3, 3), v, w (…, links, 3)."""
        x, orientation, v, w = (part[..., self._bodies(), :] for part in self.state(q, qd))
        return x, matrices(orientation) @ link_turns(self.system).swapaxes(-1, -2), v, w

    def _bodies(self) -> list[int]:
        return [link.body_number for link in self.system.links]

    def _masses(self) -> np.ndarray:
        return np.array([link.mass for link in self.system.links])

    def _inertias(self) -> np.ndarray:
        return np.array([link.inertia for link in self.system.links]).reshape(-1, 3, 3)

    def _some_mass(self) -> float:
        if self.mass == 0.0:
            raise SceneError("nothing that moves has mass: there is no centre of mass")
        return self.mass


def as_state(value: ArrayLike, name: str, size: int) -> np.ndarray:
    """(size,) finite numbers, from whatever a caller gives as q, qd or tau."""
    array = _dynamics.as_doubles(value, name)
    if array.shape != (size,):
        raise SceneError(f"{name} must be ({size},), got {array.shape}")
    if not np.isfinite(array).all():
        raise SceneError(f"{name} has values that are not finite")
    return array


def given_velocities(system: System, given: ArrayLike | None) -> np.ndarray:
    """(nv,) bool: what a user gives, and the velocities of kinematic bodies."""
    if given is None:
        mask = np.zeros(system.nv, bool)
    else:
        mask = np.array(given)
        if mask.dtype != bool or mask.shape != (system.nv,):
            raise SceneError(f"given must be ({system.nv},) bool, got {mask.dtype} {mask.shape}")
    for link in system.links:
        mask[link.v] |= link.prescribed
    return mask


def link_turns(system: System) -> np.ndarray:
    """(links, 3, 3): the axes of each link's body, in the link's."""
    return np.array([link.frame[1] for link in system.links]).reshape(-1, 3, 3)


def link_records(system: System, gravity: np.ndarray) -> np.ndarray:
    """(links,) LINK_DTYPE"""
    records = np.zeros(len(system.links), LINK_DTYPE)
    users = 0
    for record, link in zip(records, system.links):
        record["parent"], record["kind"], record["reversed"] = link.parent, KINDS[link.kind].pattern, link.reversed
        record["q"], record["v"] = link.q.start, link.v.start
        record["freedoms"] = link.v.stop - link.v.start
        record["body"], record["user"] = link.body_number, -1
        record["given"] = record["prescribed"] = link.prescribed
        record["quaternion"] = QUATERNIONS.get(link.kind, -1)
        record["ways"] = sum(1 << "xyz".index(way) for way in KINDS[link.kind].ways) if link.kind in QUATERNIONS else 0
        if link.model is not None:
            record["user"] = USER_NUMBERS * users
            users += 1
        record["turn"], record["place"], record["constant"] = link.turn.T, link.place, link.constant
        record["mass"], record["com"] = link.mass, link.com
        record["inertia"] = link.inertia[np.triu_indices(3)]
        record["armature"][: len(link.armature)] = link.armature
        record["weight"] = gravity * system.scene.bodies[link.body_number].gravity_scale
    free = (records["parent"] < 0) & (records["ways"] == 7) & ~np.any(records["armature"], axis=1)
    records["loose"] = free & (records["reversed"] == 0) & (records["given"] == 0)
    records["pull"] = _pulls(records)
    return records


def _pulls(records: np.ndarray) -> np.ndarray:
    """(links, 3) their gravity [m/s²] as the centre of mass of a loose tree sees it: 0 where all of it have one
    gravity_scale."""
    roots = np.arange(len(records))
    for i, parent in enumerate(records["parent"]):
        roots[i] = i if parent < 0 else roots[parent]
    pulls = records["weight"].copy()
    for i in np.flatnonzero(records["loose"]).tolist():
        own = roots == i
        weights, masses = pulls[own], records["mass"][own, None]
        pulls[own] = 0.0 if np.all(weights == weights[0]) else weights - (masses * weights).sum(0) / masses.sum()
    return pulls
