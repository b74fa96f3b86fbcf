"""Bodies that stand on each other, or fall: stacks, walls, cards, an arch, dominoes, a wrecking ball, a tumbler.

Everything starts exactly touching. Lengths in m, angles in rad, densities in kg/m^3.
"""

import itertools
import math
from typing import Annotated

import numpy as np

from mcsim.core.rotation import from_axes, multiply, rotate
from mcsim.core.trig import arctan2, cos, sin, tan
from mcsim.scene import BallJoint, Box, Capsule, ConvexHull, Material, Plane, Scene, Sphere
from mcsim.scene.checks import FieldError
from mcsim.scenes.poses import axis_angle
from mcsim.scenes.registry import Between, NonNegative, Number, Positive, Whole, listed_scene

X, Y, Z = np.eye(3)


def add_floor(scene: Scene, material: Material | None = None) -> None:
    """The static plane z = 0, called floor."""
    scene.add_body("floor", kind="static", shape=Plane(normal=(0, 0, 1)), material=material)


@listed_scene
def stack(
    *,
    count: Annotated[int, Whole(1000)] = 15,
    size: Positive = 1.0,
    density: Positive = 1000.0,
    friction: NonNegative = 0.6,
) -> Scene:
    """Boxes on top of each other."""
    scene = Scene(name="stack")
    material = Material(friction=friction)
    add_floor(scene, material)
    for k in range(count):
        scene.add_body(
            f"box{k}", shape=Box((size / 2,) * 3), density=density, material=material, position=(0, 0, size * (k + 0.5))
        )
    return scene


@listed_scene
def wall(
    *,
    width: Annotated[int, Whole(200)] = 10,
    height: Annotated[int, Whole(200)] = 8,
    brick: Positive = 0.5,
    friction: NonNegative = 0.6,
) -> Scene:
    """A brick wall in running bond.

    Bricks are `brick` long, half as wide and high; every second row starts and ends with half a brick.
    """
    scene = Scene(name="wall")
    material = Material(friction=friction)
    add_floor(scene, material)
    _lay_bricks(scene, width, height, brick, np.array([-width * brick / 2, 0.0, 0.0]), X, 1500.0, material)
    return scene


def _lay_bricks(
    scene: Scene,
    width: int,
    height: int,
    brick: float,
    corner: np.ndarray,
    along: np.ndarray,
    density: float,
    material: Material,
) -> None:
    """A wall of bricks that starts at `corner` (the middle of its end face, on the ground) and runs along x or y."""
    thickness = brick / 2
    for row in range(height):
        # Where bricks begin and end in this row, in bricks.
        seams = np.arange(width + 1.0) if row % 2 == 0 else np.array([0.0, *np.arange(0.5, width), width])
        for k, (start, end) in enumerate(itertools.pairwise(seams)):
            half_length = (end - start) * brick / 2
            half = half_length * along + thickness / 2 * (1 - along)
            center = corner + (start + end) / 2 * brick * along + (row + 0.5) * thickness * Z
            scene.add_body(f"brick{row}_{k}", shape=Box(half), density=density, material=material, position=center)


@listed_scene
def dominoes(
    *,
    count: Annotated[int, Whole(2000, 2)] = 30,
    height: Positive = 0.8,
    turn: Annotated[float, Between(-5, 5)] = math.pi,
    spacing: Annotated[float, Between(0.3, 0.9)] = 0.5,
    friction: NonNegative = 0.3,
) -> Scene:
    """A row of dominoes, straight or on a curve; the first one is tipped.

    `spacing` is the distance between neighbours in heights, `turn` the angle through which the row bends. The first
    piece stands on its front edge, a little past the balance.
    """
    scene = Scene(name="dominoes")
    material = Material(friction=friction)
    add_floor(scene, material)
    half = height * np.array([0.06, 0.25, 0.5])
    headings = turn * np.arange(count) / (count - 1)
    middles = (headings[1:] + headings[:-1]) / 2
    steps = spacing * height * np.stack([cos(middles), sin(middles), 0 * middles], axis=1)
    places = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    places -= places.mean(axis=0)
    _stand_dominoes(scene, places, headings, half, material)
    return scene


def _stand_dominoes(scene: Scene, places: np.ndarray, headings: np.ndarray, half: np.ndarray, material: Material) -> None:
    """Pieces that face along `headings` at places on the ground; the first one stands on its front edge and tips."""
    for k, (place, heading) in enumerate(zip(places, headings, strict=True)):
        orientation = axis_angle(Z, heading)
        center = place + half * Z
        if k == 0:
            edge = place + rotate(orientation, half * X)  # the front edge on the ground
            tip = axis_angle(rotate(orientation, Y), arctan2(half[0], half[2]) + 0.06)
            center = edge + rotate(tip, center - edge)
            orientation = multiply(tip, orientation)
        scene.add_body(
            f"domino{k}", shape=Box(half), density=600.0, material=material, position=center, orientation=orientation
        )


@listed_scene
def domino_spiral(
    *,
    count: Annotated[int, Whole(2000, 10)] = 150,
    height: Positive = 0.8,
    spacing: Annotated[float, Between(0.3, 0.9)] = 0.5,
    pitch: Annotated[float, Between(0.8, 5)] = 1.2,
    friction: NonNegative = 0.3,
) -> Scene:
    """Dominoes along a spiral: the outermost one is tipped, and all fall, one after the other, towards the middle.

    `spacing` is the distance between neighbours and `pitch` that between turns, both in heights. The wave settles to a
    speed of the order of sqrt(g height) (W. J. Stronge, The domino effect, Proc. R. Soc. A 409, 1987). Fallen pieces lie
    on each other like shingles, arccos(0.12 / spacing) from the vertical: 0.12 is a piece's thickness in heights.
    """
    scene = Scene(name="domino_spiral")
    material = Material(friction=friction)
    add_floor(scene, material)
    half = height * np.array([0.06, 0.25, 0.5])
    # From the middle outwards, r = innermost + pitch angle / (2 pi), each piece one spacing further along it.
    innermost, growth = 2.0 * height, pitch * height / (2 * math.pi)
    angles = np.zeros(count)
    for k in range(1, count):
        # A step of half the spacing for the slope, then the whole one from there: the midpoint rule.
        r = innermost + growth * angles[k - 1]
        halfway = angles[k - 1] + spacing * height / 2 / math.hypot(r, growth)
        angles[k] = angles[k - 1] + spacing * height / math.hypot(innermost + growth * halfway, growth)
    angles = angles[::-1]
    radii = innermost + growth * angles
    places = np.stack([radii * cos(angles), radii * sin(angles), 0 * angles], axis=1)
    headings = angles - math.pi / 2 - arctan2(growth * np.ones(count), radii)  # inwards along the curve
    _stand_dominoes(scene, places, headings, half, material)
    return scene


@listed_scene
def card_tower(
    *,
    levels: Annotated[int, Whole(30)] = 3,
    card: Positive = 1.0,
    thickness: Positive = 0.02,
    lean: Annotated[float, Between(0.05, 0.6)] = 0.3,
    friction: NonNegative = 0.8,
) -> Scene:
    """A tower of cards: pairs lean against each other, cards lie across.

    `lean` is a card's angle from the vertical. A pair that carries a load holds where friction > tan(lean).
    Cards of length `card` lie from the top of one pair to the top of the next, edge to edge; on them stand the next
    pairs.
    """
    if thickness > 0.1 * card:
        raise FieldError("thickness", f"must be at most a tenth of card, got {thickness} of {card}")
    scene = Scene(name="card_tower")
    material = Material(friction=friction)
    add_floor(scene, material)
    sheet = Box((thickness / 2, 0.35 * card, card / 2))
    lying = Box((card / 2, 0.35 * card, thickness / 2))
    # A card turned by `lean` about y: its lower inner edge stands, its upper inner edge meets the partner's at x = 0,
    # its upper outer edge is the highest.
    c, s = cos(lean), sin(lean)
    reach = card / 2 * s + thickness / 2 * c  # centre to the meeting edge, along x
    rise = card / 2 * c + thickness / 2 * s  # centre to the standing edge, and to the top
    for level in range(levels):
        base = level * (2 * rise + thickness)
        pairs = levels - level
        first = -(pairs - 1) / 2 * card
        for k in range(pairs):
            for side, name in ((-1, "left"), (1, "right")):
                scene.add_body(
                    f"{name}{level}_{k}",
                    shape=sheet,
                    density=700.0,
                    material=material,
                    position=(first + k * card + side * reach, 0, base + rise),
                    orientation=axis_angle(Y, -side * lean),
                )
        for k in range(pairs - 1):
            scene.add_body(
                f"across{level}_{k}",
                shape=lying,
                density=700.0,
                material=material,
                position=(first + (k + 0.5) * card, 0, base + 2 * rise + thickness / 2),
            )
    return scene


@listed_scene
def arch(
    *,
    stones: Annotated[int, Whole(101, 3)] = 11,
    radius: Positive = 2.0,
    thickness: Positive = 0.5,
    width: Positive = 0.8,
    friction: NonNegative = 0.8,
) -> Scene:
    """A round arch of wedge-shaped stones that stands by friction and its weight.

    `radius` is the inner one. It can stand where thickness is more than about a ninth of the middle radius
    (0.1075, Heyman 1969).
    """
    scene = Scene(name="arch")
    material = Material(friction=friction)
    add_floor(scene, material)
    half_angle = math.pi / stones / 2
    middle = radius + thickness / 2
    corners = [
        (r * sin(a), y, r * cos(a) - middle)
        for r in (radius, radius + thickness)
        for a in (-half_angle, half_angle)
        for y in (-width / 2, width / 2)
    ]
    wedge = ConvexHull(corners)
    for k in range(stones):
        turn = axis_angle(Y, math.pi * ((k + 0.5) / stones - 0.5))  # from left to right over the top
        scene.add_body(
            f"stone{k}", shape=wedge, density=2400.0, material=material, orientation=turn, position=rotate(turn, middle * Z)
        )
    return scene


@listed_scene
def incline(
    *,
    angle: Annotated[float, Between(0, 1.5)] = 0.5,
    friction: NonNegative = 0.5,
    size: Positive = 0.5,
    speed: Number = 0.0,
) -> Scene:
    """A block on a slope: it stays where tan(angle) < friction.

    Both surfaces have the friction given; the block starts with `speed` down the slope.
    """
    scene = Scene(name="incline")
    material = Material(friction=friction)
    tilt = axis_angle(Y, angle)
    normal, downhill = rotate(tilt, Z), rotate(tilt, X)
    scene.add_body("slope", kind="static", shape=Plane(normal=normal), material=material)
    scene.add_body(
        "block",
        shape=Box((size, size, size / 2)),
        material=material,
        position=size / 2 * normal,
        orientation=tilt,
        velocity=speed * downhill,
    )
    return scene


@listed_scene
def wrecking_ball(
    *,
    links: Annotated[int, Whole(100)] = 8,
    radius: Positive = 0.5,
    angle: Annotated[float, Between(0, 1.5)] = 1.1,
    width: Annotated[int, Whole(60)] = 8,
    height: Annotated[int, Whole(60)] = 12,
) -> Scene:
    """A heavy ball on a chain swings into a brick wall.

    The chain starts straight, `angle` from the vertical; the ball passes just above the ground. It meets the wall nearly
    as fast as a rigid pendulum of the same parts, and breaks through where it hits.
    """
    scene = Scene(name="wrecking_ball")
    material = Material(friction=0.6)
    add_floor(scene, material)
    link, brick = 0.6, 0.5
    length = links * link + radius
    hook = np.array([0.0, 0.0, length + radius + 0.3])
    down = rotate(axis_angle(Y, angle), -Z)  # towards -x
    orientation = from_axes(down)
    previous = None
    for k in range(links):
        name = f"link{k}"
        scene.add_body(
            name,
            shape=Capsule(0.06, link / 2 - 0.06),
            density=7800.0,
            material=material,
            position=hook + (k + 0.5) * link * down,
            orientation=orientation,
        )
        scene.add_joint(BallJoint(previous, name, anchor=hook + k * link * down, name=f"shackle{k}"))
        previous = name
    scene.add_body("ball", shape=Sphere(radius), density=2000.0, material=material, position=hook + length * down)
    scene.add_joint(BallJoint(previous, "ball", anchor=hook + links * link * down, name="eye"))
    corner = np.array([radius + brick / 4 + 0.1, -width * brick / 2, 0.0])
    _lay_bricks(scene, width, height, brick, corner, Y, 500.0, material)
    return scene


@listed_scene
def tumbler(
    *,
    count: Annotated[int, Whole(5000)] = 60,
    sides: Annotated[int, Whole(48, 3)] = 8,
    radius: Positive = 2.0,
    depth: Positive = 1.6,
    speed: Number = 0.8,
) -> Scene:
    """A turning drum full of boxes, balls and capsules.

    The drum is one kinematic body with flat walls, `radius` from the axis (y); two static planes close it. What is in it
    is carried up on one side until it slides or rolls down; on average the torque of the drum is that of the weight.
    """
    scene = Scene(name="tumbler")
    height, thickness = radius * 1.3 + 0.2, 0.1
    half_side = radius * tan(math.pi / sides) + thickness
    walls = []
    for k in range(sides):
        turn = axis_angle(Y, 2 * math.pi * k / sides)
        walls.append(
            Box((half_side, depth / 2, thickness), position=rotate(turn, -(radius + thickness) * Z), orientation=turn)
        )
    scene.add_body("drum", kind="kinematic", shape=walls, position=(0, 0, height), angular_velocity=(0, speed, 0))
    for name, side in (("front", -1.0), ("back", 1.0)):
        scene.add_body(name, kind="static", shape=Plane(normal=(0, -side, 0), offset=-depth / 2))

    # A grid inside the drum: as many columns and rows as fit the square within the inner circle.
    kinds = (Box((0.13, 0.13, 0.13)), Sphere(0.15), Capsule(0.1, 0.1))
    pitch = 0.45
    across = int(1.4 * radius / pitch)
    deep = int(depth / pitch)
    if deep < 1 or count > across * across * deep:
        raise FieldError(
            "count",
            f"must be at most {across * across * deep} for a drum of radius {radius} and depth {depth}, got {count}",
        )
    for k in range(count):
        column, layer, row = k % across, k // across % deep, k // (across * deep)
        place = pitch * (np.array([column, layer, row]) - np.array([across - 1, deep - 1, across - 1]) / 2)
        scene.add_body(f"body{k}", shape=kinds[k % 3], position=place + height * Z)
    return scene
