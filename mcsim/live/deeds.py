"""What each command does to a session: one function for each name of commands.COMMANDS."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.live.hand import Hand
from mcsim.live.in_step import InStep
from mcsim.scene import Scene
from mcsim.scene.joints import FixedJoint, Joint
from mcsim.scene.shapes import Box, Sphere
from mcsim.scenes.ragdoll import MASS, MASS_FRACTION, STATURE, add_doll, human
from mcsim.world import World
from mcsim.world.capabilities import CHANGEABLE

MOST_THROWN = 2000  # bodies of a world, beyond which nothing more is thrown in
DENSITY = 500.0  # [kg/m³] of what is thrown
FROZEN = "frozen "  # before the name of a body: the joint that holds it
DOLL_SPREAD = 3.0  # a thrown doll is so many `size` tall


# ---- time ------------------------------------------------------------------------------------------------------------


def play(session: InStep) -> None:
    """Steps are made as the clock says."""
    session.playing = not all(session.failures)


def pause(session: InStep) -> None:
    """No more steps by themselves."""
    session.playing = False


def step(session: InStep, count: int) -> None:
    """So many steps at once, and then a pause; the state after them can be gone back to."""
    session.playing = False
    session.advance(count)
    session.keep_new()


def reset(session: InStep) -> None:
    """The beginning, with the settings of now."""
    session.begin_again()


def speed(session: InStep, factor: float) -> None:
    """Simulated seconds a second."""
    session.speed = factor


def back(session: InStep, count: int) -> None:
    """So many states back, and a pause."""
    session.playing = False
    session.move(-count)


def forth(session: InStep, count: int) -> None:
    """So many states on, of those that were gone back from, and a pause."""
    session.playing = False
    session.move(count)


def go_to(session: InStep, place: int) -> None:
    """The state of a number, and a pause."""
    session.playing = False
    session.go_to(place)


# ---- the hand --------------------------------------------------------------------------------------------------------


def grab(session: InStep, body: str, point: np.ndarray, target: np.ndarray, world: int) -> None:
    """Hold the point of a body that is there in one of the worlds; and the same point of it in all."""
    if world >= len(session.worlds):
        raise SceneError(f"there is no world {world}; there are {len(session.worlds)}, counted from 0")
    session.hand = Hand(session.worlds[world], body, point, target)


def drag(session: InStep, target: np.ndarray) -> None:
    """The hand goes to a place."""
    if session.hand is not None:
        session.hand.target = target


def release(session: InStep) -> None:
    """Nothing is held."""
    session.hand = None


def kick(session: InStep, body: str, velocity: np.ndarray, point: np.ndarray | None) -> None:
    """An impulse that gives the body alone this velocity [m/s], at a point or at the centre of mass."""
    with session.whole():
        for world in session.worlds:
            world.wake(body)
            world.apply_impulse(body, world.body(body).mass * velocity, point)


# ---- bodies ----------------------------------------------------------------------------------------------------------


class _Collected:
    """Bodies and joints that are described to it as to a scene."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.joints: list[Joint] = []

    def add_body(self, name: str, **arguments: Any) -> None:
        """As Scene.add_body."""
        self.bodies.append({"name": name} | arguments)

    def add_joint(self, joint: Joint) -> None:
        """As Scene.add_joint."""
        self.joints.append(joint)


def _thrown(what: str, name: str, position: np.ndarray, velocity: np.ndarray, size: float) -> _Collected:
    found = _Collected()
    if what == "ragdoll":
        add_doll(
            cast(Scene, found),
            name,
            human(),
            position,
            np.array([1.0, 0.0, 0.0, 0.0]),
            lambda kind: {"mass": MASS * MASS_FRACTION[kind] * (DOLL_SPREAD * size / STATURE) ** 3},
            size=DOLL_SPREAD * size / STATURE,
            joint_friction=1.0,
            speed=velocity,
        )
    else:
        shape = Box((size / 2,) * 3) if what == "box" else Sphere(size / 2)
        found.add_body(name, shape=shape, position=position, velocity=velocity, density=DENSITY)
    return found


def throw(session: InStep, what: str, position: np.ndarray, velocity: np.ndarray, size: float) -> None:
    """A box, ball or doll of so many metres (the doll three times as tall) flies in."""
    taken = set(session.worlds[0].body_names)
    if len(taken) > MOST_THROWN:
        raise SceneError(f"there are {len(taken)} bodies already; nothing is thrown into more than {MOST_THROWN}")
    number = 1
    while any(name.split(".")[0] == f"thrown{number}" for name in taken):
        number += 1
    with session.whole():
        for world in session.worlds:
            new = _thrown(what, f"thrown{number}", position, velocity, size)
            world.add_bodies(new.bodies)
            if new.joints:
                world.add_joints(new.joints)


def delete(session: InStep, body: str) -> None:
    """The body goes, and the joints on it."""
    session.hand = None
    with session.whole():
        for world in session.worlds:
            world.remove_body(body)


def freeze(session: InStep, body: str) -> None:
    """The body is held where it is by a fixed joint; asked for again, it is let go."""
    if session.hand is not None:
        session.hand.forget()
    with session.whole():
        for world in session.worlds:
            if FROZEN + body in world.joint_names:
                world.remove_joint(FROZEN + body)
                world.wake(body)
            else:
                world.set_velocity(body, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
                world.add_joint(FixedJoint(None, body, name=FROZEN + body))


# ---- settings --------------------------------------------------------------------------------------------------------


def _awake(world: World) -> World:
    """The world; what rested under the old law may not under the new one."""
    world.wake()
    return world


def gravity(session: InStep, value: np.ndarray) -> None:
    """Another gravity [m/s²] for all worlds."""

    def change(world: World) -> World:
        scene = world.scene.copy()
        scene.gravity = value
        return _awake(world.remade(scene))

    session.rebuild(change)
    length = math.sqrt(float(value @ value))
    session.say(f"gravity is {length:.4g} m/s² now: the worlds were rebuilt from their present state")


def friction(session: InStep, value: float) -> None:
    """Another coefficient of friction for all surfaces."""
    session.rebuild(lambda world: _awake(world.remade(with_friction(world.scene, value))))
    session.say(f"friction is {value:.4g} everywhere now: the worlds were rebuilt from their present state")


def with_friction(scene: Scene, value: float) -> Scene:
    """A scene of the same parts, all surfaces with this coefficient of friction."""

    def of(material: Any) -> Any:
        return None if material is None else type(material)(**material._arguments | {"friction": value})

    bodies = []
    for body in scene.bodies:
        shapes = [
            shape.changed(material=of(shape.material), _arguments=shape._arguments | {"material": of(shape.material)})
            for shape in body.shapes
        ]
        material = of(body.material)
        arguments = body._arguments | {"shapes": tuple(shapes), "material": material}
        bodies.append(body.changed(shapes=shapes, material=material, _arguments=arguments))
    return scene.copy().of_parts(bodies, list(scene.joints))


def setting(session: InStep, name: str, value: Any, world: int | None) -> None:
    """Another value for a keyword of one world, or of all; None: its default."""
    which = "all worlds" if world is None else session.names[world] if world < len(session.names) else ""
    if name in CHANGEABLE:
        session.change_settings(world, **{name: value})
        how = f"in {which}"
    else:
        session.rebuild(lambda old: _awake(old.remade(**{name: value})), world)
        how = f"{which} rebuilt from the present state"
    session.say(f"{name} is {session.worlds[world or 0].settings[name]!r} now: {how}")


DEEDS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        play,
        pause,
        step,
        reset,
        speed,
        back,
        forth,
        go_to,
        grab,
        drag,
        release,
        kick,
        throw,
        delete,
        freeze,
        gravity,
        friction,
        setting,
    )
}
