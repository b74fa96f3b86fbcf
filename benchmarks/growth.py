"""How the cost of a step grows: rain of 500 to 50,000 bodies, one thread and two, nothing asleep.

    python benchmarks/growth.py [--seconds 2] [--threads 1 2] [N ...]

Prints, for every number of bodies, milliseconds a step by stage, the exponent against the row before, and the peak of
memory.
"""

import argparse
import math
import resource
import time

import mcsim as mc

STEPS = 10


def measured(n, threads, seconds):
    """(ms a step, ms by stage) after `seconds` of falling: the least of three times STEPS steps."""
    world = mc.World(mc.load("rain", count=n), sleep=False, threads=threads)
    world.step(round(60 * seconds))
    best = (math.inf, {})
    for _ in range(3):
        begun = time.perf_counter()
        world.step(STEPS)
        took = (time.perf_counter() - begun) / STEPS
        best = min(best, (took, world.stats.times), key=lambda run: run[0])
    return best[0] * 1e3, {stage: 1e3 * spent / STEPS for stage, spent in best[1].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[500, 2000, 8000, 50_000])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    options = parser.parse_args()
    for threads in options.threads:
        last = None
        for n in options.sizes:
            ms, stages = measured(n, threads, options.seconds)
            growth = "" if last is None else f"n^{math.log(ms / last[1]) / math.log(n / last[0]):.2f}"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            shares = "  ".join(f"{stage} {spent:.2f}" for stage, spent in stages.items() if spent > 0.02 * ms)
            print(f"{n:6d} bodies  {threads} threads  {ms:9.3f} ms  {growth:7s} {peak:6.0f} MB   {shares}", flush=True)
            last = n, ms


if __name__ == "__main__":
    main()
