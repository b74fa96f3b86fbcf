"""The derivatives of a whole motion: those of its steps, multiplied by the chain rule, forwards or backwards."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.derive.admission import admit
from mcsim.derive.result import StepDerivatives, place_of
from mcsim.derive.step import differentiated
from mcsim.scene.checks import FieldError, count, show
from mcsim.world import World

MOST_STEPS = 1 << 20
PARAMETERS = ("start", "force", "effort", "mass", "mass_alone", "friction")


class Gradient(NamedTuple):
    """Of a number that depends on the states of a motion of k steps of n bodies.

    start (12 n,): by the state it begins with. force (k, 6 n), effort (k, nv): by what acts in each step. mass, mass_alone,
    friction (n,): as of StepDerivatives, the same in all steps.
    """

    start: np.ndarray
    force: np.ndarray
    effort: np.ndarray
    mass: np.ndarray
    mass_alone: np.ndarray
    friction: np.ndarray


@dataclass(frozen=True, eq=False)
class TrajectoryDerivatives:
    """A motion of k steps, and the derivatives of each. `mcsim.trajectory_derivatives` makes them.

    steps: k StepDerivatives. time (k + 1,) [s]; positions (k + 1, n, 3) [m], orientations (k + 1, n, 4), twists (k + 1,
    n, 6) [m/s, rad/s]: the states, from the one that it begins with. body_names: in their order. notes: number of a step
    -> its notes, of those that have any.
    """

    steps: tuple[StepDerivatives, ...]
    time: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    twists: np.ndarray
    body_names: tuple[str, ...]

    @property
    def notes(self) -> dict[int, tuple[str, ...]]:
        """number of a step -> its notes, of those that have any."""
        return {k: step.notes for k, step in enumerate(self.steps) if step.notes}

    def index(self, body: str | int, what: str) -> slice:
        """Where a body's "position", "rotation", "velocity" or "angular_velocity" is among the 12 n numbers of a state."""
        return place_of(self.body_names, body, what)

    def jacobian(self, by: str) -> np.ndarray:
        """(k + 1, 12 n, columns) the derivative of every state by "start", the state that the motion begins with, or by
        what is the same in all steps: "force", "effort", "mass", "mass_alone" or "friction". Forwards: for few columns."""
        if by not in PARAMETERS:
            raise SceneError(f"TrajectoryDerivatives.jacobian: by must be one of {', '.join(PARAMETERS)}, got {show(by)}")
        rows = 12 * len(self.body_names)
        now = np.eye(rows) if by == "start" else np.zeros((rows, getattr(self.steps[0], f"by_{by}").shape[1]))
        found = [now]
        for step in self.steps:
            now = step.by_state @ now
            if by != "start":
                now = now + getattr(step, f"by_{by}")
            found.append(now)
        return np.array(found)

    def gradient(self, slopes: ArrayLike) -> Gradient:
        """The Gradient of a number by all that the motion depends on, from its derivatives by the states, slopes
        (k + 1, 12 n). Backwards: at the cost of one motion, however many parameters there are."""
        k, rows = len(self.steps), 12 * len(self.body_names)
        given = np.asarray(slopes, float)
        if given.shape != (k + 1, rows):
            raise SceneError(f"TrajectoryDerivatives.gradient: slopes must be ({k + 1}, {rows}), got {given.shape}")
        slope, force, effort = given[k].copy(), [], []
        sums = dict.fromkeys(("mass", "mass_alone", "friction"), np.zeros(len(self.body_names)))
        for step, own in zip(self.steps[::-1], given[:k][::-1]):
            force.append(step.by_force.T @ slope)
            effort.append(step.by_effort.T @ slope)
            sums = {name: total + getattr(step, f"by_{name}").T @ slope for name, total in sums.items()}
            slope = own + step.by_state.T @ slope
        return Gradient(slope, np.array(force[::-1]), np.array(effort[::-1]), **sums)

    def __repr__(self) -> str:
        steps, bodies = len(self.steps), len(self.body_names)
        return f"<TrajectoryDerivatives of {steps} steps of {bodies} bodies, {len(self.notes)} with notes>"


def trajectory_derivatives(world: World, steps: int, *, forces: ArrayLike | None = None) -> TrajectoryDerivatives:
    """The derivatives of a motion of so many steps from the present state of a world, which stays as it is.
    -> TrajectoryDerivatives

        run = mc.trajectory_derivatives(world, 60)
        run.jacobian("friction")[-1]             # of the last state, by a factor on each body's friction
        run.gradient(slopes).force               # of a number with these slopes by the states, by forces in every step

    world: as of step_derivatives, which is asked for every step. forces (steps, n, 6): forces and torques on the bodies in
        each step [N, N m], world axes; None: world.forces in all of them, as in world.step(steps).

    The motion is the world's own; each step's derivative is where its rows are solved. What a step takes over from the
    last one beside poses and velocities is held: the features of contacts, and impulses that no body feels."""
    admit(world)
    try:
        k = count(steps, "steps", 1, MOST_STEPS)
    except FieldError as error:
        raise error.within("trajectory_derivatives") from None
    n, now = len(world.body_names), deepcopy(world)
    pushes = np.tile(world.forces, (k, 1, 1)) if forces is None else _pushes(forces, k, n)
    found, states = [], [_state_of(now)]
    for i in range(k):
        now.forces[...] = pushes[i]
        derivatives, now = differentiated(now)
        found.append(derivatives)
        states.append(_state_of(now))
    time, positions, orientations, twists = (np.array(part) for part in zip(*states))
    return TrajectoryDerivatives(tuple(found), time, positions, orientations, twists, world.body_names)


def _pushes(forces: ArrayLike, steps: int, bodies: int) -> np.ndarray:
    try:
        given = np.asarray(forces, float)
    except (TypeError, ValueError):
        raise SceneError(f"trajectory_derivatives: forces must be an array of numbers, got {show(forces)}") from None
    if given.shape != (steps, bodies, 6) or not np.isfinite(given).all():
        raise SceneError(f"trajectory_derivatives: forces must be finite and ({steps}, {bodies}, 6), got {given.shape}")
    return given


def _state_of(world: World) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    return world.time, world.positions.copy(), world.orientations.copy(), world._bodies.twist.copy()
