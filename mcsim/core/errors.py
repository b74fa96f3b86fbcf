"""The errors that mcsim raises on purpose."""


class SceneError(ValueError):
    """Something is described wrongly: the message names it and tells what to change."""


class SimulationError(RuntimeError):
    """A run failed: the message names the step and the body; the world keeps its last good state."""


class StaleHandleError(LookupError):
    """A handle whose body or joint was removed from its world."""
