"""What a tree cannot be: open, turned where its coordinates are singular, or another one after a copy."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc


def screws(count, integrator="semi_implicit", **keywords):
    """A chain of screws that have made some turns."""
    scene = mc.Scene()
    before = None
    for i in range(count):
        scene.add_body(f"b{i}", mass=1, inertia=(0.1, 0.2, 0.3), position=(0.3 * i + 0.3, 0.1 * i, 0))
        scene.add_joint(
            mc.ScrewJoint(
                before, f"b{i}", anchor=(0.3 * i, 0, 0), axis=np.eye(3)[i % 3], pitch=0.1 + 0.05 * i, name=f"s{i}"
            )
        )
        before = f"b{i}"
    world = mc.ReducedWorld(scene, dt=1e-2, integrator=integrator, **keywords)
    world.qd[:] = 30.0 - 7.0 * np.arange(count)
    world.step(50)
    return world


def add_screw(world):
    count = len(world.body_names)
    world.add_body("late", mass=1, inertia=(0.1, 0.2, 0.3), position=(0.9, 0, 0))
    world.add_joint(mc.ScrewJoint(f"b{count - 1}", "late", anchor=(0.7, 0, 0), axis=(1, 0, 0), pitch=0.15, name="more"))


def add_loop(world):
    add_screw(world)
    world.add_joint(mc.ScrewJoint(None, "late", anchor=(0.9, 0, 0.1), axis=(0, 0, 1), pitch=0.15, name="closing"))


def add_ball(world):
    world.add_body("late", mass=1, inertia=(0.1, 0.2, 0.3), position=(5, 0, 0), velocity=(0, 1, 0))
    world.add_joint(mc.BallJoint(None, "late", anchor=(5.5, 0, 0)))


CHANGES = {
    "nothing": lambda world: None,
    "screw": add_screw,
    "loop": add_loop,
    "ball": add_ball,
    "limits": lambda world: world.joint("s0").set_limits(-40.0, 40.0),
}


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.sampled(7)
def test_copies_of_screws_go_on_alike(change, count, integrator):
    """Copied at once after the change, and some steps later."""
    world = screws(count, integrator)
    CHANGES[change](world)
    for wait in (0, 3):
        world.step(wait)
        kept = pickle.loads(pickle.dumps(world.snapshot()))
        others = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), copy.deepcopy(world)]
        others[2].step(2)
        others[2].restore(kept)
        world.step(5)
        for other in others:
            other.step(5)
            assert np.array_equal(other.q, world.q) and other.state_hash() == world.state_hash()


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("steps", [0, 200])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9])
def test_yaw_pitch_and_roll_end_by_name_where_they_are_singular(integrator, steps, sign, off):
    """The energy went from 11.8 J to 1e62 J without a word, or a state was not finite for no reason given."""
    world = mc.ReducedWorld(mc.load("spinning_top", steady=False), dt=1e-3, integrator=integrator, ball="ypr")
    world.step(steps)
    world.q[1] = sign * (np.pi / 2 - off)
    before = world.state_hash()
    with pytest.raises(mc.SimulationError, match="joint 'tip' .* pitch of ±π/2.*ball='quaternion'"):
        world.step()
    assert world.state_hash() == before


@pytest.mark.parametrize("pitch", [0.5, 1.2, 1.45])
def test_yaw_pitch_and_roll_hold_beside_it(pitch):
    worlds = [mc.ReducedWorld(mc.load("spinning_top", steady=False), dt=1e-4, ball=ball) for ball in ("ypr", "quaternion")]
    worlds[0].q[1] = pitch
    worlds[1].from_maximal(*worlds[0].to_maximal())
    energy = worlds[0].energy().total
    for world in worlds:
        world.step(300)
        assert world.energy().total == pytest.approx(energy, rel=1e-9)
    assert worlds[0].positions == pytest.approx(worlds[1].positions, abs=1e-5)


def torn(gap, turn=0.0, count=1):
    """Arms on hinges that a scene has open: by a gap, and by a turn across their axes."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(count):
        scene.add_body(
            f"arm{i}",
            mass=1,
            inertia=(0.1, 0.1, 0.1),
            position=(1, 2 * i, gap),
            orientation=(np.cos(turn / 2), np.sin(turn / 2), 0, 0),
        )
        frame = ((0, 2 * i, 0), (1, 0, 0, 0)), ((-1, 0, 0), (1, 0, 0, 0))
        scene.add_joint(mc.HingeJoint(None, f"arm{i}", frame_a=frame[0], frame_b=frame[1], name=f"hinge{i}"))
    return scene


@pytest.mark.parametrize("gap, turn, count", [(1.0, 0.0, 1), (1e-3, 0.0, 2), (0.0, 0.3, 1), (2.0, 0.1, 6)])
def test_a_torn_joint_of_the_tree_is_told(gap, turn, count):
    """A body was moved by a metre without a word."""
    world = mc.ReducedWorld(torn(gap, turn, count))
    assert world.joint_errors().max() < 1e-12
    world.step()
    (note,) = world.stats.notes
    assert note.kind == "torn joints" and note.figure == pytest.approx(max(gap, turn), rel=1e-6)
    assert len(note.joints) + note.others == count and repr("hinge0") in note.text
    world.step()
    assert world.stats.notes == [] and len(world.stats.all_notes) == 1
    with pytest.raises(mc.SimulationError, match="hinge0"):
        mc.ReducedWorld(torn(gap, turn, count), strict=True).step()


def test_a_joint_that_is_added_open_is_told():
    world = mc.ReducedWorld(torn(0.0))
    world.step()
    assert world.stats.all_notes == []
    world.add_body("late", mass=1, inertia=(0.1, 0.1, 0.1), position=(3, 0, 0))
    world.add_joint(
        mc.BallJoint("arm0", "late", frame_a=((1, 0, 0), (1, 0, 0, 0)), frame_b=((-0.5, 0, 0), (1, 0, 0, 0)), name="gap")
    )
    world.step()
    assert [note.joints for note in world.stats.notes] == [("gap",)]
    assert world.stats.notes[0].figure == pytest.approx(0.5)
