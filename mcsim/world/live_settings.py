"""The settings of a World that may be set while it runs, as attributes."""

from __future__ import annotations  # signatures read as they are written here

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np

from mcsim.scene.checks import Vector
from mcsim.world.base import WorldBase

if TYPE_CHECKING:
    from mcsim.scene import Scene

T = TypeVar("T")


class Setting(Generic[T]):
    """A keyword of a world that may be set while it runs: read from what is in use, set by World.change_settings."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"The keyword {name} in use; may be set, as by change_settings."

    @overload
    def __get__(self, world: None, kind: type) -> Self: ...

    @overload
    def __get__(self, world: WorldBase, kind: type) -> T: ...

    def __get__(self, world: WorldBase | None, kind: type) -> Any:
        return self if world is None else world._keywords[self._name]

    def __set__(self, world: WorldBase, value: T) -> None:
        world.change_settings(**{self._name: value})


class LiveSettings(WorldBase):
    """The part of World that has settings as attributes, those that change_settings takes: dt, substeps, iterations,
    first_iterations, least_iterations, more_iterations, position_rounds, stop, tolerance, baumgarte, hertz, damping_ratio,
    push_speed, slop, joint_hertz, joint_damping_ratio, joint_push_speed, restitution_threshold, speculative_distance,
    sleep_speed, sleep_time, threads, strict. Set one to None for its default; it reads as what is in use, None where that
    follows from the bodies' sizes.
    """

    dt = Setting[float]()
    substeps = Setting[int]()
    iterations = Setting[int]()
    first_iterations = Setting[int]()
    least_iterations = Setting[int]()
    more_iterations = Setting[int]()
    position_rounds = Setting[int]()
    stop = Setting[str]()
    tolerance = Setting[float]()
    baumgarte = Setting[float]()
    hertz = Setting[float]()
    damping_ratio = Setting[float]()
    push_speed = Setting["float | None"]()
    slop = Setting["float | None"]()
    joint_hertz = Setting[float]()
    joint_damping_ratio = Setting[float]()
    joint_push_speed = Setting["float | None"]()
    restitution_threshold = Setting["float | None"]()
    speculative_distance = Setting["float | None"]()
    sleep_speed = Setting["float | None"]()
    sleep_time = Setting[float]()
    threads = Setting[int]()
    strict = Setting[bool]()

    @property
    def gravity(self) -> np.ndarray:
        """(3,) [m/s²], world axes; may be set whole, as by change_settings. What sleeps wakes then."""
        return self._scene.gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        self.change_settings(gravity=value)


def with_gravity(scene: Scene, gravity: Vector) -> Scene:
    """A scene of its own with the same parts under another gravity."""
    other = scene.sharing_parts()
    other.gravity = gravity
    return other
