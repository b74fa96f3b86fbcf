"""Worlds that are saved and loaded: the same state to the bit, the same keywords, and the same way on."""

import numpy as np
import pytest

import mcsim as mc

WORLDS = {
    "defaults": lambda: mc.World(mc.load("ragdolls", count=2)),
    "keywords": lambda: mc.World(mc.load("pyramid", base=3), dt=1 / 100, iterations=7, sleep=False, push_speed=2.0),
    "objects": lambda: mc.World(mc.load("chain", n=4), joints=mc.SweptJoints(hertz=20), sleep=mc.Sleep(time=1.0)),
    "rk4": lambda: mc.World(mc.load("four_bar"), integrator=mc.RK4(projection=False)),
    "compliant": lambda: mc.World(soft(), contact="compliant"),
    "event": lambda: mc.World(mc.scenes.pendulum(), contact="event"),
    "trees": lambda: mc.ReducedWorld(mc.load("ragdolls", count=2), dt=1 / 60),
    "trees, choices": lambda: mc.ReducedWorld(mc.load("ragdolls", count=1), ball="ypr"),
}


def soft():
    scene = mc.Scene()
    material = mc.Material(stiffness=1e5, damping=100.0)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 0.15), density=1000.0, material=material)
    return scene


@pytest.mark.parametrize("name", WORLDS)
def test_a_loaded_world_goes_on_to_the_same_bits(tmp_path, name):
    world = WORLDS[name]()
    world.step(10)
    world.save_state(tmp_path / "world.npz")
    again = mc.load_state(tmp_path / "world.npz")
    assert type(again) is type(world) and again.state_hash() == world.state_hash() and again.time == world.time
    assert again.settings == world.settings and again.scene == world.scene
    world.step(10)
    again.step(10)
    assert again.state_hash() == world.state_hash()


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_what_was_added_changed_and_removed_is_kept(tmp_path, kind):
    world = kind(mc.load("pyramid", base=3))
    world.step(5)
    world.remove_body(world.body_names[-1])
    world.add_body("late", shape=mc.Capsule(0.1, 0.2), position=(0, 0, 5), density=100.0, velocity=(1, 0, 0))
    world.set_body(world.body_names[1], mass=3.0)
    world.ignore_collision("late", world.body_names[1])
    world.gravity = (0, 0, -3)
    world.apply_force("late", (1, 2, 3))
    world.save_state(tmp_path / "world.npz")
    again = mc.load_state(tmp_path / "world.npz")
    assert again.state_hash() == world.state_hash() and again.body_names == world.body_names
    assert np.array_equal(again.gravity, world.gravity)
    for one in (world, again):
        one.step(20)
        one.check()
    assert again.state_hash() == world.state_hash()


def test_scenes_with_functions_are_given_when_they_are_loaded(tmp_path):
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.1), density=1000.0)
    scene.add_joint(mc.HingeJoint(None, "ball", (0, 0, 0.3), (0, 1, 0), motion=mc.Motion(lambda t: t * t)))
    world = mc.World(scene)
    world.step(10)
    path = tmp_path / "world.npz"
    world.save_state(path)
    with pytest.raises(mc.SceneError, match=r"world\.npz: not a state of a world: it has no scene.*scene=scene"):
        mc.load_state(path)
    again = mc.load_state(path, scene=scene)
    assert again.state_hash() == world.state_hash()
    with pytest.raises(mc.SceneError, match="of another scene"):
        mc.load_state(path, scene=mc.load("pyramid", base=2))
    with pytest.raises(mc.SceneError, match="scene must be a Scene"):
        mc.load_state(path, scene=3)
    late = mc.World(mc.load("pendulum"))
    late.add_body("ball", shape=mc.Sphere(0.1), density=1000.0)
    late.add_joint(mc.HingeJoint(None, "ball", (0, 0, 0.3), (0, 1, 0), motion=mc.Motion(lambda t: t)))
    with pytest.raises(mc.SceneError, match="pickle the world"):
        late.save_state(tmp_path / "late.npz")
    assert not (tmp_path / "late.npz").exists()


def test_paths_that_are_none(tmp_path):
    world = mc.World(mc.load("pendulum"))
    for path in (3, "", "a.json", tmp_path):
        with pytest.raises(mc.SceneError):
            world.save_state(path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        world.save_state(tmp_path / "gone" / "a.npz")
    with pytest.raises(FileNotFoundError, match="no such state of a world"):
        mc.load_state(tmp_path / "gone.npz")


@pytest.mark.parametrize("name", ["ragdolls", "four_bar", "governor"])
def test_worlds_of_scenes_that_a_world_has_told(name, tmp_path):
    """A scene file loses last bits of what a running world has placed; the state's file does not."""
    world = mc.World(mc.load(name))
    world.step(40)
    world = mc.World(world.to_scene())
    world.step(5)
    path = tmp_path / "world.npz"
    world.save_state(path)
    again = mc.load_state(path)
    assert again.state_hash() == world.state_hash()
    for each in (world, again):
        each.step(20)
    assert again.state_hash() == world.state_hash()
