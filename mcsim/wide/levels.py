"""The levels of x86-64 processors that the wide kernels are compiled for, and which of them is in use.

    base   what the compiler takes by default; on other processors the only one
    v3     AVX2
    v4     AVX-512

All give the same bits. The best that this machine has is taken, unless the environment variable MCSIM_LEVEL names one.
"""

import importlib.util
import os
from functools import cache
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.wide import _base

LEVELS = ("base", "v3", "v4")


@cache
def available() -> list[str]:
    """The levels that were built and that this processor has, the best last."""
    found = ["base"]
    for level in LEVELS[1:]:
        if _base.supports(level) and importlib.util.find_spec(f"mcsim.wide._{level}") is not None:
            found.append(level)
    return found


def chosen() -> str:
    """The level in use."""
    levels = available()
    wanted = os.environ.get("MCSIM_LEVEL") or levels[-1]
    if wanted not in levels:
        raise SceneError(f"MCSIM_LEVEL is {wanted!r}; this machine and this build have {', '.join(levels)}")
    return wanted


def table(name: str, level: str | None = None, package: str = "mcsim.wide") -> Any:
    """The table of kernels that the function `name` of the level's module gives; level: by default the one in use."""
    return getattr(importlib.import_module(f"{package}._{level or chosen()}"), name)()


def tables(name: str) -> list[Any]:
    """Those of each level up to the one in use, which is the last: kernels of fewer lanes, to the same bits, for where
    few are filled."""
    levels = available()
    return [table(name, level) for level in levels[: levels.index(chosen()) + 1]]
