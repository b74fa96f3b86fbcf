"""Limits, motors and friction of joints that hold each other (docs/theory/tree.md, "Bounded rows with the joints in them"):
ten links on their limits are one stiff beam, of which sweeps would need thousands."""

import math

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
LYING = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)
TEN_DEGREES = math.radians(10)


def row_of_links(make, count, gravity=(0, 0, -9.81), cls=mc.World, **settings):
    """Rods along x, the first hinged to the world at the origin; make(a, b, place) their joints."""
    scene, before = mc.Scene(gravity=gravity), None
    for k in range(count):
        shape = mc.Capsule(0.1, 0.3, orientation=LYING)
        scene.add_body(f"link{k}", shape=shape, position=(0.5 + k, 0, 0), collision_mask=0)
        scene.add_joint(make(before, f"link{k}", (k, 0, 0)))
        before = f"link{k}"
    return cls(scene, **settings)


LIMITED = [
    *({"stabilization": name} for name in ("soft", "baumgarte", "split_impulse", "projection", "ggl")),
    *({"integrator": name} for name in ("rk4", "rattle", "variational")),
]


def rest_on_limits(world):
    world.step(round(12 / world.dt))
    angles = np.array([joint.position for joint in world.joints])
    assert np.abs(angles) == pytest.approx(TEN_DEGREES, abs=1e-6)
    assert np.abs(world.velocities).max() < 1e-3
    assert not world.stats.all_notes


def limited(a, b, place):
    return mc.HingeJoint(a, b, place, Y, limits=(-TEN_DEGREES, TEN_DEGREES), friction=1.0)


@pytest.mark.parametrize("count", [3, 5, 8])
@pytest.mark.parametrize("settings", LIMITED, ids=str)
def test_links_come_to_rest_on_their_limits(count, settings):
    """By every stabilization that brings limits back, and every integrator."""
    rest_on_limits(row_of_links(limited, count, dt=1 / 240 if count == 3 else 1 / 60, sleep=False, **settings))


@pytest.mark.parametrize("count", [3, 5, 8])
@pytest.mark.parametrize("stabilization", ["soft", "baumgarte"])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_trees_come_to_rest_on_their_limits(count, stabilization, dt):
    """In generalized coordinates, where nothing but the limits is solved."""
    rest_on_limits(row_of_links(limited, count, cls=mc.ReducedWorld, stabilization=stabilization, dt=dt, sleep=False))


@pytest.mark.parametrize(
    "kind, count",
    [(kind, count) for kind in ("hinge", "ball", "universal") for count in (3, 10, 30)] + [("slider", 30)],
)
def test_friction_that_is_enough_holds_a_row_level(kind, count):
    """The first joint bears g m (count^2 / 2), or along sliders, which in short rows are left to sweeps, g m count."""

    def make(a, b, place):
        if kind == "hinge":
            return mc.HingeJoint(a, b, place, Y, friction=2e6)
        if kind == "ball":
            return mc.BallJoint(a, b, place, friction=2e6)
        if kind == "universal":
            return mc.UniversalJoint(a, b, place, Y, Z, friction=2e6)
        return mc.SliderJoint(a, b, axis=Z, anchor=place, friction=2e6)

    world = row_of_links(make, count, sleep=False)
    world.step(240)
    assert np.abs(world.positions[:, 2]).max() < 1e-6
    assert np.abs(world.velocities).max() < 1e-6


@pytest.mark.parametrize("factor", [0.98, 1.02])
@pytest.mark.parametrize("count", [3, 8])
def test_friction_slips_just_where_it_is_too_little(count, factor):
    """Each joint's bound is so many times what it bears."""
    mass = mc.Capsule(0.1, 0.3).volume * 1000.0

    def make(a, b, place):
        beyond = count - place[0]
        return mc.HingeJoint(a, b, place, Y, friction=factor * 9.81 * mass * beyond**2 / 2)

    world = row_of_links(make, count, sleep=False)
    world.step(60)
    fallen = -world.positions[-1, 2]
    assert fallen < 1e-6 if factor > 1.0 else fallen > 1e-3


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "none", "ggl"])
def test_velocity_motors_in_a_row_each_keep_their_speed(count, stabilization):
    """What carries the others turns as fast as it is told, at once."""
    speeds = np.linspace(0.3, -0.2, count)
    world = row_of_links(
        lambda a, b, place: mc.HingeJoint(a, b, place, Y, motor=mc.Motor(velocity=speeds[int(place[0])])),
        count,
        stabilization=stabilization,
        sleep=False,
    )
    for _ in range(30):
        world.step()
        assert [joint.velocity for joint in world.joints] == pytest.approx(speeds, abs=1e-9)


@pytest.mark.parametrize("load", [5.0, 500.0, 50_000.0])
@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "projection"])
def test_a_motor_keeps_its_speed_through_gears(load, stabilization):
    scene = mc.Scene()
    for k, (x, radius) in enumerate(((0.0, 0.5), (1.5, 1.0))):
        scene.add_body(f"gear{k}", shape=mc.Sphere(radius), position=(x, 0, 3), collision_mask=0)
    scene.add_joint(mc.HingeJoint(None, "gear0", (0, 0, 3), axis=Y, motor=mc.Motor(velocity=1.0), name="driver"))
    scene.add_joint(mc.HingeJoint(None, "gear1", (1.5, 0, 3), axis=Y, name="driven"))
    scene.add_joint(mc.GearJoint("driver", "driven", 2.0))
    scene.add_body("door", shape=mc.Box((0.2, 2, 2)), position=(2.6, 0, 2), mass=load, collision_mask=0)
    scene.add_joint(mc.SliderJoint(None, "door", axis=Z, name="way"))
    scene.add_joint(mc.GearJoint("way", "driven", -1.0))
    world = mc.World(scene, stabilization=stabilization)
    for _ in range(60):
        world.step()
        assert world.joint("driver").velocity == pytest.approx(1.0, abs=1e-9)
    assert abs(world.joint("driver").motor_force) == pytest.approx(9.81 * load / 2, rel=1e-9)


# ---- random trees: what is found against plain sweeps, which go on until nothing changes ---------------------------------


def random_tree(seed):
    """2 to 9 bodies on hinges, sliders and balls, with any limits, friction, motors and springs; light and heavy."""
    rng = np.random.default_rng(seed)
    scene, places = mc.Scene(), [np.zeros(3)]
    for k in range(int(rng.integers(2, 10))):
        on = int(rng.integers(0, k)) if k else -1
        place = places[on + 1] + 0.3 * rng.normal(size=3)
        places.append(place + 0.3 * rng.normal(size=3))
        mass = float(10 ** rng.uniform(-1, 1))
        inertia = tuple(mass * rng.uniform(0.03, 0.05, 3))
        spin = 0.3 * rng.normal(size=3)
        scene.add_body(
            f"b{k}",
            mass=mass,
            inertia=inertia,
            position=places[-1],
            velocity=0.3 * rng.normal(size=3),
            angular_velocity=spin,
        )
        parts = {}
        if rng.random() < 0.6:
            parts["friction"] = float(10 ** rng.uniform(-1, 2))
        a, axis = None if on < 0 else f"b{on}", rng.normal(size=3)
        if rng.random() < 0.3:
            if rng.random() < 0.5:
                parts["swing_limit"] = float(10 ** rng.uniform(-2, 0))
            scene.add_joint(mc.BallJoint(a, f"b{k}", place, **parts))
            continue
        if rng.random() < 0.6:
            parts["limits"] = (-float(10 ** rng.uniform(-4, 0)), float(10 ** rng.uniform(-4, 0)))
        if rng.random() < 0.4:
            most = float(10 ** rng.uniform(-1, 3))
            parts["motor"] = mc.Motor(velocity=float(rng.normal()), max_force=most)
        if rng.random() < 0.3:
            parts["spring"] = mc.Spring(float(10 ** rng.uniform(0, 3)), float(10 ** rng.uniform(-1, 1)))
        scene.add_joint((mc.HingeJoint if rng.random() < 0.7 else mc.SliderJoint)(a, f"b{k}", place, axis, **parts))
    return scene


def unsolved(world):
    """By how much the velocities of friction and of velocity motors are wrong, as of a boxed complementarity problem
    [m/s, rad/s]; the last joint has neither."""
    rows = world.rows
    own = np.isin(rows["kind"], ["motor", "joint_friction"]) & (rows["source"] < len(world.joints) - 1)
    rate = (world.jacobian() @ np.concatenate([world.velocities, world.angular_velocities], axis=1).ravel() + rows["bias"])[
        own
    ]
    impulse, (lower, upper) = rows["impulse"][own], rows["bounds"][own].T
    at_lower, at_upper = impulse <= lower + 1e-12 * abs(lower), impulse >= upper - 1e-12 * abs(upper)
    wrong = np.where(at_lower, np.minimum(rate, 0), np.where(at_upper, np.maximum(rate, 0), rate))
    return np.abs(wrong).max(initial=0.0)


@pytest.mark.parametrize("seed", range(amount(12, 120)))
def test_rows_of_random_trees_are_solved(seed):
    """A position motor that does nothing, on a body of its own, sees to it that they are held, whatever they weigh."""
    scene = random_tree(seed)
    scene.add_body("clock", mass=0.01, inertia=(1e-4,) * 3, position=scene.bodies[0].position + np.array([0, 0, 0.1]))
    scene.add_joint(
        mc.HingeJoint(
            scene.bodies[0].name,
            "clock",
            scene.bodies[0].position,
            Z,
            motor=mc.Motor(position=0.0, hertz=1.0, max_force=0.1),
        )
    )
    world = mc.World(scene, substeps=1, sleep=False)
    for _ in range(3):
        world.step()
        assert unsolved(world) < 1e-8
    assert not [note for note in world.stats.all_notes if note.kind == "pivots"]


@pytest.mark.parametrize(
    "settings", [{}, {"cls": mc.ReducedWorld, "dt": 1 / 60}, {"integrator": "rk4"}, {"stabilization": "baumgarte"}], ids=str
)
def test_copies_and_snapshots_go_on_alike(settings):
    """Also where the world is looked at between steps."""
    make = lambda a, b, place: mc.HingeJoint(a, b, place, Y, limits=(-0.1, 0.1), friction=1.0)
    world = row_of_links(make, 6, sleep=False, **settings)
    world.step(20)
    for _ in range(6):
        twin = row_of_links(make, 6, sleep=False, **settings)
        twin.restore(world.snapshot())
        world.step(5)
        for _ in range(5):
            twin.step()
            assert len(twin.rows) >= 0 and twin.state_hash()
        assert world.state_hash() == twin.state_hash()


def test_more_rows_than_a_matrix_has_room_for():
    """A tree needs none: 150 links, whose friction is enough, stay level."""
    world = row_of_links(lambda a, b, place: mc.BallJoint(a, b, place, friction=1e9), 150, sleep=False)
    world.step(30)
    assert np.abs(world.positions[:, 2]).max() < 1e-6
    assert not world.stats.all_notes


@pytest.mark.parametrize("seed", [12, 20, 21, 74, 94, 113])
def test_what_is_held_together_is_not_struck(seed):
    """A ball strikes one of two bodies that a fixed joint holds to each other, which touch and bounce, too. Between those
    nothing gives: the answer to an impulse there is rounding, of a link 1e-5 times as heavy as what bears it, and no blow
    is to grow by its inverse."""
    rng = np.random.default_rng(seed)
    scene, bouncy = mc.Scene(gravity=(0, 0, 0)), mc.Material(0.6, 1.0)
    spin = rng.normal(size=3)
    scene.add_body("heavy", shape=mc.Box((0.2, 0.1, 0.4)), material=bouncy, velocity=(0, 1, 0), angular_velocity=spin)
    mass, spin = 10 ** rng.uniform(-3, -2), 10 * rng.normal(size=3)
    light, held = (0.24, 0.14, 0.12), np.array([0.33, -0.1, 0.28])
    given = {"mass": mass, "position": light, "angular_velocity": spin}
    scene.add_body("light", shape=mc.Sphere(0.2), material=bouncy, **given)
    scene.add_body("held", shape=mc.Sphere(0.16), mass=0.05, position=held, material=bouncy)
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    rng.normal(size=3)
    scene.add_body("ball", shape=mc.Sphere(0.06), position=held + 0.3 * way, velocity=-5 * way, material=bouncy)
    scene.add_joint(mc.HingeJoint("heavy", "light", rng.uniform(-2, 2, 3), (0, 1, 0)))
    scene.add_joint(mc.FixedJoint("light", "held", collide=True))
    world = mc.World(scene, dt=1 / 60)
    before = world.energy()
    world.step(10)
    assert world.energy().kinetic <= 1.1 * before.kinetic
