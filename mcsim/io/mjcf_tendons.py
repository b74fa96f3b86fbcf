"""Fixed tendons of a MuJoCo model: what they go over. Those over one joint are a spring and limits of that joint.

The length of a fixed tendon is Σ c q over its joints. Over one joint, its spring is one of c² times the stiffness, at rest
at a c-th of the length; damping, friction and limits likewise.
"""

from __future__ import annotations  # signatures read as they are written here

from math import inf
from typing import NamedTuple

from mcsim.io.mjcf_model import Model


class OfJoint(NamedTuple):
    """What a joint has, of its own or by a tendon: stiffness, damping, friction, rest [rad or m], limits."""

    stiffness: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    rest: float = 0.0
    lower: float = -inf
    upper: float = inf

    def beside(self, other: OfJoint) -> OfJoint:
        """Both together: two springs are one, at rest where their forces cancel."""
        stiffness = self.stiffness + other.stiffness
        rest = self.rest
        if other.stiffness > 0.0:
            rest = (self.stiffness * self.rest + other.stiffness * other.rest) / stiffness
        return OfJoint(
            stiffness,
            self.damping + other.damping,
            self.friction + other.friction,
            rest,
            max(self.lower, other.lower),
            min(self.upper, other.upper),
        )


def wraps(model: Model, tendon: int) -> list[tuple[str, int, float]]:
    """What a tendon goes over: kind ("joint", "site", …), number, coefficient of a joint."""
    mj, first = model.mj, int(model.mj.tendon_adr[tendon])
    return [
        (
            model.mujoco.mjtWrap(int(mj.wrap_type[k])).name.removeprefix("mjWRAP_").lower(),
            int(mj.wrap_objid[k]),
            float(mj.wrap_prm[k]),
        )
        for k in range(first, first + int(mj.tendon_num[tendon]))
    ]


def over_one_joint(model: Model, tendon: int) -> tuple[int, OfJoint] | None:
    """-> the joint and what the tendon is to it; None of a tendon over other things, or that is slack over some way."""
    mj, over = model.mj, wraps(model, tendon)
    if [kind for kind, _, _ in over] != ["joint"] or over[0][2] == 0.0:
        return None
    _, joint, c = over[0]
    low, high = mj.tendon_lengthspring[tendon].tolist()
    stiffness = 0.0 if model.disabled("SPRING") else float(mj.tendon_stiffness[tendon])
    if stiffness > 0.0 and low != high:
        return None
    damping = 0.0 if model.disabled("DAMPER") else float(mj.tendon_damping[tendon])
    friction = 0.0 if model.disabled("FRICTIONLOSS", "CONSTRAINT") else float(mj.tendon_frictionloss[tendon])
    limits = -inf, inf
    if mj.tendon_limited[tendon] and not model.disabled("LIMIT", "CONSTRAINT"):
        a, b = (mj.tendon_range[tendon] / c).tolist()
        limits = min(a, b), max(a, b)
    return joint, OfJoint(stiffness * c * c, damping * c * c, friction * abs(c), low / c, *limits)


def by_joint(model: Model) -> dict[int, OfJoint]:
    """joint -> what tendons over it alone are to it."""
    found: dict[int, OfJoint] = {}
    for tendon in range(model.mj.ntendon):
        one = over_one_joint(model, tendon)
        if one is not None:
            found[one[0]] = found.get(one[0], OfJoint()).beside(one[1])
    return found
