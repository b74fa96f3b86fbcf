"""Mechanisms of the literature, with the data of their sources: what programs of multibody dynamics are compared on.

Their motions are known in closed form, from published digits, or from equations in few coordinates; the suite of
mcsim.lab.suites measures methods by them. Planar mechanisms lie in the x-z plane, where the sources mostly have x-y;
their hinges turn about -y. Lengths in m, masses in kg, angles in rad. Shapes are there to be seen and touch nothing.

The problems A01 to A05 are those of the library of computational benchmark problems of the IFToMM's committee for
multibody dynamics: M. González, D. Dopico, U. Lugrís, J. Cuadrado, A benchmarking system for MBS simulation software:
problem standardization and performance measurement, Multibody System Dynamics 16, 2006.
"""

import itertools
import math
from typing import Annotated

import numpy as np

from mcsim.core import linear
from mcsim.core.rotation import from_axes, from_matrix, rotate
from mcsim.core.trig import arctan2, cos, sin
from mcsim.scene import (
    BallJoint,
    Box,
    Capsule,
    Cylinder,
    DistanceJoint,
    HingeJoint,
    Scene,
    Shape,
    SliderJoint,
    Sphere,
    Spring,
)
from mcsim.scene.checks import FieldError
from mcsim.scenes.mechanisms import PLANAR_AXIS, TOUCHES_NOTHING
from mcsim.scenes.poses import axis_angle, meet, planar_direction, planar_normal
from mcsim.scenes.registry import Between, NonNegative, Number, Positive, Whole, listed_scene

ORIGIN = (0.0, 0.0, 0.0)
X, Y, Z = np.eye(3)


def _rod(start: np.ndarray, end: np.ndarray, radius: float) -> Capsule:
    """A capsule to be seen from one point to another."""
    way = end - start
    long = linear.length(way)
    return Capsule(radius, long / 2, position=(start + end) / 2, orientation=from_axes(way / long))


def _bar_inertia(mass: float, length: float, thickness: float) -> np.ndarray:
    """Principal moments of a bar of square section along its own x."""
    across = mass * (length * length + thickness * thickness) / 12
    return np.array([mass * thickness * thickness / 6, across, across])


def _slender_inertia(mass: float, length: float) -> np.ndarray:
    """Principal moments of a slender bar along its own x, about which it does not turn."""
    across = mass * length * length / 12
    return np.array([1e-3 * across, across, across])


# ---- A01 -------------------------------------------------------------------------------------------------------------


@listed_scene
def point_pendulum(
    *, length: Positive = 1.0, mass: Positive = 1.0, radius: Positive = 1e-3, angle: Number = math.pi / 2
) -> Scene:
    """A small heavy ball on a massless bar, released from the horizontal: problem A01 of the IFToMM library.

    The simple pendulum of M. González and others (2006): 1 kg at 1 m, at rest at the start. A body needs moments of
    inertia, so the point is a ball of `radius`: its moment about the hinge is by 2/5 (radius / length)^2 above the
    point's. `angle` is measured from hanging straight down, and the angle over time is an elliptic function.
    """
    scene = Scene(name="point_pendulum")
    orientation = axis_angle(PLANAR_AXIS, angle)
    scene.add_body(
        "bob",
        shape=[Sphere(max(radius, 0.04 * length)), _rod(np.zeros(3), length * Z, 0.01 * length)],
        mass=mass,
        inertia=[0.4 * mass * radius * radius] * 3,
        center_of_mass=ORIGIN,
        position=rotate(orientation, -length * Z),
        orientation=orientation,
        **TOUCHES_NOTHING,
    )
    scene.add_joint(HingeJoint(None, "bob", anchor=ORIGIN, axis=PLANAR_AXIS, name="pivot"))
    return scene


# ---- A02 -------------------------------------------------------------------------------------------------------------


@listed_scene
def four_bars(
    *, windows: Annotated[int, Whole(200)] = 40, length: Positive = 1.0, mass: Positive = 1.0, speed: Number = 1.0
) -> Scene:
    """A row of four-bar linkages that fall together and pass through singular poses: problem A02 of the IFToMM library.

    Bars of the same `length` and `mass` stand upright side by side, each a length from the next, with bars across their
    tops: 2 windows + 1 bars, one degree of freedom. The first one's top has the `speed` along x. Whenever all lie in one
    line, the mechanism could go on in 2^windows ways: the degrees of freedom are then windows + 1. E. Bayo, A. Avello,
    Singularity-free augmented Lagrangian algorithms for constrained multibody dynamics, 1994, for two windows;
    M. González and others, 2006, for 40.
    """
    scene = Scene(name="four_bars")
    thickness = 0.06 * length
    inertia = _slender_inertia(mass, length)
    shape = Box((length / 2, thickness / 2, thickness / 2))
    upright = axis_angle(PLANAR_AXIS, math.pi / 2)
    spin = speed / length * -np.asarray(PLANAR_AXIS)  # clockwise: the tops go along x
    bars = dict(mass=mass, inertia=inertia, shape=shape, **TOUCHES_NOTHING)
    for k in range(windows + 1):
        scene.add_body(
            f"bar{k}",
            position=length * (k * X + 0.5 * Z),
            orientation=upright,
            velocity=0.5 * speed * X,
            angular_velocity=spin,
            **bars,
        )
        scene.add_joint(HingeJoint(None, f"bar{k}", anchor=k * length * X, axis=PLANAR_AXIS, name=f"foot{k}"))
    for k in range(windows):
        scene.add_body(f"beam{k}", position=length * ((k + 0.5) * X + Z), velocity=speed * X, **bars)
        for side, name in enumerate(("left", "right")):
            top = length * ((k + side) * X + Z)
            scene.add_joint(HingeJoint(f"bar{k + side}", f"beam{k}", anchor=top, axis=PLANAR_AXIS, name=f"{name}{k}"))
    return scene


# ---- A03 -------------------------------------------------------------------------------------------------------------

# The crank's angle at the start [rad], at which all loops close with the crank and its rod in one line.
SQUEEZER_START = -0.0617138900142764496358948458001
# Points of the ground (x, z) [m]: of three hinges, and of the spring.
SQUEEZER_A, SQUEEZER_B, SQUEEZER_C = (
    np.array(point) for point in ((-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072))
)
# A torque that does not change is that of a spring so soft and so far wound up that it never slackens.
MAINSPRING = 1e-12  # N m/rad
# It gives up 5e-10 of its torque while the crank turns 2.5 times in the published 0.03 s. It is wound up by so much more
# [rad] that the crank is then where a torque that does not change has it: else it would be late by 8e-10 rad.
WOUND = 3.356


@listed_scene
def squeezer(*, torque: Number = 0.033, stiffness: NonNegative = 4530.0, rest: Positive = 0.07785) -> Scene:
    """Seven bodies on ten hinges in three loops, driven by a torque, fast and small: Andrews' squeezing mechanism.

    G. C. Andrews, M. K. Ormrod, Advent: a simulation program for constrained planar kinematic and dynamic systems, 1986;
    W. Schiehlen (ed.), Multibody Systems Handbook, 1990; data as in E. Hairer, G. Wanner, Solving Ordinary Differential
    Equations II, section VII.7, with the solution at 0.03 s; problem A03 of the IFToMM library. A constant `torque`
    [N m] turns the crank; a spring of `stiffness` [N/m] and length `rest` ties the triangular body to the ground. No
    gravity. Bodies are named K1 to K7 as there; hinges to the ground read angles from the start.
    """
    scene = Scene(name="squeezer", gravity=(0, 0, 0))
    a, b = SQUEEZER_A, SQUEEZER_B
    origin = np.zeros(2)
    pin = 0.007 * _flat(SQUEEZER_START)
    middle = meet(pin, b, 0.028, 0.035, 1)
    upper, lower = meet(a, middle, 0.04, 0.02, 1), meet(a, middle, 0.04, 0.02, -1)
    gamma, delta, epsilon = (_angle(middle - b) + math.pi / 2, _angle(upper - a), _angle(lower - a) + math.pi / 2)
    four, six = _angle(middle - upper) + math.pi / 2, _angle(middle - lower)
    hook = _from(b, gamma, 0.02, -0.018)
    for name, mass, moment, center, *corners in (
        ("K1", 0.04325, 2.194e-6, 0.00092 * _flat(SQUEEZER_START), origin, pin),
        ("K2", 0.00365, 4.410e-7, pin - 0.0115 * _flat(_angle(pin - middle)), pin, middle),
        ("K3", 0.02373, 5.255e-6, _from(b, gamma, 0.01043, -0.01874), b, middle, hook),
        ("K4", 0.00706, 5.667e-7, _from(upper, four, 0.0, -(0.02 - 0.01421)), upper, middle),
        ("K5", 0.07050, 1.169e-5, _from(a, delta, 0.02308, 0.00916), a, upper),
        ("K6", 0.00706, 5.667e-7, lower + (0.02 - 0.01421) * _flat(six), lower, middle),
        ("K7", 0.05498, 1.912e-5, _from(a, epsilon, -0.00449, -0.01228), a, lower),
    ):
        points = [_lifted(corner - center) for corner in corners]
        scene.add_body(
            name,
            shape=[_rod(p, q, 0.0012) for p, q in itertools.pairwise(points)],
            mass=mass,
            inertia=[moment] * 3,
            center_of_mass=ORIGIN,
            position=_lifted(center),
            **TOUCHES_NOTHING,
        )
    drive = Spring(MAINSPRING, rest=torque / MAINSPRING + WOUND)
    for joint, first, second, at in (
        ("beta", None, "K1", origin),
        ("pin", "K1", "K2", pin),
        ("gamma", None, "K3", b),
        ("delta", None, "K5", a),
        ("epsilon", None, "K7", a),
        ("upper", "K5", "K4", upper),
        ("lower", "K7", "K6", lower),
        ("middle23", "K2", "K3", middle),
        ("middle34", "K3", "K4", middle),
        ("middle46", "K4", "K6", middle),
    ):
        spring = drive if joint == "beta" else None
        scene.add_joint(HingeJoint(first, second, anchor=_lifted(at), axis=PLANAR_AXIS, name=joint, spring=spring))
    tie = Spring(stiffness)
    scene.add_joint(DistanceJoint(None, "K3", _lifted(SQUEEZER_C), _lifted(hook), length=rest, spring=tie, name="spring"))
    return scene


def _flat(angle: float) -> np.ndarray:
    """The unit vector (x, z) at an angle."""
    return planar_direction(angle)[[0, 2]]


def _angle(vector: np.ndarray) -> float:
    return float(arctan2(vector[1], vector[0]))


def _from(origin: np.ndarray, angle: float, x: float, z: float) -> np.ndarray:
    """The point (x, z) of axes at an angle about an origin."""
    return origin + x * _flat(angle) + z * planar_normal(angle)[[0, 2]]


def _lifted(point: np.ndarray) -> np.ndarray:
    """A point (x, z) in space."""
    return np.array([point[0], 0.0, point[1]])


# ---- A04 -------------------------------------------------------------------------------------------------------------


@listed_scene
def bricard(*, length: Positive = 1.0, mass: Positive = 1.0, thickness: Positive = 0.1) -> Scene:
    """Six hinges in a loop along the edges of a cube, which should be rigid and moves: problem A04 of the IFToMM library.

    R. Bricard, Mémoire sur la théorie de l'octaèdre articulé, 1897; M. González and others, 2006. Five bars and the
    ground lie at the start along six edges of a cube, each hinge at right angles to the two that it joins, and fall from
    rest. By Grübler's count there is no degree of freedom; there is one, and one row of the loop is redundant. The
    moments are those of bars of square section, of `thickness` 0.1 m as in L. Tagliapietra and others' model of it.
    """
    scene = Scene(name="bricard")
    corners = length * np.array([(0, 0, 0), (1, 0, 0), (1, 0, -1), (1, -1, -1), (0, -1, -1), (0, -1, 0)], float)
    ways = np.roll(corners, -1, axis=0) - corners
    for k in range(5):
        along = ways[k] / length
        scene.add_body(
            f"bar{k + 1}",
            shape=Box((length / 2, thickness / 2, thickness / 2)),
            mass=mass,
            inertia=_bar_inertia(mass, length, thickness),
            position=corners[k] + ways[k] / 2,
            orientation=_along(along, np.roll(np.abs(along), 1)),
            **TOUCHES_NOTHING,
        )
    for k in range(6):
        a, b = (None if i in (0, 6) else f"bar{i}" for i in (k, k + 1))
        axis = np.cross(ways[k - 1], ways[k]) / (length * length)
        scene.add_joint(HingeJoint(a, b, anchor=corners[k], axis=axis, name=f"hinge{k}"))
    return scene


def _along(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The orientation of who has these two unit vectors, at right angles, as axes."""
    return from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))


# ---- A05 -------------------------------------------------------------------------------------------------------------


@listed_scene
def governor(
    *,
    speed: Number = 2 * math.pi,
    slope: Annotated[float, Between(0, 1.5)] = math.pi / 6,
    ball: NonNegative = 5.0,
    stiffness: Positive = 8e5,
    damping: NonNegative = 4e4,
) -> Scene:
    """A shaft that spins swings two balls outward and lifts a ring by stiff springs: problem A05 of the IFToMM library.

    James Watt's flyball governor, whose coupling rods are springs with dampers here: M. González and others, 2006. Shaft
    and rods are 1 m long with a square section of 0.01 m, the ring is a cube of 0.1 m, all of 3000 kg/m^3; balls of
    `ball` kg, points, are at the rods' ends. Each rod hangs on the shaft's top 0.05 m from its axis, `slope` below the
    horizontal at the start, and its middle is tied to the ring by a spring of 0.5 m. `stiffness` in N/m, `damping` in
    N s/m. The dampers settle at a rate of thousands of 1/s, and the governor moves at some: a stiff problem.
    """
    scene = Scene(name="governor")
    density, side, long, thin, tie = 3000.0, 0.1, 1.0, 0.01, 0.5
    rod = density * long * thin * thin
    cube = density * side * side * side
    spin = speed * Z
    scene.add_body(
        "shaft",
        shape=Box((thin / 2, thin / 2, long / 2)),
        mass=rod,
        inertia=_bar_inertia(rod, long, thin)[::-1],
        position=long / 2 * Z,
        angular_velocity=spin,
        **TOUCHES_NOTHING,
    )
    middle = long - long / 2 * sin(slope)  # height of the rods' middles
    aside = long / 2 * cos(slope)
    if aside > tie:
        raise FieldError("slope", f"of {slope:.3g} rad puts the rods' middles out of the springs' reach")
    height = middle - math.sqrt(tie * tie - aside * aside)
    scene.add_body(
        "ring",
        shape=Box((side / 2,) * 3),
        mass=cube,
        inertia=[cube * side * side / 6] * 3,
        position=height * Z,
        angular_velocity=spin,
        **TOUCHES_NOTHING,
    )
    whole = rod + ball
    arm = (rod * long / 2 + ball * long) / whole  # of the centre of mass along a rod, from its hinge
    moments = _bar_inertia(rod, long, thin)
    of_rod, of_ball = arm - long / 2, long - arm
    moments[1:] += rod * of_rod * of_rod + ball * of_ball * of_ball
    scene.add_joint(HingeJoint(None, "shaft", anchor=ORIGIN, axis=Z, name="spin"))
    scene.add_joint(SliderJoint("shaft", "ring", axis=Z, anchor=height * Z, name="slide"))
    for name, sign in (("right", 1.0), ("left", -1.0)):
        along = sign * cos(slope) * X - sin(slope) * Z
        top = sign * side / 2 * X + long * Z
        center = top + arm * along
        shapes: list[Shape] = [Box((long / 2, thin / 2, thin / 2), position=(long / 2 - arm, 0.0, 0.0))]
        if ball > 0.0:
            shapes.append(Sphere(0.05, position=(long - arm, 0.0, 0.0)))
        scene.add_body(
            name,
            shape=shapes,
            mass=whole,
            inertia=moments,
            center_of_mass=ORIGIN,
            position=center,
            orientation=_along(along, Y),
            velocity=np.cross(spin, center),
            angular_velocity=spin,
            **TOUCHES_NOTHING,
        )
        scene.add_joint(HingeJoint("shaft", name, anchor=top, axis=-Y, name=f"{name}_hinge"))
        scene.add_joint(
            DistanceJoint(
                "ring",
                name,
                sign * side / 2 * X + height * Z,
                top + long / 2 * along,
                length=tie,
                spring=Spring(stiffness, damping),
                name=f"{name}_spring",
            )
        )
    return scene


# ---- a heavy top -----------------------------------------------------------------------------------------------------


@listed_scene
def heavy_top(
    *, spin: Number = 150.0, precession: Number = -4.61538, mass: Positive = 15.0, radius: Positive = 0.25
) -> Scene:
    """A fast disc on a light rod, held at one end with its axis level: the heavy top of Lie group integrators.

    O. Brüls, A. Cardona, On the use of Lie group time integrators in multibody dynamics, 2010; O. Brüls, A. Cardona,
    M. Arnold, Lie group generalized-α time integration of constrained flexible multibody systems, 2012. The centre of
    mass is 1 m from the fixed point along the axis, which is y at the start; moments are those of a thin disc of `mass`
    and `radius`: 0.234375, 0.46875 and 0.234375 kg m^2. The angular velocity at the start is `spin` about y and
    `precession` about z. That is not what steady precession would need, so the top goes round while it nods far down.
    """
    scene = Scene(name="heavy_top")
    across = mass * radius * radius / 4
    rate = np.array([0.0, spin, precession])
    to_y = from_axes(Y)
    scene.add_body(
        "top",
        shape=[Cylinder(radius, 0.02, orientation=to_y), _rod(-Y, np.zeros(3), 0.015)],
        mass=mass,
        inertia=[across, 2 * across, across],
        center_of_mass=ORIGIN,
        position=Y,
        velocity=np.cross(rate, Y),
        angular_velocity=rate,
        **TOUCHES_NOTHING,
    )
    scene.add_joint(BallJoint(None, "top", anchor=ORIGIN, name="tip"))
    return scene


# ---- a chain of bars -------------------------------------------------------------------------------------------------


@listed_scene
def planar_chain(*, count: Annotated[int, Whole(1000)] = 6, length: Positive = 1.0, mass: Positive = 1.0) -> Scene:
    """A chain of equal bars on hinges in a plane, released from the horizontal: an open chain of any length.

    The planar robots of R. Featherstone, Rigid Body Dynamics Algorithms, 2008, by whose size costs are told: `count`
    uniform slender bars, each on the end of the one before, here under gravity from the horizontal. Chaotic from a few
    bars on.
    """
    scene = Scene(name="planar_chain")
    thickness = 0.06 * length
    previous = None
    for k in range(count):
        scene.add_body(
            f"bar{k}",
            shape=Box((length / 2, thickness / 2, thickness / 2)),
            mass=mass,
            inertia=_slender_inertia(mass, length),
            position=(k + 0.5) * length * X,
            **TOUCHES_NOTHING,
        )
        scene.add_joint(HingeJoint(previous, f"bar{k}", anchor=k * length * X, axis=PLANAR_AXIS, name=f"hinge{k}"))
        previous = f"bar{k}"
    return scene
