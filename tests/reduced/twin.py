"""A slow, plain twin of the reduced path: link coordinates, 6x6 matrices, one state at a time.

R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008: spatial vectors (chapter 2), joint models (4), recursive
Newton-Euler (Table 5.1), composite rigid bodies (Table 6.2), articulated bodies (Table 7.1), hybrid dynamics (section 9.2).
Spatial motion is [w; v], force [n; f]. X, a Plücker transform, takes motions from one frame's coordinates to another's;
X.T takes forces back. A frame at r, whose axes are the columns of R, both seen from the other frame: `transform(R, r)`.

What comes out to compare with is the engine's: twists [v; w] and forces [f; n] at centres of mass, in world axes.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from mcsim.reduced.kinds import KINDS as OWN, QUATERNIONS

X, Y, Z = np.eye(3)


# ---- spatial vectors -------------------------------------------------------------------------------------------------


def cross(a):
    """The matrix a× (3, 3)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def blocks(a, b, c, d):
    """(6, 6) of [a b; c d], each (3, 3) or a number."""
    result = np.empty((6, 6))
    result[:3, :3], result[:3, 3:], result[3:, :3], result[3:, 3:] = a, b, c, d
    return result


def transform(rotation, position):
    """X (6, 6) to a frame at `position` with axes the columns of `rotation`."""
    return blocks(rotation.T, 0.0, -rotation.T @ cross(position), rotation.T)


def inverse(x):
    """X⁻¹ of a Plücker transform."""
    return blocks(x[:3, :3].T, 0.0, x[3:, :3].T, x[:3, :3].T)


def place_of(x):
    """-> R (3, 3), r (3,): where `transform(R, r)` is x."""
    rotation = x[:3, :3].T
    arm = -rotation @ x[3:, :3]
    return rotation, np.array([arm[2, 1], arm[0, 2], arm[1, 0]])


def motion_cross(v):
    """v× (6, 6), which acts on motions; -(v×)ᵀ acts on forces."""
    return blocks(cross(v[:3]), 0.0, cross(v[3:]), cross(v[:3]))


def force_cross(v):
    return -motion_cross(v).T


def spatial_inertia(mass, com, inertia):
    """(6, 6) about the origin; inertia (3, 3) is about the centre of mass."""
    c = cross(com)
    return blocks(inertia + mass * c @ c.T, mass * c, mass * c.T, mass * np.eye(3))


# ---- rotations -------------------------------------------------------------------------------------------------------


def turn(axis, angle):
    """The rotation matrix about a unit axis (Rodrigues)."""
    k = cross(axis)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def quaternion_product(p, q):
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def quaternion_exponential(vector):
    """The quaternion of a rotation vector."""
    angle = np.linalg.norm(vector)
    return np.array([np.cos(angle / 2), *(0.5 * np.sinc(angle / (2 * np.pi)) * np.asarray(vector))])


def rotation_of(q):
    """R of a quaternion, of any length but zero."""
    w, v = q[0], np.asarray(q[1:])
    return ((w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * cross(v)) / (w * w + v @ v)


def way_of_turning(vector):
    """V (3, 3): a body that moves by v in its own axes while it turns by the rotation vector comes to V v."""
    angle, k = np.linalg.norm(vector), cross(vector)
    second = (angle - np.sin(angle)) / angle**3 if angle > 1e-4 else 1 / 6  # to 1e-16, next to 1
    return np.eye(3) + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * k + second * k @ k


# ---- joints (chapter 4) ----------------------------------------------------------------------------------------------

KINDS = tuple(kind for kind in OWN if kind != "user")
SIZES = {kind: (OWN[kind].nq, OWN[kind].nv) for kind in KINDS}  # of q and of q̇


class Jcalc(NamedTuple):
    """What a joint gives, in the coordinates of its successor's frame F_s.

    x: X_J, from F_p to F_s. s: the motion subspace (6, nv). v: S q̇. c: Ṡ q̇, Ṡ as seen from F_s.
    """

    x: np.ndarray
    s: np.ndarray
    v: np.ndarray
    c: np.ndarray

    @property
    def t(self):
        """T: an orthonormal basis (6, 6 - nv) of the constraint subspace, Tᵀ S = 0."""
        nv = self.s.shape[1]
        return np.linalg.qr(self.s, mode="complete")[0][:, nv:] if nv else np.eye(6)


def _columns(*columns):
    return np.array([[*w, *v] for w, v in columns], float).reshape(-1, 6).T


def joint_shape(kind, q, constant=0.0):
    """-> R, r of F_s in F_p, S, and how S changes, seen from F_s, by the motion along one of q̇: {its index: (6, nv)}, where
    it does change."""
    o, e = np.zeros(3), np.eye(3)
    if kind == "fixed":
        return e, o, _columns(), {}
    if kind == "revolute":
        return turn(Z, q[0]), o, _columns((Z, o)), {}
    if kind == "prismatic":
        return e, q[0] * Z, _columns((o, Z)), {}
    if kind == "helical":
        return turn(Z, q[0]), constant * q[0] * Z, _columns((Z, constant * Z)), {}
    if kind == "cylindrical":
        return turn(Z, q[1]), q[0] * Z, _columns((o, Z), (Z, o)), {}
    if kind == "planar":
        return turn(Z, q[2]), np.array([q[0], q[1], 0.0]), _columns((o, X), (o, Y), (Z, o)), {}
    if kind in QUATERNIONS:
        n, ways = QUATERNIONS[kind], e[:, ["xyz".index(way) for way in OWN[kind].ways]]
        rotation = rotation_of(q[n:])
        slides = rotation.T @ ways
        by = {
            n + k: _columns(*((o, column) for column in (-cross(axis) @ slides).T), *[(o, o)] * 3)
            for k, axis in enumerate(e)
        }
        return rotation, ways @ q[:n], _columns(*((o, column) for column in slides.T), (X, o), (Y, o), (Z, o)), by
    if kind == "universal":
        back = turn(X, -q[1])
        return (
            turn(Z, q[0]) @ back.T,
            o,
            _columns((back @ Z, o), (X, o)),
            {1: _columns((-np.cross(X, back @ Z), o), (o, o))},
        )
    if kind == "spherical_ypr":
        yaw, pitch, roll = q
        to_roll, to_pitch = turn(X, -roll), turn(Y, -pitch)
        columns = to_roll @ to_pitch @ Z, to_roll @ Y, X
        by_pitch = to_roll @ -np.cross(Y, to_pitch @ Z), o, o
        by_roll = tuple(-np.cross(X, column) for column in columns[:2]) + (o,)
        return (
            turn(Z, yaw) @ to_pitch.T @ to_roll.T,
            o,
            _columns(*((w, o) for w in columns)),
            {1: _columns(*((w, o) for w in by_pitch)), 2: _columns(*((w, o) for w in by_roll))},
        )
    if kind == "rack_pinion":
        along = turn(Z, -q[0]) @ X
        return (
            turn(Z, q[0]),
            constant * q[0] * X,
            _columns((Z, constant * along)),
            {0: _columns((o, -constant * np.cross(Z, along)))},
        )
    raise ValueError(kind)


def jcalc(kind, q, qd, constant=0.0):
    """The joint at q, q̇: -> Jcalc. constant: a screw's pitch, a pinion's radius."""
    q, qd = np.asarray(q, float), np.asarray(qd, float)
    rotation, position, s, by = joint_shape(kind, q, constant)
    c = sum((derivative @ qd * qd[k] for k, derivative in by.items()), np.zeros(6))
    return Jcalc(transform(rotation, position), s, s @ qd, c)


def reversed_joint(joint):
    """The same joint seen the other way round: X from F_s to F_p, motions of F_p relative to F_s in F_p's coordinates.

    With X' = X⁻¹ is S' = -X' S; and as Ẋ' = X' (v×), Ṡ' q̇ = -X' (Ṡ q̇ + v × v) = -X' c.
    """
    back = inverse(joint.x)
    return Jcalc(back, -back @ joint.s, -back @ joint.v, -back @ joint.c)


def coordinate_rates(kind, q, qd):
    """dq/dt of the joint."""
    if kind == "planar":
        return np.array([*(turn(Z, q[2]) @ [qd[0], qd[1], 0.0])[:2], qd[2]])
    if kind in QUATERNIONS:
        n = QUATERNIONS[kind]
        return np.concatenate([qd[:n], 0.5 * quaternion_product(q[n:], np.array([0.0, *qd[n:]]))])
    return np.array(qd, float)


def advance(kind, q, qd, dt):
    """q after dt of a constant q̇; exact, with quaternions of length 1."""
    step = dt * np.asarray(qd, float)
    if kind == "planar":
        way = turn(Z, q[2]) @ way_of_turning(step[2] * Z) @ [step[0], step[1], 0.0]
        return np.array([q[0] + way[0], q[1] + way[1], q[2] + step[2]])
    if kind in QUATERNIONS:
        n = QUATERNIONS[kind]
        turned = quaternion_product(q[n:], quaternion_exponential(step[n:]))
        return np.concatenate([q[:n] + step[:n], turned / np.linalg.norm(turned)])
    return q + step


# ---- the tree (chapters 5 to 7) --------------------------------------------------------------------------------------


class Energy(NamedTuple):
    """[J]; gravity's potential is zero at the world's origin."""

    kinetic: float
    potential: float

    @property
    def total(self):
        return self.kinetic + self.potential


class Kinematics(NamedTuple):
    """Lists by link, in the coordinates of each link's own frame.

    x: from the parent's frame. from_world: from the world's. s, c: of the joint, its direction taken care of.
    v: the link's velocity. bias: c + v × v_J.
    """

    x: list
    from_world: list
    s: list
    v: list
    bias: list


def link_weights(system, gravity=None):
    """(links, 3) [N]: mass times gravity times the body's gravity_scale."""
    gravity = np.asarray(system.scene.gravity if gravity is None else gravity, float)
    return np.array(
        [link.mass * system.scene.bodies[link.body_number].gravity_scale * gravity for link in system.links]
    ).reshape(-1, 3)


class Twin:
    """Dynamics of a System; method names and shapes are those of the compiled one, for one state.

    gravity (3,) [m/s²], that of the system's scene if None; each body's gravity_scale counts.
    forces (links, 6), where given: [f; n] on each link at its centre of mass, world axes.
    Forward dynamics reads the τ of prescribed links as their q̈.
    """

    def __init__(self, system, gravity=None):
        self.system, self.links = system, system.links
        self.weights = link_weights(system, gravity)
        self.inertias = [spatial_inertia(link.mass, link.com, link.inertia) for link in self.links]
        self.places = [transform(link.turn, link.place) for link in self.links]
        self._state = None

    # ---- kinematics --------------------------------------------------------------------------------------------------

    def joint(self, number, q, qd):
        """The joint of a link as it leads from the parent to the link: -> Jcalc."""
        link = self.links[number]
        joint = jcalc(link.kind, q[link.q], qd[link.v], link.constant)
        return reversed_joint(joint) if link.reversed else joint

    def kinematics(self, q, qd=None):
        """At q, q̇ (0 if None); kept for the next question about the same state."""
        q, qd = np.asarray(q, float), np.zeros(self.system.nv) if qd is None else np.asarray(qd, float)
        state = q.tobytes(), qd.tobytes()
        if state != self._state:
            self._state, self._kinematics = state, self._kinematics_of(q, qd)
        return self._kinematics

    def _kinematics_of(self, q, qd):
        result = Kinematics([], [], [], [], [])
        for i, link in enumerate(self.links):
            joint = self.joint(i, q, qd)
            x = joint.x @ self.places[i]
            from_world, v = x, joint.v
            if link.parent >= 0:
                from_world, v = x @ result.from_world[link.parent], x @ result.v[link.parent] + joint.v
            for values, value in zip(result, (x, from_world, joint.s, v, joint.c + motion_cross(v) @ joint.v)):
                values.append(value)
        return result

    def poses(self, q):
        """-> centres of mass (links, 3), rotations (links, 3, 3) of the link frames, world."""
        places = [place_of(x) for x in self.kinematics(q).from_world]
        return (
            np.array([r + rotation @ link.com for (rotation, r), link in zip(places, self.links)]).reshape(-1, 3),
            np.array([rotation for rotation, _ in places]).reshape(-1, 3, 3),
        )

    def _to_center(self, number, from_world):
        """(6, 6): a motion in link coordinates as the twist [v; w] of the centre of mass in world axes."""
        rotation = from_world[:3, :3].T
        return blocks(-rotation @ cross(self.links[number].com), rotation, rotation, 0.0)

    def velocities(self, q, qd):
        """-> v (links, 3) of the centres of mass, w (links, 3), world axes."""
        kinematics = self.kinematics(q, qd)
        twists = np.array(
            [self._to_center(i, x) @ v for i, (x, v) in enumerate(zip(kinematics.from_world, kinematics.v))]
        ).reshape(-1, 6)
        return twists[:, :3], twists[:, 3:]

    def _jacobian(self, number, kinematics):
        """(6, nv) in link coordinates, [w; v]."""
        result, x, i = np.zeros((6, self.system.nv)), np.eye(6), number
        while i >= 0:
            result[:, self.links[i].v] = x @ kinematics.s[i]
            x, i = x @ kinematics.x[i], self.links[i].parent
        return result

    def body_jacobian(self, number, q):
        """(6, nv): the twist [v; w] of the link's centre of mass, world axes, by q̇."""
        kinematics = self.kinematics(q)
        return self._to_center(number, kinematics.from_world[number]) @ self._jacobian(number, kinematics)

    def body_accelerations(self, q, qd, qdd):
        """(links, 6): d/dt of the centres' [v; w], world axes."""
        kinematics, result, spatial = self.kinematics(q, qd), [], []
        for i, link in enumerate(self.links):
            a = kinematics.s[i] @ qdd[link.v] + kinematics.bias[i]
            spatial.append(a if link.parent < 0 else kinematics.x[i] @ spatial[link.parent] + a)
            # The spatial acceleration of a moving point lacks w × v of the point.
            to_center, v = self._to_center(i, kinematics.from_world[i]), kinematics.v[i]
            twist = to_center @ v
            result.append(to_center @ spatial[i] + [*np.cross(twist[3:], twist[:3]), 0.0, 0.0, 0.0])
        return np.array(result).reshape(-1, 6)

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def _outer_forces(self, kinematics, forces):
        """[n; f] on each link, its weight included, in its own coordinates."""
        total = np.pad(self.weights, ((0, 0), (0, 3))) + (0.0 if forces is None else forces)
        return [self._to_center(i, x).T @ total[i] for i, x in enumerate(kinematics.from_world)]

    def inverse_dynamics(self, q, qd, qdd, forces=None):
        """τ (nv,): recursive Newton-Euler."""
        kinematics, tau, accelerations, loads = self.kinematics(q, qd), np.zeros(self.system.nv), [], []
        outer = self._outer_forces(kinematics, forces)
        for i, link in enumerate(self.links):
            before = accelerations[link.parent] if link.parent >= 0 else np.zeros(6)
            a = kinematics.x[i] @ before + kinematics.s[i] @ qdd[link.v] + kinematics.bias[i]
            v, inertia = kinematics.v[i], self.inertias[i]
            accelerations.append(a)
            loads.append(inertia @ a + force_cross(v) @ inertia @ v - outer[i])
        for i in reversed(range(len(self.links))):
            link = self.links[i]
            tau[link.v] = kinematics.s[i].T @ loads[i]
            if link.parent >= 0:
                loads[link.parent] = loads[link.parent] + kinematics.x[i].T @ loads[i]
        return tau

    def bias_force(self, q, qd, forces=None):
        """C (nv,): τ at which q̈ is zero."""
        return self.inverse_dynamics(q, qd, np.zeros(self.system.nv), forces)

    def mass_matrix(self, q):
        """H (nv, nv): composite rigid bodies."""
        kinematics, composite = self.kinematics(q), [inertia.copy() for inertia in self.inertias]
        h = np.zeros((self.system.nv, self.system.nv))
        for i in reversed(range(len(self.links))):
            x, parent = kinematics.x[i], self.links[i].parent
            if parent >= 0:
                composite[parent] += x.T @ composite[i] @ x
            force, j = composite[i] @ kinematics.s[i], i
            h[self.links[i].v, self.links[i].v] = kinematics.s[i].T @ force
            while self.links[j].parent >= 0:
                force, j = kinematics.x[j].T @ force, self.links[j].parent
                h[self.links[i].v, self.links[j].v] = force.T @ kinematics.s[j]
                h[self.links[j].v, self.links[i].v] = h[self.links[i].v, self.links[j].v].T
        return h

    def forward_dynamics(self, q, qd, tau, forces=None):
        """q̈ (nv,): articulated bodies."""
        given = np.zeros(self.system.nv, bool)
        for link in self.links:
            given[link.v] = link.prescribed
        return self._articulated(q, qd, np.asarray(tau), np.asarray(tau), given, forces)

    def hybrid_dynamics(self, q, qd, tau, qdd, given, forces=None):
        """-> q̈, τ (nv,). given (nv,) bool: where q̈ is known and τ is not; elsewhere τ is known."""
        qdd = self._articulated(q, qd, np.asarray(tau), np.asarray(qdd), np.asarray(given), forces)
        return qdd, np.where(given, self.inverse_dynamics(q, qd, qdd, forces), tau)

    def _articulated(self, q, qd, tau, qdd, given, forces):
        """q̈, of which some are given: those are part of the bias, and their directions do not yield."""
        kinematics, links = self.kinematics(q, qd), self.links
        outer = self._outer_forces(kinematics, forces)
        free = [np.flatnonzero(~given[link.v]) for link in links]
        bias = [
            c + s @ np.where(given[link.v], qdd[link.v], 0.0) for c, s, link in zip(kinematics.bias, kinematics.s, links)
        ]
        inertias = [inertia.copy() for inertia in self.inertias]
        loads = [force_cross(v) @ inertia @ v - f for v, inertia, f in zip(kinematics.v, inertias, outer)]
        u, d, rest = [None] * len(links), [None] * len(links), [None] * len(links)
        for i in reversed(range(len(links))):
            s = kinematics.s[i][:, free[i]]
            u[i] = inertias[i] @ s
            d[i] = s.T @ u[i]
            rest[i] = tau[links[i].v][free[i]] - s.T @ loads[i]
            if links[i].parent >= 0:
                inertia = inertias[i] - u[i] @ np.linalg.solve(d[i], u[i].T)
                load = loads[i] + inertia @ bias[i] + u[i] @ np.linalg.solve(d[i], rest[i])
                inertia = kinematics.x[i].T @ inertia @ kinematics.x[i]
                # What rounding leaves of asymmetry would grow from link to link, to 1e-8 in a chain of 50.
                inertias[links[i].parent] += (inertia + inertia.T) / 2
                loads[links[i].parent] = loads[links[i].parent] + kinematics.x[i].T @ load
        result, accelerations = np.array(qdd, float), []
        for i, link in enumerate(links):
            before = accelerations[link.parent] if link.parent >= 0 else np.zeros(6)
            a = kinematics.x[i] @ before + bias[i]
            found = np.linalg.solve(d[i], rest[i] - u[i].T @ a)
            result[link.v][free[i]] = found  # a slice is a view
            accelerations.append(a + kinematics.s[i][:, free[i]] @ found)
        return result

    def constrained_dynamics(self, q, qd, tau, forces=None, active=None):
        """The same accelerations in maximal coordinates: Newton and Euler of every link, each joint a constraint.

        I a + v ×* I v = f + (own joint's force) - (children's), Tᵀ (a - X a_parent - c) = 0, a joint's force being
        T λ + T_a τ. active: by link T_a (6, nv), T_aᵀ S = 1; S (Sᵀ S)⁻¹ by default. -> q̈, and by link T λ in
        its own coordinates.
        """
        kinematics, n = self.kinematics(q, qd), len(self.links)
        subspaces = [self.joint(i, q, qd).t for i in range(n)]
        active = [np.linalg.pinv(s).T for s in kinematics.s] if active is None else active
        ends = 6 * n + np.cumsum([0] + [t.shape[1] for t in subspaces])
        matrix, right = np.zeros((ends[-1], ends[-1])), np.zeros(ends[-1])
        outer = self._outer_forces(kinematics, forces)
        for i, (link, t) in enumerate(zip(self.links, subspaces)):
            own, rows, v = slice(6 * i, 6 * i + 6), slice(ends[i], ends[i + 1]), kinematics.v[i]
            matrix[own, own], matrix[own, rows], matrix[rows, own] = self.inertias[i], -t, t.T
            push = active[i] @ tau[link.v]
            right[own] += outer[i] - force_cross(v) @ self.inertias[i] @ v + push
            right[rows] = t.T @ kinematics.bias[i]
            if link.parent >= 0:
                before, x = slice(6 * link.parent, 6 * link.parent + 6), kinematics.x[i]
                matrix[before, rows], matrix[rows, before] = x.T @ t, -t.T @ x
                right[before] -= x.T @ push
        solution = np.linalg.solve(matrix, right)
        a, qdd = solution[: 6 * n].reshape(n, 6), np.zeros(self.system.nv)
        for i, link in enumerate(self.links):
            before = kinematics.x[i] @ a[link.parent] if link.parent >= 0 else 0.0
            qdd[link.v] = np.linalg.pinv(kinematics.s[i]) @ (a[i] - before - kinematics.bias[i])
        return qdd, [t @ solution[ends[i] : ends[i + 1]] for i, t in enumerate(subspaces)]

    def apparent_inertia(self, number, q, qd, tau, forces=None):
        """-> Φ (6, 6), b (6,): the acceleration [v̇; ω̇] of a link's centre of mass is Φ [f; n] + b under one more
        force on it, world axes (3.52)."""
        jacobian = self.body_jacobian(number, q)
        b = self.body_accelerations(q, qd, self.forward_dynamics(q, qd, tau, forces))[number]
        return jacobian @ np.linalg.solve(self.mass_matrix(q), jacobian.T), b

    # ---- sums and motion ---------------------------------------------------------------------------------------------

    def energy(self, q, qd):
        kinematics = self.kinematics(q, qd)
        kinetic = sum(0.5 * v @ inertia @ v for v, inertia in zip(kinematics.v, self.inertias))
        return Energy(float(kinetic), float(-np.sum(self.weights * self.poses(q)[0])))

    def momentum(self, q, qd):
        """-> linear (3,), angular (3,) about the world's origin."""
        kinematics = self.kinematics(q, qd)
        total = sum(
            (x.T @ inertia @ v for x, inertia, v in zip(kinematics.from_world, self.inertias, kinematics.v)), np.zeros(6)
        )
        return total[3:], total[:3]

    def coordinate_rates(self, q, qd):
        """dq/dt (nq,)."""
        result = np.zeros(self.system.nq)
        for link in self.links:
            result[link.q] = coordinate_rates(link.kind, q[link.q], qd[link.v])
        return result

    def integrate(self, q, qd, dt):
        """q after dt of a constant q̇."""
        result = np.zeros(self.system.nq)
        for link in self.links:
            result[link.q] = advance(link.kind, q[link.q], qd[link.v], dt)
        return result

    def trajectory(self, q, qd, times, tau=None, tolerance=1e-11, faster=None):
        """-> q (times, nq), qd (times, nv) at the times, from q, qd at 0, under constant τ: SciPy's DOP853.

        faster: whose forward_dynamics is asked, by default the twin's own.
        """
        nq, tau = self.system.nq, np.zeros(self.system.nv) if tau is None else tau
        dynamics = self if faster is None else faster

        def rates(_, y):
            return np.concatenate([self.coordinate_rates(y[:nq], y[nq:]), dynamics.forward_dynamics(y[:nq], y[nq:], tau)])

        found = solve_ivp(
            rates, (0.0, times[-1]), np.concatenate([q, qd]), method="DOP853", t_eval=times, rtol=tolerance, atol=tolerance
        ).y.T
        return found[:, :nq], found[:, nq:]
