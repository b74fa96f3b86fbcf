"""Draws a scene's bodies as what they are: flat shaded faces, the nearest at each pixel, with shadows on the ground.

All faces of all bodies are rows of a few arrays. A frame turns them, drops those that look away, and fills the rest into a
picture with a depth buffer (view/_raster.pyx). What stays the same, the ground's grid and the title, Matplotlib draws once.
"""

import math

import numpy as np

from mcsim.core.rotation import matrices, normalized
from mcsim.view import _raster, meshes
from mcsim.view.camera import frame
from mcsim.view.colors import BACKGROUND, EDGE, GRID, ROD, SHADOW, TEXT, body_colors

LIGHT = normalized(np.array([-0.45, -0.55, 1.0]))  # towards the light
DARKEST = 0.60  # brightness of a face turned away from the light
LETTERS = 15  # pixels high
LABEL, LABEL_WIDTH = 32, 300  # pixels that the label may take
BORDER = 0.7  # pixels of the outline of a face, inwards: its neighbour has as many
NEARER = 1.001  # of a rod, against what it ends on
SMALL, LARGE = 60, 300  # numbers of shapes where the detail changes


class Painter:
    """Pictures of one scene from one camera.

    positions (frames, n, 3), orientations (frames, n, 4): what the camera has to frame, as in a Recording (centres of
    mass). size: (width, height) in pixels.
    """

    def __init__(self, scene, positions, orientations, size=(800, 600)):
        self.centers = np.array([body.center_of_mass for body in scene.bodies]).reshape(-1, 3)
        self.ground = _ground(scene)
        self._collect(scene)
        self._link(scene)
        self.camera = self._frame(positions, orientations, size)
        self._hide_what_blocks(positions, orientations)
        self._make_canvas(scene.name)

    # ---- what is drawn ----------------------------------------------------------------------------------------------

    def _collect(self, scene):
        """The faces of all bodies in their bodies' frames."""
        solid = [(body, shape) for body in scene.bodies for shape in body.shapes if shape.type != "plane"]
        detail = 20 if len(solid) <= SMALL else 12 if len(solid) <= LARGE else 8
        colors = body_colors(scene)
        vertices, faces, owner_of_vertex, owner_of_face, shape_of_face, color, edge = [], [], [], [], [], [], []
        total = 0
        for number, (body, shape) in enumerate(solid):
            mesh = meshes.shape_mesh(shape, detail, math.inf)
            vertices.append(mesh.vertices)
            faces.append(mesh.faces + total)
            owner_of_vertex.append(np.full(len(mesh.vertices), body.index))
            owner_of_face.append(np.full(len(mesh.faces), body.index))
            shape_of_face.append(np.full(len(mesh.faces), number))
            color.append(mesh.tone[:, None] * colors[body.index])
            edge.append(np.full(len(mesh.faces), mesh.outlined))
            total += len(mesh.vertices)
        self.vertices = np.concatenate([*vertices, np.zeros((0, 3))])
        self.faces = np.concatenate([*faces, np.zeros((0, 4), int)])
        self.owner_of_vertex = np.concatenate([*owner_of_vertex, np.zeros(0, int)])
        self.owner_of_face = np.concatenate([*owner_of_face, np.zeros(0, int)])
        self.shape_of_face = np.concatenate([*shape_of_face, np.zeros(0, int)])
        self.color = np.concatenate([*color, np.zeros((0, 3))])
        self.outlined = np.concatenate([*edge, np.zeros(0, bool)])
        self.normals = meshes.face_normals(self.vertices, self.faces)
        self.opacity = np.ones(len(self.faces))
        self.is_sheet = np.array([not shape.massive for _, shape in solid], bool)
        self.casts_shadow = ~self.is_sheet
        self.moves = np.array([body.kind != "static" for body in scene.bodies], bool)
        self.dynamic = np.array([body.kind == "dynamic" for body in scene.bodies], bool)
        self.radii = np.zeros(len(scene.bodies))
        reach = np.linalg.norm(self.vertices - self.centers[self.owner_of_vertex], axis=1)
        np.maximum.at(self.radii, self.owner_of_vertex, reach)

    def _link(self, scene):
        """Rods from a body to those of its joints that lie outside it: strings, hangers, cranks without a shape."""
        index = {body.name: body.index for body in scene.bodies}
        ends = []  # (body, point in its frame)
        pins = []  # points of the world that something hangs on
        for joint in scene.joints:
            for name, place in ((joint.a, joint.frame_a), (joint.b, joint.frame_b)):
                if name is None:
                    pins.append(place[0])
                elif np.linalg.norm(place[0] - self.centers[index[name]]) > 1.05 * self.radii[index[name]]:
                    ends.append((index[name], place[0]))
        self.rod_owner = np.array([body for body, _ in ends], int)
        self.rod_end = np.array([point for _, point in ends]).reshape(-1, 3)
        outward = self.rod_end - self.centers[self.rod_owner]
        reach = self.radii[self.rod_owner] / np.maximum(np.linalg.norm(outward, axis=1), 1e-300)
        self.rod_start = self.centers[self.rod_owner] + 0.98 * reach[:, None] * outward
        self.pins = np.array(pins).reshape(-1, 3)

    def _frame(self, positions, orientations, size):
        """The camera that sees what moves, in all frames, and what stands among it."""
        some = np.unique(np.linspace(0, len(positions) - 1, 60).astype(int))
        moving = np.flatnonzero(self.moves & (self.radii > 0))
        points = self._box_corners(positions[some], orientations[some], moving)
        # A few that fly off do not make the others small.
        middle = np.median(positions[some][:, moving].reshape(-1, 3), axis=0) if len(moving) else np.zeros(3)
        away = np.linalg.norm(points - middle, axis=1)
        if len(points):
            points = points[away <= 3.0 * np.percentile(away, 90)]
        points = np.concatenate([points, self.pins])
        span = np.linalg.norm(np.ptp(points, axis=0)) if len(points) else np.inf
        still = np.flatnonzero(~self.moves & (self.radii > 0) & (self.radii < 0.6 * span))
        points = np.concatenate([points, self._box_corners(positions[:1], orientations[:1], still)])
        return frame(points if len(points) else np.array([[-1.0] * 3, [1.0] * 3]), size)

    def _box_corners(self, positions, orientations, chosen):
        """The corners (k, 3) in the world of boxes around the chosen bodies, in all frames."""
        lower, upper = np.full((len(self.centers), 3), np.inf), np.full((len(self.centers), 3), -np.inf)
        np.minimum.at(lower, self.owner_of_vertex, self.vertices)
        np.maximum.at(upper, self.owner_of_vertex, self.vertices)
        signs = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        local = np.where(signs, upper[chosen, None], lower[chosen, None]) - self.centers[chosen, None]
        r = matrices(orientations[:, chosen].reshape(-1, 4)).reshape(len(positions), len(chosen), 3, 3)
        return (np.einsum("tnij,ncj->tnci", r, local) + positions[:, chosen, None]).reshape(-1, 3)

    def _hide_what_blocks(self, positions, orientations):
        """Statics and kinematics that stand between the eye and many bodies become glass."""
        if not len(self.faces):
            return
        world, normals, _ = self._turn(positions[0], orientations[0])
        targets = np.concatenate([positions[0, self.dynamic], positions[-1, self.dynamic]])
        if not len(targets):
            return
        rays = targets - self.camera.eye
        for shape in np.unique(self.shape_of_face[~self.dynamic[self.owner_of_face]]):
            faces = np.flatnonzero(self.shape_of_face == shape)
            if self.is_sheet[shape]:
                for side in np.split(faces, 2):
                    if _share_blocked(world[self.faces[side, :3]], self.camera.eye, rays) > 0.15:
                        self.opacity[side] = 0.10
                continue
            corner, normal = world[self.faces[faces, 0]], normals[faces]
            # Clip the rays eye + t ray, 0 <= t <= 1, by the half spaces of the convex shape.
            gap = np.einsum("fi,fi->f", corner - self.camera.eye, normal)[:, None]
            slope = normal @ rays.T
            with np.errstate(divide="ignore", invalid="ignore"):
                t = gap / slope
            enter = np.where(slope < 0, t, 0.0).max(axis=0, initial=0.0)
            leave = np.where(slope > 0, t, 1.0).min(axis=0, initial=1.0)
            outside = ((np.abs(slope) < 1e-12) & (gap < 0)).any(axis=0)
            if np.mean((enter < leave) & ~outside) > 0.15:
                self.opacity[faces] = 0.10
                self.casts_shadow[shape] = False

    # ---- the picture ------------------------------------------------------------------------------------------------

    def _make_canvas(self, name):
        """What is behind the bodies in every frame, and where the samples of a frame go."""
        from matplotlib import font_manager
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure
        from PIL import ImageFont

        width, height = self.camera.size
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=BACKGROUND)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(0, height)
        axes.axis("off")
        if self.ground is not None:
            segments, colors = self._grid()
            axes.add_collection(LineCollection(segments, colors=colors, linewidths=0.8), autolim=False)
        axes.text(12, height - 12, name, va="top", color=TEXT, fontsize=11)
        canvas.draw()
        self.background = np.asarray(canvas.buffer_rgba())[..., :3].repeat(_raster.SAMPLES, axis=0)
        self.background = self.background.repeat(_raster.SAMPLES, axis=1)
        self.font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), LETTERS)
        self.colors, self.depths = self.background.copy(), np.zeros(self.background.shape[:2], np.float32)

    def picture(self, positions, orientations, label=""):
        """The picture (height, width, 3) uint8 of centres of mass (n, 3) and orientations (n, 4)."""
        from PIL import Image, ImageDraw

        world, normals, frames = self._turn(positions, orientations)
        self.colors[:], self.depths[:] = self.background, 0.0
        if self.ground is not None:
            shadows = self._shadows(world, normals)
            color = np.tile(np.array([*SHADOW, 1.0], np.float32), (len(shadows), 1))
            _raster.fill(shadows, color, color, 0.0, self.colors, None)
        for polygons, face, border, width in self._visible(world, normals, frames):
            _raster.fill(polygons, face.astype(np.float32), border.astype(np.float32), width, self.colors, self.depths)
        picture = np.empty((*self.camera.size[::-1], 3), np.uint8)
        _raster.finish(self.colors, picture)
        if not label:
            return picture
        corner = picture[:LABEL, -min(LABEL_WIDTH, picture.shape[1]) :]
        lettered = Image.fromarray(np.ascontiguousarray(corner))
        ImageDraw.Draw(lettered).text((corner.shape[1] - 12, 9), label, fill=TEXT, font=self.font, anchor="ra")
        corner[:] = np.asarray(lettered)
        return picture

    def _samples(self, pixels, inverse_depth):
        """What is filled (k, corners, 3), of pixels (k, corners, 2) from the lower left and inverse depths (k, corners)."""
        corners = np.empty((*pixels.shape[:2], 3), np.float32)
        corners[..., 0] = _raster.SAMPLES * pixels[..., 0]
        corners[..., 1] = _raster.SAMPLES * (self.camera.size[1] - pixels[..., 1])
        corners[..., 2] = inverse_depth
        return corners

    def _turn(self, positions, orientations):
        """World vertices, world normals, and the bodies' frames (origins, rotation matrices)."""
        r = matrices(orientations)
        origins = positions - np.einsum("nij,nj->ni", r, self.centers)
        world = np.einsum("vij,vj->vi", r[self.owner_of_vertex], self.vertices) + origins[self.owner_of_vertex]
        normals = np.einsum("fij,fj->fi", r[self.owner_of_face], self.normals)
        return world, normals, (origins, r)

    def _visible(self, world, normals, frames):
        """What is filled, one after the other: polygons for the samples, their colours, those of their borders, and how
        wide these are [samples]. Glass comes last, from back to front."""
        corners = world[self.faces[:, 0]]
        facing = np.einsum("fi,fi->f", normals, self.camera.eye - corners) > 0.0
        pixels, depth = self.camera.project(world)
        facing &= (depth[self.faces] > 1e-3).all(axis=1)
        # Half of Lambert's law wraps the light around, so that no side is black.
        light = DARKEST + (1.08 - DARKEST) * ((normals @ LIGHT + 1.0) / 2.0)
        color = np.column_stack([np.minimum(self.color * light[:, None], 1.0), self.opacity])
        glass = facing & (self.opacity < 1.0)
        outlined, plain = facing & self.outlined & ~glass, facing & ~self.outlined & ~glass
        inverse = 1.0 / np.maximum(depth, 1e-3)

        def polygons(chosen):
            return self._samples(pixels[self.faces[chosen]], inverse[self.faces[chosen]])

        edge = color[outlined] * [EDGE, EDGE, EDGE, 1.0]
        yield polygons(plain), color[plain], color[plain], 0.0
        yield polygons(outlined), color[outlined], edge, BORDER * _raster.SAMPLES
        rods, rod_inverse = self._rods(frames)
        rod_color = np.tile([*ROD, 1.0], (len(rods), 1))
        yield self._samples(rods, rod_inverse), rod_color, rod_color, 0.0
        behind = np.flatnonzero(glass)
        behind = behind[np.argsort(-depth[self.faces[behind]].mean(axis=1), kind="stable")]
        edge = color[behind] * [EDGE, EDGE, EDGE, 1.0]
        edge[:, 3] = np.where(self.outlined[behind], 0.5, edge[:, 3])
        yield polygons(behind), color[behind], edge, BORDER * _raster.SAMPLES

    def _rods(self, frames):
        """Rods as thin polygons and pins as small squares, (k, 4, 2) pixels, with their inverse depths (k, 4)."""
        origins, r = frames
        r, origins = r[self.rod_owner], origins[self.rod_owner]
        b = np.einsum("kij,kj->ki", r, self.rod_end) + origins
        a = np.einsum("kij,kj->ki", r, self.rod_start) + origins
        (pa, depth_a), (pb, depth_b), (at, depth) = (self.camera.project(points) for points in (a, b, self.pins))
        across = (pb - pa)[:, ::-1] * (-1.0, 1.0)
        across *= 0.7 / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
        rods = np.stack([pa - across, pa + across, pb + across, pb - across], axis=1)
        pins = at[:, None] + 2.5 * np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])
        polygons = np.concatenate([rods, pins])
        depths = np.concatenate([np.stack([depth_a, depth_a, depth_b, depth_b], axis=1), np.tile(depth[:, None], (1, 4))])
        seen = (depths > 1e-3).all(axis=1)
        return polygons[seen], NEARER / depths[seen]

    # ---- ground -----------------------------------------------------------------------------------------------------

    def _on_ground(self, points):
        """Where the light through points (…, 3) meets the ground."""
        normal, offset = self.ground
        height = points @ normal - offset
        return points - (height / (LIGHT @ normal))[..., None] * LIGHT

    def _shadows(self, world, normals):
        """The shadows of the faces that see the light, to be filled: together they are those of the bodies."""
        lit = self.casts_shadow[self.shape_of_face] & (normals @ LIGHT > 0.0)
        pixels, depth = self.camera.project(self._on_ground(world))
        faces = self.faces[lit]
        return self._samples(pixels[faces[(depth[faces] > 1e-3).all(axis=1)]], 0.0)

    def _grid(self):
        """Lines of the ground around the middle of the picture that fade with distance."""
        normal, offset = self.ground
        eye, back = self.camera.eye, self.camera.axes[2]
        distance = min((eye @ normal - offset) / max(back @ normal, 0.12), 1e6)
        middle = eye - distance * back
        middle = middle - (middle @ normal - offset) * normal
        radius = 0.9 * distance
        step = 10.0 ** math.floor(math.log10(radius / 4))
        step *= max(m for m in (1, 2, 5) if m * step <= radius / 4) if radius / 4 >= step else 1
        u = normalized(np.cross((0.0, 1.0, 0.0), normal)) if abs(normal[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        v = np.cross(normal, u)
        center = np.round(np.array([middle @ u, middle @ v]) / step) * step
        marks = np.arange(-math.floor(radius / step), math.floor(radius / step) + 1) * step
        pieces = np.linspace(-radius, radius, 61)
        a, b = np.meshgrid(marks, pieces, indexing="ij")
        lines = np.concatenate(
            [np.stack([center[0] + a, center[1] + b], axis=2), np.stack([center[0] + b, center[1] + a], axis=2)]
        )
        points = lines[..., :1] * u + lines[..., 1:] * v + offset * normal
        pixels, depth = self.camera.project(points)
        segments = np.stack([pixels[:, :-1], pixels[:, 1:]], axis=2).reshape(-1, 2, 2)
        from_middle = np.linalg.norm((points[:, 1:] + points[:, :-1]) / 2 - middle, axis=2).ravel() / radius
        shown = (np.minimum(depth[:, 1:], depth[:, :-1]).ravel() > 1e-3) & (from_middle < 1.0)
        colors = np.column_stack([np.tile(GRID, (len(from_middle), 1)), np.maximum(1.0 - from_middle, 0.0) ** 1.5])
        return segments[shown], colors[shown]


def _share_blocked(triangles, eye, rays):
    """Which part of the rays eye + t ray, 0 < t < 1, meets one of the triangles (t, 3, 3) from its front."""
    a, b, c = (triangles[:, k] - eye for k in range(3))
    volume = np.einsum("ti,ti->t", a, np.cross(b, c))
    a, b, c = (corner[volume < 0] for corner in (a, b, c))
    sides = [np.cross(u, v) for u, v in ((a, b), (b, c), (c, a))]
    normal = np.cross(b - a, c - a)
    blocked = 0
    for ray in rays:
        met = (sides[0] @ ray <= 0) & (sides[1] @ ray <= 0) & (sides[2] @ ray <= 0)
        blocked += bool(np.any(volume[volume < 0][met] > (normal[met] @ ray) * 0.999))
    return blocked / len(rays)


def _ground(scene):
    """(unit normal, offset) in the world of the static plane that faces up most, or None."""
    best = None
    for body in scene.bodies:
        r = matrices(np.asarray(body.orientation)[None])[0]
        for shape in body.shapes:
            if shape.type != "plane":
                continue
            frame_z = matrices(np.asarray(shape.orientation)[None])[0][:, 2]
            normal = r @ frame_z
            offset = normal @ (r @ shape.position + body.position)
            if normal[2] > 0.05 and (best is None or normal[2] > best[0][2]):
                best = (normal, offset)
    return best
