"""The velocity transformation: twists of all bodies, and projected equations, against the recursions and Lagrange's."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.reduced import Dynamics, System, VelocityTransformation
from random_trees import random_scene, random_state

G = 9.81


@pytest.mark.parametrize("seed", range(8))
def test_projection_gives_what_the_recursions_give(seed):
    """T' M T is H, T'(M Ṫ ẏ - ξ) is C, and ÿ is q̈, of random trees of all joints, for many states at once and for one."""
    rng = np.random.default_rng(seed)
    system = System(random_scene(rng, 5))
    dynamics, projected = Dynamics(system), VelocityTransformation(system)
    states = [random_state(rng, system) for _ in range(4)]
    q, qd, tau = (np.array(part).reshape(2, 2, -1) for part in zip(*(state[:3] for state in states)))
    forces = rng.normal(size=(2, 2, len(system.scene.bodies), 6))
    assert projected.ny == system.nq and (projected.q(q) == q).all() and (projected.qd(q, qd) == qd).all()
    flat = q.reshape(4, -1), qd.reshape(4, -1)
    h, bias = dynamics.mass_matrix(flat[0]), dynamics.bias_force(*flat, forces.reshape(4, -1, 6))
    assert np.allclose(projected.mass_matrix(q).reshape(h.shape), h, atol=1e-12)
    assert np.allclose(projected.bias_force(q, qd, forces).reshape(bias.shape), bias, atol=1e-10)
    qdd = dynamics.forward_dynamics(*flat, tau.reshape(4, -1), forces.reshape(4, -1, 6))
    found = projected.forward_dynamics(q, qd, tau, forces).reshape(4, -1)
    assert np.allclose(found, qdd, rtol=0, atol=1e-8 * (1 + np.abs(qdd).max()))
    _, _, v, w = dynamics.state(*flat)
    numbers = [[body.name for body in system.scene.bodies].index(name) for name in projected.bodies]
    twists = np.concatenate([v, w], axis=-1)[:, numbers].reshape(4, -1)
    assert np.allclose((projected.T(q) @ qd[..., None]).reshape(4, -1), twists)
    one = projected.forward_dynamics(q[1, 0], qd[1, 0], tau[1, 0], forces[1, 0])
    assert np.allclose(one, found[2], rtol=1e-9, atol=1e-9)


def top(A, C, mass, length):
    scene = mc.Scene(gravity=(0, 0, -G))
    moment = A - mass * length**2
    scene.add_body("top", mass=mass, inertia=(moment, moment, C), position=(0, 0, length))
    scene.add_joint(
        mc.BallJoint(None, "top", frame_a=((0, 0, 0), (1, 0, 0, 0)), frame_b=((0, 0, -length), (1, 0, 0, 0)), name="tip")
    )
    return System(scene)


def test_heavy_top_by_lagranges_equations():
    """Precession, nutation and spin of a symmetric top: mass matrix and bias force as any text on mechanics has them."""
    A, C, mass, length = 0.6, 0.2, 2.0, 0.3
    projected = VelocityTransformation(top(A, C, mass, length), euler={"tip": "zxz"})
    rng = np.random.default_rng(0)
    y, yd = rng.uniform(0.3, 2.5, (50, 3)), rng.normal(size=(50, 3))
    (theta, s, c), (a, b, d) = (y[:, 1], np.sin(y[:, 1]), np.cos(y[:, 1])), yd.T
    zero = np.zeros_like(theta)
    h = np.stack([A * s**2 + C * c**2, zero, C * c, zero, zero + A, zero, C * c, zero, zero + C], axis=-1)
    bias = np.stack(
        [
            2 * (A - C) * s * c * a * b - C * s * b * d,
            -(A - C) * s * c * a**2 + C * s * a * d - mass * G * length * s,
            -C * s * a * b,
        ],
        axis=-1,
    )
    assert np.allclose(projected.mass_matrix(y), h.reshape(-1, 3, 3), atol=1e-13)
    assert np.allclose(projected.bias_force(y, yd), bias, atol=1e-12)
    ydd = projected.forward_dynamics(y, yd, [0.1, 0.2, 0.3])
    assert np.allclose(ydd, np.linalg.solve(h.reshape(-1, 3, 3), ([0.1, 0.2, 0.3] - bias)[..., None])[..., 0])


@pytest.mark.parametrize("axes", ["zyx", "zxz", "xyz", "yxy"])
def test_bodies_by_euler_angles(axes):
    """Of a free body, and of a body that a ball joint holds to it: T ẏ is where the bodies go, Ṫ ẏ the rate of T, both by
    differences of y; and the motion is that by quaternions."""
    rng = np.random.default_rng(3)
    scene = mc.Scene()
    scene.add_body("post", shape=mc.Box((0.1, 0.1, 0.1)), kind="static")
    scene.add_body("low", mass=1, inertia=(0.2, 0.3, 0.4), position=(0, 0, 1), center_of_mass=(0.1, 0, 0.2))
    scene.add_body("high", mass=2, inertia=(0.3, 0.2, 0.4), position=(0, 0, 2))
    scene.add_joint(mc.BallJoint("high", "low", anchor=(0.1, 0.2, 1.5), name="neck"))
    system = System(scene)
    root = next(link.body for link in system.links if link.joint is None)
    projected, dynamics = VelocityTransformation(system, {root: axes, "neck": axes}), Dynamics(system)
    assert projected.ny == projected.nv == 9 and projected.bodies == ("low", "high")
    y, yd = rng.uniform(0.3, 1.2, 9), rng.normal(size=9)
    assert np.allclose(projected.y(projected.q(y)), y)
    qd = projected.qd(y, yd)
    assert np.allclose(projected.yd(y, qd), yd)
    h = 1e-5

    def poses(at):
        x, q = dynamics.poses(projected.q(at))
        return x[1:], mc.rotation.matrix(q[1:])

    (x_1, R_1), (x_0, R_0), R = poses(y + h * yd), poses(y - h * yd), poses(y)[1]
    spin = (R_1 - R_0) / (2 * h) @ R.swapaxes(-1, -2)
    twists = np.concatenate(
        [(x_1 - x_0) / (2 * h), np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)], axis=-1
    )
    assert np.allclose(projected.T(y) @ yd, twists.ravel(), atol=1e-8)
    slope = (projected.T(y + h * yd) - projected.T(y - h * yd)) @ yd / (2 * h)
    assert np.allclose(projected.drift(y, yd), slope, atol=1e-7)
    # The same accelerations of all bodies as by quaternions, under forces and joint forces of the same power.
    forces, tau = rng.normal(size=(3, 6)), rng.normal(size=9)
    own = np.array([projected.qd(y, unit) for unit in np.eye(9)])  # N' of qd = N ẏ
    ydd = projected.forward_dynamics(y, yd, own @ tau, forces)
    linear, angular = dynamics.accelerations(projected.q(y), qd, dynamics.forward_dynamics(projected.q(y), qd, tau, forces))
    both = np.concatenate([linear, angular], axis=-1)[1:].ravel()
    assert np.allclose(projected.T(y) @ ydd + projected.drift(y, yd), both)


def test_kinematic_bodies_go_as_they_are_told():
    """tau of a kinematic body is its acceleration, as for the recursions."""
    scene = mc.Scene()
    scene.add_body("cart", shape=mc.Box((0.1, 0.1, 0.1)), kind="kinematic")
    scene.add_body("bob", mass=1, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    scene.add_joint(mc.HingeJoint("cart", "bob", anchor=(0, 0, 0), axis=(0, 1, 0)))
    system = System(scene)
    dynamics, rng = Dynamics(system), np.random.default_rng(1)
    q, qd, tau = system.initial()[0], rng.normal(size=7), rng.normal(size=7)
    expected = dynamics.forward_dynamics(q, qd, tau)
    assert np.allclose(VelocityTransformation(dynamics).forward_dynamics(q, qd, tau), expected)


def test_bad_input_is_named():
    """Wrong names, orders and shapes; and gimbal lock, with the joint and the cure."""
    system = top(0.6, 0.2, 2.0, 0.3)
    projected = VelocityTransformation(system, {"tip": "zxz"})
    assert "'tip' by 'zxz'" in repr(projected)
    cases = [
        (lambda: VelocityTransformation(system, "zxz"), "euler must be a dict"),
        (lambda: VelocityTransformation(system, {"tip": "ZXZ"}), r"euler\['tip'\] must be one of"),
        (
            lambda: VelocityTransformation(system, {"tap": "zxz"}),
            "there is no tree joint or free body 'tap'; did you mean 'tip'",
        ),
        (lambda: VelocityTransformation(System(mc.load("pendulum")), {"pivot": "zxz"}), "revolute joint has no quaternion"),
        (lambda: projected.T([1, 2, 3, 4]), r"y must be \(…, 3\), got \(4,\)"),
        (lambda: projected.drift([1, 2, 3], [1, 2]), r"yd must be \(…, 3\)"),
        (lambda: projected.xi([1, 2, 3], [1, 2, 3], np.zeros((2, 6))), r"forces must be \(…, 1, 6\)"),
        (lambda: projected.forward_dynamics([0.3, 0.0, 1], [1, 2, 3], [0, 0, 0]), "'tip': angles are at gimbal lock"),
        (lambda: projected.yd([0.3, np.pi, 1], [1, 2, 3]), "'tip': angles are at gimbal lock: .*'zyx'"),
    ]
    for call, message in cases:
        with pytest.raises(mc.SceneError, match=message):
            call()
