"""A character that walks: a kinematic body, moved as far as the world lets it go.

Each step, on the way that the player wants:

    recover     out of what has come to overlap it
    carried     with the ground, if that moves
    slide       along walls, up and down slopes, over steps; gravity and jumps likewise
    ground      down onto what it stands on, as stairs and slopes fall away

A way that meets a surface goes on along it: of the rest d is left d - (d . n) n, and where two surfaces meet, what is along
their common edge. Distances are found by casts of the body's own shapes (World.shape_cast).

Source: P. Fauerby, "Improved Collision detection and Response", 2003: slide along the plane that is met, step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any, NamedTuple

import numpy as np

from mcsim.actors.surroundings import apart_from, velocity_at
from mcsim.core.errors import SceneError
from mcsim.core.linear import dot, length, turned
from mcsim.core.rotation import conjugate, matrix, rotate
from mcsim.core.trig import cos
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, Vector, not_negative, positive, vector, within
from mcsim.scene.shapes import Shape
from mcsim.world import World
from mcsim.world.handles import BodyHandle
from mcsim.world.queries import Hit

# The steepest slope that may count as ground [rad]: on a wall, "along the ground" would be straight up.
STEEPEST = 1.4

# How often a way is bent before the rest of it is given up, and how often an overlap is left.
BENDS = 5
RECOVERIES = 8

# A way that is shorter leads nowhere [m].
STILL = 1e-9

# A surface that faces up by less than this [cosine], or down, stops a way as a wall does.
LEVEL = 1e-6


class Known(NamedTuple):
    """What a scene says of a character's body: its shapes, their corners (k, 3) and its centre of mass in its own frame,
    its mask, and the names of the bodies that never meet it."""

    scene: Scene
    shapes: list[Shape]
    corners: np.ndarray
    centre: np.ndarray
    mask: int
    apart: list[str]


class Character:
    """A walking body: a kinematic one of a world, with one or more shapes that stand upright, a Capsule as a rule.

        hero = mc.Character(world, "hero", step_height=0.3)
        for _ in range(600):
            hero.walk((2.0, 0.0))          # towards +x at 2 m/s
            world.step()

    Walls stop it, slopes and steps do not; it rides on what moves under it, and pushes what is dynamic with a bounded
    force. It is a kinematic body, so nothing pushes it back. "Up" is against gravity, or z in a world without.

    max_slope: the steepest ground that it walks on [rad], 0 to 1.4. step_height: what it steps over, and follows down [m].
    skin: how far it stays away from what it meets [m]. push_force: with which it pushes dynamic bodies [N]. mass: whose
    weight rests on dynamic ground [kg]. air_acceleration: how fast it changes course in the air [m/s²].

    velocity (3,): its own now, with that of what carries it [m/s]. ground: the handle of the body it stands on, or None.
    ground_normal (3,): up there, unit. body: its handle.

    These belong to the character, not to the world: after `world.restore` give them back with `state` (assign what it was).
    SceneError where the body is not kinematic, or has no shape, or a number is out of range.
    """

    def __init__(
        self,
        world: World,
        body: BodyHandle | str,
        *,
        max_slope: float = 50 * pi / 180,
        step_height: float = 0.3,
        skin: float = 0.01,
        push_force: float = 300.0,
        mass: float = 70.0,
        air_acceleration: float = 10.0,
    ):
        if not isinstance(world, World):
            raise SceneError(f"Character: world must be a World or a ReducedWorld, got {type(world).__name__}")
        self.world, self.body = world, world.body(body)
        if self.body.kind != "kinematic":
            raise SceneError(f"Character: body {self.body.name!r} is {self.body.kind}; it must be kinematic")
        try:
            self._least_up = cos(within(max_slope, 0.0, STEEPEST, "max_slope"))
            self._step, self._skin = not_negative(step_height, "step_height"), positive(skin, "skin")
            self._push, self._mass = not_negative(push_force, "push_force"), not_negative(mass, "mass")
            self._air = not_negative(air_acceleration, "air_acceleration", infinite=True)
        except FieldError as error:
            raise error.within("Character") from None
        self._known: Known | None = None
        if not self._look().shapes:
            raise SceneError(f"Character: body {self.body.name!r} has no shape to meet anything with")
        self.velocity = np.zeros(3)
        self.ground: BodyHandle | None = None
        self.ground_normal = up = self.up
        self._foot = np.zeros(3)  # the point of the ground that it stands on
        place = self.body.position - self._centre()
        self._low = self._lowest(place, up)  # how high its lowest point was, along `up`, as a step began
        self._stand(place, up, 0.0)

    @property
    def up(self) -> np.ndarray:
        """(3,) unit: against gravity."""
        size = length(self.world.gravity)
        return np.array([0.0, 0.0, 1.0]) if size == 0.0 else -self.world.gravity / size

    @property
    def state(self) -> tuple[np.ndarray, str | None, np.ndarray]:
        """What it keeps from step to step: velocity, the name of its ground, the normal there. May be assigned."""
        return self.velocity.copy(), None if self.ground is None else self.ground.name, self.ground_normal.copy()

    @state.setter
    def state(self, value: tuple[np.ndarray, str | None, np.ndarray]) -> None:
        velocity, ground, normal = value
        self.velocity, self.ground_normal = np.array(vector(velocity, "state[0]")), np.array(vector(normal, "state[2]"))
        self.ground = None if ground is None else self.world.body(ground)

    def walk(self, wanted: Vector, jump: float = 0.0) -> None:
        """Aim the body for the step that comes; call it before every `world.step()`. wanted (2,) or (3,): velocity over the
        ground [m/s], in world axes; what of it is along `up` is left out. jump: speed upwards [m/s], if it stands on
        something."""
        try:
            wanted = np.array(vector((*wanted, 0.0) if len(wanted) == 2 else wanted, "wanted"))
            jump = not_negative(jump, "jump")
        except (FieldError, TypeError) as error:
            raise SceneError(f"Character.walk: wanted must be 2 or 3 numbers, jump a speed: {error}") from None
        up, dt = self.up, self.world.dt
        if self.ground is not None and self.ground.removed:
            self.ground = None
        place = self._recovered(self.body.position - self._centre())
        self._low, level = self._lowest(place, up), wanted - dot(wanted, up) * up
        carried = self._carried(place)
        if self.ground is not None:
            place, _ = self._slide(place, carried * dt, exclude=self.ground)
        if self.ground is not None and jump == 0.0:
            place, self.velocity = self._step_on(place, level, up, dt)
            self.velocity = self.velocity + carried
            place, rising = self._stand(place, up, self._step), False
        else:
            if self.ground is not None:
                self.velocity = level + carried + up * jump
            place, self.velocity = self._fly(place, self.velocity, level, up, dt)
            self._low, rising = self._lowest(place, up), dot(self.velocity, up) > 0.0
            if not rising:
                place = self._stand(place, up, 0.0)
        if rising:
            self.ground, self.ground_normal = None, up
        elif self.ground is not None:
            self.velocity = self.velocity - min(dot(self.velocity, up), 0.0) * up
        self._press(up)
        self.world.move_to(self.body, place + self._centre())

    # ---- the parts of a step -----------------------------------------------------------------------------------------

    def _carried(self, place: np.ndarray) -> np.ndarray:
        """The velocity of the ground under it [m/s]."""
        return np.zeros(3) if self.ground is None else velocity_at(self.ground, place)

    def _recovered(self, place: np.ndarray) -> np.ndarray:
        """The place, or one near it at which it overlaps nothing, if that is found soon."""
        for _ in range(RECOVERIES):
            near = self.world.overlap(self._look().shapes, place, self.body.orientation, **self._seen())
            depth, out = 0.0, None
            for other in near:
                for shape in self._look().shapes:
                    found = self.world.distance(other, shape, place, self.body.orientation)
                    if found is not None and found.distance < depth:
                        depth, out = found.distance, found.normal
            if out is None:
                break
            place = place + out * (self._skin - depth)
        return place

    def _step_on(self, place: np.ndarray, level: np.ndarray, up: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """On the ground, along it, at a velocity across `up`. -> the place, and the velocity across `up`"""
        across = level * dt
        across = across - up * (dot(across, self.ground_normal) / dot(up, self.ground_normal))
        end, _ = self._slide(place, across, walks=True)
        moved = (end - place) / dt
        return end, moved - dot(moved, up) * up

    def _fly(
        self, place: np.ndarray, velocity: np.ndarray, level: np.ndarray, up: np.ndarray, dt: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """In the air, under gravity, with some change of course towards a velocity across `up`. -> place, velocity"""
        change = level - (velocity - dot(velocity, up) * up)
        size, most = length(change), self._air * dt
        velocity = velocity + (change if size <= most else change * (most / size))
        fall = length(self.world.gravity) * dt
        place, met = self._slide(place, (velocity - 0.5 * fall * up) * dt, lands=True)
        velocity = velocity - fall * up
        for normal in met:
            velocity = velocity - min(dot(velocity, normal), 0.0) * normal
        return place, velocity

    def _slide(
        self,
        place: np.ndarray,
        way: np.ndarray,
        *,
        walks: bool = False,
        lands: bool = False,
        exclude: BodyHandle | None = None,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Where a way leads, along what it meets. walks: it steps over what is low, and what it cannot stand on is an
        upright wall. lands: it ends on what it can stand on. -> the place, and the normals of what it met"""
        up = self.up
        met: list[np.ndarray] = []
        for _ in range(BENDS):
            size = length(way)
            if size < STILL:
                break
            hit, free = self._go(place, way / size, size, exclude)
            place = place + way / size * free
            if hit is None:
                break
            self._shove(hit, way)
            way = way * (1.0 - free / size)
            wall, stands = hit.normal, self._walkable(hit, up)
            if stands and lands:
                met.append(wall)
                break
            if walks and dot(wall, up) < self._least_up:
                stepped = self._over(place, way, up)
                if stepped is not None:
                    return stepped, met
            if walks and not stands:
                flat = wall - dot(wall, up) * up
                wall = wall if length(flat) < LEVEL else flat / length(flat)
            way = _along(way, wall, met)
            met.append(wall)
        return place, met

    def _over(self, place: np.ndarray, way: np.ndarray, up: np.ndarray) -> np.ndarray | None:
        """Where a way leads over a step: up, on, and down onto ground that it can stand on; None if there is none."""
        level = way - dot(way, up) * up
        size = length(level)
        if self._step == 0.0 or size < STILL:
            return None
        _, rise = self._go(place, up, self._step)
        raised = place + up * rise
        hit, free = self._go(raised, level / size, size)
        if free < 1e-3 * size:
            return None
        landed, fall = self._go(raised + level / size * free, -up, rise + self._skin)
        if landed is None or not self._walkable(landed, up) or self._height(landed, up) > self._step + self._skin:
            return None
        place = raised + level / size * free - up * fall
        return place if hit is None else self._slide(place, level / size * (size - free))[0]

    def _stand(self, place: np.ndarray, up: np.ndarray, down: float) -> np.ndarray:
        """Onto the ground, if there is any so near below."""
        self.ground, self.ground_normal = None, up
        hit, free = self._go(place, -up, down + 2.0 * self._skin)
        if hit is None or not self._walkable(hit, up):
            return place
        self.ground, self._foot = hit.body, hit.point
        self.ground_normal = hit.normal if dot(hit.normal, up) >= self._least_up else up
        return place - up * free

    def _press(self, up: np.ndarray) -> None:
        """Its weight on ground that gives way."""
        if self.ground is not None and self.ground.kind == "dynamic" and self._mass > 0.0:
            self.world.wake(self.ground)
            self.world.apply_force(self.ground, -up * (self._mass * length(self.world.gravity)), self._foot)

    def _shove(self, hit: Hit, way: np.ndarray) -> None:
        """Push a dynamic body that is in the way, up to the speed of the way, with at most the force that there is."""
        if hit.body.kind != "dynamic" or self._push == 0.0 or hit.body == self.ground:
            return
        dt = self.world.dt
        into = max(-dot(way, hit.normal) / dt, 0.0)
        theirs = -dot(velocity_at(hit.body, hit.point), hit.normal)
        impulse = min(self._push * dt, hit.body.mass * max(into - theirs, 0.0))
        if impulse > 0.0:
            self.world.wake(hit.body)
            self.world.apply_impulse(hit.body, -hit.normal * impulse, hit.point)

    # ---- what it asks of the world -----------------------------------------------------------------------------------

    def _look(self) -> Known:
        """What the scene says of its body: found anew where the scene has changed."""
        scene = self.world.scene
        if self._known is None or self._known.scene is not scene:
            own = scene.body(self.body.name)
            shapes = [shape for shape in own.shapes if shape.massive and not shape.sensor]
            corners = [turned(matrix(shape.orientation), shape.triangles()[0]) + shape.position for shape in shapes]
            self._known = Known(
                scene,
                shapes,
                np.concatenate(corners or [np.zeros((0, 3))]),
                own.center_of_mass,
                own.collision_mask,
                apart_from(scene, own.name),
            )
        return self._known

    def _lowest(self, place: np.ndarray, up: np.ndarray) -> float:
        """How high its lowest point is, along `up` [m]."""
        return dot(place, up) + float(
            (self._look().corners * rotate(conjugate(self.body.orientation), up)).sum(axis=1).min()
        )

    def _centre(self) -> np.ndarray:
        """From the body's own frame to its centre of mass, in world axes."""
        return rotate(self.body.orientation, self._look().centre)

    def _seen(self, exclude: BodyHandle | None = None) -> dict[str, Any]:
        """Which bodies it meets: those that masks and ignored pairs let it."""
        left_out = [self.body, *self._look().apart, *([] if exclude is None else [exclude])]
        return {"mask": self._look().mask, "exclude": left_out}

    def _go(
        self, place: np.ndarray, direction: np.ndarray, most: float, exclude: BodyHandle | None = None
    ) -> tuple[Hit | None, float]:
        """How far it may go along a unit direction, up to `most` [m]. -> what it meets, and its way until it is `skin` away
        from that"""
        hit = self.world.shape_cast(
            self._look().shapes, place, self.body.orientation, direction, most + 2.0 * self._skin, **self._seen(exclude)
        )
        if hit is None:
            return None, most
        against = -dot(direction, hit.normal)
        if against <= LEVEL:  # along it, or away
            return None, most
        free = hit.distance - self._skin / max(against, 0.3)
        if free >= most:
            return None, most
        return hit, max(free, 0.0)

    def _height(self, hit: Hit, up: np.ndarray) -> float:
        """Of what it met, over where its lowest point was [m]."""
        return dot(hit.point, up) - self._low

    def _walkable(self, hit: Hit, up: np.ndarray) -> bool:
        """Whether it may stand on what it met: by the surface there, or, at an edge, by that beside the edge."""
        if dot(hit.normal, up) >= self._least_up:
            return True
        inward = -(hit.normal - dot(hit.normal, up) * up)
        size = length(inward)
        if dot(hit.normal, up) <= LEVEL or size == 0.0 or self._height(hit, up) > self._step + self._skin:
            return False
        above = hit.point + inward / size * self._skin + up * self._skin
        found = self.world.ray_cast(above, -up, 2.0 * self._skin, **self._seen())
        return found is not None and dot(found.normal, up) >= self._least_up


def _along(way: np.ndarray, wall: np.ndarray, walls: Sequence[np.ndarray]) -> np.ndarray:
    """What is left of a way along a wall, and along the edge that it makes with an earlier one which that would enter."""
    rest = way - dot(way, wall) * wall
    for earlier in walls:
        if dot(rest, earlier) < -1e-12:
            edge = np.cross(wall, earlier)
            size = length(edge)
            if size < 1e-9:
                return np.zeros(3)
            edge = edge / size
            rest = dot(way, edge) * edge
            if any(dot(rest, other) < -1e-9 * length(rest) for other in (*walls, wall)):
                return np.zeros(3)
    return rest
