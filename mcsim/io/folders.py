"""Which files a file of a robot may name: those in its own folder, in its package, and in packages that the user names.

A file that comes from elsewhere is to read nothing else of this machine. Links are followed first: what counts is where a
file really lies.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from mcsim.core.errors import SceneError
from mcsim.scene.checks import listing, show

# A robot's file in a folder of one of these names belongs to the folder above, as packages of robots are laid out.
OF_PACKAGES = ("urdf", "xacro", "mjcf", "xml", "robots")
MANIFEST = "package.xml"
MOST_MANIFEST = 1_000_000  # bytes of it that are looked at


class OutsideError(SceneError):
    """A file is named that may not be read; whoever knows the robot's file puts it in front."""


class Folders:
    """Those that a robot's file may read from.

    folder: its own, without links. packages: name -> folder, of those that the user names.
    """

    def __init__(self, folder: Path, packages: Mapping[str, Path]) -> None:
        self.folder, self.packages = folder, packages
        self.package = _package_of(folder)
        self._whole = [folder.resolve() for folder in (self.folder, self.package, *packages.values()) if folder is not None]

    def check(self, path: Path, given: str, what: str, package: str = "") -> None:
        """OutsideError if the file lies elsewhere. given: as the robot's file has it. package: the name of the package
        that it says it is in, whose folder has a manifest with that name."""
        try:
            real = path.resolve()
            path.exists()
        except (OSError, RuntimeError, ValueError):  # a name that the system does not take, links in a circle
            raise OutsideError(f"{what} {show(given)} is named by no file's name") from None
        if any(real.is_relative_to(folder) for folder in self._whole):
            return
        if package and any(folder.name == package or names(folder, package) for folder in real.parents):
            return
        raise OutsideError(
            f"{what} {show(given)} lies outside of {self.folder}, the file's folder, and of the packages that are named "
            f"({listing(self.packages) or 'none'}); copy it there, or name the folder: packages={{name: folder}}"
        )


def _package_of(folder: Path) -> Path | None:
    """The folder of the package that a robot's file is in: the nearest above with a manifest, or the one above of a folder
    for robots' files."""
    for above in (folder, *folder.parents):
        if (above / MANIFEST).is_file():
            return above
    return folder.parent if folder.name.lower() in OF_PACKAGES and folder.parent != folder else None


def names(folder: Path, package: str) -> bool:
    """Whether the folder's package.xml gives it this name."""
    try:
        handle = os.open(folder / MANIFEST, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            return f"<name>{package}</name>".encode() in (file.read(MOST_MANIFEST) or b"")
    except (OSError, UnicodeError):
        return False
