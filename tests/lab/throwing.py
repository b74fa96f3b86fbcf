"""Studies that tests of sweeps send to other processes, which import them from here."""

import os
import time
from pathlib import Path

import mcsim as mc


def throw(friction, restitution=0.3, seconds=0.2):
    """A brick is thrown over a floor. -> its way along x [m], the last state's hash, all positions"""
    material = mc.Material(friction=friction, restitution=restitution)
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=material)
    scene.add_body(
        "brick", shape=mc.Box((0.12, 0.06, 0.03)), position=(0, 0, 0.1), density=2000, velocity=(4, 0, 0), material=material
    )
    world = mc.World(scene, dt=1 / 240)
    world.step(round(seconds / world.dt))
    return {"way": world.body("brick").position[0], "hash": world.state_hash(), "positions": world.positions.copy()}


def hold(length, angle=0.5):
    """A scene of parameters."""
    return mc.load("pendulum", length=length, angle=angle)


def slow(friction):
    """A run that takes a while."""
    time.sleep(0.3)
    return throw(friction)


def end_once(friction, marker):
    """Ends its process, as a crash does, the first time that it comes to friction 0.3."""
    if friction == 0.3 and not Path(marker).exists():
        Path(marker).touch()
        os._exit(1)
    return throw(friction)


def end_always(friction):
    """Ends its process whenever it comes to friction 0.3."""
    if friction == 0.3:
        os._exit(1)
    return throw(friction)
