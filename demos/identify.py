"""A crate is pushed over a floor: its friction and its mass from a recorded, noisy trajectory, by Gauss-Newton's method.

python demos/identify.py [--seconds 1.0] [--png identify.png]

A known force pushes beside the crate's middle for the first part of the time, then the crate slides on. What is recorded is
where its centre is and how it has turned, sixty times a second, with noise. Each round runs the simulation at the present
guess with the derivatives of all its steps (mc.trajectory_derivatives) and solves a linear least-squares problem for the
change of both numbers (J. Nocedal, S. Wright, Numerical Optimization, 2006, section 10.3).
"""

import argparse

import numpy as np

import mcsim as mc
from mcsim.rotation import conjugate, multiply, normalize, to_rotation_vector

DT = 1 / 60
TRUE = {"friction": 0.35, "mass": 3.2}
GUESS = {"friction": 0.2, "mass": 5.0}
PUSH, ARM = 22.0, 0.05  # [N] along x, and how far beside the middle [m]
NOISE = 1e-3  # [m, rad] standard deviation
ROUNDS, LEAST = 20, 1e-7  # rounds at most, and the relative change of the last one


def crate(friction, mass):
    """A world with a crate of this friction and mass that already slides."""
    scene = mc.Scene(name="crate")
    rough = mc.Material(friction=1.0)  # contacts have the geometric mean of both: the root of the crate's
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static", material=rough)
    scene.add_body(
        "crate",
        shape=mc.Box((0.2, 0.15, 0.1)),
        mass=mass,
        position=(0, 0, 0.1 - 5e-5),
        velocity=(2.0, 0.5, 0),
        material=mc.Material(friction=friction**2),
    )
    return mc.World(scene, dt=DT, substeps=2, stabilization="baumgarte", iterations=60, sleep=False)


def pushes(steps):
    """(steps, 2, 6) forces and torques on floor and crate."""
    out = np.zeros((steps, 2, 6))
    out[: steps // 2, 1, 0], out[: steps // 2, 1, 5] = PUSH, -PUSH * ARM
    return out


def seen(run, truth):
    """(steps, 6) how far the crate is from where it was seen: places, and turns as rotation vectors."""
    places, turns = run.positions[1:, 1], run.orientations[1:, 1]
    apart = [to_rotation_vector(normalize(multiply(q, conjugate(p)))) for q, p in zip(turns, truth[1])]
    return np.concatenate([places - truth[0], apart], axis=1)


def recorded(steps, rng):
    """What was seen of the true crate: places (steps, 3), orientations (steps, 4)."""
    world, places, turns = crate(**TRUE), [], []
    for force in pushes(steps):
        world.forces[...] = force
        world.step()
        places.append(world.positions[1] + NOISE * rng.standard_normal(3))
        noise = mc.rotation.from_rotation_vector(NOISE * rng.standard_normal(3))
        turns.append(normalize(multiply(noise, world.orientations[1])))
    return np.array(places), np.array(turns)


def derivatives(run, guess):
    """(6 steps, 2) of all that is seen, by friction and by mass."""
    rows = np.r_[run.index("crate", "position"), run.index("crate", "rotation")]
    # A factor on the crate's coefficient friction^2 is friction^2 d / d(friction^2) = friction / 2 d / d friction.
    by_friction = 2.0 / guess["friction"] * run.jacobian("friction")[1:, rows, 1]
    return np.stack([by_friction.ravel(), run.jacobian("mass")[1:, rows, 1].ravel()], axis=1)


def main(seconds=1.0, png=None):
    """Runs the demo, prints what it saw and checks it. -> {"friction", "mass", "rounds"}"""
    steps = round(seconds / DT)
    truth = recorded(steps, np.random.default_rng(0))
    guess, history, change = dict(GUESS), [], np.inf
    while len(history) < ROUNDS and change > LEAST:
        run = mc.trajectory_derivatives(crate(**guess), steps, forces=pushes(steps))
        off, slopes = seen(run, truth).ravel(), derivatives(run, guess)
        history.append((dict(guess), float(np.sqrt(np.mean(off**2))), run))
        step = np.linalg.lstsq(slopes, -off, rcond=None)[0]
        step *= min(1.0, 0.5 / max(abs(step[0] / guess["friction"]), abs(step[1] / guess["mass"])))  # both stay positive
        change = max(abs(step[0] / guess["friction"]), abs(step[1] / guess["mass"]))
        guess = {"friction": guess["friction"] + step[0], "mass": guess["mass"] + step[1]}
    errors = NOISE * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    for number, (found, rms, _) in enumerate(history):
        print(f"round {number}: friction {found['friction']:.4f}, mass {found['mass']:.4f} kg, off by {1e3 * rms:.2f} mm")
    print(f"friction {guess['friction']:.5f} ± {errors[0]:.5f}, true {TRUE['friction']}")
    print(f"mass {guess['mass']:.4f} ± {errors[1]:.4f} kg, true {TRUE['mass']}")
    if png:
        _plot(png, history, truth)
        print(f"wrote {png}")
    for name, error in zip(("friction", "mass"), errors):
        assert abs(guess[name] - TRUE[name]) < 4.0 * error, f"{name} must be found to within its noise"
    return guess | {"rounds": len(history)}


def _plot(path, history, truth):
    import matplotlib
    from matplotlib.figure import Figure

    from mcsim.view import plot_style

    times = DT * np.arange(1, len(truth[0]) + 1)
    with matplotlib.rc_context(plot_style()):
        figure = Figure(figsize=(7, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.set(title="Way of the crate", xlabel="time [s]", ylabel="x [m]")
        left.plot(times, truth[0][:, 0], "k.", markersize=3, label="seen")
        for number, (_, _, run) in enumerate(history):
            if number in (0, 1, len(history) - 1):
                left.plot(times, run.positions[1:, 1, 0], label=f"round {number}")
        left.legend()
        right.set(title="Gauss–Newton", xlabel="round", ylabel="relative error")
        for name in ("friction", "mass"):
            errors = [max(abs(found[name] / TRUE[name] - 1.0), 1e-9) for found, _, _ in history]
            right.semilogy(errors, "o-", markersize=4, label=name)
        right.set_xticks(range(len(history)))
        right.legend()
        figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--png", help="write a plot of what was seen and found")
    main(**vars(parser.parse_args()))
