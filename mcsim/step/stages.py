"""The stages of a step, by name. What each does, and in which order, stands at the top of ``_step.pyx``."""

from mcsim.step._pipeline import Pipeline

# In the order of the timers of _stage_times.pxd.
STAGES = ("collide", "prepare", "integrate", "warm_start", "impact", "solve", "refresh", "relax", "store", "finish")

# What Pipeline.step and Pipeline.prepare answer (core/_types.pxd, Status; _step.pxd).
OK, GROW, NOT_FINITE, UNSEEN, NOT_DONE = 0, 1, 2, 4, 5

__all__ = ["GROW", "NOT_DONE", "NOT_FINITE", "OK", "UNSEEN", "Pipeline", "STAGES"]
