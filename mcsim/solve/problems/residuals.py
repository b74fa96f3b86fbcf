"""How far impulses are from solving a problem: four numbers that mean the same for every solver, and an objective.

With u = A lambda + R lambda + b, and per contact w = u (frictionless, ccp), u + mu |u_t| n (ncp), or
u + mu (|u_1| + |u_2|) n (pyramid):

    primal           velocity that should not be: the distance of w from the dual cone K*; of a bilateral row
                     |u|, of a limit or a contact of the pyramid what goes through it [m/s, rad/s]
    dual             impulse that should not be: the distance of lambda from its cone K, or its bounds [N s, N m s]
    complementarity  |lambda . w| of a contact, under every model: lambda_n u_n, and what friction takes less than the most
                     that it can; of a bounded row |lambda - bound| |u|, of the bound that u pushes to, or of the other
                     where that is infinite; none of a bilateral row [J]
    natural_map      |lambda - P_K(lambda - w / d)|, d the largest diagonal entry of the block: the error of the impulses
                     that a projected step sees; 0 exactly at solutions [N s, N m s]
    objective, gap   1/2 lambda' (A + R) lambda + b' lambda and lambda . u [J]: for "ccp" and "frictionless", which minimize
                     the first; the second is the duality gap of feasible impulses and velocities

each the largest over the rows. "pyramid": each tangent for itself, bounded by mu n; "frictionless": tangents held at 0.
Sources: V. Acary, M. Bremond and O. Huber, "On solving contact problems with Coulomb friction", 2018, for the natural map;
G. De Saxce and Z.-Q. Feng, "The bipotential method: a constructive approach to design the complete contact law with
friction and improved numerical algorithms", 1998, for lambda . w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mcsim.solve.problems._system import MODELS

if TYPE_CHECKING:
    from mcsim.solve.problems.protocols import AProblem

RESIDUALS = ("primal", "dual", "complementarity", "natural_map")
RECORD = np.dtype([(name, "f8") for name in (*RESIDUALS, "objective", "gap")])


def residuals(problem: AProblem, impulses: np.ndarray, model: str) -> np.void:
    """-> a record of these six numbers, by name."""
    velocities = problem.system.rates(impulses)[0]
    found = np.array([tuple(problem.system.residuals(MODELS.index(model), impulses, velocities))], RECORD)
    record: np.void = found[0]
    return record
