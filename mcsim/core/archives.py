"""Zip files, looked at before anything in them is unpacked.

What a zip file says of its sizes is checked, and what it really holds is never more: zipfile reads of each entry as many
bytes as are declared, and Deflate, which can stop in between, is the only packing that is taken.
"""

import errno
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
LAST_CHARACTER = 0x10FFFF  # of Unicode


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
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a place before the begin of the file
            raise
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


def unpacked(archive: zipfile.ZipFile, most: float) -> dict[str, bytes]:
    """name -> content of all that is in an archive, of which there are at most so many bytes. ArchiveError says what is
    wrong, before more is unpacked than is declared."""
    total = sum(item.file_size for item in archive.infolist())
    if total > most:
        raise ArchiveError(f"it unpacks to {total / 1e6:.0f} MB; at most {most / 1e6:.0f} MB are unpacked")
    return {item.filename: _content(archive, item) for item in archive.infolist() if not item.is_dir()}


def stored(inside: dict[str, bytes]) -> bytes:
    """An archive of these files in which nothing is packed."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, content in inside.items():
            archive.writestr(name, content)
    return data.getvalue()


def _content(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> bytes:
    """Read in pieces: to read all at once is to unpack all at once, whatever its size is said to be."""
    parts = []
    with _reading(f"{item.filename!r:.60}"), archive.open(item) as member:
        while part := member.read(CHUNK):
            parts.append(part)
    return b"".join(parts)


def _declared(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> float:
    """Bytes that an array takes, its numbers as doubles, by its header, which is of one mind with the directory."""
    name = f"{item.filename!r:.60}"
    with _reading(name), archive.open(item) as member:
        shape, dtype, begin = _header(member)
    if dtype.itemsize == 0:
        raise ArchiveError(f"{name} holds things of no size")
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
        if not _has_characters(array):
            raise ValueError("it holds text that has no such characters")
        return array


def _has_characters(array: np.ndarray) -> bool:
    """Whether the numbers of text in an array are characters: Python ends badly where it makes strings of others."""
    if array.dtype.names is not None:
        return all(_has_characters(array[name]) for name in array.dtype.names)
    if array.dtype.kind != "U":
        return True
    codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
    return bool((codes <= LAST_CHARACTER).all())


class _reading:
    """What goes wrong while an entry is read, as an ArchiveError that names it. OSErrors stay: they are the machine's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, MemoryError):
            raise ArchiveError(f"{self.name} holds more than there is memory for") from None
        machine = isinstance(error, OSError) and error.errno != errno.EINVAL
        if isinstance(error, Exception) and not machine and not isinstance(error, ArchiveError):
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
