"""What any two of the twin, Pinocchio and the compiled dynamics must agree on, and trees to hold them against."""

from dataclasses import replace
from functools import cache

import numpy as np

from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.system import System
from random_trees import random_forces, random_scene, random_state
from twin import rotation_of

FIRST = 1000  # number of the first random tree
AGREE = 1e-10  # relative
BALLS = ("quaternion", "ypr")  # of random trees, in turn
# Method: what it is asked with, of q, qd, x (q̈ or τ) and forces. All give an array or a tuple of arrays.
ASKED = {
    "inverse_dynamics": "q qd x forces",
    "forward_dynamics": "q qd x forces",
    "bias_force": "q qd",
    "velocities": "q qd",
    "energy": "q qd",
    "momentum": "q qd",
    "mass_matrix": "q",
    "poses": "q",
}


@cache
def random_case(number, count=None):
    """Random tree number so and so: -> System, {"q", "qd", "x", "forces"}. Every other one has yaw, pitch and roll."""
    rng = np.random.default_rng(FIRST + number)
    system = System(random_scene(rng, count), ball=BALLS[number % 2])
    return system, state_of(rng, system)


def state_of(rng, system):
    return dict(zip(("q", "qd", "x"), random_state(rng, system))) | {"forces": random_forces(rng, system)}


def chain_of(kind, number=0, **arguments):
    """Three bodies in a row, all on this kind of joint, some of them reversed: -> System, state."""
    rng = np.random.default_rng(number)
    kinds = {"spherical_ypr": "spherical", "rack_pinion": "revolute"}
    system = System(
        random_scene(rng, 3, kinds=(kinds.get(kind, kind),), branching=0.0, **arguments),
        ball="ypr" if kind == "spherical_ypr" else "quaternion",
    )
    if kind == "rack_pinion":
        as_kind(system, kind, 0.4)
    return system, state_of(rng, system)


def as_kind(system, kind, constant):
    """The system with all of its revolute joints made another kind of one angle."""
    system.links = [
        replace(link, kind=kind, constant=constant) if link.kind == "revolute" else link for link in system.links
    ]
    return system


class Compiled:
    """The compiled dynamics, asked as the twin is: forces and answers by link."""

    def __init__(self, system, **keywords):
        self.dynamics, self.links, self.system = Dynamics(system, **keywords), system.links, system

    def by_body(self, forces):
        """(bodies, 6) from (links, 6)."""
        if forces is None:
            return None
        result = np.zeros((len(self.system.scene.bodies), 6))
        result[[link.body_number for link in self.links]] = forces
        return result

    def inverse_dynamics(self, q, qd, qdd, forces=None):
        return self.dynamics.inverse_dynamics(q, qd, qdd, self.by_body(forces))

    def forward_dynamics(self, q, qd, tau, forces=None):
        return self.dynamics.forward_dynamics(q, qd, tau, self.by_body(forces))

    def bias_force(self, q, qd):
        return self.dynamics.bias_force(q, qd)

    def mass_matrix(self, q):
        return self.dynamics.mass_matrix(q)

    def poses(self, q):
        return by_link(self.system, *self.dynamics.poses(q))

    def velocities(self, q, qd):
        bodies = [link.body_number for link in self.links]
        return tuple(part[bodies] for part in self.dynamics.state(q, qd)[2:])

    def body_jacobian(self, number, q):
        return self.dynamics.body_jacobian(self.links[number].body, q)


def by_link(system, positions, orientations):
    """Poses of bodies as the twin gives them: centres of mass (links, 3), rotations (links, 3, 3) of link frames."""
    rotations = [rotation_of(orientations[link.body_number]) @ link.frame[1].T for link in system.links]
    return (positions[[link.body_number for link in system.links]].reshape(-1, 3), np.array(rotations).reshape(-1, 3, 3))


def parts(answer):
    return answer if isinstance(answer, tuple) else (answer,)


def apart(method, found, expected):
    """The largest difference of two answers, relative to the largest number; of a mass matrix to its diagonal."""
    worst = 0.0
    for one, other in zip(parts(found), parts(expected), strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape, method
        scale = np.max(np.abs(other), initial=1e-300)
        if method == "mass_matrix":
            diagonal = np.sqrt(np.diag(other))
            scale = np.outer(diagonal, diagonal)
        worst = max(worst, np.max(np.abs(one - other) / scale, initial=0.0))
    return worst


def differences(dynamics, reference, state):
    """{method: how far apart the answers are}, of all methods that `dynamics` has; Jacobians of some links."""
    asked = {method: [state[name] for name in names.split()] for method, names in ASKED.items()}
    result = {
        method: apart(method, getattr(dynamics, method)(*given), getattr(reference, method)(*given))
        for method, given in asked.items()
        if hasattr(dynamics, method)
    }
    if hasattr(dynamics, "body_jacobian"):
        result["body_jacobian"] = max(
            (
                apart("body_jacobian", dynamics.body_jacobian(i, state["q"]), reference.body_jacobian(i, state["q"]))
                for i in range(len(dynamics.links) - 1, -1, -11)
            ),
            default=0.0,
        )
    return result


def check_agreement(dynamics, reference, state, tolerance=AGREE):
    found = differences(dynamics, reference, state)
    assert max(found.values()) < tolerance, found


# ---- many states in one call -----------------------------------------------------------------------------------------

METHODS = "inverse_dynamics", "forward_dynamics", "bias_force", "mass_matrix"


def batch(system, count, seed=0):
    """{"q", "qd", "x", "forces"} of many states, forces (count, bodies, 6) by body."""
    rng = np.random.default_rng(seed)
    states = [state_of(rng, system) for _ in range(max(count, 1))]
    many = {name: np.array([state[name] for state in states])[:count] for name in states[0]}
    return many | {"forces": rng.normal(size=(count, len(system.scene.bodies), 6))}


def ask(dynamics, method, state):
    """The compiled dynamics' answer for one state or many, forces by body."""
    return getattr(dynamics, method)(*(state[name] for name in ASKED[method].split()))


def case(number=3, count=12):
    """-> System, Dynamics, one state with forces by body."""
    system, _ = random_case(number, count)
    return system, Dynamics(system), {name: value[0] for name, value in batch(system, 1).items()}
