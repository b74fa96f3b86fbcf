"""Springs that only pull or only push, against the differential equation, closed forms and each other."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc

WORLDS = [mc.World, mc.ReducedWorld]
every_world = pytest.mark.parametrize("kind", WORLDS)
MASS, K, C, LENGTH, G = 70.0, 200.0, 30.0, 20.0, 9.81


def bungee(kind=mc.World, dt=1 / 240, damping=C, **keywords):
    """A jumper on a rope that stretches: 0.1 m below its upper end, so slack by 19.9 m."""
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("jumper", shape=mc.Sphere(0.2), mass=MASS, position=(0, 0, -0.1))
    spring = mc.Spring(K, damping, rest=LENGTH, acts="pull")
    scene.add_joint(mc.DistanceJoint(None, "jumper", (0, 0, 0), (0, 0, -0.1), spring=spring, name="rope"))
    return kind(scene, dt=dt, substeps=1, **keywords)


def depths(times, damping=C):
    """The jumper's way down, of the differential equation: the rope pulls where it is taut, and never pushes."""

    def rates(t, state):
        depth, speed = state
        force = min(0.0, -K * (depth - LENGTH) - damping * speed) if depth > LENGTH else 0.0
        return [speed, G + force / MASS]

    solution = solve_ivp(rates, (0, times[-1]), [0.1, 0.0], rtol=1e-11, atol=1e-11, max_step=0.01, t_eval=times)
    return solution.y[0]


def error(kind, dt, **keywords):
    """The largest of a jump of 9 s: down, up beyond where the rope is slack, and down again."""
    world, times, found = bungee(kind, dt, **keywords), np.arange(1, 46) * 0.2, []
    for _ in times:
        world.step(round(0.2 / dt))
        found.append(-world.positions[0, 2])
    exact = depths(times)
    assert exact.max() > LENGTH + 5 and exact[25:].min() < LENGTH, "it stretches, and is slack again"
    return np.abs(found - exact).max()


@every_world
def test_bungee_jump_against_the_differential_equation(kind):
    """Of second order in dt, though the rope's damper begins with a jolt."""
    coarse, fine = error(kind, 1 / 60), error(kind, 1 / 480)
    assert coarse < 0.02 and fine < 4e-4 and coarse / fine > 20.0


@pytest.mark.parametrize(
    "keywords, within",
    [
        ({"joint_solver": "rows"}, 2e-3),
        ({"stabilization": "baumgarte"}, 0.5),
        ({"solver": "pgs"}, 1e-3),
        ({"integrator": "rk4"}, 0.1),  # of first order where the damper begins with a jolt
        ({"integrator": "rattle"}, 0.1),
        ({"integrator": "variational"}, 0.1),
        ({"integrator": "reference"}, 1e-5),
        ({"integrator": "radau"}, 1e-5),
    ],
)
@every_world
def test_with_other_solvers_and_integrators(kind, keywords, within):
    if kind is mc.ReducedWorld and keywords.get("integrator") in ("rattle", "variational"):
        pytest.skip("of World alone")
    if kind is mc.ReducedWorld and "joint_solver" in keywords:
        pytest.skip("of World alone")
    assert error(kind, 1 / 240, **keywords) < within


@every_world
def test_energy_of_a_slack_rope_is_none(kind):
    """And what the rope takes up it gives back: no damping, no loss."""
    world = bungee(kind, 1 / 480, damping=0.0)
    start, potential = world.energy().total, []
    for _ in range(480):
        world.step()
        stretch = max(0.0, -world.positions[0, 2] - LENGTH)
        potential.append(world.energy().potential - (MASS * G * world.positions[0, 2] + 0.5 * K * stretch**2))
    assert np.abs(potential).max() < 1e-6
    world.step(480 * 8)
    assert world.energy().total == pytest.approx(start, abs=1e-3 * MASS * G * LENGTH)


def test_a_rope_is_slack_without_a_force():
    """To the bit the motion of a body that nothing holds."""
    world = bungee()
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("jumper", shape=mc.Sphere(0.2), mass=MASS, position=(0, 0, -0.1))
    free = mc.World(scene, dt=1 / 240, substeps=1)
    for each in (world, free):
        each.step(240)
    assert world.positions[0] == pytest.approx(free.positions[0], abs=1e-12)
    assert np.array_equal(world.joint("rope").force, (0, 0, 0))


def cart(kind, acts, at=0.0, velocity=0.0, damping=0.0, rest=1.0, **keywords):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    spring = mc.Spring(200.0, damping, rest=rest, acts=acts)
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), spring=spring, name="s"))
    world = kind(scene, dt=1 / 400, substeps=1, **keywords)
    if kind is mc.ReducedWorld:
        world.q[0], world.qd[0] = at, velocity
    else:
        world.set_pose("cart", (at, 0, 0))
        world.set_velocity("cart", (velocity, 0, 0))
    return world


@every_world
def test_a_bumper_throws_back(kind):
    """A cart runs onto a spring and leaves it as fast as it came, after half a period; one that pulls lets it through."""
    half = math.pi / math.sqrt(200.0 / 2.0)
    back = cart(kind, "push", at=1.5, velocity=-2.0)
    back.step(round(400 * (0.25 + half + 0.25)))
    assert back.joint("s").velocity == pytest.approx(2.0, abs=1e-3)
    assert back.joint("s").position == pytest.approx(1.5, abs=0.01)
    through = cart(kind, "pull", at=0.5, velocity=-2.0)
    through.step(200)
    assert through.joint("s").position == pytest.approx(-0.5, abs=1e-9)


@every_world
def test_two_that_act_one_way_are_one_that_acts_both(kind):
    """On one slider in parallel, by a second joint of the same coordinate."""
    both = cart(kind, "both", at=1.6, damping=3.0)
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1.6, 0, 0))
    frames = {"frame_a": ((0, 0, 0), (1, 0, 0, 0)), "frame_b": ((0, 0, 0), (1, 0, 0, 0))}
    for acts in ("pull", "push"):
        springs = [mc.Spring(200.0, 0.0, rest=1.0, acts=acts), *[None] * 5]
        scene.add_joint(mc.FreeJoint(None, "cart", spring=springs, **frames))
    damper = [mc.Spring(0.0, 3.0), *[None] * 5]
    scene.add_joint(mc.FreeJoint(None, "cart", spring=damper, **frames))
    parts = mc.World(scene, dt=1 / 400, substeps=1)
    for _ in range(10):
        both.step(40)
        parts.step(40)
        assert parts.positions[0, 0] == pytest.approx(both.joint("s").position, abs=2e-4)


@every_world
def test_a_damper_that_pulls_alone_acts_on_the_way_out(kind):
    """Of no stiffness: it brakes what goes up, and lets what comes back."""
    out, back = (cart(kind, "pull", at=x, velocity=v, damping=4.0, rest=0.0) for x, v in ((0.1, 1.0), (2.0, -1.0)))
    for world in (out, back):
        world.joint("s").set_spring(mc.Spring(0.0, 4.0, acts="pull"))
        world.step(200)
    assert out.joint("s").velocity == pytest.approx(math.exp(-4.0 / 2.0 * 0.5), rel=1e-3)
    assert back.joint("s").velocity == pytest.approx(-1.0, abs=1e-12)


@every_world
def test_hinges_and_chains_of_them(kind):
    """A flap that a spring pushes open and does not hold back, in an articulation with motors, whose rows are held."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    scene.add_body("flap", mass=0.5, inertia=(0.02, 0.02, 0.02), position=(1.0, 0, 0))
    motor = mc.Motor(position=0.0, hertz=10.0)
    scene.add_joint(mc.HingeJoint(None, "arm", anchor=(0, 0, 0), axis=(0, 0, 1), motor=motor, name="m"))
    spring = mc.Spring(2.0, rest=0.5, acts="push")
    scene.add_joint(mc.HingeJoint("arm", "flap", anchor=(1.0, 0, 0), axis=(0, 0, 1), spring=spring, name="h"))
    world = kind(scene, dt=1 / 1000)
    world.step(1000)
    w = math.sqrt(2.0 / 0.02)
    # Half a swing about 0.5, of which the first quarter is the spring's; then it goes on at what it has: 0.5 w.
    assert world.joint("h").velocity == pytest.approx(0.5 * w, rel=2e-3)
    assert world.joint("h").position == pytest.approx(0.5 + 0.5 * w * (1.0 - math.pi / 2 / w), rel=2e-3)
    assert abs(world.joint("m").position) < 1e-6


# ---- what becomes of it ----------------------------------------------------------------------------------------------


@every_world
def test_copies_snapshots_files_and_scenes(kind, tmp_path):
    world = bungee(kind)
    scene = world.scene
    again = mc.Scene.from_dict(scene.to_dict())
    assert again == scene and scene.to_dict()["joints"][0]["spring"]["acts"] == "pull"
    world.step(700)
    begin = world.snapshot()
    world.save_state(tmp_path / "w.npz")
    told = kind(world.to_scene(), dt=1 / 240, substeps=1)
    assert told.scene.joints[0].axes[0].spring == mc.Spring(K, C, LENGTH, acts="pull")
    copies = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), mc.load_state(tmp_path / "w.npz"), world.remade()]
    for each in (world, told, *copies):
        each.step(300)
    assert all(each.state_hash() == world.state_hash() for each in copies)
    assert told.positions == pytest.approx(world.positions, abs=1e-3)
    end = world.state_hash()
    world.restore(begin)
    world.joint("rope").set_spring(mc.Spring(K, C, LENGTH, acts="push"))
    world.step(300)
    assert world.state_hash() != end
    world.restore(begin)
    world.step(300)
    assert world.state_hash() == end


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: mc.Spring(1.0, acts="draw"), "Spring: acts must be one of: both, pull, push; got 'draw'"),
        (lambda: mc.Spring(1.0, acts=None), "acts must be one of"),
        (
            lambda: mc.BallJoint(None, "b", (0, 0, 0), spring=mc.Spring(1.0, acts="pull")),
            "BallJoint: spring.acts must be 'both' of what turns freely, got 'pull'",
        ),
        (
            lambda: mc.FreeJoint(None, "b", spring=[None] * 5 + [mc.Spring(1.0, acts="push")]),
            "spring.acts must be 'both' of what turns freely, got 'push'",
        ),
    ],
)
def test_what_is_wrong_is_refused_by_name(make, words):
    with pytest.raises(mc.SceneError, match=words):
        make()


def test_its_switch_is_seen_by_studies():
    from mcsim.lab.nature import BOUNDED, SMOOTH, smoothness

    scene = bungee().scene
    assert smoothness(scene) == BOUNDED
    other = mc.Scene()
    other.add_body("m", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    other.add_joint(mc.DistanceJoint(None, "m", (0, 0, 0), (0, 0, -1), spring=mc.Spring(1.0)))
    assert smoothness(other) == SMOOTH
    with pytest.raises(mc.SceneError, match="acts by pull alone"):
        mc.lab.precise_run(scene, [0.0, 0.1])


def test_a_step_over_it_is_differentiated():
    """Where it pulls as a spring that acts both ways, and where it is slack as none."""
    taut, both, slack = (
        cart(mc.World, acts, at=at, damping=2.0, stabilization="baumgarte")
        for acts, at in (("pull", 1.5), ("both", 1.5), ("pull", 0.5))
    )
    one, other, none = (mc.step_derivatives(world) for world in (taut, both, slack))
    for name in ("by_pose", "by_velocity", "by_force", "by_mass"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9)
    x = none.index("cart", "velocity").start
    assert none.by_pose[x, 0] == pytest.approx(0.0, abs=1e-9)
    assert one.by_pose[x, 0] < -0.1
