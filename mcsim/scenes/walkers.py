"""Machines that stand and walk: Theo Jansen's linkage, a quadruped.

Lengths in m, angles in rad, densities in kg/m^3; x is ahead, y to the left.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from mcsim.core import linear
from mcsim.core.rotation import from_axes
from mcsim.core.trig import cos, sin
from mcsim.scene import Box, Capsule, HingeJoint, Material, Motor, Scene, Shape, Sphere, Spring
from mcsim.scenes.poses import meet
from mcsim.scenes.registry import Between, Flag, NonNegative, Number, Positive, Whole, listed_scene
from mcsim.scenes.stacks import add_floor

# Theo Jansen's lengths of his Strandbeest's leg, by the letters that he gave them (strandbeest.com, 2007).
JANSEN: dict[str, float] = dict(a=38.0, b=41.5, c=39.3, d=40.1, e=55.8, f=39.4, g=36.7, h=65.7, i=49.0, j=50.0, k=61.9)
JANSEN |= dict(l=7.8, m=15.0)
SIDEWAYS = (0.0, -1.0, 0.0)  # hinges turn counter-clockwise with x to the right and z up
THIN: dict[str, Any] = {"collision_group": 2, "collision_mask": 1}  # meets the floor alone


class Leg(NamedTuple):
    """The joints of a leg, (2,) points of the x-z plane about the crank's axle, as multiples of Jansen's unit."""

    pivot: np.ndarray  # on the frame
    pin: np.ndarray  # of the crank
    upper: np.ndarray  # of rod j and the upper triangle
    lower: np.ndarray  # of the rods k and c and the lower triangle
    hip: np.ndarray  # of the upper triangle and rod f
    knee: np.ndarray  # of rod f and the lower triangle
    foot: np.ndarray


def jansen_leg(angle: float, mirrored: bool = False) -> Leg:
    """Where the joints are when the crank stands at `angle` from x. The leg is behind the crank, or ahead, mirrored."""
    n = JANSEN
    if mirrored:
        return Leg(*(point * (-1.0, 1.0) for point in jansen_leg(math.pi - angle)))
    pivot, pin = np.array([-n["a"], -n["l"]]), n["m"] * np.array([cos(angle), sin(angle)])
    upper = meet(pivot, pin, n["b"], n["j"], 1)
    lower = meet(pivot, pin, n["c"], n["k"], -1)
    hip = meet(pivot, upper, n["d"], n["e"], 1)
    knee = meet(lower, hip, n["g"], n["f"], 1)
    return Leg(pivot, pin, upper, lower, hip, knee, meet(lower, knee, n["i"], n["h"], 1))


def _rods(corners: np.ndarray, radius: float, tip: bool) -> tuple[np.ndarray, list[Shape]]:
    """The middle of a rod between two points, or of three rods between three, and their shapes about it; the last point
    has a foot of that radius if `tip`."""
    middle = corners.mean(axis=0)
    shapes: list[Shape] = []
    for a, b in [(0, 1)] if len(corners) == 2 else [(0, 1), (1, 2), (2, 0)]:
        way = corners[b] - corners[a]
        long = linear.length(way)
        axes = from_axes(way / long)
        shapes.append(Capsule(0.6 * radius, long / 2, position=(corners[a] + corners[b]) / 2 - middle, orientation=axes))
    if tip:
        shapes.append(Sphere(radius, position=corners[-1] - middle))
    return middle, shapes


@listed_scene
def jansen_walker(
    *,
    pairs: Annotated[int, Whole(8)] = 3,
    unit: Positive = 0.01,
    speed: Number = 4.0,
    held: Flag = False,
    friction: NonNegative = 1.0,
) -> Scene:
    """A walker of Theo Jansen's linkages: one crank, which a motor turns, moves all legs.

    On each side `pairs` of legs at even phases hang on the pins of the crank, one leg of a pair behind it and one ahead.
    Each foot goes along a closed curve with a flat bottom, so that the frame glides; lengths are Jansen's numbers times
    `unit`. At a positive `speed` of the crank [rad/s] it walks ahead. Held, the frame hangs in the air.
    """
    scene = Scene(name="jansen_walker")
    material = Material(friction=friction)
    add_floor(scene, material)
    radius, gap = 1.5 * unit, 8.0 * unit
    phases = 2 * math.pi * np.arange(2 * pairs) / pairs + np.where(np.arange(2 * pairs) < pairs, 0.0, math.pi / pairs)
    beside = gap * (np.arange(2 * pairs) - pairs + 0.5)
    beside += np.where(beside > 0, gap, -gap)
    legs = [(k, mirrored, jansen_leg(phases[k], mirrored)) for k in range(2 * pairs) for mirrored in (False, True)]
    height = radius - unit * min(leg.foot[1] for _, _, leg in legs) + (30.0 * unit if held else 0.0)

    def place(point: np.ndarray, y: float) -> np.ndarray:
        return np.array([unit * point[0], y, height + unit * point[1]])

    def link(name: str, y: float, *points: np.ndarray, tip: bool = False) -> None:
        middle, shapes = _rods(np.array([place(point, y) for point in points]), radius, tip)
        scene.add_body(name, shape=shapes, density=600.0, material=material, position=middle, **THIN)

    def hinge(a: str, b: str, point: np.ndarray, y: float, name: str, motor: Motor | None = None) -> None:
        scene.add_joint(HingeJoint(a, b, anchor=place(point, y), axis=SIDEWAYS, name=name, motor=motor))

    long = beside[-1] + gap
    scene.add_body(
        "frame",
        kind="static" if held else "dynamic",
        shape=Box((40 * unit, gap, 3 * unit), position=(0.0, 0.0, -7.8 * unit)),
        density=600.0,
        position=(0.0, 0.0, height),
        **THIN,
    )
    centre = np.zeros(2)
    pins: list[Shape] = [Capsule(0.6 * radius, long, orientation=from_axes((0.0, 1.0, 0.0)))]
    for phase, y in zip(phases, beside, strict=True):
        way = np.array([cos(phase), 0.0, sin(phase)])
        half = JANSEN["m"] * unit / 2
        pins.append(Capsule(0.6 * radius, half, position=half * way + (0.0, y, 0.0), orientation=from_axes(way)))
    scene.add_body("crank", shape=pins, density=600.0, position=place(centre, 0.0), **THIN)
    hinge("frame", "crank", centre, 0.0, "drive", Motor(velocity=-speed, max_force=6e8 * unit * unit * unit * unit))

    for k, mirrored, leg in legs:
        y, name = beside[k], f"{'front' if mirrored else 'rear'}{k}"
        link(f"{name}.rod_j", y, leg.pin, leg.upper)
        link(f"{name}.rod_k", y, leg.pin, leg.lower)
        link(f"{name}.rod_c", y, leg.pivot, leg.lower)
        link(f"{name}.rod_f", y, leg.hip, leg.knee)
        link(f"{name}.thigh", y, leg.pivot, leg.upper, leg.hip)
        link(f"{name}.shank", y, leg.lower, leg.knee, leg.foot, tip=True)
        for a, b, at in (
            ("crank", "rod_j", "pin"),
            ("crank", "rod_k", "pin"),
            ("frame", "thigh", "pivot"),
            ("frame", "rod_c", "pivot"),
            ("rod_j", "thigh", "upper"),
            ("rod_k", "rod_c", "lower"),
            ("rod_c", "shank", "lower"),
            ("thigh", "rod_f", "hip"),
            ("rod_f", "shank", "knee"),
        ):
            first = a if a in ("crank", "frame") else f"{name}.{a}"
            hinge(first, f"{name}.{b}", getattr(leg, at), y, f"{name}.{at}_{a}_{b}")
    return scene


# Where a quadruped's legs hang: front and rear, left and right; ahead of the middle and to the left [m].
LEGS = {"FL": (0.2, 0.12), "FR": (0.2, -0.12), "RL": (-0.2, 0.12), "RR": (-0.2, -0.12)}


@listed_scene
def quadruped(
    *,
    stiffness: NonNegative = 300.0,
    damping: NonNegative = 8.0,
    bend: Annotated[float, Between(0, 1.2)] = 0.7,
    load: NonNegative = 0.0,
    drop: NonNegative = 0.05,
    friction: NonNegative = 0.8,
) -> Scene:
    """A robot dog of twelve hinges stands by PD control: each hinge has a spring about its angle in the stand.

    Thighs lean by `bend` and knees are bent by twice as much, so that the feet are under the hips; it starts in that pose,
    `drop` above the floor. A spring must yield to carry, by its torque over `stiffness` [N m/rad]. `load` is the mass of
    a box on its back [kg]. Without stiffness it sinks to the floor.
    """
    scene = Scene(name="quadruped")
    material = Material(friction=friction)
    add_floor(scene, material)
    thigh, shank, foot = 0.25, 0.2, 0.025
    # Hip, knee and foot of a leg in the x-z plane, from the hip.
    knee = -thigh * np.array([sin(bend), 0.0, cos(bend)])
    ankle = knee + shank * np.array([sin(bend), 0.0, -cos(bend)])
    height = foot - ankle[2] + drop
    scene.add_body("trunk", shape=Box((0.25, 0.12, 0.06)), mass=12.0, material=material, position=(0, 0, height))

    def rod(name: str, start: np.ndarray, end: np.ndarray, mass: float, tip: bool = False) -> None:
        way = end - start
        half = linear.length(way) / 2
        shapes: list[Shape] = [Capsule(0.02, half, orientation=from_axes(way / (2 * half)))]
        if tip:
            shapes.append(Sphere(foot, position=way / 2))
        scene.add_body(name, shape=shapes, mass=mass, material=material, position=(start + end) / 2)

    for leg, (x, y) in LEGS.items():
        side, hip = np.array([x, 1.4 * y, height]), np.array([x, 1.75 * y, height])
        scene.add_body(f"{leg}.hip", shape=Sphere(0.04), mass=0.6, material=material, position=side)
        rod(f"{leg}.thigh", hip, hip + knee, 1.0)
        rod(f"{leg}.shank", hip + knee, hip + ankle, 0.3, tip=True)
        for name, a, b, anchor, axis in (
            ("roll", "trunk", f"{leg}.hip", side, (1.0, 0.0, 0.0)),
            ("swing", f"{leg}.hip", f"{leg}.thigh", hip, (0.0, 1.0, 0.0)),
            ("knee", f"{leg}.thigh", f"{leg}.shank", hip + knee, (0.0, 1.0, 0.0)),
        ):
            spring = Spring(stiffness, damping) if stiffness or damping else None
            scene.add_joint(HingeJoint(a, b, anchor=anchor, axis=axis, name=f"{leg}.{name}", spring=spring))
    if load:
        box = Box((0.12, 0.1, 0.06))
        scene.add_body("load", shape=box, mass=load, material=material, position=(0.0, 0.0, height + 0.12))
    return scene
