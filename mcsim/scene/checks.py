"""Checks of single arguments: each returns plain data (numbers, strings, tuples of them) or raises a SceneError."""

import math
import operator
import reprlib
from collections.abc import Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from mcsim.core._plain import plain_quaternion, plain_vector, plain_vectors
from mcsim.core.errors import SceneError

Vector = Sequence[float] | np.ndarray

QUATERNION_TOLERANCE = 1e-6  # how far a quaternion's length may be from 1
SHORTEST_DIRECTION = 1e-12  # a shorter axis counts as zero
LONGEST_NAME = 1000  # characters
NAMES_SHOWN = 12  # names listed by a message before it says how many more there are

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


FLOATS, LISTS = (float, np.float64), (tuple, list)  # what most numbers and vectors come as


class FieldError(SceneError):
    """A wrong field. Kept in parts, so that whoever knows the place (a body, a file) can put it in front. Users see it
    under the name of SceneError, which is what they may catch."""

    def __init__(self, field: str, problem: str, subject: str = ""):
        super().__init__(field, problem, subject)
        self.field = field  # "mass", "half_extents[1]", or "" where no single field is to blame
        self.problem = problem  # "must be positive, got 0.0"
        self.subject = subject  # "body 'link'", or "" if not known

    def __str__(self) -> str:
        if not self.field:
            return f"{self.subject} {self.problem}".strip()
        return f"{self.subject}: {self.field} {self.problem}" if self.subject else f"{self.field} {self.problem}"

    def within(self, subject: str) -> "FieldError":
        """The same error, of this subject."""
        return FieldError(self.field, self.problem, subject)

    def __reduce__(self) -> tuple[Any, ...]:
        return _field_error, (self.field, self.problem, self.subject)


def _field_error(field: str, problem: str, subject: str) -> FieldError:
    return FieldError(field, problem, subject)


FieldError.__module__, FieldError.__qualname__ = SceneError.__module__, SceneError.__qualname__
FieldError.__name__ = SceneError.__name__


def show(value: Any) -> str:
    """A value in a message: its repr on one line, shortened."""
    return " ".join(_short.repr(value).split())


def listing(names: Iterable[str]) -> str:
    """Names in a message: the first few of them, and how many there are."""
    names = list(names)
    shown = ", ".join(show(name) if not name.isidentifier() else name for name in names[:NAMES_SHOWN])
    return shown if len(names) <= NAMES_SHOWN else f"{shown}, … ({len(names)} in all)"


def choose(name: Any, table: Iterable[str], field: str) -> str:
    """One of the names of a registry."""
    names = list(table)
    if not isinstance(name, str) or name not in names:
        raise FieldError(field, f"must be one of: {listing(names)}; got {show(name)}")
    return name


def suggestion(name: Any, names: Iterable[str]) -> str:
    """'; did you mean …?' if one of the names is close to the wrong one, else nothing."""
    close = get_close_matches(name, list(names), n=1) if isinstance(name, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""


def number(value: Any, field: str, *, infinite: bool = False) -> float:
    """A real number; finite unless infinite ones are allowed. Neither a bool nor a string is a number."""
    if type(value) in FLOATS and math.isfinite(value):  # as most are: the same answer at once
        return float(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise FieldError(field, f"must be a number, got {show(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if math.isnan(result) or (math.isinf(result) and not infinite):
        raise FieldError(field, f"must be {'a number' if infinite else 'finite'}, got {show(value)}")
    return result


def positive(value: Any, field: str) -> float:
    """A finite number above zero."""
    result = number(value, field)
    if result <= 0.0:
        raise FieldError(field, f"must be positive, got {show(value)}")
    return result


def not_negative(value: Any, field: str, *, infinite: bool = False) -> float:
    """A number of at least zero."""
    result = number(value, field, infinite=infinite)
    if result < 0.0:
        raise FieldError(field, f"must not be negative, got {show(value)}")
    return result


def within(value: Any, lowest: float, highest: float, field: str) -> float:
    """A number in [lowest, highest]."""
    result = number(value, field)
    if not lowest <= result <= highest:
        raise FieldError(field, f"must be in [{lowest:g}, {highest:g}], got {show(value)}")
    return result


def items(value: Any, what: str, field: str) -> list[Any]:
    """The items of a list, tuple or array; `what` says what is expected."""
    if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable):
        raise FieldError(field, f"must be {what}, got {show(value)}")
    try:
        return list(value)
    except TypeError:  # an array without dimensions
        raise FieldError(field, f"must be {what}, got {show(value)}") from None


def vector(value: Any, field: str, length: int = 3) -> tuple[float, ...]:
    """`length` finite numbers."""
    plain = plain_vector(value) if length == 3 else plain_quaternion(value) if length == 4 else None
    if plain is not None:  # as most are: the same answer at once
        return plain
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim == 1:
        numbers = value.tolist()
    else:
        numbers = value if type(value) in LISTS else items(value, f"{length} numbers", field)
    if len(numbers) != length:
        raise FieldError(field, f"must be {length} numbers, got {len(numbers)}: {show(value)}")
    return tuple(number(x, f"{field}[{i}]") for i, x in enumerate(numbers))


def vectors(values: list[Any], field: str) -> tuple[tuple[float, ...], ...]:
    """Three finite numbers of each."""
    plain = plain_vectors(values)  # most are: the same answer at once
    return tuple(vector(row, f"{field}[{i}]") for i, row in enumerate(values)) if plain is None else plain


def pair(value: Any, what: str, field: str) -> tuple[Any, ...]:
    """The two items of a list, tuple or array."""
    both = items(value, what, field)
    if len(both) != 2:
        raise FieldError(field, f"must be {what}, got {show(value)}")
    return both[0], both[1]


def interval(value: Any, field: str) -> tuple[float, float] | None:
    """Limits (lower, upper); None for either is no limit on that side; None for both is kept as it is."""
    if value is None:
        return None
    ends = pair(value, "a pair (lower, upper)", field)
    lower = -math.inf if ends[0] is None else number(ends[0], f"{field}[0]", infinite=True)
    upper = math.inf if ends[1] is None else number(ends[1], f"{field}[1]", infinite=True)
    if lower > upper:
        raise FieldError(field, f"are reversed: the lower, {lower:g}, is above the upper, {upper:g}")
    if lower == math.inf or upper == -math.inf:
        raise FieldError(field, f"leave no room: {show(value)}")
    return lower, upper


def direction(value: Any, field: str) -> tuple[float, ...]:
    """Three numbers that point somewhere; the length does not matter, but may not be zero."""
    result = vector(value, field)
    if math.hypot(*result) < SHORTEST_DIRECTION:
        raise FieldError(field, f"must not be zero: it has no direction, got {show(value)}")
    return result


def unit_quaternion(value: Any, field: str) -> tuple[float, ...]:
    """Four numbers (w, x, y, z) of length 1 within QUATERNION_TOLERANCE."""
    result = vector(value, field, 4)
    length = math.hypot(*result)
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise FieldError(
            field,
            f"must be a unit quaternion (w, x, y, z), got {show(value)} of length {length:.7g}; divide it by its length",
        )
    return result


def frame(value: Any, field: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A pair (position, unit quaternion)."""
    position, orientation = pair(value, "a pair (position, quaternion)", field)
    return vector(position, f"{field}[0]"), unit_quaternion(orientation, f"{field}[1]")


def flag(value: Any, field: str) -> bool:
    """True or False, nothing else."""
    if not isinstance(value, (bool, np.bool_)):
        raise FieldError(field, f"must be True or False, got {show(value)}")
    return bool(value)


def bits(value: Any, field: str) -> int:
    """A 32-bit integer of collision bits; -1 has all of them set."""
    if type(value) is not int and (isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral)):
        raise FieldError(field, f"must be an integer, got {show(value)}")
    result = operator.index(value)
    if not -(2**31) <= result < 2**31:
        raise FieldError(field, f"must fit in 32 bits (-2**31 to 2**31 - 1, -1 for all bits), got {show(value)}")
    return result


def text(value: Any, field: str, most: int = LONGEST_NAME) -> str:
    """A string that is not empty, has at most so many characters and can be written to a file."""
    if not isinstance(value, str):
        raise FieldError(field, f"must be a string, got {show(value)}")
    if not value:
        raise FieldError(field, "must not be empty")
    if len(value) > most:
        raise FieldError(field, f"must have at most {most} characters, got {len(value)}: {show(value)}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise FieldError(field, f"holds half a character (a lone surrogate), got {show(value)}")
    return value


def reals(value: Any, field: str) -> np.ndarray:
    """An array of numbers, finite or not."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "fiu" or array.dtype.kind == "O" and all(isinstance(part, Real) for part in array.flat):
            return np.array(array, float)
    except (OverflowError, TypeError, ValueError):
        pass
    raise FieldError(field, f"must be an array of numbers, got {show(value)}")


def count(value: Any, field: str, lowest: int, highest: int) -> int:
    """A whole number in [lowest, highest]."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise FieldError(field, f"must be a whole number, got {show(value)}")
    result = operator.index(value)
    if not lowest <= result <= highest:
        raise FieldError(field, f"must be from {lowest} to {highest}, got {show(value)}")
    return result
