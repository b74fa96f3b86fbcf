"""Toys that spin on one point of contact: a tippe top that turns over, a rattleback that turns back.

Lengths in m, angles in rad, angular velocities in rad/s.
"""

from typing import Annotated

import numpy as np

from mcsim.core.linear import product
from mcsim.core.rotation import from_axes, matrix, rotate
from mcsim.scene import Capsule, Material, Plane, Scene, Sphere
from mcsim.scenes.poses import axis_angle
from mcsim.scenes.registry import Between, NonNegative, Number, Positive, listed_scene

Y, Z = np.eye(3)[1:]


@listed_scene
def tippe_top(
    *,
    spin: Number = 200.0,
    tilt: Annotated[float, Between(0, 3.1)] = 0.1,
    radius: Positive = 0.05,
    offset: Annotated[float, Between(0, 1)] = 0.2,
    friction: NonNegative = 0.2,
) -> Scene:
    """A spinning ball with its centre of mass low turns over, and spins on with it high.

    The centre of mass is `offset` radii from the ball's centre on its axis, whose moments of inertia are all equal. It
    starts with `spin` about the vertical, the axis leaning by `tilt`. Only friction at its foot makes it rise: it takes
    from the spin, while Jellett's constant L·r stays (L: the angular momentum, r: from the centre of mass to the foot;
    J. H. Jellett, A Treatise on the Theory of Friction, 1872). So it ends at (1 - offset) / (1 + offset) of its spin, if
    that is fast enough to stand on its head. The stem shows the axis, and touches nothing.
    """
    scene = Scene(name="tippe_top")
    material = Material(friction=friction)
    scene.add_body("floor", kind="static", shape=Plane((0, 0, 1)), material=material)
    mass, low = 0.1, -offset * radius * Z
    stem = Capsule(radius / 6, radius / 4, position=(0.0, 0.0, 1.2 * radius), sensor=True)
    scene.add_body(
        "top",
        shape=[Sphere(radius), stem],
        mass=mass,
        inertia=np.diag([0.4 * mass * radius * radius] * 3),
        center_of_mass=low,
        material=material,
        position=(0.0, 0.0, radius),
        orientation=axis_angle(Y, tilt),
        angular_velocity=(0.0, 0.0, spin),
        velocity=np.cross((0.0, 0.0, spin), rotate(axis_angle(Y, tilt), low)),
    )
    return scene


@listed_scene
def rattleback(
    *,
    spin: Number = -5.0,
    skew: Annotated[float, Between(-0.8, 0.8)] = 0.2,
    dome: Positive = 0.3,
    disturbance: Number = 0.05,
    friction: NonNegative = 1.0,
) -> Scene:
    """A stone that has a mind of its own: spun one way it begins to rattle, stops, and turns back.

    It is a capsule with its centre of mass low, on top of a dome, a ball of radius `dome`: what counts for how it rocks
    is the difference of the curvatures, 1 / dome along it and more across, and both are smooth. Its principal axes of
    inertia are turned by `skew` from the axes of curvature, which couples spin with rocking (G. T. Walker 1896; H. Bondi,
    The rigid body dynamics of unidirectional spin, 1986). At a positive skew a negative `spin` turns back within a
    second or two, a positive one goes on for long. Friction only has to hold the foot; nothing takes energy.
    `disturbance` is the rate at which it rocks at the start.
    """
    scene = Scene(name="rattleback")
    material = Material(friction=friction)
    scene.add_body("dome", kind="static", shape=Sphere(dome), position=(0.0, 0.0, -dome), material=material)
    radius, half_length, height, mass = 0.03, 0.1, 0.018, 0.1
    turn = matrix(axis_angle(Z, skew))
    gyration = np.array([0.012, 0.06, 0.061])  # radii of gyration about the principal axes
    scene.add_body(
        "stone",
        shape=Capsule(radius, half_length, orientation=from_axes((1.0, 0.0, 0.0))),
        mass=mass,
        inertia=product(turn, np.diag(mass * gyration * gyration), turn.T),
        center_of_mass=(0.0, 0.0, height - radius),
        material=material,
        position=(0.0, 0.0, radius),
        angular_velocity=(0.0, disturbance, spin),
        velocity=np.cross((0.0, disturbance, spin), height * Z),
    )
    return scene
