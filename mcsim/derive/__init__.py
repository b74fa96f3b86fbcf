"""Derivatives of the steps of a World through its solved rows, by state, forces and parameters, and of whole motions."""

from mcsim.derive.result import StepDerivatives
from mcsim.derive.step import step_derivatives
from mcsim.derive.trajectory import Gradient, TrajectoryDerivatives, trajectory_derivatives
from mcsim.scene.calls import explain_functions

__all__ = ["Gradient", "StepDerivatives", "TrajectoryDerivatives", "step_derivatives", "trajectory_derivatives"]

explain_functions(globals(), __all__)
