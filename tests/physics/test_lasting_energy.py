"""Trees of joints that gravity alone moves keep their energy for twenty seconds, at any number of substeps: more of them
are never worse (docs/theory/tree.md, energy). What closings took was given back only where a body was strained at the
step's start, and with finer substeps a whip is strained later than that: the figures at the cases are what was lost."""

import itertools

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from test_strained import follow

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def joint_of(kind, a, b, anchor):
    if kind == "ball":
        return mc.BallJoint(a, b, anchor)
    if kind == "universal":
        return mc.UniversalJoint(a, b, anchor, axis_a=(0, 1, 0), axis_b=(0, 0, 1))
    return mc.HingeJoint(a, b, anchor, (0, 1, 0))


def add_chain(scene, links, mass, angle, kind, first=None, at=(0.0, 0.0, 0.0), name=""):
    """Capsules of 1 kg and 0.5 m from `first` on, at an angle above the level, and a ball of `mass` on a ball joint."""
    along, at = np.array([np.cos(angle), 0.0, np.sin(angle)]), np.asarray(at, float)
    half = np.pi / 4 - angle / 2
    previous = first
    for i in range(links):
        scene.add_body(
            f"{name}link{i}",
            shape=mc.Capsule(0.1, 0.15),
            mass=1.0,
            position=at + 0.5 * (i + 0.5) * along,
            orientation=(np.cos(half), 0, np.sin(half), 0),
            collision_mask=0,
        )
        scene.add_joint(joint_of(kind, previous, f"{name}link{i}", at + 0.5 * i * along))
        previous = f"{name}link{i}"
    end = at + 0.5 * links * along
    scene.add_body(
        f"{name}ball", shape=mc.Sphere(0.5), mass=mass, position=end + 0.5 * along, orientation=UPRIGHT, collision_mask=0
    )
    scene.add_joint(mc.BallJoint(previous, f"{name}ball", end))
    return scene


def chain(*options, **keywords):
    return add_chain(mc.Scene(), *options, **keywords)


def kept(scene, substeps, seconds=20, gain=1e-11, loss=1e-4, **keywords):
    """Follow it, and hold that it kept its energy. -> the loss"""
    world = mc.World(scene, substeps=substeps, sleep=False, **keywords)
    gap, gained, lost = follow(world, round(60 * seconds))
    assert gap < 1e-8 and gained < gain and lost < loss, (gap, gained, lost)
    return lost


@pytest.mark.parametrize(
    "links, mass, angle, kind, substeps",
    [
        (2, 68.1, 1.2, "hinge", 16),
        (2, 68.1, 1.2, "hinge", 32),  # 3.4 %
        (3, 4374.4, 0.0, "hinge", 32),  # 0.8 %, and gained 5e-5
        (13, 29.2, 1.2, "ball", 16),
        pytest.param(13, 29.2, 1.2, "ball", 32, marks=pytest.mark.slow),  # 6.9, 8.6 %
        pytest.param(7, 760.0, 0.5, "hinge", 16, marks=pytest.mark.slow),  # 3.3 %
        pytest.param(7, 760.0, 0.5, "hinge", 32, marks=pytest.mark.slow),
    ],
)  # 6.1 %
def test_whips_at_many_substeps_keep_their_energy(links, mass, angle, kind, substeps):
    kept(chain(links, mass, angle, kind), substeps, loss=1e-6)


@pytest.mark.parametrize("kind", ["hinge", "ball", "universal"])
@pytest.mark.sampled(3)
def test_more_substeps_are_never_worse(kind):
    lost = [kept(chain(2, 68.1, 1.2, kind), n) for n in (1, 2, 4, 8, 16, 32)[: amount(5, 6)]]
    assert all(finer <= coarser + 1e-5 for coarser, finer in itertools.pairwise(lost)), lost


def test_short_steps_are_no_worse_than_many_substeps():
    """It is the substep that counts: 3.4 % at 1/960 s."""
    world = mc.World(chain(2, 68.1, 1.2, "hinge"), dt=1 / 960, substeps=1, sleep=False)
    gap, gain, loss = follow(world, 19200 // 4)
    assert gap < 1e-8 and gain < 1e-11 and loss < 1e-6


def branched(hold, kind="ball"):
    """A beam with three chains of light links, of which two carry weights."""
    scene = mc.Scene()
    scene.add_body(
        "beam",
        shape=mc.Capsule(0.1, 0.8),
        mass=3.0,
        orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
        position=(0.9, 0, 0),
        collision_mask=0,
    )
    if hold == "kinematic":
        scene.add_body("post", kind="kinematic")
    if hold != "free":
        scene.add_joint(joint_of(kind, "post" if hold == "kinematic" else None, "beam", (0, 0, 0)))
    for k, (links, mass) in enumerate(((2, 50.0), (3, 0.2), (2, 300.0))):
        add_chain(scene, links, mass, 0.4 * k, kind, "beam", (0.4 + 0.5 * k, 0, 0), f"{k}")
    return scene


@pytest.mark.parametrize("substeps", [4, 24])
@pytest.mark.parametrize("hold", ["world", "kinematic", "free"])
def test_branched_trees_keep_their_energy(hold, substeps):
    """Also on a kinematic body that stands, and free ones, which keep both momenta too: seen from where they fall."""
    scene = branched(hold)
    if hold == "free":
        scene.gravity = (0, 0, 0)
    world = mc.World(scene, substeps=substeps, sleep=False)
    if hold == "free":  # it turns as one body at first
        world.angular_velocities[:] = turn = (0.3, 2.0, 0.0)
        world.velocities[:] = np.cross(turn, world.positions)
    before = np.hstack(world.momentum())
    gap, gain, loss = follow(world, amount(300, 600))
    assert gap < 1e-8 and gain < 1e-11 and loss < 1e-5
    if hold == "free":
        assert np.hstack(world.momentum()) == pytest.approx(before, abs=1e-9 * np.abs(before).max())


@pytest.mark.parametrize("substeps", [1, 4, 20, 32])
def test_what_turns_back_within_a_step_gains_nothing(substeps):
    """A pendulum of 5 mm swings seven times a second: at the end of a step that ends where it turns, its motion could
    not pay for what it had gained on the way up, 3e-4 in two swings."""
    scene = mc.Scene()
    scene.add_body("bob", mass=1.0, inertia=(2e-5,) * 3, position=(0.005, 0, 0))
    scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0)))
    gap, gain, _ = follow(mc.World(scene, dt=1 / 200, substeps=substeps, sleep=False), amount(800, 2000))
    assert gap < 1e-8 and gain < (1e-9 if substeps > 1 else 1e-4)


def test_each_tree_is_accounted_by_itself():
    """Far from each other, each alone and both together: to the bit."""

    def run(*which):
        scene = mc.Scene()
        for k in which:
            add_chain(scene, *((2, 68.1, 1.2, "hinge"), (3, 5.0, 0.3, "ball"))[k], at=(100.0 * k, 0, 0), name=f"{k}")
        world = mc.World(scene, substeps=12, sleep=False)
        world.step(240)
        return np.hstack([world.positions, world.orientations, world.velocities, world.angular_velocities])

    assert np.array_equal(run(0, 1), np.vstack([run(0), run(1)]))


def test_what_is_damped_or_turned_by_a_torque_is_left_alone():
    """Damping takes energy, and a torque gives it: no account gives that back or takes it."""
    scene = mc.Scene()
    scene.add_body("arm", mass=1.0, inertia=(0.1,) * 3, position=(0, 0, -0.5), angular_damping=0.5, linear_damping=0.5)
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0)))
    world = mc.World(scene, sleep=False)
    world.set_velocity("arm", velocity=(-1.0, 0, 0), angular_velocity=(0, 2.0, 0))
    start = world.energy().total
    world.step(60)
    assert world.energy().total < start - 0.1
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("arm", mass=1.0, inertia=(0.1,) * 3, position=(0, 0, -0.5))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0)))
    world = mc.World(scene, sleep=False)
    for _ in range(60):
        world.apply_torque("arm", (0, 1.0, 0))
        world.step()
    assert world.angular_velocities[0, 1] == pytest.approx(1.0 / 0.35, rel=1e-3)  # I about the pivot 0.1 + 0.25
