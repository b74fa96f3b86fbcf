"""Jolt's samples of the broad phase: what is there, and what is near."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import cube
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/BroadPhase"


@sample("jolt/broad_phase/sim_collide_body_vs_body", title="Sim Collide Body vs Body", source=SOURCE)
def sim_collide_body_vs_body(play):
    """Two bodies of many balls each are told apart by what they touch: overlaps find those that geometry says."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(10):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), kind="static", position=(1.5 * k, 0, 0))
    world = mc.World(scene)
    play(world, 1 / 60)
    rod = [mc.Sphere(0.4, position=(x, 0, 0)) for x in (-2.0, 0.0, 2.0)]
    found = {body.name for body in world.overlap(rod, (6.0, 0.5, 0))}
    expected = {f"ball{k}" for k in range(10) if any(math.hypot(1.5 * k - 6 - x, 0.5) < 0.9 for x in (-2, 0, 2))}
    play.check("overlaps", found == expected)
    play.between("how many", len(found), 2, 5)


@sample("jolt/broad_phase/insertion", title="Insertion", source=SOURCE)
def insertion(play):
    """Cubes are put in and taken out at random places: rays find just those that are there."""
    rng, scene = np.random.default_rng(5), mc.Scene(gravity=(0, 0, 0))
    world = mc.World(scene)
    there = {}
    for k in range(200):
        if k % 3 == 2:
            name = list(there)[rng.integers(len(there))]
            world.remove_body(name)
            del there[name]
        else:
            place = tuple(3.0 * rng.permutation(200)[:2]) + (0.0,)
            if place not in there.values():
                there[f"cube{k}"] = place
                world.add_body(f"cube{k}", shape=cube(1.0), kind="static", position=place)
    play(world, 1 / 60)
    hits = world.ray_casts([(x, y, 5) for x, y, _ in there.values()], (0, 0, -1))
    play.check("each is hit", [world.body_names[k] for k in hits["body"]] == list(there))
    beside = world.ray_casts([(x + 1, y, 5) for x, y, _ in there.values()], (0, 0, -1))
    play.check("beside them is nothing", (beside["body"] < 0).all())
