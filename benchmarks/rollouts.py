"""Many variants of one model in one call, beside mujoco.rollout: microseconds a step of one world.

    python benchmarks/rollouts.py                          512 cart-poles, 200 steps, all processors (pip install mujoco)
    python benchmarks/rollouts.py --worlds 4096 --steps 1000 --threads 2

Both have the same masses, the same dt, and a force on the cart of their own in each step and world; states are kept after
each step. Beside the time stands by how much the ends are apart from those of ReducedWorld's rk4 at a tenth of the step.
"""

import argparse
import os
import time

import numpy as np

import mcsim as mc
from common import machine

DT = 0.01

MODEL = """
<mujoco><option timestep="{dt}" integrator="{integrator}"/><worldbody><body>
  <joint type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
  <body><joint type="hinge" axis="0 1 0"/><inertial pos="0 0 0.5" mass="0.1" diaginertia="0.008 0.008 0.0001"/></body>
</body></worldbody><actuator><motor joint="slide0"/></actuator></mujoco>
""".replace('<joint type="slide"', '<joint name="slide0" type="slide"')


def cart_pole():
    scene = mc.Scene()
    scene.add_body("cart", mass=1.0, inertia=(0.01, 0.01, 0.01))
    scene.add_body("pole", mass=0.1, inertia=(0.008, 0.008, 0.0001), position=(0, 0, 0.5))
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0)))
    scene.add_joint(mc.HingeJoint("cart", "pole", anchor=(0, 0, 0), axis=(0, 1, 0)))
    return scene


def ours(kind, forces, threads, dt=DT, **keywords):
    """-> seconds, (worlds, 2) place of the cart and of the pole's middle along x"""
    world = kind(cart_pole(), dt=dt, sleep=False, **keywords)
    tau = np.zeros((*forces.shape, len(world.tau)))
    tau[..., 0] = forces
    begin = time.perf_counter()
    runs = mc.rollout(world, forces.shape[1], controls={"tau": tau}, record=("positions",), threads=threads)
    return time.perf_counter() - begin, runs.positions[:, -1, :, 0]


def mujocos(forces, threads, integrator):
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(MODEL.format(dt=DT, integrator=integrator))
    datas = [mujoco.MjData(model) for _ in range(threads)]
    start = np.zeros((len(forces), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    with rollout.Rollout(nthread=threads) as made:
        begin = time.perf_counter()
        states, _ = made.rollout(model, datas, start, forces[..., None])
        seconds = time.perf_counter() - begin
    place, angle = states[:, -1, 1], states[:, -1, 2]
    return seconds, np.stack([place, place + 0.5 * np.sin(angle)], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    forces = np.random.default_rng(0).uniform(-5, 5, (arguments.worlds, arguments.steps))
    threads = arguments.threads
    cases = {
        "World": lambda: ours(mc.World, forces, threads),
        "ReducedWorld": lambda: ours(mc.ReducedWorld, forces, threads),
        "ReducedWorld rk4": lambda: ours(mc.ReducedWorld, forces, threads, integrator="rk4"),
        "mujoco Euler": lambda: mujocos(forces, threads, "Euler"),
        "mujoco RK4": lambda: mujocos(forces, threads, "RK4"),
    }
    _, right = ours(mc.ReducedWorld, np.repeat(forces, 10, axis=1), threads, dt=DT / 10, integrator="rk4")
    print(f"{machine()}\n{arguments.worlds} worlds, {arguments.steps} steps of {DT} s, {threads} threads")
    print(f"{'':18s} {'us a step':>10s}   off by, middle and most [m]")
    for name, run in cases.items():
        try:
            found = [run() for _ in range(arguments.repeats)]
        except ImportError:
            print(f"{name:18s} not installed")
            continue
        off = np.abs(found[0][1] - right)
        best = min(seconds for seconds, _ in found) / forces.size * 1e6
        print(f"{name:18s} {best:10.2f}   {np.median(off):.1e} {off.max():.1e}")


if __name__ == "__main__":
    main()
