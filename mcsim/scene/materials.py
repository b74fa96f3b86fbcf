"""Material: what surfaces are like."""

from __future__ import annotations      # signatures read as they are written here

import numpy as np

from mcsim.scene.checks import Vector, not_negative, vector, within
from mcsim.scene.described import Value


class Material(Value):
    """What a surface is like where it touches another.

    friction: Coulomb's coefficient, at least 0. Two surfaces have the geometric mean of theirs.
    restitution: the part of the approach speed that is given back, 0 to 1. Two surfaces have the larger of theirs.
    rolling_friction [m]: the torque against rolling is at most this times the normal force: a ball of radius r rolls
        down a slope if its tangent is more than rolling_friction / r.
    torsional_friction [m]: likewise against spinning about the normal, beside what the contact points do by their
        distance from each other. Of both, two surfaces have the larger of theirs: it is the softer one that gives way.
    surface_velocity (3,) [m/s]: at which the surface itself moves over the body, body axes, as a conveyor belt does;
        only its part along the surface of contact counts. Friction acts against the relative velocity of the surfaces.
    """

    friction: float
    restitution: float
    rolling_friction: float
    torsional_friction: float
    surface_velocity: np.ndarray

    def __init__(self, friction: float = 0.6, restitution: float = 0.0, rolling_friction: float = 0.0,
                 torsional_friction: float = 0.0, surface_velocity: Vector = (0.0, 0.0, 0.0)):
        arguments = {
            "friction": not_negative(friction, "friction"),
            "restitution": within(restitution, 0.0, 1.0, "restitution"),
            "rolling_friction": not_negative(rolling_friction, "rolling_friction"),
            "torsional_friction": not_negative(torsional_friction, "torsional_friction"),
            "surface_velocity": vector(surface_velocity, "surface_velocity"),
        }
        self._set(_arguments=arguments, **arguments)
        self._set(surface_velocity=np.array(arguments["surface_velocity"]))
