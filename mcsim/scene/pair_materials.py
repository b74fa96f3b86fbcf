"""PairMaterial: what two surfaces are like against each other, in place of what their materials say each for itself."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterable, Sequence
from typing import Literal

from mcsim.scene.checks import FieldError, choose, not_negative, text, within
from mcsim.scene.described import Value
from mcsim.scene.materials import Material

PairOf = Literal["bodies", "materials"]
PAIRS_OF = ("bodies", "materials")


class PairMaterial(Value):
    """What holds between two bodies, or wherever two materials meet, whatever the materials say each for itself: made by
    `Scene.set_pair` and `Scene.set_material_pair`, listed by `Scene.pair_materials`. A pair of bodies stands above a pair
    of materials.

    a, b: names of the two bodies or materials, in any order; a material may be both.
    friction, restitution, rolling_friction [m], torsional_friction [m]: as of Material, of this pair; None: what the
    two materials give together.
    of: "bodies" or "materials": whose names a and b are.
    """

    a: str
    b: str
    friction: float | None
    restitution: float | None
    rolling_friction: float | None
    torsional_friction: float | None
    of: PairOf

    def __init__(
        self,
        a: str,
        b: str,
        friction: float | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
        of: PairOf = "bodies",
    ):
        arguments = {
            "a": text(a, "a"),
            "b": text(b, "b"),
            "friction": None if friction is None else not_negative(friction, "friction"),
            "restitution": None if restitution is None else within(restitution, 0.0, 1.0, "restitution"),
            "rolling_friction": None if rolling_friction is None else not_negative(rolling_friction, "rolling_friction"),
            "torsional_friction": None
            if torsional_friction is None
            else not_negative(torsional_friction, "torsional_friction"),
            "of": choose(of, PAIRS_OF, "of"),
        }
        if a == b and of == "bodies":
            raise FieldError("b", f"is body {a!r} too; a pair is of two bodies")
        self._set(_arguments=arguments, **arguments)

    @property
    def names(self) -> frozenset[str]:
        """Of the two bodies or materials."""
        return frozenset((self.a, self.b))

    @property
    def place(self) -> tuple[str, frozenset[str]]:
        """Whose it is: two of one place cannot both hold."""
        return self.of, self.names

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None, float | None]:
        """Friction, restitution, rolling and torsional friction."""
        return self.friction, self.restitution, self.rolling_friction, self.torsional_friction

    @property
    def says_nothing(self) -> bool:
        """Whether all is as the materials have it."""
        return self.numbers == (None, None, None, None)

    def prefixed(self, prefix: str) -> PairMaterial:
        """The same of two bodies whose names begin so; materials keep theirs."""
        return (
            self
            if self.of == "materials"
            else PairMaterial(**self._arguments | {"a": prefix + self.a, "b": prefix + self.b})
        )


def material_name(material: Material | str, end: str) -> str:
    """Of a material, or as it is given. end: "a" or "b"."""
    if isinstance(material, Material):
        if material.name is None:
            raise FieldError(end, "is a material without a name; give it one, as Material(..., name='ice')")
        return material.name
    return text(material, end)


def with_pair(pairs: Sequence[PairMaterial], new: PairMaterial) -> list[PairMaterial]:
    """The pairs with another one in the place of that of the same two, or at the end; without it where it says nothing."""
    whose, out = new.place, list(pairs)
    place = next((i for i, pair in enumerate(out) if pair.place == whose), len(out))
    out[place : place + 1] = [] if new.says_nothing else [new]
    return out


def same_pairs(ours: Iterable[PairMaterial], theirs: Iterable[PairMaterial]) -> bool:
    """Whether two lists say the same, in whatever order."""
    one, other = ({pair.place: pair.numbers for pair in pairs} for pairs in (ours, theirs))
    return one == other
