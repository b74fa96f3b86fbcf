"""What joints and contacts bear of bodies that are damped: -m c v, and their weight, exactly (integrate/_damping.pxd). It
was too little by the part c h / 2, for the damping was implicit in velocities that joints then gave back."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

WORLDS = {
    "world": (mc.World, {}),
    "rows": (mc.World, {"joint_solver": "rows"}),
    "baumgarte": (mc.World, {"stabilization": "baumgarte"}),
    "reduced": (mc.ReducedWorld, {}),
}
SLOW = 1.0 / 240.0  # [s] of a substep; from a rate of 1 / SLOW on damping takes less


def world_of(kind, scene, substeps):
    cls, keywords = WORLDS[kind]
    return cls(scene, dt=substeps * SLOW, substeps=substeps, sleep=False, **keywords)


@settings(deadline=None, max_examples=amount(8, 40))
@given(
    kind=st.sampled_from(sorted(WORLDS)),
    rates=st.lists(st.one_of(st.just(0.0), st.floats(0.01, 0.4)), min_size=1, max_size=5),
    joint=st.sampled_from(("ball", "fixed", "hinge")),
    speed=st.floats(-2, 2),
    mass=st.floats(-3, 3),
    substeps=st.sampled_from((1, 4, 7)),
)
def test_a_train_is_drawn_with_what_damps_it(kind, rates, joint, speed, mass, substeps):
    """Each coupling bears m c v of all that is behind it. rates: in parts of 1 / h."""
    speed, mass = 10.0**speed, 10.0**mass
    scene, holder = mc.Scene(gravity=(0, 0, 0)), "engine"
    scene.add_body("engine", kind="kinematic", velocity=(speed, 0, 0))
    for k, rate in enumerate(rates):
        at, anchor = (-1.0 - k, 0, 0), (-0.5 - k, 0, 0)
        damping = {"linear_damping": rate / SLOW} if rate else {}
        scene.add_body(f"{k}", mass=mass, inertia=(0.1 * mass,) * 3, position=at, velocity=(speed, 0, 0), **damping)
        scene.add_joint(
            mc.BallJoint(holder, f"{k}", anchor)
            if joint == "ball"
            else mc.FixedJoint(holder, f"{k}", anchor)
            if joint == "fixed"
            else mc.HingeJoint(holder, f"{k}", anchor, (0, 0, 1))
        )
        holder = f"{k}"
    world = world_of(kind, scene, substeps)
    world.step(3 if kind in ("world", "reduced") else 40)
    drawn = np.cumsum(rates[::-1])[::-1] * mass * speed / SLOW
    found = [world.joint(k).force[0] for k in range(len(rates))]
    tolerance = 1e-8 if kind in ("world", "reduced") else 1e-3
    assert found == pytest.approx(drawn, rel=tolerance, abs=tolerance * mass * speed / SLOW)


@pytest.mark.parametrize("kind", sorted(WORLDS))
@pytest.mark.parametrize("rate", [0.0, 1.0, 30.0, 110.0])
def test_what_hangs_or_lies_weighs_what_it_weighs(kind, rate):
    scene = mc.Scene(gravity=(0, 0, -10))
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1), -5))
    damped = {"linear_damping": rate, "angular_damping": rate}
    scene.add_body("hung", mass=2.0, inertia=(0.1,) * 3, position=(0, 0, -1), **damped)
    scene.add_joint(mc.HingeJoint(None, "hung", (0, 0, 0), (0, 1, 0)))
    scene.add_body("lying", shape=mc.Box((0.5, 0.5, 0.5)), mass=3.0, position=(5, 0, -4.5), **damped)
    world = world_of(kind, scene, 4)
    world.step(400)
    assert world.joint(0).force[2] == pytest.approx(20.0, rel=1e-6)
    pressed = sum(contact["normal_impulse"] for contact in world.contacts) / world.dt
    assert pressed == pytest.approx(30.0, rel=1e-6)


@pytest.mark.parametrize("kind", sorted(WORLDS))
@pytest.mark.parametrize("rate", [1.0, 100.0, 240.0, 1000.0, 1e6])
def test_what_falls_comes_to_its_speed(kind, rate):
    """g / c, at any rate, and a torque spins it up to tau / (I c)."""
    scene = mc.Scene(gravity=(0, 0, -10))
    scene.add_body("drop", mass=2.0, inertia=(0.1,) * 3, linear_damping=rate, angular_damping=rate)
    world = world_of(kind, scene, 4)
    for _ in range(int(20 / rate / world.dt) + 40):
        world.apply_torque("drop", (0, 0.3, 0))
        world.step()
    assert world.velocities[0] == pytest.approx((0, 0, -10 / rate), rel=1e-6)
    assert world.angular_velocities[0] == pytest.approx((0, 3 / rate, 0), rel=1e-6)


@pytest.mark.parametrize("kind", sorted(WORLDS))
@pytest.mark.parametrize("rate", [0.0, 1.0, 100.0, 200.0, 479.0, 481.0, 1e4, 1e8])
def test_damping_turns_no_velocity_round(kind, rate):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "m",
        mass=1,
        inertia=(1, 1, 1),
        velocity=(3, 0, 0),
        angular_velocity=(0, 2, 0),
        linear_damping=rate,
        angular_damping=rate,
    )
    world = world_of(kind, scene, 1)
    last = 3.0
    for _ in range(5):
        world.step()
        speed = world.velocities[0, 0]
        assert -1e-12 <= speed <= last and world.angular_velocities[0, 1] == pytest.approx(2 / 3 * speed, abs=1e-8)
        last = speed
