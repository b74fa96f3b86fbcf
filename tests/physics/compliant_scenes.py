"""Balls and blocks on surfaces that yield."""

import numpy as np

import mcsim as mc

G = 9.81
WORLDS = [mc.World, mc.ReducedWorld]
RIGID = mc.Material(friction=1.0)


def soft(stiffness, damping=0.0, friction=0.0, **more):
    return mc.Material(friction=friction, stiffness=stiffness, damping=damping, **more)


def ground(gravity=(0.0, 0.0, -G), material=RIGID):
    scene = mc.Scene(gravity=gravity)
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    return scene


def ball_world(
    material,
    kind=mc.World,
    *,
    mass=1.0,
    height=0.0,
    velocity=(0, 0, -2.0),
    spin=(0, 0, 0),
    gravity=0.0,
    floor=RIGID,
    dt=1e-3,
    **keywords,
):
    """A solid ball of radius 0.1 m, `height` above a plane."""
    scene = ground((0, 0, -gravity), floor)
    scene.add_body(
        "ball",
        shape=mc.Sphere(0.1),
        mass=mass,
        position=(0, 0, 0.1 + height),
        velocity=velocity,
        angular_velocity=spin,
        material=material,
    )
    return kind(scene, dt=dt, **dict(substeps=1, contact="compliant") | keywords)


def block_world(
    material,
    kind=mc.World,
    *,
    angle=0.0,
    velocity=(0, 0, 0),
    spin=(0, 0, 0),
    dt=1e-3,
    floor=RIGID,
    position=(0, 0, 0.1),
    **keywords,
):
    """A block of 2 kg, 0.4 x 0.4 x 0.2 m, on a plane that gravity is inclined to."""
    scene = ground((G * np.sin(angle), 0, -G * np.cos(angle)), floor)
    scene.add_body(
        "block",
        shape=mc.Box((0.2, 0.2, 0.1)),
        mass=2.0,
        position=position,
        velocity=velocity,
        angular_velocity=spin,
        material=material,
    )
    return kind(scene, dt=dt, **dict(substeps=1, contact="compliant") | keywords)
