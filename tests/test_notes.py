"""What steps could not do: a note of each kind by a scene that provokes it, with names, figure and counts; none where all
is well; an error, and the state before, under strict=True."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim import cli
from mcsim.core._noted import Noted
from mcsim.core.notes import KINDS, NUMBERS, carry_over, notes_of, tell

G = 9.81


# ---- scenes ----------------------------------------------------------------------------------------------------------


def pendula(count):
    """Balls on ball joints 1 m above them, side by side."""
    scene = mc.Scene()
    for k in range(count):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.1), position=(3 * k, 0, 0))
        scene.add_joint(mc.BallJoint(None, f"ball{k}", (3 * k, 0, 1), name=f"pin{k}"))
    return scene


def pulled(count, **keywords):
    """Of which a hand has torn the last one off its pin by 1 m."""
    world = mc.World(pendula(count), **keywords)
    world.set_pose(f"ball{count - 1}", position=(3 * (count - 1), 0, -1))
    return world


def arms(kind, geared=False, **keywords):
    """Two arms of 1 m on pivots 3 m apart, whose ends a joint is to hold together."""
    scene = mc.Scene()
    for name, x, side in (("a", 0.0, 1), ("b", 3.0, -1)):
        scene.add_body(name, mass=1, inertia=(0.1, 0.1, 0.1), position=(x, 0, side * 0.5))
        scene.add_joint(mc.HingeJoint(None, name, (x, 0, 0), (0, 1, 0), name=f"pivot_{name}"))
    scene.add_joint(
        mc.BallJoint("a", "b", frame_a=((0, 0, 0.5), (1, 0, 0, 0)), frame_b=((0, 0, -0.5), (1, 0, 0, 0)), name="hands")
    )
    if geared:
        scene.add_joint(mc.GearJoint("pivot_a", "pivot_b", ratio=0.7, name="gear"))
    return kind(scene, **keywords)


def swinging_loop(**keywords):
    """In steps too long for it, as it comes round."""
    return mc.ReducedWorld(mc.load("four_bar", driven=False), **{"dt": 1 / 30} | keywords)


def thrown_rod(**keywords):
    """Which comes to a wall by a corner that no contact foresaw."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", kind="static", shape=mc.Box((30, 30, 0.005)))
    scene.add_body(
        "rod",
        shape=mc.Box((0.2, 0.005, 0.005)),
        position=(0, 0, 1.5),
        velocity=(30.0, 0, -100.0),
        angular_velocity=(0, 180.0, 0),
    )
    return mc.World(scene, **keywords)


def stiff_block(kind=mc.World, **keywords):
    scene = mc.Scene()
    material = mc.Material(stiffness=1e9, damping=1e3)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body("block", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), material=material)
    return kind(scene, contact="compliant", **{"dt": 1 / 60} | keywords)


def tangle(**keywords):
    """Thirteen balls, each on a joint with each: hardly to be factored."""
    rng, scene = np.random.default_rng(1), mc.Scene()
    places = rng.uniform(-1, 1, (13, 3))
    for k, place in enumerate(places):
        scene.add_body(f"ball{k}", mass=1, inertia=(1, 1, 1), position=place)
    for a in range(13):
        for b in range(a):
            scene.add_joint(mc.BallJoint(f"ball{a}", f"ball{b}", 0.5 * (places[a] + places[b]), name=f"j{a}_{b}"))
    return mc.World(scene, **keywords)


def swept_pyramid(**keywords):
    return mc.World(mc.load("pyramid", base=6), **{"tolerance": 1e-14, "iterations": 3} | keywords)


def unsolved_pyramid(**keywords):
    return mc.World(mc.load("pyramid", base=4), solver="pgs", contact_model="ncp", iterations=3, **keywords)


def painleve_rod(**keywords):
    """A thin rod that slides on its tip with so much friction that no force lets it slip on."""
    scene, length, radius = mc.Scene(), 1.0, 1e-3
    rough = mc.Material(friction=2.0, restitution=0.0)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=rough)
    angle = 0.9
    along = np.array([-np.cos(angle), 0.0, np.sin(angle)])
    half = 0.5 * np.arctan2(along[0], along[2])
    scene.add_body(
        "rod",
        shape=mc.Capsule(radius, length / 2),
        mass=1.0,
        inertia=(1 / 12, 1 / 12, 1e-3),
        position=np.array([0, 0, radius]) + along * length / 2,
        orientation=(np.cos(half), 0, np.sin(half), 0),
        velocity=(1.0, 0, 0),
        material=rough,
    )
    return mc.World(scene, contact="event", dt=1e-3, **keywords)


def drawn_projection(**keywords):
    """Under "rk4", whose projection has three rounds, torn apart."""
    return pulled(2, integrator="rk4", stabilization="projection", **keywords)


class Pulled:
    """A world with a point mass on which a spring acts that Python makes: its force is that at the begin of each step."""

    def __init__(self, kind=mc.World, turning=False, unit=1.0, **keywords):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("point", mass=1, inertia=(0.01 * unit**2,) * 3, position=(0.1 * unit, 0, 0))
        self.world, self.turning, self.unit = kind(scene, **{"dt": 1 / 60} | keywords), turning, unit
        if turning:
            self.world.set_velocity("point", (0, 0, 0), (1.0, 0, 0))

    def step(self, n=1):
        for _ in range(n):
            if self.turning:
                self.world.apply_torque("point", -30.0 * self.unit**2 * self.world.angular_velocities[0])
            else:
                self.world.apply_force("point", -1e4 * self.world.positions[0])
            self.world.step()

    def __getattr__(self, name):
        return getattr(self.world, name)


# By kind: what makes a world, steps until it happens at the latest, names that stand in the note.
PROVOKED = {
    "open joints": (lambda **k: pulled(1, **k), 1, ("pin0",)),
    "open joints, side by side": (lambda **k: pulled(9, **k), 1, ("pin8",)),
    "open joints, at the bodies' own": (lambda **k: arms(mc.World, geared=True, **k), 1, ("hands",)),
    "moved joints": (lambda **k: arms(mc.World, geared=True, **k), 1, ("hands",)),
    "flights": (lambda **k: arms(mc.World, **k), 2, ("a",)),
    "loops": (lambda **k: arms(mc.ReducedWorld, **k), 1, ("hands",)),
    "rows": (tangle, 1, ()),
    "energy": (swinging_loop, 200, ("crank",)),
    "held back": (thrown_rod, 12, ("rod",)),
    "stiff contacts": (stiff_block, 60, ("block",)),
    "stiff contacts, reduced": (lambda **k: stiff_block(mc.ReducedWorld, **k), 60, ("block",)),
    "sweeps": (swept_pyramid, 1, ()),
    "solver": (unsolved_pyramid, 1, ()),
    "painleve": (painleve_rod, 1, ("floor", "rod")),
    "coarse": (Pulled, 200, ("point",)),
    "coarse, reduced": (lambda **k: Pulled(mc.ReducedWorld, **k), 200, ("point",)),
    "coarse, turning": (lambda **k: Pulled(turning=True, **k), 200, ("point",)),
    "coarse, turning, reduced": (lambda **k: Pulled(mc.ReducedWorld, True, **k), 200, ("point",)),
}


def first(world, kind, most):
    """Its note in the first step that has one; how many steps were made."""
    for k in range(most):
        world.step()
        found = [note for note in world.stats.notes if note.kind == kind]
        if found:
            return found[0], k + 1
    raise AssertionError(f"no {kind} in {most} steps: {world.stats.notes}")


# ---- every kind ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", PROVOKED)
def test_a_scene_that_provokes_it_has_the_note(which):
    make, most, names = PROVOKED[which]
    kind = which.partition(",")[0]
    note, steps = first(make(), kind, most)
    assert set(names) <= set(note.joints or note.bodies) and all(repr(name) in note.text for name in names)
    assert note[:3] == (note.kind, note.bodies, note.text) and len(note.text) < 600 and "\n" not in note.text
    assert note.steps == 1 and 1 <= note.total <= steps and (note.figure > 0.0 or kind == "solver")
    assert len(note.joints) <= 4 and note.others >= 0 and pickle.loads(pickle.dumps(note)).__dict__ == note.__dict__


# What strict lets pass.
PASSED = {kind.key for kind in KINDS if not kind.fails}


@pytest.mark.parametrize("which", PROVOKED)
def test_strict_raises_and_leaves_the_state(which):
    """The step is undone to the bit; where the world is lenient it is the first one with a note."""
    make, most, _ = PROVOKED[which]
    lenient, strict, before = make(), make(strict=True), None
    with pytest.raises(mc.SimulationError) as caught:
        for _ in range(most):
            before, time = strict.state_hash(), strict.time
            strict.step()
            lenient.step()
            assert strict.state_hash() == lenient.state_hash()
            assert not [note for note in lenient.stats.notes if note.kind not in PASSED]
    assert strict.state_hash() == before and strict.time == time
    lenient.step()
    told = [note for note in lenient.stats.notes if note.kind not in PASSED]
    assert [note.text for note in told] == [note.text for note in strict.stats.notes if note.kind not in PASSED]
    for note in told:
        assert note.text in str(caught.value)
    assert "strict" in str(caught.value) and "last good state" in str(caught.value)
    with pytest.raises(mc.SimulationError):
        strict.step()  # which is the same step
    assert strict.state_hash() == before


@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_what_is_driven_out_of_all_bounds_ends_in_an_error(kind, turning):
    """k dt^2 = 2.8 m: the spring overshoots by more in each step. It did so to 1e66 m and beyond, and nobody said it.
    Lengths in another unit end in the same step."""
    ends = []
    for unit in (1.0, 2.0**20):
        world = Pulled(kind, turning, unit)
        before = None
        with pytest.raises(mc.SimulationError, match="'point' is so far away, or turns so fast.*last good state"):
            for _ in range(300):
                before = world.state_hash()
                world.step()
        assert "coarse" in [note.kind for note in world.stats.all_notes]
        assert np.abs(world.positions).max() < 2.0**52 * 0.2 * unit and np.all(np.isfinite(world.velocities))
        assert before is not None and len(world.velocities) == 1
        ends.append(world.time)
    assert ends[0] == ends[1]


def test_a_joints_spring_of_that_stiffness_stays():
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("point", mass=1, inertia=(0.01,) * 3, position=(0.1, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "point", axis=(1, 0, 0), spring=mc.Spring(1e4, 0.0, rest=-0.1)))
    world = mc.World(scene, strict=True)
    world.step(600)
    assert np.abs(world.positions).max() < 0.11


def test_far_away_and_fast_is_no_failure_where_it_can_be_told():
    """Half a light hour away, for a ball of 1 m."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("ball", shape=mc.Sphere(1.0), position=(5e11, 0, 0), velocity=(1e5, 0, 0), angular_velocity=(0, 0, 1e4))
    world = mc.World(scene, strict=True)
    world.step(10)
    assert world.positions[0, 0] > 5e11 and not world.stats.notes


def test_a_strict_call_of_many_steps_ends_at_the_first_failure():
    world, other = swinging_loop(strict=True), swinging_loop(strict=True)
    with pytest.raises(mc.SimulationError, match="'crank'"):
        world.step(200)
    with pytest.raises(mc.SimulationError):
        for _ in range(200):
            other.step()
    assert 0.0 < world.time == other.time and world.state_hash() == other.state_hash()


# ---- figures and counts ----------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_world():
    world = pulled(9, push_speed=3.0)
    for _ in range(60):
        world.step()
        errors = world.joint_errors().max(axis=1)
        notes = [note for note in world.stats.notes if note.kind == "open joints"]
        assert notes or errors.max() < 1e-6
        if notes:  # the widest of four substeps; the last one's is the least
            assert errors.max() <= notes[0].figure <= errors.max() + 4 * 3.0 / 240 and notes[0].others == 0
    assert world.stats.all_notes[0].total == pytest.approx(1.0 / 3.0 * 60, abs=1) and not world.stats.notes


def test_steps_are_counted_by_call_and_in_all():
    """However many steps a call has."""
    one, other = pulled(2, push_speed=3.0), pulled(2, push_speed=3.0)
    for _ in range(30):
        one.step()
    other.step(13)
    assert other.stats.notes[0].steps == other.stats.notes[0].total == 13
    other.step(17)
    (a,), (b,) = one.stats.all_notes, other.stats.all_notes
    assert a == b and a.total == b.total and a.figure == b.figure and a.total == 13 + other.stats.notes[0].steps
    assert not one.stats.notes


def test_energy_adds_up():
    """A ReducedWorld says how much energy it mends, call by call."""
    one, other = swinging_loop(), swinging_loop()
    told = 0.0
    for _ in range(180):
        one.step()
        told += sum(note.figure for note in one.stats.notes)
    other.step(180)
    (note,) = other.stats.notes
    assert told > 0.0 and note.figure == pytest.approx(told, rel=1e-12)


def test_the_worst_come_first_and_the_rest_is_counted():
    world = mc.World(pendula(9))
    for k in range(9):
        world.set_pose(f"ball{k}", position=(3 * k, 0, -0.5 - 0.1 * k))
    world.step()
    (note,) = world.stats.notes
    assert note.joints == ("pin8", "pin7", "pin6", "pin5") and note.others == 5
    assert note.bodies == ("ball8", "ball7", "ball6", "ball5") and "and 5 more" in note.text


def test_looking_changes_nothing():
    """Neither the state, nor the notes, nor what comes of the next step."""
    seen, unseen = arms(mc.ReducedWorld), arms(mc.ReducedWorld)
    for _ in range(20):
        seen.step(), unseen.step()
        before = seen.stats.notes, seen.stats.all_notes
        seen.rows, seen.jacobian(), seen.snapshot(), seen.delassus(), seen.contacts
        assert (seen.stats.notes, seen.stats.all_notes) == before
    assert seen.state_hash() == unseen.state_hash() and seen.stats.all_notes == unseen.stats.all_notes
    assert [note.total for note in seen.stats.all_notes] == [note.total for note in unseen.stats.all_notes]


# ---- what comes and goes ---------------------------------------------------------------------------------------------


def test_notes_follow_bodies_and_joints():
    world = pulled(3)
    world.step(3)
    world.remove_body("ball0")
    (note,) = world.stats.all_notes
    assert note.joints == ("pin2",) and note.total == 3 and note.figure > 0.5
    world.add_body("new", shape=mc.Sphere(0.1), position=(20, 0, 0))
    world.step()
    (after,) = world.stats.all_notes
    assert after.joints == ("pin2",) and after.total == 4 and after.figure == note.figure
    world.remove_body("ball2")
    (gone,) = world.stats.all_notes
    assert gone.joints == gone.bodies == () and gone.total == 4 and gone.figure == note.figure
    assert "some joints are" in gone.text


def test_notes_are_no_part_of_the_state():
    world = pulled(2)
    before = world.snapshot()
    world.step(5)
    world.restore(before)
    assert world.stats.all_notes[0].total == 5
    world.step(5)
    assert world.stats.all_notes[0].total == 10
    copied = pickle.loads(pickle.dumps(world))
    assert copied.stats.all_notes == [] and copied.state_hash() == world.state_hash()


def test_strict_goes_along_with_a_copy():
    assert pickle.loads(pickle.dumps(pulled(1, strict=True))).settings["strict"] is True
    with pytest.raises(mc.SceneError, match="strict"):
        mc.World(pendula(1), strict="yes")


@settings(max_examples=amount(16, 50))
@given(data=st.data(), size=st.integers(1, 8))
def test_carried_over_amounts(data, size):
    """Largest and sums of what is told, under any renumbering: nothing of a figure is lost."""
    before, after = (Noted([kind.fails for kind in KINDS], size) for _ in range(2))
    for _ in range(data.draw(st.integers(0, 4))):
        for key in data.draw(st.sets(st.sampled_from(["solver", "creep", "zeno"]))):
            tell(before, key, data.draw(st.sets(st.integers(0, size - 1))), key)
        before.end_step()
    numbers = np.array(data.draw(st.permutations([*range(size)])))
    numbers[data.draw(st.integers(0, size)) :] = -1
    carry_over(after, before, numbers, numbers)
    for level in range(2):
        assert np.array_equal(after.steps, before.steps) and after.said == before.said
        for k in np.flatnonzero(before.steps[level]):
            old, new = before.amounts[level, k], after.amounts[level, k]
            assert all(new[1 + n] == old[1 + i] for i, n in enumerate(numbers) if n >= 0)
            assert np.max(new) == np.max(old)
    names = [type("Part", (), {"name": str(i)}) for i in range(size)]
    assert [note.kind for note in notes_of(after, names, names)] == [note.kind for note in notes_of(before, names, names)]


def test_keys_are_unique():
    assert len(NUMBERS) == len(KINDS) and all("{" in kind.text for kind in KINDS)


# ---- where all is well -----------------------------------------------------------------------------------------------

QUIET = (
    "pendulum",
    "double_pendulum",
    "four_bar",
    "slider_crank",
    "cardan_shaft",
    "newton_cradle",
    "stack",
    "dominoes",
    "incline",
    "free_ragdoll",
    "tower10_heavy",
    "chain20_heavy",
    "arch",
    "dzhanibekov",
    "spinning_top",
)


@pytest.mark.parametrize("name", QUIET)
def test_ready_scenes_are_without_notes(name):
    """At the defaults, and so under strict=True."""
    world = mc.World(mc.load(name), strict=True)
    world.step(120)
    assert world.stats.all_notes == []


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "four_bar", "slider_crank", "free_ragdoll", "bridge"])
def test_ready_scenes_in_generalized_coordinates_too(name):
    world = mc.ReducedWorld(mc.load(name), strict=True)
    world.step(500)
    assert world.stats.all_notes == []


def test_bounces_that_end_are_as_they_should_be():
    """The note "zeno" says so, and strict lets it pass."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 0.3), material=mc.Material(restitution=0.5))
    world = mc.World(scene, contact="event", dt=0.01, strict=True)
    world.step(100)
    assert [note.kind for note in world.stats.all_notes] == ["zeno"]
    assert world.stats.all_notes[0].bodies == ("floor", "ball") and world.stats.all_notes[0].total == 1


# ---- what commands print ---------------------------------------------------------------------------------------------


def printed(capsys, *arguments):
    code = cli.main([str(a) for a in arguments])
    return code, *capsys.readouterr()


def test_run_prints_each_note_once(capsys):
    """With its sentence and its count, wherever in the run it was."""
    arguments = ["run", "four_bar", "--set", "driven=false", "--coordinates", "reduced", "--seconds", 6, "--dt", "1/30"]
    code, out, _ = printed(capsys, *arguments)
    world = swinging_loop()
    world.step(180)
    (note,) = world.stats.all_notes
    assert code == 0 and [line for line in out.splitlines() if line.startswith("note ")] == [
        f"note             {note.text} (in {note.total} steps)"
    ]
    code, out, err = printed(capsys, *arguments, "--strict")
    assert code == 1 and "'crank'" in err and "stopped" in out
    code, out, _ = printed(capsys, "run", "pendulum", "--seconds", 1, "--strict")
    assert code == 0 and "note" not in out


def test_compare_prints_them_and_a_study_keeps_them(capsys, tmp_path):
    arguments = [
        "compare",
        "four_bar",
        "--set",
        "driven=false",
        "reduced:aba",
        "--seconds",
        6,
        "--dt",
        "1/30",
        "--reference",
        "none",
    ]
    code, out, _ = printed(capsys, *arguments, "--save", tmp_path / "study.npz")
    assert code == 0 and "note: reduced:aba" in out and "moves too fast for dt" in " ".join(out.split())
    (kept,) = mc.lab.Study.load(tmp_path / "study.npz").runs["reduced:aba"].notes
    assert "'crank'" in kept and "of 180 steps" in kept
    code, out, _ = printed(capsys, *arguments, "--strict")
    assert code == 1 and "failed: reduced:aba" in out
