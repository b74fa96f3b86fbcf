"""Examples of the types of shapes, made from the registry by the annotations of their arguments: tests over all shapes have
them without a line of their own."""

import inspect

import numpy as np

from mcsim.scene.shapes import SHAPES

PLACED = {"position", "orientation", "material", "density", "sensor", "rounding"}
ROUNDING = 0.0625  # [m]
CORNERS = ((0.5, 0.25, -0.25), (-0.5, 0.375, -0.25), (-0.25, -0.5, -0.25), (0.375, -0.375, -0.25), (0.0625, 0.125, 0.5))
# Those that have an inside and so can move.
SOLIDS = {name: shape for name, shape in SHAPES.items() if shape.massive}
# The same, and those that may be rounded with a rounding.
KINDS = [
    *SOLIDS,
    *(f"rounded {name}" for name, shape in SOLIDS.items() if "rounding" in inspect.signature(shape).parameters),
]


def plain_solid(name, size=1.0, **more):
    """A shape of a kind in KINDS, with lengths of some quarters of a metre times `size`; no two of its own are equal."""
    if name.startswith("rounded "):
        return plain_solid(name.removeprefix("rounded "), size, rounding=size * ROUNDING, **more)
    own = [argument for argument in inspect.signature(SOLIDS[name]).parameters.values() if argument.name not in PLACED]
    lengths = iter(size * np.array([0.25, 0.375, 0.5]))
    values = {
        "float": lambda: float(next(lengths)),
        "Vector": lambda: size * np.array([0.25, 0.375, 0.5]),
        "Points": lambda: size * np.array(CORNERS),
    }
    return SOLIDS[name](**{argument.name: values[argument.annotation]() for argument in own}, **more)
