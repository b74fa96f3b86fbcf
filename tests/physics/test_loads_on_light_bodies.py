"""Light bodies that carry much: wheels under a car, at any speed, and the feet of what stands."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.wide import levels

RADIUS = 0.1
UPRIGHT = (0.5**0.5, 0.5**0.5, 0, 0)  # a cylinder's axis along y


def car(rate, shape, load):
    """On four wheels that turn at `rate` rad/s."""
    scene = mc.Scene()
    speed = rate * RADIUS
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("car", mass=load, shape=mc.Box((1, 0.4, 0.1)), position=(0, 0, RADIUS + 0.15), velocity=(speed, 0, 0))
    for i, (x, y) in enumerate([(-0.8, -0.5), (0.8, -0.5), (-0.8, 0.5), (0.8, 0.5)]):
        wheel = mc.Sphere(RADIUS) if shape == "ball" else mc.Cylinder(RADIUS, 0.05, orientation=UPRIGHT)
        scene.add_body(
            f"wheel{i}",
            mass=5.0,
            shape=wheel,
            position=(x, y, RADIUS),
            velocity=(speed, 0, 0),
            angular_velocity=(0, rate, 0),
        )
        scene.add_joint(mc.HingeJoint("car", f"wheel{i}", anchor=(x, y, RADIUS), axis=(0, 1, 0)))
    return scene


@pytest.mark.parametrize("shape", ["ball", "cylinder"])
@pytest.mark.parametrize("load", [5.0, 500.0, 5000.0])
@pytest.mark.parametrize("rate", [0.0, 230.0, 250.0, 1000.0])  # 240 rad/s is a radian in a substep
def test_a_fast_car_runs_as_smoothly_as_it_stands(rate, load, shape):
    """At rest, too, one of 500 kg on wheels of 5 kg trembled at 16 mm/s, one of 5000 kg sank by 35 mm. What is left of
    that, up to 3 mm/s where further sweeps stop, moves nothing along by a thousandth of it."""
    world = mc.World(car(rate, shape, load), sleep=False)
    start = world.positions[1, 2]
    world.step(30)
    for _ in range(30):
        world.step()
        assert abs(world.velocities[1, 2]) < (1e-9 if load == 5.0 else 3e-3)
        assert abs(world.positions[1, 2] - start) < (1e-5 if load == 5.0 else 2e-3)
    assert world.velocities[1, 0] == pytest.approx(rate * RADIUS, rel=1e-7, abs=1e-9 if load == 5.0 else 3e-6)


@pytest.mark.parametrize("keywords", [{}, {"solver": "pgs"}, {"friction_points": "point"}])
@pytest.mark.parametrize("rate", [100.0, 300.0, 1000.0])
def test_what_whirls_on_a_floor_gains_no_energy(rate, keywords):
    for seed in range(3):
        axis = np.random.default_rng(seed).normal(size=3)
        scene = mc.Scene()
        scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
        scene.add_body(
            "box",
            mass=1.0,
            shape=mc.Box((0.3, 0.2, 0.1)),
            position=(0, 0, 0.5),
            angular_velocity=tuple(rate * axis / np.linalg.norm(axis)),
        )
        world = mc.World(scene, sleep=False, **keywords)
        start = world.energy().total
        for _ in range(60):
            world.step()
            assert world.energy().total < start * (1 + 1e-9)


def cars(count, load, wheel, friction=5.0, shape="ball", x=0.0, scene=None):
    """Parked side by side, on wheels whose hinges rub: from three of a colour on these go several at a time."""
    scene = scene or mc.Scene()
    scene.add_body(f"ground{x}", kind="static", shape=mc.Box((50, 10, 1)), position=(x, 0, -1))
    for k in range(count):
        at = x + 3 * k
        scene.add_body(f"car{at}", mass=load, shape=mc.Box((1, 0.4, 0.1)), position=(at, 0, 2 * RADIUS + 0.15))
        for i, (dx, y) in enumerate([(-0.8, -0.5), (0.8, -0.5), (-0.8, 0.5), (0.8, 0.5)]):
            of = mc.Sphere(RADIUS) if shape == "ball" else mc.Cylinder(RADIUS, 0.05, orientation=UPRIGHT)
            scene.add_body(f"wheel{at} {i}", mass=wheel, shape=of, position=(at + dx, y, RADIUS))
            scene.add_joint(
                mc.HingeJoint(f"car{at}", f"wheel{at} {i}", anchor=(at + dx, y, RADIUS), axis=(0, 1, 0), friction=friction)
            )
    return scene


@pytest.mark.parametrize("shape", ["ball", "cylinder"])
@pytest.mark.parametrize("load, wheel", [(1000.0, 20.0), (3000.0, 20.0), (5000.0, 20.0), (5000.0, 5.0), (20000.0, 20.0)])
def test_cars_stand_on_wheels_that_rub_however_many_there_are(load, wheel, shape):
    """Four that weigh 250 times as much as a wheel sank by 2 mm, those of 1000 times by 30 and 104; one alone did not."""
    for count in (1, 4):
        world = mc.World(cars(count, load, wheel, shape=shape), sleep=False)
        start = world.positions[:, 2].copy()
        world.step(180)
        assert np.abs(world.positions[:, 2] - start).max() < 1e-6 * load / wheel + 1e-4
        for _ in range(20):
            world.step()
            assert np.abs(world.velocities).max() < 5e-3


def pillars(count, ratio):
    """Boxes on light feet, to which hinges with friction and limits hold them."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Box((50, 10, 1)), position=(0, 0, -1))
    for k in range(count):
        scene.add_body(
            f"load{k}", shape=mc.Box((0.3, 0.3, 0.3)), mass=10.0 * ratio, position=(3 * k, 0, 1), collision_mask=0
        )
        scene.add_body(f"foot{k}", shape=mc.Box((0.2, 0.2, 0.05)), mass=10.0, position=(3 * k, 0, 0.05))
        scene.add_joint(
            mc.HingeJoint(
                f"load{k}", f"foot{k}", anchor=(3 * k, 0, 0.3), axis=(0, 1, 0), friction=100.0 * ratio, limits=(-0.01, 0.01)
            )
        )
    return scene


@pytest.mark.parametrize("ratio", [100.0, 150.0, 250.0, 1000.0])
def test_pillars_stand_on_light_feet_however_many_there_are(ratio):
    """Three and more fell over, or sank into the ground; two did not."""
    for count in (2, 3, 4):
        world = mc.World(pillars(count, ratio), sleep=False)
        start = world.positions[:, 2].copy()
        world.step(180)
        assert np.abs(world.positions[:, 2] - start).max() < 4e-6 * ratio + 1e-4
        assert np.abs(world.velocities).max() < 0.02


def test_what_rubs_and_is_swept_further_leaves_the_bits_of_what_is_far_away():
    alone = mc.load("ragdolls11", n=4)
    both = cars(4, 5000.0, 5.0, x=500.0, scene=mc.load("ragdolls11", n=4))
    count = len(alone.bodies)
    alone, both = mc.World(alone, sleep=False), mc.World(both, sleep=False)
    for world in (alone, both):
        world.step(60)
    assert both.stats.iterations > alone.stats.iterations
    for name in ("positions", "orientations", "velocities", "angular_velocities"):
        np.testing.assert_array_equal(getattr(both, name)[:count], getattr(alone, name)[:count])


def test_all_levels_and_threads_give_the_same_bits_where_joints_rub(monkeypatch):
    def hash_of(**keywords):
        world = mc.World(cars(4, 5000.0, 5.0, shape="cylinder"), sleep=False, **keywords)
        world.step(10)  # the first steps have more sweeps anyway
        most = 0
        for _ in range(20):
            world.step()
            most = max(most, world.stats.iterations)
        assert most > 32
        return world.state_hash()

    expected = hash_of()
    assert hash_of(threads=2) == expected
    for level in levels.available():
        monkeypatch.setenv("MCSIM_LEVEL", level)
        assert hash_of() == expected


def test_ragdolls_hardly_need_further_sweeps():
    """Hardly anything in them is far outweighed: with further sweeps of them all, a step of their landing took half as long
    again."""
    more, lifts = 0, amount((0.0, 0.02), (0.0, 0.01, 0.02, 0.03))
    for lift in lifts:
        world = mc.World(mc.load("ragdolls"), sleep=False)
        world.positions[1:, 2] += lift
        world.step(10)  # the first steps have more sweeps anyway
        for _ in range(12):
            world.step(5)
            more += world.stats.iterations > 32
    assert more <= len(lifts)


def biped(top, foot):
    """Standing on two legs of hinges whose position motors hold them."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("torso", mass=top, shape=mc.Box((0.2, 0.3, 0.4)), position=(0, 0, 1.4))
    for side, y in (("left", -0.2), ("right", 0.2)):
        above = "torso"
        for part, mass, half, x, z, joint in (
            ("thigh", 8.0, (0.06, 0.06, 0.2), 0, 0.8, 1.0),
            ("shin", 4.0, (0.05, 0.05, 0.2), 0, 0.35, 0.58),
            ("foot", foot, (0.15, 0.06, 0.04), 0.04, 0.04, 0.12),
        ):
            scene.add_body(f"{side} {part}", mass=mass, shape=mc.Box(half), position=(x, y, z))
            scene.add_joint(
                mc.HingeJoint(above, f"{side} {part}", anchor=(0, y, joint), axis=(0, 1, 0), motor=mc.Motor(position=0.0))
            )
            above = f"{side} {part}"
    return scene


@pytest.mark.parametrize("top", [20.0, 60.0])
def test_what_motors_hold_stands_on_light_feet(top):
    """60 kg on feet of 1 kg fell within three seconds, without a note."""
    world = mc.World(biped(top, 1.0), sleep=False)
    world.step(240)
    assert abs(world.positions[1, 2] - 1.4) < 0.01


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("points", ["central", "point"])
@pytest.mark.parametrize("mass, dt", [(1.0, 1e-3), (1.0, 1 / 240), (10.0, 1e-3), (100.0, 1e-3)])
def test_a_light_slab_bears_what_lies_on_it(mass, dt, points, kind):
    """25 balls of 1 kg, and it is pulled away under them: in every step the floor bears all, and friction has no more. In
    generalized coordinates it bore 0.74 to 1.28 of that, and went back and forth."""
    scene = mc.Scene()
    material = mc.Material(friction=0.4)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=material)
    scene.add_body("slab", shape=mc.Box((6, 6, 0.1)), position=(0, 0, 0.1), mass=mass, material=material)
    for i in range(25):
        scene.add_body(shape=mc.Sphere(0.5), mass=1, position=(2 * (i % 5) - 4, 2 * (i // 5) - 4, 0.7), material=material)
    world = kind(scene, dt=dt, sleep=False, friction_points=points)
    world.step(round(0.4 / dt))
    pull = 0.4 * 9.81 * (25 + mass) + 12
    speed = world.velocities[1, 0]
    for _ in range(30):
        world.apply_force("slab", (pull, 0, 0))
        world.step()
        found = world.contacts
        load = found["normal_impulse"][found["body_a"] == 0].sum() / dt
        assert load == pytest.approx(9.81 * (25 + mass), rel=0.03)
    expected = 12 / (mass + 25 * 2 / 7) * 30 * dt
    assert world.velocities[1, 0] - speed == pytest.approx(expected, rel=0.05)
