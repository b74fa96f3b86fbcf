"""Bodies on a page of viser: shapes of one geometry are one batch, so that a frame takes few messages."""

from __future__ import annotations  # signatures read as they are written here

from typing import TYPE_CHECKING

import numpy as np

from mcsim.core.rotation import matrices, multiply
from mcsim.scene import Scene
from mcsim.view.camera import FIELD_OF_VIEW, frame
from mcsim.view.colors import body_colors
from mcsim.view.instances import Batch, batches, shades

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, SceneApi, ViserServer


def aim(server: ViserServer, points: np.ndarray, aspect: tuple[int, int]) -> None:
    """The first look at a page: at all points (k, 3) [m], from where a picture would be drawn. aspect: width and height of
    what is seen, in any unit."""
    camera, view = frame(points, aspect), server.initial_camera
    back = camera.axes[2]
    distance = float(back @ (camera.eye - 0.5 * (points.min(axis=0) + points.max(axis=0))))
    server.scene.set_up_direction("+z")
    view.position, view.look_at, view.up = camera.eye, camera.eye - distance * back, (0.0, 0.0, 1.0)
    view.fov = FIELD_OF_VIEW
    view.near, view.far = distance / 200.0, distance * 50.0


def add_batch(
    api: SceneApi,
    name: str,
    batch: Batch,
    positions: np.ndarray,
    orientations: np.ndarray,
    colors: np.ndarray,
    cast_shadow: bool = True,
) -> BatchedMeshHandle:
    """A batch on a page, for all shapes' positions (s, 3) [m], orientations (s, 4) and colours (s, 3) in 0 to 1. api: a
    viser server's `scene`."""
    return api.add_batched_meshes_simple(
        name,
        batch.vertices,
        batch.triangles,
        orientations[batch.shapes],
        positions[batch.shapes],
        batched_scales=np.asarray(batch.scales, np.float32),
        batched_colors=shades(batch, colors),
        lod="off",
        flat_shading=not batch.smooth,
        side="double" if batch.sheet else "front",
        cast_shadow=cast_shadow,
    )


class Placed:
    """Where the shapes of a scene's bodies are, from where the bodies are. bodies (s,): whose they are."""

    def __init__(self, scene: Scene) -> None:
        parts = [(body, shape) for body in scene.bodies for shape in body.shapes]
        self.bodies = np.array([body.index for body, _ in parts], int)
        self._offset = np.array([shape.position - body.center_of_mass for body, shape in parts]).reshape(-1, 3)
        self._turn = np.array([shape.orientation for _, shape in parts]).reshape(-1, 4)

    def poses(self, positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> (s, 3) [m], (s, 4) of the shapes' frames, for bodies with their centres of mass at (n, 3) [m], turned by
        (n, 4)."""
        turn = orientations[self.bodies]
        moved = np.einsum("sij,sj->si", matrices(turn), self._offset)
        return positions[self.bodies] + moved, multiply(turn.T, self._turn.T).T


class Batches:
    """The bodies of a scene on a page. api: a viser server's `scene`; extent: side of the square that stands for a plane
    [m]; enabled: (n,) the bodies that are drawn, None: those that are enabled in the scene."""

    def __init__(self, api: SceneApi, scene: Scene, extent: float, enabled: np.ndarray | None = None) -> None:
        self.placed = Placed(scene)
        count, colors = len(self.placed.bodies), body_colors(scene)[self.placed.bodies]
        nowhere, upright = np.zeros((count, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        self._handles = [
            (add_batch(api, f"/bodies/{k}", batch, nowhere, upright, colors), batch)
            for k, batch in enumerate(batches(scene, extent, enabled))
        ]

    def move(self, positions: np.ndarray, orientations: np.ndarray) -> None:
        """To where the bodies are now: centres of mass (n, 3) [m] and orientations (n, 4)."""
        places, turns = self.placed.poses(positions, orientations)
        for handle, batch in self._handles:
            handle.batched_positions = places[batch.shapes].astype(np.float32)
            handle.batched_wxyzs = turns[batch.shapes].astype(np.float32)

    def draw(self, enabled: np.ndarray) -> None:
        """These (n,) of the bodies that are drawn, and no others."""
        for handle, batch in self._handles:
            sizes = batch.scales * enabled[self.placed.bodies[batch.shapes], None]
            handle.batched_scales = sizes.astype(np.float32)
