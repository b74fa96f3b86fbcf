"""What a scene file may hold, as pydantic models: fields, types, nothing unknown, every number finite.

The models know no physics: that a mass is positive is checked where a body is made. Each model has the arguments of its
class under the same names, and requires those that have no default; a test compares the two.
"""

from functools import cache, reduce
from inspect import signature
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Discriminator, Field, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from mcsim.scene.checks import show, suggestion
from mcsim.scene.joints import JOINTS, Joint
from mcsim.scene.shapes import SHAPES, Shape

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Integer = Annotated[int, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]

One = TypeVar("One")
Many = TypeVar("Many")

# The first wrong item of a list is told, so no error is made of each of a million others.
Listed = Annotated[list[Many], Field(fail_fast=True)]

Numbers = Listed[Number]
Limits = Listed[Number | None]
Frame = tuple[Numbers, Numbers]

# One thing, or a list, told apart by being a list, so that errors speak only of what was meant.
OneOrMany = Annotated[
    Annotated[One, Tag("one")] | Annotated[Many, Tag("many")],
    Discriminator(lambda value: "many" if isinstance(value, (list, tuple)) else "one"),
]


# What is left out has its class's default; to be written as null is another thing.
ABSENT: Any = None


@cache
def known_fields(model: type[BaseModel]) -> frozenset[str]:
    """Asked for every object of a file, which pydantic answers slowly."""
    return frozenset(model.model_fields)


class Model(BaseModel):
    """An object of the file: no field but those named here."""

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in known_fields(cls):
                hint = suggestion(key, cls.model_fields) if isinstance(key, str) else ""
                raise PydanticCustomError(
                    "unknown_field",
                    "unknown field {key}{hint}; the fields are: {fields}",
                    {"key": show(key), "hint": hint, "fields": ", ".join(cls.model_fields)},
                )
        return data


class MaterialModel(Model):
    friction: Number = ABSENT
    restitution: Number = ABSENT
    rolling_friction: Number = ABSENT
    torsional_friction: Number = ABSENT
    surface_velocity: Numbers = ABSENT
    stiffness: Number | None = None
    damping: Number = ABSENT
    tangential_stiffness: Number | None = None
    tangential_damping: Number | None = None
    one_way: Numbers | None = None
    name: Text | None = None


# ---- drives ----------------------------------------------------------------------------------------------------------


class MotorModel(Model):
    velocity: OneOrMany[Number | None, Numbers] = ABSENT
    position: OneOrMany[Number | None, Numbers] = ABSENT
    max_force: Number | None = None
    hertz: Number = ABSENT
    damping_ratio: Number = ABSENT
    kp: Number | None = None
    kd: Number | None = None
    max_velocity: Number | None = None


class SpringModel(Model):
    stiffness: Number
    damping: Number = ABSENT
    rest: OneOrMany[Number, Numbers] = ABSENT
    acts: Text = ABSENT


class MotionModel(Model):
    position: Number = ABSENT
    velocity: Number | None = None
    acceleration: Number | None = None
    amplitude: Number = ABSENT
    frequency: Number = ABSENT
    phase: Number = ABSENT


# ---- from the arguments of a class -----------------------------------------------------------------------------------

# What a name in the annotation of an argument stands for in a file.
ANNOTATIONS: dict[str, Any] = {
    "BodyName": Text | None,
    "JointName": Text,
    "str": Text,
    "float": Number,
    "int": Integer,
    "bool": Flag,
    "Vector": Numbers,
    "Points": Listed[Numbers],
    "Corners": Listed[Listed[Integer]],
    "FrameArgument": Frame,
    "Limits": Limits,
    "Motor": MotorModel,
    "Spring": SpringModel,
    "Motion": MotionModel,
    "Material": MaterialModel,
    "Sequence": Listed,
}
SomeNumbers = OneOrMany[Number, Numbers]
SomeMotors = OneOrMany[MotorModel | None, Listed[MotorModel | None]]
SomeSprings = OneOrMany[SpringModel | None, Listed[SpringModel | None]]
WHOLE: dict[str, Any] = {
    "float | Sequence[float]": SomeNumbers,
    "float | Vector": SomeNumbers,
    "Motor | Sequence[Motor | None] | None": SomeMotors,
    "Spring | Sequence[Spring | None] | None": SomeSprings,
}
FIRST = (
    "position",
    "orientation",
    "material",
    "density",
    "sensor",
    "a",
    "b",
    "name",
    "frame_a",
    "frame_b",
    "break_force",
    "break_torque",
    "collide",
)


def model_of(part: type[Shape] | type[Joint]) -> type[Model]:
    """The model of a type of shape or joint: the arguments of its class, by their annotations."""
    arguments: dict[str, Any] = {}
    for argument in signature(part).parameters.values():
        text = argument.annotation
        kind = WHOLE[text] if text in WHOLE else eval(text, ANNOTATIONS.copy())
        arguments[argument.name] = kind, ... if argument.default is argument.empty else None
    first = {name: arguments[name] for name in FIRST if name in arguments}
    return create_model(f"{part.__name__}Model", __base__=Model, **{"type": (Literal[part.type], ...)} | first | arguments)


SHAPE_MODELS = tuple(model_of(shape) for shape in SHAPES.values())
JOINT_MODELS = tuple(model_of(joint) for joint in JOINTS.values())

if TYPE_CHECKING:  # which cannot follow unions made here
    AnyShape = Model
    AnyJoint = Model
else:
    AnyShape = Annotated[reduce(or_, SHAPE_MODELS), Field(discriminator="type")]
    AnyJoint = Annotated[reduce(or_, JOINT_MODELS), Field(discriminator="type")]


# ---- bodies ----------------------------------------------------------------------------------------------------------


class BodyModel(Model):
    name: Text | None = None
    kind: Text = ABSENT
    shapes: Listed[AnyShape] = ABSENT
    position: Numbers = ABSENT
    orientation: Numbers = ABSENT
    velocity: Numbers = ABSENT
    angular_velocity: Numbers = ABSENT
    density: Number | None = None
    mass: Number | None = None
    inertia: Listed[OneOrMany[Number, Numbers]] | None = None
    center_of_mass: Numbers | None = None
    material: MaterialModel | None = None
    collision_group: Integer = ABSENT
    collision_mask: Integer = ABSENT
    gravity_scale: Number = ABSENT
    linear_damping: Number = ABSENT
    angular_damping: Number = ABSENT
    bullet: Flag = ABSENT
    unphysical_inertia: Flag = ABSENT
    enabled: Flag = ABSENT


class PairMaterialModel(Model):
    a: Text
    b: Text
    friction: Number | None = None
    restitution: Number | None = None
    rolling_friction: Number | None = None
    torsional_friction: Number | None = None
    of: Text = ABSENT


class SceneModel(Model):
    version: Any
    name: Text = ABSENT
    gravity: Numbers = ABSENT
    bodies: Listed[BodyModel] = ABSENT
    joints: Listed[AnyJoint] = ABSENT
    ignored_pairs: Listed[Listed[Text]] = ABSENT
    pair_materials: Listed[PairMaterialModel] = ABSENT
