"""With stabilization="none" nothing closes the joints of smooth motions: where they have drifted open by a thousandth of
their size, that is noted. A loop that had left its branch at a singular pose was off by metres without a word."""

import numpy as np
import pytest

import mcsim as mc


def parallelogram(length, speed):
    """Three bars of 1 kg that turn over and over, through the poses in which they lie in one line."""
    scene = mc.Scene(gravity=(0, 0, 0))
    bar = {"mass": 1.0, "inertia": (length * length / 12,) * 3}
    corners = [np.array(at, float) * length for at in ((0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0))]
    holder = None
    for k, name in enumerate(("crank", "coupler", "rocker")):
        middle = (corners[k] + corners[k + 1]) / 2
        motion = {"velocity": (speed * middle[2], 0, 0), "angular_velocity": (0, 0 if name == "coupler" else speed, 0)}
        scene.add_body(name, position=middle, **bar, **motion)
        scene.add_joint(mc.HingeJoint(holder, name, corners[k], (0, 1, 0)))
        holder = name
    scene.add_joint(mc.HingeJoint(holder, None, corners[3], (0, 1, 0)))
    return scene


def opened(world):
    return [note.figure for note in world.stats.all_notes if note.kind == "open joints"]


@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("length", [1e-2, 1.0, 1e2])
def test_a_loop_off_its_branch_is_noted(cls, length):
    world = cls(parallelogram(length, 3.0), integrator="rk4", stabilization="none", dt=1 / 240)
    while world.time < 10.0 and not opened(world):
        world.step()
    assert opened(world) and world.joint_errors()[:, 0].max() > 4e-4 * length


@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("length", [1e-2, 1.0, 1e2])
def test_a_loop_on_its_branch_is_not(cls, length):
    """Before the first singular pose, at pi / 2 of the crank."""
    world = cls(parallelogram(length, 3.0), integrator="rk4", stabilization="none", dt=1 / 240)
    while world.time < 0.45:
        world.step()
    assert not world.stats.all_notes and world.joint_errors()[:, 0].max() < 1e-6 * length
