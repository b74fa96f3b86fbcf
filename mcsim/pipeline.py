"""The stages of a step, by name. What each does, and in which order, stands at the top of ``_pipeline.pyx``."""

from mcsim._pipeline import Pipeline
from mcsim._position_pipeline import PositionPipeline

# In the order of the timers of _pipeline.pxd.
STAGES = ("collide", "prepare", "integrate", "warm_start", "impact", "solve", "refresh", "relax", "store", "finish")

# What Pipeline.step and Pipeline.prepare answer (core/_types.pxd, Status).
OK, GROW, NOT_FINITE = 0, 1, 2

__all__ = ["GROW", "NOT_FINITE", "OK", "Pipeline", "PositionPipeline", "STAGES"]
