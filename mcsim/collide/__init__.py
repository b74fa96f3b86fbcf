"""Shapes and poses to contact manifolds."""

from mcsim.collide._collider import Collider

__all__ = ["Collider"]
