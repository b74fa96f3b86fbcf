"""The names that the API reference must have: those of mc.__all__, and what their classes show."""

import inspect
from functools import cached_property

import mcsim as mc


def own_members(kind):
    """Methods and properties that a class defines itself and shows."""
    return {name for name, value in vars(kind).items() if not name.startswith("_")
            and isinstance(value, (property, cached_property, classmethod, staticmethod))
            or not name.startswith("_") and inspect.isroutine(value)}


CLASSES = [getattr(mc, name) for name in mc.__all__ if inspect.isclass(getattr(mc, name))]
MODULES = {"lab": mc.lab, "reduced": mc.reduced}
# What is told of as a module, whose own names are listed.
NAMES = {f"mcsim.{name}" for name in mc.__all__ if name not in ("lab", "reduced", "scenes")}
NAMES |= {f"mcsim.{module}.{name}" for module, found in MODULES.items() for name in found.__all__
          if name not in ("compare", "studies")}
NAMES |= {f"mcsim.scenes.{name}" for name in mc.scenes.__all__ if name != "load"}
