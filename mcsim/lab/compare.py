"""compare: methods on one scene, run, recorded and measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.lab import loading, nature
from mcsim.lab.methods import DEFAULT_METHODS, Method, methods_of
from mcsim.lab.record import Recorder, Run, VelocityDrift, trajectory_bytes
from mcsim.lab.reference import BUDGET, TOLERANCE, Reference, find_reference, steps_of
from mcsim.lab.study import Study
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, count, positive, show
from mcsim.world.beginning import first_overlap
from mcsim.world.capabilities import MOST_SUBSTEPS

MOST_RUN_STEPS = 10_000_000
SMALL_TRAJECTORIES = 2**28  # bytes of all runs together, up to which they are kept unasked
MOST_TRAJECTORIES = 2**33
OFTEN = 64  # steps between two calls of progress

Progress = Callable[[float, float, str], None]


def compare(
    scene: Scene | str | PathLike[str],
    methods: Any = DEFAULT_METHODS,
    seconds: float = 10.0,
    dt: float | Iterable[float] = 1 / 240,
    reference: Any = "auto",
    *,
    substeps: int = 1,
    strict: bool = False,
    tolerance: float = TOLERANCE,
    budget: int = BUDGET,
    timing: bool = True,
    trajectories: bool | str = "auto",
    residuals: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> Study:
    """Run methods on a scene, record each step, and measure them against a reference run. -> Study

    scene: a Scene, or the name or file of one, which mcsim.load reads with the `parameters`:
        compare("four_bar", driven=False), compare("robot.urdf", base="fixed").
    methods: names, "maximal:<solver>+<stabilization>[@<integrator>]" (solver si, pgs, tree) or
        "reduced:<algorithm>[@<integrator>]" (algorithm aba), or dicts of keywords of World by name, of ReducedWorld
        with coordinates="reduced": {"stiff": {"stabilization": "soft", "joint_hertz": 120}}. docs/comparing.md.
    seconds: simulated time. dt: step [s]; several make a convergence study. substeps: of each step, of methods by name.
    reference: "auto", None for none, or a method whose step is halved until it agrees with itself to `tolerance`
        [m, rad], or until the `budget` of steps times bodies is spent.
    strict: whether a method ends where one of its steps could not do something (World(strict=True)); else its run keeps the
        notes.
    timing: whether each method runs once more, to be timed. progress: called with (runs done, runs, what).
    trajectories: whether runs keep the states of all bodies and joints; "auto": if all of them take at most 256 MiB.
    residuals: whether primal, dual and complementarity are found after every step also of methods whose solver does not
        measure them, which takes a millisecond or more each time.

    Bodies do not sleep, unless a dict says so. A method that fails keeps what it did until then, with the reason.
    """
    scene = loading.scene_of(scene, parameters)
    try:
        seconds, dts = positive(seconds, "seconds"), _steps(dt)
        substeps = count(substeps, "substeps", 1, MOST_SUBSTEPS)
        tolerance = positive(tolerance, "tolerance")
        most = positive(budget, "budget")
        if steps_of(dts[-1], seconds) > MOST_RUN_STEPS:
            raise FieldError(
                "dt",
                f"of {dts[-1]:g} s makes {seconds / dts[-1]:.3g} steps of {seconds:g} s; at most {MOST_RUN_STEPS} are kept",
            )
    except FieldError as error:
        raise SceneError(f"compare: {error}") from None
    found = [replace(method, keywords={"strict": strict} | method.keywords) for method in methods_of(methods, substeps)]
    kept = _keeps(trajectories, scene, len(found), dts, seconds)
    for method in found:
        for step in dts:
            method.world(scene, step)  # complains before anything has run
    wanted = reference if reference in (None, "auto") else methods_of(reference, substeps)[0]
    recorded = {"trajectories": kept, "residuals": residuals}
    return _Work(scene, found, seconds, dts, wanted, timing, recorded, progress).study(tolerance, most)


def _keeps(trajectories: Any, scene: Scene, methods: int, dts: list[float], seconds: float) -> bool:
    """Whether trajectories are kept."""
    if trajectories is False:
        return False
    wanted = methods * sum(trajectory_bytes(steps_of(dt, seconds), scene) for dt in dts)
    if trajectories is True:
        if wanted > MOST_TRAJECTORIES:
            raise SceneError(
                f"compare: the trajectories of all runs take {wanted / 2**30:.3g} GiB, more than the "
                f"{MOST_TRAJECTORIES / 2**30:g} that are kept; take fewer seconds, methods or steps, or trajectories=False"
            )
        return True
    if trajectories != "auto":
        raise SceneError(f'compare: trajectories must be True, False or "auto", got {show(trajectories)}')
    return wanted <= SMALL_TRAJECTORIES


def _steps(dt: Any) -> list[float]:
    """The steps [s], from the largest on."""
    given = [dt] if isinstance(dt, Real | str) else list(dt)
    if not given:
        raise FieldError("dt", "must be a step or several")
    values = sorted((positive(value, "dt") for value in given), reverse=True)
    if len(set(values)) < len(values):
        raise FieldError("dt", "has a step twice")
    return values


class _Work:
    """One comparison on its way."""

    def __init__(
        self,
        scene: Scene,
        methods: list[Method],
        seconds: float,
        dts: list[float],
        wanted: str | Method | None,
        timing: bool,
        recorded: dict[str, bool],
        progress: Progress | None,
    ) -> None:
        self.scene, self.methods, self.seconds, self.dts = scene, methods, seconds, dts
        self.wanted, self.timing, self._recorded = wanted, timing, recorded
        self._overlap = first_overlap(methods[0].world(scene, dts[-1])) if nature.may_touch(scene) else 0.0
        self._progress = progress or (lambda done, total, what: None)
        self._total = len(methods) * len(dts) * (1 + timing) + (wanted is not None)
        self._done, self._said = 0, 0.0

    def study(self, tolerance: float, budget: float) -> Study:
        """All of it."""
        reference, failure = None, ""
        if self.wanted is not None:
            try:
                reference = find_reference(
                    self.scene,
                    self.dts,
                    self.seconds,
                    self.wanted,
                    tolerance=tolerance,
                    budget=int(budget),
                    show=lambda part: self._say(part, "reference"),
                )
            except SimulationError as error:
                failure = " ".join(str(error).split())
            self._done += 1
        drift = VelocityDrift(self.scene) if self.scene.joints else None
        series = {method.name: [self._run(method, dt, drift, reference) for dt in self.dts] for method in self.methods}
        study = Study(
            self.scene.name,
            len(self.scene.bodies),
            len(self.scene.joints),
            self.seconds,
            self.dts,
            series,
            reference,
            failure,
            conserves=nature.conserves_energy(self.scene),
            free=nature.is_free(self.scene),
            touching=nature.may_touch(self.scene),
            body_names=tuple(body.name for body in self.scene.bodies),
            joint_names=tuple(joint.name for joint in self.scene.joints),
        )
        self._measure(study)
        return study

    def _say(self, part: float, what: str) -> None:
        """SciPy tries ahead and comes back; progress does not."""
        self._said = max(self._said, float(self._done + part))
        self._progress(self._said, self._total, what)

    def _run(self, method: Method, dt: float, drift: VelocityDrift | None, reference: Reference | None) -> Run:
        """One method at one step, recorded, then timed."""
        steps = steps_of(dt, self.seconds)
        world = method.world(self.scene, dt)
        recorder = Recorder(self.scene, world, steps, drift, reference, overlap=self._overlap, **self._recorded)

        def say(k: int) -> None:
            if k % OFTEN == 1:
                self._say((k - 1) / steps, method.name)

        arrays, failure, notes = recorder.follow(steps, say)
        self._done += 1
        seconds = np.zeros(0)
        if self.timing:
            seconds = self._timed(method, dt, len(arrays["time"]) - 1)
            self._done += 1
        nothing: dict[str, Any] = {name: np.zeros(0) for name in ("energy_error", "momentum_error", "spin_error")}
        return Run(
            method.name,
            dt,
            self.seconds,
            **arrays,
            **nothing,
            step_seconds=seconds,
            failure=failure,
            notes=notes,
            body_names=world.body_names,
            joint_names=world.joint_names,
        )

    def _timed(self, method: Method, dt: float, steps: int) -> np.ndarray:
        """(steps,) [s] of the calls of step()."""
        world = method.world(self.scene, dt)
        out = np.empty(steps)
        for k in range(steps):
            begin = time.perf_counter()
            world.step()
            out[k] = time.perf_counter() - begin
            if k % OFTEN == 0:
                self._say(k / steps, f"{method.name}, timed")
        return out

    # ---- what is off -------------------------------------------------------------------------------------------------

    def _measure(self, study: Study) -> None:
        """The errors of energy and momentum."""
        runs, reference = study.all_runs(), study.reference
        if reference is not None:
            study.energy_scale = float(reference.kinetic.max())
        else:
            study.energy_scale = float(min((run.kinetic.max() for run in runs), default=0.0))
        if not study.energy_scale > 0.0:
            study.energy_scale = 1.0
        free = self._free_momentum() if study.free else None
        for run in runs:
            rows = None if reference is None else reference.at(run.time)
            if study.conserves:
                run.energy_error = run.energy - run.energy[0]
            elif reference is not None:
                run.energy_error = run.energy - reference.energy[rows]
            else:
                run.energy_error = np.full(len(run.time), np.nan)
            if free is not None:
                linear, angular = free.at(run.time)
            elif reference is not None:
                linear, angular = reference.linear_momentum[rows], reference.angular_momentum[rows]
            else:
                linear = angular = np.full((len(run.time), 3), np.nan)
            run.momentum_error = np.linalg.norm(run.linear_momentum - linear, axis=1)
            run.spin_error = np.linalg.norm(run.angular_momentum - angular, axis=1)

    def _free_momentum(self) -> nature.FreeMomentum | None:
        world = self.methods[0].world(self.scene, self.dts[-1])
        linear, angular = world.momentum()
        found = nature.FreeMomentum(self.scene, linear, angular, world.positions, world.velocities)
        return found if found.known else None
