"""Tapered capsules: equal radii make a capsule; on their side they lie at the angle of their geometry, and roll about their
apex."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import mcsim as mc
from mcsim.core.rotation import matrix

ROUGH = mc.Material(friction=1.0)
SQUARE = [(-20, -20, 0), (20, -20, 0), (20, 20, 0), (-20, 20, 0)]
every_world = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])


@pytest.mark.parametrize("radii", [(0.3, 0.1, 0.4), (0.1, 0.45, 0.2), (0.2, 0.2, 0.3)])
def test_mass_is_that_of_its_profile(radii):
    """By quadrature of the largest of the balls that fill it: the hull of two balls is the union of those between."""
    lower, upper, half = radii
    share = np.linspace(0.0, 1.0, 4001)
    balls, centres = lower + share * (upper - lower), half * (2 * share - 1)

    def square(z):
        return max(np.max(balls**2 - (z - centres) ** 2), 0.0)

    def integral(of):
        return math.pi * quad(of, -half - lower, half + upper, points=(-half, half), limit=200, epsabs=1e-9)[0]

    own = mc.TaperedCapsule(*radii).mass_properties(1.0)
    mass = integral(square)
    center = integral(lambda z: z * square(z)) / mass
    across = integral(lambda z: square(z) ** 2 / 4 + z * z * square(z)) - mass * center**2
    assert own.mass == pytest.approx(mass, rel=1e-6)
    assert own.center == pytest.approx((0, 0, center), abs=1e-6)
    assert np.diag(own.inertia) == pytest.approx((across, across, integral(lambda z: square(z) ** 2 / 2)), rel=1e-5)


def test_equal_radii_have_the_mass_of_a_capsule():
    ours, theirs = mc.TaperedCapsule(0.2, 0.2, 0.4).mass_properties(3.0), mc.Capsule(0.2, 0.4).mass_properties(3.0)
    assert ours.mass == pytest.approx(theirs.mass, rel=1e-14)
    assert ours.inertia == pytest.approx(theirs.inertia, rel=1e-13, abs=1e-16)


def test_one_ball_may_not_hold_the_other():
    with pytest.raises(mc.SceneError, match=r"half_length must be above 0\.1.*use Sphere\(0\.3\)"):
        scene = mc.Scene()
        scene.add_body(shape=mc.TaperedCapsule(0.1, 0.3, 0.09))


def rolled(make, shape, ground):
    """Two of a shape, crossed, come down a slope and roll: how they are after two seconds."""
    scene = mc.Scene(gravity=(1.0, 0.25, -9.0))
    scene.add_body("floor", kind="static", shape=ground, material=ROUGH)
    lying = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    scene.add_body(shape=shape, position=(0, 0, 0.22), orientation=lying, density=100.0, material=ROUGH)
    turn = (math.sqrt(0.5), 0.4, math.sqrt(0.5 - 0.16), 0)
    scene.add_body(shape=shape, position=(-1, 0, 0.3), orientation=turn, density=100.0, material=ROUGH)
    world = make(scene, dt=1 / 240)
    world.step(240)
    return world.positions[1:].copy(), world.velocities[1:].copy()


@every_world
@pytest.mark.parametrize("ground", [mc.Plane((0, 0, 1)), mc.Mesh(SQUARE, [(0, 1, 2), (0, 2, 3)])], ids=["plane", "mesh"])
def test_equal_radii_make_a_capsule(make, ground):
    ours = rolled(make, mc.TaperedCapsule(0.2, 0.2, 0.3), ground)
    theirs = rolled(make, mc.Capsule(0.2, 0.3), ground)
    assert np.abs(ours[0] - theirs[0]).max() < 1e-6 and np.abs(ours[1] - theirs[1]).max() < 1e-6


@every_world
@pytest.mark.parametrize("radii", [(0.3, 0.15, 0.4), (0.1, 0.2, 0.3)])
@pytest.mark.parametrize("ground", ["plane", "box", "mesh"])
def test_it_comes_to_lie_on_its_side(make, radii, ground):
    """Both balls touch the floor: the axis rises by the sine (bottom - top) / (2 half_length) towards the larger."""
    lower, upper, half = radii
    shape = {
        "plane": mc.Plane((0, 0, 1)),
        "box": mc.Box((5, 5, 1), position=(0, 0, -1)),
        "mesh": mc.Mesh(SQUARE, [(0, 1, 2), (0, 2, 3)]),
    }[ground]
    surface = mc.Material(friction=0.6, rolling_friction=0.01)
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=shape, material=surface)
    scene.add_body("it", shape=mc.TaperedCapsule(*radii), position=(0, 0, 0.8), orientation=(0.8, 0.48, 0.36, 0.0),
                   material=surface)  # fmt: skip
    world = make(scene, dt=1 / 120)
    world.step(1200)
    position, orientation = world.frames()
    axis = matrix(orientation[1])[:, 2]
    assert world.body("it").asleep
    assert axis[2] == pytest.approx((upper - lower) / (2 * half), abs=2e-3)
    assert position[1, 2] == pytest.approx((lower + upper) / 2, abs=1e-3)
    assert len(world.contacts) == 2


@every_world
@pytest.mark.parametrize("ground", [mc.Plane((0, 0, 1)), mc.Box((9, 9, 1), position=(0, 0, -1))])
def test_it_rolls_about_its_apex(make, ground):
    """As a cone does (tests/physics/test_cones.py): its contact is a ruling that stands still, so it turns about that by
    rate / tan(a), with sin(a) its lean, and its axis goes round the apex, where the ruling meets the axis, by the rate."""
    lower, upper, half, rate = 0.3, 0.2, 0.4, 0.5
    lean = (lower - upper) / (2 * half)
    level = math.sqrt(1 - lean * lean)
    apex = half + upper / lean  # from the origin, along the shape's z
    shape = mc.TaperedCapsule(lower, upper, half)
    spin = np.array([-rate * level / lean, 0.0, 0.0])
    axis = np.array([-level, 0.0, -lean])  # from the origin to the apex at 0
    turn = 0.5 * math.atan2(axis[0], axis[2])
    arm = -(apex - shape.mass_properties(1.0).center[2]) * axis
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=ground, material=ROUGH)
    scene.add_body(
        "it",
        shape=shape,
        mass=1.0,
        material=ROUGH,
        position=-apex * axis,
        orientation=(math.cos(turn), 0, math.sin(turn), 0),
        velocity=np.cross(spin, arm),
        angular_velocity=spin,
    )
    world = make(scene, dt=1 / 240)
    energy = world.energy().total
    world.step(240)
    x, y, z = world.positions[1]
    assert math.atan2(y, x) == pytest.approx(rate, rel=0.01)
    assert z == pytest.approx(arm[2], abs=1e-4)
    assert math.hypot(x, y) == pytest.approx(arm[0], rel=0.01)
    assert world.energy().total == pytest.approx(energy, rel=5e-3)
