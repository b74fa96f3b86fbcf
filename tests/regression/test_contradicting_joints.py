"""Joints that contradict each other, or that are torn beyond what straight lines say of them, throw nobody
(mcsim/stabilize/_displace.pyx): under the stabilizations that move bodies."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from test_twins import FASTEST, calm, done, drawn, start

BY_POSITION = ["projection", "ggl", "split_impulse"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("stabilization", BY_POSITION)
@pytest.mark.parametrize("seed", [9, 121, 209])
def test_random_joints_throw_nobody_away(seed, stabilization):
    """Of the random twins: hinges turned by half a turn, gears on them and on rods. Bodies went to 1e5, 3e9 and 1e13 m."""
    rng, world, kept = np.random.default_rng(seed), mc.World(start(seed), dt=1 / 120, stabilization=stabilization), {}
    for count in range(80):
        done(drawn(rng, world, count)[1], world, kept)
        if not all(np.abs(part).max(initial=0.0) < FASTEST for part in (world.velocities, world.angular_velocities)):
            calm(world, kept)
        assert np.abs(world.positions).max() < 10.0, count


def tangle(seed, gravity=(0, 0, 0)):
    """A few bodies, in the air or hung up, with joints between any two of them whose frames nobody has fitted."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=gravity)
    count = int(rng.integers(2, 6))
    for i in range(count):
        scene.add_body(
            f"b{i}",
            mass=10 ** rng.uniform(-1, 1),
            inertia=10 ** rng.uniform(-3, -1) * np.array((1, 1, 1.2)),
            position=rng.uniform(-1, 1, 3),
        )
    for _ in range(int(rng.integers(count, 2 * count + 1))):
        i, other = int(rng.integers(count)), int(rng.integers(-1 if seed % 2 else 0, count))
        if other == i:
            continue
        a, b, q = None if other < 0 else f"b{other}", f"b{i}", rng.normal(size=4)
        frames = {
            "frame_a": (rng.uniform(-1, 1, 3), (1, 0, 0, 0)),
            "frame_b": (rng.uniform(-0.5, 0.5, 3), q / np.linalg.norm(q)),
        }
        scene.add_joint(
            [
                lambda: mc.BallJoint(a, b, **frames),
                lambda: mc.HingeJoint(a, b, **frames),
                lambda: mc.SliderJoint(a, b, **frames),
                lambda: mc.FixedJoint(a, b, **frames),
                lambda: mc.DistanceJoint(a, b, (0, 0, 0), (0.3, 0, 0), length=0.8),
            ][int(rng.integers(5))]()
        )
    return scene


@pytest.mark.parametrize("stabilization", BY_POSITION)
def test_tangles_hang_together(stabilization):
    """Let go from rest, where nothing gives energy: none comes, joints do not open wider than they were by more than
    half, and what stays open is noted."""
    for seed in range(amount(12, 100)):
        world = mc.World(tangle(seed), dt=1 / 120, stabilization=stabilization)
        if not world.joint_names:
            continue
        most = np.abs(world.positions).max() + np.abs(world.joint_errors()).max()
        for _ in range(60):
            world.step()
            assert np.abs(world.positions).max() < 2.0 * most, seed
            assert world.energy().kinetic == 0.0, seed
        if stabilization != "split_impulse" and np.abs(world.joint_errors()).max() > 0.1:
            assert "open joints" in {note.kind for note in world.stats.notes}, seed


def test_closed_joints_keep_their_momentum_in_rings():
    """In loops p has parts that move nobody: momentum is kept to rounding all the same."""
    for stabilization in BY_POSITION:
        scene, rng = mc.Scene(gravity=(0, 0, 0)), np.random.default_rng(3)
        at = [(np.cos(t), np.sin(t), 0.0) for t in np.arange(6) * np.pi / 3]
        for i in range(6):
            scene.add_body(f"b{i}", mass=1.0 + i, inertia=(0.1, 0.2, 0.25), position=at[i], velocity=rng.normal(size=3))
        for i in range(6):
            for _ in range(2):
                scene.add_joint(mc.BallJoint(f"b{i}", f"b{(i + 1) % 6}", 0.5 * (np.array(at[i]) + at[(i + 1) % 6])))
        world = mc.World(scene, stabilization=stabilization)
        linear, angular = world.momentum()
        world.step(120)
        assert world.momentum()[0] == pytest.approx(linear, abs=1e-11)
        assert world.momentum()[1] == pytest.approx(angular, abs=1e-11)


@pytest.mark.parametrize("stabilization", BY_POSITION)
def test_what_swings_is_no_note(stabilization):
    scene = mc.Scene()
    for i in range(3):
        scene.add_body(f"b{i}", mass=1.0, inertia=(0.02, 0.09, 0.1), position=(i + 0.5, 0, 0))
        scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(i, 0, 0)))
    world = mc.World(scene, stabilization=stabilization, strict=True)
    world.step(240)
    assert world.energy().kinetic > 1.0 and not world.stats.all_notes
