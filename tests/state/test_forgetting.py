"""MCSIM_FORGET=1: all but the record is made anew before every step, and the bits are the same. What differs is no cache,
but state that the record does not have."""

import pytest

import mcsim as mc
from amounts import amount
from mcsim.world.record import RECORD, REDUCED_RECORD

SCENES = {
    "chain": {"n": 6},
    "bridge": {"planks": 5},
    "stack": {"count": 3},
    "tumbler": {"count": 6},
    "four_bar": {},
    "ragdolls": {"count": 1},
    "wrecking_ball": {"links": 3, "width": 2, "height": 2},
    "newton_cradle": {},
    "spinning_top": {},
    "cardan_shaft": {},
}
WORLDS = {
    "default": {},
    "rows": {"joint_solver": "rows"},
    "pgs": {"solver": "pgs"},
    "baumgarte": {"stabilization": "baumgarte"},
    "projection": {"stabilization": "projection"},
    "ggl": {"stabilization": "ggl"},
    "split": {"stabilization": "split_impulse"},
    "rk4": {"integrator": "rk4"},
    "rattle": {"integrator": "rattle"},
    "variational": {"integrator": "variational"},
    "point": {"friction_points": "point", "friction": "pyramid"},
    "compliant": {"contact": "compliant"},
    "event": {"contact": "event"},
    "residual": {"stop": "residual"},
    "admm": {"solver": "admm"},
    "threads": {"threads": 2},
}
REDUCED = {name: WORLDS[name] for name in ("default", "rk4", "projection", "baumgarte", "compliant", "event", "admm")} | {
    "reference": {"integrator": "reference"}
}
SLOW = ("event", "admm")  # of which a few steps of a few scenes must do


def cases():
    for kind, settings in ((mc.World, WORLDS), (mc.ReducedWorld, REDUCED)):
        for i, name in enumerate(settings):
            scenes = ["stack", "spinning_top"] if name in SLOW else list(SCENES)
            for k in range(2 if name in SLOW else 3 if name != "default" else len(scenes)):
                yield pytest.param(
                    kind,
                    scenes[(3 * i + k) % len(scenes)],
                    settings[name],
                    id=f"{kind.__name__}-{name}-{scenes[(3 * i + k) % len(scenes)]}",
                )


@pytest.mark.parametrize("kind, scene, keywords", list(cases()))
@pytest.mark.sampled(5)
def test_a_world_that_forgets_all_but_its_record_goes_on_alike(kind, scene, keywords, monkeypatch):
    def world():
        try:
            return kind(mc.load(scene, **SCENES[scene]), dt=1 / 120, **keywords)
        except mc.SceneError as error:
            pytest.skip(str(error))

    plain = world()
    monkeypatch.setenv("MCSIM_FORGET", "1")
    forgetting = world()
    monkeypatch.delenv("MCSIM_FORGET")
    assert forgetting._forgetful and not plain._forgetful
    for n in (
        (3, 1, 2) if keywords.get("solver") == "admm" or "event" in keywords.values() else (3, 1, *amount((5, 2), (8, 6)))
    ):
        plain.step(n), forgetting.step(n)
        assert plain.state_hash() == forgetting.state_hash()
        for name in ("begin", "end", "sensor_begin", "sensor_end"):
            assert getattr(plain.events, name).tobytes() == getattr(forgetting.events, name).tobytes()
        assert [(*note, note.steps) for note in plain.stats.notes] == [
            (*note, note.steps) for note in forgetting.stats.notes
        ]
        assert plain.stats.steps == forgetting.stats.steps == n


def test_sleepers_stay_asleep_and_wake_alike(monkeypatch):
    """Whom a moved body wakes was known to the pipeline alone."""

    def world():
        scene = mc.Scene()
        scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
        for i in range(3):
            scene.add_body(f"box{i}", shape=mc.Box((0.1,) * 3), position=(0, 0, 0.1 + 0.2 * i))
        scene.add_body("far", shape=mc.Box((0.1,) * 3), position=(3, 0, 0.1))
        return mc.World(scene)

    plain = world()
    monkeypatch.setenv("MCSIM_FORGET", "1")
    forgetting = world()
    for act in (
        lambda w: None,
        lambda w: w.set_pose("box2", (0, 0, 1)),
        lambda w: None,
        lambda w: w.apply_force("far", (1, 0, 0)),
    ):
        for each in (plain, forgetting):
            each.step(70)
            act(each)
        assert plain.asleep.tolist() == forgetting.asleep.tolist()
        assert plain.state_hash() == forgetting.state_hash()


def test_every_entry_of_the_record_is_told_once():
    for record in (RECORD, REDUCED_RECORD):
        names = [entry.name for entry in record]
        assert len(set(names)) == len(names) and all(entry.meaning for entry in record)


def test_what_handles_have_set_goes_into_the_maximal_world():
    """It was made of the scene, in which bodies and joints are as they were added."""
    scene = mc.Scene()
    scene.add_body("arm", shape=mc.Box((0.1, 0.1, 0.4)))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0.4), (0, 1, 0), motor=mc.Motor(velocity=1.0, max_force=1.0)))
    world = mc.ReducedWorld(scene)
    body, joint = world.body_names[-1], world.joint_names[-1]
    world.body(body).gravity_scale = 0.25
    world.joint(joint).set_motor(velocity=2.0, max_force=3.0)
    world.step(5)
    other = world.maximal()
    assert other.body(body).gravity_scale == 0.25
    record, kept = (w._joints[-1]["axes"] for w in (other, world))
    for name in ("motor_mode", "motor_velocity", "motor_max_force"):
        assert record[name].tolist() == kept[name].tolist()
    assert other.time == world.time
