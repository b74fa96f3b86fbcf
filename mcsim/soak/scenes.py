"""The scenes of a soak: small ones, so that days of them are simulated in minutes, and what is done to each of them once a
simulated second, without end. All that is drawn comes from the generator that is handed in.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mcsim.scene import Material, Motor, Scene, Spring
from mcsim.scene.joints import BallJoint, HingeJoint, SliderJoint
from mcsim.scene.shapes import Box, Capsule, Plane, Sphere
from mcsim.scenes import load
from mcsim.world import ReducedWorld, World

Rng = np.random.Generator
DT = 1 / 60  # [s]
WALL = 0.6  # [m] from the middle of a pit to its walls
MOST_GUESTS = 6  # bodies that have come and not gone


class Soaking(NamedTuple):
    """make(): a world at its beginning. deed(world, rng, second): what is done to it in each simulated second -> the world
    that goes on, the same one or a copy."""

    make: Callable[[], Any]
    deed: Callable[[Any, Rng, int], Any]


SOAKED: dict[str, Soaking] = {}


def soaked(make: Callable[[], Any]) -> Callable[[Callable[[Any, Rng, int], Any]], Callable[[Any, Rng, int], Any]]:
    """A line of the table, under the name of the function that does the deeds."""

    def add(deed: Callable[[Any, Rng, int], Any]) -> Callable[[Any, Rng, int], Any]:
        SOAKED[deed.__name__] = Soaking(make, deed)
        return deed

    return add


def _pit() -> Scene:
    """A floor between four walls, which nothing leaves."""
    scene = Scene(name="pit")
    walls = [Plane((0, 0, 1))] + [Plane(normal, -WALL) for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))]
    scene.add_body("pit", kind="static", shape=walls, material=Material(0.5, 0.2))
    return scene


def _kick(world: Any, rng: Rng, speed: float) -> None:
    """One of the dynamic bodies is pushed in a random direction, upwards, by its mass times `speed` [m/s]."""
    moving = np.flatnonzero(world.masses > 0.0)
    body = int(rng.choice(moving))
    way = rng.normal(size=3)
    way[2] = abs(way[2])
    world.apply_impulse(body, world.masses[body] * speed * way)


# ---- ragdolls --------------------------------------------------------------------------------------------------------


def _ragdoll() -> World:
    return World(load("ragdolls", count=1), dt=DT)


@soaked(_ragdoll)
def ragdoll(world: Any, rng: Rng, second: int) -> Any:
    """A ragdoll on a floor, kicked twice a minute and asleep between."""
    if second % 30 == 0:
        _kick(world, rng, 4.0)
    if second % 600 == 0:  # it would wander off
        _bring_back(world)
    return world


def _bring_back(world: Any) -> None:
    """All bodies along the floor, so that their middle is at the origin."""
    middle = world.positions[world.masses > 0.0].mean(axis=0)
    for body in world.bodies:
        if body.kind == "dynamic":
            world.set_pose(body, body.position - (middle[0], middle[1], 0.0))


def _doll_in_pit() -> World:
    scene = _pit()
    scene.add_body("chest", shape=Box((0.15, 0.1, 0.2)), position=(0, 0, 1.0))
    for side in (-1, 1):
        scene.add_body(f"arm{side}", shape=Capsule(0.05, 0.1), position=(0.22 * side, 0, 1.1), orientation=(0.6, 0, 0.8, 0))
        scene.add_joint(BallJoint("chest", f"arm{side}", (0.16 * side, 0, 1.1), (side, 0, 0), 1.2, name=f"shoulder{side}"))
    scene.add_body("head", shape=Sphere(0.1), position=(0, 0, 1.35))
    scene.add_joint(HingeJoint("chest", "head", (0, 0, 1.22), (0, 1, 0), limits=(-0.5, 0.5), name="neck"))
    return World(scene, dt=DT, sleep=False)


@soaked(_doll_in_pit)
def sleepless(world: Any, rng: Rng, second: int) -> Any:
    """A doll of four bodies in a pit, with sleep off, kicked every ten seconds."""
    if second % 10 == 0:
        _kick(world, rng, 3.0)
    return world


# ---- a pile ----------------------------------------------------------------------------------------------------------


def _pile() -> World:
    scene = _pit()
    for i in range(6):
        shape = (Box((0.12, 0.1, 0.08)), Sphere(0.1), Capsule(0.08, 0.1))[i % 3]
        scene.add_body(f"part{i}", shape=shape, position=(0.1 * (i % 2), 0.05 * i - 0.1, 0.2 + 0.25 * i))
    return World(scene, dt=DT)


@soaked(_pile)
def pile(world: Any, rng: Rng, second: int) -> Any:
    """Boxes, balls and capsules in a pit, kicked three times a minute and asleep between."""
    if second % 20 == 0:
        _kick(world, rng, 5.0)
    return world


# ---- machines --------------------------------------------------------------------------------------------------------


def _crank() -> World:
    scene = Scene(name="crank")
    scene.add_body("crank", shape=Box((0.1, 0.02, 0.02)), position=(0.1, 0, 0))
    scene.add_body("rod", shape=Box((0.2, 0.02, 0.02)), position=(0.4, 0, 0))
    scene.add_body("piston", shape=Box((0.05, 0.05, 0.05)), position=(0.6, 0, 0))
    motor = Motor(velocity=6.0, max_force=20.0)
    scene.add_joint(HingeJoint(None, "crank", (0, 0, 0), (0, 1, 0), name="drive", motor=motor))
    scene.add_joint(HingeJoint("crank", "rod", (0.2, 0, 0), (0, 1, 0), name="pin"))
    scene.add_joint(BallJoint("rod", "piston", (0.6, 0, 0), name="wrist"))
    spring = Spring(50.0, 2.0)
    scene.add_joint(SliderJoint(None, "piston", (1, 0, 0), (0.6, 0, 0), name="bore", spring=spring))
    return World(scene, dt=DT, substeps=2)


@soaked(_crank)
def crank(world: Any, rng: Rng, second: int) -> Any:
    """A slider-crank whose motor turns for ever, at another speed every ten seconds."""
    if second % 10 == 0:
        world.joint("drive").set_motor(velocity=float(rng.uniform(3.0, 8.0)))
    return world


def _arm() -> ReducedWorld:
    scene = Scene(name="arm")
    scene.add_body("floor", kind="static", shape=Plane((0, 0, 1)))
    below: str | None = None
    for i in range(3):
        scene.add_body(f"link{i}", shape=Capsule(0.05, 0.15), position=(0, 0, 0.4 + 0.4 * i))
        axis = (0, 0, 1) if i == 0 else (0, 1, 0)
        motor = Motor(position=0.0, kp=200.0, kd=20.0)
        scene.add_joint(HingeJoint(below, f"link{i}", (0, 0, 0.2 + 0.4 * i), axis, name=f"joint{i}", motor=motor))
        below = f"link{i}"
    scene.add_body("ball", shape=Sphere(0.1), position=(0.4, 0.2, 0.1), linear_damping=0.5, angular_damping=0.5)
    return ReducedWorld(scene, dt=DT, substeps=2)


@soaked(_arm)
def robot(world: Any, rng: Rng, second: int) -> Any:
    """An arm of three PD motors in generalized coordinates, with another target each two seconds, and a ball in its way."""
    if second % 2 == 0:
        for i in range(3):
            world.joint(f"joint{i}").set_motor(position=float(rng.uniform(-1.0, 1.0)))
    if second % 60 == 0:
        world.set_pose("ball", (*rng.uniform(-0.6, 0.6, 2), 0.1))
        world.set_velocity("ball", (0, 0, 0), (0, 0, 0))
    return world


# ---- what comes and goes ---------------------------------------------------------------------------------------------


def _empty() -> World:
    return World(_pit(), dt=DT)


@soaked(_empty)
def traffic(world: Any, rng: Rng, second: int) -> Any:
    """Every two seconds a body of another shape falls into a pit, and the oldest one is taken out of it."""
    if second % 2:
        return world
    size = rng.uniform(0.05, 0.15, 3)
    shape = (Box(size), Sphere(size[0]), Capsule(size[0], size[1]))[int(rng.integers(3))]
    world.add_body(f"guest{second}", shape=shape, position=(*rng.uniform(-0.3, 0.3, 2), 1.0))
    guests = [name for name in world.body_names if name != "pit"]
    if len(guests) > MOST_GUESTS:
        world.remove_body(guests[0])
    return world


def _workshop() -> World:
    scene = _pit()
    for i in range(3):
        scene.add_body(f"part{i}", shape=Box((0.1, 0.08, 0.06)), position=(0.3 * i - 0.3, 0, 0.3))
    return World(scene, dt=DT)


@soaked(_workshop)
def workshop(world: Any, rng: Rng, second: int) -> Any:
    """A joint comes and goes, shapes, materials, kinds and settings change, states are kept and restored, the world goes
    on as its copy or its pickle, and is asked for everything: one of these a second."""
    if second % 15 == 0:
        _kick(world, rng, 3.0)
    return WORKS[int(rng.integers(len(WORKS)))](world, rng) or world


def _join(world: Any, rng: Rng) -> None:
    if world.joint_names:
        world.remove_joint(world.joint_names[0])
    else:
        world.add_joint(BallJoint("part0", "part1", 0.5 * (world.positions[1] + world.positions[2]), name="link"))


def _reshape(world: Any, rng: Rng) -> None:
    world.set_shape("part2", Box(rng.uniform(0.05, 0.1, 3)))
    world.set_material("part2", Material(float(rng.uniform(0, 1))))


def _hold(world: Any, rng: Rng) -> None:
    kind = "dynamic" if world.body("part2").kind == "static" else "static"
    world.set_kind("part2", kind)


def _tune(world: Any, rng: Rng) -> None:
    world.change_settings(substeps=int(rng.integers(2, 5)))


def _go_back(world: Any, rng: Rng) -> None:
    kept = world.snapshot()
    world.step(3)
    world.restore(kept)


def _copied(world: Any, rng: Rng) -> Any:
    return copy.deepcopy(world)


def _pickled(world: Any, rng: Rng) -> Any:
    return pickle.loads(pickle.dumps(world))


def _asked(world: Any, rng: Rng) -> None:
    world.ray_cast((0, 0, 2), (*rng.normal(size=2), -1.0), 5.0)
    world.overlap(Sphere(0.5), (0, 0, 0.2))
    seen = (world.contacts, world.events, world.rows, world.jacobian(), world.stats.notes, world.to_scene())
    assert len(seen) == 6 and [repr(handle) for handle in (*world.bodies, *world.joints)]


def _filtered(world: Any, rng: Rng) -> None:
    world.contact_filter = None if world.contact_filter else _all_meet


def _all_meet(a: Any, b: Any) -> bool:
    """A contact filter that says yes: it is there to be asked."""
    return True


WORKS: tuple[Callable[[Any, Rng], Any], ...] = (
    *(_join, _reshape, _hold, _tune, _go_back, _copied, _pickled, _asked, _filtered),
)
