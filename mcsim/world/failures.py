"""What every SimulationError of a world says beside what went wrong: in which step, with which bodies, what may help, and
how to keep the state for a report.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import lengths
from mcsim.scene import Scene
from mcsim.world.protocols import AWorld
from mcsim.world.settings import RK4_FASTEST

OFFER = 'world.save_state("crash.npz") keeps the state for a report'
MAY_HELP = "a smaller dt, more substeps or milder forces may help"
# Words of messages that say by themselves what to change.
CURES = ("may help", "take ", "set it", "set its", "must give", "describe it", "make ", "give ", "wake ", "remove ")
FASTEST = 3  # bodies named where a message has none


def explicit_springs(names: Sequence[str], scene: Scene, records: np.ndarray, h: float) -> str:
    """What a Runge-Kutta step of h bears of the stiffest spring or PD motor of the named joints, to go before a cure; "" of
    joints without any. records: of the scene's joints."""
    numbers = {joint.name: i for i, joint in enumerate(scene.joints)}
    stiffest, found = "", (0.0, 0.0)
    for name in names:
        axes = records[numbers[name]]["axes"]
        for stiffness, damping in (("stiffness", "damping"), ("motor_kp", "motor_kd")):
            for pair in zip(axes[stiffness].tolist(), axes[damping].tolist()):
                if max(pair) > max(found):
                    stiffest, found = name, pair
    if not stiffest:
        return ""
    return (
        f"joint {stiffest!r} has a spring of stiffness {found[0]:.4g} and damping {found[1]:.4g}, of which "
        f'integrator="rk4" bears h sqrt(stiffness / inertia) and h damping / inertia up to {RK4_FASTEST:g}, '
        f"h = {h:.4g} s: an integrator whose springs are implicit, "
    )


def complete(error: SimulationError, world: AWorld) -> None:
    """Puts into an error of the step that comes, which is about to be raised again, what it does not say. What a user's own
    function has raised stays as it is."""
    if _is_ours(error):
        error.args = (_whole(str(error), world), *error.args[1:])


def _is_ours(error: SimulationError) -> bool:
    """Whether it was raised by mcsim, and not by a function that a step has called."""
    trace, module = error.__traceback__, ""
    while trace is not None:
        module, trace = str(trace.tb_frame.f_globals.get("__name__", "")), trace.tb_next
    return module.partition(".")[0] == "mcsim"


def _whole(text: str, world: AWorld) -> str:
    if OFFER in text:
        return text
    if not text.startswith("step "):
        text = f"step {world._pipeline.steps + 1} (t = {world.time + world.dt:.6g} s): {text}"
    names = _unnamed(text, world._scene, world)
    if names:
        text += f"; {names}"
    if not any(words in text for words in CURES):
        text += f"; {MAY_HELP}"
    bodies = world._bodies
    whole = all(np.all(np.isfinite(array)) for array in (bodies.position, bodies.orientation, bodies.twist, bodies.force))
    return f"{text}; {OFFER}" if whole else text  # no world can be made of a state that is not finite


def _unnamed(text: str, scene: Scene, world: AWorld) -> str:
    """The bodies of the joints that a message names or, where it names none, those that are the fastest; "" where it names
    bodies."""
    if not scene.bodies or any(repr(body.name) in text for body in scene.bodies):
        return ""
    held = [joint for joint in scene.joints if repr(joint.name) in text]
    found = list(dict.fromkeys(name for joint in held for name in (joint.a, joint.b) if name is not None))
    if found:
        return f"on the bodies {', '.join(map(repr, found[:FASTEST]))}"
    with np.errstate(all="ignore"):
        speeds = lengths(world._bodies.twist)
    order = np.argsort(-np.nan_to_num(speeds, nan=np.inf), kind="stable")[:FASTEST]
    return f"the fastest bodies are {', '.join(repr(scene.bodies[i].name) for i in order)}"
