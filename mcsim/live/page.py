"""The page's three-dimensional part: frames of a session as nodes of a viser scene, and the mouse on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mcsim.live.details import Selection, nearest
from mcsim.live.frames import Frame, WorldFrame
from mcsim.live.looks import Marks
from mcsim.scene import Scene
from mcsim.scene.shapes import Plane
from mcsim.view.batches import add_batch, aim
from mcsim.view.instances import Batch, batches, shades
from mcsim.view.marks import LINE_COLORS

GHOST = 0.35  # opacity of all worlds but the first where they lie over each other
APART = 1.25  # widths of the scene from one world to the next where they stand side by side
THICKNESS = {"joints": 2.0, "axes": 4.0, "contacts": 3.0, "hand": 4.0}  # [pixels]
MARK_COLORS = {"joint": (0, 60, 170), "contact": (190, 30, 20)}
LEAST_MARKS = 16  # that a node of marks has room for
ASPECT = (1, 1)  # of what the panel leaves of a narrow window, for the first camera

Ask = Callable[..., None]


class Page:
    """Draws frames with a viser.ViserServer. ask(client, name, **values): asks for a command of commands.COMMANDS.

    mouse: what a click or drag on a body does. ghosts: whether worlds lie over each other. select: called with what was
    clicked, and the body that it is or is on.
    """

    def __init__(self, server: Any, ask: Ask, select: Callable[[Selection, str], None]) -> None:
        self._server, self._ask, self._select = server, ask, select
        self.mouse = "grab"
        self.kick_speed = 5.0
        self.ghosts = False
        self._version = -1
        self._drawn: list[_World] = []
        self._layout: tuple[bool, int] = (False, -1)
        self._extent = 1.0
        server.scene.configure_default_lights(cast_shadow=True)

    @property
    def offsets(self) -> np.ndarray:
        """(w, 3) [m] where each world's origin is on the page."""
        steps = np.zeros((len(self._drawn), 3))
        if not self.ghosts:
            steps[:, 0] = APART * self._extent * (np.arange(len(steps)) - (len(steps) - 1) / 2)
        return steps

    @property
    def arranged(self) -> bool:
        """Whether worlds lie as `ghosts` says now."""
        return self._layout == (self.ghosts, self._version)

    def show(self, now: Frame) -> None:
        """Draw a frame."""
        with self._server.atomic():
            if now.version != self._version or len(self._drawn) != len(now.worlds):
                self._begin(now)
            self._arrange()
            for drawn, world in zip(self._drawn, now.worlds):
                drawn.show(world)

    def _begin(self, now: Frame) -> None:
        """Other worlds, bodies or joints than before."""
        first = self._version < 0
        for drawn in self._drawn:
            drawn.remove()
        self._version = now.version
        points = seen_points(now.worlds[0])
        if first or len(self._drawn) != len(now.worlds):
            self._extent = max(float(np.ptp(points[:, :2], axis=0).max()), 1e-3)
        ground = 4.0 * max(float(np.ptp(points, axis=0).max()), 1e-3) * (1 if self.ghosts else len(now.worlds))
        self._drawn = [_World(self, k, now.version, world, ground) for k, world in enumerate(now.worlds)]
        self._layout = (False, -1)
        if first:
            aim(self._server, np.concatenate([points + offset for offset in self.offsets]), ASPECT)

    def _arrange(self) -> None:
        """Worlds side by side, or as ghosts over the first."""
        layout = (self.ghosts, self._version)
        if layout == self._layout:
            return
        self._layout = layout
        for k, (drawn, offset) in enumerate(zip(self._drawn, self.offsets)):
            drawn.place(offset, GHOST if self.ghosts and k > 0 else None)

    # ---- the mouse ---------------------------------------------------------------------------------------------------

    def dragged(self, world: int, body: str, event: Any) -> None:
        """A drag of the left button on a body."""
        if self.mouse != "grab":
            return
        offset = self.offsets[world]
        end = np.asarray(event.end_position, float) - offset
        if event.phase == "start":
            start = np.asarray(event.start_position, float) - offset
            self._ask(event.client, "grab", body=body, point=start, target=end, world=world)
        elif event.phase == "update":
            self._ask(event.client, "drag", target=end)
        else:
            self._ask(event.client, "release")

    def clicked(self, world: int, body: str, event: Any) -> None:
        """A click on a body."""
        direction = np.asarray(event.ray_direction, float)
        if self.mouse == "kick":
            self._ask(event.client, "kick", body=body, velocity=self.kick_speed * direction)
        elif self.mouse in ("delete", "freeze"):
            self._ask(event.client, self.mouse, body=body)
        else:
            origin = np.asarray(event.ray_origin, float) - self.offsets[world]
            self._select(self._drawn[world].now.picked(world, body, origin, direction), body)

    def marked(self, world: int, kind: str, number: int, event: Any) -> None:
        """A click on a mark. number: of a joint. Contacts come and go between the picture and the click: of those the
        nearest to its ray is meant."""
        now = self._drawn[world].now
        marks = now.marks.get(kind)
        if marks is None or not marks.names:
            return
        if kind == "contact":
            origin = np.asarray(event.ray_origin, float) - self.offsets[world]
            number = nearest(marks.positions, origin, np.asarray(event.ray_direction, float))[0]
        names = marks.names[min(max(number, 0), len(marks.names) - 1)]
        body = names[-1]
        if kind == "joint":
            joint = next(joint for joint in now.scene.joints if joint.name == names[0])
            body = joint.b or joint.a or ""
        self._select(Selection(world, kind, *names), body)


class _World:
    """The nodes of one world."""

    def __init__(self, page: Page, number: int, version: int, world: WorldFrame, ground: float) -> None:
        self._page, self._number = page, number
        self._scene = page._server.scene
        self._name = f"/world{number}_{version}"
        self._root = self._scene.add_frame(self._name, show_axes=False)
        self._names = [body.name for body in world.scene.bodies]
        self._parts = [(batch, self._node(batch, k, world)) for k, batch in enumerate(batches(world.scene, ground))]
        self._lines: dict[str, Any] = {}
        self._marks: dict[str, Any] = {}
        self.now = world
        self._planes = [i for i, body in enumerate(world.scene.bodies) if any(isinstance(s, Plane) for s in body.shapes)]
        self._grid(world.scene, ground)

    def _node(self, batch: Batch, k: int, world: WorldFrame) -> Any:
        node = add_batch(
            self._scene,
            f"{self._name}/shapes{k}",
            batch,
            world.positions,
            world.orientations,
            world.colors[world.bodies],
            cast_shadow=batch.moving,
        )
        owners = world.bodies[batch.shapes]
        if batch.moving:
            page, number, names = self._page, self._number, self._names

            async def drag(event: Any) -> None:
                if event.instance_index is not None and 0 <= event.instance_index < len(owners):
                    page.dragged(number, names[owners[event.instance_index]], event)

            async def click(event: Any) -> None:
                if event.instance_index is not None and 0 <= event.instance_index < len(owners):
                    page.clicked(number, names[owners[event.instance_index]], event)

            node.on_drag("left")(drag)
            node.on_click(click)
        return node

    def _grid(self, scene: Scene, ground: float) -> None:
        """Lines on what is level ground; one grid for all worlds."""
        for body in scene.bodies if self._number == 0 else ():
            for shape in body.shapes:
                if isinstance(shape, Plane) and body.orientation[0] ** 2 > 0.999 and shape.normal[2] > 0.999:
                    cell = 10.0 ** np.floor(np.log10(ground / 8.0))
                    self._scene.add_grid(
                        f"{self._name}/grid",
                        width=ground,
                        height=ground,
                        cell_size=cell,
                        section_size=5.0 * cell,
                        cell_color=(214, 214, 214),
                        section_color=(180, 182, 186),
                        cell_thickness=1.0,
                        section_thickness=1.2,
                        fade_distance=6.0 * ground,
                        position=(0.0, 0.0, float(body.position[2] + shape.offset) + 2e-4 * ground),
                        shadow_opacity=0.0,
                    )

    def show(self, world: WorldFrame) -> None:
        """Where all is now."""
        self.now = world
        for batch, node in self._parts:
            if batch.moving or not np.array_equal(node.batched_positions, np.float32(world.positions[batch.shapes])):
                node.batched_positions = world.positions[batch.shapes]
                node.batched_wxyzs = world.orientations[batch.shapes]
            node.batched_colors = shades(batch, world.colors[world.bodies])
        for name in {*self._lines, *world.lines}:
            self._show_lines(name, world.lines.get(name, np.zeros((0, 2, 3))))
        for kind in MARK_COLORS:
            self._show_marks(kind, world.marks.get(kind))

    def _show_lines(self, name: str, segments: np.ndarray) -> None:
        node = self._lines.get(name)
        if len(segments) == 0:
            if node is not None:
                node.visible = False
            return
        if node is None:
            self._lines[name] = self._scene.add_line_segments(
                f"{self._name}/{name}",
                np.asarray(segments, np.float32),
                LINE_COLORS[name],
                thickness=THICKNESS.get(name, 1.5),
                thickness_units="screen",
            )
            return
        node.points = np.asarray(segments, np.float32)
        if not node.visible:
            node.visible = True

    def _show_marks(self, kind: str, marks: Marks | None) -> None:
        """A node has room for a power of two; where there are fewer marks, the last one stands there several times."""
        node: Any = self._marks.get(kind)
        if marks is None or not marks.names:
            if node is not None and node.visible:
                node.visible = False
            return
        count, room = len(marks.names), 0 if node is None else len(node.batched_positions)
        if count > room:
            if node is not None:
                node.remove()
            room = max(LEAST_MARKS, 1 << (count - 1).bit_length())
            node = self._marks[kind] = self._add_marks(kind, room)
        chosen = np.minimum(np.arange(room), count - 1)
        node.batched_positions = np.asarray(marks.positions, np.float32)[chosen]
        node.batched_wxyzs = np.asarray(marks.orientations, np.float32)[chosen]
        node.batched_scales = np.asarray(marks.halves, np.float32)[chosen]
        if not node.visible:
            node.visible = True

    def _add_marks(self, kind: str, room: int) -> Any:
        """Double pyramids that tell, when they are clicked, what they stand for."""
        node = self._scene.add_batched_meshes_simple(
            f"{self._name}/{kind} marks",
            *_double_pyramid(),
            np.tile((1.0, 0.0, 0.0, 0.0), (room, 1)),
            np.zeros((room, 3), np.float32),
            batched_scales=np.ones((room, 3), np.float32),
            batched_colors=MARK_COLORS[kind],
            lod="off",
            flat_shading=True,
            cast_shadow=False,
        )
        page, number = self._page, self._number

        async def click(event: Any) -> None:
            if event.instance_index is not None:
                page.marked(number, kind, event.instance_index, event)

        node.on_click(click)
        return node

    def place(self, offset: np.ndarray, opacity: float | None) -> None:
        """The world's origin, and how much is seen of it."""
        self._root.position = offset
        for batch, node in self._parts:
            node.opacity = opacity
            if not batch.moving:
                node.visible = opacity is None

    def remove(self) -> None:
        """All nodes go."""
        self._root.remove()


def _double_pyramid() -> tuple[np.ndarray, np.ndarray]:
    """-> vertices (6, 3), the unit vectors and their opposites, and triangles (8, 3) that look outwards."""
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2)]
    faces += [(b, a, 5) for a, b, _ in faces]
    vertices = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    return np.array(vertices, np.float32), np.array(faces, np.uint32)


def seen_points(world: WorldFrame) -> np.ndarray:
    """(k, 3) corners of what the first camera has to see: all that moves, or all but planes where nothing does."""
    scene = world.scene
    dynamic = np.array([body.kind == "dynamic" for body in scene.bodies for _ in body.shapes], bool)
    extents = np.array([min(shape.extent, 1e6) for body in scene.bodies for shape in body.shapes])
    plane = np.array([isinstance(shape, Plane) for body in scene.bodies for shape in body.shapes], bool)
    chosen = dynamic if dynamic.any() else ~plane
    points = world.positions[chosen] if chosen.any() else np.zeros((1, 3))
    reach = 0.5 * extents[chosen] if chosen.any() else np.ones(1)
    found = np.concatenate([points + reach[:, None], points - reach[:, None]])
    low = found.min(axis=0)
    for body in scene.bodies:  # the ground that is below them, if it is not far
        for shape in body.shapes:
            if isinstance(shape, Plane) and shape.normal[2] > 0.999:
                level = float(body.position[2] + shape.offset)
                if level < low[2] and low[2] - level < 2.0 * float(np.ptp(found, axis=0).max()):
                    found = np.concatenate([found, [[low[0], low[1], level]]])
    return found
