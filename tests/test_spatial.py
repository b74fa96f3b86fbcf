"""Spatial vectors by what they mean: velocities of points, moments, power and momentum."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

import mcsim as mc
from mcsim import spatial

numbers = st.floats(-3, 3)
few = settings(max_examples=30)
sixes = arrays(float, (2, 6), elements=numbers)
threes = arrays(float, (2, 3), elements=numbers)
turns = threes.map(lambda r: Rotation.from_rotvec(r).as_matrix())


def times(X, a):
    return (X @ a[..., None])[..., 0]


@few
@given(turns, threes, sixes, sixes)
def test_transforms(E, r, v, f):
    """A motion's velocity at B's origin is v + w × r, a force's moment there n - r × f; power does not change; one is the
    product of turn and shift."""
    X, dual = spatial.motion_transform(E, r), spatial.force_transform(E, r)
    moved, pushed = times(X, v), times(dual, f)
    assert np.allclose(moved[:, :3], times(E, v[:, :3]))
    assert np.allclose(moved[:, 3:], times(E, v[:, 3:] + np.cross(v[:, :3], r)))
    assert np.allclose(pushed[:, :3], times(E, f[:, :3] - np.cross(r, f[:, 3:])))
    assert np.allclose(pushed[:, 3:], times(E, f[:, 3:]))
    assert np.allclose(np.sum(moved * pushed, axis=-1), np.sum(v * f, axis=-1))
    assert np.allclose(spatial.rotation(E) @ spatial.translation(r), X)
    assert np.allclose(X[1], spatial.motion_transform(E[1], r[1]))
    back = spatial.motion_transform(E.swapaxes(-1, -2), -times(E, r))
    assert np.allclose(back @ X, np.eye(6), atol=1e-12)


@few
@given(threes, threes, sixes, sixes)
def test_cross_products_are_rates(spin, shift, m, f):
    """v× and v×* are the rates of motions and forces that a moving body carries along, by differences over its pose."""
    v = np.concatenate([spin, shift], axis=-1)
    h = 1e-5

    def carried(time):
        turn = Rotation.from_rotvec(time * spin).as_matrix()  # from the body, which is at rest in the axes at time 0
        place = time * shift
        origin = -times(turn.swapaxes(-1, -2), place)  # of the axes, as the body sees it
        return times(spatial.motion_transform(turn, origin), m), times(spatial.force_transform(turn, origin), f)

    (m_after, f_after), (m_before, f_before) = carried(h), carried(-h)
    assert np.allclose(times(spatial.motion_cross(v), m), (m_after - m_before) / (2 * h), atol=1e-6)
    assert np.allclose(times(spatial.force_cross(v), f), (f_after - f_before) / (2 * h), atol=1e-6)


@few
@given(st.floats(0.1, 5), threes, sixes, st.integers(0, 1000))
def test_inertia(mass, com, v, seed):
    """Momentum and kinetic energy of a cloud of points; the transform to other axes."""
    rng = np.random.default_rng(seed)
    cloud = rng.normal(size=(20, 3))
    weights = rng.random(20)
    weights *= mass / weights.sum()
    cloud -= weights @ cloud / mass
    own = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(weights, cloud))
    I = spatial.inertia(mass, com, own)
    assert I.shape == (2, 6, 6)
    for k in range(2):
        points = cloud + com[k]
        speeds = v[k, 3:] + np.cross(v[k, :3], points)
        momenta = weights[:, None] * speeds
        expected = *np.cross(points, momenta).sum(axis=0), *momenta.sum(axis=0)
        assert np.allclose(I[k] @ v[k], expected)
        assert np.isclose(v[k] @ I[k] @ v[k], np.sum(momenta * speeds))
    E, r = Rotation.from_rotvec(com[0]).as_matrix(), com[1]
    moved = spatial.force_transform(E, r) @ I[0] @ np.linalg.inv(spatial.motion_transform(E, r))
    assert np.allclose(moved, spatial.inertia(mass, E @ (com[0] - r), E @ own @ E.T))


@few
@given(st.integers(0, 6), st.integers(0, 10**6))
def test_complement_and_decomposition(n, seed):
    """T' S = 0 and both make up the whole; a vector is the sum of its parts, whose coordinates are found."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(3, 2, 6, n))
    T = spatial.complement(S)
    assert T.shape == (3, 2, 6, 6 - n)
    assert np.allclose(T.swapaxes(-1, -2) @ S, 0, atol=1e-12)
    assert np.allclose(T.swapaxes(-1, -2) @ T, np.eye(6 - n))
    assert spatial.is_direct_sum(S, T).all() and spatial.is_direct_sum(S, T).shape == (3, 2)
    other = rng.normal(size=(6, 6 - n))  # not orthogonal
    a, b = rng.normal(size=(3, 2, n)), rng.normal(size=(3, 2, 6 - n))
    parts = spatial.decompose(times(S, a) + times(other, b), S, other)
    assert np.allclose(parts.a, a, atol=1e-6) and np.allclose(parts.b, b, atol=1e-6)
    assert not spatial.is_direct_sum(S, rng.normal(size=(6, 7 - n))).any()
    if n:
        assert not spatial.is_direct_sum(S, np.concatenate([T[..., : 5 - n], S[..., :1]], axis=-1)).any()


def test_force_of_a_joint():
    """f = T_a τ + T λ: the drive's force is what S sees of it, and decompose gives both back."""
    joint = mc.reduced.joint_spaces(mc.reduced.System(mc.load("four_bar", driven=False)), [0.3, 0.1, 0.2])[0]
    force = joint.transmitted([2.0], [1, -2, 3, 4, 5])
    tau, multipliers = spatial.decompose(force, joint.T_a, joint.T)
    assert np.allclose(tau, 2) and np.allclose(joint.S.T @ force, 2) and np.allclose(multipliers, [1, -2, 3, 4, 5])
    assert np.linalg.matrix_rank(np.hstack([spatial.complement(joint.S), joint.T])) == 5


def test_a_worlds_twist_as_a_spatial_velocity():
    """From a twist [v; w] at the centre of mass in world axes to a motion [w; v] in the body's axes about its own frame's
    origin, whose velocity is that of this point."""
    scene = mc.Scene()
    placing = dict(center_of_mass=(0.1, 0.2, 0.3), orientation=(0.5, 0.5, 0.5, 0.5))
    scene.add_body("top", mass=1, inertia=(1, 1, 1), velocity=(4, 5, 6), angular_velocity=(1, 2, 3), **placing)
    world = mc.World(scene)
    R = mc.rotation.matrix(world.orientations[0])
    twist = np.concatenate([world.velocities[0], world.angular_velocities[0]])
    motion = spatial.motion_transform(R.T, -R @ [0.1, 0.2, 0.3]) @ spatial.angular_first(twist)
    point = world.velocities[0] + np.cross(world.angular_velocities[0], -R @ [0.1, 0.2, 0.3])
    assert np.allclose(motion, [*R.T @ world.angular_velocities[0], *R.T @ point])
    assert (spatial.linear_first(spatial.angular_first(twist)) == twist).all()
    jacobian = np.arange(12.0).reshape(6, 2)
    assert (spatial.angular_first(jacobian, axis=-2) == jacobian[[3, 4, 5, 0, 1, 2]]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spatial.rotation(np.eye(2)), r"E must be \(…, 3, 3\), got \(2, 2\)"),
        (lambda: spatial.motion_transform(np.eye(3), [1, 2]), r"r must be \(…, 3\)"),
        (lambda: spatial.motion_cross([1, 2, 3]), r"v must be \(…, 6\)"),
        (lambda: spatial.inertia(-1, [0, 0, 0], np.eye(3)), "mass must not be negative"),
        (lambda: spatial.inertia(1, [0, 0, 0], [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "I must be symmetric"),
        (lambda: spatial.complement(np.ones((6, 2))), "S must have 2 independent columns"),
        (lambda: spatial.complement(np.ones((6, 7))), "S must have 7 independent columns, at most 6"),
        (lambda: spatial.decompose(np.ones(6), np.eye(6)[:, :2], np.eye(6)[:, :4]), "S and T do not make up"),
        (lambda: spatial.angular_first(np.ones((6, 3))), "a must have six numbers along axis -1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(mc.SceneError, match=message):
        call()
