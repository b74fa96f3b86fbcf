"""A vehicle on rays: a dynamic body that wheels without bodies of their own carry, drive, steer and brake.

Each wheel is a ray from where its centre is at full compression, down its suspension, to the ground. With n the ground's
normal, f forwards along it, s sideways, r from the chassis's centre of mass to the point of contact, x the compression and
lambda impulses of the step h, each wheel on the ground has three rows J = (d, r x d), d = n, f, s:

    suspension    J v + gamma lambda = gamma h k x,   gamma = 1 / (h (c + h k)),   lambda >= 0       (spring and damper,
                                                                                                     at the step's end)
    sideways      J v = 0
    forwards      lambda = h F of the engine, and with brakes J v = 0, at most as strong as they are
    both          |(lambda_f, lambda_s)| <= mu lambda_n

v is relative to the ground at the point, at the end of the step, with gravity in it. Sweeps of projected Gauss-Seidel over
the few rows give lambda, which acts as forces lambda / h in the step that comes, and their opposites on dynamic ground.

Sources: E. Coumans, "Bullet Physics", raycast vehicle; E. Catto, "Soft constraints", GDC 2011.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from mcsim.actors.surroundings import apart_from, velocity_at
from mcsim.core.errors import SceneError
from mcsim.core.linear import dot, dots, inverse, lengths, product, turned
from mcsim.core.rotation import matrix, multiply, normalized, rotate
from mcsim.core.trig import arctan2, cos, sin, tan
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, Vector, direction, flag, not_negative, number, positive, vector, within
from mcsim.scene.described import Value
from mcsim.scene.materials import combined_friction
from mcsim.world import World
from mcsim.world.handles import AnyBody, BodyHandle

SWEEPS = 20  # over the rows of all wheels; they are few, and the suspension is soft
BUMP = 20.0  # how many times as stiff the suspension is beyond its travel
STEEPEST = 1.4  # [rad] that wheels may be steered
PERPENDICULAR = 1e-6  # cosine up to which two directions are at right angles
LEVEL = 1e-3  # cosine from which on a surface bears a wheel
SLIDING = 0.999  # of what friction gives at most: it slides
SHORTEST = 1e-6  # [m] a wheelbase that steers


class Wheel(Value):
    """One wheel of a Vehicle.

    position (3,): of its centre where it hangs free, in the chassis's own frame [m]. radius [m].
    travel: how far the suspension lets it up [m]; beyond, it is as stiff as a stop of rubber.
    hertz, damping_ratio: of the chassis's share of mass on the suspension. At rest it is compressed by g / (2 pi hertz)².
    friction: Coulomb's coefficient of the tyre; with the ground's the geometric mean counts.
    steered: whether it turns with the steering, by an angle of its own: so that all wheels roll about one point.
    driven, braked: whether the engine, and the brakes, act on it.
    """

    position: np.ndarray
    radius: float
    travel: float
    hertz: float
    damping_ratio: float
    friction: float
    steered: bool
    driven: bool
    braked: bool

    def __init__(
        self,
        position: Vector,
        radius: float = 0.3,
        *,
        travel: float = 0.3,
        hertz: float = 1.5,
        damping_ratio: float = 0.5,
        friction: float = 1.0,
        steered: bool = False,
        driven: bool = True,
        braked: bool = True,
    ):
        arguments = {
            "position": vector(position, "position"),
            "radius": positive(radius, "radius"),
            "travel": positive(travel, "travel"),
            "hertz": positive(hertz, "hertz"),
            "damping_ratio": not_negative(damping_ratio, "damping_ratio"),
            "friction": not_negative(friction, "friction"),
            "steered": flag(steered, "steered"),
            "driven": flag(driven, "driven"),
            "braked": flag(braked, "braked"),
        }
        self._set(_arguments=arguments, **arguments)
        self._set(position=np.array(arguments["position"]))


class _Contacts(NamedTuple):
    """Of the wheels that stand on something: wheel (k,) their numbers; hits (k,) of World.ray_casts; directions (k, 3, 3):
    normal, forwards, sideways; arms (k, 3) from the chassis's centre of mass [m]; ground (k, 3): velocity there [m/s];
    friction (k,)."""

    wheel: np.ndarray
    hits: np.ndarray
    directions: np.ndarray
    arms: np.ndarray
    ground: np.ndarray
    friction: list[float]


class Vehicle:
    """A car, truck or cart: a dynamic body of a world on wheels that are rays.

        car = mc.Vehicle(world, "car", [
            mc.Wheel((1.2, 0.8, -0.3), steered=True), mc.Wheel((1.2, -0.8, -0.3), steered=True),
            mc.Wheel((-1.2, 0.8, -0.3)), mc.Wheel((-1.2, -0.8, -0.3)),
        ])
        for _ in range(600):
            car.drive(force=3000.0, steer=0.1)
            world.step()

    forward, up (3,): of the chassis, in its own frame. body: its handle. wheels: what they are.
    SceneError where the body is not dynamic, there is no wheel, or a direction is zero or not at right angles to the other.

    What the last `drive` found, a value a wheel: grounds, the handles of what they stand on, or come down to in this step,
    or None; compressions [m], negative in the air; loads [N], along the ground's normal; slides, whether friction was at
    its bound. speed: along `forward` [m/s]. The wheels' `angles` [rad] and `spins` [rad/s] are for pictures, `frames()` the
    poses to draw them at; in the air they turn on.
    """

    def __init__(
        self,
        world: World,
        body: BodyHandle | str,
        wheels: Sequence[Wheel],
        *,
        forward: Vector = (1.0, 0.0, 0.0),
        up: Vector = (0.0, 0.0, 1.0),
    ):
        if not isinstance(world, World):
            raise SceneError(f"Vehicle: world must be a World or a ReducedWorld, got {type(world).__name__}")
        self.world, self.body = world, world.body(body)
        if self.body.kind != "dynamic":
            raise SceneError(f"Vehicle: body {self.body.name!r} is {self.body.kind}; it must be dynamic")
        self.wheels = tuple(wheels)
        if not self.wheels or not all(isinstance(wheel, Wheel) for wheel in self.wheels):
            raise SceneError("Vehicle: wheels must be a list of one Wheel or more")
        try:
            self._forward, self._up = (normalized(direction(a, name)) for a, name in ((forward, "forward"), (up, "up")))
        except FieldError as error:
            raise error.within("Vehicle") from None
        if abs(dot(self._forward, self._up)) > PERPENDICULAR:
            raise SceneError("Vehicle: forward and up must be at right angles")
        self._left_out: tuple[Scene, list[AnyBody]] | None = None
        self._measure()
        count = len(self.wheels)
        self.grounds: list[BodyHandle | None] = [None] * count
        self.compressions, self.loads = np.zeros(count), np.zeros(count)
        self.slides = np.zeros(count, bool)
        self.angles, self.spins, self.steered = np.zeros(count), np.zeros(count), np.zeros(count)

    @property
    def speed(self) -> float:
        """Along `forward` [m/s]."""
        return dot(self.body.velocity, rotate(self.body.orientation, self._forward))

    def drive(self, force: float = 0.0, steer: float = 0.0, brake: float = 0.0) -> None:
        """Forces of the wheels for the step that comes; call it before every `world.step()`.

        force: of the engine [N], shared by the driven wheels, negative backwards. steer [rad]: to the left if positive.
        brake: the most that the brakes hold against [N], shared by the braked wheels."""
        try:
            force, steer = number(force, "force"), within(steer, -STEEPEST, STEEPEST, "steer")
            brake = not_negative(brake, "brake", infinite=True)
        except FieldError as error:
            raise error.within("Vehicle.drive") from None
        dt = self.world.dt
        self.angles = (self.angles + self.spins * dt) % (2.0 * pi)
        self.steered = self._angles(steer)
        on = self._look()
        impulses = self._solve(on, (force * self._driven, brake * self._braked), dt)
        self.loads[:], self.slides[:] = 0.0, False
        for i, (k, impulse) in enumerate(zip(on.wheel.tolist(), impulses)):
            normal, forth, aside = impulse
            self._push(on.hits[i], product(np.array(impulse) / dt, on.directions[i]))
            self.loads[k] = normal / dt
            self.slides[k] = normal > 0.0 and sqrt(forth * forth + aside * aside) > SLIDING * on.friction[i] * normal
        moving = velocity_at(self.body, on.hits["point"]) - on.ground
        radii = np.array([self.wheels[k].radius for k in on.wheel.tolist()])
        self.spins[on.wheel] = dots(moving, on.directions[:, 1]) / radii

    def frames(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(position (3,) [m], orientation (4,)) of every wheel in the world, steered and turned about its axle."""
        place, turn = self.body.frame
        aside = np.cross(self._up, self._forward)
        found = []
        for k, wheel in enumerate(self.wheels):
            centre = wheel.position + self._up * min(max(self.compressions[k], 0.0), wheel.travel)
            steered = np.array([cos(0.5 * self.steered[k]), *(sin(0.5 * self.steered[k]) * self._up)])
            rolled = np.array([cos(0.5 * self.angles[k]), *(sin(0.5 * self.angles[k]) * aside)])
            found.append((place + rotate(turn, centre), multiply(turn, multiply(steered, rolled))))
        return found

    # ---- the parts of a call -----------------------------------------------------------------------------------------

    def _measure(self) -> None:
        """Of the wheels: how far each stands forwards of the middle of those that are not steered, and to the left [m];
        whether it is steered; its share of the engine and of the brakes."""
        places = np.array([wheel.position for wheel in self.wheels])
        along, self._left = turned(np.stack([self._forward, np.cross(self._up, self._forward)]), places).T
        self._steer, driven, braked = (
            np.array([getattr(wheel, name) for wheel in self.wheels]) for name in ("steered", "driven", "braked")
        )
        fixed = along if self._steer.all() else along[~self._steer]
        self._along = along - fixed.sum() / len(fixed)
        self._driven, self._braked = driven / max(driven.sum(), 1), braked / max(braked.sum(), 1)

    def _apart(self) -> list[AnyBody]:
        """The chassis, and what it never meets: found anew where the scene has changed."""
        scene = self.world.scene
        if self._left_out is None or self._left_out[0] is not scene:
            self._left_out = scene, [self.body, *apart_from(scene, self.body.name)]
        return self._left_out[1]

    def _angles(self, steer: float) -> np.ndarray:
        """(wheels,) [rad] so that the wheels' axles meet in one point (Ackermann): on the line across the car through the
        middle of the wheels that are not steered, to the left or right where the angle of the farthest steered wheel, were
        it in the middle of the car, has it."""
        base = np.abs(np.where(self._steer, self._along, 0.0)).max()
        if steer == 0.0 or base < SHORTEST:
            return np.where(self._steer, steer, 0.0)
        way, radius = (1.0 if steer > 0.0 else -1.0), base / tan(abs(steer))
        found = [way * arctan2(x, radius - way * y) for x, y in zip(self._along.tolist(), self._left.tolist())]
        return np.where(self._steer, found, 0.0)

    def _look(self) -> _Contacts:
        """What the wheels stand on."""
        place, turn = self.body.frame
        turned_by, up = matrix(turn), rotate(turn, self._up)
        tops = place + turned(turned_by, np.array([wheel.position + self._up * wheel.travel for wheel in self.wheels]))
        reaches = np.array([wheel.travel + wheel.radius for wheel in self.wheels])
        moving = velocity_at(self.body, tops) + self._pull()
        coming = np.maximum(-dots(moving, np.broadcast_to(up, tops.shape)), 0.0) * self.world.dt
        mask = self.world.scene.body(self.body.name).collision_mask
        hits = self.world.ray_casts(tops, -up, reaches + coming, mask=mask, exclude=self._apart())
        self.compressions = np.maximum(reaches - hits["distance"], -reaches)
        self.grounds = [None if i < 0 else self.world.bodies[i] for i in hits["body"].tolist()]
        wheel = np.flatnonzero((hits["body"] >= 0) & (dots(hits["normal"], np.broadcast_to(up, tops.shape)) > LEVEL))
        hits = hits[wheel]
        n = hits["normal"]
        angles = self.steered[wheel][:, None]
        ahead = turned(turned_by, self._forward * cos(angles) + np.cross(self._up, self._forward) * sin(angles))
        f = ahead - n * dots(n, ahead)[:, None]
        f = f / lengths(f)[:, None]
        ground = [velocity_at(self.world.bodies[int(hit["body"])], hit["point"]) for hit in hits]
        friction = [self._friction(k, hit) for k, hit in zip(wheel.tolist(), hits)]
        return _Contacts(
            wheel,
            hits,
            np.stack([n, f, np.cross(n, f)], axis=1),
            hits["point"] - self.body.position,
            np.array(ground).reshape(-1, 3),
            friction,
        )

    def _pull(self) -> np.ndarray:
        """(3,) what gravity adds to its velocity in a step [m/s]."""
        return self.world.gravity * (self.body.gravity_scale * self.world.dt)

    def _friction(self, k: int, hit: np.void) -> float:
        ground = self.world.scene.bodies[int(hit["body"])]
        material = ground.shapes[int(hit["shape"])].material or ground.material
        return combined_friction(self.wheels[k].friction, material.friction)

    def _solve(self, on: _Contacts, shares: tuple[np.ndarray, np.ndarray], dt: float) -> list[list[float]]:
        """(normal, forwards, sideways) impulses of every wheel that stands on something [N s]. shares: the engine's force
        and the brakes' of each wheel [N]."""
        if len(on.wheel) == 0:
            return []
        turn, up = matrix(self.body.orientation), rotate(self.body.orientation, self._up)
        mobility = product(turn, inverse(self.body.inertia), turn.T)
        directions = on.directions.reshape(-1, 3)
        arms = np.cross(np.repeat(on.arms, 3, axis=0), directions)
        a = product(directions, directions.T) / self.body.mass + product(arms, mobility, arms.T)
        b = product(directions, self.body.velocity + self._pull()) + product(arms, self.body.angular_velocity)
        b -= dots(np.repeat(on.ground, 3, axis=0), directions)
        bounds = []
        for i, k in enumerate(on.wheel.tolist()):
            stiffness, damping, way = self._suspension(k, dot(on.directions[i, 0], up))
            gamma = 1.0 / (dt * (damping + dt * stiffness))
            a[3 * i, 3 * i] += gamma
            b[3 * i] -= gamma * dt * stiffness * way
            bounds.append((float(shares[0][k] * dt), float(shares[1][k] * dt), on.friction[i]))
        return _sweeps(a.tolist(), b.tolist(), bounds)

    def _suspension(self, k: int, slope: float) -> tuple[float, float, float]:
        """Stiffness [N/m], damping [N s/m] and compression [m] of wheel k along the ground's normal. slope: the cosine
        between normal and suspension."""
        wheel, x = self.wheels[k], float(self.compressions[k])
        rate = 2.0 * pi * wheel.hertz
        share = self.body.mass / len(self.wheels)
        stiffness, damping = share * rate * rate, 2.0 * wheel.damping_ratio * share * rate
        if x < 0.0:  # it comes down in this step: the damper begins with the spring
            damping = 0.0
        if x > wheel.travel:  # k x + (BUMP - 1) k (x - travel), as one spring at this place
            stiffness *= 1.0 + (BUMP - 1.0) * (x - wheel.travel) / x
        return stiffness, damping, x * slope

    def _push(self, hit: np.void, force: np.ndarray) -> None:
        """On the chassis, and back on what it stands on."""
        ground = self.world.bodies[int(hit["body"])]
        self.world.apply_force(self.body, force, hit["point"])
        if ground.kind == "dynamic":
            self.world.wake(ground)
            self.world.apply_force(ground, -force, hit["point"])


def _sweeps(a: list[list[float]], b: list[float], bounds: list[tuple[float, float, float]]) -> list[list[float]]:
    """Impulses of the wheels' rows by projected Gauss-Seidel. a (3 w, 3 w), b (3 w,): normal, forwards, sideways of each
    wheel; bounds: of each (engine's impulse, most of the brakes', friction)."""
    x = [0.0] * len(b)
    held = [0.0] * len(bounds)

    def rate(i: int) -> float:
        return b[i] + sum(p * q for p, q in zip(a[i], x))

    for _ in range(SWEEPS):
        for k, (engine, brake, friction) in enumerate(bounds):
            n, f, s = 3 * k, 3 * k + 1, 3 * k + 2
            x[n] = max(x[n] - rate(n) / a[n][n], 0.0)
            held[k] = min(max(held[k] - rate(f) / a[f][f], -brake), brake)
            x[f] = engine + held[k]
            x[s] -= rate(s) / a[s][s]
            size, most = sqrt(x[f] * x[f] + x[s] * x[s]), friction * x[n]
            if size > most:
                x[f], x[s] = x[f] * most / size, x[s] * most / size
                held[k] = min(max(x[f] - engine, -brake), brake)
    return [x[i : i + 3] for i in range(0, len(x), 3)]
