"""Distances to meshes and height fields, and what slides at them: the search that leaves triangles out finds what asking
every triangle finds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mcsim as mc

SIDE = 4  # cells
SHAPES = (
    mc.Sphere(0.3),
    mc.Box((0.4, 0.2, 0.1)),
    mc.Capsule(0.1, 0.5),
    mc.Cylinder(0.3, 0.2),
    mc.ConvexHull([(0, 0, 0), (0.6, 0, 0), (0, 0.5, 0), (0, 0, 0.4)]),
    mc.Plane((0, 0, 1)),
)


def surface(kind: str) -> tuple[mc.Mesh | mc.HeightField, np.ndarray]:
    """A rough piece of ground, and the corners (t, 3, 3) of its triangles. Some of it is level, with equal distances."""
    heights = 0.5 * np.random.default_rng(3).normal(size=(SIDE + 1, SIDE + 1))
    heights[: SIDE // 2] = 0.25
    grid = np.arange(SIDE + 1.0) - SIDE / 2
    x, y = np.meshgrid(grid, grid, indexing="ij")
    points = np.stack([x, y, heights], axis=-1).reshape(-1, 3)
    i, j = (numbers.ravel() for numbers in np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    corner = i * (SIDE + 1) + j
    faces = np.concatenate(
        [
            np.stack([corner, corner + SIDE + 1, corner + SIDE + 2], axis=1),
            np.stack([corner, corner + SIDE + 2, corner + 1], axis=1),
        ]
    )
    return (mc.HeightField(heights, 1.0) if kind == "field" else mc.Mesh(points, faces)), points[faces]


def worlds(kind: str, pose: dict) -> tuple[mc.World, mc.World]:
    """The ground as one body, and each triangle as a body of its own."""
    shape, triangles = surface(kind)
    whole, parts = mc.Scene(), mc.Scene()
    whole.add_body("ground", shape=shape, kind="static", **pose)
    for corners in triangles:
        parts.add_body(shape=mc.Mesh(corners, [(0, 1, 2)]), kind="static", **pose)
    return mc.World(whole), mc.World(parts)


POSE = {"position": (0.3, -0.2, 0.1), "orientation": (0.8, 0.36, 0.48, 0.0)}
WORLDS = {(kind, turned): worlds(kind, POSE if turned else {}) for kind in ("mesh", "field") for turned in (False, True)}

numbers = st.floats(-6.0, 6.0) | st.integers(-6, 6).map(float)
vectors = st.tuples(numbers, numbers, numbers)
turns = st.sampled_from([(1.0, 0.0, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5), (0.6, 0.0, 0.0, 0.8), (0.1, 0.7, 0.1, 0.7)]).map(
    lambda q: tuple(np.array(q) / np.linalg.norm(q))
)


@pytest.mark.parametrize("kind", ["mesh", "field"])
@pytest.mark.parametrize("turned", [False, True])
@given(st.sampled_from(SHAPES), vectors, turns)
def test_distances_are_those_of_the_nearest_triangle(kind, turned, shape, position, orientation):
    whole, parts = WORLDS[kind, turned]
    found = whole.distance("ground", shape, position, orientation)
    each = [parts.distance(i, shape, position, orientation) for i in range(2 * SIDE * SIDE)]
    least = min(one.distance for one in each)
    assert found.distance == pytest.approx(least, abs=1e-12)
    if least > 0.0:
        gap = found.point_b - found.point_a
        assert np.allclose(gap, found.distance * found.normal, atol=1e-9)
        assert any(np.allclose(found.normal, one.normal, atol=1e-6) for one in each if one.distance < least + 1e-9)


@pytest.mark.parametrize("kind", ["mesh", "field"])
@pytest.mark.parametrize("turned", [False, True])
@given(st.sampled_from(SHAPES[:-1]), vectors, turns, vectors.filter(lambda v: max(map(abs, v)) > 0.1), st.floats(0.1, 20.0))
def test_what_slides_meets_the_first_triangle(kind, turned, shape, position, orientation, way, far):
    whole, parts = WORLDS[kind, turned]
    found = whole.shape_cast(shape, position, orientation, way, far)
    first = parts.shape_cast(shape, position, orientation, way, far)
    assert (found is None) == (first is None)
    if found is not None:
        assert found.distance == first.distance
        assert bool(whole.overlap(shape, position, orientation)) == bool(parts.overlap(shape, position, orientation))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mesh", "field"])
def test_far_and_near_ends_of_a_long_slide(kind):
    """What goes along just over a level floor meets the first step in its way, however many triangles it passes."""
    cells = 400
    heights = np.zeros((cells + 1, 3))
    heights[cells - 10 :] = 1.0
    if kind == "field":
        shape = mc.HeightField(heights, 0.5)
    else:
        points = np.array(
            [(0.5 * (i - cells / 2), 0.5 * (j - 1), heights[i, j]) for i in range(cells + 1) for j in range(3)]
        )
        faces = [
            t
            for i in range(cells)
            for j in range(2)
            for t in (
                (3 * i + j, 3 * i + j + 3, 3 * i + j + 4),
                (3 * i + j, 3 * i + j + 4, 3 * i + j + 1),
            )
        ]
        shape = mc.Mesh(points, faces)
    scene = mc.Scene()
    scene.add_body("ground", shape=shape, kind="static")
    world = mc.World(scene)
    hit = world.shape_cast(mc.Sphere(0.2), (-99.0, 0.0, 0.21), (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    # The step rises from x = 0.5 (cells / 2 - 11) by 1 m over 0.5 m: a ball of 0.2 m at 0.21 m above touches its slope
    # where its middle is 0.2 m away from it.
    foot, slope = 0.5 * (cells / 2 - 11), np.arctan2(1.0, 0.5)
    middle = foot + 0.21 / np.tan(slope) - 0.2 / np.sin(slope)
    assert hit is not None and hit.distance == pytest.approx(middle + 99.0, abs=1e-7)
