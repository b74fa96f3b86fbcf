"""World's settings as objects: the same bits as by keywords, what does not go together, what reads back, what help
tells."""

import copy
import dataclasses
import itertools
import pickle
import pydoc
import re
import typing
import warnings
from pathlib import Path

import pytest

import mcsim as mc
from mcsim import cli
from mcsim.world import capabilities, choices
from mcsim.world.keywords import DEFAULTS, More, ReducedMore, keyword_names

CONTACTS = (mc.RigidContact, mc.CompliantContact, mc.EventContact)
OBJECTS = (
    *CONTACTS,
    mc.DirectJoints,
    mc.SweptJoints,
    mc.RK4,
    mc.DOP853,
    mc.Radau,
    mc.BDF,
    mc.Rattle,
    mc.Variational,
    mc.Sleep,
)


def scene(soft=False):
    """A box and a ball on the ground, which bounces, and two links that swing, with limits."""
    material = mc.Material(friction=0.5, restitution=0.3, **({"stiffness": 2e4, "damping": 20.0} if soft else {}))
    made = mc.Scene(name="settings")
    made.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    made.add_body("box", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, 0, 0.095), velocity=(0.5, 0, 0), material=material)
    made.add_body("ball", shape=mc.Sphere(0.1), position=(1, 0, 0.12), velocity=(0, 0.3, -2), material=material)
    for i in range(2):
        made.add_body(
            f"link{i}",
            shape=mc.Capsule(0.03, 0.1),
            position=(2, 0, 1.5 - 0.3 * i),
            angular_velocity=(0, 8, 0),
            material=material,
        )
    made.add_joint(mc.HingeJoint(None, "link0", (2, 0, 1.65), (0, 1, 0), name="upper", limits=(-0.05, 0.05)))
    made.add_joint(mc.BallJoint("link0", "link1", (2, 0, 1.35), name="lower"))
    return made


# What is the same by objects and by keywords. Together they give every field of every object.
# fmt: off
SAME = [
    (mc.World, {"contact": mc.RigidContact(solver="si", iterations=6, first_iterations=30, more_iterations=10,
                                           least_iterations=2, stabilization="soft", hertz=40.0, damping_ratio=3.0,
                                           push_speed=1.5, friction="pyramid", friction_points="point",
                                           restitution_law="newton", restitution_threshold=0.2,
                                           speculative_distance=0.03),
                "joints": mc.DirectJoints(hertz=30.0, damping_ratio=1.5, push_speed=0.7)},
     {"solver": "si", "iterations": 6, "first_iterations": 30, "more_iterations": 10, "least_iterations": 2,
      "stabilization": "soft", "hertz": 40.0, "damping_ratio": 3.0, "push_speed": 1.5, "friction": "pyramid",
      "friction_points": "point", "restitution_law": "newton", "restitution_threshold": 0.2, "speculative_distance": 0.03,
      "joint_solver": "tree", "joint_hertz": 30.0, "joint_damping_ratio": 1.5, "joint_push_speed": 0.7}),
    (mc.World, {"contact": mc.RigidContact(stabilization="baumgarte", baumgarte=0.4, slop=0.002, push_speed=2.0),
                "joints": mc.SweptJoints(push_speed=2.0), "sleep": mc.Sleep(speed=0.3, time=0.02)},
     {"stabilization": "baumgarte", "baumgarte": 0.4, "slop": 0.002, "push_speed": 2.0, "joint_solver": "rows",
      "sleep": True, "sleep_speed": 0.3, "sleep_time": 0.02}),
    (mc.World, {"contact": mc.RigidContact(stabilization="ggl", position_rounds=3)},
     {"stabilization": "ggl", "position_rounds": 3}),
    (mc.World, {"contact": mc.RigidContact(solver="nncg", contact_model="ccp", stop="residual", tolerance=1e-5),
                "joints": "direct"},
     {"solver": "nncg", "contact_model": "ccp", "stop": "residual", "tolerance": 1e-5, "joint_solver": "tree"}),
    (mc.World, {"contact": mc.RigidContact(solver="pgs"), "joints": mc.SweptJoints(hertz=20.0, damping_ratio=1.0)},
     {"solver": "pgs", "joint_hertz": 20.0, "joint_damping_ratio": 1.0}),
    (mc.World, {"contact": mc.CompliantContact(law="hunt_crossley", solver="pgs", iterations=20, first_iterations=25,
                                               more_iterations=3, least_iterations=15, stop="residual", tolerance=1e-8,
                                               friction="pyramid", speculative_distance=0.01)},
     {"contact": "compliant", "compliant_law": "hunt_crossley", "solver": "pgs", "iterations": 20, "first_iterations": 25,
      "more_iterations": 3, "least_iterations": 15, "stop": "residual", "tolerance": 1e-8, "friction": "pyramid",
      "speculative_distance": 0.01}),
    (mc.World, {"contact": mc.EventContact(impacts="sequential", restitution_law="poisson"), "integrator": "heun"},
     {"contact": "event", "impacts": "sequential", "restitution_law": "poisson", "integrator": "heun"}),
    (mc.World, {"integrator": mc.RK4(projection=True, push_speed=1.0)},
     {"integrator": "rk4", "stabilization": "projection", "joint_push_speed": 1.0}),
    (mc.World, {"integrator": mc.RK4(hertz=1.5, damping_ratio=1.2), "contact": mc.RigidContact(stabilization="soft")},
     {"integrator": "rk4", "joint_hertz": 1.5, "joint_damping_ratio": 1.2}),
    (mc.World, {"integrator": mc.DOP853(tolerance=1e-9)}, {"integrator": "reference", "reference_tolerance": 1e-9}),
    (mc.World, {"integrator": mc.DOP853(creep=0.1)}, {"integrator": "reference", "reference_creep": 0.1}),
    (mc.World, {"integrator": mc.BDF(tolerance=1e-9, creep=0.1)},
     {"integrator": "bdf", "reference_tolerance": 1e-9, "reference_creep": 0.1}),
    (mc.World, {"integrator": mc.Radau(tolerance=1e-9, creep=0.1)},
     {"integrator": "radau", "reference_tolerance": 1e-9, "reference_creep": 0.1}),
    (mc.World, {"integrator": mc.Rattle(hertz=20.0, damping_ratio=1.2, push_speed=1.0)},
     {"integrator": "rattle", "joint_hertz": 20.0, "joint_damping_ratio": 1.2, "joint_push_speed": 1.0}),
    (mc.World, {"integrator": mc.Variational(hertz=20.0, damping_ratio=1.2, push_speed=1.0), "contact": mc.RigidContact()},
     {"integrator": "variational", "joint_hertz": 20.0, "joint_damping_ratio": 1.2, "joint_push_speed": 1.0}),
    (mc.World, {"contact": mc.RigidContact(), "joints": mc.DirectJoints(), "sleep": mc.Sleep()}, {}),
    (mc.World, {"solver": "pgs", "contact": mc.RigidContact(hertz=30.0), "joint_hertz": 20.0, "joints": "rows"},
     {"solver": "pgs", "hertz": 30.0, "joint_hertz": 20.0}),
    (mc.ReducedWorld, {"contact": mc.RigidContact(iterations=6, hertz=40.0, friction="pyramid"),
                       "joints": mc.SweptJoints(hertz=30.0), "sleep": mc.Sleep(time=0.02)},
     {"iterations": 6, "hertz": 40.0, "friction": "pyramid", "joint_hertz": 30.0, "sleep_time": 0.02}),
    (mc.ReducedWorld, {"contact": mc.RigidContact(stabilization="projection", hertz=40.0), "integrator": mc.RK4(hertz=9.0)},
     {"stabilization": "projection", "hertz": 40.0, "integrator": "rk4", "joint_hertz": 9.0}),
    (mc.ReducedWorld, {"contact": mc.CompliantContact(law="hunt_crossley")},
     {"contact": "compliant", "compliant_law": "hunt_crossley"}),
    (mc.ReducedWorld, {"contact": mc.EventContact(restitution_law="newton")},
     {"contact": "event", "restitution_law": "newton"}),
]
# fmt: on
IDS = [f"{i}-{kind.__name__}-{'-'.join(objects)}" for i, (kind, objects, _) in enumerate(SAME)]


def made(kind, keywords):
    """A world after some steps."""
    contact = keywords.get("contact")
    soft = contact == "compliant" or isinstance(contact, mc.CompliantContact)
    event = contact == "event" or isinstance(contact, mc.EventContact)
    if event:
        keywords = keywords | {"dt": 1 / 240}
    integrator = keywords.get("integrator")
    smooth = integrator in ("reference", "radau", "bdf") or isinstance(integrator, (mc.DOP853, mc.Radau, mc.BDF))
    described = scene(soft) if not smooth else mc.scenes.double_pendulum()
    world = kind(described, **keywords)
    world.step(3 if event else 12)
    return world


@pytest.mark.parametrize("kind, objects, keywords", SAME, ids=IDS)
def test_objects_are_the_same_as_keywords(kind, objects, keywords):
    """The same settings, and the same bits after some steps."""
    by_objects, by_keywords = made(kind, objects), made(kind, keywords)
    assert by_objects.settings == by_keywords.settings
    assert by_objects.state_hash() == by_keywords.state_hash()


def test_every_field_was_given():
    """SAME gives each field of each object."""
    given = {
        (type(value), name)
        for _, objects, _ in SAME
        for value in objects.values()
        if isinstance(value, choices.Choice)
        for name in value.given()
    }
    assert given == {(kind, field.name) for kind in OBJECTS for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("kind, objects, keywords", SAME, ids=IDS)
def test_settings_read_back(kind, objects, keywords):
    """The objects hold what was given; a world of them goes the same way and reads back the same."""
    world = made(kind, keywords)
    settings = world.settings
    back = {name: getattr(settings, name) for name in ("contact", "joints", "integrator", "sleep")}
    for name, value in objects.items():
        if isinstance(value, choices.Choice):
            assert type(back[name]) is type(value) and value.given().items() <= back[name].given().items()
    again = made(kind, back)
    assert again.state_hash() == world.state_hash()
    assert {name: getattr(again.settings, name) for name in back} == back


def test_settings_of_a_plain_world():
    settings = mc.World(scene()).settings
    assert settings["contact"] == "rigid" and settings["hertz"] == settings.contact.hertz == pytest.approx(0.52 * 240)
    assert settings.contact.slop is None and settings.contact.tolerance is None
    assert settings.joints == mc.DirectJoints(hertz=60.0, damping_ratio=2.0)
    assert settings.integrator == "semi_implicit" and settings.sleep == mc.Sleep(time=0.5)
    smooth = mc.World(scene(), integrator="rk4").settings
    assert smooth.joints is None and smooth.sleep is False
    assert smooth.integrator == mc.RK4(projection=True, hertz=60.0, damping_ratio=2.0)
    assert mc.World(scene(), solver="pgs").settings.joints == mc.SweptJoints(hertz=60.0, damping_ratio=2.0)
    with pytest.raises(AttributeError, match="joints is a setting from the beginning on"):
        mc.World(scene()).joints = "rows"


def test_settings_are_keywords():
    """The dict makes the same world, as it always did; copies and pickles too."""
    world = made(mc.World, {"push_speed": 1.5, "stabilization": "baumgarte"})
    for again in (mc.World(scene(), **world.settings), pickle.loads(pickle.dumps(world)), copy.deepcopy(world)):
        assert again.settings == world.settings and again.settings.joints.push_speed == 1.5
    assert copy.deepcopy(world.settings).contact == pickle.loads(pickle.dumps(world.settings)).contact
    assert world.settings.contact == world.settings.contact
    red = mc.ReducedWorld(scene(), contact=mc.RigidContact(hertz=30.0))
    assert pickle.loads(pickle.dumps(red)).settings.contact == red.settings.contact
    assert red.maximal(contact=mc.RigidContact(hertz=20.0)).settings["hertz"] == 20.0


def test_push_speeds():
    """The keyword is of contacts and joints, the objects' fields are of their own."""
    for keywords, found in (
        ({"push_speed": 2.0}, (2.0, 2.0)),
        ({"contact": mc.RigidContact(push_speed=2.0)}, (2.0, None)),
        ({"joints": mc.DirectJoints(push_speed=2.0)}, (None, 2.0)),
        ({"push_speed": 2.0, "joint_push_speed": 1.0}, (2.0, 1.0)),
    ):
        settings = mc.World(scene(), **keywords).settings
        assert (settings["push_speed"], settings["joint_push_speed"]) == found


# ---- what does not go together ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mc.RigidContact(solver="sii"), "RigidContact: solver must be one of: si, pgs"),
        (lambda: mc.RigidContact(hertz=-1), "RigidContact: hertz must not be negative"),
        (lambda: mc.RigidContact(iterations=0), "RigidContact: iterations must be from 1"),
        (
            lambda: mc.RigidContact(stabilization="baumgarte", hertz=30),
            "hertz does not go with stabilization='baumgarte', which reads baumgarte, slop, push_speed",
        ),
        (lambda: mc.RigidContact(baumgarte=0.2), "baumgarte does not go with stabilization='soft'"),
        (
            lambda: mc.RigidContact(stabilization="none", slop=1e-3),
            "slop does not go with stabilization='none', .* none of them",
        ),
        (lambda: mc.RigidContact(contact_model="ncp"), "contact_model goes with a solver of the laboratory"),
        (lambda: mc.RigidContact(solver="lemke", contact_model="ncp"), "'ncp' is not solved by lemke"),
        (lambda: mc.RigidContact(solver="nncg", friction="pyramid"), "friction does not go with solver='nncg'"),
        (lambda: mc.RigidContact(solver="pgs", contact_model="ccp", first_iterations=3), "solver='pgs' of the laboratory"),
        (lambda: mc.RigidContact(stop="iterations", tolerance=1e-3), "tolerance goes with stop='residual'"),
        (lambda: mc.CompliantContact(law="hertz"), "CompliantContact: law must be one of: linear, hunt_crossley"),
        (lambda: mc.CompliantContact(solver="nncg"), "solver 'nncg' does not go with contact='compliant'"),
        (lambda: mc.EventContact(impacts="both"), "impacts must be one of: simultaneous, sequential"),
        (lambda: mc.DirectJoints(hertz="stiff"), "DirectJoints: hertz must be a number"),
        (lambda: mc.RK4(projection=1), "RK4: projection must be True or False"),
        (lambda: mc.Sleep(time=0), "Sleep: time must be positive"),
    ],
)
def test_wrong_objects(make, message):
    with pytest.raises(mc.SceneError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "field, kind",
    [
        ("stabilization", mc.EventContact),
        ("law", mc.RigidContact),
        ("hertz", mc.CompliantContact),
        ("speed", mc.DirectJoints),
        ("projection", mc.Rattle),
    ],
)
def test_what_an_object_does_not_have_cannot_be_written(field, kind):
    with pytest.raises(TypeError, match=field):
        kind(**{field: None})
    with pytest.raises(dataclasses.FrozenInstanceError):
        mc.Sleep().time = 1.0


TWICE = [
    ({"contact": mc.RigidContact(solver="pgs"), "solver": "pgs"}, "solver='pgs'", "contact=RigidContact(solver='pgs')"),
    ({"contact": mc.RigidContact(hertz=30), "hertz": 20.0}, "hertz", "hertz=20.0", "contact=RigidContact(hertz=30.0)"),
    (
        {"contact": mc.CompliantContact(law="linear"), "compliant_law": "linear"},
        "compliant_law='linear'",
        "contact=CompliantContact(law='linear')",
    ),
    ({"joints": "direct", "joint_solver": "tree"}, "joint_solver", "joint_solver='tree'", "joints=DirectJoints(...)"),
    ({"joints": mc.SweptJoints(hertz=9), "joint_hertz": 8}, "joint_hertz=8", "joints=SweptJoints(hertz=9.0)"),
    ({"joints": mc.DirectJoints(push_speed=1), "push_speed": 2}, "push_speed=2", "joints=DirectJoints(push_speed=1.0)"),
    ({"sleep": mc.Sleep(time=1), "sleep_time": 1.0}, "sleep_time=1.0", "sleep=Sleep(time=1.0)"),
    ({"integrator": mc.RK4(projection=True), "stabilization": "soft"}, "'soft'", "integrator=RK4(projection=True)"),
    (
        {"integrator": mc.RK4(projection=True), "contact": mc.RigidContact(stabilization="soft")},
        "contact=RigidContact(stabilization='soft')",
        "integrator=RK4(projection=True)",
    ),
]


@pytest.mark.parametrize("case", TWICE, ids=lambda case: "-".join(case[0]))
def test_given_twice(case):
    """An error that names both."""
    keywords, *words = case
    with pytest.raises(mc.SceneError, match="World: .* is given twice, by .* and by ") as caught:
        mc.World(scene(), **keywords)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "kind, keywords, message",
    [
        (
            mc.World,
            {"contact": mc.RigidContact(hertz=30), "stabilization": "ggl"},
            "hertz does not go with stabilization='ggl'",
        ),
        (mc.World, {"contact": mc.RigidContact(stabilization="projection", hertz=30)}, "hertz .*'projection'"),
        (
            mc.World,
            {"contact": mc.RigidContact(), "compliant_law": "linear"},
            "compliant_law does not go with contact=RigidContact",
        ),
        (
            mc.World,
            {"contact": mc.EventContact(), "hertz": 30.0},
            "hertz does not go with contact=EventContact, which has impacts",
        ),
        (mc.World, {"contact": mc.EventContact(), "solver": "si"}, "solver does not go with contact=EventContact"),
        (mc.World, {"contact": mc.CompliantContact(), "integrator": mc.RK4()}, "integrator 'rk4' does not go with"),
        (
            mc.World,
            {"contact": mc.EventContact(), "joints": mc.SweptJoints()},
            "joints .* integrator='dopri', which solves",
        ),
        (mc.World, {"joints": mc.DirectJoints(hertz=3), "integrator": "rk4"}, r"pass integrator=RK4\(hertz=3.0\)"),
        (mc.World, {"joints": "direct", "solver": "pgs"}, "joint_solver 'tree' does not go with solver='pgs'"),
        (mc.World, {"joints": mc.SweptJoints(hertz=3), "stabilization": "ggl"}, "hertz of joints=.* no springs"),
        (mc.World, {"integrator": mc.RK4(projection=False), "stabilization": "projection"}, r"RK4\(projection=False\)"),
        (mc.World, {"sleep": mc.Sleep(), "integrator": "rk4"}, "under which nothing sleeps"),
        (mc.World, {"sleep": mc.DirectJoints()}, "sleep takes True, False or a Sleep"),
        (mc.World, {"contact": mc.Sleep()}, "contact takes a name or a RigidContact, CompliantContact, EventContact"),
        (mc.World, {"integrator": mc.Sleep()}, "integrator takes a name or a RK4, DOP853, Radau, BDF, Rattle, Variational"),
        (mc.World, {"joints": 3}, "joints takes a name or a DirectJoints, SweptJoints"),
        (mc.World, {"joints": "tree"}, "joints must be one of: direct, rows"),
        (mc.World, {"contact": mc.RigidContact(), "solver": "sii"}, "solver must be one of"),
        (mc.World, {"joints": mc.SweptJoints(), "integrator": "rk5"}, "integrator must be one of"),
        (mc.World, {"joints": mc.SweptJoints(), "solver": ["si"]}, "solver must be one of"),
        (mc.ReducedWorld, {"joints": "direct"}, "DirectJoints.* does not go with ReducedWorld"),
        (
            mc.ReducedWorld,
            {"contact": mc.RigidContact(more_iterations=3)},
            "more_iterations .* does not go with ReducedWorld",
        ),
        (
            mc.ReducedWorld,
            {"contact": mc.RigidContact(solver="pgs", friction="cone")},
            "friction .* does not go with solver='pgs'",
        ),
        (mc.ReducedWorld, {"integrator": mc.Rattle()}, "integrator must be one of: semi_implicit, rk4, reference"),
    ],
)
def test_what_does_not_go_together(kind, keywords, message):
    with pytest.raises(mc.SceneError, match=f"{kind.__name__}: .*{message}") as caught:
        kind(scene(), **keywords)
    assert "\n" not in str(caught.value)


def test_every_entry_makes_a_world_or_says_why_not():
    """All solvers, stabilizations, integrators and kinds of contact: what the records forbid is told, and nothing else."""
    count = 0
    tables = {"contact": capabilities.CONTACT_TABLE, "integrator": capabilities.INTEGRATOR_TABLE}
    names = "contact", "solver", "stabilization", "integrator", "joint_solver"
    for values in itertools.product(
        capabilities.CONTACTS,
        ("si", "pgs", "nncg"),
        capabilities.STABILIZATIONS,
        capabilities.INTEGRATORS,
        capabilities.JOINT_SOLVERS,
    ):
        keywords = dict(zip(names, values, strict=True))
        k = keywords | {"contact_model": "ncp" if keywords["solver"] == "nncg" else None}
        may = k["contact"] in capabilities.INTEGRATOR_TABLE[k["integrator"]].contacts
        for what, goes in (
            *((what, table[k[what]].goes) for what, table in tables.items()),
            ("solver", capabilities.solver_of(k).goes),
        ):
            try:
                capabilities.check_goes(k, what, goes, *names[1:])
            except mc.SceneError:
                may = False
        try:
            mc.World(mc.Scene(), **keywords)
            assert may, keywords
            count += 1
        except mc.SceneError as error:
            assert not may, keywords
            assert "does not go with" in str(error) or "integrator must be one of" in str(error)
    assert count > 40


# ---- the page --------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"


def rows(begin):
    """Cells of the lines of the table that begins so: what stands in code quotes in each."""
    table = PAGE.read_text(encoding="utf-8").split(begin)[1].split("\n\n")[0]
    return [
        [re.findall(r"`\"?([\w.]+)\"?`", cell) for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def test_tables_of_the_page_are_the_records():
    """What a stabilization reads, what goes with an integrator, which keyword a field is."""
    table = capabilities.STABILIZATION_TABLE
    found = {name: read for (name,), read, _ in rows("| stabilization | in a World")}
    assert found == {name: [*entry.reads] for name, entry in table.items()}
    assert set(found) - set(capabilities.REDUCED_STABILIZATIONS) == {"split_impulse", "ggl"}
    told = {name: cells for names, *cells in rows("| integrator | contact |") for name in names}
    assert told.keys() == capabilities.INTEGRATOR_TABLE.keys()
    for name, (contact, stabilization, solver, joints, sleeps) in told.items():
        entry = capabilities.INTEGRATOR_TABLE[name]
        assert contact[: len(entry.contacts)] == [*entry.contacts]
        if name != "semi_implicit":
            assert stabilization == [*(entry.goes["stabilization"].names if "stabilization" in entry.goes else ())]
            assert "solver" not in entry.goes or solver == [*entry.goes["solver"].names]
        assert bool(sleeps) == entry.sleeps and bool(joints) != entry.own_joints
    fields, kinds = {}, []
    for names, text in rows("| object | field: keyword |"):
        kinds = names or kinds  # a line without a name goes on with the one above
        for kind in kinds:
            fields[kind] = [*fields.get(kind, ()), *text]
    for kind, text in fields.items():
        keywords = getattr(mc, kind).keywords()
        differ = {name for pair in keywords.items() if pair[0] != pair[1] for name in pair} - {"projection"}
        assert differ <= set(text)
        assert kind not in ("RigidContact", "EventContact") or sorted(text) == sorted(keywords)


# ---- names and help --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_help_fits_a_screen(kind):
    """Of the constructor: its signature at 120 columns, and what it tells."""
    text = pydoc.plain(pydoc.render_doc(kind)).split("Method resolution order")[0]
    lines = sum(1 + len(line) // 120 for line in text.splitlines())
    assert lines <= 60
    for name in (
        "dt",
        "substeps",
        "solver",
        "iterations",
        "stabilization",
        "integrator",
        "contact",
        "friction",
        "sleep",
        "threads",
        "joints",
        *(("joint_solver",) if kind is mc.World else ("tree",)),
    ):
        assert f"{name}:" in text or f" {name}, " in text, name
    for name in ("first_iterations", "hertz"):
        assert f"\n |  {name}:" not in text


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_tell_of_their_fields(kind):
    """Each field stands in the docstring, as do the errors."""
    text = kind.__doc__
    for field in dataclasses.fields(kind):
        assert field.name in text, field.name
        assert field.default is None
    assert "SceneError" in text and kind.__name__ in mc.__all__


def test_wrong_names_answer_with_the_right_ones():
    for kind in (mc.World, mc.ReducedWorld):
        with pytest.raises(TypeError, match="no keyword 'hertzz'; did you mean 'hertz'.; the keywords are: dt, ") as caught:
            kind(scene(), hertzz=3)
        for name in keyword_names(kind):
            assert name in str(caught.value)


def test_names_are_those_of_the_tables():
    """What type checkers are told is what there is."""
    names = capabilities
    for literal, table in (
        (choices.SolverName, names.ALL_SOLVERS),
        (choices.StabilizationName, names.STABILIZATIONS),
        (choices.IntegratorName, {*names.INTEGRATORS, *names.EVENT_INTEGRATORS}),
        (choices.ReducedIntegratorName, {*names.REDUCED_INTEGRATORS, *names.EVENT_INTEGRATORS}),
        (choices.ContactName, names.CONTACTS),
        (choices.JointsName, choices.JOINT_CHOICES),
        (choices.JointSolverName, names.JOINT_SOLVERS),
        (choices.FrictionName, names.FRICTIONS),
        (choices.FrictionPointsName, names.FRICTION_POINTS),
        (choices.ModelName, names.MODEL_DESCRIPTIONS),
        (choices.StopName, names.STOPS),
        (choices.LawName, names.LAWS),
        (choices.OrderName, names.ORDERS),
        (choices.CompliantLawName, names.COMPLIANT_LAWS),
    ):
        assert set(typing.get_args(literal)) == set(table)


def test_old_keywords_are_all_there():
    """Those of World before there were objects, and their defaults."""
    old = set(
        """dt substeps solver iterations first_iterations more_iterations least_iterations joint_solver
        stabilization integrator geometric_stiffness friction friction_points baumgarte slop hertz damping_ratio
        joint_hertz joint_damping_ratio push_speed restitution_threshold speculative_distance position_rounds sleep
        sleep_speed sleep_time threads contact_model stop tolerance contact compliant_law impacts restitution_law
        strict""".split()
    )
    assert old == set(keyword_names(mc.World)) - {"joints", "joint_push_speed", "reference_tolerance", "reference_creep"}
    assert {*More.__annotations__} <= {*DEFAULTS} and {*ReducedMore.__annotations__} < {*More.__annotations__}
    fields = {keyword for kind in OBJECTS for keyword in kind.keywords().values()} - {"projection"}
    assert {*More.__annotations__} - {"geometric_stiffness"} <= fields
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mc.World(scene(), geometric_stiffness=0.25)
    assert caught[0].category is DeprecationWarning and caught[0].filename == __file__


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_options_of_the_command_line_are_keywords(kind):
    hints = typing.get_type_hints(cli.run, include_extras=True)
    options = {
        name
        for name, hint in hints.items()
        for option in getattr(hint, "__metadata__", ())
        if option.rich_help_panel == "World"
    }
    assert len(options) > 20 and options - {"coordinates"} <= set(keyword_names(kind))


def test_methods_take_objects():
    """A study's dict of keywords may hold them."""
    methods = {
        "swept": {"joints": mc.SweptJoints(hertz=30.0)},
        "reduced": {"coordinates": "reduced", "contact": mc.RigidContact(iterations=3)},
    }
    study = mc.compare(mc.scenes.pendulum(), [methods], seconds=0.1, reference=None)
    assert list(study.runs) == ["swept", "reduced"] and not any(run.failure for run in study.all_runs())
