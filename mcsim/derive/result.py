"""What step_derivatives finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene.checks import show, suggestion

# Where the parts of a body's state are: from which of the two halves of it, and of the six numbers there.
PARTS = {"position": (0, 0), "rotation": (0, 3), "velocity": (1, 0), "angular_velocity": (1, 3)}

ROW_STATE_DTYPE = np.dtype(
    [
        ("substep", "i4"),
        ("kind", "U14"),
        ("source", "i4"),
        ("index", "i4"),
        ("bodies", "i4", 2),
        ("state", "U8"),
        ("impulse", "f8"),
    ]
)


def place_of(names: tuple[str, ...], body: str | int, what: str) -> slice:
    """Where a part of a body is among the 12 n numbers of a state."""
    if what not in PARTS:
        raise SceneError(f"index: what must be one of {', '.join(PARTS)}, got {show(what)}")
    if isinstance(body, str):
        if body not in names:
            raise SceneError(f"index: there is no body {body!r}{suggestion(body, names)}")
        number = names.index(body)
    elif isinstance(body, (int, np.integer)) and not isinstance(body, bool) and 0 <= body < len(names):
        number = int(body)
    else:
        raise SceneError(f"index: body must be a name, or a number from 0 to {len(names) - 1}, got {show(body)}")
    half, begin = PARTS[what]
    first = 6 * (half * len(names) + number) + begin
    return slice(first, first + 3)


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """The derivatives of the state after a step of n bodies. `mcsim.step_derivatives` makes them.

    The state is 12 n numbers, [poses; velocities]: of each body 6 of its pose, in world axes the displacement of the centre
    of mass [m] and a small turn of the body as a rotation vector [rad], then of each body its twist [v; w] [m/s, rad/s]: in
    the order of world.positions, and of world.velocities beside world.angular_velocities.

    by_pose, by_velocity (12 n, 6 n): by poses and by twists before the step. by_force (12 n, 6 n): by forces and torques,
    as in world.forces, which act through the step [N, N m]. by_effort (12 n, nv): by world.tau [N, N m].
    by_mass (12 n, n): by the mass of each body, its inertia in proportion, as if it were of a denser stuff [1/kg].
    by_mass_alone (12 n, n): by the mass, the inertia held [1/kg].
    by_friction (12 n, n): by a factor, at 1, on the friction coefficients of all shapes of a body: of a body with one
        coefficient it is that times the derivative by the coefficient. Contacts have the geometric mean of both bodies';
        of two whose friction is told together (World.set_pair) it is 0.
    Bodies that are not dynamic are held: their rows and columns are 0, but for by_friction. The user's forces and tau keep
    their values.

    positions (n, 3), orientations (n, 4), twists (n, 6): the state after the step, of its rows solved to rounding, which is
        where the derivatives are. defect: by how much of its speeds the world's own step differs from that.
    rows: a structured array (substep, kind, source, index, bodies, state, impulse), the active set that is held: what each
        row of each substep does. "closed": joints, springs, drives within their bounds, contacts and limits that press.
        "open": those that do not. "bound": drives and friction of joints that give what they can. "stick", "slide":
        friction. "pivot", "no spin": of several points of a contact one sticks, or all slide without spin. "idle": without
        load.
    notes: sentences, of what is not smooth just here, or was not solved. body_names: in the order of bodies.
    """

    by_pose: np.ndarray
    by_velocity: np.ndarray
    by_force: np.ndarray
    by_effort: np.ndarray
    by_mass: np.ndarray
    by_mass_alone: np.ndarray
    by_friction: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    twists: np.ndarray
    defect: float
    rows: np.ndarray
    notes: tuple[str, ...]
    body_names: tuple[str, ...]

    @property
    def by_state(self) -> np.ndarray:
        """(12 n, 12 n): by_pose and by_velocity side by side."""
        return np.concatenate([self.by_pose, self.by_velocity], axis=1)

    def index(self, body: str | int, what: str) -> slice:
        """Where a body's "position", "rotation", "velocity" or "angular_velocity" is among the 12 n numbers of a state."""
        return place_of(self.body_names, body, what)

    def __repr__(self) -> str:
        count = len(self.positions)
        return f"<StepDerivatives of {count} bodies, {len(self.rows)} rows in all substeps, {len(self.notes)} notes>"
