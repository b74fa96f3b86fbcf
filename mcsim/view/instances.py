"""The shapes of a scene as few meshes, each drawn at many places: what a graphics processor wants."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from mcsim.scene import Scene
from mcsim.scene.shapes import Plane, Shape
from mcsim.scene.shapes._facets import Facets, halved
from mcsim.view.enabled import enabled_bodies

DETAIL = 24  # facets around a round shape
GROUND = np.array((0.93, 0.93, 0.92))
STRIPE = 0.78  # brightness of the darker sectors of round shapes, by which one sees them turn


@dataclass(frozen=True)
class Batch:
    """One mesh and where it stands: vertices (v, 3), triangles (t, 3); shapes (k,): their numbers in
    world.shape_poses(); scales (k, 3); tone: brightness; moving: of dynamic bodies; smooth: shaded as round; sheet: seen
    from both sides; plane: it stands for planes."""

    vertices: np.ndarray
    triangles: np.ndarray
    shapes: np.ndarray
    scales: np.ndarray
    tone: float
    moving: bool
    smooth: bool
    sheet: bool
    plane: bool


def batches(scene: Scene, extent: float, enabled: np.ndarray | None = None) -> list[Batch]:
    """The meshes of a scene: one for all boxes, one for all capsules of one form, … extent: side of a plane's square
    [m]; enabled: (n,) the bodies that are drawn, the others have no size; None: those that are enabled in the scene."""
    enabled = enabled_bodies(scene) if enabled is None else enabled
    found: dict[Hashable, tuple[Any, bool, list[int], list[Any]]] = {}
    number = 0
    for body in scene.bodies:
        for shape in body.shapes:
            form, scale = shape.form()
            key = (shape.type, form, body.kind == "dynamic")
            _, _, numbers, scales = found.setdefault(key, (form, body.kind == "dynamic", [], []))
            numbers.append(number)
            scales.append(scale if enabled[body.index] else (0.0, 0.0, 0.0))
            number += 1
    made = []
    for form, moving, numbers, scales in found.values():
        places = np.array(numbers), np.array(scales, float)
        for vertices, triangles, tone in _meshes(form, extent):
            smooth = form.type in ("sphere", "capsule", "ellipsoid", "tapered_capsule")
            plane = isinstance(form, Plane)
            made.append(Batch(vertices, triangles, *places, tone, moving, smooth, not form.massive, plane))
    return made


def shades(batch: Batch, colors: np.ndarray) -> np.ndarray:
    """(k, 3) uint8: the batch's share of the colours (s, 3) of all shapes, in 0 to 1; planes have that of the ground."""
    found = batch.tone * colors[batch.shapes]
    if batch.plane:
        found = np.broadcast_to(GROUND, found.shape)
    return np.asarray(255.0 * np.clip(found, 0.0, 1.0) + 0.5, np.uint8)


def _meshes(form: Shape, extent: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """-> (vertices, triangles, tone) of a shape, the darker sectors of a round one apart."""
    if isinstance(form, Plane) or not form.massive:
        return [(*form.triangles(DETAIL, extent), 1.0)]
    facets = form.facets(DETAIL, inf)
    if facets.dark is None or not facets.dark.any():
        return [(*form.triangles(DETAIL), 1.0)]
    return [
        (*halved(Facets(facets.vertices, facets.faces[facets.dark == dark])), tone)
        for dark, tone in ((False, 1.0), (True, STRIPE))
    ]


def boxes(made: list[Batch], positions: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-> lowest and highest corners (s, 3) of the boxes along the world's axes around all shapes, which are at positions
    (s, 3) with axes (s, 3, 3); of planes NaN. made: their batches."""
    low, high = np.full_like(positions, np.nan), np.full_like(positions, np.nan)
    for batch in made:
        chosen = batch.shapes
        if batch.plane:
            continue
        corners = (batch.scales[:, None] * batch.vertices) @ rotations[chosen].swapaxes(1, 2) + positions[chosen, None]
        low[chosen] = np.fmin(low[chosen], corners.min(axis=1))
        high[chosen] = np.fmax(high[chosen], corners.max(axis=1))
    return low, high
