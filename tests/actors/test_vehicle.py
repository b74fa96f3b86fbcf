"""A vehicle on rays: closed forms of standing, driving, braking and steering, and symmetries."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix, multiply, rotate

G = 9.81
PLACES = [(x, y, -0.4) for x in (1.2, -1.2) for y in (0.7, -0.7)]
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def wheels(friction=1.0, **more):
    return [mc.Wheel(place, 0.3, steered=place[0] > 0, driven=place[0] < 0, friction=friction, **more) for place in PLACES]


def car(
    make=mc.World,
    gravity=(0, 0, -G),
    speed=0.0,
    friction=1.0,
    turn=UPRIGHT,
    road=None,
    size=(1.5, 0.7, 0.3),
    height=0.9,
    spec=None,
    **keywords,
):
    scene = mc.Scene(gravity=rotate(np.array(turn), np.array(gravity)))
    road = mc.Plane((0, 0, 1)) if road is None else road
    scene.add_body("road", kind="static", shape=road, orientation=turn, material=mc.Material(friction=1.0))
    up, ahead = rotate(np.array(turn), np.array((0, 0, height))), rotate(np.array(turn), np.array((speed, 0, 0)))
    scene.add_body("car", shape=mc.Box(size), position=up, mass=1000, velocity=ahead, orientation=turn)
    world = make(scene, dt=1 / 60, **keywords)
    return world, mc.Vehicle(world, "car", wheels(friction) if spec is None else spec)


def go(world, vehicle, steps, **controls):
    for _ in range(steps):
        vehicle.drive(**controls)
        world.step()


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("hertz", [1.0, 2.0, 8.0])
def test_at_rest_the_suspension_is_compressed_by_g_over_w_squared(make, hertz):
    world, vehicle = car(make, spec=[mc.Wheel(place, 0.3, hertz=hertz, travel=0.4) for place in PLACES])
    go(world, vehicle, 600)
    x = G / (2 * np.pi * hertz) ** 2
    assert vehicle.compressions == pytest.approx(x, rel=1e-6)
    assert world.body("car").position[2] == pytest.approx(0.7 - x, abs=1e-7)
    assert vehicle.loads == pytest.approx(1000 * G / 4, rel=1e-6)
    assert [ground.name for ground in vehicle.grounds] == ["road"] * 4


def test_a_suspension_of_any_stiffness_and_a_stop_beyond_its_travel():
    """Stiffer than any step could follow; and a fall from 3 m, of which the body touches the ground never."""
    world, vehicle = car(spec=[mc.Wheel(place, 0.3, hertz=100.0) for place in PLACES])
    go(world, vehicle, 300)
    assert np.abs(world.velocities[1]).max() < 1e-6
    world, vehicle = car(height=3.0, spec=[mc.Wheel(place, 0.5, hertz=1.2, travel=0.3) for place in PLACES])
    lowest = 9.0
    for _ in range(300):
        go(world, vehicle, 1)
        lowest = min(lowest, world.body("car").position[2])
    assert lowest > 0.3 and np.abs(world.velocities[1]).max() < 1e-2


def test_it_accelerates_by_force_over_mass_and_brakes_by_friction():
    world, vehicle = car()
    go(world, vehicle, 120)
    go(world, vehicle, 120, force=2000.0)
    assert vehicle.speed == pytest.approx(4.0, rel=1e-3)
    start, speed = world.body("car").position[0], vehicle.speed
    seconds = 0
    while vehicle.speed > 0.0 and seconds < 120:
        go(world, vehicle, 1, brake=1e9)
        seconds += 1
    assert world.body("car").position[0] - start == pytest.approx(speed**2 / (2 * G), rel=0.08)
    assert seconds / 60 == pytest.approx(speed / G, rel=0.08)
    go(world, vehicle, 300, brake=np.inf)
    assert np.abs(world.velocities[1]).max() < 1e-9
    assert vehicle.spins == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("brake", [0.0, 500.0])
def test_coasting(brake):
    """Free wheels roll on for ever; a weak brake takes its force."""
    world, vehicle = car(speed=10.0, height=0.59)
    go(world, vehicle, 180, brake=brake)
    assert vehicle.speed == pytest.approx(10.0 - brake / 1000 * 3.0, rel=3e-3)
    assert vehicle.spins == pytest.approx(vehicle.speed / 0.3, rel=1e-3)


def test_parked_on_a_slope_it_does_not_creep():
    world, vehicle = car(gravity=(-G * np.sin(0.4), 0, -G * np.cos(0.4)))
    go(world, vehicle, 300, brake=1e9)
    there = world.body("car").position.copy()
    go(world, vehicle, 1200, brake=1e9)
    assert np.abs(world.body("car").position - there).max() < 1e-8
    world, vehicle = car(gravity=(-G * np.sin(0.4), 0, -G * np.cos(0.4)), friction=0.1)  # tan 0.4 > sqrt(0.1)
    go(world, vehicle, 180, brake=1e9)
    assert vehicle.speed < -0.2 and vehicle.slides.all()


@pytest.mark.parametrize("steer", [0.1, -0.25, 0.5])
def test_it_drives_in_a_circle_about_the_point_in_which_the_axles_meet(steer):
    """Slowly: base / tan(steer) from the middle of the rear axle, to the side to which it is steered."""
    world, vehicle = car()
    places = []
    for _ in range(1500):
        go(world, vehicle, 1, force=400.0 * (2.0 - vehicle.speed), steer=steer)
        places.append(world.body("car").position[:2].copy())
    places = np.array(places[600:])
    a = np.column_stack([2 * places, np.ones(len(places))])
    x, y, c = np.linalg.lstsq(a, (places**2).sum(axis=1))[0]
    assert np.sqrt(c + x * x + y * y) == pytest.approx(np.hypot(2.4 / np.tan(steer), 1.2), rel=3e-3)
    assert np.sign(world.body("car").angular_velocity[2]) == np.sign(steer)
    assert not vehicle.slides.any()


def test_too_fast_for_the_bend_it_slides():
    world, vehicle = car(friction=0.25, speed=20.0)
    go(world, vehicle, 60)
    go(world, vehicle, 60, steer=0.3)
    assert vehicle.slides[:2].all()
    assert abs(world.body("car").angular_velocity[2]) < 20.0 * np.tan(0.3) / 2.4 / 2


def test_rear_wheels_that_are_steered_turn_the_other_way():
    spec = [mc.Wheel(place, 0.3, steered=True) for place in PLACES]
    world, vehicle = car(spec=spec)
    go(world, vehicle, 1, steer=0.3)
    front, rear = vehicle.steered[:2], vehicle.steered[2:]
    assert front == pytest.approx(-rear, abs=1e-12) and (front > 0).all()
    assert front[0] > front[1]  # the inner wheel turns more


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_a_turned_world_is_the_same_world(make):
    turn = np.array([0.5, 0.5, -0.1, np.sqrt(1 - 0.51)])
    plain, turned = car(make, speed=5.0), car(make, speed=5.0, turn=turn)
    for world, vehicle in (plain, turned):
        go(world, vehicle, 200, force=800.0, steer=0.2)
    r = matrix(turn)
    assert turned[0].positions[1] == pytest.approx(r @ plain[0].positions[1], abs=1e-6)
    for (x, p), (y, q) in zip(plain[1].frames(), turned[1].frames()):
        assert y == pytest.approx(r @ x, abs=1e-6)
        assert abs(np.dot(q, multiply(turn, p))) == pytest.approx(1.0, abs=1e-9)


def test_it_drives_over_bumps_and_off_a_cliff():
    heights = np.random.default_rng(0).uniform(0.0, 0.1, (41, 11))
    world, vehicle = car(road=mc.HeightField(heights, spacing=(1.0, 1.0)), height=1.0)
    world.set_pose("car", (-15.0, 0.0, 1.0))
    fell = False
    for _ in range(900):
        go(world, vehicle, 1, force=500.0 * (8.0 - vehicle.speed))
        fell |= not vehicle.loads.any() and world.body("car").position[2] < -1.0
    assert fell and world.body("car").position[0] > 20.0
    assert vehicle.grounds == [None] * 4 and (vehicle.compressions < 0).all()


def test_a_raft_gets_the_opposite_of_every_force():
    """Without friction below and without gravity from the side: the sum of momenta stays."""
    scene = mc.Scene()
    smooth = mc.Material(friction=0.0)
    scene.add_body("ice", kind="static", shape=mc.Plane((0, 0, 1)), material=smooth)
    scene.add_body("raft", shape=mc.Box((10, 5, 0.5)), position=(0, 0, 0.5), mass=5000)
    scene.add_body("car", shape=mc.Box((1.5, 0.7, 0.3)), position=(0, 0, 1.9), mass=1000)
    world = mc.World(scene)
    world.set_material("raft", mc.Material(friction=1.0))
    world.set_material("ice", smooth)
    vehicle = mc.Vehicle(world, "car", wheels())
    go(world, vehicle, 120)
    go(world, vehicle, 60, force=1000.0)
    assert (world.masses[:, None] * world.velocities)[:, 0].sum() == pytest.approx(0.0, abs=1e-6)
    assert world.body("car").velocity[0] == pytest.approx(1.0, rel=1e-2)
    assert world.body("raft").velocity[0] == pytest.approx(-0.2, rel=1e-2)


def test_it_rides_on_what_moves():
    scene = mc.Scene()
    scene.add_body("deck", kind="kinematic", shape=mc.Box((10, 10, 0.5)), velocity=(1, 0.5, 0))
    scene.add_body("car", shape=mc.Box((1.5, 0.7, 0.3)), position=(0, 0, 1.4), mass=1000)
    world = mc.World(scene)
    vehicle = mc.Vehicle(world, "car", wheels())
    go(world, vehicle, 120, brake=1e9)
    assert world.body("car").velocity == pytest.approx((1, 0.5, 0), abs=1e-3)
    assert vehicle.spins == pytest.approx(0.0, abs=1e-2)


def test_bodies_that_it_never_meets_bear_no_wheel():
    world, vehicle = car()
    world.ignore_collision("car", "road")
    go(world, vehicle, 60)
    assert vehicle.grounds == [None] * 4 and world.body("car").position[2] < -3.0


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda world: mc.Vehicle(world, "road", wheels()), "body 'road' is static; it must be dynamic"),
        (lambda world: mc.Vehicle(world, "car", []), "a list of one Wheel or more"),
        (lambda world: mc.Vehicle(world, "car", [1]), "a list of one Wheel or more"),
        (lambda world: mc.Vehicle(world, "car", wheels(), up=(1, 0, 1)), "forward and up must be at right angles"),
        (lambda world: mc.Vehicle(world, "car", wheels(), up=(0, 0, 0)), "up must not be zero"),
        (lambda world: mc.Vehicle(None, "car", wheels()), "world must be a World"),
        (lambda world: mc.Vehicle(world, "car", wheels()).drive(steer=2.0), "steer must be"),
        (lambda world: mc.Vehicle(world, "car", wheels()).drive(brake=-1.0), "brake must not be negative"),
        (lambda world: mc.Vehicle(world, "car", wheels()).drive(force=np.nan), "force must be finite"),
        (lambda world: mc.Wheel((0, 0, 0), radius=0.0), "radius must be"),
        (lambda world: mc.Wheel((0, 0)), "position must be 3 numbers"),
    ],
)
def test_wrong_calls_say_what_is_wrong(wrong, message):
    with pytest.raises(mc.SceneError, match=message):
        wrong(car()[0])


def test_wrong_names_answer_with_the_right_one():
    with pytest.raises(TypeError, match="wheel"):
        mc.Vehicle(car()[0], "car", weels=wheels())
    with pytest.raises(TypeError, match="steered"):
        mc.Wheel((0, 0, 0), steer=True)
