"""The hand that holds a body: a damped spring between a point of it and the mouse."""

from __future__ import annotations

import math

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import matrices, matrix
from mcsim.world import World

HERTZ = 5.0  # of the spring, with all that is joined to the body for its mass
MOST_PULL = 500.0  # [m/s²] force at most, by the same mass
HOLDING = ("ball", "universal", "hinge", "fixed")  # joints that hold two points together
MOST_NEAR = 40  # bodies around the one that is held, of which the spring knows how they are joined


class Hand:
    """Holds the point `point` (3,) [m] of a body, which is there in `world` now, and pulls it to `target` (3,) [m].

    In other worlds of the same scene it holds the same point of the body of this name. The spring is critically damped for
    the mass of all bodies that joints hold together with this one. It is stepped implicitly against what the joints nearby
    let the point feel of them (Joined), so that it can lift a heavy doll by a light hand, and gives no energy to the hand
    alone.
    """

    def __init__(self, world: World, body: str, point: np.ndarray, target: np.ndarray) -> None:
        handle = world.body(body)
        if handle.kind != "dynamic":
            raise SceneError(f"body {body!r} is {handle.kind}: the hand moves dynamic bodies only")
        self.body = body
        self.target = np.array(target, float)
        self._local = matrix(handle.orientation).T @ (np.array(point, float) - handle.position)
        self._joined: dict[int, Joined] = {}

    def forget(self) -> None:
        """Joints are other ones than before."""
        self._joined.clear()

    def point(self, world: World) -> np.ndarray:
        """(3,) where the point that it holds is now [m]."""
        handle = world.body(self.body)
        return handle.position + matrix(handle.orientation) @ self._local

    def pull(self, world: World) -> None:
        """Give the body the force of the next step of dt, which brings the point as the spring would by its end."""
        if id(world) not in self._joined:
            self._joined[id(world)] = Joined(world, self.body)
        joined, handle, h = self._joined[id(world)], world.body(self.body), world.dt
        arm = matrix(handle.orientation) @ self._local
        point = handle.position + arm
        speed = handle.velocity + np.cross(handle.angular_velocity, arm)
        rate = 2.0 * math.pi * HERTZ
        stiffness, damping = joined.mass * rate**2, 2.0 * joined.mass * rate
        softness = 1.0 / (h * (damping + h * stiffness))
        wanted = speed + h * stiffness * softness * (point - self.target)
        force = -np.linalg.solve(joined.response(arm) + softness * np.eye(3), wanted) / h
        force *= min(1.0, MOST_PULL * joined.mass / max(float(np.linalg.norm(force)), 1e-300))
        if handle.asleep:
            world.wake(self.body)
        world.apply_force(self.body, force, point)


class Joined:
    """The bodies that joints hold together with one, and how much of them a point of it feels.

    mass [kg]: of all of them. What the point feels is that of the bodies nearby, at most MOST_NEAR, each joint holding two
    points together and no more: never more than the joints let it feel in truth, so that no step is too strong.
    """

    def __init__(self, world: World, body: str) -> None:
        scene = world.scene
        parts = {part.name: part for part in scene.bodies if part.kind == "dynamic"}
        joints: dict[str, list] = {}
        for joint in scene.joints:
            for end in (joint.a, joint.b):
                if end in parts:
                    joints.setdefault(end, []).append(joint)
        found = [body]
        for name in found:  # which grows meanwhile: the nearest first
            for joint in joints.get(name, ()):
                found += [end for end in (joint.a, joint.b) if end in parts and end not in found]
        self.mass = float(sum(parts[name].mass for name in found))
        self._handles = [world.body(name) for name in found[:MOST_NEAR]]
        self._world = world
        near = {name: k for k, name in enumerate(found[:MOST_NEAR])}
        self._masses = np.array([parts[name].mass for name in near])
        self._inertias = np.linalg.inv(np.array([parts[name].inertia for name in near]))
        holding = {
            joint.name: joint
            for name in near
            for joint in joints.get(name, ())
            if joint.type in HOLDING and all(end in near or end not in parts for end in (joint.a, joint.b))
        }
        self._ends = [
            [
                (near[end], frame[0] - parts[end].center_of_mass, sign)
                for end, frame, sign in ((joint.a, joint.frame_a, -1.0), (joint.b, joint.frame_b, 1.0))
                if end in near
            ]
            for joint in holding.values()
        ]

    def response(self, arm: np.ndarray) -> np.ndarray:
        """(3, 3) [1/kg] velocity of the point at `arm` (3,) from the body's centre of mass by an impulse there."""
        numbers = np.array([handle.index for handle in self._handles])
        rotations = matrices(self._world.orientations[numbers])
        inverse = rotations @ self._inertias @ rotations.swapaxes(1, 2)
        n, m = len(numbers), len(self._ends)
        rows = np.zeros((3 * m + 3, n, 6))  # of the joints, then of the point itself
        rows[3 * m :, 0] = _rows(arm)
        for k, ends in enumerate(self._ends):
            for i, point, sign in ends:
                rows[3 * k : 3 * k + 3, i] = sign * _rows(rotations[i] @ point)
        moved = rows.copy()  # rows times the inverse masses
        moved[:, :, :3] /= self._masses[:, None]
        moved[:, :, 3:] = (rows[:, :, None, 3:] @ inverse)[:, :, 0]
        a = moved.reshape(3 * m + 3, -1) @ rows.reshape(3 * m + 3, -1).T
        free, held = a[3 * m :, 3 * m :], a[: 3 * m, : 3 * m]
        if m == 0:
            return free
        held += 1e-9 * np.trace(held) / len(held) * np.eye(len(held))  # loops say some things twice
        return free - a[3 * m :, : 3 * m] @ np.linalg.solve(held, a[: 3 * m, 3 * m :])


def _rows(arm: np.ndarray) -> np.ndarray:
    """(3, 6) takes a body's twist to the velocity of the point at `arm` (3,) from its centre of mass."""
    x, y, z = arm.tolist()
    return np.array([[1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x], [0.0, 0.0, 1.0, y, -x, 0.0]])
