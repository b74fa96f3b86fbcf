"""Scenes: what exists, as plain data. Bodies, shapes, materials, joints; validation, mass properties, JSON files."""

from os import PathLike

from mcsim.scene.bodies import Body
from mcsim.scene.drives import AxisSpec, Motion, Motor, Spring
from mcsim.scene.joints import *
from mcsim.scene.joints import _NAMES as _JOINTS, Joint, Pose
from mcsim.scene.mass import MassProperties
from mcsim.scene.materials import Material
from mcsim.scene.scene import Scene
from mcsim.scene.shapes import *
from mcsim.scene.shapes import _NAMES as _SHAPES, Shape


def load_scene(path: str | PathLike[str]) -> Scene:
    """The scene of a JSON file. FileNotFoundError if there is none, SceneError with the place if it is wrong."""
    from mcsim.scene.files import fill_from_file  # here, because pydantic takes long to import

    scene = Scene()
    fill_from_file(scene, path)
    return scene


__all__ = [
    "AxisSpec",
    "Body",
    "Joint",
    "MassProperties",
    "Material",
    "Motion",
    "Motor",
    "Pose",
    "Scene",
    "Shape",
    "Spring",
    "load_scene",
    *_JOINTS,
    *_SHAPES,
]
