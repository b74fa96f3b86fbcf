"""The twin against Pinocchio: the two were written by different people after different books."""

import numpy as np
import pytest

from dynamics_checks import chain_of, check_agreement, differences, random_case
from pinocchio_model import KINDS, PinocchioModel
from twin import Twin


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_one_kind(kind, number):
    system, state = chain_of(kind, number)
    check_agreement(Twin(system), PinocchioModel(system), state, 1e-12)


@pytest.mark.parametrize("number", range(0, 200, 10))
def test_random_trees(number):
    system, state = random_case(number)
    check_agreement(Twin(system), PinocchioModel(system), state)


@pytest.mark.slow
def test_more_random_trees():
    for number in range(200, 500):
        system, state = random_case(number)
        check_agreement(Twin(system), PinocchioModel(system), state)


def test_both_polarities_of_every_kind_are_among_the_trees():
    met = {(link.kind, link.reversed) for number in range(40) for link in random_case(number)[0].links}
    assert met >= {(kind, backwards) for kind in KINDS for backwards in (False, True)}
    sizes = {len(random_case(number)[0].links) for number in range(40)}
    assert min(sizes) < 5 and max(sizes) > 50


def test_a_difference_would_be_seen():
    """One link 1e-6 heavier than the other side thinks."""
    system, state = random_case(3, 18)
    twin, pinocchio = Twin(system), PinocchioModel(system)
    twin.inertias[-1] = twin.inertias[-1] * (1 + 1e-6)
    found = differences(twin, pinocchio, state)
    seen = {method for method, apart in found.items() if apart > 1e-10}
    assert seen >= {"inverse_dynamics", "forward_dynamics", "bias_force", "mass_matrix", "momentum"}
    assert np.max([found[method] for method in ("poses", "velocities", "body_jacobian")]) < 1e-10
