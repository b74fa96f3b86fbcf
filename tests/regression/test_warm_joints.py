"""How much of a joint's impulse a substep starts with: as much as leaves every mode stable, however little the sweeps
do for it (docs/theory/stabilization.md, Warm joints)."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.settings import joint_warm_start

LEFT = np.concatenate([np.linspace(0, 0.999, 400), 1 - np.logspace(-3, -7, 60)])  # g, of a residual


def settings(stabilization, **keywords):
    return {
        "dt": 1 / 60,
        "substeps": 4,
        "stabilization": stabilization,
        "contact": "rigid",
        "baumgarte": 0.2,
        "joint_hertz": 60.0,
        "joint_damping_ratio": 5.0,
    } | keywords


def fastest(step):
    """The largest pole of a linear step of (x, v, l), of all g."""
    return max(np.abs(np.linalg.eigvals(np.transpose([step(g, *unit) for unit in np.eye(3)]))).max() for g in LEFT)


def baumgarte(beta, w):
    def step(g, x, v, impulse):
        after = g * (v + w * impulse) - (1 - g) * beta * x
        return x + after, after, after - v

    return step


def soft(hw, damping, w):
    """The biased pass with its compliance, the drift, the relax pass; h and the mass are 1."""
    a1 = 2 * damping + hw

    def step(g, x, v, impulse):
        biased = v + w * impulse
        biased -= (1 - g) * (biased + hw / a1 * x + w * impulse / (hw * a1)) / (1 + 1 / (hw * a1))
        return x + biased, g * biased, g * biased - v

    return step


@pytest.mark.parametrize("beta", (0.1, 0.2, 0.5, 1.0))
def test_baumgarte_is_stable_for_every_rate_of_convergence(beta):
    """Joints began a substep with 0.9 of their impulse, which is unstable above 1 / (1 + beta)."""
    assert fastest(baumgarte(beta, joint_warm_start(settings("baumgarte", baumgarte=beta)))) < 1
    assert fastest(baumgarte(beta, 1.02 / (1 + beta))) > 1


@pytest.mark.parametrize("damping", (0.1, 1.0, 5.0, 30.0))
@pytest.mark.parametrize("hw", (0.01, 0.1, 0.5, 1.0, np.pi / 2, 4.0, 20.0, 100.0))
def test_soft_is_too(hw, damping):
    """0.9 was taken for all: stable for the default joint_hertz, not for joints that are damped less."""
    hertz = hw * 4 * 60 / (2 * np.pi)
    assert (
        fastest(soft(hw, damping, joint_warm_start(settings("soft", joint_hertz=hertz, joint_damping_ratio=damping)))) < 1
    )
    assert fastest(soft(hw, damping, 1 / (1 + hw / (2 * damping + hw) / 2))) < 1 + 1e-9


def test_the_bound_of_soft_is_sharp_where_the_compliance_is_small():
    assert fastest(soft(100.0, 0.1, 0.72)) > 1 > fastest(soft(100.0, 0.1, 0.65))


@pytest.mark.parametrize("damping", (0.2, 1.0, 5.0))
def test_swept_chains_gain_nothing(damping):
    """Stiff and little damped, at few sweeps: what 0.9 made unstable."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scene = mc.Scene(gravity=(0, 0, 0))
        for i in range(12):
            scene.add_body(
                f"b{i}",
                mass=10.0 ** rng.uniform(-1, 1),
                inertia=(0.01, 0.01, 0.01),
                position=(i + 0.5, 0, 0),
                velocity=1e-3 * rng.normal(size=3),
            )
            scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(i, 0, 0)))
        world = mc.World(scene, joint_solver="rows", iterations=1, joint_damping_ratio=damping, joint_hertz=120.0)
        world.step(30)
        first = world.energy().kinetic
        world.step(600)
        assert world.energy().kinetic < 1.5 * first + 1e-12
