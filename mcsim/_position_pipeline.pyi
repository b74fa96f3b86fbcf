"""What World asks of the compiled pipeline of "rattle" and "variational"."""

from mcsim._pipeline import Pipeline

class PositionPipeline(Pipeline):
    names: tuple[tuple[str, ...], tuple[str, ...]] | None
