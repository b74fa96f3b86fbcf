"""What a dotted name, as mcsim.World.step, stands for."""

import importlib


def found(name):
    """The module, class, function or attribute; AttributeError if there is none."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            thing = getattr(thing, part)
        return thing
    raise AttributeError(name)
