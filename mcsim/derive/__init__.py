"""Derivatives of a step of a World."""

from mcsim.derive.step import StepDerivatives, step_derivatives
