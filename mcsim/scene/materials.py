"""Material: what surfaces are like."""

from __future__ import annotations  # signatures read as they are written here

from math import sqrt

import numpy as np

from mcsim.core.rotation import normalized
from mcsim.scene.checks import FieldError, Vector, direction, not_negative, positive, text, vector, within
from mcsim.scene.described import Value


def combined_friction(a: float, b: float) -> float:
    """Coulomb's coefficient of two surfaces: the geometric mean of theirs."""
    return sqrt(a * b)


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

    one_way (3,): the side from which alone the surface bears, body axes: (0, 0, 1) of a ledge that one jumps up through and
        lands on. What comes from elsewhere passes, and so does what is deeper inside than a quarter of the thinner of the
        two shapes. None: it bears from all sides.

    name: by which Scene.set_material_pair says what two materials are like against each other: "ice", "rubber". Materials
        of one name may differ in all else.

    Under World(contact="compliant") surfaces give way, each contact point as a spring and a damper without mass
    (docs/theory/compliant.md), and restitution is not read:
    stiffness [N/m] of a point, along the normal. None: the surface is rigid, and can touch only what is not.
    damping: [N s/m] under compliant_law="linear"; under "hunt_crossley" the factor chi [s/m] of k z (1 + chi dz/dt).
    tangential_stiffness, tangential_damping: likewise along the surface. None: those of the normal.
    Two surfaces act in series: 1 / k = 1 / k_a + 1 / k_b, and so do their dampings; a rigid one leaves the other's.
    """

    friction: float
    restitution: float
    rolling_friction: float
    torsional_friction: float
    surface_velocity: np.ndarray
    one_way: np.ndarray | None
    name: str | None
    stiffness: float | None
    damping: float
    tangential_stiffness: float | None
    tangential_damping: float | None

    def __init__(
        self,
        friction: float = 0.6,
        restitution: float = 0.0,
        rolling_friction: float = 0.0,
        torsional_friction: float = 0.0,
        surface_velocity: Vector = (0.0, 0.0, 0.0),
        stiffness: float | None = None,
        damping: float = 0.0,
        tangential_stiffness: float | None = None,
        tangential_damping: float | None = None,
        one_way: Vector | None = None,
        name: str | None = None,
    ):
        arguments = {
            "friction": not_negative(friction, "friction"),
            "restitution": within(restitution, 0.0, 1.0, "restitution"),
            "rolling_friction": not_negative(rolling_friction, "rolling_friction"),
            "torsional_friction": not_negative(torsional_friction, "torsional_friction"),
            "surface_velocity": vector(surface_velocity, "surface_velocity"),
            "stiffness": None if stiffness is None else positive(stiffness, "stiffness"),
            "damping": not_negative(damping, "damping"),
            "tangential_stiffness": None
            if tangential_stiffness is None
            else positive(tangential_stiffness, "tangential_stiffness"),
            "tangential_damping": None
            if tangential_damping is None
            else not_negative(tangential_damping, "tangential_damping"),
            "one_way": None if one_way is None else direction(one_way, "one_way"),
            "name": None if name is None else text(name, "name"),
        }
        for name in ("damping", "tangential_stiffness", "tangential_damping"):
            if stiffness is None and arguments[name]:
                raise FieldError(name, "goes with a stiffness: a surface without one is rigid; pass stiffness too")
        self._set(_arguments=arguments, **arguments)
        self._set(surface_velocity=np.array(arguments["surface_velocity"]))
        self._set(one_way=None if one_way is None else normalized(arguments["one_way"]))
