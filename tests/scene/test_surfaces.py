"""Mesh and HeightField as parts of a scene: checks, files, copies."""

import copy
import json
import pickle

import numpy as np
import pytest

import mcsim as mc

CORNERS = [(0.1, 0, 0), (1, 0, 0.3), (0, 1, 1 / 3), (1, 1, 0)]
FACES = [(0, 1, 2), (2, 1, 3)]
HEIGHTS = [[0, 0.1, 1 / 3], [1, 2, -0.7]]


def on_ground(shape, **arguments):
    scene = mc.Scene()
    scene.add_body("ground", shape=shape, **{"kind": "static"} | arguments)
    return scene


@pytest.mark.parametrize(
    "shape",
    [
        mc.Mesh(CORNERS, FACES),
        mc.Mesh(np.array(CORNERS), np.array(FACES, np.int16), position=(1, 2, 3)),
        mc.HeightField(HEIGHTS, 0.5),
        mc.HeightField(np.array(HEIGHTS), (0.5, 0.1), material=mc.Material(0.1)),
    ],
    ids=lambda shape: shape.type,
)
def test_files_and_copies_are_the_same(shape, tmp_path):
    scene = on_ground(shape)
    scene.save(tmp_path / "scene.json")
    loaded = mc.load(tmp_path / "scene.json")
    assert loaded.bodies[0].shapes[0] == shape
    assert json.loads((tmp_path / "scene.json").read_text()) == scene.to_dict() == loaded.to_dict()
    for other in (copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
        assert other.bodies[0].shapes[0] == shape and hash(other.bodies[0].shapes[0]) == hash(shape)
    mc.World(loaded).step()


def test_arrays_are_kept_and_locked():
    vertices = np.array(CORNERS)
    mesh = mc.Mesh(vertices, FACES)
    vertices[0] = 9
    assert np.array_equal(mesh.vertices, np.array(CORNERS))
    assert mesh.faces.tolist() == [list(face) for face in FACES]
    for array in (mesh.vertices, mesh.faces, mc.HeightField(HEIGHTS, 1).heights):
        with pytest.raises(ValueError):
            array[0] = 1
    assert mesh != mc.Mesh(CORNERS, FACES[::-1]) and mesh != mc.HeightField(HEIGHTS, 1)
    assert repr(mesh) == "<Mesh: 4 vertices, 2 faces>" and "2 by 3" in repr(mc.HeightField(HEIGHTS, 1))


def test_a_height_field_is_centred():
    vertices, faces = mc.HeightField(HEIGHTS, (0.5, 0.2)).triangles()
    assert np.allclose(
        vertices, [(-0.25, -0.2, 0), (-0.25, 0, 0.1), (-0.25, 0.2, 1 / 3), (0.25, -0.2, 1), (0.25, 0, 2), (0.25, 0.2, -0.7)]
    )
    a, b, c = vertices[faces].swapaxes(0, 1)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    assert 0.5 * np.cross(b - a, c - a)[:, 2].sum() == pytest.approx(0.5 * 0.4)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mc.Mesh([(0, 0, 0), (1, 0, np.nan), (0, 1, 0)], [(0, 1, 2)]), "vertices[1][2] must be finite, got nan"),
        (lambda: mc.Mesh(np.array([(0, 0, 0), (1, np.inf, 0), (0, 1, 0)]), [(0, 1, 2)]), "vertices[1][1] must be finite"),
        (lambda: mc.Mesh([(0, 0), (1, 0), (0, 1)], [(0, 1, 2)]), "vertices[0] must be 3 numbers, got 2"),
        (lambda: mc.Mesh(np.zeros((3, 2)), [(0, 1, 2)]), "vertices must be rows of 3 numbers"),
        (lambda: mc.Mesh(np.full((3, 3), 1e60), [(0, 1, 2)]), "vertices[0][0] must be below 1e+50 m"),
        (lambda: mc.Mesh(CORNERS, [(0, 1, 2), (0, 1, 4)]), "faces[1] names vertex 4, but the 4 vertices are numbered"),
        (lambda: mc.Mesh(CORNERS, np.array([(0, 1, 2), (0, -1, 3)])), "faces[1] names vertex -1"),
        (lambda: mc.Mesh(CORNERS, [(0, 1, 2), (0, 1)]), "faces[1] must be three vertex numbers"),
        (lambda: mc.Mesh(CORNERS, [(0, 1, 2.0)]), "faces[0] must be three vertex numbers"),
        (lambda: mc.Mesh(CORNERS, [(0, 1, 10**30)]), "faces[0] names vertex 1000000000000000000000000000000"),
        (lambda: mc.Mesh(CORNERS, []), "faces must be at least one"),
        (lambda: mc.Mesh(CORNERS, [(0, 1, 1)]), "faces have no area"),
        (lambda: mc.Mesh(CORNERS, 7), "faces must be a list of rows of three vertex numbers"),
        (lambda: mc.HeightField([[0, 1], [2, np.nan]], 1), "heights[1][1] must be finite, got nan"),
        (lambda: mc.HeightField([[0, 1, 2]], 1), "heights must be at least 2 by 2 numbers, got 1 by 3"),
        (lambda: mc.HeightField([[0], [1]], 1), "heights must be at least 2 by 2 numbers, got 2 by 1"),
        (lambda: mc.HeightField([[0, 1], [2]], 1), "heights[1] must be 2 numbers, got 1"),
        (lambda: mc.HeightField([], 1), "heights must be at least 2 by 2"),
        (lambda: mc.HeightField(HEIGHTS, 0), "spacing must be positive, got 0"),
        (lambda: mc.HeightField(HEIGHTS, (1, -1)), "spacing[1] must be positive"),
        (lambda: mc.HeightField(HEIGHTS, (1, 1, 1)), "spacing must be 2 numbers, got 3"),
        (lambda: mc.HeightField(HEIGHTS, "1"), "spacing"),
        (lambda: on_ground(mc.Mesh(CORNERS, FACES), kind="dynamic"), "'ground': shapes[0] is a Mesh, which no dynamic"),
        (lambda: on_ground(mc.HeightField(HEIGHTS, 1), kind="dynamic", mass=1, inertia=(1, 1, 1)), "is a HeightField"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(mc.SceneError) as error:
        make()
    assert message in str(error.value)


def test_a_wrong_file_names_the_place(tmp_path):
    data = on_ground(mc.Mesh(CORNERS, FACES)).to_dict()
    data["bodies"][0]["shapes"][0]["faces"][1][2] = 5
    (tmp_path / "scene.json").write_text(json.dumps(data))
    with pytest.raises(mc.SceneError, match=r"scene.json: bodies\[0\].shapes\[0\].faces\[1\] names vertex 5"):
        mc.load(tmp_path / "scene.json")


def test_surfaces_have_no_mass():
    """A static body's centre of mass is that of its solids; a kinematic one may have surfaces too."""
    scene = mc.Scene()
    body = scene.add_body(kind="kinematic", shape=[mc.Mesh(CORNERS, FACES), mc.Sphere(0.1, position=(1, 2, 3))])
    assert np.allclose(body.center_of_mass, (1, 2, 3))
    with pytest.raises(mc.SceneError, match="has no mass"):
        mc.Mesh(CORNERS, FACES).mass_properties(1000.0)
