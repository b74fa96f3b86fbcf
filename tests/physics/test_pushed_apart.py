"""Bodies that overlap are pushed out of each other, and not thrown: contacts give no energy."""

import numpy as np
import pytest

import mcsim as mc

SETTINGS = {
    "default": {},
    "rows": {"joint_solver": "rows"},
    "pyramid": {"contact": mc.RigidContact(friction="pyramid")},
    "points": {"contact": mc.RigidContact(friction_points="point")},
    "pgs": {"solver": "pgs"},
    "nncg": {"solver": "nncg", "iterations": 50},
}
SHAPES = {
    "box": mc.Box((0.5, 0.5, 0.5)),
    "ball": mc.Sphere(0.5),
    "hull": mc.ConvexHull([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]),
}


def row(shape, count, gap, axis=0, gravity=0.0, velocity=(0, 0, 0), floor=None):
    """`count` shapes a metre thick, that far apart from centre to centre."""
    scene = mc.Scene(gravity=(0, 0, -gravity))
    if floor:
        scene.add_body("floor", shape=mc.Box((500, 500, 0.5)), position=(0, 0, -0.5), **floor)
    for k in range(count):
        place = np.array((0, 0, 0.5 if floor else 0.0))
        place[axis] += gap * k
        scene.add_body(f"b{k}", shape=shape, density=1.0, position=place, velocity=velocity)
    return scene


def highest(world, steps, velocity=(0, 0, 0)):
    """The largest kinetic energy by mass in as many steps, in the frame that goes with `velocity` [J/kg]."""
    found = 0.0
    for _ in range(steps):
        world.step()
        v, w = world.velocities[-5:] - velocity, world.angular_velocities[-5:]
        found = max(found, float((v * v).sum() + 0.1 * (w * w).sum()) / 10)
    return found


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("gap", [0.99, 0.95, 0.9])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sampled(12)
def test_what_overlaps_in_a_row_is_not_thrown(shape, gap, settings):
    """Without gravity the ends of a row of ten flew off at up to 3 m/s, 1 to 2 J/kg."""
    world = mc.World(row(SHAPES[shape], 10, gap), **SETTINGS[settings])
    before = world.positions[-1, 0] - world.positions[0, 0]
    assert highest(world, 60) < 5e-3
    after = world.positions[-1, 0] - world.positions[0, 0]
    assert after - before > 0.3 * (9.0 - before)


@pytest.mark.parametrize("settings", [name for name in SETTINGS if name != "nncg"])
@pytest.mark.parametrize("gap", [0.99, 0.98, 0.9])
@pytest.mark.parametrize("count", [10, 20])
@pytest.mark.sampled(8)
def test_what_overlaps_in_a_stack_is_not_thrown(count, gap, settings):
    """Twenty boxes that begin 2 % in each other were thrown up at 4.5 m/s."""
    scene = row(SHAPES["box"], count, gap, axis=2, gravity=9.81, floor={"kind": "static"})
    assert highest(mc.World(scene, **SETTINGS[settings]), 60) < 0.2


@pytest.mark.parametrize("velocity", [(3.0, -1.0, 0.0), (-2.0, 11.0, 0.5)])
def test_a_floor_that_goes_along(velocity):
    """The work of contacts is that of what they touch against each other."""
    rest = mc.World(row(SHAPES["box"], 12, 0.97, axis=2, gravity=9.81, floor={"kind": "kinematic"}))
    carried = mc.World(row(SHAPES["box"], 12, 0.97, 2, 9.81, velocity, {"kind": "kinematic", "velocity": velocity}))
    for _ in range(60):
        rest.step()
        carried.step()
        away = carried.positions[1:] - np.multiply(velocity, carried.time) - rest.positions[1:]
        assert np.abs(away).max() < 1e-9


@pytest.mark.parametrize("settings", ["default", "pyramid"])
def test_momentum_is_kept(settings):
    scene = mc.Scene(gravity=(0, 0, 0))
    rng = np.random.default_rng(3)
    for k in range(12):
        turn = rng.normal(size=4)
        scene.add_body(
            f"b{k}",
            shape=mc.Box((0.2, 0.3, 0.4)),
            position=rng.uniform(-0.3, 0.3, 3),
            orientation=turn / np.linalg.norm(turn),
            velocity=rng.normal(size=3),
            mass=1.0 + k,
        )
    world = mc.World(scene, **SETTINGS[settings])
    told = [world.momentum()]
    for _ in range(60):
        world.step()
        told.append(world.momentum())
    linear, angular = (np.array([t[i] for t in told]) for i in range(2))
    assert np.abs(linear - linear[0]).max() < 1e-11
    assert np.abs(angular - angular[0]).max() < 1e-11


def test_sixty_balls_at_one_point():
    """Which were thrown apart at 20 m/s."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_bodies(shapes=mc.Sphere(0.5), positions=np.tile((0, 0, 3.0), (60, 1)))
    world = mc.World(scene)
    for _ in range(60):
        world.step()
        assert np.abs(world.velocities).max() < 8.0  # that of a fall of 3 m
    world.step(180)
    assert np.abs(world.velocities).max() < 0.5


def test_what_settles_settles_as_ever():
    """A tower sinks into its springs, which takes energy: nothing of that is taken back, and it is down in a second."""
    scene = row(SHAPES["box"], 20, 1.0, axis=2, gravity=9.81, floor={"kind": "static"})
    world = mc.World(scene, sleep=False)
    world.step(60)
    after = world.positions[-1, 2]
    world.step(240)
    assert 0.004 < 19.5 - after < 0.007 and abs(world.positions[-1, 2] - after) < 5e-5
