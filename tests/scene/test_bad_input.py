"""What is described wrongly is refused with one line that says where and what; and a refusal changes nothing."""

import copy
import json
import math
import subprocess
import sys
import traceback

import numpy as np
import pytest

import mcsim.scene as mc
from mcsim.core.errors import SceneError

NAN, INF = math.nan, math.inf
BALL = mc.Sphere(1.0)
AT = (0, 0, 0)
UP = (0, 0, 1)


def scene():
    result = mc.Scene()
    result.add_body("floor", shape=mc.Plane(UP), kind="static")
    result.add_body("lift", shape=BALL, kind="kinematic")
    result.add_body("link", shape=BALL)
    result.add_body("hand", shape=BALL)
    result.add_joint(mc.FixedJoint(None, "link", name="weld"))
    return result


def body(**arguments):
    return lambda s: s.add_body("new", **{"shape": BALL} | arguments)


def hinge(a="link", b="hand", *args, **arguments):
    return lambda s: s.add_joint(mc.HingeJoint(a, b, *(args or (AT, UP)), **arguments))


def ball(**arguments):
    return lambda s: s.add_joint(mc.BallJoint("link", "hand", AT, **arguments))


def universal(axis_a=UP, axis_b=(1, 0, 0), **arguments):
    return lambda s: s.add_joint(mc.UniversalJoint("link", "hand", AT, axis_a, axis_b, **arguments))


FRAME = ((0, 0, 0), (1, 0, 0, 0))

CALLS = [
    # shapes
    (lambda s: mc.Sphere(0), "Sphere: radius must be positive, got 0"),
    (lambda s: mc.Sphere(-1.5), "radius must be positive, got -1.5"),
    (lambda s: mc.Sphere(NAN), "radius must be finite, got nan"),
    (lambda s: mc.Sphere(INF), "radius must be finite, got inf"),
    (lambda s: mc.Sphere(10**400), "radius must be finite"),
    (lambda s: mc.Sphere("1"), "radius must be a number, got '1'"),
    (lambda s: mc.Sphere(True), "radius must be a number, got True"),
    (lambda s: mc.Sphere(None), "radius must be a number, got None"),
    (lambda s: mc.Sphere(1j), "radius must be a number, got 1j"),
    (lambda s: mc.Box((1, 2)), "Box: half_extents must be 3 numbers, got 2"),
    (lambda s: mc.Box(1), "half_extents must be 3 numbers, got 1"),
    (lambda s: mc.Box("abc"), "half_extents must be 3 numbers, got 'abc'"),
    (lambda s: mc.Box((1, "2", 3)), "half_extents[1] must be a number, got '2'"),
    (lambda s: mc.Box((1, -2, 3)), "half_extents[1] must be positive"),
    (lambda s: mc.Box({1, 2, 3}), "half_extents must be 3 numbers"),
    (lambda s: mc.Box(np.array(1.0)), "half_extents must be 3 numbers"),
    (lambda s: mc.Box(np.ones((3, 3))), "half_extents[0] must be a number"),
    (lambda s: mc.Capsule(1, -1), "Capsule: half_length must not be negative"),
    (lambda s: mc.Cylinder(1, 0), "Cylinder: half_length must be positive"),
    (lambda s: mc.Plane((0, 0, 0)), "Plane: normal must not be zero"),
    (lambda s: mc.Plane(UP, offset=NAN), "offset must be finite"),
    (lambda s: mc.ConvexHull([[0, 0, 0]] * 3), "ConvexHull: points must be at least 4"),
    (lambda s: mc.ConvexHull(7), "points must be a list of points"),
    (lambda s: mc.ConvexHull(np.eye(4)), "points[0] must be 3 numbers, got 4"),
    (lambda s: mc.Sphere(1, position=(0, 0)), "position must be 3 numbers, got 2"),
    (lambda s: mc.Sphere(1, orientation=(1, 0, 0)), "orientation must be 4 numbers"),
    (
        lambda s: mc.Sphere(1, orientation=(1, 1, 0, 0)),
        "must be a unit quaternion (w, x, y, z), got (1, 1, 0, 0) of length 1.41",
    ),
    (lambda s: mc.Sphere(1, material="rubber"), "material must be a Material, got 'rubber'"),
    (lambda s: mc.Sphere(1, density=0), "density must be positive"),
    (lambda s: mc.Material(friction=-0.1), "Material: friction must not be negative"),
    (lambda s: mc.Material(friction=INF), "friction must be finite"),
    (lambda s: mc.Material(restitution=1.1), "restitution must be in [0, 1], got 1.1"),
    # bodies
    (lambda s: s.add_body("link", shape=BALL), "body: name 'link' is taken by another body"),
    (lambda s: s.add_body(3, shape=BALL), "body: name must be a string, got 3"),
    (lambda s: s.add_body("", shape=BALL), "body: name must not be empty"),
    (body(kind="moving"), "body 'new': kind must be one of: static, kinematic, dynamic; got 'moving'"),
    (body(kind=["static"]), "kind must be one of"),
    (body(shape=None), "body 'new' is dynamic and has no shape, so it needs mass and inertia"),
    (body(shape=[]), "has no shape, so it needs mass and inertia"),
    (body(shape=None, mass=1), "needs mass and inertia"),
    (body(shape=3), "shape must be a shape or a list of shapes, got 3"),
    (body(shape=[BALL, "ball"]), "shapes[1] must be a shape such as Box or Sphere, got 'ball'"),
    (body(shape=mc.Sphere), "shape must be a shape or a list"),
    (body(shape=mc.Plane(UP)), "shapes[0] is a Plane, which only a static body may have, this one is dynamic"),
    (body(shape=[BALL, mc.Plane(UP)], kind="kinematic"), "shapes[1] is a Plane"),
    (body(position=(0, 0, NAN)), "body 'new': position[2] must be finite, got nan"),
    (body(position=None), "position must be 3 numbers, got None"),
    (body(orientation=(0, 0, 0, 0)), "orientation must be a unit quaternion"),
    (body(orientation=(1.00001, 0, 0, 0)), "divide it by its length"),
    (body(velocity=(1, 2, 3, 4)), "velocity must be 3 numbers, got 4"),
    (body(kind="static", velocity=(1, 0, 0)), "velocity must be zero for a static body"),
    (body(kind="static", angular_velocity=(0, 0, 1)), "angular_velocity must be zero for a static body"),
    (body(mass=0), "mass must be positive, got 0"),
    (body(mass=-1), "mass must be positive, got -1"),
    (body(mass="1 kg"), "mass must be a number, got '1 kg'"),
    (body(density=-1), "density must be positive"),
    (body(density=1, mass=1), "body 'new' takes density or mass, not both"),
    (body(inertia=(1, 1, 1)), "inertia needs mass as well"),
    (body(center_of_mass=(0, 0, 0)), "center_of_mass needs mass and inertia as well"),
    (body(mass=1, center_of_mass=(0, 0, 0)), "center_of_mass needs mass and inertia as well"),
    (body(mass=1, inertia=(1, 1, 3)), "inertia breaks the triangle inequality"),
    (body(mass=1, inertia=(1, 1, 0)), "inertia must be positive definite"),
    (body(mass=1, inertia=(1, 1)), "inertia must be 3 numbers or 3 rows of 3"),
    (body(mass=1, inertia=5), "inertia must be 3 numbers or 3 rows of 3"),
    (body(mass=1, inertia=[[1, 0, 0], [0, 1, 0], [0, 0]]), "inertia[2] must be 3 numbers"),
    (body(mass=1, inertia=[[1, 0, 0], [0, 1, 0], [0.1, 0, 1]]), "inertia must be symmetric"),
    (body(mass=1, inertia=[[1, 0, 0], 1, 1]), "inertia[1] must be 3 numbers"),
    (body(mass=1, inertia=[1, [1, 0, 0], 1]), "inertia[1] must be a number"),
    (body(mass=1, inertia=[[1, 2, 0], [2, 1, 0], [0, 0, 1]]), "positive definite"),
    (body(mass=1e-320), "mass comes to 0, out of [1e-100, 1e+100]"),
    (body(mass=1, inertia=(1e-200, 1e-200, 1e-200)), "inertia comes to 1e-200"),
    (body(shape=mc.Sphere(1e-200)), "shape is so large, so small or so far away"),
    (body(shape=mc.Sphere(1e200)), "shape is so large, so small or so far away"),
    (body(shape=[BALL, mc.Sphere(1, position=(1e200, 0, 0))]), "shape is so large, so small or so far away"),
    (body(shape=mc.Sphere(1e-60)), "check sizes and units"),
    (body(material=0.5), "material must be a Material, got 0.5"),
    (body(collision_group=1.0), "collision_group must be an integer, got 1.0"),
    (body(collision_group=True), "collision_group must be an integer, got True"),
    (body(collision_mask=2**32 - 1), "collision_mask must fit in 32 bits (-2**31 to 2**31 - 1, -1 for all bits)"),
    (body(gravity_scale=NAN), "gravity_scale must be finite"),
    (body(linear_damping=-1), "linear_damping must not be negative"),
    (body(angular_damping=-1), "angular_damping must not be negative"),
    (body(bullet=1), "bullet must be True or False, got 1"),
    # scene
    (lambda s: mc.Scene(gravity=(0, 0)), "scene: gravity must be 3 numbers"),
    (lambda s: mc.Scene(gravity=-9.81), "scene: gravity must be 3 numbers, got -9.81"),
    (lambda s: mc.Scene(name=5), "scene: name must be a string, got 5"),
    (lambda s: s.body("lnik"), "there is no body 'lnik'; did you mean 'link'?; the bodies are: floor, lift, link, hand"),
    (lambda s: s.body(2), "a body is asked for by its name or handle, got 2"),
    (lambda s: s.joint("hip"), "there is no joint 'hip'; the joints are: weld"),
    (lambda s: mc.Scene().body("a"), "there is no body 'a'; there are no bodies yet"),
    (lambda s: s.joint(mc.FixedJoint(None, "link")), "is not in this scene"),
    (lambda s: mc.Scene(name="a\ud800"), "scene: name holds half a character"),
    # joints
    (hinge(b="hnad"), "joint 'joint1': b is wrong: there is no body 'hnad'; did you mean 'hand'?"),
    (hinge(a=5), "HingeJoint: a must be a string, got 5"),
    (hinge(b="link"), "HingeJoint joins 'link' to itself"),
    (hinge(a=None, b=None), "joins the world to itself"),
    (hinge(a="floor", b="lift"), "joint 'joint1' joins 'floor' (static) and 'lift' (kinematic): at least one"),
    (hinge(a=None, b="floor"), "joins the world and 'floor' (static)"),
    (hinge(name="weld"), "joint: name 'weld' is taken by another joint"),
    (hinge("link", "hand", AT, (0, 0, 0)), "axis must not be zero"),
    (hinge("link", "hand", AT, None), "axis is missing"),
    (hinge("link", "hand", None, UP), "anchor is missing"),
    (hinge("link", "hand", AT, UP, frame_a=FRAME), "anchor is given together with frame_a or frame_b"),
    (hinge("link", "hand", None, UP, frame_b=FRAME), "axis is given together with frame_a or frame_b"),
    (lambda s: mc.BallJoint(None, "link", axis=(1, 0, 0), frame_a=FRAME), "axis is given together with"),
    (hinge("link", "hand", None, None, frame_a=(0, 0, 0)), "frame_a must be a pair (position, quaternion)"),
    (hinge("link", "hand", None, None, frame_a=((0, 0, 0), (2, 0, 0, 0))), "frame_a[1] must be a unit quaternion"),
    (hinge("link", "hand", None, None, frame_b=((0, 0), (1, 0, 0, 0))), "frame_b[0] must be 3 numbers"),
    (hinge(limits=(1, -1)), "limits are reversed: the lower, 1, is above the upper, -1"),
    (hinge(limits=1), "limits must be a pair (lower, upper), got 1"),
    (hinge(limits=(1, 2, 3)), "limits must be a pair (lower, upper)"),
    (hinge(limits=(NAN, 1)), "limits[0] must be a number, got nan"),
    (hinge(limits=(INF, None)), "limits leave no room"),
    (hinge(motor=3), "motor must be a Motor, got 3"),
    (hinge(motor=mc.Motor(velocity=(1, 2, 3))), "motor.velocity must be one number here"),
    (hinge(spring=mc.Motor(velocity=1)), "spring must be a Spring"),
    (hinge(spring=mc.Spring(1, rest=(0, 0, 1))), "spring.rest must be one number here"),
    (hinge(friction=-1), "friction must not be negative"),
    (hinge(friction=(1, 2)), "friction must be a number"),
    (hinge(collide=0), "collide must be True or False"),
    (hinge(break_force=-10), "break_force must not be negative, got -10"),
    (hinge(break_torque="weak"), "break_torque must be a number, got 'weak'"),
    (lambda s: mc.Motor(), "Motor takes exactly one of velocity and position, or kp and kd with them, got neither"),
    (lambda s: mc.Motor(velocity=1, position=1), "exactly one of velocity and position, or kp and kd with them, got both"),
    (lambda s: mc.Motor(velocity=1, max_force=-1), "Motor: max_force must not be negative"),
    (lambda s: mc.Motor(velocity="fast"), "velocity must be a number, got 'fast'"),
    (lambda s: mc.Motor(velocity=(1, 2)), "velocity must be 3 numbers, got 2"),
    (lambda s: mc.Motor(position=1, hertz=0), "hertz must be positive"),
    (lambda s: mc.Motor(position=1, damping_ratio=-1), "damping_ratio must not be negative"),
    (lambda s: mc.Spring(-1), "Spring: stiffness must not be negative"),
    (lambda s: mc.Spring(1, damping=-1), "damping must not be negative"),
    (lambda s: mc.Spring(1, rest=NAN), "rest must be finite"),
    (ball(motor=mc.Motor(velocity=1)), "motor.velocity must be 3 numbers for a ball joint, got 1"),
    (ball(motor=mc.Motor(position=(90, 0, 0))), "motor.position must be a rotation vector of at most π rad"),
    (ball(spring=mc.Spring(1, rest=1)), "spring.rest must be 3 numbers for a ball joint"),
    (ball(swing_limit=45), "swing_limit must be in [0, 3.14159], got 45"),
    (ball(swing_limit=np.array([1.0, 2.0])), "swing_limit must be a number, got array([1., 2.])"),
    (ball(swing_limit=True), "swing_limit must be a number"),
    (ball(twist_limits=(-90, 90)), "twist_limits must be in [-π, π] rad"),
    (ball(twist_limits=(1, 0)), "twist_limits are reversed"),
    (ball(axis=(0, 0, 0)), "axis must not be zero"),
    (universal(axis_b=(0, 0.1, 1)), "axis_b must be perpendicular to axis_a"),
    (universal(axis_b=None), "axis_b is missing"),
    (universal(limits=(-1, 1)), "limits[0] must be a pair (lower, upper), got -1"),
    (universal(limits=[(1, 0), None]), "limits[0] are reversed"),
    (universal(motor=mc.Motor(velocity=1)), "motor must be a pair of Motor or None"),
    (universal(motor=(None, 1)), "motor[1] must be a Motor, got 1"),
    (universal(spring=(mc.Spring(1, rest=AT), None)), "spring[0].rest must be one number here"),
    (universal(friction=(1, 2, 3)), "friction must be a number or a pair of them"),
    (universal(friction=(1, -2)), "friction[1] must not be negative"),
    (universal(friction="ab"), "friction must be a number, got 'ab'"),
    (lambda s: mc.CylindricalJoint("link", "hand", AT), "axis is missing"),
    (
        lambda s: mc.CylindricalJoint("link", "hand", AT, UP, limits=(0, 1)),
        "limits[0] must be a pair (lower, upper), got 0",
    ),
    (
        lambda s: mc.CylindricalJoint("link", "hand", AT, UP, friction=(1, 2, 3)),
        "friction must be a number or a pair of them",
    ),
    (lambda s: mc.PlanarJoint("link", "hand", AT, (0, 0, 0)), "normal must not be zero"),
    (lambda s: mc.PlanarJoint("link", "hand", AT, UP, motor=(None, None)), "motor must be three of Motor or None"),
    (lambda s: mc.PlanarJoint("link", "hand", normal=UP, frame_a=FRAME), "normal is given together with frame_a"),
    (lambda s: mc.ScrewJoint("link", "hand", AT, UP), "ScrewJoint: pitch is missing"),
    (lambda s: mc.ScrewJoint("link", "hand", AT, UP, INF), "pitch must be finite"),
    (lambda s: mc.DistanceJoint("link", "hand", AT), "anchor_b is missing: give both anchors"),
    (lambda s: mc.DistanceJoint("link", "hand", AT, UP, length=0), "length must be positive"),
    (
        lambda s: mc.DistanceJoint("link", "hand", AT, UP, length=1, limits=(0, 1)),
        "length is that of a rod, or of a spring",
    ),
    (
        lambda s: mc.DistanceJoint("link", "hand", AT, UP, length=1, spring=mc.Spring(1, rest=2)),
        "length is 1 but spring.rest",
    ),
    (lambda s: mc.DistanceJoint("link", "hand", AT, UP, limits=(-1, 0)), "limits leave no room"),
    (lambda s: s.add_joint(mc.DistanceJoint("link", "hand", AT, AT)), "joint 'joint1': length would be zero"),
    (lambda s: mc.RackPinionJoint("link", "hand", AT, UP, (1, 0, 1), 1), "pinion_axis must be perpendicular to rack_axis"),
    (lambda s: mc.RackPinionJoint("link", "hand", AT, UP, (1, 0, 0)), "radius is missing"),
    (lambda s: mc.RackPinionJoint("link", "hand", AT, UP, (1, 0, 0), 0), "radius must not be zero"),
    (lambda s: mc.FreeJoint("link", "link"), "FreeJoint joins 'link' to itself"),
    (lambda s: s.add_joint("hinge"), "joint must be a joint such as HingeJoint, got 'hinge'"),
    (lambda s: s.add_joint(s.joints[0]), "joint 'weld' is in a scene already; make a new one"),
]

BOX = {"type": "box", "half_extents": [1, 1, 1]}
HINGE = {"type": "hinge", "a": None, "b": "x", "anchor": [0, 0, 0], "axis": [0, 0, 1]}


def in_body(**fields):
    return {"version": 1, "bodies": [{"name": "x", "shapes": [BOX]} | fields]}


def in_shape(**fields):
    return in_body(shapes=[BOX, {key: value for key, value in (BOX | fields).items() if value is not ...}])


def in_joint(**fields):
    return in_body() | {"joints": [{key: value for key, value in (HINGE | fields).items() if value is not ...}]}


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


DATA = [
    ([], "must be an object {…}, got []"),
    (None, "must be an object {…}, got None"),
    ({}, "version is missing"),
    ({"version": 2}, "version must be 1, got 2"),
    ({"version": "1"}, "version must be 1, got '1'"),
    ({"version": True}, "version must be 1, got True"),
    ({"version": 1, "body": []}, "unknown field 'body'; did you mean 'bodies'?; the fields are: version, name, gravity"),
    ({"version": 1, 5: []}, "unknown field 5"),
    ({"version": 1, "name": 3}, "name must be a string, got 3"),
    ({"version": 1, "name": ""}, "name must not be empty"),
    ({"version": 1, "gravity": -9.81}, "gravity must be a list, got -9.81"),
    ({"version": 1, "gravity": [0, 0]}, "gravity must be 3 numbers, got 2"),
    ({"version": 1, "gravity": [0, 0, NAN]}, "gravity[2] must be finite, got nan"),
    ({"version": 1, "gravity": [0, 0, "9"]}, "gravity[2] must be a number, got '9'"),
    ({"version": 1, "bodies": {}}, "bodies must be a list, got {}"),
    ({"version": 1, "bodies": [3]}, "bodies[0] must be an object {…}, got 3"),
    ({"version": 1, "joints": [3]}, "joints[0] must be an object {…}, got 3"),
    ({"version": 1, "bodies": [{}]}, "bodies[0] is dynamic and has no shape"),
    (in_body(size=3), "bodies[0] has an unknown field 'size'; the fields are: name, kind, shapes"),
    (in_body(kind="dinamic"), "bodies[0].kind must be one of: static, kinematic, dynamic; got 'dinamic' (body 'x')"),
    (in_body(mass=0), "bodies[0].mass must be positive, got 0.0 (body 'x')"),
    (in_body(mass=True), "bodies[0].mass must be a number, got True"),
    (in_body(mass=INF), "bodies[0].mass must be finite, got inf"),
    (in_body(mass=10**400), "bodies[0].mass must be a number"),
    (in_body(mass=1, density=1), "bodies[0] takes density or mass, not both"),
    (in_body(mass=1, inertia=[1, 1, 5]), "bodies[0].inertia breaks the triangle inequality"),
    (in_body(mass=1, inertia=[1, 1, "5"]), "bodies[0].inertia[2] must be a number, got '5'"),
    (in_body(mass=1, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, None]]), "bodies[0].inertia[2][2] must be a number"),
    (in_body(mass=1, inertia=[[1, 0, 0], 1, 1]), "bodies[0].inertia[1] must be 3 numbers"),
    (in_body(position="here"), "bodies[0].position must be a list, got 'here'"),
    (in_body(orientation=[1, 1, 0, 0]), "bodies[0].orientation must be a unit quaternion"),
    (in_body(material={"friction": -1}), "bodies[0].material.friction must not be negative"),
    (in_body(material={"grip": 1}), "bodies[0].material has an unknown field 'grip'; the fields are: friction"),
    (in_body(material=0.5), "bodies[0].material must be an object"),
    (in_body(collision_group=1.5), "bodies[0].collision_group must be an integer, got 1.5"),
    (in_body(collision_group=2**70), "bodies[0].collision_group must fit in 32 bits"),
    (in_body(bullet="yes"), "bodies[0].bullet must be true or false, got 'yes'"),
    (in_body(name="y" * 500, mass=0), "bodies[0].mass must be positive"),
    (in_body(shapes=BOX), "bodies[0].shapes must be a list"),
    (in_body(shapes=[3]), "bodies[0].shapes[0] must be an object {…}, got 3"),
    (in_body(position=nested(5000)), "bodies[0].position[0] must be a number"),
    (in_body(shapes=nested(5000)), "bodies[0].shapes[0] must be an object"),
    (
        in_shape(type=...),
        "bodies[0].shapes[1].type must be one of: sphere, box, capsule, cylinder, plane, hull, mesh, height_field, cone, "
        "ellipsoid, tapered_capsule; it is missing",
    ),
    (
        in_shape(type="cube"),
        "bodies[0].shapes[1].type must be one of: sphere, box, capsule, cylinder, plane, hull, mesh, height_field, cone, "
        "ellipsoid, tapered_capsule; got 'cube'",
    ),
    (in_shape(type=3), "bodies[0].shapes[1].type must be one of"),
    (in_shape(type=["box"]), "bodies[0].shapes[1].type must be one of"),
    (in_shape(half_extents=...), "bodies[0].shapes[1].half_extents is missing"),
    (in_shape(half_extents=[1, 1]), "bodies[0].shapes[1].half_extents must be 3 numbers, got 2"),
    (in_shape(half_extents=[1, -1, 1]), "bodies[0].shapes[1].half_extents[1] must be positive, got -1"),
    (in_shape(radius=1), "bodies[0].shapes[1] has an unknown field 'radius'; the fields are: type, position"),
    (in_shape(box=1), "bodies[0].shapes[1] has an unknown field 'box'"),
    (in_shape(material={"restitution": 2}), "bodies[0].shapes[1].material.restitution must be in [0, 1]"),
    (in_body(shapes=[{"type": "plane", "normal": [0, 0, 1]}]), "bodies[0].shapes[0] is a Plane, which only a static body"),
    (
        in_body(shapes=[{"type": "hull", "points": [[0, 0, 0]] * 9}]),
        "bodies[0].shapes[0].points must not all be in one place",
    ),
    (in_body(shapes=[{"type": "hull", "points": [[0, 0, 0], 3]}]), "bodies[0].shapes[0].points[1] must be a list, got 3"),
    ({"version": 1, "bodies": [{"name": "x", "shapes": [BOX]}] * 2}, "bodies[1].name 'x' is taken by another body"),
    (in_joint(type="hing"), "joints[0].type must be one of: ball, universal, hinge, slider, fixed, "),
    (in_joint(b=...), "joints[0].b is missing"),
    (in_joint(b="z"), "joints[0].b is wrong: there is no body 'z'"),
    (in_joint(b=0), "joints[0].b must be a string, got 0"),
    (in_joint(b=None), "joints[0] joins the world to itself"),
    (in_joint(axis=...), "joints[0].axis is missing"),
    (in_joint(axis=[0, 0, 0]), "joints[0].axis must not be zero"),
    (in_joint(twist_limits=[0, 1]), "joints[0] has an unknown field 'twist_limits'"),
    (in_joint(limits=[1, -1]), "joints[0].limits are reversed"),
    (in_joint(limits=[[0, 1], None]), "joints[0].limits[0] must be a number"),
    (in_joint(motor={}), "joints[0].motor takes exactly one of velocity and position, or kp and kd with them, got neither"),
    (in_joint(motor={"velocity": 1, "max_force": -1}), "joints[0].motor.max_force must not be negative"),
    (in_joint(motor={"velocity": "1"}), "joints[0].motor.velocity must be a number, got '1'"),
    (in_joint(motor={"velocity": [1, 2, "3"]}), "joints[0].motor.velocity[2] must be a number"),
    (in_joint(motor={"velocity": [1, 2, 3]}), "joints[0].motor.velocity must be one number here"),
    (in_joint(spring={}), "joints[0].spring.stiffness is missing"),
    (in_joint(frame_a=[[0, 0, 0]]), "joints[0].frame_a[1] is missing"),
    (in_joint(frame_a=[[0, 0, 0], [1, 0, 0, 0], 3]), "joints[0].frame_a must be a pair [position, quaternion]"),
    (in_joint(frame_a=[[0, 0, 0], [2, 0, 0, 0]], anchor=..., axis=...), "joints[0].frame_a[1] must be a unit quaternion"),
    (in_joint(break_force=-3), "joints[0].break_force must not be negative"),
    (
        in_joint(type="universal", axis=..., motor=[{"velocity": 1, "hertz": 0}, None]),
        "joints[0].motor[0].hertz must be positive",
    ),
    (in_joint(type="universal", axis=..., motor=[None, {"speed": 1}]), "joints[0].motor[1] has an unknown field 'speed'"),
    (in_joint(type="ball", axis=..., swing_limit=-1), "joints[0].swing_limit must not be negative"),
]

TEXTS = [
    ("", "line 1, column 1: not JSON"),
    ('{\n  "version": 1,\n  x}', "line 3, column 3: not JSON"),
    ("scene:\n  version: 1", "line 1, column 1: not JSON"),
    ("\x00\x01", "line 1, column 1: not JSON"),
    (b"\xff\xfe\x00", "not JSON: it is not text in UTF-8"),
    ('{"version": 1, "gravity": [0, 0, NaN]}', "gravity[2] must be finite, got nan"),
    ('{"version": 1, "gravity": [0, 0, -Infinity]}', "gravity[2] must be finite, got -inf"),
    ('{"version": 1, "gravity": [0, 0, 1e999]}', "gravity[2] must be finite, got inf"),
    ('{"version": 1, "gravity": [0, 0, 1' + "0" * 5000 + "]}", "digits"),
    ('{"version": 1, "version": 1}', "field 'version' stands twice in one object"),
    ("[" * 200000 + "]" * 200000, "nested too deeply"),
    ('{"version": 1, "bodies": ' + '[{"shapes":' * 30000 + "1" + "}]" * 30000 + "}", "nested too deeply"),
    ('{"version": 1, "bodies": [{"name": "x", "mass": "1"}]}', "bodies[0].mass must be a number, got '1'"),
    ('"a scene"', "must be an object {…}, got 'a scene'"),
]


def test_there_are_enough():
    assert len(CALLS) + len(DATA) + len(TEXTS) >= 60


def one_line(error, fragment):
    message = str(error)
    assert fragment in message, message
    assert "\n" not in message and len(message) < 700
    assert "pydantic" not in message and "None:" not in message


@pytest.mark.parametrize("call, fragment", CALLS, ids=[fragment for _, fragment in CALLS])
def test_bad_calls(call, fragment):
    s = scene()
    before = copy.deepcopy(s)
    with pytest.raises(SceneError) as caught:
        call(s)
    one_line(caught.value, fragment)
    assert s == before
    s.add_joint(mc.FixedJoint("link", "hand"))  # and it still works
    assert s.joints[-1].name == "joint1" and s.add_body(shape=BALL).name == "body4"


@pytest.mark.parametrize("data, fragment", DATA, ids=[fragment for _, fragment in DATA])
def test_bad_data(data, fragment):
    with pytest.raises(SceneError) as caught:
        mc.Scene.from_dict(data)
    one_line(caught.value, fragment)


@pytest.mark.parametrize("content, fragment", TEXTS, ids=[fragment for _, fragment in TEXTS])
def test_bad_files(tmp_path, content, fragment):
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SceneError) as caught:
        mc.load_scene(path)
    one_line(caught.value, fragment)
    assert str(caught.value).startswith(f"{path}: ")


def test_every_wrong_description_is_wrong_in_a_file_too(tmp_path):
    """The same line, behind the file's name."""
    path = tmp_path / "bad.json"
    for data, _ in DATA:
        try:
            path.write_text(json.dumps(data))
        except RecursionError:
            continue
        if isinstance(data, dict) and 5 in data:
            continue  # JSON turns the number into a string
        with pytest.raises(SceneError) as from_data:
            mc.Scene.from_dict(data)
        with pytest.raises(SceneError) as from_file:
            mc.load_scene(path)
        assert str(from_file.value) == f"{path}: {from_data.value}"


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such scene file: .*nowhere.json"):
        mc.load_scene(tmp_path / "nowhere.json")
    with pytest.raises(SceneError, match="is a folder"):
        mc.load_scene(tmp_path)


def test_a_failed_add_leaves_the_joint_usable():
    s = scene()
    joint = mc.FixedJoint("link", "elbow")
    with pytest.raises(SceneError):
        s.add_joint(joint)
    s.add_body("elbow", shape=BALL)
    assert s.add_joint(joint) is joint and joint.name == "joint1"


def test_unknown_keywords_are_type_errors():
    for call in (
        lambda: mc.Sphere(1, colour=2),
        lambda: mc.FixedJoint(None, "a", motor=None),
        lambda: mc.Scene().add_body(weight=3),
        lambda: mc.Plane(UP, density=1),
    ):
        with pytest.raises(TypeError, match="there is no argument"):
            call()


def test_errors_pickle():
    import pickle

    with pytest.raises(SceneError) as caught:
        mc.Sphere(-1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and isinstance(again, SceneError)


def test_errors_are_shown_by_their_public_name():
    """Whatever they are inside: what a traceback prints is what may be caught."""
    with pytest.raises(SceneError) as caught:
        mc.Sphere(-1)
    shown = traceback.format_exception_only(caught.value)[-1]
    assert shown.startswith("mcsim.core.errors.SceneError: Sphere: radius must be positive")


def test_import_is_light():
    """Neither pydantic nor SciPy is loaded before it is needed."""
    code = "import sys, mcsim.scene; print([m for m in ('pydantic', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
