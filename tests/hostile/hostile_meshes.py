"""Hostile meshes: name -> (ending, bytes, words of the message)."""

import json
import struct

from good_files import changed, dae, glb, obj, off, ply, stl, zipped
from hostile_archives import deflated_zeros, raw_zip

BROKEN = "cannot be read|is empty|makes no convex hull|not finite"


def points_of(*values):
    """An OBJ file with other numbers in the place of the first corner's."""
    return b"v " + " ".join(values).encode() + b"\n" + obj()


def gltf(**changes):
    """A .glb file whose description has other fields."""
    data = glb()
    length = struct.unpack("<I", data[12:16])[0]
    told = json.loads(data[20 : 20 + length])
    for way, value in changes.items():
        at = told
        *steps, last = way.split("__")
        for step in steps:
            at = at[int(step) if step.isdecimal() else step]
        at[int(last) if last.isdecimal() else last] = value
    text = json.dumps(told).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    size = 20 + len(text) + len(rest)
    return data[:8] + struct.pack("<II", size, len(text)) + data[16:20] + text + rest


def lying_zip():
    """An archive whose one file says that it is small, and unpacks to 400 MB."""
    packed, _, crc = deflated_zeros(b"", 400)
    return raw_zip([("a.stl", packed, 1000, crc)])


LAUGHS = b'<!DOCTYPE c [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'

MESHES = {
    "STL of nothing": ("stl", lambda: b"", BROKEN),
    "STL of text": ("stl", lambda: b"solid nothing\n", BROKEN),
    "STL of 4 billion triangles": ("stl", lambda: stl(2**32 - 1), BROKEN),
    "STL of no triangles": ("stl", lambda: stl(0), BROKEN),
    "STL that ends early": ("stl", lambda: stl()[:200], BROKEN),
    "STL of NaN": ("stl", lambda: stl()[:84] + b"\xff\xff\xff\x7f" * 12 + stl()[132:], BROKEN),
    "STL of text that never ends": ("stl", lambda: b"solid x\n" + b"facet normal 0 0 1\n" * 100_000, BROKEN),
    "OBJ of nothing": ("obj", lambda: b"", BROKEN),
    "OBJ of infinity": ("obj", lambda: points_of("1e400", "0", "0"), BROKEN),
    "OBJ of NaN": ("obj", lambda: points_of("nan", "0", "0"), BROKEN),
    "OBJ of words": ("obj", lambda: points_of("x", "y", "z"), BROKEN),
    "OBJ of corners that are not there": ("obj", lambda: obj() + b"f 1 2 99999999999\n", BROKEN),
    "OBJ of one point": ("obj", lambda: b"v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", BROKEN),
    "OBJ that is flat": ("obj", lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", BROKEN),
    "PLY of nothing": ("ply", lambda: b"", BROKEN),
    "PLY without an end of its head": ("ply", lambda: b"ply\nformat ascii 1.0\nelement vertex 3\n" * 1000, BROKEN),
    "PLY of 10^15 corners, binary": ("ply", lambda: ply(10**15, form="binary_little_endian"), BROKEN),
    "PLY of 10^15 triangles, binary": ("ply", lambda: ply(8, 10**15, form="binary_little_endian"), BROKEN),
    "OFF of a billion corners": ("off", lambda: off().replace(b"8 12 0", b"1000000000 12 0"), BROKEN),
    "OFF of words": ("off", lambda: b"OFF\nx y z\n", BROKEN),
    "GLB of nothing": ("glb", lambda: b"", BROKEN),
    "GLB that is longer than it is": ("glb", lambda: glb()[:12] + b"\xff\xff\xff\x7f" + glb()[16:], BROKEN),
    "GLB of 10^12 corners": ("glb", lambda: gltf(accessors__1__count=10**12, accessors__0__count=10**12), BROKEN),
    "glTF of the system": (
        "gltf",
        lambda: json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": "/etc/passwd", "byteLength": 9}]}).encode(),
        "lies outside of|" + BROKEN,
    ),
    "glTF of the network": (
        "gltf",
        lambda: json.dumps(
            {"asset": {"version": "2.0"}, "buffers": [{"uri": "http://127.0.0.1:9/a", "byteLength": 9}]}
        ).encode(),
        BROKEN,
    ),
    "Collada of nothing": ("dae", lambda: b"", BROKEN),
    "Collada with a billion laughs": ("dae", lambda: LAUGHS + dae(), "declares entities"),
    "an archive of nothing": ("zip", lambda: b"", "no whole zip file"),
    "an archive of text": ("zip", lambda: zipped([("a.txt", b"hello")]), BROKEN),
    "an archive in an archive": ("zip", lambda: zipped([("b.zip", zipped([("a.stl", stl())]))]), "another one in it"),
    "an archive that unpacks to 300 MB": (
        "zip",
        lambda: zipped([("a.stl", bytes(150_000_000)), ("b.stl", bytes(150_000_000))]),
        "unpacks to 300 MB; at most 200 MB",
    ),
    "an archive that says it is small": ("zip", lying_zip, BROKEN),
    "an archive with a billion laughs": ("zae", lambda: zipped([("doc.dae", LAUGHS + dae())]), "declares entities"),
    "a packed mesh": ("stl.gz", lambda: b"\x1f\x8b" + bytes(100), "is a packed file"),
    "a script": ("py", lambda: b"import os\n", BROKEN),
    "no ending": ("", lambda: stl(), BROKEN),
    "200 MB of mesh": ("stl", lambda: stl(4_100_000) + bytes(205_000_000), "is too large: 205 million bytes"),
}

# Meshes whose readers find points all the same, and what they find is as good as any.
TOLERATED = {
    "PLY of a billion corners": ("ply", lambda: ply(10**9)),
    "PLY of corners below zero": ("ply", lambda: ply(-8)),
    "GLB that is in a circle": ("glb", lambda: gltf(nodes__0__children=[0, 0, 0])),
    "Collada of a billion numbers": ("dae", lambda: changed(dae().decode(), ('count="', 'count="99999999')).encode()),
}
