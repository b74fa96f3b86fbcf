"""Armature in the inertia of trees: against Pinocchio's, and by the definitions of the energy and the derivatives."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

import mcsim as mc
from dynamics_checks import state_of
from mcsim.core.errors import SceneError
from mcsim.reduced import Dynamics, Formulation, Independent, System, VelocityTransformation
from pinocchio_model import PinocchioModel
from random_trees import random_scene

# Kinds whose velocities are Pinocchio's but for signs and, where one number is all axes', turns. A free joint's are those
# of another point where it is reversed: tests/io has MuJoCo's.
KINDS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "fixed")


def with_rotors(scene, rng):
    """The scene with an armature of every joint that has a coordinate for one."""
    data = scene.to_dict()
    for joint in data["joints"]:
        if joint["type"] != "fixed":
            count = 2 if joint["type"] == "cylindrical" else 1
            numbers = rng.uniform(0.1, 2.0, count).tolist()
            joint["armature"] = numbers if count > 1 else numbers[0]
    return mc.Scene.from_dict(data)


def of_pinocchio(system):
    model = PinocchioModel(system)
    armature = np.zeros(model.model.nv)
    for link in system.links:
        armature[link.v] = link.armature
    model.model.armature = armature
    model.data = model.model.createData()
    return model


def near(found, expected, tolerance=1e-10):
    assert np.abs(found - expected).max(initial=0.0) < tolerance * np.abs(expected).max(initial=1.0)


@pytest.mark.parametrize("number", range(20))
@pytest.mark.sampled(4)
def test_random_trees(number):
    """M, forces, accelerations: one state by one, and many at once by the widest kernels, to the same bits."""
    rng = np.random.default_rng(number)
    scene = with_rotors(random_scene(rng, count=1 + number % 12, kinds=KINDS), rng)
    system = System(scene)
    if system.nv == 0:
        return
    dynamics, pinocchio, state = Dynamics(system), of_pinocchio(system), state_of(rng, system)
    q, qd, x = state["q"], state["qd"], state["x"]
    near(dynamics.mass_matrix(q), pinocchio.mass_matrix(q))
    near(dynamics.inverse_dynamics(q, qd, x), pinocchio.inverse_dynamics(q, qd, x))
    near(dynamics.bias_force(q, qd), pinocchio.bias_force(q, qd))
    h = dynamics.mass_matrix(q)
    near(h @ dynamics.forward_dynamics(q, qd, x), x - dynamics.bias_force(q, qd))
    near(dynamics.forward_dynamics(q, qd, x), pinocchio.forward_dynamics(q, qd, x), 1e-9)
    near(dynamics.energy(q, qd)[0], 0.5 * qd @ h @ qd)
    for one, many in (
        (dynamics.mass_matrix(q), dynamics.mass_matrix(np.tile(q, (9, 1)))),
        (dynamics.forward_dynamics(q, qd, x), dynamics.forward_dynamics(np.tile(q, (9, 1)), qd, x)),
        (dynamics.inverse_dynamics(q, qd, x), dynamics.inverse_dynamics(np.tile(q, (9, 1)), qd, x)),
    ):
        assert all(np.array_equal(one, other) for other in many)


@pytest.mark.parametrize("number", range(8))
@pytest.mark.sampled(3)
def test_derivatives(number):
    """Of inverse dynamics those without rotors; of forward dynamics by -H^-1 times those, with H that has them."""
    rng = np.random.default_rng(100 + number)
    scene = random_scene(rng, count=2 + number, kinds=KINDS)
    rotors = with_rotors(scene, rng)
    plain, dynamics = Dynamics(System(scene)), Dynamics(System(rotors))
    state = state_of(rng, dynamics.system)
    q, qd, x = state["q"], state["qd"], state["x"]
    for found, expected in zip(
        dynamics.inverse_dynamics_derivatives(q, qd, x)[:2], plain.inverse_dynamics_derivatives(q, qd, x)[:2], strict=True
    ):
        assert np.array_equal(found, expected)
    qdd, inverse = dynamics.forward_dynamics(q, qd, x), np.linalg.inv(dynamics.mass_matrix(q))
    by_q, by_qd = dynamics.inverse_dynamics_derivatives(q, qd, qdd)[:2]
    found = dynamics.forward_dynamics_derivatives(q, qd, x)
    for part, expected in zip(found, (-inverse @ by_q, -inverse @ by_qd, inverse), strict=True):
        near(part, expected, 1e-9)


def test_some_accelerations_given():
    """Hybrid dynamics: a driven joint's force accelerates its rotor too."""
    scene = with_rotors(random_scene(np.random.default_rng(5), count=5, kinds=("revolute",)), np.random.default_rng(6))
    dynamics = Dynamics(System(scene))
    state = state_of(np.random.default_rng(7), dynamics.system)
    given = np.arange(dynamics.nv) % 2 == 0
    qdd, tau = dynamics.hybrid_dynamics(state["q"], state["qd"], state["x"], state["x"], given)
    assert tau == pytest.approx(dynamics.inverse_dynamics(state["q"], state["qd"], qdd))
    assert qdd[given] == pytest.approx(state["x"][given])
    assert tau[~given] == pytest.approx(state["x"][~given])


def four_bar(armature):
    """Three bars in a square on the world; the last hinge closes the loop."""
    scene = mc.Scene()
    upright, level = (0.05, 0.05, 0.5), (0.5, 0.05, 0.05)
    for i, (place, size, v, w) in enumerate(
        (((0, 0, 0.5), upright, 0.5, 1.0), ((0.5, 0, 1), level, 1.0, 0.0), ((1, 0, 0.5), upright, 0.5, 1.0))
    ):
        moving = {"velocity": (v, 0, 0), "angular_velocity": (0, w, 0)}
        scene.add_body(f"bar{i}", shape=mc.Box(size), position=place, density=500, collision_mask=0, **moving)
    for i, (a, b, point) in enumerate(
        ((None, "bar0", (0, 0, 0)), ("bar0", "bar1", (0, 0, 1)), ("bar1", "bar2", (1, 0, 1)), (None, "bar2", (1, 0, 0)))
    ):
        scene.add_joint(mc.HingeJoint(a, b, point, (0, 1, 0), armature=armature[i], name=f"hinge{i}"))
    return scene


@pytest.mark.parametrize("keywords", [{}, {"integrator": "rk4"}, {"integrator": "reference"}])
def test_a_rotor_at_any_joint_of_a_loop(keywords):
    """At the hinge that closes it, or at another: both worlds, whichever the tree has."""
    for armature in ((0, 0, 0, 8.0), (0, 5.0, 3.0, 0)):
        worlds = [make(four_bar(armature), dt=1e-3, **keywords) for make in (mc.World, mc.ReducedWorld)]
        energies = [world.energy().total for world in worlds]
        assert energies[0] == pytest.approx(energies[1])
        for world, energy in zip(worlds, energies, strict=True):
            world.step(300)
            assert world.energy().total == pytest.approx(energy, abs=2e-3 if not keywords else 1e-6)
        off = np.abs(worlds[0].positions - worlds[1].positions).max()
        assert off < (1e-5 if not keywords else 1e-7 if keywords["integrator"] == "rk4" else 1e-11)


def test_what_does_not_count_it_says_so():
    scene = mc.Scene()
    scene.add_body("b", mass=1, inertia=(1, 1, 1))
    scene.add_joint(mc.BallJoint(None, "b", (0, 0, 1), armature=0.5, name="j"))
    with pytest.raises(SceneError, match="joint 'j' has an armature.*ball='quaternion'"):
        System(scene, ball="ypr")
    system = System(scene)
    for make in (VelocityTransformation, Formulation):
        with pytest.raises(SceneError, match=f"joint 'j' has an armature, which {make.__name__} does not count: Dynamics"):
            make(system) if make is VelocityTransformation else make(system, np.array([1.0, 0, 0, 0]), np.zeros(3))
    loop = System(four_bar((0, 0, 0, 1.0)), tree=["hinge0", "hinge1", "hinge2"])
    with pytest.raises(SceneError, match="joint 'hinge3' has an armature.*put it into the tree"):
        Independent(loop)
    with pytest.raises(SceneError, match="World.kkt: joint 'j' has an armature"):
        mc.World(scene).kkt()
    with pytest.raises(SceneError, match="joint 'j' has an armature, which only contact='rigid' has"):
        mc.World(scene, contact="event")
