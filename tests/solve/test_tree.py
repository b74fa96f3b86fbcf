"""The direct joint solver: its order of elimination, its answers, and the step that is built on it."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.solve.ordering import plan


def chain(n, heavy=0.0):
    """n rods of 1 m and 1 kg on ball joints, level at first; then a bob."""
    scene = mc.Scene()
    for i in range(n):
        scene.add_body(
            f"rod{i}",
            mass=1.0,
            inertia=(0.09, 0.09, 0.01),
            position=(i + 0.5, 0, 0),
            orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
        )
        scene.add_joint(mc.BallJoint(f"rod{i - 1}" if i else None, f"rod{i}", anchor=(i, 0, 0)))
    if heavy:
        scene.add_body("bob", mass=heavy, inertia=3 * (0.1 * heavy,), position=(n + 0.5, 0, 0))
        scene.add_joint(mc.BallJoint(f"rod{n - 1}", "bob", anchor=(n, 0, 0)))
    return scene


def random_tree(rng, n):
    """(joints, 2) bodies: each hangs on one before it, or on the world."""
    return np.array([[rng.integers(-1, i) if i else -1, i] for i in range(n)])


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_has_no_fill(seed):
    """Every block that is stored couples two joints, or a joint and a hub, from the beginning."""
    bodies = random_tree(np.random.default_rng(seed), 60)
    found = plan(bodies, np.full(60, 3), np.ones(60, bool))
    assert np.all(found.entry_code != 0) and found.fronts is None


@pytest.mark.parametrize("seed", range(6))
def test_the_plan_of_an_articulation_does_not_depend_on_others(seed):
    """Copies of two mechanisms, their joints and bodies dealt out in any order: each is taken as it is alone."""
    rng = np.random.default_rng(seed)
    tree = np.array([[rng.integers(i), i] for i in range(1, 8)])
    kinds = [tree, np.array([[0, 1], [1, 2], [2, 3], [3, 0], [3, 4], [-1, 4]])]
    mechanisms = [kinds[i] for i in rng.integers(0, 2, 9)]
    sizes = [np.array([3, 5, 2, 3, 6, 1, 3])[: len(pairs)] for pairs in mechanisms]
    counts = [int(pairs.max()) + 1 for pairs in mechanisms]
    owner = rng.permutation(np.repeat(np.arange(9), counts))
    bodies = [np.append(np.flatnonzero(owner == i), -1) for i in range(9)]
    turn = rng.permutation(np.repeat(np.arange(9), [len(pairs) for pairs in mechanisms]))
    joints = [np.flatnonzero(turn == i) for i in range(9)]
    pairs, size = np.zeros((len(turn), 2), int), np.zeros(len(turn), int)
    for i in range(9):
        pairs[joints[i]], size[joints[i]] = bodies[i][mechanisms[i]], sizes[i]
    found = plan(pairs, size, np.ones(len(owner), bool))
    for i in range(9):
        alone = plan(mechanisms[i], sizes[i], np.ones(counts[i], bool))
        own = np.flatnonzero(np.isin(found.joint, joints[i]))
        assert found.joint[own].tolist() == joints[i][alone.joint].tolist()
        assert np.array_equal(np.diff(own), np.ones(len(own) - 1))
        for mine, node in enumerate(own):
            entries = slice(found.entry_begin[node], found.entry_begin[node + 1])
            given = slice(alone.entry_begin[mine], alone.entry_begin[mine + 1])
            coupled = alone.entry_code[given] > 0
            codes = found.entry_code[entries]
            assert codes[codes > 0].tolist() == alone.entry_code[given][coupled].tolist()
            assert (found.entry_node[entries][codes > 0] - own[0]).tolist() == alone.entry_node[given][coupled].tolist()


def test_a_star_of_1000_joints_stays_linear():
    """The body in the middle stays in the system as a hub: two entries a joint at most."""
    bodies = np.array([[0, i] for i in range(1, 1001)])
    found = plan(bodies, np.full(1000, 3), np.ones(1001, bool))
    assert len(found.joint) == 1001 and len(found.entry_node) == 1000


def test_the_work_grows_as_the_chain():
    """Products and numbers a joint of 100 and 1,000 links are the same but for the ends."""

    def sizes(n):
        found = plan(np.array([[i - 1, i] for i in range(n)]), np.full(n, 3), np.ones(n, bool))
        return found.value_count / n, found.work / n

    assert sizes(1000) == pytest.approx(sizes(100), rel=0.03)


@pytest.mark.parametrize("name, parameters", [("chain", {"n": 12}), ("ragdolls", {"count": 1}), ("four_bar", {})])
def test_one_solve_meets_all_joints(name, parameters):
    """After a step the velocities keep every joint's rows still: J v = 0."""
    world = mc.World(mc.load(name, **parameters), joint_solver="tree")
    world.step(60)
    rows = world.rows
    twist = np.hstack([world.velocities, world.angular_velocities]).ravel()
    assert np.abs((world.jacobian() @ twist)[rows["kind"] == "joint"]).max() < 1e-9


def test_a_hub_moves_as_newton_says():
    """A star of 9 arms on one free body, pushed at its middle: the whole moves as its mass does."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("hub", mass=2.0, inertia=(1, 1, 1))
    for i in range(9):
        direction = np.array([np.cos(0.7 * i), np.sin(0.7 * i), 0.1 * i])
        scene.add_body(f"arm{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=direction)
        scene.add_joint(mc.BallJoint("hub", f"arm{i}", anchor=0.5 * direction))
    world = mc.World(scene, joint_solver="tree")
    world.apply_impulse("hub", (3.0, -1.0, 2.0), (0.2, 0.1, 0.0))
    linear, angular = world.momentum()
    world.step(60)
    assert np.allclose(world.momentum()[0], linear, rtol=0, atol=1e-12)
    assert np.allclose(world.momentum()[1], angular, rtol=0, atol=1e-11)
    assert world.joint_errors().max() < 1e-8


@pytest.mark.parametrize("heavy", [0.0, 100.0])
def test_a_swinging_chain_stays_closed_and_gains_no_energy(heavy):
    """Through its first whip, at 60 Hz."""
    world = mc.World(chain(15, heavy), joint_solver="tree")
    largest, energy = 0.0, []
    for _ in range(240):
        world.step()
        largest = max(largest, world.joint_errors()[:, 0].max())
        energy.append(world.energy().total)
    fall = 9.81 * (15 * 7.5 + 15 * heavy)
    assert largest < 1e-6 and max(energy) < 5e-3 * fall


def test_double_pendulum_is_of_second_order():
    """The error against a hundredth of the step falls fourfold with each halving."""

    def end(dt):
        world = mc.World(chain(2), joint_solver="tree", dt=dt)
        world.step(round(1.0 / dt))
        return world.positions.copy()

    exact = end(1 / 6000)
    errors = [np.abs(end(dt) - exact).max() for dt in (1 / 30, 1 / 60, 1 / 120)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2) and errors[1] / errors[2] == pytest.approx(4.0, rel=0.2)


def net(n, seed=0, **keywords):
    """n by n balls of 1 and 1.5 kg on ball joints half-way between, in a plane; thrown at random if nothing pulls
    them."""
    scene = mc.Scene(**keywords)
    random = np.random.default_rng(seed)
    for i in range(n):
        for j in range(n):
            velocity = (0, 0, 0) if scene.gravity.any() else random.normal(scale=2.0, size=3)
            scene.add_body(
                f"ball{i}_{j}",
                shape=mc.Sphere(0.1),
                mass=1.0 + 0.5 * ((i + j) % 2),
                position=(i, j, 0),
                velocity=velocity,
                collision_mask=0,
            )
            if i:
                scene.add_joint(mc.BallJoint(f"ball{i - 1}_{j}", f"ball{i}_{j}", anchor=(i - 0.5, j, 0)))
            if j:
                scene.add_joint(mc.BallJoint(f"ball{i}_{j - 1}", f"ball{i}_{j}", anchor=(i, j - 0.5, 0)))
    return scene


def test_a_thrown_net_keeps_its_momentum():
    """However its loops are closed."""
    world = mc.World(net(7, gravity=(0, 0, 0)), joint_solver="tree")
    linear, angular = world.momentum()
    for _ in range(6):
        world.step(10)
        assert np.abs(world.momentum()[0] - linear).max() < 1e-12 * np.abs(angular).max()
        assert np.abs(world.momentum()[1] - angular).max() < 1e-11 * np.abs(angular).max()
    assert world.joint_errors().max() < 1e-5


def test_a_net_falls_taut_without_coming_apart_or_gaining_energy():
    """Hung by two corners, flat at first, where all its tensions are singular."""
    scene = net(8)
    for corner in ("ball0_0", "ball0_7"):
        scene.add_joint(mc.BallJoint(None, corner, anchor=scene.body(corner).position))
    world = mc.World(scene, joint_solver="tree")
    begin, largest, highest = world.energy().total, 0.0, -np.inf
    for _ in range(150):
        world.step()
        largest, highest = max(largest, world.joint_errors()[:, 0].max()), max(highest, world.energy().total)
    assert largest < 1e-4 and highest - begin < 1e-3 * 9.81 * 80 * 3.5


def test_steps_one_by_one_and_after_a_restore_give_the_same_bits():
    """What a stiffened step knows, it reads off the state."""
    one, other = (mc.World(net(5, gravity=(0, 0, 0)), joint_solver="tree") for _ in range(2))
    one.step(20)
    kept = one.snapshot()
    one.step(10)
    for _ in range(30):
        other.step()
    assert one.state_hash() == other.state_hash()
    other.restore(kept)
    other.step(10)
    assert one.state_hash() == other.state_hash()


def test_a_heavy_bob_does_not_stretch_its_chain():
    """50,000 to 1, where no division of the step would do."""
    world = mc.World(chain(20, 50_000.0), joint_solver="tree")
    largest, highest = 0.0, -np.inf
    for _ in range(240):
        world.step()
        largest, highest = max(largest, world.joint_errors()[:, 0].max()), max(highest, world.energy().total)
    assert largest < 1e-6 and highest < 1e-6 * 9.81 * 50_000 * 20


def bricard():
    """Six bars along the edges of a cube, each hinge's axis normal to its two bars: it moves, though 6 bodies on 6
    hinges and one fixed bar have as many rows as bodies have freedoms."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (0, 1, 1), (0, 1, 0)], float)
    scene = mc.Scene()
    bars = np.roll(corners, -1, axis=0) - corners
    for i, bar in enumerate(bars):
        inertia = 0.1 * (1 - bar**2) + 0.001
        scene.add_body(f"bar{i}", mass=1.0, inertia=inertia, position=corners[i] + bar / 2)
    for i, bar in enumerate(bars):
        scene.add_joint(mc.HingeJoint(f"bar{(i - 1) % 6}", f"bar{i}", anchor=corners[i], axis=np.cross(bars[i - 1], bar)))
    scene.add_joint(mc.FixedJoint(None, "bar0"))
    return scene


def closed_box():
    """Six walls, each fixed to its four neighbours, on one ball joint: 12 joints where 5 would do."""
    normals = np.vstack([np.eye(3), -np.eye(3)])
    scene = mc.Scene()
    for i, normal in enumerate(normals):
        scene.add_body(
            f"wall{i}",
            shape=mc.Box(np.where(normal == 0, 0.45, 0.05)),
            mass=1.0 + i,
            position=0.5 * normal,
            collision_mask=0,
        )
    scene.add_joint(mc.BallJoint(None, "wall0", anchor=(0.5, 0.4, 0.4)))
    for i in range(6):
        for j in range(i + 1, 6):
            if j != i + 3:
                scene.add_joint(mc.FixedJoint(f"wall{i}", f"wall{j}"))
    return scene


def wheel():
    """Nine spokes on one hub, on ball joints, their ends joined all round: loops through a body with many joints."""
    scene = mc.Scene()
    scene.add_body("hub", mass=2.0, inertia=(1, 1, 1), angular_velocity=(0.5, 0.2, 1.0))
    for i in range(9):
        direction = np.array([np.cos(2 * np.pi * i / 9), np.sin(2 * np.pi * i / 9), 0.1 * (-1) ** i])
        scene.add_body(f"spoke{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=direction)
        scene.add_joint(mc.BallJoint("hub", f"spoke{i}", anchor=0.5 * direction))
    for i in range(9):
        ends = scene.bodies[1 + i].position, scene.bodies[1 + (i + 1) % 9].position
        scene.add_joint(mc.BallJoint(f"spoke{i}", f"spoke{(i + 1) % 9}", anchor=0.55 * (ends[0] + ends[1])))
    return scene


@pytest.mark.parametrize("make", [bricard, closed_box, wheel])
def test_redundant_mechanisms_move_as_the_smooth_reference(make):
    """Against RK4 on the KKT accelerations, projected."""
    world = mc.World(make(), joint_solver="tree", dt=1 / 240)
    reference = mc.World(make(), integrator="rk4", stabilization="projection", dt=1 / 240)
    begin = world.positions.copy()
    world.step(240)
    reference.step(240)
    assert world.joint_errors().max() < 1e-8
    assert np.abs(world.positions - begin).max() > 0.2
    assert np.abs(world.positions - reference.positions).max() < 2e-4


@pytest.mark.parametrize("substeps", [1, 2])
def test_a_whip_stays_closed_at_few_substeps(substeps):
    """A chain of 100 from the horizontal: stiffened in place of divided, it stood open by 0.9 m."""
    world = mc.World(mc.load("chain", n=100), substeps=substeps)
    worst = 0.0
    for _ in range(240):
        world.step()
        worst = max(worst, world.joint_errors()[:, 0].max())
    assert worst < 1e-6
