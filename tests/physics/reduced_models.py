"""Mechanisms as scenes, each with its motion from a reduced model by hand: no joint can come apart there.

A model answers with the frames of all bodies: positions (t, n, 3) of the centres and rotations (t, n, 3, 3) since the
start. Everything starts with body axes along those of the world, so inertias are given in world axes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

import mcsim as mc
from mechanism_scenes import rotation

G = 9.81
DOWN = np.array([0.0, 0.0, -G])
X, Y, Z = np.eye(3)
TIGHT = dict(method="DOP853", rtol=1e-11, atol=1e-11)

# Derivatives from values at -2 ... 2 steps, exact for polynomials of degree 4.
STEP = 2e-3
STENCIL = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12 * STEP)


def turn(axis, angle):
    """Matrix of a turn about an axis (O. Rodrigues)."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def rod_inertia(direction, mass=1.0, length=1.0, along=0.004):
    """(3, 3) of a rod about its centre; a little about its own axis, for a body needs some."""
    u = np.asarray(direction, float) / np.linalg.norm(direction)
    return mass * length**2 / 12 * (np.eye(3) - np.outer(u, u)) + along * mass * np.outer(u, u)


@dataclass
class OneDegree:
    """A mechanism whose poses follow from one number q.

    place(q) -> positions (n, 3), turns (n, 3, 3) since q = start. inertias (n, 3, 3) at the start, about the centres.
    joints: made by a function, as a joint belongs to one scene. Its equation is M q'' + M' q'^2 / 2 + V' = 0 with
    M = sum m |dx/dq|^2 + w . I w, where w is the turn by dq.
    """

    place: Callable
    masses: np.ndarray
    inertias: np.ndarray
    joints: Callable
    start: float
    rate: float = 0.0
    gravity: np.ndarray = field(default_factory=lambda: DOWN)
    known: tuple | None = None

    def around(self, q):
        """At q - 2 steps ... q + 2 steps: dx/dq (5, n, 3), w (5, n, 3) per dq, masses M (5,), potentials V (5,)."""
        places = [self.place(q + k * STEP) for k in range(-4, 5)]
        x, r = (np.array([place[i] for place in places]) for i in (0, 1))
        window = np.arange(5)[:, None] + np.arange(5)
        dx = np.einsum("j,kjni->kni", STENCIL, x[window])
        dr = np.einsum("j,kjnab->knab", STENCIL, r[window])
        r, x = r[2:7], x[2:7]
        cross = np.einsum("knab,kncb->knac", dr, r)
        w = np.stack([cross[..., 2, 1], cross[..., 0, 2], cross[..., 1, 0]], axis=-1)
        body = np.einsum("knba,knb->kna", r, w)
        mass = np.einsum("n,kni,kni->k", self.masses, dx, dx) + np.einsum("kna,nab,knb->k", body, self.inertias, body)
        return dx, w, mass, -np.einsum("n,kni,i->k", self.masses, x, self.gravity)

    def rates(self, _, y):
        _, _, mass, potential = self.around(y[0])
        return [y[1], -(0.5 * STENCIL @ mass * y[1] ** 2 + STENCIL @ potential) / mass[2]]

    def solve(self, times):
        """(2, t): q and its rate, remembered of the last times."""
        if self.known is None or not np.array_equal(self.known[0], times):
            self.known = times, solve_ivp(self.rates, (0, times[-1]), [self.start, self.rate], t_eval=times, **TIGHT).y
        return self.known[1]

    def frames(self, times):
        places = [self.place(q) for q in self.solve(times)[0]]
        return np.array([p for p, _ in places]), np.array([r for _, r in places])

    def scene(self):
        scene = mc.Scene(gravity=self.gravity)
        positions, turns = self.place(self.start)
        dx, w, _, _ = self.around(self.start)
        assert np.allclose(turns, np.eye(3), atol=1e-12)
        for k, (mass, inertia) in enumerate(zip(self.masses, self.inertias)):
            scene.add_body(
                f"b{k}",
                mass=mass,
                inertia=inertia,
                position=positions[k],
                velocity=self.rate * dx[2, k],
                angular_velocity=self.rate * w[2, k],
            )
        for joint in self.joints():
            scene.add_joint(joint)
        return scene


# ---- planar linkages: angles from x towards z, hinges about -y -------------------------------------------------------


def flat(angle):
    return np.array([np.cos(angle), 0.0, np.sin(angle)])


def swing(angle):
    """The turn of a planar body by an angle from x towards z."""
    return turn(-Y, angle)


def hinge(a, b, anchor, axis=-Y):
    """A hinge between bodies by number; None is the world."""
    a, b = (None if k is None else f"b{k}" for k in (a, b))
    return mc.HingeJoint(a, b, anchor, axis)


def four_bar(start=2.0, rate=1.0, ground=1.1, crank=0.4, coupler=1.2, rocker=0.9):
    """Crank, coupler and rocker on four hinges, under gravity: in space three rows too many. Angles by two circles."""
    pivot = ground * X

    def angles(q):
        to_pin = crank * flat(q) - pivot
        d = np.linalg.norm(to_pin)
        inner = np.arccos((d**2 + rocker**2 - coupler**2) / (2 * d * rocker))
        third = np.arctan2(-to_pin[2], -to_pin[0]) + np.pi - inner
        span = pivot + rocker * flat(third) - crank * flat(q)
        return q, np.arctan2(span[2], span[0]), third

    begin = angles(start)

    def place(q):
        a, b, c = angles(q)
        centers = crank / 2 * flat(a), crank * flat(a) + coupler / 2 * flat(b), pivot + rocker / 2 * flat(c)
        return np.array(centers), np.array([swing(x - y) for x, y in zip((a, b, c), begin)])

    lengths, masses = (crank, coupler, rocker), np.array([1.0, 2.0, 1.5])
    inertias = np.array([rod_inertia(flat(a), m, s) for a, m, s in zip(begin, masses, lengths)])
    pin, elbow = crank * flat(start), pivot + rocker * flat(begin[2])
    return OneDegree(
        place,
        masses,
        inertias,
        lambda: [hinge(None, 0, np.zeros(3)), hinge(0, 1, pin), hinge(1, 2, elbow), hinge(None, 2, pivot)],
        start,
        rate,
    )


def slider_crank(start=0.7, rate=6.0, crank=0.3, rod=0.9):
    """A free crank with flywheel, a rod and a piston on a slider along x, under gravity."""

    def tilt(q):
        return np.arcsin(-crank * np.sin(q) / rod)

    def place(q):
        b = tilt(q)
        pin = crank * flat(q)
        return (
            np.array([np.zeros(3), pin + rod / 2 * flat(b), pin + rod * flat(b)]),
            np.array([swing(q - start), swing(b - tilt(start)), np.eye(3)]),
        )

    masses = np.array([3.0, 1.0, 0.7])
    inertias = np.array([np.diag([0.03, 0.06, 0.03]), rod_inertia(flat(tilt(start)), 1.0, rod), 0.002 * np.eye(3)])
    _, _, wrist = place(start)[0]
    return OneDegree(
        place,
        masses,
        inertias,
        lambda: [
            hinge(None, 0, np.zeros(3)),
            hinge(0, 1, crank * flat(start)),
            hinge(1, 2, wrist),
            mc.SliderJoint(None, "b2", (1, 0, 0)),
        ],
        start,
        rate,
    )


def n_four_bar(windows=3):
    """N windows of rods of 1 m and 1 kg: N + 1 upright ones, N lying on them; the first one's top starts at 1 m/s.

    Problem A02 of the IFToMM library of computational benchmark problems; M. González, D. Dopico, U. Lugrís,
    J. Cuadrado, "A benchmarking system for MBS simulation software", Multibody System Dynamics 16 (2006) 179-190. Where
    the uprights lie level, all rods in one line, the mechanism could change to another branch; inertia carries it
    through on this one.
    """
    count = windows + 1

    def place(q):
        upright = [k * X + flat(q) / 2 for k in range(count)]
        lying = [k * X + flat(q) + X / 2 for k in range(windows)]
        return np.array(upright + lying), np.array([swing(q - np.pi / 2)] * count + [np.eye(3)] * windows)

    def joints():
        feet = [hinge(None, k, k * X) for k in range(count)]
        left = [hinge(k, count + k, k * X + Z) for k in range(windows)]
        right = [hinge(count + k, k + 1, (k + 1) * X + Z) for k in range(windows)]
        return feet + left + right

    inertias = np.array([rod_inertia(Z)] * count + [rod_inertia(X)] * windows)
    return OneDegree(place, np.ones(len(inertias)), inertias, joints, np.pi / 2, -1.0)


# ---- one degree in space ---------------------------------------------------------------------------------------------


def cardan(bend=0.6, rate=6.0):
    """Two shafts on hinges, a universal joint between, an eccentric weight on the first. Angle law of the joint:
    tan(out) = cos(bend) tan(in), in counted from the fork at right angles to the plane of the shafts."""
    out = np.cos(bend) * X + np.sin(bend) * Z
    offset = np.array([-0.5, 0.0, -0.1])

    def place(q):
        lead = np.arctan2((np.cos(bend) - 1) * np.sin(q) * np.cos(q), np.cos(q) ** 2 + np.cos(bend) * np.sin(q) ** 2)
        return np.array([turn(X, q) @ offset, 0.5 * out]), np.array([turn(X, q), turn(out, q + lead)])

    heavy = 0.08 * np.eye(3) - 0.03 * np.outer(out, out)
    return OneDegree(
        place,
        np.array([1.0, 2.0]),
        np.array([np.diag([0.05, 0.1, 0.1]), heavy]),
        lambda: [
            hinge(None, 0, -X, X),
            hinge(None, 1, out, out),
            mc.UniversalJoint("b0", "b1", np.zeros(3), axis_a=(0, 1, 0), axis_b=(-np.sin(bend), 0, np.cos(bend))),
        ],
        0.0,
        rate,
    )


def door(tilt=0.5, hinges=3):
    """A door on hinges in one line, leaning by an angle, so that gravity swings it."""
    axis = turn(X, tilt) @ Z
    center = 0.45 * X + 1.0 * axis

    def place(q):
        return np.array([turn(axis, q) @ center]), np.array([turn(axis, q)])

    inertia = turn(X, tilt) @ np.diag([1.7, 2.0, 0.35]) @ turn(X, -tilt)
    return OneDegree(
        place,
        np.array([5.0]),
        inertia[None],
        lambda: [hinge(None, 0, height * axis, axis) for height in np.linspace(0.2, 1.8, hinges)],
        0.0,
        0.5,
    )


def bricard(rate=1.0):
    """Six rods of 1 m round a cube, neighbours' hinges at right angles; the sixth is the ground. A rigid loop by count
    of freedoms (Grübler: 0), a mobile one in fact.

    Problem A04 of the IFToMM library, see n_four_bar: a six-bar of R. Bricard (Leçons de cinématique II, 1927). By its
    threefold symmetry the angles between neighbours are A, B, A, B, ... with cos A + cos B + cos A cos B = 0, which is
    cos(A / 2) cos(B / 2) = cos 60°: the legs of a right-angled spherical triangle. q is the angle between its leg A / 2
    and its hypotenuse, so that tan(A / 2) = tan 60° cos q, sin(B / 2) = sin 60° sin q.
    """
    edges = np.array([X, Y, Z, -X, -Y, -Z])
    axes = np.cross(np.roll(edges, 1, axis=0), edges)
    corners = np.cumsum(edges, axis=0) - edges

    def place(q):
        bends = 2 * np.arctan(np.sqrt(3) * np.cos(q)), 2 * np.arcsin(np.sqrt(0.75) * np.sin(q))
        point, total, centers, turns = np.zeros(3), np.eye(3), [], []
        for k in range(5):
            total = total @ turn(axes[k], bends[k % 2] - np.pi / 2)
            centers.append(point + total @ edges[k] / 2)
            turns.append(total)
            point = point + total @ edges[k]
        assert np.allclose(point, corners[5], atol=1e-12)  # the loop closes
        return np.array(centers), np.array(turns)

    inertias = np.array([rod_inertia(edge) for edge in edges[:5]])
    return OneDegree(
        place,
        np.ones(5),
        inertias,
        lambda: [hinge(None if k == 0 else k - 1, None if k == 5 else k, corners[k], axes[k]) for k in range(6)],
        np.arccos(1 / np.sqrt(3)),
        rate,
    )


# ---- more degrees ----------------------------------------------------------------------------------------------------


@dataclass
class Rigid:
    """Bodies that move as one: in free flight, or about a point of the world.

    E. g. a top, a spatial pendulum, a welded box. bodies: (mass, inertia (3, 3), position (3,)) each. State:
    quaternion, angular velocity in body axes; L' = torque, about the pivot (or the common centre, which then flies
    freely).
    """

    bodies: list
    spin: np.ndarray
    joints: Callable
    pivot: np.ndarray | None = None
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self):
        self.masses = np.array([m for m, _, _ in self.bodies])
        self.places = np.array([p for _, _, p in self.bodies], float)
        self.center = self.masses @ self.places / self.masses.sum()
        self.point = self.center if self.pivot is None else np.asarray(self.pivot, float)
        arms = self.places - self.point
        self.inertia = sum(i + m * (r @ r * np.eye(3) - np.outer(r, r)) for (m, i, _), r in zip(self.bodies, arms))

    def rates(self, _, y):
        q, w = y[:4] / np.linalg.norm(y[:4]), y[4:]
        torque = np.cross(self.center - self.point, rotation(q).T @ (self.masses.sum() * DOWN))
        dq = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
        return [*dq, *np.linalg.solve(self.inertia, torque - np.cross(w, self.inertia @ w))]

    def frames(self, times):
        y = solve_ivp(self.rates, (0, times[-1]), [1, 0, 0, 0, *self.spin], t_eval=times, **TIGHT).y.T
        turns = np.array([rotation(q / np.linalg.norm(q)) for q in y[:, :4]])
        t = np.asarray(times)[:, None]
        points = self.point + (0 * t if self.pivot is not None else self.velocity * t + DOWN * t**2 / 2)
        positions = points[:, None] + np.einsum("tij,nj->tni", turns, self.places - self.point)
        return positions, np.repeat(turns[:, None], len(self.bodies), axis=1)

    def scene(self):
        scene = mc.Scene(gravity=DOWN)
        for k, (mass, inertia, place) in enumerate(self.bodies):
            velocity = np.cross(self.spin, place - self.point) + (0 if self.pivot is not None else self.velocity)
            scene.add_body(
                f"b{k}", mass=mass, inertia=inertia, position=place, velocity=velocity, angular_velocity=self.spin
            )
        for joint in self.joints():
            scene.add_joint(joint)
        return scene


def spatial_pendulum():
    """A body of three different moments on a ball joint, thrown sideways."""
    arm = np.array([0.6, 0.1, -0.5])
    return Rigid(
        [(1.3, np.diag([0.02, 0.03, 0.045]), arm)],
        np.array([1.0, -0.5, 2.5]),
        lambda: [mc.BallJoint(None, "b0", (0, 0, 0))],
        pivot=np.zeros(3),
    )


def spinning_top(spin=120.0):
    """A heavy symmetric top let go at a tilt: it nods as it goes round."""
    axis = turn(Y, 0.5) @ Z
    inertia = 0.002 * np.eye(3) + (0.0012 - 0.002) * np.outer(axis, axis)
    return Rigid(
        [(0.5, inertia, 0.1 * axis)], spin * axis, lambda: [mc.BallJoint(None, "b0", (0, 0, 0))], pivot=np.zeros(3)
    )


def welded_box():
    """Eight masses at the corners of a box, welded along its twelve edges, tumbling freely: five loops of welds."""
    corners = [np.array([x, y, z]) for x in (0, 0.6) for y in (0, 0.4) for z in (0, 0.3)]
    bodies = [(0.5 + 0.1 * k, np.diag([0.01, 0.012, 0.008]), corner) for k, corner in enumerate(corners)]
    pairs = [(a, b) for a in range(8) for b in range(a) if np.count_nonzero(corners[a] - corners[b]) == 1]
    return Rigid(
        bodies,
        np.array([1.0, 2.0, 0.5]),
        lambda: [mc.FixedJoint(f"b{a}", f"b{b}", (corners[a] + corners[b]) / 2) for a, b in pairs],
        velocity=np.array([1.0, 0.0, 3.0]),
    )


class DoublePendulum:
    """Two slender rods on hinges about -y: Lagrange's equations of their two angles from x towards z."""

    start = np.array([-0.3, 0.9, 0.5, -1.0])
    lengths, masses = np.array([1.0, 0.8]), np.array([1.0, 1.5])

    def rates(self, _, y):
        a, b, da, db = y
        (l1, l2), (m1, m2) = self.lengths, self.masses
        coupling = m2 * l1 * l2 / 2
        mass = np.array([[(m1 / 3 + m2) * l1**2, coupling * np.cos(a - b)], [coupling * np.cos(a - b), m2 * l2**2 / 3]])
        force = [
            -coupling * np.sin(a - b) * db**2 - (m1 / 2 + m2) * G * l1 * np.cos(a),
            coupling * np.sin(a - b) * da**2 - m2 * G * l2 / 2 * np.cos(b),
        ]
        return [da, db, *np.linalg.solve(mass, force)]

    def place(self, a, b):
        l1, l2 = self.lengths
        return np.array([l1 / 2 * flat(a), l1 * flat(a) + l2 / 2 * flat(b)])

    def frames(self, times):
        y = solve_ivp(self.rates, (0, times[-1]), self.start, t_eval=times, **TIGHT).y
        return (
            np.array([self.place(a, b) for a, b in y[:2].T]),
            np.array([[swing(a - self.start[0]), swing(b - self.start[1])] for a, b in y[:2].T]),
        )

    def scene(self):
        scene = mc.Scene(gravity=DOWN)
        a, b, da, db = self.start
        elbow = self.lengths[0] * flat(a)
        v_elbow = np.cross(-da * Y, elbow)
        centers = self.place(a, b)
        velocities = v_elbow / 2, v_elbow + np.cross(-db * Y, centers[1] - elbow)
        for k, (angle, rate) in enumerate(((a, da), (b, db))):
            inertia = rod_inertia(flat(angle), self.masses[k], self.lengths[k])
            scene.add_body(
                f"b{k}",
                mass=self.masses[k],
                inertia=inertia,
                position=centers[k],
                velocity=velocities[k],
                angular_velocity=-rate * Y,
            )
        for joint in (hinge(None, 0, np.zeros(3)), hinge(0, 1, elbow)):
            scene.add_joint(joint)
        return scene


MODELS = {
    "double_pendulum": DoublePendulum,
    "spatial_pendulum": spatial_pendulum,
    "spinning_top": spinning_top,
    "four_bar": four_bar,
    "slider_crank": slider_crank,
    "n_four_bar": n_four_bar,
    "cardan": cardan,
    "door": door,
    "bricard": bricard,
    "welded_box": welded_box,
}
