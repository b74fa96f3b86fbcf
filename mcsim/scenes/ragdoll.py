"""Ragdolls: a human of 16 segments with published masses and lengths, and the 11-body doll of the benchmarks.

Segment masses and lengths: P. de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of
Biomechanics 29 (1996) 1223-1230, table 4, males (mean stature 1.741 m, mean mass 73 kg). Widths and thicknesses are
ours, chosen so that each segment's density is near that of a body. Joint ranges are rounded from the usual clinical
ones (e.g. American Academy of Orthopaedic Surgeons: elbow 0-150 degrees, knee 0-135, ankle 20 up and 50 down).

A doll is described standing in its own frame: x ahead, y to its left, z up, the middle of the hips at the origin. It
falls as a person does, arms out, hips and knees a little bent: that pose is the middle of its joints' ranges.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from mcsim.core.linear import length
from mcsim.core.rotation import from_axes, multiply, normalized, rotate
from mcsim.core.trig import cos, sin
from mcsim.scene import BallJoint, Box, Capsule, HingeJoint, Material, Scene
from mcsim.scene.checks import Vector
from mcsim.scenes.poses import axis_angle
from mcsim.scenes.registry import NonNegative, Number, Positive, Whole, listed_scene
from mcsim.scenes.stacks import add_floor

STATURE, MASS = 1.741, 73.0  # of de Leva's males [m], [kg]

# Segment lengths [m] and masses as a fraction of the body's.
LENGTH = {
    "head": 0.2429,
    "upper_trunk": 0.2421,
    "mid_trunk": 0.2155,
    "lower_trunk": 0.1457,
    "upper_arm": 0.2817,
    "forearm": 0.2689,
    "hand": 0.1879,
    "thigh": 0.4222,
    "shank": 0.4340,
    "foot": 0.2581,
}
MASS_FRACTION = {
    "head": 0.0694,
    "upper_trunk": 0.1596,
    "mid_trunk": 0.1633,
    "lower_trunk": 0.1117,
    "upper_arm": 0.0271,
    "forearm": 0.0162,
    "hand": 0.0061,
    "thigh": 0.1416,
    "shank": 0.0433,
    "foot": 0.0137,
}

AT_REST = np.zeros(3)
SHOULDER_HEIGHT = 0.5155  # middle of the shoulders above the middle of the hips

AHEAD, LEFT, UP = np.eye(3)


@dataclass(frozen=True)
class Segment:
    """A body of the doll; lengths for STATURE, pose in the doll's frame."""

    name: str
    kind: str  # key of MASS_FRACTION
    shape: Box | Capsule
    position: np.ndarray
    orientation: np.ndarray


@dataclass(frozen=True)
class Joint:
    """A joint of the doll. A hinge where `limits` are given, else a ball with a cone about `axis` and a twist range."""

    name: str
    parent: str
    child: str
    anchor: np.ndarray
    axis: np.ndarray
    limits: tuple[Any, ...] | None = None
    swing: float = 0.0
    twist: float = 0.0


# The segments and joints of one.
Doll = tuple[list[Segment], list[Joint]]


def _limb(name: str, kind: str, start: np.ndarray, direction: np.ndarray, radius: float) -> tuple[Segment, np.ndarray]:
    """A capsule as long as the segment; answers with it and its far end."""
    length = LENGTH[kind]
    shape = Capsule(radius, length / 2 - radius)
    return Segment(name, kind, shape, start + length / 2 * direction, from_axes(direction)), start + length * direction


def _trunk() -> Doll:
    """Pelvis, belly, chest and head, upright on the z axis."""
    across = from_axes(LEFT)
    upright = from_axes(UP)
    waist = LENGTH["lower_trunk"]
    breast = waist + LENGTH["mid_trunk"]
    nape = breast + LENGTH["upper_trunk"]
    segments = [
        Segment("lower_trunk", "lower_trunk", Box((0.095, 0.15, waist / 2)), waist / 2 * UP, upright),
        Segment("mid_trunk", "mid_trunk", Capsule(LENGTH["mid_trunk"] / 2, 0.05), (waist + breast) / 2 * UP, across),
        Segment("upper_trunk", "upper_trunk", Capsule(LENGTH["upper_trunk"] / 2, 0.065), (breast + nape) / 2 * UP, across),
        Segment("head", "head", Capsule(0.09, LENGTH["head"] / 2 - 0.09), (nape + LENGTH["head"] / 2) * UP, upright),
    ]
    joints = [
        Joint("waist", "lower_trunk", "mid_trunk", waist * UP, UP, swing=0.45, twist=0.25),
        Joint("chest", "mid_trunk", "upper_trunk", breast * UP, UP, swing=0.35, twist=0.35),
        Joint("neck", "upper_trunk", "head", nape * UP, UP, swing=0.8, twist=1.2),
    ]
    return segments, joints


def _arm(side: str, y: int) -> Doll:
    """An arm, out and a little ahead; y is +1 for the left one."""
    shoulder = np.array([0.0, 0.19 * y, SHOULDER_HEIGHT])
    along = normalized(np.array([0.35, y, -0.45]))
    bend = 0.4
    hinge = normalized(np.cross(along, AHEAD + 0.3 * UP))  # turns the forearm ahead
    forward = rotate(axis_angle(hinge, bend), along)
    upper, elbow = _limb(f"{side}_upper_arm", "upper_arm", shoulder, along, 0.045)
    fore, wrist = _limb(f"{side}_forearm", "forearm", elbow, forward, 0.035)
    hand = Segment(
        f"{side}_hand",
        "hand",
        Box((0.018, 0.042, LENGTH["hand"] / 2)),
        wrist + LENGTH["hand"] / 2 * forward,
        from_axes(forward, hinge),
    )
    joints = [
        Joint(f"{side}_shoulder", "upper_trunk", upper.name, shoulder, along, swing=1.5, twist=1.2),
        Joint(f"{side}_elbow", upper.name, fore.name, elbow, hinge, limits=(-bend, 2.5 - bend)),
        Joint(f"{side}_wrist", fore.name, hand.name, wrist, forward, swing=1.0, twist=1.4),
    ]
    return [upper, fore, hand], joints


def _leg(side: str, y: int) -> Doll:
    """A leg, hip and knee a little bent."""
    hip = np.array([0.0, 0.09 * y, 0.0])
    down = normalized(np.array([0.5, 0.12 * y, -1.0]))
    bend = 0.7
    hinge = normalized(np.cross(down, -AHEAD))  # turns the shank back
    below = rotate(axis_angle(hinge, bend), down)
    thigh, knee = _limb(f"{side}_thigh", "thigh", hip, down, 0.075)
    shank, ankle = _limb(f"{side}_shank", "shank", knee, below, 0.048)
    toes = np.cross(below, hinge)  # at right angles to the shank, ahead
    foot = Segment(
        f"{side}_foot",
        "foot",
        Box((0.035, 0.045, LENGTH["foot"] / 2)),
        ankle + 0.035 * below + (LENGTH["foot"] / 2 - 0.06) * toes,
        from_axes(toes, below),
    )
    joints = [
        Joint(f"{side}_hip", "lower_trunk", thigh.name, hip, down, swing=0.85, twist=0.6),
        Joint(f"{side}_knee", thigh.name, shank.name, knee, hinge, limits=(-bend, 2.4 - bend)),
        Joint(f"{side}_ankle", shank.name, foot.name, ankle, hinge, limits=(-0.35, 0.87)),
    ]
    return [thigh, shank, foot], joints


def human() -> Doll:
    """The segments and joints of the 16-body human."""
    parts = [_trunk(), _arm("left", 1), _arm("right", -1), _leg("left", 1), _leg("right", -1)]
    return [s for segments, _ in parts for s in segments], [j for _, joints in parts for j in joints]


def simple_doll() -> Doll:
    """The 11-body doll: the human without hands and feet, belly and chest in one."""
    segments, joints = human()
    waist, nape = LENGTH["lower_trunk"], LENGTH["lower_trunk"] + LENGTH["mid_trunk"] + LENGTH["upper_trunk"]
    torso = Segment("torso", "torso", Box((0.11, 0.17, (nape - waist) / 2)), (waist + nape) / 2 * UP, from_axes(UP))
    renamed = {"lower_trunk": "pelvis", "mid_trunk": "torso", "upper_trunk": "torso"}
    gone = ("hand", "foot", "mid_trunk", "upper_trunk")
    segments = [replace(s, name=renamed.get(s.name, s.name)) for s in segments if s.kind not in gone]
    joints = [
        replace(j, parent=renamed.get(j.parent, j.parent), child=renamed.get(j.child, j.child))
        for j in joints
        if not j.name.endswith(("chest", "wrist", "ankle"))
    ]
    return [segments[0], torso, *segments[1:]], joints


def reach(segments: list[Segment]) -> float:
    """The radius about the hips' middle that no segment leaves [m]."""

    def bound(shape: Box | Capsule) -> float:
        return length(shape.half_extents) if isinstance(shape, Box) else shape.radius + shape.half_length

    return max(length(s.position) + bound(s.shape) for s in segments)


def add_doll(
    scene: Scene,
    name: str,
    doll: Doll,
    place: np.ndarray,
    orientation: np.ndarray,
    weight: Callable[[str], dict[str, Any]],
    *,
    size: float = 1.0,
    joint_friction: float = 0.0,
    limited: bool = True,
    speed: Vector = AT_REST,
    turn: Vector = AT_REST,
    **body: Any,
) -> None:
    """Adds a doll (segments, joints) with its hips at `place`.

    `weight` gives a segment's density or mass by its kind; `body` goes to every add_body. Joints have their ranges if
    `limited`. It moves as one piece: its hips at `speed`, turning at `turn`.
    """
    segments, joints = doll
    for s in segments:
        arm = size * rotate(orientation, s.position)
        scene.add_body(
            f"{name}.{s.name}",
            shape=_scaled(s.shape, size),
            position=place + arm,
            orientation=multiply(orientation, s.orientation),
            velocity=speed + np.cross(turn, arm),
            angular_velocity=turn,
            **weight(s.kind),
            **body,
        )
    for j in joints:
        a, b = f"{name}.{j.parent}", f"{name}.{j.child}"
        anchor, axis = place + size * rotate(orientation, j.anchor), rotate(orientation, j.axis)
        common: dict[str, Any] = {"anchor": anchor, "axis": axis, "name": f"{name}.{j.name}", "friction": joint_friction}
        if j.limits is not None:
            scene.add_joint(HingeJoint(a, b, limits=j.limits if limited else None, **common))
        else:
            ranges: dict[str, Any] = {"swing_limit": j.swing, "twist_limits": (-j.twist, j.twist)} if limited else {}
            scene.add_joint(BallJoint(a, b, **ranges, **common))


def _scaled(shape: Box | Capsule, size: float) -> Box | Capsule:
    if isinstance(shape, Box):
        return Box(size * np.asarray(shape.half_extents))
    return Capsule(size * shape.radius, size * shape.half_length)


def spread_orientation(k: int) -> np.ndarray:
    """The k-th of a sequence of rotations that fills all directions evenly: Shoemake's map of a recurrence."""
    # Powers of 1/g, where g^4 = g + 1: the golden ratio's sister in three dimensions.
    u, v, w = np.modf(0.5 + k * np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703]))[0]
    a, b = math.sqrt(1 - u), math.sqrt(u)
    return np.array(
        [b * cos(2 * math.pi * w), a * sin(2 * math.pi * v), a * cos(2 * math.pi * v), b * sin(2 * math.pi * w)]
    )


@listed_scene
def ragdolls(
    *,
    count: Annotated[int, Whole(2000)] = 25,
    drop: NonNegative = 0.5,
    stature: Positive = STATURE,
    mass: Positive = MASS,
    joint_friction: NonNegative = 2.0,
    friction: NonNegative = 0.6,
) -> Scene:
    """People of 16 segments fall on the floor, each turned differently.

    Masses and lengths after de Leva (1996), scaled to `stature` [m] and `mass` [kg]; joints have the ranges of a
    human's and a friction torque [N m] in place of muscle tone. Nobody starts lower than `drop` above the floor.
    """
    scene = Scene(name="ragdolls")
    material = Material(friction=friction)
    add_floor(scene, material)
    doll = human()
    size = stature / STATURE

    def weight(kind: str) -> dict[str, Any]:
        return {"mass": mass * MASS_FRACTION[kind]}

    radius = size * reach(doll[0])
    side = math.ceil(math.sqrt(count))
    for k in range(count):
        # Neighbours start at two heights: (1.5, 1.4) and (1.5 sqrt 2, 0) radii apart, so that nobody touches.
        column, row = k % side, k // side
        place = (
            radius
            * np.array([1.5 * (column - (side - 1) / 2), 1.5 * (row - (side - 1) / 2), 1.0 + 1.4 * ((column + row) % 2)])
            + drop * UP
        )
        add_doll(
            scene,
            f"human{k}",
            doll,
            place,
            spread_orientation(k),
            weight,
            size=size,
            joint_friction=joint_friction,
            material=material,
        )
    return scene


@listed_scene
def free_ragdoll(*, spin: Number = 3.0, speed: Number = 5.0) -> Scene:
    """A person of 16 segments in free flight, thrown up and spun, with joints that nothing limits.

    It is thrown up at `speed` [m/s] and turns at `spin` [rad/s] about a skew axis, as one piece at the start. Nothing
    touches: momentum changes by gravity alone, and energy not at all.
    """
    scene = Scene(name="free_ragdoll")
    weights = {kind: {"mass": MASS * fraction} for kind, fraction in MASS_FRACTION.items()}
    add_doll(
        scene,
        "human",
        human(),
        np.zeros(3),
        np.array([1.0, 0.0, 0.0, 0.0]),
        weights.__getitem__,
        limited=False,
        turn=spin * normalized(np.array([1.0, 2.0, 0.5])),
        speed=speed * UP,
        collision_mask=0,
    )
    return scene


@listed_scene
def ragdolls11(*, count: Annotated[int, Whole(5000)] = 64) -> Scene:
    """The benchmark's ragdolls: 11 bodies and 10 joints each, falling from 2 m, touching the floor only."""
    scene = Scene(name="ragdolls11")
    material = Material(friction=0.6, restitution=0.0)
    add_floor(scene, material)
    doll = simple_doll()
    side = math.ceil(math.sqrt(count))
    for k in range(count):
        place = np.array([1.6 * (k % side - (side - 1) / 2), 1.6 * (k // side - (side - 1) / 2), 2.0])
        add_doll(
            scene,
            f"doll{k}",
            doll,
            place,
            spread_orientation(k),
            lambda kind: {"density": 1000.0},
            material=material,
            collision_group=2,
            collision_mask=1,
        )
    return scene


@listed_scene
def ragdoll_stairs(
    *,
    count: Annotated[int, Whole(200)] = 6,
    steps: Annotated[int, Whole(100, 2)] = 14,
    rise: Positive = 0.25,
    tread: Positive = 0.3,
    push: NonNegative = 2.5,
    joint_friction: NonNegative = 1.0,
    friction: NonNegative = 0.4,
) -> Scene:
    """People of 16 segments are pushed off a landing and tumble down a staircase.

    They stand side by side, each turned differently, a little above the landing, and move towards the stairs at `push`
    [m/s]. What they lose in height goes into blows and friction: the energy of the whole only falls.
    """
    scene = Scene(name="ragdoll_stairs")
    material = Material(friction=friction)
    add_floor(scene, material)
    doll = human()
    radius = reach(doll[0])
    spacing = 1.8  # outstretched hands of neighbours, each turned differently, come by each other
    half_width = spacing * count / 2 + radius
    # Step k ends at x = -k tread, its top is at (k + 1) rise; they reach down to the floor. The last one is the landing.
    stairs = [
        Box((tread / 2, half_width, (k + 1) * rise / 2), position=(-(k + 0.5) * tread, 0.0, (k + 1) * rise / 2))
        for k in range(steps - 1)
    ]
    top = steps * rise
    stairs.append(Box((radius, half_width, top / 2), position=(-(steps - 1) * tread - radius, 0.0, top / 2)))
    scene.add_body("stairs", kind="static", shape=stairs, material=material)
    for k in range(count):
        place = np.array([-(steps - 1) * tread - 0.5 * radius, spacing * (k - (count - 1) / 2), top + radius])
        add_doll(
            scene,
            f"human{k}",
            doll,
            place,
            axis_angle(UP, 0.4 * sin(2.4 * k)),
            lambda kind: {"mass": MASS * MASS_FRACTION[kind]},
            joint_friction=joint_friction,
            speed=push * AHEAD,
            turn=1.5 * LEFT,
            material=material,
        )
    return scene
