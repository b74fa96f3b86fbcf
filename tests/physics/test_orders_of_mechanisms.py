"""integrator="rk4" on mechanisms with loops: of fourth order in both worlds, also where rows follow from others in space.

Stages of Runge-Kutta are open by some h^2. Rows that others imply do so on the constraints alone: beside them they
contradict each other, and a loop like Bennett's, which moves though it has three rows too many, was held by that: 1.4e-4 m
off after 2 s at 4 ms, where stages that are projected are off by 3e-10 m.
"""

import numpy as np
import pytest

import mcsim as mc
from benchmark_models import MODELS

# Scenes, seconds, steps of which the second is half of the first [s], and what the second may be off by [m].
MECHANISMS = {
    "bennett": (lambda: MODELS["bennett"]().scene(), 1.0, 5e-3, 3e-10),
    "bricard": (lambda: mc.load("bricard"), 1.0, 5e-2, 4e-8),
    "double_cardan": (lambda: MODELS["double_cardan"]().scene(), 0.5, 2.5e-3, 1e-11),
    "four_bar": (lambda: mc.load("four_bar", driven=False), 0.4, 4e-3, 1e-9),
    "peaucellier": (lambda: MODELS["peaucellier"]().scene(), 0.5, 5e-3, 2e-11),
    "sarrus": (lambda: MODELS["sarrus"]().scene(), 0.3, 5e-3, 1e-10),
    "slider_crank": (lambda: mc.load("slider_crank", driven=False), 0.3, 4e-3, 4e-9),
    "spatial_slider_crank": (lambda: MODELS["spatial_slider_crank"]().scene(), 0.3, 2e-3, 8e-9),
    "squeezer": (lambda: mc.load("squeezer"), 0.01, 2e-4, 4e-9),
    "stewart": (lambda: MODELS["stewart"]().scene(), 0.3, 5e-3, 5e-8),
}
WORLDS = {"maximal": mc.World, "reduced": mc.ReducedWorld}


def end(kind, make, seconds, dt, **keywords):
    world = kind(make(), dt=dt, **({"substeps": 1, "integrator": "rk4"} | keywords))
    world.step(round(seconds / dt))
    assert not world.stats.notes
    return world.positions.copy()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_have_fourth_order(name, world):
    make, seconds, dt, limit = MECHANISMS[name]
    exact = end(mc.ReducedWorld, make, seconds, seconds / 10, integrator="reference")
    coarse, fine = (np.abs(end(WORLDS[world], make, seconds, h) - exact).max() for h in (dt, dt / 2))
    assert fine < limit and 3.6 < np.log2(coarse / fine) < 4.4, (coarse, fine)


@pytest.mark.parametrize("world", WORLDS)
def test_a_spatial_slider_crank_for_five_seconds(world):
    """The step of 0.5 ms of a World is four substeps. Of one, the method itself leaves 4e-9 m on the equation of its one
    coordinate: energy that the fifth order loses makes what is off grow by the square of the time."""
    make = MECHANISMS["spatial_slider_crank"][0]
    exact = end(mc.ReducedWorld, make, 5.0, 0.1, integrator="reference")
    whole, quarter = (np.abs(end(WORLDS[world], make, 5.0, 5e-4, substeps=n) - exact).max() for n in (1, 4))
    assert whole < 4e-9 and quarter < 4e-11, (whole, quarter)
