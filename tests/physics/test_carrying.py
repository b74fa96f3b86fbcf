"""Kinematic bodies that carry what stands on them, and World.move_to."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix

G = 9.81
MU = 0.6
WORLDS = [dict(), dict(solver="pgs"), dict(stabilization="baumgarte"), dict(substeps=1)]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(map(str, k.values())) or "default")


def platform(at=(0, 0), shape=None, **keywords):
    scene = mc.Scene()
    material = mc.Material(MU)
    scene.add_body(
        "platform", kind="kinematic", shape=shape or mc.Box((3, 3, 0.1)), position=(0, 0, -0.1), material=material
    )
    scene.add_body("box", shape=mc.Box((0.1, 0.1, 0.1)), position=(*at, 0.1), material=material)
    return mc.World(scene, **keywords)


def carried(world, pose, steps):
    """Move the platform along pose(t). -> the largest slip [m], rise or sinking [m] and difference of velocities [m/s]
    of the box against it."""
    slip = rise = rush = 0.0
    for k in range(1, steps + 1):
        position, orientation = pose(k * world.dt)
        world.move_to("platform", position, orientation)
        world.step()
        assert np.abs(world.positions[0] - position).max() < 1e-13
        if orientation is not None:
            assert abs(abs(world.orientations[0] @ orientation) - 1) < 1e-13
        arm = world.positions[1] - world.positions[0]
        local = matrix(world.orientations[0]).T @ arm
        if k == 1:
            start = local
        slip = max(slip, np.abs(local[:2] - start[:2]).max())
        rise = max(rise, abs(local[2] - 0.2))
        moved = world.velocities[0] + np.cross(world.angular_velocities[0], arm)
        rush = max(rush, np.abs(world.velocities[1] - moved).max())
    return slip, rise, rush


@every_world
def test_a_shaken_platform_keeps_its_box(keywords):
    """Sideways with 0.2 mu g at most: the platform's velocity changes once a step, so in one substep of its four."""
    size, rate = 0.4, np.sqrt(0.2 * MU * G / 0.4)
    pose = lambda t: ((size * (1 - np.cos(rate * t)), 0, -0.1), None)
    world = platform(**keywords)
    slip, rise, rush = carried(world, pose, 300)
    # Friction follows a change of velocity one drift late: a lag of the speed by half a substep, which comes back.
    assert slip < 0.55 * size * rate * world.substep + 1e-4 and rise < 2e-4 and rush < 1e-2


@every_world
def test_a_lift_keeps_its_box(keywords):
    """Up and down with 0.2 g: no bounce, no sinking in."""
    slip, rise, rush = carried(platform(**keywords), lambda t: ((0, 0, -0.1 + 0.5 * (1 - np.cos(2 * t))), None), 300)
    assert slip < 1e-3 and rise < 2e-4 and rush < 1e-3


@pytest.mark.parametrize("keywords", [dict(), dict(solver="pgs"), dict(substeps=8)])
def test_a_turntable_keeps_its_box_up_to_mu_g(keywords):
    """omega^2 r = 0.97 mu g: it goes round for five seconds; 1.05 mu g: it slides off."""
    for part, stays in ((0.97, True), (1.05, False)):
        omega = np.sqrt(part * MU * G)
        scene = mc.Scene()
        scene.add_body(
            "table",
            kind="kinematic",
            shape=mc.Cylinder(3, 0.1),
            position=(0, 0, -0.1),
            angular_velocity=(0, 0, omega),
            material=mc.Material(MU),
        )
        scene.add_body(
            "box",
            shape=mc.Box((0.1, 0.1, 0.1)),
            position=(1, 0, 0.1),
            velocity=(0, omega, 0),
            angular_velocity=(0, 0, omega),
            material=mc.Material(MU),
        )
        world = mc.World(scene, **keywords)
        world.step(300)
        radius = np.linalg.norm(world.positions[1, :2])
        if stays:
            assert radius == pytest.approx(1.0, abs=2e-3)
            assert np.abs(world.velocities[1] - np.cross((0, 0, omega), world.positions[1])).max() < 1e-3
        else:
            assert radius > 1.5


def test_a_teleported_platform_carries_nothing():
    world = platform()
    world.step(30)
    for k in range(30):
        world.set_pose("platform", position=(0.01 * (k + 1), 0, -0.1))
        world.step()
    assert abs(world.positions[1, 0]) < 1e-6


def test_move_to_turns_the_short_way_and_keeps_its_velocity():
    world = platform()
    q = -np.array([np.cos(0.1), 0, 0, np.sin(0.1)])
    world.move_to("platform", orientation=q)
    assert world.angular_velocities[0] == pytest.approx((0, 0, 0.2 * 60))
    world.step(2)
    assert abs(world.orientations[0] @ (np.cos(0.2), 0, 0, np.sin(0.2))) == pytest.approx(1.0)


def test_move_to_is_for_kinematic_bodies():
    with pytest.raises(mc.SceneError, match="'box' is dynamic; only kinematic bodies"):
        platform().move_to("box", (0, 0, 1))
    with pytest.raises(mc.SceneError, match="position must be 3 numbers"):
        platform().move_to("platform", (0, 0))


@pytest.mark.parametrize("substeps", [1, 4, 16])
@pytest.mark.parametrize("beside", ["joint", "kinematic"])
def test_a_bounce_beside_joints_and_kinematic_bodies_keeps_its_height(beside, substeps):
    """Forces act in two halves there: restitution 1 had won 2 % of the height a bounce."""
    scene = mc.Scene()
    material = mc.Material(0.5, 1.0)
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 1.1), material=material)
    if beside == "joint":
        scene.add_body("bob", shape=mc.Sphere(0.1), position=(0, 0, 50))
        scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 50.3)))
    else:
        scene.add_body("far", kind="kinematic", shape=mc.Sphere(0.1), position=(0, 0, 50))
    world = mc.World(scene, substeps=substeps)
    for _ in range(600):
        world.step()
        assert world.energy().kinetic + world.masses[1] * G * world.positions[1, 2] == pytest.approx(
            world.masses[1] * G * 1.1, rel=1e-3
        )
