"""Euler angles of all orders against SciPy's, and their rates against differences of rotation matrices."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

import mcsim as mc

rot = mc.rotation
orders = pytest.mark.parametrize("axes", rot.ORDERS)
kinds = pytest.mark.parametrize("extrinsic", [False, True], ids=["intrinsic", "extrinsic"])
few = settings(max_examples=10)
angles = arrays(float, (2, 2, 3), elements=st.floats(-6, 6))


def scipys(angles, axes, extrinsic):
    """SciPy writes intrinsic orders in capital letters."""
    return Rotation.from_euler(axes if extrinsic else axes.upper(), angles.reshape(-1, 3))


def turn(axis, angle):
    """(3, 3), written out."""
    c, s = np.cos(angle), np.sin(angle)
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def test_there_are_twelve_orders():
    assert len(set(rot.ORDERS)) == 12 and all(a != b != c for a, b, c in rot.ORDERS)


@orders
@kinds
@few
@given(angles=angles)
def test_rotations_of_angles_and_back(axes, extrinsic, angles):
    """R is the product that the docstring states, and SciPy's; angles come back in their ranges, and give R again."""
    q = rot.from_euler(angles, axes, extrinsic=extrinsic)
    found = rot.matrix(q)
    one = [turn(axis, angle) for axis, angle in zip(axes, angles[1, 0])]
    assert np.allclose(found[1, 0], one[2] @ one[1] @ one[0] if extrinsic else one[0] @ one[1] @ one[2], atol=1e-14)
    theirs = scipys(angles, axes, extrinsic)
    assert np.allclose(found, theirs.as_matrix().reshape(2, 2, 3, 3), rtol=0, atol=1e-14)
    back = rot.to_euler(q, axes, extrinsic=extrinsic)
    again = rot.matrix(rot.from_euler(back, axes, extrinsic=extrinsic))
    assert np.allclose(again, found, rtol=0, atol=1e-11)
    low, high = (0, np.pi) if axes[0] == axes[2] else (-np.pi / 2, np.pi / 2)
    assert (back[..., 1] >= low - 1e-15).all() and (back[..., 1] <= high + 1e-15).all()
    assert (np.abs(back[..., [0, 2]]) <= np.pi).all()


@orders
@kinds
def test_angles_are_scipys(axes, extrinsic):
    """Away from gimbal lock all three."""
    q = rot.normalize(np.random.default_rng(1).normal(size=(200, 4)))
    theirs = Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_euler(axes if extrinsic else axes.upper())
    assert np.allclose(rot.to_euler(q, axes, extrinsic=extrinsic), theirs, rtol=0, atol=1e-11)


@orders
@kinds
@pytest.mark.parametrize("end", [0, 1])
def test_gimbal_lock(axes, extrinsic, end):
    """At both ends of the middle angle the last one is zero, and the rotation is the same."""
    middle = (0.0, np.pi)[end] if axes[0] == axes[2] else (-np.pi / 2, np.pi / 2)[end]
    q = rot.from_euler([0.3, middle, 1.1], axes, extrinsic=extrinsic)
    found = rot.to_euler(q, axes, extrinsic=extrinsic)
    assert found[2] == 0 and np.isclose(found[1], middle, rtol=0, atol=1e-7)
    assert np.allclose(rot.matrix(rot.from_euler(found, axes, extrinsic=extrinsic)), rot.matrix(q), rtol=0, atol=1e-11)
    with pytest.raises(mc.SceneError, match="angles are at gimbal lock: .*take another order, as axes='zxz'|axes='zyx'"):
        rot.euler_jacobian_inverse([[0.3, 0.7, 1.1], [0.3, middle, 1.1]], axes, extrinsic=extrinsic)


@orders
@kinds
@few
@given(angles=angles, rates=angles)
def test_rates(axes, extrinsic, angles, rates):
    """w of w× = Ṙ R', by differences of SciPy's matrices; the drift by those of w; the inverse where there is one."""
    h = 1e-3  # differences are off by some 1e-14 h^-1 of rounding and 1e-13 of the fifth derivative
    ways = h * np.array([-2, -1, 1, 2]), np.array([1, -8, 8, -1]) / (12 * h)

    def slope(of):
        return sum(weight * of(angles + way * rates) for way, weight in zip(*ways))

    def matrices(at):
        return scipys(at, axes, extrinsic).as_matrix().reshape(2, 2, 3, 3)

    R = matrices(angles)
    spins = {"world": slope(matrices) @ R.swapaxes(-1, -2), "body": R.swapaxes(-1, -2) @ slope(matrices)}
    size = 1 + np.abs(rates).max() ** 5
    for frame, spin in spins.items():
        options = {"axes": axes, "extrinsic": extrinsic, "frame": frame}
        w = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
        B = rot.euler_jacobian(angles, **options)
        assert np.allclose((B @ rates[..., None])[..., 0], w, rtol=0, atol=1e-11 * size)
        drift = slope(lambda at: (rot.euler_jacobian(at, **options) @ rates[..., None])[..., 0])
        assert np.allclose(rot.euler_drift(angles, rates, **options), drift, rtol=0, atol=1e-10 * size**1.2)
        if (np.abs(np.linalg.det(B)) > 1e-4).all():
            assert np.allclose(rot.euler_jacobian_inverse(angles, **options) @ B, np.eye(3), atol=1e-9)


def test_yaw_pitch_and_roll_are_those_of_a_ball_joint():
    """ "zyx" are the coordinates that a System has of a ball joint with ball="ypr", their rates its velocities."""
    scene = mc.Scene()
    scene.add_body("bob", mass=1, inertia=(0.1, 0.2, 0.3), position=(0, 0, 1))
    scene.add_joint(mc.BallJoint(None, "bob", anchor=(0, 0, 1)))
    dynamics = mc.reduced.Dynamics(mc.reduced.System(scene, ball="ypr"))
    q, qd = np.array([0.4, -0.8, 2.0]), np.array([0.3, 0.5, -0.7])
    _, orientation, _, w = (part[0] for part in dynamics.state(q, qd))
    assert np.allclose(rot.to_euler(orientation), q) and np.allclose(rot.euler_jacobian(q) @ qd, w)
    assert np.allclose(rot.euler_drift(q, qd), dynamics.body_drift("bob", q, qd)[3:])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rot.from_euler([1, 2, 3], "ZYX"), "axes must be one of: .*zyx"),
        (lambda: rot.from_euler([1, 2, 3], "zzx"), "axes must be one of"),
        (lambda: rot.to_euler([1, 0, 0, 0], "abc"), "axes must be one of"),
        (lambda: rot.from_euler([1, 2]), r"angles must be \(…, 3\), got \(2,\)"),
        (lambda: rot.euler_drift([1, 2, 3], [1, 2]), r"rates must be \(…, 3\)"),
        (lambda: rot.euler_jacobian([1, 2, 3], frame="inertial"), "frame must be one of: world, body"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(mc.SceneError, match=message):
        call()
