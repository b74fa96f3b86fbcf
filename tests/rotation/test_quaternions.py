"""The public rotations against SciPy's, and the matrices of Euler parameters against their definitions."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

import mcsim as mc

rot = mc.rotation
numbers = st.floats(-3, 3)
few = settings(max_examples=30)


def vectors(size):
    return arrays(float, (2, 3, size), elements=numbers)


@st.composite
def quaternions(draw, shape=(2, 3)):
    """Unit quaternions, also such of which a part is zero, or nearly."""
    raw = draw(arrays(float, (*shape, 4), elements=st.one_of(numbers, st.sampled_from([0.0, 1.0, -1.0, 1e-9]))))
    raw[np.linalg.norm(raw, axis=-1) < 1e-3] = (1, 0, 0, 0)
    return raw / np.linalg.norm(raw, axis=-1, keepdims=True)


def scipys(q):
    return Rotation.from_quat(q.reshape(-1, 4)[:, [1, 2, 3, 0]])


def scipy_quaternions(rotation, shape):
    return rotation.as_quat()[:, [3, 0, 1, 2]].reshape(*shape, 4)


def same_rotation(p, q, tolerance=1e-14):
    """Up to the sign of each."""
    return np.allclose(p * np.sign(np.sum(p * q, axis=-1, keepdims=True)), q, rtol=0, atol=tolerance)


@few
@given(quaternions(), quaternions(), vectors(3))
def test_products_matrices_and_vectors_are_scipys(p, q, a):
    """R(p q) = R(p) R(q), R(q*) = R(q)', and R a, for arrays of two leading axes."""
    P, Q = scipys(p), scipys(q)
    assert np.allclose(rot.matrix(q), Q.as_matrix().reshape(2, 3, 3, 3), rtol=0, atol=1e-14)
    assert same_rotation(rot.multiply(p, q), scipy_quaternions(P * Q, (2, 3)))
    assert same_rotation(rot.conjugate(q), scipy_quaternions(Q.inv(), (2, 3)))
    assert np.allclose(rot.rotate(q, a), Q.apply(a.reshape(-1, 3)).reshape(2, 3, 3), rtol=0, atol=1e-13)


@few
@given(quaternions())
def test_quaternions_of_matrices(q):
    """By each of the four components, with w >= 0; one alone gives the bits that it gives among many."""
    found = rot.from_matrix(scipys(q).as_matrix().reshape(2, 3, 3, 3))
    assert same_rotation(found, q) and (found[..., 0] >= 0).all()
    one = rot.from_matrix(rot.matrix(q)[1, 2])
    assert (one == rot.from_matrix(rot.matrix(q))[1, 2]).all()
    assert (one == mc.core.rotation.from_matrix(rot.matrix(q)[1, 2])).all()


@few
@given(vectors(3))
def test_axes_and_angles(r):
    """Axis, angle and rotation vector against SciPy; a turn by more than π comes back as the shorter one."""
    q = rot.from_rotation_vector(r)
    theirs = Rotation.from_rotvec(r.reshape(-1, 3))
    assert same_rotation(q, scipy_quaternions(theirs, (2, 3)))
    axis, angle = rot.to_axis_angle(q)
    assert np.allclose(np.linalg.norm(axis, axis=-1), 1) and (angle >= 0).all() and (angle <= np.pi).all()
    assert np.allclose(angle, theirs.magnitude().reshape(2, 3), rtol=0, atol=1e-14)
    assert same_rotation(rot.from_axis_angle(7 * axis, angle), q)
    turned = rot.to_rotation_vector(q)
    away = angle < np.pi - 1e-6  # at π either axis will do
    assert np.allclose(turned[away], theirs.as_rotvec().reshape(2, 3, 3)[away], rtol=0, atol=1e-13)


def test_turns_of_any_size_and_none():
    """Tiny turns keep their digits; no turn is about z; an axis of any length counts as its direction."""
    for size in (1e-160, 1e-30, 1e-9):
        turned = rot.to_rotation_vector(rot.from_rotation_vector([0, size, 0]))
        assert np.allclose(turned, [0, size, 0], rtol=1e-15, atol=1e-150)
    axis, angle = rot.to_axis_angle([-1, 0, 0, 0])
    assert (axis == [0, 0, 1]).all() and angle == 0
    assert np.allclose(rot.from_axis_angle([0, 0, 1e-100], np.pi), [0, 0, 0, 1], atol=1e-15)
    assert np.allclose(rot.from_axis_angle([1, 0, 0], 3.0), [np.cos(1.5), np.sin(1.5), 0, 0])
    assert np.allclose(rot.normalize([3e-200, 0, 4e-200, 0]), [0.6, 0, 0.8, 0])


# ---- Euler parameters ------------------------------------------------------------------------------------------------


def cross(a):
    return np.cross(a, np.eye(3)).T


@few
@given(quaternions(), vectors(3))
def test_G_is_of_body_axes_and_E_of_world_axes(q, w):
    """The rate of R is w× R in world axes, R w× in body axes; R is quadratic in q, so that R(q + h q̇) gives its rate
    exactly."""
    for frame, of in (("world", rot.E), ("body", rot.G)):
        rate = rot.parameter_rates(q, w, frame)
        assert np.allclose(rate, 0.5 * np.einsum("...ki,...k->...i", of(q), w))
        assert np.allclose(2 * (of(q) @ rate[..., None])[..., 0], w, rtol=0, atol=1e-13)
        assert np.allclose(rot.angular_velocity(q, rate, frame), w, rtol=0, atol=1e-13)
        for index in np.ndindex(2, 3):
            R = quadratic(q[index])
            slope = (quadratic(q[index] + rate[index]) - quadratic(q[index] - rate[index])) / 2
            product = cross(w[index]) @ R if frame == "world" else R @ cross(w[index])
            assert np.allclose(slope, product, rtol=0, atol=1e-13)


def quadratic(q):
    """R(q) = (w² - v·v) 1 + 2 v v' + 2 w v×, of a q of any length."""
    return (q[0] ** 2 - q[1:] @ q[1:]) * np.eye(3) + 2 * np.outer(q[1:], q[1:]) + 2 * q[0] * cross(q[1:])


@few
@given(quaternions((2,)))
def test_identities_of_G_and_E(q):
    """G q = E q = 0, G G' = E E' = 1, R = E G', G' G = 1 - q q'."""
    G, E = rot.G(q), rot.E(q)
    assert G.shape == E.shape == (2, 3, 4)
    assert np.allclose([(G @ q[..., None])[..., 0], (E @ q[..., None])[..., 0]], 0, atol=1e-15)
    assert np.allclose([G @ G.swapaxes(-1, -2), E @ E.swapaxes(-1, -2)], np.eye(3))
    assert np.allclose(E @ G.swapaxes(-1, -2), [quadratic(one) for one in q])
    assert np.allclose(G.swapaxes(-1, -2) @ G, np.eye(4) - q[..., None] * q[..., None, :])


@few
@given(quaternions((2,)), arrays(float, (2, 2, 3), elements=numbers))
def test_accelerations_of_parameters(q, turning):
    """q̈ along a turn whose w grows at a constant rate, by differences of its q̇."""
    w, alpha = turning
    h = 1e-4
    for frame in ("world", "body"):
        # q̇ at t = ±h to second order: q moved by h q̇ + h²/2 q̈ would do, and needs q̈; the way there in small steps does not.
        rates = []
        for way in (h, -h):
            at = q
            for k in range(50):
                middle = at + way / 100 * rot.parameter_rates(at, w + way * (k / 50) * alpha, frame)
                at = at + way / 50 * rot.parameter_rates(middle, w + way * ((k + 0.5) / 50) * alpha, frame)
            rates.append(rot.parameter_rates(at, w + way * alpha, frame))
        slope = (rates[0] - rates[1]) / (2 * h)
        assert np.allclose(rot.parameter_accelerations(q, w, alpha, frame), slope, rtol=0, atol=1e-5)


def test_L_takes_twists_to_the_rates_of_positions_and_quaternions():
    """(7n, 6n) sparse: against where bodies are a moment later and a moment before, by SciPy."""
    rng = np.random.default_rng(0)
    n = 5
    q = rot.normalize(rng.normal(size=(n, 4)))
    v = rng.normal(size=(n, 6))
    L = rot.L(q)
    assert L.format == "csr" and L.shape == (7 * n, 6 * n) and L.nnz == 15 * n
    rates = (L @ v.ravel()).reshape(n, 7)
    h = 1e-6
    moved = [Rotation.from_rotvec(way * h * v[:, 3:]) * scipys(q) for way in (1, -1)]
    ahead, behind = (scipy_quaternions(one, (n,)) for one in moved)
    ahead, behind = (one * np.sign(np.sum(one * q, axis=1))[:, None] for one in (ahead, behind))
    assert np.allclose(rates[:, :3], v[:, :3]) and np.allclose(rates[:, 3:], (ahead - behind) / (2 * h), atol=1e-9)
    assert rot.L(np.zeros((0, 4))).shape == (0, 0)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rot.matrix([1, 1, 0, 0]), "q must be unit quaternions .*normalize"),
        (lambda: rot.matrix([1, 0, 0]), r"q must be \(…, 4\), got \(3,\)"),
        (lambda: rot.normalize([[1, 0, 0, 0], [0, 0, 0, 0]]), "q has a quaternion of length zero"),
        (lambda: rot.multiply([1, 0, 0, np.nan], [1, 0, 0, 0]), "p must be finite"),
        (lambda: rot.multiply(np.ones((2, 4)), np.ones((3, 4))), r"leading axes do not fit .* p has \(2,\), q has \(3,\)"),
        (lambda: rot.from_matrix(2 * np.eye(3)), "R must be orthogonal"),
        (lambda: rot.from_matrix(-np.eye(3)), "R must be a rotation"),
        (lambda: rot.from_axis_angle([0, 0, 0], 1), "axis must not be zero"),
        (lambda: rot.rotate([1, 0, 0, 0], "up"), "a must be numbers"),
        (lambda: rot.parameter_rates([1, 0, 0, 0], [0, 0, 1], "space"), "frame must be one of: world, body"),
        (lambda: rot.L([[2, 0, 0, 0]]), "orientations must be unit"),
        (lambda: rot.L([1, 0, 0, 0]), r"orientations must be \(n, 4\).* got \(4,\)"),
        (lambda: rot.L(np.tile([1, 0, 0, 0], (2, 2, 1))), r"orientations must be \(n, 4\).* got \(2, 2, 4\)"),
    ],
)
def test_bad_input_is_named(call, message):
    """A SceneError, which is a ValueError, with the argument's name and what to do."""
    with pytest.raises(mc.SceneError, match=message):
        call()
