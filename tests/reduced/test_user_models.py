"""Joint models of users' own, and the rack and pinion, as joints of the tree."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import from_axes
from mcsim.reduced import JointModel, System
from mcsim.reduced.dynamics import Dynamics


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def hinge_placement(q):
    return turn(q[0]), np.zeros(3)


def wave_placement(q):
    """A bead that turns about z while it goes along a wave."""
    return turn(q[0]) @ np.array([[1, 0, 0], [0, np.cos(q[1]), -np.sin(q[1])], [0, np.sin(q[1]), np.cos(q[1])]]), np.array(
        [q[0], np.sin(q[0]), 0.2 * q[1] ** 2]
    )


def pendulum(reversed_joint=False):
    scene = mc.Scene()
    scene.add_body("a", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1, 0, 0))
    scene.add_body("b", mass=0.5, inertia=(0.05, 0.04, 0.03), position=(2, 0, 0.3))
    scene.add_joint(mc.HingeJoint(None, "a", (0, 0, 0), (0, 1, 0), name="first"))
    ends = ("b", "a") if reversed_joint else ("a", "b")
    scene.add_joint(mc.HingeJoint(*ends, (1.5, 0, 0), (0, 1, 0.2), name="second"))
    return scene


@pytest.mark.parametrize("reversed_joint", [False, True])
def test_a_hinge_of_ones_own_is_a_hinge(reversed_joint):
    scene = pendulum(reversed_joint)
    own, plain = System(scene, models={"second": JointModel(1, hinge_placement)}), System(scene)
    assert own.links[1].kind == "user" and own.links[1].reversed == plain.links[1].reversed == reversed_joint
    rng = np.random.default_rng(0)
    q, qd, x = rng.normal(size=(3, 2))
    for method, arguments in (
        ("forward_dynamics", (q, qd, x)),
        ("inverse_dynamics", (q, qd, x)),
        ("mass_matrix", (q,)),
        ("bias_force", (q, qd)),
    ):
        assert np.allclose(
            getattr(Dynamics(own), method)(*arguments), getattr(Dynamics(plain), method)(*arguments), rtol=1e-7, atol=1e-7
        ), method
    assert np.allclose(Dynamics(own).mass_matrix(np.tile(q, (3, 1)))[2], Dynamics(own).mass_matrix(q), atol=0)
    worlds = [mc.ReducedWorld(scene, dt=1e-3, models=models) for models in ({"second": JointModel(1, hinge_placement)}, {})]
    for world in worlds:
        world.qd = (1.0, -2.0)
        world.step(300)
    assert np.allclose(worlds[0].q, worlds[1].q, atol=1e-6)


def test_a_joint_that_bends_keeps_energy():
    """Two coordinates, S that changes with both; read back from the bodies' state."""
    model = JointModel(2, wave_placement)
    world = mc.ReducedWorld(pendulum(), dt=1e-3, models={"second": model}, integrator="rk4")
    world.q = (0.2, 0.4, -0.7)
    world.qd = (0.5, 1.0, 0.3)
    state = world.to_maximal()
    q, qd = world.system.coordinates(*state)
    assert np.allclose(q, world.q, atol=1e-7) and np.allclose(qd, world.qd, atol=1e-6)
    assert world.system.tree_errors(*state).max() < 1e-6
    energy = world.energy().total
    world.step(amount(200, 500))
    assert world.energy().total == pytest.approx(energy, abs=1e-6)


@pytest.mark.parametrize(
    "arguments, match",
    [
        ((1, hinge_placement, lambda q: [[0], [1], [0], [0], [0], [0]]), "not the rate of placement"),
        ((1, hinge_placement, lambda q: np.ones((6, 2))), "shape"),
        ((1, lambda q: (2 * np.eye(3), np.zeros(3))), "no rotation"),
        ((1, lambda q: np.eye(3)), "placement"),
        (
            (1, hinge_placement, lambda q: [[0], [0], [1], [0], [0], [0]], lambda q, qd: np.ones(6)),
            "not the rate of subspace",
        ),
    ],
)
def test_models_that_contradict_themselves_are_refused_by_name(arguments, match):
    with pytest.raises(mc.SceneError, match=f"second.*{match}"):
        System(pendulum(), models={"second": JointModel(*arguments)})


def test_wrong_models_are_refused():
    for size in (0, 7, 1.5):
        with pytest.raises(mc.SceneError, match="size"):
            JointModel(size, hinge_placement)
    with pytest.raises(mc.SceneError, match="function"):
        JointModel(1, "hinge")
    with pytest.raises(mc.SceneError, match="rack_pinion"):
        System(pendulum(), models={"second": "rack_pinion"})
    with pytest.raises(mc.SceneError, match="third"):
        System(pendulum(), models={"third": JointModel(1, hinge_placement)})


def test_what_a_model_raises_in_a_step_comes_out_whole():
    calls = []

    def placement(q):
        calls.append(q)
        if len(calls) > 400:
            raise ZeroDivisionError("mine")
        return hinge_placement(q)

    world = mc.ReducedWorld(pendulum(), dt=1e-3, models={"second": JointModel(1, placement)})
    before = world.q.copy()
    with pytest.raises(ZeroDivisionError, match="mine"):
        world.step(1000)
    calls.clear()
    assert np.isfinite(world.q).all() and world.q.shape == before.shape
    world.step()


def test_a_rack_and_pinion_rolls():
    """Down a slope: a = g sin / (1 + I / m r2)."""
    scene = mc.Scene(gravity=(1.0, 0.0, 0.0))
    scene.add_body("wheel", mass=2.0, inertia=(0.5, 0.5, 0.9), position=(0, 0, 0), orientation=from_axes((0, 1, 0)))
    scene.add_joint(mc.RackPinionJoint(None, "wheel", (0, 0, 0), (1, 0, 0), (0, 1, 0), 0.3, name="rack"))
    world = mc.ReducedWorld(scene, dt=1e-3, models={"rack": "rack_pinion"})
    assert world.system.nv == 1 and not world.system.couplings
    world.step(1000)
    way = 0.5 * 1.0 / (1.0 + 0.9 / (2.0 * 0.3**2))
    assert world.positions[0] == pytest.approx((way, 0, 0), abs=3e-9)
    assert abs(world.q[0]) == pytest.approx(way / 0.3, abs=1e-8)
    assert world.joint_errors().max() < 1e-12


def test_files_hold_no_functions_but_the_choice_of_a_rack(tmp_path):
    """What was saved with models was refused when it was read."""
    own = System(pendulum(), models={"second": JointModel(1, hinge_placement)})
    with pytest.raises(mc.SceneError, match="'second' has a JointModel of your own"):
        own.save(tmp_path / "own.json")
    assert not list(tmp_path.iterdir())
    scene = mc.Scene()
    scene.add_body("wheel", mass=2.0, inertia=(0.5, 0.5, 0.9))
    scene.add_joint(mc.RackPinionJoint(None, "wheel", (0, 0, 0), (1, 0, 0), (0, 1, 0), 0.3, name="rack"))
    system = System(scene, models={"rack": "rack_pinion"})
    system.save(tmp_path / "rack.json")
    read = System.load(tmp_path / "rack.json")
    assert read.to_dict() == system.to_dict() and read.links[0].kind == "rack_pinion"


@pytest.mark.parametrize("models", [[1], 5, "second", {"second": 7}, {"second": "rack_pinion"}], ids=str)
def test_models_that_are_none_are_refused_by_name(models):
    data = System(pendulum()).to_dict()
    for make in (
        lambda: System(pendulum(), models=models),
        lambda: mc.ReducedWorld(pendulum(), models=models),
        lambda: System.from_dict(data | {"models": models}),
    ):
        with pytest.raises(mc.SceneError, match="models"):
            make()
