"""Pictures, films, pages and 3-D files of a run."""

from mcsim.core.extras import require_matplotlib
from mcsim.view.film import save_gif, save_png
from mcsim.view.gltf import save_gltf
from mcsim.view.html import save_html

__all__ = ["require_matplotlib", "save_gif", "save_gltf", "save_html", "save_png"]
