"""Many variants of one model in one call, beside mujoco.rollout: microseconds a step of one world.

    python benchmarks/rollouts.py                          512 cart-poles, 200 steps, all processors (pip install mujoco)
    python benchmarks/rollouts.py --worlds 4096 --steps 1000 --threads 2
    python benchmarks/rollouts.py --model humanoid --worlds 256    256 of Gymnasium's humanoids (ant, hopper, walker2d,
                                                           half_cheetah, or a path; pip install gymnasium)

Both have the same masses, the same dt, and a force on the cart of their own in each step and world; states are kept after
each step. Beside the time stands by how much the ends are apart from those of ReducedWorld's rk4 at a tenth of the step.

A model is driven by random controls at the file's own time step, from its own start. Contacts differ between the engines
and ends are soon apart, so beside the time stand by how much joints are open at the end (coordinates have them closed), how
deep anything is in the floor, and what becomes of the energy of one that tumbles for a second without contacts, limits,
damping and controls, as a part of its kinetic energy.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

import mcsim as mc
from common import machine

DT = 0.01
BETWEEN = 0.01  # of the mass of a body, that of one between several joints of it, in a World: light ones cost time there

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


# ---- models of files -------------------------------------------------------------------------------------------------


def file_of(model):
    import gymnasium

    known = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{model}.xml"
    return str(known if known.exists() else model)


def our_model(kind, robot, controls, dt, threads, **keywords):
    """-> seconds, largest joint error [m], deepest contact [m]"""
    world = kind(robot.scene, dt=dt, sleep=False, **keywords)
    tau = np.zeros((*controls.shape[:2], len(world.tau)))
    for k, actuator in enumerate(robot.actuators.values()):
        for joint, gear in actuator.joints.items():
            tau[..., world.index(joint)[1]] += gear * actuator.gain[0] * controls[..., [k]]
    begin = time.perf_counter()
    runs = mc.rollout(world, controls.shape[1], controls={"tau": tau}, record=("positions",), threads=threads)
    seconds = time.perf_counter() - begin
    assert np.isfinite(runs.positions).all()
    error = depth = 0.0
    for k in range(controls.shape[1]):  # one of them once more, to look at
        world.tau[:] = tau[0, k]
        world.step()
        error = max(error, world.joint_errors()[:, 0].max(initial=0.0))
        depth = max(depth, -world.contacts["separation"].min(initial=0.0))
    return seconds, error, depth


def our_tumble(kind, text, dt, velocity, seconds=1.0, **keywords):
    """-> change of the energy, as a part of the kinetic energy at the start"""
    from mcsim.io import read_mjcf

    robot = read_mjcf(text)
    there = mc.ReducedWorld(robot.scene, dt=dt, sleep=False)
    there.qd = velocity
    world = kind(there.to_scene(), dt=dt, sleep=False, **keywords)
    begin, moving = world.energy().total, world.energy().kinetic
    world.step(round(seconds / dt))
    return abs(world.energy().total - begin) / moving


def mujoco_model(path, controls, threads, integrator):
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_path(path)
    model.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}"))
    datas = [mujoco.MjData(model) for _ in range(threads)]
    start = np.zeros((len(controls), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + model.nq] = model.qpos0
    with rollout.Rollout(nthread=threads) as made:
        begin = time.perf_counter()
        states, _ = made.rollout(model, datas, start, controls)
        seconds = time.perf_counter() - begin
    assert np.isfinite(states).all()
    data, depth = mujoco.MjData(model), 0.0
    for control in controls[0]:
        data.ctrl[:] = control
        mujoco.mj_step(model, data)
        depth = max(depth, -min(data.contact.dist, default=0.0))
    return seconds, 0.0, depth


def mujoco_tumble(text, dt, velocity, integrator, seconds=1.0):
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep, model.opt.enableflags = dt, int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    model.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}"))
    data = mujoco.MjData(model)
    data.qvel[:] = velocity
    mujoco.mj_forward(model, data)
    begin, moving = data.energy.sum(), data.energy[1]
    for _ in range(round(seconds / dt)):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return abs(data.energy.sum() - begin) / moving


def free_text(path):
    """The model without contacts, limits, damping, springs and friction of joints."""
    import mujoco

    spec = mujoco.MjSpec.from_file(path)
    off = ("CONTACT", "LIMIT", "DAMPER", "SPRING", "FRICTIONLOSS", "ACTUATION")
    spec.option.disableflags |= sum(int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in off)
    spec.compile()
    return spec.to_xml()


def compare_model(arguments):
    """Of a file, by both engines."""
    import mujoco

    from mcsim.io import read_mjcf

    path = file_of(arguments.model)
    model = mujoco.MjModel.from_xml_path(path)
    dt, threads = float(model.opt.timestep), arguments.threads
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot, heavier, text = read_mjcf(path), read_mjcf(path, between=BETWEEN), free_text(path)
    rng = np.random.default_rng(0)
    low, high = model.actuator_ctrlrange.T
    controls = rng.uniform(low, high, (arguments.worlds, arguments.steps, model.nu))
    velocity = rng.normal(size=model.nv)
    cases = {}
    for name, kind, read, keywords in (
        ("World", mc.World, heavier, {}),
        ("World rk4", mc.World, heavier, {"integrator": "rk4"}),
        ("ReducedWorld", mc.ReducedWorld, robot, {}),
        ("ReducedWorld rk4", mc.ReducedWorld, robot, {"integrator": "rk4"}),
    ):
        cases[name] = (
            lambda kind=kind, read=read, keywords=keywords: our_model(kind, read, controls, dt, threads, **keywords),
            lambda kind=kind, keywords=keywords: our_tumble(kind, text, dt, velocity, **keywords),
        )
    for integrator in ("Euler", "RK4"):
        cases[f"mujoco {integrator}"] = (
            lambda integrator=integrator: mujoco_model(path, controls, threads, integrator),
            lambda integrator=integrator: mujoco_tumble(text, dt, velocity, integrator),
        )
    print(
        f"{machine()}\n{arguments.model}: {arguments.worlds} worlds, {arguments.steps} steps of {dt} s, {threads} threads"
    )
    print(f"{'':18s} {'us a step':>10s}   joints open [m]   deepest [m]   energy")
    for name, (run, tumble) in cases.items():
        found = [run() for _ in range(arguments.repeats)]
        best = min(seconds for seconds, *_ in found) / (arguments.worlds * arguments.steps) * 1e6
        _, error, depth = found[0]
        print(f"{name:18s} {best:10.2f}   {error:15.1e}   {depth:11.1e}   {tumble():.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", help="a model of Gymnasium's, or an MJCF file, in place of the cart-pole")
    arguments = parser.parse_args()
    if arguments.model:
        compare_model(arguments)
        return
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
