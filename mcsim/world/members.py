"""What gives the handles of a World: of one body or joint, and of all of them."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

import numpy as np

from mcsim.core.errors import SceneError, StaleHandleError
from mcsim.scene.checks import listing, show, suggestion
from mcsim.scene.described import Described
from mcsim.world.base import WorldBase
from mcsim.world.handle import Handle
from mcsim.world.handles import AnyBody, AnyJoint, BodyHandle, JointHandle

if TYPE_CHECKING:
    from mcsim.world.protocols import There

H = TypeVar("H", BodyHandle, JointHandle)


class Members(Sequence[H], Generic[H]):
    """The bodies or the joints of a world, as handles, in the order of its arrays. It follows the world: what is added and
    removed comes and goes. `[...]` takes a number, a slice (which gives a list) or a name, `in` a handle or a name.
    """

    __slots__ = ("_kind", "_world")

    _world: WorldOfMembers
    _kind: type[H]

    def __init__(self, world: WorldOfMembers, kind: type[H]) -> None:
        self._world, self._kind = world, kind

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called, in order."""
        return tuple(self._kind._among(self._world._there)[0])

    def __len__(self) -> int:
        return len(self._kind._among(self._world._there)[1])

    def __iter__(self) -> Iterator[H]:
        """As they are when this begins, whatever is added or removed meanwhile."""
        return iter(self[:])

    @overload
    def __getitem__(self, which: int | str) -> H: ...

    @overload
    def __getitem__(self, which: slice) -> list[H]: ...

    def __getitem__(self, which: int | str | slice) -> H | list[H]:
        world, there = cast(Any, self._world), self._world._there
        parts: list[Any] = self._kind._among(there)[1]
        if isinstance(which, slice):
            return [self._kind(world, part) for part in parts[which]]
        if isinstance(which, (int, np.integer)) and not isinstance(which, bool):
            return self._kind(world, parts[which])
        return self._kind(world, parts[self._world._find(which, self._kind, there)])

    def __contains__(self, which: object) -> bool:
        if isinstance(which, Handle):
            world: Any = which._world
            return type(which) is self._kind and world is self._world and not which.removed
        return isinstance(which, str) and which in self._kind._among(self._world._there)[0]

    def __eq__(self, other: object) -> bool:
        return self[:] == other[:] if isinstance(other, Members) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return f"<{len(self)} {self._kind._PLURAL} of {self._world!r}: {listing(self.names)}>"


class WorldOfMembers(WorldBase):
    """The part of World that gives handles."""

    def body(self, body: AnyBody) -> BodyHandle:
        """The handle of a body, by name, number or handle."""
        there = self._there
        return BodyHandle(cast(Any, self), there.scene.bodies[self._find(body, BodyHandle, there)])

    def joint(self, joint: AnyJoint) -> JointHandle:
        """The handle of a joint, by name, number or handle."""
        there = self._there
        return JointHandle(cast(Any, self), there.scene.joints[self._find(joint, JointHandle, there)])

    @property
    def bodies(self) -> Members[BodyHandle]:
        """The handles of all bodies, a sequence in the order of the arrays: world.bodies["arm"], world.bodies[-1], len, in;
        `.names`."""
        return Members(self, BodyHandle)

    @property
    def joints(self) -> Members[JointHandle]:
        """The handles of all joints, likewise."""
        return Members(self, JointHandle)

    def _find(
        self, key: AnyBody | AnyJoint, family: type[BodyHandle] | type[JointHandle], there: There | None = None
    ) -> int:
        """The number of a body or joint. family: BodyHandle or JointHandle; there: a There, that of now if None."""
        there = there or self._there
        index, parts, what = family._among(there)
        if isinstance(key, family):
            world: Any = key._world
            if world is not self:
                raise SceneError(f"{what} {key.name!r} belongs to another world")
            return key._number(there)
        name: Any = getattr(key, "name", key)  # the scene's own handle
        if isinstance(key, Described):
            if name in index and parts[index[name]].original is key.original:
                return index[name]
            if key.original in self._removed:
                raise StaleHandleError(f"{what} {name!r} was removed from the world")
        if isinstance(name, str) and name in index:
            return index[name]
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(index):
            return int(key)
        close = suggestion(name, index) if isinstance(name, str) else ""
        all_names = f"; there are {len(index)}: {listing(index)}" if index else f"; there are no {family._PLURAL}"
        raise SceneError(f"unknown {what} {show(name)}{close or all_names}")

    # ---- data of the user's ------------------------------------------------------------------------------------------

    def _told_user_data(self) -> dict[str, Any]:
        """Name -> what was set in this world, of the bodies that there are."""
        given = self._user_data
        bodies = self._scene.bodies if given else ()
        return {body.name: given[body.original] for body in bodies if body.original in given}

    def _take_user_data(self, told: dict[str, Any]) -> None:
        """What another world of the same bodies told."""
        for name, value in told.items():
            if name in self._body_index:
                self._user_data[self._scene.bodies[self._body_index[name]].original] = value
