"""Snapshots whose numbers are not what a world writes: whatever stands there, the answer is a world that steps, or an
error; never a crash. And what is refused changes nothing."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import some
from mcsim.state import checks
from mcsim.state.fields import BODY_FIELDS, JOINT_DTYPE, MANIFOLD_DTYPE
from mcsim.world.snapshots import Packed

ROOT = Path(__file__).parents[2]
SOFT = mc.Material(stiffness=1e5, damping=100.0)
OCTAHEDRON = 0.1 * np.vstack([np.eye(3), -np.eye(3)])


def scene():
    """Boxes that sleep in a pile, hulls on a height field, a sensor, hinges with motor, limits and spring, a gear, a joint
    of the user's."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=SOFT)
    scene.add_body("gate", shape=mc.Box((1, 1, 1), sensor=True), kind="static")
    scene.add_body(
        "ground", shape=mc.HeightField(np.zeros((5, 5)), spacing=0.5), kind="static", position=(3, 0, 0), material=SOFT
    )
    for i in range(3):
        scene.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1 + 0.2 * i), material=SOFT)
    for i in range(2):
        scene.add_body(f"hull{i}", shape=mc.ConvexHull(OCTAHEDRON), position=(3 + 0.3 * i, 0, 0.12), material=SOFT)
    for i, name in enumerate("ab"):
        scene.add_body(name, shape=mc.Sphere(0.1), position=(0, 3 + i, 1), material=SOFT)
    scene.add_joint(
        mc.HingeJoint(
            None,
            "a",
            (0, 3, 1.5),
            (1, 0, 0),
            name="driven",
            limits=(-0.1, 0.1),
            motor=mc.Motor(velocity=1, max_force=1),
            break_force=1e6,
        )
    )
    scene.add_joint(mc.HingeJoint(None, "b", (0, 4, 1.5), (1, 0, 0), name="sprung", spring=mc.Spring(3.0)))
    scene.add_joint(mc.GearJoint("driven", "sprung", ratio=2.0, name="gear"))
    scene.add_joint(mc.UserJoint("a", "b", lambda a, b: [0.0 * a.position[0]], size=1, name="own"))
    return scene


def world_of(kind, keywords):
    world = (mc.ReducedWorld if kind == "reduced" else mc.World)(scene(), **keywords)
    world.step(60)
    return world


WORLDS = {
    "tree": ("world", {}),
    "rows": ("world", {"joint_solver": "rows"}),
    "compliant": ("world", {"contact": "compliant"}),
    "rk4": ("world", {"integrator": "rk4", "stabilization": "none"}),
    "pgs": ("world", {"solver": "pgs"}),
    "rattle": ("world", {"integrator": "rattle", "stabilization": "none"}),
    "reduced": ("reduced", {}),
    "projection": ("world", {"stabilization": "projection"}),
    "admm": ("world", {"solver": "admm", "iterations": 20}),
}


def leaves(dtype, path=()):
    """(path, dtype) of all plain fields of a record."""
    if dtype.names is None:
        return [(path, dtype.base)]
    return [leaf for name in dtype.names for leaf in leaves(dtype[name].base, (*path, name))]


def places(snapshot):
    """(name of the entry, path in its records, dtype) of all that a snapshot keeps."""
    return [(name, path, dtype) for name, packed in snapshot.packed.items() for path, dtype in leaves(packed.dtype)]


def extremes(dtype):
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return [limits.min, limits.max, max(limits.min, -1), 1, 7, 1000, limits.max // 2]
    return [np.nan, np.inf, -1e300, 1e18, 1e-320]


def tampered(snapshot, where, path, value, at):
    """A copy of a snapshot with one number changed: the one at `at` (in [0, 1)) of a field."""
    array = snapshot.packed[where].unpacked()
    field = array
    for name in path:
        field = field[name]
    if field.size:
        field[np.unravel_index(int(at * field.size), field.shape)] = value
    return with_array(snapshot, where, array)


def with_array(snapshot, name, array):
    """A copy of a snapshot with another array in the place of one."""
    other = copy.copy(snapshot)
    object.__setattr__(other, "packed", snapshot.packed | {name: array if isinstance(array, list) else Packed(array)})
    return other


def try_all(name, most):
    """In a process of its own: every field, with up to `most` of the extremes each."""
    kind, keywords = WORLDS[name]
    world = world_of(kind, keywords)
    good = world.snapshot()
    stepped = world_of(kind, keywords)
    stepped.step(2)
    rng = np.random.default_rng(0)
    np.seterr(all="ignore")
    for where, path, dtype in places(good):
        values = extremes(dtype)
        for value in [values[i] for i in rng.permutation(len(values))[:most]]:
            bad = tampered(good, where, path, value, rng.random())
            print(where, path, value, flush=True)  # the last line tells where it ended
            try:
                world.restore(bad)
            except mc.SceneError as error:
                assert str(error).startswith("World.restore: "), error
            else:
                try:
                    world.step()
                    world.contacts, world.rows, world.stats, world.events, world.energy(), world.joint_errors()
                    world.step(2)
                except (mc.SimulationError, mc.SceneError):  # the latter of damping that an integrator cannot follow
                    pass
            world.restore(good)
            assert world.state_hash() == hash_of(good, world), (where, path, value)
    world.step(2)
    assert world.state_hash() == stepped.state_hash()


def hash_of(snapshot, world):
    """What the world's hash was when this snapshot was taken."""
    if id(snapshot) not in hash_of.known:
        hash_of.known[id(snapshot)] = world.state_hash()
    return hash_of.known[id(snapshot)]


hash_of.known = {}


def run(name, most):
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests' / 'state')!r}); import test_damaged_snapshots as t; "
        f"t.try_all({name!r}, {most})"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=1000, env=environment
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]


QUICK = ("reduced",)  # the others are among the slow tests


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in WORLDS])
def test_no_number_in_a_snapshot_crashes_a_world(name):
    """Wrong counts, indices and choices were taken as they came: segmentation faults at the first step."""
    run(name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_none_of_all_extremes_crashes_a_world(name):
    run(name, 100)


@pytest.mark.parametrize("value", [np.inf, 1e-320])
def test_coordinates_that_are_none_are_told_by_the_step(value):
    """Where velocities are written too, restore() came out half-way with an error that was not its own."""
    world = world_of(*WORLDS["reduced"])
    good = world.snapshot()
    coordinates = good.packed["q"].unpacked()
    coordinates[...] = value
    world.restore(with_array(good, "q", coordinates))
    with pytest.raises(mc.SimulationError, match="^step "):
        world.step()
    world.restore(good)
    world.step()


def test_every_field_of_a_saved_record_has_a_rule():
    def names(dtype):
        return {name: names(dtype[name].base) if dtype[name].base.names else None for name in dtype.names}

    def told(rules):
        return {name: told(rule) if isinstance(rule, dict) else None for name, rule in rules.items()}

    assert told(checks.JOINT_RULES) == names(JOINT_DTYPE) and told(checks.MANIFOLD_RULES) == names(MANIFOLD_DTYPE)
    assert set(checks.BODY_RULES) == {field.name for field in BODY_FIELDS if field.saved}


# ---- not numbers, but what holds them ------------------------------------------------------------------------------------

WRONG = [None, 3, -1, 2**70, 1.5, float("nan"), "x", (), [], {}, np.zeros(3), np.zeros((2, 2)), object(), b"x"]


def parts_of_a_snapshot(snapshot):
    """(object, attribute) of everything in it."""
    found = [(snapshot, name) for name in vars(snapshot)]
    found += [(snapshot.parts, name) for name in vars(snapshot.parts)]
    for packed in snapshot.packed.values():
        found += [(packed, name) for name in Packed.__slots__]
    return found


@pytest.mark.parametrize("kind", ["world", "reduced"])
def test_no_other_thing_in_a_snapshot_is_taken(kind):
    """Each part of a pickled snapshot replaced by all sorts of things: refused by one kind of error, nothing half-done."""
    world = world_of(kind, {})
    data = pickle.dumps(world.snapshot())
    before, gravity = world.state_hash(), world.scene.gravity.copy()
    count = len(parts_of_a_snapshot(pickle.loads(data)))
    for number in range(count):
        for wrong in some(WRONG, 3, kind, number):
            snapshot = pickle.loads(data)
            thing, name = parts_of_a_snapshot(snapshot)[number]
            if name == "scene" or wrong is None and getattr(thing, name) is None:
                continue
            object.__setattr__(thing, name, wrong)
            try:
                world.restore(snapshot)
            except mc.SceneError as error:
                assert "restore" in str(error)
                assert world.state_hash() == before, (type(thing).__name__, name, wrong)
            else:  # no ignored pairs, none told together, no gravity: states, too
                weightless = name == "gravity" and np.array_equal(wrong, np.zeros(3))
                assert weightless or name in ("ignored_pairs", "pair_materials"), (type(thing).__name__, name, wrong)
                assert np.array_equal(world.scene.gravity, wrong if weightless else gravity)
                world.step()
                world.restore(pickle.loads(data))
            assert np.array_equal(world.scene.gravity, gravity), (type(thing).__name__, name, wrong)
            assert world.state_hash() == before


@pytest.mark.parametrize("kind", ["world", "reduced"])
@pytest.mark.parametrize(
    "change",
    [
        lambda parts: [*parts.bodies[:-1], 99],
        lambda parts: [*parts.bodies[:-1], -1],
        lambda parts: [*parts.bodies[:-1], 0],
        lambda parts: list(parts.bodies)[::-1],
        lambda parts: [*parts.bodies, 0],
        lambda parts: list(parts.bodies)[:-1],
        lambda parts: [*parts.bodies[:-1], "b"],
        lambda parts: [*parts.bodies[:-1], mc.Sphere(1.0)],
    ],
)
def test_a_snapshot_of_other_bodies_than_it_says_is_refused(kind, change):
    world = world_of(kind, {})
    before = world.state_hash()
    for name in ("bodies", "joints"):
        snapshot = pickle.loads(pickle.dumps(world.snapshot()))
        setattr(snapshot.parts, name, change(snapshot.parts) if name == "bodies" else list(snapshot.parts.joints)[::-1])
        with pytest.raises(mc.SceneError, match="World.restore: "):
            world.restore(snapshot)
        assert world.state_hash() == before
    world.step()


def test_arrays_of_another_length_are_refused():
    """Broadcasting took one row for all."""
    world = world_of("reduced", {})
    before = world.state_hash()
    good = world.snapshot()
    for name, packed in good.packed.items():
        whole = packed.unpacked()
        # which are of any length
        others = [] if name in ("manifolds", "sensed", "faces") else [whole[:-1], whole[:0]]
        for wrong in (*others, whole[:, None], whole.tolist(), whole.view(np.uint8)):
            with pytest.raises(mc.SceneError, match=f"World.restore: (the snapshot is not whole|{name})"):
                world.restore(with_array(good, name, wrong))
    assert world.state_hash() == before


def test_a_copy_and_a_pickle_of_a_tampered_world_are_refused_too():
    """Copies and pickles go the same way."""
    world = world_of("world", {})
    make, arguments = world.__reduce__()
    *others, snapshot = arguments
    bad = tampered(snapshot, "joints", ("constraint_count",), 10**6, 0.0)
    with pytest.raises(mc.SceneError, match="World.restore: joints.*constraint_count.*'driven'.*1000000"):
        make(*others, bad)
    assert make(*others, pickle.loads(pickle.dumps(snapshot))).state_hash() == world.state_hash()


# ---- what is in the sensors ----------------------------------------------------------------------------------------------

CHANGES = {
    "add": lambda world: world.add_body("new", shape=mc.Sphere(0.05), position=(9, 9, 9)),
    "add inside": lambda world: world.add_body("new", shape=mc.Sphere(0.05), position=(0, 0.5, 0.8)),
    "remove": lambda world: world.remove_body("far"),
    "remove from inside": lambda world: world.remove_body("in1"),
    "remove before": lambda world: world.remove_body("first"),
    "shape": lambda world: world.set_shape("in0", mc.Sphere(0.06)),
    "material": lambda world: world.set_material("in0", mc.Material(0.1)),
    "kind": lambda world: world.set_kind("far", "static"),
    "joint": lambda world: world.add_joint(mc.FreeJoint(None, "in0")),
    "nothing": lambda world: None,
}


def gate(kind):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("first", shape=mc.Sphere(0.05), position=(5, 5, 5))
    scene.add_body("gate", shape=mc.Box((1, 1, 1), sensor=True), kind="static")
    for i in range(3):
        scene.add_body(f"in{i}", shape=mc.Sphere(0.05), position=(0.3 * i, 0, 0))
    scene.add_body("far", shape=mc.Sphere(0.05), position=(7, 0, 0))
    return kind(scene)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("how", ["restore", "copy", "pickle", "another"])
def test_a_snapshot_knows_what_is_in_the_sensors(kind, change, how):
    """Taken after a body came or went, and before the next step, it did not: all that was inside came in again, while
    state_hash() said that nothing was different."""
    world, other = gate(kind), gate(kind)
    for each in (world, other):
        each.step(3)
        change(each)
    snapshot = world.snapshot()
    before = world.state_hash()
    assert before == other.state_hash()
    if how == "restore":
        world.step(5)
        world.restore(snapshot)
    elif how == "another":
        world = gate(kind)
        world.restore(snapshot)
    else:
        world = copy.deepcopy(world) if how == "copy" else pickle.loads(pickle.dumps(world))
    assert world.state_hash() == before
    for each in (world, other):
        each.step()
    for name in ("sensor_begin", "sensor_end"):
        assert np.array_equal(getattr(world.events, name), getattr(other.events, name)), name
    assert world.state_hash() == other.state_hash()


def test_the_hash_knows_what_is_in_the_sensors():
    """Two states that will tell other events are not the same."""
    world, other = gate(mc.World), gate(mc.World)
    world.step()
    other.step()
    snapshot = world.snapshot()
    world.restore(with_array(snapshot, "sensed", snapshot.packed["sensed"].unpacked()[:1]))
    assert world.state_hash() != other.state_hash()
    world.step(), other.step()
    assert len(world.events.sensor_begin) == 2 and not len(other.events.sensor_begin)
    assert world.state_hash() == other.state_hash()
