"""Mechanisms with loops that nothing holds: their momenta are those that forces and contacts give, to rounding."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

PARTS = ("ball", "hinge", "universal", "slider", "cylindrical", "fixed", "lock")
KEYWORDS = [{}, {"stabilization": "baumgarte"}, {"stabilization": "projection"}, {"stabilization": "none"}, {"substeps": 1}]


def ring(rng, count=4, gravity=(0, 0, 0), velocity=(0, 0, 0), collide=False, kinds=("ball",)):
    """Bodies in a circle, each joined to the next one."""
    scene = mc.Scene(gravity=gravity)
    around = 2 * np.pi * np.arange(count) / count
    for i, angle in enumerate(around):
        scene.add_body(
            f"b{i}",
            shape=mc.Box((0.1, 0.08, 0.05)),
            mass=1 + 0.3 * i,
            position=(0.5 * np.cos(angle) + 2, 0.5 * np.sin(angle) - 1, 0.3),
            velocity=velocity,
            collision_mask=-1 if collide else 0,
        )
    for i in range(count):
        a, b = f"b{i}", f"b{(i + 1) % count}"
        angle = around[i] + np.pi / count
        anchor, axis = (0.5 * np.cos(angle) + 2, 0.5 * np.sin(angle) - 1, 0.3), (0.0, 0.0, 1.0)
        kind = kinds[i] if i < len(kinds) else "ball"
        scene.add_joint(
            {
                "ball": lambda: mc.BallJoint(a, b, anchor),
                "hinge": lambda: mc.HingeJoint(a, b, anchor, axis),
                "universal": lambda: mc.UniversalJoint(a, b, anchor, axis, (1.0, 0.0, 0.0)),
                "slider": lambda: mc.SliderJoint(a, b, axis),
                "cylindrical": lambda: mc.CylindricalJoint(a, b, anchor, axis),
                "fixed": lambda: mc.FixedJoint(a, b),
                "lock": lambda: mc.LockJoint(a, b, translation="xy", rotation="z"),
            }[kind]()
        )
    return scene


def momenta(world):
    """Momentum, angular momentum about the centre of mass, that centre, the mass."""
    m, p = world.masses[:, None], world.masses[:, None] * world.velocities
    centre = (m * world.positions).sum(axis=0) / m.sum()
    spin = np.cross(world.positions - centre, p).sum(axis=0)
    for body in world.bodies:
        turn = mc.rotation.matrix(body.orientation)
        spin = spin + turn @ body.inertia @ turn.T @ body.angular_velocity
    return p.sum(axis=0), spin, centre, m.sum()


def thrown(scene, **keywords):
    world = mc.ReducedWorld(scene, dt=1 / 120, **keywords)
    world.apply_impulse("b0", (0.5, 1.0, 3.0))
    world.apply_torque("b1", (1.0, 2.0, 1.0))
    world.step()
    return world


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
@pytest.mark.parametrize("g", [0.0, -9.81])
def test_a_ring_in_free_fall(g, keywords):
    """Without what holds momenta it lost a tenth of them in eight seconds, or a quarter."""
    world = thrown(ring(None, gravity=(0, 0, g)), **keywords)
    p, spin, centre, mass = momenta(world)
    world.step(360)
    fall = np.array([0.0, 0.0, g])
    found = momenta(world)
    assert np.abs(found[0] - p - 3.0 * mass * fall).max() < 1e-11
    assert np.abs(found[1] - spin).max() < 1e-12 * np.abs(spin).max() + 1e-12
    to = 1e-4 if keywords.get("stabilization") == "projection" else 1e-11  # which moves poses by a linear step
    assert np.abs(found[2] - centre - 3.0 * p / mass - 4.5 * fall).max() < to


@pytest.mark.parametrize("seed", range(amount(4, 40)))
def test_rings_of_any_joints(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 7))
    scene = ring(rng, count, kinds=list(rng.choice(PARTS, count)))
    world = thrown(scene, **KEYWORDS[seed % 2])
    p, spin, _, _ = momenta(world)
    world.step(120)
    found = momenta(world)
    assert np.abs(found[0] - p).max() < 1e-11 and np.abs(found[1] - spin).max() < 1e-11


def test_a_ring_as_it_is_seen_from_a_train():
    """And in free fall: what it does within itself is the same."""
    found = []
    for velocity, g in (((0, 0, 0), 0.0), ((20.0, -7.0, 3.0), 0.0), ((0, 0, 0), -9.81)):
        world = thrown(ring(None, velocity=velocity, gravity=(0, 0, g)))
        world.step(60)
        found.append(world.positions - momenta(world)[2])
    assert np.abs(found[1] - found[0]).max() < 1e-8 and np.abs(found[2] - found[0]).max() < 1e-8


def test_a_ring_that_is_struck_and_pushed():
    """By a ball that bounces off it, and by a force on one of its bodies, at its centre of mass and beside it."""
    scene = ring(None, collide=True)
    scene.add_body("ball", shape=mc.Sphere(0.1), mass=3.0, position=(2.5, -1.0, 1.5), velocity=(0, 0, -6.0))
    world = mc.ReducedWorld(scene, dt=1 / 120)
    p, spin, _, _ = momenta(world)
    world.step(60)
    assert world.body("ball").velocity[2] > -5.0
    found = momenta(world)
    assert np.abs(found[0] - p).max() < 1e-11 and np.abs(found[1] - spin).max() < 1e-9
    for _ in range(60):
        world.apply_force("b2", (1.0, -2.0, 0.5), world.body("b2").position + (0.05, 0.02, 0.0))
        world.step()
    assert momenta(world)[0] - found[0] == pytest.approx(np.array((1.0, -2.0, 0.5)) * 0.5, abs=1e-11)


def test_held_and_driven_rings_are_as_they_were():
    """What stands on the ground, or turns by a motor, is no such group: it moves as in a World."""
    scene = ring(None, gravity=(0, 0, -9.81))
    scene.add_joint(mc.BallJoint(None, "b0", (2.5, -1.0, 0.3)))
    worlds = [kind(scene, dt=1 / 960) for kind in (mc.World, mc.ReducedWorld)]
    for world in worlds:
        world.step(240)
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 2e-3


def test_a_ring_goes_as_in_a_world():
    """As the step becomes small."""
    off = []
    for dt in (1 / 240, 1 / 480):
        worlds = [kind(ring(None), dt=dt) for kind in (mc.World, mc.ReducedWorld)]
        for world in worlds:
            world.set_velocity("b0", (0.5, 1.0, 3.0))
            world.step(1)
            world.step(round(0.5 / dt) - 1)
        off.append(np.abs(worlds[0].positions - worlds[1].positions).max())
    assert off[1] < 0.5 * off[0] < 0.02
