"""What a scene file may hold, as pydantic models: fields, types, nothing unknown, every number finite.

The models know no physics: that a mass is positive is checked where a body is made. Each model has the arguments of its
class under the same names, and requires those that have no default; a test compares the two.
"""

from functools import reduce
from inspect import signature
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from mcsim.scene.checks import show, suggestion
from mcsim.scene.joints import JOINTS, Joint
from mcsim.scene.shapes import SHAPES, Shape

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Integer = Annotated[int, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Numbers = list[Number]
Limits = list[Number | None]
Frame = tuple[Numbers, Numbers]


def _one_or_many(one: Any, many: Any) -> Any:
    """One thing, or a list, told apart by being a list, so that errors speak only of what was meant."""
    return Annotated[Annotated[one, Tag("one")] | Annotated[many, Tag("many")],
                     Discriminator(lambda value: "many" if isinstance(value, (list, tuple)) else "one")]


class Model(BaseModel):
    """An object of the file: no field but those named here."""

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                hint = suggestion(key, cls.model_fields) if isinstance(key, str) else ""
                raise PydanticCustomError("unknown_field", "unknown field {key}{hint}; the fields are: {fields}", {
                    "key": show(key), "hint": hint, "fields": ", ".join(cls.model_fields)})
        return data


class MaterialModel(Model):
    friction: Number = None
    restitution: Number = None
    rolling_friction: Number = None
    torsional_friction: Number = None
    surface_velocity: Numbers = None
    stiffness: Number | None = None
    damping: Number = None
    tangential_stiffness: Number | None = None
    tangential_damping: Number | None = None


# ---- drives ----------------------------------------------------------------------------------------------------------

class MotorModel(Model):
    velocity: _one_or_many(Number | None, Numbers) = None
    position: _one_or_many(Number | None, Numbers) = None
    max_force: Number | None = None
    hertz: Number = None
    damping_ratio: Number = None


class SpringModel(Model):
    stiffness: Number
    damping: Number = None
    rest: _one_or_many(Number, Numbers) = None


class MotionModel(Model):
    position: Number = None
    velocity: Number | None = None
    acceleration: Number | None = None
    amplitude: Number = None
    frequency: Number = None
    phase: Number = None


# ---- from the arguments of a class -----------------------------------------------------------------------------------

# What a name in the annotation of an argument stands for in a file.
ANNOTATIONS = {
    "BodyName": Text | None, "JointName": Text, "str": Text, "float": Number, "int": Integer, "bool": Flag,
    "Vector": Numbers, "Points": list[Numbers], "Corners": list[list[Integer]],
    "FrameArgument": Frame, "Limits": Limits, "Motor": MotorModel, "Spring": SpringModel, "Motion": MotionModel,
    "Material": MaterialModel, "Sequence": list,
}
WHOLE = {"float | Sequence[float]": _one_or_many(Number, Numbers), "float | Vector": _one_or_many(Number, Numbers)}
FIRST = ("position", "orientation", "material", "density", "sensor",
         "a", "b", "name", "frame_a", "frame_b", "break_force", "break_torque", "collide")


def model_of(part: type[Shape] | type[Joint]) -> type[Model]:
    """The model of a type of shape or joint: the arguments of its class, by their annotations."""
    arguments = {}
    for argument in signature(part).parameters.values():
        text = argument.annotation
        kind = WHOLE[text] if text in WHOLE else eval(text, ANNOTATIONS.copy())
        arguments[argument.name] = kind, ... if argument.default is argument.empty else None
    first = {name: arguments[name] for name in FIRST if name in arguments}
    return create_model(f"{part.__name__}Model", __base__=Model, type=(Literal[part.type], ...), **first | arguments)


SHAPE_MODELS = tuple(model_of(shape) for shape in SHAPES.values())
JOINT_MODELS = tuple(model_of(joint) for joint in JOINTS.values())


# ---- bodies ----------------------------------------------------------------------------------------------------------

class BodyModel(Model):
    name: Text | None = None
    kind: Text = None
    shapes: list[Annotated[reduce(or_, SHAPE_MODELS), Field(discriminator="type")]] = None
    position: Numbers = None
    orientation: Numbers = None
    velocity: Numbers = None
    angular_velocity: Numbers = None
    density: Number | None = None
    mass: Number | None = None
    inertia: list[_one_or_many(Number, Numbers)] | None = None
    center_of_mass: Numbers | None = None
    material: MaterialModel | None = None
    collision_group: Integer = None
    collision_mask: Integer = None
    gravity_scale: Number = None
    linear_damping: Number = None
    angular_damping: Number = None
    bullet: Flag = None
    unphysical_inertia: Flag = None


class SceneModel(Model):
    version: Any
    name: Text = None
    gravity: Numbers = None
    bodies: list[BodyModel] = None
    joints: list[Annotated[reduce(or_, JOINT_MODELS), Field(discriminator="type")]] = None
    ignored_pairs: list[list[Text]] = None
