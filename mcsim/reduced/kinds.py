"""The kinds of joints that a tree can be made of, and which joint of a scene is of which kind.

Coordinates q and velocities qd are those of F_s (the joint's frame on its successor b) relative to F_p (that on its
predecessor a), whichever of the two bodies is nearer to the base. x, y, z are the axes of F_s; angles in radians. A kind
is put together from motions, as the joint's class states them (`tree`, in scene/joints):

    motions         q                                            qd
    -               -                                            -
    ways            way along axes of F_p, first                 velocity along them
    turn z          angle about z                                its rate
    ways xy, turn z x, y in F_p, angle about z                   velocity along x and y of F_s, rate of the angle
    turn q          unit quaternion (w, x, y, z)                 angular velocity in F_s
    turn zyx        yaw, pitch, roll: R = Rz(yaw) Ry(pitch) Rx(roll); their rates; singular at pitch = +-pi/2
    turn zx         angle about z of F_p, angle about x of F_s   their rates
    geared z, x     the way along that axis of F_p is the constant (pitch, radius) times the angle
    user            a user's own model

No joint of a scene is of the kinds spherical_ypr, rack_pinion and user by itself: they are models to compute with.
"""

from __future__ import annotations

from typing import NamedTuple

from mcsim.scene import Joint
from mcsim.scene.joints import TYPES
from mcsim.scene.joints._joint import TreeKind

# How motions are put together, (ways, turn, geared), in the order in which kernels number them (_links.pxd).
PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("", "", ""),
    ("", "z", ""),
    ("z", "", ""),
    ("", "z", "z"),
    ("z", "z", ""),
    ("xy", "z", ""),
    ("*", "q", ""),
    ("", "zyx", ""),
    ("", "zx", ""),
    ("", "z", "x"),
    ("", "user", ""),
)


class Kind(NamedTuple):
    """A kind of tree joint. nq, nv: sizes of its q and qd. pattern: number of what kernels do with it."""

    name: str
    pattern: int
    nq: int
    nv: int
    ways: str = ""
    turn: str = ""
    geared: str = ""

    @property
    def plain(self) -> bool:
        """Whether its q are coordinates of the joint itself, ways and angles."""
        return self.turn in ("", "z", "zx")


def _kind(tree: TreeKind) -> Kind:
    sizes = {"q": (4, 3), "user": (0, 0)}.get(tree.turn, (len(tree.turn),) * 2)
    pattern = PATTERNS.index(("*" if tree.turn == "q" else tree.ways, tree.turn, tree.geared))
    nq, nv = (len(tree.ways) + size for size in sizes)
    return Kind(tree.name, pattern, nq, nv, *tree[1:])


KINDS: dict[str, Kind] = {
    tree.name: _kind(tree)
    for tree in (
        *(joint.tree for joint in TYPES.values() if joint.tree is not None),
        TreeKind("spherical_ypr", turn="zyx"),
        TreeKind("user", turn="user"),
    )
}

# Type of a scene's joint -> its kind. Joints of other types couple bodies, and no tree can be made of them.
KIND_OF: dict[str, str] = {
    name: joint.tree.name for name, joint in TYPES.items() if joint.tree is not None and not joint.couples
}

# What a ball joint's coordinates may be -> its kind.
BALLS: dict[str, str] = {"quaternion": "spherical", "ypr": "spherical_ypr"}

# Where the unit quaternion stands in the q of a kind.
QUATERNIONS: dict[str, int] = {kind.name: len(kind.ways) for kind in KINDS.values() if kind.turn == "q"}


def freedoms(joint: Joint) -> int | None:
    """How many freedoms a tree joint has; None if the joint is a coupling, of which no tree can be made."""
    kind = KIND_OF.get(joint.type)
    return None if kind is None else KINDS[kind].nv
