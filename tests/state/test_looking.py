"""Looking changes nothing: a world that is looked at between steps goes on to the bits of one that is not."""

import copy
import pickle

import pytest

import mcsim as mc

SCENES = {
    "chain": {"n": 6},
    "double_pendulum": {},
    "spinning_top": {},
    "four_bar": {},
    "newton_cradle": {},
    "free_ragdoll": {},
    "tumbler": {"count": 6},
    "bridge": {"planks": 5},
    "stack": {"count": 3},
}
LOOKS = (
    "rows",
    "problem",
    "contacts",
    "joint_errors",
    "energy",
    "momentum",
    "jacobian",
    "delassus",
    "kkt",
    "redundancy",
    "state_hash",
    "snapshot",
    "maximal",
)


def look(world):
    for name in LOOKS:
        seen = getattr(world, name, None)
        try:
            if callable(seen):
                seen()
        except ValueError:  # what this kind of world, or this scene, has not
            pass
    dict(world.stats.residuals)
    copy.deepcopy(world)
    for name in world.joint_names:
        world.joint(name).force


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_a_world_that_is_looked_at_goes_on_alike(kind, scene):
    """The reduced one's next step began with the velocities that a look had tried, and rounded kinematic bodies anew."""
    plain, seen = (kind(mc.load(scene, **SCENES[scene]), dt=1 / 120) for _ in range(2))
    for _ in range(4):
        for world in (plain, seen):
            world.step(4)
        look(seen)
        for world in (plain, seen):
            world.step()
        assert plain.state_hash() == seen.state_hash()


def test_a_turning_kinematic_body_keeps_what_the_user_gave():
    """Its pose and twist were rounded anew by each look, and each look's hash was another."""
    scene = mc.Scene()
    scene.add_body("platform", shape=mc.Box((1, 1, 0.1)), kind="kinematic", angular_velocity=(-3.674, -2.357, -1.781))
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 0.4))
    world = mc.ReducedWorld(scene)
    world.step()
    assert len({world.state_hash() for _ in range(5)}) == 1
    world.step(50)
    world.problem(), world.delassus()
    assert tuple(world.angular_velocities[0]) == (-3.674, -2.357, -1.781)


@pytest.mark.parametrize("act", ["pose", "velocity", "impulse", "position view", "velocity view", "floor"])
def test_a_sleeper_that_was_moved_is_awake_in_every_copy(act):
    """What was written since the last step wakes at the next one, which a copy did not know of."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Box((2, 2, 0.1)), position=(0, 0, -0.1), kind="static")
    scene.add_body("box", shape=mc.Box((0.1,) * 3), position=(0, 0, 0.1))
    world = mc.World(scene)
    world.step(90)
    assert world.asleep[1]
    if act == "pose":
        world.set_pose("box", (0, 0, 3))
    elif act == "velocity":
        world.set_velocity("box", (0, 0, 2))
    elif act == "impulse":
        world.apply_impulse("box", (0, 0, 20))
    elif act == "position view":
        world.positions[1] = (0, 0, 2)
    elif act == "velocity view":
        world.velocities[1] = (0, 0, 2)
    else:
        world.set_pose("floor", (0, 0, -1))
    twin, kept, told = copy.deepcopy(world), world.snapshot(), pickle.loads(pickle.dumps(world))
    assert world.state_hash() == twin.state_hash() == told.state_hash()
    world.step(8)
    assert not world.asleep[1] and world.velocities[1, 2] < -0.5 or world.velocities[1, 2] > 0.5
    found = [world.state_hash()]
    for other in (twin, told):
        other.step(8)
        found.append(other.state_hash())
    world.restore(kept)
    world.step(8)
    assert {world.state_hash(), *found} == {found[0]}


@pytest.mark.parametrize("scene", ["four_bar", "chain", "ragdolls", "double_pendulum"])
def test_a_snapshot_from_a_file_has_changed_bodies_of_joints(scene):
    """A changed body came back from a file as one of its own, and the joints on it were refused."""
    world = mc.World(mc.load(scene, **{"chain": {"n": 4}, "ragdolls": {"count": 1}}.get(scene, {})), dt=1 / 120)
    world.step(5)
    world.set_body(world.body_names[-1], gravity_scale=0.5)
    kept = pickle.loads(pickle.dumps(world.snapshot()))
    world.step(9)
    end = world.state_hash()
    world.restore(kept)
    world.step(9)
    assert world.state_hash() == end
    assert world.joint_errors().max() < 1e-6
