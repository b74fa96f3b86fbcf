"""Methods by name: what they mean, and that wrong names answer with the right ones."""

import pytest

import mcsim as mc
from mcsim.lab.methods import DEFAULT_METHODS, MAXIMAL_SOLVERS, Method, methods_of, parse
from mcsim.world.capabilities import (
    EVENT_INTEGRATORS,
    INTEGRATORS,
    REDUCED_INTEGRATORS,
    REDUCED_STABILIZATIONS,
    STABILIZATIONS,
)


@pytest.fixture(scope="module")
def scene():
    return mc.scenes.double_pendulum()


@pytest.mark.parametrize(
    "name, settings",
    [
        ("maximal:si+baumgarte", {"solver": "si", "joint_solver": "rows", "stabilization": "baumgarte"}),
        ("maximal:rows+soft", {"solver": "si", "joint_solver": "rows", "stabilization": "soft"}),
        ("maximal:pgs+none", {"solver": "pgs", "joint_solver": "rows", "stabilization": "none"}),
        ("maximal:tree+ggl", {"solver": "si", "joint_solver": "tree", "stabilization": "ggl"}),
        ("maximal:tree+soft@rattle", {"integrator": "rattle", "stabilization": "soft"}),
        ("maximal:tree+projection@rk4", {"integrator": "rk4", "stabilization": "projection"}),
        ("maximal:tree", {"joint_solver": "tree", "stabilization": "soft"}),
    ],
)
def test_names_are_keywords_of_world(scene, name, settings):
    method = parse(name)
    world = method.world(scene, 1 / 240)
    assert type(world) is mc.World
    assert settings.items() <= world.settings.items()
    assert world.settings["substeps"] == 1 and world.settings["dt"] == 1 / 240 and not world.settings["sleep"]


def test_reduced(scene):
    world = parse("reduced:aba+baumgarte", substeps=3).world(scene, 0.01)
    assert type(world) is mc.ReducedWorld
    assert world.settings["substeps"] == 3 and world.settings["stabilization"] == "baumgarte"


def test_all_names_that_go_together_make_a_world(scene):
    """Every solver, stabilization and integrator can be named; what does not go together is told by World."""
    made = refused = 0
    for solver in MAXIMAL_SOLVERS:
        for stabilization in STABILIZATIONS:
            for integrator in INTEGRATORS:
                try:
                    parse(f"maximal:{solver}+{stabilization}@{integrator}").world(scene, 1 / 240)
                    made += 1
                except mc.SceneError as error:
                    assert "does not go with" in str(error) or (solver == "event" and "must be one of" in str(error))
                    assert f"'maximal:{solver}+{stabilization}@" in str(error)
                    refused += 1
    assert made > 30 and refused > 5
    for stabilization in REDUCED_STABILIZATIONS:
        for integrator in REDUCED_INTEGRATORS:
            parse(f"reduced:aba+{stabilization}@{integrator}").world(scene, 1 / 240)
    for name in ("maximal:event", "reduced:event", *(f"maximal:event@{name}" for name in EVENT_INTEGRATORS)):
        world = parse(name).world(scene, 1 / 240)
        assert world.settings["contact"] == "event" and world.settings["integrator"] == (name.partition("@")[2] or "dopri")


def test_dicts():
    """Keywords by name; a name within a dict gives another name to a method."""
    stiff, ypr, plain = methods_of(
        [
            {"stiff": {"joint_hertz": 40, "substeps": 2}},
            {"ypr": {"coordinates": "reduced", "ball": "ypr"}, "plain": "maximal:si+none"},
        ]
    )
    assert stiff == Method("stiff", "maximal", {"substeps": 2, "sleep": False, "joint_hertz": 40})
    assert ypr.coordinates == "reduced"
    assert ypr.world(mc.scenes.chain(n=2), 0.01).system.links[0].kind == "spherical_ypr"
    assert plain.name == "plain" and plain.keywords["stabilization"] == "none"
    assert [m.name for m in methods_of("reduced:aba")] == ["reduced:aba"]
    assert methods_of([{"sleepy": {"sleep": True}}])[0].keywords["sleep"] is True


WRONG = [
    ("maximal:sii+soft", ["no solver 'sii'", "did you mean 'si'", "si, pgs, tree, rows"]),
    ("maximal:si+baumgart", ["no stabilization 'baumgart'", "none, baumgarte, soft, split_impulse, projection, ggl"]),
    ("maximal:si+soft@rk5", ["no integrator 'rk5'", "semi_implicit, rk4, rattle, variational"]),
    ("maximal:si+", ["no stabilization ''"]),
    ("maximal:", ["no solver ''", "pgs"]),
    ("reduced:abba", ["no algorithm 'abba'", "did you mean 'aba'", "are: aba"]),
    ("reduced:aba+ggl", ["no stabilization 'ggl'", "none, baumgarte, soft"]),
    ("reduced:aba@rattle", ["no integrator 'rattle'", "semi_implicit"]),
    ("reduced", ["no method 'reduced'", "reduced:<algorithm>", "maximal solvers: si, pgs"]),
    ("minimal:si+soft", ["no method", "maximal:<solver>", "reduced algorithms: aba"]),
    ([], ["no methods", *DEFAULT_METHODS]),
    (7, ["must be a list"]),
    ([7], ["a method is a name"]),
    (["reduced:aba", "reduced:aba"], ["'reduced:aba' is there twice"]),
    ({"a": {"hertzz": 3}}, ["method 'a'", "no keyword 'hertzz'", "did you mean 'hertz'", "World are: substeps"]),
    ({"a": {"coordinates": "reduced", "more_iterations": 8}}, ["no keyword 'more_iterations'", "ReducedWorld are:"]),
    ({"a": {"coordinates": "polar"}}, ["method 'a'", "maximal, reduced", "'polar'"]),
    ({"a": {"dt": 0.1}}, ["method 'a'", "dt is one for all"]),
]


@pytest.mark.parametrize("methods, words", WRONG, ids=[str(m) for m, _ in WRONG])
def test_wrong_names(methods, words):
    with pytest.raises(mc.SceneError) as caught:
        methods_of(methods)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_wrong_settings_name_the_method():
    with pytest.raises(mc.SceneError, match="method 'odd': World: hertz"):
        mc.compare(mc.scenes.pendulum(), {"odd": {"hertz": -1}}, seconds=0.1)
