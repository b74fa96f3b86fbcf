"""What turns fast is not felt where it does not reach: beside another body, each moves as it would alone, to the bit.

The ball about a body's centre that holds it, however it turns, is all the room that its turning takes. A pair whose balls
stay apart has no contact, at any spin; a plane or a mesh that stays out of the ball neither.
"""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

SHAPES = {
    "box": mc.Box((0.1, 0.2, 0.3)),
    "rod": mc.Capsule(0.05, 0.3),
    "disc": mc.Cylinder(0.3, 0.02),
    "cone": mc.Cone(0.2, 0.4),
    "ball": mc.Sphere(0.2),
    "hull": mc.ConvexHull([(0, 0, 0.3), (0.2, 0, -0.1), (-0.1, 0.2, -0.1), (-0.1, -0.2, -0.1)]),
    "pair": [mc.Box((0.3, 0.02, 0.02)), mc.Sphere(0.1)],
}
FLOOR = mc.Mesh([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [(0, 1, 2), (0, 2, 3)])


def put(scene, name, shape, position, spin):
    turned = (0.8, 0.36, 0.48, 0.0)
    soft = mc.Material(stiffness=1e5, damping=10.0)
    scene.add_body(
        name, shape=shape, position=position, orientation=turned, density=800, angular_velocity=spin, material=soft
    )


def radius(shape):
    """Of a ball about its origin that holds one about its centre of mass that holds its parts, each with its own ball."""
    scene = mc.Scene()
    put(scene, "it", shape, (0, 0, 0), (0, 0, 0))
    world = mc.World(scene)
    parts = shape if isinstance(shape, list) else [shape]
    arms = np.linalg.norm(world.shape_poses()[0] - world.positions[0], axis=1)
    reach = [1.01 * np.linalg.norm(part.triangles()[0], axis=1).max() for part in parts]
    return np.linalg.norm(world.positions[0]) + max(arms + reach)


def lives(scene, steps, **keywords):
    world = mc.World(scene, **keywords)
    world.step(steps)
    assert len(world.contacts) == 0
    return {name: world.velocities[k].copy() for k, name in enumerate(world.body_names)}, world


@pytest.mark.parametrize("keywords", [{}, {"joint_solver": "rows"}, {"solver": "pgs"}, {"contact": "compliant"}], ids=str)
@pytest.mark.parametrize("other", SHAPES)
@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.sampled(14)
def test_two_that_turn_side_by_side(one, other, keywords):
    """Their balls 1 mm to 2 m apart, at up to 10,000 rad/s, both at rest or both on their way."""
    draw = np.random.default_rng(7)
    for _ in range(amount(2, 8)):
        spins = draw.normal(size=(2, 3))
        spins *= 10.0 ** draw.uniform(1, 4, (2, 1)) / np.linalg.norm(spins, axis=1)[:, None]
        gap = 10.0 ** draw.uniform(-3, 0.3) + 0.01  # 0.01: within which contacts are kept in sight
        away = draw.normal(size=3)
        away *= (radius(SHAPES[one]) + radius(SHAPES[other]) + gap) / np.linalg.norm(away)
        places = {"one": (0, 0, 0), "other": away}
        both = mc.Scene(gravity=(0, 0, 0))
        alone = []
        for name, shape, spin in (("one", one, spins[0]), ("other", other, spins[1])):
            put(both, name, SHAPES[shape], places[name], spin)
            scene = mc.Scene(gravity=(0, 0, 0))
            put(scene, name, SHAPES[shape], places[name], spin)
            alone.append(scene)
        together, _ = lives(both, 3, **keywords)
        for scene in alone:
            for name, velocity in lives(scene, 3, **keywords)[0].items():
                np.testing.assert_array_equal(together[name], velocity)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ground", ["plane", "mesh"])
@pytest.mark.sampled(4)
def test_one_that_turns_over_the_ground(shape, ground):
    """Its ball above the ground, falling less far than to it."""
    draw = np.random.default_rng(8)
    for _ in range(amount(2, 8)):
        spin = draw.normal(size=3)
        spin *= 10.0 ** draw.uniform(1, 4) / np.linalg.norm(spin)
        height = radius(SHAPES[shape]) + 10.0 ** draw.uniform(-1.5, 0.3) + 0.03
        velocities = []
        for grounded in (True, False):
            scene = mc.Scene(gravity=(0, 0, -1.0))
            put(scene, "it", SHAPES[shape], (0, 0, height), spin)
            if grounded:
                floor = mc.Plane((0, 0, 1)) if ground == "plane" else FLOOR
                scene.add_body("floor", shape=floor, kind="static")
            velocities.append(lives(scene, 3)[0]["it"])
        np.testing.assert_array_equal(*velocities)
