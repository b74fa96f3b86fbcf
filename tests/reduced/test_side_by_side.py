"""Worlds of a rollout that fly side by side come to the bits that each comes to by itself; and which worlds may."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from mcsim.wide import levels
from mcsim.world.side_by_side import Abreast
from random_trees import random_state, scenes

RECORD = ("q", "qd", "positions", "orientations", "velocities", "angular_velocities")
INERTIA = {"mass": 0.7, "inertia": (0.01, 0.02, 0.015)}


def cart_pole(bodies=(), **hinge):
    """bodies: arguments of both besides; hinge: of the joint between them."""
    scene, bodies = mc.Scene(), dict(bodies)
    scene.add_body("cart", mass=1.0, inertia=(0.01, 0.01, 0.01), **bodies)
    scene.add_body("pole", mass=0.1, inertia=(0.008, 0.008, 0.0001), position=(0, 0, 0.5), **bodies)
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), name="slide"))
    scene.add_joint(mc.HingeJoint("cart", "pole", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge", **hinge))
    return scene


def several_trees():
    """An arm on a ball joint with a slider at its end, a pair of bodies in the air, one in a plane, and one that stands."""
    scene = mc.Scene()
    for name, position in (
        ("upper", (0, 0, -0.5)),
        ("lower", (0.2, 0, -1)),
        ("rod", (0.2, 0.3, -1)),
        ("free", (3, 0, 0)),
        ("hung", (3, 0, -1)),
        ("plane", (6, 0, -1)),
    ):
        scene.add_body(name, position=position, **INERTIA)
    scene.add_body("still", kind="static", shape=mc.Plane((0, 0, 1)), position=(0, 0, -50), collision_mask=0)
    scene.add_joint(mc.BallJoint(None, "upper", anchor=(0, 0, 0)))
    scene.add_joint(mc.HingeJoint("upper", "lower", anchor=(0, 0, -1), axis=(0, 1, 0)))
    scene.add_joint(mc.SliderJoint("lower", "rod", axis=(0, 0.6, 0.8)))
    scene.add_joint(mc.HingeJoint("free", "hung", anchor=(3, 0, -0.5), axis=(1, 0, 0)))
    scene.add_joint(mc.PlanarJoint(None, "plane", anchor=(6, 0, -1), normal=(0, 1, 0)))
    return scene


def apart(world, steps, **arguments):
    """The same rollout, one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Abreast, "suits", staticmethod(lambda world: False))
        return mc.rollout(world, steps, **arguments)


def check_same(found, right):
    for name in ("time", *RECORD):
        here, there = getattr(found, name), getattr(right, name)
        assert (here is None) == (there is None), name
        assert here is None or here.tobytes() == there.tobytes(), name
    assert str(found.failures) == str(right.failures) and str(found.notes) == str(right.notes)


@pytest.mark.parametrize("level", levels.available())
@pytest.mark.parametrize("scale", [0.1, 5.0, 80.0])
def test_each_as_by_itself(scale, level, monkeypatch):
    """More worlds than lanes, from motions that one piece a step resolves to such as ask for many: world.step() is the
    reference."""
    monkeypatch.setenv("MCSIM_LEVEL", level)
    rng = np.random.default_rng(1)
    world = mc.ReducedWorld(cart_pole(), dt=0.01, sleep=False)
    tau, qd = rng.normal(size=(19, 60, 2)) * scale, rng.normal(size=(19, 2)) * scale
    assert Abreast.suits(world)
    runs = mc.rollout(world, 60, controls={"tau": tau}, states={"qd": qd}, record=RECORD, threads=2)
    assert not runs.failures and not runs.notes
    for i in range(0, 19, 6):
        other = mc.ReducedWorld(cart_pole(), dt=0.01, sleep=False)
        other.qd = qd[i]
        for k in range(60):
            other.tau = tau[i, k]
            other.step()
            for name in RECORD:
                assert np.array_equal(getattr(runs, name)[i, k], getattr(other, name)), (i, k, name)
            assert runs.time[i, k] == pytest.approx(other.time)


@pytest.mark.parametrize("level", levels.available())
@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("sleep", [False, True])
def test_several_trees(sleep, substeps, level, monkeypatch):
    """What turns, is loose or slides in a plane, and what nothing moves; rows after every third step, and from a state in
    which bodies have turned over."""
    monkeypatch.setenv("MCSIM_LEVEL", level)
    rng = np.random.default_rng(2)
    world = mc.ReducedWorld(several_trees(), dt=0.01, substeps=substeps, sleep=sleep)
    world.tau = rng.normal(size=len(world.tau))
    world.step(7)
    q = np.tile(world.q, (11, 1))
    q[:, world.index(world.scene.joints[0].name)[0]] = (0.1, 0.7, -0.5, 0.5)
    qd = rng.normal(size=(11, len(world.qd))) * np.geomspace(0.1, 30, 11)[:, None]
    for arguments in ({"states": {"q": q, "qd": qd}}, {"states": {"qd": qd}}, {"controls": {"tau": qd[:, None]}}):
        assert Abreast.suits(world)
        arguments |= {"record": RECORD, "every": 3, "threads": 1}
        found = mc.rollout(world, 50, **arguments)
        check_same(found, apart(world, 50, **arguments))
        assert np.isfinite(found.positions).all() and np.ptp(found.positions[:, -1, 0, 0]) > 0.0


def tumbling():
    """A trunk in the air with three limbs of two links each, light ones."""
    scene = mc.Scene()
    scene.add_body("trunk", position=(0, 0, 0), **INERTIA)
    for k, (x, y) in enumerate([(0.3, 0.0), (-0.1, 0.3), (-0.1, -0.3)]):
        for part, length in (("thigh", 1.0), ("shin", 2.0)):
            scene.add_body(f"{part}{k}", mass=0.1, inertia=(2e-3, 1e-3, 2e-3), position=(length * x, length * y, -0.1 * k))
        scene.add_joint(mc.HingeJoint("trunk", f"thigh{k}", anchor=(0.5 * x, 0.5 * y, 0), axis=(0.6, 0, 0.8)))
        scene.add_joint(mc.HingeJoint(f"thigh{k}", f"shin{k}", anchor=(1.5 * x, 1.5 * y, 0), axis=(0, 0.6, 0.8)))
    return scene


@pytest.mark.parametrize("level", levels.available())
@pytest.mark.parametrize("scale", [0.3, 3.0, 30.0])
def test_a_tree_in_the_air_that_is_driven(scale, level, monkeypatch):
    """From motions that one round resolves to such as ask for many rounds and pieces; lanes begin pieces that are not good
    anew from where they stood, one world goes on from what it knows of them."""
    monkeypatch.setenv("MCSIM_LEVEL", level)
    rng = np.random.default_rng(4)
    world = mc.ReducedWorld(tumbling(), dt=0.02, sleep=False)
    arguments = {
        "states": {"qd": rng.normal(size=(9, len(world.qd))) * scale},
        "controls": {"tau": rng.normal(size=(9, 40, len(world.tau))) * 0.1 * scale},
        "record": RECORD,
        "threads": 1,
    }
    found = mc.rollout(world, 40, **arguments)
    check_same(found, apart(world, 40, **arguments))
    assert np.isfinite(found.q).all()


@given(made=scenes(largest=8), few=st.integers(2, 11))
@settings(max_examples=15, deadline=None)
def test_random_trees(made, few):
    scene, rng = made
    world = mc.ReducedWorld(scene, dt=0.02, sleep=False)
    assert Abreast.suits(world)
    states = [random_state(rng, world.system) for _ in range(few)]
    arguments = {
        "states": {"q": np.array([q for q, _, _ in states]), "qd": np.array([qd for _, qd, _ in states])},
        "controls": {"tau": np.array([tau for *_, tau in states])[:, None]},
        "record": RECORD,
        "threads": 1,
    }
    check_same(mc.rollout(world, 12, **arguments), apart(world, 12, **arguments))


def test_what_fails_is_told_as_by_itself():
    """Of thirteen worlds some come to no numbers, one so far that rounding is noted; the others go on."""
    world = mc.ReducedWorld(several_trees(), dt=0.05, sleep=False)
    tau = np.zeros((13, 1, len(world.tau)))
    tau[3], tau[7] = 1e200, -1e170
    qd = np.zeros((13, len(world.qd)))
    qd[5, 4] = 1e14
    arguments = {"controls": {"tau": tau}, "states": {"qd": qd}, "record": RECORD, "threads": 1}
    assert Abreast.suits(world)
    found = mc.rollout(world, 20, **arguments)
    check_same(found, apart(world, 20, **arguments))
    assert {3, 7} <= set(found.failures) and 5 in set(found.failures) | set(found.notes)
    assert np.isfinite(found.positions[[0, 1, 2, 4, 6, 8, 9, 10, 11, 12]]).all()
    assert np.isnan(found.q[3, -1]).all() and np.isnan(found.time[3, -1])


def test_what_hardly_moves_goes_on():
    """Pendulums with rotors, of all sorts of speeds, in worlds whose bodies may sleep: what hangs on joints alone never
    does."""
    scene = mc.Scene()
    scene.add_body("bob", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, -0.5))
    scene.add_joint(mc.HingeJoint(None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), armature=0.05))
    world = mc.ReducedWorld(scene, dt=0.01)
    world.step(80)
    arguments = {"states": {"qd": np.geomspace(1e-9, 10, 14)[:, None]}, "record": RECORD, "threads": 1}
    assert Abreast.suits(world)
    found = mc.rollout(world, 120, **arguments)
    check_same(found, apart(world, 120, **arguments))
    assert np.all(found.qd[:, -1] != 0.0)


def welded():
    scene = mc.Scene()
    scene.add_body("plate", **INERTIA)
    scene.add_joint(mc.FixedJoint(None, "plate", anchor=(0, 0, 0)))
    return scene


def floor():
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    return scene


@pytest.mark.parametrize("make", [mc.Scene, floor, welded])
def test_what_does_not_move(make):
    world = mc.ReducedWorld(make(), dt=0.01)
    for arguments in ({"record": RECORD}, {"record": (), "every": 2}, {"record": RECORD, "every": 20}):
        arguments |= {"worlds": 3, "threads": 1}
        check_same(mc.rollout(world, 6, **arguments), apart(world, 6, **arguments))


def test_tau_that_stays_as_it_is():
    world = mc.ReducedWorld(cart_pole(), dt=0.01, sleep=False)
    world.tau = (2.0, 0.1)
    found = mc.rollout(world, 30, worlds=3)
    other = mc.ReducedWorld(cart_pole(), dt=0.01, sleep=False)
    other.tau = (2.0, 0.1)
    other.step(30)
    assert np.array_equal(found.q[:, -1], [other.q] * 3)


def looped():
    scene = cart_pole()
    scene.add_joint(mc.DistanceJoint(None, "pole", (1, 0, 1), (0, 0, 1), name="rod"))
    return scene


def carried():
    scene = cart_pole()
    scene.add_body("train", kind="kinematic", position=(0, 5, 0), velocity=(1, 0, 0))
    return scene


def over_a_floor(sensor=False, **floor):
    """Two links in the air with shapes, and a floor that they would come to."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Box((5, 5, 0.1), sensor=sensor), position=(0, 0, -0.1), **floor)
    for name, x in (("one", 0.0), ("other", 0.5)):
        scene.add_body(name, shape=mc.Sphere(0.1), position=(x, 0, 0.3), collision_group=2)
    scene.add_joint(mc.HingeJoint("one", "other", anchor=(0.25, 0, 0.3), axis=(0, 1, 0)))
    return scene


@pytest.mark.parametrize("floor", [{"collision_mask": 1}, {"collision_group": 4, "collision_mask": 0}, {"sensor": True}])
def test_shapes_that_are_kept_apart(floor):
    world = mc.ReducedWorld(over_a_floor(**floor), dt=0.01, sleep=False)
    assert Abreast.suits(world)
    arguments = {"states": {"qd": np.eye(3, len(world.qd))}, "record": RECORD, "threads": 1}
    found = mc.rollout(world, 60, **arguments)
    check_same(found, apart(world, 60, **arguments))
    assert np.all(found.positions[:, -1, 1:, 2] < -0.5)  # through the floor


def test_masks_that_let_shapes_touch():
    assert not Abreast.suits(mc.ReducedWorld(over_a_floor(), dt=0.01, sleep=False))
    assert not Abreast.suits(mc.ReducedWorld(over_a_floor(collision_mask=3), dt=0.01, sleep=False))


SHAPE = {"shape": mc.Sphere(0.1)}
OTHERS = {
    "limits": lambda: cart_pole(limits=(-1.0, 1.0)),
    "a motor": lambda: cart_pole(motor=mc.Motor(velocity=1.0, max_force=1.0)),
    "a given motion": lambda: cart_pole(motion=mc.Motion(velocity=1.0)),
    "friction": lambda: cart_pole(friction=0.1),
    "what breaks": lambda: cart_pole(break_force=1e9),
    "damping": lambda: cart_pole({"linear_damping": 0.1}),
    "what touches": lambda: cart_pole(SHAPE, collide=True),
    "a loop": looped,
    "a kinematic body": carried,
}


@pytest.mark.parametrize("other", OTHERS)
def test_who_may_not(other):
    """What has rows, or forces that change on the way, is made one by one, and so alike."""
    world = mc.ReducedWorld(OTHERS[other](), dt=0.01, sleep=False)
    assert not Abreast.suits(world)
    qd = np.eye(2, len(world.qd))
    runs = mc.rollout(world, 5, states={"qd": qd})
    world.qd = qd[1]
    world.step(5)
    assert np.array_equal(runs.q[1, -1], world.q)


def test_settings_and_states_that_may_not():
    assert not Abreast.suits(mc.World(cart_pole(), sleep=False))
    assert not Abreast.suits(mc.ReducedWorld(cart_pole(), sleep=False, integrator="rk4"))
    world = mc.ReducedWorld(cart_pole(), sleep=False)
    world.apply_force("pole", (1, 0, 0))
    assert not Abreast.suits(world)
    world.step()
    assert Abreast.suits(world)
    assert Abreast.suits(mc.ReducedWorld(cart_pole(SHAPE), sleep=False))  # whose shapes are kept apart
