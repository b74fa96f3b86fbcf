"""Mechanisms: pendulums, linkages, shafts, and two spinning bodies.

Planar mechanisms lie in the x-z plane. Their hinges turn about -y, so that angles grow counter-clockwise for someone
who looks along +y with x to the right and z up. Lengths in m, angles in rad, speeds in rad/s, densities in kg/m^3.
"""

import itertools
import math
from typing import Annotated, Any

import numpy as np

from mcsim.core import linear
from mcsim.core.rotation import conjugate, from_axes, rotate
from mcsim.core.trig import arccos, arcsin, arctan2, cos, sin
from mcsim.scene import (
    BallJoint,
    Box,
    Capsule,
    Cylinder,
    HingeJoint,
    Material,
    Motor,
    Plane,
    Scene,
    SliderJoint,
    Sphere,
    UniversalJoint,
)
from mcsim.scene.checks import SHORTEST_DIRECTION, FieldError, Vector
from mcsim.scene.mass import combined
from mcsim.scenes.poses import axis_angle, planar_direction, planar_normal
from mcsim.scenes.registry import Between, Flag, NonNegative, Number, Positive, Whole, listed_scene

PLANAR_AXIS = (0.0, -1.0, 0.0)
STEEL = 7800.0
# A body with this mask meets nothing: links of a mechanism pass in front of each other.
TOUCHES_NOTHING: dict[str, Any] = {"collision_mask": 0}


@listed_scene
def pendulum(
    *, length: Positive = 1.0, radius: Positive = 0.03, angle: Number = math.pi / 2, density: Positive = 1000.0
) -> Scene:
    """A rod on a hinge, released from an angle.

    The rod is a capsule whose axis is `length` long, hung by one end from the origin; `angle` is measured from hanging
    straight down. The hinge reads 0 at the start.
    """
    scene = Scene(name="pendulum")
    _hang_rod(scene, "rod", None, "pivot", (0.0, 0.0, 0.0), length, radius, angle, density)
    return scene


@listed_scene
def double_pendulum(
    *,
    length: Positive = 1.0,
    radius: Positive = 0.03,
    angle_1: Number = 2.0,
    angle_2: Number = 2.5,
    density: Positive = 1000.0,
) -> Scene:
    """Two rods on two hinges: the simplest chaotic mechanism.

    Both angles are measured from hanging straight down.
    """
    scene = Scene(name="double_pendulum")
    elbow = _hang_rod(scene, "upper", None, "shoulder", (0.0, 0.0, 0.0), length, radius, angle_1, density)
    _hang_rod(scene, "lower", "upper", "elbow", elbow, length, radius, angle_2, density)
    return scene


def _hang_rod(
    scene: Scene,
    name: str,
    parent: str | None,
    joint: str,
    pivot: Vector,
    length: float,
    radius: float,
    angle: float,
    density: float,
) -> np.ndarray:
    """Adds a capsule that hangs from `pivot` at `angle`; answers with the point at its free end."""
    orientation = axis_angle(PLANAR_AXIS, angle)
    end = np.asarray(pivot) + rotate(orientation, np.array((0.0, 0.0, -length)))
    scene.add_body(
        name,
        shape=Capsule(radius, length / 2),
        density=density,
        position=(np.asarray(pivot) + end) / 2,
        orientation=orientation,
        **TOUCHES_NOTHING,
    )
    scene.add_joint(HingeJoint(parent, name, anchor=pivot, axis=PLANAR_AXIS, name=joint))
    return end


@listed_scene
def bridge(
    *,
    planks: Annotated[int, Whole(1000)] = 20,
    plank_length: Positive = 0.5,
    width: Positive = 1.2,
    sag: Annotated[float, Between(0, 3)] = 0.8,
    crates: Annotated[int, Whole(100, 0)] = 3,
) -> Scene:
    """A sagging bridge of hinged planks with crates dropped on it.

    The planks lie on an arc that spans the angle `sag`; the ends hang on two static banks.
    """
    scene = Scene(name="bridge")
    thickness, gap = 0.08, 0.01
    slopes = sag * ((np.arange(planks) + 0.5) / planks - 0.5)
    steps = plank_length * np.stack([cos(slopes), np.zeros(planks), sin(slopes)], axis=1)
    ends = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    ends += (-ends[-1, 0] / 2, 0.0, 3.0)

    bank = Box((1.0, width / 2 + 0.3, 1.5))
    for side, end, outward in (("left_bank", ends[0], -1.0), ("right_bank", ends[-1], 1.0)):
        scene.add_body(side, kind="static", shape=bank, position=(end[0] + outward * (1.0 + gap), 0.0, end[2] - 1.5))
    names = [f"plank{k}" for k in range(planks)]
    plank = Box((plank_length / 2 - gap, width / 2, thickness / 2))
    for name, slope, a, b in zip(names, slopes, ends, ends[1:], strict=False):
        scene.add_body(name, shape=plank, density=600.0, position=(a + b) / 2, orientation=axis_angle(PLANAR_AXIS, slope))
    row = ["left_bank", *names, "right_bank"]
    for k, (a, b) in enumerate(itertools.pairwise(row)):
        scene.add_joint(HingeJoint(a, b, anchor=ends[k], axis=PLANAR_AXIS, name=f"hinge{k}"))

    spread = min(1.0, 0.6 * (ends[-1, 0] - ends[0, 0]) / max(crates, 1))
    for k in range(crates):
        scene.add_body(
            f"crate{k}",
            shape=Box((0.2, 0.2, 0.2)),
            density=300.0,
            position=((k - (crates - 1) / 2) * spread, 0.0, 4.0 + 0.5 * k),
        )
    return scene


@listed_scene
def cardan_shaft(
    *,
    bend: Annotated[float, Between(0, 1.4)] = 0.5,
    speed: Number = 6.0,
    middle_length: Positive = 1.0,
    in_phase: Flag = True,
    motor_torque: Positive = 1000.0,
) -> Scene:
    """Three shafts and two universal joints, driven by a motor at constant speed.

    Input and output shaft lie along x, the middle one leans by `bend`. It turns unevenly:
    w_middle / w_input = cos(bend) / (1 - sin(bend)^2 cos(phi)^2), where phi is the input fork's angle from the plane of
    the shafts. In phase the second joint undoes this and the output follows the input; out of phase it does it again.
    The shafts start at speed. With both outer shafts in hinges one row of the loop is redundant (a real shaft has a
    sliding spline there).
    """
    scene = Scene(name="cardan_shaft")
    radius, outer = 0.05, 0.6
    along = np.array([1.0, 0.0, 0.0])
    middle = np.array([cos(bend), 0.0, -sin(bend)])
    cross_1 = np.array([0.0, 0.0, 1.0])
    cross_2 = cross_1 + middle_length * middle
    if linear.length(cross_2 - cross_1) < SHORTEST_DIRECTION:
        raise FieldError("middle_length", f"of {middle_length:.3g} m leaves the middle shaft without a direction")
    side = np.array([0.0, 1.0, 0.0])
    upright = np.cross(middle, side)  # the middle shaft's fork at the first cross
    fork_2, out_fork = (upright, side) if in_phase else (side, np.array([0.0, 0.0, 1.0]))
    middle_speed = speed * cos(bend)
    out_speed = speed if in_phase else middle_speed * cos(bend)

    _add_shaft(scene, "input", cross_1 - outer * along, cross_1, radius, speed, forks={1: side})
    _add_shaft(scene, "middle", cross_1, cross_2, radius, middle_speed, forks={-1: upright, 1: fork_2})
    _add_shaft(scene, "output", cross_2, cross_2 + outer * along, radius, out_speed, forks={-1: out_fork})
    scene.add_joint(
        HingeJoint(
            None,
            "input",
            anchor=cross_1 - outer * along,
            axis=along,
            name="drive",
            motor=Motor(velocity=speed, max_force=motor_torque),
        )
    )
    scene.add_joint(UniversalJoint("input", "middle", anchor=cross_1, axis_a=side, axis_b=upright, name="cross_1"))
    scene.add_joint(UniversalJoint("middle", "output", anchor=cross_2, axis_a=fork_2, axis_b=out_fork, name="cross_2"))
    scene.add_joint(HingeJoint(None, "output", anchor=cross_2 + outer * along, axis=along, name="bearing"))
    return scene


def _add_shaft(
    scene: Scene, name: str, start: np.ndarray, end: np.ndarray, radius: float, speed: float, forks: dict[int, np.ndarray]
) -> None:
    """A steel shaft from `start` to `end` turning at `speed`; forks: end (-1 start, 1 end) -> direction of its bar."""
    axis = (end - start) / linear.length(end - start)
    half = linear.length(end - start) / 2
    orientation = from_axes(axis)
    inverse = conjugate(orientation)
    shapes = [Cylinder(radius, half - 2 * radius)]
    for which, direction in forks.items():
        bar = from_axes(rotate(inverse, direction))
        shapes.append(Cylinder(radius / 2, 3 * radius, position=(0.0, 0.0, which * (half - 1.5 * radius)), orientation=bar))
    scene.add_body(
        name,
        shape=shapes,
        density=STEEL,
        position=(start + end) / 2,
        orientation=orientation,
        angular_velocity=speed * axis,
        **TOUCHES_NOTHING,
    )


@listed_scene
def slider_crank(
    *,
    crank: Positive = 0.3,
    rod: Positive = 0.9,
    angle: Number = 0.5,
    speed: Number = 6.0,
    driven: Flag = True,
    motor_torque: Positive = 2000.0,
) -> Scene:
    """A crank that turns and drives a piston: three hinges and a slider in a loop.

    The crank turns about the origin and starts at `angle` from x with `speed`, the others at the speeds that follow
    (closed form in tests). Driven, a motor holds the speed; otherwise it runs freely.
    """
    if rod <= crank:
        raise FieldError("rod", f"must be longer than crank, got {rod} against {crank}")
    scene = Scene(name="slider_crank")
    lean = -arcsin(crank * sin(angle) / rod)
    lean_speed = -crank * cos(angle) * speed / (rod * cos(lean))
    pin = crank * planar_direction(angle)
    wrist = pin + rod * planar_direction(lean)
    pin_velocity = crank * speed * planar_normal(angle)
    wrist_velocity = pin_velocity + rod * lean_speed * planar_normal(lean)

    scene.add_body("bed", kind="static", shape=Box((0.5 * rod, 0.15, 0.03)), position=(rod, 0.0, -0.13), **TOUCHES_NOTHING)
    _add_bar(scene, "crank", (0.0, 0.0, 0.0), pin, 0.0, speed, pin_velocity / 2)
    _add_bar(scene, "rod", pin, wrist, -0.08, lean_speed, (pin_velocity + wrist_velocity) / 2)
    scene.add_body(
        "piston",
        shape=Box((0.12, 0.04, 0.1)),
        density=STEEL / 4,
        position=wrist,
        velocity=wrist_velocity,
        **TOUCHES_NOTHING,
    )
    motor = Motor(velocity=speed, max_force=motor_torque) if driven else None
    scene.add_joint(HingeJoint(None, "crank", anchor=(0, 0, 0), axis=PLANAR_AXIS, name="drive", motor=motor))
    scene.add_joint(HingeJoint("crank", "rod", anchor=pin, axis=PLANAR_AXIS, name="pin"))
    scene.add_joint(HingeJoint("rod", "piston", anchor=wrist, axis=PLANAR_AXIS, name="wrist"))
    scene.add_joint(SliderJoint(None, "piston", axis=(1, 0, 0), anchor=wrist, name="cylinder"))
    return scene


@listed_scene
def four_bar(
    *,
    ground: Positive = 1.1,
    crank: Positive = 0.4,
    coupler: Positive = 1.2,
    rocker: Positive = 0.9,
    angle: Number = 1.0,
    speed: Number = 4.0,
    driven: Flag = True,
    motor_torque: Positive = 2000.0,
) -> Scene:
    """A crank, a coupler and a rocker in a closed loop of four hinges.

    The crank turns about the origin, the rocker about (ground, 0, 0); the coupler lies on the upper branch.
    The default lengths let the crank turn fully (Grashof).
    """
    scene = Scene(name="four_bar")
    pin = crank * planar_direction(angle)
    pivot = np.array([ground, 0.0, 0.0])
    gap = pivot - pin
    distance = linear.length(gap)
    if not abs(coupler - rocker) < distance < coupler + rocker:
        raise FieldError(
            "",
            f"coupler {coupler} and rocker {rocker} cannot span the {distance:.4g} m between the "
            f"crank's pin and the rocker's pivot at angle {angle}; change a length or the angle",
        )
    # The triangle pin, pivot, joint: law of cosines at the pin.
    opening = arccos((coupler * coupler + distance * distance - rocker * rocker) / (2 * coupler * distance))
    lean = arctan2(gap[2], gap[0]) + opening
    joint = pin + coupler * planar_direction(lean)
    swing = arctan2(joint[2] - pivot[2], joint[0] - pivot[0])
    # Loop velocity: crank w n(angle) + coupler w' n(lean) = rocker w'' n(swing).
    pin_velocity = crank * speed * planar_normal(angle)
    system = np.stack([-coupler * planar_normal(lean), rocker * planar_normal(swing)], axis=1)[[0, 2]]
    lean_speed, swing_speed = linear.solve(system, pin_velocity[[0, 2]])
    joint_velocity = rocker * swing_speed * planar_normal(swing)

    _add_bar(scene, "crank", (0.0, 0.0, 0.0), pin, 0.0, speed, pin_velocity / 2)
    _add_bar(scene, "coupler", pin, joint, -0.08, lean_speed, (pin_velocity + joint_velocity) / 2)
    _add_bar(scene, "rocker", pivot, joint, 0.0, swing_speed, joint_velocity / 2)
    motor = Motor(velocity=speed, max_force=motor_torque) if driven else None
    scene.add_joint(HingeJoint(None, "crank", anchor=(0, 0, 0), axis=PLANAR_AXIS, name="drive", motor=motor))
    scene.add_joint(HingeJoint("crank", "coupler", anchor=pin, axis=PLANAR_AXIS, name="pin"))
    scene.add_joint(HingeJoint("coupler", "rocker", anchor=joint, axis=PLANAR_AXIS, name="elbow"))
    scene.add_joint(HingeJoint(None, "rocker", anchor=pivot, axis=PLANAR_AXIS, name="pivot"))
    return scene


def _add_bar(scene: Scene, name: str, start: Vector, end: Vector, offset: float, speed: float, velocity: Vector) -> None:
    """A flat bar between two points of the x-z plane, `offset` aside along y so that bars pass each other."""
    start, end = np.asarray(start), np.asarray(end)
    span = end - start
    angle = arctan2(span[2], span[0])
    scene.add_body(
        name,
        shape=Box((linear.length(span) / 2 + 0.03, 0.03, 0.04)),
        density=STEEL / 4,
        position=(start + end) / 2 + (0.0, offset, 0.0),
        orientation=axis_angle(PLANAR_AXIS, angle),
        velocity=velocity,
        angular_velocity=speed * np.asarray(PLANAR_AXIS),
        **TOUCHES_NOTHING,
    )


@listed_scene
def newton_cradle(
    *,
    balls: Annotated[int, Whole(100, 2)] = 5,
    lifted: Annotated[int, Whole(99)] = 1,
    radius: Positive = 0.1,
    length: Positive = 1.0,
    angle: Annotated[float, Between(0, 1.5)] = 0.7,
    gap: NonNegative = 0.0,
) -> Scene:
    """Steel balls hung in a row; some are lifted and released.

    Each ball turns about a hinge of its own, `length` above its centre; restitution 1, no friction.
    """
    if lifted >= balls:
        raise FieldError("lifted", f"must be below balls, got {lifted} of {balls}")
    scene = Scene(name="newton_cradle")
    steel = Material(friction=0.0, restitution=1.0)
    for k in range(balls):
        anchor = np.array([(k - (balls - 1) / 2) * (2 * radius + gap), 0.0, length + 0.5])
        orientation = axis_angle(PLANAR_AXIS, -angle if k < lifted else 0.0)
        scene.add_body(
            f"ball{k}",
            shape=Sphere(radius),
            density=STEEL,
            material=steel,
            orientation=orientation,
            position=anchor + rotate(orientation, np.array((0.0, 0.0, -length))),
        )
        scene.add_joint(HingeJoint(None, f"ball{k}", anchor=anchor, axis=PLANAR_AXIS, name=f"hanger{k}"))
    return scene


@listed_scene
def spinning_top(
    *,
    spin: Number = 120.0,
    tilt: Annotated[float, Between(0, 1.5)] = 0.4,
    height: Positive = 0.1,
    radius: Positive = 0.06,
    steady: Flag = True,
) -> Scene:
    """A fast top on its tip, in steady precession.

    `height` is that of the disc above the tip, `spin` its angular velocity along its axis [rad/s]. Steady precession W
    solves  A cos(tilt) W^2 - C spin W + m g l = 0  with the moments A (across) and C (along the axis) about the tip,
    l the height of the centre of mass (Goldstein, Classical Mechanics, 5.7); the slow root is taken. Not steady, the
    top starts with its spin alone and nods.
    """
    scene = Scene(name="spinning_top")
    axis = np.array([sin(tilt), 0.0, cos(tilt)])
    density = STEEL / 3
    half_stem = 0.7 * height
    shapes = [
        Cylinder(radius, height / 10, position=(0, 0, height)),
        Capsule(height / 16, half_stem, position=(0, 0, half_stem + height / 16)),
    ]
    top = combined([shape.mass_properties(density) for shape in shapes])
    arm = top.center[2]
    across = top.inertia[0, 0] + top.mass * arm * arm
    along = top.inertia[2, 2]
    spin_rate = spin * axis
    if steady:
        a, b, c = across * cos(tilt), along * spin, 9.81 * top.mass * arm
        if b * b < 4 * a * c:
            raise FieldError(
                "spin",
                f"must be at least {2 * math.sqrt(a * c) / along:.4g} in size for steady "
                f"precession at this tilt, got {spin}; or set steady=false",
            )
        precession = 2 * c / (b + math.copysign(math.sqrt(b * b - 4 * a * c), b))
        spin_rate = precession * np.array([0.0, 0.0, 1.0]) + (spin - precession * cos(tilt)) * axis
    scene.add_body("floor", kind="static", shape=Plane((0, 0, 1)), **TOUCHES_NOTHING)
    scene.add_body(
        "top",
        shape=shapes,
        density=density,
        orientation=from_axes(axis),
        angular_velocity=spin_rate,
        velocity=np.cross(spin_rate, arm * axis),
        **TOUCHES_NOTHING,
    )
    scene.add_joint(BallJoint(None, "top", anchor=(0, 0, 0), name="tip"))
    return scene


@listed_scene
def dzhanibekov(*, spin: Number = 6.0, disturbance: Number = 0.02) -> Scene:
    """A T-handle in free flight: spun about its middle axis, it flips over and over.

    Bar along y, stem along x; it spins about the stem with a small part `disturbance` of the spin about the others.
    No gravity, nothing to touch.
    """
    scene = Scene(name="dzhanibekov", gravity=(0, 0, 0))
    stem = Cylinder(0.04, 0.15, position=(0.19, 0, 0), orientation=from_axes((1.0, 0.0, 0.0)))
    bar = Cylinder(0.04, 0.3, orientation=from_axes((0.0, 1.0, 0.0)))
    scene.add_body(
        "handle", shape=[bar, stem], density=STEEL, angular_velocity=(spin, disturbance * spin, disturbance * spin)
    )
    return scene
