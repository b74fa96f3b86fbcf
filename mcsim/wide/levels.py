"""The levels of x86-64 processors that the wide kernels are compiled for, and which of them is in use.

    base   what the compiler takes by default; on other processors the only one
    v3     AVX2
    v4     AVX-512

All give the same bits. The best that this machine has is taken, unless the environment variable MCSIM_LEVEL names one.
"""

import importlib.util
import os
from functools import cache

from mcsim.core.errors import SceneError
from mcsim.wide import _base

LEVELS = ("base", "v3", "v4")


@cache
def available():
    """The levels that were built and that this processor has, the best last."""
    found = ["base"]
    for level in LEVELS[1:]:
        if _base.supports(level) and importlib.util.find_spec(f"mcsim.wide._{level}") is not None:
            found.append(level)
    return found


def chosen():
    """The level in use."""
    levels = available()
    wanted = os.environ.get("MCSIM_LEVEL") or levels[-1]
    if wanted not in levels:
        raise SceneError(f"MCSIM_LEVEL is {wanted!r}; this machine and this build have {', '.join(levels)}")
    return wanted


def module(level=None):
    """The kernels of a level, or of the one in use."""
    return importlib.import_module(f"mcsim.wide._{level or chosen()}")


def tables(name):
    """The table that a level's function `name` gives, of each level up to the one in use, which is the last: kernels of
    fewer lanes, to the same bits, for where few are filled."""
    levels = available()
    return [getattr(module(level), name)() for level in levels[:levels.index(chosen()) + 1]]


def kernels():
    """Those of contacts, as _contacts.pyx takes them."""
    return module().kernels()


def ball_kernels():
    """Those of ball joints, as _balls.pyx takes them."""
    return module().ball_kernels()


def herd_kernels():
    """Those of articulations side by side, as _herds.pyx takes them."""
    return module().herd_kernels()


def angle_kernels():
    """Those of friction and limits of angles, as _angles.pyx takes them."""
    return module().angle_kernels()


def joint_kernels():
    """Those of joints' own rows, as _joints.pyx takes them."""
    return module().joint_kernels()


def swept_ball_kernels():
    """Those of ball joints among them."""
    return module().swept_ball_kernels()
