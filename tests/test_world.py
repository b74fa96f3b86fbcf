"""World's face: arrays, handles, acting on bodies, observers, failures and what follows them."""

import ctypes
import gc
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mechanism_scenes import rotation
from test_momentum import jointed
from test_solvers_agree import pile

G = 9.81


def small():
    """A plane, a kinematic body, two dynamic ones with a hinge and a ball joint."""
    scene = mc.Scene(name="small")
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("mover", kind="kinematic", shape=mc.Box((0.1, 0.1, 0.1)), position=(3, 0, 1), velocity=(0.1, 0, 0))
    scene.add_body(
        "a",
        mass=2.0,
        inertia=((0.3, 0.01, 0.02), (0.01, 0.2, 0), (0.02, 0, 0.25)),
        position=(0, 0, 2),
        orientation=(0.6, 0, 0.8, 0),
        velocity=(1, 2, 3),
        angular_velocity=(0.1, 0.2, 0.3),
    )
    scene.add_body("b", shape=mc.Box((0.1, 0.2, 0.3), position=(0.5, 0, 0)), position=(1, 0, 2))
    scene.add_joint(
        mc.HingeJoint(
            "a",
            "b",
            (0.5, 0, 2),
            (0, 1, 0),
            name="hinge",
            spring=mc.Spring(7.0, 0.1, 0.3),
            motor=mc.Motor(velocity=1.0, max_force=0.5),
            limits=(-1, 1),
        )
    )
    scene.add_joint(mc.BallJoint(None, "a", (0, 0, 2.5), name="ball", swing_limit=1.0))
    return mc.World(scene, dt=0.01)


# ---- arrays ----------------------------------------------------------------------------------------------------------


def test_arrays_are_writable_views_of_the_state():
    """Shapes and types; the same memory each time; what is written moves the body."""
    world = small()
    for name, columns in (
        ("positions", 3),
        ("orientations", 4),
        ("velocities", 3),
        ("angular_velocities", 3),
        ("forces", 6),
    ):
        array = getattr(world, name)
        assert array.shape == (4, columns) and array.dtype == np.float64 and array.flags.writeable
        assert np.shares_memory(array, getattr(world, name))
    positions, velocities = world.positions, world.velocities
    world.step(3)
    assert np.array_equal(positions, world.positions) and positions[1, 0] == pytest.approx(3 + 0.003)
    velocities[1] = (0, 5, 0)
    world.step()
    assert world.positions[1, 1] == pytest.approx(0.05)
    world.body("a").velocity[:] = 0
    assert np.array_equal(world.velocities[2], (0, 0, 0))


def test_orientations_written_by_hand_are_made_unit():
    """A quaternion of another length stands for its direction."""
    world = small()
    world.orientations[3] *= 3.0
    world.orientations[1] = (0, 0, 0, -1e-3)
    world.step()
    assert np.linalg.norm(world.orientations, axis=1) == pytest.approx(np.ones(4), abs=1e-14)


def test_static_bodies_stay_whatever_is_written():
    """A velocity written to a static body's row is taken back by the next step."""
    world = small()
    world.velocities[0] = (1, 1, 1)
    world.step(5)
    assert not world.positions[0].any() and not world.velocities[0].any()


def test_what_a_world_says_of_itself():
    """Names, order, time, settings, repr."""
    world = small()
    assert world.body_names == ("ground", "mover", "a", "b") and world.joint_names == ("hinge", "ball")
    assert world.masses == pytest.approx((0, 0, 2.0, 0.048 * 1000))
    world.masses[2] = 5.0
    assert world.masses[2] == 2.0
    world.step(25)
    assert world.time == pytest.approx(0.25)
    assert "small" in repr(world) and "4 bodies" in repr(world)
    assert world.settings["dt"] == 0.01 and world.settings["substeps"] == 4 and world.settings["solver"] == "si"


def test_the_scene_of_a_world_is_a_copy():
    """What is added to the scene later does not reach the world."""
    scene = mc.Scene()
    scene.add_body("a", mass=1, inertia=(1, 1, 1))
    world = mc.World(scene)
    scene.add_body("b", mass=1, inertia=(1, 1, 1))
    assert world.body_names == ("a",) and len(world.scene.bodies) == 1 and world.scene is not scene


def test_worlds_of_nothing():
    """No bodies, no joints, or both: everything answers with empty arrays."""
    world = mc.World(mc.Scene())
    world.step(100)
    assert world.time == pytest.approx(100 / 60)
    assert world.positions.shape == (0, 3) and world.orientations.shape == (0, 4) and world.forces.shape == (0, 6)
    assert world.energy() == (0, 0) and world.jacobian().shape == (0, 0) and world.delassus().shape == (0, 0)
    assert world.joint_errors().shape == (0, 2) and len(world.contacts) == len(world.rows) == 0
    assert all(part.shape == (3,) and not part.any() for part in world.momentum())
    assert world.frames()[0].shape == (0, 3)
    scene = mc.Scene()
    scene.add_body(kind="static")
    scene.add_body(kind="kinematic", velocity=(1, 0, 0))
    world = mc.World(scene, solver="pgs")
    world.step(60)
    assert world.positions[1] == pytest.approx((1, 0, 0)) and world.jacobian().shape == (0, 12)


# ---- handles ---------------------------------------------------------------------------------------------------------


def test_bodies_by_name_number_and_handle():
    """All ways lead to the same body; the handle reads and writes the arrays."""
    world = small()
    scene_handle = world.scene.bodies[2]
    for key in ("a", 2, np.int64(2), scene_handle, world.body("a")):
        body = world.body(key)
        assert body.name == "a" and body.index == 2 and body.kind == "dynamic"
        assert np.shares_memory(body.position, world.positions)
    assert world.body("a").mass == 2.0 and world.body("mover").mass == 0.0
    assert world.body("a").inertia == pytest.approx(np.array(((0.3, 0.01, 0.02), (0.01, 0.2, 0), (0.02, 0, 0.25))))
    assert "'a'" in repr(world.body("a")) and "dynamic" in repr(world.body("a"))


def test_joints_by_name_number_and_handle():
    """The same for joints, and what they answer."""
    world = small()
    for key in ("hinge", 0, world.scene.joints[0], world.joint("hinge")):
        joint = world.joint(key)
        assert joint.name == "hinge" and joint.type == "hinge" and isinstance(joint.angle, float)
        assert joint.force.shape == joint.torque.shape == (3,) and isinstance(joint.motor_force, float)
    ball = world.joint("ball")
    assert ball.position.shape == ball.velocity.shape == ball.motor_force.shape == (3,) and len(ball.error) == 2
    assert "hinge" in repr(joint)


def test_frames_are_where_the_user_put_the_bodies():
    """positions are centres of mass; frames() gives the body's own frame."""
    world = small()
    positions, orientations = world.frames()
    assert positions[3] == pytest.approx((1, 0, 2)) and world.positions[3] == pytest.approx((1.5, 0, 2))
    assert world.body("b").frame[0] == pytest.approx((1, 0, 2))
    world.step(30)
    positions, orientations = world.frames()
    assert positions[3] + rotation(orientations[3]) @ (0.5, 0, 0) == pytest.approx(world.positions[3], abs=1e-14)


# ---- acting ----------------------------------------------------------------------------------------------------------


def free(mass=2.0, inertia=(0.3, 0.2, 0.25), orientation=(0.6, 0, 0.8, 0), **keywords):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=mass, inertia=inertia, position=(1, 2, 3), orientation=orientation)
    return mc.World(scene, **keywords)


def test_forces_act_through_one_step_call_and_are_cleared():
    """F t / m over all steps of one call, none in the next."""
    world = free()
    world.apply_force("m", (1, 0, 0))
    world.apply_force("m", (1, 4, 0))
    assert np.array_equal(world.forces, [[2, 4, 0, 0, 0, 0]])
    world.step(30)
    assert world.velocities[0] == pytest.approx((0.5, 1.0, 0)) and not world.forces.any()
    world.step(30)
    assert world.velocities[0] == pytest.approx((0.5, 1.0, 0))


def test_a_force_at_a_point_turns_the_body():
    """Its torque is (point - centre) x force; the same may be written into forces."""
    world = free()
    world.apply_force("m", (0, 3, 0), point=(2, 2, 3.5))
    assert world.forces[0] == pytest.approx((0, 3, 0, *np.cross((1, 0, 0.5), (0, 3, 0))))
    world.apply_torque("m", (0, 0, 1))
    assert world.forces[0, 5] == pytest.approx(4.0)
    other = free()
    other.forces[0] = world.forces[0]
    world.step(5)
    other.step(5)
    assert world.state_hash() == other.state_hash()


def test_impulses_act_at_once():
    """J / m, and I^-1 (r x J) in world axes, about a body that is turned."""
    world = free()
    world.apply_impulse("m", (1, 2, 3), point=(1.5, 2, 3))
    assert world.velocities[0] == pytest.approx((0.5, 1, 1.5))
    r = rotation(world.orientations[0])
    expected = r @ (r.T @ np.cross((0.5, 0, 0), (1, 2, 3)) / (0.3, 0.2, 0.25))
    assert world.angular_velocities[0] == pytest.approx(expected)
    before = world.momentum()
    world.apply_impulse("m", (-1, 0, 0))
    assert world.momentum()[0] - before[0] == pytest.approx((-1, 0, 0))
    assert world.momentum()[1] - before[1] == pytest.approx(np.cross((1, 2, 3), (-1, 0, 0)))


def test_poses_and_velocities_can_be_set():
    """None keeps what is; lists and arrays serve."""
    world = small()
    world.set_pose("b", position=[5, 6, 7])
    world.set_pose("b", orientation=np.array((0, 1, 0, 0)))
    assert world.body("b").position == pytest.approx((5, 6, 7))
    assert world.body("b").orientation == pytest.approx((0, 1, 0, 0))
    world.set_velocity("mover", velocity=(1, 2, 3))
    world.set_velocity("mover", angular_velocity=(4, 5, 6))
    assert world.body("mover").velocity == pytest.approx((1, 2, 3))
    assert world.body("mover").angular_velocity == pytest.approx((4, 5, 6))
    world.set_pose("ground", position=(0, 0, -1))
    assert world.body("ground").position == pytest.approx((0, 0, -1))


# ---- observers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [small, lambda: mc.World(jointed(0)), lambda: mc.World(pile())], ids=["small", "joints", "pile"]
)
def test_energy_and_momentum_against_sums(make):
    """Body by body in plain NumPy, with the springs' energy from the joints' own positions."""
    world = make()
    world.step(20)
    kinetic = potential = 0.0
    p, l = np.zeros(3), np.zeros(3)
    for i, mass in enumerate(world.masses):
        r = rotation(world.orientations[i])
        v, w = world.velocities[i], world.angular_velocities[i]
        spin = r @ world.body(i).inertia @ r.T @ w
        kinetic += mass * v @ v / 2 + w @ spin / 2
        potential -= mass * world.scene.gravity @ world.positions[i]
        p, l = p + mass * v, l + mass * np.cross(world.positions[i], v) + spin
    ball_spring = 0.0
    for joint in world.scene.joints:
        position = np.atleast_1d(world.joint(joint).position)
        for axis, x in zip(joint.axes, position):
            if axis.spring is not None:
                ball_spring += 0.5 * axis.spring.stiffness * (x - axis.spring.rest) ** 2
    energy = world.energy()
    assert energy.kinetic == pytest.approx(kinetic, rel=1e-12)
    assert energy.potential == pytest.approx(potential + ball_spring, rel=1e-12, abs=1e-12)
    assert energy.total == energy.kinetic + energy.potential
    assert world.momentum()[0] == pytest.approx(p, rel=1e-12, abs=1e-12)
    assert world.momentum()[1] == pytest.approx(l, rel=1e-12, abs=1e-12)


def test_contacts_describe_the_last_step():
    """Fields, types and geometry: a box on the ground has four points under its corners."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(0.9))
    scene.add_body("box", shape=mc.Box((0.3, 0.2, 0.1)), position=(1, 1, 0.1), material=mc.Material(0.4))
    world = mc.World(scene)
    world.step(60)
    contacts = world.contacts
    assert contacts.dtype.names == (
        "body_a",
        "body_b",
        "position",
        "normal",
        "separation",
        "normal_impulse",
        "tangent_impulse",
        "friction",
    )
    assert len(contacts) == 4 and np.all(contacts["body_a"] == 0) and np.all(contacts["body_b"] == 1)
    corners = {(x, y) for x in (0.7, 1.3) for y in (0.8, 1.2)}
    assert {tuple(np.round(p, 3)) for p in contacts["position"][:, :2]} == corners
    assert contacts["normal"] == pytest.approx(np.tile((0, 0, 1.0), (4, 1)), abs=1e-6)
    assert contacts["friction"] == pytest.approx(np.full(4, 0.6))
    assert np.abs(contacts["separation"]).max() < 1e-3


def test_rows_jacobian_and_delassus_are_in_one_order():
    """Each row's body columns are where its Jacobian is not zero; kinds are those of the scene."""
    world = mc.World(pile(), dt=0.01)
    world.step(10)
    rows, j, a = world.rows, world.jacobian().toarray(), world.delassus().toarray()
    assert j.shape == (len(rows), 6 * 9) and a.shape == (len(rows),) * 2 and np.abs(a - a.T).max() == 0
    for row, line in zip(rows, j):
        bodies = set(np.nonzero(line)[0] // 6)
        assert bodies <= set(row["bodies"]) and bodies
    assert {"joint", "normal", "friction", "twist"} <= set(rows["kind"])
    normals = rows["kind"] == "normal"
    assert np.all(rows["bounds"][normals] == (0, np.inf))
    assert world.stats.rows == len(rows) and world.stats.joint_rows == np.sum(np.isin(rows["kind"], ("joint", "limit")))


def test_stats_count_and_time():
    """Steps of the last call, seconds by stage, iterations."""
    world = mc.World(pile(), iterations=7, substeps=3)
    world.step(12)
    stats = world.stats
    assert stats.steps == 12 and stats.iterations == 2 * 7 * 3
    assert stats.manifolds == len({(c["body_a"], c["body_b"]) for c in world.contacts})
    assert stats.points == len(world.contacts)
    assert set(stats.times) >= {"collide", "solve", "relax"} and all(t >= 0 for t in stats.times.values())
    assert 0 < sum(stats.times.values()) < 10


def test_the_stages_take_what_a_call_takes():
    """The timers' own counter goes at the rate of the clock, and nothing but a call's first and last moments is left out.
    (Others that run on the machine at such a moment lengthen it: the best of some calls.)"""
    world = mc.World(pile(), sleep=False)
    parts = []
    for _ in range(8):
        began = time.perf_counter()
        world.step(50)
        took = time.perf_counter() - began
        parts.append(sum(world.stats.times.values()) / took)
    assert 0.97 < max(parts) < 1.002


# ---- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array, name",
    [("positions", "b"), ("orientations", "a"), ("velocities", "b"), ("angular_velocities", "mover"), ("forces", "a")],
)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_reported_by_the_next_step(array, name, bad):
    """NaN or infinity in a view: SimulationError names body and step, nothing else moves, it goes on after repair."""
    world = small()
    world.step(3)
    before = world.snapshot()
    i = world.body_names.index(name)
    good = getattr(world, array)[i].copy()
    getattr(world, array)[i, 1] = bad
    with pytest.raises(mc.SimulationError, match=rf"step 4 .*body '{name}'.*not finite"):
        world.step(5)
    assert world.time == pytest.approx(0.03)
    for key, kept in before.arrays.items():
        now = getattr(world._bodies, key)
        rest = np.arange(4) != i
        assert np.array_equal(now[rest], kept[rest])
    world.joint("hinge").position, world.joint("ball").velocity  # looking must not hurt either
    if array != "forces":  # those are cleared by the call that failed
        with pytest.raises(mc.SimulationError):
            world.rows
    getattr(world, array)[i] = good
    world.step(2)
    twin = small()
    twin.restore(before)
    twin.step(2)
    assert world.state_hash() == twin.state_hash()


def test_a_zero_quaternion_is_reported():
    """Four zeros are no orientation."""
    world = small()
    world.orientations[2] = 0
    with pytest.raises(mc.SimulationError, match="body 'a'"):
        world.step()


def test_a_step_that_fails_keeps_the_last_good_state():
    """A force that takes a body out of all bounds in some later step: the steps before it stand, with their count;
    the world goes on."""
    world = small()
    world.step(10)
    before, snapshot = world.state_hash(), world.snapshot()
    world.apply_force("b", (1e308, 1e308, 0))
    with pytest.raises(mc.SimulationError, match=r"step 11 \(t = 0.11 s\).*joints on it: hinge"):
        world.step(5)
    assert world.state_hash() == before and world.stats.steps == 0
    world.step(5)
    world.restore(snapshot)
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1e-3, inertia=(1, 1, 1))
    light = mc.World(scene, dt=1.0)
    light.apply_force("m", (1e10, 0, 0))
    with pytest.raises(mc.SimulationError, match=r"step (\d+)") as caught:
        light.step(10**9)
    done = int(re.search(r"step (\d+)", str(caught.value))[1]) - 1
    assert done > 0 and light.time == done and light.stats.steps == done and np.all(np.isfinite(light.positions))


def test_a_world_that_starts_wrong_says_so():
    """Velocities that overflow at once are caught by the first step, by name."""
    scene = mc.Scene()
    scene.add_body("fast", mass=1, inertia=(1, 1, 1), velocity=(1e308, 0, 0))
    world = mc.World(scene, dt=10.0)
    with pytest.raises(mc.SimulationError, match="fast"):
        world.step(10)


WRONG = [
    # World's keywords
    (lambda w: mc.World("ragdolls"), "must be a Scene"),
    (lambda w: mc.World(None), "must be a Scene"),
    (lambda w: mc.World(w), "must be a Scene"),
    (lambda w: mc.World(w.scene, dt=0), "dt must be positive"),
    (lambda w: mc.World(w.scene, dt=-0.1), "dt must be positive"),
    (lambda w: mc.World(w.scene, dt=np.nan), "dt must be finite"),
    (lambda w: mc.World(w.scene, dt=np.inf), "dt must be finite"),
    (lambda w: mc.World(w.scene, dt="1/60"), "dt must be a number"),
    (lambda w: mc.World(w.scene, dt=True), "dt must be a number"),
    (lambda w: mc.World(w.scene, dt=1e-12, substeps=10), "at least 1e-12"),
    (lambda w: mc.World(w.scene, substeps=0), "substeps must be from 1"),
    (lambda w: mc.World(w.scene, substeps=2.0), "substeps must be a whole number"),
    (lambda w: mc.World(w.scene, substeps=10**6), "substeps must be from 1 to"),
    (lambda w: mc.World(w.scene, iterations=-1), "iterations must be from 1"),
    (lambda w: mc.World(w.scene, iterations="many"), "iterations must be a whole number"),
    (lambda w: mc.World(w.scene, solver="sii"), "solver must be one of: si, pgs"),
    (lambda w: mc.World(w.scene, solver=1), "solver must be one of"),
    (lambda w: mc.World(w.scene, stabilization="tape"), "stabilization must be one of: none, baumgarte, soft, split"),
    (lambda w: mc.World(w.scene, position_rounds=0), "position_rounds must be from 1"),
    (lambda w: mc.World(w.scene, integrator="rk5"), "integrator must be one of"),
    (lambda w: mc.World(w.scene, integrator="rk4", joint_solver="tree"), "joint_solver 'tree' does not go with"),
    (lambda w: mc.World(w.scene, joint_solver="trees"), "joint_solver must be one of"),
    (lambda w: mc.World(w.scene, friction="coulomb"), "friction must be one of: pyramid, cone"),
    (lambda w: mc.World(w.scene, friction_points=4), "friction_points must be one of"),
    (lambda w: mc.World(w.scene, baumgarte=1.5), r"baumgarte must be in \[0, 1\]"),
    (lambda w: mc.World(w.scene, slop=-1e-3), "slop must not be negative"),
    (lambda w: mc.World(w.scene, hertz=-30), "hertz must not be negative"),
    (lambda w: mc.World(w.scene, damping_ratio=np.nan), "damping_ratio must be finite"),
    (lambda w: mc.World(w.scene, joint_hertz=-1), "joint_hertz must not be negative"),
    (lambda w: mc.World(w.scene, joint_damping_ratio=None), "joint_damping_ratio must be a number"),
    (lambda w: mc.World(w.scene, push_speed=-1), "push_speed must not be negative"),
    (lambda w: mc.World(w.scene, restitution_threshold="1"), "restitution_threshold must be a number"),
    (lambda w: mc.World(w.scene, speculative_distance=-0.1), "speculative_distance must not be negative"),
    (lambda w: mc.World(w.scene, sleep=1), "sleep must be True or False"),
    (lambda w: mc.World(w.scene, threads=0), "threads must be from 1"),
    # step
    (lambda w: w.step(-1), "n must be from 0"),
    (lambda w: w.step(1.0), "n must be a whole number"),
    (lambda w: w.step(True), "n must be a whole number"),
    (lambda w: w.step("10"), "n must be a whole number"),
    (lambda w: w.step(2**70), "n must be from 0"),
    # lookups
    (lambda w: w.body("aa"), "unknown body 'aa'; did you mean 'a'"),
    (lambda w: w.body("zzz"), "there are 4: ground, mover, a, b"),
    (lambda w: w.body(4), "unknown body 4"),
    (lambda w: w.body(-1), "unknown body -1"),
    (lambda w: w.body(None), "unknown body None"),
    (lambda w: w.body(1.0), "unknown body 1.0"),
    (lambda w: w.body(True), "unknown body True"),
    (lambda w: w.body(["a"]), "unknown body"),
    (lambda w: w.body(small().body("a")), "'a' belongs to another world"),
    (lambda w: w.joint("hing"), "unknown joint 'hing'; did you mean 'hinge'"),
    (lambda w: w.joint(2), "unknown joint 2"),
    (lambda w: w.joint(small().joint("ball")), "'ball' belongs to another world"),
    (lambda w: w.joint(w.body("a")), "unknown joint 'a'"),
    (lambda w: w.joint("ball").angle, "a ball joint has no angle"),
    # acting
    (lambda w: w.apply_force("nobody", (1, 0, 0)), "unknown body 'nobody'"),
    (lambda w: w.apply_force("a", (1, 0)), "apply_force: force must be 3 numbers, got 2"),
    (lambda w: w.apply_force("a", 5.0), "apply_force: force must be 3 numbers"),
    (lambda w: w.apply_force("a", (1, np.nan, 0)), r"apply_force: force\[1\] must be finite"),
    (lambda w: w.apply_force("a", (1, 0, 0), point=(0, 0, "z")), r"apply_force: point\[2\] must be a number"),
    (lambda w: w.apply_force("ground", (1, 0, 0)), "'ground' is static; only dynamic bodies feel forces"),
    (lambda w: w.apply_force("mover", (1, 0, 0)), "'mover' is kinematic"),
    (lambda w: w.apply_torque("a", "xyz"), "apply_torque: torque must be 3 numbers"),
    (lambda w: w.apply_torque("mover", (0, 0, 1)), "'mover' is kinematic"),
    (lambda w: w.apply_impulse("a", (0, 0, np.inf)), r"apply_impulse: impulse\[2\] must be finite"),
    (lambda w: w.apply_impulse("a", (0, 0, 1), point=(1, 2)), "apply_impulse: point must be 3 numbers"),
    (lambda w: w.apply_impulse("ground", (0, 0, 1)), "'ground' is static"),
    (lambda w: w.set_pose("a", position=(1, 2, None)), r"set_pose: position\[2\] must be a number"),
    (lambda w: w.set_pose("a", orientation=(1, 0, 0)), "set_pose: orientation must be 4 numbers"),
    (
        lambda w: w.set_pose("a", position=(9, 9, 9), orientation=(1, 1, 0, 0)),
        "set_pose: orientation must be a unit quaternion",
    ),
    (lambda w: w.set_pose("a", (np.nan, 9, 9), (0, 1, 0, 0)), r"set_pose: position\[0\] must be finite"),
    (
        lambda w: w.set_velocity("a", velocity=(9, 9, 9), angular_velocity=(np.inf, 0, 0)),
        r"angular_velocity\[0\] must be finite",
    ),
    (lambda w: w.set_velocity("a", velocity="fast"), "set_velocity: velocity must be 3 numbers"),
    (lambda w: w.set_velocity("ground", velocity=(1, 0, 0)), "'ground' is static; make it kinematic"),
    # motors
    (lambda w: w.joint("hinge").set_motor(velocity=1.0, position=2.0), "joint 'hinge'.*both given"),
    (lambda w: w.joint("hinge").set_motor(velocity=np.nan), "joint 'hinge'.*velocity must be finite"),
    (lambda w: w.joint("hinge").set_motor(velocity=(1.0, 2.0)), "joint 'hinge'"),
    (lambda w: w.joint("hinge").set_motor(position=1.0, max_force=-1), "max_force must not be negative"),
    (lambda w: w.joint("hinge").set_motor(velocity=1.0, axis=1), "axis must be from 0 to 0"),
    (lambda w: w.joint("ball").set_motor(velocity=(1, 0, 0)), "joint 'ball': has no motor"),
    # snapshots
    (lambda w: w.restore(None), "takes what World.snapshot"),
    (lambda w: w.restore(w.state_hash()), "takes what World.snapshot"),
    (lambda w: w.restore(mc.World(mc.Scene()).snapshot()), "of another scene"),
    (lambda w: w.restore(other_joints().snapshot()), "connect other bodies"),
]


def other_joints():
    """As many bodies and joints as in small(), joined otherwise."""
    scene = mc.Scene()
    for _ in range(4):
        scene.add_body(mass=1, inertia=(1, 1, 1))
    scene.add_joint(mc.BallJoint("body0", "body1", (0, 0, 0)))
    scene.add_joint(mc.BallJoint("body2", "body3", (0, 0, 0)))
    return mc.World(scene)


@pytest.mark.parametrize("call, message", WRONG, ids=[f"{i}-{message[:30]}" for i, (_, message) in enumerate(WRONG)])
def test_wrong_calls_say_what_is_wrong_and_change_nothing(call, message):
    """A SceneError with the field in its message; not a bit of the world is touched, and it steps on."""
    world = small()
    world.step(3)
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match=message) as caught:
        call(world)
    assert "\n" not in str(caught.value)
    assert world.state_hash() == before
    world.step()


def test_unknown_keywords_are_python_errors():
    """As for every function: a TypeError that names the keyword; everything after the scene is a keyword."""
    with pytest.raises(TypeError, match="timestep"):
        mc.World(mc.Scene(), timestep=0.1)
    with pytest.raises(TypeError):
        mc.World(mc.Scene(), 0.01)


# ---- interruption, memory --------------------------------------------------------------------------------------------

INTERRUPTED = """
import signal
import sys
import mcsim as mc
from test_solvers_agree import pile
signal.signal(signal.SIGINT, signal.default_int_handler)      # which suites in the background may ignore
world = mc.World(pile(), iterations=1000)
world.apply_force("ball", (1.0, 0, 0))
print("ready", flush=True)
try:
    world.step(10**9)
except KeyboardInterrupt:
    steps = round(world.time * 60)
    assert world.stats.steps == steps > 0
    twin = mc.World(pile(), iterations=1000)
    twin.apply_force("ball", (1.0, 0, 0))
    twin.step(steps)
    assert twin.state_hash() == world.state_hash()
    world.step(1)
    print("whole", steps)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_a_long_run_between_steps():
    """SIGINT during step(10**9): KeyboardInterrupt soon, a whole state of a whole number of steps, which goes on."""
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert child.stdout.readline().strip() == "ready"
        try:
            child.wait(0.5)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0 and out.startswith("whole"), err


class _MallInfo2(ctypes.Structure):
    """glibc's struct mallinfo2 (man 3 mallinfo)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


MALLINFO = getattr(ctypes.CDLL(None), "mallinfo2", None) if os.name == "posix" else None
if MALLINFO is not None:
    MALLINFO.restype = _MallInfo2


def c_memory():
    """Bytes in use from the C heap, by glibc; 0 where there is no such count."""
    if MALLINFO is None:
        return 0
    info = MALLINFO()
    return info.uordblks + info.hblkhd


@pytest.mark.parametrize("make", [lambda: jointed(0), pile], ids=["joints", "pile"])
@pytest.mark.parametrize("keywords", [{}, {"solver": "pgs"}, {"stabilization": "baumgarte", "friction_points": "point"}])
def test_a_warm_step_allocates_nothing(make, keywords):
    warm_steps_allocate_nothing(mc.World(make(), **keywords))


def warm_steps_allocate_nothing(world):
    """The same steps after a restore: the C heap does not grow by a byte, Python's by no more than a call takes."""
    steps = amount(80, 200)
    start = world.snapshot()
    world.step(steps)
    world.restore(start)
    world.step(1)
    gc.collect()
    gc.disable()
    try:
        c_memory()
        before = c_memory()
        world.step(steps - 1)
        after = c_memory()
        world.restore(start)
        tracemalloc.start()
        world.step(1)
        peaks = []
        for n in (1, steps - 2):
            tracemalloc.reset_peak()
            held, _ = tracemalloc.get_traced_memory()
            world.step(n)
            _, peak = tracemalloc.get_traced_memory()
            peaks.append(peak - held)
    finally:
        tracemalloc.stop()
        gc.enable()
    assert before == after
    one, many = peaks  # a call takes a little, such as the buffers of NumPy's max over rates of damping; steps take nothing
    assert one < 2048 and many <= one + 256, peaks


def hinges(count=30):
    """A chain of bars on hinges, level at first."""
    scene = mc.Scene()
    for i in range(count):
        scene.add_body(f"bar{i}", mass=1, inertia=(0.01, 0.01, 0.01), position=(i + 0.5, 0, 0))
        scene.add_joint(mc.HingeJoint(f"bar{i - 1}" if i else None, f"bar{i}", (i, 0, 0), (0, 1, 0), limits=(-0.5, 2)))
    return scene


# Scene, keywords, and how many rows its last step has at least.
REDUCED = {
    "hinges": (hinges, {}, 0),
    "hinges, rk4": (hinges, {"integrator": "rk4"}, 0),
    "balls": (lambda: mc.load("chain", n=20), {}, 0),
    "loop": (lambda: mc.load("four_bar"), {}, 5),
    "loop, projection": (lambda: mc.load("four_bar"), {"stabilization": "projection"}, 5),
    "all joints": (lambda: jointed(0), {}, 20),
    "contacts": (lambda: mc.load("wrecking_ball", links=4, height=2, width=2), {"dt": 1 / 240, "sleep": False}, 12),
    "pile": (pile, {"dt": 1 / 60, "sleep": False}, 12),
    "pile that falls asleep": (pile, {"dt": 1 / 60, "sleep_time": 0.1}, 0),
}


@pytest.mark.parametrize("make, keywords, rows", REDUCED.values(), ids=REDUCED)
def test_a_warm_reduced_step_allocates_nothing(make, keywords, rows):
    """Trees, rows over them, loops, contacts."""
    world = mc.ReducedWorld(make(), **keywords)
    warm_steps_allocate_nothing(world)
    assert world.stats.rows >= rows


def test_kernels_allocate_only_with_the_gil():
    """malloc and its kin stand only in functions that hold the GIL: the loops of a step cannot reach them."""
    found = 0
    for path in sorted(Path(mc.__file__).parent.rglob("*.p[yx][xd]")):
        signature = ""
        for line in path.read_text().splitlines():
            if re.match(r"\s*(cdef|cpdef|def)\b.*\(", line):
                signature = line
            if re.search(r"\b(malloc|calloc|realloc)\(", line):
                found += 1
                assert "nogil" not in signature, (path.name, line)
    assert found > 0
