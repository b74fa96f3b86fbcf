"""Nothing falls through, whatever its speed, shape and spin; and what passes by is not touched."""

import itertools

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import matrix

CLOUD = np.random.default_rng(7).normal(size=(12, 3)) * 0.02
SHAPES = {
    "ball": mc.Sphere(0.01),
    "box": mc.Box((0.01, 0.01, 0.01)),
    "capsule": mc.Capsule(0.005, 0.02),
    "plate": mc.Box((0.1, 0.1, 0.002)),
    "rod": mc.Box((0.2, 0.005, 0.005)),
    "cylinder": mc.Cylinder(0.02, 0.01),
    "hull": mc.ConvexHull(CLOUD),
    "compound": [mc.Sphere(0.02), mc.Box((0.02, 0.01, 0.01), position=(0.03, 0, 0))],
}
WORLDS = [
    dict(),
    dict(substeps=1),
    dict(solver="pgs"),
    dict(friction_points="point"),
    dict(stabilization="baumgarte"),
    dict(stabilization="none"),
    dict(stabilization="projection"),
    dict(stabilization="ggl"),
    dict(stabilization="split_impulse"),
]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(map(str, k.values())) or "default")
WALLS = ("static", "kinematic", "dynamic", "plane")


def direction(rng):
    d = rng.normal(size=3)
    return d / np.linalg.norm(d)


def quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def shoot(rng, name, wall, restitution=0.0, **keywords):
    """A shot at 20 to 200 m/s onto a wall of 1 cm, from above at any angle. -> whether its middle stays above."""
    scene = mc.Scene(gravity=(0, 0, 0))
    material = mc.Material(0.5, restitution)
    if wall == "plane":
        scene.add_body("wall", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    else:
        scene.add_body("wall", kind=wall, shape=mc.Box((12, 12, 0.005)), material=material)
    d = direction(rng)
    d[2] = -abs(d[2]) - 0.3
    d /= np.linalg.norm(d)
    speed = rng.uniform(20, 200)
    scene.add_body(
        "shot",
        shape=SHAPES[name],
        position=-d * rng.uniform(1.0, 4.0),
        velocity=d * speed,
        material=material,
        orientation=quaternion(rng),
        angular_velocity=direction(rng) * rng.choice([0.0, 200.0]),
        bullet=wall == "dynamic",
    )
    world = mc.World(scene, **keywords)
    for _ in range(int(300 / speed) + 20):
        world.step()
        local = matrix(world.orientations[0]).T @ (world.positions[1] - world.positions[0])
        if np.abs(local[:2]).max() > 11:
            break
        if local[2] < 0.0:
            return False
    return True


@every_world
@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.sampled(5)
def test_shots_stop_at_a_thin_wall(wall, keywords):
    rng = np.random.default_rng(len(wall) + len(str(keywords)))
    for name, restitution in itertools.product(SHAPES, (0.0, 0.8)):
        for k in range(amount(1, 3)):
            assert shoot(rng, name, wall, restitution, **keywords), (name, restitution, k)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_hundreds_of_shots(name):
    rng = np.random.default_rng(3)
    for k in range(400):
        assert shoot(rng, name, WALLS[k % 4], 0.8 * (k % 3 == 0)), k


@pytest.mark.parametrize("keywords, steps", [(dict(), 10), (dict(substeps=1), 20), (dict(stabilization="baumgarte"), 10)])
def test_a_centimetre_ball_at_200_metres_a_second_stands_at_a_wall(keywords, steps):
    """Straight on it stops where it touches; what it has gone in by then goes at two thicknesses a second."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", kind="static", shape=mc.Box((1, 1, 0.005)))
    scene.add_body("ball", shape=mc.Sphere(0.01), position=(0.1, 0.2, 2.0), velocity=(0, 0, -200.0))
    world = mc.World(scene, **keywords)
    world.step(steps)
    assert world.positions[1] == pytest.approx((0.1, 0.2, 0.015), abs=1e-4)
    assert np.abs(world.velocities[1]).max() < 0.1


@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_a_ball_at_an_angle_comes_to_roll(kind):
    """Against a fixed and against a heavy free wall: 5/7 of the speed along it are left. Half-way across the gap, where
    friction had acted, it made the ball spin without end, and slip past the free wall."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", kind=kind, shape=mc.Box((12, 12, 0.005)))
    scene.add_body("ball", shape=mc.Sphere(0.01), position=(0.3, 0, 2.0), velocity=(100.0, 0, -150.0))
    world = mc.World(scene)
    world.step(3)
    assert world.velocities[1, 0] == pytest.approx(100 * 5 / 7, rel=1e-4)
    assert world.positions[1, 2] - world.positions[0, 2] == pytest.approx(0.015, abs=1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.9])
@pytest.mark.parametrize("kind", ["static", "kinematic"])
def test_nothing_leaves_a_closed_room(kind, restitution):
    """What glances off one wall meets the next one in the same step, which nothing foresaw. The walls overlap."""
    rng = np.random.default_rng(11)
    for name in ("ball", "box", "capsule", "plate", "cylinder", "hull"):
        for _ in range(5):
            scene = mc.Scene(gravity=(0, 0, 0))
            material = mc.Material(0.5, restitution)
            for axis, side in itertools.product(range(3), (-1, 1)):
                half, at = np.full(3, 2.5), np.zeros(3)
                half[axis], at[axis] = 0.005, 2.005 * side
                scene.add_body(kind=kind, shape=mc.Box(half), position=at, material=material)
            scene.add_body(
                "shot",
                shape=SHAPES[name],
                position=rng.uniform(-1.7, 1.7, 3),
                orientation=quaternion(rng),
                velocity=direction(rng) * rng.uniform(20, 200),
                material=material,
            )
            world = mc.World(scene)
            for _ in range(60):
                world.step()
                assert np.abs(world.positions[-1]).max() < 2.005, name


@pytest.mark.parametrize("bullet", [False, True])
def test_two_balls_head_on(bullet):
    """200 m/s each, plastic: both stand; elastic: they exchange velocities."""
    for restitution in (0.0, 1.0):
        scene = mc.Scene(gravity=(0, 0, 0))
        for side in (-1, 1):
            scene.add_body(
                shape=mc.Sphere(0.01),
                position=(3.0 * side, 0, 0),
                velocity=(-200.0 * side, 0, 0),
                bullet=bullet,
                material=mc.Material(0.5, restitution),
            )
        world = mc.World(scene)
        world.step(4)
        assert world.positions[0, 0] < world.positions[1, 0]
        assert world.velocities[:, 0] == pytest.approx((-200 * restitution, 200 * restitution), abs=1e-3)


def test_against_a_corner_and_an_edge():
    """Straight at a cube's corner, its edge, and just beside the corner."""
    for aim in ((1, 1, 1), (1, 1, 0), (1, 0.98, 0.99)):
        aim = np.array(aim) / np.linalg.norm(aim)
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("cube", kind="static", shape=mc.Box((0.3, 0.3, 0.3)))
        scene.add_body("ball", shape=mc.Sphere(0.01), position=aim * 3, velocity=-aim * 200)
        world = mc.World(scene)
        for _ in range(10):
            world.step()
            assert np.abs(world.positions[-1]).max() > 0.3


def test_a_stack_hit_by_a_bullet_stays_finite():
    scene = mc.load("tower", n=8)
    scene.add_body(
        "bullet", shape=mc.Sphere(0.02), density=8000.0, position=(-5, 0.03, 3.3), velocity=(200, 0, 0), bullet=True
    )
    world = mc.World(scene)
    before = world.energy().kinetic
    for _ in range(120):
        world.step()
        assert np.isfinite(world.positions).all() and world.energy().kinetic < 1.5 * before


@pytest.mark.parametrize("gap", [0.001, 0.003, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("shape", ["ball", "box", "capsule"])
def test_what_passes_by_is_not_touched(gap, shape):
    """Past a wall's end and along its face, at 200 m/s: the velocity stays to the bit."""
    reach = {"ball": 0.01, "box": 0.01, "capsule": 0.025}[shape]
    for position, velocity in (
        ((1 + gap + reach, 0, 2.0), (0, 0, -200.0)),
        ((-3.0, 0, 0.005 + gap + reach), (200.0, 0, 0)),
    ):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("wall", kind="static", shape=mc.Box((1, 1, 0.005)))
        scene.add_body("other", shape=mc.Box((1, 1, 0.005)), position=(0, 0, -5.0))
        scene.add_body("shot", shape=SHAPES[shape], position=position, velocity=velocity, bullet=True)
        world = mc.World(scene)
        world.step(4)
        assert np.array_equal(world.velocities[2], velocity) and np.array_equal(world.angular_velocities[2], (0, 0, 0))
        assert np.array_equal(world.velocities[1], (0, 0, 0))
