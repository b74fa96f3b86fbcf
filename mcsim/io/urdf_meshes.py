"""Meshes of a URDF file: where they lie, and the points of their convex hulls.

A mesh becomes the hull of all its points. One with more corners than wanted keeps those that are farthest out in
evenly spread directions, the axes first, so that its box stays what it is: nothing sticks out of the true hull.
"""

import os
from collections.abc import Mapping
from io import BytesIO
from math import pi, sqrt
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from mcsim.core.archives import ArchiveError, entries_of, one_line, stored, unpacked
from mcsim.core.errors import SceneError
from mcsim.core.files import content_of
from mcsim.core.limits import MOST_MESH, MOST_POINTS, excess
from mcsim.core.linear import product
from mcsim.core.rotation import Frame
from mcsim.core.trig import cos, sin
from mcsim.io.folders import Folders, OutsideError, names
from mcsim.io.xml_text import DECLARES
from mcsim.scene import ConvexHull, Material
from mcsim.scene.checks import FieldError, show

PACKAGED = ("package://", "model://")

# Endings of packed files that do not say how large they are; of archives that do; of what a parser of XML reads.
PACKED = (".gz", ".bz2", ".xz", ".tgz", ".tar", ".7z")
ARCHIVES = (".zip", ".zae", ".3mf", ".3dxml")
MARKED_UP = (".dae", ".xml", ".model", ".3dxml", ".xaml", ".rels")
MOST_UNPACKED = MOST_MESH  # bytes
MOST_NAME = 4000  # characters of a path


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
        self.folders = Folders(folder, packages)
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
        """The file that is meant; MeshError with the places that were searched if there is none, or if it is one that the
        robot's file may not read."""
        package = self._package(filename)
        places = self._places(filename)
        for place in places:
            if _is_file(place):
                try:
                    self.folders.check(place, filename, "the mesh", package)
                except OutsideError as error:
                    raise MeshError(str(error)) from None
                return place
        raise MissingMesh(
            f"the mesh {show(filename)} is not there; looked for "
            + ", ".join(str(place) for place in places[:4])
            + (", …" if len(places) > 4 else "")
        )

    def _package(self, filename: str) -> str:
        """The package that a mesh is said to be in, or ""."""
        for prefix in PACKAGED:
            if filename.startswith(prefix):
                return filename.removeprefix(prefix).partition("/")[0]
        return ""

    def _places(self, filename: str) -> list[Path]:
        """Where a mesh may lie, best first."""
        if "\0" in filename or len(filename) > MOST_NAME:
            raise MeshError(f"the mesh {show(filename)} is named by no file's name")
        for prefix in PACKAGED:
            if filename.startswith(prefix):
                package, _, rest = filename.removeprefix(prefix).partition("/")
                if package in ("", ".", ".."):
                    raise MeshError(f"the mesh {show(filename)} names no package; package://name/path does")
                return [root / rest.lstrip("/") for root in self._roots(package)]
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
            if folder.name == package or names(folder, package):
                roots.append(folder)
            roots.append(folder / package)
        for folder in _listed("ROS_PACKAGE_PATH"):
            roots += [folder] if folder.name == package else [folder / package]
        roots += [folder / "share" / package for folder in _listed("AMENT_PREFIX_PATH")]
        return sorted(roots, key=lambda root: not root.is_dir())

    def _read(self, path: Path) -> np.ndarray:
        """(n, 3) [m] all points of the mesh file, in its own frame; those of a Collada file in metres."""
        if path not in self._points:
            self._points[path] = self._read_anew(path)
        return self._points[path]

    def _read_anew(self, path: Path) -> np.ndarray:
        import trimesh

        if path.name.lower().endswith(PACKED):
            raise MeshError(f"the mesh {path} is a packed file; unpack it and name what is in it")
        try:
            content = content_of(path, "mesh", MOST_MESH)
        except SceneError as error:
            raise MeshError(f"the mesh {error}") from None
        suffix = path.suffix.lower()
        content = _checked(content, suffix, path)
        try:
            # From memory, so that the readers follow no names into the file system but by `_Beside`.
            scene = trimesh.load_scene(
                BytesIO(content),
                file_type=suffix.removeprefix("."),
                resolver=_beside(self.folders, path),
                skip_materials=True,
                process=False,
            )
            found = [(scene.geometry[name], place) for place, name in (scene.graph[n] for n in scene.graph.nodes_geometry)]
            problem = excess(sum(len(part.vertices) for part, _ in found), MOST_POINTS, "points are in it")
            points = [product(part.vertices, place[:3, :3].T) + place[:3, 3] for part, place in found if not problem]
            factor = 1.0
            if suffix == ".dae" and scene.units:
                factor = trimesh.units.unit_conversion(scene.units, "meters")
        except MemoryError:
            raise MeshError(f"the mesh {path} holds more than there is memory for") from None
        except Exception as error:  # its readers raise whatever their parsers do
            raise MeshError(f"the mesh {path} cannot be read: {one_line(error)}") from None
        if problem:
            raise MeshError(f"the mesh {path} is too large: {problem}")
        if not points:
            raise MeshError(f"the mesh {path} is empty")
        return np.vstack(points) * factor


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that the system does not take
        return False


def _beside(folders: Folders, mesh: Path) -> Any:
    """What finds the files that a mesh names, the buffers of a .gltf: those that the robot's file may read."""
    from trimesh.resolvers import Resolver

    class Beside(Resolver):  # type: ignore[misc]  # trimesh tells no types
        def __init__(self) -> None: ...

        def get(self, name: str) -> bytes:
            path = mesh.parent / name
            folders.check(path, name, "the file")
            return content_of(path, "part of a mesh", MOST_MESH)

        def write(self, name: str, data: Any) -> None:
            raise OutsideError("meshes are read, not written")

        def namespaced(self, namespace: str) -> Any:
            return self

        def keys(self) -> list[str]:
            return []

    return Beside()


class MissingMesh(MeshError):
    """A mesh whose file is not found."""


def _listed(variable: str) -> list[Path]:
    """The folders that an environment variable lists."""
    return [Path(folder) for folder in os.environ.get(variable, "").split(os.pathsep) if folder]


def _checked(content: bytes, suffix: str, path: Path) -> bytes:
    """A mesh as its reader may have it: of an archive the same one, unpacked to no more than a mesh has, since a few bytes
    may say gigabytes, or say little and be gigabytes; and without entities, which a parser would expand."""
    texts = [content] if suffix in MARKED_UP else []
    if content.startswith(b"PK") or suffix in ARCHIVES:
        try:
            with entries_of(BytesIO(content)) as archive:
                inside = unpacked(archive, MOST_UNPACKED)
        except ArchiveError as error:
            raise MeshError(f"the mesh {path} is an archive that cannot be read: {error}; name what is in it") from None
        for name in inside:
            if name.lower().endswith((*ARCHIVES, *PACKED)) and suffix != ".3dxml":
                raise MeshError(
                    f"the mesh {path} is an archive with another one in it, {show(name)}; unpack it and name what is in it"
                )
        texts = [part for name, part in inside.items() if name.lower().endswith(MARKED_UP)]
        content = stored(inside)
    if any(DECLARES.search(text) for text in texts):
        raise MeshError(f"the mesh {path} cannot be read: it declares entities; write out what they stand for")
    return content


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
