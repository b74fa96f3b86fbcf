"""Motions of small mechanisms to more digits than a float has, for values that are published and for the doubt of those
that were: the equations of bodies and joints written out once more, over decimal numbers.

    x' = v,    q' = w q / 2,    M a = xi + J' lambda,    J a = -J' v

of all bodies together, xi the gravity, gyroscopic torques, springs between points and given forces; rows that follow from
others are found by pivots. Steps are by extrapolation of the modified midpoint rule (W. Gragg; R. Bulirsch and J. Stoer,
1966), as long as its estimate allows, and each ends with poses on C = 0 and velocities on J v = 0, by the masses. Nothing
is shared with the engine but the scene.

Rows are products of axes and of the way between two points (E. Haug, Computer Aided Kinematics and Dynamics of Mechanical
Systems, 1989, section 9.4): the same constraints as the engine's, by other equations.

Sources: E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, section II.9.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError, SimulationError
from mcsim.scene import (
    BallJoint,
    CylindricalJoint,
    DistanceJoint,
    FixedJoint,
    HingeJoint,
    Joint,
    Scene,
    SliderJoint,
    UniversalJoint,
)
from mcsim.scene.checks import FieldError

PRECISIONS = {"double": 17, "quad": 34}  # decimal digits, as of IEEE 754's binary64 and binary128
COLUMNS = 12  # of the extrapolation, whose order is twice as many
GUARD = 10  # digits that are calculated with beyond those asked for
SPARE = 5  # by how many digits the tolerance is above the precision
LEVELS = 1000  # by which the second run's tolerance is larger: their distance is the doubt
MOST_STEPS = 100_000
FIRST = Decimal("0.05")  # [s] the first step that is tried
SAFETY, SHORTER, LONGER = 0.9, 0.2, 2.0  # of the factor by which a step follows another: what is left, and its bounds
ROUNDS = 60  # of Newton's method on the joints
ROUNDED = Decimal("1e-12")  # errors of joints below it that fall no more are rounding errors
SINGULAR = 10  # digits of a pivot, in parts of its row, that are lost before the row counts as one that follows

Vector = np.ndarray


@dataclass(eq=False)
class PreciseRun:
    """What `precise_run` finds. All numbers are decimal.Decimal, in arrays of dtype object.

    times (t,) [s]; body_names (n,); positions (t, n, 3) [m], orientations (t, n, 4), velocities (t, n, 3) [m/s],
    angular_velocities (t, n, 3) [rad/s], world axes. energy (t,) [J]: kinetic, of gravity and of springs.
    doubt (t,): by how much a run to a tolerance a thousand times as large is off at most, in any of these numbers.
    precision: decimal digits.
    """

    times: np.ndarray
    body_names: tuple[str, ...]
    positions: np.ndarray
    orientations: np.ndarray
    velocities: np.ndarray
    angular_velocities: np.ndarray
    energy: np.ndarray
    doubt: np.ndarray
    precision: int

    def __repr__(self) -> str:
        return f"<PreciseRun {self.precision} digits, {len(self.times)} times: in doubt by {self.doubt.max():.1e}>"


def precise_run(
    scene: Scene,
    times: ArrayLike,
    *,
    precision: str | int = "quad",
    forces: ArrayLike | None = None,
) -> PreciseRun:
    """The motion of a scene's bodies from how it is described, to the digits of `precision`.

    scene: of bodies and ball, hinge, slider, cylindrical, universal, fixed and distance joints; a distance joint's spring
        and damper act. Its joints are closed first where they are open by rounding. Contacts are not looked at.
    times (t,) [s]: ascending, from 0 on; floats, or Decimal numbers or strings such as "0.03", which are taken as read.
    precision: "quad", 34 decimal digits, "double", or a number of digits from 15 to 200.
    forces (bodies, 6): [f; n] on all bodies, constant, at the centres of mass, world axes [N, N m].

    Numbers of the scene are the floats that they are: 0.1 is 0.1000000000000000055511151231257827.... It takes seconds to
    minutes: 3 ms an evaluation of two bodies, 170 evaluations a step, and two runs. SceneError where the scene has
    what is not known here; SimulationError where joints cannot be closed.

    Example: precise_run(mc.load("double_pendulum"), ["0.5", "1"]).positions[-1, 1] is where the second bob is.
    """
    digits = PRECISIONS.get(precision, 0) if isinstance(precision, str) else precision
    if isinstance(digits, bool) or not isinstance(digits, int) or not 15 <= digits <= 200:
        raise FieldError("precision", f'must be "double", "quad" or a number of digits from 15 to 200, got {precision!r}')
    with localcontext() as context:
        context.prec = digits + GUARD
        model = _Model(scene, forces)
        at = [Decimal(_text(number)) for number in np.atleast_1d(np.asarray(times, object))]
        if not at or at[0] < 0 or any(b <= a for a, b in itertools.pairwise(at)):
            raise FieldError("times", "must be one or more ascending numbers from 0 on")
        tolerance = Decimal(10) ** (SPARE - digits)
        runs = [_run(model, at, tolerance * factor) for factor in (1, LEVELS)]
        states = np.array(runs[0], object)
        doubt = np.array([max(abs(a - b) for a, b in zip(x, y)) for x, y in zip(*runs)], float)
        energy = np.array([model.energy(state) for state in runs[0]], object)
    n = len(scene.bodies)
    spans = ((0, 3), (3, 7), (7, 10), (10, 13))
    x, q, v, w = (states[:, first * n : last * n].reshape(len(at), n, -1) for first, last in spans)
    names = tuple(body.name for body in scene.bodies)
    return PreciseRun(np.array(at, object), names, x, q, v, w, energy, doubt, digits)


def _text(number: Any) -> Any:
    return number if isinstance(number, str | int | Decimal) else float(number)


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _exact(values: Any) -> Vector:
    """The floats that these are."""
    array = np.asarray(values, float)
    return np.array([Decimal(float(x)) for x in array.ravel()], object).reshape(array.shape)


def _cross(a: Any, b: Any) -> Vector:
    out = np.empty(3, object)
    out[0], out[1], out[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    return out


def _dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _matrix(q: Any) -> Vector:
    """The rotation of a quaternion of any length but 0."""
    w, x, y, z = q
    s = 2 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
        ],
        object,
    )


def _turned(w: Any, q: Any) -> list[Any]:
    """(0, w) q / 2"""
    a, x, y, z = q
    half = [part / 2 for part in w]
    p, r, s = half
    return [-p * x - r * y - s * z, p * a + r * z - s * y, r * a + s * x - p * z, s * a + p * y - r * x]


def _inverse3(m: Vector) -> Vector:
    rows = [_cross(m[1], m[2]), _cross(m[2], m[0]), _cross(m[0], m[1])]
    return np.array(rows, object).T / _dot(m[0], rows[0])


# ---- the equations ---------------------------------------------------------------------------------------------------


@dataclass
class _Row:
    """C, its twelve derivatives by the twists of two bodies, and J' v."""

    C: Any
    a: int
    b: int
    of_a: Vector
    of_b: Vector
    drift: Any


class _Ends:
    """A joint's two frames in the world: rotations, arms from the centres of mass, the bodies' w, and the way between."""

    def __init__(self, joint: _Joint, bodies: _Bodies):
        self.a, self.b = joint.a, joint.b
        self.axes, self.arms, self.spins = [], [], []
        points, rates, bends = [], [], []
        for body, (place, turn) in zip((joint.a, joint.b), joint.frames):
            R, x, v, w = bodies.at(body)
            arm = R @ place
            self.axes.append(R @ turn)
            self.arms.append(arm)
            self.spins.append(w)
            points.append(x + arm)
            rates.append(v + _cross(w, arm))
            bends.append(_cross(w, _cross(w, arm)))
        self.way, self.rate, self.bend = points[1] - points[0], rates[1] - rates[0], bends[1] - bends[0]

    def along(self, i: int) -> _Row:
        """C = (axis i of a) · (the way from a's point to b's)."""
        a, w = self.axes[0][:, i], self.spins[0]
        moved = _cross(w, a)
        reach = self.arms[0] + self.way
        drift = _dot(_cross(w, moved), self.way) + 2 * _dot(moved, self.rate) + _dot(a, self.bend)
        of_a, of_b = np.concatenate([-a, _cross(a, reach)]), np.concatenate([a, _cross(self.arms[1], a)])
        return _Row(_dot(a, self.way), self.a, self.b, of_a, of_b, drift)

    def across(self, i: int, k: int) -> _Row:
        """C = (axis i of a) · (axis k of b)."""
        a, b, (w_a, w_b) = self.axes[0][:, i], self.axes[1][:, k], self.spins
        of_a, nothing = _cross(a, b), np.array([Decimal(0)] * 3, object)
        moved_a, moved_b = _cross(w_a, a), _cross(w_b, b)
        drift = _dot(_cross(w_a, moved_a), b) + 2 * _dot(moved_a, moved_b) + _dot(a, _cross(w_b, moved_b))
        return _Row(_dot(a, b), self.a, self.b, np.concatenate([nothing, of_a]), np.concatenate([nothing, -of_a]), drift)

    def apart(self, length: Any) -> _Row:
        """C = (way · way / length - length) / 2"""
        d = self.way / length
        of_a, of_b = np.concatenate([-d, -_cross(self.arms[0], d)]), np.concatenate([d, _cross(self.arms[1], d)])
        drift = _dot(self.rate, self.rate) / length + _dot(d, self.bend)
        return _Row((_dot(d, self.way) - length) / 2, self.a, self.b, of_a, of_b, drift)


# Axes of a that the way of the points has no part along, and pairs of axes of a and b at right angles.
ROWS: dict[type[Joint], tuple[tuple[int, ...], tuple[tuple[int, int], ...]]] = {
    BallJoint: ((0, 1, 2), ()),
    HingeJoint: ((0, 1, 2), ((0, 2), (1, 2))),
    SliderJoint: ((0, 1), ((0, 1), (1, 2), (2, 0))),
    CylindricalJoint: ((0, 1), ((0, 2), (1, 2))),
    UniversalJoint: ((0, 1, 2), ((2, 0),)),
    FixedJoint: ((0, 1, 2), ((0, 1), (1, 2), (2, 0))),
}


class _Joint:
    def __init__(self, scene: Scene, joint: Joint, numbers: dict[str | None, int]):
        self.a, self.b = numbers[joint.a], numbers[joint.b]
        self.frames = []
        for name, (place, turn) in ((joint.a, joint.frame_a), (joint.b, joint.frame_b)):
            origin = np.zeros(3) if name is None else np.array(scene.body(name).center_of_mass)
            self.frames.append((_exact(place) - _exact(origin), _matrix(_exact(turn))))
        self.name, self.ways, self.pairs = joint.name, *ROWS.get(type(joint), ((), ()))
        self.spring: tuple[Any, Any, Any] | None = None
        self.length: Any = None
        if isinstance(joint, DistanceJoint):
            self._take_distance(joint)

    def _take_distance(self, joint: DistanceJoint) -> None:
        spring = joint.axes[0].spring
        if spring is None:
            self.length = _exact(joint.constant)[()]
        else:
            self.spring = Decimal(float(spring.stiffness)), Decimal(float(spring.damping)), _exact(spring.rest)[()]

    def rows(self, bodies: _Bodies) -> list[_Row]:
        ends = _Ends(self, bodies)
        if self.length is not None:
            return [ends.apart(self.length)]
        return [ends.along(i) for i in self.ways] + [ends.across(*pair) for pair in self.pairs]


class _Bodies:
    """Rotations, positions and twists of a state (13 n,): positions, quaternions, velocities, angular velocities."""

    def __init__(self, model: _Model, state: list[Any]):
        n = model.count
        numbers = np.array(state, object)
        self.x, self.q = numbers[: 3 * n].reshape(n, 3), numbers[3 * n : 7 * n].reshape(n, 4)
        self.v, self.w = numbers[7 * n : 10 * n].reshape(n, 3), numbers[10 * n :].reshape(n, 3)
        self.R = [_matrix(q) for q in self.q]
        self.world = model.nowhere

    def at(self, i: int) -> tuple[Vector, Vector, Vector, Vector]:
        return self.world if i < 0 else (self.R[i], self.x[i], self.v[i], self.w[i])


class _Model:
    """A scene over decimal numbers."""

    def __init__(self, scene: Scene, forces: ArrayLike | None):
        _refuse(scene)
        zero = np.array([Decimal(0)] * 3, object)
        self.nowhere = _exact(np.eye(3)), zero, zero, zero
        bodies = scene.bodies
        self.count = n = len(bodies)
        self.moves = [body.kind == "dynamic" for body in bodies]
        self.mass = [Decimal(float(body.mass)) if body.kind == "dynamic" else None for body in bodies]
        self.inertia = [_exact(body.inertia) if body.kind == "dynamic" else None for body in bodies]
        self.inverse = [None if inertia is None else _inverse3(inertia) for inertia in self.inertia]
        self.weight = [_exact(scene.gravity) * Decimal(float(body.gravity_scale)) for body in bodies]
        pushes = np.zeros((n, 6)) if forces is None else np.asarray(forces, float)
        if pushes.shape != (n, 6) or not np.isfinite(pushes).all():
            raise FieldError("forces", f"must be finite numbers ({n}, 6), [f; n] of all bodies")
        self.pushes = _exact(pushes)
        numbers: dict[str | None, int] = {body.name: i for i, body in enumerate(bodies)} | {None: -1}
        self.joints = [_Joint(scene, joint, numbers) for joint in scene.joints]
        centres = [_exact(b.position) + _matrix(_exact(b.orientation)) @ _exact(b.center_of_mass) for b in bodies]
        turns, speeds, spins = (
            [_exact(getattr(b, name)) for b in bodies] for name in ("orientation", "velocity", "angular_velocity")
        )
        parts = (centres, turns, speeds, spins)
        self.begin = [number for part in parts for numbers_of in part for number in numbers_of]

    def rows(self, bodies: _Bodies) -> list[_Row]:
        return [row for joint in self.joints for row in joint.rows(bodies)]

    def mobility(self, bodies: _Bodies) -> list[Vector | None]:
        """The inverse inertia of each body in world axes."""
        return [None if own is None else R @ own @ R.T for R, own in zip(bodies.R, self.inverse)]

    def rates(self, state: list[Any]) -> list[Any]:
        """dy/dt"""
        bodies = _Bodies(self, state)
        wrench = self._wrenches(bodies)
        mobility, free = self.mobility(bodies), []
        for i in range(self.count):
            turning = mobility[i]
            free.append(
                None if turning is None else np.concatenate([wrench[i][:3] / self.mass[i], turning @ wrench[i][3:]])
            )
        rows = self.rows(bodies)
        found = _meet(rows, [-row.drift for row in rows], free, self.mass, mobility)
        out = [number for v in bodies.v for number in v]
        for w, q in zip(bodies.w, bodies.q):
            out += _turned(w, q)
        still = [Decimal(0)] * 3
        out += [number for a in found for number in (still if a is None else a[:3])]
        return out + [number for a in found for number in (still if a is None else a[3:])]

    def _wrenches(self, bodies: _Bodies) -> list[Vector]:
        wrench = [push.copy() for push in self.pushes]
        for i in range(self.count):
            inertia = self.inertia[i]
            if inertia is not None:
                R, w = bodies.R[i], bodies.w[i]
                wrench[i][:3] += self.mass[i] * self.weight[i]
                wrench[i][3:] -= _cross(w, R @ (inertia @ (R.T @ w)))
        for joint in self.joints:
            if joint.spring is not None:
                stiffness, damping, rest = joint.spring
                ends = _Ends(joint, bodies)
                length = _dot(ends.way, ends.way).sqrt()
                along = ends.way / length
                pull = along * (stiffness * (length - rest) + damping * _dot(along, ends.rate))
                for body, arm, force in ((joint.a, ends.arms[0], pull), (joint.b, ends.arms[1], -pull)):
                    if body >= 0:
                        wrench[body][:3] += force
                        wrench[body][3:] += _cross(arm, force)
        return wrench

    def settle(self, state: list[Any]) -> list[Any]:
        """Poses onto C = 0 by Newton's method, velocities onto J v = 0, both by the masses."""
        n, close = self.count, Decimal(10) ** -_digits()
        worst = None
        for _ in range(ROUNDS):
            bodies = _Bodies(self, state)
            rows = self.rows(bodies)
            error = max((abs(row.C) for row in rows), default=Decimal(0))
            if error <= close or (worst is not None and error < ROUNDED and not error < worst / 2):
                break
            worst, still = error, [None if m is None else np.array([Decimal(0)] * 6, object) for m in self.mass]
            moved = _meet(rows, [-row.C for row in rows], still, self.mass, self.mobility(bodies))
            state = list(state)
            for i, move in enumerate(moved):
                if move is None:
                    continue
                for k in range(3):
                    state[3 * i + k] += move[k]
                turned = _turned(move[3:], bodies.q[i])
                for k in range(4):
                    state[3 * n + 4 * i + k] += turned[k]
        else:
            raise SimulationError(
                "precise_run: the joints cannot be closed: they contradict each other, or are too far open"
            )
        state = list(state)
        for i in range(n):
            q = state[3 * n + 4 * i : 3 * n + 4 * i + 4]
            size = sum(part * part for part in q).sqrt()
            state[3 * n + 4 * i : 3 * n + 4 * i + 4] = [part / size for part in q]
        bodies = _Bodies(self, state)
        rows = self.rows(bodies)
        speeds = [None if m is None else np.concatenate([v, w]) for m, v, w in zip(self.mass, bodies.v, bodies.w)]
        for i, speed in enumerate(_meet(rows, [Decimal(0)] * len(rows), speeds, self.mass, self.mobility(bodies))):
            if speed is not None:
                state[7 * n + 3 * i : 7 * n + 3 * i + 3] = list(speed[:3])
                state[10 * n + 3 * i : 10 * n + 3 * i + 3] = list(speed[3:])
        return state

    def energy(self, state: list[Any]) -> Any:
        bodies, total = _Bodies(self, state), Decimal(0)
        for i in range(self.count):
            inertia = self.inertia[i]
            if inertia is not None:
                spin = bodies.R[i].T @ bodies.w[i]
                total += (self.mass[i] * _dot(bodies.v[i], bodies.v[i]) + _dot(spin, inertia @ spin)) / 2
                total -= self.mass[i] * _dot(self.weight[i], bodies.x[i])
        for joint in self.joints:
            if joint.spring is not None:
                way = _Ends(joint, bodies).way
                total += joint.spring[0] * (_dot(way, way).sqrt() - joint.spring[2]) ** 2 / 2
        return total


def _digits() -> int:
    with localcontext() as context:
        return context.prec - GUARD


def _refuse(scene: Scene) -> None:
    if not isinstance(scene, Scene):
        raise FieldError("scene", f"must be a Scene, got {type(scene).__name__}")
    for body in scene.bodies:
        if body.kind == "kinematic" or body.linear_damping or body.angular_damping:
            what = "is kinematic" if body.kind == "kinematic" else "is damped"
            raise SceneError(
                f"precise_run: body {body.name!r} {what}, which is not known here: take integrator='reference'"
            )
    for joint in scene.joints:
        unknown = _unknown(joint)
        if unknown is not None:
            raise SceneError(
                f"precise_run: joint {joint.name!r} {unknown}, which is not known here: take integrator='reference'"
            )


def _unknown(joint: Joint) -> str | None:
    """What of a joint is not known here."""
    distance = type(joint) is DistanceJoint
    if not distance and type(joint) not in ROWS:
        return f"is a {type(joint).__name__}"
    for axis in joint.axes:
        if axis.spring is not None and not distance:
            return "has a spring along a coordinate"
        if axis.spring is not None and axis.spring.acts != "both":
            return f"has a spring that acts by {axis.spring.acts} alone"
        if axis.motor is not None or axis.motion is not None or axis.friction or axis.armature:
            return "has a motor, a motion, friction or armature"
        if np.isfinite(axis.lower) or np.isfinite(axis.upper) or np.isfinite(joint.swing_limit):
            return "has limits"
    if distance and not np.isfinite(joint.constant) and joint.axes[0].spring is None:
        return "is neither a rod nor a spring"
    return None


def _meet(rows: list[_Row], target: list[Any], free: list[Any], mass: list[Any], mobility: list[Any]) -> list[Any]:
    """The nearest to `free` by the masses, of all bodies, for which J x = target: by pivots of J M^-1 J', the largest
    first, as long as they are more than rounding leaves of a row that follows from others."""
    answers = []
    for row in rows:
        found = {}
        for body, part in ((row.a, row.of_a), (row.b, row.of_b)):
            if body >= 0 and mobility[body] is not None:
                found[body] = part, np.concatenate([part[:3] / mass[body], mobility[body] @ part[3:]])
        answers.append(found)
    m, zero = len(rows), Decimal(0)
    A = [[zero] * m for _ in range(m)]
    right = list(target)
    for i in range(m):
        for body, (part, _) in answers[i].items():
            right[i] -= sum(part * free[body])
            for k in range(i + 1):
                other = answers[k].get(body)
                if other is not None:
                    A[i][k] += sum(part * other[1])
        for k in range(i):
            A[k][i] = A[i][k]
    forces = _solve(A, right)
    out = [None if x is None else x.copy() for x in free]
    for force, found in zip(forces, answers):
        for body, (_, answer) in found.items():
            out[body] += force * answer
    return out


def _solve(A: list[list[Any]], right: list[Any]) -> list[Any]:
    """A solution of A x = right, A positive semi-definite, 0 where a pivot is none."""
    m = len(right)
    least = Decimal(10) ** (SINGULAR - _digits() - GUARD)
    size = [A[i][i] for i in range(m)]
    left, order = list(range(m)), []
    while left:
        k = max(left, key=lambda i: A[i][i] / size[i] if size[i] else Decimal(-1))
        if not size[k] or A[k][k] <= least * size[k]:
            break
        left.remove(k)
        order.append(k)
        for i in left:
            factor = A[i][k]
            if factor:
                factor /= A[k][k]
                row, pivot = A[i], A[k]
                for j in left:
                    row[j] -= factor * pivot[j]
                right[i] -= factor * right[k]
                row[k] = factor
    x = [Decimal(0)] * m
    for at in range(len(order) - 1, -1, -1):
        k = order[at]
        x[k] = (right[k] - sum(A[k][j] * x[j] for j in order[at + 1 :])) / A[k][k]
    return x


# ---- in time ---------------------------------------------------------------------------------------------------------


def _run(model: _Model, times: list[Any], tolerance: Any) -> list[list[Any]]:
    """The states at these times."""
    state, now, h, found = model.settle(model.begin), Decimal(0), FIRST, []
    steps = 0
    for time in times:
        while now < time:
            steps += 1
            if steps > MOST_STEPS:
                raise SimulationError(f"precise_run: more than {MOST_STEPS} steps")
            part = min(h, time - now)
            ends, error = _extrapolated(model, state, part, tolerance)
            root = float(error) ** (-1.0 / (2 * COLUMNS - 1)) if error else LONGER
            factor = Decimal(min(LONGER, max(SHORTER, SAFETY * root)))
            if error <= 1:
                state, now = model.settle(ends), now + part
                h = max(h, part * factor) if part < h else part * factor
            else:
                h = part * factor
        found.append(state)
    return found


def _extrapolated(model: _Model, state: list[Any], h: Any, tolerance: Any) -> tuple[list[Any], Any]:
    """-> the state after a step of h, and its error in parts of the tolerance."""
    begin = model.rates(state)
    table: list[list[list[Any]]] = []
    for column in range(COLUMNS):
        parts = 2 * (column + 1)
        row = [_midpoint(model, state, begin, h, parts)]
        for k in range(1, column + 1):
            ratio = Decimal(parts) / (2 * (column + 1 - k))
            weight = 1 / (ratio * ratio - 1)
            row.append([a + (a - b) * weight for a, b in zip(row[k - 1], table[-1][k - 1])])
        table.append(row)
    best, other = table[-1][-1], table[-1][-2]
    return best, max(abs(a - b) / (1 + abs(a)) for a, b in zip(best, other)) / tolerance


def _midpoint(model: _Model, state: list[Any], begin: list[Any], h: Any, parts: int) -> list[Any]:
    """Gragg's rule by so many parts, an even number, whose error has even powers of h alone."""
    step = h / parts
    before, now = state, [y + step * f for y, f in zip(state, begin)]
    for _ in range(parts - 1):
        before, now = now, [y + 2 * step * f for y, f in zip(before, model.rates(now))]
    return [(a + b + step * f) / 2 for a, b, f in zip(before, now, model.rates(now))]
