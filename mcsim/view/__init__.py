"""Pictures and films of a run."""

from mcsim.core.extras import require_matplotlib
from mcsim.view.film import save_gif, save_png

__all__ = ["require_matplotlib", "save_gif", "save_png"]
