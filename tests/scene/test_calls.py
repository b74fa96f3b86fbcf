"""Calls with wrong names, or a wrong number, of arguments: a TypeError that tells the right ones; right calls pass."""

import inspect
import pickle
import pydoc

import pytest

import mcsim as mc
import mcsim.io
import mcsim.view
from mcsim.scene.calls import BARE, explain_methods, explained


def world():
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.1))
    return mc.World(scene)


def reduced():
    return mc.ReducedWorld(world().scene)


WRONG = {
    "a shape": (
        lambda: mc.Box(half_extent=(1, 1, 1)),
        "Box: there is no argument 'half_extent'; did you mean 'half_extents'?",
    ),
    "a joint": (lambda: mc.HingeJoint("a", "b", axs=3), "HingeJoint: there is no argument 'axs'; did you mean 'axis'?"),
    "a joint of one's own": (lambda: mc.UserJoint("a", "b", resid=3), "did you mean 'residual'?"),
    "a motor": (lambda: mc.Motor(velocty=3), "Motor: there is no argument 'velocty'; did you mean 'velocity'?"),
    "a material": (lambda: mc.Material(frction=3), "Material: there is no argument 'frction'; did you mean 'friction'?"),
    "a choice": (lambda: mc.RigidContact(hert=3), "RigidContact: there is no argument 'hert'; did you mean 'hertz'?"),
    "another choice": (lambda: mc.Sleep(sped=3), "Sleep: there is no argument 'sped'; did you mean 'speed'?"),
    "a scene": (lambda: mc.Scene(gravty=3), "Scene: there is no argument 'gravty'; did you mean 'gravity'?"),
    "a body": (lambda: mc.Scene().add_body(shap=3), "Scene.add_body: there is no argument 'shap'; did you mean 'shape'?"),
    "a body while it runs": (lambda: world().add_body(shap=3), "there is no argument 'shap'; did you mean 'shape'?"),
    "bodies": (lambda: world().add_bodies([{"shap": 3}]), "there is no argument 'shap'; did you mean 'shape'?"),
    "a verb": (lambda: world().set_pose("ball", positon=3), "World.set_pose: there is no argument 'positon'; did you mean"),
    "a query": (
        lambda: world().ray_cast((0, 0, 0), dirction=3),
        "World.ray_cast: there is no argument 'dirction'; did you",
    ),
    "a reduced world's": (lambda: reduced().set_pose("ball", ori=3), "ReducedWorld.set_pose: there is no argument 'ori'"),
    "one of its own": (lambda: reduced().from_maximal(1, 2, velocity=3), "ReducedWorld.from_maximal: there is no argument"),
    "a handle": (
        lambda: mc.world.JointHandle.set_motor(3, speed=1),
        "there is no argument 'speed'; the arguments are: motor, velo",
    ),
    "a function": (lambda: mc.load_urdf("x", bas=3), "load_urdf: there is no argument 'bas'; did you mean 'base'?"),
    "solve": (lambda: mc.solve(problm=3), "solve: "),
    "view": (lambda: mc.view(world(), prt=3), "view: there is no argument 'prt'; did you mean 'port'?"),
    "a formula": (lambda: mc.rotation.from_euler((1, 2, 3), axe="xyz"), "there is no argument 'axe'; did you mean 'axes'?"),
    "a recorder": (
        lambda: mcsim.io.Recorder(world(), evry=3),
        "Recorder: there is no argument 'evry'; did you mean 'every'?",
    ),
    "a system": (
        lambda: mc.reduced.System(world().scene, trees=3),
        "System: there is no argument 'trees'; did you mean 'tree'?",
    ),
    "nothing": (lambda: mc.Plane(), "Plane: 'normal' is missing; the arguments are: normal, offset, "),
    "too little": (
        lambda: world().set_material("ball"),
        "World.set_material: 'material' is missing; the arguments are: body",
    ),
    "far too little": (lambda: mc.maximal.ball(1), "ball: 'b' and 'frame_a' and 'frame_b' are missing; "),
    "too much": (lambda: mc.Scene().add_body("a", "b"), "Scene.add_body: takes 1 by place, got 2; give the others by name"),
    "a world's": (
        lambda: mc.World(world().scene, 0.01),
        "World: takes 1 by place, got 2; give the others by name; the argu",
    ),
    "a ready scene": (lambda: mc.scenes.stack(3), "stack: takes nothing by place, got 1; give the others by name; the"),
    "twice": (lambda: mc.Sphere(1, radius=2), "Sphere: the argument 'radius' is given twice, by its place and by its name"),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_right_names_are_told(what):
    call, message = WRONG[what]
    with pytest.raises(TypeError) as caught:
        call()
    told = str(caught.value)
    assert message in told and "\n" not in told and "__init__" not in told
    assert caught.value.__context__ is None


def test_an_error_of_the_function_itself_passes():
    """Also one that says the same, of a call inside."""

    def inside(x):
        return x

    def function(a, b=1):
        """What it says."""
        return inside(c=a) if b else len(a)

    for call in (
        explained(function),
        explain_methods(type("Own", (), {"method": lambda self, a, b=1: function(a, b)}))().method,
    ):
        with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
            call(3)
        with pytest.raises(TypeError, match="has no len"):
            call(3, b=0)
        with pytest.raises(TypeError, match="there is no argument 'd'; the arguments are: a, b"):
            call(d=3)
    assert explained(function)("abc", b=0) == 3 and explained(function).__doc__ == "What it says."


def test_signatures_and_helps_are_those_of_what_was_written():
    assert list(inspect.signature(mc.World.set_pose).parameters) == ["self", "body", "position", "orientation"]
    assert list(inspect.signature(mc.Scene.add).parameters) == ["self", "other", "position", "orientation", "prefix"]
    assert "contact" in inspect.signature(mc.World).parameters and "half_extents" in inspect.signature(mc.Box).parameters
    assert next(iter(inspect.signature(mc.solve).parameters)) == "problem"
    assert next(iter(inspect.signature(mc.view).parameters)) == "worlds"
    assert inspect.signature(mc.scenes.stack).parameters["count"].default == 15
    assert "set_pose(self, body: 'AnyBody'" in pydoc.plain(pydoc.render_doc(mc.World.set_pose))
    assert pickle.loads(pickle.dumps(mc.load)) is mc.load is mc.scenes.load
    for function in (mc.rotation.multiply, mc.compare, mc.load_urdf, mc.solve, mc.maximal.ball):
        assert pickle.loads(pickle.dumps(function)) is function


def test_what_is_called_many_times_a_step_is_left_alone():
    for name in BARE:
        assert not hasattr(getattr(mc.World, name), "__wrapped__")
    assert hasattr(mc.World.set_pose, "__wrapped__") and not hasattr(mc.World.set_pose.__wrapped__, "__wrapped__")
