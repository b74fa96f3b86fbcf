"""Trees from MJCF move as MuJoCo moves them: inertia, forces, accelerations, poses, energies, and runs side by side."""

import hypothesis.strategies as st
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import matrix
from mcsim.io import read_mjcf
from mcsim.reduced import Dynamics, System
from mjcf_models import Writer, forward, mass_matrix, random_state

SEEDS = st.integers(0, 10**6)


def near(ours, theirs, tolerance=1e-9):
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    assert np.abs(np.asarray(ours) - theirs).max(initial=0.0) < tolerance * scale


def loaded(text, between=1e-13):
    """-> Robot, Dynamics, MjModel."""
    robot = read_mjcf(text, between=between)
    return robot, Dynamics(System(robot.scene)), mujoco.MjModel.from_xml_string(text)


@given(seed=SEEDS)
@settings(max_examples=amount(6, 150), deadline=None)
def test_random_trees_are_mujocos(seed):
    """M, the bias force, accelerations and energies at random states; coordinates are MuJoCo's, one for one."""
    _, dynamics, model = loaded(Writer(seed).model())
    if model.nv == 0:
        return
    assert (dynamics.system.nq, dynamics.system.nv) == (model.nq, model.nv)
    q, v, tau = random_state(model, seed)
    data = forward(model, q, v, tau)
    near(dynamics.mass_matrix(q), mass_matrix(model, data))
    near(dynamics.bias_force(q, v), data.qfrc_bias)
    near(mass_matrix(model, data) @ dynamics.forward_dynamics(q, v, tau), tau - data.qfrc_bias)
    kinetic, potential = dynamics.energy(q, v)
    near(kinetic, 0.5 * v @ mass_matrix(model, data) @ v)
    weights = model.body_mass[:, None] * data.xipos
    near(potential, -float(weights.sum(axis=0) @ model.opt.gravity))


@given(seed=SEEDS)
@settings(max_examples=amount(4, 100), deadline=None)
def test_accelerations_are_mujocos(seed):
    """By themselves, not through M, which would hide what is off where M is small."""
    _, dynamics, model = loaded(Writer(seed).model())
    if model.nv == 0:
        return
    q, v, tau = random_state(model, seed)
    data = forward(model, q, v, tau)
    condition = np.linalg.cond(mass_matrix(model, data))
    near(dynamics.forward_dynamics(q, v, tau), data.qacc, 1e-9 + 1e-12 * condition)


@given(seed=SEEDS)
@settings(max_examples=amount(3, 60), deadline=None)
def test_frames_are_where_mujoco_has_them(seed):
    """Bodies, bodies that are one with others, and sites, their velocities and Jacobians, in both worlds."""
    robot, _, model = loaded(Writer(seed).model())
    q, v, _ = random_state(model, seed)
    data = forward(model, q, v)
    if not any(body.kind == "dynamic" for body in robot.scene.bodies):
        return
    reduced = mc.ReducedWorld(robot.scene)
    reduced.q[:], reduced.qd[:] = q, v
    maximal = reduced.maximal()
    for name, frame in robot.frames.items():
        site = name.endswith("_site")
        place, turn = (data.site(name).xpos, data.site(name).xmat) if site else (data.body(name).xpos, data.body(name).xmat)
        twist, jacobian = np.zeros(6), np.zeros((6, model.nv))
        kind, number = (mujoco.mjtObj.mjOBJ_SITE, model.site(name).id) if site else (mujoco.mjtObj.mjOBJ_XBODY, None)
        mujoco.mj_objectVelocity(model, data, kind, model.body(name).id if number is None else number, twist, 0)
        if site:
            mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], number)
        else:
            mujoco.mj_jacBody(model, data, jacobian[:3], jacobian[3:], model.body(name).id)
        for world in (reduced, maximal):
            position, orientation = frame.pose(world)
            near(position, place)
            near(matrix(orientation).ravel(), turn)
            velocity, spin = frame.velocity(world)
            near(velocity, twist[3:])
            near(spin, twist[:3])
        near(frame.jacobian(reduced), jacobian)
        twists = np.hstack([maximal.velocities, maximal.angular_velocities]).ravel()
        near(frame.jacobian(maximal) @ twists, np.concatenate([twist[3:], twist[:3]]))
    for body in robot.scene.bodies:
        if body.kind == "dynamic" and not body.name.endswith("_link"):
            near(reduced.body(body.name).frame[0], data.body(body.name).xpos)


@given(seed=SEEDS)
@settings(max_examples=amount(3, 60), deadline=None)
def test_a_keyframe_is_the_start(seed):
    """Poses and velocities of all bodies at the start are those of the keyframe."""
    text = Writer(seed).model()
    model = mujoco.MjModel.from_xml_string(text)
    if model.nv == 0:
        return
    q, v, _ = random_state(model, seed)
    key = f'<keyframe><key name="go" qpos="{" ".join(map(repr, q.tolist()))}" qvel="{" ".join(map(repr, v.tolist()))}"/>'
    model = mujoco.MjModel.from_xml_string(text.replace("</mujoco>", f"{key}</keyframe></mujoco>"))
    robot = read_mjcf(model, keyframe="go")
    data = forward(model, q, v)
    world = mc.World(robot.scene)
    assert world.joint_errors().max(initial=0.0) < 1e-12
    twist = np.zeros(6)
    for name, i in ((model.body(i).name, i) for i in range(1, model.nbody)):
        if name not in world.body_names:
            continue
        position, orientation = world.body(name).frame
        near(position, data.xpos[i])
        near(matrix(orientation).ravel(), data.xmat[i])
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, i, twist, 0)
        body = world.body(name)
        near(body.angular_velocity, twist[:3])
        near(body.velocity - np.cross(body.angular_velocity, body.position - position), twist[3:])
    reduced = mc.ReducedWorld(robot.scene)
    near(reduced.qd, v)
    assert robot.keys["go"].joint_positions == {
        model.joint(i).name: q[model.jnt_qposadr[i]] for i in range(model.njnt) if model.jnt_type[i] in (2, 3)
    }


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_runs_with_springs_and_damping_are_mujocos(seed):
    """A second of motion, by Runge and Kutta in both."""
    text = Writer(seed, bodies=4, passive=True).model('<option><flag contact="disable"/></option>')
    robot, _, model = loaded(text, between=1e-10)
    world = mc.ReducedWorld(robot.scene, dt=1e-3, integrator="rk4")
    model.opt.timestep, model.opt.integrator = 1e-3, int(mujoco.mjtIntegrator.mjINT_RK4)
    data = mujoco.MjData(model)
    for body in robot.scene.bodies:
        assert body.mass > 0 or body.kind == "static"
    steps = amount(200, 1000)
    mujoco.mj_step(model, data, steps)
    world.step(steps)
    assert np.abs(world.q - model.qpos0).max() > 1e-2
    near(world.q, data.qpos, 1e-6)


def test_between_is_what_it_says():
    """The error of a mass matrix is that of the light bodies between joints, in proportion to them."""
    text = Writer(5).model()
    _, _, model = loaded(text)
    q, v, _ = random_state(model, 0)
    right = mass_matrix(model, forward(model, q, v))
    errors = [np.abs(loaded(text, between)[1].mass_matrix(q) - right).max() for between in (1e-2, 1e-4)]
    assert errors[1] > 0.0 and errors[0] / errors[1] == pytest.approx(100.0, rel=1e-3)
