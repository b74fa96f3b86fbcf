"""What is found out about a structure, kept as long as anybody has it: articulations that are alike, in one world or in
several, have it in common, and what an edit leaves as it is need not be found out anew."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class Found(Generic[T]):
    """What was found, which is not to be changed."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: T) -> None:
        self.value = value


class Structures(Generic[T]):
    """find: makes what is asked for, out of a structure that a key tells whole."""

    def __init__(self, find: Callable[..., T]) -> None:
        self._find = find
        self._known: WeakValueDictionary[Hashable, Found[T]] = WeakValueDictionary()
        self._one_at_a_time = Lock()

    def __call__(self, key: Hashable, *structure: Any) -> Found[T]:
        """What there is of it, or else what is found out now; to be kept by who needs it."""
        with self._one_at_a_time:
            found = self._known.get(key)
        if found is None:
            found = Found(self._find(*structure))
            with self._one_at_a_time:
                found = self._known.setdefault(key, found)
        return found
