"""mc.lab.precise_run: motions to more digits than floats have."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

import mcsim as mc


def pendulum(speed=1.0):
    """A rod of 1 kg, its centre 0.5 m from the hinge."""
    scene = mc.Scene()
    rod = {"mass": 1.0, "inertia": (0.0625, 0.0625, 0.0625), "position": (0.5, 0, 0)}
    scene.add_body("rod", **rod, velocity=(0, 0, -0.5 * speed), angular_velocity=(0, speed, 0))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0)))
    return scene


def test_a_rod_that_only_turns():
    """Without gravity: its angle is the time, whose sine is a series."""
    scene = pendulum()
    scene.gravity = (0, 0, 0)
    run = mc.lab.precise_run(scene, ["0.5", "1"])
    with localcontext() as context:
        context.prec = 60
        term, sine = Decimal(1), Decimal(0)
        for k in range(1, 60):
            term /= k
            sine += term * (0, 1, 0, -1)[k % 4]
    assert abs(run.positions[1, 0, 2] + sine / 2) < Decimal("1e-27")
    assert run.doubt.max() < 1e-24 and run.precision == 34 and run.body_names == ("rod",)
    assert abs(run.energy[1] - run.energy[0]) < Decimal("1e-27")


def test_more_digits_agree_with_fewer_to_their_doubt():
    """Energy is kept to the digits asked for, and no reference of 64 bits is farther off than its own rounding."""
    runs = [mc.lab.precise_run(pendulum(), ["0.25"], precision=digits) for digits in (18, 24)]
    off = abs(runs[0].positions - runs[1].positions).max()
    assert off <= Decimal(float(10 * runs[0].doubt.max())) + Decimal("1e-15")
    assert abs(runs[1].energy[0] - Decimal("0.15625")) < Decimal("1e-16")  # that of the beginning: m v^2 / 2 + I w^2 / 2
    world = mc.World(pendulum(), dt=0.25, integrator="reference")
    world.step()
    assert np.abs(world.positions - runs[1].positions[0].astype(float)).max() < 1e-14


@pytest.mark.slow
def test_a_loop_with_redundant_rows_and_a_spring():
    """A four-bar of hinges, three rows of which follow from the others, and a damped spring across it."""
    scene = mc.Scene()
    places = {"left": (0, 0, 0.5), "top": (0.5, 0, 1.0), "right": (1.0, 0, 0.5)}
    for name, place in places.items():
        scene.add_body(name, mass=1.0, inertia=(0.02, 0.1, 0.09), position=place)
    for a, b, anchor in (
        (None, "left", (0, 0, 0)),
        ("left", "top", (0, 0, 1)),
        ("top", "right", (1, 0, 1)),
        (None, "right", (1, 0, 0)),
    ):
        scene.add_joint(mc.HingeJoint(a, b, anchor=anchor, axis=(0, 1, 0)))
    scene.add_joint(mc.DistanceJoint(None, "top", (0, 0, 0), (0.5, 0, 1), spring=mc.Spring(30, 1.0, 0.5)))
    run = mc.lab.precise_run(scene, [0.125, 0.25], precision=20)
    world = mc.ReducedWorld(scene, dt=0.125, integrator="reference")
    for positions in run.positions:
        world.step()
        assert np.abs(world.positions - positions.astype(float)).max() < 1e-13
    assert run.doubt.max() < 1e-10


@pytest.mark.parametrize(
    "change, message",
    [
        ({"precision": 3}, "precision must be"),
        ({"times": [1, 0.5]}, "times must be"),
        ({"forces": [1, 2]}, "forces must be"),
        ({"precision": "half"}, "precision must be"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    scene = pendulum()
    keywords = {"times": [0.1]} | change
    with pytest.raises(mc.SceneError, match=message):
        mc.lab.precise_run(scene, keywords.pop("times"), **keywords)


@pytest.mark.parametrize(
    "extra", [{"limits": (-1, 1)}, {"friction": 0.1}, {"spring": mc.Spring(1, 1)}, {"motor": mc.Motor(velocity=1)}]
)
def test_what_is_not_known_is_refused_by_name(extra):
    scene = mc.Scene()
    scene.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge", **extra))
    with pytest.raises(mc.SceneError, match="precise_run: joint 'hinge' has .*: take integrator='reference'"):
        mc.lab.precise_run(scene, [0.1])
