"""Rays at a world whose bodies the user moves between two questions: the answers are those of a world that was asked
nothing before, however few or many of them moved."""

import copy

import numpy as np
from hypothesis import given, settings, strategies as st

import mcsim as mc

COUNT = 120


def world() -> mc.World:
    scene, rng = mc.Scene(), np.random.default_rng(1)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(COUNT):
        shapes = [mc.Sphere(0.4), mc.Box((0.3, 0.2, 0.4), position=(0.5, 0.0, 0.0))][: 1 + i % 2]
        scene.add_body(shape=shapes, position=rng.uniform(0.0, 8.0, 3))
    return mc.World(scene)


WORLD = world()
moves = st.lists(
    st.tuples(st.integers(1, COUNT), st.integers(0, 2**32 - 1), st.sampled_from([0.001, 1.0, 100.0])), max_size=30
)


@settings(deadline=None)
@given(st.lists(moves, min_size=1, max_size=4))
def test_rays_find_what_a_world_that_never_looked_finds(rounds):
    asked = copy.deepcopy(WORLD)
    rng = np.random.default_rng(2)
    for moved in rounds:
        for body, seed, far in moved:
            drawn = np.random.default_rng(seed)
            asked.positions[body] += far * drawn.normal(size=3)
            q = drawn.normal(size=4)
            asked.orientations[body] = q / np.linalg.norm(q)
        fresh = copy.deepcopy(WORLD)
        fresh.positions[...], fresh.orientations[...] = asked.positions, asked.orientations
        begins, ways = rng.uniform(-1.0, 9.0, (20, 3)), rng.normal(size=(20, 3))
        if moved:
            ways[:10] = asked.positions[moved[0][0]] - begins[:10]
        found = fresh.ray_casts(begins, ways)
        for begin, way, answer in zip(begins, ways, found):
            hit = asked.ray_cast(begin, way)
            assert (hit is None) == (answer["body"] < 0)
            if hit is not None:
                assert (hit.body.index, hit.shape, hit.distance) == (answer["body"], answer["shape"], answer["distance"])
                assert np.array_equal(hit.point, answer["point"]) and np.array_equal(hit.normal, answer["normal"])
