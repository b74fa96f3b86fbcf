"""Trees at rest sleep as World's bodies do (docs/theory/sleeping.md): whole, where they are, until something moves them."""

import copy

import numpy as np
import pytest

import mcsim as mc

LYING = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)


def limbs(size=1.0, mass=1.0, kind=mc.BallJoint, **keywords):
    """Two pairs of capsules on joints, far from each other, and a box, that lie on a floor; in units of length and mass."""
    scene = mc.Scene(gravity=(0, 0, -9.81 * size))
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for k in range(2):
        for i in range(2):
            scene.add_body(
                f"b{k}{i}",
                shape=mc.Capsule(0.08 * size, 0.15 * size),
                orientation=LYING,
                position=(0.5 * i * size, 3.0 * k * size, 0.0802 * size),
                density=1000.0 * mass / size**3,
            )
        scene.add_joint(
            kind(f"b{k}0", f"b{k}1", anchor=(0.25 * size, 3.0 * k * size, 0.0802 * size), name=f"j{k}", **keywords)
        )
    scene.add_body(
        "box", shape=mc.Box((0.2 * size,) * 3), position=(0, -3.0 * size, 0.2 * size), density=1000.0 * mass / size**3
    )
    return scene


@pytest.fixture
def sleeping():
    world = mc.ReducedWorld(limbs(), dt=1 / 60)
    world.step(90)
    assert np.array_equal(world.asleep, world.masses > 0)
    return world


def test_until_something_sleeps_the_bits_are_those_without_and_then_none_changes():
    on, off = mc.ReducedWorld(limbs(), dt=1 / 60), mc.ReducedWorld(limbs(), dt=1 / 60, sleep=False)
    while not on.asleep.any():
        last = on.positions.copy()
        assert np.array_equal(last, off.positions)
        on.step()
        off.step()
    on.step(30)
    q = on.q.copy()
    on.step(100)
    assert not on.qd.any() and np.array_equal(q, on.q) and on.asleep.any() and not off.asleep.any()
    assert not on.velocities.any() and on.stats.rows == 0


def velocities_of(world, part):
    world.qd[world.index("j0")[1]] = part


CHANGES = {
    "q": lambda w: w.q.__setitem__(w.index("b00")[0], w.q[w.index("b00")[0]] + np.array([0, 0, 0.1, 0, 0, 0, 0])),
    "qd": lambda w: velocities_of(w, 0.5),
    "tau": lambda w: w.tau.__setitem__(w.index("j0")[1], 5.0),
    "velocities": lambda w: w.velocities.__setitem__((1, 2), 1.0),
    "set_velocity": lambda w: w.set_velocity("b01", (0, 0, 1)),
    "impulse": lambda w: w.apply_impulse("b00", (0, 0, 5.0)),
    "force": lambda w: w.apply_force("b01", (0, 0, 200.0)),
    "wake": lambda w: w.wake("b00"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_user_changes_wakes_that_tree_alone(sleeping, name):
    awake = mc.ReducedWorld(limbs(), dt=1 / 60, sleep=False)
    awake.step(90)
    awake.q[...] = sleeping.q
    awake.qd[...] = 0.0
    for world in (sleeping, awake):
        CHANGES[name](world)
        world.step(3)
    of_first = np.array([False, True, True, False, False, False])
    assert np.array_equal(sleeping.asleep, (sleeping.masses > 0) & ~of_first)
    assert np.abs(sleeping.positions - awake.positions).max() < 1e-5
    if name != "wake":
        assert np.abs(sleeping.velocities[of_first]).max() > 1e-3


def test_what_falls_on_a_tree_wakes_it():
    scene = limbs()
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0.0, 0.0, 6.0))
    worlds = [mc.ReducedWorld(scene, dt=1 / 60, sleep=sleep) for sleep in (True, False)]
    for world in worlds:
        world.step(60)
    assert np.count_nonzero(worlds[0].asleep) == 5
    for world in worlds:
        world.step(10)
    assert not worlds[0].body("b00").asleep and worlds[0].body("b11").asleep
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 1e-5


@pytest.mark.parametrize("drive", ["tau", "motor", "prescribed", "own"])
def test_what_is_driven_does_not_sleep(drive):
    models = {}
    if drive == "motor":
        scene = limbs(kind=mc.HingeJoint, axis=(0, 0, 1), motor=mc.Motor(velocity=1e-9, max_force=1.0))
    elif drive == "prescribed":
        scene = limbs(kind=mc.HingeJoint, axis=(0, 0, 1), motion=mc.Motion(lambda t: 0.0))
    else:
        scene = limbs(kind=mc.HingeJoint, axis=(0, 0, 1))
    if drive == "own":
        from mcsim.reduced import JointModel

        def hinge(q):
            c, s = np.cos(q[0]), np.sin(q[0])
            return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3)

        models = {"j0": JointModel(1, hinge), "j1": JointModel(1, hinge)}
    world = mc.ReducedWorld(scene, dt=1 / 60, models=models)
    if drive == "tau":
        world.tau[...] = 0.0
        for name in ("j0", "j1"):
            world.tau[world.index(name)[1]] = 1e-6
    world.step(90)
    assert np.array_equal(np.flatnonzero(world.asleep), [5])


def test_joints_go_on_to_carry_what_they_did(sleeping):
    off = mc.ReducedWorld(limbs(), dt=1 / 60, sleep=False)
    off.step(90)
    for name in ("j0", "j1"):
        for what in ("force", "torque"):
            kept, there = getattr(sleeping.joint(name), what), getattr(off.joint(name), what)
            assert np.abs(kept).max() > 1e-3 or np.abs(there).max() < 1e-3
            assert np.abs(kept - there).max() < 0.02 * max(1.0, np.abs(there).max())


def test_snapshots_and_copies_sleep_on(sleeping):
    kept, copied = sleeping.snapshot(), copy.deepcopy(sleeping)
    assert copied.state_hash() == sleeping.state_hash()
    other = mc.ReducedWorld(limbs(), dt=1 / 60)
    other.step(7)
    other.restore(kept)
    assert other.state_hash() == sleeping.state_hash()
    for world in (sleeping, copied, other):
        assert np.array_equal(world.asleep, world.masses > 0)
        world.apply_impulse("b00", (0.3, 0.1, 4.0))
        world.step(40)
    assert copied.state_hash() == sleeping.state_hash() == other.state_hash()


def test_a_maximal_world_of_it_is_awake(sleeping):
    world = sleeping.maximal()
    assert not world.asleep.any() and np.abs(world.positions - sleeping.positions).max() == 0.0


def test_a_mechanism_with_a_loop_sleeps_whole():
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    for i, (x, y) in enumerate(corners):
        nx, ny = corners[(i + 1) % 4]
        scene.add_body(
            f"b{i}",
            shape=mc.Box((0.4, 0.05, 0.05)),
            position=(0.5 * (x + nx), 0.5 * (y + ny), 0.05),
            orientation=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)) if i % 2 else (1, 0, 0, 0),
        )
    for i in range(4):
        scene.add_joint(mc.BallJoint(f"b{i}", f"b{(i + 1) % 4}", anchor=(*corners[(i + 1) % 4], 0.05)))
    world = mc.ReducedWorld(scene, dt=1 / 60)
    world.step(120)
    assert np.array_equal(world.asleep, world.masses > 0) and not world.qd.any()
    q = world.q.copy()
    world.step(50)
    assert np.array_equal(q, world.q) and np.abs(world.loop_errors()).max() < 1e-9
    world.apply_impulse("b2", (0, 0, 3.0))
    world.step(2)
    assert not world.asleep.any() and np.abs(world.loop_errors()).max() < 1e-9


@pytest.mark.parametrize("size, mass", [(2.0**-5, 1.0), (2.0**8, 2.0**-5)])
def test_units_leave_the_bits_alone(size, mass):
    worlds = [mc.ReducedWorld(limbs(*units), dt=1 / 60) for units in ((1.0, 1.0), (size, mass))]
    for _ in range(4):
        for world in worlds:
            world.step(20)
        assert np.array_equal(worlds[0].positions, worlds[1].positions / size)
        assert np.array_equal(worlds[0].asleep, worlds[1].asleep)
    assert worlds[0].asleep.any()


def test_ragdolls_end_where_they_would_awake():
    ends = []
    for sleep in (True, False):
        world = mc.ReducedWorld(mc.scenes.build("ragdolls", count=2), dt=1 / 60, sleep=sleep)
        world.step(300)
        ends.append(world.positions.copy())
        assert world.asleep.any() == sleep
    assert np.abs(ends[0] - ends[1]).max() < 2e-3
