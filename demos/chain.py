"""A chain of capsules swings down: what joints solved one by one, with more and more substeps, leave open, and the
direct solver does not.

    python demos/chain.py [--links 40] [--seconds 3] [--png chain.png]
"""

import argparse
import time

import mcsim as mc
from mcsim.io import Recorder


def main(links=40, seconds=3.0, png=None):
    """Runs the demo, prints what it saw and checks it. -> {(joint_solver, substeps): largest joint error [m]}"""
    scene = mc.scenes.chain(count=links)
    print(f"{links} links; largest opening of a joint, and energy (which friction-free joints keep)")
    errors = {}
    for joint_solver, substeps in (("rows", 2), ("rows", 4), ("rows", 16), ("tree", 4)):
        world = mc.World(scene, joint_solver=joint_solver, substeps=substeps)
        start = world.energy().total
        scale = world.masses.sum() * 9.81 * 0.25 * links  # the energy that the fall to hanging sets free
        recorder = Recorder(world)
        begin, worst = time.perf_counter(), 0.0
        for _ in range(round(seconds / world.dt)):
            recorder.step()
            worst = max(worst, float(world.joint_errors()[:, 0].max()))
        cost = (time.perf_counter() - begin) / len(recorder.recording().time)
        lost = (start - world.energy().total) / scale
        print(
            f"  {joint_solver}, {substeps:2d} substeps: {1000 * worst:10.6f} mm, {100 * lost:8.4f} % of the energy "
            f"lost, {1000 * cost:.2f} ms a step"
        )
        errors[joint_solver, substeps] = worst
    if png:
        from mcsim.view import save_png

        save_png(png, scene, recorder.recording(), frames=4)
        print(f"wrote {png}")
    coarse, middle, fine, direct = errors.values()
    assert fine < middle < coarse, "more substeps must help"
    assert fine < 0.01, "the chain comes apart"
    assert direct < 1e-6, "the direct solver leaves joints open"
    return errors


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--png", help="write four pictures of the swing")
    main(**vars(parser.parse_args()))
