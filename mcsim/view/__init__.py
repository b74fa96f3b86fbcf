"""Pictures, films, pages and 3-D files of a run; and the style of plots."""

from mcsim.core.extras import require_matplotlib
from mcsim.core.plot_style import plot_style
from mcsim.scene.calls import explain_functions
from mcsim.view.camera import Camera
from mcsim.view.film import save_gif, save_png
from mcsim.view.gltf import save_gltf
from mcsim.view.html import save_html

__all__ = ["Camera", "plot_style", "require_matplotlib", "save_gif", "save_gltf", "save_html", "save_png"]

explain_functions(globals(), __all__)
