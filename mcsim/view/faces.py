"""All faces of all bodies of a scene as rows of a few arrays, in their bodies' frames."""

from __future__ import annotations  # signatures read as they are written here

import math

import numpy as np

from mcsim.core.rotation import matrices
from mcsim.scene import Scene
from mcsim.view import meshes
from mcsim.view.colors import body_colors

SMALL, LARGE = 60, 300  # numbers of shapes where the detail changes
SIGNS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])


class Faces:
    """vertices (v, 3) and whose they are, vertex_owners (v,); corners (f, 4) of faces, with normals (f, 3), owners (f,),
    shapes (f,), colors (f, 3), outlined (f,), opacity (f,) and casts_shadow (f,). Of shape numbers: sheets (s,). Of bodies:
    centers (n, 3) of mass, moves, dynamic, and radii (n,) about their centres of mass."""

    def __init__(self, scene: Scene, drawn: np.ndarray) -> None:
        """drawn: (n,) which bodies have any."""
        bodies_drawn = [body for body in scene.bodies if drawn[body.index]]
        solid = [(body, shape) for body in bodies_drawn for shape in body.shapes if shape.type != "plane"]
        detail = 20 if len(solid) <= SMALL else 12 if len(solid) <= LARGE else 8
        colors = body_colors(scene)
        made = {shape: meshes.shape_mesh(shape, detail, math.inf) for shape in {shape for _, shape in solid}}
        parts = [(body, made[shape]) for body, shape in solid]
        starts = np.cumsum([0, *(len(mesh.vertices) for _, mesh in parts)])
        counts = np.array([len(mesh.faces) for _, mesh in parts], int)
        bodies = np.array([body.index for body, _ in parts], int)
        self.vertices = np.concatenate([*(mesh.vertices for _, mesh in parts), np.zeros((0, 3))])
        corners = [mesh.faces + start for (_, mesh), start in zip(parts, starts)]
        self.corners = np.ascontiguousarray(np.concatenate([*corners, np.zeros((0, 4), int)]), np.intp)
        self.vertex_owners = np.repeat(bodies, np.diff(starts)).astype(np.intp)
        self.owners = np.repeat(bodies, counts).astype(np.intp)
        self.shapes = np.repeat(np.arange(len(parts)), counts)
        tones = [mesh.tone[:, None] * colors[body.index] for body, mesh in parts]
        self.colors = np.concatenate([*tones, np.zeros((0, 3))])
        self.outlined = np.repeat(np.array([mesh.outlined for _, mesh in parts], bool), counts)
        self.normals = meshes.face_normals(self.vertices, self.corners)
        self.reach = np.einsum("fi,fi->f", self.normals, self.vertices[self.corners[:, 0]])
        self.opacity = np.ones(len(self.corners))
        self.sheets = np.array([not shape.massive for _, shape in solid], bool)
        self.casts_shadow = ~self.sheets[self.shapes]
        self._of_bodies(scene)

    def _of_bodies(self, scene: Scene) -> None:
        self.centers = np.array([body.center_of_mass for body in scene.bodies]).reshape(-1, 3)
        self.moves = np.array([body.kind != "static" for body in scene.bodies], bool)
        self.dynamic = np.array([body.kind == "dynamic" for body in scene.bodies], bool)
        self.radii = np.zeros(len(scene.bodies))
        reach = np.linalg.norm(self.vertices - self.centers[self.vertex_owners], axis=1)
        np.maximum.at(self.radii, self.vertex_owners, reach)
        self._low, self._high = np.full((len(self.centers), 3), np.inf), np.full((len(self.centers), 3), -np.inf)
        np.minimum.at(self._low, self.vertex_owners, self.vertices)
        np.maximum.at(self._high, self.vertex_owners, self.vertices)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.corners)

    def frames(self, positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Origins (n, 3) and rotation matrices (n, 3, 3) of the bodies' frames, of centres of mass (n, 3) and orientations
        (n, 4)."""
        turns = matrices(orientations)
        return positions - np.einsum("nij,nj->ni", turns, self.centers), turns

    def placed(self, positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (v, 3) and normals (f, 3) in the world."""
        origins, turns = self.frames(positions, orientations)
        world = np.einsum("vij,vj->vi", turns[self.vertex_owners], self.vertices) + origins[self.vertex_owners]
        return world, np.einsum("fij,fj->fi", turns[self.owners], self.normals)

    def box_corners(self, positions: np.ndarray, orientations: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The corners (k, 3) in the world of boxes around the chosen bodies, in all frames: positions (t, n, 3),
        orientations (t, n, 4)."""
        local = np.where(SIGNS, self._high[chosen, None], self._low[chosen, None]) - self.centers[chosen, None]
        turns = matrices(orientations[:, chosen].reshape(-1, 4)).reshape(len(positions), len(chosen), 3, 3)
        return (np.einsum("tnij,ncj->tnci", turns, local) + positions[:, chosen, None]).reshape(-1, 3)
