"""Files other than scenes: recordings."""

from mcsim.io.recording import Recorder, Recording

__all__ = ["Recorder", "Recording"]
