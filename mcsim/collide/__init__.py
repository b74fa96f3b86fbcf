"""Shapes and poses to contact manifolds; rays and overlaps among them."""

from mcsim.collide._collider import Collider
from mcsim.collide._queries import HIT_DTYPE, Finder
from mcsim.collide._sensors import Sensors
from mcsim.collide._surfaces import Surfaces

__all__ = ["Collider", "Finder", "HIT_DTYPE", "Sensors", "Surfaces"]
