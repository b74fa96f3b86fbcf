"""Draws a scene's bodies as what they are: flat shaded faces, the nearest at each pixel, with shadows on the ground; and
over them, where they are wanted, joints, contacts and forces.

A frame turns the faces of all bodies and fills those that look at the eye into a picture with a depth buffer
(view/_raster.pyx). What stays the same, the ground's grid, Matplotlib draws once.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterable
from typing import Any

import numpy as np

from mcsim.scene import Scene
from mcsim.view import _raster, stamps
from mcsim.view.camera import Camera, Projection, frame
from mcsim.view.colors import COLORS, EDGE
from mcsim.view.enabled import enabled_bodies
from mcsim.view.faces import Faces
from mcsim.view.ground import LIGHT, ground_of
from mcsim.view.overlay import Overlay

DARKEST, BRIGHTEST = 0.60, 1.08  # of a face turned away from the light, and towards it
BORDER = 0.7  # pixels of the outline of a face, inwards: its neighbour has as many
NEARER = 1.001  # of a rod, against what it ends on
GLASS, BLOCKED = 0.10, 0.15  # opacity of what hides more than that share of the bodies
ARROW = 0.22  # of the picture's height, of a usual impulse
PIN = np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])


class Painter:
    """Pictures of one scene from one camera.

    positions (frames, n, 3), orientations (frames, n, 4): what the camera has to frame, as in a Recording (centres of
    mass). size: (width, height) in pixels. camera: a Camera, or the Projection of another painter. theme: "light" or
    "dark". show: names of overlay.MARKS. arrow_scale [m/(N s)]: of arrows; None: what makes usual_impulse [N s] a part of
    the picture's height. drawn: (n,) the bodies that are in any picture; None: those that are enabled in the scene.
    """

    def __init__(
        self,
        scene: Scene,
        positions: np.ndarray,
        orientations: np.ndarray,
        size: tuple[int, int] = (800, 600),
        *,
        camera: Camera | Projection | None = None,
        theme: str = "light",
        show: Iterable[str] = (),
        arrow_scale: float | None = None,
        usual_impulse: float = 0.0,
        drawn: np.ndarray | None = None,
    ) -> None:
        self.colors = COLORS[theme]
        self.title = scene.name
        self._drawn = enabled_bodies(scene) if drawn is None else drawn
        self.faces = Faces(scene, self._drawn)
        self.ground = ground_of(scene, self._drawn)
        self._link(scene)
        self.camera = camera if isinstance(camera, Projection) else self._frame(positions, orientations, size, camera)
        self._hide_what_blocks(positions, orientations)
        if arrow_scale is None and usual_impulse > 0.0:
            arrow_scale = ARROW * size[1] / self.camera.pixels_per_metre() / usual_impulse
        self.overlay = Overlay(scene, self.camera, self.colors, show, arrow_scale)
        self._make_canvas()

    # ---- what is drawn ----------------------------------------------------------------------------------------------

    def _link(self, scene: Scene) -> None:
        """Rods from a body to those of its joints that lie outside it: strings, hangers, cranks without a shape."""
        index = {body.name: body.index for body in scene.bodies}
        centers, radii = self.faces.centers, self.faces.radii
        ends = []  # (body, point in its frame)
        pins = []  # points of the world that something hangs on
        for joint in scene.joints:
            if not all(self._drawn[index[name]] for name in (joint.a, joint.b) if name is not None):
                continue
            for name, place in ((joint.a, joint.frame_a), (joint.b, joint.frame_b)):
                if place is None:
                    continue
                if name is None:
                    pins.append(place[0])
                elif np.linalg.norm(place[0] - centers[index[name]]) > 1.05 * radii[index[name]]:
                    ends.append((index[name], place[0]))
        self.rod_owner = np.array([body for body, _ in ends], int)
        self.rod_end = np.array([point for _, point in ends]).reshape(-1, 3)
        outward = self.rod_end - centers[self.rod_owner]
        reach = radii[self.rod_owner] / np.maximum(np.linalg.norm(outward, axis=1), 1e-300)
        self.rod_start = centers[self.rod_owner] + 0.98 * reach[:, None] * outward
        self.pins = np.array(pins).reshape(-1, 3)

    def _frame(
        self, positions: np.ndarray, orientations: np.ndarray, size: tuple[int, int], camera: Camera | None
    ) -> Projection:
        """The camera that sees what moves, in all frames, and what stands among it."""
        faces = self.faces
        some = np.unique(np.linspace(0, len(positions) - 1, 60).astype(int))
        moving = np.flatnonzero(faces.moves & (faces.radii > 0))
        points = faces.box_corners(positions[some], orientations[some], moving)
        # A few that fly off do not make the others small.
        middle = np.median(positions[some][:, moving].reshape(-1, 3), axis=0) if len(moving) else np.zeros(3)
        away = np.linalg.norm(points - middle, axis=1)
        if len(points):
            points = points[away <= 3.0 * np.percentile(away, 90)]
        points = np.concatenate([points, self.pins])
        span = np.linalg.norm(np.ptp(points, axis=0)) if len(points) else np.inf
        still = np.flatnonzero(~faces.moves & (faces.radii > 0) & (faces.radii < 0.6 * span))
        points = np.concatenate([points, faces.box_corners(positions[:1], orientations[:1], still)])
        return frame(points if len(points) else np.array([[-1.0] * 3, [1.0] * 3]), size, camera, stamps.CAPTION)

    def _hide_what_blocks(self, positions: np.ndarray, orientations: np.ndarray) -> None:
        """Statics and kinematics that stand between the eye and many bodies become glass."""
        faces = self.faces
        targets = np.concatenate([positions[0, faces.dynamic], positions[-1, faces.dynamic]])
        if not len(faces) or not len(targets):
            return
        world, normals = faces.placed(positions[0], orientations[0])
        starts, rays = self.camera.rays_to(targets)
        for shape in np.unique(faces.shapes[~faces.dynamic[faces.owners]]):
            own = np.flatnonzero(faces.shapes == shape)
            if faces.sheets[shape]:
                for side in np.split(own, 2):
                    if _share_blocked(world[faces.corners[side, :3]], starts, rays) > BLOCKED:
                        faces.opacity[side] = GLASS
            elif _share_inside(world[faces.corners[own, 0]], normals[own], starts, rays) > BLOCKED:
                faces.opacity[own] = GLASS
                faces.casts_shadow[own] = False

    # ---- the picture ------------------------------------------------------------------------------------------------

    def _make_canvas(self) -> None:
        """What is behind the bodies in every frame, and where the samples of a frame go."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure

        width, height = self.camera.size
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=self.colors.background)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(0, height)
        axes.axis("off")
        self._shadowed = self.ground is not None and self.ground.is_seen(self.camera)
        if self.ground is not None and self._shadowed:
            segments, left = self.ground.grid(self.camera)
            grid = np.column_stack([np.tile(self.colors.grid, (len(left), 1)), left])
            axes.add_collection(LineCollection(list(segments), colors=grid, linewidths=0.8), autolim=False)
        elif self.ground is not None and self.ground.is_flat(self.camera):
            edge = LineCollection(list(self.ground.edge(self.camera)), colors=[self.colors.grid], linewidths=0.9)
            axes.add_collection(edge, autolim=False)
        canvas.draw()
        self.background = np.asarray(canvas.buffer_rgba())[..., :3].repeat(_raster.SAMPLES, axis=0)
        self.background = self.background.repeat(_raster.SAMPLES, axis=1)
        self.samples, self.depths = self.background.copy(), np.zeros(self.background.shape[:2], np.float32)
        self._places = np.empty((len(self.faces.vertices), 3), np.float32)
        self._opaque = (self.faces.opacity >= 1.0).astype(np.uint8)
        self._casting = self.faces.casts_shadow.astype(np.uint8)
        self._outlined = self.faces.outlined.astype(np.uint8)

    def picture(
        self,
        positions: np.ndarray,
        orientations: np.ndarray,
        label: str = "",
        contacts: np.ndarray | None = None,
        title: str | None = None,
        drawn: np.ndarray | None = None,
    ) -> np.ndarray:
        """The picture (height, width, 3) uint8 of centres of mass (n, 3) and orientations (n, 4). label: in the upper
        right; contacts: as a world has them; title: in the upper left, by default the scene's name; drawn: (n,) the bodies
        that are in this picture, by default all that are in any."""
        frames = self.faces.frames(positions, orientations)
        if drawn is not None:
            frames[1][~drawn] = 0.0  # their faces have no area
        self.samples[:] = self.background
        self.depths.fill(self.camera.nowhere)
        if self._shadowed:
            self._fill_shadows(*frames)
        self._fill_faces(*frames)
        for polygons, face, border, width in (self._rods(*frames), self._glass(positions, orientations)):
            if len(polygons):
                _raster.fill(polygons, face, border, width, self.samples, self.depths)
        for polygons, face, border, width in self.overlay.polygons(positions, orientations, contacts):
            _raster.fill(self._on_top(polygons), face, border, _raster.SAMPLES * width, self.samples, None)
        picture = np.empty((*self.camera.size[::-1], 3), np.uint8)
        _raster.finish(self.samples, picture)
        stamps.write(picture, self.title if title is None else title, label, self.colors)
        self.overlay.draw_scales(picture)
        return picture

    def _place(self, turns: np.ndarray, origins: np.ndarray) -> np.ndarray:
        """Where the vertices (v, 3) are among the samples, of bodies' frames in the world."""
        camera, faces = self.camera, self.faces
        turns = np.ascontiguousarray(camera.axes @ turns)
        origins = np.ascontiguousarray((origins - camera.eye) @ camera.axes.T)
        scale = _raster.SAMPLES * camera.scale
        _raster.project(
            faces.vertices, faces.vertex_owners, turns, origins, scale, camera.near, camera.orthographic, self._places
        )
        return self._places

    def _fill_faces(self, origins: np.ndarray, turns: np.ndarray) -> None:
        faces, seer = self.faces, self.camera.seer()
        eyes = np.einsum("nji,nj->ni", turns, seer[:3] - seer[3] * origins)
        _raster.fill_faces(
            self._place(turns, origins),
            faces.corners,
            faces.normals,
            faces.reach,
            faces.owners,
            np.column_stack([eyes, np.full(len(eyes), seer[3])]),
            np.ascontiguousarray(LIGHT @ turns),
            faces.colors,
            self._outlined,
            self._opaque,
            DARKEST,
            BRIGHTEST,
            EDGE,
            BORDER * _raster.SAMPLES,
            self.camera.orthographic,
            self.samples,
            self.depths,
        )

    def _fill_shadows(self, origins: np.ndarray, turns: np.ndarray) -> None:
        assert self.ground is not None
        onto, shift = self.ground.shadow_map()
        _raster.fill_shadows(
            self._place(onto @ turns, origins @ onto.T + shift),
            self.faces.corners,
            self.faces.normals,
            self.faces.owners,
            np.ascontiguousarray(LIGHT @ turns),
            self._casting,
            np.array([*self.colors.shadow, 1.0], np.float32),
            self.camera.orthographic,
            self.samples,
        )

    def _sampled(self, pixels: np.ndarray, nearness: Any) -> np.ndarray:
        """What is filled (k, corners, 3), of pixels (k, corners, 2) from the lower left and nearness (k, corners)."""
        corners = np.empty((*pixels.shape[:2], 3), np.float32)
        corners[..., 0] = _raster.SAMPLES * pixels[..., 0]
        corners[..., 1] = _raster.SAMPLES * (self.camera.size[1] - pixels[..., 1])
        corners[..., 2] = nearness
        return corners

    def _on_top(self, pixels: np.ndarray) -> np.ndarray:
        return self._sampled(pixels, 0.0)

    def _rods(self, origins: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Rods as thin polygons and pins as small squares: corners among the samples, colours, width of borders."""
        turns, origins = turns[self.rod_owner], origins[self.rod_owner]
        b = np.einsum("kij,kj->ki", turns, self.rod_end) + origins
        a = np.einsum("kij,kj->ki", turns, self.rod_start) + origins
        (pa, depth_a), (pb, depth_b), (at, depth) = (self.camera.project(points) for points in (a, b, self.pins))
        across = (pb - pa)[:, ::-1] * (-1.0, 1.0)
        across *= 0.7 / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
        rods = np.stack([pa - across, pa + across, pb + across, pb - across], axis=1)
        polygons = np.concatenate([rods, at[:, None] + 2.5 * PIN])
        depths = np.concatenate([np.stack([depth_a, depth_a, depth_b, depth_b], axis=1), np.tile(depth[:, None], (1, 4))])
        seen = (depths > self.camera.near).all(axis=1)
        color = np.tile(np.array([*self.colors.rod, 1.0], np.float32), (int(seen.sum()), 1))
        return self._sampled(polygons[seen], self.camera.nearness(depths[seen] / NEARER)), color, color, 0.0

    def _glass(self, positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """What lets light through, from back to front, as _rods has it."""
        faces, camera = self.faces, self.camera
        clear = np.flatnonzero(self._opaque == 0)
        width = BORDER * _raster.SAMPLES
        if not len(clear):
            return np.zeros((0, 4, 3)), np.zeros((0, 4)), np.zeros((0, 4)), width
        world, normals = faces.placed(positions, orientations)
        seer = camera.seer()
        corners, normals = world[faces.corners[clear]], normals[clear]
        facing = np.einsum("fi,fi->f", normals, seer[:3] - seer[3] * corners[:, 0]) > 0.0
        pixels, depth = camera.project(corners)
        facing &= (depth > camera.near).all(axis=1)
        order = np.flatnonzero(facing)
        order = order[np.argsort(-depth[order].mean(axis=1), kind="stable")]
        light = DARKEST + (BRIGHTEST - DARKEST) * (normals[order] @ LIGHT + 1.0) / 2.0
        clear = clear[order]
        color = np.column_stack([np.minimum(faces.colors[clear] * light[:, None], 1.0), faces.opacity[clear]])
        edge = color * [EDGE, EDGE, EDGE, 1.0]
        edge[:, 3] = np.where(faces.outlined[clear], 0.5, edge[:, 3])
        polygons = self._sampled(pixels[order], camera.nearness(depth[order]))
        return polygons, color.astype(np.float32), edge.astype(np.float32), width


def _share_blocked(triangles: np.ndarray, starts: np.ndarray, rays: np.ndarray) -> float:
    """Which part of the rays start + t ray, 0 < t < 1, meets one of the triangles (t, 3, 3) from its front."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    blocked = 0
    for start, ray in zip(starts, rays):
        a, b, c = (triangles[:, k] - start for k in range(3))
        before = np.einsum("ti,ti->t", a, normals)
        met = before < 0.0
        for u, v in ((a, b), (b, c), (c, a)):
            met &= np.cross(u, v) @ ray <= 0.0
        blocked += bool(np.any(before[met] > (normals[met] @ ray) * 0.999))
    return blocked / len(rays)


def _share_inside(corners: np.ndarray, normals: np.ndarray, starts: np.ndarray, rays: np.ndarray) -> float:
    """Which part of the rays start + t ray, 0 <= t <= 1, meets a convex shape, whose faces have these corners and normals
    (f, 3)."""
    gap = np.einsum("fi,fi->f", corners, normals)[:, None] - normals @ starts.T
    slope = normals @ rays.T
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap / slope
    enter = np.where(slope < 0, t, 0.0).max(axis=0, initial=0.0)
    leave = np.where(slope > 0, t, 1.0).min(axis=0, initial=1.0)
    outside = ((np.abs(slope) < 1e-12) & (gap < 0)).any(axis=0)
    return float(np.mean((enter < leave) & ~outside))
