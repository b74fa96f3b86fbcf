"""What all parts of a scene share: they are fixed once made, and know the arguments that made them."""

import inspect
import math
from collections.abc import Callable, Container, Mapping
from functools import cache, wraps
from typing import Any, Self

import numpy as np

from mcsim.scene.calls import problem_of
from mcsim.scene.checks import FieldError, suggestion

VERSION = 1  # of scenes as JSON data
PLAIN = frozenset({int, float, bool, str, type(None)})  # what most attributes are, in which there are no arrays


@cache
def signature_defaults(function: Any) -> dict[str, Any]:
    """Parameter -> default, of those parameters that have one."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def as_json(value: Any) -> Any:
    """An argument as JSON data. Infinite is written as null: it means 'none' wherever it is allowed."""
    if isinstance(value, Described):
        return value.to_dict()
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if isinstance(value, float) and math.isinf(value) else value


def lock(value: Any) -> Any:
    """Make arrays, and those in lists and tuples, read-only."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, (list, tuple)):
        for item in value:
            if type(item) is np.ndarray:  # there are long lists of these, and of numbers
                item.flags.writeable = False
            elif type(item) is not float:
                lock(item)
    return value


def _naming(method: Callable[..., Any], subject: str) -> Callable[..., Any]:
    """The method, with `subject` in front of its errors."""

    @wraps(method)
    def named(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except FieldError as error:
            raise (error if error.subject else error.within(subject)) from None
        except TypeError as error:
            problem = problem_of(error, method, args, kwargs, is_method=True)
            if problem is None:
                raise
        raise TypeError(f"{subject}: {problem}")

    return named


class Described:
    """A part of a scene. Its attributes cannot be set: to change a part, make a new one."""

    _arguments: dict[str, Any]  # name -> checked plain value, all arguments
    _written: frozenset[str] = frozenset()  # those that a file wrote out although they may equal the default

    def __init_subclass__(cls) -> None:
        """Let errors about arguments name the class, unless they name something better already."""
        super().__init_subclass__()
        if "__init__" in vars(cls):
            type.__setattr__(cls, "__init__", _naming(vars(cls)["__init__"], cls.__name__))

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Self:
        """Make one as a file describes it: `to_dict` will write the same arguments again."""
        result = cls(**arguments)
        result._set(_written=frozenset(arguments))
        return result

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return signature_defaults(cls)  # type: ignore[arg-type]  # a class has a hash, whatever its parts have

    def _set(self, **attributes: Any) -> None:
        for value in attributes.values():
            if type(value) not in PLAIN:
                lock(value)
        self.__dict__.update(attributes)

    def _given(self) -> dict[str, Any]:
        """The arguments that are not the default, or were written out."""
        defaults = self._defaults()
        return {
            name: value
            for name, value in self._arguments.items()
            if name in self._written or name not in defaults or value != defaults[name]
        }

    def to_dict(self) -> dict[str, Any]:
        """The arguments as JSON data, defaults left out."""
        return {name: as_json(value) for name, value in self._given().items()}

    def same(self, other: Any) -> bool:
        """Whether both are of one class and made by equal arguments."""
        return type(self) is type(other) and equal_arguments(self._arguments, other._arguments)

    @property
    def original(self) -> Self:
        """The first of all versions of this part: `changed` makes others of the same thing."""
        return self.__dict__.get("_original", self)

    def changed(self, **attributes: Any) -> Self:
        """Another version of this part, with other attributes, which are not checked."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._set(**attributes, _original=self.original)
        return other

    def version(self, other: Self) -> Self:
        """Another version of this part, with all that a new part of the same kind has."""
        version = object.__new__(type(self))
        version.__dict__.update(self.__dict__)
        version.__dict__.update(other.__dict__)
        version.__dict__["_original"] = self.original
        return version

    def renewed(self, **attributes: Any) -> Self:
        """A part of its own, no version of this one, with other attributes, which are not checked. Arrays among them must
        be locked."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("_original", None)
        other.__dict__.update(attributes)
        return other

    def has(self, name: str) -> bool:
        """Whether there is such an attribute, or argument."""
        return name in self.__dict__ or name in self._arguments or hasattr(type(self), name)

    def __getattr__(self, name: str) -> Any:
        """Any argument, as it was given and checked, is an attribute: `HingeJoint(…, limits=(-1, 1)).limits`."""
        arguments = {} if name.startswith("_") else self.__dict__.get("_arguments", {})
        if name not in arguments:
            close = suggestion(name, (known for known in dir(self) if not known.startswith("_")))
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{close}")
        return arguments[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__dict__.get("_arguments", {})})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is fixed once made: make a new one to change its {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is fixed once made")

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():  # copied and unpickled arrays come back writable
            kind = type(value)
            if kind is np.ndarray:
                value.flags.writeable = False
            elif kind is list or kind is tuple:
                lock(value)
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._given().items())})"


def equal_arguments(ours: Mapping[str, Any], theirs: Mapping[str, Any], but: Container[str] = ()) -> bool:
    """Whether two parts of one class were made by equal arguments, all but some. Arrays are equal as wholes."""
    for name in ours.keys() | theirs.keys():
        if name not in but and (name not in ours or name not in theirs or not _equal(ours[name], theirs[name])):
            return False
    return True


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b or np.array_equal(a, b)
    return bool(a == b)


class Value(Described):
    """A part that is nothing but its arguments: equal if they are, and shared by copies."""

    def __eq__(self, other: Any) -> bool:
        return self.same(other) if isinstance(other, Value) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), tuple(self._arguments.values())))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
