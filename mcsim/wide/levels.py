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


def module():
    """The kernels of the level in use."""
    return importlib.import_module(f"mcsim.wide._{chosen()}")


def kernels():
    """Those of contacts, as _contacts.pyx takes them."""
    return module().kernels()


def body_kernels():
    """Those of bodies, as integrate/_euler.pyx takes them."""
    return module().body_kernels()


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
