"""What World asks of the compiled pipeline of "rattle" and "variational"."""

from mcsim.step._smooth_pipeline import SmoothPipeline

class PositionPipeline(SmoothPipeline):
    names: tuple[tuple[str, ...], tuple[str, ...]] | None
    flights: int
