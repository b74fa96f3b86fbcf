"""What is drawn over the bodies of a picture: joints and their axes, contacts and the forces in them, and scales."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mcsim.scene import Scene
from mcsim.view import stamps
from mcsim.view.camera import Projection
from mcsim.view.colors import Colors
from mcsim.view.marks import JointMarks, force_arrows, usual_size

MARKS = ("joints", "contacts")
HALO, HALO_OPACITY = 1.2, 0.75  # pixels of the background's colour around every line, and how much of it
LINE, ARROW = 1.6, 2.2  # pixels wide
HEAD, HEAD_WIDTH = 9.0, 4.2  # pixels: length of an arrow's head, and half its width
PIN, POINT = 3.6, 2.2  # pixels: radii of a joint and of a contact
AROUND = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
CIRCLE = np.stack([np.cos(AROUND), np.sin(AROUND)], axis=1)

Polygons = tuple[np.ndarray, np.ndarray, np.ndarray, float]  # pixels (k, corners, 2), colours, borders' colours and width


class Overlay:
    """Over one scene, from one camera. show: of MARKS; arrow_scale [m/(N s)]: of arrows."""

    def __init__(
        self, scene: Scene, camera: Projection, colors: Colors, show: Iterable[str], arrow_scale: float | None
    ) -> None:
        self._camera, self._colors, self._shown = camera, colors, frozenset(show)
        self._size = usual_size(scene)
        self._dynamic = np.array([body.kind == "dynamic" for body in scene.bodies], bool)
        self._joints = JointMarks(scene, self._size)
        self._arrow_scale = arrow_scale or 0.0
        self._scales: list[tuple[stamps.Scale, tuple[float, ...]]] = []
        if camera.orthographic:
            text, width = tuple(stamps.rgb(colors.text) / 255), camera.size[0]
            self._scales.append((stamps.Scale(1.0 / camera.scale, "m", width), text))
            if arrow_scale and "contacts" in self._shown:
                scale = stamps.Scale(1.0 / (camera.scale * arrow_scale), "N s", width, arrow=True)
                self._scales.append((scale, colors.marks["contacts"]))

    def draw_scales(self, picture: np.ndarray) -> None:
        """The scales into the lower left of a picture."""
        for row, (scale, color) in enumerate(self._scales):
            scale.draw(picture, self._colors, color, row)

    def polygons(self, positions: np.ndarray, orientations: np.ndarray, contacts: np.ndarray | None) -> Iterator[Polygons]:
        """What is filled, one after the other."""
        marks = self._colors.marks
        if "joints" in self._shown:
            rods, axes, points = self._joints.lines(positions, orientations)
            for name, segments in (("joints", rods), ("axes", axes)):
                yield from self._lines(self._seen(segments), LINE, marks[name])
            yield self._discs(points, PIN, np.array(stamps.rgb(self._colors.background)) / 255, marks["joints"])
        if "contacts" in self._shown and contacts is not None and len(contacts):
            arrows = self._seen(force_arrows(contacts, self._dynamic, self._arrow_scale, self._size))
            yield from self._arrows(arrows, marks["contacts"])
            yield self._discs(contacts["position"], POINT, marks["contacts"], marks["contacts"])

    def _seen(self, segments: np.ndarray) -> np.ndarray:
        """Segments (k, 2, 3) [m] in pixels (k, 2, 2), without those that are not before the eye."""
        pixels, depth = self._camera.project(segments)
        return pixels[(depth > self._camera.near).all(axis=1)]

    def _filled(self, polygons: np.ndarray, color: np.ndarray | tuple[float, ...], opacity: float = 1.0) -> Polygons:
        ink = np.tile(np.array([*color, opacity], np.float32), (len(polygons), 1))
        return polygons, ink, ink, 0.0

    def _halo(self, polygons: np.ndarray) -> Polygons:
        return self._filled(polygons, stamps.rgb(self._colors.background) / 255, HALO_OPACITY)

    def _lines(self, lines: np.ndarray, width: float, color: tuple[float, ...]) -> Iterator[Polygons]:
        yield self._halo(_strips(lines, width + 2.0 * HALO))
        yield self._filled(_strips(lines, width), color)

    def _arrows(self, lines: np.ndarray, color: tuple[float, ...]) -> Iterator[Polygons]:
        """Their heads are no longer than they are: short ones are heads alone."""
        way = lines[:, 1] - lines[:, 0]
        length = np.linalg.norm(way, axis=1, keepdims=True)
        along = way / np.maximum(length, 1e-9)
        part = np.minimum(length / HEAD, 1.0)
        neck = lines[:, 1] - HEAD * part * along
        across = HEAD_WIDTH * part * along[:, ::-1] * (-1.0, 1.0)
        heads = np.stack([neck - across, lines[:, 1], lines[:, 1], neck + across], axis=1)
        shafts = np.stack([lines[:, 0], neck], axis=1)
        grown = heads + HALO * np.sign(part)[:, None] * (heads - heads.mean(axis=1, keepdims=True)) / 3.0
        yield self._halo(np.concatenate([_strips(shafts, ARROW + 2.0 * HALO), grown]))
        yield self._filled(np.concatenate([_strips(shafts, ARROW), heads]), color)

    def _discs(self, points: np.ndarray, radius: float, color: Any, border: Any) -> Polygons:
        pixels, depth = self._camera.project(points)
        pixels = pixels[depth > self._camera.near]
        polygons, inner, _, _ = self._filled(pixels[:, None] + radius * CIRCLE, color)
        edge = np.tile(np.array([*border, 1.0], np.float32), (len(polygons), 1))
        return polygons, inner, edge, LINE


def _strips(lines: np.ndarray, width: float) -> np.ndarray:
    """Lines (k, 2, 2) in pixels as polygons (k, 4, 2)."""
    way = lines[:, 1] - lines[:, 0]
    along = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    across = 0.5 * width * along[:, ::-1] * (-1.0, 1.0)
    a, b = lines[:, 0], lines[:, 1]
    return np.stack([a - across, a + across, b + across, b - across], axis=1)
