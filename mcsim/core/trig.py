"""Sines, their like and their inverses, and a root, of numbers (-> float) and of arrays, with the same bits on every
processor.

The C library and NumPy take other variants on other processors, whose last bits differ; what a state is made from must
not depend on that. These are right to a few units in the last place (``_trig.pxd``).
"""

from typing import Any

import numpy as np

from mcsim.core import _trig


def sin(x: Any) -> Any:
    """sin x"""
    return _sine_cosine(x)[0]


def cos(x: Any) -> Any:
    """cos x"""
    return _sine_cosine(x)[1]


def tan(x: Any) -> Any:
    """tan x"""
    sine, cosine = _sine_cosine(x)
    return sine / cosine


def arctan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), in [-pi, pi]; 0 for the origin."""
    if isinstance(y, float) and isinstance(x, float):
        return _trig.arctan2_of(y, x)
    y, x = np.broadcast_arrays(np.asarray(y, float), np.asarray(x, float))
    return _trig.arctans2(y.ravel(), x.ravel()).reshape(x.shape)[()]


def arcsin(x: Any) -> Any:
    """The angle in [-pi/2, pi/2] whose sine is x; NaN beyond [-1, 1]."""
    return arctan2(x, _beside(x))


def arccos(x: Any) -> Any:
    """The angle in [0, pi] whose cosine is x; NaN beyond [-1, 1]."""
    return arctan2(_beside(x), x)


def fifth_root(x: float) -> float:
    """x^(1/5) of a number above 0."""
    return _trig.fifth_root_of(x)


def _beside(x: Any) -> Any:
    """sqrt(1 - x^2)"""
    with np.errstate(invalid="ignore"):
        return np.sqrt((1.0 - x) * (1.0 + x))


def _sine_cosine(x: Any) -> Any:
    if isinstance(x, (float, int)):
        return _trig.sine_cosine_of(x)
    x = np.asarray(x, float)
    return tuple(part.reshape(x.shape)[()] for part in _trig.sines_cosines(x.ravel()))
