"""Every level gives the same bits of all that a record has, whatever shares a block: draws of bodies with and without
friction, resistance to rolling and twisting, moving surfaces and bounces, by each way that contacts are solved."""

import pytest

from level_runs import on_every_level
from mcsim.wide import levels

DRAWS = """
import numpy as np
import mcsim as mc

WAYS = ({}, {"friction": "pyramid"}, {"friction_points": "point"}, {"stabilization": "baumgarte"}, {"iterations": 1},
        {"joint_solver": "rows"}, {"solver": "pgs"})


def scene(rng):
    def material():
        return mc.Material(rng.choice([0, 0.3, 0.8]), rng.choice([0, 0, 0.5]), rng.choice([0, 0, 0.01, 0.1]),
                           rng.choice([0, 0, 0.02]), surface_velocity=rng.choice([0, 0, 0.4]) * rng.normal(size=3))
    made = mc.Scene()
    floor = mc.Plane((0, 0, 1)) if rng.random() < 0.5 else mc.Box((5, 5, 0.2), position=(0, 0, -0.2))
    made.add_body("floor", kind="static", shape=floor, material=material())
    count = int(rng.integers(1, 14))
    for i in range(count):
        size, turn = rng.uniform(0.1, 0.3, 3), rng.normal(size=4) if rng.random() < 0.5 else np.eye(4)[0]
        shape = (mc.Sphere(size[0]), mc.Box(size), mc.Capsule(*size[:2]), mc.Cylinder(*size[:2]))[rng.integers(4)]
        made.add_body(f"b{i}", shape=shape, position=rng.uniform((-0.8, -0.8, 0.2), (0.8, 0.8, 1.5)),
                      material=material(), orientation=turn / np.linalg.norm(turn),
                      velocity=rng.normal(size=3) * rng.choice([0, 1]),
                      angular_velocity=rng.normal(size=3) * rng.choice([0, 1]))
    for i in range(0, count - 1 if rng.random() < 0.3 else 0, 3):
        at = made.body(f"b{i}").position
        made.add_joint(mc.BallJoint(f"b{i}", f"b{i + 1}", at, swing_limit=0.5) if i % 2 else
                       mc.HingeJoint(f"b{i}", f"b{i + 1}", at, (0, 1, 0), limits=(-0.2, 0.3), friction=0.1))
    return made


for seed in range(70):
    world = mc.World(scene(np.random.default_rng(seed)), **WAYS[seed % len(WAYS)])
    for _ in range(8):
        world.step(4)
        print(seed, world.state_hash())
"""


@pytest.mark.skipif(len(levels.available()) < 2, reason="one level alone")
def test_draws_have_the_same_bits_on_every_level():
    """A manifold without resistance that shared a block with one that has some kept an impulse against rolling of -0."""
    found = {level: written.splitlines() for level, written in on_every_level(DRAWS).items()}
    first = found.pop("base")
    assert len(first) == 560
    for level, lines in found.items():
        assert [line for line, other in zip(lines, first) if line != other] == [], level
