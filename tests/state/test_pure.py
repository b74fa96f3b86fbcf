"""Observers are pure: every public name of a world and its handles that does not change it leaves every byte of the record,
and what users have written into views, as it is. Which names there are is asked of the classes, so a new one is looked at
as soon as it exists: it stands in CHANGES, or it must be pure."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.handles import BodyHandle, JointHandle
from mcsim.world.snapshots import Packed

CHANGES = {
    "add_bodies",
    "add_body",
    "add_joint",
    "add_joints",
    "apply_force",
    "apply_forces",
    "apply_impulse",
    "apply_impulses",
    "apply_torque",
    "apply_wind",
    "from_maximal",
    "move_to",
    "remove_bodies",
    "remove_body",
    "ignore_collision",
    "remove_joint",
    "restore",
    "set_body",
    "set_kind",
    "set_material",
    "apply_buoyancy",
    "set_material_pair",
    "set_pair",
    "set_pose",
    "set_shape",
    "set_velocity",
    "step",
    "wake",
    "set_limits",
    "set_motor",
    "set_spring",
    "set_swing_limit",
    "set_friction",
    "set_motion",
}

# What a call is given, beside the world; all others take nothing.
FOLDER = TemporaryDirectory()
GIVEN = {
    "save_state": lambda w: (Path(FOLDER.name) / "world.npz",),
    "body": lambda w: (w.body_names[0],),
    "joint": lambda w: (w.joint_names or (0,))[:1],
    "index": lambda w: (w.joint_names + w.body_names)[:1],
    "distance": lambda w: w.body_names[:1] + w.body_names[-1:],
    "overlap": lambda w: (mc.Sphere(1.0), (0, 0, 1)),
    "overlaps": lambda w: (w.body_names[-1],),
    "ray_cast": lambda w: ((0, 0, 5), (0, 0.1, -1)),
    "ray_casts": lambda w: ([(0, 0, 5)], [(0, 0.1, -1)]),
    "shape_cast": lambda w: (mc.Sphere(0.1), (0, 0, 5), (1, 0, 0, 0), (0, 0.1, -1)),
    "body_jacobian": lambda w: (0,),
    "forward_dynamics": lambda w: (w.q, w.qd, w.tau),
    "inverse_dynamics": lambda w: (w.q, w.qd, w.tau),
    "mass_matrix": lambda w: (w.q,),
    "bias_force": lambda w: (w.q, w.qd),
}


def public(thing):
    return [name for name in dir(type(thing)) if not name.startswith("_") and name not in CHANGES]


def look(world, name, thing):
    """-> whether it answered: kinds of worlds and joints have not everything."""
    try:
        seen = getattr(thing, name)
        if callable(seen) and hasattr(seen, "__self__"):
            seen(*GIVEN.get(name, lambda w: ())(world))
        if name == "stats":
            dict(seen.residuals)
    except (mc.SceneError, mc.SimulationError, np.linalg.LinAlgError):
        return False
    return True


def record_of(world):
    holder = world._holder()
    return {entry.name: np.array(entry.read(holder)).tobytes() for entry in world._RECORD}


def check_all(world):
    """Look at everything, and compare after each."""
    # of a ReducedWorld: bodies and joint forces as q and qd have them
    world._catch_up()
    before = record_of(world)
    things = (
        [world]
        + [world.body(name) for name in world.body_names[:3]]
        + [world.joint(name) for name in world.joint_names[:3]]
    )
    answered = 0
    for thing in things:
        for name in (*public(thing), "__repr__", "__reduce__"):
            if isinstance(thing, BodyHandle | JointHandle) and name == "__reduce__":
                continue
            if name == "__repr__":
                repr(thing)
            elif name == "__reduce__":
                thing.__reduce__()
            else:
                answered += look(world, name, thing)
            now = record_of(world)
            assert now == before, (type(thing).__name__, name, [key for key in now if now[key] != before[key]])
    return answered


SCENES = {"tumbler": {"count": 3}, "bridge": {"planks": 3}, "spinning_top": {}, "stack": {"count": 2}}
WORLDS = {
    "default": {},
    "rows": {"joint_solver": "rows"},
    "pgs": {"solver": "pgs"},
    "projection": {"stabilization": "projection"},
    "ggl": {"stabilization": "ggl"},
    "rk4": {"integrator": "rk4"},
    "rattle": {"integrator": "rattle"},
    "variational": {"integrator": "variational"},
    "compliant": {"contact": "compliant"},
    "event": {"contact": "event"},
    "admm": {"solver": "admm"},
    "ccp": {"solver": "pgs", "contact_model": "ccp"},
}
REDUCED = {name: WORLDS[name] for name in ("default", "rk4", "projection", "compliant", "event", "admm")} | {
    "reference": {"integrator": "reference"}
}
CASES = [
    pytest.param(
        kind, list(SCENES)[i % len(SCENES)], keywords, id=f"{kind.__name__}-{name}-{list(SCENES)[i % len(SCENES)]}"
    )
    for kind, settings in ((mc.World, WORLDS), (mc.ReducedWorld, REDUCED))
    for k, (name, keywords) in enumerate(settings.items())
    for i in ((k, k + 1) if name != "default" else range(4))
]


@pytest.mark.parametrize("kind, scene, keywords", CASES)
def test_observers_write_nothing(kind, scene, keywords):
    try:
        world = kind(mc.load(scene, **SCENES[scene]), dt=1 / 120, **keywords)
    except mc.SceneError as error:
        pytest.skip(str(error))
    world.step(3)
    assert check_all(world) > 30
    assert check_all(world) > 30


@pytest.mark.parametrize(
    "kind, keywords",
    [(mc.World, WORLDS[name]) for name in WORLDS if name != "event"]
    + [(mc.ReducedWorld, REDUCED[name]) for name in ("default", "rk4", "projection", "compliant")],
)
def test_what_was_written_into_views_waits_for_the_next_step(kind, keywords):
    """Rows and problems made quaternions unit and statics still in the user's own arrays, and a hash woke sleepers."""
    scene = mc.Scene()
    soft = mc.Material(stiffness=1e5, damping=100.0)
    scene.add_body("floor", shape=mc.Box((2, 2, 0.1)), position=(0, 0, -0.1), kind="static", material=soft)
    scene.add_body("box", shape=mc.Box((0.1,) * 3), position=(0, 0, 0.1), material=soft)
    scene.add_body("arm", shape=mc.Box((0.1,) * 3), position=(1, 0, 1), material=soft)
    scene.add_body("turning", shape=mc.Box((0.1,) * 3), position=(0, 1, 1), kind="kinematic", angular_velocity=(1, 2, 3))
    scene.add_joint(mc.HingeJoint(None, "arm", (1, 0, 1.3), (0, 1, 0)))
    world, other = kind(scene, **keywords), kind(scene, **keywords)
    for each in (world, other):
        each.step(60 if "solver" not in keywords else 5)
        if kind is mc.World:
            each.orientations[2] *= 1.5
            each.orientations[0] = (0, 2, 0, 0)
            each.velocities[0] = (1, 2, 3)
            each.positions[1] += (0, 0, 0.3)
            each.orientations[3] *= 1.5
        else:
            first = each.system.links[each.system.link_of["box"]].q
            each.q[first][3:] *= 1.5
            each.q[first][:3] += (0, 0, 0.3)
            each.qd[...] *= 0.5
        each.forces[1] = (1, 2, 3, 0, 0, 0)
    assert check_all(world) > 30
    for each in (world, other):
        each.step(2)
    assert world.state_hash() == other.state_hash()


def test_names_that_a_world_has_not_are_refused():
    """Instead of being one more attribute, from which nothing happens."""
    for kind in (mc.World, mc.ReducedWorld):
        world = kind(mc.load("double_pendulum"))
        for name in (
            "gravty",
            "solver",
            "contact",
            "substep",
            "time",
            "foo",
            "velocitys",
            "positions",
            "step",
            "scene",
        ):
            before = world.state_hash()
            with pytest.raises(AttributeError, match=f"{kind.__name__}.{name} ") as error:
                setattr(world, name, getattr(world, name, 1.0))
            assert "\n" not in str(error.value) and world.state_hash() == before
    with pytest.raises(
        AttributeError, match="what may be set: contact_filter, gravity, q, qd, tau, and what change_settings takes"
    ):
        world.foo = 1
    world.q = world.q * 1.0

    class Own(mc.World):
        pass

    own = Own(mc.load("double_pendulum"))
    own.note = 3
    assert own.note == 3 and isinstance(Packed(np.zeros(3)).nbytes, int)
