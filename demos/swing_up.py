"""A cart swings a pole up: its force over time by the derivatives of forward dynamics (iterative LQR).

python demos/swing_up.py [--seconds 2.5] [--png swing_up.png]

Each round linearizes all steps of the motion by one call of forward_dynamics_derivatives, finds from the last step back
how the force should change and follow the state (D. Jacobson, D. Mayne, Differential Dynamic Programming, 1970; W. Li,
E. Todorov, "Iterative linear quadratic regulator design", 2004), and goes that way as far as it gets better.
"""

import argparse

import numpy as np

import mcsim as mc

DT = 0.02
HANGING = np.array([0.0, np.pi, 0.0, 0.0])  # way of the cart [m], angle of the pole from upright [rad], their rates
EFFORT, END = 1e-2, 1e4  # what a newton squared costs a step, and being off upright rest at the end
MOST = 40.0  # force [N]
ROUNDS, LEAST = 200, 1e-4  # rounds at most, and the part of the cost by which the last one gets better


def cart_pole():
    """Dynamics of a cart of 2 kg on a rail along x with a pole of 0.3 kg, 1 m long, which stands upright at q = 0."""
    scene = mc.Scene(name="cart_pole")
    scene.add_body("cart", shape=mc.Box((0.2, 0.1, 0.1)), mass=2.0, collision_mask=0)
    scene.add_joint(mc.SliderJoint(None, "cart", anchor=(0, 0, 0), axis=(1, 0, 0), name="rail"))
    scene.add_body("pole", shape=mc.Capsule(0.03, 0.47), mass=0.3, position=(0, 0, 0.5), collision_mask=0)
    scene.add_joint(mc.HingeJoint("cart", "pole", anchor=(0, 0, 0), axis=(0, 1, 0), name="pin"))
    return mc.reduced.Dynamics(mc.reduced.System(scene))


def stepped(dynamics, state, push):
    """A step of Euler's method that goes to the new place with the new velocity."""
    qd = state[2:] + DT * dynamics.forward_dynamics(state[:2], state[2:], [push, 0.0])
    return np.concatenate([state[:2] + DT * qd, qd])


def rolled(dynamics, force, states=None, gains=None):
    """-> force (steps,) and states (steps + 1, 4) from hanging on; with gains the force follows the former states."""
    pushes, found = np.array(force), [HANGING]
    for k in range(len(force)):
        if gains is not None:
            pushes[k] = np.clip(pushes[k] + gains[k] @ (found[k] - states[k]), -MOST, MOST)
        found.append(stepped(dynamics, found[k], pushes[k]))
    return pushes, np.array(found)


def cost(force, states):
    return 0.5 * (EFFORT * force @ force + END * states[-1] @ states[-1])


def linearized(dynamics, force, states):
    """A (steps, 4, 4), B (steps, 4): how the end of a step changes with its beginning and its force."""
    torques = np.stack([force, np.zeros(len(force))], axis=1)
    found = dynamics.forward_dynamics_derivatives(states[:-1, :2], states[:-1, 2:], torques)
    velocity = np.eye(4)[2:] + DT * np.concatenate([found.dqdd_dq, found.dqdd_dqd], axis=2)
    place = np.eye(4)[:2] + DT * velocity
    by_force = DT * found.dqdd_dtau[:, :, 0]
    return np.concatenate([place, velocity], axis=1), np.concatenate([DT * by_force, by_force], axis=1)


def improvement(dynamics, force, states):
    """-> change of the force (steps,) and how it is to follow the state (steps, 4), from the last step back."""
    a, b = linearized(dynamics, force, states)
    curvature, slope = END * np.eye(4), END * states[-1]
    change, gains = np.zeros(len(force)), np.zeros((len(force), 4))
    for k in reversed(range(len(force))):
        own, pull, mixed = EFFORT + b[k] @ curvature @ b[k], EFFORT * force[k] + b[k] @ slope, b[k] @ curvature @ a[k]
        change[k], gains[k] = -pull / own, -mixed / own
        slope = a[k].T @ slope + mixed * change[k]
        curvature = a[k].T @ curvature @ a[k] + np.outer(mixed, gains[k])
    return change, gains


def main(seconds=2.5, png=None):
    """Runs the demo, prints what it saw and checks it. -> {"rounds", "off": from upright rest at the end, "force": most}"""
    dynamics = cart_pole()
    force, states = rolled(dynamics, np.sin(np.linspace(0.0, 2.0 * np.pi, round(seconds / DT))))
    rounds, better = 0, np.inf
    while rounds < ROUNDS and better > LEAST * cost(force, states):
        change, gains = improvement(dynamics, force, states)
        tried = (rolled(dynamics, force + 0.5**n * change, states, gains) for n in range(20))
        found = next((one for one in tried if cost(*one) < cost(force, states)), (force, states))
        better = cost(force, states) - cost(*found)
        force, states = found
        rounds += 1
    off, largest = float(np.abs(states[-1]).max()), float(np.abs(force).max())
    print(f"{rounds} rounds: off upright rest by {off:.1e} (m, rad, m/s, rad/s) after {seconds:g} s")
    print(f"force at most {largest:.1f} N")
    if png:
        _plot(png, force, states)
        print(f"wrote {png}")
    assert off < 0.05, "the pole must stand at the end"
    return {"rounds": rounds, "off": off, "force": largest}


def _plot(path, force, states):
    import matplotlib
    from matplotlib.figure import Figure

    from mcsim.view import plot_style

    with matplotlib.rc_context(plot_style()):
        figure = Figure(figsize=(6, 3.4), layout="constrained")
        axes = figure.add_subplot(title="A cart swings a pole up", xlabel="time [s]", ylabel="rad, m")
        times = DT * np.arange(len(states))
        axes.plot(times, states[:, 1], "C0-", label="angle of the pole from upright")
        axes.plot(times, states[:, 0], "C1--", label="way of the cart")
        beside = axes.twinx()
        beside.plot(times[:-1], force, "C7:", label="force")
        beside.set_ylabel("N")
        beside.grid(False)
        figure.legend(loc="outside lower center", ncols=3)
        figure.savefig(path, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.5)
    parser.add_argument("--png", help="write a plot of the motion")
    main(**vars(parser.parse_args()))
