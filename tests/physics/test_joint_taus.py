"""Forces along the coordinates of joints, `tau`: what they do in both worlds, how long, and what knows of them."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from driven_scenes import COUNT, JOINTS, numbers, pair

every_joint = pytest.mark.parametrize("kind", JOINTS)
both_worlds = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
# World keywords -> how near 0.2 s come to the reference [m]
INTEGRATORS = {
    "semi_implicit": ({}, 3e-8),
    "rows": ({"joint_solver": "rows"}, 1e-6),
    "pgs": ({"solver": "pgs", "iterations": 40}, 1e-6),
    "projection": ({"stabilization": "projection"}, 3e-3),
    "ggl": ({"stabilization": "ggl"}, 3e-3),
    "rk4": ({"integrator": "rk4"}, 1e-12),
    "rattle": ({"integrator": "rattle"}, 3e-8),
    "variational": ({"integrator": "variational"}, 3e-8),
    "radau": ({"integrator": "radau"}, 1e-13),
    "event": ({"contact": "event"}, 1e-12),
    "heun": ({"contact": "event", "integrator": "heun"}, 1e-7),
}


def smooth(scene, make=mc.World, **keywords):
    return make(scene, dt=1e-2, integrator="reference", **keywords)


# ---- what they do ------------------------------------------------------------------------------------------------------


@every_joint
def test_they_do_the_same_in_both_worlds(kind):
    """Motion, and what the joints carry; and they do something."""
    scene = pair(kind)
    world, reduced, left = smooth(scene), smooth(scene, mc.ReducedWorld), smooth(scene)
    for each in (world, reduced):
        each.joint("j").tau = numbers(kind, 3.0)
        each.joint("hang").tau = (1.0, 2.0, -1.0)
    for each in (world, reduced, left):
        each.step(10)
    assert np.abs(world.positions - reduced.positions).max() < 1e-12
    assert np.abs(world.velocities - reduced.velocities).max() < 1e-12
    assert np.abs(world.positions - left.positions).max() > 1e-3
    for name in world.joint_names:
        assert world.joint(name).force == pytest.approx(reduced.joint(name).force, abs=1e-9)
        assert world.joint(name).torque == pytest.approx(reduced.joint(name).torque, abs=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind not in ("distance", "rack_pinion")])
def test_accelerations_are_those_of_forward_dynamics(kind):
    """The whole vector `tau`, by the KKT system of a World and by articulated bodies; a floating tree has six more."""
    for hung in (True, False):
        scene = pair(kind, hung=hung)
        world, reduced = mc.World(scene), mc.ReducedWorld(scene)
        assert len(world.tau) == len(reduced.tau) == (3 if hung else 6) + COUNT.get(kind, 1)
        assert world.index("j") == reduced.index("j")
        world.tau = tau = np.random.default_rng(1).normal(size=len(world.tau))
        q, qd = world.system.coordinates(world.positions, world.orientations, world.velocities, world.angular_velocities)
        reduced.q, reduced.qd = q, qd
        qdd = world.dynamics.forward_dynamics(q, qd, tau)
        linear, angular = world.dynamics.accelerations(q, qd, qdd)
        state = reduced.maximal()
        state.tau = tau
        found, _ = state.kkt().solve()
        assert found == pytest.approx(np.concatenate([linear, angular], axis=1), abs=1e-9)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_integrator_knows_them(name):
    """0.2 s of a floating pair on a joint of several kinds at once, beside the reference in generalized coordinates."""
    keywords, near = INTEGRATORS[name]
    scene = pair("cylindrical", hung=False)
    rng = np.random.default_rng(2)
    world, truth = mc.World(scene, dt=1e-3, substeps=1, **keywords), smooth(scene, mc.ReducedWorld)
    world.tau = truth.tau = rng.normal(size=len(truth.tau))
    world.step(200)
    truth.step(20)
    assert np.abs(world.positions - truth.positions).max() < near
    assert world.joint("j").tau == pytest.approx(truth.joint("j").tau)


@pytest.mark.parametrize("integrator", ["dopri", "semi_implicit", "rk4", "radau"])
def test_trees_know_them_by_every_integrator(integrator):
    scene = pair("planar", hung=False)
    event = {"contact": "event"} if integrator == "dopri" else {}
    world, truth = mc.ReducedWorld(scene, dt=1e-3, integrator=integrator, **event), smooth(scene)
    world.tau = truth.tau = np.random.default_rng(2).normal(size=len(truth.tau))
    world.step(200)
    truth.step(20)
    assert np.abs(world.positions - truth.positions).max() < 1e-5


@pytest.mark.parametrize("kind", ["ball", "free", "distance"])
@both_worlds
def test_the_default_step_is_of_second_order_in_them(make, kind):
    """Twice as short a step, a quarter of the error: axes and points turn and move while a force acts along them."""
    scene = pair(kind, speed=0.0)
    truth, errors = smooth(scene), []
    truth.joint("j").tau = numbers(kind, 3.0)
    truth.step(20)
    for dt in (2e-3, 1e-3):  # a ReducedWorld makes longer ones in pieces
        world = make(scene, dt=dt, substeps=1)
        world.joint("j").tau = numbers(kind, 3.0)
        world.step(round(0.2 / dt))
        errors.append(np.abs(world.positions - truth.positions).max())
    assert errors[1] < 0.3 * errors[0] < 1e-4


@every_joint
def test_a_pair_keeps_its_momentum(kind):
    """What a joint is given acts on both bodies, opposite and at one point."""
    world = mc.World(pair(kind, hung=False, gravity=(0, 0, 0)), dt=1 / 120)
    linear, turning = world.momentum()
    world.joint("j").tau = numbers(kind)
    world.step(40)
    now = world.momentum()
    assert now[0] == pytest.approx(linear, abs=1e-11)
    assert now[1] == pytest.approx(turning, abs=2e-3), "the order of the step"
    still = world.angular_velocities.copy()
    world.step(1)
    assert np.abs(world.angular_velocities - still).max() + np.abs(world.velocities).max() > 1e-3


def test_power_goes_into_energy():
    """tau . qd is what the energy grows by: by the reference, over a second."""
    world = smooth(pair("universal", gravity=(0, 0, 0), speed=0.0))
    world.tau = tau = 0.3 * np.random.default_rng(3).normal(size=len(world.tau))
    powers = [0.0]
    for _ in range(100):
        world.step()
        state = world.positions, world.orientations, world.velocities, world.angular_velocities
        powers.append(tau @ world.system.coordinates(*state)[1])
    work = 0.01 / 3 * (powers[0] + powers[100] + 4 * sum(powers[1:100:2]) + 2 * sum(powers[2:100:2]))
    assert world.energy().total == pytest.approx(work, abs=1e-6)
    assert work > 1e-2


@both_worlds
def test_joints_that_close_loops_are_driven(make):
    """A four-bar driven at any of its joints, whichever of them is cut."""
    scene = mc.load("four_bar", driven=False)
    seen = []
    for name in [joint.name for joint in scene.joints]:
        world = make(scene, dt=1e-3, integrator="rk4")
        other = mc.ReducedWorld(scene, dt=1e-3, integrator="rk4", tree=[name])
        for each in (world, other):
            each.joint(name).tau = 0.5
            assert each.joint(name).tau == 0.5
            each.step(100)
        assert np.abs(world.positions - other.positions).max() < 1e-7
        # About its axis; across it a closed linkage in a plane leaves torques open.
        assert world.joint(name).torque[1] == pytest.approx(other.joint(name).torque[1], abs=1e-6)
        seen.append(world.positions.copy())
    assert all(np.abs(seen[0] - one).max() > 1e-4 for one in seen[1:])


# ---- how long they last ------------------------------------------------------------------------------------------------


@both_worlds
def test_they_last_and_forces_do_not(make):
    world = make(pair("hinge"))
    world.joint("j").tau = 2.0
    before = world.tau
    world.step(3)
    world.apply_force("a", (1.0, 0.0, 0.0))
    world.step(3)
    assert world.joint("j").tau == 2.0 and not world.forces.any()
    assert before[world.index("j")[1]] == 2.0, "the view follows"
    before[world.index("j")[1]] = -1.0
    assert world.joint("j").tau == -1.0
    world.change_settings(threads=1, iterations=6)
    assert world.joint("j").tau == -1.0
    world.gravity = (0, 0, -1.0)
    assert world.joint("j").tau == -1.0 and world.system.scene.gravity[2] == -1.0
    state = world.tau.copy()
    with pytest.raises(mc.SceneError, match="tau"):
        world.tau = np.full(len(state), np.nan)
    with pytest.raises(mc.SceneError, match="joint 'j'.*tau must be"):
        world.joint("j").tau = "much"
    with pytest.raises(mc.SceneError, match="joint 'hang'.*tau must be"):
        world.joint("hang").tau = 1.0
    assert np.array_equal(world.tau, state)


@both_worlds
def test_they_go_with_their_joints(make):
    """Bodies and joints come and go, and each joint keeps what it was given."""
    world = make(pair("slider"))
    world.joint("j").tau, world.joint("hang").tau = 3.0, (1.0, 2.0, 3.0)
    world.add_body("more", shape=mc.Sphere(0.1), position=(5, 0, 0))
    world.add_joint(mc.HingeJoint(None, "more", (5, 0, 1), (0, 1, 0), name="third"))
    assert world.joint("j").tau == 3.0 and list(world.joint("hang").tau) == [1.0, 2.0, 3.0]
    world.joint("third").tau = 0.5
    world.step(2)
    world.remove_joint("hang")
    assert world.joint("j").tau == 3.0 and world.joint("third").tau == 0.5
    world.step(2)
    world.remove_body("b")
    assert world.joint("third").tau == 0.5
    world.step(2)


@pytest.mark.parametrize("forget", [False, True])
@both_worlds
@pytest.mark.parametrize("kind", ["hinge", "ball", "distance"])
def test_copies_go_on_to_the_same_bits(make, kind, forget, monkeypatch):
    if forget:
        monkeypatch.setenv("MCSIM_FORGET", "1")
    world = make(pair(kind), dt=1 / 120)
    world.joint("j").tau = numbers(kind)
    world.step(3)
    kept = world.snapshot()
    others = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), world.remade()]
    fresh = make(pair(kind), dt=1 / 120)
    fresh.restore(kept)
    for each in (world, *others, fresh):
        each.step(6)
        assert each.state_hash() == world.state_hash()
    world.joint("j").tau = 0.0 * np.asarray(numbers(kind))
    world.restore(kept)
    world.step(6)
    assert world.state_hash() == fresh.state_hash()
    world.joint("j").tau = 0.0 * np.asarray(numbers(kind))
    quiet = make(pair(kind), dt=1 / 120)
    with pytest.raises(mc.SceneError, match="joint_forces"):
        wrong = quiet.snapshot()
        wrong.packed["joint_forces"] = type(wrong.packed["joint_forces"])(np.ones((len(quiet.joint_names) + 2, 6)))
        quiet.restore(wrong)
    quiet.restore(quiet.snapshot())
    assert not np.any(quiet.joint("j").tau)


@both_worlds
def test_looking_at_them_changes_nothing(make):
    twin, seen = (make(pair("universal"), dt=1 / 120) for _ in range(2))
    for k in range(6):
        for world in (twin, seen):
            world.joint("j").tau = numbers("universal", seed=k)
            world.step(3)
        seen.kkt(), seen.problem(), seen.rows, seen.tau, seen.dynamics, seen.joint("hang").tau, seen.snapshot()
        assert not seen.forces.any()
        assert seen.state_hash() == twin.state_hash()
    never = make(pair("universal"), dt=1 / 120)
    before = never.state_hash()
    assert not never.tau.any() and never.state_hash() == before


def test_a_world_of_trees_hands_them_over():
    red = mc.ReducedWorld(pair("planar"), dt=1e-3, integrator="rk4")
    red.tau = np.arange(1.0, 1.0 + len(red.tau))
    red.step(10)
    world = red.maximal(integrator="rk4")
    assert np.array_equal(world.tau, red.tau)
    red.step(50)
    world.step(50)
    assert np.abs(world.positions - red.positions).max() < 1e-9


# ---- what knows of them ------------------------------------------------------------------------------------------------


def resting(make, **keywords):
    """An arm that lies on the floor and sleeps."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("a", shape=mc.Box((0.2, 0.1, 0.1)), position=(0, 0, 0.1))
    scene.add_body("b", shape=mc.Box((0.2, 0.1, 0.1)), position=(0.5, 0, 0.1))
    scene.add_joint(mc.HingeJoint("a", "b", (0.25, 0, 0.1), (0, 1, 0), name="j"))
    world = make(scene, dt=1 / 60, **keywords)
    world.step(180)
    assert world.asleep[1:].all()
    return world


@both_worlds
def test_what_they_drive_wakes_and_stays_awake(make):
    world = resting(make)
    world.joint("j").tau = 1e-6
    world.step(180)
    assert not world.asleep[1:].any()
    world.joint("j").tau = 0.0
    world.step(180)
    assert world.asleep[1:].all()
    world.joint("j").tau = -200.0
    world.step(6)
    assert not world.asleep[1:].any() and abs(world.joint("j").angle) > 1e-2


def test_a_joint_without_coordinates_says_so():
    scene = mc.Scene()
    scene.add_body("a", shape=mc.Sphere(0.1))
    scene.add_joint(mc.FixedJoint(None, "a", name="weld"))
    for make in (mc.World, mc.ReducedWorld):
        with pytest.raises(mc.SceneError, match="'weld' is a fixed joint, which has no coordinate"):
            make(scene).joint("weld").tau = 1.0


def test_a_broken_joint_is_driven_no_more():
    scene = pair("hinge", gravity=(0, 0, 0), speed=0.0, break_force=1e-9)
    world = mc.World(scene)
    world.joint("j").tau = 5.0
    world.step(2)
    assert world.joint("j").broken
    spin = world.angular_velocities.copy()
    world.step(1)
    assert np.abs(world.angular_velocities[1] - spin[1]).max() < 1e-3


@pytest.mark.parametrize("value", [1e308, np.nan])
@both_worlds
def test_what_no_state_follows_from_is_an_error(make, value):
    """The last good state is kept, forces on bodies are the user's own again, and it goes on without."""
    world = make(pair("hinge"))
    world.step(2)
    before = world.positions.copy()
    world.tau[-1] = value
    with pytest.raises(mc.SimulationError, match="body 'a' is not finite"):
        world.step(3)
    assert np.array_equal(world.positions, before) and not world.forces.any()
    world.tau[-1] = 0.0
    world.step(3)


@pytest.mark.parametrize("kind", ["hinge", "slider", "screw"])
def test_units_make_no_difference(kind):
    """The same pair in lengths of half a metre and masses of a quarter: the same bits."""
    turns = kind != "slider"
    here, there = mc.World(pair(kind)), mc.World(pair(kind, size=2.0, weight=4.0))
    here.joint("j").tau, there.joint("j").tau = 3.0, 3.0 * (16.0 if turns else 8.0)
    for world in (here, there):
        world.step(30)
    assert np.array_equal(2.0 * here.positions, there.positions)
    assert np.array_equal(here.orientations, there.orientations)


def test_no_frame_is_special():
    """Turned by a right angle about z and set elsewhere, as exactly as numbers allow."""
    turn = np.array([(0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
    here = mc.World(pair("planar"), dt=1 / 120)
    scene = pair("planar")
    told = scene.to_dict()
    half = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    for body in told["bodies"]:
        body["position"] = (turn @ body["position"] + (8.0, -4.0, 2.0)).tolist()
        body["orientation"] = half.tolist()
        body["velocity"] = (turn @ body["velocity"]).tolist()
    told["gravity"] = (turn @ scene.gravity).tolist()
    for joint, own in zip(told["joints"], scene.joints):
        for field in ("anchor", "axis", "normal"):
            joint.pop(field, None)
        joint["frame_a"] = [list(part) for part in own.frame_a]
        joint["frame_b"] = [list(part) for part in own.frame_b]
        if joint.get("a") is None:
            place, axes = own.frame_a
            joint["frame_a"] = [(turn @ place + (8.0, -4.0, 2.0)).tolist(), list(_times(half, axes))]
    there = mc.World(mc.Scene.from_dict(told), dt=1 / 120)
    for world in (here, there):
        world.joint("j").tau = (1.0, -2.0, 0.5)
        world.step(60)
    assert np.abs(here.positions @ turn.T + (8.0, -4.0, 2.0) - there.positions).max() < 1e-9


def _times(p, q):
    w, v, u, x = p[0], np.array(p[1:]), q[0], np.array(q[1:])
    return np.array([w * u - v @ x, *(w * x + u * v + np.cross(v, x))])


# ---- inverse dynamics gives them back ----------------------------------------------------------------------------------


STIFFNESS, DAMPING = 20.0, 2.0


def springy_arm():
    """A column that turns, two hinges and a slider on it, with springs and dampers, so that errors die out."""
    scene = mc.Scene()
    told = {"spring": mc.Spring(STIFFNESS, DAMPING)}
    parent = None
    for k, (axis, x) in enumerate((((0, 0, 1), 0.0), ((0, 1, 0), 0.2), ((0, 1, 0), 0.6), ((1, 0, 0), 1.0))):
        kind = mc.HingeJoint if k < 3 else mc.SliderJoint
        name = scene.add_body(f"link{k}", mass=1.5 - 0.3 * k, inertia=(0.03, 0.04, 0.05), position=(x + 0.2, 0.05 * k, 0.5))
        scene.add_joint(kind(parent, name, axis=axis, anchor=(x, 0.0, 0.5), name=f"joint{k}", **told))
        parent = name
    return scene


@both_worlds
def test_inverse_dynamics_gives_back_what_was_recorded(make):
    """An arm driven by forces that change in each step: inverse dynamics of the recorded motion finds the forces, and
    these make the motion again."""
    dt = 0.02
    times = dt * np.arange(round(amount(4, 60) / dt))
    given = 4.0 * np.sin(np.outer(times, (1.0, 2.0, 3.1, 1.7)) + np.arange(4))
    world, again = (make(springy_arm(), dt=dt, integrator="reference") for _ in range(2))
    found, recorded = [], []
    for tau in given:
        world.tau[:] = tau
        state = world.positions, world.orientations, world.velocities, world.angular_velocities
        q, qd = world.system.coordinates(*state)
        springs = -STIFFNESS * q - DAMPING * qd
        accelerations = world.dynamics.forward_dynamics(q, qd, tau + springs)
        found.append(world.dynamics.inverse_dynamics(q, qd, accelerations) - springs)
        recorded.append(world.positions.copy())
        world.step()
    assert np.ptp(recorded, axis=0).max() > 0.3
    assert np.abs(np.array(found) - given).max() < 1e-10
    off = 0.0
    for tau, positions in zip(found, recorded, strict=True):
        off = max(off, np.abs(again.positions - positions).max())
        again.tau = tau
        again.step()
    assert off < 1e-8
