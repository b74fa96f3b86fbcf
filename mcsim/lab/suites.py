"""Suites of mechanisms whose motion is known: each by every method, in one table against the published values.

An entry is a scene, what is measured of it, and the values at some times: published digits, a closed form, or a reference
from equations of the mechanism's own (tests/physics/suite_models.py), which share nothing with the simulator.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mcsim import scenes
from mcsim.core.errors import SceneError
from mcsim.core.files import write_table
from mcsim.lab import nature
from mcsim.lab.compare import MOST_RUN_STEPS, OFTEN, Progress
from mcsim.lab.methods import Method, methods_of
from mcsim.lab.record import Recorder
from mcsim.lab.reference import SAME_TIME
from mcsim.lab.report import step_text
from mcsim.lab.tables import NARROWEST, Text, aligned, folded, number_text
from mcsim.scene.checks import FieldError, choose, count, positive
from mcsim.world import World
from mcsim.world.capabilities import MOST_SUBSTEPS

SUITE_METHODS = (
    "maximal:tree+soft",
    "maximal:tree+soft@rattle",
    "maximal:tree+projection@rk4",
    "reduced:aba",
    "reduced:aba@rk4",
    "reduced:aba@reference",
)

PUBLISHED, CLOSED_FORM, REFERENCE = "published", "closed form", "reference"

Measure = Callable[[World], np.ndarray]


def centers(body: str, axes: str) -> Measure:
    """Coordinates of a body's centre of mass [m], of the axes that are named: "xz"."""
    wanted = ["xyz".index(axis) for axis in axes]
    return lambda world: world.body(body).position[wanted]


def angles(*joints: str) -> Measure:
    """What joints read [rad]."""
    return lambda world: np.array([world.joint(joint).position for joint in joints])


def tops(body: str, axes: str) -> Measure:
    """Coordinates [m] of the far end of a body that stands on the origin, twice as far as its centre of mass."""
    center = centers(body, axes)
    return lambda world: 2.0 * center(world)


class Values(NamedTuple):
    """What is measured is to be `numbers` at a time [s]."""

    time: float
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class Entry:
    """One mechanism of a suite.

    name; scene and its parameters; dt [s]: of every method. measure: World -> numbers, in `unit`; what: those in words.
    values: the numbers at times, in order; late: those at times that take long, up to where it is published. kind: what
    they are, "published", "closed form" or "reference". source: whose mechanism it is. note: what to know of the values.
    """

    name: str
    scene: str
    dt: float
    measure: Measure
    what: str
    unit: str
    values: tuple[Values, ...]
    kind: str
    source: str
    parameters: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    late: tuple[Values, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What one method made of one entry.

    error: the largest distance to the values, in the entry's unit; NaN where it came to none of them. joint_drift [m]: the
    largest. energy_error: the largest, over the largest kinetic energy; NaN where energy is not conserved. cpu [s]: of the
    calls of step(). steps: how many were made. failure: why it ended early, "" if it did not. notes: what its steps could
    not do.
    """

    entry: Entry
    method: str
    dt: float
    seconds: float
    error: float
    joint_drift: float
    energy_error: float
    cpu: float
    steps: int
    failure: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SuiteResult:
    """All outcomes of a suite, entry by entry and method by method. table(), csv(path); `of(entry, method)` is one."""

    name: str
    outcomes: tuple[Outcome, ...]

    def of(self, entry: str, method: str) -> Outcome:
        """The outcome of a method on an entry."""
        for outcome in self.outcomes:
            if (outcome.entry.name, outcome.method) == (entry, method):
                return outcome
        raise SceneError(f"the suite {self.name} did not run {entry!r} by {method!r}")

    def table(self, width: int | None = None) -> Text:
        """A row for each entry and method, then what the values are and where they come from, failures and notes.
        Columns that are not within `width` characters go on below the others; None: a line has as many as it needs."""
        head = [
            ["mechanism", ""],
            ["method", ""],
            ["dt", "s"],
            ["time", "s"],
            ["error", ""],
            ["joint drift", "m"],
            ["energy error", "relative"],
            ["CPU", "s"],
        ]
        body = []
        for k, one in enumerate(self.outcomes):
            first = k == 0 or self.outcomes[k - 1].entry is not one.entry
            error = "failed" if one.failure else f"{number_text(one.error)} {one.entry.unit}"
            numbers = (one.joint_drift, one.energy_error, one.cpu)
            told = [one.method, step_text(one.dt), f"{one.seconds:g}", error, *map(number_text, numbers)]
            body.append([one.entry.name if first else "", *told])
        rows = aligned(head, body, width, 2, 2)
        notes_width = width or max(NARROWEST, *map(len, rows))
        return Text("\n".join([*rows, "", *(line for note in self._notes() for line in folded(note, notes_width))]))

    def _notes(self) -> list[str]:
        """What the numbers mean, entry by entry, and what went wrong."""
        lines = [
            "error: the largest distance to the values at any of their times; joint drift, energy error: the largest of "
            "the run, energy over the largest kinetic energy"
        ]
        for entry in {outcome.entry.name: outcome.entry for outcome in self.outcomes}.values():
            lines.append(f"{entry.name}: {entry.source}; {entry.what}: {entry.kind}{entry.note and ', ' + entry.note}")
        for one in self.outcomes:
            told = f"{one.entry.name} by {one.method}"
            if one.failure:
                lines.append(f"failed: {told}: {one.failure}")
            lines += [f"note: {told}: {note}" for note in one.notes]
        return lines

    def csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the outcomes, a line for each."""
        names = ("entry", "scene", "method", "dt", "seconds", "steps", "error", "unit", "values")
        rows = [[*names, "joint_drift_m", "energy_error", "cpu_seconds", "failure"]]
        for one in self.outcomes:
            entry = one.entry
            error, *others = (
                "" if np.isnan(value) else repr(value) for value in (one.error, one.joint_drift, one.energy_error, one.cpu)
            )
            first = [entry.name, entry.scene, one.method, repr(one.dt), repr(one.seconds), str(one.steps)]
            rows.append([*first, error, entry.unit, entry.kind, *others, one.failure])
        write_table(path, rows)

    def __repr__(self) -> str:
        failed = sum(bool(outcome.failure) for outcome in self.outcomes)
        return f"<SuiteResult of {self.name}: {len(self.outcomes)} runs{f', {failed} failed' if failed else ''}>"


# ---- the suites ------------------------------------------------------------------------------------------------------

IFTOMM = "of the IFToMM library, M. González and others 2006"

# References are from tests/physics/suite_models.py, where a test solves the equations again.
MECHANISMS = (
    Entry(
        "A01 pendulum",
        "point_pendulum",
        1 / 500,
        centers("bob", "xz"),
        "position of the ball",
        "m",
        (
            Values(2.5, (0.9963344593698367, -0.0855432351049186)),
            Values(10.0, (0.2750958137542432, -0.9614168155669479)),
        ),
        CLOSED_FORM,
        f"simple pendulum {IFTOMM}",
        late=(Values(2000.0, (-0.8153846153660419, -0.5789196222485224)),),
    ),
    Entry(
        "A02 two windows",
        "four_bars",
        1 / 500,
        tops("bar0", "xz"),
        "position of the first bar's top",
        "m",
        (
            Values(2.0, (0.05781579576796613, 0.9983272678634582)),
            Values(20.0, (0.8397465743012382, 0.5429785363615536)),
        ),
        REFERENCE,
        f"four-bar linkages in a row {IFTOMM}, with 2 windows",
        {"windows": 2},
        "the equation of one pendulum; singular poses twice a swing",
    ),
    Entry(
        "A02 40 windows",
        "four_bars",
        1 / 100,
        tops("bar0", "xz"),
        "position of the first bar's top",
        "m",
        (
            Values(2.0, (0.034466307300367184, 0.9994058603295644)),
            Values(20.0, (0.41090115375738134, 0.9116799009744884)),
        ),
        REFERENCE,
        f"four-bar linkages in a row {IFTOMM}, with its 40 windows",
        {"windows": 40},
        "the equation of one pendulum",
    ),
    Entry(
        "A03 squeezer",
        "squeezer",
        2.5e-5,
        angles("beta", "gamma", "delta", "epsilon"),
        "angles of the four bodies on the ground, from the start",
        "rad",
        (Values(0.03, (15.872485086313317, -0.4144575790323394, 0.03704498633668779, -0.18246670350755823)),),
        PUBLISHED,
        "Andrews' squeezing mechanism, E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7",
        note="those of a time 1.005e-12 s later, in beta 1.1e-9 rad, by the same equations with 34 digits; energy is known "
        "to 1e-7 beside what the mainspring of its torque holds",
    ),
    Entry(
        "A04 Bricard",
        "bricard",
        1 / 500,
        centers("bar3", "xyz"),
        "centre of the middle bar",
        "m",
        (
            Values(2.0, (-0.8737378586524774, -0.2785126696966767, -1.1007997893609858)),
            Values(10.0, (0.9998654751905945, -0.499730986575036, -1.0001344886252923)),
        ),
        REFERENCE,
        f"Bricard's mechanism {IFTOMM}",
        note="Kane's equation in the loop's one coordinate",
    ),
    Entry(
        "A05 governor",
        "governor",
        1e-3,
        centers("ring", "z"),
        "height of the ring",
        "m",
        (Values(0.5, (0.7432494248,)), Values(2.0, (0.5059092943,)), Values(10.0, (0.6196229171,))),
        REFERENCE,
        f"stiff flyball governor {IFTOMM}",
        note="Kane's equations in three coordinates by an implicit Runge–Kutta method, good to 1e-8 m",
    ),
    Entry(
        "slider-crank",
        "slider_crank",
        1e-3,
        centers("rod", "xz"),
        "centre of the rod",
        "m",
        (
            Values(1.0, (0.7481811635300699, -0.015274803872791962)),
            Values(5.0, (0.23164524792256866, -0.10960869713120548)),
        ),
        REFERENCE,
        "a rigid slider-crank that swings round freely; that of the Test Set for Initial Value Problem Solvers has an "
        "elastic rod",
        {"driven": False},
        "Lagrange's equation in the crank's angle by DOP853",
    ),
    Entry(
        "heavy top",
        "heavy_top",
        1e-3,
        centers("top", "xyz"),
        "centre of mass",
        "m",
        (
            Values(0.5, (-0.7024682970565099, -0.021165184701943666, -0.7114002576517965)),
            Values(2.0, (-0.15041682274543008, -0.7241655916365743, -0.6730222695607632)),
        ),
        REFERENCE,
        "O. Brüls, A. Cardona 2010",
        note="Euler's equations by DOP853",
    ),
    Entry(
        "double pendulum",
        "double_pendulum",
        1e-3,
        centers("lower", "xz"),
        "centre of the lower rod",
        "m",
        (
            Values(1.0, (-1.2892810442746114, -0.7390024662816881)),
            Values(3.0, (0.20779091536450078, -0.45619440985552245)),
        ),
        REFERENCE,
        "two rods on two hinges, chaotic",
        note="Lagrange's equations by DOP853",
    ),
    Entry(
        "planar chain",
        "planar_chain",
        1e-3,
        centers("bar5", "xz"),
        "centre of the last bar",
        "m",
        (
            Values(1.0, (2.0506880841136805, -4.910944045294079)),
            Values(3.0, (-3.5494058688604215, -1.7993803069562246)),
        ),
        REFERENCE,
        "six equal bars, R. Featherstone, Rigid Body Dynamics Algorithms, 2008; chaotic",
        {"count": 6},
        "Lagrange's equations by DOP853",
    ),
)

SUITES: dict[str, tuple[Entry, ...]] = {"mechanisms": MECHANISMS}


# ---- running ---------------------------------------------------------------------------------------------------------


def entries_of(name: str, wanted: Iterable[str] | str | None = None) -> list[Entry]:
    """The entries of a suite, or those that are named; by the names of their scenes too."""
    try:
        suite = SUITES[choose(name, SUITES, "suite")]
        if wanted is None:
            return list(suite)
        known = [*(entry.name for entry in suite), *dict.fromkeys(entry.scene for entry in suite)]
        names = [choose(one, known, "entries") for one in ([wanted] if isinstance(wanted, str) else wanted)]
    except FieldError as error:
        raise SceneError(f"suites: {error}") from None
    return [entry for entry in suite if entry.name in names or entry.scene in names]


def run(
    name: str = "mechanisms",
    methods: Any = SUITE_METHODS,
    *,
    entries: Iterable[str] | str | None = None,
    dt: float | None = None,
    quick: bool = False,
    full: bool = False,
    substeps: int = 1,
    strict: bool = False,
    progress: Progress | None = None,
) -> SuiteResult:
    """Run every entry of a suite by every method, and measure each against the entry's values. -> SuiteResult

    name: of a suite: "mechanisms". methods: as of mcsim.compare. entries: names of some of its entries, or of their scenes;
    None: all. dt: step [s] of all of them, in place of their own, of which their times must be multiples. quick: only until
    the first time at which values are known; full: to the last one that is published, of the pendulum 2,000 s. substeps: of
    each step, of methods by name. strict: whether a method ends where a step could not do something. progress: called with
    (runs done, runs, what).

    Bodies do not sleep. A method that cannot take a scene, or fails on its way, has a row that says so.
    """
    chosen = entries_of(name, entries)
    try:
        substeps = count(substeps, "substeps", 1, MOST_SUBSTEPS)
        step = None if dt is None else positive(dt, "dt")
        if quick and full:
            raise FieldError("full", "goes to the last values and quick to the first: leave one of them out")
        for entry in chosen:
            _check_step(entry, step or entry.dt, _wanted(entry, quick, full))
    except FieldError as error:
        raise SceneError(f"suites: {error}") from None
    found = [replace(method, keywords={"strict": strict} | method.keywords) for method in methods_of(methods, substeps)]
    done, total, outcomes = 0, len(chosen) * len(found), []
    for entry in chosen:
        for method in found:
            before, told = done, f"{entry.name}, {method.name}"

            def say(part: float, before: int = before, told: str = told) -> None:
                if progress:
                    progress(before + part, total, told)

            outcomes.append(_outcome(entry, method, step or entry.dt, _wanted(entry, quick, full), say))
            done += 1
            say(1.0)
    return SuiteResult(name, tuple(outcomes))


def _wanted(entry: Entry, quick: bool, full: bool) -> tuple[Values, ...]:
    return entry.values[:1] if quick else entry.values + (entry.late if full else ())


def _check_step(entry: Entry, dt: float, wanted: tuple[Values, ...]) -> None:
    """Whether the times at which values are known are after whole steps."""
    for values in wanted:
        steps = values.time / dt
        if steps > MOST_RUN_STEPS:
            raise FieldError("dt", f"of {dt:g} s makes {steps:.3g} steps of {entry.name}; at most {MOST_RUN_STEPS} are run")
        if abs(steps - round(steps)) > SAME_TIME or round(steps) < 1:
            raise FieldError(
                "dt",
                f"of {dt:.6g} s does not divide {values.time:g} s, at which the value of {entry.name} is known; "
                f"take {entry.dt:g} s or a part of it, or other entries",
            )


def _outcome(entry: Entry, method: Method, dt: float, wanted: tuple[Values, ...], say: Callable[[float], None]) -> Outcome:
    """One entry by one method."""
    seconds = wanted[-1].time
    scene = scenes.load(entry.scene, **entry.parameters)
    try:
        world = method.world(scene, dt)
    except SceneError as error:
        failure, none = " ".join(str(error).split()), float("nan")
        return Outcome(entry, method.name, dt, seconds, none, none, none, none, 0, failure)
    steps = round(seconds / dt)
    at = {round(values.time / dt): np.array(values.numbers) for values in wanted}
    errors, cpu = [], 0.0

    def timed_step() -> None:
        nonlocal cpu
        begin = time.process_time()
        world.step()
        cpu += time.process_time() - begin

    def measure(k: int) -> None:
        if k in at:
            errors.append(float(np.abs(entry.measure(world) - at[k]).max()))
        if k % OFTEN == 0:
            say(k / steps)

    arrays, failure, notes = Recorder(scene, world, steps, None).follow(steps, measure, timed_step)
    energy, scale = arrays["energy"] - arrays["energy"][0], arrays["kinetic"].max()
    return Outcome(
        entry,
        method.name,
        dt,
        seconds,
        max(errors, default=np.nan),
        float(arrays["joint_position_max"].max()),
        float(np.abs(energy).max() / scale) if nature.conserves_energy(scene) and scale > 0.0 else np.nan,
        cpu,
        len(arrays["time"]) - 1,
        failure,
        tuple(notes),
    )
