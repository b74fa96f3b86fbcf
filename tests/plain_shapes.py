"""Examples of the types of shapes, made from the registry by the annotations of their arguments: tests over all shapes have
them without a line of their own."""

import inspect

import numpy as np

from mcsim.scene.shapes import SHAPES

PLACED = {"position", "orientation", "material", "density", "sensor"}
CORNERS = ((0.5, 0.25, -0.25), (-0.5, 0.375, -0.25), (-0.25, -0.5, -0.25), (0.375, -0.375, -0.25), (0.0625, 0.125, 0.5))
# Those that have an inside and so can move.
SOLIDS = {name: shape for name, shape in SHAPES.items() if shape.massive}


def plain_solid(name, size=1.0, **more):
    """A shape of a type in SOLIDS, with lengths of some quarters of a metre times `size`; no two of its own are equal."""
    own = [argument for argument in inspect.signature(SOLIDS[name]).parameters.values() if argument.name not in PLACED]
    lengths = iter(size * np.array([0.25, 0.375, 0.5]))
    values = {
        "float": lambda: float(next(lengths)),
        "Vector": lambda: size * np.array([0.25, 0.375, 0.5]),
        "Points": lambda: size * np.array(CORNERS),
    }
    return SOLIDS[name](**{argument.name: values[argument.annotation]() for argument in own}, **more)
