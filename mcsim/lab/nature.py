"""What the scene is like: what it conserves, and how smooth its motion is."""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from mcsim.scene import Body, Joint, Scene
from mcsim.scene.drives import AxisSpec

# Kinds of motion.
SMOOTH, BOUNDED = "smooth", "bounded"


def may_touch(scene: Scene) -> bool:
    """Whether any two bodies could ever collide: masks, joints and the scene allow it, and one moves by forces."""
    apart = {frozenset((joint.a, joint.b)) for joint in scene.joints if not joint.collide}
    apart |= set(map(frozenset, scene.ignored_pairs))
    bodies = [body for body in scene.bodies if any(not shape.sensor for shape in body.shapes)]
    return any(
        _meet(a, b) and frozenset((a.name, b.name)) not in apart
        for a in bodies
        if a.kind == "dynamic" and a.collision_mask
        for b in bodies
        if b is not a
    )


def _meet(a: Body, b: Body) -> bool:
    return bool(a.collision_group & b.collision_mask) and bool(b.collision_group & a.collision_mask)


def _is_bounded(joint: Joint) -> bool:
    """Whether something of the joint acts in one way only, or gives way."""
    return (
        isfinite(joint.swing_limit)
        or min(joint.break_force, joint.break_torque) < inf
        or any(axis.lower > -inf or axis.upper < inf or axis.friction > 0.0 or _has_weak_motor(axis) for axis in joint.axes)
        or any(axis.spring is not None and axis.spring.acts != "both" for axis in joint.axes)
    )


def _acts(joint: Joint) -> bool:
    """Whether it can do anything to its bodies."""
    return joint.type != "free" or isfinite(joint.swing_limit) or any(axis != AxisSpec() for axis in joint.axes)


def _has_weak_motor(axis: AxisSpec) -> bool:
    """One that its load may overcome, or that goes no faster than so."""
    return axis.motor is not None and min(axis.motor.max_force, axis.motor.max_velocity) < inf


def _has_spring(joint: Joint) -> bool:
    return any(axis.spring is not None for axis in joint.axes)


def _is_damped(body: Body) -> bool:
    return body.linear_damping > 0.0 or body.angular_damping > 0.0


def has_springs(scene: Scene) -> bool:
    """Whether energy is stored in joints."""
    return any(_has_spring(joint) for joint in scene.joints)


def smoothness(scene: Scene) -> str:
    """SMOOTH: accelerations follow from positions, velocities and the time, without a switch. BOUNDED: contacts, limits,
    motors with a bound, springs that act in one way alone, friction, joints that may break."""
    bounded = may_touch(scene) or any(_is_bounded(joint) for joint in scene.joints)
    return BOUNDED if bounded else SMOOTH


def conserves_energy(scene: Scene) -> bool:
    """Whether no energy comes or goes: nothing touches, bounds, drives or damps."""
    if smoothness(scene) == BOUNDED:
        return False
    driven = any(_is_damped(body) or (body.kind == "kinematic" and _has_joint(scene, body)) for body in scene.bodies)
    driven = driven or any(
        axis.motion is not None or axis.motor is not None for joint in scene.joints for axis in joint.axes
    )
    damped = any(axis.spring is not None and axis.spring.damping > 0.0 for joint in scene.joints for axis in joint.axes)
    return not (driven or damped)


def _has_joint(scene: Scene, body: Body) -> bool:
    return any(body.name in (joint.a, joint.b) for joint in scene.joints)


def is_free(scene: Scene) -> bool:
    """Whether gravity alone acts from outside, so that momentum is known: no body is held by, or may touch, what does
    not move by forces, and nothing damps."""
    dynamic = {body.name for body in scene.bodies if body.kind == "dynamic"}
    if any(_is_damped(body) for body in scene.bodies):
        return False
    if any({joint.a, joint.b} - dynamic for joint in scene.joints if _acts(joint)):
        return False
    return all(body.kind == "dynamic" for body in scene.bodies) or not may_touch(scene)


class FreeMomentum:
    """Momentum of a free scene: that of the beginning, and what gravity adds. Closed form."""

    def __init__(
        self, scene: Scene, linear: np.ndarray, angular: np.ndarray, positions: np.ndarray, velocities: np.ndarray
    ):
        weights = np.array([body.mass * body.gravity_scale if body.kind == "dynamic" else 0.0 for body in scene.bodies])
        self._gravity = np.asarray(scene.gravity, float)
        self._start = linear.copy(), angular.copy()
        self._weight = weights.sum()
        # The torque is the sum of r x m s g; all bodies fall alike only where all scales s are one.
        self._lever, self._drift = weights @ positions, weights @ velocities
        self.known: bool = len({body.gravity_scale for body in scene.bodies if body.kind == "dynamic"}) <= 1

    def at(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> linear (t, 3), angular (t, 3) at times (t,)."""
        t = np.asarray(time, float)[:, None]
        linear = self._start[0] + self._weight * self._gravity * t
        angular = self._start[1] + np.cross(self._lever * t + 0.5 * self._drift * t * t, self._gravity)
        return linear, angular
