"""What a handle is: a small object for one part of a world, whichever number that has."""

from __future__ import annotations  # signatures read as they are written here

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from mcsim.core.errors import StaleHandleError
from mcsim.scene.bodies import Body
from mcsim.scene.calls import explain_methods
from mcsim.scene.checks import suggestion
from mcsim.scene.joints import Joint

if TYPE_CHECKING:
    from mcsim.core._turn import Hold
    from mcsim.world.protocols import HandledWorld, There

P = TypeVar("P", Body, Joint)


class Handle(Generic[P]):
    """One part of a world, whichever number it has. After it was removed every use but its name raises
    StaleHandleError; restoring a snapshot that has it makes the handle serve again."""

    __slots__ = ("_world", "_part")

    _NOUN: ClassVar[str]
    _PLURAL: ClassVar[str]
    _world: HandledWorld
    _part: P

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        explain_methods(cls)

    def __init__(self, world: HandledWorld, part: P) -> None:
        _put_world(self, world)
        _put_part(self, part)

    def __setattr__(self, name: str, value: Any) -> None:
        """What cannot be set says so, with what can."""
        kind = type(self)
        known = getattr(kind, name, None)
        if name.startswith("_") or getattr(known, "fset", None) is not None:
            return object.__setattr__(self, name, value)
        public = [other for other in dir(kind) if not other.startswith("_")]
        settable = ", ".join(other for other in public if getattr(getattr(kind, other), "fset", None) is not None)
        what = "is read only" if known is not None else "is not there" + suggestion(name, public)
        raise AttributeError(f"{self._of_it(name)} {what}; what may be set: {settable}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Handle):
            return NotImplemented
        return self._world is other._world and self._part.original is other._part.original

    def __hash__(self) -> int:
        return hash((id(self._world), id(self._part.original)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self._world, memo), self._part)  # a world's copies share its parts

    @property
    def name(self) -> str:
        """What it is called, or was."""
        return self._part.name

    @property
    def removed(self) -> bool:
        """Whether it is in the world no longer."""
        try:
            return self.index < 0
        except StaleHandleError:
            return True

    @property
    def index(self) -> int:
        """Its number in the world's arrays."""
        return self._number(self._world._there)

    @staticmethod
    def _among(there: There) -> tuple[dict[str, int], list[P], str]:
        """-> name -> number, parts, what they are called."""
        raise NotImplementedError

    def _number(self, there: There) -> int:
        """Its number among what there is: a There of its world."""
        index, parts, what = self._among(there)
        i = index.get(self._part.name)
        if i is None or parts[i].original is not self._part.original:
            raise StaleHandleError(f"{what} {self._part.name!r} was removed from the world; this handle is no longer valid")
        return i

    def _described(self) -> P:
        """The part as the scene has it now."""
        there = self._world._there
        return self._among(there)[1][self._number(there)]

    def _look(self, what: str) -> Hold:
        """The world's turn, to read something of this part."""
        return self._world._turn.look(self._of_it(what))

    def _alone(self, what: str) -> Hold:
        """The world's turn, to change something of this part."""
        return self._world._turn.alone(self._of_it(what))

    def _telling(self, what: str) -> Hold:
        """The same, where what is changed is nothing of the bodies' state (Turn.telling)."""
        return self._world._turn.telling(self._of_it(what))

    def _of_it(self, what: str) -> str:
        """What a message calls it."""
        return f"{self._NOUN}({self.name!r}).{what}"


# Handles are made by thousands: past __setattr__, and without looking for it.
_put_world: Callable[[Handle[Any], Any], None] = vars(Handle)["_world"].__set__
_put_part: Callable[[Handle[Any], Any], None] = vars(Handle)["_part"].__set__
