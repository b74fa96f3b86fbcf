"""Geoms of a MuJoCo model as shapes, and which bodies collide.

MuJoCo lets two geoms collide if the contype of one and the conaffinity of the other have a bit in common; here both of two
bodies must accept. So each pair (contype, conaffinity) that occurs is a class with a bit of its own, and a body's mask has
the bits of the classes that it collides with. The first bit is that of (1, 1), the default of both.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import Frame, compose
from mcsim.io.mjcf_model import WORLD, Model, Welds
from mcsim.io.urdf_meshes import MeshError, convex
from mcsim.scene import Box, Capsule, Cylinder, Ellipsoid, HeightField, Material, Plane, Scene, Shape, Sphere
from mcsim.scene.checks import FieldError

DEFAULT = (1, 1)  # contype and conaffinity of a geom that says nothing
MOST_CLASSES = 31  # bits of a group but for its sign
Bits = tuple[int, int]


class Geoms:
    """The shapes of every leader, and what it collides with."""

    def __init__(self, model: Model, welds: Welds, hull_vertices: int):
        self.model, self.welds, self.hull_vertices = model, welds, hull_vertices
        mj = model.mj
        self.numbers: dict[int, list[int]] = {leader: [] for leader in (WORLD, *welds.leaders)}
        for geom in range(mj.ngeom):
            self.numbers[welds.leader[int(mj.geom_bodyid[geom])]].append(geom)
        self.colliding = {
            leader: [geom for geom in geoms if any(self._bits(geom))] for leader, geoms in self.numbers.items()
        }
        self.bits = {leader: self._bits_of_all(leader, geoms) for leader, geoms in self.colliding.items() if geoms}
        self.classes = self._numbered(self.bits.values())
        if model.disabled("CONTACT", "CONSTRAINT") and self.bits:
            model.leave_out("collisions, which the file switches off")
        self.pairs = [(int(mj.pair_geom1[pair]), int(mj.pair_geom2[pair])) for pair in range(mj.npair)]
        self.paired = {geom for pair in self.pairs for geom in pair}

    def _bits(self, geom: int) -> Bits:
        return int(self.model.mj.geom_contype[geom]), int(self.model.mj.geom_conaffinity[geom])

    def _bits_of_all(self, leader: int, geoms: list[int]) -> Bits:
        """Those of a body's geoms together."""
        kinds = [self._bits(geom) for geom in geoms]
        if len(set(kinds)) > 1:
            self.model.leave_out(
                "different contype or conaffinity of geoms of one body (their union is taken)", self.model.bodies[leader]
            )
        contype, conaffinity = np.bitwise_or.reduce(np.array(kinds, dtype=np.int64)).tolist()
        return contype, conaffinity

    def _numbered(self, found: Iterable[Bits]) -> dict[Bits, int]:
        classes: dict[Bits, int] = {DEFAULT: 0}
        for bits in found:
            classes.setdefault(bits, len(classes))
        if len(classes) > MOST_CLASSES:
            raise SceneError(
                f"{self.model.source}: has {len(classes)} different pairs of contype and conaffinity; at most "
                f"{MOST_CLASSES} can be told apart"
            )
        return classes

    def groups(self, leader: int) -> dict[str, Any]:
        """collision_group and collision_mask of a leader, as arguments of add_body."""
        if leader not in self.bits or self.model.disabled("CONTACT", "CONSTRAINT"):
            return {"collision_mask": 0}
        bits = self.bits[leader]
        mask = -1 if _collide(bits, DEFAULT) else 0  # what is added to the scene later is as a geom that says nothing
        for other, number in self.classes.items():
            mask = mask | 1 << number if _collide(bits, other) else mask & ~(1 << number)
        return {"collision_group": 1 << self.classes[bits], "collision_mask": mask}

    def add_pairs(self, scene: Scene, names: Mapping[int, str | None], passing: Container[frozenset[str]]) -> None:
        """What the file says of two geoms together: each of them has a material of its name. names: of the leaders' bodies;
        passing: pairs of them that do not collide. A pair that only it lets collide is left out."""
        mj, model = self.model.mj, self.model
        for pair, geoms in enumerate(self.pairs):
            leaders = [self.welds.leader[int(mj.geom_bodyid[geom])] for geom in geoms]
            whose, said = [names.get(leader) for leader in leaders], " and ".join(model.geoms[geom] for geom in geoms)
            bits = [self._bits(geom) for geom in geoms]
            near = any(self.welds.parent.get(one) == other for one, other in (leaders, leaders[::-1]))
            if (
                whose[0] == whose[1]
                or frozenset(str(name) for name in whose) in passing
                or not _collide(*bits)
                or (near and WORLD not in leaders and not model.disabled("FILTERPARENT"))
            ):
                model.leave_out("contact pairs of geoms that collide by that alone", said)
                continue
            sliding, across, spinning, rolling, rolling_across = mj.pair_friction[pair].tolist()
            if sliding != across or rolling != rolling_across:
                model.leave_out("friction of contact pairs that differs by direction", said)
            if tuple(mj.pair_solref[pair]) != SOLREF or tuple(mj.pair_solimp[pair]) != SOLIMP:
                model.leave_out("solref and solimp of contact pairs", said)
            if mj.pair_margin[pair] or mj.pair_gap[pair]:
                model.leave_out("margin and gap of contact pairs", said)
            a, b = (model.geoms[geom] for geom in geoms)
            numbers = _by_directions(sliding, spinning, rolling, int(mj.pair_dim[pair]))
            scene.set_material_pair(a, b, **numbers)

    # ---- shapes ------------------------------------------------------------------------------------------------------

    def shapes(self, leader: int, still: bool) -> list[Shape]:
        """A leader's shapes, in its frame: of its geoms those that collide with anything; all, to be looked at, of a body
        that has none of those. still: whether it is static or kinematic, as whoever has a surface must be."""
        geoms = self.colliding[leader]
        unseen = [geom for geom in self.numbers[leader] if geom not in geoms]
        if not geoms and leader != WORLD:
            geoms, unseen = unseen, []
        for geom in unseen:
            self.model.leave_out("geoms that collide with nothing", self.model.geoms[geom])
        shapes = [self._shape(geom, leader == WORLD, still) for geom in geoms]
        return [shape for shape in shapes if shape is not None]

    def _shape(self, geom: int, static: bool, still: bool) -> Shape | None:
        mj, name = self.model.mj, self.model.geoms[geom]
        kind = self.model.mujoco.mjtGeom(int(mj.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
        frame = compose(self.welds.frame[int(mj.geom_bodyid[geom])], self.model.frame_of("geom", geom))
        if (kind == "plane" and not static) or (kind == "hfield" and not still):
            self.model.leave_out(f"{kind}s on bodies that move", name)
            return None
        self._leave_out_fields(geom, name)
        place: dict[str, Any] = {"position": frame[0], "orientation": frame[1], "material": self._material(geom)}
        try:
            return self._solid(geom, kind, mj.geom_size[geom].tolist(), frame, place)
        except (FieldError, MeshError) as error:
            raise SceneError(f"{self.model.source}: geom {name!r}: {error}") from None

    def _solid(self, geom: int, kind: str, size: list[float], frame: Frame, place: dict[str, Any]) -> Shape | None:
        if kind == "sphere":
            return Sphere(size[0], **place)
        if kind in ("capsule", "cylinder"):
            return (Capsule if kind == "capsule" else Cylinder)(size[0], size[1], **place)
        if kind == "box":
            return Box(size, **place)
        if kind == "plane":
            return Plane((0, 0, 1), **place)
        if kind == "hfield":
            return self._height_field(int(self.model.mj.geom_dataid[geom]), place)
        if kind == "mesh":
            return convex(self._mesh(geom), self.hull_vertices, frame, "its mesh", place["material"])
        if kind == "ellipsoid":
            return Ellipsoid(size, **place)
        self.model.leave_out(f"geoms of kind {kind}", self.model.geoms[geom])
        return None

    def _mesh(self, geom: int) -> np.ndarray:
        mj, number = self.model.mj, int(self.model.mj.geom_dataid[geom])
        first = int(mj.mesh_vertadr[number])
        return np.array(mj.mesh_vert[first : first + int(mj.mesh_vertnum[number])], float)

    def _height_field(self, number: int, place: dict[str, Any]) -> HeightField:
        """MuJoCo's rows go along y, its columns along x; heights from 0 to 1 count `size[2]` each."""
        mj = self.model.mj
        rows, columns, first = (int(getattr(mj, f"hfield_{name}")[number]) for name in ("nrow", "ncol", "adr"))
        x, y, top, _ = mj.hfield_size[number].tolist()
        heights = np.array(mj.hfield_data[first : first + rows * columns], float).reshape(rows, columns).T * top
        return HeightField(heights, (2 * x / (columns - 1), 2 * y / (rows - 1)), **place)

    def _material(self, geom: int) -> Material:
        """With the geom's name, where the file has a pair of it."""
        name = self.model.geoms[geom] if geom in self.paired else None
        sliding, spinning, rolling = self.model.mj.geom_friction[geom].tolist()
        numbers = _by_directions(sliding, spinning, rolling, int(self.model.mj.geom_condim[geom]))
        return Material(
            friction=numbers["friction"],
            torsional_friction=numbers["torsional_friction"],
            rolling_friction=numbers["rolling_friction"],
            name=name,
        )

    def _leave_out_fields(self, geom: int, name: str) -> None:
        mj = self.model.mj
        if not (np.allclose(mj.geom_solref[geom], SOLREF) and np.allclose(mj.geom_solimp[geom], SOLIMP)):
            self.model.leave_out("solref and solimp of geoms", name)
        for field in ("margin", "gap", "priority", "adhesion", "surfacevel"):
            if self.model.says(f"geom_{field}", geom):
                self.model.leave_out(f"{field} of geoms", name)


SOLREF = (0.02, 1.0)  # how MuJoCo's constraints give way, if the file does not say
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)


def _by_directions(sliding: float, spinning: float, rolling: float, directions: int) -> dict[str, float]:
    """condim says which of the three coefficients of friction count."""
    return {
        "friction": sliding if directions > 1 else 0.0,
        "torsional_friction": spinning if directions > 3 else 0.0,
        "rolling_friction": rolling if directions > 4 else 0.0,
    }


def _collide(a: Bits, b: Bits) -> bool:
    return bool(a[0] & b[1] or b[0] & a[1])
