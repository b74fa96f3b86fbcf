"""Published benchmark mechanisms as scenes, each with its motion from a reduced model by hand.

A model places all bodies by a few coordinates q, in closed form; no joint can come apart there. Its equation is Kane's
with the derivatives of that placement by differences, so it shares nothing with the simulator. All planar mechanisms
lie in the xz plane, angles go from x towards z, hinges are about -y.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import mcsim as mc
from reduced_models import DOWN, X, Y, Z, hinge

NO_GRAVITY = np.zeros(3)

# First and second derivatives from values at -2 ... 2 steps; their errors are of order STEP^4.
STEP = 2e-3
FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12 * STEP)
SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12 * STEP**2)


@dataclass
class Reduced:
    """A mechanism of d coordinates q.

    place: q (..., d) -> centres (..., n, 3), rotations (..., n, 3, 3) of the bodies' axes in the world.
    inertias (n, 3): principal moments in those axes. joints: function -> joints of the scene, placed at the start.
    loads: what acts besides gravity in the model, (centres, rotations, velocities, angular velocities), each (n, 3) or
    (n, 3, 3) -> (n, 6) forces and torques about the centres; in the scene springs of the joints do that, or `push`,
    called with the world before each of its step() calls.
    times: at which it is compared; dt: of the world; order: that of the direct solver, 1 where springs or dampers are
    too fast for the substep.
    """

    place: Callable
    masses: np.ndarray
    inertias: np.ndarray
    joints: Callable
    start: np.ndarray
    rate: np.ndarray
    times: np.ndarray = field(default_factory=lambda: np.arange(1, 5) * 0.25)
    dt: float = 1 / 120
    gravity: np.ndarray = field(default_factory=lambda: DOWN)
    loads: Callable | None = None
    push: Callable | None = None
    order: int = 2
    method: str = "DOP853"
    tolerance: float = 1e-10

    def __post_init__(self):
        self.start, self.rate = np.atleast_1d(self.start).astype(float), np.atleast_1d(self.rate).astype(float)
        self.masses, self.inertias = np.asarray(self.masses, float), np.asarray(self.inertias, float)

    def motion(self, q, u):
        """-> centres, rotations, their derivatives by q: dx (d, n, 3), turns (d, n, 3); accelerations at q'' = 0 and
        q' = u: (n, 3) of the centres, (n, 3) angular."""
        speed = np.linalg.norm(u)
        lines = np.vstack([np.eye(len(q)), u / speed if speed > 0 else u])
        x, r = self.place(q + STEP * np.arange(-2, 3)[:, None, None] * lines)
        here = r[2, 0]
        dx, ddx = np.einsum("s,skni->kni", FIRST, x), np.einsum("s,sni->ni", SECOND, x[:, -1])
        dr, ddr = np.einsum("s,sknab->knab", FIRST, r), np.einsum("s,snab->nab", SECOND, r[:, -1])
        turns = twist_of(np.einsum("knab,ncb->knac", dr, here))
        return (
            x[2, 0],
            here,
            dx[:-1],
            turns[:-1],
            speed**2 * ddx,
            speed**2 * twist_of(np.einsum("nab,ncb->nac", ddr, here)),
        )

    def equations(self, q, u):
        """Kane's equations: mass (d, d) and the generalized forces (d,) that are left for it, mass q'' = forces."""
        x, r, dx, turns, a, alpha = self.motion(q, u)
        inertia = np.einsum("nab,nb,ncb->nac", r, self.inertias, r)
        w = np.einsum("k,kni->ni", u, turns)
        force = self.masses[:, None] * (self.gravity - a)
        torque = -np.einsum("nab,nb->na", inertia, alpha) - np.cross(w, np.einsum("nab,nb->na", inertia, w))
        if self.loads is not None:
            loads = self.loads(x, r, np.einsum("k,kni->ni", u, dx), w)
            force, torque = force + loads[:, :3], torque + loads[:, 3:]
        mass = np.einsum("n,jni,kni->jk", self.masses, dx, dx) + np.einsum("jna,nab,knb->jk", turns, inertia, turns)
        return mass, np.einsum("kni,ni->k", dx, force) + np.einsum("kni,ni->k", turns, torque)

    def rates(self, _, y):
        q, u = np.split(y, 2)
        return np.concatenate([u, np.linalg.solve(*self.equations(q, u))])

    def effort(self, q, u, acceleration):
        """(d,) what drives q along this motion."""
        mass, forces = self.equations(np.atleast_1d(q), np.atleast_1d(u))
        return mass @ np.atleast_1d(acceleration) - forces

    def solve(self, times):
        """-> q, q' (t, d) each."""
        found = solve_ivp(
            self.rates,
            (0, times[-1]),
            np.concatenate([self.start, self.rate]),
            t_eval=times,
            method=self.method,
            rtol=self.tolerance,
            atol=self.tolerance,
        )
        assert found.success, found.message
        return np.split(found.y.T, 2, axis=1)

    def frames(self):
        """At the model's times: (t, n, 3), (t, n, 3, 3)."""
        return self.place(self.solve(self.times)[0])

    def scene(self):
        scene = mc.Scene(gravity=self.gravity)
        x, r, dx, turns, *_ = self.motion(self.start, self.rate)
        for k, mass in enumerate(self.masses):
            scene.add_body(
                f"b{k}",
                mass=mass,
                inertia=self.inertias[k],
                position=x[k],
                orientation=Rotation.from_matrix(r[k]).as_quat(scalar_first=True),
                velocity=self.rate @ dx[:, k],
                angular_velocity=self.rate @ turns[:, k],
            )
        for joint in self.joints():
            scene.add_joint(joint)
        return scene


# ---- geometry, for arrays of angles and points -----------------------------------------------------------------------


def twist_of(matrices):
    """(..., 3) of the skew parts of (..., 3, 3)."""
    return 0.5 * np.stack(
        [
            matrices[..., 2, 1] - matrices[..., 1, 2],
            matrices[..., 0, 2] - matrices[..., 2, 0],
            matrices[..., 1, 0] - matrices[..., 0, 1],
        ],
        axis=-1,
    )


def ray(angle):
    """Unit vectors (..., 3) at angles (...) from x towards z."""
    angle = np.asarray(angle, float)
    found = np.zeros((*angle.shape, 3))
    found[..., 0], found[..., 2] = np.cos(angle), np.sin(angle)
    return found


def angle_of(vectors):
    return np.arctan2(vectors[..., 2], vectors[..., 0])


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def triad(first, second):
    """Rotations (..., 3, 3) whose first two columns are these unit vectors at right angles."""
    first, second = np.broadcast_arrays(first, second)
    return np.stack([first, second, np.cross(first, second)], axis=-1)


def planar(angle):
    """Rotations of planar bodies whose x is at these angles."""
    angle = np.asarray(angle, float)
    found = np.zeros((*angle.shape, 3, 3))
    found[..., 0, 0] = found[..., 2, 2] = np.cos(angle)
    found[..., 2, 0] = np.sin(angle)
    found[..., 0, 2] = -found[..., 2, 0]
    found[..., 1, 1] = 1.0
    return found


def about(axis, angle):
    """Rotations (..., 3, 3) about one axis (O. Rodrigues)."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.cross(np.eye(3), axis)
    angle = np.asarray(angle, float)[..., None, None]
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def meet(p, p_radius, c, c_radius, side):
    """The point of the plane at these distances from p and c, to the left (side 1) or right (-1) of the way p to c."""
    way = c - p
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    along = (p_radius**2 - c_radius**2 + length**2) / (2 * length)
    left = np.zeros(way.shape)
    left[..., 0], left[..., 2] = -way[..., 2], way[..., 0]
    left /= length
    return p + along / length * way + side * np.sqrt(p_radius**2 - along**2) * left


def bodies(centers, rotations):
    """Lists of (..., 3) and (..., 3, 3), one for each body -> one array each."""
    shape = np.broadcast_shapes(*(np.shape(c)[:-1] for c in centers), *(np.shape(r)[:-2] for r in rotations))
    return (
        np.stack([np.broadcast_to(c, (*shape, 3)) for c in centers], axis=-2),
        np.stack([np.broadcast_to(r, (*shape, 3, 3)) for r in rotations], axis=-3),
    )


def bars(ends):
    """Centres and rotations of planar bars from their pairs of ends."""
    return bodies([(a + b) / 2 for a, b in ends], [planar(angle_of(b - a)) for a, b in ends])


def rod(mass, length, thick=0.03):
    """Principal moments (3,) of a square rod along its x."""
    across = mass * (length**2 + thick**2) / 12
    return np.array([mass * thick**2 / 6, across, across])


# ---- Andrews' squeezer mechanism -------------------------------------------------------------------------------------

ANDREWS_TIME = 0.03

# beta, Theta, gamma, Phi, delta, Omega, epsilon [rad] and their rates at 0.03 s, from the same source.
# fmt: off
ANDREWS_ANGLES = np.array([0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948,
                           0.5244099658805304, 0.5347301163226948, 0.1048080741042263e1])
ANDREWS_RATES = np.array([0.1139920302151208e4, -0.1424379294994111e4, 0.1103291221937134e2, 0.1929337464421385e2,
                          0.5735699284790808, -0.1929337464421385e2, 0.3231791658026955])
# fmt: on


def andrews():
    """Seven bodies on ten hinges in a plane, three loops, a spring and a constant torque on the crank.

    G. C. Andrews, M. K. Ormrod, "Advent: a simulation program for constrained planar kinematic and dynamic systems",
    ASME 86-DET-97; W. Schiehlen (ed.), Multibody Systems Handbook, 1990; data and solution as in E. Hairer, G. Wanner,
    Solving Ordinary Differential Equations II, section VII.7, and F. Mazzia, C. Magherini, Test Set for Initial Value
    Problem Solvers, 2008; also problem A03 of the IFToMM library. q is the crank's angle beta.
    """
    masses = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]
    moments = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])
    a, b, c = (np.array([x, 0, z]) for x, z in ((-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)))
    d, da, e, ea, rr, ra, ss = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035
    sa, sb, sc, sd, ta, tb, u, ua, ub, zf, zt, fa = (
        0.01874,
        0.01043,
        0.018,
        0.02,
        0.02308,
        0.00916,
        0.04,
        0.01228,
        0.00449,
        0.02,
        0.04,
        0.01421,
    )
    stiffness, rest, torque = 4530.0, 0.07785, 0.033

    def points(beta):
        """Crank pin, the point where four bodies meet, the two knees."""
        pin = rr * ray(beta)
        middle = meet(pin, d, b, ss, 1)
        return pin, middle, meet(a, zt, middle, e, 1), meet(a, u, middle, zf, -1)

    def angles(beta, pin, middle, upper, lower):
        gamma, delta, epsilon = (angle_of(middle - b) + np.pi / 2, angle_of(upper - a), angle_of(lower - a) + np.pi / 2)
        return (
            angle_of(pin - middle),
            gamma,
            angle_of(middle - upper) + np.pi / 2,
            delta,
            angle_of(middle - lower),
            epsilon,
        )

    def frame(origin, angle, x, z):
        """A point at (x, z) in axes at an angle."""
        return origin + x * ray(angle) + z * ray(angle + np.pi / 2)

    def place(q):
        beta = q[..., 0]
        pin, middle, upper, lower = points(beta)
        two, gamma, four, delta, six, epsilon = angles(beta, pin, middle, upper, lower)
        centers = [
            ra * ray(beta),
            pin - da * ray(two),
            frame(b, gamma, sb, -sa),
            frame(upper, four, 0, -(e - ea)),
            frame(a, delta, ta, tb),
            lower + (zf - fa) * ray(six),
            frame(a, epsilon, -ub, -ua),
        ]
        return bodies(centers, [planar(angle) for angle in (beta, two, gamma, four, delta, six, epsilon)])

    start = -0.0617138900142764496358948458001
    pin, middle, upper, lower = points(start)
    gamma = angles(start, pin, middle, upper, lower)[1]
    hook = frame(b, gamma, sd, -sc)
    hook_in_body = planar(gamma).T @ (hook - place(np.array([start]))[0][2])

    def joints():
        return [
            hinge(None, 0, 0 * X),
            hinge(0, 1, pin),
            hinge(None, 2, b),
            hinge(None, 4, a),
            hinge(None, 6, a),
            hinge(4, 3, upper),
            hinge(6, 5, lower),
            hinge(1, 2, middle),
            hinge(2, 3, middle),
            hinge(3, 5, middle),
            mc.DistanceJoint(None, "b2", c, hook, length=rest, spring=mc.Spring(stiffness)),
        ]

    def loads(x, r, _v, _w):
        wrench = np.zeros((7, 6))
        arm = r[2] @ hook_in_body
        way = x[2] + arm - c
        force = -stiffness * (1 - rest / np.linalg.norm(way)) * way
        wrench[2] = *force, *np.cross(arm, force)
        wrench[0, 4] = -torque
        return wrench

    return Reduced(
        place,
        masses,
        np.repeat(moments[:, None], 3, axis=1),
        joints,
        start,
        0.0,
        gravity=NO_GRAVITY,
        times=np.arange(1, 7) * 0.005,
        dt=1e-4,
        loads=loads,
        push=lambda world: world.apply_torque("b0", (0, -torque, 0)),
    )


# ---- linkages of the textbooks ---------------------------------------------------------------------------------------


def whitworth(start=0.5, rate=4.0, crank=0.2, lever=1.0, rod_length=0.5, below=0.5, height=0.45):
    """Whitworth's quick return: a crank's pin slides along a lever, which moves a ram by a rod; free, under gravity.

    J. J. Uicker, G. R. Pennock, J. E. Shigley, Theory of Machines and Mechanisms, section 1.7. The slotted lever's
    pivot lies `below` the crank's, the ram's line at `height` above it.
    """
    foot = -below * Z

    def points(q):
        pin = crank * ray(q)
        tilt = angle_of(pin - foot)
        top = foot + lever * ray(tilt)
        along = np.sqrt(rod_length**2 - (height - top[..., 2]) ** 2)
        return pin, tilt, top, np.stack([top[..., 0] + along, 0 * along, height + 0 * along], axis=-1)

    def place(q):
        pin, tilt, top, ram = points(q[..., 0])
        return bodies(
            [0 * pin, pin, foot + lever / 2 * ray(tilt), (top + ram) / 2, ram],
            [planar(q[..., 0]), planar(tilt), planar(tilt), planar(angle_of(ram - top)), np.eye(3)],
        )

    pin, tilt, top, ram = points(np.array(start))

    def joints():
        return [
            hinge(None, 0, 0 * X),
            hinge(0, 1, pin),
            hinge(None, 2, foot),
            hinge(2, 3, top),
            hinge(3, 4, ram),
            mc.SliderJoint("b2", "b1", ray(tilt), pin),
            mc.SliderJoint(None, "b4", (1, 0, 0)),
        ]

    inertias = [(0.05, 0.1, 0.05), (1e-3,) * 3, rod(2.0, lever), rod(0.5, rod_length), (0.01,) * 3]
    return Reduced(place, [4.0, 0.3, 2.0, 0.5, 1.5], inertias, joints, start, rate)


def scissor_lift(stages=3, start=0.6, length=0.8, stiffness=9000.0, damping=15.0):
    """Crossed bars on hinges in `stages` storeys, feet and platform on one hinge and one sliding block each; a spring
    and damper between the ground and the lower block let it bounce. q is the bars' slope."""
    feet = length * np.cos(start)  # where the lower block starts

    def ends(q):
        run, rise = length * np.cos(q)[..., None] * X, length * np.sin(q)[..., None] * Z
        up = [(k * rise, run + (k + 1) * rise) for k in range(stages)]
        down = [((k + 1) * rise, run + k * rise) for k in range(stages)]
        return up + down

    def place(q):
        pairs = ends(q[..., 0])
        centers, rotations = bars(pairs)
        low, top, left = pairs[stages][1], pairs[stages - 1][1], pairs[-1][0]
        centers = np.concatenate([centers, np.stack([low, top, left + [0.4 * length, 0, 0.05]], axis=-2)], axis=-2)
        level = np.broadcast_to(np.eye(3), (*centers.shape[:-2], 3, 3, 3))
        return centers, np.concatenate([rotations, level], axis=-3)

    pairs = ends(np.array(start))
    low, top, deck = 2 * stages, 2 * stages + 1, 2 * stages + 2

    def joints():
        cross = [hinge(k, stages + k, sum(pairs[k]) / 2) for k in range(stages)]
        right = [hinge(k, stages + k + 1, pairs[k][1]) for k in range(stages - 1)]
        left = [hinge(stages + k, k + 1, pairs[stages + k][0]) for k in range(stages - 1)]
        return (
            cross
            + right
            + left
            + [
                hinge(None, 0, 0 * X),
                hinge(stages, low, pairs[stages][1]),
                hinge(stages - 1, top, pairs[stages - 1][1]),
                hinge(2 * stages - 1, deck, pairs[-1][0]),
                mc.SliderJoint(f"b{deck}", f"b{top}", (1, 0, 0)),
                mc.SliderJoint(None, f"b{low}", (1, 0, 0), spring=mc.Spring(stiffness, damping)),
            ]
        )

    def loads(x, _r, v, _w):
        wrench = np.zeros((2 * stages + 3, 6))
        wrench[low, 0] = -stiffness * (x[low, 0] - feet) - damping * v[low, 0]
        return wrench

    count = 2 * stages
    return Reduced(
        place,
        [*[1.0] * count, 0.2, 0.2, 3.0],
        [*[rod(1.0, length)] * count, (1e-3,) * 3, (1e-3,) * 3, (0.1, 0.2, 0.2)],
        joints,
        start,
        0.0,
        loads=loads,
    )


def peaucellier(start=1.0, rate=-1.0, arm=1.0, side=0.45, crank=0.4):
    """The straight line of C. N. Peaucellier (1864): seven bars on ten hinges; the inverse of a circle through the
    centre of inversion. Gravity along x. The last hinge's point goes along x = (arm^2 - side^2) / (2 crank)."""
    pivot = crank * X

    def ends(q):
        near = pivot + crank * ray(q)
        far = (arm**2 - side**2) / np.sum(near**2, axis=-1, keepdims=True) * near
        upper, lower = (meet(0 * near, arm, near, side, k) for k in (1, -1))
        return [
            (0 * near, upper),
            (0 * near, lower),
            (upper, near),
            (lower, near),
            (upper, far),
            (lower, far),
            (0 * near + pivot, near),
        ]

    pairs = ends(np.array(start))
    upper, lower, near, far = pairs[0][1], pairs[1][1], pairs[6][1], pairs[4][1]

    def joints():
        return [
            hinge(None, 6, pivot),
            hinge(None, 0, 0 * X),
            hinge(None, 1, 0 * X),
            hinge(0, 2, upper),
            hinge(0, 4, upper),
            hinge(1, 3, lower),
            hinge(1, 5, lower),
            hinge(2, 3, near),
            hinge(2, 6, near),
            hinge(4, 5, far),
        ]

    lengths = np.array([np.linalg.norm(b - a) for a, b in pairs])
    return Reduced(
        lambda q: bars(ends(q[..., 0])),
        lengths,
        [rod(length, length) for length in lengths],
        joints,
        start,
        rate,
        gravity=5.0 * X,
    )


def sarrus(start=0.9, rate=1.0, length=0.5):
    """P. T. Sarrus (1853): two folding arms at right angles, six hinges; the platform moves straight up and down and
    does not turn. Rigid by count (Grübler: 0)."""

    def arm(direction, q):
        across = np.cross(direction, Z)
        foot = 0.3 * direction
        knee = foot + length * (np.cos(q)[..., None] * direction + np.sin(q)[..., None] * Z)
        wrist = foot + 2 * length * np.sin(q)[..., None] * Z
        return across, foot, knee, wrist

    def place(q):
        centers, rotations = [], []
        for direction in (X, Y):
            across, foot, knee, wrist = arm(direction, q[..., 0])
            for a, b in ((foot, knee), (knee, wrist)):
                centers.append((a + b) / 2)
                rotations.append(triad(unit(b - a), across))
        return bodies([*centers, 2 * length * np.sin(q[..., 0])[..., None] * Z], [*rotations, np.eye(3)])

    def joints():
        made = []
        for k, direction in ((0, X), (2, Y)):
            across, foot, knee, wrist = arm(direction, np.array(start))
            made += [hinge(None, k, foot, across), hinge(k, k + 1, knee, across), hinge(k + 1, 4, wrist, across)]
        return made

    return Reduced(
        place,
        [1.0, 1.2, 0.8, 0.9, 3.0],
        [*[rod(1.0, length)] * 4, (0.05, 0.06, 0.1)],
        joints,
        start,
        rate,
        times=np.arange(1, 5) * 0.1,
    )


def bennett(start=1.0, rate=3.0, lengths=(0.8, 0.5), twist=0.9):
    """The spatial four-bar of G. T. Bennett (1903): rigid by count (Grübler: -2), yet mobile, for its opposite links
    are alike and sin(twist) / length is the same for all. Links by Denavit and Hartenberg: a turn about z by the angle,
    then a length along x and a twist about x. Angles: tan(t / 2) tan(u / 2) = sin((b + a) / 2) / sin((b - a) / 2)."""
    long, short = lengths
    other = np.arcsin(short / long * np.sin(twist))
    ratio = np.sin((other + twist) / 2) / np.sin((other - twist) / 2)

    def chain(q):
        """Hinge points, hinge axes and link frames of the loop."""
        second = 2 * np.arctan(ratio / np.tan(q / 2))
        point, turn = np.zeros(3), np.eye(3)
        points, axes, frames = [], [], []
        for angle, length, bend in ((q, long, twist), (second, short, other), (-q, long, twist), (-second, short, other)):
            points.append(point)
            axes.append(turn[..., :, 2])
            turn = turn @ about(Z, angle)
            point = point + length * turn[..., :, 0]
            frames.append(turn)
            turn = turn @ about(X, np.array(bend))
        assert np.allclose(point, 0, atol=1e-12) and np.allclose(turn, np.eye(3), atol=1e-12)
        return points, axes, frames

    def place(q):
        points, _, frames = chain(q[..., 0])
        # The fourth link is the ground: all is seen from its frame.
        ground, base = np.swapaxes(frames[3], -1, -2), points[3]
        ends = [np.einsum("...ab,...b->...a", ground, p - base) for p in (points[0] + 0 * base, *points[1:])]
        return bodies([(ends[k] + ends[k + 1]) / 2 for k in range(3)], [ground @ frames[k] for k in range(3)])

    points, axes, frames = chain(np.array(start))
    anchors, lines = ((np.array(v) - shift) @ frames[3] for v, shift in ((points, points[3]), (axes, 0)))

    def joints():
        return [hinge(None if k == 0 else k - 1, None if k == 3 else k, anchors[k], lines[k]) for k in range(4)]

    return Reduced(place, [1.0, 0.7, 1.0], [rod(1.0, long), rod(0.7, short), rod(1.0, long)], joints, start, rate)


# ---- in space --------------------------------------------------------------------------------------------------------


def spatial_slider_crank(rate=6.0):
    """RSSR-P: a crank about x drives by a rod a block along x, with a ball joint at the crank and a cross at the block.

    E. J. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, vol. I, 1989, section 10.5 (lengths,
    masses, moments, 6 rad/s); the rod's own spin, which is free there between two balls, is held by the cross here.
    """
    hub, length, crank = np.array([0, 0.1, 0.12]), 0.3, 0.08
    # The crank turns in the yz plane, q from y towards z, and starts upright.

    def points(q):
        pin = hub + crank * (np.cos(q)[..., None] * Y + np.sin(q)[..., None] * Z)
        block = (pin[..., 0] + np.sqrt(length**2 - pin[..., 1] ** 2 - pin[..., 2] ** 2))[..., None] * X
        return pin, block

    def place(q):
        pin, block = points(q[..., 0])
        along = unit(pin - block)
        return bodies(
            [hub, (pin + block) / 2, block], [about(X, q[..., 0]), triad(along, unit(np.cross(Y, along))), np.eye(3)]
        )

    pin, block = points(np.array(np.pi / 2))

    def joints():
        return [
            hinge(None, 0, hub, X),
            mc.BallJoint("b0", "b1", pin),
            mc.SliderJoint(None, "b2", (1, 0, 0)),
            mc.UniversalJoint("b2", "b1", block, axis_a=Y, axis_b=unit(np.cross(Y, pin - block))),
        ]

    return Reduced(
        place,
        [0.12, 0.5, 2.0],
        [(1e-4, 1e-4, 1e-5), (4e-4, 4e-3, 4e-3), (1e-4, 1e-4, 1e-4)],
        joints,
        np.pi / 2,
        rate,
        dt=1 / 240,
    )


def double_cardan(bend=0.5, rate=8.0, length=0.8):
    """A drive shaft with two crosses in phase (Z arrangement): the output, parallel to the input, turns as it does. The
    middle shaft, bent out of line, carries an eccentric weight. One row too many in space."""
    middle = np.cos(bend) * X + np.sin(bend) * Z
    out = length * middle
    weight = 0.5 * out + 0.1 * Y

    def place(q):
        angle = q[..., 0]
        lead = np.arctan2(
            (np.cos(bend) - 1) * np.sin(angle) * np.cos(angle), np.cos(angle) ** 2 + np.cos(bend) * np.sin(angle) ** 2
        )
        turn = about(middle, angle + lead)
        return bodies([-0.3 * X, turn @ weight, out + 0.3 * X], [about(X, angle), turn, about(X, angle)])

    def joints():
        fork = -np.sin(bend) * X + np.cos(bend) * Z
        return [
            hinge(None, 0, -0.3 * X, X),
            hinge(None, 2, out + 0.3 * X, X),
            mc.UniversalJoint("b0", "b1", 0 * X, axis_a=Y, axis_b=fork),
            mc.UniversalJoint("b1", "b2", out, axis_a=fork, axis_b=Y),
        ]

    return Reduced(place, [1.0, 2.0, 1.0], [(0.05, 0.03, 0.03), (0.06, 0.07, 0.08), (0.04, 0.03, 0.03)], joints, 0.0, rate)


def flyball_governor(stiffness=8e5, damping=4e4):
    """A shaft, a sliding ring on it and two rods on hinges at its top, tied to the ring by two springs with dampers.

    After problem A05 of the IFToMM library of computational benchmark problems, with its kind of numbers but masses and
    moments chosen here: stiff, since the dampers' rate is thousands of 1/s, the governor's some. q: the shaft's
    angle, the ring's height, the slope of both rods from straight down.
    """
    top, length, tie = Z, 1.0, 0.5

    def arms(q):
        """Directions of the two rods and their hinges' axes."""
        spin = about(Z, q[..., 0])
        out, across = spin[..., :, 0], spin[..., :, 1]
        down = [-np.cos(q[..., 2])[..., None] * Z + sign * np.sin(q[..., 2])[..., None] * out for sign in (1, -1)]
        return spin, across, down

    def place(q):
        spin, across, down = arms(q)
        ring = q[..., 1, None] * Z
        return bodies(
            [0.5 * Z, ring, top + length * down[0], top + length * down[1]],
            [spin, spin, triad(down[0], across), triad(down[1], across)],
        )

    slope = np.pi / 6
    start = np.array([0.0, 1 - 2 * tie * np.cos(slope), slope])
    _, across, down = arms(start)
    rings, knees = start[1] * Z, [top + tie * d for d in down]
    rest = tie

    def joints():
        spring = mc.Spring(stiffness, damping)
        return [
            hinge(None, 0, 0 * X, Z),
            mc.SliderJoint("b0", "b1", (0, 0, 1)),
            *(hinge(0, k + 2, top, across) for k in range(2)),
            *(mc.DistanceJoint("b1", f"b{k + 2}", rings, knees[k], length=rest, spring=spring) for k in range(2)),
        ]

    def loads(x, r, v, w):
        wrench = np.zeros((4, 6))
        for k in (2, 3):
            arm = (tie - length) * r[k][:, 0]
            way = x[k] + arm - x[1]
            distance = np.linalg.norm(way)
            slip = way @ (v[k] + np.cross(w[k], arm) - v[1]) / distance
            force = -(stiffness * (distance - rest) + damping * slip) / distance * way
            wrench[k] = *force, *np.cross(arm, force)
            wrench[1, :3] -= force
        return wrench

    ball = (0.02, 0.06, 0.06)
    return Reduced(
        place,
        [10.0, 3.0, 2.0, 2.0],
        [(0.1, 0.1, 0.05), (0.01, 0.01, 0.02), ball, ball],
        joints,
        start,
        np.array([2 * np.pi, 0, 0]),
        loads=loads,
        order=1,
        method="Radau",
        tolerance=1e-7,
    )


def stewart(stiffness=4000.0, damping=30.0):
    """V. E. Gough's and D. Stewart's platform (1965): six telescopic legs on crosses at the base and balls at the
    platform, each with a spring and damper. q: the platform's centre and its rotation vector. 13 bodies, 18 joints,
    6 freedoms."""
    turns = np.deg2rad([-10, 10, 110, 130, 230, 250])
    feet = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=-1)
    turns = np.deg2rad([-50, 50, 70, 170, 190, 290])
    heads = 0.6 * np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=-1)
    sides = np.stack([-feet[:, 1], feet[:, 0], feet[:, 2]], axis=-1)  # the crosses' axes at the base
    lower, upper = 0.3, 0.35  # centres of a leg's halves from its two ends

    def legs(q):
        angle = np.linalg.norm(q[..., 3:], axis=-1)[..., None, None]
        cross = np.zeros((*q.shape[:-1], 3, 3))
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            cross[..., k, j], cross[..., j, k] = q[..., 3 + i], -q[..., 3 + i]
        turn = np.eye(3) + np.sinc(angle / np.pi) * cross + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * cross @ cross
        tips = q[..., None, :3] + np.einsum("...ab,kb->...ka", turn, heads)
        return turn, tips, unit(tips - feet)

    def place(q):
        turn, tips, along = legs(q)
        frame = triad(along, unit(np.cross(sides, along)))
        x = np.concatenate([feet + lower * along, tips - upper * along, q[..., None, :3]], axis=-2)
        return x, np.concatenate([frame, frame, turn[..., None, :, :]], axis=-3)

    start = np.array([0.05, -0.03, 1.0, 0.2, -0.1, 0.15])
    _, tips, along = legs(start)
    begin = np.linalg.norm(tips - feet, axis=-1)

    def joints():
        spring = mc.Spring(stiffness, damping)
        return [
            *(
                mc.UniversalJoint(None, f"b{k}", feet[k], axis_a=sides[k], axis_b=unit(np.cross(sides[k], along[k])))
                for k in range(6)
            ),
            *(mc.SliderJoint(f"b{k}", f"b{k + 6}", along[k], spring=spring) for k in range(6)),
            *(mc.BallJoint(f"b{k + 6}", "b12", tips[k]) for k in range(6)),
        ]

    def loads(x, r, v, w):
        wrench = np.zeros((13, 6))
        along = r[:6, :, 0]
        tips = x[6:12] + upper * along
        way = np.linalg.norm(tips - feet, axis=-1)
        # Both halves turn alike, so their slip along the leg is that of the upper tip.
        slip = np.einsum("ka,ka->k", along, v[6:12] - v[:6] - np.cross(w[:6], x[6:12] - x[:6]))
        force = (stiffness * (way - begin) + damping * slip)[:, None] * along
        wrench[:6, :3], wrench[6:12, :3] = force, -force
        return wrench

    halves = [rod(1.5, 0.6), rod(1.0, 0.7)]
    return Reduced(
        place,
        [*[1.5] * 6, *[1.0] * 6, 20.0],
        [*[halves[0]] * 6, *[halves[1]] * 6, (0.9, 0.8, 1.5)],
        joints,
        start,
        np.array([0.3, 0.2, -0.5, 0.4, 0.0, 1.0]),
        times=np.arange(1, 5) * 0.2,
        loads=loads,
    )


MODELS = {
    model.__name__: model
    for model in (
        andrews,
        whitworth,
        scissor_lift,
        peaucellier,
        sarrus,
        bennett,
        spatial_slider_crank,
        double_cardan,
        flyball_governor,
        stewart,
    )
}
