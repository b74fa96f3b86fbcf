"""What is no number, no scene or no system is refused by SceneError, in one line that names the argument; numbers
that are too large warn of nothing."""

import numpy as np
import pytest

import mcsim as mc
from mcsim import reduced


def world_of(kind=mc.World):
    scene = mc.Scene()
    scene.add_body("b", shape=mc.Sphere(0.2))
    return kind(scene)


NO_NUMBERS = [10**400, 1j, np.array(1j), "x", None, np.datetime64("2020-01-01"), True]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", NO_NUMBERS, ids=str)
@pytest.mark.parametrize(
    "name, call",
    [
        ("forces", lambda v: world_of().apply_forces([[v, 0, 0]])),
        ("impulses", lambda v: world_of().apply_impulses([[0, v, 0]])),
        ("points", lambda v: world_of().apply_forces([[1, 0, 0]], points=[[v, 0, 0]])),
        ("positions", lambda v: world_of(mc.ReducedWorld).from_maximal([[v, 0, 0]], [[1, 0, 0, 0]])),
        ("orientations", lambda v: world_of(mc.ReducedWorld).from_maximal([[0, 0, 0]], [[v, 0, 0, 0]])),
        ("velocities", lambda v: world_of(mc.ReducedWorld).from_maximal([[0, 0, 0]], [[1, 0, 0, 0]], [[v, 0, 0]])),
    ],
)
def test_what_is_no_number_is_refused(name, call, value):
    if value is True:
        return call(1.0)
    with pytest.raises(mc.SceneError, match=name) as error:
        call(value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [None, "x", 3, mc.Sphere(1.0), world_of()], ids=["None", "x", "3", "sphere", "world"])
@pytest.mark.parametrize("call", [reduced.System, reduced.Dynamics, reduced.mobility])
def test_what_is_no_scene_and_no_system_is_refused(call, value):
    with pytest.raises(mc.SceneError, match="the first argument must be a S"):
        call(value)


@pytest.mark.filterwarnings("error")
def test_what_is_no_number_no_list_and_no_function_is_refused_by_name():
    """Each ended in an OverflowError, or in a TypeError of Python's that names no argument."""
    problem, scene = mc.Problem(np.eye(3), [-1, 0, 0], [0.5]), mc.load("double_pendulum")
    world, tree = mc.ReducedWorld(scene), reduced.System(scene)

    def given(**values):
        world.q = values["q"]

    calls = {
        "q": [lambda v: given(q=(v, 0)), lambda v: world.forward_dynamics((0, v), world.qd, world.tau)],
        "b": [lambda v: mc.Problem(np.eye(3), [-1, v, 0], [0.5])],
        "A": [lambda v: mc.Problem([[v]], [1.0], [])],
        "tolerance": [lambda v: mc.solve(problem, tolerance=v)],
    }
    calls |= {
        name: [lambda v, solver=solver, name=name: mc.solve(problem, solver, **{name: v})]
        for solver, name in (
            ("pgs", "omega"),
            ("jacobi", "omega"),
            ("nncg", "omega"),
            ("admm", "rho"),
            ("admm", "eta"),
            ("newton", "delta"),
            ("admm", "over_relaxation"),
            ("staggered", "inner_iterations"),
        )
    }
    lists = {
        "bodies": [lambda v: mc.World(scene).apply_impulses([[1, 2, 3]], bodies=v)],
        "tree": [lambda v: mc.ReducedWorld(scene, tree=v)],
        "roots": [lambda v: mc.ReducedWorld(scene, roots=v)],
        "no scene": [mc.scenes.build],
        "gamma": [lambda v: reduced.Explicit(tree, v)],
        "derivative": [lambda v: reduced.Explicit(tree, np.copy, v)],
    }
    for table, values in ((calls, (10**400, 1j, "x", None)), (lists, (3, 1.5, "x"))):
        for name, tries in table.items():
            for call in tries:
                for value in values:
                    with pytest.raises(mc.SceneError, match=name) as error:
                        call(value)
                    assert "\n" not in str(error.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e160, 1e200, 1e307])
def test_large_numbers_warn_of_nothing(size):
    world = world_of()
    world.positions[0] = world.velocities[0] = world.angular_velocities[0] = size
    assert not np.isfinite(world.energy().total) or world.energy().total > 0.0
    world.momentum()
    for mass, radius in ((1e300, 1e-100), (1e-300, 1e100)):
        with pytest.raises(mc.SceneError, match="out of|not a positive number"):
            mc.Scene().add_body("a", shape=mc.Sphere(radius), mass=mass)
    with pytest.raises(mc.SceneError, match="middle_length"):
        mc.load("cardan_shaft", middle_length=1e-308)
