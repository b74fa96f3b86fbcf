"""A pendulum's hinge drifts: the same swing without stabilization, with Baumgarte's, and with soft joints.

python demos/pendulum_drift.py [--seconds 20] [--png drift.png]
"""

import argparse

import numpy as np

import mcsim as mc


def main(seconds=20.0, png=None):
    """Runs the demo, prints what it saw and checks it. -> {stabilization: opening of the hinge at the end [m]}"""
    scene = mc.scenes.pendulum(length=1.0, angle=np.pi / 2)
    drift, curves = {}, {}
    for stabilization in ("none", "baumgarte", "soft"):
        world = mc.World(scene, dt=1 / 240, substeps=1, stabilization=stabilization)
        start = world.energy().total
        times, errors = [], []
        for _ in range(round(seconds * 24)):
            world.step(10)
            times.append(world.time)
            errors.append(world.joint_errors()[0, 0])
        change = world.energy().total - start
        print(
            f"{stabilization:10s} hinge open by {1e6 * errors[-1]:10.2f} µm after {world.time:.0f} s "
            f"({1e6 * max(errors):.2f} µm at worst), energy changed by {change:+.3g} J"
        )
        drift[stabilization], curves[stabilization] = float(errors[-1]), (times, errors)
    if png:
        _plot(png, curves)
        print(f"wrote {png}")
    assert drift["none"] > 10 * max(drift["baumgarte"], drift["soft"]), "stabilization must hold the hinge together"
    assert max(drift["baumgarte"], drift["soft"]) < 1e-2, "the hinge came apart"
    return drift


def _plot(path, curves):
    import matplotlib
    from matplotlib.figure import Figure

    from mcsim.view import plot_style

    with matplotlib.rc_context(plot_style()):
        figure = Figure(figsize=(6, 3.4), layout="constrained")
        axes = figure.add_subplot(
            title="Pendulum of 1 m let go from the horizontal, dt 1/240 s",
            xlabel="time [s]",
            ylabel="hinge open by [m]",
            yscale="log",
        )
        for (name, (times, errors)), look in zip(curves.items(), ("C7-", "C1--", "C0-")):
            axes.plot(times, np.maximum(errors, 1e-16), look, label=name)
        axes.legend()
        figure.savefig(path, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--png", help="write a plot of the drift")
    main(**vars(parser.parse_args()))
