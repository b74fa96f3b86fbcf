"""Worlds whose joints come and go while they run, between bodies that change: after every edit they are what a world made
anew of all that there is goes on as, to the bit, whatever solves their joints."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.scene.joints import JOINTS
from mcsim.state.arrays import excluded_pairs
from plain_joints import PLAIN, plain_joint

KINDS = ("static", "dynamic", "kinematic")
SHAPES = (mc.Sphere(0.2), mc.Box((0.2, 0.15, 0.1)), [mc.Sphere(0.15), mc.Box((0.1, 0.1, 0.2), position=(0.2, 0, 0))])
SOFT = mc.Material(stiffness=5000.0, damping=20.0)
WORLDS = [
    (mc.World, {}),
    (mc.World, {"sleep": mc.Sleep(time=0.05)}),
    (mc.World, {"solver": "pgs"}),
    (mc.World, {"joint_solver": "rows"}),
    (mc.World, {"stabilization": "split_impulse"}),
    (mc.World, {"integrator": "rattle"}),
    (mc.World, {"contact": "compliant"}),
    (mc.ReducedWorld, {}),
]


def level(a, b) -> list:
    """Of a joint of one's own: two bodies at heights that differ by 0.1."""
    return [b.position[2] - a.position[2] - 0.1]


def yard() -> mc.Scene:
    """Some bodies over the floor, four of which are two pairs."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=SOFT)
    for number in range(7):
        scene.add_body(
            f"b{number}", shape=SHAPES[number % 3], position=(0.5 * number, 0.0, 0.6 + 0.1 * (number % 2)), material=SOFT
        )
    scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0.25, 0.0, 0.6)))
    scene.add_joint(mc.HingeJoint("b3", "b4", anchor=(1.75, 0.0, 0.6), axis=(0, 1, 0), limits=(-0.5, 0.5), friction=0.1))
    return scene


def join(world, number: int, x: int, y: int, kind: int) -> None:
    """A joint of any type that a point places, a gear on two hinges, or one of one's own, between two bodies, or of one to
    the world."""
    names, types = [*world.body_names[1:], None], sorted(PLAIN)
    a, b = names[x % len(names)], names[y % len(names)]
    hinges = [joint.name for joint in world.scene.joints if joint.type == "hinge"]
    if kind == 0 and len(hinges) > 1:
        world.add_joint(mc.GearJoint(hinges[0], hinges[-1], ratio=2.0, name=f"n{number}"))
        return
    if kind == 1:
        world.add_joint(mc.UserJoint(a, b, level, name=f"n{number}"))
        return
    at = np.mean([world.body(name).position for name in (a, b) if name] or [np.zeros(3)], axis=0)
    world.add_joint(plain_joint(types[kind % len(types)], a, b, at, (0, 1, 0), name=f"n{number}", collide=bool(kind % 2)))


def edit(world, number: int, deed: str, x: int, y: int, kind: int) -> None:
    bodies, joints = world.body_names[1:], world.joint_names
    body = bodies[x % len(bodies)] if bodies else None
    if deed == "join":
        join(world, number, x, y, kind)
    elif deed == "part" and joints:
        world.remove_joint(joints[x % len(joints)])
    elif deed == "add":
        world.add_body(f"m{number}", shape=SHAPES[kind % 3], position=(0.5 * (x % 8), 0.4, 0.8), material=SOFT)
    elif deed == "remove" and body:
        world.remove_body(body)
    elif deed == "kind" and body:
        world.set_kind(body, KINDS[kind % 3])
    elif deed == "shape" and body:
        world.set_shape(body, SHAPES[kind % 3])
    elif deed == "material" and body:
        world.set_material(body, mc.Material(friction=0.1 * (kind % 9), stiffness=5000.0, damping=20.0))
    elif deed == "switch" and body:
        world.body(body).enabled = bool(kind % 2)
    elif deed == "apart" and len(bodies) > 1 and body != bodies[y % len(bodies)]:
        world.ignore_collision(body, bodies[y % len(bodies)], bool(kind % 2))


deeds = st.sampled_from(["join", "join", "part", "add", "remove", "kind", "shape", "material", "switch", "apart"])
edits = st.lists(
    st.tuples(deeds, st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 12)), max_size=9
)


def go_on(world, steps: int) -> str:
    """What becomes of a world, or why it goes no further."""
    try:
        world.step(steps)
    except mc.SimulationError as error:
        return str(error)
    return world.state_hash()


@pytest.mark.parametrize(("kind", "keywords"), WORLDS)
@settings(deadline=None, max_examples=amount(12, 150))
@given(edits)
def test_edits_of_joints_are_what_is_made_anew(kind, keywords, deeds):
    world = kind(yard(), **keywords)
    for number, (deed, x, y, which, steps) in enumerate(deeds):
        before = world.state_hash()
        try:
            edit(world, number, deed, x, y, which)
        except mc.SceneError:  # refused: it has no body that moves, or a gear is on it
            assert world.state_hash() == before
        other = copy.deepcopy(world)
        told = excluded_pairs(world.scene, {name: i for i, name in enumerate(world.body_names)})
        apart = world._collider.get_excluded()
        assert {frozenset(pair) for pair in told.tolist()} == {frozenset(pair) for pair in apart.tolist()}
        assert world.joint_names == other.joint_names and world._there.joint_index == other._there.joint_index
        assert world._there.body_index == other._there.body_index
        assert world.state_hash() == other.state_hash()
        assert np.array_equal(world._joints["geared"], other._joints["geared"])
        told = go_on(world, steps)
        assert told == go_on(other, steps)
        if not isinstance(told, str) or len(told) != len(before):
            return


def test_pairs_that_two_joints_keep_apart_stay_so_until_the_last_goes():
    """Also where the pair is ignored besides, or one of the bodies has another number meanwhile."""
    world = mc.World(yard())
    world.add_joint(mc.DistanceJoint("b0", "b1", anchor_a=(0, 0, 0.6), anchor_b=(0.5, 0, 0.7), name="rope"))
    ball = world.joint_names[0]

    def apart() -> bool:
        numbers = {world.body_names.index(name) for name in ("b0", "b1")}
        return numbers in [set(pair) for pair in world._collider.get_excluded().tolist()]

    assert apart()
    world.remove_joint(ball)
    assert apart()
    world.ignore_collision("b0", "b1")
    world.remove_body("b2")
    world.remove_joint("rope")
    assert apart()
    world.ignore_collision("b0", "b1", False)
    assert not apart()


def test_every_type_comes_and_goes():
    """One after the other, between the same two bodies; what is left is the world without it."""
    assert set(PLAIN) < set(JOINTS)
    world = mc.World(yard())
    for kind in sorted(PLAIN):
        world.add_joint(plain_joint(kind, "b5", "b6", (2.75, 0.0, 0.6), (0, 1, 0), name=kind))
        assert go_on(copy.deepcopy(world), 3) == go_on(world, 3)
        world.remove_joint(kind)
        assert go_on(copy.deepcopy(world), 3) == go_on(world, 3)
