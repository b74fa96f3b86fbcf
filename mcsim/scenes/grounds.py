"""Bodies on uneven ground: marbles that roll down a mesh into a bowl, mixed bodies that fall on a height field.

Lengths in m, densities in kg/m^3.
"""

import itertools
from typing import Annotated

import numpy as np

from mcsim.core.linear import lengths
from mcsim.core.trig import cos, sin
from mcsim.scene import Box, Capsule, ConvexHull, Cylinder, HeightField, Material, Mesh, Scene, Sphere
from mcsim.scenes.registry import NonNegative, Positive, Whole, listed_scene


@listed_scene
def marbles(
    *,
    count: Annotated[int, Whole(2000)] = 60,
    radius: Positive = 0.08,
    friction: NonNegative = 0.4,
    cells: Annotated[int, Whole(400, 8)] = 40,
) -> Scene:
    """Marbles roll down a winding chute, a mesh, into a bowl.

    The chute is `cells` triangles wide on each side; the marbles start in rows above its upper end.
    """
    scene = Scene(name="marbles")
    material = Material(friction=friction)
    span = (-8.0, 2.4), (-1.6, 1.6)
    y, x = np.meshgrid(np.linspace(*span[1], cells + 1), np.linspace(*span[0], 3 * cells + 1))
    vertices = np.stack([x, y, _chute(x, y)], axis=2).reshape(-1, 3)
    corner = (np.arange(3 * cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    beside = corner + cells + 1
    # Cells are cut along one diagonal and the other in turn.
    even = (corner // (cells + 1) + corner % (cells + 1)) % 2 == 0
    faces = np.where(
        np.repeat(even, 2)[:, None],
        np.stack([corner, beside, beside + 1, corner, beside + 1, corner + 1], axis=1).reshape(-1, 3),
        np.stack([corner, beside, corner + 1, beside, beside + 1, corner + 1], axis=1).reshape(-1, 3),
    )
    scene.add_body("chute", kind="static", shape=Mesh(vertices, faces), material=material)
    marble = Sphere(radius)
    across = max(int(1.2 / (2.5 * radius)), 1)
    for k in range(count):
        row, column = divmod(k, across)
        layer, row = divmod(row, max(int(3.0 / (2.5 * radius)), 1))
        place = np.array([-7.5 + 2.5 * radius * row, 2.5 * radius * (column - (across - 1) / 2), 0.0])
        place[2] = _chute(place[0], place[1]) + 2.5 * radius * (1 + layer)
        scene.add_body(f"marble{k}", shape=marble, density=2500.0, material=material, position=place)
    return scene


def _chute(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height of the ground: a winding trough that falls towards x = 0 and ends in a bowl about the origin."""
    down = np.minimum(x, 0.0)
    middle = 0.25 * down * down / (1.0 + down * down) * sin(1.5 * down)
    bowl = np.maximum(x, 0.0)
    along = 0.25 * (np.sqrt(down * down + 1.0) - 1.0) + 0.5 * bowl * bowl
    return along + 0.5 * (y - middle) * (y - middle)


@listed_scene
def terrain(
    *,
    count: Annotated[int, Whole(5000)] = 80,
    size: Positive = 12.0,
    relief: NonNegative = 0.8,
    cells: Annotated[int, Whole(1000, 8)] = 48,
    friction: NonNegative = 0.6,
) -> Scene:
    """Boxes, balls, capsules, cylinders and hulls fall on hills, a height field.

    `size` is the length of its sides, `relief` how much its hills rise; `cells` are along each side. The border is
    high, so that nothing rolls off.
    """
    scene = Scene(name="terrain")
    material = Material(friction=friction)
    x = np.linspace(-1.0, 1.0, cells + 1)
    x, y = np.meshgrid(x, x, indexing="ij")
    hills = sin(5.0 * x + 1.0) * cos(4.0 * y) + 0.4 * sin(11.0 * x - 7.0 * y)
    heights = relief * 0.5 * hills + 0.25 * size * np.maximum(np.maximum(abs(x), abs(y)) - 0.8, 0.0)
    scene.add_body("ground", kind="static", shape=HeightField(heights, size / cells), material=material)
    wedge = ConvexHull(
        [
            (-0.3, -0.2, -0.15),
            (0.3, -0.2, -0.15),
            (-0.3, 0.2, -0.15),
            (0.3, 0.2, -0.15),
            (-0.3, 0.0, 0.25),
            (0.3, 0.0, 0.25),
        ]
    )
    shapes = itertools.cycle([Box((0.3, 0.2, 0.15)), Sphere(0.22), Capsule(0.15, 0.25), Cylinder(0.22, 0.15), wedge])
    across = min(max(int(0.7 * size / 0.9), 1), int(np.ceil(np.sqrt(count))))
    turns = np.random.default_rng(1).uniform(-1.0, 1.0, (count, 4))
    turns /= lengths(turns)[:, None]
    for k, shape, turn in zip(range(count), shapes, turns):
        layer, place = divmod(k, across * across)
        row, column = divmod(place, across)
        scene.add_body(
            f"body{k}",
            shape=shape,
            material=material,
            orientation=turn,
            position=(0.9 * (row - (across - 1) / 2), 0.9 * (column - (across - 1) / 2), 0.9 * relief + 0.6 + 0.9 * layer),
        )
    return scene
