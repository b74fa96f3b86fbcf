"""Locks: rows against differences, both worlds, closed forms of what they bear, and locks that are in the inverse masses
against the same with rows."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from constraint_scenes import mass_matrix, matrix, numerical_jacobian, random_inertia, random_quaternion, twists
from test_jacobian import numerical_curvature

SETS = ("", "x", "y", "z", "xy", "xz", "yz", "xyz")
MASKS = [mask for mask in product(SETS, SETS) if any(mask)]
NEVER = 1e12  # [N]: a joint that may break has rows; this one does not break
G = 9.81


def one(translation, rotation, gravity=(1.0, -2.0, -5.0), spin=(1.0, 2.0, 3.0), **joint):
    scene = mc.Scene(gravity=gravity)
    scene.add_body(
        "b",
        mass=2.0,
        inertia=((0.1, 0.01, 0.02), (0.01, 0.15, 0.0), (0.02, 0.0, 0.2)),
        center_of_mass=(0.1, -0.05, 0.2),
        position=(0.1, 0.2, 0.3),
        orientation=random_quaternion(np.random.default_rng(5)),
        velocity=(0.5, 0.4, 0.3),
        angular_velocity=spin,
    )
    scene.add_joint(mc.LockJoint(None, "b", translation, rotation, name="lock", **joint))
    return scene


def pile(mask, bound=None, n=8, seed=0):
    """Boxes that fall on each other, each with a lock of its own."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static")
    for i in range(n):
        scene.add_body(
            f"b{i}",
            shape=mc.Box((0.2, 0.2, 0.1)),
            position=(rng.uniform(-0.3, 0.3), rng.uniform(-0.05, 0.05), 0.3 + 0.45 * i),
            angular_velocity=rng.uniform(-1, 1, 3),
        )
        scene.add_joint(mc.LockJoint(None, f"b{i}", *mask, name=f"l{i}", break_force=bound))
    return scene


def along(vectors, axes):
    return np.asarray(vectors)[..., ["xyz".index(axis) for axis in axes]]


def state(world):
    return [world.positions, world.orientations, world.velocities, world.angular_velocities]


def difference(a, b):
    return max(np.abs(x - y).max() for x, y in zip(state(a), state(b)))


@pytest.mark.parametrize("mask", MASKS, ids=lambda m: "-".join(m))
def test_rows_are_derivatives_of_their_errors(mask):
    """Between two bodies at random poses; of a single rotation the row is the rate along a's axis, and has no error."""
    rng = np.random.default_rng(MASKS.index(mask))
    scene = mc.Scene(gravity=(0, 0, 0))
    for name in "ab":
        scene.add_body(
            name,
            mass=rng.uniform(0.5, 3),
            inertia=random_inertia(rng),
            position=rng.uniform(-1, 1, 3),
            orientation=random_quaternion(rng),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
    joint = scene.add_joint(mc.LockJoint("a", "b", *mask, anchor=rng.normal(size=3), axis=rng.normal(size=3)))
    world = mc.World(scene)
    world.positions[1] += rng.uniform(-0.2, 0.2, 3)
    rows = len(mask[0]) + len(mask[1])
    assert len(world.rows) == rows
    raw = world._raw_rows().copy()
    jacobian = numerical_jacobian(world, lambda: world.rows["error"])
    if len(mask[1]) == 1:
        axis = matrix(world.frames()[1][0]) @ matrix(joint.frame_a[1]) @ along(np.eye(3), mask[1])[:, 0]
        jacobian[-1] = [0, 0, 0, *-axis, 0, 0, 0, *axis]
        assert raw["error"][-1] == 0.0
    np.testing.assert_allclose(world.jacobian().toarray(), jacobian, atol=3e-9)
    np.testing.assert_allclose(raw["curvature"], numerical_curvature(world), atol=1e-5)
    assert raw["stabilized"].tolist() == [1] * (rows - 1) + [0 if len(mask[1]) == 1 else 1]


@pytest.mark.parametrize("mask", MASKS, ids=lambda m: "-".join(m))
def test_both_worlds_and_every_integrator_move_alike(mask):
    """Under gravity, a torque, and a start that the lock forbids: rows in generalized coordinates, rows, inverse masses."""
    torque = (0.3, 0.2, -0.4)
    ways = {
        "reduced": lambda: mc.ReducedWorld(one(*mask), dt=1e-3, integrator="rk4"),
        "rk4": lambda: mc.World(one(*mask), dt=1e-3, integrator="rk4"),
        "rattle": lambda: mc.World(one(*mask), dt=1e-3, integrator="rattle"),
        "rows": lambda: mc.World(one(*mask, break_force=NEVER), dt=1e-3),
        "in turn": lambda: mc.World(one(*mask), dt=1e-3, joint_solver="rows"),
        "mass": lambda: mc.World(one(*mask), dt=1e-3),
    }
    worlds = {name: make() for name, make in ways.items()}
    for name, world in worlds.items():
        for _ in range(200):
            world.apply_torque("b", torque)
            world.step(1)
        still = 1e-6 if name == "in turn" else 1e-12
        assert np.abs(along(world.velocities[0], mask[0])).max(initial=0.0) < still
        assert np.abs(along(world.angular_velocities[0], mask[1])).max(initial=0.0) < still
    for name, bound in {"rk4": 1e-11, "rattle": 1e-3, "rows": 1e-6, "in turn": 1e-4, "mass": 1e-6}.items():
        assert difference(worlds[name], worlds["reduced"]) < bound, name


def test_a_lock_about_one_axis_is_of_second_order():
    """The step of a body that turns about two axes alone, W(q') P L = W(q) P L: against the same at a small step."""
    found = []
    for dt in (1e-4, 4e-3, 2e-3):
        world = mc.World(one("", "x"), dt=dt, substeps=1)
        world.step(round(0.4 / dt))
        found.append([x.copy() for x in state(world)])
    off = [max(np.abs(x - y).max() for x, y in zip(each, found[0])) for each in found[1:]]
    assert off[0] < 1e-3 and 3.3 < off[0] / off[1] < 4.7


@pytest.mark.parametrize("bound", [None, NEVER], ids=["mass", "rows"])
@pytest.mark.parametrize("mask", [("x", "xyz"), ("xy", "xyz"), ("x", ""), ("x", "y")], ids=lambda m: "-".join(m))
def test_on_a_slope_without_friction(mask, bound):
    """Held along x it stands: N cos = m g, and the lock bears N sin; and the moment of N about its centre."""
    slope, half, m = 0.5, 0.1, 2.0
    upright = mask[1] == "xyz"
    scene = mc.Scene()
    smooth = mc.Material(friction=0.0)
    scene.add_body("slope", shape=mc.Plane(normal=(np.sin(slope), 0, np.cos(slope))), kind="static", material=smooth)
    turn = (1, 0, 0, 0) if upright else (np.cos(slope / 2), 0, np.sin(slope / 2), 0)
    height = half + 0.2 * np.tan(slope) if upright else half / np.cos(slope)
    box = mc.Box((0.2, 0.2, half))
    scene.add_body("b", shape=box, mass=m, position=(0, 0, height), orientation=turn, material=smooth)
    scene.add_joint(mc.LockJoint(None, "b", *mask, name="lock", break_force=bound))
    world = mc.World(scene)
    world.step(240)
    lock = world.joint("lock")
    assert lock.force == pytest.approx((-m * G * np.tan(slope), 0, 0), abs=1e-3)
    lever = 0.2 * np.cos(slope) - half * np.sin(slope)
    moment = m * G / np.cos(slope) * lever if upright else 0.0
    assert lock.torque == pytest.approx((0, -moment, 0), abs=2e-3)
    assert np.abs(world.velocities[1]).max() < 1e-4 and world.positions[1][0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("bound", [None, NEVER], ids=["mass", "rows"])
def test_a_ball_that_cannot_go_aside_bounces_up(bound):
    """On a slope with x locked the normal speed returns: v_z' = -e v_z, whatever the slope."""
    scene = mc.Scene(gravity=(0, 0, 0))
    bouncy = mc.Material(friction=0.0, restitution=0.6)
    scene.add_body("slope", shape=mc.Plane(normal=(np.sin(0.5), 0, np.cos(0.5))), kind="static", material=bouncy)
    scene.add_body("b", shape=mc.Sphere(0.1), position=(0, 0, 0.3), velocity=(0, 0, -2.0), material=bouncy)
    scene.add_joint(mc.LockJoint(None, "b", "xy", break_force=bound))
    world = mc.World(scene)
    world.step(30)
    assert world.velocities[1] == pytest.approx((0, 0, 1.2), abs=1e-6)


@pytest.mark.parametrize("mask", [("y", "xz"), ("", "xyz"), ("", "x"), ("xy", ""), ("y", "z")], ids=lambda m: "-".join(m))
def test_a_pile_comes_to_rest_and_nothing_moves_where_it_is_locked(mask):
    world = mc.World(pile(mask))
    start = world.positions.copy()
    for _ in range(60):
        world.step(10)
        assert np.abs(along(world.positions - start, mask[0])).max(initial=0.0) == 0.0
        assert np.abs(along(world.angular_velocities, mask[1])).max(initial=0.0) == 0.0
    assert world.joint_errors().max() < 1e-13
    assert world.contacts["separation"].min() > -1e-3
    assert not world.stats.notes
    weight = sum(world.masses) * G
    pushed = world.contacts
    carried = pushed[pushed["body_a"] == 0]["normal_impulse"].sum() / world.dt
    if mask[0] in ("", "y"):
        assert carried == pytest.approx(weight, rel=2e-2)


def test_rows_are_those_of_a_joint_and_looking_at_them_changes_nothing():
    """While the lock is in the inverse mass: world.rows has its rows, A = J M^-1 J', and the next steps' bits stay."""
    worlds = [mc.World(pile(("y", "xz"))) for _ in range(2)]
    for _ in range(6):
        for world in worlds:
            world.step(10)
        world = worlds[0]
        assert (world.rows["kind"] == "joint").sum() == 3 * len(world.joint_names)
        j, a = world.jacobian().toarray(), world.delassus().toarray()
        mass = mass_matrix(world)
        moving = np.diag(mass) > 0
        inverse = np.zeros_like(mass)
        inverse[np.ix_(moving, moving)] = np.linalg.inv(mass[np.ix_(moving, moving)])
        assert np.abs(a - j @ inverse @ j.T).max() < 1e-12 * np.abs(a).max()
        assert np.diag(a)[world.rows["kind"] == "joint"].min() > 0.0
        assert worlds[0].state_hash() == worlds[1].state_hash()


@pytest.mark.parametrize("way", ["snapshot", "deepcopy", "pickle", "scene"])
def test_copies_go_the_same_way(way):
    world = mc.World(pile(("y", "xz")))
    world.step(45)
    if way == "snapshot":
        other = mc.World(pile(("y", "xz")))
        other.restore(world.snapshot())
    elif way == "scene":
        other, world = (mc.World(mc.Scene.from_dict(world.to_scene().to_dict())) for _ in range(2))
    else:
        other = copy.deepcopy(world) if way == "deepcopy" else pickle.loads(pickle.dumps(world))
    for each in (world, other):
        each.step(60)
    assert other.state_hash() == world.state_hash()


def test_threads_give_the_same_bits():
    worlds = [mc.World(pile(("y", "xz"), n=40), threads=n) for n in (1, 3)]
    for world in worlds:
        world.step(120)
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_put_on_and_taken_off_while_it_runs():
    """Free, locked, and with a second joint on the body, when the lock has rows again: the same way as with rows alone."""
    worlds = [mc.World(one("y", "xz", gravity=(0, 0, 0), break_force=bound), dt=1e-3) for bound in (None, NEVER)]
    for bound, world in zip((None, NEVER), worlds):
        world.step(50)
        world.remove_joint("lock")
        world.step(50)
        assert abs(world.velocities[0, 1]) < 1e-15 and np.ptp(world.angular_velocities[0]) > 0.1
        world.add_joint(mc.LockJoint(None, "b", "x", "xy", name="lock", break_force=bound))
        world.step(50)
        assert abs(world.velocities[0, 0]) < 1e-12 and np.abs(world.angular_velocities[0, :2]).max() < 1e-12
        world.add_body("c", mass=1.0, inertia=(0.1, 0.1, 0.1), position=world.positions[0] + (0.5, 0.0, 0.0))
        world.add_joint(mc.BallJoint("b", "c", world.positions[0] + (0.2, 0.0, 0.0)))
        world.step(100)
        assert world.joint_errors().max() < 1e-6
    assert difference(*worlds) < 1e-6


def test_an_error_that_the_user_wrote_is_closed():
    """A body that was put aside comes back, as a joint with rows brings it; but about which axes a body turns that leans by
    2 mrad, the rows say for the pose that it leans in: so far the angular velocities are apart."""
    worlds = [mc.World(one("x", "xz", gravity=(0, 0, 0), break_force=bound), dt=1e-3) for bound in (None, NEVER)]
    for world in worlds:
        world.step(10)
        world.positions[0, 0] += 1e-3
        turn = np.array([1.0, 1e-3, 0.0, 0.0])
        world.orientations[0] = quaternion_product(turn / np.linalg.norm(turn), world.orientations[0])
        assert world.joint_errors().max() > 9e-4
        world.step(100)
        assert world.joint_errors().max() < 1e-9
    apart = [np.abs(x - y).max() for x, y in zip(*(state(world) for world in worlds))]
    assert apart[0] < 1e-12 and apart[1] < 1e-4 and apart[2] < 1e-12 and apart[3] < 2e-3


def quaternion_product(p, q):
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def test_asleep_as_others_and_woken():
    world = mc.World(pile(("y", "xz"), n=4))
    world.step(400)
    assert world.asleep[1:].all()
    world.apply_impulse("b3", (0.0, 50.0, 20.0))
    world.step(2)
    assert not world.asleep[4] and world.velocities[4, 1] == 0.0 and world.velocities[4, 2] > 0.0
    world.step(600)
    assert world.asleep[1:].all() and world.joint_errors().max() < 1e-13


@pytest.mark.parametrize("seed", range(amount(2, 8)))
def test_units_do_not_count(seed):
    """Lengths times 4, masses times 8 and times by 2, exact in binary numbers: the same motion to the bit."""
    rng = np.random.default_rng(seed)
    mask = MASKS[rng.integers(len(MASKS))]
    spin = rng.normal(size=3)
    worlds = []
    for size, weight, time in ((1.0, 1.0, 1.0), (4.0, 8.0, 2.0)):
        scene = mc.Scene(gravity=size / time**2 * np.array([0.5, 0.25, -9.0]))
        scene.add_body(
            "b",
            mass=2.0 * weight,
            inertia=weight * size**2 * np.array([0.1, 0.15, 0.2]),
            velocity=size / time * np.array([1.0, 2.0, 3.0]),
            angular_velocity=spin / time,
        )
        scene.add_joint(mc.LockJoint(None, "b", *mask))
        worlds.append(mc.World(scene, dt=time / 64))
        worlds[-1].step(50)
    assert np.array_equal(4.0 * worlds[0].positions, worlds[1].positions)
    assert np.array_equal(worlds[0].orientations, worlds[1].orientations)
    assert np.array_equal(worlds[0].angular_velocities, 2.0 * worlds[1].angular_velocities)


def test_momentum_of_two_bodies_that_are_locked_to_each_other():
    scene = mc.Scene(gravity=(0, 0, 0))
    rng = np.random.default_rng(3)
    for name in "ab":
        scene.add_body(
            name,
            mass=rng.uniform(1, 2),
            inertia=(0.1, 0.12, 0.15),
            position=rng.normal(size=3),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
    scene.add_joint(mc.LockJoint("a", "b", "xz", "y"))
    world = mc.World(scene, dt=1e-3)
    before = twists(world).reshape(2, 6)[:, :3].T @ world.masses
    world.step(200)
    assert twists(world).reshape(2, 6)[:, :3].T @ world.masses == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "locks nothing: name axes in translation or rotation"),
        ({"translation": "w"}, "translation must name axes"),
        ({"rotation": "xx"}, "rotation must name axes"),
        ({"rotation": 3}, "rotation must name axes"),
        ({"rotation": "x", "axis": (0, 0, 0)}, "axis must not be zero"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(mc.SceneError, match=message):
        mc.LockJoint(None, "b", **arguments)


def test_order_of_axes_does_not_count():
    assert mc.LockJoint(None, "b", "zx", "yx").locks == mc.LockJoint(None, "b", "xz", "xy").locks == 0b011101
