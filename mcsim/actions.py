"""What acts on a World from outside: forces, impulses, poses and velocities set by hand."""

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import matrices
from mcsim.handles import BodyHandle
from mcsim.scene.checks import FieldError, unit_quaternion, vector
from mcsim.state.fields import AWAKE


class Actions:
    """The part of World that acts."""

    def _dynamic(self, body, doing):
        self._refuse_while_running(doing)
        i = self._find(body, self._body_index, BodyHandle, "body")
        if self._bodies.inv_mass[i] == 0.0:
            raise SceneError(f"World.{doing}: body {self.body_names[i]!r} is {self.body(i).kind}; only dynamic bodies feel "
                             "forces")
        return i

    def _vector(self, value, name, doing, length=3):
        try:
            return np.array(vector(value, name, length) if length != 4 else unit_quaternion(value, name))
        except FieldError as error:
            raise SceneError(f"World.{doing}: {error}") from None

    def apply_force(self, body, force, point=None) -> None:
        """Add a force [N], world axes, at `point` [m] (world; the centre of mass if None), through the next step() call."""
        i = self._dynamic(body, "apply_force")
        force = self._vector(force, "force", "apply_force")
        torque = np.zeros(3)
        if point is not None:
            torque = np.cross(self._vector(point, "point", "apply_force") - self._bodies.position[i], force)
        self._bodies.force[i] += (*force, *torque)

    def apply_torque(self, body, torque) -> None:
        """Add a torque [N m], world axes, through the next step() call."""
        i = self._dynamic(body, "apply_torque")
        self._bodies.force[i, 3:] += self._vector(torque, "torque", "apply_torque")

    def apply_impulse(self, body, impulse, point=None) -> None:
        """Change the velocity at once by an impulse [N s], world axes, at `point` [m] (the centre of mass if None)."""
        i = self._dynamic(body, "apply_impulse")
        impulse = self._vector(impulse, "impulse", "apply_impulse")
        spin = np.zeros(3)
        if point is not None:
            arm = self._vector(point, "point", "apply_impulse") - self._bodies.position[i]
            rotation = matrices(self._bodies.orientation[i:i + 1])[0]
            spin = rotation @ self._bodies.inv_inertia[i] @ rotation.T @ np.cross(arm, impulse)
        self._bodies.twist[i] += (*(self._bodies.inv_mass[i] * impulse), *spin)

    def wake(self, body=None) -> None:
        """Wake a body and all that fell asleep with it; None: everything."""
        self._refuse_while_running("wake")
        island = self._bodies.island
        chosen = island != AWAKE
        if body is not None:
            chosen &= island == island[self._find(body, self._body_index, BodyHandle, "body")]
        island[chosen] = AWAKE
        self._bodies.still_time[chosen] = 0.0
        self._bodies.still_speed[chosen] = 0.0
        self._pipeline.follow()

    def set_pose(self, body, position=None, orientation=None) -> None:
        """Place a body: `position` (3,) of its centre of mass [m], `orientation` (4,), world; None keeps what is."""
        self._refuse_while_running("set_pose")
        i = self._find(body, self._body_index, BodyHandle, "body")
        if position is not None:
            position = self._vector(position, "position", "set_pose")
        if orientation is not None:
            q = self._vector(orientation, "orientation", "set_pose", 4)
            self._bodies.orientation[i] = q / np.linalg.norm(q)
        if position is not None:
            self._bodies.position[i] = position

    def set_velocity(self, body, velocity=None, angular_velocity=None) -> None:
        """Set a body's velocity [m/s] (centre of mass) and angular velocity [rad/s], world axes; None keeps what is."""
        self._refuse_while_running("set_velocity")
        i = self._find(body, self._body_index, BodyHandle, "body")
        if self.body(i).kind == "static":
            raise SceneError(f"World.set_velocity: body {self.body_names[i]!r} is static; make it kinematic to move it")
        if velocity is not None:
            velocity = self._vector(velocity, "velocity", "set_velocity")
        if angular_velocity is not None:
            self._bodies.twist[i, 3:] = self._vector(angular_velocity, "angular_velocity", "set_velocity")
        if velocity is not None:
            self._bodies.twist[i, :3] = velocity
