"""A chain of capsules swings down: what more substeps and stiffer joints buy.

    python demos/chain.py [--links 40] [--seconds 3] [--png chain.png]
"""

import argparse
import time

import mcsim as mc
from mcsim.io import Recorder


def main(links=40, seconds=3.0, png=None):
    """Runs the demo, prints what it saw and checks it. -> {(substeps, hertz): largest joint error [m]}"""
    scene = mc.scenes.chain(n=links)
    print(f"{links} links; largest opening of a joint, and energy (which friction-free joints keep)")
    errors = {}
    # A soft joint may be as stiff as a quarter of the substep rate.
    for substeps, hertz in ((2, 30), (4, 60), (16, 240)):
        world = mc.World(scene, substeps=substeps, joint_hertz=hertz)
        start = world.energy().total
        scale = world.masses.sum() * 9.81 * 0.25 * links   # the energy that the fall to hanging sets free
        recorder = Recorder(world)
        begin, worst = time.perf_counter(), 0.0
        for _ in range(round(seconds / world.dt)):
            recorder.step()
            worst = max(worst, float(world.joint_errors()[:, 0].max()))
        cost = (time.perf_counter() - begin) / len(recorder.recording().time)
        lost = (start - world.energy().total) / scale
        print(f"  {substeps:3d} substeps, {hertz:3d} Hz: {1000 * worst:7.2f} mm, {100 * lost:6.2f} % of the energy "
              f"lost, {1000 * cost:.2f} ms a step")
        errors[substeps, hertz] = worst
    if png:
        from mcsim.view import save_png

        save_png(png, scene, recorder.recording(), frames=4)
        print(f"wrote {png}")
    coarse, middle, fine = errors.values()
    assert fine < middle < coarse, "more substeps and stiffer joints must help"
    assert fine < 0.01, "the chain comes apart"
    return errors


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--png", help="write four pictures of the swing")
    main(**vars(parser.parse_args()))
