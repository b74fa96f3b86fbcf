"""What a program steers through a world step by step, built on its queries."""

from mcsim.actors.character import Character

__all__ = ["Character"]
