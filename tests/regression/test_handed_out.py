"""What a world hands out is the caller's: whatever is done to it, the world goes on as if nothing had happened."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

VIEWS = ["positions", "orientations", "velocities", "angular_velocities", "forces", "masses", "asleep"]


def make(kind=mc.World):
    scene = mc.Scene(name="pair")
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(2):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(i, 0, 1.0 + i))
    scene.add_joint(mc.HingeJoint(None, "b0", (0, 0, 2), (0, 1, 0), name="pin"))
    scene.ignore_collision("b0", "b1")
    return kind(scene)


@pytest.mark.parametrize("name", [*VIEWS, "q", "qd", "tau"])
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_an_array_that_is_given_another_form_is_the_callers_alone(kind, name):
    """To give a view another shape or type gave it to the world's own array."""
    world, other = make(kind), make(kind)
    if not hasattr(world, name):
        return
    for change in (
        lambda array: setattr(array, "shape", (-1, 1)),
        lambda array: setattr(array, "shape", array.shape[::-1]),
        lambda array: setattr(array, "dtype", "u1"),
        lambda array: setattr(array.flags, "writeable", False),
    ):
        try:
            change(getattr(world, name))
        except (AttributeError, ValueError):  # NumPy's own rules
            pass
    assert getattr(world, name).shape == getattr(other, name).shape
    assert getattr(world, name).dtype == getattr(other, name).dtype
    for each in (world, other):
        each.apply_force("b1", (1, 0, 0))
        each.body("b1").velocity, each.energy(), each.frames()
        each.step(20)
        each.add_body(shape=mc.Sphere(0.1), position=(3, 3, 3))
        each.step(3)
    assert world.state_hash() == other.state_hash()


CHANGES = {
    "clear": lambda scene: scene.joints.clear(),
    "append": lambda scene: scene.bodies.append(scene.bodies[0]),
    "delete": lambda scene: scene.bodies.__delitem__(0),
    "reverse": lambda scene: scene.bodies.reverse(),
    "add": lambda scene: scene.add_body("c", shape=mc.Sphere(1)),
    "name": lambda scene: setattr(scene, "name", "x"),
    "joint": lambda scene: scene.add_joint(mc.FreeJoint(None, "b1")),
    "pairs": lambda scene: scene.ignored_pairs.clear(),
    "ignore": lambda scene: scene.ignore_collision("floor", "b0"),
    "lists": lambda scene: setattr(scene, "bodies", []),
    "gravity": lambda scene: setattr(scene, "gravity", (0, 0, 1)),
    "number": lambda scene: scene.gravity.__setitem__(2, 1),
    "attribute": lambda scene: delattr(scene, "joints"),
    "body": lambda scene: setattr(scene.bodies[1], "mass", 3),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_the_scene_of_a_world_cannot_be_changed(kind, change):
    """It could, and what the world did later failed with an IndexError or worked on other bodies than there were."""
    world, other = make(kind), make(kind)
    with pytest.raises((AttributeError, ValueError)):  # AttributeError: of a body, fixed as ever
        change(world.scene)
    for each in (world, other):
        each.step(2)
        each.add_body("c", shape=mc.Sphere(0.1), position=(3, 3, 3))
        each.remove_body("b1")
        each.joint("pin").set_limits(-1, 1)
        each.step(2)
        each.stats.notes, each.rows, copy.deepcopy(each).step()
    assert world.state_hash() == other.state_hash() and world.scene == other.scene


def test_what_changes_the_scene_of_a_world_is_told_how():
    with pytest.raises(mc.SceneError, match=r"scene 'pair' is that of a running world.*add_body.*scene\.copy\(\)"):
        make().scene.add_body("c")


def test_copies_of_the_scene_of_a_world_are_scenes_like_others():
    world = make()
    for scene in (
        world.scene.copy(),
        copy.copy(world.scene),
        copy.deepcopy(world.scene),
        pickle.loads(pickle.dumps(world.scene)),
        mc.Scene.from_dict(world.scene.to_dict()),
    ):
        assert type(scene) is mc.Scene and scene == world.scene and type(scene.bodies) is type(scene.ignored_pairs) is list
        scene.add_body("c", shape=mc.Sphere(1), position=(0, 0, 9))
        scene.gravity = (0, 0, -1)
        scene.ignore_collision("c", "b0")
        mc.World(scene).step()
        assert len(world.scene.bodies) == 3 and world.scene.ignored_pairs == [("b0", "b1")]


def test_the_scene_of_a_world_is_read_quickly_and_follows():
    world = make()
    scene = world.scene
    assert world.scene is scene
    world.add_body("c", shape=mc.Sphere(1))
    assert [body.name for body in world.scene.bodies] == ["floor", "b0", "b1", "c"] and len(scene.bodies) == 3
    world.remove_body("floor")
    assert [body.index for body in world.scene.bodies] == [0, 1, 2]


def test_arrays_of_observers_are_copies():
    """Writing into what was answered is not felt."""
    world, other = make(), make()
    world.step(3), other.step(3)
    for found in (
        world.contacts,
        world.rows,
        world.masses,
        world.joint_errors(),
        *world.frames(),
        *world.momentum(),
        world.jacobian().data,
        world.delassus().data,
        world.events.begin,
        world.kkt().rhs,
        world.problem().b,
    ):
        if found.dtype.names:
            for name in found.dtype.names:
                found[name] = 1 if found[name].dtype.kind != "U" else "x"
        elif found.flags.writeable:
            found[...] = 7
    world.step(20), other.step(20)
    assert np.array_equal(world.masses, other.masses) and world.state_hash() == other.state_hash()
