"""The entry points of worlds and handles that change a world, and what stands in front of them while calls are recorded.

Which those are is told by one set of names and by the classes themselves: a public method of a name in CHANGES, and every
public property that may be set. `tests/state/test_pure.py` holds that no other public name changes anything.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from mcsim.world import BodyHandle, JointHandle, ReducedWorld, World

# Methods that change a world. A setting that is written, as in world.dt = 0.01, calls change_settings.
CHANGES = frozenset(
    (
        *("step", "restore", "change_settings", "wake", "from_maximal"),
        *("apply_force", "apply_forces", "apply_torque", "apply_impulse", "apply_impulses", "apply_wind", "apply_buoyancy"),
        *("set_pose", "set_velocity", "move_to"),
        *("add_body", "add_bodies", "add_joint", "add_joints", "remove_body", "remove_bodies", "remove_joint"),
        *("ignore_collision", "set_pair", "set_material_pair", "set_shape", "set_material", "set_kind", "set_body"),
        *("set_motor", "set_limits", "set_spring", "set_swing_limit", "set_friction", "set_motion"),
    )
)
KINDS: dict[str, tuple[type, ...]] = {"world": (World, ReducedWorld), "body": (BodyHandle,), "joint": (JointHandle,)}

# What a call goes through in place of a function: (function, name, world or handle, arguments, keywords) -> its result.
Door = Callable[[Callable[..., Any], str, Any, tuple[Any, ...], dict[str, Any]], Any]

_before: list[tuple[type, str, Any]] = []  # what stood where doors stand now


def entries(kind: str) -> Iterator[tuple[type, str, Any]]:
    """(class, attribute, what stands there) of all entry points of "world", "body" or "joint"."""
    classes = dict.fromkeys(base for each in KINDS[kind] for base in each.__mro__ if base.__module__.startswith("mcsim."))
    for base in classes:
        for name, value in list(vars(base).items()):
            if not name.startswith("_") and (name in CHANGES and callable(value) or getattr(value, "fset", None)):
                yield base, name, value


def names(kind: str) -> frozenset[str]:
    """What calls of a kind are called in files: of a property that is set its name and "="."""
    return frozenset(f"{name}=" if hasattr(value, "fset") else name for _, name, value in entries(kind))


def install(door: Door) -> None:
    """Let all entry points lead through a door."""
    found = {(base, name): value for kind in KINDS for base, name, value in entries(kind)}
    for (base, name), value in found.items():
        _before.append((base, name, value))
        if hasattr(value, "fset"):
            setting = _behind(door, value.fset, f"{name}=")
            other: Any = property(value.fget, setting, value.fdel, value.__doc__)
        else:
            other = _behind(door, value, name)
        type.__setattr__(base, name, other)


def uninstall() -> None:
    """Everything as it was."""
    while _before:
        base, name, value = _before.pop()
        type.__setattr__(base, name, value)


def _behind(door: Door, function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(function)
    def called(thing: Any, *given: Any, **named: Any) -> Any:
        return door(function, name, thing, given, named)

    return called


# Modules that make worlds for their own ends, and call them.
OWN = ("mcsim.world.", "mcsim.derive.", "mcsim.control", "mcsim.calls.")


def called_by_mcsim() -> bool:
    """Whether the call that has come to a door was made by mcsim for its own ends: on a copy that it has made."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__") in (__name__, "mcsim.calls.log")
        or frame.f_code.co_name in ("__setattr__", "__set__")
    ):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).startswith(OWN)


LOCK = threading.RLock()  # of what stands at the entry points, and who records
