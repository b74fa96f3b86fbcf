"""PairMaterial: what the surfaces of two bodies are like against each other, in place of what their materials say."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterable, Sequence

from mcsim.scene.checks import FieldError, not_negative, text, within
from mcsim.scene.described import Value


class PairMaterial(Value):
    """What holds between two bodies, whatever their materials say: made by `Scene.set_pair`, listed by
    `Scene.pair_materials`.

    a, b: names of the two bodies, in any order.
    friction, restitution, rolling_friction [m], torsional_friction [m]: as of Material, of this pair; None: what the
    two materials give together.
    """

    a: str
    b: str
    friction: float | None
    restitution: float | None
    rolling_friction: float | None
    torsional_friction: float | None

    def __init__(
        self,
        a: str,
        b: str,
        friction: float | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
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
        }
        if a == b:
            raise FieldError("b", f"is body {a!r} too; a pair is of two bodies")
        self._set(_arguments=arguments, **arguments)

    @property
    def names(self) -> frozenset[str]:
        """Of the two bodies."""
        return frozenset((self.a, self.b))

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None, float | None]:
        """Friction, restitution, rolling and torsional friction."""
        return self.friction, self.restitution, self.rolling_friction, self.torsional_friction

    @property
    def says_nothing(self) -> bool:
        """Whether all is as the materials have it."""
        return self.numbers == (None, None, None, None)

    def prefixed(self, prefix: str) -> PairMaterial:
        """The same of two bodies whose names begin so."""
        return PairMaterial(**self._arguments | {"a": prefix + self.a, "b": prefix + self.b})


def with_pair(pairs: Sequence[PairMaterial], new: PairMaterial) -> list[PairMaterial]:
    """The pairs with another one in the place of that of the same bodies, or at the end; without it where it says
    nothing."""
    names, out = new.names, list(pairs)
    place = next((i for i, pair in enumerate(out) if pair.names == names), len(out))
    out[place : place + 1] = [] if new.says_nothing else [new]
    return out


def same_pairs(ours: Iterable[PairMaterial], theirs: Iterable[PairMaterial]) -> bool:
    """Whether two lists say the same, in whatever order."""
    one, other = ({pair.names: pair.numbers for pair in pairs} for pairs in (ours, theirs))
    return one == other
