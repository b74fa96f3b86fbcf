"""Cones: on their side they roll about their apex, in closed form; on their base they stand; on their apex they turn."""

import math

import numpy as np
import pytest

import mcsim as mc

G = 9.81


def lying_cone(radius, half_length, rate, ground=None, mass=1.0):
    """On its side with the apex at the origin, rolling without slip about the vertical through that by `rate` [rad/s].

    The contact is a ruling along x that stands still, so the cone turns about it by rate / tan(a), tan(a) = r / H: the
    middle of its base goes round by its distance from the vertical (Landau and Lifshitz, "Mechanics", section 32,
    problem 7).
    """
    height = 2.0 * half_length
    angle = math.atan2(radius, height)
    up = np.array([math.cos(angle), 0.0, math.sin(angle)])  # the axis, from the apex on
    scene, surface = mc.Scene(), mc.Material(friction=1.0)
    scene.add_body("floor", kind="static", shape=ground or mc.Plane((0, 0, 1)), material=surface)
    turn = 0.5 * (1.5 * math.pi - angle)  # of the shape's z from z to -up, about y
    spin = np.array([-rate / math.tan(angle), 0.0, 0.0])
    scene.add_body(
        "cone",
        shape=mc.Cone(radius, half_length),
        mass=mass,
        material=surface,
        position=half_length * up,
        orientation=(math.cos(turn), 0.0, math.sin(turn), 0.0),
        angular_velocity=spin,
        velocity=np.cross(spin, 0.75 * height * up),
    )
    return scene


def turned(world, seconds):
    """[rad] about the vertical through the origin, and the largest change of the height of the middle [m]."""
    before, way, low = world.positions[1].copy(), 0.0, 0.0
    height = before[2]
    for _ in range(round(seconds / world.dt)):
        world.step()
        now = world.positions[1]
        way += math.atan2(before[0] * now[1] - before[1] * now[0], before[:2] @ now[:2])
        before, low = now.copy(), max(low, abs(now[2] - height))
    return way, low


@pytest.mark.parametrize("radius, half_length", [(0.3, 0.4), (0.5, 0.2), (0.15, 0.3)])
@pytest.mark.parametrize("ground", [None, "box", "mesh"])
def test_it_rolls_about_its_apex(radius, half_length, ground):
    ground = {
        "box": mc.Box((5, 5, 1), position=(0, 0, -1)),
        None: None,
        "mesh": mc.Mesh([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2), (0, 2, 3)]),
    }[ground]
    world = mc.World(lying_cone(radius, half_length, 0.8, ground), dt=1 / 240)
    energy = world.energy().total
    way, low = turned(world, 2.0)
    assert way == pytest.approx(1.6, rel=0.01)
    assert low < 1e-5
    assert world.energy().total == pytest.approx(energy, rel=2e-3)
    assert np.hypot(*world.positions[1][:2]) == pytest.approx(
        1.5 * half_length * math.cos(math.atan2(radius, 2 * half_length)), rel=0.01
    )


def test_what_a_step_takes_off_its_rate_falls_with_the_step():
    """To first order: the ruling that it touches with stays within a step."""
    late = [1.0 - turned(mc.World(lying_cone(0.3, 0.4, 1.0), dt=dt), 2.0)[0] / 2.0 for dt in (1 / 60, 1 / 240)]
    assert 0.0 < late[1] < 0.35 * late[0] < 0.35 * 0.02


def test_how_it_lies_when_it_is_still():
    """On a ruling, which two points carry, its centre of mass 3/4 H sin(a) above it."""
    world = mc.World(lying_cone(0.3, 0.4, 0.0), dt=1 / 120)
    world.step(240)
    assert world.body("cone").asleep
    assert world.positions[1][2] == pytest.approx(0.75 * 0.8 * 0.3 / math.hypot(0.3, 0.8), abs=1e-4)
    assert len(world.contacts) == 2


def test_a_stack_stands():
    """Base on box, base on the cap of a cylinder of another radius; a plate balanced on an apex falls off."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("box", shape=mc.Box((0.3, 0.3, 0.2)), position=(0, 0, 0.2))
    scene.add_body("on box", shape=mc.Cone(0.25, 0.3), position=(0, 0, 0.7))
    scene.add_body("drum", shape=mc.Cylinder(0.4, 0.2), position=(2, 0, 0.2))
    scene.add_body("on drum", shape=mc.Cone(0.3, 0.3), position=(2.05, 0, 0.7))
    scene.add_body("below plate", shape=mc.Cone(0.3, 0.3), position=(4, 0, 0.3))
    scene.add_body("plate", shape=mc.Box((0.2, 0.2, 0.02)), position=(4.02, 0, 0.62))
    world = mc.World(scene, dt=1 / 120)
    world.step(480)
    for name, height in (("on box", 0.7 - 0.15), ("on drum", 0.7 - 0.15), ("below plate", 0.3 - 0.15)):
        assert world.body(name).asleep
        assert world.positions[world.body(name).index][2] == pytest.approx(height, abs=1e-3)
    assert world.positions[world.body("plate").index][2] < 0.4


def test_a_top_on_its_apex_precesses():
    """A sleeping top: spun fast on its apex it stays up, slow it falls (Iz w)^2 > 4 I m g l, I across about the apex."""

    def tilt(spin):
        scene = mc.Scene()
        scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=mc.Material(friction=1.0))
        scene.add_body(
            "top",
            shape=mc.Cone(0.3, 0.15),
            density=100.0,
            position=(0, 0, 0.15),
            orientation=(math.cos(1.55), math.sin(1.55), 0, 0),
            angular_velocity=(0, 0, spin),
        )
        world = mc.World(scene, dt=1 / 480)
        world.step(720)
        _w, x, y, _z = world.orientations[1]
        return 2 * (x * x + y * y) - 1  # the cosine of its tilt

    # I about the apex, by mass: 3/20 r² + 3/5 H², along 3/10 r²; l = 3/4 H
    least = math.sqrt(4 * (0.15 * 0.09 + 0.6 * 0.09) * G * 0.225) / (0.3 * 0.09)
    assert tilt(2.0 * least) > 0.98
    assert tilt(0.3 * least) < 0.9


def test_units_do_not_count():
    """Lengths times 8: the same rolling to the bit, in times that are as they were under a field times 8."""
    ways = []
    for k in (1.0, 8.0):
        scene = lying_cone(0.3 * k, 0.4 * k, 1.0)
        scene.gravity = (0, 0, -9.0 * k)
        world = mc.World(scene, dt=1 / 60)
        world.step(60)
        ways.append(world.positions[1] / k)
    assert np.array_equal(*ways)
