"""Room for rows and contacts that grows while a world runs: in whatever order they come, there is enough in the end."""

import pytest

import mcsim as mc

FRICTION = mc.Material(friction=0.5, rolling_friction=0.01, torsional_friction=0.01)
KINDS = {
    "rows, pgs": (mc.World, {"joint_solver": "rows", "solver": "pgs"}),
    "rows": (mc.World, {"joint_solver": "rows"}),
    "World": (mc.World, {}),
    "rk4": (mc.World, {"integrator": "rk4"}),
    "ReducedWorld": (mc.ReducedWorld, {}),
}


def bushing(name):
    """A joint with all that a joint can have, on each of six coordinates."""
    motor = mc.Motor(velocity=0.1, max_force=1.0)
    return mc.FreeJoint(
        None,
        name,
        swing_limit=0.05,
        limits=[(-0.1, 0.1)] * 3 + [None, None, (-0.05, 0.05)],
        motor=[motor] * 6,
        spring=[mc.Spring(10.0, 1.0)] * 6,
        friction=0.1,
        armature=0.01,
    )


def scene_of(joints, boxes):
    """boxes: that come down one after the other, the first one at once."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=FRICTION)
    for i in range(joints):
        scene.add_body(f"held{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i, 0, 5))
        scene.add_joint(bushing(f"held{i}"))
    for i in range(boxes):
        place = {"position": (i, 3, 0.22 + 0.03 * i), "material": FRICTION}
        scene.add_body(f"box{i}", shape=mc.Box((0.2, 0.2, 0.2)), density=1000, **place)
    return scene


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_contacts_that_come_to_joints_with_many_rows(kind):
    """Rows were counted as 24 a joint, of which one with six coordinates has 36: there seemed to be room where there was
    none, and a step went on asking for more without an end."""
    make, keywords = KINDS[kind]
    world = make(scene_of(20, 20), dt=1 / 60, **keywords)
    world.step(30)
    world.check()
    assert len(world.contacts) > 12


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joints", [1, 7, 33])
def test_joints_that_come_while_it_runs(kind, joints):
    make, keywords = KINDS[kind]
    world = make(scene_of(joints, 3), dt=1 / 60, **keywords)
    world.step(2)
    for i in range(3):
        world.add_body(f"more{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i, 9, 5))
        world.add_joint(bushing(f"more{i}"))
        world.step()
    world.step(8)
    world.check()
