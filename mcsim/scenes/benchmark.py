"""The benchmark scenes: the same ones that other engines were measured on; ragdolls11 is in ragdoll.py.

Density 1000 kg/m^3, friction 0.6, restitution 0.
"""

import math
from typing import Annotated, Any

import numpy as np

from mcsim.core.rotation import from_axes
from mcsim.core.trig import sin
from mcsim.scene import BallJoint, Box, Capsule, Material, Scene, Sphere
from mcsim.scene.checks import Vector
from mcsim.scenes.registry import Whole, listed_scene
from mcsim.scenes.stacks import X, add_floor

MATERIAL = Material(friction=0.6, restitution=0.0)
CUBE = Box((0.5, 0.5, 0.5))
TOUCHES_NOTHING: dict[str, Any] = {"collision_mask": 0}


def _add_cubes(scene: Scene, places: dict[str, Vector], density: float | list[float] = 1000.0) -> None:
    scene.add_bodies(
        names=list(places), shapes=CUBE, density=density, material=MATERIAL, positions=np.array([*places.values()])
    )


@listed_scene
def one() -> Scene:
    """A cube of 1 m rests on a plane."""
    scene = Scene(name="one")
    add_floor(scene, MATERIAL)
    _add_cubes(scene, {"cube": (0, 0, 0.5)})
    return scene


@listed_scene
def pyramid(*, base: Annotated[int, Whole(300)] = 20) -> Scene:
    """A pyramid of 1 m cubes, `base` in the lowest row, 1.05 m apart."""
    scene = Scene(name="pyramid")
    add_floor(scene, MATERIAL)
    _add_cubes(
        scene,
        {
            f"cube{row}_{k}": (1.05 * (k - (base - row - 1) / 2), 0, 0.5 + row)
            for row in range(base)
            for k in range(base - row)
        },
    )
    return scene


@listed_scene
def tower(*, count: Annotated[int, Whole(1000)] = 15) -> Scene:
    """A tower of `count` cubes of 1 m."""
    scene = Scene(name="tower")
    add_floor(scene, MATERIAL)
    _add_cubes(scene, {f"cube{k}": (0, 0, 0.5 + k) for k in range(count)})
    return scene


@listed_scene
def tower10_heavy() -> Scene:
    """Ten cubes of 1 m, the top one 100 times as dense."""
    scene = Scene(name="tower10_heavy")
    add_floor(scene, MATERIAL)
    _add_cubes(scene, {f"cube{k}": (0, 0, 0.5 + k) for k in range(10)}, [1000.0] * 9 + [100_000.0])
    return scene


@listed_scene
def rain(*, count: Annotated[int, Whole(50_000)] = 500) -> Scene:
    """Boxes, balls and capsules rain into a pit."""
    scene = Scene(name="rain")
    add_floor(scene, MATERIAL)
    pit = 12 * math.sqrt(count / 2000)
    side = max(1, round(13 * math.sqrt(count / 2000)))
    half_height, thickness = (0.8 + 1.1 * math.ceil(count / (side * side))) / 2, 0.5  # as high as the highest body
    long = pit / 2 + 2 * thickness
    for name, x, y in (("west", -1, 0), ("east", 1, 0), ("south", 0, -1), ("north", 0, 1)):
        offset = pit / 2 + thickness
        half = (thickness, long, half_height) if x else (long - 2 * thickness, thickness, half_height)
        scene.add_body(
            name, kind="static", shape=Box(half), material=MATERIAL, position=(offset * x, offset * y, half_height)
        )
    shapes = (Box((0.25, 0.25, 0.25)), Sphere(0.3), Capsule(0.2, 0.3))
    k = np.arange(count)
    column, row, layer = k % side, k // side % side, k // (side * side)
    places = np.stack([0.85 * (column - (side - 1) / 2), 0.85 * (row - (side - 1) / 2), 0.8 + 1.1 * layer], axis=1)
    places += 0.03 * sin(12.9898 * k[:, None] + np.arange(3))
    scene.add_bodies(
        names=[f"body{i}" for i in range(count)],
        shapes=[shapes[i % 3] for i in range(count)],
        density=1000.0,
        material=MATERIAL,
        positions=places,
    )
    return scene


@listed_scene
def chain(*, count: Annotated[int, Whole(5000)] = 100) -> Scene:
    """A chain of `count` capsules, released from the horizontal."""
    scene = Scene(name="chain")
    _add_links(scene, count, {"density": 1000.0})
    return scene


@listed_scene
def chain20_heavy() -> Scene:
    """A chain of 20 links of 1 kg with a ball of 1000 kg at its end, released from the horizontal."""
    scene = Scene(name="chain20_heavy")
    last = _add_links(scene, 20, {"mass": 1.0})
    scene.add_body("ball", shape=Sphere(0.5), mass=1000.0, position=(10.5, 0, 0), **TOUCHES_NOTHING)
    scene.add_joint(BallJoint(last, "ball", anchor=(10.0, 0, 0), name="joint20"))
    return scene


def _add_links(scene: Scene, n: int, weight: Any) -> str | None:
    """n capsules along x, 0.5 m apart, on ball joints, the first one to the world; answers with the last one's name."""
    previous = None
    orientation = from_axes(X)
    for k in range(n):
        name = f"link{k}"
        scene.add_body(
            name,
            shape=Capsule(0.1, 0.15),
            position=(0.5 * k + 0.25, 0, 0),
            orientation=orientation,
            **weight,
            **TOUCHES_NOTHING,
        )
        scene.add_joint(BallJoint(previous, name, anchor=(0.5 * k, 0, 0), name=f"joint{k}"))
        previous = name
    return previous


@listed_scene
def grid(*, side: Annotated[int, Whole(200, 2)] = 40, corners: Annotated[int, Whole(4, 2)] = 2) -> Scene:
    """A net of `side` by `side` balls on ball joints, hung by two to four corners.

    Balls of radius 0.4 m, 1 m apart in a horizontal plane; joints half-way between neighbours.
    """
    scene = Scene(name="grid")
    for row in range(side):
        for column in range(side):
            scene.add_body(
                f"ball{row}_{column}", shape=Sphere(0.4), density=1000.0, material=MATERIAL, position=(column, row, 0)
            )
    for row in range(side):
        for column in range(side):
            here = f"ball{row}_{column}"
            if column + 1 < side:
                scene.add_joint(BallJoint(here, f"ball{row}_{column + 1}", anchor=(column + 0.5, row, 0)))
            if row + 1 < side:
                scene.add_joint(BallJoint(here, f"ball{row + 1}_{column}", anchor=(column, row + 0.5, 0)))
    for row, column in ((0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1))[:corners]:
        scene.add_joint(BallJoint(None, f"ball{row}_{column}", anchor=(column, row, 0), name=f"pin{row}_{column}"))
    return scene
