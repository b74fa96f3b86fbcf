"""Looking changes nothing: a world that is looked at between steps goes on to the bits of one that is not."""

import copy

import pytest

import mcsim as mc

SCENES = {"chain": {"n": 6}, "double_pendulum": {}, "spinning_top": {}, "four_bar": {}, "newton_cradle": {}, "free_ragdoll": {},
          "tumbler": {"count": 6}, "bridge": {"planks": 5}, "stack": {"count": 3}}
LOOKS = ("rows", "problem", "contacts", "joint_errors", "energy", "momentum", "jacobian", "delassus", "kkt", "redundancy",
         "state_hash", "snapshot", "maximal")


def look(world):
    for name in LOOKS:
        seen = getattr(world, name, None)
        try:
            if callable(seen):
                seen()
        except ValueError:                               # what this kind of world, or this scene, has not
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
