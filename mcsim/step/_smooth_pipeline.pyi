"""What World asks of the compiled pipeline of "rk4"."""

from typing import Any

from mcsim.step._pipeline import Pipeline

class SmoothPipeline(Pipeline):
    smooth: Any
