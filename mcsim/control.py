"""Controllers over generalized coordinates, for a World as for a ReducedWorld: what to write into its `tau`.

    gravity            tau = C(q, 0)                                            holds still what is at rest
    pd                 tau = kp (target - q) + kd (velocity - qd)
    computed_torque    tau = H (acceleration + kp (target - q) + kd (velocity - qd)) + C(q, qd)

with H the mass matrix and C what gravity, Coriolis and centrifugal forces ask of the joints. A torque acts through a step
as it was written, so gains want a dt that is short beside the motion that they make; where a spring and damper is all that
a joint is to be, Motor(kp=, kd=) is solved with the step and stable at any gain.

Source: L. Sciavicco and B. Siciliano, "Modelling and Control of Robot Manipulators", 2000, sections 6.5 and 6.6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.reduced.dynamics import Dynamics, as_state
from mcsim.scene.calls import explain_functions
from mcsim.world import ReducedWorld, World
from mcsim.world.tree_plan import angles_of_joints

__all__ = ["Coordinates", "computed_torque", "coordinates", "gravity", "pd"]


class Coordinates(NamedTuple):
    """q (nq,) coordinates, with the turns that angles have made, and qd (nv,) velocities of world.system."""

    q: np.ndarray
    qd: np.ndarray


def coordinates(world: World) -> Coordinates:
    """The generalized coordinates and velocities of a world now, as copies. world: a World, of whose bodies they are read,
    what its joints leave open being left out, or a ReducedWorld.

        q, qd = mc.control.coordinates(world)
        world.tau = world.dynamics.inverse_dynamics(q, qd, np.zeros(len(qd)))
    """
    if not isinstance(world, World):
        raise SceneError(f"control: the first argument must be a World or a ReducedWorld, got {type(world).__name__}")
    if isinstance(world, ReducedWorld):
        return Coordinates(world.q.copy(), world.qd.copy())
    state = (world.positions, world.orientations, world.velocities, world.angular_velocities)
    q, qd = world.system.coordinates(*state)
    joints, axes, places = angles_of_joints(world.system, world.scene)
    with world._turn.look("coordinates"):
        q[places] = world._pipeline.space.measured()["axes"]["position"][joints, axes]
    return Coordinates(q, qd)


def gravity(world: World, *, model: Dynamics | None = None) -> np.ndarray:
    """(nv,) tau that carries the weight of all bodies at the present q: with it alone what is at rest stays there.

    model: of what the controller takes the world to be; None: world.dynamics. Springs, motors and friction of joints are no
    part of it. What a body that nothing holds would need stands in its six entries, world.index(body)[1]: set them to 0
    where nothing can give it.

        world.tau = mc.control.gravity(world)
    """
    q, qd = coordinates(world)
    return _model(world, model).bias_force(q, np.zeros(len(qd)))


def pd(world: World, q: ArrayLike, qd: ArrayLike | None = None, *, kp: ArrayLike, kd: ArrayLike) -> np.ndarray:
    """(nv,) tau = kp (q - now) + kd (qd - now), the differences of coordinates being along the velocities.

    q (nq,): target; of what turns freely a unit quaternion. qd (nv,): its velocities, 0 if None. kp, kd: a number, or (nv,)
    one for each velocity [N m/rad, N/m], [N m s/rad, N s/m]; 0 where nothing is to act.

        world.tau = mc.control.gravity(world) + mc.control.pd(world, target, kp=60.0, kd=8.0)
    """
    return _feedback(world, coordinates(world), q, qd, kp, kd)


def computed_torque(
    world: World,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    kp: ArrayLike,
    kd: ArrayLike,
    model: Dynamics | None = None,
) -> np.ndarray:
    """(nv,) tau that makes the error e of each coordinate an oscillator, e'' + kd e' + kp e = 0, if the model is right.

    q (nq,), qd, qdd (nv,): the wanted motion now, velocities and accelerations 0 if None. kp [1/s^2], kd [1/s]: of e, a
    number or (nv,): kp = w^2 and kd = 2 w for a critically damped one of angular frequency w. model: as of `gravity`.

        world.tau = mc.control.computed_torque(world, *wanted(world.time), kp=200.0, kd=28.0)
    """
    now = coordinates(world)
    wish = _feedback(world, now, q, qd, kp, kd)
    if qdd is not None:
        wish += as_state(qdd, "qdd", len(now.qd))
    return _model(world, model).inverse_dynamics(*now, wish)


def _feedback(
    world: World, now: Coordinates, q: ArrayLike, qd: ArrayLike | None, kp: ArrayLike, kd: ArrayLike
) -> np.ndarray:
    size = len(now.qd)
    off = world.dynamics.difference(now.q, as_state(q, "q", len(now.q)))
    rate = (0.0 if qd is None else as_state(qd, "qd", size)) - now.qd
    return _gain(kp, "kp", size) * off + _gain(kd, "kd", size) * rate


def _gain(value: ArrayLike, name: str, size: int) -> np.ndarray:
    """One for each velocity."""
    return as_state(np.full(size, value) if np.ndim(value) == 0 else value, name, size)


def _model(world: World, model: Dynamics | None) -> Dynamics:
    found = world.dynamics if model is None else model
    if not isinstance(found, Dynamics):
        raise SceneError(
            f"control: model must be a Dynamics, got {type(found).__name__}; mcsim.reduced.Dynamics(system) is one"
        )
    if (found.nq, found.nv) != (world.system.nq, world.system.nv):
        raise SceneError(
            f"control: the model has {found.nq} coordinates and {found.nv} velocities, the world {world.system.nq} and "
            f"{world.system.nv}: make it of a scene of the same joints"
        )
    return found


explain_functions(globals(), __all__)
