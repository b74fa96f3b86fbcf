"""Rows made by hand: bodies and constraints as the solvers' tests need them, without joints, shapes or a scene."""

import numpy as np

from mcsim.state.fields import ROW_DTYPE, ROW_KINDS

BOUNDED, BILATERAL, CONE, FRICTION = range(4)
KIND = {name: code for code, name in enumerate(ROW_KINDS)}
UNBOUNDED = (-np.inf, np.inf)


class Problem:
    """Bodies with positions, masses and world inertias; `rows` grows by blocks; `finish` gives the record array."""

    def __init__(self, masses, positions=None, inertias=None):
        """masses: (n,) [kg], inf = static. inertias: (n, 3, 3) about the centre of mass, world axes [kg m2]."""
        self.masses = np.asarray(masses, float)
        self.body_count = len(self.masses)
        self.positions = np.zeros((self.body_count, 3)) if positions is None else np.asarray(positions, float)
        if inertias is None:
            inertias = np.array([np.eye(3) * (0.4 * m if np.isfinite(m) else 1.0) for m in self.masses])
        self.inertias = np.asarray(inertias, float).reshape(-1, 3, 3)
        self.inv_masses = np.where(np.isfinite(self.masses), 1.0 / self.masses, 0.0)
        self.twist = np.zeros((self.body_count + 1, 6))
        self.rows = []

    @property
    def velocity(self):
        """(n, 6) view of the twists without the world's row."""
        return self.twist[1:]

    def inv_mass_block(self, body):
        """M^-1 of one body (6, 6); 0 for the world and static bodies."""
        block = np.zeros((6, 6))
        if body >= 0 and self.inv_masses[body] > 0:
            block[:3, :3] = np.eye(3) * self.inv_masses[body]
            block[3:, 3:] = np.linalg.inv(self.inertias[body])
        return block

    def mass_matrix(self):
        """Dense M (6n, 6n); only for problems without static bodies."""
        m = np.zeros((6 * self.body_count, 6 * self.body_count))
        for i in range(self.body_count):
            m[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) * self.masses[i]
            m[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = self.inertias[i]
        return m

    def inv_mass_matrix(self):
        """Dense M^-1 (6n, 6n)."""
        m = np.zeros((6 * self.body_count, 6 * self.body_count))
        for i in range(self.body_count):
            m[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = self.inv_mass_block(i)
        return m

    def point(self, a, b, point, direction):
        """J (12,) of the velocity of b minus a at a world point along a direction."""
        arm_a = point - (self.positions[a] if a >= 0 else np.zeros(3))
        arm_b = point - (self.positions[b] if b >= 0 else np.zeros(3))
        return np.concatenate([-direction, -np.cross(arm_a, direction), direction, np.cross(arm_b, direction)])

    @staticmethod
    def spin(direction):
        """J (12,) of the angular velocity of b minus a along a direction."""
        zero = np.zeros(3)
        return np.concatenate([zero, -direction, zero, direction])

    def block(self, a, b, block_kind, jacobians, **fields):
        """Append one block; array-valued fields are one value a row. Returns the number of its first row."""
        begin = len(self.rows)
        for k, jacobian in enumerate(jacobians):
            row = np.zeros((), ROW_DTYPE)
            row["body_a"], row["body_b"] = a, b
            row["block"] = len(jacobians) if k == 0 else 0
            row["block_kind"] = block_kind
            row["lower"], row["upper"] = UNBOUNDED
            row["jacobian"] = jacobian
            for name, value in fields.items():
                value = np.asarray(value)
                per_row = value.ndim and value.shape[0] == len(jacobians) and len(jacobians) > 1
                row[name] = value[k] if per_row else value
            self.rows.append(row)
        return begin

    def ball(self, a, b, point, **fields):
        return self.block(a, b, BILATERAL, [self.point(a, b, point, axis) for axis in np.eye(3)], **fields)

    def weld(self, a, b, point, **fields):
        return self.block(
            a,
            b,
            BILATERAL,
            [self.point(a, b, point, axis) for axis in np.eye(3)] + [self.spin(axis) for axis in np.eye(3)],
            **fields,
        )

    def contact(
        self,
        a,
        b,
        points,
        normal,
        friction=0.5,
        model="cone",
        source=0,
        separation=0.0,
        restitution=0.0,
        compliance=0.0,
        bias=0.0,
    ):
        """A manifold: normals, then friction: "cone" and "pyramid" are central with twist, "point" a cone each."""
        points = np.atleast_2d(np.asarray(points, float))
        normal = np.asarray(normal, float)
        centre = points.mean(axis=0)
        t1 = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        t1 /= np.linalg.norm(t1)
        t2 = np.cross(normal, t1)
        begin = len(self.rows)
        for k, point in enumerate(points):
            self.block(
                a,
                b,
                BOUNDED,
                [self.point(a, b, point, normal)],
                kind=KIND["normal"],
                lower=0.0,
                upper=np.inf,
                lever=np.linalg.norm(point - centre),
                source=source,
                index=k,
                error=separation,
                restitution=restitution,
                compliance=compliance,
                bias=bias,
                friction=friction,
            )
        common = dict(friction=friction, source=source)
        whole = dict(normal_begin=begin, normal_count=len(points), **common)
        if model == "point":
            for k, point in enumerate(points):
                self.block(
                    a,
                    b,
                    CONE,
                    [self.point(a, b, point, t1), self.point(a, b, point, t2)],
                    kind=KIND["friction"],
                    normal_begin=begin + k,
                    normal_count=1,
                    **common,
                )
            return begin
        tangents = [self.point(a, b, centre, t1), self.point(a, b, centre, t2)]
        if model == "cone":
            self.block(a, b, CONE, tangents, kind=KIND["friction"], **whole)
        elif model == "pyramid":
            for tangent in tangents:
                self.block(a, b, FRICTION, [tangent], kind=KIND["friction"], **whole)
        if model != "none":
            self.block(a, b, FRICTION, [self.spin(normal)], kind=KIND["twist"], **whole)
        return begin

    def finish(self):
        """-> (rows, factors): what follows from the Jacobians filled in; factors still zero."""
        rows = np.array(self.rows, dtype=ROW_DTYPE) if self.rows else np.zeros(0, ROW_DTYPE)
        for row in rows:
            a, b = int(row["body_a"]), int(row["body_b"])
            j = row["jacobian"]
            row["inv_mass_jacobian"] = np.concatenate([self.inv_mass_block(a) @ j[:6], self.inv_mass_block(b) @ j[6:]])
            row["diagonal"] = j @ row["inv_mass_jacobian"]
            total = row["diagonal"] + row["compliance"]
            row["mass"] = np.divide(1.0, total, out=np.zeros(2), where=total > 0)
        for i, row in enumerate(rows):
            if row["block_kind"] == CONE and row["block"]:
                row["coupling"] = rows["jacobian"][i] @ rows["inv_mass_jacobian"][i + 1]
        return rows, np.zeros((len(rows), 2, 6))

    def jacobian(self, rows):
        """Dense J (rows, 6n)."""
        j = np.zeros((len(rows), 6 * self.body_count))
        for i, row in enumerate(rows):
            for body, half in ((row["body_a"], row["jacobian"][:6]), (row["body_b"], row["jacobian"][6:])):
                if body >= 0:
                    j[i, 6 * body : 6 * body + 6] += half
        return j

    def kinetic_energy(self):
        moving = np.isfinite(self.masses)
        v, w = self.velocity[moving, :3], self.velocity[moving, 3:]
        return 0.5 * float(
            (self.masses[moving] * (v * v).sum(axis=1)).sum() + np.einsum("ni,nij,nj->", w, self.inertias[moving], w)
        )

    def momentum(self):
        """(linear (3,), angular about the origin (3,))."""
        v, w = self.velocity[:, :3], self.velocity[:, 3:]
        linear = self.masses[:, None] * v
        angular = np.cross(self.positions, linear) + np.einsum("nij,nj->ni", self.inertias, w)
        return linear.sum(axis=0), angular.sum(axis=0)


def random_inertia(rng, mass):
    """The inertia of a box of random size, turned at random."""
    x, y, z = rng.uniform(0.2, 1.5, 3) ** 2
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return axes @ np.diag([y + z, x + z, x + y]) @ axes.T * mass / 12.0


def unit(rng):
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def random_problem(seed, bodies=8, statics=1, blocks=14, compliance=True, world=True):
    """Every kind of block between random bodies, in random order; biases, compliances and warm impulses in both passes.

    The static bodies come first. Friction stays below 0.4: with more, Gauss-Seidel can cycle on such random contacts
    (Coulomb friction is no minimization), the NumPy twin just so.
    """
    rng = np.random.default_rng(seed)
    masses = np.concatenate([np.full(statics, np.inf), rng.uniform(0.5, 5.0, bodies - statics)])
    inertias = np.array([random_inertia(rng, m) if np.isfinite(m) else np.eye(3) for m in masses])
    problem = Problem(masses, rng.uniform(-2, 2, (bodies, 3)), inertias)
    problem.velocity[statics:] = rng.normal(size=(bodies - statics, 6))
    for source in range(blocks):
        a, b = (int(k) for k in rng.choice(np.arange(-1 if world else 0, bodies), 2, replace=False))
        centre = 0.5 * (problem.positions[max(a, 0)] + problem.positions[max(b, 0)])
        soft = lambda m: rng.uniform(0.01, 0.3, (m, 2)) if compliance else np.zeros((m, 2))
        push = lambda m: rng.normal(0, 0.2, (m, 2))
        choice = rng.integers(0, 8)
        if choice == 0:
            problem.ball(a, b, centre, bias=push(3), compliance=soft(3), impulse=rng.normal(0, 0.1, 3))
        elif choice == 1:
            m = int(rng.integers(1, 7))
            rows = [problem.point(a, b, centre, axis) for axis in np.eye(3)]
            rows += [problem.spin(axis) for axis in np.eye(3)]
            keep = np.sort(rng.choice(6, m, replace=False))
            problem.block(
                a,
                b,
                BILATERAL,
                [rows[k] for k in keep],
                bias=push(m) if m > 1 else push(1)[0],
                compliance=soft(m) if m > 1 else soft(1)[0],
            )
        elif choice == 2:
            problem.block(
                a,
                b,
                BOUNDED,
                [problem.spin(unit(rng))],
                kind=KIND["limit"],
                lower=0.0,
                upper=np.inf,
                bias=push(1)[0],
                compliance=soft(1)[0],
                impulse=0.05,
            )
        elif choice == 3:
            limit = rng.uniform(0.05, 1.0)
            problem.block(
                a,
                b,
                BOUNDED,
                [problem.spin(unit(rng))],
                kind=KIND["motor"],
                lower=-limit,
                upper=limit,
                bias=push(1)[0],
                compliance=soft(1)[0],
            )
        else:
            model = ("cone", "pyramid", "point", "cone")[choice - 4]
            points = centre + rng.uniform(-0.4, 0.4, (int(rng.integers(1, 5)), 3))
            problem.contact(
                a,
                b,
                points,
                unit(rng),
                friction=rng.uniform(0.0, 0.4),
                model=model,
                source=source,
                compliance=soft(1)[0],
                bias=push(1)[0],
            )
    return problem


def pyramid(base, friction=0.5, gravity_step=9.81 / 240, model="cone", gap=0.05):
    """Rows of 1 m cubes on the ground (body -1): row i holds base - i of them, four contact points a touching pair.

    All bodies carry the velocity of one substep of falling, so the solution holds them up. masses 1000 kg.
    """
    pitch = 1.0 + gap
    number = {}
    positions = []
    for i in range(base):
        for k in range(base - i):
            number[i, k] = len(positions)
            positions.append(((k - 0.5 * (base - i - 1)) * pitch, 0.0, 0.5 + i))
    n = len(positions)
    problem = Problem(np.full(n, 1000.0), positions, np.array([np.eye(3) * 1000.0 / 6.0] * n))
    problem.velocity[:, 2] = -gravity_step
    for (i, k), b in number.items():
        x = problem.positions[b, 0]
        for below in (-1,) if i == 0 else (number[i - 1, k], number[i - 1, k + 1]):
            other = x if below < 0 else problem.positions[below, 0]
            low, high = max(x, other) - 0.5, min(x, other) + 0.5
            corners = [(u, v, float(i)) for u in (low, high) for v in (-0.5, 0.5)]
            problem.contact(below, b, corners, (0, 0, 1), friction=friction, model=model, source=len(problem.rows))
    return problem
