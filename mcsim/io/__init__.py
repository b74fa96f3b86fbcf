"""Files other than scenes: recordings, and robots from URDF files."""

from mcsim.io.recording import Recorder, Recording
from mcsim.io.urdf import UrdfWarning, load_urdf

__all__ = ["Recorder", "Recording", "UrdfWarning", "load_urdf"]
