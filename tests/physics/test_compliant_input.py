"""Compliant contact refuses what it cannot do: rigid surfaces that may touch, wrong keywords, wrong materials."""

import numpy as np
import pytest

import mcsim as mc
from compliant_scenes import WORLDS, ball_world, ground, soft


def test_two_rigid_surfaces_are_refused_only_where_they_may_touch():
    scene = ground()
    scene.add_body("a", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, 1), collision_group=2, collision_mask=4)
    scene.add_body("b", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, 1), collision_group=2, collision_mask=4)
    scene.add_body("free", mass=1.0, inertia=(1, 1, 1))
    mc.World(scene, contact="compliant").step(2)
    scene.add_body("c", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, 1), collision_group=4, collision_mask=2)
    for kind in WORLDS:
        with pytest.raises(mc.SceneError, match="'a' and 'c' may touch.*Material"):
            kind(scene, contact="compliant")
    mc.World(scene)
    linked = ground(material=soft(1e4))
    linked.add_body("p", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, 1))
    linked.add_body("q", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, 1.1))
    linked.add_joint(mc.FixedJoint("p", "q"))
    mc.World(linked, contact="compliant").step(2)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"contact": "soft"}, "contact must be one of: rigid, compliant"),
        ({"compliant_law": "hertz"}, "compliant_law must be one of: linear, hunt_crossley"),
        (
            {"integrator": "rk4"},
            "integrator 'rk4' does not go with contact='compliant'.*'semi_implicit', or use ReducedWorld",
        ),
        (
            {"integrator": "rattle"},
            "integrator 'rattle' does not go with contact='compliant'.*pass integrator='semi_implicit'$",
        ),
        ({"stabilization": "baumgarte"}, "stabilization 'baumgarte' does not go with contact='compliant'"),
        ({"solver": "nncg"}, r"solver 'nncg' does not go with contact='compliant'.*mc.solve\(world.problem\(\)"),
    ],
)
def test_wrong_keywords(keywords, message):
    with pytest.raises(mc.SceneError, match=message):
        ball_world(soft(1e4), **keywords)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"stiffness": 0.0}, "stiffness must be positive"),
        ({"stiffness": -1.0}, "stiffness must be positive"),
        ({"stiffness": np.inf}, "stiffness"),
        ({"stiffness": 1.0, "damping": -1.0}, "damping must not be negative"),
        ({"stiffness": 1.0, "tangential_stiffness": 0.0}, "tangential_stiffness must be positive"),
        ({"stiffness": 1.0, "tangential_damping": np.nan}, "tangential_damping"),
        ({"damping": 5.0}, "damping goes with a stiffness"),
        ({"tangential_stiffness": 5.0}, "tangential_stiffness goes with a stiffness"),
    ],
)
def test_wrong_materials(arguments, message):
    with pytest.raises(mc.SceneError, match=message):
        mc.Material(**arguments)


def test_materials_go_into_files(tmp_path):
    scene = ground(material=soft(1e4, 5.0, 0.5, tangential_stiffness=7e3, tangential_damping=2.0))
    scene.add_body("a", shape=mc.Sphere(0.1, material=soft(3e4)), mass=1.0)
    scene.save(tmp_path / "scene.json")
    again = mc.load(tmp_path / "scene.json")
    assert again == scene and again.body("ground").material.tangential_stiffness == 7e3
    assert again.body("a").shapes[0].material.tangential_stiffness is None
