"""What a family of scenes is: parameters with ranges, a run that measures errors against a truth, bounds and where they
hold.

One record says all: benchmarks/truth.py sweeps the ranges and writes docs/accuracy.md, tests/test_families.py draws
from the same ranges and holds the same bounds.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import mcsim as mc

DIGITS = 4  # of a drawn number, so that a line of a table can be typed in again


# ---- ranges: at(u) is the value at u in [0, 1], the only description of how a parameter is drawn ---------------------


@dataclass(frozen=True)
class Uniform:
    """Real numbers, evenly."""

    low: float
    high: float

    def at(self, u):
        return float(min(max(float(f"{self._at(u):.{DIGITS}g}"), self.low), self.high))

    def _at(self, u):
        return self.low + u * (self.high - self.low)

    def __contains__(self, value):
        return self.low <= value <= self.high

    def __str__(self):
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


class Log(Uniform):
    """Positive real numbers, evenly in their logarithm."""

    def _at(self, u):
        return self.low * (self.high / self.low) ** u


class Whole(Uniform):
    """Whole numbers, evenly."""

    def at(self, u):
        return min(int(self.low + u * (self.high - self.low + 1)), self.high)


class WholeLog(Whole):
    """Positive whole numbers, evenly in their logarithm."""

    def at(self, u):
        return min(int(self.low * ((self.high + 1) / self.low) ** u), self.high)


class Choice(tuple):
    """One of several."""

    def __new__(cls, *values):
        return super().__new__(cls, values)

    def at(self, u):
        return self[min(int(u * len(self)), len(self) - 1)]

    def __str__(self):
        return ", ".join(str(value) for value in self)


# ---- the record ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Error:
    """What is measured: in which unit ("" of a ratio), how large it may be, and in words."""

    unit: str
    bound: float
    what: str


@dataclass(frozen=True)
class Shortfall:
    """Where the engine does not hold the bounds today, though it should: ranges that replace those of the domain. To be
    taken out when it does (a test that fails then says so)."""

    why: str
    where: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """Scenes of one kind, and what is true of them.

    run(**parameters) -> {name of an error: value}. `ranges` is what the sweep draws from; `domain` replaces some of
    them by the narrower ones within which `errors` stay within their bounds, but for the `shortfalls`. `quick` narrows
    it again for the tests, to what is cheap; they make `examples` draws.
    """

    name: str
    title: str
    truth: str
    run: Callable[..., dict]
    ranges: dict
    errors: dict
    domain: dict = field(default_factory=dict)
    shortfalls: tuple = ()
    quick: dict = field(default_factory=dict)
    examples: int = 15

    def narrowed(self, *changes):
        """The ranges with some replaced."""
        ranges = dict(self.ranges)
        for change in changes:
            unknown = set(change) - set(ranges)
            if unknown:
                raise KeyError(f"{self.name}: no parameter {unknown}")
            ranges |= change
        return ranges

    def within(self, parameters, change):
        return all(parameters[name] in part for name, part in change.items())

    def place(self, parameters):
        """ "domain", "outside", or "shortfall": where bounds should hold and do not today."""
        if not self.within(parameters, self.domain):
            return "outside"
        return "shortfall" if any(self.within(parameters, known.where) for known in self.shortfalls) else "domain"

    def measure(self, parameters):
        """-> {name: error}; infinite, all of them, of a run that fails."""
        try:
            found = self.run(**parameters)
        except mc.SimulationError:
            return dict.fromkeys(self.errors, math.inf)
        return {name: float(found[name]) if math.isfinite(found[name]) else math.inf for name in self.errors}

    def excess(self, errors):
        """The largest error as a part of its bound: at most 1 where all hold."""
        return max(errors[name] / error.bound for name, error in self.errors.items())

    def draws(self, ranges, seed=0):
        """Endless parameters, the k-th the same in every run: a rank-1 lattice shifted by the family's name and the
        seed, which fills the ranges evenly however many are taken (M. Roberts, "The unreasonable effectiveness of
        quasirandom sequences", 2018)."""
        count = len(ranges)
        root = 2.0
        for _ in range(64):
            root = (1.0 + root) ** (1.0 / (count + 1))  # of x^(count + 1) = x + 1
        shift = np.random.default_rng([zlib.crc32(self.name.encode()), seed]).random(count)
        k = 0
        while True:
            k += 1
            u = (shift + k * root ** -np.arange(1.0, count + 1)) % 1.0
            yield {name: part.at(x) for (name, part), x in zip(ranges.items(), u)}


# ---- what many runs share --------------------------------------------------------------------------------------------

G = 9.81
RATE = WholeLog(30, 1000)  # steps a second
SUBSTEPS = WholeLog(1, 32)
ROUNDING = 1e-12
HOPELESS_GAP, HOPELESS_GAIN = 0.1, 10.0  # [m]; by the scale of the energy


def stepped(scene, rate, substeps, **keywords):
    return mc.World(scene, dt=1.0 / rate, substeps=substeps, **{"sleep": False, **keywords})


def turned(axis, angle):
    """The unit quaternion of a turn."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])


def upright(world, body):
    """The body's z axis in the world."""
    w, x, y, z = world.orientations[body]
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def cone_excess(world):
    """By how much friction is above its bound in any contact of the last step, as a part of that bound."""
    found = world.contacts
    friction = np.linalg.norm(found["tangent_impulse"], axis=1)
    bound = found["friction"] * found["normal_impulse"]
    asked = friction > ROUNDING * max(1.0, friction.max(initial=0.0))
    return max(0.0, float((friction[asked] / np.maximum(bound[asked], 1e-300)).max()) - 1.0) if asked.any() else 0.0


class Watch:
    """Joints and energy over a run: the widest gap of a joint [m], the largest gain and the loss at the end of energy
    in parts of `scale` [J], by default all weights falling from the farthest body to the origin."""

    def __init__(self, world, scale=None):
        self.world, self.start, self.gap, self.gain = world, world.energy().total, 0.0, 0.0
        moving = world.masses > 0
        self.scale = scale or G * float((world.masses[moving] * np.linalg.norm(world.positions[moving], axis=1)).sum())

    def step(self, count=1):
        self.world.step(count)
        if len(self.world.joint_names):
            self.gap = max(self.gap, float(self.world.joint_errors()[:, 0].max()))
        self.gain = max(self.gain, (self.world.energy().total - self.start) / self.scale)

    def run(self, steps):
        """Steps, and what it found; ends where joints are so far open or energy so high that nothing is left to see
        (such a scene may take minutes)."""
        for _ in range(steps):
            self.step()
            if self.gap > HOPELESS_GAP or self.gain > HOPELESS_GAIN:
                break
        return self.found()

    def found(self):
        return {"gap": self.gap, "gain": self.gain, "loss": (self.start - self.world.energy().total) / self.scale}


GAP = Error("m", 1e-6, "widest gap of a joint")
GAIN = Error("", 1e-5, "energy above the start's")
LOSS = Error("", 0.02, "energy lost at the end")
