"""Mechanisms with closed forms or simple references, built body by body."""

import numpy as np

import mcsim as mc

G = 9.81


def turned(axis, angle):
    """The unit quaternion of a turn about an axis of the world."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


def rotation(q):
    """Rotation matrix of a unit quaternion."""
    w, u = q[0], np.asarray(q[1:])
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def down(angle):
    """The direction at an angle from straight down, towards x."""
    return np.array([np.sin(angle), 0.0, -np.cos(angle)])


def pendulum(angle=np.pi / 2, length=1.0, mass=1.0, inertia=0.01, joint="hinge"):
    """A body at the end of a massless rod; positive angles swing it towards x."""
    scene = mc.Scene()
    scene.add_body("bob", mass=mass, inertia=(inertia,) * 3, position=length * down(angle))
    if joint == "hinge":
        scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, -1, 0), name="pivot"))
    else:
        scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0), name="pivot"))
    return scene


def double_pendulum(a=2.0, b=1.0, inertia=0.02):
    """Two rods of 1 m and 1 kg, their centres in the middle."""
    scene = mc.Scene()
    for name, angle, start in (("a", a, np.zeros(3)), ("b", b, down(a))):
        scene.add_body(
            name, mass=1, inertia=(inertia,) * 3, position=start + down(angle) / 2, orientation=turned((0, -1, 0), angle)
        )
    scene.add_joint(mc.HingeJoint(None, "a", (0, 0, 0), (0, -1, 0)))
    scene.add_joint(mc.HingeJoint("a", "b", down(a), (0, -1, 0)))
    return scene


def double_pendulum_rates(_, y, inertia=0.02):
    """Lagrange's equations of the same: y = (a, b, a', b')."""
    a, b, da, db = y
    coupling = 0.5 * np.cos(a - b)
    mass = np.array([[inertia + 1.25, coupling], [coupling, inertia + 0.25]])
    force = np.array(
        [-0.5 * np.sin(a - b) * db**2 - 1.5 * G * np.sin(a), 0.5 * np.sin(a - b) * da**2 - 0.5 * G * np.sin(b)]
    )
    return [da, db, *np.linalg.solve(mass, force)]


def bar(scene, name, start, end, velocity=(0, 0, 0), rate=0.0, mass=1.0):
    """A thin bar in the xz plane; `rate` turns it about -y, that is from x towards z."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = np.linalg.norm(end - start)
    scene.add_body(
        name,
        mass=mass,
        inertia=(mass * length**2 / 12,) * 3,
        position=(start + end) / 2,
        velocity=velocity,
        angular_velocity=(0, -rate, 0),
    )


def plane_turn(rate, arm):
    """Velocity of a point at `arm` from the centre of a turn about -y."""
    return np.cross((0, -rate, 0), arm)


def slider_crank(crank=0.3, rod=0.9, angle=0.4, speed=5.0):
    """A kinematic crank at the origin, a rod, a piston on a slider along x, at velocities that fit."""
    scene = mc.Scene()
    x, x_rate, pin, rod_rate = slider_crank_at(crank, rod, angle, speed)
    scene.add_body("crank", kind="kinematic", angular_velocity=(0, -speed, 0))
    wrist = np.array([x, 0, 0])
    v_pin = plane_turn(speed, pin)
    bar(scene, "rod", pin, wrist, (v_pin + (x_rate, 0, 0)) / 2, rod_rate)
    scene.add_body("piston", mass=0.7, inertia=(0.01,) * 3, position=wrist, velocity=(x_rate, 0, 0))
    scene.add_joint(mc.HingeJoint("crank", "rod", pin, (0, -1, 0)))
    scene.add_joint(mc.HingeJoint("rod", "piston", wrist, (0, -1, 0)))
    scene.add_joint(mc.SliderJoint(None, "piston", (1, 0, 0), name="cylinder"))
    return scene


def slider_crank_at(crank, rod, angle, speed):
    """Closed form: the wrist's x and its rate, the pin, the rod's rate from x towards z."""
    s, c = np.sin(angle), np.cos(angle)
    along = np.sqrt(rod**2 - (crank * s) ** 2)
    rod_rate = -crank * c * speed / along  # of the angle whose sine is -crank sin(angle) / rod
    return (
        crank * c + along,
        -crank * s * speed - crank**2 * s * c * speed / along,
        np.array([crank * c, 0, crank * s]),
        rod_rate,
    )


FOUR_BAR = dict(ground=1.1, crank=0.4, coupler=1.2, rocker=0.9)


def four_bar(angle=0.6, speed=4.0):
    """A kinematic crank at the origin, coupler and rocker, the rocker's pivot at x = ground."""
    scene = mc.Scene()
    lengths, pivot = FOUR_BAR, np.array([FOUR_BAR["ground"], 0, 0])
    step = 1e-6
    here, there = four_bar_at(angle), four_bar_at(angle + step)
    pin = lengths["crank"] * np.array([np.cos(angle), 0, np.sin(angle)])
    elbow = pivot + lengths["rocker"] * np.array([np.cos(here), 0, np.sin(here)])
    rocker_rate = (there - here) / step * speed
    v_elbow, v_pin = plane_turn(rocker_rate, elbow - pivot), plane_turn(speed, pin)
    arm = elbow - pin
    coupler_rate = np.cross((0, -1, 0), arm) @ (v_elbow - v_pin) / (arm @ arm)
    scene.add_body("crank", kind="kinematic", angular_velocity=(0, -speed, 0))
    bar(scene, "coupler", pin, elbow, (v_pin + v_elbow) / 2, coupler_rate)
    bar(scene, "rocker", pivot, elbow, v_elbow / 2, rocker_rate)
    scene.add_joint(mc.HingeJoint("crank", "coupler", pin, (0, -1, 0)))
    scene.add_joint(mc.HingeJoint("coupler", "rocker", elbow, (0, -1, 0)))
    scene.add_joint(mc.HingeJoint(None, "rocker", pivot, (0, -1, 0), name="pivot"))
    return scene


def four_bar_at(angle):
    """The rocker's angle from x towards z, by the intersection of two circles (the elbow above)."""
    pin = FOUR_BAR["crank"] * np.array([np.cos(angle), np.sin(angle)])
    to_pin = pin - (FOUR_BAR["ground"], 0)
    d = np.linalg.norm(to_pin)
    inner = np.arccos((d**2 + FOUR_BAR["rocker"] ** 2 - FOUR_BAR["coupler"] ** 2) / (2 * d * FOUR_BAR["rocker"]))
    return np.arctan2(to_pin[1], to_pin[0]) - inner


def cardan(bend=0.6, speed=6.0):
    """A kinematic shaft along x drives one at `bend` through a universal joint at the origin."""
    scene = mc.Scene()
    out = np.array([np.cos(bend), 0, np.sin(bend)])
    scene.add_body("input", kind="kinematic", angular_velocity=(speed, 0, 0), position=(-0.5, 0, 0))
    scene.add_body(
        "output",
        mass=1.0,
        inertia=(0.05, 0.2, 0.2),
        orientation=turned((0, -1, 0), bend),
        position=0.5 * out,
        angular_velocity=speed * np.cos(bend) * out,
    )
    scene.add_joint(
        mc.UniversalJoint(
            "input", "output", (0, 0, 0), axis_a=(0, 1, 0), axis_b=(-np.sin(bend), 0, np.cos(bend)), name="cross"
        )
    )
    scene.add_joint(mc.HingeJoint(None, "output", out, out, name="bearing"))
    return scene


def steady_top(spin=200.0, tilt=0.5, height=0.1, mass=0.5, across=0.002, along=0.0012):
    """A heavy symmetric top on its tip that precesses steadily. -> scene, precession rate [rad/s]

    across, along: moments about the centre of mass [kg m^2]. The slow root of
    A W^2 cos(tilt) - C n W + m g l = 0  (H. Goldstein, "Classical Mechanics", section 5.7), A across at the tip,
    n the spin about the top's own axis, in all.
    """
    a, c, n = across + mass * height**2, along, spin
    square = (c * n) ** 2 - 4 * a * np.cos(tilt) * mass * G * height
    rate = 2 * mass * G * height / (c * n + np.sqrt(square))
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    omega = rate * np.array([0, 0, 1.0]) + (n - rate * np.cos(tilt)) * axis
    scene = mc.Scene()
    scene.add_body(
        "top",
        mass=mass,
        inertia=(across, across, along),
        position=height * axis,
        angular_velocity=omega,
        velocity=np.cross(omega, height * axis),
        orientation=turned((0, 1, 0), tilt),
    )
    scene.add_joint(mc.BallJoint(None, "top", (0, 0, 0), name="tip"))
    return scene, rate
