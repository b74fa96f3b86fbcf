"""Shapes as flat faces. Every face has four corners; a triangle repeats its last one.

All faces point outwards (counter-clockwise seen from outside), so that the painter can leave out those that look away.
"""

from dataclasses import dataclass

import numpy as np

from mcsim.core.rotation import matrix

STRIPE = 0.80                                             # brightness of the darker sectors of round shapes


@dataclass(frozen=True)
class Mesh:
    """vertices (v, 3) in the body's frame [m]; faces (f, 4) vertex numbers; outlined: each face has a drawn edge.

    tone (f,): factor on the body's colour. Round shapes have darker sectors, so that one sees them turn.
    """

    vertices: np.ndarray
    faces: np.ndarray
    tone: np.ndarray
    outlined: bool


def shape_mesh(shape, detail, cell):
    """The mesh of any shape but a plane. detail: facets around a round shape; cell: longest side of a face [m]."""
    mesh = MAKERS[shape.type](shape, detail, cell)
    vertices = mesh.vertices @ matrix(shape.orientation).T + shape.position
    return Mesh(vertices, mesh.faces, mesh.tone, mesh.outlined)


def _box(shape, detail, cell):
    """Six faces, each a grid of cells, so that the painter can put other bodies between the parts of a long one."""
    half = shape.half_extents
    counts = np.clip(np.ceil(2 * half / cell - 1e-9), 1, 24).astype(int)
    vertices, faces = [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        us = np.linspace(-half[u], half[u], counts[u] + 1)
        vs = np.linspace(-half[v], half[v], counts[v] + 1)
        sheet = np.zeros((len(us), len(vs), 3))
        sheet[..., u], sheet[..., v] = us[:, None], vs[None, :]
        for sign in (1.0, -1.0):
            sheet[..., axis] = sign * half[axis]
            faces.append(sum(map(len, vertices)) + _lattice(len(us), len(vs), flipped=sign < 0))
            vertices.append(sheet.reshape(-1, 3).copy())
    faces = np.concatenate(faces)
    return Mesh(np.concatenate(vertices), faces, np.ones(len(faces)), outlined=bool((counts == 1).all()))


def _lattice(rows, columns, flipped=False):
    """The faces (f, 4) of a rows x columns sheet of vertices."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    faces = np.stack([corner, corner + columns, corner + columns + 1, corner + 1], axis=1)
    return faces[:, ::-1] if flipped else faces


def _revolved(radii, heights, detail):
    """The surface of revolution about z through (radius, height), from the lowest to the highest."""
    angles = np.linspace(0.0, 2 * np.pi, detail, endpoint=False)
    rings = np.stack([radii[:, None] * np.cos(angles), radii[:, None] * np.sin(angles),
                      np.broadcast_to(heights[:, None], (len(radii), detail))], axis=2)
    lower = (np.arange(len(radii) - 1)[:, None] * detail + np.arange(detail)).ravel()
    turn = np.where(np.arange(len(lower)) % detail == detail - 1, 1 - detail, 1)
    faces = np.stack([lower, lower + turn, lower + turn + detail, lower + detail], axis=1)
    return rings.reshape(-1, 3), faces


def _sectors(faces, detail, sectors):
    """Brightness of faces made by _revolved: every second sector is darker."""
    around = np.arange(len(faces)) % detail * sectors // detail
    return np.where(around % 2 == 0, 1.0, STRIPE)


def _sphere(shape, detail, cell):
    latitudes = np.linspace(-np.pi / 2, np.pi / 2, max(detail // 2, 4) + 1)
    vertices, faces = _revolved(shape.radius * np.cos(latitudes), shape.radius * np.sin(latitudes), detail)
    return Mesh(vertices, faces, _sectors(faces, detail, 4), outlined=False)


def _capsule(shape, detail, cell):
    if shape.half_length == 0.0:
        return _sphere(shape, detail, cell)
    cap = np.linspace(0.0, np.pi / 2, max(detail // 4, 2) + 1)
    middle = np.linspace(-1.0, 1.0, int(np.clip(np.ceil(2 * shape.half_length / cell), 1, 12)) + 1)[1:-1]
    radii = shape.radius * np.concatenate([np.cos(cap[::-1]), np.ones(len(middle)), np.cos(cap)])
    heights = np.concatenate([-shape.half_length - shape.radius * np.sin(cap[::-1]), middle * shape.half_length,
                              shape.half_length + shape.radius * np.sin(cap)])
    vertices, faces = _revolved(radii, heights, detail)
    return Mesh(vertices, faces, np.ones(len(faces)), outlined=False)


def _cylinder(shape, detail, cell):
    r, h = shape.radius, shape.half_length
    vertices, faces = _revolved(np.array([0.0, r, r, 0.0]), np.array([-h, -h, h, h]), detail)
    return Mesh(vertices, faces, _sectors(faces, detail, 4), outlined=False)


def _hull(shape, detail, cell):
    """Faces with up to four corners as they are, others as a fan without edges."""
    faces = []
    for face in shape.faces:
        if len(face) <= 4:
            faces.append([*face, face[-1]][:4])
        else:
            faces += [[face[0], face[k], face[k + 1], face[k + 1]] for k in range(1, len(face) - 1)]
    outlined = all(len(face) <= 4 for face in shape.faces)
    return Mesh(shape.vertices, np.array(faces), np.ones(len(faces)), outlined)


def _mesh(shape, detail, cell):
    """The triangles as they are."""
    return _sheet(shape.vertices, shape.faces)


def _height_field(shape, detail, cell):
    return _sheet(*shape.triangles())


def _sheet(vertices, faces):
    """Triangles that one sees from either side: each stands here once each way."""
    faces = np.concatenate([faces[:, [0, 1, 2, 2]], faces[:, [0, 2, 1, 1]]])
    return Mesh(vertices, faces, np.ones(len(faces)), outlined=False)


# Shape type -> maker. Planes are not meshes: they are drawn as ground.
MAKERS = {"box": _box, "sphere": _sphere, "capsule": _capsule, "cylinder": _cylinder, "hull": _hull, "mesh": _mesh,
          "height_field": _height_field}


def face_normals(vertices, faces):
    """Unit outward normals (f, 3), from the diagonals, so that a triangle's doubled corner does not matter."""
    normals = np.cross(vertices[faces[:, 2]] - vertices[faces[:, 0]], vertices[faces[:, 3]] - vertices[faces[:, 1]])
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
