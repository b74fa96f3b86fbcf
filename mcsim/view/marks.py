"""What cannot be seen of a body's shape: where joints are, how they turn, where bodies touch and how hard."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.core.rotation import matrices, matrix, multiply
from mcsim.scene import Scene
from mcsim.scene.joints import TYPES
from mcsim.view.enabled import enabled_bodies

LINE_COLORS = {
    "joints": (70, 75, 85),
    "axes": (0, 95, 200),
    "contacts": (215, 35, 35),
    "inertia": (150, 60, 190),
    "boxes": (20, 150, 90),
    "hand": (240, 120, 0),
}
AXIS = 0.35  # half the length of a drawn axis, in sizes of a usual body
STUB = 0.05  # of a contact without impulse


def usual_size(scene: Scene) -> float:
    """The size of a usual body [m]."""
    sizes = [shape.extent for body in scene.bodies if body.kind == "dynamic" for shape in body.shapes]
    return float(np.median(sizes)) if sizes else 1.0


class JointMarks:
    """The joints of a scene, to be drawn. ends: of each joint the numbers of its bodies (the world is -1), its point from
    each centre of mass in the body's axes, and in b's the axis, where it has one, and the orientation of its frame, of
    whose axes that is one (along). size [m]: of a usual body. Joints of bodies that are not enabled have no lines."""

    def __init__(self, scene: Scene, size: float) -> None:
        self.ends = _joint_ends(scene)
        enabled = np.append(enabled_bodies(scene), True)  # and the world's, -1
        self._there = enabled[self.ends["body_a"]] & enabled[self.ends["body_b"]]
        self._half = AXIS * size

    def lines(self, positions: np.ndarray, orientations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """-> segments (k, 2, 3) [m] from each body to its joints, those (k, 2, 3) of the joints' axes, and the joints'
        points (j, 3), of bodies with their centres of mass at (n, 3) and orientations (n, 4)."""
        ends, rods = self.ends, []
        positions = np.concatenate([positions, np.zeros((1, 3))])
        rotations = np.concatenate([matrices(orientations), np.eye(3)[None]])
        points, axes = np.zeros((0, 3)), np.zeros((0, 2, 3))
        for side in ("a", "b"):
            numbers, turns = ends["body_" + side], rotations[ends["body_" + side]]
            points = positions[numbers] + np.einsum("kij,kj->ki", turns, ends["point_" + side])
            there = self._there & (numbers >= 0)
            rods.append(np.stack([positions[numbers], points], axis=1)[there])
            if side == "b":
                way = self._half * np.einsum("kij,kj->ki", turns, ends["axis"])
                axes = np.stack([points - way, points + way], axis=1)[self._there & ends["has_axis"]]
        return np.concatenate(rods), axes, points

    def turned(self, orientations: np.ndarray) -> np.ndarray:
        """(j, 4): the orientations of the joints' frames on b, of bodies at orientations (n, 4)."""
        upright = np.concatenate([orientations, [[1.0, 0.0, 0.0, 0.0]]])[self.ends["body_b"]]
        return multiply(upright.T, self.ends["turn"].T).T


def impulses(contacts: np.ndarray) -> np.ndarray:
    """(k, 3) [N s] on body b, of the contacts of a world."""
    return contacts["normal_impulse"][:, None] * contacts["normal"] + contacts["tangent_impulse"]


def force_arrows(
    contacts: np.ndarray, dynamic: np.ndarray, scale: float, size: float, longest: float = np.inf
) -> np.ndarray:
    """(k, 2, 3) [m]: an arrow at each point, as long as the impulse on b is large, `scale` [m/(N s)]; on a, where b is none
    of the dynamic (n,) ones. Where there is no impulse, a stub of the normal. size [m]: of a usual body."""
    side = np.where(dynamic[contacts["body_b"]], 1.0, -1.0)[:, None]
    impulse = side * impulses(contacts)
    length = np.linalg.norm(impulse, axis=1, keepdims=True)
    way = impulse / np.maximum(length, 1e-300) * np.minimum(scale * length, longest)
    way = np.where(length > 0.0, way, side * STUB * size * contacts["normal"])
    return np.stack([contacts["position"], contacts["position"] + way], axis=1)


def _joint_ends(scene: Scene) -> dict[str, np.ndarray]:
    number = {body.name: i for i, body in enumerate(scene.bodies)}
    columns = ("body_a", "body_b", "point_a", "point_b", "axis", "has_axis", "turn", "along")
    rows: dict[str, list[Any]] = {name: [] for name in columns}
    for joint in scene.joints:
        for side, end, frame in (("a", joint.a, joint.frame_a), ("b", joint.b, joint.frame_b)):
            rows["body_" + side].append(-1 if end is None else number[end])
            origin = frame[0] if frame is not None else np.zeros(3)
            rows["point_" + side].append(origin - (0.0 if end is None else scene.bodies[number[end]].center_of_mass))
        kind = TYPES[joint.type].tree
        letter = (kind.turn.replace("q", "") or kind.ways or "")[:1] if kind is not None else ""
        along = [letter == axis and joint.frame_b is not None for axis in "xyz"]
        turn = np.array([1.0, 0.0, 0.0, 0.0]) if joint.frame_b is None else joint.frame_b[1]
        rows["has_axis"].append(any(along))
        rows["axis"].append(matrix(turn) @ along)
        rows["turn"].append(turn)
        rows["along"].append(along)
    shapes = {"body_a": (-1,), "body_b": (-1,), "has_axis": (-1,), "turn": (-1, 4)}
    types = {"body_a": int, "body_b": int, "has_axis": bool, "along": bool}
    return {name: np.array(row, types.get(name, float)).reshape(shapes.get(name, (-1, 3))) for name, row in rows.items()}
