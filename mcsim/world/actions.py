"""What acts on a World from outside: forces, impulses, poses and velocities set by hand."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.linear import length, product, turned
from mcsim.core.rotation import conjugate, matrices, multiply, normalized, rotation_vector
from mcsim.scene.checks import FieldError, Vector, items, not_negative, number, reals, unit_quaternion, vector
from mcsim.state.fields import AWAKE
from mcsim.world.base import WorldBase
from mcsim.world.handles import AnyBody, BodyHandle
from mcsim.world.water import water_wrenches
from mcsim.world.wind import wind_wrenches


def _moment(arms: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """(..., 3) arm x force; not finite where that is more than a number can hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.cross(arms, forces)


class Actions(WorldBase):
    """The part of World that acts."""

    def _dynamic(self, body: AnyBody, doing: str) -> int:
        i = self._find(body, BodyHandle)
        if self._bodies.inv_mass[i] == 0.0:
            raise SceneError(
                f"World.{doing}: body {self.body_names[i]!r} is {self.body(i).kind}; only dynamic bodies feel forces"
            )
        return i

    def _vector(self, value: Vector, name: str, doing: str, length: int = 3) -> np.ndarray:
        try:
            return np.array(vector(value, name, length) if length != 4 else unit_quaternion(value, name))
        except FieldError as error:
            raise SceneError(f"World.{doing}: {error}") from None

    def apply_force(self, body: AnyBody, force: Vector, point: Vector | None = None) -> None:
        """Add a force [N], world axes, at `point` [m] (world; the centre of mass if None), through the next step()
        call."""
        with self._turn.telling("apply_force"):
            i = self._dynamic(body, "apply_force")
            force = self._vector(force, "force", "apply_force")
            torque = np.zeros(3)
            if point is not None:
                torque = _moment(self._vector(point, "point", "apply_force") - self._bodies.position[i], force)
            self._add(self._bodies.force, [i], np.array([(*force, *torque)]), "apply_force")

    def apply_torque(self, body: AnyBody, torque: Vector) -> None:
        """Add a torque [N m], world axes, through the next step() call."""
        with self._turn.telling("apply_torque"):
            i = self._dynamic(body, "apply_torque")
            torque = self._vector(torque, "torque", "apply_torque")
            self._add(self._bodies.force[:, 3:], [i], torque[None], "apply_torque")

    def apply_impulse(self, body: AnyBody, impulse: Vector, point: Vector | None = None) -> None:
        """Change the velocity at once by an impulse [N s], world axes, at `point` [m] (the centre of mass if None)."""
        with self._turn.telling("apply_impulse"):
            i = self._dynamic(body, "apply_impulse")
            impulse = self._vector(impulse, "impulse", "apply_impulse")
            spin = np.zeros(3)
            if point is not None:
                arm = self._vector(point, "point", "apply_impulse") - self._bodies.position[i]
                rotation = matrices(self._bodies.orientation[i : i + 1])[0]
                with np.errstate(over="ignore", invalid="ignore"):
                    turning = product(rotation.T, _moment(arm, impulse))
                    spin = product(rotation, self._bodies.inv_inertia[i], turning)
            self._add(self._bodies.twist, [i], np.array([(*(self._bodies.inv_mass[i] * impulse), *spin)]), "apply_impulse")

    def _add(self, array: np.ndarray, chosen: Sequence[int] | np.ndarray, more: np.ndarray, doing: str) -> None:
        """Add to rows of forces or twists, if the sums, and what was made of finite arguments, are finite themselves."""
        for i in chosen:
            self._bodies.watch.tell(i)
        with np.errstate(over="ignore", invalid="ignore"):
            before = array[chosen]
            np.add.at(array, chosen, more)
        wrong = ~np.isfinite(array[chosen]).all(axis=1) & np.isfinite(before).all(axis=1)
        if wrong.any():
            array[chosen] = before
            self._refuse_sums(np.asarray(chosen)[np.argmax(wrong)], doing)

    def _refuse_sums(self, body: int, doing: str) -> NoReturn:
        raise SceneError(f"World.{doing}: body {self.body_names[body]!r} would have more than a number can hold")

    def wake(self, body: AnyBody | None = None) -> None:
        """Wake a body and all that fell asleep with it; None: everything."""
        with self._turn.alone("wake"):
            self._wake(body)

    def _wake(self, body: AnyBody | None = None) -> None:
        island = self._bodies.island
        chosen = island != AWAKE
        if body is not None:
            chosen &= island == island[self._find(body, BodyHandle)]
        island[chosen] = AWAKE
        self._bodies.still_time[chosen] = 0.0
        self._bodies.still_speed[chosen] = 0.0
        self._pipeline.follow()

    def _many(
        self,
        values: ArrayLike,
        bodies: Sequence[AnyBody] | np.ndarray | None,
        points: ArrayLike | None,
        what: str,
        doing: str,
    ) -> tuple[np.ndarray, np.ndarray]:
        """-> body numbers (k,), forces or impulses (k, 6) about the centres of mass, all checked."""
        count = self._bodies.count
        if bodies is None:
            chosen = np.arange(count)
        else:
            try:
                bodies = items(bodies, "a list of bodies", "bodies")
            except FieldError as error:
                raise SceneError(f"World.{doing}: {error}") from None
            chosen = np.array([self._find(body, BodyHandle) for body in bodies], int)
        values = self._finite(values, what, doing)
        if values.shape not in ((len(chosen), 3), (len(chosen), 6)):
            raise SceneError(
                f"World.{doing}: {what} must be ({len(chosen)}, 3), or with torques ({len(chosen)}, 6), got {values.shape}"
            )
        wrenches = np.zeros((len(chosen), 6))
        wrenches[:, : values.shape[1]] = values
        if points is not None:
            points = self._finite(points, "points", doing)
            if points.shape != (len(chosen), 3):
                raise SceneError(f"World.{doing}: points must be ({len(chosen)}, 3), got {points.shape}")
            wrenches[:, 3:] += _moment(points - self._bodies.position[chosen], wrenches[:, :3])
        whole = np.isfinite(wrenches).all(axis=1)
        if not whole.all():
            self._refuse_sums(chosen[np.argmin(whole)], doing)
        felt = self._bodies.inv_mass[chosen] > 0.0
        if bodies is not None and not felt.all():
            i = chosen[np.argmin(felt)]
            raise SceneError(
                f"World.{doing}: body {self.body_names[i]!r} is {self.body(i).kind}; only dynamic bodies feel forces"
            )
        return chosen[felt], wrenches[felt]

    def _finite(self, values: ArrayLike, what: str, doing: str) -> np.ndarray:
        try:
            values = reals(values, what)
        except FieldError as error:
            raise SceneError(f"World.{doing}: {error}") from None
        if not np.isfinite(values).all():
            raise SceneError(f"World.{doing}: {what} must be finite")
        return values

    def apply_forces(
        self, forces: ArrayLike, bodies: Sequence[AnyBody] | np.ndarray | None = None, points: ArrayLike | None = None
    ) -> None:
        """Add forces [N] through the next step() call, world axes: (k, 3), or (k, 6) with torques [N m].

        bodies: the k bodies, by name, number or handle, one may stand several times; None: all, of which those that are
        not dynamic feel nothing. points (k, 3) [m]: where the forces act, world; None: at the centres of mass.
        """
        with self._turn.telling("apply_forces"):
            chosen, wrenches = self._many(forces, bodies, points, "forces", "apply_forces")
            self._add(self._bodies.force, chosen, wrenches, "apply_forces")

    def apply_impulses(
        self, impulses: ArrayLike, bodies: Sequence[AnyBody] | np.ndarray | None = None, points: ArrayLike | None = None
    ) -> None:
        """Change velocities at once by impulses [N s], (k, 3), or (k, 6) with angular ones [N m s]; else as
        apply_forces."""
        with self._turn.telling("apply_impulses"):
            chosen, wrenches = self._many(impulses, bodies, points, "impulses", "apply_impulses")
            rotations = matrices(self._bodies.orientation[chosen])
            body_axes = turned(rotations.swapaxes(1, 2), wrenches[:, 3:])
            wrenches[:, :3] *= self._bodies.inv_mass[chosen, None]
            wrenches[:, 3:] = turned(rotations, turned(self._bodies.inv_inertia[chosen], body_axes))
            self._add(self._bodies.twist, chosen, wrenches, "apply_impulses")

    def apply_wind(
        self,
        velocity: Vector,
        bodies: Sequence[AnyBody] | None = None,
        *,
        drag: float = 1.0,
        lift: float = 0.0,
        density: float = 1.2,
    ) -> None:
        """Add what wind does to shapes as forces through the next step() call: at each face that the air meets at the
        relative velocity u half the density of the air times the face's area across u times drag |u| u, and lift likewise
        across u (docs/howto/forces.md). Call it before each step, since it goes by what is now.

        velocity (3,): of the air [m/s], world axes; zeros: still air. bodies: by name, number or handle; None: all, of
        which those that are not dynamic feel nothing. drag, lift: coefficients of the shapes' faces, at least 0. density:
        of the air [kg/m³]. Each shape of a compound counts, as if the others were not there; sensors do not.

        It is taken explicitly: dt must be short against the time in which the wind brings a body to its own speed, mass /
        (1/2 density drag area |u|), or it is blown to and fro.

            for _ in range(600):
                world.apply_wind((8, 0, 0), ["flag", "leaf"], drag=1.2, lift=0.5)
                world.step()
        """
        with self._turn.telling("apply_wind"):
            wind = self._vector(velocity, "velocity", "apply_wind")
            try:
                numbers = {
                    name: not_negative(value, name)
                    for name, value in (("drag", drag), ("lift", lift), ("density", density))
                }
            except FieldError as error:
                raise SceneError(f"World.apply_wind: {error}") from None
            self._feel(wind_wrenches, bodies, "apply_wind", wind, **numbers)

    def apply_buoyancy(
        self,
        level: float = 0.0,
        bodies: Sequence[AnyBody] | None = None,
        *,
        density: float = 1000.0,
        drag: float = 0.0,
        current: Vector = (0.0, 0.0, 0.0),
    ) -> None:
        """Add what water with a level surface does to shapes as forces through the next step() call: by Archimedes it bears
        the weight of what they displace, at the centre of the volume under water; and drags at the faces there, as wind
        does (docs/howto/forces.md). Call it before each step, since it goes by what is now.

        level [m]: of the surface, against gravity from the origin: z where gravity goes down along z. Without gravity
        nothing is borne. bodies: by name, number or handle; None: all, of which those that are not dynamic feel nothing.
        density: of the water [kg/m³]. drag: coefficient of the shapes' faces, at least 0. current (3,): velocity of the
        water [m/s], world axes. Each shape of a compound counts, as if the others were not there; sensors do not. Volumes
        are the shapes' own; where a round shape is cut by the surface, those of 32 facets around it are taken, but for
        balls.

            for _ in range(600):
                world.apply_buoyancy(level=0.5, drag=0.5)
                world.step()
        """
        with self._turn.telling("apply_buoyancy"):
            flow = self._vector(current, "current", "apply_buoyancy")
            try:
                level, density = number(level, "level"), not_negative(density, "density")
                drag = not_negative(drag, "drag")
            except FieldError as error:
                raise SceneError(f"World.apply_buoyancy: {error}") from None
            gravity = np.array(self._scene.gravity)
            self._feel(water_wrenches, bodies, "apply_buoyancy", gravity, level, flow, density, drag)

    def _felt_by(self, bodies: Sequence[AnyBody] | None, call: str) -> list[int]:
        """The numbers of the dynamic bodies that are named, or of all."""
        if bodies is None:
            return np.flatnonzero(self._bodies.inv_mass > 0.0).tolist()
        try:
            bodies = items(bodies, "a list of bodies", "bodies")
        except FieldError as error:
            raise SceneError(f"World.{call}: {error}") from None
        return [self._dynamic(body, call) for body in bodies]

    def _feel(
        self,
        find: Callable[..., tuple[np.ndarray, np.ndarray]],
        bodies: Sequence[AnyBody] | None,
        call: str,
        *given: Any,
        **more: float,
    ) -> None:
        """What `find`, called as wind_wrenches, finds of bodies, to the forces on them; none if one is too large."""
        chosen, now = self._felt_by(bodies, call), self._bodies
        with np.errstate(over="ignore", invalid="ignore"):
            described = ((i, self._scene.bodies[i]) for i in chosen)
            felt, wrenches = find(described, (now.position, now.orientation, now.twist), *given, **more)
        whole = np.isfinite(wrenches).all(axis=1)
        if not whole.all():
            self._refuse_sums(int(felt[np.argmin(whole)]), call)
        self._add(self._bodies.force, felt, wrenches, call)

    def set_pose(self, body: AnyBody, position: Vector | None = None, orientation: Vector | None = None) -> None:
        """Place a body: `position` (3,) of its centre of mass [m], `orientation` (4,), world; None keeps what is."""
        with self._turn.telling("set_pose"):
            self._set_pose(body, position, orientation)

    def _set_pose(self, body: AnyBody, position: Vector | None, orientation: Vector | None) -> None:
        i = self._find(body, BodyHandle)
        self._bodies.watch.tell(i)
        if position is not None:
            position = self._vector(position, "position", "set_pose")
        if orientation is not None:
            q = self._vector(orientation, "orientation", "set_pose", 4)
            self._bodies.orientation[i] = q / length(q)
        if position is not None:
            self._bodies.position[i] = position

    def move_to(self, body: AnyBody, position: Vector | None = None, orientation: Vector | None = None) -> None:
        """Give a kinematic body the velocities that bring it to a pose by the end of the next step: `position` (3,) of
        its centre of mass [m], `orientation` (4,), world; None keeps what is. It keeps them: call this before every
        step.

        So it carries and pushes what it meets. `set_pose` puts it there at once, without velocity: what stood on it is
        left behind.
        """
        with self._turn.telling("move_to"):
            i = self._find(body, BodyHandle)
            if self.body(i).kind != "kinematic":
                raise SceneError(
                    f"World.move_to: body {self.body_names[i]!r} is {self.body(i).kind}; only kinematic "
                    "bodies are moved so; set_pose places any body"
                )
            twist = np.zeros(6)
            if position is not None:
                twist[:3] = (self._vector(position, "position", "move_to") - self._bodies.position[i]) / self.dt
            if orientation is not None:
                q = normalized(self._vector(orientation, "orientation", "move_to", 4))
                twist[3:] = rotation_vector(multiply(q, conjugate(self._bodies.orientation[i]))) / self.dt
            self._bodies.watch.tell(i)
            self._bodies.twist[i] = twist

    def _write_setting(self, body: int, field: str, value: Any) -> None:
        """Change what a step reads of a body, by its number: a field of the state that is a setting."""
        getattr(self._bodies, field)[body] = value

    def set_velocity(self, body: AnyBody, velocity: Vector | None = None, angular_velocity: Vector | None = None) -> None:
        """Set a body's velocity [m/s] (centre of mass) and angular velocity [rad/s], world axes; None keeps what is."""
        with self._turn.telling("set_velocity"):
            self._set_velocity(body, velocity, angular_velocity)

    def _set_velocity(self, body: AnyBody, velocity: Vector | None, angular_velocity: Vector | None) -> None:
        i = self._find(body, BodyHandle)
        if self.body(i).kind == "static":
            raise SceneError(f"World.set_velocity: body {self.body_names[i]!r} is static; make it kinematic to move it")
        self._bodies.watch.tell(i)
        if velocity is not None:
            velocity = self._vector(velocity, "velocity", "set_velocity")
        if angular_velocity is not None:
            self._bodies.twist[i, 3:] = self._vector(angular_velocity, "angular_velocity", "set_velocity")
        if velocity is not None:
            self._bodies.twist[i, :3] = velocity
