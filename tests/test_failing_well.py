"""A SimulationError says in which step, with which bodies, what may help, and how to keep the state; the file that is kept
fails in the same way."""

import re

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.failures import OFFER

CURES = "may help|take |set it|must give|describe it|make |give |wake "


def ball(**arguments):
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.1), density=1000.0, **arguments)
    return scene


def pushed(world):
    world.apply_force("ball", (1e308, 0.0, 0.0))
    return world


def strict():
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("box", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, -5), density=1000.0)
    scene.add_body("arm", shape=mc.Capsule(0.05, 0.2), position=(3, 0, 1), density=1000.0)
    scene.add_joint(mc.HingeJoint(None, "arm", (3, 0, 1.2), (0, 1, 0), name="one"))
    scene.add_joint(mc.HingeJoint(None, "arm", (3, 0, 0.8), (0, 1, 0), name="two"))
    world = mc.World(scene, strict=True, iterations=1)
    world.set_pose("arm", (3.4, 0.0, 1.0))
    return world


def moved(function):
    scene = ball()
    scene.add_joint(mc.HingeJoint(None, "ball", (0, 0, 0.3), (0, 1, 0), name="hinge", motion=mc.Motion(function)))
    return scene


def spinning():
    scene = ball(angular_velocity=(0, 0, 1e5))
    return mc.World(scene, integrator="variational")


def singular():
    scene = ball(angular_velocity=(0, 20, 0))
    scene.add_joint(mc.BallJoint(None, "ball", (0, 0, 0), name="socket"))
    return mc.ReducedWorld(scene, ball="ypr", dt=1e-2)


def written():
    world = mc.ReducedWorld(ball())
    world.velocities[0, 0] = np.nan
    return world


def state_of(world):
    arrays = world.positions, world.orientations, world.velocities, world.angular_velocities
    return world.time, *(array.tobytes() for array in arrays)


# name -> a world that cannot make its steps, whether its state is one to keep.
FAILING = {
    "a force beyond numbers": (lambda: pushed(mc.World(ball())), True),
    "a force beyond numbers, trees": (lambda: pushed(mc.ReducedWorld(ball())), True),
    "a place beyond numbers": (lambda: mc.World(ball(position=(1e300, 0, 0))), True),
    "a spin beyond numbers": (lambda: mc.World(ball(angular_velocity=(1e200, 0, 0))), True),
    "strict": (strict, True),
    "a motion that is no number": (lambda: mc.World(moved(lambda t: 0.0 if t < 0.05 else float("nan"))), False),
    "a spin that no substep follows": (spinning, True),
    "a pitch of 90 degrees": (singular, True),
    "a velocity that is none": (written, False),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_of_steps_say_all(tmp_path, name):
    make, kept = FAILING[name]
    try:
        world = make()
        for _ in range(300):
            before = state_of(world)
            world.step()
    except mc.SimulationError as error:
        message = str(error)
    except mc.SceneError as error:
        pytest.fail(f"refused before: {error}")
    else:
        pytest.fail("it did not fail")
    assert re.match(r"step \d+ \(t = [\d.e+-]+ s\): ", message), message
    assert any(repr(body) in message for body in world.body_names), message
    assert re.search(CURES, message), message
    assert "\n" not in message
    if kept:
        assert message.endswith(OFFER), message
        assert state_of(world) == before  # but for the forces, which have acted
        world.save_state(tmp_path / "crash.npz")
        again = mc.load_state(tmp_path / "crash.npz")
        assert again.state_hash() == world.state_hash()


def test_errors_of_a_users_functions_come_out_as_they_are():
    scene = ball()
    scene.add_body("other", shape=mc.Sphere(0.1), position=(0.1, 0, 0), density=1.0)
    world = mc.World(scene)

    def asked(a, b):
        raise mc.SimulationError("mine")

    world.contact_filter = asked
    with pytest.raises(mc.SimulationError) as caught:
        world.step()
    assert str(caught.value) == "mine"


def test_derivatives_say_all():
    scene = ball(position=(0, 0, 0.1), velocity=(0, 0, -3), material=mc.Material(restitution=0.5))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    world = mc.World(scene, stabilization="baumgarte", sleep=False)
    with pytest.raises(mc.SimulationError, match=rf"^step 1 .*give .*'ball'.*{re.escape(OFFER)}$"):
        mc.step_derivatives(world)
