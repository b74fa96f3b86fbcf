"""The twin and the compiled dynamics against Pinocchio, which others wrote."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

from dynamics_checks import Compiled, chain_of, check_agreement, differences, random_case
from pinocchio_model import KINDS, PinocchioModel
from twin import Twin

every_dynamics = pytest.mark.parametrize("dynamics", [Twin, Compiled])


@every_dynamics
@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_one_kind(kind, dynamics):
    for number in range(4):
        system, state = chain_of(kind, number)
        check_agreement(dynamics(system), PinocchioModel(system), state, 1e-12)


@pytest.mark.parametrize("first", range(0, 200, 20))
@pytest.mark.sampled(10)
def test_random_trees(first):
    """200 in all; the twin, which is slow, on every tenth."""
    for number in range(first, first + 20):
        system, state = random_case(number)
        pinocchio = PinocchioModel(system)
        for dynamics in (Twin, Compiled) if number % 10 == 0 else (Compiled,):
            check_agreement(dynamics(system), pinocchio, state)


@pytest.mark.slow
@every_dynamics
def test_more_random_trees(dynamics):
    for number in range(200, 500):
        system, state = random_case(number)
        check_agreement(dynamics(system), PinocchioModel(system), state)


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
