"""Balls that run: down a marble run, a mesh.

Lengths in m, densities in kg/m^3.
"""

import math
from typing import Annotated

import numpy as np

from mcsim.core.trig import cos, sin
from mcsim.scene import Box, Material, Mesh, Scene, Sphere
from mcsim.scenes.registry import NonNegative, Positive, Whole, listed_scene
from mcsim.scenes.stacks import add_floor


@listed_scene
def marble_run(
    *,
    count: Annotated[int, Whole(200)] = 16,
    turns: Annotated[int, Whole(10)] = 2,
    radius: Positive = 0.05,
    friction: NonNegative = 0.4,
    cells: Annotated[int, Whole(1000, 24)] = 120,
) -> Scene:
    """Marbles run down a straight gutter, then round and round a screw of it, into a tray.

    The gutter is a mesh, `cells` pieces a turn, with a flat bottom one seventh of its arc wide; it falls by a tenth of
    its length. On the straight part a marble rolls with 5/7 g sin(slope); in the turns it climbs the outer side. Each of
    the gutter's edges costs some of its speed, so that it reaches the end slower than sqrt(10/7 g height).
    """
    scene = Scene(name="marble_run")
    material = Material(friction=friction)
    add_floor(scene, Material(friction=friction, rolling_friction=0.05 * radius))
    fall, gutter, bend = 0.1, 3.0 * radius, 20.0 * radius
    straight = 3.0 * radius * (count + 8)
    step = 2 * math.pi * bend / cells
    # The middle of the bottom: straight along x to the origin, round the screw, straight again.
    ahead = np.linspace(-straight, 0.0, max(round(straight / step), 2) + 1)[:-1]
    angles = 2 * math.pi / cells * np.arange(turns * cells + 1)
    after = step * np.arange(1, cells // 8)
    way = np.concatenate([ahead, bend * angles, bend * angles[-1] + after])
    heading = np.concatenate([0 * ahead, angles, angles[-1] + 0 * after])
    x = np.concatenate([ahead, bend * sin(angles), after])
    y = np.concatenate([0 * ahead, bend * (1 - cos(angles)), 0 * after])
    z = 4 * radius + fall * (way[-1] - way)
    round_it = math.pi * 1.15 * (np.arange(8) / 7 - 0.5)  # 7 pieces: the middle one is flat
    outward, up = gutter * sin(round_it), gutter * (1.0 - cos(round_it))
    vertices = np.stack(
        [
            x[:, None] + sin(heading)[:, None] * outward,
            y[:, None] - cos(heading)[:, None] * outward,
            z[:, None] + up,
        ],
        axis=2,
    ).reshape(-1, 3)
    corner = (8 * np.arange(len(way) - 1)[:, None] + np.arange(7)).ravel()
    faces = np.stack([corner, corner + 8, corner + 9, corner, corner + 9, corner + 1], axis=1).reshape(-1, 3)
    scene.add_body("gutter", kind="static", shape=Mesh(vertices, faces), material=material)

    # They fly into the tray from the gutter's end, as far as its far wall, which is higher.
    end, long, half, low, high = x[-1], 30 * radius, 10 * radius, 2 * radius, 8 * radius
    walls = [
        Box((0.05, half, high / 2), position=(end + long + 0.05, 0, high / 2)),
        Box((0.05, half, low / 2), position=(end - 0.05, 0, low / 2)),
    ]
    walls += [
        Box((long / 2 + 0.1, 0.05, high / 2), position=(end + long / 2, y * (half + 0.05), high / 2)) for y in (-1, 1)
    ]
    scene.add_body("tray", kind="static", shape=walls, material=material)
    bottom = gutter * (1.0 - cos(round_it[4]))
    steep = math.sqrt(1.0 + fall * fall)
    for k in range(count):
        at = -3.0 * radius * (k + 1)
        height = 4 * radius + fall * (way[-1] - at) + bottom + radius * steep
        scene.add_body(f"marble{k}", shape=Sphere(radius), density=2500.0, material=material, position=(at, 0.0, height))
    return scene
