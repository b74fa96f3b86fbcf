"""Pictures and films of a run."""

from mcsim.view.film import require_matplotlib, save_gif, save_png

__all__ = ["require_matplotlib", "save_gif", "save_png"]
