"""Zip files, looked at before anything in them is unpacked.

What a zip file says of its sizes is checked, and what it really holds is never more: zipfile reads of each entry as many
bytes as are declared, and Deflate, which can stop in between, is the only packing that is taken.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from mcsim.core.limits import MOST_ARRAYS, MOST_HEADER, MOST_UNPACKED, excess

DIRECTORY_ENTRY = b"PK\x01\x02"
CHUNK = 1 << 20
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NPY = ".npy"


class ArchiveError(ValueError):
    """What is wrong with an archive, without the name of the file."""


def entries_of(file: BinaryIO) -> zipfile.ZipFile:
    """The archive, whose directory is known to be short, its names to be different ones, and its packing plain."""
    problem = excess(_count(file, DIRECTORY_ENTRY), MOST_ARRAYS, "files are in it")
    if problem:
        raise ArchiveError(problem)
    file.seek(0)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, UnicodeError, EOFError) as error:
        raise ArchiveError(f"it is no whole zip file ({one_line(error)})") from None
    seen = set()
    for item in archive.infolist():
        if item.filename in seen:
            raise ArchiveError(f"{item.filename!r:.60} stands twice in it")
        seen.add(item.filename)
        if item.flag_bits & 1:
            raise ArchiveError(f"{item.filename!r:.60} is encrypted")
        if item.compress_type not in PLAIN:
            raise ArchiveError(f"{item.filename!r:.60} is packed by method {item.compress_type}, not by Deflate")
    return archive


def arrays_of(file: BinaryIO) -> dict[str, np.ndarray]:
    """name -> array, of a NumPy .npz file, whose headers and sizes are checked before the first array is made.
    ArchiveError says what is wrong."""
    with entries_of(file) as archive:
        total = 0.0
        for item in archive.infolist():
            total += _declared(archive, item)
        problem = excess(total, MOST_UNPACKED, "bytes of arrays are in it")
        if problem:
            raise ArchiveError(problem)
        return {item.filename.removesuffix(NPY): _array(archive, item) for item in archive.infolist()}


def _declared(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> float:
    """Bytes that an array takes, its numbers as doubles, by its header, which is of one mind with the directory."""
    name = f"{item.filename!r:.60}"
    with _reading(name), archive.open(item) as member:
        shape, dtype, begin = _header(member)
    if dtype.hasobject:
        raise ArchiveError(f"{name} holds Python objects, which are never read")
    count = 1.0
    for length in shape:
        count *= length
    if begin + count * dtype.itemsize != item.file_size:
        raise ArchiveError(
            f"{name} says that it is {dtype!s:.60} of the shape {shape!s:.60}, which the {item.file_size} bytes that it "
            "unpacks to are not"
        )
    return count * max(dtype.itemsize, 8)


def _header(member: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """-> shape, dtype and how long the header is."""
    magic = member.read(8)
    if len(magic) < 8 or magic[:6] != np.lib.format.MAGIC_PREFIX:
        raise ValueError("it is no array of NumPy's")
    wide = 2 if magic[6] == 1 else 4
    size = member.read(wide)
    length = int.from_bytes(size, "little")
    if magic[6] not in (1, 2, 3) or len(size) < wide or length > MOST_HEADER:
        raise ValueError("its header is not one that NumPy writes")
    text = io.BytesIO(size + member.read(length))
    read = np.lib.format.read_array_header_1_0 if magic[6] == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(text, max_header_size=MOST_HEADER)
    if any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"its shape is {shape!s:.60}")
    return shape, dtype, 8 + wide + length


def _array(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> np.ndarray:
    with _reading(f"{item.filename!r:.60}"), archive.open(item) as member:
        array: np.ndarray = np.lib.format.read_array(member, allow_pickle=False, max_header_size=MOST_HEADER)
        if member.read(1):
            raise ValueError("more follows than it says")
        return array


class _reading:
    """What goes wrong while an entry is read, as an ArchiveError that names it. OSErrors stay: they are the machine's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, MemoryError):
            raise ArchiveError(f"{self.name} holds more than there is memory for") from None
        if isinstance(error, Exception) and not isinstance(error, (OSError, ArchiveError)):
            raise ArchiveError(f"{self.name} is damaged: {one_line(error)}") from None


def one_line(error: Exception) -> str:
    """What an error of a parser's says, on one line, shortened."""
    return f"{' '.join(str(error).split()) or type(error).__name__:.200}"


def _count(file: BinaryIO, pattern: bytes) -> int:
    """How often a pattern stands in a file."""
    found, kept = 0, b""
    for chunk in _chunks(file):
        found += (kept + chunk).count(pattern)
        kept = chunk[1 - len(pattern) :]
    return found


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(CHUNK):
        yield chunk
