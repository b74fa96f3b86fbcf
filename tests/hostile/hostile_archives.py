"""Hostile .npz files, whatever they are said to hold: name -> what makes the bytes of one from those of a good one, and
the words of the message."""

import io
import pickle
import struct
import zipfile
import zlib

import numpy as np

from good_files import npy, zipped

LOCAL, ENTRY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


class Evil:
    """What would run if it were unpickled."""

    def __reduce__(self):
        return eval, ("__import__('os').mkdir('/tmp/unpickled-by-mcsim')",)


def in_directory(data, **changes):
    """The bytes of an archive with numbers of its first entry changed, there and in the directory."""
    places = {"flags": (6, 8, "<H"), "method": (8, 10, "<H"), "packed": (18, 20, "<I"), "size": (22, 24, "<I")}
    data = bytearray(data)
    for name, value in changes.items():
        *shifts, form = places[name]
        for signature, shift in zip((LOCAL, ENTRY), shifts):
            at = data.index(signature) + shift
            data[at : at + struct.calcsize(form)] = struct.pack(form, value)
    return bytes(data)


def deflated_zeros(head, mebibytes):
    """-> Deflate's stream of `head` and so many MiB of zeros, their length, their CRC; made from one MiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = bytes(1 << 20)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    one = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    crc = zlib.crc32(head)
    for _ in range(mebibytes):
        crc = zlib.crc32(block, crc)
    return begin + one * mebibytes + b"\x03\x00", len(head) + (mebibytes << 20), crc


def raw_zip(entries):
    """An archive of (name, packed bytes, declared size, CRC), all Deflate; a packed part of None lies where that of the
    first entry does."""
    data, places, directory = io.BytesIO(), [], io.BytesIO()
    for name, packed, size, crc in entries:
        places.append(0 if packed is None else data.tell())
        if packed is not None:
            data.write(struct.pack("<4s5H3I2H", LOCAL, 20, 0, 8, 0, 0, crc, len(packed), size, len(name), 0))
            data.write(name.encode() + packed)
    first = len(entries[0][1])
    for (name, packed, size, crc), place in zip(entries, places):
        length = first if packed is None else len(packed)
        directory.write(struct.pack("<4s6H3I5H2I", ENTRY, 20, 20, 0, 8, 0, 0, crc, length, size, len(name), 0, 0, 0, 0, 0,
                                    place))  # fmt: skip
        directory.write(name.encode())
    begin, body = data.tell(), directory.getvalue()
    end = struct.pack("<4s4H2IH", END, 0, 0, len(entries) & 0xFFFF, len(entries) & 0xFFFF, len(body), begin, 0)
    return data.getvalue() + body + end


def bomb(mebibytes, said=None):
    """One array of zeros: it says how long it is, or something else."""
    head = npy(b"", shape=((mebibytes << 20) // 8,))
    packed, size, crc = deflated_zeros(head, mebibytes)
    return raw_zip([("time.npy", packed, size if said is None else said, crc)])


def overlapping(count, mebibytes):
    """Entries that all are the same bytes of the file."""
    head = npy(b"", shape=((mebibytes << 20) // 8,))
    packed, size, crc = deflated_zeros(head, mebibytes)
    return raw_zip([("time.npy", packed, size, crc), *((f"t{i}.npy", None, size, crc) for i in range(count))])


def one(*args, **header):
    return zipped([("time.npy", npy(*args, **header))])


def pickled():
    content = pickle.dumps(np.array([Evil()], dtype=object).tolist())
    return zipped([("time.npy", npy(content, descr="|O", shape=(1,)))])


def spoilt(good):
    data = bytearray(good)
    at = len(data) // 3
    data[at : at + 200] = bytes(200)
    return bytes(data)


# Name -> (good bytes -> bad bytes, regular expression of the message after "not a …: ").
ATTACKS = {
    "nothing": (lambda good: b"", "no whole zip file"),
    "text": (lambda good: b"time,x\n0,1\n", "no whole zip file"),
    "pickle": (lambda good: pickle.dumps(Evil()), "no whole zip file"),
    "an array alone": (lambda good: npy(), "no whole zip file"),
    "half of it": (lambda good: good[: len(good) // 2], "no whole zip file"),
    "its end alone": (lambda good: good[len(good) // 2 :], "no whole zip file|is damaged"),
    "an empty archive": (lambda good: END + bytes(18), "there is no|not a"),
    "spoilt in the middle": (spoilt, "is damaged|no whole|says that|declares|there is no"),
    "encrypted": (lambda good: in_directory(one(), flags=1), "'time.npy' is encrypted"),
    "packed by no known method": (lambda good: in_directory(one(), method=98), "packed by method 98, not by Deflate"),
    "packed by bzip2": (lambda good: zipped([("time.npy", npy())], zipfile.ZIP_BZIP2), "packed by method 12"),
    "packed by LZMA": (lambda good: zipped([("time.npy", npy())], zipfile.ZIP_LZMA), "packed by method 14"),
    "objects of Python": (lambda good: pickled(), "Python objects, which are never read"),
    "a petabyte declared": (lambda good: one(shape=(2**50,)), "says that it is float64 of the shape"),
    "a length beyond integers": (lambda good: one(shape=(10**40,)), "says that it is float64|is damaged"),
    "a negative length": (lambda good: one(shape=(-3,)), r"its shape is \(-3,\)"),
    "a length that is none": (lambda good: one(shape=("x",)), "is damaged"),
    "shorter than it says": (lambda good: one(shape=(300,)), "says that it is float64 of the shape"),
    "longer than it says": (lambda good: one(bytes(400)), "says that it is float64 of the shape"),
    "of no size each": (lambda good: one(b"", descr="|S0", shape=(10**9,)), "of no size"),
    "of vast elements": (lambda good: one(descr="<U2000000000", shape=(1,)), "says that it is|is damaged"),
    "rows in rows in rows": (lambda good: one(descr=("<f8", (10**6, 10**6)), shape=(10**6,)), "says that|is damaged"),
    "a header of brackets": (lambda good: zipped([("time.npy", b"\x93NUMPY\x01\x00\x00\x10" + b"(" * 4096)]), "is damaged"),
    "a header of 4 GB": (
        lambda good: zipped([("time.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")]),
        "not one that NumPy writes",
    ),
    "a header that runs code": (
        lambda good: zipped([("time.npy", b"\x93NUMPY\x01\x00\x18\x00__import__('os').abort()")]),
        "is damaged",
    ),
    "a version of tomorrow": (lambda good: zipped([("time.npy", b"\x93NUMPY\x09\x00" + bytes(80))]), "not one that NumPy"),
    "no array inside": (lambda good: zipped([("time.npy", b"hello")]), "no array of NumPy's"),
    "an archive inside": (lambda good: zipped([("time.npy", good)]), "no array of NumPy's"),
    "a name twice": (lambda good: raw_zip([("t.npy", b"\x03\0", 0, 0)] * 2), "stands twice"),
    "more files than there are": (
        lambda good: raw_zip([("t.npy", b"\x03\0", 0, 0), *((f"{i}", None, 0, 0) for i in range(70_000))]),
        "7e\\+04|70001 files are in it; at most 65535 are read",
    ),
    "a bomb of zeros": (lambda good: bomb(1200), "1.26 billion bytes of arrays are in it; at most 1 billion"),
    "a bomb that says it is small": (lambda good: bomb(600, said=128), "says that it is float64|is damaged"),
    "a bomb of one thing many times": (lambda good: overlapping(300, 8), "billion bytes of arrays|is damaged"),
    "a directory that says too much": (
        lambda good: in_directory(good, size=2**32 - 2),
        "says that it is|is damaged|no whole",
    ),
    "a directory elsewhere": (lambda good: good[:-6] + b"\xff\xff\xff\x7f" + good[-2:], "no whole zip file|is damaged"),
}
