"""Files other than scenes: recordings, and robots from URDF and MJCF files."""

from mcsim.io.frames import BodyFrame
from mcsim.io.mjcf import MjcfWarning, load_mjcf, read_mjcf
from mcsim.io.recording import Recorder, Recording
from mcsim.io.robot import Actuator, Key, Robot
from mcsim.io.sensors import Readings, Sensor
from mcsim.io.urdf import UrdfWarning, load_urdf, read_urdf
from mcsim.scene.calls import explain_functions

__all__ = [
    "Actuator",
    "BodyFrame",
    "Key",
    "MjcfWarning",
    "Readings",
    "Recorder",
    "Recording",
    "Robot",
    "Sensor",
    "UrdfWarning",
    "load_mjcf",
    "load_urdf",
    "read_mjcf",
    "read_urdf",
]

explain_functions(globals(), __all__)
