"""What has bounds under the smooth integrators: impulses around the smooth substep (docs/theory/rk4.md)."""

import numpy as np
import pytest

import mcsim as mc
from mechanism_scenes import G


@pytest.mark.parametrize("integrator", ["rk4", "rattle", "variational"])
def test_limits_friction_motors_and_contacts_act(integrator):
    """A pendulum against its limit; one held by friction; a velocity motor; a box at rest on a floor."""

    def hinge(**keywords):
        scene = mc.Scene()
        scene.add_body("bob", mass=1.0, inertia=(0.01,) * 3, position=(1, 0, 0))
        scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, 1, 0), **keywords))
        world = mc.World(scene, dt=1 / 240, integrator=integrator)
        world.step(480)
        return world

    world = hinge(limits=(-1.0, 0.5))
    assert abs(world.joint(0).angle - 0.5) < 1e-3 and abs(world.joint(0).velocity) < 1e-6
    world = hinge(friction=20.0)
    assert abs(world.joint(0).angle) < 1e-4
    world = hinge(motor=mc.Motor(velocity=2.0, max_force=1e3))
    assert abs(world.joint(0).velocity - 2.0) < 1e-6
    assert abs(world.joint(0).angle - 4.0) < 1e-2

    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("box", shape=mc.Box((0.5, 0.5, 0.5)), mass=1.0, position=(0, 0, 0.5))
    world = mc.World(scene, dt=1 / 240, integrator=integrator, iterations=60)
    world.step(240)
    assert abs(world.positions[1, 2] - 0.5) < 1e-4 and np.abs(world.velocities[1]).max() < 1e-6
    assert np.isclose(world.contacts["normal_impulse"].sum(), G / 240, rtol=1e-3)


def add_chain(scene, links, x):
    """Hinged rods from the world, level, with friction and limits that they come to."""
    for k in range(links):
        scene.add_body(f"rod{x}_{k}", mass=1.0, inertia=(0.09, 0.09, 0.01), position=(x + k + 0.5, 0, 0))
        scene.add_joint(
            mc.HingeJoint(
                f"rod{x}_{k - 1}" if k else None, f"rod{x}_{k}", (x + k, 0, 0), (0, 1, 0), friction=2.0, limits=(-0.3, 0.3)
            )
        )


@pytest.mark.parametrize("integrator", ["rk4", "rattle", "variational"])
def test_articulations_do_not_meet(integrator):
    """Two chains, one with a loop, move side by side as each does alone: bounded rows see their own articulation."""
    both, alone = mc.Scene(), (mc.Scene(), mc.Scene())
    for scene, x, links in zip(alone, (0, 10), (3, 4)):
        add_chain(scene, links, x)
        add_chain(both, links, x)
    for scene in (both, alone[1]):
        scene.add_body("strut", mass=0.5, inertia=(0.01, 0.04, 0.04), position=(11.5, 0, -0.5))
        scene.add_joint(mc.BallJoint("rod10_0", "strut", (10.7, 0, -0.5)))
        scene.add_joint(mc.BallJoint("strut", "rod10_2", (12.3, 0, -0.5)))
    worlds = [mc.World(scene, dt=1 / 240, integrator=integrator) for scene in (both, *alone)]
    for world in worlds:
        world.step(60)
    assert np.abs(worlds[0].positions - np.vstack([w.positions for w in worlds[1:]])).max() < 1e-9
    assert np.abs(worlds[0].positions[:, 2]).max() > 0.1
