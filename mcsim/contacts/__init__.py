"""Contact and impact as equations to study: what chapter 11 of R. Featherstone, Rigid Body Dynamics Algorithms (2008),
and the literature's cone program ask of contacts, as NumPy arrays of any world or of arrays of your own."""

from mcsim.contacts.cone_program import ConeProgram, ConeResult, cone_program
from mcsim.contacts.equations import Equations, FrictionalForces
from mcsim.contacts.forces import Certificate, ContactForces, by_acceleration_qp, by_force_qp, by_lcp
from mcsim.contacts.of_world import equations
from mcsim.contacts.rows import body_inertia, contact_rows
from mcsim.scene.calls import explain_functions
from mcsim.solve.problems.impacts import (
    Impact,
    contact_axes,
    frictionless as frictionless_impact,
    impact,
    sticking as sticking_impact,
    two_bodies,
)

__all__ = [
    "Certificate",
    "ConeProgram",
    "ConeResult",
    "ContactForces",
    "Equations",
    "FrictionalForces",
    "Impact",
    "body_inertia",
    "by_acceleration_qp",
    "by_force_qp",
    "by_lcp",
    "cone_program",
    "contact_axes",
    "contact_rows",
    "equations",
    "frictionless_impact",
    "impact",
    "sticking_impact",
    "two_bodies",
]

explain_functions(globals(), __all__)
