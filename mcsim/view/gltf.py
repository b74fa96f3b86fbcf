"""glTF files (.glb) of recordings, with the motion as an animation: for Blender, game engines and viewers of 3-D files.

The format is glTF 2.0, a standard of the Khronos Group: one JSON text of nodes, meshes, materials and animations, and one
block of numbers that it points into. Its y axis points up and quaternions are (x, y, z, w).
"""

from __future__ import annotations  # signatures read as they are written here

import json
import os
import struct
from collections.abc import Hashable
from typing import Any

import numpy as np

from mcsim.core.files import written_whole
from mcsim.scene import Scene
from mcsim.scene.shapes import Shape
from mcsim.view.colors import body_colors
from mcsim.view.enabled import enabled_frames
from mcsim.view.film import Recorded, check_recording

FLOAT, UNSIGNED = 5126, 5125  # numbers of types
VERTICES, TRIANGLES = 34962, 34963  # and of what a piece of the block is for
UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # from z up to y up: by -90 degrees about x
PLANE = 4.0  # side of the square that stands for a plane, in lengths of the box that all bodies stay in


def save_gltf(path: str | os.PathLike[str], scene: Scene, recording: Recorded) -> None:
    """A glTF file of the scene's bodies whose animation is the recording.

    path: ends with .glb. recording: a Recording, or any object with positions (t, n, 3), orientations (t, n, 4) and time
    (t,) of the scene's bodies. A body is a node of its name; those that do not move have no animation.
    """
    check_recording(path, ".glb", scene, recording)
    with written_whole(path) as file:
        file.write(_Document(scene, recording).content())


class _Document:
    """What goes into the file, put together piece by piece."""

    def __init__(self, scene: Scene, recording: Recorded) -> None:
        self.block = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = [{"name": scene.name, "rotation": UP, "children": []}]
        self.made: dict[Hashable, int] = {}  # what several bodies share -> its number
        places = recording.positions.reshape(-1, 3)
        self.extent = PLANE * max(1.0, float(np.linalg.norm(np.ptp(places, axis=0)))) if len(places) else PLANE
        colors = body_colors(scene)
        enabled = enabled_frames(scene, recording)
        for body in scene.bodies:
            k = body.index
            centre, turn = recording.positions[0, k], recording.orientations[0, k]
            node = {"name": body.name, **_placed(centre, turn)}
            self.nodes[0]["children"].append(len(self.nodes))
            self.nodes.append(node)
            shapes = body.shapes if enabled[:, k].any() else ()
            parts = [self._part(shape, body.center_of_mass, colors[k]) for shape in shapes]
            if not enabled[0, k] and parts:
                node["scale"] = [0.0, 0.0, 0.0]
            if parts:
                node["children"] = [*range(len(self.nodes), len(self.nodes) + len(parts))]
                self.nodes += parts
        self.animation = self._animation(recording, enabled)

    def _part(self, shape: Shape, centre: np.ndarray, color: np.ndarray) -> dict[str, Any]:
        """A node of one shape, in the frame of the body's centre of mass and the body's axes."""
        return {**_placed(shape.position - centre, shape.orientation), "mesh": self._mesh(shape, self._material(color))}

    def _mesh(self, shape: Shape, material: int) -> int:
        vertices, triangles = shape.triangles(extent=self.extent)
        points, corners = vertices.astype("<f4"), triangles.astype("<u4").reshape(-1)
        same = (points.tobytes(), corners.tobytes())  # shapes of one size share their numbers
        if same not in self.made:
            self.made[same] = self._accessor(points, "VEC3", VERTICES)
            self._accessor(corners, "SCALAR", TRIANGLES)
        number = self.made[same]
        if (number, material) not in self.made:
            self.made[number, material] = len(self.meshes)
            primitive = {"attributes": {"POSITION": number}, "indices": number + 1, "material": material}
            self.meshes.append({"primitives": [primitive]})
        return self.made[number, material]

    def _material(self, color: np.ndarray) -> int:
        """Of a colour as a screen shows it; the file holds amounts of light."""
        key = ("color", *np.round(color, 6).tolist())
        if key not in self.made:
            light = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
            surface = {"baseColorFactor": [*light.tolist(), 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
            self.made[key] = len(self.materials)
            self.materials.append({"pbrMetallicRoughness": surface, "doubleSided": True})
        return self.made[key]

    def _accessor(self, array: np.ndarray, kind: str, target: int | None = None) -> int:
        """The number of an array of the block, (k,) or (k, numbers); float32 or uint32."""
        flat = array.reshape(len(array), -1)
        view = {"buffer": 0, "byteOffset": len(self.block), "byteLength": array.nbytes}
        self.views.append(view if target is None else {**view, "target": target})
        self.block += np.ascontiguousarray(array).tobytes()
        self.accessors.append(
            {
                "bufferView": len(self.views) - 1,
                "componentType": FLOAT if array.dtype.kind == "f" else UNSIGNED,
                "count": len(array),
                "type": kind,
                "min": flat.min(axis=0).tolist(),
                "max": flat.max(axis=0).tolist(),
            }
        )
        return len(self.accessors) - 1

    def _animation(self, recording: Recorded, enabled: np.ndarray) -> dict[str, Any] | None:
        """The poses over time of the bodies that move. What is not enabled (t, n) has no size."""
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []
        if len(recording.time) < 2:
            return None
        time = self._accessor((recording.time - recording.time[0]).astype("<f4"), "SCALAR")
        for number, k in zip(self.nodes[0]["children"], range(recording.positions.shape[1]), strict=True):
            for path, kind, poses in (
                ("translation", "VEC3", recording.positions[:, k]),
                ("rotation", "VEC4", _xyzw(_continued(recording.orientations[:, k]))),
            ):
                if (poses != poses[0]).any():
                    samplers.append({"input": time, "output": self._accessor(poses.astype("<f4"), kind)})
                    channels.append({"sampler": len(samplers) - 1, "target": {"node": number, "path": path}})
            if enabled[:, k].any() and not enabled[:, k].all():
                sizes = np.repeat(enabled[:, k, None], 3, axis=1).astype("<f4")
                samplers.append({"input": time, "output": self._accessor(sizes, "VEC3"), "interpolation": "STEP"})
                channels.append({"sampler": len(samplers) - 1, "target": {"node": number, "path": "scale"}})
        return {"name": "run", "samplers": samplers, "channels": channels} if channels else None

    def content(self) -> bytes:
        """The file."""
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "mcsim"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{key: value for key, value in node.items() if value != []} for node in self.nodes],
        }
        lists = {
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "animations": [self.animation] if self.animation else [],
            "buffers": [{"byteLength": len(self.block)}] if self.block else [],
        }
        document |= {name: entries for name, entries in lists.items() if entries}  # none may be empty
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
        if self.block:
            chunks.append((b"BIN\0", bytes(self.block) + b"\0" * (-len(self.block) % 4)))
        body = b"".join(struct.pack("<I4s", len(data), name) + data for name, data in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _placed(position: np.ndarray, orientation: np.ndarray) -> dict[str, Any]:
    """Where a node stands, as far as it is not where it would be by itself; to the digits of float32."""
    place = {"translation": (position, [0, 0, 0]), "rotation": (_xyzw(orientation), [0, 0, 0, 1])}
    return {
        name: [float(f"{number:.8g}") for number in numbers]
        for name, (numbers, default) in place.items()
        if not np.array_equal(numbers, default)
    }


def _xyzw(orientations: np.ndarray) -> np.ndarray:
    """(..., 4) quaternions with w last."""
    return np.roll(orientations, -1, axis=-1)


def _continued(orientations: np.ndarray) -> np.ndarray:
    """The same turns (t, 4), each quaternion of the two on the side of the one before: what lies between two frames is
    found along the shorter way."""
    opposed = np.einsum("ti,ti->t", orientations[1:], orientations[:-1]) < 0
    signs = np.concatenate([[1.0], np.cumprod(np.where(opposed, -1.0, 1.0))])
    return orientations * signs[:, None]
