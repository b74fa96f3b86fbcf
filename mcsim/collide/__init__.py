"""Shapes and poses to contact manifolds."""

from mcsim.collide._collider import Collider
from mcsim.collide._surfaces import Surfaces

__all__ = ["Collider", "Surfaces"]
