"""The live view: worlds that are played on a page in the browser, with the mouse in them."""

from mcsim.live.viewer import View, view

__all__ = ["View", "view"]
