"""The shapes that bodies are made of. The lines of imports are the registry: one a type, in the order of its numbers.

Every shape takes `position` [m] and `orientation` (unit quaternion) of its own frame in the body's frame, and
`material`, the body's if not given; the solid ones take `density` [kg/m³], the body's if not given. A `sensor` reports
what comes into it (world.events, world.overlaps) and pushes nothing; it has no mass unless it has a density of its own.

All else follows from these lines and the files that they name: the schema of scene files, the public names, pictures,
what can be held into a world, and what setup.py writes of them for the kernels (collide/shapes/_NAME.pxd, of the same
name).
"""

from typing import TYPE_CHECKING

from mcsim.scene.shapes._shape import AT_ORIGIN as AT_ORIGIN, IS_UPRIGHT as IS_UPRIGHT, ORIGIN as ORIGIN
from mcsim.scene.shapes._shape import UPRIGHT as UPRIGHT, Shape as Shape
from mcsim.scene.shapes._surface import Surface as Surface

from mcsim.scene.shapes._sphere import Sphere as Sphere
from mcsim.scene.shapes._box import Box as Box
from mcsim.scene.shapes._capsule import Capsule as Capsule
from mcsim.scene.shapes._cylinder import Cylinder as Cylinder
from mcsim.scene.shapes._plane import Plane as Plane
from mcsim.scene.shapes._hull import ConvexHull as ConvexHull
from mcsim.scene.shapes._mesh import Mesh as Mesh
from mcsim.scene.shapes._height_field import HeightField as HeightField
from mcsim.scene.shapes._cone import Cone as Cone
from mcsim.scene.shapes._ellipsoid import Ellipsoid as Ellipsoid
from mcsim.scene.shapes._tapered_capsule import TaperedCapsule as TaperedCapsule

# Name of a type -> its class.
SHAPES: dict[str, type[Shape]] = {
    shape.type: shape
    for shape in list(globals().values())
    if isinstance(shape, type) and issubclass(shape, Shape) and shape not in (Shape, Surface)
}

_NAMES = [shape.__name__ for shape in SHAPES.values()]

if not TYPE_CHECKING:  # which sees what the lines above import, but not a list made here
    __all__ = _NAMES
