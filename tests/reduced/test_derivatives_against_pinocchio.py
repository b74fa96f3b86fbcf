"""Derivatives against Pinocchio's, which others wrote, to 1e-10 of the largest number."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

import mcsim as mc
from dynamics_checks import BALLS, FIRST, chain_of, state_of
from mcsim.reduced import Dynamics, System
from pinocchio_derivatives import PinocchioDerivatives
from pinocchio_model import KINDS
from random_trees import random_scene

AGREE = 1e-10
WHOLE = ("spherical", "revolute", "prismatic", "fixed", "planar", "helical", "free")  # one joint of Pinocchio each


def of_one_gravity(number, **arguments):
    """Random tree number so and so, without what Pinocchio has as forces: -> System, state."""
    rng = np.random.default_rng(FIRST + number)
    system = System(random_scene(rng, one_gravity=True, **arguments), ball=BALLS[number % 2])
    return system, state_of(rng, system)


def off(found, expected):
    """The largest difference, relative to the largest number, or to 1 where all should be 0."""
    return max(
        np.abs(one - other).max(initial=0.0) / np.abs(other).max(initial=1.0)
        for one, other in zip(found, expected, strict=True)
    )


def check(system, state, whole):
    """whole: whether Pinocchio's own derivatives of forward dynamics are good: of trees with a hundred velocities, or with
    bodies of no mass between the parts of a joint, they lose up to 9 digits, and those of inverse dynamics do not."""
    dynamics, pinocchio = Dynamics(system), PinocchioDerivatives(system)
    q, qd, x = state["q"], state["qd"], state["x"]
    found, expected = dynamics.inverse_dynamics_derivatives(q, qd, x), pinocchio.inverse_dynamics_derivatives(q, qd, x)
    assert off(found, expected) < AGREE
    found = dynamics.forward_dynamics_derivatives(q, qd, x)
    by_q, by_qd, h = pinocchio.inverse_dynamics_derivatives(q, qd, pinocchio.forward_dynamics(q, qd, x))
    inverse = np.linalg.inv(h)
    assert off(found, (-inverse @ by_q, -inverse @ by_qd, inverse)) < (AGREE if system.nv < 100 else 10 * AGREE)
    if whole:
        assert off(found, pinocchio.forward_dynamics_derivatives(q, qd, x)) < AGREE
    bodies = [link.body_number for link in system.links]
    found = [part[bodies] for part in dynamics.velocity_derivatives(q, qd)]
    assert off(found, pinocchio.velocity_derivatives(q, qd)) < AGREE


@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_one_kind(kind):
    for number in range(4):
        check(*chain_of(kind, number, one_gravity=True), True)


@pytest.mark.parametrize("first", range(0, 60, 10))
@pytest.mark.sampled(3)
def test_random_trees(first):
    for number in range(first, first + 10):
        check(*of_one_gravity(number), False)


@pytest.mark.parametrize("first", range(0, 60, 10))
@pytest.mark.sampled(3)
def test_small_random_trees_of_whole_joints(first):
    for number in range(first, first + 10):
        check(*of_one_gravity(2 * number, kinds=WHOLE, count=1 + number % 6), True)


@pytest.mark.slow
def test_more_random_trees():
    for number in range(60, 200):
        check(*of_one_gravity(number), False)


def test_a_humanoid():
    """50 velocities, from a file."""
    description = pytest.importorskip("jvrc_description")
    scene = mc.load(description.urdf_path, base="floating", meshes="none")
    system = System(scene)
    assert system.nv == 50
    check(system, state_of(np.random.default_rng(0), system), True)


def test_a_difference_would_be_seen():
    """Gravity 1e-6 stronger than the other side thinks."""
    system, state = of_one_gravity(3)
    other = Dynamics(system, gravity=(1 + 1e-6) * np.array(system.scene.gravity))
    asked = state["q"], state["qd"], state["x"]
    expected = PinocchioDerivatives(system).inverse_dynamics_derivatives(*asked)
    assert off(other.inverse_dynamics_derivatives(*asked)[:1], expected[:1]) > 1e-9
