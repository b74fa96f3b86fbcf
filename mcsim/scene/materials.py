"""Material: what surfaces are like."""

from __future__ import annotations      # signatures read as they are written here

from mcsim.scene.checks import not_negative, within
from mcsim.scene.described import Value


class Material(Value):
    """What a surface is like where it touches another.

    friction: Coulomb's coefficient, at least 0. Two surfaces have the geometric mean of theirs.
    restitution: the part of the approach speed that is given back, 0 to 1. Two surfaces have the larger of theirs.
    """

    friction: float
    restitution: float

    def __init__(self, friction: float = 0.6, restitution: float = 0.0):
        friction = not_negative(friction, "friction")
        restitution = within(restitution, 0.0, 1.0, "restitution")
        self._set(friction=friction, restitution=restitution,
                  _arguments={"friction": friction, "restitution": restitution})
