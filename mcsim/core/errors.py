"""The errors that mcsim raises on purpose."""


class SceneError(ValueError):
    """Something is described wrongly: the message names the body, joint or field and what to change."""


class SimulationError(RuntimeError):
    """A run failed: the message names the step, the body and the rows on it; the last good state is kept."""


class StaleHandleError(LookupError):
    """A handle of a body or joint that was removed from its world."""
