"""The reference trajectory: right where a closed form or another way tells, and honest about its doubt."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import mcsim as mc
from mcsim.lab.nature import BOUNDED, SMOOTH, conserves_energy, is_free, may_touch, smoothness
from mcsim.lab.record import distances
from mcsim.lab.reference import _between, find_reference, sample_times
from mcsim.reduced import System
from mcsim.reduced.continuous import Flow


def moving(scene, world):
    keep = [body.kind == "dynamic" for body in scene.bodies]
    return world.positions[keep], world.orientations[keep]


def test_pendulum_is_the_elliptic_function():
    """theta(t) = 2 asin(k sn(K - w t)), k = sin(theta_0 / 2), of a rod let go at rest."""
    angle = 2.0
    scene = mc.scenes.pendulum(angle=angle)
    found = find_reference(scene, [1 / 60], 4.0)
    rod = scene.bodies[0]
    lever = np.linalg.norm(rod.position)
    rate = np.sqrt(rod.mass * 9.81 * lever / (rod.inertia[1, 1] + rod.mass * lever**2))
    k = np.sin(angle / 2)
    theta = 2 * np.arcsin(k * ellipj(ellipk(k * k) - rate * found.time, k * k)[0])
    right = lever * np.stack([np.sin(theta), 0 * theta, -np.cos(theta)], axis=1)
    assert np.abs(found.positions[:, 0] - right).max() < 1e-9
    assert found.position_doubt.max() < 1e-8
    assert np.ptp(found.energy) < 1e-9 * found.kinetic.max()


def test_no_doubt_is_no_knowledge():
    """Also where one step would reach to the end, two levels differ."""
    found = find_reference(mc.scenes.pendulum(), [1 / 60], 0.1)
    assert 0.0 < found.position_doubt.max() < 1e-9


def test_steps_agree_with_the_reference():
    """Two ways to the same trajectory, at times that lie between the steps of one of them; each knows its doubt."""
    scene = mc.scenes.double_pendulum(angle_1=1.0, angle_2=0.5)
    dts = [1 / 60, 1 / 70, 1 / 100]
    exact = find_reference(scene, dts, 1.0)
    assert exact.label.startswith("reduced:aba@reference")
    found = find_reference(scene, dts, 1.0, "maximal:tree+soft@rattle", budget=200_000)
    assert np.array_equal(found.time, exact.time)
    apart = distances(found.positions, found.orientations, exact.positions, exact.orientations)
    assert apart[0].max() < 2e-6 and apart[1].max() < 5e-6
    assert apart[0].max() < found.position_doubt.max() and apart[1].max() < found.angle_doubt.max()
    assert np.abs(found.linear_momentum - exact.linear_momentum).max() < 2e-4 * np.abs(exact.linear_momentum).max()


def test_several_steps_ask_for_times_between_and_the_doubt_does_not_notice():
    scene = mc.scenes.four_bar(driven=False)
    alone = find_reference(scene, [1 / 250], 0.5)
    several = find_reference(scene, [1 / 60, 1 / 120, 1 / 250], 0.5)
    assert several.label == alone.label and len(several.time) > len(alone.time) + 20
    assert several.position_doubt.max() == pytest.approx(alone.position_doubt.max(), rel=0.05)
    assert several.angle_doubt.max() == pytest.approx(alone.angle_doubt.max(), rel=0.05)
    assert np.ptp(several.energy) < 1e-9 * several.kinetic.max()
    rows = several.at(alone.time)
    assert np.abs(several.positions[rows] - alone.positions).max() < 1e-13


def test_few_steps_are_enough():
    """Fewer than the four that a state between them follows, and times at both ends of a run."""
    scene = mc.scenes.double_pendulum(angle_1=1.0, angle_2=0.5)
    exact = find_reference(scene, [0.02, 0.017], 0.02)
    found = find_reference(scene, [0.02, 0.017], 0.02, "maximal:tree+projection@rk4", tolerance=1e-4)
    assert np.array_equal(found.time, exact.time) and list(exact.time) == [0.0, 0.017, 0.02]
    assert np.abs(found.positions - exact.positions).max() < 1e-6


def a_turning_body(time):
    """Position, orientation, velocity and angular velocity of one that turns about z at a rate that changes."""
    angle, rate = 2.0 * np.sin(3.0 * time), 6.0 * np.cos(3.0 * time)
    nothing = np.zeros_like(time)
    x = np.stack([np.cos(5.0 * time), np.sin(4.0 * time), time**2], axis=-1)
    v = np.stack([-5.0 * np.sin(5.0 * time), 4.0 * np.cos(4.0 * time), 2.0 * time], axis=-1)
    q = np.stack([np.cos(angle / 2), nothing, nothing, np.sin(angle / 2)], axis=-1)
    w = np.stack([nothing, nothing, rate], axis=-1)
    return [part[:, None] for part in (x, q, v, w)]


@pytest.mark.parametrize("count, orders", [(4, (8, 8, 7, 7)), (2, (4, 4, 2, 2))])
def test_states_between_steps_have_their_order(count, orders):
    """Signs of quaternions do not matter: every second one is turned around."""
    errors = []
    for dt in (0.04, 0.02):
        steps = np.arange(round(1.0 / dt)) * dt
        kept = a_turning_body(steps)
        kept[1][::2] *= -1.0
        s = np.array([0.37, count / 2 - 0.5, count - 1.3])
        start = np.arange(0, len(steps) - count, 3)
        rows = np.repeat(start, len(s))[:, None] + np.arange(count)
        inside = np.tile(s, len(start))
        found = _between(kept, np.sin(steps), rows, inside, dt)
        time = steps[rows[:, 0]] + inside * dt
        right = a_turning_body(time)
        nearer = np.where(np.sum(found[1] * right[1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        errors.append(
            [np.abs(part - other).max() for part, other in zip((found[0], nearer * found[1], *found[2:4]), right)]
            + [np.abs(found[4] - np.sin(time)).max()]
        )
    slopes = np.log2(np.array(errors[0]) / errors[1])
    assert np.all(np.abs(slopes - (*orders, count)) < 0.35), slopes


def all_joints():
    """A chain of a planar, universal, ball and cylindrical joint, and a free body: every way in which rates are made of
    velocities."""
    scene = mc.Scene(name="joints")
    part = {"mass": 1.0, "inertia": (0.02, 0.03, 0.04)}
    spin = (0.3, -0.4, 0.5)
    scene.add_body("plate", **part, position=(0, 0, 0), velocity=(0.2, 0.0, 0.0), angular_velocity=(0, 2.0, 0))
    scene.add_joint(mc.PlanarJoint(None, "plate", anchor=(0, 0, 0), normal=(0, 1, 0)))
    parent = "plate"
    for k, make in enumerate(
        (
            lambda a, b, p: mc.UniversalJoint(a, b, anchor=p, axis_a=(1, 0, 0), axis_b=(0, 1, 0)),
            lambda a, b, p: mc.BallJoint(a, b, anchor=p),
            lambda a, b, p: mc.CylindricalJoint(a, b, anchor=p, axis=(1, 0, 0)),
        )
    ):
        place = np.array([0.4 * (k + 1), 0.0, -0.1])
        scene.add_body(f"link{k}", **part, position=place)
        scene.add_joint(make(parent, f"link{k}", place - (0.2, 0, 0)))
        parent = f"link{k}"
    scene.add_body(
        "alone", **part, position=(0, 3, 0), velocity=(0, 1, 2), angular_velocity=spin, orientation=(0.8, 0.0, 0.6, 0.0)
    )
    return scene


def test_flow_of_all_joints():
    """The reference's path and the world's steps come together as the square of dt."""
    scene = all_joints()
    assert {"planar", "universal", "spherical", "cylindrical", "free"} == {link.kind for link in System(scene).links}
    start = mc.ReducedWorld(scene)
    scene = all_joints()
    found = find_reference(scene, [0.25], 0.5)
    assert found.label.startswith("reduced:aba@reference, tolerance") and found.position_doubt.max() < 1e-8
    errors = []
    for dt in (1 / 400, 1 / 800):
        world = mc.ReducedWorld(scene, dt=dt)
        world.step(round(0.5 / dt))
        errors.append(
            distances(*(part[None] for part in moving(scene, world)), found.positions[-1:], found.orientations[-1:])
        )
    errors = np.array(errors)[:, :, 0]
    assert errors.max() < 1e-3
    assert np.all(np.abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.2)
    flow = Flow(start.dynamics)
    rates = flow(0.0, np.concatenate([start.q, start.qd]))
    step = 1e-6
    world = mc.ReducedWorld(scene, dt=step)
    world.step()
    assert np.abs((world.q - start.q) / step - rates[: flow.nq]).max() < 1e-4


def test_loops_are_closed_by_the_reference():
    found = find_reference(mc.scenes.four_bar(driven=False), [1 / 120], 0.5)
    assert found.label.startswith("reduced:aba@reference, tolerance")
    assert found.position_doubt.max() < 1e-8
    assert np.ptp(found.energy) < 1e-8 * found.kinetic.max()


def test_contacts_are_stepped_until_they_agree():
    """A ball that falls on a plane without bouncing: known everywhere but for the instant it lands."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 0.3))
    found = find_reference(scene, [1 / 120], 0.5, "reduced:aba")
    assert found.label.startswith("reduced:aba, step")
    right = np.maximum(0.3 - 0.5 * 9.81 * found.time**2, 0.1)
    apart = np.abs(found.positions[:, 0, 2] - right)
    assert apart.max() < 1e-3 and apart[found.time < 0.2].max() < 1e-9
    assert 0.0 < found.position_doubt.max() < 1e-3


def test_doubt_shows_chaos():
    """In a pile that falls over, the reference does not claim to know the end."""
    scene = mc.scenes.wrecking_ball(links=3, height=3, width=2)
    study = mc.compare(scene, "reduced:aba", seconds=1.2, dt=1 / 60, budget=50_000, timing=False)
    doubt = study.reference.position_doubt
    assert doubt[10] < 1e-3 < doubt[-1]
    assert "to 1 mm until" in study.table()


def test_sample_times():
    """All times of all runs, those that differ by rounding alone once."""
    times = sample_times([1 / 60, 1 / 240, 1 / 1000], 1.0)
    assert np.all(np.diff(times) > 1e-5) and times[0] == 0.0 and times[-1] == pytest.approx(1.0)
    for dt in (1 / 60, 1 / 240, 1 / 1000):
        steps = np.arange(round(1 / dt) + 1) * dt
        assert np.abs(times[np.searchsorted(times, steps - 1e-9)] - steps).max() < 1e-12


def test_a_reference_of_ones_own_must_fit(tmp_path):
    with pytest.raises(mc.SceneError, match="no solver 'pgss'"):
        mc.compare(mc.scenes.pendulum(), "reduced:aba", 0.1, reference="maximal:pgss+soft")
    with pytest.raises(mc.SceneError, match="too much memory"):
        mc.compare(mc.scenes.chain(n=500), "reduced:aba", 1000.0)


# ---- what a scene is like --------------------------------------------------------------------------------------------


def hung(**joint):
    scene = mc.Scene()
    scene.add_body("bob", shape=mc.Sphere(0.1), position=(0, 0, -1), **joint.pop("body", {}))
    scene.add_joint(mc.HingeJoint(None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), **joint))
    return scene


def at_six_axes(**joint):
    scene = mc.Scene()
    scene.add_body("bob", shape=mc.Sphere(0.1))
    scene.add_joint(mc.FreeJoint(None, "bob", **joint))
    return scene


@pytest.mark.parametrize(
    "scene, kind, conserves, free",
    [
        (at_six_axes(), SMOOTH, True, True),
        (at_six_axes(spring=[mc.Spring(1.0), *[None] * 5]), SMOOTH, True, False),
        (at_six_axes(motion=[mc.Motion(0.0), *[None] * 5]), SMOOTH, False, False),
        (at_six_axes(swing_limit=1.0), BOUNDED, False, False),
        (hung(), SMOOTH, True, False),
        (hung(spring=mc.Spring(1.0)), SMOOTH, True, False),
        (hung(spring=mc.Spring(1.0, 0.1)), SMOOTH, False, False),
        (hung(limits=(-1, 1)), BOUNDED, False, False),
        (hung(friction=0.1), BOUNDED, False, False),
        (hung(motor=mc.Motor(velocity=1.0, max_force=1.0)), BOUNDED, False, False),
        (hung(body={"angular_damping": 0.1}), SMOOTH, False, False),
        (hung(break_force=10.0), BOUNDED, False, False),
        (mc.scenes.free_ragdoll(), SMOOTH, True, True),
        (mc.scenes.dzhanibekov(), SMOOTH, True, True),
        (mc.scenes.spinning_top(), SMOOTH, True, False),
        (mc.scenes.chain(n=3), SMOOTH, True, False),
        (mc.scenes.ragdolls(count=1), BOUNDED, False, False),
        (mc.scenes.stack(count=2), BOUNDED, False, False),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_nature(scene, kind, conserves, free):
    assert (smoothness(scene), conserves_energy(scene), is_free(scene)) == (kind, conserves, free)


def test_may_touch():
    def pair(**second):
        scene = mc.Scene()
        scene.add_body("a", shape=mc.Sphere(0.1), collision_group=2, collision_mask=1)
        scene.add_body("b", shape=mc.Sphere(0.1), position=(1, 0, 0), **second)
        return scene

    assert may_touch(pair()) is True
    assert may_touch(pair(collision_group=4)) is False  # b collides with a's group, but a not with b's
    assert may_touch(pair(collision_mask=2)) is True
    assert may_touch(pair(collision_mask=2, kind="static")) is True
    joined = pair(collision_mask=2)
    joined.add_joint(mc.BallJoint("a", "b", anchor=(0.5, 0, 0)))
    assert may_touch(joined) is False
    joined.add_joint(mc.BallJoint("a", "b", anchor=(0.5, 0, 0), collide=True))
    assert may_touch(joined) is False
