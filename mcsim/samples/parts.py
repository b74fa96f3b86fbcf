"""What many samples are built of: grounds, rows and walls, meshes, turned poses, and what is asked of worlds afterwards.

Lengths in m, angles in rad.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

import mcsim as mc

if TYPE_CHECKING:
    from mcsim.world import World

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
G = 9.81  # [m/s²], the gravity of a Scene


def ground(friction: float = 0.6, restitution: float = 0.0, gravity: float = G, **material: Any) -> mc.Scene:
    """A scene with a static plane z = 0, called "ground". material: further fields of its mc.Material."""
    scene = mc.Scene(gravity=(0, 0, -gravity))
    surface = mc.Material(friction=friction, restitution=restitution, **material)
    scene.add_body("ground", shape=mc.Plane(Z), kind="static", material=surface)
    return scene


def turned(axis: Iterable[float], degrees: float) -> np.ndarray:
    """The quaternion of a turn about an axis by so many degrees."""
    return mc.rotation.from_axis_angle(np.asarray(tuple(axis), float), math.radians(degrees))


def along(direction: Iterable[float]) -> np.ndarray:
    """The quaternion that turns z, along which capsules, cylinders and cones lie, into a direction."""
    d = np.asarray(tuple(direction), float)
    d = d / np.linalg.norm(d)
    axis = np.cross(Z, d)
    sine = float(np.linalg.norm(axis))
    return mc.rotation.from_axis_angle(axis / sine if sine > 1e-12 else np.array(X), math.atan2(sine, d[2]))


def box(x: float, y: float, z: float, **more: Any) -> mc.Box:
    """A box by its whole sizes; mc.Box takes half of them."""
    return mc.Box((x / 2, y / 2, z / 2), **more)


def cube(size: float, **more: Any) -> mc.Box:
    """A cube by its edge."""
    return box(size, size, size, **more)


def rod(start: Iterable[float], end: Iterable[float], radius: float) -> mc.Capsule:
    """A capsule whose segment goes from one point of the body to another."""
    a, b = np.asarray(tuple(start), float), np.asarray(tuple(end), float)
    return mc.Capsule(radius, float(np.linalg.norm(b - a)) / 2, position=(a + b) / 2, orientation=along(b - a))


def prism(outline: Iterable[tuple[float, float]], depth: float, **more: Any) -> mc.ConvexHull:
    """The convex hull of an outline in x and z, of so much depth along y."""
    points = [(x, y, z) for x, z in outline for y in (-depth / 2, depth / 2)]
    return mc.ConvexHull(points, **more)


def flat_mesh(cells: int, size: float, height: Callable[[Any, Any], Any] | None = None, **more: Any) -> mc.Mesh:
    """A square mesh of cells × cells squares of `size`, two triangles each, about the origin; height: z of x and y."""
    line = (np.arange(cells + 1) - cells / 2) * size
    x, y = (a.ravel() for a in np.meshgrid(line, line, indexing="ij"))
    z = np.zeros_like(x) if height is None else np.broadcast_to(height(x, y), x.shape)
    n = cells + 1
    corner = (np.arange(cells)[:, None] * n + np.arange(cells)).ravel()
    faces = np.concatenate([np.c_[corner, corner + n, corner + n + 1], np.c_[corner, corner + n + 1, corner + 1]])
    return mc.Mesh(np.c_[x, y, z], faces, **more)


def slope(degrees: float, friction: float = 0.6, length: float = 40.0) -> mc.Scene:
    """A scene with a static box "slope" whose upper face goes through the origin and down towards +x by so many degrees."""
    scene = mc.Scene()
    turn = turned(Y, degrees)
    scene.add_body(
        "slope",
        shape=box(length, length, 1.0),
        kind="static",
        orientation=turn,
        position=mc.rotation.rotate(turn, (0, 0, -0.5)),
        material=mc.Material(friction=friction),
    )
    return scene


def heights(world: World, prefix: str) -> np.ndarray:
    """z of the centres of mass of the bodies whose names begin so."""
    return world.positions[[name.startswith(prefix) for name in world.body_names], 2]


def speed(world: World, body: str) -> float:
    """Of a body's centre of mass [m/s]."""
    return float(np.linalg.norm(world.body(body).velocity))


def fastest(world: World) -> float:
    """The largest speed of any point near a centre of mass: |v| of all bodies, and |w| times a metre [m/s]."""
    v, w = np.linalg.norm(world.velocities, axis=1), np.linalg.norm(world.angular_velocities, axis=1)
    return float(max(v.max(), w.max()))


def direction(world: World, body: str, axis: Iterable[float] = Z) -> np.ndarray:
    """Where an axis of a body points in the world."""
    return mc.rotation.rotate(world.body(body).orientation, tuple(axis))


def lean(world: World, body: str, axis: Iterable[float] = Z) -> float:
    """The angle of a body's axis, its z if none is given, from upright [rad]."""
    d = direction(world, body, axis)
    return math.atan2(math.hypot(d[0], d[1]), d[2])


def sleeps_from(play: Any, world: World, seconds: float) -> float:
    """Plays for so long -> the time [s] from which all dynamic bodies sleep; infinite where they do not."""
    since = math.inf
    for _ in play.steps(world, seconds):
        since = min(since, world.time) if play.asleep(world) else math.inf
    return min(since, world.time) if play.asleep(world) else math.inf


def drift(world: World, start: np.ndarray) -> np.ndarray:
    """How far each body is from where it was in the plane of the ground [m]; start: world.positions of then, a copy."""
    return np.linalg.norm((world.positions - start)[:, :2], axis=1)


def person() -> mc.Scene:
    """One ragdoll of mc.scenes.ragdolls, without a floor, to be added to a scene: its first segment is at the origin."""
    scene = mc.scenes.ragdolls(count=1)
    alone = scene.of_parts([body for body in scene.bodies if body.name != "floor"], scene.joints, scene.ignored_pairs)
    found = mc.Scene()
    found.add(alone, position=-np.array(alone.bodies[0].position))
    return found
