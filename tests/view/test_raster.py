"""The depth buffer of pictures, against a few lines of NumPy that ask every sample of every polygon."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import mcsim as mc
from mcsim.view import Camera, _raster
from mcsim.view.colors import EDGE
from mcsim.view.ground import LIGHT
from mcsim.view.painter import BORDER, BRIGHTEST, DARKEST, Painter

ROWS, COLUMNS = 24, 32
Y, X = np.mgrid[:ROWS, :COLUMNS] + 0.5


def filled(polygons, colors, depths=True, width=0.0, borders=None):
    """-> colours (rows, columns, 3), inverse depths of polygons that come in this order."""
    picture, depth = np.zeros((ROWS, COLUMNS, 3), np.uint8), np.zeros((ROWS, COLUMNS), np.float32)
    colors = np.ascontiguousarray(colors, np.float32)
    borders = colors if borders is None else np.ascontiguousarray(borders, np.float32)
    _raster.fill(np.ascontiguousarray(polygons, np.float32), colors, borders, width, picture, depth if depths else None)
    return picture, depth


def inside(polygon):
    """(rows, columns): how far the samples are inside of a convex polygon (negative: outside)."""
    x, y = np.asarray(polygon, float)[:, :2].T
    turn = np.sign(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    far = np.full((ROWS, COLUMNS), np.inf)
    for ax, ay, bx, by in zip(x, y, np.roll(x, -1), np.roll(y, -1), strict=True):
        length = np.hypot(bx - ax, by - ay)
        if length > 1e-6:
            far = np.minimum(far, turn * ((bx - ax) * (Y - ay) - (by - ay) * (X - ax)) / length)
    return far


def plane_of(polygon):
    a, b, c = np.linalg.lstsq(np.column_stack([polygon[:, :2], np.ones(len(polygon))]), polygon[:, 2], rcond=None)[0]
    return a * X + b * Y + c


numbers = st.floats(-8, 40, width=32)
corners = st.tuples(numbers, numbers)
planes = st.tuples(st.floats(-0.01, 0.01), st.floats(-0.01, 0.01), st.floats(0.7, 2))


def triangle(points, plane):
    a, b, c = plane
    return np.float32([(x, y, a * x + b * y + c) for x, y in (*points, points[-1])])


@given(st.lists(st.tuples(st.tuples(corners, corners, corners), planes), min_size=1, max_size=5))
def test_the_nearest_is_seen_at_every_sample(described):
    """Whatever their order and which way round they stand, but where two are equally near or an edge goes through."""
    polygons = np.array([triangle(points, plane) for points, plane in described])
    u, v = polygons[:, 1, :2] - polygons[:, 0, :2], polygons[:, 2, :2] - polygons[:, 0, :2]
    if (np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) < 1.0).any():
        return
    far = np.array([inside(polygon) for polygon in polygons])
    near = np.where(far > 0, [plane_of(np.float64(polygon[:3])) for polygon in polygons], 0.0)
    order = np.sort(near, axis=0)
    sure = (np.abs(far) > 1e-3).all(axis=0) & (order[-1] - (order[-2] if len(near) > 1 else 0.0) > 1e-3)
    sure |= (far < -1e-3).all(axis=0)
    expected = np.where(near.max(axis=0) > 0, 50 * (1 + near.argmax(axis=0)), 0)
    colors = np.tile(50 * (1 + np.arange(len(polygons)))[:, None] / 255.0, (1, 4))
    colors[:, 3] = 1.0
    for some in (slice(None), slice(None, None, -1)):
        picture, depth = filled(polygons[some], colors[some])
        assert np.array_equal(picture[sure], np.repeat(expected[sure, None], 3, axis=1))
        assert np.allclose(depth[sure], near.max(axis=0)[sure], atol=1e-5)


def test_a_border_lies_within_and_is_as_wide_as_asked():
    polygon = np.float32([(4.2, 3.1, 1), (28.4, 6.3, 1), (25.2, 20.1, 1), (6.3, 17.2, 1)])
    picture, _ = filled([polygon], [(1, 0, 0, 1)], width=2.0, borders=[(0, 0, 1, 1)])
    far = inside(polygon)
    sure = (np.abs(far) > 1e-3) & (np.abs(far - 2.0) > 1e-3)
    assert (
        np.array_equal(
            picture[..., 0] == 255,
            far > 2.0,
        )
        or not sure.all()
    )
    assert np.array_equal((picture[..., 0] == 255)[sure], (far > 2.0)[sure])
    assert np.array_equal((picture[..., 2] == 255)[sure], ((far > 0) & (far < 2.0))[sure])


def test_glass_lets_light_through_and_hides_nothing():
    whole = [(0, 0), (COLUMNS, 0), (COLUMNS, ROWS), (0, ROWS)]
    glass, wall = (np.float32([(*corner, near) for corner in whole]) for near in (0.9, 0.5))
    picture, depth = filled([wall, glass], [(1, 1, 1, 1), (0, 0, 0, 0.25)])
    assert (picture == round(255 * 0.75)).all() and (depth == np.float32(0.5)).all()
    behind, _ = filled([glass, wall], [(0, 0, 0, 1), (1, 1, 1, 0.5)])
    assert (behind == 0).all()


@pytest.mark.parametrize("wild", [np.nan, np.inf, 1e30, -1e30])
def test_no_number_leads_out_of_the_picture(wild):
    """Corners that are far away, or no numbers."""
    for corner in range(4):
        for axis in range(3):
            polygon = np.float32([(2, 2, 1), (20, 2, 1), (20, 20, 1), (2, 20, 1)])
            polygon[corner, axis] = wild
            filled([polygon], [(1, 1, 1, 1)])


def test_a_pixel_is_the_mean_of_its_samples():
    samples = np.zeros((2 * _raster.SAMPLES, 3 * _raster.SAMPLES, 3), np.uint8)
    samples[0, 0] = 200
    picture = np.empty((2, 3, 3), np.uint8)
    _raster.finish(samples, picture)
    assert (picture[0, 0] == 200 // _raster.SAMPLES**2).all() and picture.sum() == 3 * (200 // _raster.SAMPLES**2)


def test_wrong_arrays_are_refused():
    polygon, color = np.zeros((1, 4, 3), np.float32), np.zeros((1, 4), np.float32)
    picture, depth = np.zeros((8, 8, 3), np.uint8), np.zeros((8, 8), np.float32)
    for arguments in (
        (polygon[:, :2].copy(), color, color, 0.0, picture, depth),
        (polygon, color[:0], color, 0.0, picture, depth),
        (polygon, color, color, 0.0, picture, depth[:4].copy()),
        (np.zeros((1, 40, 3), np.float32), color, color, 0.0, picture, depth),
    ):
        with pytest.raises(ValueError, match="must be"):
            _raster.fill(*arguments)
    with pytest.raises(ValueError, match="SAMPLES"):
        _raster.finish(picture, np.zeros((8, 8, 3), np.uint8))


@pytest.mark.parametrize("projection", ["perspective", "orthographic"])
def test_faces_are_turned_lit_and_hidden_as_numpy_does(projection):
    """Ragdolls, from a camera near them: some faces are behind the eye, and half of them look away."""
    scene = mc.load("ragdolls", count=2)
    world = mc.World(scene)
    world.step(30)
    view = Camera(projection=projection, eye=world.positions[3] + (0.4, -0.6, 0.3), target=world.positions[3], height=3.0)
    painter = Painter(scene, world.positions[None], world.orientations[None], (80, 60), camera=view)
    faces, camera = painter.faces, painter.camera
    origins, turns = faces.frames(world.positions, world.orientations)
    painter.samples[:], painter.depths[:] = 0, camera.nowhere
    painter._fill_faces(origins, turns)
    vertices, normals = faces.placed(world.positions, world.orientations)
    corners = vertices[faces.corners]
    towards = camera.axes[2] if camera.orthographic else camera.eye - corners[:, 0]
    pixels, depth = camera.project(corners)
    seen = (np.sum(normals * towards, axis=1) > 0) & (depth > camera.near).all(axis=1)
    assert 0.1 < seen.mean() < 0.6
    light = DARKEST + (BRIGHTEST - DARKEST) * (normals @ LIGHT + 1) / 2
    color = np.column_stack([np.minimum(faces.colors * light[:, None], 1), np.ones(len(seen))]).astype(np.float32)
    border = np.where(faces.outlined[:, None], color * np.float32([EDGE, EDGE, EDGE, 1]), color)
    samples, depths = np.zeros_like(painter.samples), np.full_like(painter.depths, camera.nowhere)
    for chosen, width in ((seen & ~faces.outlined, 0.0), (seen & faces.outlined, _raster.SAMPLES * BORDER)):
        polygons = painter._sampled(pixels[chosen], camera.nearness(depth[chosen]))
        _raster.fill(polygons, color[chosen], border[chosen], width, samples, depths)
    same = (np.abs(painter.samples.astype(int) - samples) <= 1).all(axis=2)
    assert same.mean() > 0.995 and samples.any(axis=2).mean() > 0.05


def test_a_table_of_colours_is_looked_up():
    picture = np.random.default_rng(2).integers(0, 256, (5, 7, 3), np.uint8)
    table = np.random.default_rng(3).integers(0, 256, 1 << 18, np.uint8)
    out = np.empty((5, 7), np.uint8)
    _raster.indices(picture, table, out)
    upper = picture.astype(int) >> 2
    assert np.array_equal(out, table[(upper[..., 0] << 12) + (upper[..., 1] << 6) + upper[..., 2]])
    with pytest.raises(ValueError, match="2..18 entries"):
        _raster.indices(picture, table[:9].copy(), out)


def test_the_nearest_colour_of_a_palette():
    palette = np.random.default_rng(4).integers(0, 256, (40, 3)).astype(np.intc)
    table = np.empty(1 << 18, np.uint8)
    _raster.nearest(palette, table)
    for at in np.random.default_rng(5).integers(0, 1 << 18, 500):
        middle = np.array([at >> 12, at >> 6 & 63, at & 63]) * 4 + 1.5
        away = np.linalg.norm(palette - middle, axis=1)
        assert away[table[at]] == pytest.approx(away.min())
    with pytest.raises(ValueError, match="1 to 256, 3"):
        _raster.nearest(palette[:0].copy(), table)


def test_two_bodies_that_meet_are_cut_where_they_meet():
    """Two large boxes with one centre, one turned: each is seen where its surface is the nearer one, found by rays."""
    scene = mc.Scene()
    turn = (np.cos(0.3), 0.0, np.sin(0.3), 0.0)
    scene.add_body("a", shape=mc.Box((1, 1, 1)))
    scene.add_body("b", shape=mc.Box((1, 1, 1)), orientation=turn)
    world = mc.World(scene)
    painter = Painter(scene, np.array(world.positions)[None], np.array(world.orientations)[None], (200, 150))
    picture = painter.picture(world.positions, world.orientations)
    painted = painter.faces.colors
    of_body = [painted[painter.faces.owners == k].mean(axis=0) for k in (0, 1)]
    camera = painter.camera
    seen = []
    for row in range(20, 130, 5):
        for column in range(20, 180, 5):
            slope = (np.array([column + 0.5, 150 - row - 0.5]) - [100, 75]) / camera.scale
            way = np.array([*slope, -1.0]) @ camera.axes
            hits = world.ray_cast(camera.eye, 50 * way, all=True)
            if len(hits) < 2 or abs(hits[0].distance - hits[1].distance) < 0.2:
                continue
            color = picture[row, column] / 255.0
            off = [np.linalg.norm(color / color.sum() - c / c.sum()) for c in of_body]
            seen.append((hits[0].body.name == "a") == (off[0] < off[1]))
    assert len(seen) > 30 and np.mean(seen) > 0.97
