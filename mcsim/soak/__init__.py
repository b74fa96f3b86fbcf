"""Scenes that run for days of simulated time, watched for what grows: memory, handles, energy, time of a step. `mcsim soak`
does it from the command line (docs/reliability.md)."""

from mcsim.soak.campaign import Soak
from mcsim.soak.result import Soaked
from mcsim.soak.scenes import SOAKED
from mcsim.soak.watch import COLUMNS

__all__ = ["COLUMNS", "SOAKED", "Soak", "Soaked"]
