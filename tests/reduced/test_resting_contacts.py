"""Contacts of trees at rest are as deep as World's at the same substep, what bears much for its size too; a tree at rest
drifts in one piece; neighbours, units and the kind of floor have no part in it."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.reduced import JointModel

LYING = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)


def floor(ground="plane"):
    scene = mc.Scene()
    if ground == "plane":
        scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    elif ground == "box":
        scene.add_body("floor", shape=mc.Box((30, 30, 1)), kind="static", position=(0, 0, -1))
    else:
        corners = [(-30, -30, 0), (30, -30, 0), (30, 30, 0), (-30, 30, 0)]
        scene.add_body("floor", shape=mc.Mesh(corners, [(0, 1, 2), (0, 2, 3)]), kind="static")
    return scene


def stack(count, size=1.0):
    scene = floor()
    for i in range(count):
        scene.add_body(f"b{i}", shape=mc.Box((0.5 * size,) * 3), position=(0, 0, size * (0.5 + i)))
    return scene


def limbs(count, density=1000.0, first=mc.BallJoint, **keywords):
    """Capsules in a row. first: the kind of their first joint."""
    scene = floor()
    for i in range(count):
        scene.add_body(
            f"b{i}", shape=mc.Capsule(0.08, 0.15), position=(0.5 * i, 0, 0.08), orientation=LYING, density=density
        )
        if i:
            make, more = (first, keywords) if i == 1 else (mc.BallJoint, {})
            scene.add_joint(make(f"b{i - 1}", f"b{i}", anchor=(0.5 * i - 0.25, 0, 0.08), **more))
    return scene


def laden(weight):
    """A hand's breadth between the floor and a bar that another bar hangs on."""
    scene = floor()
    for y in (-0.3, 0.3):
        scene.add_body(f"pad{y}", shape=mc.Box((0.06, 0.04, 0.02)), position=(0, y, 0.02), density=800)
    scene.add_body("bar", shape=mc.Box((0.05, 0.4, 0.05)), position=(0, 0, 0.09), density=800 * weight)
    scene.add_body("arm", shape=mc.Box((0.05, 0.05, 0.05)), position=(0, 0, 0.19), density=800 * weight)
    scene.add_joint(mc.FixedJoint("bar", "arm", anchor=(0, 0, 0.14)))
    return scene


def depth(world, seconds):
    world.step(round(seconds / world.dt))
    assert np.abs(world.velocities).max() < 0.01
    return -world.contacts["separation"].min()


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize(
    "scene, within", [(stack(1), 1e-3), (stack(4), 0.05), (stack(6, 0.05), 0.2), (limbs(2), 0.1), (limbs(4, 50.0), 0.15)]
)
def test_it_is_as_deep_as_in_maximal_coordinates(scene, within, dt):
    maximal = depth(mc.World(scene, dt=dt, substeps=1, sleep=False), 2.0)
    assert depth(mc.ReducedWorld(scene, dt=dt), 2.0) == pytest.approx(maximal, rel=within)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("weight", [1, 10, 30])
def test_what_bears_much_is_no_deeper_than_in_maximal_coordinates(weight, dt):
    """Where a load acts beside the middle of a body it counts for more than by masses alone, as World counts it: contacts
    are as stiff for it in both, though they are solved less often over generalized velocities."""
    maximal = depth(mc.World(laden(weight), dt=dt, substeps=1, sleep=False), 2.0)
    assert depth(mc.ReducedWorld(laden(weight), dt=dt), 2.0) < 1.2 * maximal


def palms(weight, beside):
    """A slab on two palms that hang on arms, so far beside their middles."""
    scene = floor()
    for k, y in enumerate((-0.3, 0.3)):
        scene.add_body(f"palm{k}", shape=mc.Box((0.08, 0.04, 0.012)), position=(0, y, 0.012), density=1000)
        scene.add_body(f"arm{k}", shape=mc.Capsule(0.03, 0.12), position=(-0.23, y, 0.03), orientation=LYING, density=1000)
        scene.add_joint(mc.BallJoint(f"palm{k}", f"arm{k}", anchor=(-0.08, y, 0.02)))
    scene.add_body("slab", shape=mc.Box((0.02, 0.4, 0.05)), position=(beside, 0, 0.074), density=1000 * weight)
    return scene


@pytest.mark.parametrize("weight", [1, 4])
@pytest.mark.parametrize("beside", [0.05, 0.07])
def test_what_is_pressed_beside_its_middle_is_no_deeper(weight, beside):
    """A contact's spring is by J H^-1 J', with levers, and so is its load: by the masses of the two bodies alone these were
    up to twice as deep."""
    deep = [depth(mc.ReducedWorld(palms(weight, place), dt=1 / 60), 3.0) for place in (0.0, beside)]
    assert deep[1] < 1.1 * deep[0]


@pytest.mark.parametrize(
    "count, dt, stature, mass",
    [(1, 1 / 60, 1.74, 73.0), (2, 1 / 120, 1.74, 73.0), (4, 1 / 60, 1.74, 300.0), (9, 1 / 60, 1.74, 73.0)],
)
def test_ragdolls_at_rest_hardly_overlap(count, dt, stature, mass):
    """They lie on their own hands, which weigh a hundredth of them: 12 mm deep when contacts that bear much had the springs
    of others. Two substeps are as good as World's four."""
    scene = mc.scenes.build("ragdolls", count=count, stature=stature, mass=mass)
    deep = {}
    for substeps in (1, 2):
        world = mc.ReducedWorld(scene, dt=dt, substeps=substeps)
        world.step(round(2.5 / dt))
        deep[substeps] = -world.contacts["separation"].min()
    assert deep[1] < 4e-3 and deep[2] < 1e-3


@pytest.mark.parametrize(
    "count, dt",
    [(2, 1 / 60), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((4, 1 / 240), (2, 1 / 240), (4, 1 / 400)))],
)
def test_a_tree_at_rest_drifts_in_one_piece(count, dt):
    """Its velocities are rounding, and so is what a drift makes of their energy. Each placement of a tree asks the
    user's joint: 70 times a step, and once up to 15,000 times."""
    calls = []

    def hinge(q):
        calls.append(1)
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3)

    scene = limbs(count, first=mc.HingeJoint, axis=(0, 1, 0), name="own")
    world = mc.ReducedWorld(scene, dt=dt, models={"own": JointModel(1, hinge)})
    world.step(round(1.5 / dt))
    for _ in range(20):
        calls.clear()
        world.step()
        assert len(calls) < 150


@pytest.mark.parametrize("height, speed", [(0.7, (0.5, 0.2, -1.0)), (1.2, (0.5, 0.2, 0.0)), (0.9, (0.0, 0.5, -2.0))])
def test_where_a_contact_is_first_found_does_not_matter(height, speed):
    """On its way to the floor: a mesh finds it a step sooner than a box does."""
    ends = []
    for ground in ("plane", "box", "mesh"):
        scene = floor(ground)
        for k, z in enumerate((0.7, 0.0)):
            scene.add_body(f"b{k}", shape=mc.Capsule(0.1, 0.3), position=(0, 0, height + z), velocity=speed)
        scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0, 0, height + 0.35)))
        world = mc.ReducedWorld(scene, dt=1 / 60)
        world.step(30)
        ends.append(world.positions[1:].copy())
    assert np.abs(ends[1] - ends[0]).max() < 1e-9 and np.abs(ends[2] - ends[0]).max() < 1e-9


def tumbling(length, weight, pair):
    """Boxes, and two capsules on a joint if there is a pair, fall, in units of length and mass."""
    scene = mc.Scene(gravity=(0, 0, -9.81 * length))
    scene.add_body("floor", shape=mc.Box((30 * length, 30 * length, length)), kind="static", position=(0, 0, -length))
    turns = np.random.default_rng(3).normal(size=(3, 4))
    density = 1000 * weight / length**3
    for i, turn in enumerate(turns):
        scene.add_body(
            f"box{i}",
            shape=mc.Box((0.3 * length, 0.2 * length, 0.4 * length)),
            density=density,
            position=(3 * i * length, 0, 0.8 * length),
            orientation=turn / np.linalg.norm(turn),
        )
    for i in range(2 if pair else 0):
        scene.add_body(
            f"b{i}",
            shape=mc.Capsule(0.08 * length, 0.15 * length),
            density=density,
            orientation=LYING,
            position=np.array((0.3 * i, 3, 0.5 + 0.4 * i)) * length,
        )
    if pair:
        scene.add_joint(mc.BallJoint("b0", "b1", anchor=np.array((0.15, 3, 0.7)) * length))
    return scene


@pytest.mark.parametrize("size, mass", [(2.0**-5, 1.0), (2.0**8, 2.0**-5), (1.0, 2.0**9)])
@pytest.mark.parametrize("pair", [False, True])
def test_units_leave_the_bits_alone(size, mass, pair):
    ends = []
    for length, weight in ((1.0, 1.0), (size, mass)):
        world = mc.ReducedWorld(tumbling(length, weight, pair), dt=1 / 60)
        world.step(120)
        ends.append(world.positions / length)
    assert np.array_equal(*ends)
