"""The reference trajectory: a run that tightens until it agrees with itself.

Each level is finer than the one before: a world at half the step, and with integrator="reference" at a tighter
tolerance too. What touches is simulated from event to event (contact="event"), where the budget bears that: such a run
needs no small steps, and none of its errors is a matter of where in a step something strikes. The distance between the
last two levels is the reference's own uncertainty: what a method's distance tells below it is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.rotation import products
from mcsim.lab.methods import Method, parse
from mcsim.lab.nature import BOUNDED, SMOOTH, has_springs, smoothness
from mcsim.lab.record import Bodies, distances
from mcsim.scene import Scene
from mcsim.world import EventContact

TOLERANCE = 1e-9  # of the agreement [m, rad]: tighter ones are not looked for
TOLERANCES = (1e-9, 1e-11, 1e-13)  # of the levels of "reference", "radau" and "bdf", and of all further ones the last
BUDGET = 10_000_000  # steps times (bodies + OVERHEAD) of all levels together
OVERHEAD = 10
# The same of a step from event to event, about as the microseconds that it takes: and so many times the cube of the bodies.
EVENT_OVERHEAD = 8_000
EVENT_CUBE = 200
# Levels in a row that are to agree: two steps may lie alike about a blow by chance, three hardly.
AGREEMENTS = {SMOOTH: 1, BOUNDED: 2}
# How many steps a state between two of them follows: where velocities may jump, no others than these two.
NEIGHBORS = {SMOOTH: 4, BOUNDED: 2}
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
    kept = 3 if len(dts) == 1 else 6  # two levels, and what the second is made of
    if len(times) * len(scene.bodies) * BYTES_A_BODY * kept > MOST_BYTES:
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
        # Two levels at least from event to event, at the study's steps and at half of them.
        steps = 3 * sum(times[-1] / step for step in _apart(dts))
        if wanted == "auto" and _is_eventful(method) and steps * _cost(scene, method) > budget:
            continue
        try:
            levels = _by_steps(scene, method, times, dts, budget, show)
            needed = 1 if _is_eventful(method) else AGREEMENTS[smoothness(scene)]
            return _tightened(scene, method.name, times, levels, tolerance, needed)
        except SimulationError as error:
            problem = error
        except SceneError as error:  # not all worlds take all scenes
            if wanted != "auto" or method is candidates[-1]:
                raise
            problem = error
    raise SimulationError(f"there is no reference: {problem}")


def _is_eventful(method: Method) -> bool:
    """contact: the name, or an object such as mc.EventContact."""
    contact = method.keywords.get("contact")
    return contact == "event" or isinstance(contact, EventContact)


def _cost(scene: Scene, method: Method) -> int:
    """Of a step, in what the budget counts."""
    n = len(scene.bodies)
    return EVENT_OVERHEAD + EVENT_CUBE * n**3 if _is_eventful(method) else n + OVERHEAD


def _choices(scene: Scene) -> list[Method]:
    """What to try, the best first."""
    bounded = ["maximal:event", "reduced:aba", "maximal:tree+soft"]
    smooth = ["reduced:aba@reference", "maximal:tree@reference", "maximal:tree+projection@rk4"]
    return [parse(name) for name in (bounded if smoothness(scene) == BOUNDED else smooth)]


def _tightened(
    scene: Scene, label: str, times: np.ndarray, levels: Iterator[tuple[str, Trajectory]], tolerance: float, needed: int
) -> Reference:
    """The last level, and how far it is from the one before. needed: how many are to agree with the one before each."""
    bodies = Bodies(scene)
    before: Any = None  # positions and orientations of the level before
    doubt: Any = None  # how far from it they are
    agreed = 0
    for detail, now in levels:
        poses = now.positions[:, bodies.moving], now.orientations[:, bodies.moving]
        if before is not None:
            doubt = distances(*poses, *before)
        before, last, said = poses, now, detail
        agreed = agreed + 1 if doubt is not None and max(doubt[0].max(), doubt[1].max()) < tolerance else 0
        if agreed == needed:
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


def _part(level: int, inside: float) -> float:
    """How much of the way is made: each level halves what is left."""
    return 1.0 - 0.5**level * (1.0 - 0.5 * inside)


# ---- by steps --------------------------------------------------------------------------------------------------------


def _apart(dts: list[float]) -> list[float]:
    """Of the steps those, the longest first, of which no shorter one is a part: where they all lead nobody need guess."""
    return [
        step
        for i, step in enumerate(sorted(dts, reverse=True))
        if not any(abs(step / other - round(step / other)) < SAME_TIME for other in sorted(dts, reverse=True)[i + 1 :])
    ]


def _by_steps(
    scene: Scene, method: Method, times: np.ndarray, dts: list[float], budget: int, show: Show
) -> Iterator[tuple[str, Trajectory]]:
    """-> levels: at half the study's smallest step, at a quarter, and so on; at least two. Steps to a tolerance begin with
    as many, and their tolerance falls. Those from event to event begin with the study's own, a run for each that has
    times which no other has: about a blow there is no state between two steps."""
    dt = min(dts)
    tolerant = method.world(scene, dt).settings["integrator"] in ("reference", "radau", "bdf")  # complains now if it cannot
    eventful, cost = _is_eventful(method), _cost(scene, method)

    def levels() -> Iterator[tuple[str, Trajectory]]:
        spent, k = 0, 0
        while True:
            runs = [step / 2**k for step in _apart(dts)] if eventful else [dt / 2 ** (k + 1)]
            spent += sum(round(times[-1] / fine) for fine in runs) * cost
            if k >= 2 and spent > budget:
                return
            said = f"step {runs[-1]:.3g} s"
            level = method
            if tolerant:
                aim = TOLERANCES[min(k, len(TOLERANCES) - 1)]
                level = replace(method, keywords=method.keywords | {"reference_tolerance": aim})
                said = f"tolerance {aim:.0e}"
            try:
                found = _by_runs(scene, level, times, runs, lambda part: show(_part(k, part)))
            except SimulationError:
                if spent > budget:
                    raise
            else:
                yield said, found
            k += 1

    return levels()


def _by_runs(scene: Scene, method: Method, times: np.ndarray, runs: list[float], show: Show) -> Trajectory:
    """The states at `times`, of each from a run in whose steps it comes; of what is in none from the last run."""
    if len(runs) == 1:
        return _stepped(scene, method, times, runs[0], show)
    run_of = np.full(len(times), len(runs) - 1)
    for i, fine in reversed(list(enumerate(runs))):
        run_of[np.abs(times / fine - np.rint(times / fine)) < SAME_TIME] = i
    n = len(scene.bodies)
    found = [np.empty((len(times), *shape)) for shape in ((n, 3), (n, 4), (n, 3), (n, 3), ())]
    for i in np.unique(run_of):
        for array, of_run in zip(found, _stepped(scene, method, times[run_of == i], runs[i], show)):
            array[run_of == i] = of_run
    return Trajectory(*found)


def _stepped(scene: Scene, method: Method, times: np.ndarray, dt: float, show: Show) -> Trajectory:
    """The states at `times`. Those between two steps follow the steps around: see _between."""
    place = times / dt
    before = np.floor(place + SAME_TIME).astype(np.int64)
    apart = place - before > SAME_TIME
    last = int(before[-1] + apart[-1])
    width = min(NEIGHBORS[smoothness(scene)], last + 1) if apart.any() else 1
    # Of the steps from `start` on, as many before as behind, but for the ends of the run.
    start = np.clip(before + 1 - width // 2, 0, last + 1 - width) if width > 1 else before
    nodes = np.unique(start[:, None] + np.arange(width))
    kept, stored = _states_at(scene, method, nodes, dt, show)
    rows = np.searchsorted(nodes, start)[:, None] + np.arange(width)
    if width == 1:
        r, q, v, w = (array[rows[:, 0]] for array in kept)
        return Trajectory(r, q, v, w, stored[rows[:, 0]])
    inside = np.where(apart, place - start, before - start)
    return _between(kept, stored, rows, inside, dt)


def _states_at(
    scene: Scene, method: Method, nodes: np.ndarray, dt: float, show: Show
) -> tuple[list[np.ndarray], np.ndarray]:
    """-> positions, orientations, velocities and angular velocities after so many steps, and the energy of springs."""
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
    return kept, stored


def _between(kept: list[np.ndarray], stored: np.ndarray, rows: np.ndarray, s: np.ndarray, dt: float) -> Trajectory:
    """The states (t,) at s steps after the first of the rows (t, m): poses by Hermite's polynomials through positions and
    velocities of these steps, of order 2 m; velocities by their slopes. Between two steps alone, where velocities may
    jump, those go straight."""
    x, q, v, w = kept
    first = rows[:, 0]
    line, value, rate, value_slope, rate_slope = _hermite(rows.shape[1], s)
    spin = 0.5 * products(np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1), q)
    place, turned = x[first].copy(), q[first].copy()
    speed, turning = np.zeros_like(place), np.zeros_like(turned)
    for j, row in enumerate(rows.T):
        sign = np.where(np.sum(q[row] * q[first], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        for now, slope, values, slopes, start in (
            (place, speed, x[row], v[row], x[first]),
            (turned, turning, sign * q[row], sign * spin[row], q[first]),
        ):
            now += value[j] * (values - start) + dt * rate[j] * slopes
            slope += value_slope[j] / dt * (values - start) + rate_slope[j] * slopes
    size = np.linalg.norm(turned, axis=-1, keepdims=True)
    turned /= size
    if rows.shape[1] == 2:
        speed, spinning = (np.sum([line[j] * values[row] for j, row in enumerate(rows.T)], axis=0) for values in (v, w))
    else:
        spinning = 2.0 * products(turning / size, turned * (1.0, -1.0, -1.0, -1.0))[..., 1:]
    energy = np.sum([line[j][:, 0, 0] * stored[row] for j, row in enumerate(rows.T)], axis=0)
    return Trajectory(place, turned, speed, spinning, energy)


def _hermite(count: int, s: np.ndarray) -> np.ndarray:
    """(5, count, t, 1, 1): Lagrange's polynomials at s for the nodes 0, 1, ..., count - 1; Hermite's for the values and
    for the slopes there; and the slopes of these two."""
    out = np.empty((5, count, len(s)))
    for j in range(count):
        others = [k for k in range(count) if k != j]
        line = np.prod([(s - k) / (j - k) for k in others], axis=0)
        slope = np.sum(
            [
                np.prod([(s - m) / (j - m) for m in others if m != k] + [np.full_like(s, 1 / (j - k))], axis=0)
                for k in others
            ],
            axis=0,
        )
        tilt = 2.0 * sum(1 / (j - k) for k in others)
        out[:, j] = (
            line,
            (1.0 - tilt * (s - j)) * line**2,
            (s - j) * line**2,
            -tilt * line**2 + (1.0 - tilt * (s - j)) * 2.0 * line * slope,
            line**2 + (s - j) * 2.0 * line * slope,
        )
    return out[..., None, None]
