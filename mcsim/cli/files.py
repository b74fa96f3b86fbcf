"""Files by what is in them: what to say to someone who gives one of the wrong kind, and what a recording holds."""

from pathlib import Path
from typing import Any

from mcsim.cli.terminal import InputError, counted
from mcsim.core.errors import SceneError
from mcsim.core.files import read_arrays

SCENES = "a scene is a name (mcsim scenes), a .json, .urdf or .xml file"
# Suffix -> what such a file is, and what to do with it.
OTHERS = {
    ".py": "a Python program: run it by python {path}",
    ".ipynb": "a notebook: open it in Jupyter",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".pdf", ".svg"), "a picture: open it in a viewer"),
    **dict.fromkeys((".gif", ".mp4"), "a film: open it in a viewer or a browser"),
    ".csv": "a table: open it in a spreadsheet, or in Python by pandas.read_csv",
    **dict.fromkeys(
        (".stl", ".obj", ".dae", ".ply", ".glb"),
        "a mesh: name it in a .urdf or .xml file, or build a scene around it in Python, by mcsim.Mesh",
    ),
    ".zip": "an archive: unpack it first",
}
# Kind of a .npz file -> what to do with it.
ARRAYS = {
    "recording": "mcsim play {path} shows it, mcsim check {path} says what is in it, mcsim.io.Recording.load reads it in "
    "Python",
    "contact problem": "mcsim solvers {path} solves it",
    "comparison": "mcsim.lab.Study.load reads it in Python, and study.plot draws it",
}


def kind_of_arrays(path: Path) -> str:
    """What a .npz file holds: a key of ARRAYS, or "" if none of them."""
    arrays = read_arrays(path, "recording")
    if {"time", "positions", "body_names"} <= arrays.keys():
        return "recording"
    if {"format", "b", "bounds"} <= arrays.keys():
        return "contact problem"
    return "comparison" if any(name.startswith("runs.") for name in arrays) else ""


def refuse_other_kinds(given: str | Path) -> None:
    """InputError, which says what it is and what to do with it, where a scene is wanted and another file was given."""
    path, suffix = Path(given), Path(given).suffix.lower()
    if path.is_dir():
        from mcsim.scenes import SCENES as names

        if str(given) not in names:
            raise InputError(f"{given}: is a folder; {SCENES}")
    elif suffix == ".npz" and path.is_file():
        kind = kind_of_arrays(path)
        told = f"a {kind}, not a scene: {ARRAYS[kind].format(path=path)}" if kind else f"a file of arrays; {SCENES}"
        raise InputError(f"{path}: is {told}")
    elif suffix in OTHERS and path.is_file():
        raise InputError(f"{path}: is {OTHERS[suffix].format(path=path)}; {SCENES}")
    elif not suffix and path.is_file():
        raise InputError(f"{path}: is a file without .json, .urdf or .xml at its end; {SCENES}")
    elif isinstance(given, str) and not suffix and not path.exists():
        near = [path.with_suffix(end) for end in (".json", ".urdf", ".xml") if path.with_suffix(end).is_file()]
        from mcsim.scenes import SCENES as names

        if near and given not in names:
            raise InputError(f"there is no scene {given!r}; did you mean {near[0]}?")


def recording_told(path: Path) -> str:
    """What is in a recording."""
    from mcsim.io import Recording

    if kind_of_arrays(path) != "recording":
        refuse_other_kinds(path)
    found: Any = Recording.load(path)
    if not len(found):
        raise SceneError(f"{path}: a recording without frames")
    return (
        f"recording, {counted(len(found), 'frame', 'frames')} from {found.time[0]:g} to {found.time[-1]:g} s, "
        f"{counted(len(found.body_names), 'body', 'bodies')}"
    )
