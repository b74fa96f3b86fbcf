"""Meshes against the shapes they stand for: closed, outward, of the right volume."""

import itertools

import numpy as np
import pytest

from mcsim.scene import Box, Capsule, Cone, ConvexHull, Cylinder, HeightField, Mesh, Sphere
from mcsim.view.meshes import face_normals, shape_mesh

TURN = (0.5, 0.5, -0.5, 0.5)
SHAPES = [
    Box((1, 2, 3)),
    Box((1, 2, 3), position=(1, 2, 3), orientation=TURN),
    Sphere(1.5),
    Sphere(1, position=(4, 0, 0)),
    Capsule(0.5, 1),
    Capsule(0.5, 0),
    Capsule(0.3, 2, orientation=TURN),
    Cylinder(1, 0.2),
    Cylinder(0.2, 3),
    Cone(1, 0.2),
    Cone(0.2, 3),
    ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    ConvexHull(list(itertools.product((0, 1), (0, 2), (0, 3)))),
    ConvexHull([(np.cos(a), np.sin(a), z) for a in np.arange(7) for z in (0, 1)]),
]


def triangles(mesh):
    """The faces as triangles (t, 3), without the empty ones of doubled corners."""
    both = np.concatenate([mesh.faces[:, [0, 1, 2]], mesh.faces[:, [0, 2, 3]]])
    corners = mesh.vertices[both]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return corners[area > 1e-12]


@pytest.mark.parametrize("cell", [100.0, 0.4])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_volume_and_center(shape, cell):
    """The divergence theorem over the mesh gives the shape's volume (a little less if it is round) and its middle."""
    corners = triangles(shape_mesh(shape, 48, cell))
    signed = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    volume = signed.sum()
    exact = shape.volume
    round_ = shape.type in ("sphere", "capsule", "cylinder", "cone")
    assert (0.98 * exact < volume < exact) if round_ else volume == pytest.approx(exact)
    center = (signed[:, None] * corners.sum(axis=1)).sum(axis=0) / 4 / volume
    assert np.allclose(center, shape.mass_properties(1.0).center, atol=1e-9)


@pytest.mark.parametrize("detail", [8, 12, 20])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_faces_look_outwards(shape, detail):
    mesh = shape_mesh(shape, detail, 0.7)
    normals = face_normals(mesh.vertices, mesh.faces)
    outward = mesh.vertices[mesh.faces].mean(axis=1) - shape.mass_properties(1.0).center
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    assert (np.einsum("fi,fi->f", normals, outward) > 0).all()
    assert mesh.tone.shape == (len(mesh.faces),) and mesh.faces.max() < len(mesh.vertices)


def test_vertices_lie_on_the_surface():
    mesh = shape_mesh(Capsule(0.5, 1.0), 16, 0.3)
    middle = np.clip(mesh.vertices[:, 2], -1, 1)
    assert np.allclose(np.linalg.norm(mesh.vertices - np.stack([0 * middle, 0 * middle, middle], axis=1), axis=1), 0.5)


def test_long_boxes_are_cut_and_small_ones_are_outlined():
    assert len(shape_mesh(Box((1, 1, 1)), 8, 2.0).faces) == 6 and shape_mesh(Box((1, 1, 1)), 8, 2.0).outlined
    cut = shape_mesh(Box((4, 1, 1)), 8, 2.0)
    assert len(cut.faces) == 4 * 4 + 2 and not cut.outlined


@pytest.mark.parametrize(
    "shape", [Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], position=(1, 2, 3)), HeightField([[0, 1], [2, 3]], 0.5)]
)
def test_surfaces_are_seen_from_both_sides(shape):
    mesh = shape_mesh(shape, 12, 1.0)
    front, back = np.split(face_normals(mesh.vertices, mesh.faces), 2)
    assert np.allclose(front, -back) and (front[:, 2] > 0).all()
