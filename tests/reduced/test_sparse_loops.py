"""Loops of large nets are solved by a sparse system of all joints: as by the dense matrix over the trees' coordinates, in
time and memory that grow with the joints.
"""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc
from looped_scenes import looped_system, moving
from mcsim.reduced.dynamics import link_records
from mcsim.solve.ordering import plan
from mcsim.world import sparse_loops


def two_worlds(monkeypatch, scene, **keywords):
    """The same scene, its loops solved by the dense matrix and by the sparse system."""
    worlds = []
    for least, sparse in ((np.inf, False), (-1.0, True)):
        monkeypatch.setattr(sparse_loops, "LEAST_SPARSE_WORK", least)
        worlds.append(mc.ReducedWorld(scene, **{"dt": 1e-3} | keywords))
        assert (plan_of(worlds[-1], scene) is not None) == sparse
    return worlds


def plan_of(world, scene):
    return sparse_loops.sparse_loops(world.system, scene, link_records(world.system, np.asarray(scene.gravity)))


def assert_alike(dense, sparse, before, closeness=1e-10):
    """Velocities have changed by the same."""
    change, other = dense.qd - before, sparse.qd - before
    assert np.abs(change).max() > 1e-6
    np.testing.assert_allclose(other, change, rtol=0, atol=closeness * np.abs(change).max())
    np.testing.assert_allclose(sparse.q, dense.q, rtol=0, atol=closeness)


@pytest.mark.parametrize("integrator", [None, "rk4"])
@pytest.mark.parametrize("seed", range(12))
def test_random_loops_of_all_kinds_are_solved_alike(monkeypatch, seed, integrator):
    """One step of what moves as its loops allow: under "rk4" its accelerations are those of the KKT system."""
    rng = np.random.default_rng(seed)
    scene = looped_system(rng, int(rng.integers(4, 9)), loops=int(rng.integers(1, 4))).scene
    worlds = two_worlds(monkeypatch, scene, integrator=integrator)
    before = moving(rng, worlds[0].dynamics, worlds[0].q)
    for world in worlds:
        world.qd = before
        world.step()
    if not any(note.kind == "loops" for note in worlds[0].stats.notes):  # what contradicts itself amplifies rounding
        assert_alike(*worlds, before, 1e-8)


def net(side, joint, kind="static", scene=None, name="b", motion=(0, 0, 0), **fields):
    """Bodies in a square mesh, sagging, hung at its corners from a body. fields: of the mesh's joints."""
    scene, rng = mc.Scene() if scene is None else scene, np.random.default_rng(side)

    def at(x, y):
        return np.array((x, y, 0.2 * (x - 0.4 * side) ** 2 / side + 0.15 * (y - 0.6 * side) ** 2 / side))

    for x in range(side):
        for y in range(side):
            inertia = np.diag(rng.uniform(0.02, 0.03, 3))
            scene.add_body(f"{name}{x}_{y}", mass=rng.uniform(0.5, 2.0), inertia=inertia, position=at(x, y))
    for x in range(side):
        for y in range(side):
            for u, v in ((x + 1, y), (x, y + 1)):
                if u < side and v < side:
                    scene.add_joint(joint(f"{name}{x}_{y}", f"{name}{u}_{v}", 0.5 * (at(x, y) + at(u, v)), **fields))
    scene.add_body(f"{name} support", kind=kind, position=(0, 0, 1), velocity=motion)
    for x in (0, side - 1):
        for y in (0, side - 1):
            scene.add_joint(mc.BallJoint(f"{name} support", f"{name}{x}_{y}", anchor=at(x, y)))
    return scene


def ball(a, b, anchor, **fields):
    return mc.BallJoint(a, b, anchor=anchor, **fields)


def universal(a, b, anchor):
    return mc.UniversalJoint(a, b, anchor=anchor, axis_a=(1, 0, 0), axis_b=(0, 1, 0))


@pytest.mark.parametrize("dt", [1e-3, 1 / 120])
def test_a_net_goes_as_by_the_dense_matrix(monkeypatch, dt):
    worlds = two_worlds(monkeypatch, net(5, ball), dt=dt)
    before = worlds[0].qd.copy()
    for world in worlds:
        world.step()
    assert_alike(*worlds, before, 1e-9)
    for world in worlds:
        world.step(30)
    dense, sparse = (np.abs(world.loop_errors()).max() for world in worlds)
    assert sparse < 1e-6 and sparse < 2 * dense + 1e-12
    assert worlds[1].energy().total == pytest.approx(worlds[0].energy().total, abs=1e-6)


def test_a_moving_support_pulls_alike(monkeypatch):
    worlds = two_worlds(monkeypatch, net(4, ball, "kinematic", motion=(0.3, 0.1, 0.2)))
    before = worlds[0].qd.copy()
    for world in worlds:
        world.step(3)
    assert_alike(*worlds, before, 1e-8)


def plates(rods, **joint):
    """Two plates with more rods between them than a body has joints otherwise, the upper one held by a hinge."""
    scene = mc.Scene()
    scene.add_body("upper", mass=3.0, inertia=(0.3, 0.3, 0.5), position=(0, 0, 0))
    scene.add_body("lower", mass=2.0, inertia=(0.2, 0.2, 0.4), position=(0.1, 0, -1), angular_velocity=(0, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "upper", anchor=(0, 0, 0), axis=(0, 1, 0), **joint))
    for i in range(rods):
        angle = 2 * np.pi * i / rods
        top = np.array((0.5 * np.cos(angle), 0.5 * np.sin(angle), -0.1))
        foot = top + (0.1, 0, -0.8)
        scene.add_body(f"rod{i}", mass=0.2, inertia=(0.01, 0.01, 0.001), position=(top + foot) / 2)
        scene.add_joint(mc.BallJoint("upper", f"rod{i}", anchor=top))
        scene.add_joint(mc.BallJoint(f"rod{i}", "lower", anchor=foot))
    return scene


@pytest.mark.parametrize("rods", [4, 9])
def test_bodies_with_many_joints(monkeypatch, rods):
    """Beyond six joints a body is a node of its own."""
    worlds = two_worlds(monkeypatch, plates(rods))
    before = worlds[0].qd.copy()
    for world in worlds:
        world.step(2)
    assert_alike(*worlds, before, 1e-7)  # parallel rods of the same length say the same but for their errors


def test_rotors_of_the_tree_count(monkeypatch):
    dense, sparse = two_worlds(monkeypatch, plates(4, armature=5.0))
    (light,) = two_worlds(monkeypatch, plates(4))[1:]
    before = dense.qd.copy()
    for world in (dense, sparse, light):
        world.step()
    assert_alike(dense, sparse, before, 1e-7)
    assert np.abs(light.qd - sparse.qd).max() > 1e-3 * np.abs(sparse.qd - before).max()


def test_ropes_and_rods_hang_in_a_net(monkeypatch):
    scene = net(4, ball)
    rod, rope = ((scene.body(a).position, scene.body(b).position) for a, b in (("b1_0", "b2_2"), ("b0_1", "b2_1")))
    scene.add_joint(mc.DistanceJoint("b1_0", "b2_2", *rod, name="rod"))
    scene.add_joint(mc.DistanceJoint("b0_1", "b2_1", *rope, limits=(None, 9.0), name="rope"))
    worlds = two_worlds(monkeypatch, scene)
    before = worlds[0].qd.copy()
    for world in worlds:
        world.step()
    assert_alike(*worlds, before, 1e-8)


def test_two_nets_have_the_bits_that_each_has_alone(monkeypatch):
    """What hangs together is factored and solved by itself."""
    monkeypatch.setattr(sparse_loops, "LEAST_SPARSE_WORK", -1.0)
    both = net(5, ball, scene=net(4, ball), name="c")
    together = mc.ReducedWorld(both)
    together.step(5)
    for scene in (net(4, ball), net(5, ball, name="c")):
        alone = mc.ReducedWorld(scene)
        alone.step(5)
        assert np.abs(alone.velocities).max() > 1e-6
        for name in alone.body_names:
            np.testing.assert_array_equal(together.body(name).velocity, alone.body(name).velocity)


@pytest.mark.parametrize("force", [6.0, 1e9])
def test_a_net_that_tears(monkeypatch, force):
    """What can break is in no tree: every body is loose, and all is held by loops."""
    worlds = two_worlds(monkeypatch, net(4, ball, break_force=force), dt=1 / 240)
    before = worlds[0].qd.copy()
    for world in worlds:
        world.step(4)
    torn = [[name for name in world.joint_names if world.joint(name).broken] for world in worlds]
    assert torn[0] == torn[1] and (len(torn[0]) > 0) == (force < 1e9)
    assert_alike(*worlds, before, 1e-7)


def test_work_grows_with_the_joints():
    """Numbers of the factor of nets, of balls and with universal joints: by little more than the joints."""
    for joint in (ball, universal):
        sizes = []
        for side in (8, 16):
            scene = net(side, joint)
            found = plan_of(mc.ReducedWorld(scene), scene)
            order = plan(found.pairs, found.sizes, found.moves, found.pieces)
            sizes.append(order.fronts.panel_count / len(scene.joints))
        assert sizes[1] < 2.0 * sizes[0]


def test_a_large_net_steps():
    """20 by 20 took a second a step, and larger ones were refused."""
    world = mc.ReducedWorld(net(20, ball), dt=1 / 240)
    energy = world.energy().total
    world.step(3)
    assert np.abs(world.loop_errors()).max() < 1e-6
    assert world.energy().total == pytest.approx(energy, abs=0.02 * world.energy().kinetic)


@pytest.mark.slow
def test_the_ready_net_steps():
    world = mc.ReducedWorld(mc.load("grid"))
    world.step(2)
    assert np.isfinite(world.qd).all()
    assert np.abs(world.loop_errors()).max() < 1e-4


def test_a_net_on_a_ball_goes_on_alike_after_looks_and_copies():
    """Contacts beside a sparse system; what observers ask for leaves nothing behind."""
    scene = mc.load("grid", side=8)
    scene.add_body("ball", shape=mc.Sphere(1.5), kind="static", position=(4.0, 4.0, -2.1))
    world = mc.ReducedWorld(scene, dt=1 / 120)
    assert plan_of(world, scene) is not None
    world.step(40)
    assert world.contacts["separation"].size > 0
    copied, kept, unpickled = copy.deepcopy(world), world.snapshot(), pickle.loads(pickle.dumps(world))
    world.step(8)
    reached = world.state_hash()
    for other in (copied, unpickled):
        for _ in range(8):
            other.rows, other.problem(), other.joint_errors(), other.energy()
            other.step()
        assert other.state_hash() == reached
    world.restore(kept)
    world.step(8)
    assert world.state_hash() == reached
