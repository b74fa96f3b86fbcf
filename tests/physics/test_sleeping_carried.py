"""What sleeps on something that moves steadily: as on what stands, seen from there (docs/theory/sleeping.md)."""

import copy
import math
import pickle

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

FRAMES = [(0.1, 0.0, 0.0), (-0.6, 0.8, 0.3), (-2.0, 11.0, 0.0), (24.0, -18.0, 2.0)]  # 0.1 to 30 m/s
CUBE = mc.Box((0.25,) * 3)
FRAME = (-2.0, 11.0, 0.5)


def pyramid(put):
    for i in range(4):
        for j in range(4 - i):
            put(f"b{i}{j}", shape=CUBE, position=(0.55 * j + 0.275 * i, 0, 0.25 + 0.5 * i))


def stack(put):
    for i in range(5):
        put(f"b{i}", shape=CUBE, position=(0.01 * i, 0, 0.26 + 0.52 * i))


def rubble(put):
    """Dropped one on the other."""
    rng = np.random.default_rng(2)
    for i in range(5):
        q = rng.normal(size=4)
        put(f"b{i}", shape=mc.Box(rng.uniform(0.1, 0.3, 3)), position=(2 * i, 0, 0.6), orientation=q / np.linalg.norm(q))


def figures(put):
    """Three limbs each, which fall and come to lie."""
    for k in range(3):
        for i in range(3):
            put(
                f"b{k}{i}",
                shape=mc.Capsule(0.08, 0.15),
                position=(0.46 * i + 1.6 * k, 0, 0.2 + 0.1 * k),
                orientation=(math.sqrt(0.5), 0, math.sqrt(0.5), 0),
                joint=i and mc.BallJoint(f"b{k}{i - 1}", f"b{k}{i}", anchor=(0.46 * i - 0.23 + 1.6 * k, 0, 0.2 + 0.1 * k)),
            )


def leash(put):
    """A chain on the floor, tied to a kinematic body that goes along."""
    put("hand", kind="kinematic", shape=mc.Sphere(0.05), position=(-0.25, 0, 0.5))
    for i in range(4):
        put(
            f"b{i}",
            shape=CUBE,
            position=(0.55 + 0.6 * i, 0, 0.25),
            joint=mc.BallJoint(f"b{i - 1}" if i else "hand", f"b{i}", anchor=(0.25 + 0.6 * i, 0, 0.25)),
        )


def pendulum(put):
    """Hanging from a kinematic body, over the floor."""
    put("hand", kind="kinematic", shape=mc.Sphere(0.05), position=(0, 0, 4))
    for i in range(3):
        put(
            f"b{i}",
            shape=mc.Sphere(0.1),
            position=(0.001, 0, 3.5 - 0.5 * i),
            joint=mc.BallJoint(f"b{i - 1}" if i else "hand", f"b{i}", anchor=(0, 0, 4 - 0.5 * i)),
        )


KINDS = {of.__name__: of for of in (pyramid, stack, rubble, figures, leash, pendulum)}


def scene_of(kind, velocity=(0, 0, 0)):
    """Over a kinematic floor, with a ball out of the way, all of it with the velocity."""
    scene = mc.Scene()

    def put(name, joint=None, **body):
        scene.add_body(name, velocity=velocity, **body)
        if joint:
            scene.add_joint(joint)

    put("floor", kind="kinematic", shape=mc.Box((30, 30, 1)), position=(0, 0, -1))
    put("ball", shape=mc.Sphere(0.2), position=(-6, 0, 40), gravity_scale=0.0, density=3000)
    KINDS[kind](put)
    return scene


def world_of(kind, velocity=(0, 0, 0), **keywords):
    return mc.World(scene_of(kind, velocity), **keywords)


def seen(world, velocity):
    """Positions from the frame."""
    return world.positions - np.multiply(velocity, world.time)


def asleep(kind="pyramid", velocity=FRAME, steps=90):
    world = world_of(kind, velocity)
    world.step(steps)
    assert np.array_equal(world.asleep, [name[0] == "b" and name != "ball" for name in world.body_names])
    return world


@pytest.mark.parametrize("velocity", FRAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_all_goes_as_on_a_floor_that_rests(kind, velocity):
    """The same motion, and asleep at the same step; what sleeps moves as its carrier does."""
    rest, carried = world_of(kind), world_of(kind, velocity)
    for _ in range(150 if kind == "pendulum" else 240):
        rest.step()
        carried.step()
        assert np.array_equal(carried.asleep, rest.asleep), rest.time
        assert np.abs(seen(carried, velocity) - rest.positions).max() < 1e-9, rest.time
        assert np.all(carried.velocities[carried.asleep] == velocity)
    assert np.abs(carried.velocities - velocity - rest.velocities).max() < 1e-7
    assert rest.asleep.sum() == (0 if kind == "pendulum" else len(rest.masses) - (3 if kind == "leash" else 2))
    assert carried.stats.contact_rows == rest.stats.contact_rows and len(carried.contacts) == len(rest.contacts)
    gaps = [world.contacts["position"] - world.positions[world.contacts["body_b"]] for world in (rest, carried)]
    assert np.abs(gaps[1] - gaps[0]).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("velocity", FRAMES[1:])
def test_a_step_costs_what_it_does_at_rest(velocity):
    """Nothing is solved."""
    world = asleep(velocity=velocity)
    world.step(60)
    assert world.stats.contact_rows == 0 and world.stats.joint_rows == 0 and world.asleep.sum() == 10


@pytest.mark.parametrize("kind", ["pyramid", "figures", "leash"])
def test_copies_snapshots_and_what_forgets_go_on_to_the_same_bits(kind, monkeypatch):
    monkeypatch.setenv("MCSIM_FORGET", "1")
    forgetting = world_of(kind, FRAME)
    monkeypatch.delenv("MCSIM_FORGET")
    world = world_of(kind, FRAME)
    world.step(amount(120, 0))
    forgetting.restore(world.snapshot())
    for _ in range(amount(5, 10)):
        world.step(24)
        forgetting.step(24)
        assert world.state_hash() == forgetting.state_hash()
    assert world.asleep.any()
    snapshot, digest = world.snapshot(), world.state_hash()
    twins = [pickle.loads(pickle.dumps(world)), copy.deepcopy(world), forgetting, world_of(kind, FRAME)]
    twins[-1].restore(snapshot)
    one_by_one = copy.deepcopy(world)

    def go_on(world, calls):
        for _ in range(calls):
            world.step(30 // calls)
        world.apply_impulse("ball", (0, 0, -4000.0))
        for _ in range(calls):
            world.step(30 // calls)
        return world.state_hash()

    after = go_on(world, 1)
    assert go_on(one_by_one, 30) == after
    for twin in twins:
        assert twin.state_hash() == digest and go_on(twin, 1) == after
    world.restore(snapshot)
    assert world.state_hash() == digest and go_on(world, 1) == after


def test_looking_changes_nothing():
    world, other = asleep(), asleep()
    rows, contacts, energy = len(world.rows), world.contacts, world.energy()
    assert rows > 0 and len(contacts) > 0 and energy.kinetic > 0
    assert world.state_hash() == other.state_hash()
    awake = copy.deepcopy(world)
    awake.wake()
    assert abs(world.delassus() - awake.delassus()).max() == 0
    world.step(5)
    other.step(5)
    assert world.state_hash() == other.state_hash()


def throw(world, velocity, at=(0.5, 0, 1.0)):
    """The ball, at what the frame has there."""
    world.set_pose("ball", np.add(at, (-2.0, 0, 0)) + np.multiply(velocity, world.time))
    world.set_velocity("ball", np.add(velocity, (12.0, 0, 0)))


@pytest.mark.parametrize("kind, velocity", [("pyramid", FRAMES[1]), ("stack", FRAMES[3]), ("figures", FRAMES[2])])
def test_a_ball_wakes_what_it_hits(kind, velocity):
    """As on a floor that rests, and at the same step."""
    rest, carried = world_of(kind), world_of(kind, velocity)
    for world, u in ((rest, (0, 0, 0)), (carried, velocity)):
        world.step(240)
        assert world.asleep.any()
        before = seen(world, u)
        throw(world, u, at=(0.5, 0, 0.21))
    for _ in range(30):
        rest.step()
        carried.step()
        assert np.array_equal(carried.asleep, rest.asleep)
        assert np.abs(seen(carried, velocity) - rest.positions).max() < 1e-8
    assert not carried.asleep.any() and np.abs(seen(carried, velocity) - before).max(axis=1)[2] > 0.01


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.set_velocity("floor", (0, 0, 0)),
        lambda w: w.set_velocity("floor", np.add(FRAME, (0, 1e-6, 0))),
        lambda w: w.set_velocity("floor", angular_velocity=(0, 0, 1e-3)),
        lambda w: w.set_pose("floor", np.add(w.positions[0], (0, 0, -1))),
        lambda w: w.remove_body("floor"),
        lambda w: w.set_kind("floor", "static"),
        lambda w: w.set_velocity("b00", np.add(FRAME, (0.1, 0, 0))),
        lambda w: w.set_velocity("b00", (0, 0, 0)),
        lambda w: w.set_velocity("b00", angular_velocity=(0, 0, 1)),
        lambda w: w.apply_impulse("b00", (1, 0, 0)),
        lambda w: w.apply_force("b00", (1, 0, 0)),
        lambda w: w.set_pose("b00", w.positions[2] + (0, 1e-3, 0)),
        lambda w: w.wake("b00"),
    ],
)
def test_what_the_user_changes_wakes_it(change):
    world = asleep()
    change(world)
    world.step()
    assert not world.asleep.any()


@pytest.mark.parametrize("velocity", FRAMES[1:3])
def test_a_floor_that_stops_lets_its_load_slide_and_sleep_anew(velocity):
    """As one that rests and starts, seen from the other frame."""
    stops, starts = asleep(velocity=velocity), asleep(velocity=(0, 0, 0))
    shift = seen(stops, velocity) - starts.positions
    begin = stops.time
    stops.set_velocity("floor", (0, 0, 0))
    starts.set_velocity("floor", -np.array(velocity))
    for _ in range(300):
        stops.step()
        starts.step()
        assert np.array_equal(stops.asleep, starts.asleep)
        if stops.time < begin + 0.5:
            assert np.abs(seen(stops, velocity) - shift - starts.positions).max() < 1e-8
    assert stops.asleep.sum() == 10 and np.all(stops.velocities[stops.asleep] == 0)


def test_a_carrier_that_speeds_up_never_has_sleepers():
    """However slowly: a lift that starts, at a hundredth of the speed below which its load is still in each step."""
    world = world_of("stack")
    for k in range(180):
        world.set_velocity("floor", (0, 0, 1e-4 * k))
        world.step()
        assert not world.asleep.any()
    world.step(60)
    assert world.asleep.sum() == 5


@pytest.mark.parametrize("turn", [1e-3, 0.5])
def test_what_turns_carries_nobody_asleep(turn):
    world = world_of("stack", FRAMES[1])
    world.set_velocity("floor", angular_velocity=(0, 0, turn))
    world.step(120)
    assert not world.asleep.any()


def test_a_floor_that_is_placed_anew_in_every_step_has_no_velocity():
    world = world_of("stack")
    world.step(60)
    for k in range(60):
        world.set_pose("floor", (0.001 * k, 0, -1.0))
        world.step()
    assert not world.asleep.any()


def test_one_that_is_moved_to_steady_places_carries():
    """Its velocity is the way to the next place over dt, and differs in the last digits from step to step."""
    world = world_of("stack", FRAMES[1])
    start, velocities = world.positions[0].copy(), set()
    for k in range(240):
        world.move_to("floor", start + np.multiply(FRAMES[1], (k + 1) * world.dt))
        velocities.add(world.velocities[0].tobytes())
        world.step()
    assert len(velocities) > 5 and world.asleep.sum() == 5
    assert np.abs((world.positions[2:] - world.positions[0])[:, :2]).max() < 0.1


@pytest.mark.parametrize("speed", [0.5, 30.0])
def test_what_is_carried_against_a_wall_wakes_before_it_is_there(speed):
    """The wall stands still, and is thin."""
    on, off = (mc.World(carried_to_a_wall(speed), sleep=sleep) for sleep in (True, False))
    for world in (on, off):
        world.step(90)
    assert on.asleep.sum() == 2
    steps = round(2.6 / speed * 60)
    for _ in range(steps):
        on.step()
        off.step()
        assert np.abs(on.positions - off.positions).max() < 1e-3
    assert not on.asleep.any() and on.positions[2:, 0].max() < on.positions[0, 0] + 1.0


def carried_to_a_wall(speed):
    scene = mc.Scene()
    far = 1.5 * speed + 1.0
    scene.add_body("sled", kind="kinematic", shape=mc.Box((200, 2, 0.1)), position=(0, 0, -0.1), velocity=(speed, 0, 0))
    scene.add_body("wall", kind="static", shape=mc.Box((0.02, 2, 2)), position=(far + 1.0, 0, 2.1))
    for k in range(2):
        scene.add_body(f"box{k}", shape=CUBE, position=(0, 0, 0.25 + 0.5 * k), velocity=(speed, 0, 0))
    return scene


@pytest.mark.parametrize("shift", [(0, 0, 0), (3.0, -1.0, 0.0)])
def test_two_carriers_meet(shift):
    """Piles asleep on two of them, which go past each other, sleep until they touch."""
    scene = mc.Scene()
    for name, x, v in (("left", -2.0, 1.0), ("right", 2.0, 0.0)):
        u = np.add(shift, (v, 0, 0))
        y = 0.0 if name == "left" else 2.2
        scene.add_body(name, kind="kinematic", shape=mc.Box((3, 1, 0.1)), position=(x, y, -0.1), velocity=u)
        for k in range(2):
            scene.add_body(f"{name}{k}", shape=mc.Box((0.25, 1.15, 0.25)), position=(x, y, 0.25 + 0.5 * k), velocity=u)
    world = mc.World(scene)
    world.step(90)
    assert world.asleep.sum() == 4
    while seen(world, shift)[1, 0] < 1.3:
        world.step()
        assert world.asleep.sum() == 4, world.time
    world.step(30)
    assert not world.asleep.any() and seen(world, shift)[4:, 0].min() > 2.0


def test_beside_something_slow():
    """A ball that spins on the pile, on a floor that goes along: its neighbours stay awake, and no others."""
    rest, carried = world_of("pyramid"), world_of("pyramid", FRAME)
    for world, u in ((rest, (0, 0, 0)), (carried, FRAME)):
        world.set_pose("ball", np.add((0.75, 0, 2.2), np.multiply(u, world.time)))
        world.set_velocity("ball", angular_velocity=(0, 0, 2.0))
        world.body("ball").gravity_scale = 1.0
    for _ in range(400):
        rest.step()
        carried.step()
        assert np.array_equal(carried.asleep, rest.asleep)
        assert np.abs(seen(carried, FRAME) - rest.positions).max() < 1e-8
    assert 5 < rest.asleep.sum() < 10


def test_the_nearest_carrier_counts():
    """A row on the ground that a paddle pushes at: whoever of the two has the velocity, what the paddle touches is driven
    past the ground, and the others sleep on that."""
    states = []
    for ground, paddle in (((0, 0, 0), (-0.002, 0, 0)), ((0.002, 0, 0), (0, 0, 0))):
        scene = mc.Scene()
        scene.add_body("ground", kind="kinematic", shape=mc.Box((30, 30, 1)), position=(0, 0, -1), velocity=ground)
        scene.add_body("paddle", kind="kinematic", shape=mc.Box((0.1, 2, 1)), position=(2.398, 0, 1.01), velocity=paddle)
        for i in range(5):
            scene.add_body(f"b{i}", shape=CUBE, position=(0.51 * i, 0, 0.25), velocity=ground)
        world = mc.World(scene)
        history = []
        for _ in range(360):
            world.step()
            history.append(world.asleep.tolist())
        states.append((history, seen(world, ground)))
    assert states[0][0] == states[1][0] and np.abs(states[0][1] - states[1][1]).max() < 1e-9
    assert states[0][0][60][2:] == [True] * 5 and states[0][0][-1][2:] == [True] * 4 + [False]


def test_what_moves_elsewhere_changes_no_bit():
    scene = scene_of("rubble")
    far = scene.copy()
    far.add_body("sled", kind="kinematic", shape=mc.Box((2, 2, 0.1)), position=(2048, 0, 0), velocity=FRAME)
    far.add_body("load", shape=CUBE, position=(2048, 0, 0.35), velocity=FRAME)
    alone, both = mc.World(scene), mc.World(far)
    for _ in range(24):
        alone.step(10)
        both.step(10)
        count = len(alone.positions)
        assert np.array_equal(both.positions[:count], alone.positions)
        assert np.array_equal(both.asleep[:count], alone.asleep)
    assert both.asleep[-1]


def test_what_a_joint_ties_to_a_sleeper_wakes_it_when_it_begins_to_move():
    """It slept on, and the kinematic body was not moved at all."""
    world = asleep("leash", (0, 0, 0), steps=240)
    hand, end = (world.body(name).position.copy() for name in ("hand", "b3"))
    world.set_velocity("hand", (-1.0, 0, 0))
    world.step(60)
    assert not world.asleep.any()
    assert np.abs(world.body("hand").position - hand - (-1, 0, 0)).max() < 1e-12
    assert np.abs(world.body("b3").position - end - (-1, 0, 0)).max() < 0.05


@pytest.mark.parametrize("solver", ["tree", "rows"])
def test_joints_of_what_is_carried_stay_closed(solver):
    world = world_of("leash", FRAME, joint_solver=solver)
    world.step(600)
    assert world.asleep.sum() == 4
    assert np.abs(seen(world, FRAME)[2] - (-0.25, 0, 0.5)).max() < 1e-10
    assert len(world.joint_errors()) == 4 and np.abs(world.joint_errors()).max() < 1e-5


@pytest.mark.parametrize(
    "keywords",
    [
        {"joint_solver": "rows"},
        {"solver": "pgs"},
        {"stabilization": "baumgarte"},
        {"stabilization": "split_impulse"},
        {"stabilization": "projection"},
        {"stabilization": "ggl"},
        {"friction_points": "point"},
        {"threads": 2},
    ],
)
def test_whatever_the_solver(keywords):
    rest, carried = world_of("pyramid", **keywords), world_of("pyramid", FRAME, **keywords)
    for _ in range(120):
        rest.step()
        carried.step()
        assert np.array_equal(carried.asleep, rest.asleep)
        assert np.abs(seen(carried, FRAME) - rest.positions).max() < 1e-9
    throw(rest, (0, 0, 0)), throw(carried, FRAME)
    for _ in range(15):
        rest.step()
        carried.step()
        assert np.array_equal(carried.asleep, rest.asleep)
    assert np.abs(seen(carried, FRAME) - rest.positions).max() < 1e-5, "a blow multiplies what rounding does"


def test_a_failed_step_leaves_the_carried_as_they_were():
    world = asleep()
    digest = world.state_hash()
    world.forces[1, 0] = np.nan
    with pytest.raises(mc.SimulationError, match="ball"):
        world.step()
    assert world.state_hash() == digest and world.asleep.sum() == 10
    other = asleep()
    world.apply_torque("ball", (1e308, 0, 0))  # too fast in a later step of the call
    with pytest.raises(mc.SimulationError):
        world.step(3)
    assert world.asleep.sum() == 10
    other.step(round((world.time - other.time) * 60))
    assert np.array_equal(world.positions[2:], other.positions[2:]) and np.array_equal(world.contacts, other.contacts)
    world.set_velocity("ball", FRAME, (0, 0, 0))
    world.step(3)
    other.step(3)
    assert np.array_equal(world.positions[2:], other.positions[2:])


def test_sensors_see_what_is_carried_through():
    scene = scene_of("stack", FRAMES[0])
    scene.add_body("gate", kind="static", shape=mc.Box((0.05, 3, 3), sensor=True), position=(0.55, 0, 1.0))
    world = mc.World(scene)
    world.step(90)
    assert world.asleep.sum() == 5
    began = ended = 0
    for _ in range(600):
        world.step()
        began += len(world.events.sensor_begin)
        ended += len(world.events.sensor_end)
        assert world.asleep.sum() == 5
    assert began == ended == 5


def test_rays_meet_it_where_it_is():
    world = asleep("stack")
    world.step(60)
    x = world.body("b4").position
    hit = world.ray_cast(x + (0, 0, 5.0), (0, 0, -1))
    assert hit.body.name == "b4" and abs(hit.distance - 4.75) < 1e-3


def test_units_make_no_difference():
    """Lengths and speeds times a power of two: the same bits."""
    worlds = []
    for size in (1.0, 2.0**6):
        scene = mc.Scene(gravity=(0, 0, -9.81 * size))
        scene.add_body(
            "floor",
            kind="kinematic",
            shape=mc.Box((30 * size, 30 * size, size)),
            position=(0, 0, -size),
            velocity=np.multiply(FRAME, size),
        )
        for i in range(4):
            scene.add_body(
                f"b{i}",
                shape=mc.Box((0.25 * size,) * 3),
                position=(0, 0, (0.26 + 0.52 * i) * size),
                velocity=np.multiply(FRAME, size),
                density=1000 / size**3,
            )
        worlds.append(mc.World(scene))
        worlds[-1].step(120)
    assert worlds[0].asleep.sum() == 4 and np.array_equal(worlds[0].positions * 2.0**6, worlds[1].positions)
