"""The kinds of joints that a tree can be made of, and which joint of a scene is of which kind.

Coordinates q and velocities qd are those of F_s (the joint's frame on its successor b) relative to F_p (that on its
predecessor a), whichever of the two bodies is nearer to the base. x, y, z are the axes of F_s; angles in radians.

    kind            q                                            qd
    fixed           -                                            -
    revolute        angle about z                                its rate
    prismatic       way along z                                  its rate
    helical         angle about z (way: pitch times angle)       its rate
    cylindrical     way along z, angle about z                   their rates
    planar          x, y in F_p, angle about z                   velocity along x and y of F_s, rate of the angle
    spherical       unit quaternion (w, x, y, z)                 angular velocity in F_s
    spherical_ypr   yaw, pitch, roll: R = Rz(yaw) Ry(pitch) Rx(roll); their rates; singular at pitch = +-pi/2
    universal       angle about z of F_p, angle about x of F_s   their rates
    free            position of F_s in F_p, unit quaternion      velocity in F_p, angular velocity in F_s
    rack_pinion     angle about z (way along x of F_p: radius times angle); its rate
    user            a user's own model

No joint of a scene is of the last two kinds: they are models to compute with.
"""

from __future__ import annotations

from typing import NamedTuple

from mcsim.scene import Joint


class Kind(NamedTuple):
    """A kind of tree joint. number: its place in KINDS, as kernels know it. nq, nv: sizes of its q and qd."""

    name: str
    number: int
    nq: int
    nv: int


KINDS: dict[str, Kind] = {name: Kind(name, number, nq, nv) for number, (name, nq, nv) in enumerate([
    ("fixed", 0, 0), ("revolute", 1, 1), ("prismatic", 1, 1), ("helical", 1, 1), ("cylindrical", 2, 2),
    ("planar", 3, 3), ("spherical", 4, 3), ("spherical_ypr", 3, 3), ("universal", 2, 2), ("free", 7, 6),
    ("rack_pinion", 1, 1), ("user", 0, 0),
])}

# Type of a scene's joint -> its kind. Joints of other types couple bodies, and no tree can be made of them.
KIND_OF: dict[str, str] = {
    "fixed": "fixed", "hinge": "revolute", "slider": "prismatic", "screw": "helical", "cylindrical": "cylindrical",
    "planar": "planar", "ball": "spherical", "universal": "universal", "free": "free",
}

# What a ball joint's coordinates may be -> its kind.
BALLS: dict[str, str] = {"quaternion": "spherical", "ypr": "spherical_ypr"}

# Where the unit quaternion stands in the q of a kind.
QUATERNIONS: dict[str, int] = {"spherical": 0, "free": 3}


def freedoms(joint: Joint) -> int | None:
    """How many freedoms a tree joint has; None if the joint is a coupling, of which no tree can be made."""
    kind = KIND_OF.get(joint.type)
    return None if kind is None else KINDS[kind].nv
