"""Mechanics knows no unit: the same scene in other lengths, masses and times moves the same way, to the bit.

Factors are powers of two, so that every product with one is exact. What is compared is told in the first units again.
"""

from functools import partial

import numpy as np
import pytest

import mcsim as mc
from units import in_units

# Ready scenes that are small.
SCENES = (
    "newton_cradle",
    "dzhanibekov",
    "stack",
    "wall",
    "dominoes",
    "card_tower",
    "arch",
    "wrecking_ball",
    "one",
    "pyramid",
    "tower",
    "chain20_heavy",
    "marbles",
    "terrain",
    "pendulum",
    "spinning_top",
    "incline",
    "tower10_heavy",
    "bridge",
    "free_ragdoll",
    "slider_crank",
    "four_bar",
    "cardan_shaft",
)
STEPS = 12


def draw(seed, ground="plane"):
    """A few solids of every kind, of sizes from 0.05 to 1 m, over a ground."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(name="draw")
    n = 9
    if ground == "plane":
        scene.add_body("ground", shape=mc.Plane((0, 0, 1)), kind="static")
    elif ground == "box":
        scene.add_body("ground", shape=mc.Box((8, 8, 0.5)), position=(0, 0, -0.5), kind="static")
    elif ground == "field":
        scene.add_body("ground", shape=mc.HeightField(rng.uniform(-0.2, 0.0, (n, n)), 1.5), kind="static")
    else:
        g = np.linspace(-6, 6, n)
        places = [(x, y, 0.0) for x in g for y in g]
        faces = [
            f
            for i in range(n - 1)
            for j in range(n - 1)
            for f in ((i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1), (i * n + j, (i + 1) * n + j + 1, i * n + j + 1))
        ]
        scene.add_body("ground", shape=mc.Mesh(places, faces), kind="static")
    for i in range(10):
        r, q = np.exp(rng.uniform(np.log(0.05), 0.0)), rng.normal(size=4)
        shape = (
            mc.Sphere(r),
            mc.Box(r * rng.uniform(0.3, 1, 3)),
            mc.Capsule(0.5 * r, 0.5 * r),
            mc.Cylinder(r, 0.4 * r),
            mc.ConvexHull(r * rng.uniform(-1, 1, (12, 3))),
        )[i % 5]
        scene.add_body(
            shape=shape,
            position=(*rng.uniform(-1.5, 1.5, 2), 0.6 + 0.7 * i),
            orientation=q / np.linalg.norm(q),
            velocity=rng.normal(size=3),
            angular_velocity=2 * rng.normal(size=3),
            material=mc.Material(friction=0.5, restitution=0.3 * (i % 2), rolling_friction=0.01 * r * (i % 3)),
        )
    return scene


def moved(scene, steps=STEPS, dt=1 / 60, **keywords):
    world = mc.World(scene, dt=dt, **keywords)
    world.step(steps)
    return world.positions.copy(), world.orientations.copy()


def assert_same(scene, k, bound=0.0, steps=STEPS, unit_of="length", **keywords):
    told = moved(scene, steps, **keywords)
    found = moved(in_units(scene, **{unit_of: 2.0**k}), steps, **keywords)
    unit = 2.0**k if unit_of == "length" else 1.0
    assert np.abs(found[0] / unit - told[0]).max() <= bound
    assert np.abs(found[1] - told[1]).max() <= bound


@pytest.mark.parametrize("k", (-10, 7))
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.sampled(5)
def test_ready_scenes_in_other_lengths_have_the_same_bits(name, k):
    assert_same(mc.load(name), k)


@pytest.mark.parametrize("name", SCENES)
def test_ready_scenes_in_other_masses_have_the_same_bits(name):
    """By an odd power of two, whose root is none."""
    assert_same(mc.load(name), 7, unit_of="mass")


def told(world, length=1.0, time=1.0):
    """Its state in the first units."""
    return np.hstack(
        [world.positions / length, world.orientations, world.velocities * (time / length), world.angular_velocities * time]
    )


def assert_same_in(scene, kind=mc.World, steps=60, length=1.0, mass=1.0, time=1.0, **seconds):
    """All of the state after every step. seconds: settings of the first units with a power of time, (value, power)."""

    def world(**units):
        of = units.get("time", 1.0)
        return kind(in_units(scene, **units), dt=of / 60, **{k: v * of**power for k, (v, power) in seconds.items()})

    first, other = world(), world(length=length, mass=mass, time=time)
    for k in range(steps):
        first.step()
        other.step()
        assert np.array_equal(told(first), told(other, length, time)), f"step {k}"


@pytest.mark.parametrize(
    "units", ({"mass": 0.25}, {"mass": 0.5}, {"mass": 2.0**9}, {"length": 0.25}, {"length": 64.0}), ids=str
)
@pytest.mark.parametrize("name", ("four_bar", "slider_crank", "wrecking_ball", "chain20_heavy"))
def test_motors_in_loops_are_probed_alike_in_any_unit(name, units):
    """What joints answer to a unit impulse has no size of its own that would say when it is found."""
    assert_same_in(mc.load(name), **units)


@pytest.mark.parametrize("length", (2.0**-12, 2.0**-9, 2.0**-7, 2.0**9))
def test_hinges_of_small_trees_that_stand_side_by_side_keep_their_energy_too(length):
    """How far a hinge's axes lean is an angle: whether that is too much to keep an account is told by its way."""
    assert_same_in(mc.load("free_ragdoll"), length=length)


def presses(shape):
    """A crank that turns as it must presses what hangs on it against the floor, and two walls that come together a box."""
    scene, bouncing = mc.Scene(gravity=(0, 0, -9.8125)), mc.Material(restitution=0.6, friction=0.5)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=bouncing)
    scene.add_body("crank", mass=5, inertia=(0.1, 0.2, 0.3), position=(0, 0, 0.7))
    scene.add_body("wheel", shape=shape, material=bouncing, position=(0.5, 0, 0.7), angular_velocity=(0, 3, 0))
    scene.add_joint(mc.HingeJoint(None, "crank", (-0.5, 0, 0.7), (0, 1, 0), motion=mc.Motion(velocity=1.3)))
    scene.add_joint(mc.BallJoint("crank", "wheel", (0.5, 0, 0.7)))
    for side in (-1, 1):
        scene.add_body(
            kind="kinematic",
            shape=mc.Box((0.1, 1, 1)),
            position=(5 + 0.65 * side, 0, 1),
            material=bouncing,
            orientation=(0.96, 0, 0, 0.28) if side > 0 else (1, 0, 0, 0),
            velocity=(-1.0 * side, 0, 0),
        )
    scene.add_body("squeezed", shape=mc.Box((0.5, 0.4, 0.3)), position=(5, 0, 0.31), material=bouncing)
    return scene


@pytest.mark.parametrize("stabilization", ("soft", "none", "baumgarte", "split_impulse", "projection", "ggl"))
@pytest.mark.parametrize("units", ({"mass": 0.5}, {"mass": 2.0**7}, {"length": 8.0}), ids=str)
def test_driven_pressers_in_other_units(stabilization, units):
    """What no blow can answer was found by roots of masses, which odd powers of two have none of."""
    for shape in (mc.Box((0.3, 0.3, 0.3)), mc.Capsule(0.2, 0.2)):
        assert_same_in(presses(shape), partial(mc.World, stabilization=stabilization), **units)


# Settings with a time in them where the user tells none.
PACES = {"push_speed": (3.0, -1), "sleep_speed": (0.01, -1), "sleep_time": (0.5, 1)}


def heavy_top(count, ratio):
    scene = mc.Scene(gravity=(0, 0, -9.8125))
    scene.add_body("ground", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(count):
        scene.add_body(
            shape=mc.Box((0.5, 0.5, 0.5)), mass=1000.0 * (ratio if i == count - 1 else 1), position=(0, 0, 0.5 + i)
        )
    return scene


@pytest.mark.parametrize("time", (0.25, 4.0, 2.0**-5))
@pytest.mark.parametrize(("count", "ratio"), ((10, 100.0), (10, 10.0), (10, 1.0), (2, 100.0), (3, 30.0), (5, 1000.0)))
def test_what_lies_heavy_on_light_bodies_in_other_times(count, ratio, time):
    """What sweeps may leave undone follows from the step, gravity and sizes."""
    assert_same_in(heavy_top(count, ratio), steps=40, time=time, **PACES)


@pytest.mark.parametrize("time", (2.0**-6, 0.25, 8.0))
@pytest.mark.parametrize("kind", (mc.World, mc.ReducedWorld))
@pytest.mark.parametrize("name", ("bridge", "cardan_shaft", "slider_crank", "four_bar", "tower10_heavy"))
@pytest.mark.sampled(7)
def test_loops_and_towers_in_other_times(name, kind, time):
    """What is closed well enough follows from the substep: no rate or time is an absolute one."""
    assert_same_in(mc.load(name), kind, time=time, **PACES)


@pytest.mark.parametrize("ground", ("plane", "box", "mesh", "field"))
@pytest.mark.parametrize(("seed", "k"), ((0, -10), (1, -4), (2, 5), (3, 10)))
def test_random_scenes_in_other_lengths_have_the_same_bits(ground, seed, k):
    # Where a triangle's rounding counts, the last bit may be another.
    assert_same(draw(seed, ground), k, 1e-12 if ground == "mesh" else 0.0, steps=50)


@pytest.mark.parametrize(
    "keywords",
    (
        {"solver": "pgs"},
        {"stabilization": "baumgarte"},
        {"stabilization": "split_impulse"},
        {"friction": "pyramid"},
        {"stabilization": "projection"},
        {"friction_points": "point"},
        {"substeps": 1},
    ),
    ids=str,
)
def test_other_ways_to_solve_in_other_lengths_have_the_same_bits(keywords):
    assert_same(draw(4), -6, steps=30, **keywords)


@pytest.mark.parametrize("k", (-10, 4, 12))
@pytest.mark.parametrize("direct", (True, False))
def test_what_slides_and_spins_ends_its_sweeps_alike(k, direct):
    """Sweeps end where velocities stay, spins by what they move; joints that meet the floor are closed alike too."""
    scene = mc.Scene(name="slide")
    scene.add_body("floor", shape=mc.Box((30, 30, 1)), kind="static", position=(0, 0, -1))
    for i, (shape, h) in enumerate(((mc.Box((0.5, 0.3, 0.2)), 0.2), (mc.Sphere(0.3), 0.3), (mc.Cylinder(0.3, 0.2), 0.2))):
        scene.add_body(
            f"s{i}",
            shape=shape,
            position=(0, 3 * i, h),
            velocity=(3, 1, 0),
            angular_velocity=(0, 0, 2 + i),
            material=mc.Material(friction=0.5, torsional_friction=0.02 * i, rolling_friction=0.01 * i),
        )
    if direct:
        for i, (v, z) in enumerate(((0, 1.5), (0.5, 0.8))):
            scene.add_body(f"w{i}", shape=mc.Capsule(0.1, 0.3), position=(5, 0, z), velocity=(v, 0.4 * v, 0))
        scene.add_joint(mc.BallJoint("w0", "w1", anchor=(5, 0, 1.15)))
    assert_same(scene, k, steps=90)


@pytest.mark.parametrize("k", (-9, 9))
def test_limits_of_a_slider_in_other_lengths_have_the_same_bits(k):
    """From which distance on a limit has a row follows from gravity and from how far the anchors are."""
    scene = mc.Scene(name="sliders")
    for i in range(4):
        scene.add_body(f"b{i}", shape=mc.Box((0.1, 0.2, 0.3)), position=(i, 0, 0), velocity=(0, 0, 0.5 * i - 1))
        scene.add_joint(mc.SliderJoint(None, f"b{i}", axis=(0.6, 0, 0.8), limits=(-0.3, 0.05 * (i + 1)), name=f"j{i}"))
    assert_same(scene, k, steps=60)


@pytest.mark.parametrize("k", (-10, 7))
def test_masses_and_times_too(k):
    """Times with what is told in seconds told anew: dt, and the settings that have no other origin."""
    scene, unit = draw(5), 2.0**k
    told = moved(scene, push_speed=3.0, sleep_speed=0.01, sleep_time=0.5)
    heavy = moved(in_units(scene, mass=unit), push_speed=3.0, sleep_speed=0.01, sleep_time=0.5)
    slow = moved(
        in_units(scene, time=unit), dt=unit / 60, push_speed=3.0 / unit, sleep_speed=0.01 / unit, sleep_time=0.5 * unit
    )
    for found in (heavy, slow):
        assert np.array_equal(found[0], told[0]) and np.array_equal(found[1], told[1])


def test_a_pile_falls_asleep_at_the_same_step_in_any_length():
    scenes = [in_units(mc.load("stack"), length=2.0**k) for k in (-9, 0, 9)]
    worlds = [mc.World(scene) for scene in scenes]
    for world in worlds:
        world.step(120)
    assert worlds[1].asleep.any()
    assert all(np.array_equal(world.asleep, worlds[1].asleep) for world in worlds)


def test_generalized_coordinates_in_other_lengths():
    """Contacts there are as soft, as near and as fast by the bodies' sizes as in a World."""
    scene, unit = draw(6), 2.0**-6
    worlds = [mc.ReducedWorld(s, dt=1 / 240) for s in (scene, in_units(scene, length=unit))]
    for world in worlds:
        world.step(40)
    assert np.array_equal(worlds[1].positions / unit, worlds[0].positions)


# ---- small bodies under the gravity that there is ----------------------------------------------------------------------


def pyramid(size, base, top=1.0, drop=0.0, **keywords):
    """Cubes of so many metres; -> the top's height by what it was, after 1.5 s."""
    e = size / 2
    scene = mc.Scene(gravity=(0, 0, -10))
    scene.add_body("ground", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(base):
        for j in range(i, base):
            last = i == base - 1
            scene.add_body(
                shape=mc.Box((e, e, e)),
                density=1000 * (top if last else 1.0),
                position=((i + 1) * e + 2 * (j - i) * e - base * e, 0, (2 * i + 1) * e + drop * last),
            )
    world = mc.World(scene, **keywords)
    world.step(90)
    return world.positions[-1][2] / ((2 * base - 1) * e)


@pytest.mark.parametrize("substeps", (4, 8))
@pytest.mark.parametrize("size", (0.005, 0.025, 1.0, 100.0))
def test_pyramids_of_small_and_large_cubes_stand(size, substeps):
    assert 0.97 < pyramid(size, 10, substeps=substeps) < 1.001


def test_a_high_pyramid_of_cubes_of_5_cm_stands():
    assert 0.97 < pyramid(0.05, 30) < 1.001
