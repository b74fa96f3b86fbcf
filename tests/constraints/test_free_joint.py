"""The free joint whose axes are sprung, driven, bounded and held: a bushing, a six-axis drive, a slider without guides."""

import copy

import numpy as np
import pytest

import mcsim as mc

BOTH = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
EXACT = {"integrator": "rk4", "dt": 1e-3}
STILL = (mc.Motion(0.0),) * 3


def body(joint, gravity=(0, 0, 0), **arguments):
    """One body of three moments at the origin, on a joint to the world."""
    scene = mc.Scene(gravity=gravity)
    scene.add_body("m", mass=2.0, inertia=(0.1, 0.2, 0.3), **arguments)
    scene.add_joint(joint)
    return scene


def stepped(kind, scene, seconds, **keywords):
    world = kind(scene, **keywords)
    world.step(round(seconds / world.dt))
    return world


# ---- each axis by itself ---------------------------------------------------------------------------------------------


@BOTH
def test_each_axis_swings_at_its_own_rate(kind):
    """x = v sin(w t) / w with w^2 = k / m along the axes; a small turn about each likewise, w^2 = k / I."""
    springs = [mc.Spring(k, 0.0) for k in (50.0, 80.0, 120.0, 4.0, 5.0, 6.0)]
    scene = body(mc.FreeJoint(None, "m", spring=springs), velocity=(0.3, -0.2, 0.1))
    q = stepped(kind, scene, 0.7, **EXACT).joint(0).position
    w = np.sqrt(np.array([50, 80, 120]) / 2.0)
    assert q[:3] == pytest.approx(np.array([0.3, -0.2, 0.1]) * np.sin(0.7 * w) / w, abs=1e-9)
    for i, moment in enumerate((0.1, 0.2, 0.3)):
        spin = np.zeros(3)
        spin[i] = 1e-3
        q = (
            stepped(kind, body(mc.FreeJoint(None, "m", spring=springs), angular_velocity=spin), 0.7, **EXACT)
            .joint(0)
            .position
        )
        w = np.sqrt((4.0 + i) / moment)
        assert q[3 + i] == pytest.approx(1e-3 * np.sin(0.7 * w) / w, abs=1e-9)


@BOTH
def test_motors_bring_it_to_a_pose(kind):
    motors = [mc.Motor(position=p, hertz=3.0) for p in (0.4, -0.2, 0.3, 0.5, -0.4, 0.3)]
    world = stepped(kind, body(mc.FreeJoint(None, "m", motor=motors), (0, 0, -9.81)), 1.5, dt=1 / 120)
    assert world.joint(0).position == pytest.approx([0.4, -0.2, 0.3, 0.5, -0.4, 0.3], abs=1e-6)
    assert world.joint(0).motor_force[:3] == pytest.approx([0, 0, 2 * 9.81], abs=1e-3)


@BOTH
def test_friction_stops_each_axis(kind):
    """v^2 m / 2 F along x, and w^2 I / 2 F about y; nothing along z."""
    friction = (2.0, 0, 0, 0, 0.3, 0)
    scene = body(mc.FreeJoint(None, "m", friction=friction), velocity=(1, 0, 0.5), angular_velocity=(0, 1, 0))
    q = stepped(kind, scene, 2.0, dt=1 / 480).joint(0).position
    assert q[0] == pytest.approx(0.5, abs=3e-3) and q[4] == pytest.approx(0.2 / 0.6, abs=3e-3)
    assert q[2] == pytest.approx(1.0, abs=1e-9)


@BOTH
def test_limits_along_and_about(kind):
    limits = [(-0.1, 0.2), None, (0, 0.3), None, None, (-0.2, 0.4)]
    joint = mc.FreeJoint(None, "m", limits=limits, swing_limit=0.3)
    for sign in (1, -1):
        scene = body(joint.changed(), velocity=(sign, 2, sign), angular_velocity=(0, 0, sign))
        world = kind(scene, dt=1 / 240)
        for _ in range(120):
            world.step()
            x, y, z, *turn = world.joint(0).position
            assert -0.1 - 1e-3 < x < 0.2 + 1e-3 and -1e-3 < z < 0.3 + 1e-3 and -0.2 - 2e-3 < turn[2] < 0.4 + 2e-3
        assert y == pytest.approx(1.0, abs=1e-9)
    world = stepped(kind, body(joint.changed(), angular_velocity=(1, 0, 0)), 1.0, dt=1 / 240)
    assert world.joint(0).position[3] == pytest.approx(0.3, abs=5e-3)


# ---- beside the ball joint -------------------------------------------------------------------------------------------

TURNING = {
    "springs": ({"spring": [mc.Spring(3.0, 0.1, 0.2), mc.Spring(5.0, 0.0), None]}, {}),
    "motors": ({"motor": [mc.Motor(velocity=1.0, max_force=0.4), None, mc.Motor(position=0.7, hertz=2.0)]}, {}),
    "friction": ({"friction": 0.05}, {}),
    "twist": ({"twist_limits": (-0.2, 0.1)}, {"limits": [None] * 5 + [(-0.2, 0.1)]}),
    "swing": ({"swing_limit": 0.25}, {"swing_limit": 0.25}),
}


@BOTH
@pytest.mark.parametrize("what", TURNING)
def test_with_its_ways_held_it_is_a_ball_joint(kind, what):
    """The same drives and limits about a point that is held; when a limit is met, steps tell to first order."""
    of_ball, of_free = TURNING[what]
    if not of_free:
        ((name, value),) = of_ball.items()
        of_free = {name: (0.0,) * 3 + (value,) * 3 if name == "friction" else [None] * 3 + list(value)}
    at = {"anchor": (0, 0, 0.3), "axis": (0.3, 0.2, 1)}
    spun = {"angular_velocity": (1.0, 0.5, 0.8), "velocity": np.cross((1.0, 0.5, 0.8), (0, 0, -0.3))}
    ball = stepped(kind, body(mc.BallJoint(None, "m", **at, **of_ball), (0, 0, -9.81), **spun), 1.0, dt=1 / 480)
    held = mc.FreeJoint(None, "m", **at, **of_free, motion=STILL + (None,) * 3)
    free = stepped(kind, body(held, (0, 0, -9.81), **spun), 1.0, dt=1 / 480)
    assert np.abs(free.joint(0).position[:3]).max() < 1e-9
    assert free.joint(0).position[3:] == pytest.approx(
        ball.joint(0).position, abs=3e-3 if "limit" in str(of_ball) else 1e-5
    )
    assert np.abs(ball.joint(0).position).max() > 0.05


# ---- between two bodies ----------------------------------------------------------------------------------------------


def bushing(joint="free", damping=0.0):
    """Two free bodies, tied off their centres by springs on all six axes."""
    scene = mc.Scene(gravity=(0, 0, 0))
    spun = {"velocity": (0, 0.3, 0), "angular_velocity": (0.4, -0.3, 0.8)}
    scene.add_body("a", mass=1.0, inertia=(0.02, 0.03, 0.04), **spun)
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.15), position=(0.6, 0.1, -0.2), velocity=(0, 0, -0.1))
    springs = [mc.Spring(k, damping) for k in (200.0, 300.0, 250.0, 6.0, 6.0, 6.0)]
    scene.add_joint(mc.FreeJoint("a", "b", anchor=(0.3, 0, 0), axis=(1, 0.5, 0), spring=springs, name="bushing"))
    return scene


def test_both_worlds_have_one_motion():
    """And its energy and momentum, of fourth order."""
    found = []
    for dt in (1 / 500, 1 / 1000):
        worlds = [kind(bushing(), dt=dt, integrator="rk4") for kind in (mc.World, mc.ReducedWorld)]
        before = [(world.energy().total, *world.momentum()) for world in worlds]
        for world in worlds:
            world.step(round(1 / dt))
        found.append(np.abs(worlds[0].positions - worlds[1].positions).max())
        for world, (energy, linear, angular) in zip(worlds, before):
            assert world.energy().total == pytest.approx(energy, rel=1e-6)
            assert world.momentum()[0] == pytest.approx(linear, abs=1e-8)
            assert world.momentum()[1] == pytest.approx(angular, abs=1e-7)
    assert found[1] < 2e-8 and found[1] < found[0] / 10


@BOTH
def test_the_reference_agrees(kind):
    right = stepped(mc.ReducedWorld, bushing(damping=2.0), 0.5, dt=0.1, integrator="reference")
    assert (
        np.abs(stepped(kind, bushing(damping=2.0), 0.5, dt=0.05, integrator="reference").positions - right.positions).max()
        < 1e-11
    )
    assert np.abs(stepped(kind, bushing(damping=2.0), 0.5, dt=1e-3).positions - right.positions).max() < 2e-4


@BOTH
def test_copies_and_twins_go_on_alike(kind):
    world, twin = kind(bushing(damping=1.0), dt=1 / 120), kind(bushing(damping=1.0), dt=1 / 120)
    world.step(30)
    for _ in range(30):
        twin.step()
        twin.joint("bushing").position, twin.energy(), twin.rows  # only looked at
    saved, other = world.snapshot(), copy.deepcopy(world)
    for one in (world, twin, other):
        one.step(30)
    assert world.state_hash() == twin.state_hash() == other.state_hash()
    world.restore(saved)
    world.step(30)
    assert world.state_hash() == twin.state_hash()


# ---- described -------------------------------------------------------------------------------------------------------


def everything():
    return mc.FreeJoint(
        None,
        "m",
        axis=(1, 1, 0),
        limits=[(0, 1), None, (-1, None), None, None, (-0.5, 0.5)],
        swing_limit=1.0,
        motor=[None, mc.Motor(velocity=1.0, max_force=3.0), None, None, None, mc.Motor(position=0.1)],
        spring=[mc.Spring(3.0), None, None, mc.Spring(1.0, 0.1, 0.2), None, None],
        friction=(0, 0, 0.1, 0, 0, 0.2),
        motion=[None, None, mc.Motion(0.1), None, None, None],
        name="all",
    )


def test_files_hold_it():
    scene = body(everything())
    again = mc.Scene.from_dict(scene.to_dict())
    assert again == scene and again.joints[0].axes == scene.joints[0].axes and again.joints[0].swing_limit == 1.0
    world = mc.World(scene)
    world.step(3)
    held = world.to_scene().joints[0].axes.pop(2)
    assert held.motion.position == 0.1 and (held.lower, held.friction) == (-1.0, 0.1)
    axes = world.to_scene().joints[0].axes
    assert [axes[i] == scene.joints[0].axes[i] for i in (0, 1, 3, 4, 5)] == [True] * 5


@BOTH
def test_what_is_changed_while_it_runs(kind):
    world = kind(body(mc.FreeJoint(None, "m", name="j"), (0, 0, -9.81)), dt=1 / 240)
    world.joint("j").set_spring(mc.Spring(1000.0, 60.0), axis=2)
    world.joint("j").set_limits(-0.01, 0.01, axis=2)
    world.step(480)
    assert world.joint("j").position[2] == pytest.approx(-0.01, abs=1e-4)
    world.joint("j").set_limits(None, None, axis=2)
    world.step(480)
    assert world.joint("j").position[2] == pytest.approx(-2 * 9.81 / 1000, abs=1e-4)
    with pytest.raises(mc.SceneError, match="limits"):
        world.joint("j").set_limits(-1, 1, axis=3)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"limits": [None, None, None, (0, 1), None, None]}, r"limits\[3\] must be None: .* swing_limit"),
        ({"limits": [None, None, None, None, None, (0, 4)]}, r"limits\[5\] must be in \[-π, π\]"),
        ({"limits": [(0, 1)]}, "six of"),
        ({"swing_limit": 4}, "swing_limit"),
        ({"spring": [1, None, None, None, None, None]}, r"spring\[0\] must be a Spring"),
        ({"motor": mc.Motor(velocity=1)}, "six of Motor or None"),
        ({"friction": (1, 2, 3)}, "six of them"),
        ({"axis": (0, 0, 0)}, "axis"),
        ({"axis": (1, 0, 0), "frame_b": ((0, 0, 0), (1, 0, 0, 0))}, "axis is given together with frame"),
    ],
)
def test_what_it_refuses(arguments, words):
    with pytest.raises(mc.SceneError, match=words):
        body(mc.FreeJoint(None, "m", **arguments))
