"""Balls that run: down a marble run, a mesh, and through the pins of a Galton board.

Lengths in m, densities in kg/m^3.
"""

import math
from typing import Annotated

import numpy as np

from mcsim.core.rotation import from_axes
from mcsim.core.trig import cos, sin
from mcsim.scene import Box, Cylinder, Material, Mesh, Motion, Plane, Scene, SliderJoint, Sphere
from mcsim.scene.checks import FieldError
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


@listed_scene
def galton_board(
    *,
    count: Annotated[int, Whole(5000)] = 200,
    rows: Annotated[int, Whole(30, 2)] = 8,
    lanes: Annotated[int, Whole(50)] = 8,
    radius: Positive = 0.12,
    swing: NonNegative = 0.25,
    damping: Positive = 4.0,
) -> Scene:
    """Balls fall through `rows` of pins into bins, left or right at each pin: the bins fill as the binomial has it.

    The pins are rods, `lanes` balls deep; the balls fall in as many columns, at the speed g / damping where the air's
    drag, `damping` [1/s], bears their weight. A ball that comes from the left tends to go on to the right, or in strong
    drag to turn back, so that a board at rest is far from the binomial. Here rows swing to and fro by `swing` pin
    distances, each at a rate of its own: a pin is on either side of a ball however that came, and the variance is near
    rows / 4. Bins are numbered by the rows that went to the right.
    """
    if swing >= 1.0:
        raise FieldError("swing", f"must be below 1, got {swing:g}: rows would swing into the walls")
    scene = Scene(name="galton_board")
    material = Material(friction=0.1)
    add_floor(scene, Material(friction=0.3))
    pitch, rod = 10 / 3 * radius, radius / 3
    layer, depth = pitch * math.sqrt(3) / 2, 2.5 * radius * lanes
    bins = radius * (4.0 + 1.2 * math.ceil(count / lanes))  # as high as half of all that come could need
    edge, top = (rows / 2 + 2.5) * pitch, bins + rows * layer + 4 * radius
    for name, side in (("front", -1.0), ("back", 1.0)):
        scene.add_body(name, kind="static", shape=Plane(normal=(0, -side, 0), offset=-depth / 2), material=material)
    walls = [Box((rod, depth / 2, top / 2), position=(side * (edge + rod), 0.0, top / 2)) for side in (-1.0, 1.0)]
    dividers = pitch * (np.arange(-rows, rows + 1) + (0.5 if rows % 2 == 0 else 0.0))
    low = (bins - radius / 2) / 2
    walls += [Box((rod / 2, depth / 2, low), position=(x, 0.0, low)) for x in dividers[abs(dividers) < edge - pitch / 4]]
    scene.add_body("bins", kind="static", shape=walls, material=material)

    along = from_axes((0.0, 1.0, 0.0))
    for row in range(rows):
        # A pin in the middle of the highest row is under the balls, and one of each row is between two of the next.
        places = pitch * (np.arange(-rows, rows + 1) + (0.5 if row % 2 else 0.0))
        places = places[abs(places) < edge - (0.35 + swing) * pitch]
        pins = [Cylinder(rod, depth / 2, position=(x, 0.0, 0.0), orientation=along) for x in places]
        # Rates and phases that never come together again: by the golden ratio and its sister in two dimensions.
        frequency = 0.7 * (1 + math.modf(0.6180339887498949 * row)[0])
        phase = 2 * math.pi * math.modf(0.7548776662466927 * row)[0]
        aside, height = swing * pitch * sin(phase), bins + (rows - row - 0.5) * layer
        scene.add_body(
            f"row{row}",
            shape=pins,
            density=7800.0,
            material=material,
            position=(aside, 0.0, height),
            velocity=(2 * math.pi * frequency * swing * pitch * cos(phase), 0.0, 0.0),
            collision_group=2,
            collision_mask=4,
        )
        motion = Motion(position=-aside, amplitude=swing * pitch, frequency=frequency, phase=phase)
        scene.add_joint(
            SliderJoint(None, f"row{row}", axis=(1, 0, 0), anchor=(aside, 0.0, height), name=f"shaker{row}", motion=motion)
        )

    for k in range(count):
        level, lane = divmod(k, lanes)
        # A little beside the middle, evenly to both sides.
        beside = 0.3 * radius * (math.modf(0.6180339887498949 * (k + 0.5))[0] - 0.5)
        height = top + 15.0 * radius * (level + math.modf(0.37 * lane)[0])
        scene.add_body(
            f"ball{k}",
            shape=Sphere(radius),
            density=500.0,
            material=material,
            position=(beside, 2.5 * radius * (lane - (lanes - 1) / 2), height),
            velocity=(0.0, 0.0, -9.81 / damping),
            linear_damping=damping,
            angular_damping=damping,
            collision_group=4,
        )
    return scene
