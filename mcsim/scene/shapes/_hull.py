"""ConvexHull: its arguments, its mass, its picture."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.core.linear import lengths
from mcsim.scene.checks import Vector, items, vectors
from mcsim.scene.hull import convex_hull
from mcsim.scene.mass import MassProperties, polyhedron
from mcsim.scene.materials import Material
from mcsim.scene.shapes._facets import Facets
from mcsim.scene.shapes._rounded import Polyhedron, polyhedron_facets, radius_of_ball, rounded_polyhedron
from mcsim.scene.shapes._shape import ORIGIN, UPRIGHT, Points, Shape


class ConvexHull(Shape):
    """The convex hull of `points` (n, 3) [m], given in the shape's frame; at most 256 of them may be its vertices.

    Those inside are dropped, and triangles in one plane become one face. Read-only arrays, in the shape's frame:
    vertices (v, 3); faces, a list of arrays of vertex numbers, counter-clockwise seen from outside;
    face_normals (f, 3), unit, outwards; face_offsets (f,), n·x = offset; edges (e, 2), vertex numbers;
    radius, of the sphere about the shape's origin that holds every vertex.

    rounding: [m] radius of the ball that sweeps it, 0: none. A rounded hull reaches by that much farther on all sides; its
    edges and corners are as round as the ball. The arrays are those of the hull without it.

        ConvexHull([(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)], rounding=0.02)
    """

    type = "hull"
    vertices: np.ndarray
    faces: list[np.ndarray]
    face_normals: np.ndarray
    face_offsets: np.ndarray
    edges: np.ndarray
    radius: float
    _solid: MassProperties
    _thickness: float

    def __init__(
        self,
        points: Points,
        *,
        rounding: float = 0.0,
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        material: Material | None = None,
        density: float | None = None,
        sensor: bool = False,
    ):
        rows = items(points, "a list of points, 3 numbers each", "points")
        points = vectors(rows, "points")
        rounding = radius_of_ball(rounding)
        hull = convex_hull(np.array(points))
        solid = polyhedron(hull.triangles, 1.0)
        if rounding > 0.0:
            solid = rounded_polyhedron(solid, Polyhedron(hull.vertices, hull.faces, hull.face_normals), rounding)
        self._describe(
            {
                "points": points,
                "rounding": rounding,
                "position": position,
                "orientation": orientation,
                "material": material,
                "density": density,
                "sensor": sensor,
            },
            ORIGIN,
            vertices=hull.vertices,
            faces=hull.faces,
            face_normals=hull.face_normals,
            face_offsets=hull.face_offsets,
            edges=hull.edges,
            radius=float(np.max(lengths(hull.vertices))),
            rounding=rounding,
            _thickness=hull.thickness + 2.0 * rounding,
            _solid=solid,
        )

    @property
    def thickness(self) -> float:
        """[m] The least distance of a face from the corner that is farthest from it."""
        return self._thickness

    def _centred(self, density: float) -> MassProperties:
        return self._solid.scaled(density)

    def __repr__(self) -> str:
        rounded = f", rounding {self.rounding:g} m" if self.rounding > 0.0 else ""
        return f"<ConvexHull: {len(self.vertices)} vertices, {len(self.faces)} faces, {len(self.edges)} edges{rounded}>"

    @property
    def reach(self) -> float:
        return self.radius + self.rounding

    @property
    def extent(self) -> float:
        return float(max(np.ptp(self.vertices, axis=0))) + 2.0 * self.rounding

    def facets(self, detail: int, cell: float) -> Facets:
        """Faces with up to four corners as they are, others as a fan without edges."""
        if self.rounding > 0.0:
            return polyhedron_facets(Polyhedron(self.vertices, self.faces, self.face_normals), self.rounding, detail)
        faces = []
        for face in self.faces:
            if len(face) <= 4:
                faces.append([*face, face[-1]][:4])
            else:
                faces += [[face[0], face[k], face[k + 1], face[k + 1]] for k in range(1, len(face) - 1)]
        return Facets(self.vertices, np.array(faces), outlined=all(len(face) <= 4 for face in self.faces))
