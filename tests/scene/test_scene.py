"""Handles, names, copies, equality, and that the parts of a scene stay as they were made."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import mcsim.scene as mc
from mcsim.core.errors import SceneError
from mcsim.scene import schema
from mcsim.scene.bodies import KINDS, Body
from mcsim.scene.joints import JOINTS, TYPES as JOINT_TYPES
from mcsim.scene.shapes import SHAPES
from mcsim.state import fields
from plain_joints import PLAIN, plain_joint


def full_scene():
    scene = mc.Scene(gravity=(0, 1, -9), name="full")
    scene.add_body("floor", shape=mc.Plane((0, 0, 2), 0.5), kind="static")
    scene.add_body(
        shape=[mc.Sphere(0.5, density=20), mc.ConvexHull(np.eye(4, 3), material=mc.Material(0.1, 0.9))],
        position=(1, 2, 3),
        bullet=True,
        collision_group=4,
        collision_mask=6,
        gravity_scale=0.5,
    )
    scene.add_body(shape=mc.Box((1, 2, 3)), kind="kinematic", velocity=(1, 0, 0), angular_velocity=(0, 1, 0))
    scene.add_joint(mc.HingeJoint("floor", "body1", (1, 2, 3), (0, 0, 1), limits=(-1, 1), motor=mc.Motor(velocity=1)))
    scene.add_joint(mc.BallJoint("body2", "body1", (0, 0, 0), swing_limit=1, spring=mc.Spring(2, rest=(0, 0, 1))))
    return scene


def test_the_example_of_the_design():
    scene = mc.Scene(gravity=(0, 0, -9.81), name="pendulum")
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static")
    scene.add_body(
        "link",
        shape=mc.Capsule(radius=0.05, half_length=0.4),
        density=1000.0,
        position=(0, 0, 2),
        orientation=(1, 0, 0, 0),
        velocity=(0, 0, 0),
        angular_velocity=(0, 0, 0),
        material=mc.Material(friction=0.6, restitution=0.0),
    )
    scene.add_joint(
        mc.HingeJoint(
            None, "link", anchor=(0, 0, 2.4), axis=(0, 1, 0), name="pivot", limits=(-1.5, 1.5), motor=None, spring=None
        )
    )
    assert repr(scene) == "<Scene 'pendulum': 2 bodies, 1 joints>"
    assert [body.name for body in scene.bodies] == ["floor", "link"]
    assert scene.joint("pivot").b == "link" and scene.joint("pivot").a is None


def test_handles_and_names():
    scene = mc.Scene()
    first = scene.add_body("body1", shape=mc.Sphere(1))
    second = scene.add_body(shape=mc.Sphere(1))  # body1 is taken
    third = scene.add_body(shape=mc.Sphere(1))  # so is body2
    assert [body.name for body in scene.bodies] == ["body1", "body2", "body3"]
    assert [body.index for body in scene.bodies] == [0, 1, 2]
    assert scene.body("body2") is scene.body(second) is second
    joint = scene.add_joint(mc.FixedJoint(first, third))
    assert (joint.a, joint.b, joint.name, joint.index) == ("body1", "body3", "joint0", 0)
    assert scene.joint("joint0") is scene.joint(joint) is scene.joints[0] is joint
    assert scene.add_joint(mc.FixedJoint(first, second, name="weld")).name == "weld"
    assert scene.add_joint(mc.FixedJoint(None, second)).name == "joint2"
    assert {first: 1, second: 2}[second] == 2


def test_a_copys_handle_serves_a_strangers_does_not():
    scene = full_scene()
    assert scene.copy().body(scene.bodies[1]) is scene.bodies[1]  # which copies share, for it is fixed
    other = pickle.loads(pickle.dumps(scene))
    assert other.body(scene.bodies[1]) is other.bodies[1] is not scene.bodies[1]
    assert other.joint(scene.joints[0]) is other.joints[0]
    stranger = mc.Scene().add_body("body1", shape=mc.Sphere(9))
    with pytest.raises(SceneError, match="is not in this scene"):
        scene.body(stranger)
    with pytest.raises(SceneError, match="is not in this scene"):
        scene.add_joint(mc.FixedJoint("floor", stranger))


@pytest.mark.parametrize(
    "duplicate",
    [mc.Scene.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)), lambda s: mc.Scene.from_dict(s.to_dict())],
)
def test_copies_are_equal_and_independent(duplicate):
    scene = full_scene()
    other = duplicate(scene)
    assert other == scene and not other != scene  # noqa: SIM202 (both are defined)
    for a, b in zip(scene.bodies, other.bodies):
        for name in ("position", "orientation", "velocity", "angular_velocity", "inertia", "center_of_mass"):
            assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
            assert not getattr(b, name).flags.writeable
    for a, b in zip(scene.joints, other.joints):
        for x, y in zip((*a.frame_a, *a.frame_b), (*b.frame_a, *b.frame_b)):
            assert x.tobytes() == y.tobytes() and not y.flags.writeable
        assert a.axes == b.axes
    other.add_body("more", shape=mc.Sphere(1))
    other.add_joint(mc.BallJoint(None, "more", (0, 0, 1), name="more"))
    other.ignore_collision("more", "body1")
    assert other != scene and len(scene.bodies) == 3 and scene == duplicate(scene)
    with pytest.raises(SceneError, match="there is no body 'more'"):
        scene.body("more")
    other = duplicate(scene)
    other.gravity = (0, 0, 0)
    assert other != scene
    assert scene != mc.Scene() and scene != "scene"


def test_parts_are_fixed_once_made():
    scene = full_scene()
    body, joint, shape = scene.bodies[1], scene.joints[0], scene.bodies[1].shapes[1]
    for part, name in ((body, "mass"), (joint, "collide"), (shape, "radius"), (mc.Material(), "friction")):
        with pytest.raises(AttributeError, match="make a new one"):
            setattr(part, name, 1)
        with pytest.raises(AttributeError):
            delattr(part, name)
    for array in (body.position, body.inertia, joint.frame_b[0], shape.vertices, shape.faces[0], scene.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def every_part():
    """One of each: bodies, joints, shapes and the values that they hold."""
    scene = full_scene()
    values = [scene.joints[0].motor, scene.joints[1].spring, scene.bodies[1].shapes[1].material]
    joints = [plain_joint(kind, None, "b", (0, 0, 1), (0, 0, 1)) for kind in PLAIN]
    return [*scene.bodies, *scene.joints, *joints, *(shape for body in scene.bodies for shape in body.shapes), *values]


@pytest.mark.parametrize("part", every_part(), ids=lambda part: type(part).__name__)
def test_a_part_shows_each_argument(part):
    for name in inspect.signature(type(part)).parameters:
        assert hasattr(part, name) or name == "shape", name  # a body's shapes are `shapes`
        assert name in dir(part) or name == "shape"
    for other in (copy.deepcopy(part), pickle.loads(pickle.dumps(part)), part.changed()):
        assert dir(other) == dir(part) or set(dir(other)) - set(dir(part)) == {"_original"}


def test_what_was_given_is_shown_and_a_wrong_name_answers_with_the_right_one():
    hinge = mc.HingeJoint(None, "b", anchor=(0, 0, 1), axis=(0, 0, 1), limits=(-1, 1), motor=mc.Motor(velocity=2))
    assert hinge.limits == (-1, 1) and hinge.motor.velocity == 2 and hinge.anchor == (0, 0, 1) and hinge.friction == 0
    with pytest.raises(AttributeError, match="HingeJoint has no attribute 'limit'; did you mean 'limits'"):
        hinge.limit
    with pytest.raises(AttributeError, match="Box has no attribute 'radius'"):
        mc.Box((1, 2, 3)).radius


def test_values_compare_by_content_and_hash():
    assert mc.Box((1, 2, 3)) == mc.Box(np.array([1, 2, 3])) != mc.Box((1, 2, 4))
    assert mc.Sphere(1) != mc.Capsule(1, 0) and mc.Sphere(1) != 1
    assert len({mc.Material(), mc.Material(0.6), mc.Material(0.7), mc.Motor(velocity=1), mc.Spring(1)}) == 4
    assert repr(mc.Box((1, 2, 3), density=5)) == "Box(half_extents=(1.0, 2.0, 3.0), density=5.0)"
    assert repr(mc.Motor(position=(0, 0, 1))) == "Motor(position=(0.0, 0.0, 1.0))"


def test_numbers_may_come_from_numpy():
    body = mc.Scene().add_body(
        shape=mc.Sphere(np.float32(0.5)),
        position=np.arange(3),
        collision_group=np.int64(2),
        bullet=np.True_,
        mass=np.int32(2),
    )
    assert body.position.tolist() == [0, 1, 2] and body.collision_group == 2 and body.bullet is True
    assert mc.Scene.from_dict({"version": 1, "bodies": [body.to_dict()]}).bodies[0].same(body)


def test_the_frame_of_a_plane_lies_on_it():
    """z along the normal, the origin on the plane, placed in the body's frame."""
    plane = mc.Plane((0, 3, 4), 2.0)
    assert np.abs(plane.position - (0, 1.2, 1.6)).max() < 1e-15
    w, x, y, z = plane.orientation
    third_column = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    assert np.abs(third_column - (0, 0.6, 0.8)).max() < 1e-15
    half = np.sqrt(0.5)
    turned = mc.Plane((0, 0, 1), 2.0, position=(5, 0, 0), orientation=(half, 0, half, 0))  # z of the shape is x
    assert np.abs(turned.position - (7, 0, 0)).max() < 1e-15
    assert (mc.Plane((0, 0, 1)).orientation == (1, 0, 0, 0)).all()


def test_a_quaternion_is_normalised_and_kept_as_given():
    q = (1 + 5e-7, 0.0, 0.0, 0.0)
    body = mc.Scene().add_body(shape=mc.Sphere(1), orientation=q)
    assert body.orientation.tolist() == [1, 0, 0, 0]
    assert body.to_dict()["orientation"] == list(q)


def test_add_body_has_the_signature_of_body():
    """Names, defaults and annotations."""
    ours = list(inspect.signature(mc.Scene.add_body).parameters.values())[2:]
    theirs = list(inspect.signature(Body).parameters.values())[2:]
    assert ours == theirs


@pytest.mark.parametrize(
    "cls, model",
    [
        *((SHAPES[m.model_fields["type"].annotation.__args__[0]], m) for m in schema.SHAPE_MODELS),
        *((JOINTS[m.model_fields["type"].annotation.__args__[0]], m) for m in schema.JOINT_MODELS),
        (mc.Material, schema.MaterialModel),
        (mc.Motor, schema.MotorModel),
        (mc.Spring, schema.SpringModel),
        (mc.Scene.add_body, schema.BodyModel),
    ],
    ids=lambda value: value.__name__,
)
def test_the_schema_has_the_arguments_of_the_classes(cls, model):
    parameters = {name: p.default is p.empty for name, p in inspect.signature(cls).parameters.items() if name != "self"}
    if model is schema.BodyModel:
        parameters["shapes"] = parameters.pop("shape")
        del parameters["user_data"]  # which is not in files
    required = {name: field.is_required() for name, field in model.model_fields.items() if name != "type"}
    assert required == parameters


def test_registries_are_whole_and_agree_with_the_state():
    assert tuple(SHAPES) == fields.SHAPE_TYPES
    assert tuple(JOINT_TYPES) == fields.JOINT_TYPES
    assert set(JOINT_TYPES) - set(JOINTS) == {"user"}  # no file can hold a user's own joint
    assert KINDS == fields.BODY_KINDS
    assert len(schema.SHAPE_MODELS) == len(SHAPES) and len(schema.JOINT_MODELS) == len(JOINTS)
    assert all(name in dir(mc) for name in mc.__all__)


def test_everything_public_has_a_docstring():
    for name in mc.__all__:
        thing = getattr(mc, name)
        assert thing.__doc__ and not thing.__doc__.startswith(f"{name}("), name
