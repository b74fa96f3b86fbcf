"""Ready scenes, each kind of change, each way to copy: what was changed goes on to the same bits, in both worlds.
--slow has every change of every scene; else each scene has a third of them, every change among them several times."""

import copy
import pickle

import pytest

import mcsim as mc

SCENES = {
    "bridge": {"planks": 6},
    "four_bar": {},
    "slider_crank": {},
    "cardan_shaft": {},
    "chain": {"n": 8},
    "ragdolls": {"count": 1},
    "double_pendulum": {},
    "spinning_top": {},
    "newton_cradle": {},
    "free_ragdoll": {},
    "stack": {"count": 4},
    "dominoes": {"count": 6},
    "tumbler": {"count": 6},
    "wrecking_ball": {"links": 4, "width": 3, "height": 3},
}


def view(world, body):
    if isinstance(world, mc.ReducedWorld):
        world.qd[...] *= 0.9
    else:
        world.angular_velocities[world.body_names.index(body)] *= 0.9


def set_pose(world, body):
    """The last body that can be moved, a little."""
    for name in reversed(world.body_names):
        try:
            return world.set_pose(name, world.positions[world.body_names.index(name)] + (0, 0, 1e-3))
        except mc.SceneError as error:
            assert "hangs on joint" in str(error) or "static" in str(error)


def drive(world, body):
    """The first joint that takes a motor."""
    for name in world.joint_names:
        try:
            return world.joint(name).set_motor(velocity=0.3, max_force=5.0)
        except mc.SceneError as error:
            assert "motor" in str(error)


CHANGES = {
    "none": lambda world, body: None,
    "set_pose": set_pose,
    "view": view,
    "drive": drive,
    "set_velocity": lambda world, body: world.set_velocity(body, (0.1, -0.2, 0.3), (0.3, 0.2, -0.1)),
    "impulse": lambda world, body: world.apply_impulse(body, (0.1, 0, 0.1)),
    "set_body": lambda world, body: world.set_body(body, gravity_scale=0.5),
    "add_body": lambda world, body: world.add_body("new", shape=mc.Sphere(0.1), position=(0, 0, 9.0)),
    "remove_joint": lambda world, body: len(world.joint_names) and world.remove_joint(world.joint_names[-1]),
}


def go_on_alike(kind, name, change):
    world = kind(mc.load(name, **SCENES[name]), dt=1 / 120)
    world.step(5)
    body = [body.name for body in world.scene.bodies if body.kind == "dynamic"][-1]
    CHANGES[change](world, body)
    snapshot = world.snapshot()
    others = copy.deepcopy(world), pickle.loads(pickle.dumps(world))
    world.step(6)
    reached = [world.state_hash()]
    for other in others:
        other.step(6)
        reached.append(other.state_hash())
    for kept in (snapshot, pickle.loads(pickle.dumps(snapshot))):
        world.restore(kept)
        world.step(6)
        reached.append(world.state_hash())
    return len(set(reached)) == 1


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.sampled(5)
def test_what_was_changed_goes_on_alike_in_every_copy(kind, name):
    first = list(SCENES).index(name)
    assert [change for change in list(CHANGES)[first % 3 :: 3] if not go_on_alike(kind, name, change)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_every_change_of_every_scene(kind, name):
    assert [change for change in CHANGES if not go_on_alike(kind, name, change)] == []
