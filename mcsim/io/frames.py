"""BodyFrame: a named frame on a body, read in a world."""

from __future__ import annotations  # signatures read as they are written here

from dataclasses import dataclass

import numpy as np

from mcsim.core.rotation import Frame, compose, cross_matrices
from mcsim.world import ReducedWorld, World


@dataclass(frozen=True, eq=False)
class BodyFrame:
    """A named frame that is fixed on a body: a site, or a link that became one body with others.

    name. body: the name of the body, None if it is fixed in the world. position (3,) [m], orientation (4,): in that
    body's own frame.
    """

    name: str
    body: str | None
    position: np.ndarray
    orientation: np.ndarray

    def pose(self, world: World) -> Frame:
        """-> position (3,) [m], orientation (4,) in the world, now."""
        own = self.position, self.orientation
        return own if self.body is None else compose(world.body(self.body).frame, own)

    def velocity(self, world: World) -> tuple[np.ndarray, np.ndarray]:
        """-> velocity (3,) [m/s] of the frame's origin and angular velocity (3,) [rad/s], world axes."""
        if self.body is None:
            return np.zeros(3), np.zeros(3)
        body = world.body(self.body)
        spin = np.array(body.angular_velocity)  # no view: the reading is that of now
        return body.velocity + np.cross(spin, self.pose(world)[0] - body.position), spin

    def jacobian(self, world: World) -> np.ndarray:
        """(6, nv): takes velocities to those of the frame, [v; ω] in world axes. In a ReducedWorld they are `qd`; in a
        World the twists of all bodies one after the other, (6 n,), as `world.jacobian()` has them."""
        if isinstance(world, ReducedWorld):
            if self.body is None:
                return np.zeros((6, world.system.nv))
            turning = world.dynamics.body_jacobian(self.body, world.q)
            return np.vstack([world.dynamics.point_jacobian(self.body, self.position, world.q), turning[3:]])
        found = np.zeros((6, 6 * len(world.body_names)))
        if self.body is not None:
            body = world.body(self.body)
            arm = self.pose(world)[0] - body.position
            columns = found[:, 6 * body.index : 6 * body.index + 6]
            columns[:, :] = np.eye(6)
            columns[:3, 3:] = -cross_matrices(arm)
        return found
