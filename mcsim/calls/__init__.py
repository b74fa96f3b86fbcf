"""Calls on worlds, written to a file as they are made, and made again from it: a bug report is one file."""

from mcsim.calls.log import CallLog, record_calls
from mcsim.calls.player import Difference, Replayed, replay_calls
from mcsim.scene.calls import explain_functions

__all__ = ["CallLog", "Difference", "Replayed", "record_calls", "replay_calls"]

explain_functions(globals(), __all__)
