"""What a program steers through a world step by step, built on its queries."""

from mcsim.actors.character import Character
from mcsim.actors.vehicle import Vehicle, Wheel
from mcsim.scene.calls import explain_functions

__all__ = ["Character", "Vehicle", "Wheel"]

explain_functions(globals(), __all__)
