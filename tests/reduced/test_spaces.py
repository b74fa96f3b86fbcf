"""Motion, constraint and active-force subspaces: their identities, and what compiled dynamics says of the bodies."""

import numpy as np
import pytest

import mcsim as mc
import twin as slow
from looped_scenes import LOOPS, looped_system, moving
from mcsim.core.errors import SceneError
from mcsim.core.rotation import compose, matrix
from mcsim.reduced import Dynamics, System, jcalc, joint_spaces
from random_trees import joint_coordinates, random_scene, random_state
from twin import Twin, motion_cross

MODELS = tuple(kind for kind in slow.KINDS)
PITCH = 0.37


def model_at(kind, seed=1):
    rng = np.random.default_rng(seed)
    q = joint_coordinates(rng, kind)
    qd = rng.normal(size=slow.SIZES[kind][1])
    return jcalc(kind, q, qd, PITCH), slow.jcalc(kind, q, qd, PITCH), qd


def tree(seed, **keywords):
    """-> System, Dynamics, q, qd, qdd of a random tree; every other one has yaw, pitch and roll."""
    rng = np.random.default_rng(seed)
    system = System(random_scene(rng, 1 + seed % 9, **keywords), ball=("quaternion", "ypr")[seed % 2])
    return system, Dynamics(system), *random_state(rng, system)


# ---- models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_models_are_the_twins(kind):
    found, expected, _qd = model_at(kind)
    rotation, way = slow.place_of(expected.x)
    for one, other in ((found.turn, rotation), (found.place, way), (found.S, expected.s), (found.c, expected.c)):
        assert np.allclose(one, other, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", MODELS)
def test_identities_of_the_subspaces(kind):
    found = model_at(kind)[0]
    free = found.S.shape[1]
    assert found.T.shape == (6, 6 - free) and found.T_a.shape == (6, free) and len(found.rows) == 6 - free
    assert np.allclose(found.T.T @ found.S, 0, atol=1e-14) and np.allclose(found.T_a.T @ found.S, np.eye(free))
    assert np.linalg.matrix_rank(np.hstack([found.T, found.T_a])) == 6
    assert len(set(found.rows)) == len(found.rows)


def test_forces_of_helical_joints_and_pinions_are_torques():
    """In units: a joint force tau [N m] does tau times the rate, with no length in between."""
    for kind in ("helical", "rack_pinion"):
        assert np.array_equal(model_at(kind)[0].T_a[:, 0], [0, 0, 1, 0, 0, 0])


def test_upright_yaw_pitch_and_roll_are_refused():
    with pytest.raises(SceneError, match="pitch of ±π/2.*quaternion"):
        jcalc("spherical_ypr", [0.3, np.pi / 2, 0.1])


def test_unknown_kinds_are_refused():
    with pytest.raises(SceneError, match="'hinge'.*revolute"):
        jcalc("hinge", [0.0])


# ---- of a system -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_frames_are_the_scenes(seed):
    """F_s is where the successor carries it, and where the coordinates put it from the predecessor."""
    system, dynamics, q, qd, _ = tree(seed)
    positions, orientations = dynamics.poses(q)
    for space, link in zip(joint_spaces(dynamics, q), system.links):
        if link.joint is None:
            assert space.name == link.body and space.kind == "free"
            continue
        assert space.name == link.joint.name and space.predecessor == system.predecessor[link.number]
        assert space.successor == system.successor[link.number]
        frames = []
        for name, frame in ((link.joint.a, link.joint.frame_a), (link.joint.b, link.joint.frame_b)):
            if name is not None:
                body = system.scene.body(name)
                number = list(system.link_of).index(name)
                # center_of_mass is in the body's own frame, of which the pose is given by the centre.
                frame = compose((positions[number], orientations[number]), (frame[0] - body.center_of_mass, frame[1]))
            frames.append(frame)
        model = jcalc(link.kind, q[link.q], qd[link.v], link.constant)
        assert np.allclose(space.origin, frames[1][0], atol=1e-12)
        assert np.allclose(space.axes, matrix(frames[1][1]), atol=1e-12)
        assert np.allclose(space.origin, frames[0][0] + matrix(frames[0][1]) @ model.place, atol=1e-12)
        assert np.allclose(space.axes, matrix(frames[0][1]) @ model.turn, atol=1e-12)


def end_of(system, dynamics, q, qd, qdd, link, origin):
    """Of a link, in world axes about a point: velocity [w; v] and spatial acceleration."""
    if link < 0:
        return np.zeros(6), np.zeros(6)
    number = system.links[link].body_number
    x, _, v, w = (part[number] for part in dynamics.state(q, qd))
    linear, angular = (part[number] for part in dynamics.accelerations(q, qd, qdd))
    arm = origin - x
    velocity = np.concatenate([w, v + np.cross(w, arm)])
    point = linear + np.cross(angular, arm) + np.cross(w, np.cross(w, arm))
    return velocity, np.concatenate([angular, point - np.cross(w, velocity[3:])])


@pytest.mark.parametrize("seed", range(20))
def test_joints_move_as_the_bodies_do(seed):
    """v_s - v_p = S qd and a_s - a_p = S qdd + c + v_s × v_J, both ways round."""
    system, dynamics, q, qd, qdd = tree(seed)
    for space in (joint.in_world() for joint in joint_spaces(dynamics, q, qd)):
        numbers = space.columns
        (v_s, a_s), (v_p, a_p) = (
            end_of(system, dynamics, q, qd, qdd, end, space.origin) for end in (space.successor, space.predecessor)
        )
        assert np.allclose(v_s - v_p, space.S @ qd[numbers], atol=1e-11)
        assert np.allclose(space.velocity, space.S @ qd[numbers], atol=1e-13)
        expected = space.S @ qdd[numbers] + space.c + motion_cross(v_s) @ space.velocity
        assert np.allclose(a_s - a_p, expected, rtol=0, atol=1e-10 * (1 + np.abs(a_s).max()))


def test_world_axes_keep_what_forces_do():
    _system, dynamics, q, qd, _ = tree(7)
    for own in joint_spaces(dynamics, q, qd):
        world = own.in_world()
        tau, multipliers = np.ones(own.S.shape[1]), np.ones(own.T.shape[1])
        assert np.isclose(
            own.transmitted(tau, multipliers) @ own.velocity, world.transmitted(tau, multipliers) @ world.velocity
        )
        assert np.allclose(world.T[:3], own.axes @ own.T[:3]) and world.in_world() is world
        assert "world axes" in repr(world) and own.name in repr(own)


@pytest.mark.parametrize("seed", range(10))
def test_given_velocities_become_sigma(seed):
    """v_J = S qd + sigma and c_J hold with any of the velocities given; T grows by what bears them."""
    system, dynamics, q, qd, qdd = tree(seed)
    given = np.random.default_rng(seed).random(system.nv) < 0.5
    plain = joint_spaces(dynamics, q, qd)
    for space, before in zip(joint_spaces(dynamics, q, qd, given=given, qdd=qdd), plain):
        assert np.allclose(space.S @ qd[space.columns] + space.sigma, before.velocity, atol=1e-13)
        numbers = before.columns
        assert np.allclose(space.S @ qdd[space.columns] + space.c, before.S @ qdd[numbers] + before.c, atol=1e-12)
        assert space.T.shape[1] == 6 - space.S.shape[1] == len(space.rows)
        assert np.allclose(space.T.T @ space.S, 0, atol=1e-13)
        assert np.allclose(space.T_a.T @ space.S, np.eye(space.S.shape[1]), atol=1e-13)
        assert np.allclose(space.T.T @ before.velocity, space.T.T @ space.sigma, atol=1e-12)
        assert set(space.columns) == set(numbers[~given[numbers]])


def test_kinematic_bodies_are_always_given():
    scene = mc.Scene()
    scene.add_body("carriage", kind="kinematic", shape=mc.Box((0.1, 0.1, 0.1)))
    (space,) = joint_spaces(System(scene), System(scene).neutral(), np.arange(6.0))
    assert space.S.shape == (6, 0) and space.T.shape == (6, 6) and np.any(space.sigma != 0)


def test_active_forces_are_the_users_choice():
    system, dynamics, q, qd, _ = tree(8, kinds=("revolute",))
    plain = joint_spaces(dynamics, q, qd)
    link = next(link for link in system.links if link.kind == "revolute")
    before = plain[link.number]
    chosen = before.T_a + before.T @ np.arange(1.0, 1.0 + before.T.shape[1])[:, None]
    after = joint_spaces(dynamics, q, qd, active={link.joint.name: chosen})
    assert np.array_equal(after[link.number].T_a, chosen) and np.array_equal(after[0].S, plain[0].S)


@pytest.mark.parametrize(
    "value, what",
    [(np.zeros((6, 1)), "T_a' S = 1, it is off by 1"), (np.zeros((6, 2)), r"must be \(6, 1\)"), ("x", "numbers")],
)
def test_wrong_active_forces_are_refused(value, what):
    system, dynamics, q, _, _ = tree(8, kinds=("revolute",))
    name = next(link.joint.name for link in system.links if link.kind == "revolute")
    with pytest.raises(SceneError, match=what) as error:
        joint_spaces(dynamics, q, active={name: value})
    assert repr(name) in str(error.value)


def test_wrong_arguments_are_refused_by_name():
    system, dynamics, q, _, _ = tree(8)
    for keywords, what in (
        ({"active": {"nobody": np.zeros((6, 1))}}, "nobody"),
        ({"qd": np.zeros(1)}, "qd must be"),
        ({"given": np.zeros(system.nv)}, "given must be .* bool"),
    ):
        with pytest.raises(SceneError, match=what):
            joint_spaces(dynamics, q, **keywords)


# ---- loops -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("seed", range(3))
def test_closed_loops_have_no_error(kind, seed):
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(looped_system(rng, 3 + seed, kinds=(kind,)))
    q = dynamics.system.initial()[0]
    space = joint_spaces(dynamics, q, moving(rng, dynamics, q))[-1]
    assert space.link is None and space.kind == kind and not len(space.columns)
    assert np.allclose(space.error, 0, atol=1e-12) and np.allclose(space.T.T @ space.velocity, 0, atol=1e-12)


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("seed", range(3))
def test_errors_of_loops_grow_as_their_velocities_say(kind, seed):
    """d/dt error = T' v_J where the loop is closed, whatever the velocities."""
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(looped_system(rng, 3 + seed, kinds=(kind,)))
    twin, q, qd, h = Twin(dynamics.system), dynamics.system.initial()[0], rng.normal(size=dynamics.nv), 1e-5
    after, before = (joint_spaces(dynamics, twin.integrate(q, qd, t), qd)[-1] for t in (h, -h))
    space = joint_spaces(dynamics, q, qd)[-1]
    expected = space.T.T @ space.velocity
    assert np.allclose((after.error - before.error) / (2 * h), expected, rtol=0, atol=1e-7 * (1 + np.abs(qd).sum()))


# ---- motions prescribed in time --------------------------------------------------------------------------------------


def moved_scene():
    scene = mc.Scene()
    scene.add_body("arm", shape=mc.Box((0.5, 0.1, 0.1)), position=(0.5, 0, 0))
    scene.add_joint(
        mc.CylindricalJoint(
            None,
            "arm",
            (0, 0, 0),
            (0, 0, 1),
            name="shoulder",
            motion=(None, mc.Motion(0.2, 3.0, amplitude=0.5, frequency=2.0)),
        )
    )
    return scene


def test_motions_are_bias_velocities():
    system, t = System(moved_scene()), 0.3
    q, qd = system.initial()
    angle = 0.2 + 0.9 + 0.5 * np.sin(4 * np.pi * t)
    rate, acceleration = 3 + 2 * np.pi * np.cos(4 * np.pi * t), -8 * np.pi**2 * np.sin(4 * np.pi * t)
    arm, space = joint_spaces(system, q, qd, time=t)
    assert arm.kind == "free" and space.link is None
    assert np.allclose(space.S[:, 0], [0, 0, 0, 0, 0, 1]) and space.S.shape == (6, 1) and space.T.shape == (6, 5)
    assert np.allclose(space.sigma, [0, 0, rate, 0, 0, 0]) and np.allclose(space.c, [0, 0, acceleration, 0, 0, 0])
    assert np.allclose(space.error, [0, 0, 0, 0, -angle]) and "moved" in space.rows[-1]
    # Whole turns do not count.
    assert np.isclose(joint_spaces(system, q, time=2.0)[1].error[-1], 2 * np.pi - 6.2)


def test_a_planar_joint_is_moved_along_the_axes_of_its_predecessor():
    """The error's rate is T' (v_J - sigma) whatever the body does, and its second rate is what c says."""
    scene = mc.Scene()
    scene.add_body("puck", shape=mc.Sphere(0.1), position=(0.2, 0.1, 0), velocity=(1, 2, 0), angular_velocity=(0, 0, 3.0))
    scene.add_joint(
        mc.PlanarJoint(
            None,
            "puck",
            frame_a=((0, 0, 0), (1, 0, 0, 0)),
            frame_b=((0.1, 0, 0), (1, 0, 0, 0)),
            name="table",
            motion=(mc.Motion(0.3, 1.0, 2.0), None, None),
        )
    )
    dynamics, h = Dynamics(System(scene)), 1e-4
    twin, (q, qd) = Twin(dynamics.system), dynamics.system.initial()
    qdd = np.array([0.5, -1.0, 0, 0, 0, 4.0])

    def at(t):
        return joint_spaces(dynamics, twin.integrate(q, qd + t / 2 * qdd, t), qd + t * qdd, time=1.0 + t)[-1]

    before, now, after = at(-h), at(0.0), at(h)
    rate = [space.T.T @ (space.velocity - space.sigma) for space in (before, now, after)]
    assert np.allclose((after.error - before.error) / (2 * h), rate[1], rtol=0, atol=1e-6)
    (v, a), _ = (end_of(dynamics.system, dynamics, q, qd, qdd, end, now.origin) for end in (0, -1))
    own = now.in_world()
    expected = own.T.T @ (a - own.c - motion_cross(v) @ own.velocity)
    assert np.allclose((rate[2] - rate[0]) / (2 * h), expected, rtol=0, atol=1e-5)


def test_motions_of_balls_are_refused():
    scene = mc.Scene()
    scene.add_body("puck", shape=mc.Sphere(0.1))
    scene.add_joint(mc.BallJoint(None, "puck", (0, 0, 0), name="eye", motion=[mc.Motion()] * 3))
    system = System(scene)
    with pytest.raises(SceneError, match="'eye'.*ball joint.*revolute"):
        joint_spaces(system, system.initial()[0])


@pytest.mark.parametrize(
    "arguments, match",
    [
        (("revolute", []), "q of a revolute joint must be 1 numbers"),
        (("revolute", [1, 2]), "must be 1 numbers, got 2"),
        (("revolute", 1.0), "must be 1 numbers"),
        (("revolute", ["x"]), "must be a number"),
        (("revolute", [np.nan]), "must be finite"),
        (("spherical", [1, 0, 0]), "must be 4 numbers"),
        (("spherical", [0, 0, 0, 0]), "quaternion must not be zero"),
        (("free", [1, 2, 3, 0, 0, 0, 0]), "must not be zero"),
        (("revolute", [1], [1, 2]), "qd of a revolute joint must be 1 numbers"),
        (("helical", [1.0]), "has a pitch"),
        (("rack_pinion", [1.0]), "has a radius"),
        ((7, [1.0]), "no model of joints of kind 7"),
        (("helical", [1.0], [0.0], "x"), "must be a number"),
        (("revolut", [1.0]), "revolute"),
    ],
    ids=str,
)
def test_jcalc_is_told_what_is_wrong(arguments, match):
    with pytest.raises(mc.SceneError, match=match):
        jcalc(*arguments)
