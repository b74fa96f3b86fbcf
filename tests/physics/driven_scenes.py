"""Scenes whose joints are driven: one of every type with coordinates, between two bodies that hang together."""

import numpy as np

import mcsim as mc

ANCHOR, AXIS = np.array([0.25, 0.125, 0.375]), (0.5, 0.25, 1.0)
ACROSS = (1.0, -2.0, 0.0)  # at right angles to AXIS
ROPE = {"spring": mc.Spring(0.0)}  # that does nothing: without it the length of a distance joint is no coordinate
# Type of joint -> what makes one between two bodies, at twice as many metres by `size`.
JOINTS = {
    "ball": lambda a, b, size, **m: mc.BallJoint(a, b, size * ANCHOR, AXIS, **m),
    "universal": lambda a, b, size, **m: mc.UniversalJoint(a, b, size * ANCHOR, AXIS, ACROSS, **m),
    "hinge": lambda a, b, size, **m: mc.HingeJoint(a, b, size * ANCHOR, AXIS, **m),
    "slider": lambda a, b, size, **m: mc.SliderJoint(a, b, AXIS, size * ANCHOR, **m),
    "cylindrical": lambda a, b, size, **m: mc.CylindricalJoint(a, b, size * ANCHOR, AXIS, **m),
    "planar": lambda a, b, size, **m: mc.PlanarJoint(a, b, size * ANCHOR, AXIS, **m),
    "screw": lambda a, b, size, **m: mc.ScrewJoint(a, b, size * ANCHOR, AXIS, 0.25 * size, **m),
    "slot": lambda a, b, size, **m: mc.SlotJoint(a, b, size * ANCHOR, AXIS, **m),
    "point_on_plane": lambda a, b, size, **m: mc.PointOnPlaneJoint(a, b, size * ANCHOR, AXIS, **m),
    "free": lambda a, b, size, **m: mc.FreeJoint(a, b, **m),
    "distance": lambda a, b, size, **m: mc.DistanceJoint(
        a, b, size * np.array([0.1, 0.1, 0.3]), size * np.array([0.6, -0.2, 0.2]), **ROPE | m
    ),
    "rack_pinion": lambda a, b, size, **m: mc.RackPinionJoint(a, b, size * ANCHOR, ACROSS, AXIS, 0.25 * size, **m),
}
COUNT = {"ball": 3, "universal": 2, "cylindrical": 2, "planar": 3, "slot": 4, "point_on_plane": 5, "free": 6}


def pair(kind, size=1.0, weight=1.0, gravity=(1.0, -2.0, -9.0), speed=1.0, hung=True, **joint):
    """Two bodies on a joint "j", the first on a ball joint "hang"; all lengths times `size`, masses times `weight`."""
    scene = mc.Scene(gravity=size * np.array(gravity), name=kind)
    for name, mass, place in (("a", 1.5, (0.0, 0.1, 0.3)), ("b", 2.5, (0.7, -0.2, 0.1))):
        scene.add_body(
            name,
            mass=weight * mass,
            inertia=weight * size**2 * np.array([0.1, 0.12, 0.15]),
            position=size * np.array(place),
            velocity=speed * size * np.array((0.3, -0.2, 0.1)),
            angular_velocity=(0.0, 0.0, 0.0),
        )
    if hung:
        scene.add_joint(mc.BallJoint(None, "a", size * np.array([0.0, 0.4, 0.3]), name="hang"))
    scene.add_joint(JOINTS[kind]("a", "b", size, name="j", **joint))
    return scene


def numbers(kind, scale=1.0, seed=0):
    """As many as the joint has coordinates: a number, or an array."""
    found = scale * np.random.default_rng(seed).uniform(0.5, 2.0, COUNT.get(kind, 1))
    return float(found[0]) if len(found) == 1 else found
