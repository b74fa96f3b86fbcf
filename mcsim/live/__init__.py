"""The live view: worlds that are played on a page in the browser, with the mouse in them."""

from mcsim.live.viewer import View, view
from mcsim.scene.calls import explain_functions

__all__ = ["View", "view"]

explain_functions(globals(), __all__)
