"""Articulations whose joints' forces turn light bodies faster than a substep resolves: they keep energy, momenta and closed
joints whatever the mass ratio, the inertia, the step (docs/theory/tree.md, flights). And limits on light bodies that carry
heavy ones hold."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import mcsim as mc
from amounts import amount

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from families.chains import chain_scene, run_limit

LYING = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)


def hung(links, mass, angle=0.0, free=False, car=None):
    """Capsules of 1 kg on ball joints and a ball of `mass` at their end, at rest at an angle below the level; gravity. car:
    the speed along x of what holds them, if that moves."""
    scene = mc.Scene()
    along = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    turn = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    orientation = (turn[0] * LYING[0] - turn[2] * LYING[2], 0, turn[0] * LYING[2] + turn[2] * LYING[0], 0)
    previous = None
    if car is not None:
        previous = scene.add_body("car", kind="kinematic", velocity=(car, 0, 0)).name
    for i in range(links):
        scene.add_body(
            f"link{i}",
            shape=mc.Capsule(0.1, 0.15),
            mass=1.0,
            position=(0.25 + 0.5 * i) * along,
            orientation=orientation,
            collision_mask=0,
        )
        if i or not free:
            scene.add_joint(mc.BallJoint(previous, f"link{i}", anchor=0.5 * i * along))
        previous = f"link{i}"
    scene.add_body("ball", shape=mc.Sphere(0.5), mass=mass, position=(0.5 * links + 0.5) * along, collision_mask=0)
    scene.add_joint(mc.BallJoint(previous, "ball", anchor=0.5 * links * along))
    return scene


def follow(world, steps):
    """-> (widest gap of a joint [m], largest energy above the start's, what is lost at the end), in parts of a fall by the
    scene's reach"""
    scale = 9.81 * (world.masses * np.linalg.norm(world.positions, axis=1)).sum()
    start, gap, gain = world.energy().total, 0.0, 0.0
    for _ in range(steps):
        world.step()
        gap = max(gap, world.joint_errors()[:, 0].max())
        gain = max(gain, world.energy().total - start)
    return gap, gain / scale, (start - world.energy().total) / scale


@settings(deadline=None, max_examples=amount(4, 12))
@given(links=st.integers(1, 20), ratio=st.floats(0.0, 4.7), angle=st.floats(0.0, 1.2), substeps=st.integers(1, 12))
@example(links=5, ratio=3.0, angle=0.0, substeps=4)  # opened by 0.14 m
@example(links=8, ratio=3.0, angle=0.0, substeps=4)  # 0.73 m
@example(links=2, ratio=4.7, angle=0.0, substeps=4)  # 12.7 m
def test_heavy_on_light_chains_keep_their_energy(links, ratio, angle, substeps):
    gap, gain, loss = follow(mc.World(hung(links, 10.0**ratio, angle), substeps=substeps), 180)
    assert gap < 1e-6 and gain < 5e-5 and loss < 0.02


@settings(deadline=None, max_examples=amount(1, 6))
@given(links=st.integers(2, 20), ratio=st.floats(0.0, 3.0), substeps=st.integers(1, 8))
@example(links=2, ratio=3.0, substeps=4)  # gained a tenth of its energy in one step, after 5.8 s
@example(links=10, ratio=1.0, substeps=4)  # lost 7 %
@example(links=15, ratio=0.5, substeps=4)  # 6 %
@example(links=3, ratio=0.0, substeps=4)
def test_whips_keep_their_energy(links, ratio, substeps):
    """Links that turn by a radian within a substep, as the last ones of a chain that swings through."""
    gap, gain, loss = follow(mc.World(hung(links, 10.0**ratio), substeps=substeps), 600)
    assert gap < 1e-6 and gain < 1e-3 and loss < 0.02


@pytest.mark.parametrize("inertia", [1e-6, 1e-4, 1e-2])
def test_a_bob_keeps_its_period(inertia):
    """On an arm of 1 m, released level: a point's period is 2.3678419476 s, by the complete elliptic integral."""
    scene = mc.Scene()
    scene.add_body("bob", mass=1.0, inertia=(inertia,) * 3, position=(1, 0, 0))
    scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0)))
    world = mc.World(scene)
    period = 2.3678419476 * np.sqrt(1.0 + inertia)  # I about the pivot is m l^2 + I
    times, places = [], []
    for _ in range(600):
        world.step()
        times.append(world.time)
        places.append(world.positions[0, 0])
    crossings = [
        t - dt * x / (x - y)
        for (t, x, y, dt) in ((times[k], places[k], places[k - 1], world.dt) for k in range(1, 600))
        if x * y < 0
    ]
    halves = np.diff(crossings)
    assert len(halves) > 6 and halves == pytest.approx(period / 2, rel=2e-3)
    assert abs(world.energy().total) < 1e-3 and world.joint_errors().max() < 1e-7


def test_a_light_cart_passes_all_its_swings():
    """A cart of 1e-6 kg on a rail, a massless pole of 1 m with 1 kg at its end: all energy was lost at the first pass."""
    scene = mc.Scene()
    scene.add_body("cart", mass=1e-6, inertia=(1e-6,) * 3)
    scene.add_body("bob", mass=1.0, inertia=(1e-6,) * 3, position=(1, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), anchor=(0, 0, 0)))
    scene.add_joint(mc.HingeJoint("cart", "bob", (0, 0, 0), (0, 1, 0)))
    world = mc.World(scene)
    gap, _, _ = follow(world, 300)
    assert abs(world.energy().total) < 0.1 and gap < 1e-6


@pytest.mark.parametrize("n", [5, 10, pytest.param(15, marks=pytest.mark.slow)])
def test_a_flat_net_held_at_four_corners_stays(n):
    """It cannot sag: to first order no joint lets it."""
    scene = mc.Scene()
    for i in range(n):
        for j in range(n):
            scene.add_body(f"b{i}_{j}", shape=mc.Sphere(0.4), position=(i, j, 0), collision_mask=0)
            if i:
                scene.add_joint(mc.BallJoint(f"b{i - 1}_{j}", f"b{i}_{j}", anchor=(i - 0.5, j, 0)))
            if j:
                scene.add_joint(mc.BallJoint(f"b{i}_{j - 1}", f"b{i}_{j}", anchor=(i, j - 0.5, 0)))
    for i, j in ((0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1)):
        scene.add_joint(mc.BallJoint(None, f"b{i}_{j}", anchor=(i, j, 0)))
    world = mc.World(scene)
    for _ in range(6):
        world.step(10)
        assert world.positions[:, 2].min() > -0.02 and world.joint_errors().max() < 1e-5


@pytest.mark.parametrize("ratio, off", [(10.0, 0.02), (1000.0, 1e-3), (1e5, 1e-3)])
def test_limits_on_a_light_arm_hold_a_heavy_weight(ratio, off):
    """At rest at both limits. The limits' rows saw the arm's mass alone, and let the weight through; where the arm is not
    strained they still do, and are soft by that."""
    scene = mc.Scene()
    scene.add_body("arm", mass=0.1, inertia=(1e-4, 1e-3, 1e-3), position=(0.5, 0, 0))
    scene.add_body("weight", mass=0.1 * ratio, inertia=(1e-3 * ratio,) * 3, position=(1.2, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), limits=(-0.5, 0.5), name="shoulder"))
    scene.add_joint(mc.HingeJoint("arm", "weight", (1, 0, 0), (0, 1, 0), limits=(-0.1, 0.1), name="wrist"))
    world = mc.World(scene)
    world.step(240)
    assert world.joint("shoulder").position == pytest.approx(0.5, abs=off)
    assert world.joint("wrist").position == pytest.approx(0.1, abs=off)
    assert np.abs(world.velocities).max() < off


@pytest.mark.parametrize("far", [1e3, 1e5])
def test_one_does_not_know_of_another(far):
    """A strained chain, and the same with another strained chain far away: the same bits."""
    alone, both = hung(5, 1000.0), hung(5, 1000.0)
    for body in hung(3, 300.0).bodies:
        both.add_body("far " + body.name, mass=body.mass, inertia=(0.02,) * 3, position=np.add(body.position, (0, far, 0)))
    names = [body.name for body in both.bodies if body.name.startswith("far ")]
    for i, name in enumerate(names):
        both.add_joint(mc.BallJoint(names[i - 1] if i else None, name, anchor=(0.5 * i, far, 0)))
    worlds = mc.World(alone), mc.World(both)
    for _ in range(4):
        for world in worlds:
            world.step(30)
        count = len(worlds[0].positions)
        for name in ("positions", "orientations", "velocities", "angular_velocities"):
            assert np.array_equal(getattr(worlds[0], name), getattr(worlds[1], name)[:count]), name


def test_a_free_chain_keeps_both_momenta():
    """Thrown, its heavy end turning: to rounding, over many pieces of flights."""
    scene = hung(4, 1000.0, free=True)
    scene.gravity = (0, 0, 0)
    world = mc.World(scene)
    world.angular_velocities[:] = np.random.default_rng(5).normal(size=world.angular_velocities.shape)
    world.step(1)
    linear, angular = world.momentum()
    for _ in range(6):
        world.step(20)
        assert np.abs(world.momentum()[0] - linear).max() < 1e-11 * 1000.0
        assert np.abs(world.momentum()[1] - angular).max() < 1e-11 * np.abs(angular).max()


@pytest.mark.parametrize("mass", [1.0, 1000.0])
@pytest.mark.parametrize("spin", [0.0, 1.0])
def test_what_hangs_on_one_kinematic_body_shares_its_way(mass, spin):
    """A strained chain on a moving body, and the same with other chains on it, strained or not: the same bits, on the way
    that the body's velocities give, with closed joints. Each drift moved the body again from where the one before had left
    it, and a piece that was tried again began with the body where it was at the end of the trial."""

    def carried(chains):
        scene = mc.Scene()
        scene.add_body("car", kind="kinematic", velocity=(2, 0, 0), angular_velocity=(0, 0, spin))
        for y, heavy in enumerate(chains):
            holder = "car"
            for i in range(5):
                name = f"{y} {i}"
                scene.add_body(name, mass=1.0, inertia=(0.02,) * 3, position=(0.25 + 0.5 * i, y, 0))
                scene.add_joint(mc.BallJoint(holder, name, anchor=(0.5 * i, y, 0)))
                holder = name
            scene.add_body(f"{y} ball", mass=heavy, inertia=(0.1 * heavy,) * 3, position=(3, y, 0))
            scene.add_joint(mc.BallJoint(holder, f"{y} ball", anchor=(2.5, y, 0)))
        return scene

    alone, several = mc.World(carried([1000.0])), mc.World(carried([1000.0, mass, mass]))
    for _ in range(8):
        alone.step(15)
        several.step(15)
        assert several.joint_errors().max() < 1e-8 and not several.stats.all_notes
        for name in ("positions", "orientations", "velocities", "angular_velocities"):
            one, other = getattr(alone, name), getattr(several, name)
            assert np.array_equal(one, other[: len(one)]), name
    assert several.positions[0] == pytest.approx((4.0, 0.0, 0.0), abs=1e-12)


def point_like(links, ratio, compact, joint, free=False):
    """Links of 1 kg with an inertia of compact times that of rods, and a weight as compact at their end."""
    scene = mc.Scene()
    previous = None
    for k in range(links + 1):
        mass, inertia = (1.0, (0.004, 0.016, 0.016)) if k < links else (ratio, (0.1 * ratio,) * 3)
        scene.add_body(f"link{k}", mass=mass, inertia=compact * np.array(inertia), position=(0.25 + 0.5 * k, 0, 0))
        if k or not free:
            anchor = (0.5 * k, 0, 0)
            scene.add_joint(
                mc.HingeJoint(previous, f"link{k}", anchor, (0, 1, 0))
                if joint == "hinge"
                else mc.UniversalJoint(previous, f"link{k}", anchor, axis_a=(0, 1, 0), axis_b=(0, 0, 1))
            )
        previous = f"link{k}"
    return scene


@settings(deadline=None, max_examples=6)
@given(
    links=st.integers(1, 6),
    ratio=st.floats(0.0, 4.7),
    compact=st.floats(-6, -3),
    substeps=st.integers(1, 8),
    joint=st.sampled_from(("hinge", "universal")),
    free=st.booleans(),
)
@example(links=1, ratio=2.8, compact=-5.6, substeps=2, joint="hinge", free=False)  # 5000 km apart, 1e17 of its energy
@example(links=10, ratio=1.8, compact=-5.9, substeps=2, joint="hinge", free=False)  # 1e22 m
def test_point_like_links_keep_their_energy(links, ratio, compact, substeps, joint, free):
    """Of the diagonal 1/I of such a link 1e-12 is left in a factor that has the bodies eliminated first."""
    world = mc.World(point_like(links, 10.0**ratio, 10.0**compact, joint, free), substeps=substeps)
    gap, gain, loss = follow(world, 40)
    assert gap < 1e-8 and gain < 1e-6 and abs(loss) < 1e-4
    assert np.abs(world.positions[:, 1]).max() < 1e-12  # it swings in a plane, and no joint lets it out


def test_flights_keep_all_energy_from_the_first_step_on():
    """What is taken to hold the joints after each piece of a flight, and what the tolerance of its end leaves, was
    lost, by a part of 1e-6 each time; and the first step, whose joints had carried nothing yet, did not fly."""
    gap, gain, loss = follow(mc.World(hung(12, 3000.0, 0.5)), 300)
    assert gap < 1e-8 and gain < 1e-10 and abs(loss) < 1e-10


@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_a_strained_chain_swings_on_a_moving_body_as_on_the_ground(speed):
    """What that body does on it was taken for energy out of nowhere: at 10 m/s the weight rose by 0.6 m above its start."""

    def swung(v):
        world = mc.World(hung(3, 1000.0, car=v))
        world.velocities[:] = v, 0, 0
        world.step(90)
        return world.positions[-1] - (v * world.time, 0, 0)

    assert swung(speed) == pytest.approx(swung(0.0), abs=2e-3)


@pytest.mark.parametrize(
    "chain, substeps, steps",
    [
        # a whip that uses up the pieces of its flight: lost 37 %
        ((9, 6200.0, 0.002309, -0.3378, "ball", False), 3, 380),
        ((2, 3.976, 0.002888, -1.138, "hinge", False), 27, 120),  # strained and not in turn: 0.2 %, 2.6 % in 20 s
        ((1, 1.5, 1.0, 0.0, "hinge", False), 1, 120),
    ],
)  # gained 7e-5
def test_what_a_step_loses_it_gives_back(chain, substeps, steps):
    gap, gain, loss = follow(mc.World(chain_scene(*chain), substeps=substeps), steps)
    assert gap < 1e-8 and gain < 1e-6 and abs(loss) < 1e-4


@pytest.mark.parametrize("links, mass, angle, substeps", [(1, 1.0, 0.5, 1), (5, 1.0, 0.3, 4), (5, 10.0, 1.0, 2)])
def test_what_turns_about_a_ball_joint_keeps_its_angular_momentum(links, mass, angle, substeps):
    """About the vertical, also where energy is given back: that goes into the motion beside that turn. 4e-5 before."""
    world = mc.World(hung(links, mass, angle), substeps=substeps)
    reach = np.linalg.norm(world.positions, axis=1)
    world.velocities[:, 1] = 3.0 * reach / reach.max()
    world.step()  # joints answer what was written
    before = world.momentum()[1][2]
    world.step(300)
    assert world.momentum()[1][2] == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize(
    "ratio, reach, span, compact, rate, substeps",
    [(42.22, 0.8164, 0.7461, 0.396, 146, 4), (42.22, 0.8164, 0.7461, 0.396, 60, 4)],
)
def test_two_limits_in_one_arm_come_to_rest(ratio, reach, span, compact, rate, substeps):
    """They hopped for good by 0.08 m/s, the shoulder 0.03 rad beyond its limit: sweeps in turn with the joints leave 0.8 of
    an error after a pass there."""
    found = run_limit(ratio, reach, span, compact, rate, substeps)
    assert found["speed"] < 1e-6 and found["off"] < 1e-6
