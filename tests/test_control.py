"""mcsim.control: what its controllers make of both worlds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mcsim as mc
from driven_scenes import pair
from mcsim.reduced import Dynamics, System

both_worlds = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])


def arm(payload=0.0):
    """A ball at the shoulder, two hinges, a slider for a hand."""
    scene = mc.Scene(name="arm")
    parent = None
    for k, (kind, axis) in enumerate(
        ((mc.BallJoint, None), (mc.HingeJoint, (0, 1, 0)), (mc.HingeJoint, (1, 0, 1)), (mc.SliderJoint, (1, 0, 0)))
    ):
        name = f"link{k}"
        mass = 2.0 - 0.4 * k + (payload if k == 3 else 0.0)
        scene.add_body(name, mass=mass, inertia=(0.02, 0.03, 0.04), position=(0.2 + 0.4 * k, 0.02 * k, 0))
        told = {} if axis is None else {"axis": axis}
        scene.add_joint(kind(parent, name, anchor=(0.4 * k, 0, 0), name=f"joint{k}", **told))
        parent = name
    return scene


@both_worlds
def test_gravity_holds_what_is_at_rest(make):
    """For a second, in a pose that falls at once without it."""
    world = make(arm(), dt=1 / 240)
    start = world.positions.copy()
    for _ in range(240):
        world.tau = mc.control.gravity(world)
        world.step()
    assert np.abs(world.positions - start).max() < 1e-4
    world.tau = np.zeros(len(world.tau))
    world.step(60)
    assert np.abs(world.positions - start).max() > 0.1


@both_worlds
def test_gravity_follows_what_is_set_while_it_runs(make):
    world = make(arm())
    whole = mc.control.gravity(world)
    world.gravity = 0.5 * world.gravity
    assert mc.control.gravity(world) == pytest.approx(0.5 * whole)
    for body in world.bodies:
        body.gravity_scale = 0.0
    assert mc.control.gravity(world) == pytest.approx(0.0 * whole)


@both_worlds
def test_coordinates_count_turns(make):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 5.0))
    scene.add_joint(mc.HingeJoint(None, "wheel", (0, 0, 0), (0, 0, 1), name="axle"))
    world = make(scene, dt=1 / 60)
    world.step(180)
    q, qd = mc.control.coordinates(world)
    assert q == pytest.approx([15.0], abs=1e-6) and qd == pytest.approx([5.0])
    assert mc.control.pd(world, [0.0], kp=2.0, kd=3.0) == pytest.approx([-2.0 * 15.0 - 3.0 * 5.0], abs=1e-5)


def test_both_worlds_have_the_same_coordinates():
    scene = pair("planar", hung=False)
    world, reduced = mc.World(scene), mc.ReducedWorld(scene)
    world.step(30)
    reduced.from_maximal(world.positions, world.orientations, world.velocities, world.angular_velocities, project=True)
    for a, b in zip(mc.control.coordinates(world), mc.control.coordinates(reduced), strict=True):
        assert a == pytest.approx(b, abs=1e-6)


@both_worlds
def test_pd_comes_to_its_target(make):
    """With the weight carried, a target of a ball, hinges and a slider is met exactly; without, the arm hangs below."""
    world = make(arm(), dt=1 / 250)
    target = world.system.neutral()
    target[:4] = np.array([np.cos(0.2), 0.0, np.sin(0.2), 0.0])
    target[4:] = 0.3, -0.2, 0.1
    inertia = np.maximum(np.diag(world.dynamics.mass_matrix(target)), 0.05)
    gains = {"kp": 60.0 * inertia, "kd": 12.0 * inertia}
    for _ in range(1000):
        world.tau = mc.control.gravity(world) + mc.control.pd(world, target, **gains)
        world.step()
    q, qd = mc.control.coordinates(world)
    assert np.abs(world.dynamics.difference(q, target)).max() < 1e-4
    assert np.abs(qd).max() < 1e-3
    for _ in range(300):
        world.tau = mc.control.pd(world, target, **gains)
        world.step()
    assert np.abs(world.dynamics.difference(mc.control.coordinates(world).q, target)).max() > 0.05


@both_worlds
def test_computed_torque_makes_oscillators_of_errors(make):
    """e'' + kd e' + kp e = 0 of each coordinate while the wanted motion goes on, as the closed form says."""
    world = make(hinged(), dt=1e-3, integrator="reference")
    omega, size = 12.0, len(world.tau)
    start = np.array([0.3, -0.2, 0.1])

    def wanted(t):
        phase = np.array([1.0, 1.7, 2.3])
        return 0.5 * np.sin(phase * t), 0.5 * phase * np.cos(phase * t), -0.5 * phase**2 * np.sin(phase * t)

    if make is mc.ReducedWorld:
        world.q, world.qd = -start, wanted(0.0)[1]
    else:
        red = mc.ReducedWorld(hinged())
        red.q, red.qd = -start, wanted(0.0)[1]
        world = red.maximal(dt=1e-3, integrator="reference")
    for k in range(300):
        world.tau = mc.control.computed_torque(world, *wanted(1e-3 * k), kp=omega**2, kd=2 * omega)
        world.step()
    t = 0.3
    q, _ = mc.control.coordinates(world)
    errors = start * (1 + omega * t) * np.exp(-omega * t)
    assert wanted(t)[0] - q == pytest.approx(errors, abs=3e-3), "torques are held for a step"
    assert size == 3 and np.abs(errors).max() > 0.03


def hinged():
    scene = mc.Scene()
    for k, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 1, 0))):
        scene.add_body(f"link{k}", mass=1.5, inertia=(0.02, 0.03, 0.04), position=(0.2 + 0.4 * k, 0, 0))
        scene.add_joint(mc.HingeJoint(f"link{k - 1}" if k else None, f"link{k}", (0.4 * k, 0, 0), axis, name=f"joint{k}"))
    return scene


def test_a_wrong_model_leaves_an_error_and_the_right_one_none():
    """The controller's model is a Dynamics of its own."""
    offs = []
    for payload in (0.0, 1.0):
        world = mc.World(arm(payload), dt=1 / 250)
        model = Dynamics(System(arm()))
        target, _ = mc.control.coordinates(world)
        for _ in range(250):
            world.tau = mc.control.computed_torque(world, target, kp=100.0, kd=20.0, model=model)
            world.step()
        offs.append(np.abs(world.dynamics.difference(mc.control.coordinates(world).q, target)).max())
    assert offs[0] < 1e-3 < 0.02 < offs[1]


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["ball", "planar", "universal", "slot", "free", "screw"]))
def test_difference_undoes_advance(seed, kind):
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(System(pair(kind, hung=seed % 2 == 0)))
    q = dynamics.advance(dynamics.system.initial()[0], rng.normal(size=dynamics.nv))
    steps = rng.uniform(-1.0, 1.0, (4, dynamics.nv))
    steps[0] *= 1e-9
    there = dynamics.advance(q, steps)
    assert dynamics.difference(q, there) == pytest.approx(steps, abs=1e-12)
    assert dynamics.difference(there, q).shape == steps.shape
    assert np.abs(dynamics.difference(q, q)).max() < 1e-15


def test_wrong_input_is_told():
    world = mc.World(hinged())
    for wrong, message in (
        (lambda: mc.control.gravity(3), "must be a World or a ReducedWorld, got int"),
        (lambda: mc.control.gravity(world, model=3), "model must be a Dynamics, got int"),
        (lambda: mc.control.gravity(world, model=Dynamics(System(arm()))), "the model has 7 coordinates"),
        (lambda: mc.control.pd(world, [0.0], kp=1.0, kd=1.0), r"q must be \(3,\)"),
        (lambda: mc.control.pd(world, np.zeros(3), kp=np.nan, kd=1.0), "kp has values that are not finite"),
        (lambda: mc.control.pd(world, np.zeros(3), kp=1.0, kd=[1.0, 2.0]), r"kd must be \(3,\)"),
        (lambda: mc.control.computed_torque(world, np.zeros(3), qdd=[1.0], kp=1.0, kd=1.0), r"qdd must be \(3,\)"),
        (lambda: world.dynamics.difference(np.zeros(3), np.zeros((2, 2))), r"target must be \(3,\)"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            wrong()
