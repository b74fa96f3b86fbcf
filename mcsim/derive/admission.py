"""Which worlds have steps that are differentiated, and which steps: what is not smooth is refused by its name."""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SceneError, SimulationError
from mcsim.scene.checks import show
from mcsim.world import ReducedWorld, World

WHO = "step_derivatives"

# Of each keyword that a derivative depends on, the values that are differentiated, and what to do about others.
DIFFERENTIATED = {
    "contact": (("rigid",), "make the world with contact='rigid'"),
    "integrator": (("semi_implicit",), "make the world with integrator='semi_implicit'"),
    "stabilization": (
        ("baumgarte", "none"),
        "its step is no function of poses and velocities alone, or moves poses by themselves; make the world with "
        "stabilization='baumgarte' (world.remade(stabilization='baumgarte') is one in the same state)",
    ),
    "solver": (("si", "pgs"), "make the world with solver='si'"),
}


def admit(world: World) -> None:
    """SceneError unless the steps of this world are differentiated."""
    if not isinstance(world, World):
        raise SceneError(f"{WHO}: the first argument must be a World, got {show(world)}")
    if isinstance(world, ReducedWorld):
        raise SceneError(
            f"{WHO}: a ReducedWorld has generalized coordinates, whose derivatives are "
            "world.dynamics.forward_dynamics_derivatives(q, qd, tau); a World of the same scene is differentiated here"
        )
    for name, (values, cure) in DIFFERENTIATED.items():
        if world._keywords[name] not in values:
            raise SceneError(f"{WHO}: {name}={world._keywords[name]!r} is not differentiated: {cure}")
    asleep = np.flatnonzero(world.asleep)
    if len(asleep):
        raise SceneError(
            f"{WHO}: body {world.body_names[asleep[0]]!r} sleeps, so its step is none; wake it (world.wake()), or make the "
            "world with sleep=False"
        )


def admit_step(made: World) -> None:
    """SimulationError where the step that a copy has just made is not smooth."""
    parts = made._pipeline.parts
    if parts.restitution.count > 0:
        raise SimulationError(
            f"{WHO}: something bounces in this step, and the impact is not differentiated; give the materials that meet "
            "restitution=0, or differentiate the steps before and after it"
        )
    if parts.tunnelling_guard.watching and parts.tunnelling_guard.held > 0:
        raise SimulationError(
            f"{WHO}: a body is so fast that it is held at what it would pass through; take more substeps, or a smaller dt"
        )
    fallen = np.flatnonzero(made.asleep)
    if len(fallen):
        raise SimulationError(
            f"{WHO}: body {made.body_names[fallen[0]]!r} falls asleep at the end of this step; make the world with "
            "sleep=False"
        )
    if len(made.events.broken):
        raise SimulationError(
            f"{WHO}: joint {made.joint_names[made.events.broken[0]]!r} breaks in this step: raise its break_force and "
            "break_torque, or differentiate the steps before and after it"
        )
