"""Meshes of a URDF file: where they lie, and the points of their convex hulls.

A mesh becomes the hull of all its points. One with more corners than wanted keeps those that are farthest out in
evenly spread directions, the axes first, so that its box stays what it is: nothing sticks out of the true hull.
"""

import os
import zipfile
from collections.abc import Mapping
from math import pi, sqrt
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import product
from mcsim.core.rotation import Frame
from mcsim.core.trig import cos, sin
from mcsim.scene import ConvexHull, Material
from mcsim.scene.checks import FieldError, show

PACKAGED = ("package://", "model://")

# Endings of packed files that do not say how large they are; bytes that an archive which does may hold.
PACKED = (".gz", ".bz2", ".xz", ".tgz", ".tar", ".7z")
MOST_UNPACKED = 200_000_000


class MeshError(SceneError):
    """A mesh that cannot be had; the file of the robot and the link are put in front by who knows them."""


class Meshes:
    """The hulls of a robot's meshes; each file is read once.

    folder: that of the URDF file. packages: name -> folder, looked up before all other places.
    most_vertices: of a hull.
    """

    def __init__(self, folder: Path, packages: Mapping[str, Path], most_vertices: int):
        self.folder = folder
        self.packages = packages
        self.most_vertices = most_vertices
        self._points: dict[Path, np.ndarray] = {}

    def hull(self, filename: str, scale: Any, frame: Frame) -> ConvexHull:
        """The hull of a mesh, scaled by one number or three, at a frame in its body. MeshError says what is wrong."""
        path = self.find(filename)
        points = self._read(path) * (1.0 if scale is None else scale)
        if not np.isfinite(points).all():
            raise MeshError(f"the mesh {path} has points that are not finite")
        return convex(points, self.most_vertices, frame, f"the mesh {path}")

    # ---- files -------------------------------------------------------------------------------------------------------

    def find(self, filename: str) -> Path:
        """The file that is meant; MeshError with the places that were searched if there is none."""
        places = self._places(filename)
        for place in places:
            if place.is_file():
                return place
        raise MissingMesh(
            f"the mesh {show(filename)} is not there; looked for "
            + ", ".join(str(place) for place in places[:4])
            + (", …" if len(places) > 4 else "")
        )

    def _places(self, filename: str) -> list[Path]:
        """Where a mesh may lie, best first."""
        for prefix in PACKAGED:
            if filename.startswith(prefix):
                package, _, rest = filename.removeprefix(prefix).partition("/")
                return [root / rest for root in self._roots(package)]
        if filename.startswith("file://"):
            return [Path(unquote(filename.removeprefix("file://")))]
        if "://" in filename:
            raise MeshError(f"the mesh {show(filename)} is not a file here; download it and give its path")
        return [self.folder / filename]

    def _roots(self, package: str) -> list[Path]:
        """Folders that may be the package's, those that exist first of all."""
        if package in self.packages:
            return [self.packages[package]]
        roots = []
        for folder in (self.folder, *self.folder.parents):
            if folder.name == package or _is_package(folder, package):
                roots.append(folder)
            roots.append(folder / package)
        for folder in _listed("ROS_PACKAGE_PATH"):
            roots += [folder] if folder.name == package else [folder / package]
        roots += [folder / "share" / package for folder in _listed("AMENT_PREFIX_PATH")]
        return sorted(roots, key=lambda root: not root.is_dir())

    def _read(self, path: Path) -> np.ndarray:
        """(n, 3) [m] all points of the mesh file, in its own frame; those of a Collada file in metres."""
        if path not in self._points:
            import trimesh

            _check_packed(path)
            try:
                scene = trimesh.load(path, force="scene", skip_materials=True, process=False)
                points = [
                    product(scene.geometry[name].vertices, place[:3, :3].T) + place[:3, 3]
                    for place, name in (scene.graph[node] for node in scene.graph.nodes_geometry)
                ]
                factor = 1.0
                if path.suffix.lower() == ".dae" and scene.units:
                    factor = trimesh.units.unit_conversion(scene.units, "meters")
            except Exception as error:  # its readers raise whatever their parsers do
                reason = " ".join(str(error).split()) or type(error).__name__
                raise MeshError(f"the mesh {path} cannot be read: {reason}") from None
            if not points:
                raise MeshError(f"the mesh {path} is empty")
            self._points[path] = np.vstack(points) * factor
        return self._points[path]


class MissingMesh(MeshError):
    """A mesh whose file is not found."""


def _listed(variable: str) -> list[Path]:
    """The folders that an environment variable lists."""
    return [Path(folder) for folder in os.environ.get(variable, "").split(os.pathsep) if folder]


def _is_package(folder: Path, package: str) -> bool:
    """Whether the folder's package.xml gives it this name."""
    try:
        return f"<name>{package}</name>" in (folder / "package.xml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _check_packed(path: Path) -> None:
    """Refuse archives that unpack to more than a mesh has, before they are unpacked: a few bytes may say gigabytes."""
    if path.name.lower().endswith(PACKED):
        raise MeshError(f"the mesh {path} is a packed file; unpack it and name what is in it")
    try:
        with zipfile.ZipFile(path) as archive:
            inside = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return  # no zip: whatever it is, the reader says
    size = sum(item.file_size for item in inside)
    if size > MOST_UNPACKED:
        raise MeshError(
            f"the mesh {path} is an archive that unpacks to {size / 1e6:.0f} MB; at most "
            f"{MOST_UNPACKED / 1e6:.0f} MB are unpacked: unpack it and name what is in it"
        )
    for item in inside:
        if item.filename.lower().endswith((".zip", ".zae", ".3mf", ".3dxml", *PACKED)):
            raise MeshError(
                f"the mesh {path} is an archive with another one in it, {show(item.filename)}; unpack it and "
                "name what is in it"
            )


# ---- hulls -----------------------------------------------------------------------------------------------------------


def convex(points: np.ndarray, count: int, frame: Frame, what: str, material: Material | None = None) -> ConvexHull:
    """The hull of points (n, 3), of at most about `count` of them, at a frame in its body. MeshError says what of `what`
    is wrong."""
    place: dict[str, Any] = {"position": frame[0], "orientation": frame[1], "material": material}
    while True:
        try:
            return ConvexHull(outermost(points, count), **place)
        except FieldError as error:
            # Fewer corners are farther apart: that heals a surface that is rough by rounding.
            if "flat" in error.problem or count <= 8:
                raise MeshError(f"{what} makes no convex hull: its points {error.problem}") from None
            count //= 2


# ---- fewer points ----------------------------------------------------------------------------------------------------


def outermost(points: np.ndarray, count: int) -> np.ndarray:
    """Those of the points (n, 3) that are corners of their hull, at most about `count` of them, in their order."""
    from scipy.spatial import ConvexHull as Qhull, QhullError  # here, because it takes long to import

    try:
        points = points[np.sort(Qhull(points).vertices)]
    except (QhullError, ValueError):
        return points[:count]  # flat: the shape says so
    if len(points) <= count:
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    centred = (points - (low + high) / 2) / (high - low)
    return points[np.unique(np.argmax(product(centred, directions(count).T), axis=0))]


def directions(count: int) -> np.ndarray:
    """(count, 3) unit vectors: the six axes, then points of a spiral that covers the sphere evenly."""
    k = np.arange(count - 6) + 0.5
    z = 1 - 2 * k / max(count - 6, 1)
    turn = pi * (1 + sqrt(5)) * k
    spiral = np.column_stack([cos(turn) * np.sqrt(1 - z * z), sin(turn) * np.sqrt(1 - z * z), z])
    return np.vstack([np.eye(3), -np.eye(3), spiral])
