"""The reduced path: system models, joint models, and the algorithms over them in generalized coordinates."""

from mcsim.reduced.derivatives import ForwardDerivatives, InverseDerivatives, PoseDerivatives, VelocityDerivatives
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.explicit import Explicit
from mcsim.reduced.formulations import Apparent, Formulation, JointForce, Mobility, mobility
from mcsim.reduced.independent import Independent
from mcsim.reduced.links import Link, Loop
from mcsim.reduced.spaces import Jcalc, JointSpaces, jcalc, joint_spaces
from mcsim.reduced.system import System
from mcsim.reduced.tables import dh_scene
from mcsim.reduced.transformation import VelocityTransformation
from mcsim.reduced.user_joint import JointModel
from mcsim.scene.calls import explain_functions

__all__ = [
    "Apparent",
    "Dynamics",
    "Explicit",
    "Formulation",
    "ForwardDerivatives",
    "Independent",
    "InverseDerivatives",
    "Jcalc",
    "JointForce",
    "JointModel",
    "JointSpaces",
    "Link",
    "Loop",
    "Mobility",
    "PoseDerivatives",
    "System",
    "VelocityDerivatives",
    "VelocityTransformation",
    "dh_scene",
    "jcalc",
    "joint_spaces",
    "mobility",
]

explain_functions(globals(), __all__)
