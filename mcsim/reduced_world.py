"""ReducedWorld: a scene in generalized coordinates, stepped and observed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from mcsim._reduced_pipeline import ReducedPipeline
from mcsim.core.errors import SceneError
from mcsim.reduced.dynamics import Dynamics, link_records
from mcsim.reduced.system import System
from mcsim.settings import reduced_settings
from mcsim.world import World
