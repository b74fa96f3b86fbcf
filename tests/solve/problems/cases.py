"""Contact problems to try solvers on, assembled with NumPy from bodies, contact points and joints; nothing of mcsim.

Each case is a dict of A (m, m) = J M^-1 J' [1/kg], b (m,) = J v_free + bias [m/s], friction (nc,), lower, upper
(m - 3 nc,) [N s]. Rows: contacts in threes [n, t1, t2], then joints, motors and limits; J' lam are the impulses on the
bodies. v_free is the velocity after gravity alone for dt. Without bias a solution always exists: impulses that cancel
do no work on J v_free.

    cases.stack(count=5), cases.heavy_on_light(1e6), ...     one of a kind
    cases.CASES                                              name -> case, about 25 of them
    cases.random_case(seed)                                  one of all kinds, small
"""

import numpy as np

DT = 1.0 / 60.0
GRAVITY = np.array([0.0, 0.0, -9.81])
WORLD = -1


class Scene:
    """Bodies, and rows between them."""

    def __init__(self, dt=DT):
        self.dt = dt
        self.masses, self.inertias, self.positions, self.velocities = [], [], [], []
        self.contacts, self.friction = [], []  # ([three rows], bias)
        self.rows, self.bounds = [], []  # (row, bias), (lower, upper)

    def box(self, position, half_extents, mass, velocity=(0, 0, 0), spin=(0, 0, 0), rotation=None):
        """-> number of the body."""
        squares = np.square(half_extents)
        inertia = np.diag(mass / 3.0 * (squares.sum() - squares))
        rotation = np.eye(3) if rotation is None else rotation
        self.masses.append(mass)
        self.inertias.append(rotation @ inertia @ rotation.T)
        self.positions.append(np.array(position, float))
        self.velocities.append(np.concatenate([np.array(velocity, float) + self.dt * GRAVITY, spin]))
        return len(self.masses) - 1

    def row(self, a, b, point, direction):
        """What b does at the point along the direction, seen from a: {body: its six numbers}."""
        found = {}
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body != WORLD:
                arm = np.asarray(point, float) - self.positions[body]
                found[body] = sign * np.concatenate([direction, np.cross(arm, direction)])
        return found

    def contact(self, a, b, point, normal, friction, bias=0.0):
        """normal from a to b; bias [m/s] is added to the normal speed: gap / dt, or minus what is to be pushed out."""
        normal = np.asarray(normal, float) / np.linalg.norm(normal)
        first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.7 else [0.0, 1.0, 0.0])
        first /= np.linalg.norm(first)
        axes = normal, first, np.cross(normal, first)
        self.contacts.append(([self.row(a, b, point, axis) for axis in axes], bias))
        self.friction.append(friction)

    def face(self, a, b, center, half_extents, friction, points=4, bias=0.0):
        """A horizontal face on which b lies on a: 1 to 4 corners, more along the edges."""
        angles = np.pi / 4.0 + 2.0 * np.pi * np.arange(points) / points
        for angle in angles if points > 1 else [None]:
            away = np.zeros(2) if angle is None else np.sqrt(2.0) * np.array([np.cos(angle), np.sin(angle)])
            offset = np.clip(away, -1.0, 1.0) * half_extents
            self.contact(a, b, np.add(center, [*offset, 0.0]), (0.0, 0.0, 1.0), friction, bias)

    def ball(self, a, b, point, bias=(0.0, 0.0, 0.0)):
        """Three rows without bounds that hold the point of both together."""
        for axis, value in zip(np.eye(3), bias):
            self.free_row(self.row(a, b, point, axis), value, -np.inf, np.inf)

    def turning(self, a, b, axis, lower, upper, speed=0.0):
        """A row on the turning of b against a: a motor that wants this speed with bounded impulse, or a limit."""
        axis = np.asarray(axis, float)
        found = {body: sign * np.concatenate([np.zeros(3), axis]) for body, sign in ((a, -1.0), (b, 1.0)) if body != WORLD}
        self.free_row(found, -speed, lower, upper)

    def free_row(self, row, bias, lower, upper):
        self.rows.append((row, bias))
        self.bounds.append((lower, upper))

    def jacobian(self):
        """(J (m, 6 n), bias (m,))"""
        rows = [(row, bias if k == 0 else 0.0) for three, bias in self.contacts for k, row in enumerate(three)]
        rows += self.rows
        jacobian = np.zeros((len(rows), 6 * len(self.masses)))
        for i, (row, _) in enumerate(rows):
            for body, numbers in row.items():
                jacobian[i, 6 * body : 6 * body + 6] = numbers
        return jacobian, np.array([bias for _, bias in rows])

    def problem(self):
        """dict(A, b, friction, lower, upper)"""
        jacobian, bias = self.jacobian()
        inverse = np.zeros((6 * len(self.masses),) * 2)
        for k, (mass, inertia) in enumerate(zip(self.masses, self.inertias)):
            inverse[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / mass
            inverse[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.linalg.inv(inertia)
        A = jacobian @ inverse @ jacobian.T
        free = np.concatenate([*self.velocities, []])
        bounds = np.array(self.bounds, float).reshape(-1, 2)
        return dict(
            A=0.5 * (A + A.T),
            b=jacobian @ free + bias,
            friction=np.array(self.friction, float),
            lower=bounds[:, 0].copy(),
            upper=bounds[:, 1].copy(),
        )


# ---- kinds -----------------------------------------------------------------------------------------------------------


def stack(count=3, friction=0.5, ratio=1.0, points=4, push=0.0, bias=0.0):
    """count cubes of 0.5 m half extent on each other; masses grow from 1 kg to ratio kg upwards; the top one is pushed
    sideways with `push` m/s."""
    scene = Scene()
    below = WORLD
    for k in range(count):
        mass = ratio ** (k / max(1, count - 1))
        velocity = (push, 0.3 * push, 0.0) if k == count - 1 else (0.0, 0.0, 0.0)
        body = scene.box((0.0, 0.0, 0.5 + k), (0.5, 0.5, 0.5), mass, velocity)
        scene.face(below, body, (0.0, 0.0, float(k)), 0.5, friction, points, bias)
        below = body
    return scene.problem()


def heavy_on_light(ratio=1e6, friction=0.5, push=0.0):
    """A cube of 1 g and upon it one of ratio grams."""
    scene = Scene()
    light = scene.box((0.0, 0.0, 0.1), (0.1, 0.1, 0.1), 1e-3)
    heavy = scene.box((0.0, 0.0, 0.3), (0.1, 0.1, 0.1), 1e-3 * ratio, (push, 0.0, 0.0))
    scene.face(WORLD, light, (0.0, 0.0, 0.0), 0.1, friction)
    scene.face(light, heavy, (0.0, 0.0, 0.2), 0.1, friction)
    return scene.problem()


def wall(base=4, friction=0.5, points=4):
    """A pyramid of bricks: base of them in the lowest row, each lies on two."""
    scene = Scene()
    below = []
    for level in range(base):
        here = []
        for k in range(base - level):
            x = k + 0.5 * level
            body = scene.box((x, 0.0, 0.25 + 0.5 * level), (0.5, 0.25, 0.25), 1.0)
            here.append(body)
            if level == 0:
                scene.face(WORLD, body, (x, 0.0, 0.0), (0.5, 0.25), friction, points)
            else:
                for side, under in ((-0.25, below[k]), (0.25, below[k + 1])):
                    scene.face(under, body, (x + side, 0.0, 0.5 * level), (0.25, 0.25), friction, points)
        below = here
    return scene.problem()


def sliding(speed=2.0, angle=0.6, friction=0.4):
    """A cube that slides on the floor, neither along t1 nor along t2."""
    scene = Scene()
    velocity = speed * np.cos(angle), speed * np.sin(angle), 0.0
    body = scene.box((0, 0, 0.1), (0.1, 0.1, 0.1), 1.0, velocity, (0, 0, 0.5))
    scene.face(WORLD, body, (0, 0, 0), 0.1, friction)
    return scene.problem()


def jammed(friction=1.0, slope=0.2, speed=3.0, push_out=0.0):
    """A box driven down between two steep walls: with enough friction impulses across it cancel (they are not unique).
    push_out > 0 [m/s]: both walls want it away, which upright walls (slope 0) cannot both have."""
    scene = Scene()
    body = scene.box((0, 0, 0), (0.5, 0.5, 0.5), 2.0, (0.2, 0.1, -speed), (0.3, 0.2, 0.1))
    for side in (-1.0, 1.0):
        for y in (-0.5, 0.5):
            for z in (-0.5, 0.5):
                scene.contact(WORLD, body, (0.5 * side, y, z), (-side, 0.0, slope), friction, -push_out)
    return scene.problem()


def repeated(copies=3, friction=0.5):
    """A sliding cube with each of its points several times."""
    scene = Scene()
    body = scene.box((0, 0, 0.5), (0.5, 0.5, 0.5), 1.0, (0.5, 0.2, -1.0), (0.0, 0.4, 0.2))
    for _ in range(copies):
        scene.face(WORLD, body, (0, 0, 0), 0.5, friction)
    return scene.problem()


def corner(friction=0.3):
    """A box in a corner of floor and two walls, pushed against all of them: one without friction, one with any."""
    scene = Scene()
    body = scene.box((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), 1.0, (-1.0, -0.7, -0.5), (0.2, -0.1, 0.3))
    for normal, coefficient in zip(np.eye(3), (0.0, friction, np.inf)):
        for u in (0.0, 1.0):
            for v in (0.0, 1.0):
                point = np.insert([u, v], int(np.argmax(normal)), 0.0)
                scene.contact(WORLD, body, point, normal, coefficient)
    return scene.problem()


def chain(links=5, friction=0.5, loop=False, contradiction=0.0, motor=None):
    """Links on ball joints, hanging down onto the floor, which the last one touches. loop: the last link is held by the
    world in two joints at one point, the second redundant, or by `contradiction` m/s against the first. motor: bound
    [N s] of a motor that turns the first link, beside a limit on the second."""
    scene = Scene()
    below = WORLD
    for k in range(links):
        body = scene.box((0.0, 0.0, links - k - 0.5), (0.1, 0.1, 0.5), 1.0 + k, (0.2 * k, -0.1 * k, 0.0))
        scene.ball(below, body, (0.0, 0.0, float(links - k)))
        below = body
    scene.face(WORLD, below, (0.0, 0.0, 0.0), 0.1, friction)
    if loop:
        scene.ball(WORLD, below, (0.0, 0.0, 0.5))
        scene.ball(WORLD, below, (0.0, 0.0, 0.5), (contradiction, 0.0, 0.0))
    if motor is not None:
        scene.turning(WORLD, 0, (0.0, 1.0, 0.0), -motor, motor, 2.0)
        scene.turning(0, 1, (1.0, 0.0, 0.0), 0.0, np.inf)
        scene.turning(0, 1, (0.0, 0.0, 1.0), 0.0, 0.0)
    return scene.problem()


def ground_only():
    """Rows without mass: what touches is not moved by them (A = 0 there), its speeds are all right."""
    case = stack(1)
    size = len(case["b"])
    A, b = np.zeros((size + 3, size + 3)), np.zeros(size + 3)
    A[3:, 3:], b[3:] = case["A"], case["b"]
    return case | dict(A=A, b=b, friction=np.append(0.5, case["friction"]))


def empty():
    return Scene().problem()


def pile(seed=0, bodies=5, contacts=8, ratio=10.0, joints=0, gaps=True):
    """Bodies of any mass and pose that touch each other and the world at random points, some not yet."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    for _ in range(bodies):
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        scene.box(
            rng.normal(size=3),
            rng.uniform(0.2, 1.0, 3),
            ratio ** rng.uniform(-0.5, 0.5),
            rng.normal(size=3),
            rng.normal(size=3),
            rotation,
        )
    for number in range(contacts + joints):
        a, b = rng.permutation(np.arange(-1, bodies))[:2]
        point = rng.normal(size=3) if a == WORLD or b == WORLD else 0.5 * (scene.positions[a] + scene.positions[b])
        point = point + 0.3 * rng.normal(size=3)
        if number < contacts:
            gap = float(rng.uniform(0.0, 1.0)) if gaps and rng.random() < 0.3 else 0.0
            scene.contact(a, b, point, rng.normal(size=3), float(rng.choice([0.0, 0.2, 0.5, 1.0])), gap)
        else:
            scene.ball(a, b, point)
    return scene.problem()


def random_case(seed):
    """One of all kinds with random numbers, at most some 60 rows."""
    rng = np.random.default_rng(seed)
    friction = float(rng.choice([0.0, 0.1, 0.5, 1.0, np.inf]))
    makers = [
        lambda: stack(int(rng.integers(1, 5)), friction, 10.0 ** rng.uniform(-3, 6), int(rng.integers(1, 5)), rng.normal()),
        lambda: heavy_on_light(10.0 ** rng.uniform(0, 6), friction, rng.normal()),
        lambda: wall(2, friction, int(rng.integers(1, 4))),
        lambda: sliding(rng.uniform(0, 5), rng.uniform(0, 6), friction),
        lambda: jammed(friction, rng.uniform(0.0, 1.0), rng.uniform(0, 5)),
        lambda: repeated(int(rng.integers(1, 4)), friction),
        lambda: corner(friction),
        lambda: chain(int(rng.integers(2, 5)), friction, bool(rng.integers(2)), motor=rng.uniform(0, 2)),
        lambda: pile(
            int(rng.integers(1 << 30)),
            int(rng.integers(1, 6)),
            int(rng.integers(1, 9)),
            10.0 ** rng.uniform(0, 4),
            int(rng.integers(0, 3)),
        ),
    ]
    return makers[int(rng.integers(len(makers)))]()


# Every case has a solution in every model of contact.
CASES = {
    "empty": empty,
    "no_mass": ground_only,
    "cube": lambda: stack(1),
    "cube_on_a_point": lambda: stack(1, points=1),
    "stack": lambda: stack(4),
    "pushed_stack": lambda: stack(3, push=2.0),
    "slippery_stack": lambda: stack(3, friction=0.0, push=1.0),
    "sticky_stack": lambda: stack(3, friction=np.inf, push=1.0),
    "heavy_above": lambda: stack(4, ratio=1e6),
    "light_above": lambda: stack(4, ratio=1e-6),
    "heavy_on_light": heavy_on_light,
    "heavy_slides_on_light": lambda: heavy_on_light(push=1.0),
    "wall": lambda: wall(3, points=4),
    "sliding": sliding,
    "at_rest": lambda: sliding(0.0),
    "jammed": jammed,
    "jammed_upright": lambda: jammed(slope=0.0),
    "slips_through": lambda: jammed(friction=0.1),
    "repeated": repeated,
    "corner": corner,
    "chain": chain,
    "loop": lambda: chain(loop=True),
    "motor": lambda: chain(motor=0.5),
    "weak_motor": lambda: chain(motor=1e-3),
    "pile": pile,
    "large_pile": lambda: pile(1, 10, 25),
    "uneven_pile": lambda: pile(2, 8, 15, 1e6),
    "jointed_pile": lambda: pile(3, 8, 12, joints=4),
}

# These have none: upright walls that both push out; joints that want two speeds of one point.
CONTRADICTORY = {
    "squeezed": lambda: jammed(slope=0.0, push_out=0.5, friction=0.0),
    "torn": lambda: chain(loop=True, contradiction=0.5),
}
