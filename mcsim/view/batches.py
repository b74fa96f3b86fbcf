"""Bodies on a page of viser: shapes of one geometry are one batch, so that a frame takes few messages."""

from __future__ import annotations  # signatures read as they are written here

from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.rotation import matrices, multiply
from mcsim.scene import Scene
from mcsim.view.colors import body_colors

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, SceneApi

FEW, MANY = 60, 600  # shapes, up to which and from which on round ones have the most and the fewest facets
FACETS = (32, 20, 12)


class Placed:
    """Where the shapes of a scene's bodies are, from where the bodies are.

    bodies (s,): whose they are. groups: of each geometry its vertices (v, 3) [m], triangles (t, 3) and the numbers of its
    shapes. extent: side of the square that stands for a plane [m].
    """

    def __init__(self, scene: Scene, extent: float) -> None:
        parts = [(body, shape) for body in scene.bodies for shape in body.shapes]
        self.bodies = np.array([body.index for body, _ in parts], int)
        self._offset = np.array([shape.position - body.center_of_mass for body, shape in parts]).reshape(-1, 3)
        self._turn = np.array([shape.orientation for _, shape in parts]).reshape(-1, 4)
        detail = FACETS[0 if len(parts) <= FEW else 1 if len(parts) < MANY else 2]
        found: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray, list[int]]] = {}
        for number, (_, shape) in enumerate(parts):
            vertices, triangles = shape.triangles(detail, extent)
            vertices = vertices.astype(np.float32)
            found.setdefault((vertices.tobytes(), triangles.tobytes()), (vertices, triangles, []))[2].append(number)
        self.groups = [(vertices, triangles, np.array(numbers)) for vertices, triangles, numbers in found.values()]

    def poses(self, positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> (s, 3) [m], (s, 4) of the shapes' frames, for bodies with their centres of mass at (n, 3) [m], turned by
        (n, 4)."""
        turn = orientations[self.bodies]
        moved = np.einsum("sij,sj->si", matrices(turn), self._offset)
        return positions[self.bodies] + moved, multiply(turn.T, self._turn.T).T


class Batches:
    """The bodies of a scene on a page. api: a viser server's `scene`; the names of what is drawn begin with `root`."""

    def __init__(self, api: SceneApi, scene: Scene, extent: float, root: str = "/bodies", **look: Any) -> None:
        self.placed = Placed(scene, extent)
        colors = body_colors(scene)[self.placed.bodies] if len(self.placed.bodies) else np.zeros((0, 3))
        self._handles: list[tuple[BatchedMeshHandle, np.ndarray]] = []
        for k, (vertices, triangles, numbers) in enumerate(self.placed.groups):
            handle = api.add_batched_meshes_simple(
                f"{root}/{k}",
                vertices,
                triangles,
                batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (len(numbers), 1)),
                batched_positions=np.zeros((len(numbers), 3)),
                batched_colors=np.round(255 * colors[numbers]).astype(np.uint8),
                flat_shading=True,
                side="double",
                lod="off",
                **look,
            )
            self._handles.append((handle, numbers))

    def move(self, positions: np.ndarray, orientations: np.ndarray) -> None:
        """To where the bodies are now: centres of mass (n, 3) [m] and orientations (n, 4)."""
        places, turns = self.placed.poses(positions, orientations)
        for handle, numbers in self._handles:
            handle.batched_positions = places[numbers].astype(np.float32)
            handle.batched_wxyzs = turns[numbers].astype(np.float32)
