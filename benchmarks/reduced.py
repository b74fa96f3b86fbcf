"""Algorithms and steps in generalized coordinates, beside Pinocchio and MuJoCo on the same trees.

    python benchmarks/reduced.py                     all that is installed (pip install pin mujoco)
    python benchmarks/reduced.py --csv results.csv
    python benchmarks/reduced.py --energy            the energy of free trees over 10 s alone

Times are least of many calls, the engines taking turns; one process, one thread. Calls are made from Python, batches in
one call of 10,000 states, 1,000 where answers are large (Pinocchio: its C++ loop over them is not reached from Python,
so its single call stands beside).
"""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import mcsim as mc
from common import Result, machine, write_csv
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.system import System

STATES = 10_000
LARGE = 2_000_000_000  # bytes of answers beyond which a batch has a tenth of the states
TURNS, CALLS = 15, 200
ENERGY_SECONDS = 10.0


def chain(n, ball=False):
    """n capsules 0.5 m apart along x, on hinges about y or on ball joints, the first one to the world."""
    scene = mc.load("chain", count=n)
    if ball:
        return scene
    hinged = mc.Scene(name="hinges")
    previous = None
    for body in scene.bodies:
        hinged.add_body(
            body.name, shape=mc.Capsule(0.1, 0.15), position=body.position, orientation=body.orientation, collision_mask=0
        )
        hinged.add_joint(mc.HingeJoint(previous, body.name, body.position - (0.25, 0, 0), (0, 1, 0)))
        previous = body.name
    return hinged


def humanoid():
    """A free trunk with a head, arms and legs: 29 bodies, 28 hinges, 34 velocities."""
    scene = mc.Scene(name="humanoid")
    rng = np.random.default_rng(0)

    def limb(parent, name, at, down, count):
        for k in range(count):
            at = at + down
            inertia = 0.01 * (1.0 + rng.random(3))
            scene.add_body(f"{name}{k}", mass=1.0 + rng.random(), inertia=inertia, position=at)
            scene.add_joint(mc.HingeJoint(parent, f"{name}{k}", at - 0.5 * down, np.eye(3)[k % 3]))
            parent = f"{name}{k}"

    scene.add_body("trunk", mass=20.0, inertia=(1.0, 0.9, 0.5), position=(0, 0, 1.2))
    trunk = np.array([0, 0, 1.2])
    limb("trunk", "head", trunk, np.array([0, 0, 0.2]), 4)
    for side in (-1, 1):
        limb("trunk", f"arm{side}_", trunk + (0, 0.2 * side, 0.2), np.array([0, 0, -0.12]), 6)
        limb("trunk", f"leg{side}_", trunk + (0, 0.1 * side, -0.2), np.array([0, 0, -0.15]), 6)
    return scene


class Pinocchio:
    """The tree of a System of hinges, on a free trunk or on the world."""

    def __init__(self, system):
        import pinocchio as pin

        self.pin, model = pin, pin.Model()
        for link in system.links:
            joint = {"revolute": pin.JointModelRZ, "free": pin.JointModelFreeFlyer}[link.kind]()
            number = model.addJoint(link.parent + 1, joint, pin.SE3(link.turn, link.place), link.body)
            model.appendBodyToJoint(number, pin.Inertia(link.mass, link.com, link.inertia), pin.SE3.Identity())
        self.model, self.data = model, model.createData()
        rng = np.random.default_rng(1)
        self.q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        self.v, self.a = rng.normal(size=(2, model.nv))

    def calls(self):
        pin, m, d = self.pin, self.model, self.data
        return {
            "aba": lambda: pin.aba(m, d, self.q, self.v, self.a),
            "rnea": lambda: pin.rnea(m, d, self.q, self.v, self.a),
            "crba": lambda: pin.crba(m, d, self.q),
            "aba derivatives": lambda: pin.computeABADerivatives(m, d, self.q, self.v, self.a),
            "rnea derivatives": lambda: pin.computeRNEADerivatives(m, d, self.q, self.v, self.a),
        }


def own_calls(system, states=None):
    dynamics, rng = Dynamics(system), np.random.default_rng(1)
    shape = () if states is None else (states,)
    q = np.tile(system.neutral(), (*shape, 1)) + 0.3 * rng.normal(size=(*shape, system.nq))
    qd, x = rng.normal(size=(2, *shape, system.nv))
    return {
        "aba": lambda: dynamics.forward_dynamics(q, qd, x),
        "rnea": lambda: dynamics.inverse_dynamics(q, qd, x),
        "crba": lambda: dynamics.mass_matrix(q),
        "aba derivatives": lambda: dynamics.forward_dynamics_derivatives(q, qd, x),
        "rnea derivatives": lambda: dynamics.inverse_dynamics_derivatives(q, qd, x),
    }


def least(calls, count):
    """Least seconds a call of each, in turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(TURNS):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(count):
                call()
            best[name] = min(best[name], (time.perf_counter() - begin) / count)
    return best


def measure_algorithms(name, scene):
    """A call, and a state in a batch."""
    system = System(scene)
    calls = {("mcsim", what): call for what, call in own_calls(system).items()}
    if find_spec("pinocchio"):
        calls |= {("pinocchio", what): call for what, call in Pinocchio(system).calls().items()}
    states = STATES if 24 * system.nv**2 * STATES < LARGE else STATES // 10
    batch = least({("mcsim batch", what): call for what, call in own_calls(system, states).items() if what != "crba"}, 1)
    found = least(calls, CALLS) | {key: seconds / states for key, seconds in batch.items()}
    return [Result(name, what, engine, 1e3 * seconds) for (engine, what), seconds in found.items()]


def mujoco_chain(n, ball):
    """MJCF of the same chain: capsules of radius 0.1 and half length 0.15 in a row, without contacts."""
    joint = '<joint type="ball"/>' if ball else '<joint type="hinge" axis="0 1 0"/>'
    text = (
        "".join(
            f'<body pos="{0.5 if k else 0} 0 0">{joint}<geom type="capsule" fromto="0.1 0 0 0.4 0 0" size="0.1" '
            'density="1000" contype="0" conaffinity="0"/>'
            for k in range(n)
        )
        + "</body>" * n
    )
    return (
        f'<mujoco><option timestep="0.001" gravity="0 0 -9.81"/><compiler inertiafromgeom="true"/><worldbody>{text}'
        "</worldbody></mujoco>"
    )


def measure_steps(name, ball):
    """A step at 1 ms, in the first second."""
    world = mc.ReducedWorld(chain(100, ball), dt=1e-3)
    calls = {("mcsim", "step"): world.step}
    if find_spec("mujoco"):
        import mujoco

        model = mujoco.MjModel.from_xml_string(mujoco_chain(100, ball))
        data = mujoco.MjData(model)
        calls["mujoco", "step"] = lambda: mujoco.mj_step(model, data)
    start = world.energy().total
    best = least(calls, 50)
    note = f"energy changed by {world.energy().total - start:.2g} J in {world.time:.2f} s"
    return [
        Result(name, what, engine, 1e3 * seconds, note if engine == "mcsim" else "")
        for (engine, what), seconds in best.items()
    ]


def ragdoll():
    """One of the dolls of `ragdolls11`, without shapes, limits and floor: 11 bodies, ball joints and hinges."""
    source, scene = mc.load("ragdolls11", count=1), mc.Scene(name="ragdoll")
    for body in source.bodies:
        if body.kind == "dynamic":
            scene.add_body(
                body.name, mass=body.mass, inertia=body.inertia, position=body.position, orientation=body.orientation
            )
    for joint in source.joints:
        kind = {"ball": mc.BallJoint, "hinge": mc.HingeJoint}[joint.type]
        scene.add_joint(kind(joint.a, joint.b, frame_a=joint.frame_a, frame_b=joint.frame_b, name=joint.name))
    return scene


def measure_energy(name, scene):
    """Free flight from random velocities (standard normal: m/s, rad/s), steps of 1 ms: how far the total energy is off at
    most, looked at every 10 ms, as a part of what it is."""
    results = []
    for integrator in ("rk4", "semi_implicit"):
        world = mc.ReducedWorld(scene, dt=1e-3, integrator=integrator)
        world.qd = np.random.default_rng(0).normal(size=len(world.qd))
        start, off, seconds = world.energy().total, 0.0, 0.0
        for _ in range(round(ENERGY_SECONDS / 0.01)):
            begin = time.perf_counter()
            world.step(10)
            seconds += time.perf_counter() - begin
            off = max(off, abs(world.energy().total - start))
        note = f"energy off by {off / abs(start):.1e} of {start:.4g} J in {ENERGY_SECONDS:g} s"
        results.append(Result(name, integrator, "mcsim", 1e3 * seconds / (ENERGY_SECONDS / 1e-3), note))
    return results


def main(arguments=None):
    """Measures, prints, writes; answers with the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path, help="write the results")
    parser.add_argument("--energy", action="store_true", help="the energy of free trees alone")
    given = parser.parse_args(arguments)
    print(machine())
    results = []
    algorithms = (
        ("chain of 100 hinges", measure_algorithms, chain(100)),
        ("humanoid, 34 velocities", measure_algorithms, humanoid()),
        ("chain of 100 hinges", measure_steps, False),
        ("chain of 100 ball joints", measure_steps, True),
    )
    energies = ("free ragdoll", measure_energy, ragdoll()), ("humanoid, 34 velocities", measure_energy, humanoid())
    for name, measure, what in energies if given.energy else (*algorithms, *energies):
        for row in measure(name, what):
            results.append(row)
            print(f"{row.case:26} {row.what:16} {row.engine:12} {1e3 * row.ms_step:9.2f} µs  {row.note}", flush=True)
    if given.csv:
        write_csv(given.csv, results, {}, TURNS)
    return results


if __name__ == "__main__":
    main()
