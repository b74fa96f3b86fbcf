"""What the tests of integrator="rattle" and "variational" share."""

import numpy as np
import pytest

import mcsim as mc
from mechanism_scenes import turned

every_integrator = pytest.mark.parametrize("integrator", ["rattle", "variational"])


def orders(found):
    """log2 of the ratios of errors at halved steps."""
    found = np.asarray(found)
    return np.log2(found[:-1] / found[1:])


def tangle(count=4, seed=0, held=True, damping=()):
    """A chain in space of bodies with three different moments, their axes and joints at random, held at one end or
    free.

    damping: (linear, angular) of each body.
    """
    rng = np.random.default_rng(seed)
    scene = mc.Scene(**({} if held else {"gravity": (0, 0, 0)}))
    point = np.zeros(3)
    for k in range(count):
        way = rng.normal(size=3)
        way /= 2 * np.linalg.norm(way)
        spin = {} if held else dict(velocity=rng.normal(size=3), angular_velocity=2 * rng.normal(size=3))
        if damping:
            spin |= dict(zip(("linear_damping", "angular_damping"), damping[k]))
        scene.add_body(
            f"b{k}",
            mass=rng.uniform(0.5, 2),
            inertia=rng.uniform(0.8, 1.2, 3) * (0.03, 0.04, 0.05),
            position=point + way / 2,
            orientation=turned(rng.normal(size=3), rng.uniform(0, 3)),
            **spin,
        )
        if k or held:
            scene.add_joint(mc.BallJoint(f"b{k - 1}" if k else None, f"b{k}", point))
        point = point + way
    return scene


def energies(world, steps, looks):
    """Energy less that of the start [J] after each of `looks` equal pieces of `steps`."""
    start = world.energy().total
    found = np.empty(looks)
    for k in range(looks):
        world.step(steps // looks)
        found[k] = world.energy().total - start
    return found
