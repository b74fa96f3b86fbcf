"""Joints and bodies in maximal coordinates: rows against a World's and against differences along SciPy's rotations."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

import mcsim as mc
from mcsim import maximal

JOINTS = {
    "ball": (mc.BallJoint, 3),
    "universal": (mc.UniversalJoint, 4),
    "hinge": (mc.HingeJoint, 5),
    "slider": (mc.SliderJoint, 5),
    "cylindrical": (mc.CylindricalJoint, 4),
    "fixed": (mc.FixedJoint, 6),
}
each = pytest.mark.parametrize("kind", JOINTS)


def quaternions(r):
    return Rotation.from_rotvec(np.reshape(r, (-1, 3))).as_quat()[:, [3, 0, 1, 2]].reshape(*np.shape(r)[:-1], 4)


def random_pair(rng, shape=(), size=1.0):
    return size * rng.normal(size=(*shape, 3)), quaternions(size * rng.normal(size=(*shape, 3)))


def residual(kind, a, b, frame_a, frame_b):
    """C of one joint, written out with rotation matrices."""

    def placed(body, frame):
        R = Rotation.from_quat(body[1][[1, 2, 3, 0]]).as_matrix()
        return body[0] + R @ frame[0], R @ Rotation.from_quat(frame[1][[1, 2, 3, 0]]).as_matrix()

    (p_a, E_a), (p_b, E_b) = placed(a, frame_a), placed(b, frame_b)
    gap = E_a.T @ (p_b - p_a)
    turn = Rotation.from_matrix(E_a.T @ E_b)
    z = E_a.T @ E_b[:, 2]
    angle = turn.magnitude()
    lean = 2 * z[:2] / (1 + z[2])
    twice = 2 * np.sin(angle / 2) * turn.as_rotvec() / angle
    return {
        "ball": gap,
        "universal": [*gap, E_a[:, 2] @ E_b[:, 0]],
        "hinge": [*gap, *lean],
        "slider": [*gap[:2], *twice],
        "cylindrical": [*gap[:2], *lean],
        "fixed": [*gap, *twice],
    }[kind]


@each
@pytest.mark.parametrize("seed", range(4))
def test_rows_by_differences(kind, seed):
    """Of wide open joints: C as written out, J v its rate and J̇ v the rate of that, while both bodies move with constant
    velocities; by differences of the fourth order."""
    rng = np.random.default_rng(seed)
    bodies = [random_pair(rng), random_pair(rng)]
    frames = [random_pair(rng), random_pair(rng)]
    twists = rng.normal(size=(2, 6))

    def at(time):
        return [(x + time * v[:3], mc.rotation.multiply(quaternions(time * v[3:]), q)) for (x, q), v in zip(bodies, twists)]

    function = getattr(maximal, kind)
    rows = function(*bodies, *frames, *twists)
    m = JOINTS[kind][1]
    assert rows.C.shape == rows.drift.shape == (m,) and rows.J.shape == (m, 12)
    assert np.allclose(rows.C, residual(kind, *bodies, *frames))
    h = 1e-3
    ways = {-2: 1, -1: -8, 1: 8, 2: -1}
    rate = sum(c * np.array(residual(kind, *at(k * h), *frames)) for k, c in ways.items()) / (12 * h)
    bend = sum(c * function(*at(k * h), *frames, *twists).J @ twists.ravel() for k, c in ways.items()) / (12 * h)
    assert np.allclose(rows.J @ twists.ravel(), rate, rtol=1e-7, atol=1e-7)
    assert np.allclose(rows.drift, bend, rtol=1e-7, atol=1e-7)
    # Each column of J by itself.
    for k in range(12):
        bodies_at = []
        unit = np.eye(12)[k].reshape(2, 6)
        for way in (h, -h):
            bodies_at.append(
                [(x + way * v[:3], mc.rotation.multiply(quaternions(way * v[3:]), q)) for (x, q), v in zip(bodies, unit)]
            )
        slope = np.subtract(*(residual(kind, *pair, *frames) for pair in bodies_at)) / (2 * h)
        assert np.allclose(rows.J[:, k], slope, rtol=0, atol=1e-4)


@each
def test_rows_are_a_worlds(kind):
    """C, J and J̇ v of an open, moving joint between two bodies whose centres of mass are not their origins; the world's
    curvature is J̇ v for bodies of round inertia."""
    rng = np.random.default_rng(5)
    scene = mc.Scene()
    for name in "ab":
        place, turn = random_pair(rng)
        scene.add_body(name, mass=1, inertia=(1, 1, 1), position=place, orientation=turn, center_of_mass=rng.normal(size=3))
    scene.add_joint(JOINTS[kind][0]("a", "b", frame_a=random_pair(rng), frame_b=random_pair(rng), name="joint"))
    world = mc.World(scene)
    for name in "ab":
        world.set_velocity(name, velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3))
    bodies = list(zip(world.positions, world.orientations))
    twists = np.concatenate([world.velocities, world.angular_velocities], axis=1)
    rows = getattr(maximal, kind)(*bodies, *maximal.joint_frames(scene, "joint"), *twists)
    assert np.allclose(rows.C, world.rows["error"], rtol=1e-12, atol=1e-13)
    assert np.allclose(rows.J, world.jacobian().toarray(), rtol=1e-12, atol=1e-13)
    assert np.allclose(rows.drift, world._raw_rows()["curvature"], rtol=1e-11, atol=1e-12)


@each
def test_of_the_world_and_of_many(kind):
    """None is the world; leading axes are broadcast, and one of many has what it has alone."""
    rng = np.random.default_rng(7)
    function = getattr(maximal, kind)
    body, twists = random_pair(rng, (2, 3), 0.5), rng.normal(size=(3, 6))
    frames = random_pair(rng, size=0.5), random_pair(rng, (3,), 0.5)
    rows = function(None, body, *frames, None, twists)
    m = JOINTS[kind][1]
    assert rows.C.shape == rows.drift.shape == (2, 3, m) and rows.J.shape == (2, 3, m, 12)
    still = (np.zeros(3), np.array([1.0, 0, 0, 0]))
    one = function(
        still, (body[0][1, 2], body[1][1, 2]), frames[0], (frames[1][0][2], frames[1][1][2]), np.zeros(6), twists[2]
    )
    for many, alone in zip(rows, one):
        assert (many[1, 2] == alone).all()
    assert not function(None, body, *frames).drift.any()


@each
def test_a_closed_joint_has_no_error(kind):
    """Where the two frames are one, and where b has made the joint's own motion; the quaternion's sign is no matter."""
    rng = np.random.default_rng(9)
    a, frame_a, frame_b = (random_pair(rng) for _ in range(3))
    shift = np.array([0, 0, 0.3]) if kind in ("slider", "cylindrical") else np.zeros(3)
    turn = {"ball": (0.3, 0.7), "hinge": (2, 0), "cylindrical": (2, 0), "universal": (2, 1)}.get(kind, (0, 0))
    middle = mc.rotation.multiply(
        mc.rotation.multiply(a[1], frame_a[1]), mc.rotation.from_euler([turn[0], turn[1], 0], "zxy")
    )
    point = a[0] + mc.rotation.rotate(a[1], frame_a[0] + mc.rotation.rotate(frame_a[1], shift))
    q = mc.rotation.multiply(middle, mc.rotation.conjugate(frame_b[1]))
    b = point - mc.rotation.rotate(q, frame_b[0]), -q
    assert np.allclose(getattr(maximal, kind)(a, b, frame_a, frame_b).C, 0, atol=1e-14)


# ---- bodies ----------------------------------------------------------------------------------------------------------


@given(arrays(float, (2, 3, 3), elements=st.floats(-3, 3)))
def test_bodies_accelerate_as_newton_and_euler_say(numbers):
    """M a = ξ keeps the rate of the angular momentum R I R' w, and a World's free bodies do the same."""
    (r, v, w), (f, n, g) = numbers
    inertia = np.diag([0.2, 0.3, 0.4])
    q = quaternions(r)
    M = maximal.mass_matrix(2.0, inertia, q)
    R = Rotation.from_rotvec(r).as_matrix()
    spin = R @ inertia @ R.T
    assert np.allclose(M, np.block([[2 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), spin]]))
    force = maximal.applied_force(2.0, inertia, q, [*v, *w], g, [*f, *n])
    a = np.linalg.solve(M, force)
    assert np.allclose(a[:3], g + f / 2)
    turn = np.cross(w, np.eye(3)).T  # w×
    assert np.allclose((turn @ spin - spin @ turn) @ w + spin @ a[3:], n, atol=1e-9)


def test_a_joint_between_free_bodies():
    """[M -J'; J 0] [a; λ] = [ξ; -J̇ v] gives the accelerations that a system in generalized coordinates has."""
    scene = mc.Scene()
    scene.add_body("rod", mass=2, inertia=(0.2, 0.3, 0.4), position=(0.5, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0), name="pin"))
    dynamics = mc.reduced.Dynamics(mc.reduced.System(scene))
    q, qd = [0.4], [3.0]
    x, orientation, v, w = (part[0] for part in dynamics.state(q, qd))
    twist = np.concatenate([v, w])
    rows = maximal.hinge(None, (x, orientation), *maximal.joint_frames(scene, "pin"), None, twist)
    M = maximal.mass_matrix(2, np.diag([0.2, 0.3, 0.4]), orientation)
    force = maximal.applied_force(2, np.diag([0.2, 0.3, 0.4]), orientation, twist)
    J = rows.J[:, 6:]
    solved = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((5, 5))]]), [*force, *-rows.drift])
    linear, angular = dynamics.accelerations(q, qd, dynamics.forward_dynamics(q, qd, [0.0]))
    assert np.allclose(rows.C, 0, atol=1e-15) and np.allclose(solved[:6], [*linear[0], *angular[0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: maximal.hinge(None, None, None, f), "frame_a must be a pair"),
        (lambda f: maximal.hinge(None, (0, 0, 0), f, f), "b must be a pair"),
        (lambda f: maximal.ball(None, ((0, 0), (1, 0, 0, 0)), f, f), r"b\[0\] must be \(…, 3\)"),
        (lambda f: maximal.ball(((0, 0, 0), (1, 1, 0, 0)), None, f, f), r"a\[1\] must be unit quaternions"),
        (lambda f: maximal.ball(None, None, f, f, twist_b=[1, 2, 3]), r"twist_b must be \(…, 6\)"),
        (lambda f: maximal.hinge(None, None, f, ((0, 0, 0), (0, 1, 0, 0))), "axes point against each other"),
        (lambda f: maximal.ball(None, (np.zeros((2, 3)), f[1]), f, (np.zeros((3, 3)), f[1])), "leading axes do not fit"),
        (lambda f: maximal.joint_frames("scene", "pin"), "scene must be a Scene"),
        (lambda f: maximal.mass_matrix(1, np.eye(2), f[1]), r"inertia must be \(…, 3, 3\)"),
        (lambda f: maximal.applied_force(1, np.eye(3), f[1], [1, 2]), r"twist must be \(…, 6\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(mc.SceneError, match=message):
        call(((0, 0, 0), (1, 0, 0, 0)))
