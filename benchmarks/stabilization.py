"""Drift and energy of a pendulum and of a double pendulum under every stabilization: a picture and a table.

    python benchmarks/stabilization.py [--png docs/theory/stabilization.png] [--theme dark] [--seconds 10] [--iterations 30]

Joints solved to convergence (30 sweeps), so that what is seen is the stabilization and not the solver.
"""

import argparse

import numpy as np

import mcsim as mc
from mcsim.core.plot_style import THEMES, Lines, plot_style, theme_of
from mcsim.world.capabilities import STABILIZATIONS

SCENES = {
    "pendulum": lambda: mc.scenes.pendulum(length=1.0, angle=np.pi / 2),
    "double pendulum": mc.scenes.double_pendulum,
}


def swing(scene, stabilization, seconds, iterations):
    """-> times (t,) [s], largest joint error (t,) [m], change of the total energy (t,) [J]"""
    world = mc.World(scene, stabilization=stabilization, iterations=iterations)
    start = world.energy().total
    out = []
    for _ in range(round(seconds / world.dt)):
        world.step()
        out.append((world.time, world.joint_errors()[:, 0].max(), world.energy().total - start))
    return np.array(out).T


def main(seconds=10.0, iterations=30, png=None, theme="light"):
    """Runs all, prints the table, draws the picture. -> {(scene, stabilization): (worst gap [m], energy change [J])}"""
    curves, table = {}, {}
    for name, build in SCENES.items():
        print(f"{name}: {seconds:g} s\n{'':14s} {'worst gap':>12s} {'rms gap':>12s} {'energy change':>14s}")
        for stabilization in STABILIZATIONS:
            curve = curves[name, stabilization] = swing(build(), stabilization, seconds, iterations)
            _, gap, energy = curve
            table[name, stabilization] = float(gap.max()), float(energy[-1])
            print(f"{stabilization:14s} {gap.max():10.1e} m {np.sqrt(np.mean(gap**2)):10.1e} m {energy[-1]:+12.3f} J")
    if png:
        _plot(png, curves, iterations, theme)
        print(f"wrote {png}")
    return table


def _plot(path, curves, iterations, theme):
    import matplotlib
    from matplotlib.figure import Figure

    methods = {name: f"maximal:tree+{name}" for name in STABILIZATIONS}
    lines = Lines(theme_of(theme), methods.values())
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        axes = figure.subplots(2, len(SCENES), sharex=True, squeeze=False)
        for column, scene in enumerate(SCENES):
            for name, method in methods.items():
                times, gap, energy = curves[scene, name]
                # ggl lies on projection in energy: dashes let both be seen.
                style = lines.line(method) | ({"linestyle": "--", "zorder": 3} if name == "ggl" else {})
                axes[0, column].semilogy(times, np.maximum(gap, 1e-17), label=name, **style)
                axes[1, column].plot(times, energy, label=name, **style)
            axes[0, column].set(title=scene, ylabel="joint open by [m]")
            axes[1, column].set(xlabel="time [s]", ylabel="change of the energy [J]")
        figure.suptitle(f"dt 1/60 s, 4 substeps, joints by {iterations} sweeps")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(methods))
        figure.savefig(path, dpi=140)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--png")
    parser.add_argument("--theme", choices=THEMES, default="light")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--iterations", type=int, default=30)
    main(**vars(parser.parse_args()))
