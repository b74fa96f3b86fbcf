"""A stack of 15 boxes: does it stand, and does the lowest contact carry the whole weight?

python demos/stack.py [--seconds 10] [--png stack.png]
"""

import argparse

import numpy as np

import mcsim as mc
from mcsim.io import Recorder


def main(seconds=10.0, png=None):
    """Runs the demo, prints what it saw and checks it. -> (drift of the top box [m], carried part of the weight)"""
    scene = mc.scenes.stack(count=15)
    world = mc.World(scene)
    start = world.positions.copy()
    weight = world.masses.sum() * 9.81  # the floor is static: its mass counts as 0

    recorder = Recorder(world, every=10)
    recorder.step(round(seconds / world.dt / 10))

    floor = world.body_names.index("floor")
    contacts = world.contacts
    on_floor = contacts[(contacts["body_a"] == floor) | (contacts["body_b"] == floor)]
    carried = on_floor["normal_impulse"].sum() / world.dt / weight
    drift = float(np.linalg.norm((world.positions - start)[-1, :2]))
    speed = float(np.abs(world.velocities).max())
    print(
        f"after {world.time:.1f} s the top box has moved {1000 * drift:.2f} mm aside and sunk "
        f"{1000 * (start - world.positions)[-1, 2]:.1f} mm; the fastest box moves at {speed:.1e} m/s"
    )
    print(f"the floor carries {100 * carried:.3f} % of the weight of {weight / 1000:.1f} kN")
    if png:
        from mcsim.view import save_png

        save_png(png, scene, recorder.recording())
        print(f"wrote {png}")
    assert drift < 0.05, "the stack leans"
    assert start[-1, 2] - world.positions[-1, 2] < 0.2, "the stack sinks"
    assert abs(carried - 1) < 0.01, "the floor does not carry the weight"
    return drift, carried


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--png", help="write a picture of the end")
    main(**vars(parser.parse_args()))
