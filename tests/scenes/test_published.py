"""The mechanisms of the literature: their data, their degrees of freedom, and what they conserve."""

import numpy as np
import pytest

import mcsim as mc
from benchmark_models import ANDREWS_ANGLES, andrews
from mcsim.core.rotation import matrix

# Scene -> degrees of freedom, redundant rows.
FREEDOMS = {
    "point_pendulum": (1, 0),
    "four_bars": (1, 120),
    "squeezer": (1, 9),
    "bricard": (1, 1),
    "governor": (4, 0),
    "heavy_top": (3, 0),
    "planar_chain": (6, 0),
}


@pytest.mark.parametrize("name", FREEDOMS)
def test_they_are_closed_and_have_the_published_freedom(name):
    scene = mc.load(name)
    world = mc.World(scene)
    assert world.joint_errors().max() < 1e-12
    found = world.redundancy()
    assert (6 * len(scene.bodies) - found.rank, found.redundant) == FREEDOMS[name]


@pytest.mark.parametrize("name", sorted(set(FREEDOMS) - {"governor"}))
@pytest.mark.parametrize("coordinates", ["maximal", "reduced"])
def test_they_keep_energy(name, coordinates):
    """Fourth order leaves little of it open; the governor has dampers."""
    scene = mc.load(name, **({"windows": 3} if name == "four_bars" else {}))
    dt, steps = (2.5e-5, 400) if name == "squeezer" else (5e-4, 800)
    keywords = dict(integrator="rk4", dt=dt, substeps=1, sleep=False)
    world = (
        mc.World(scene, stabilization="projection", **keywords)
        if coordinates == "maximal"
        else mc.ReducedWorld(scene, **keywords)
    )
    before = world.energy().total
    world.step(steps)
    kinetic = world.energy().kinetic
    assert kinetic > 1e-4
    # The squeezer's mainspring holds 5e8 J, of which 6e-8 J are rounding.
    assert abs(world.energy().total - before) < 1e-6 * kinetic + (2e-7 if name == "squeezer" else 0.0)


def test_the_squeezer_is_that_of_the_test_model():
    """The same bodies at the same places as those that were checked against the digits of the literature."""
    scene, model = mc.load("squeezer"), andrews()
    ours, theirs = scene.bodies, model.scene().bodies
    assert [body.mass for body in ours] == [body.mass for body in theirs]
    assert np.allclose([body.position for body in ours], [body.position for body in theirs], rtol=0, atol=1e-16)
    assert all(np.allclose(a.inertia, b.inertia, rtol=1e-14, atol=0) for a, b in zip(ours, theirs))
    assert len(scene.joints) == 11


def test_the_squeezer_has_its_torque():
    """The crank alone, cut from the rest: its angular momentum grows by torque times time."""
    scene = mc.load("squeezer", torque=0.02, stiffness=0.0)
    crank = mc.Scene(gravity=(0, 0, 0))
    body, hinge = scene.body("K1"), scene.joint("beta")
    crank.add_body("K1", mass=body.mass, inertia=body.inertia, position=body.position)
    spring = hinge.axes[0].spring
    crank.add_joint(mc.HingeJoint(None, "K1", anchor=(0, 0, 0), axis=(0, -1, 0), spring=spring))
    world = mc.World(crank, dt=1e-5, substeps=1)
    world.step(100)
    moment = body.inertia[1, 1] + body.mass * 0.00092**2
    assert -world.angular_velocities[0, 1] == pytest.approx(0.02 * 1e-3 / moment, rel=1e-9)


def test_the_squeezer_comes_to_the_published_angles():
    world = mc.ReducedWorld(mc.load("squeezer"), dt=2.5e-5, substeps=1, integrator="rk4", sleep=False)
    start = mc.scenes.published.SQUEEZER_START
    world.step(1200)
    assert world.joint("beta").position + start == pytest.approx(ANDREWS_ANGLES[0], abs=2e-8)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_the_squeezer_by_its_equations_in_more_digits(kind):
    """Angles at 0.03 s of the equations of E. Hairer and G. Wanner, section VII.7, the 13 of index 1 over numbers of 34
    digits: Gragg's method extrapolated to order 24, projected after each of 150 steps, which give the same in 200. The
    literature's own digits are 1.1e-9 rad off."""
    world = kind(mc.load("squeezer"), dt=3e-3, integrator=mc.DOP853(tolerance=1e-14))
    world.step(10)
    start = (-0.06171389001427645, 0.4552798191630704, 0.48736497954384255, 1.2305474445498212)
    end = (15.810771195153707, 0.040822240119645805, 0.5244099658799541, 1.0480807410419379)
    for name, first, last in zip(("beta", "gamma", "delta", "epsilon"), start, end):
        assert world.joint(name).position == pytest.approx(last - first, rel=0, abs=1e-10)


def test_bricard_lies_on_a_cube():
    scene = mc.load("bricard", length=2.0)
    tips = [body.position + side * matrix(body.orientation)[:, 0] for body in scene.bodies for side in (-1, 1)]
    assert np.allclose(np.abs(tips), np.round(np.abs(tips))) and np.ptp(tips, axis=0).tolist() == [2, 2, 2]
    for joint in scene.joints:  # at right angles to the bars that it joins
        body = scene.body(joint.b if joint.b is not None else joint.a)
        frame = joint.frame_b if joint.b is not None else joint.frame_a
        assert abs(matrix(frame[1])[0, 2]) < 1e-15
        assert body.mass == 1.0


def test_the_governor_is_at_rest_but_for_its_spin():
    """Its springs have their length at the start, at whatever slope; the published height of the ring is 0.5 m."""
    assert mc.load("governor").body("ring").position[2] == pytest.approx(0.5, abs=1e-15)
    for slope in (0.3, np.pi / 6, 1.0):
        world = mc.World(mc.load("governor", slope=slope), dt=1e-4)
        for name in ("left_spring", "right_spring"):
            assert world.joint(name).position == pytest.approx(0.5, abs=1e-14)
    shaft = mc.load("governor").body("shaft")
    assert shaft.mass == pytest.approx(0.3) and shaft.angular_velocity.tolist() == [0, 0, 2 * np.pi]


def test_the_governor_lifts_its_ring_when_it_spins_faster():
    heights = []
    for speed in (3.0, 12.0):
        world = mc.World(mc.load("governor", speed=speed), dt=1e-3, joint_solver="tree")
        world.step(100)
        heights.append(world.body("ring").position[2])
    assert heights[1] > heights[0] + 0.05


def test_the_heavy_top_has_its_published_moments():
    top = mc.load("heavy_top").body("top")
    assert np.allclose(top.inertia, np.diag([0.234375, 0.46875, 0.234375]))
    assert top.velocity.tolist() == [4.61538, 0.0, 0.0]


def test_four_bars_pass_the_line():
    """20 s with singular poses twice a swing: all bars stay parallel."""
    world = mc.ReducedWorld(mc.load("four_bars", windows=2), dt=4e-3, substeps=1, integrator="rk4", sleep=False)
    below = 0
    for _ in range(100):
        world.step(20)
        turned = np.array([world.joint(f"foot{k}").position for k in range(3)])
        assert np.ptp(turned) < 1e-8
        below += matrix(world.orientations[0])[2, 0] < 0
    assert below > 20
