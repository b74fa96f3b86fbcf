"""What a program steers through a world step by step, built on its queries."""

from mcsim.actors.character import Character
from mcsim.actors.vehicle import Vehicle, Wheel

__all__ = ["Character", "Vehicle", "Wheel"]
