"""The folder of a sweep: what it is, and a file for each run that has ended, written once and whole."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import parse_json, path_name, read_arrays, read_json, written_whole
from mcsim.core.version import __version__
from mcsim.lab.grids import key
from mcsim.lab.trials import SUITABLE
from mcsim.scene.checks import show

VERSION = 1
INDEX = "sweep.json"
RESULT = "result."  # in front of the name of a result, among the arrays of a file
WHAT = "result of a sweep"


class Outcome(NamedTuple):
    """results: None where the run has failed; failure: why. version: of mcsim."""

    results: dict[str, Any] | None
    failure: str
    version: str


class Folder:
    """Where the results of a sweep are kept."""

    def __init__(self, path: Any) -> None:
        self.path = Path(path_name(path, "folder of a sweep"))

    def begin(self, index: dict[str, Any]) -> None:
        """Make it, and write what the sweep is; of another study it is refused."""
        if self.path.exists() and not self.path.is_dir():
            raise SceneError(f"{self.path}: is no folder")
        self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / INDEX).exists():
            there = self.index()["name"]
            if there != index["name"]:
                raise SceneError(
                    f"{self.path}: holds the sweep of {show(there)}, not of {show(index['name'])}; choose another folder"
                )
        head = {name: value for name, value in index.items() if name != "parameters"}
        lines = ",\n    ".join(json.dumps(one) for one in index["parameters"])
        text = json.dumps({"version": VERSION} | head, indent=2).removesuffix("\n}")
        with written_whole(self.path / INDEX, "sweep") as file:
            file.write(f'{text},\n  "parameters": [\n    {lines}\n  ]\n}}\n'.encode())

    def index(self) -> dict[str, Any]:
        """What the sweep is, as `begin` wrote it."""
        path = self.path / INDEX
        if self.path.is_dir() and not path.exists():
            raise SceneError(f"{self.path}: is no folder of a sweep: there is no {INDEX} in it")
        if not self.path.is_dir():
            raise FileNotFoundError(f"no such folder of a sweep: {self.path}")
        found = read_json(path, "sweep")
        kinds = {"name": str, "study": str, "shape": list, "units": dict, "parameters": list}
        if not isinstance(found, dict) or any(not isinstance(found.get(name), kind) for name, kind in kinds.items()):
            raise SceneError(f"{path}: is not what a sweep writes")
        if found.get("version") != VERSION:
            raise SceneError(f"{path}: of format {show(found.get('version'))}; this mcsim reads format {VERSION}")
        if not all(isinstance(one, dict) for one in found["parameters"]):
            raise SceneError(f"{path}: parameters must be a list of objects")
        shape = found["shape"]
        if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(found["parameters"]):
            raise SceneError(f"{path}: shape must be that of its {len(found['parameters'])} runs, got {show(shape)}")
        return found

    def write(self, study: str, parameters: dict[str, Any], results: dict[str, Any] | None, failure: str) -> None:
        """Keep what a run has come to."""
        about = {
            "version": VERSION,
            "mcsim": __version__,
            "study": study,
            "parameters": parameters,
            "failure": failure if results is None else None,
        }
        arrays: dict[str, Any] = {RESULT + name: np.asarray(value) for name, value in (results or {}).items()}
        with written_whole(self._file(study, parameters), WHAT) as file:
            np.savez_compressed(file, sweep=np.array(json.dumps(about)), **arrays)

    def read(self, study: str, parameters: dict[str, Any]) -> Outcome | None:
        """What a run has come to; None if it has not ended. A damaged file is a SceneError."""
        path = self._file(study, parameters)
        if not path.exists():
            return None
        data = read_arrays(path, WHAT)
        try:
            about = parse_json(str(data.pop("sweep")).encode(), "sweep", WHAT)
            version, failure, mcsim = about["version"], about["failure"], str(about["mcsim"])
        except (KeyError, TypeError, ValueError) as error:
            raise SceneError(f"{path}: not a {WHAT}: {error}") from None
        if version != VERSION:
            raise SceneError(f"{path}: a {WHAT} of format {show(version)}; this mcsim reads format {VERSION}")
        if failure is not None:
            return Outcome(None, str(failure), mcsim)
        if any(array.dtype.kind not in SUITABLE for array in data.values()):
            raise SceneError(f"{path}: not a {WHAT}: it holds what is no number and no text")
        found = {name.removeprefix(RESULT): array.item() if not array.ndim else array for name, array in data.items()}
        return Outcome(found, "", mcsim)

    def read_or_warn(self, study: str, parameters: dict[str, Any]) -> Outcome | None:
        """The same, but what cannot be read counts as not there, with a warning."""
        try:
            return self.read(study, parameters)
        except SceneError as error:
            warnings.warn(f"{error}; the run is made anew", stacklevel=2)
            return None

    def _file(self, study: str, parameters: dict[str, Any]) -> Path:
        return self.path / f"{key(study, parameters)}.npz"
