"""Energy of jointed chains over a long run under every integrator: medians of fiftieths as a picture, bands of tenths
as a table.

    python benchmarks/integrators.py [--png docs/theory/variational.png] [--steps 100000] [--rate 200]

A double pendulum in a plane, and four bodies of three different moments on ball joints in space, both let go from rest;
both are chaotic. One substep a step.
"""

import argparse

import numpy as np

import mcsim as mc
from mcsim.core.plot_style import THEMES, Lines, plot_style, theme_of

RUNS = {
    "semi_implicit, tree": dict(joint_solver="tree"),
    "rk4, projection": dict(integrator="rk4", stabilization="projection"),
    "rattle": dict(integrator="rattle"),
    "variational": dict(integrator="variational"),
}
# Their names as methods, by which plots know their looks.
METHODS = {
    "semi_implicit, tree": "maximal:tree+soft",
    "rk4, projection": "maximal:tree+projection@rk4",
    "rattle": "maximal:tree+soft@rattle",
    "variational": "maximal:tree+soft@variational",
}
LOOKS = 5000


def tangle(count=4, seed=0):
    """Bodies with principal axes, moments and joints at random, hung on each other."""
    rng = np.random.default_rng(seed)
    scene, point = mc.Scene(name="tangle"), np.zeros(3)
    for k in range(count):
        way = rng.normal(size=3)
        way /= 2 * np.linalg.norm(way)
        turn = rng.normal(size=4)
        scene.add_body(
            f"b{k}",
            mass=rng.uniform(0.5, 2),
            inertia=rng.uniform(0.8, 1.2, 3) * (0.03, 0.04, 0.05),
            position=point + way / 2,
            orientation=turn / np.linalg.norm(turn),
        )
        scene.add_joint(mc.BallJoint(f"b{k - 1}" if k else None, f"b{k}", point))
        point = point + way
    return scene


SCENES = {"double pendulum": mc.scenes.double_pendulum, "four bodies in space": tangle}


def run(scene, keywords, steps, rate):
    """-> times (LOOKS,) [s], change of the energy over the largest kinetic one (LOOKS,), the world"""
    world = mc.World(scene, dt=1 / rate, substeps=1, **keywords)
    start, fastest = world.energy().total, 0.0
    times, change = np.empty(LOOKS), np.empty(LOOKS)
    for k in range(LOOKS):
        world.step(max(steps // LOOKS, 1))
        energy = world.energy()
        times[k], change[k] = world.time, energy.total - start
        fastest = max(fastest, energy.kinetic)
    return times, change / fastest, world


def main(steps=100_000, rate=200.0, png=None, theme="light"):
    """Runs all, prints the bands, draws the picture. -> {(scene, run): (10, 2) lowest and highest in each tenth}"""
    curves, table = {}, {}
    for name, build in SCENES.items():
        print(
            f"{name}: {steps} steps of 1/{rate:g} s; change of the energy over the largest kinetic energy, "
            "by tenths of the run"
        )
        for label, keywords in RUNS.items():
            times, change, world = run(build(), keywords, steps, rate)
            curves[name, label] = times, change
            tenths = change.reshape(10, -1)
            band = table[name, label] = np.stack([tenths.min(axis=1), tenths.max(axis=1)], axis=1)
            print(
                f"  {label:20s} joints {world.joint_errors().max():.0e} m  "
                + " ".join(f"[{low:+.1e} {high:+.1e}]" for low, high in band)
            )
    if png:
        _plot(png, curves, theme)
        print(f"wrote {png}")
    return table


def _plot(path, curves, theme):
    import matplotlib
    from matplotlib.figure import Figure

    lines = Lines(theme_of(theme), METHODS.values())
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(7.2, 3.0), layout="constrained")
        axes = figure.subplots(1, len(SCENES), squeeze=False)[0]
        for ax, scene in zip(axes, SCENES):
            for label, method in METHODS.items():
                times, change = (np.median(x.reshape(50, -1), axis=1) for x in curves[scene, label])
                ax.plot(times, change, label=label, **lines.line(method))
            ax.set(title=scene, xlabel="time [s]")
        axes[0].set_ylabel("change of the energy / largest kinetic energy")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(RUNS))
        figure.savefig(path, dpi=140)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--png")
    parser.add_argument("--theme", choices=THEMES, default="light")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=200.0)
    main(**vars(parser.parse_args()))
