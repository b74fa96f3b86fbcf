"""What samples measure beside heights and speeds: loads, periods, and how far two worlds part.

Lengths in m, forces in N, times in s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, drift

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mcsim.samples.play import Play
    from mcsim.world import World


def load(world: World, *prefixes: str) -> float:
    """The force downwards through contacts on the bodies whose names begin so, on "ground" if none is given [N]."""
    begins = prefixes or ("ground",)
    bears = np.array([name.startswith(begins) for name in world.body_names])
    contacts = world.contacts
    impulse = contacts["normal_impulse"] * contacts["normal"][:, 2] + contacts["tangent_impulse"][:, 2]  # on body_b
    on_others = bears[contacts["body_a"]].astype(float) - bears[contacts["body_b"]]
    return float(impulse @ on_others / world.dt)


def weight(world: World) -> float:
    """Of all dynamic bodies at 9.81 m/s² [N]."""
    return float(world.masses.sum()) * G


def stands(play: Play, world: World, seconds: float = 4.0, *, sinking: float = 0.005, aside: float = 0.002) -> None:
    """Plays a world of bodies that stand where they are: at last none has sunk, or gone aside, by more than that [m]."""
    start = world.positions.copy()
    play(world, seconds)
    play.expect("sinking", world.positions[:, 2] - start[:, 2], 0.0, within=sinking, unit="m")
    play.expect("none goes aside", drift(world, start), 0.0, within=aside, unit="m")
    play.check("all sleep", play.asleep(world))


def settle(play: Play, world: World, seconds: float, *prefixes: str, within: float = 0.02) -> None:
    """Plays a world whose bodies come to rest on some: energy never rises, and at last those bear the weight (`load`)."""
    first = world.energy().total
    most = first
    for step in play.steps(world, seconds):
        if step % 10 == 0:
            most = max(most, world.energy().total)
    play.between("energy over that of the start", most / first, upper=1 + 1e-6)
    play.expect("load on the ground over the weight", load(world, *prefixes) / weight(world), 1.0, within=within)


def period(times: ArrayLike, values: ArrayLike, middle: float = 0.0) -> float:
    """The mean period of an oscillation, from the times at which it goes up through a middle value; NaN
    where it does so less than twice."""
    t, v = np.asarray(times), np.asarray(values) - middle
    k = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))
    crossings = t[k] - v[k] * (t[k + 1] - t[k]) / (v[k + 1] - v[k])
    return float((crossings[-1] - crossings[0]) / (len(crossings) - 1)) if len(crossings) > 1 else float("nan")


def watched(play: Play, world: World, seconds: float, value: Callable[[], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Plays a world -> the times, and what `value()` was at them, the start and the end among them."""
    times, values = [], []
    for _ in play.steps(world, seconds):
        times.append(world.time)
        values.append(np.array(value(), float))
    return np.array([*times, world.time]), np.array([*values, np.array(value(), float)])


def both(play: Play, scene: mc.Scene, seconds: float, dt: float = 1 / 240, **more: Any) -> tuple[mc.World, float]:
    """Plays a scene in both worlds -> the World, and the largest distance between the same body in both at the end [m]."""
    worlds = [mc.World(scene, dt=dt, **more), mc.ReducedWorld(scene, dt=dt)]
    for world in worlds:
        play(world, seconds)
    return worlds[0], float(np.abs(worlds[0].positions - worlds[1].positions).max())
