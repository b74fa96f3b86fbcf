"""Rotations by formulas of the texts: quaternions, Euler angles and their rates, for one or for arrays of any leading axes.

A quaternion is (w, x, y, z) with Hamilton's product; R(q) takes body vectors into the world. Quaternions whose parts are
coordinates of a body are called its Euler parameters (E. Haug, Computer Aided Kinematics and Dynamics of Mechanical
Systems, 1989, chapter 9; A. Shabana, Dynamics of Multibody Systems, chapter 2; P. Nikravesh, Computer-Aided Analysis of
Mechanical Systems, 1988, chapter 6). Angles are in radians, angular velocities in rad/s.
"""

from mcsim.rotation.euler import ORDERS, euler_drift, euler_jacobian, euler_jacobian_inverse, from_euler, to_euler
from mcsim.rotation.parameters import E, G, L, angular_velocity, parameter_accelerations, parameter_rates
from mcsim.rotation.quaternions import (
    conjugate,
    from_axis_angle,
    from_matrix,
    from_rotation_vector,
    matrix,
    multiply,
    normalize,
    rotate,
    to_axis_angle,
    to_rotation_vector,
)
from mcsim.scene.calls import explain_functions

__all__ = [
    "E",
    "G",
    "L",
    "ORDERS",
    "angular_velocity",
    "conjugate",
    "euler_drift",
    "euler_jacobian",
    "euler_jacobian_inverse",
    "from_axis_angle",
    "from_euler",
    "from_matrix",
    "from_rotation_vector",
    "matrix",
    "multiply",
    "normalize",
    "parameter_accelerations",
    "parameter_rates",
    "rotate",
    "to_axis_angle",
    "to_euler",
    "to_rotation_vector",
]

explain_functions(globals(), __all__)
