"""Scenes: what exists, as plain data. Bodies, shapes, materials, joints; validation, mass properties, JSON files."""

from os import PathLike

from mcsim.scene.bodies import Body
from mcsim.scene.drives import AxisSpec, Motion, Motor, Spring
from mcsim.scene.gear import GearJoint
from mcsim.scene.joint_kinds import (
    CylindricalJoint, DistanceJoint, FreeJoint, PlanarJoint, RackPinionJoint, ScrewJoint)
from mcsim.scene.joints import (
    BallJoint, FixedJoint, HingeJoint, Joint, KnifeEdgeJoint, RollingJoint, SliderJoint, UniversalJoint)
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.scene import Scene
from mcsim.scene.shapes import Box, Capsule, ConvexHull, Cylinder, Plane, Shape, Sphere
from mcsim.scene.surfaces import HeightField, Mesh
from mcsim.scene.user import Pose, UserJoint


def load_scene(path: str | PathLike[str]) -> Scene:
    """The scene of a JSON file. FileNotFoundError if there is none, SceneError with the place if it is wrong."""
    from mcsim.scene.files import load_scene as load        # here, because pydantic takes long to import

    return load(path)


__all__ = [
    "AxisSpec", "BallJoint", "Body", "Box", "Capsule", "ConvexHull", "Cylinder", "CylindricalJoint", "DistanceJoint",
    "FixedJoint", "FreeJoint", "GearJoint", "HeightField", "HingeJoint", "Joint", "KnifeEdgeJoint", "MassProperties",
    "Material", "Mesh",
    "Motion", "Motor",
    "Plane", "PlanarJoint", "Pose", "RackPinionJoint", "RollingJoint", "Scene", "ScrewJoint", "Shape", "SliderJoint",
    "Sphere", "Spring", "UniversalJoint", "UserJoint", "load_scene",
]
