"""Wheels with teeth: a train of gears, and a clock's escapement. Nothing but contact drives them.

All lie in the x-z plane and turn about -y, so that angles grow counter-clockwise with x to the right and z up. Lengths
in m, angles in rad, densities in kg/m^3.
"""

import math
from typing import Annotated

import numpy as np

from mcsim.core import linear
from mcsim.core.rotation import from_axes
from mcsim.core.trig import arccos, arctan2, cos, sin, tan
from mcsim.scene import Box, ConvexHull, Cylinder, HingeJoint, Material, Motor, Scene, Shape
from mcsim.scenes.poses import axis_angle
from mcsim.scenes.registry import Between, NonNegative, Number, Positive, Whole, listed_scene

AXIS = (0.0, -1.0, 0.0)
ALONG_Y = from_axes((0.0, 1.0, 0.0))
PRESSURE_ANGLE = math.radians(20)
BACKLASH = 0.04  # of a tooth's width, in modules


def _plate(points: np.ndarray, thickness: float) -> ConvexHull:
    """The hull of points (n, 2) of the x-z plane, as thick along y."""
    flat = np.stack([points[:, 0], 0 * points[:, 0], points[:, 1]], axis=1)
    side = np.array([0.0, thickness / 2, 0.0])
    return ConvexHull(np.concatenate([flat - side, flat + side]))


def _polar(radius: np.ndarray | float, angle: np.ndarray | float) -> np.ndarray:
    """(n, 2) points of the x-z plane."""
    return np.stack(np.broadcast_arrays(radius * cos(angle), radius * sin(angle)), axis=-1)


# ---- gears -----------------------------------------------------------------------------------------------------------


def _gear(teeth: int, module: float, thickness: float, phase: float) -> list[Shape]:
    """A disc and involute teeth of 20 degrees; a tooth points in the direction `phase`."""
    pitch = module * teeth / 2
    base = pitch * cos(PRESSURE_ANGLE)
    root, tip = pitch - 1.25 * module, pitch + module
    radii = np.linspace(max(root, base), tip, 4)
    turned = arccos(np.minimum(base / radii, 1.0))
    # Half the tooth's angle: at the pitch circle a quarter of the pitch, less half the backlash; elsewhere by inv(angle).
    at_pitch = math.pi / (2 * teeth) - BACKLASH / teeth
    half = at_pitch + (tan(PRESSURE_ANGLE) - PRESSURE_ANGLE) - (tan(turned) - turned)
    radii, half = np.concatenate([[0.98 * root], radii]), np.concatenate([half[:1], half])
    shapes: list[Shape] = [Cylinder(root, thickness / 2, orientation=ALONG_Y)]
    for k in range(teeth):
        middle = phase + 2 * math.pi * k / teeth
        profile = np.concatenate([_polar(radii, middle + half), _polar(radii, middle - half)])
        shapes.append(_plate(profile, thickness))
    return shapes


@listed_scene
def gear_train(
    *,
    first: Annotated[int, Whole(60, 17)] = 18,
    second: Annotated[int, Whole(60, 17)] = 24,
    third: Annotated[int, Whole(60, 17)] = 20,
    module: Positive = 0.05,
    speed: Number = 2.0,
    load: NonNegative = 20.0,
    friction: NonNegative = 0.1,
) -> Scene:
    """Three wheels with involute teeth: a motor turns the first one, a brake holds the last one back.

    The numbers are the teeth: the second wheel turns by -first / second and the third by first / third for each turn of
    the first. Teeth of this form keep the ratio at every moment, but for the chords of their flanks and their play.
    `module` is the pitch circle's diameter per tooth, `load` the brake's torque [N m]. They start at speed.
    """
    scene = Scene(name="gear_train", gravity=(0, 0, 0))
    material = Material(friction=friction)
    thickness, x, phase, before, turn = 2 * module, 0.0, 0.0, 0, speed
    # A wheel has a tooth where the one before has a gap: seen from the next axle, at pi.
    for name, teeth in (("first", first), ("second", second), ("third", third)):
        if before:
            x += module * (before + teeth) / 2
            # Where the angle 0 lies between two teeth of the wheel before, in its teeth; the wheels turn opposite ways.
            between = -phase * before / (2 * math.pi)
            phase = math.pi + 2 * math.pi * (0.5 - between) / teeth
        turn *= -before / teeth if before else 1.0
        scene.add_body(
            name,
            shape=_gear(teeth, module, thickness, phase),
            density=500.0,
            material=material,
            position=(x, 0, 0),
            angular_velocity=turn * np.asarray(AXIS),
        )
        motor = Motor(velocity=speed, max_force=50.0 * load + 100.0) if name == "first" else None
        scene.add_joint(
            HingeJoint(
                None, name, anchor=(x, 0, 0), axis=AXIS, name=f"{name}_axle", motor=motor, friction=load * (name == "third")
            )
        )
        before = teeth
    return scene


# ---- a clock ---------------------------------------------------------------------------------------------------------

RELEASE = 0.17  # a pallet's thickness, of the wheel's radius
LIFT, LOCK = 0.09, 0.02  # the angle of an impulse, and how much deeper than need be a pallet meets a tooth


def _pallet(arm: float, thickness: float, lower: float, side: int, drop: float) -> list[Shape]:
    """The working end of the anchor about its pivot: side -1 is where teeth come in, +1 where they go out.

    A tooth rests on the arc of radius `arm`, whichever way the anchor stands. When the corner of the arc passes, it slides
    over the slanted end, and off at the other corner. `lower` is the direction from the pivot to the tooth, below x;
    `drop` how far the tooth sinks by then, as an angle.
    """
    corner, off, back = -LIFT / 2 + LOCK, LIFT / 2 + LOCK + drop, -0.35
    far = arm + side * thickness
    pieces = np.linspace(back, corner, 5)
    shapes: list[Shape] = []
    for k in range(4):
        ends = pieces[k : k + 2]
        outline = [_polar(arm, ends), _polar(far, ends)]
        if k == 3:
            outline.append(_polar(far, np.array([off])))
        points = np.concatenate(outline)
        # Angles so far grow towards the wheel, from the arm's direction; put them where they are.
        angles = arctan2(points[:, 1], points[:, 0])
        radii = np.sqrt((points * points).sum(axis=1))
        below = lower + angles
        points = np.stack([side * radii * cos(below), -radii * sin(below)], axis=1)
        shapes.append(_plate(points, 0.05))
    return shapes


@listed_scene
def escapement(
    *,
    teeth: Annotated[int, Whole(14, 10)] = 12,
    radius: Annotated[float, Between(0.1, 0.36)] = 0.3,
    pendulum: Positive = 1.0,
    torque: Positive = 0.35,
    damping: NonNegative = 0.1,
    angle: Number = 0.1,
) -> Scene:
    """A clock: a pendulum lets a wheel that a weight would drive pass tooth by tooth, and is kept swinging by it.

    It is Graham's dead-beat escapement: teeth rest on arcs about the pendulum's pivot, so that they do not turn it, and
    push it a little when they slide off. One tooth passes in each full swing, whatever the torque [N m] of the wheel, and
    the period is about the pendulum's own. `pendulum` is its length, `damping` [1/s] the air's drag, `angle` its first.
    """
    scene = Scene(name="escapement")
    material = Material(friction=0.0)
    rim, span = 0.68 * radius, math.floor(teeth / 3.4) + 0.5  # how many teeth the anchor spans
    reach = span * math.pi / teeth  # from the vertical to where teeth meet the pallets, about the wheel's axle
    arm, height = radius * tan(reach), radius / cos(reach)
    shapes: list[Shape] = [Cylinder(rim, 0.01, orientation=ALONG_Y)]
    # A tooth is at the entry, and turns clockwise; its faces lie behind its tip.
    for k in range(teeth):
        tip = math.pi / 2 + reach + 2 * math.pi * k / teeth
        outline = [_polar(radius, tip + np.array([0.0, 0.012])), _polar(0.98 * rim, tip + np.array([0.05, 0.14]))]
        shapes.append(_plate(np.concatenate(outline), 0.03))
    wheel_at = np.array([0.0, 0.0, pendulum + 0.5])
    scene.add_body("wheel", shape=shapes, density=400.0, material=material, position=wheel_at)
    drive = Motor(velocity=-20.0, max_force=torque)
    scene.add_joint(HingeJoint(None, "wheel", anchor=wheel_at, axis=AXIS, name="arbor", motor=drive))

    pivot = wheel_at + (0.0, 0.0, height)
    drop = radius * RELEASE * RELEASE / 2 / arm
    parts: list[Shape] = []
    for side in (-1, 1):
        parts += _pallet(arm, RELEASE * radius, reach, side, drop)
        # An arm in front, from the pivot to behind the pallet.
        end = np.array([side * cos(reach - 0.3), -sin(reach - 0.3)]) * (arm + 0.5 * side * RELEASE * radius)
        parts.append(
            Box(
                (linear.length(end) / 2, 0.01, 0.02),
                position=(end[0] / 2, 0.05, end[1] / 2),
                orientation=axis_angle(AXIS, arctan2(float(end[1]), float(end[0]))),
            )
        )
    parts.append(Box((0.01, 0.01, pendulum / 2), position=(0.0, 0.1, -pendulum / 2)))
    parts.append(Cylinder(0.12, 0.02, position=(0.0, 0.1, -pendulum), orientation=ALONG_Y, density=5000.0))
    scene.add_body(
        "pendulum",
        shape=parts,
        density=400.0,
        material=material,
        position=pivot,
        orientation=axis_angle(AXIS, angle),
        linear_damping=damping,
        angular_damping=damping,
    )
    scene.add_joint(HingeJoint(None, "pendulum", anchor=pivot, axis=AXIS, name="pivot"))
    return scene
