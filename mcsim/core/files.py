"""Files: read with errors that name them, written whole or not at all."""

import csv
import errno
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mcsim.core.archives import ArchiveError, arrays_of, one_line
from mcsim.core.errors import SceneError
from mcsim.core.limits import MOST_DEPTH, MOST_TEXT, MOST_VALUES, excess

# Of a path that can be that of no file: too long, through what is no folder, in a circle.
WRONG_PATHS = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.EINVAL)


def path_name(path: Any, what: str) -> str:
    """A path as a string. what: what the file is to be, "recording"."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise SceneError(f"a {what} is named by its path, a string or a pathlib.Path, got {path!r:.60}") from None
    if not name or "\0" in name:
        raise SceneError(f"a {what} is named by its path, got {name!r:.60}")
    return name


# ---- reading ---------------------------------------------------------------------------------------------------------


@contextmanager
def opened(path: Any, what: str) -> Iterator[BinaryIO]:
    """Yields a binary file to read. FileNotFoundError if there is none, SceneError if the path can be that of none;
    OSError for what the machine does not do, as ever. A pipe that nobody writes to is an empty file, not one to wait
    for."""
    name = path_name(path, what)
    try:
        with open(name, "rb", opener=_at_once) as file:
            yield file
    except FileNotFoundError:
        raise FileNotFoundError(f"no such {what}: {name}") from None
    except OSError as error:
        raise _of_path(error, name, what) from None


def _at_once(name: str, flags: int) -> int:
    """open() that does not wait for the other end of a pipe; reading does, where there is one."""
    handle = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(handle, True)
    return handle


def content_of(path: Any, what: str, most: int = MOST_TEXT) -> bytes:
    """The bytes of a file, of which there are at most so many. Errors as of opened()."""
    with opened(path, what) as file:
        size = os.fstat(file.fileno()).st_size  # 0 of a pipe, and of a device that never ends
        content = b"" if excess(size, most, "") else _read(file, most)
    problem = excess(max(size, len(content)), most, "bytes are in it")
    if problem:
        raise SceneError(f"{path_name(path, what):.300}: is too large: {problem}")
    return content


def _read(file: BinaryIO, most: int) -> bytes:
    """All of a file, or one byte more than may be read."""
    return file.read() if not excess(most + 1, most, "") else file.read(most + 1)


def _of_path(error: OSError, name: str, what: str) -> Exception:
    """What an OSError says about a path, as a SceneError where the path is wrong in itself."""
    if error.errno == errno.EISDIR:
        return SceneError(f"{name}: is a folder, not a {what}")
    return SceneError(f"{name:.300}: {error.strerror}") if error.errno in WRONG_PATHS else error


def read_json(path: Any, what: str) -> Any:
    """The JSON data of a file, in which no object has a field twice."""
    return parse_json(content_of(path, what), path_name(path, what), what)


def parse_json(content: bytes, name: str, what: str) -> Any:
    """The JSON data that the bytes of a file are; `name` stands in front of every error. How much is in it, and how deep,
    is counted before anything is made of it."""
    count = content.count(b",") + content.count(b"[") + content.count(b"{")
    problem = excess(len(content), MOST_TEXT, "bytes are in it") or excess(count, MOST_VALUES, "values are in it")
    if problem:
        raise SceneError(f"{name}: is too large: {problem}")
    if _depth(content) > MOST_DEPTH:
        raise SceneError(f"{name}: not a {what}: nested too deeply, in more than {MOST_DEPTH} lists and objects")
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise SceneError(f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise SceneError(f"{name}: not JSON: it is not text in UTF-8") from None
    except RecursionError:
        raise SceneError(f"{name}: not a {what}: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits, a field given twice
        raise SceneError(f"{name}: {error}") from None


_PLAIN = bytes(set(range(256)) - set(b'[]{}"'))  # characters that open and close nothing
_STEPS = np.zeros(256, np.int8)  # levels up or down, by character
_STEPS[[ord("["), ord("{")]] = 1
_STEPS[[ord("]"), ord("}")]] = -1
_AT_ONCE = 1 << 20


def _depth(content: bytes) -> int:
    """How many lists and objects of a JSON text are within each other, its strings left out."""
    if content.count(b"[") + content.count(b"{") <= MOST_DEPTH:
        return 0
    if b"\\" in content:  # which stands in strings alone
        content = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = np.frombuffer(content.translate(None, _PLAIN), np.uint8)
    deepest = level = quotes = 0
    for begin in range(0, len(marks), _AT_ONCE):
        part = marks[begin : begin + _AT_ONCE]
        before = quotes + np.cumsum(part == ord('"'), dtype=np.int64)
        levels = level + np.cumsum(np.where(before % 2 == 0, _STEPS[part], 0), dtype=np.int64)
        deepest, level, quotes = max(deepest, int(levels.max())), int(levels[-1]), int(before[-1])
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no field may stand twice."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"field {name!r:.60} stands twice in one object")
            seen.add(name)
    return result


def read_arrays(path: Any, what: str) -> dict[str, np.ndarray]:
    """name -> array, of a NumPy .npz file. Objects of Python are never read, and what the file says of its sizes is
    checked before memory is taken."""
    name = path_name(path, what)
    with opened(path, what) as file:
        try:
            return arrays_of(file)
        except ArchiveError as error:
            raise SceneError(f"{name}: not a {what}: {error}; make the file anew, or fetch it again") from None
        except io.UnsupportedOperation:
            raise SceneError(f"{name}: not a {what}: it is no plain file; copy it into one") from None
        except MemoryError:
            raise SceneError(f"{name}: not a {what}: it holds more than there is memory for") from None
        except OSError:
            raise
        except Exception as error:  # the readers of zip files, compressions and headers raise whatever they do
            raise SceneError(f"{name}: not a {what}: {one_line(error)}") from None


# ---- writing ---------------------------------------------------------------------------------------------------------


@contextmanager
def written_whole(path: Any, what: str = "file") -> Iterator[Any]:
    """Yields an open binary file; when the block ends well it becomes `path`, otherwise `path` stays as it was. What is
    no plain file, a pipe or a terminal, is written at once. Errors as of opened()."""
    name = os.path.realpath(path_name(path, what))
    try:
        if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
            with open(name, "wb") as file:
                yield file
            return
        with _beside(name) as file:
            yield file
    except FileNotFoundError as error:
        if error.filename is not None and not os.path.isdir(os.path.dirname(name)):
            raise FileNotFoundError(f"{os.fsdecode(path)}: there is no folder {os.path.dirname(name)}") from None
        raise
    except OSError as error:
        raise _of_path(error, os.fsdecode(path), what) from None


def write_json(data: Any, path: Any, what: str) -> None:
    """Write a dict to a JSON file, one line for each field, and for each object of a list of them. Floats read back to
    the bit."""
    parts = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines = ",\n    ".join(_json(item) for item in value)
            parts.append(f"{_json(key)}: [\n    {lines}\n  ]")
        else:
            parts.append(f"{_json(key)}: {_json(value)}")
    content = "{\n  " + ",\n  ".join(parts) + "\n}\n"
    with written_whole(path, what) as file:
        file.write(content.encode())


def _json(value: Any) -> Any:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


@contextmanager
def _beside(name: str) -> Iterator[Any]:
    """A file in the same folder that takes the name when the block ends well."""
    handle, other = tempfile.mkstemp(prefix=".mcsim-", dir=os.path.dirname(name))
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)  # mkstemp makes files private; give it what open() would
        os.umask(mask)
        os.chmod(other, 0o666 & ~mask)
        os.replace(other, name)
    except BaseException:
        os.unlink(other)
        raise


def write_table(path: Any, rows: Iterable[Iterable[Any]]) -> None:
    """Writes rows as comma-separated values to a .csv file, whole or not at all."""
    if Path(path).suffix != ".csv":
        raise SceneError(f"{os.fspath(path)}: must end in .csv")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with written_whole(path) as file:
        file.write(text.getvalue().encode("utf-8"))
