"""The rattleback: a capsule that rocks on top of a ball, its axes of inertia turned against its own, against the
equations of rolling without slip."""

import math

import numpy as np
from scipy.integrate import solve_ivp

import mcsim as mc
from families.family import RATE, SUBSTEPS, Choice, Error, Family, Log, Uniform, Whole, stepped, turned

ALONG = turned((0, 1, 0), math.pi / 2)  # turns the capsule's own z axis along the body's x
FRICTION = 10.0  # far above what rolling asks
SEEN, STEPS = 30, 6000  # small swings, and steps, that are looked at, at most


# ---- rolling, without mcsim ------------------------------------------------------------------------------------------


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def scaled(k, a):
    return k * a[0], k * a[1], k * a[2]


def plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def axes_of(q):
    """Columns: the body's axes in the world."""
    w, x, y, z = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )


def mixed(columns, v):
    return plus(plus(scaled(v[0], columns[0]), scaled(v[1], columns[1])), scaled(v[2], columns[2]))


class Rattleback:
    """1 kg that rolls on one point, d away from the centre of mass, without slipping: v = d x w. The force there goes out
    of the laws of momentum and angular momentum (E. Routh, "Dynamics of a system of rigid bodies", II, 1905, 241-243):
    (I + d^2 - d d^T) w' = -w x I w + d x (d' x w + g z), with I about the centre of mass, d' the rate of d in the world.
    """

    def __init__(self, inertia, gravity):
        self.inertia, self.gravity = inertia, gravity

    def momentum(self, columns, w):
        body = [dot(column, w) for column in columns]
        return mixed(columns, [dot(row, body) for row in self.inertia])

    def rates(self, _, state):
        state = state.tolist()
        s = 1 / math.sqrt(sum(x * x for x in state[:4]))
        p, c, w = [s * x for x in state[:4]], state[4:7], state[7:]
        columns = axes_of(p)
        d = self.arm(columns, c)
        v = cross(d, w)
        dd = self.arm_rate(columns, c, w, d, v)
        turning = cross(d, plus(cross(dd, w), (0.0, 0.0, self.gravity)))
        torque = plus(turning, scaled(-1, cross(w, self.momentum(columns, w))))
        # The left side in body axes, where the inertia is constant; its solution by Cramer's rule.
        d, torque, dd2 = [dot(k, d) for k in columns], [dot(k, torque) for k in columns], dot(d, d)
        rows = [[self.inertia[i][j] - d[i] * d[j] + (dd2 if i == j else 0.0) for j in range(3)] for i in range(3)]
        across = cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])
        dw = mixed(columns, scaled(1 / dot(rows[0], across[0]), mixed(across, torque)))
        half = [0.5 * x for x in p]
        turn = plus(scaled(half[0], w), cross(w, half[1:]))
        return [-dot(half[1:], w), *turn, *v, *dw]

    def holds(self, state):
        """Whether what is below presses on it, and rubs by less than its friction does: F = v' - g."""
        columns, w = axes_of(state[:4].tolist()), state[7:].tolist()
        d = self.arm(columns, state[4:7].tolist())
        v = cross(d, w)
        dw = self.rates(0.0, state)[7:]
        force = plus(cross(self.arm_rate(columns, state[4:7].tolist(), w, d, v), w), cross(d, dw))
        force = plus(force, (0.0, 0.0, self.gravity))
        pressed = dot(force, self.normal(columns, state[4:7].tolist()))
        return pressed > 0.0 and dot(force, force) < (1 + FRICTION**2) * pressed**2

    def energy(self, state):
        state = state.tolist()
        columns, w = axes_of(state[:4]), state[7:]
        v = cross(self.arm(columns, state[4:7]), w)
        return (dot(v, v) + dot(w, self.momentum(columns, w))) / 2 + self.gravity * state[6]

    def path(self, start, times):
        """States at the times, from the first; rows of quaternion, centre of mass, angular velocity."""
        return solve_ivp(self.rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-10, atol=1e-12).y.T


class OnPlane(Rattleback):
    """A ball of radius r, its middle `above` the centre of mass, on a level plane: d = above e - r z, e the body's z
    axis."""

    def __init__(self, r, above, inertia, gravity):
        super().__init__(inertia, gravity)
        self.r, self.above = r, above

    def normal(self, columns, c):
        return 0.0, 0.0, 1.0

    def arm(self, columns, c):
        return plus(scaled(self.above, columns[2]), (0.0, 0.0, -self.r))

    def arm_rate(self, columns, c, w, d, v):
        return scaled(self.above, cross(w, columns[2]))


class OnRidge(OnPlane):
    """The same ball on a cylinder of radius R that lies along the world's x: n from its axis to the ball's middle."""

    def __init__(self, r, ridge, above, inertia, gravity):
        super().__init__(r, above, inertia, gravity)
        self.ridge = ridge

    def middle(self, columns, c):
        """Where its middle is, across the ridge."""
        return 0.0, c[1] + self.above * columns[2][1], c[2] + self.above * columns[2][2]

    def normal(self, columns, c):
        q = self.middle(columns, c)
        return scaled(1 / math.sqrt(dot(q, q)), q)

    def arm(self, columns, c):
        q = self.middle(columns, c)
        return plus(scaled(self.above, columns[2]), scaled(-self.r / math.sqrt(dot(q, q)), q))

    def arm_rate(self, columns, c, w, d, v):
        q, lever = self.middle(columns, c), scaled(self.above, cross(w, columns[2]))
        n, dq = scaled(1 / math.sqrt(dot(q, q)), q), (0.0, v[1] + lever[1], v[2] + lever[2])
        return plus(lever, scaled(-self.r / (self.ridge + self.r), plus(dq, scaled(-dot(n, dq), n))))


class OnBall(Rattleback):
    """A capsule of radius r along the body's x axis, its middle `above` the centre of mass, on a ball of radius R about the
    origin. With u the axis and a its middle, the axis' nearest point to the origin is q = a - (a u) u; there is the normal
    n = q / |q|, the contact R n, and d goes there from the centre of mass: d' = R n' - v."""

    def __init__(self, r, ball, above, inertia, gravity):
        super().__init__(inertia, gravity)
        self.r, self.ball, self.above = r, ball, above

    def middle(self, columns, c):
        """-> (a, n)"""
        a = plus(c, scaled(self.above, columns[2]))
        q = plus(a, scaled(-dot(a, columns[0]), columns[0]))
        return a, scaled(1 / math.sqrt(dot(q, q)), q)

    def normal(self, columns, c):
        return self.middle(columns, c)[1]

    def arm(self, columns, c):
        return plus(scaled(self.ball, self.middle(columns, c)[1]), scaled(-1, c))

    def arm_rate(self, columns, c, w, d, v):
        u = columns[0]
        a, n = self.middle(columns, c)
        da, du = plus(v, cross(w, scaled(self.above, columns[2]))), cross(w, u)
        dq = plus(da, plus(scaled(-dot(a, u), du), scaled(-dot(da, u) - dot(a, du), u)))
        dn = scaled(1 / (self.ball + self.r), plus(dq, scaled(-dot(n, dq), n)))
        return plus(scaled(self.ball, dn), scaled(-1, v))


# ---- the family ------------------------------------------------------------------------------------------------------

PLANE, RIDGE, BALL = "on a plane", "on a ridge", "on a ball"


def rattleback(kind, radius, flat, low, length, slim, skew, per_swing, rate):
    """-> (its equations, height of the centre of mass at rest, radius of what is below, rate of the slower swing)."""
    below = 0.0 if kind == PLANE else flat * radius
    bent = radius if kind == PLANE else radius * below / (radius + below)
    height = low * bent
    across, along = (length * radius) ** 2, (slim * length * radius) ** 2
    # Squares of the rates of small swings by gravity's: to and fro, and to the sides.
    slow, fast = sorted(
        (((below if kind == BALL else radius) - height) / (across + height**2), (bent - height) / (along + height**2))
    )
    gravity = (2 * math.pi * rate / per_swing) ** 2 / fast
    axes = np.array(axes_of(turned((1, 1, 0) if kind == PLANE else (0, 0, 1), skew).tolist())).T
    inertia = (axes @ np.diag([along, across, 0.97 * (along + across)]) @ axes.T).tolist()
    above = radius - height
    thing = (
        OnPlane(radius, above, inertia, gravity)
        if kind == PLANE
        else (OnRidge if kind == RIDGE else OnBall)(radius, below, above, inertia, gravity)
    )
    return thing, height, below, math.sqrt(gravity * slow)


def at_start(kind, radius, flat, low, length, slim, skew, sense, spin, lean, per_swing, rate):
    """-> (its equations, where it starts, height of the centre of mass at rest, radius of what is below): on its middle,
    tilted to the front and to the side, not yet swinging. Parameters as of run_rattleback."""
    thing, height, below, slow = rattleback(kind, radius, flat, low, length, slim, skew, per_swing, rate)
    tilt = lean * spin
    front, side = turned((0, 1, 0), tilt), turned((1, 0, 0), tilt)
    orientation = [front[0] * side[0], front[0] * side[1], front[2] * side[0], -front[2] * side[1]]
    columns = axes_of(orientation)
    u = columns[0]
    n = plus((0.0, 0.0, 1.0), scaled(-u[2], u)) if kind == BALL else (0.0, 0.0, 1.0)
    center = plus(scaled((below + radius) / math.sqrt(dot(n, n)), n), scaled(-thing.above, columns[2]))
    return thing, np.array([*orientation, *center, 0.0, 0.0, sense * spin * slow]), below + height, below


def run_rattleback(kind, radius, flat, low, length, slim, skew, sense, spin, lean, per_swing, rate, substeps):
    """flat: radius of the ridge or ball below by the radius of what rocks; low: height of the centre of mass by the
    greatest that is stable. length: radius of gyration about the axis across, by the radius; slim: about the axis along, by
    that. skew: of the axes of inertia, about the vertical, on a plane about a level line half-way between them [rad]. spin:
    by the rate of the slower swing; lean: the first tilt by the spin. per_swing: steps in the faster swing. The strength of
    gravity follows."""
    thing, start, rest, below = at_start(kind, radius, flat, low, length, slim, skew, sense, spin, lean, per_swing, rate)
    orientation, center, omega = start[:4], start[4:7], start[7:]
    steps = min(STEPS, math.ceil(SEEN * per_swing))
    path = thing.path(start, np.arange(steps + 1) / rate)
    spins = path[:, 9] / omega[2]
    reversed_at = int(np.argmax(spins < 0)) or steps
    steps = min(steps, math.ceil(1.25 * reversed_at))
    steps = next((k for k in range(1, steps + 1) if not thing.holds(path[k])), steps)
    reversed_at = min(reversed_at, steps)

    scene = mc.Scene(gravity=(0, 0, -thing.gravity))
    material = mc.Material(friction=FRICTION)
    up = (0, 0, thing.above)
    scene.add_body(
        "below",
        kind="static",
        material=material,
        shape=mc.Plane((0, 0, 1))
        if kind == PLANE
        else mc.Sphere(below)
        if kind == BALL
        else mc.Capsule(below, 10 * below, orientation=ALONG),
    )
    shape = mc.Capsule(radius, below, position=up, orientation=ALONG) if kind == BALL else mc.Sphere(radius, position=up)
    scene.add_body(
        "rattleback",
        mass=1.0,
        inertia=thing.inertia,
        center_of_mass=(0, 0, 0),
        position=center,
        shape=shape,
        orientation=orientation,
        material=material,
        angular_velocity=omega,
        velocity=cross(thing.arm(axes_of(orientation), center), omega),
    )
    world = stepped(scene, rate, substeps)
    first, found, gain = world.energy().total, [1.0], 0.0
    scale = first - thing.gravity * rest
    for _ in range(steps):
        world.step()
        found.append(world.angular_velocities[1, 2] / omega[2])
        gain = max(gain, (world.energy().total - first) / scale)
    found, spins = np.array(found), spins[: steps + 1]
    pressed_in = thing.gravity * max([0.0, *-world.contacts["separation"]])  # what a contact holds, as a spring does
    turned_at = int(np.argmax(found < 0)) or steps
    return {
        "spin": float(np.abs(found - spins)[: reversed_at + 1].max()),
        "time": abs(turned_at - reversed_at) / reversed_at,
        "back": abs(float(found.min() - spins.min())),
        "gain": gain,
        "loss": (first - world.energy().total - pressed_in) / scale,
    }


RATTLEBACK = Family(
    "rattleback",
    "The rattleback",
    "A capsule on top of a ball, its axes of inertia turned against its own: spun the one way it comes to rock, and turns "
    "back. Beside it a ball with its weight low on a ridge, and on a plane with its axes neither upright nor level. The "
    "equations of rolling without slip, integrated to 1e-10: the spin about the vertical until it turns back, when it "
    "does, and how fast it is a quarter of that time later (at most 30 swings and 6000 steps, and while it neither leaves "
    "what is below nor slips).",
    run_rattleback,
    {
        "kind": Choice(PLANE, RIDGE, BALL),
        "radius": Log(0.01, 1),
        "flat": Log(2, 20),
        "low": Uniform(0.2, 0.8),
        "length": Log(0.4, 2),
        "slim": Uniform(0.2, 0.7),
        "skew": Uniform(0.02, 0.5),
        "sense": Choice(-1, 1),
        "spin": Log(0.03, 0.4),
        "lean": Log(0.02, 0.5),
        "per_swing": Log(20, 1000),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "spin": Error("", 0.05, "error of the spin up to where it turns back, by the first"),
        "time": Error("", 0.02, "error of the time at which it turns back"),
        "back": Error("", 0.05, "error of the fastest spin back, by the first"),
        "gain": Error("", 1e-3, "energy above the start's, by that above rest"),
        "loss": Error("", 0.05, "energy lost beyond what presses the contact in, by that above rest"),
    },
    domain={"per_swing": Log(40, 1000), "substeps": Whole(4, 32)},
    quick={"per_swing": Log(40, 120), "substeps": Whole(4, 8)},
    examples=6,
)
