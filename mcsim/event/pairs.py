"""The pairs of features of a scene: which of its shapes may touch, and by what."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import dot, product
from mcsim.core.rotation import matrix
from mcsim.event.features import (
    BallBox,
    EdgeEdge,
    Pairs,
    PointPlane,
    PointPoint,
    PointSegment,
    SegmentSegment,
    VertexPolyhedron,
)
from mcsim.scene import Body, Material, Scene
from mcsim.scene.materials import combined_friction
from mcsim.scene.pair_materials import PairMaterial
from mcsim.scene.shapes import Shape

POINTED = ("sphere", "capsule", "box", "hull")  # what points can stand for
SIGNS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])

CURE = (
    "give the two bodies collision groups and masks that keep them apart, take other shapes, or "
    "contact='rigid'; the event-driven simulation knows points, edges and flat faces: spheres, capsules, boxes and "
    "hulls on planes, spheres, capsules and boxes with each other, boxes and hulls with each other"
)

# Bodies, shapes, friction and restitution of a pair.
Common = tuple[tuple[int, int], tuple[int, int], float, float]


class Solid:
    """A shape of a body, in axes of the body from its centre of mass."""

    body: Body
    number: int
    rank: int
    type: str
    turn: np.ndarray
    center: np.ndarray
    material: Material
    together: Mapping[tuple[str, frozenset[str]], PairMaterial] = MappingProxyType({})  # surfaces that are told together

    def __init__(self, body: Body, number: int, rank: int, shape: Shape) -> None:
        self.body, self.number, self.rank, self.type = body, number, rank, shape.type
        self.shape: Any = shape  # the type says which numbers it has
        self.turn = matrix(shape.orientation)
        self.center = np.asarray(shape.position) - np.asarray(body.center_of_mass)
        self.material = shape.material or body.material

    @property
    def name(self) -> str:
        """For messages."""
        return f"{'rounded ' if self.shape.rounding > 0.0 else ''}{self.type} of body {self.body.name!r}"

    def placed(self, points: Any) -> np.ndarray:
        """Points (k, 3) of the shape's frame."""
        return product(points, self.turn.T) + self.center

    def points(self) -> tuple[np.ndarray, float]:
        """-> (k, 3) points, radius: what stands for the shape over a plane."""
        if self.type == "sphere":
            return self.center[None], self.shape.radius
        if self.type == "capsule":
            half = self.shape.half_length
            return self.placed([(0, 0, -half), (0, 0, half)][: 2 if half > 0.0 else 1]), self.shape.radius
        return self.corners(), self.shape.rounding

    def corners(self) -> np.ndarray:
        """(k, 3)"""
        return self.placed(SIGNS * self.shape.half_extents if self.type == "box" else self.shape.vertices)

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        """-> normals (f, 3), offsets (f,)"""
        if self.type == "box":
            normals, offsets = np.vstack([np.eye(3), -np.eye(3)]), np.tile(self.shape.half_extents, 2)
        else:
            normals, offsets = self.shape.face_normals, self.shape.face_offsets
        normals = product(normals, self.turn.T)
        return normals, offsets + product(normals, self.center)

    def edges(self) -> np.ndarray:
        """(k, 2, 3) ends"""
        if self.type == "hull":
            return self.corners()[np.asarray(self.shape.edges)]
        found = [(i, j) for i, j in combinations(range(8), 2) if np.sum(SIGNS[i] != SIGNS[j]) == 1]
        return self.corners()[np.array(found)]


def contact_pairs(scene: Scene, excluded: np.ndarray) -> list[Pairs]:
    """All pairs of features of a scene, by kind. excluded: (k, 2) body numbers that a joint keeps from colliding."""
    solids = [Solid(body, i, rank, shape) for i, body in enumerate(scene.bodies) for rank, shape in enumerate(body.shapes)]
    for solid in solids:
        _refuse_surface(solid)
    for pair in scene.pair_materials:
        _refuse_resistance(pair)
    together = {pair.place: pair for pair in scene.pair_materials}
    for solid in solids if together else ():
        solid.together = together
    apart = {tuple(sorted(pair)) for pair in np.asarray(excluded).tolist()}
    found: dict[str, list[tuple[Any, list[Any]]]] = {}
    for one, other in combinations(solids, 2):
        if _may_touch(one, other, apart):
            for kind, common, *data in _features(one, other):
                found.setdefault(kind, []).append((common, data))
    return [
        KINDS[kind](
            [list(part) for part in zip(*(common for common, _ in rows))],
            *(list(part) for part in zip(*(data for _, data in rows))),
        )
        for kind, rows in found.items()
    ]


def _refuse_surface(solid: Solid) -> None:
    """What the event-driven simulation does not know of a shape or its surface."""
    material = solid.material
    if solid.shape.sensor:
        raise SceneError(
            f"World(contact='event'): the {solid.name} is a sensor, which only contact='rigid' has: take it away"
        )
    for name, what in (
        ("rolling_friction", "rolling friction"),
        ("torsional_friction", "torsional friction"),
        ("surface_velocity", "a surface velocity"),
        ("one_way", "one side that bears"),
    ):
        if np.any(getattr(material, name)):
            raise SceneError(
                f"World(contact='event'): the {solid.name} has {what}, which only contact='rigid' has: "
                f"leave {name} out of its Material"
            )


def _refuse_resistance(pair: PairMaterial) -> None:
    """The same of a pair of bodies or materials."""
    for name in ("rolling_friction", "torsional_friction"):
        if getattr(pair, name):
            raise SceneError(
                f"World(contact='event'): the pair {pair.a!r}, {pair.b!r} has {name}, which only contact='rigid' has: "
                "leave it out of set_pair"
            )


def _may_touch(one: Solid, other: Solid, apart: Container[tuple[int, ...]]) -> bool:
    a, b = one.body, other.body
    if a is b or (a.kind != "dynamic" and b.kind != "dynamic"):
        return False
    if tuple(sorted((one.number, other.number))) in apart:
        return False
    return bool(a.collision_group & b.collision_mask) and bool(b.collision_group & a.collision_mask)


def _common(a: Solid, b: Solid) -> Common:
    """Bodies, shapes, friction, restitution of a pair."""
    friction = combined_friction(a.material.friction, b.material.friction)
    restitution = max(a.material.restitution, b.material.restitution)
    places = [("bodies", frozenset((a.body.name, b.body.name)))]
    if a.material.name is not None and b.material.name is not None:
        places.insert(0, ("materials", frozenset((a.material.name, b.material.name))))
    for place in places:  # what is said of two bodies stands above their materials
        pair = a.together.get(place)
        if pair is not None:
            friction = friction if pair.friction is None else pair.friction
            restitution = restitution if pair.restitution is None else pair.restitution
    return (a.number, b.number), (a.rank, b.rank), friction, restitution


def _features(one: Solid, other: Solid) -> list[tuple[Any, ...]]:
    """(kind, common, ...) of each pair of features of two shapes; a is the flatter one."""
    order = {name: i for i, name in enumerate(("plane", "box", "hull", "capsule", "sphere"))}
    flat = "plane" in (one.type, other.type)  # which balls about its corners stand for what is rounded
    unknown = [solid for solid in (one, other) if solid.type not in order or solid.shape.rounding > 0.0 and not flat]
    if unknown:
        raise SceneError(
            f"World(contact='event'): the {unknown[0].name} may touch the "
            f"{(other if unknown[0] is one else one).name}, but it has no closed form here: {CURE}"
        )
    a, b = sorted((one, other), key=lambda solid: (order[solid.type], solid.number, solid.rank))
    common = _common(a, b)
    if a.type == "plane" and b.type in POINTED:
        normal = a.turn[:, 2]
        points, radius = b.points()
        return [("plane", common, normal, dot(normal, a.center), point, radius) for point in points]
    if b.type == "sphere" and a.type == "sphere":
        return [("point", common, (a.center, b.center), (a.shape.radius, b.shape.radius))]
    if b.type == "sphere" and a.type == "capsule":
        return [
            (
                "segment",
                common,
                a.center,
                a.turn[:, 2],
                a.shape.half_length,
                b.center,
                (a.shape.radius, b.shape.radius),
                1.0,
            )
        ]
    if b.type in ("sphere", "capsule") and a.type == "box":
        found = [("box", common, a.center, a.turn, a.shape.half_extents, point, b.shape.radius) for point in b.points()[0]]
        return found + (_insides(b, a) if b.type == "capsule" else [])
    if b.type == "capsule" and a.type == "capsule":
        return [
            ("segment", common, a.center, a.turn[:, 2], a.shape.half_length, point, (a.shape.radius, b.shape.radius), 1.0)
            for point in b.points()[0]
        ] + _insides(b, a)
    if a.type in ("box", "hull") and b.type in ("box", "hull"):
        return _polyhedra(a, b)
    raise SceneError(
        f"World(contact='event'): the {a.name} may touch the {b.name}, a pair without a closed form here: {CURE}"
    )


def _insides(a: Solid, b: Solid) -> list[tuple[Any, ...]]:
    """The inside of a capsule on the ends and edges of another shape, a capsule or a box."""
    if a.shape.half_length == 0.0:
        return []
    common, radius = _common(a, b), b.shape.radius if b.type == "capsule" else 0.0
    own, radii = a.points()[0], (a.shape.radius, radius)
    edges = b.edges() if b.type == "box" else [b.points()[0]] if b.shape.half_length > 0.0 else []
    return [
        ("segment", common, a.center, a.turn[:, 2], a.shape.half_length, point, radii, 0.0)
        for point in (b.corners() if b.type == "box" else b.points()[0])
    ] + [("crossing", common, (*own, *edge), radii) for edge in edges]


def _polyhedra(a: Solid, b: Solid) -> list[tuple[Any, ...]]:
    """Vertices of each over the faces of the other, and edges over edges."""
    found: list[tuple[Any, ...]] = []
    for base, tip in ((a, b), (b, a)):
        normals, offsets = base.faces()
        found += [("vertex", _common(base, tip), normals, offsets, vertex, tip.center) for vertex in tip.corners()]
    corners = (a.corners(), b.corners())
    solids, middles = (a.number, b.number, a.faces(), b.faces(), *corners), [part.mean(axis=0) for part in corners]
    found += [("edge", _common(a, b), (mine, theirs), middles, solids) for mine in a.edges() for theirs in b.edges()]
    return found


def _edges(common: Any, ends: Any, middles: Any, solids: Sequence[tuple[Any, ...]]) -> EdgeEdge:
    """EdgeEdge with each pair of solids kept once."""
    known = {id(pair): pair for pair in solids}
    number = {name: i for i, name in enumerate(known)}
    return EdgeEdge(common, ends, middles, tuple(known.values()), [number[id(pair)] for pair in solids])


KINDS: dict[str, Callable[..., Any]] = {
    "plane": PointPlane,
    "point": PointPoint,
    "segment": PointSegment,
    "crossing": SegmentSegment,
    "box": BallBox,
    "vertex": VertexPolyhedron,
    "edge": _edges,
}
