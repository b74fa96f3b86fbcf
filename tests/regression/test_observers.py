"""Reading changes nothing that was read before."""

import mcsim as mc


def test_stats_belong_to_their_step():
    """All reads shared one Stats object, and looking at the rows was added to the times of the last step."""
    world = mc.World(mc.load("bridge"))
    world.step(3)
    before = world.stats
    times, steps = dict(before.times), before.steps
    world.jacobian()
    assert world.stats.times == times
    world.step(50)
    assert before.times == times and before.steps == steps == 3 and world.stats.steps == 50
