"""People fall on the floor: do they come to rest in one piece?

python demos/ragdolls.py [--count 9] [--seconds 8] [--png ragdolls.png]
"""

import argparse

import numpy as np

import mcsim as mc
from mcsim.io import Recorder


def main(count=9, seconds=8.0, png=None):
    """Runs the demo, prints what it saw and checks it. -> (fastest body [m/s], largest joint error [m]) at the end"""
    scene = mc.scenes.ragdolls(count=count)
    world = mc.World(scene)
    mass = world.masses.sum()

    recorder = Recorder(world, every=6)
    worst = 0.0
    for _ in range(round(seconds / world.dt / 6)):
        recorder.step()
        worst = max(worst, world.joint_errors()[:, 0].max())

    speed = float(np.linalg.norm(world.velocities, axis=1).max())
    error = float(world.joint_errors()[:, 0].max())
    height = float(world.positions[:, 2].max())
    print(f"{count} people of {mass / count:.1f} kg, {len(scene.bodies) - 1} bodies, {len(scene.joints)} joints")
    print(
        f"after {world.time:.1f} s the fastest segment moves at {speed:.1e} m/s, the highest lies {height:.2f} m "
        f"above the floor"
    )
    print(f"joints were open by {1000 * worst:.1f} mm at worst, by {1000 * error:.2f} mm at the end")
    if png:
        from mcsim.view import save_png

        save_png(png, scene, recorder.recording(), frames=3)
        print(f"wrote {png}")
    assert np.isfinite(world.positions).all() and height < 1.5, "somebody is still in the air"
    assert speed < 0.05, "somebody still moves"
    assert error < 0.02, "a joint came apart"  # soft joints give a little under a body's weight
    return speed, error


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--png", help="write three pictures of the fall")
    main(**vars(parser.parse_args()))
