"""Methods side by side on one scene: what it costs to keep the constraints, and what is lost without.

mc.compare(scene, methods) makes a Study: table, picture, data; `studies` has ready ones, and `suites`
mechanisms whose motion is known, by all methods in one table. mc.sweep(study, grid) makes one study many times.
"""

from mcsim.lab import loading as loading, studies, suites
from mcsim.lab.compare import compare
from mcsim.lab.methods import DEFAULT_METHODS, Method
from mcsim.lab.precise import PreciseRun, precise_run
from mcsim.lab.record import Run
from mcsim.lab.reference import Reference
from mcsim.lab.solvers import SolverStudy, solvers
from mcsim.lab.study import Study
from mcsim.lab.sweep_result import Sweep
from mcsim.lab.sweeps import sweep
from mcsim.scene.calls import explain_functions

__all__ = [
    "DEFAULT_METHODS",
    "Method",
    "PreciseRun",
    "Reference",
    "Run",
    "SolverStudy",
    "Study",
    "Sweep",
    "compare",
    "precise_run",
    "solvers",
    "studies",
    "suites",
    "sweep",
]

explain_functions(globals(), __all__)
