"""Sequential impulses and Gauss-Seidel on the assembled matrix: the same step when both are run to convergence."""

import numpy as np
import pytest

import mcsim as mc
from mechanism_scenes import double_pendulum, four_bar
from test_momentum import jointed

STABILIZATIONS = ("none", "baumgarte", "soft")


PRISM = mc.ConvexHull([(0.2 * np.cos(a), 0.2 * np.sin(a), z) for a in 2 * np.pi * np.arange(3) / 3 for z in (-0.1, 0.1)])


def pile(seed=0):
    """Prisms on three corners each, whose loads are determined, a ball and a jointed pair on the ground, in touch."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    rng = np.random.default_rng(seed)
    for i in range(6):
        scene.add_body(
            f"box{i}",
            shape=PRISM,
            position=(0.02 * rng.normal(), 0, 0.1 + 0.199 * i),
            velocity=0.1 * rng.normal(size=3),
        )
    scene.add_body("ball", shape=mc.Sphere(0.15), position=(0.6, 0, 0.149), velocity=(-0.5, 0.2, 0))
    scene.add_body(
        "tail", shape=mc.Capsule(0.05, 0.1), position=(0.9, 0, 0.149), orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    )
    scene.add_joint(mc.BallJoint("ball", "tail", (0.75, 0, 0.149), swing_limit=0.3))
    return scene


SWEEPS = {"all joints": 40_000, "pile": 16_000}  # of all joints two bind one pair of bodies
SCENES = {"double pendulum": double_pendulum, "four bar": four_bar, "all joints": lambda: jointed(0), "pile": pile}


CASES = [(name, "cone", "central") for name in SCENES] + [
    ("pile", "cone", "point"),
    ("pile", "pyramid", "central"),
    ("pile", "pyramid", "point"),
]


@pytest.mark.parametrize("stabilization", STABILIZATIONS)
@pytest.mark.parametrize("name, friction, points", CASES)
@pytest.mark.sampled(5)
def test_si_and_pgs_agree_to_1e_9(name, friction, points, stabilization):
    """Velocities, poses and joint forces after three steps with many iterations. Joints as rows, which both solvers
    have: the direct solver also takes another step ("soft"). They sweep in different orders, so both must be done.

    How four points share a load that three could bear is the sweeps' choice, on which friction depends: prisms stand on
    three. And springs are as stiff as they are given, for both: else those of "si" follow the loads."""
    springs = {"hertz": 100.0} if stabilization == "soft" else {}
    worlds = [
        mc.World(
            SCENES[name](),
            solver=solver,
            iterations=SWEEPS.get(name, 4000),
            stabilization=stabilization,
            friction=friction,
            friction_points=points,
            joint_solver="rows",
            **springs,
        )
        for solver in ("si", "pgs")
    ]
    for world in worlds:
        world.step(3)
    si, pgs = worlds
    np.testing.assert_allclose(pgs.velocities, si.velocities, atol=1e-9)
    np.testing.assert_allclose(pgs.angular_velocities, si.angular_velocities, atol=1e-9)
    np.testing.assert_allclose(pgs.positions, si.positions, atol=1e-9)
    np.testing.assert_allclose(np.abs(pgs.orientations), np.abs(si.orientations), atol=1e-9)
    assert len(pgs.contacts) == len(si.contacts)
    assert si.contacts["normal_impulse"].sum() == pytest.approx(pgs.contacts["normal_impulse"].sum(), abs=1e-7)


@pytest.mark.parametrize("solver", ["si", "pgs"])
def test_residuals_fall_with_iterations(solver):
    """The natural map's residual in stats goes to rounding as the iterations grow."""
    residuals = []
    for iterations in (1, 10, 100, 20000):
        world = mc.World(pile(), solver=solver, iterations=iterations, stabilization="baumgarte")
        world.step(1)
        residuals.append(world.stats.residuals["natural_map"])
        assert world.stats.iterations == iterations * 4
    assert residuals[0] > residuals[1] > residuals[2] and residuals[3] < 1e-9 * residuals[0], residuals
