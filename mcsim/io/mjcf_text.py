"""The texts of an MJCF model, looked at before MuJoCo compiles them.

MuJoCo opens every file that is named, wherever it lies, and makes as much as it is asked to: a replicate in a replicate in
a replicate is a thousand million bodies in a hundred bytes. So what is named is looked up, and what is asked for counted.
"""

from __future__ import annotations  # signatures read as they are written here

import html
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcsim.core.errors import SceneError
from mcsim.core.files import content_of
from mcsim.core.limits import MOST_ELEMENTS, MOST_MESH, MOST_PIXELS, excess
from mcsim.io.folders import Folders, OutsideError
from mcsim.io.xml_text import COMMENT, checked_xml, xml_of
from mcsim.scene.checks import show

WHAT = "MJCF file"
MOST_FILES = 1000  # that one model includes
MOST_COUNT = 20_000_000  # of what an attribute asks for: cells, samples, numbers
MOST_DIVISIONS = 7  # of a sphere made of triangles, each of which makes four of one

TAG = re.compile(r"<(/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>")
ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
FOLDER_OF = {"meshdir", "texturedir", "assetdir"}
REPEATED = {"replicate", "composite", "flexcomp"}  # what is in them is made `count` times
ASKED = {"nrow", "ncol", "width", "height", "nsample", "dim", "num", "resolution", "actdim"}
PNG = b"\x89PNG\r\n\x1a\n"


def check_model(path: str, packages: Mapping[str, Path]) -> None:
    """SceneError for a file, with what it includes, that names files elsewhere, or asks for more than there is room for.
    packages: name -> folder, of those that may be read as well. FileNotFoundError, SceneError as of content_of()."""
    folder = Path(path).parent.resolve()
    content = xml_of(path, WHAT)
    if not Path(path).is_file():  # MuJoCo opens it once more
        raise SceneError(f"{path}: is no plain file; copy it into one")
    _Model(path, folder, Folders(folder, packages)).check(content, path, folder)


def check_text(text: str, name: str, packages: Mapping[str, Path]) -> None:
    """Likewise of a text, whose files are looked for from the present folder."""
    folder = Path.cwd()
    try:
        content = text.encode()
    except UnicodeError:
        raise SceneError(f"{name}: holds half a character (a lone surrogate)") from None
    _Model(name, folder, Folders(folder, packages)).check(checked_xml(content, name), name, folder)


class _Model:
    """What is known of a model while its texts are read. name: in front of every error."""

    def __init__(self, name: str, folder: Path, folders: Folders) -> None:
        self.name, self.folder, self.folders = name, folder, folders
        self.places = {folder}  # from where names of files may count
        self.seen: set[Path] = set()  # files that are included
        self.elements = 0.0

    def check(self, content: bytes, name: str, folder: Path) -> None:
        try:
            text = COMMENT.sub(b"", content).decode()
        except UnicodeDecodeError:
            raise SceneError(f"{name}: not an MJCF file: it is not text in UTF-8; save it as UTF-8") from None
        self.places.add(folder)
        tags = list(_tags(text))
        for _, attributes, _, _ in tags:
            for directory in (value for key, value in attributes.items() if key in FOLDER_OF):
                self.places |= {place / directory for place in (self.folder, folder)}
        open_tags: list[tuple[str, float]] = []  # with how often each is made
        for tag, attributes, ends, single in tags:
            if ends:
                while open_tags and open_tags.pop()[0] != tag:
                    pass
                continue
            times = open_tags[-1][1] if open_tags else 1.0
            if tag in REPEATED:
                times *= max(1.0, self._count(tag, "count", attributes.get("count", "1"), math.inf))
            self.elements += times
            problem = excess(self.elements, MOST_ELEMENTS, "elements are made by it")
            if problem:
                raise SceneError(f"{name}: is too large: {problem}")
            self._check_counts(tag, attributes)
            for key, value in attributes.items():
                if key.startswith("file") and value:
                    self._check_file(value, tag)
            if not single:
                open_tags.append((tag, times))

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def _check_counts(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Of cells of a grid, samples, numbers of a user's."""
        asked = 1.0
        for key, value in attributes.items():
            if key in ASKED or key.startswith("nuser") or (tag, key) == ("numeric", "size"):
                asked *= max(1.0, self._count(tag, key, value, MOST_COUNT))
        if asked > MOST_COUNT:
            raise SceneError(f"{self.name}: <{tag}> asks for {asked:.3g} numbers; at most {MOST_COUNT} are made")
        if tag == "mesh" and attributes.get("builtin") == "sphere":
            self._count(tag, "params", attributes.get("params", "0"), MOST_DIVISIONS)

    def _count(self, tag: str, key: str, value: str, most: float) -> float:
        """The product of an attribute's numbers; what is no number counts as 1, for MuJoCo to refuse."""
        product = 1.0
        for word in value.split():
            try:
                product *= abs(float(word))
            except ValueError:
                continue
        if product > most:
            raise SceneError(f"{self.name}: {key} of <{tag}> must be at most {most:g}, got {show(value)}")
        return product

    # ---- files -------------------------------------------------------------------------------------------------------

    def _check_file(self, value: str, tag: str) -> None:
        """A file that is named may be read, wherever MuJoCo finds it, and is not too large."""
        if "://" in value and not value.startswith("file:"):
            raise SceneError(f"{self.name}: the file {show(value)} is not a file here; download it and give its path")
        if "\0" in value or len(value) > 4000:
            raise SceneError(f"{self.name}: the file {show(value)} is named by no file's name")
        outside: list[OutsideError] = []
        places = sorted({place / value for place in self.places})
        for path in places:
            try:
                self.folders.check(path, value, "the file")
            except OutsideError as error:
                outside.append(error)
                if os.path.exists(path):
                    break
                continue
            if path.is_file():
                self._check_content(path, tag)
            elif path.exists() and not path.is_dir():  # a pipe, for which MuJoCo would wait
                raise SceneError(f"{self.name}: the file {show(value)} is no plain file; copy it into one")
        else:
            if len(outside) < len(places):
                return
        raise SceneError(f"{self.name}: {outside[-1]}")

    def _check_content(self, path: Path, tag: str) -> None:
        """Of a file that the model reads."""
        real = path.resolve()
        if real in self.seen:
            return
        self.seen.add(real)
        if len(self.seen) > MOST_FILES:
            raise SceneError(f"{self.name}: names more than {MOST_FILES} files")
        try:
            if tag == "include":
                self.check(xml_of(str(path), WHAT), str(path), path.parent)
            else:
                problem = _of_pixels(content_of(path, "file of a model", MOST_MESH))
                if problem:
                    raise SceneError(f"{path}: is too large: {problem}")
        except SceneError as error:
            raise error if str(error).startswith(self.name) else SceneError(f"{self.name}: {error}") from None


def _tags(text: str) -> Iterator[tuple[str, dict[str, str], bool, bool]]:
    """-> name, attributes, whether it ends an element, whether it is an element without content."""
    for found in TAG.finditer(text):
        attributes = {key: html.unescape(a or b) for key, a, b in ATTRIBUTE.findall(found[3])}
        yield found[2], attributes, bool(found[1]), bool(found[4])


def _of_pixels(content: bytes) -> str:
    """What is wrong with a picture that says that it is vast, or ""."""
    if not content.startswith(PNG):
        return ""
    return excess(
        int.from_bytes(content[16:20], "big") * int.from_bytes(content[20:24], "big"), MOST_PIXELS, "pixels are in it"
    )
