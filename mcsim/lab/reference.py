"""The reference trajectory: a run that tightens until it agrees with itself.

Each level is finer than the one before: SciPy's DOP853 (E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary
Differential Equations I, 1993) over the forward dynamics at a tighter tolerance, or a world at half the step. The
distance between the last two levels is the reference's doubt about itself: what a method's distance tells below it is
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.rotation import multiply
from mcsim.lab.methods import Method, parse
from mcsim.lab.nature import BOUNDED, TREE, has_springs, smoothness
from mcsim.lab.record import Bodies, distances
from mcsim.reduced import System
from mcsim.reduced.continuous import Flow
from mcsim.reduced.dynamics import Dynamics
from mcsim.scene import Scene

TOLERANCE = 1e-9  # of the agreement [m, rad]: tighter ones are not looked for
TOLERANCES = (1e-7, 1e-9, 1e-11, 1e-13)
FEWEST_STEPS = 10  # of SciPy's first level
BUDGET = 10_000_000  # steps times (bodies + OVERHEAD) of all levels together
OVERHEAD = 10
SAME_TIME = 1e-6  # of a step: nearer times are one
MOST_BYTES = 4 * 2**30
BYTES_A_BODY = 8 * (3 + 4 + 3 + 3)

Show = Callable[[float], None]


class Trajectory(NamedTuple):
    """States of all bodies: positions (t, n, 3), orientations (t, n, 4), velocities, angular_velocities (t, n, 3), and
    the energy of springs (t,) [J]."""

    positions: np.ndarray
    orientations: np.ndarray
    velocities: np.ndarray
    angular_velocities: np.ndarray
    springs: np.ndarray


@dataclass(eq=False)
class Reference:
    """What the methods are measured against.

    label: what it is. time (t,) [s]: where it is known; positions (t, k, 3), orientations (t, k, 4) of the bodies that
    move by forces; energy, kinetic [J], linear_momentum, angular_momentum (t, 3). position_doubt [m], angle_doubt [rad]
    (t,): how far its last two levels are apart, root mean square over the bodies.
    """

    label: str
    time: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    energy: np.ndarray
    kinetic: np.ndarray
    linear_momentum: np.ndarray
    angular_momentum: np.ndarray
    position_doubt: np.ndarray
    angle_doubt: np.ndarray

    def at(self, time: np.ndarray) -> np.ndarray:
        """Numbers of the times nearest to these."""
        right = np.clip(np.searchsorted(self.time, time), 1, len(self.time) - 1)
        return np.where(time - self.time[right - 1] < self.time[right] - time, right - 1, right)

    def states(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> positions, orientations of the moving bodies at some of its times."""
        rows = self.at(time)
        return self.positions[rows], self.orientations[rows]

    def __repr__(self) -> str:
        return (
            f"<Reference {self.label}: agrees with itself to {self.position_doubt.max():.2g} m, "
            f"{self.angle_doubt.max():.2g} rad>"
        )


def sample_times(dts: list[float], seconds: float) -> np.ndarray:
    """The times at which any of the runs is recorded."""
    times = np.unique(np.concatenate([np.arange(steps_of(dt, seconds) + 1) * dt for dt in dts]))
    return times[np.concatenate([[True], np.diff(times) > SAME_TIME * min(dts)])]


def steps_of(dt: float, seconds: float) -> int:
    """How many steps a run has."""
    return max(1, round(seconds / dt))


def find_reference(
    scene: Scene,
    dts: list[float],
    seconds: float,
    wanted: str | Method = "auto",
    *,
    tolerance: float = TOLERANCE,
    budget: int = BUDGET,
    show: Show = lambda part: None,
) -> Reference:
    """The reference of a study: of its own choice for "auto", else by a method.

    SimulationError if no two levels of it came to the end."""
    times = sample_times(dts, seconds)
    if len(times) * len(scene.bodies) * BYTES_A_BODY * 3 > MOST_BYTES:
        raise SceneError(
            f"a reference of {len(times)} states of {len(scene.bodies)} bodies takes too much memory; "
            "take fewer seconds or longer steps, or reference=None"
        )
    if wanted == "auto":
        candidates = _choices(scene)
    else:
        candidates = [wanted if isinstance(wanted, Method) else parse(wanted)]
    problem: Exception | None = None
    for method in candidates:
        try:
            if method is None:
                label, levels = _by_scipy(scene, times, budget, show)
            else:
                label, levels = _by_steps(scene, method, times, min(dts), budget, show)
            return _tightened(scene, label, times, levels, tolerance)
        except SimulationError as error:
            problem = error
        except SceneError as error:  # not all worlds take all scenes
            if wanted != "auto" or method is candidates[-1]:
                raise
            problem = error
    raise SimulationError(f"there is no reference: {problem}")


def _choices(scene: Scene) -> list[Method | None]:
    """What to try, the best first; None is SciPy."""
    kind = smoothness(scene)
    steps = (
        ["reduced:aba", "maximal:tree+soft"]
        if kind == BOUNDED
        else ["maximal:tree+projection@rk4", "maximal:tree+soft@rattle", "reduced:aba"]
    )
    return ([None] if kind == TREE else []) + [parse(name) for name in steps]


def _tightened(
    scene: Scene, label: str, times: np.ndarray, levels: Iterator[tuple[str, Trajectory]], tolerance: float
) -> Reference:
    """The last level, and how far it is from the one before."""
    bodies = Bodies(scene)
    before: Any = None  # positions and orientations of the level before
    doubt: Any = None  # how far from it they are
    for detail, now in levels:
        poses = now.positions[:, bodies.moving], now.orientations[:, bodies.moving]
        if before is not None:
            doubt = distances(*poses, *before)
        before, last, said = poses, now, detail
        if doubt is not None and max(doubt[0].max(), doubt[1].max()) < tolerance:
            break
    if doubt is None:
        raise SimulationError(f"no two levels of {label} came to the end")
    v, w = last.velocities[:, bodies.moving], last.angular_velocities[:, bodies.moving]
    spins = bodies.spins(before[1], w)
    kinetic = bodies.kinetic(v, w, spins)
    (positions, orientations), (linear, angular) = before, bodies.momentum(before[0], v, spins)
    return Reference(
        f"{label}, {said}",
        times,
        positions,
        orientations,
        kinetic + bodies.potential(positions) + last.springs,
        kinetic,
        linear,
        angular,
        *doubt,
    )


# ---- SciPy's ---------------------------------------------------------------------------------------------------------


class _TooLong(Exception):
    """The budget is spent."""


def _by_scipy(scene: Scene, times: np.ndarray, budget: int, show: Show) -> Any:
    """-> label, levels; SceneError where the scene is no tree."""
    from scipy.integrate import solve_ivp

    system = System(scene)
    if system.loops or system.couplings:
        raise SceneError("joints close loops")
    flow = Flow(Dynamics(system))
    bodies = scene.bodies
    start = np.concatenate(_start(system))
    left = budget // (len(bodies) + OVERHEAD)

    def levels() -> Any:
        nonlocal left
        for k, tolerance in enumerate(TOLERANCES):

            def rate(t: Any, y: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise _TooLong
                show(_part(k, t / times[-1]))
                return flow(t, y)

            try:
                # At most so long a step: where one would reach to the end, two levels would agree by being the same.
                longest = times[-1] / (FEWEST_STEPS * 2**k)
                found = solve_ivp(
                    rate, (0.0, times[-1]), start, "DOP853", t_eval=times, rtol=tolerance, atol=tolerance, max_step=longest
                )
            except _TooLong:
                return
            if not found.success:
                raise SimulationError(f"solve_ivp: {found.message}")
            q, qd = flow.normalized(found.y[: flow.nq].T), found.y[flow.nq :].T
            yield (
                f"tolerance {tolerance:.0e}",
                Trajectory(*flow.dynamics.state(q, np.ascontiguousarray(qd)), np.zeros(len(times))),
            )

    return "reduced, SciPy's DOP853", levels()


def _start(system: System) -> tuple[np.ndarray, np.ndarray]:
    """q, qd of the scene."""
    from mcsim.world import ReducedWorld

    world = ReducedWorld(system.scene)
    return world.q.copy(), world.qd.copy()


def _part(level: int, inside: float) -> float:
    """How much of the way is made: each level halves what is left."""
    return 1.0 - 0.5**level * (1.0 - 0.5 * inside)


# ---- by steps --------------------------------------------------------------------------------------------------------


def _by_steps(scene: Scene, method: Method, times: np.ndarray, dt: float, budget: int, show: Show) -> Any:
    """-> label, levels: at half the study's smallest step, at a quarter, and so on; at least two."""
    method.world(scene, dt)  # complains now if it cannot

    def levels() -> Any:
        spent, k = 0, 0
        while True:
            fine = dt / 2 ** (k + 1)
            spent += round(times[-1] / fine) * (len(scene.bodies) + OVERHEAD)
            if k >= 2 and spent > budget:
                return
            try:
                found = _stepped(scene, method, times, fine, lambda part: show(_part(k, part)))
            except SimulationError:
                if spent > budget:
                    raise
            else:
                yield f"step {fine:.3g} s", found
            k += 1

    return method.name, levels()


def _stepped(scene: Scene, method: Method, times: np.ndarray, dt: float, show: Show) -> Trajectory:
    """The states at `times`. Between two steps, poses by the cubics with the velocities at both ends, the rest
    linearly."""
    place = times / dt
    before = np.floor(place + SAME_TIME).astype(np.int64)
    inside = place - before
    inside[np.abs(inside) < SAME_TIME] = 0.0
    nodes = np.unique(np.concatenate([before, before[inside > 0.0] + 1]))
    springs = has_springs(scene)
    gravity = Bodies(scene)
    n = len(scene.bodies)
    kept = [np.empty((len(nodes), n, size)) for size in (3, 4, 3, 3)]
    stored = np.zeros(len(nodes))
    world = method.world(scene, dt)
    done = 0
    for i, node in enumerate(nodes):
        world.step(int(node - done))
        done = node
        for array, now in zip(kept, (world.positions, world.orientations, world.velocities, world.angular_velocities)):
            array[i] = now
        if springs:
            stored[i] = world.energy().potential - gravity.potential(kept[0][i : i + 1, gravity.moving])[0]
        show(node / max(1, nodes[-1]))
    rows = np.searchsorted(nodes, before)
    if not inside.any():
        r, q, v, w = (array[rows] for array in kept)
        return Trajectory(r, q, v, w, stored[rows])
    following = np.minimum(rows + 1, len(nodes) - 1)
    return _between(kept, stored, rows, following, inside[:, None, None], dt)


def _between(
    kept: list[np.ndarray], stored: np.ndarray, a: np.ndarray, b: np.ndarray, s: np.ndarray, dt: float
) -> Trajectory:
    """The states at the parts s of the steps from rows a to rows b."""
    x, q, v, w = kept

    def cubic(start: Any, end: Any, slope_start: Any, slope_end: Any) -> Any:
        """Hermite's."""
        return (
            (1 + 2 * s) * (1 - s) ** 2 * start
            + s * (1 - s) ** 2 * dt * slope_start
            + s * s * (3 - 2 * s) * end
            + s * s * (s - 1) * dt * slope_end
        )

    def line(values: Any) -> Any:
        return values[a] + s * (values[b] - values[a])

    rate = 0.5 * np.moveaxis(
        multiply(np.moveaxis(np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1), -1, 0), np.moveaxis(q, -1, 0)), 0, -1
    )
    sign = np.where(np.sum(q[a] * q[b], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    turned = cubic(q[a], sign * q[b], rate[a], sign * rate[b])
    turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
    part = s[:, 0, 0]
    return Trajectory(cubic(x[a], x[b], v[a], v[b]), turned, line(v), line(w), stored[a] + part * (stored[b] - stored[a]))
