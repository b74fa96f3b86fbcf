"""Where joints end up on their bodies, and what their axes carry."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.transform import Rotation

from amounts import amount
from mcsim.core.errors import SceneError
from mcsim.scene import (
    AxisSpec,
    BallJoint,
    CylindricalJoint,
    DistanceJoint,
    FixedJoint,
    FreeJoint,
    HingeJoint,
    KnifeEdgeJoint,
    LockJoint,
    Motor,
    PlanarJoint,
    RackPinionJoint,
    Scene,
    ScrewJoint,
    SliderJoint,
    Sphere,
    Spring,
    UniversalJoint,
)
from mcsim.scene.joints import JOINTS

INF = math.inf


def random_scene(rng, count=2):
    scene = Scene()
    for _ in range(count):
        scene.add_body(
            shape=Sphere(1.0, position=rng.normal(size=3)),
            position=rng.normal(size=3),
            orientation=Rotation.random(random_state=rng).as_quat(scalar_first=True),
        )
    return scene


def world_frame(scene, body, frame):
    """A joint's frame in the world: position and 3×3 rotation."""
    if body is None:
        return frame[0], Rotation.from_quat(frame[1], scalar_first=True).as_matrix()
    body = scene.body(body)
    r = Rotation.from_quat(body.orientation, scalar_first=True)
    return body.position + r.as_matrix() @ frame[0], (r * Rotation.from_quat(frame[1], scalar_first=True)).as_matrix()


def world_frames(scene, joint):
    return world_frame(scene, joint.a, joint.frame_a), world_frame(scene, joint.b, joint.frame_b)


def perpendicular_pair(rng):
    z, x = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
    return z * rng.uniform(0.1, 10), x * rng.uniform(0.1, 10)


@settings(deadline=None, max_examples=amount(20, 60), derandomize=True)
@given(
    st.sampled_from(sorted(set(JOINTS) - {"rolling", "gear"})),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["both", "a", "b"]),
)
def test_both_frames_coincide_at_the_initial_pose(kind, seed, ends):
    rng = np.random.default_rng(seed)
    scene = random_scene(rng)
    a, b = {"both": (0, 1), "a": (0, None), "b": (None, 1)}[ends]
    a, b = (None if i is None else scene.bodies[i] for i in (a, b))
    anchor, (z, x) = rng.normal(size=3), perpendicular_pair(rng)
    joint = scene.add_joint(
        {
            "ball": lambda: BallJoint(a, b, anchor, axis=z),
            "universal": lambda: UniversalJoint(a, b, anchor, z, x),
            "hinge": lambda: HingeJoint(a, b, anchor, z),
            "slider": lambda: SliderJoint(a, b, z, anchor),
            "fixed": lambda: FixedJoint(a, b, anchor),
            "knife_edge": lambda: KnifeEdgeJoint(a, b, anchor, z),
            "cylindrical": lambda: CylindricalJoint(a, b, anchor, z),
            "planar": lambda: PlanarJoint(a, b, anchor, z),
            "screw": lambda: ScrewJoint(a, b, anchor, z, 0.1),
            "distance": lambda: DistanceJoint(a, b, anchor, anchor, 1.0),
            "rack_pinion": lambda: RackPinionJoint(a, b, anchor, x, z, 0.3),
            "free": lambda: FreeJoint(a, b, anchor),
            "lock": lambda: LockJoint(a, b, "x", "yz", anchor, z),
        }.get(kind, lambda: JOINTS[kind](a, b, anchor, z))()
    )
    (p_a, r_a), (p_b, r_b) = world_frames(scene, joint)
    assert np.abs(p_a - anchor).max() < 1e-14 and np.abs(p_b - anchor).max() < 1e-14
    assert np.abs(r_a - r_b).max() < 1e-14
    for _, q in (joint.frame_a, joint.frame_b):
        assert abs(np.linalg.norm(q) - 1) < 1e-15
    for body, (_, q) in ((a, joint.frame_a), (b, joint.frame_b)):
        assert body is not None or q[0] >= 0  # of the two signs, always the same one
    if kind in ("fixed", "distance", "free"):
        assert np.abs(r_a - np.eye(3)).max() < 1e-14
    else:
        assert np.abs(r_a[:, 2] - z / np.linalg.norm(z)).max() < 1e-14
    if kind in ("universal", "rack_pinion"):
        assert np.abs(r_b[:, 0] - x / np.linalg.norm(x)).max() < 1e-14


@settings(deadline=None, max_examples=amount(66, 200), derandomize=True)
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda v: math.hypot(*v) > 1e-6))
def test_any_axis_is_hit_exactly(axis):
    """Also those near an axis of the world and near its opposite, where shortcuts lose digits."""
    scene = random_scene(np.random.default_rng(0), 1)
    joint = scene.add_joint(HingeJoint(None, "body0", (0, 0, 0), axis))
    r = Rotation.from_quat(joint.frame_a[1], scalar_first=True).as_matrix()
    assert np.abs(r[:, 2] - np.array(axis) / math.hypot(*axis)).max() < 1e-15


@pytest.mark.parametrize(
    "axis",
    [
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (-1, 0, 0),
        (0, -1, 0),
        (0, 0, -1),
        (1e-9, 0, -1),
        (1e-9, -1e-9, 1),
        (-1, 1e-12, 0),
        (1e300, 1e300, 0),
        (1e-11, 0, 0),
    ],
)
def test_special_axes(axis):
    test_any_axis_is_hit_exactly.hypothesis.inner_test(axis)


def test_default_ball_frame_is_the_world():
    scene = Scene()
    scene.add_body("b", shape=Sphere(1), position=(1, 2, 3))
    joint = scene.add_joint(BallJoint(None, "b", (1, 2, 4)))
    assert joint.frame_a[0].tolist() == [1, 2, 4] and joint.frame_b[0].tolist() == [0, 0, 1]
    assert joint.frame_a[1].tolist() == joint.frame_b[1].tolist() == [1, 0, 0, 0]


def test_joint_point_of_slider_and_fixed_without_anchor():
    scene = Scene()
    a = scene.add_body("a", shape=Sphere(1), position=(1, 2, 3))
    b = scene.add_body("b", shape=Sphere(1), position=(4, 5, 6))
    for make in (lambda *ends: SliderJoint(*ends, (1, 0, 0)), FixedJoint):
        assert world_frames(scene, scene.add_joint(make(a, b)))[0][0].tolist() == [4, 5, 6]
        assert world_frames(scene, scene.add_joint(make(None, b)))[0][0].tolist() == [4, 5, 6]
        assert world_frames(scene, scene.add_joint(make(a, None)))[1][0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("given_ends", ["a", "b", "both"])
def test_explicit_frames(given_ends):
    """Frames are in the bodies' own frames; one alone lays the other on it."""
    rng = np.random.default_rng(7)
    scene = random_scene(rng)
    frames = {
        f"frame_{end}": (rng.normal(size=3), Rotation.random(random_state=rng).as_quat(scalar_first=True))
        for end in "ab"
        if given_ends in (end, "both")
    }
    joint = scene.add_joint(UniversalJoint("body0", "body1", **frames))
    for name, (position, orientation) in frames.items():
        assert (getattr(joint, name)[0] == position).all()
        assert np.abs(getattr(joint, name)[1] - orientation).max() < 1e-15
    (p_a, r_a), (p_b, r_b) = world_frames(scene, joint)
    coincide = np.abs(p_a - p_b).max() < 1e-14 and np.abs(r_a - r_b).max() < 1e-14
    assert coincide == (given_ends != "both")


def test_nearly_perpendicular_axes_are_made_so():
    scene = random_scene(np.random.default_rng(0), 1)
    joint = scene.add_joint(UniversalJoint(None, "body0", (0, 0, 0), (0, 0, 1), (1, 0, 5e-7)))
    assert np.abs(np.array(joint.frame_a[1]) - (1, 0, 0, 0)).max() < 1e-15
    with pytest.raises(SceneError, match="axis_b must be perpendicular"):
        UniversalJoint(None, "body0", (0, 0, 0), (0, 0, 1), (1, 0, 2e-6))


def test_axes_of_each_joint():
    motor, spring = Motor(velocity=2.0, max_force=5.0), Spring(3.0, damping=0.5, rest=0.1)
    at = {"anchor": (0, 0, 0)}
    full = dict(limits=(-1, 2), motor=motor, spring=spring, friction=0.3)
    expected = AxisSpec(-1.0, 2.0, motor, spring, 0.3)
    assert HingeJoint(None, "b", **at, axis=(0, 0, 1), **full).axes == [expected]
    assert SliderJoint(None, "b", (0, 0, 1), **full).axes == [expected]
    assert FixedJoint(None, "b").axes == []
    two = UniversalJoint(
        None,
        "b",
        **at,
        axis_a=(0, 0, 1),
        axis_b=(1, 0, 0),
        limits=(None, (-1, 2)),
        motor=[None, motor],
        spring=(None, spring),
        friction=(0.0, 0.3),
    )
    assert two.axes == [AxisSpec(), expected]
    plain = UniversalJoint(None, "b", **at, axis_a=(0, 0, 1), axis_b=(1, 0, 0), friction=0.3)
    assert plain.axes == [AxisSpec(friction=0.3)] * 2
    ball = BallJoint(
        None,
        "b",
        **at,
        swing_limit=0.5,
        twist_limits=(-0.1, None),
        friction=0.2,
        motor=Motor(position=(0.1, 0.2, 0.3), hertz=9.0),
        spring=Spring(4.0, rest=0),
    )
    assert ball.swing_limit == 0.5
    assert [(x.lower, x.upper) for x in ball.axes] == [(-INF, INF), (-INF, INF), (-0.1, INF)]
    assert [x.motor for x in ball.axes] == [Motor(position=p, hertz=9.0) for p in (0.1, 0.2, 0.3)]
    assert [x.spring for x in ball.axes] == [Spring(4.0)] * 3
    assert [x.friction for x in ball.axes] == [0.2] * 3
    free = BallJoint(None, "b", **at)
    assert free.swing_limit == INF and free.axes == [AxisSpec()] * 3
    turned = BallJoint(None, "b", **at, spring=Spring(1.0, rest=(0.1, 0.2, 0.3)))
    assert [x.spring.rest for x in turned.axes] == [0.1, 0.2, 0.3]


def test_one_sided_and_open_limits():
    for limits, ends in (
        ((None, 1), (-INF, 1)),
        ((-1, INF), (-1, INF)),
        ((None, None), (-INF, INF)),
        (None, (-INF, INF)),
        ((1, 1), (1, 1)),
        (np.array([-20.0, 20.0]), (-20, 20)),
    ):
        (axis,) = HingeJoint(None, "b", (0, 0, 0), (0, 0, 1), limits=limits).axes
        assert (axis.lower, axis.upper) == ends


def test_axes_of_the_joints_with_several():
    motor, spring = Motor(velocity=2.0, max_force=5.0), Spring(3.0, damping=0.5, rest=0.1)
    expected = AxisSpec(-1.0, 2.0, motor, spring, 0.3)
    at = {"anchor": (0, 0, 0)}
    two = CylindricalJoint(
        None,
        "b",
        **at,
        axis=(0, 0, 1),
        limits=(None, (-1, 2)),
        motor=(None, motor),
        spring=(None, spring),
        friction=(0.0, 0.3),
    )
    assert two.axes == [AxisSpec(), expected]
    three = PlanarJoint(
        None,
        "b",
        **at,
        normal=(0, 0, 1),
        limits=(None, (-1, 2), None),
        motor=(None, motor, None),
        spring=(None, spring, None),
        friction=(0.0, 0.3, 0.0),
    )
    assert three.axes == [AxisSpec(), expected, AxisSpec()]
    assert PlanarJoint(None, "b", **at, normal=(0, 0, 1), friction=0.3).axes == [AxisSpec(friction=0.3)] * 3
    full = dict(limits=(-1, 2), motor=motor, spring=spring, friction=0.3)
    assert ScrewJoint(None, "b", **at, axis=(0, 0, 1), pitch=0.1, **full).axes == [expected]
    mesh = RackPinionJoint(None, "b", **at, rack_axis=(1, 0, 0), pinion_axis=(0, 0, 1), radius=1, **full)
    assert mesh.axes == [expected]
    assert FreeJoint(None, "b").axes == [AxisSpec()] * 6


def test_rods_ropes_and_springs():
    """What a distance joint is follows from what it is given."""

    def placed(**arguments):
        scene = Scene()
        scene.add_body("b", shape=Sphere(1))
        return scene.add_joint(DistanceJoint(None, "b", (0, 0, 3), (0, 4, 0), **arguments))

    assert placed().constant == 5.0 and placed().axes == [AxisSpec()]
    assert placed(length=2).constant == 2.0
    rope = placed(limits=(None, 6))
    assert rope.constant == INF and rope.axes == [AxisSpec(upper=6.0)]
    assert placed(limits=(0, 6)).axes == [AxisSpec(upper=6.0)] and placed(limits=(1, 6)).axes == [AxisSpec(1.0, 6.0)]
    for arguments in (
        {"spring": Spring(9.0, rest=2.0)},
        {"spring": Spring(9.0), "length": 2},
        {"spring": Spring(9.0, rest=2.0), "length": 2},
    ):
        assert placed(**arguments).axes == [AxisSpec(spring=Spring(9.0, rest=2.0))]
        assert placed(**arguments).constant == INF
    assert placed(motor=Motor(velocity=1)).constant == placed(friction=1).constant == INF


def test_frames_of_a_distance_joint():
    """Its two points in the bodies' own frames; given frames place it as anchors do."""
    rng = np.random.default_rng(3)
    scene = random_scene(rng)
    p, q = rng.normal(size=(2, 3))
    joint = scene.add_joint(DistanceJoint("body0", "body1", p, q))
    (p_a, _r_a), (p_b, _r_b) = world_frames(scene, joint)
    assert np.abs(p_a - p).max() < 1e-14 and np.abs(p_b - q).max() < 1e-14
    assert joint.constant == pytest.approx(np.linalg.norm(p - q), rel=1e-14)
    again = scene.add_joint(DistanceJoint("body0", "body1", frame_a=joint.frame_a, frame_b=joint.frame_b))
    assert again.constant == pytest.approx(joint.constant, rel=1e-14)
