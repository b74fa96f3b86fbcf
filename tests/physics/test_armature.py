"""Armature: a rotor that goes with a joint's coordinate, in every world and under every integrator."""

import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.errors import SceneError

INTEGRATORS = {
    "tree": (mc.ReducedWorld, {}),
    "tree rk4": (mc.ReducedWorld, {"integrator": "rk4"}),
    "tree reference": (mc.ReducedWorld, {"integrator": "reference"}),
    "default": (mc.World, {}),
    "rk4": (mc.World, {"integrator": "rk4"}),
    "rattle": (mc.World, {"integrator": "rattle"}),
    "variational": (mc.World, {"integrator": "variational"}),
    "reference": (mc.World, {"integrator": "reference"}),
}
every_integrator = pytest.mark.parametrize("name", INTEGRATORS)
G = 9.81


def pendulum(armature, **more):
    """A rod of 1 m and 2 kg on a hinge at its end, level."""
    scene = mc.Scene(gravity=(0, 0, -G))
    inertia = 2.0 / 12.0
    scene.add_body("rod", mass=2.0, inertia=(1e-3, inertia, inertia), position=(0.5, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "rod", (0, 0, 0), (0, 1, 0), armature=armature, name="hinge", **more))
    return scene


def arm(kinds, a=0.2, gravity=(0, 0, -G), moving=True):
    """A chain of boxes on joints along slanting axes, which start at random velocities that the joints allow."""
    rng = np.random.default_rng(len(kinds))
    scene, before = mc.Scene(gravity=gravity), None
    for i, kind in enumerate(kinds):
        place = np.array([0.3 * i, 0.1 * i, -0.4 * i])
        z = rng.normal(size=3)
        x = np.cross(z, rng.normal(size=3))
        scene.add_body(f"b{i}", shape=mc.Box((0.05, 0.08, 0.2)), position=place, density=1000, collision_mask=0)
        ends = {"a": before, "b": f"b{i}", "anchor": place + (0, 0, 0.2), "name": f"j{i}"}
        scene.add_joint(
            {
                "hinge": lambda e: mc.HingeJoint(axis=z, armature=a, **e),
                "slider": lambda e: mc.SliderJoint(axis=z, armature=20 * a, spring=mc.Spring(300), **e),
                "screw": lambda e: mc.ScrewJoint(axis=z, pitch=0.05, armature=a, **e),
                "cylindrical": lambda e: mc.CylindricalJoint(
                    axis=z, armature=(20 * a, a), spring=(mc.Spring(300), None), **e
                ),
                "universal": lambda e: mc.UniversalJoint(axis_a=z, axis_b=x, armature=(a, 2 * a), **e),
                "ball": lambda e: mc.BallJoint(armature=a, **e),
                "free": lambda e: mc.FreeJoint(
                    armature=(20 * a, 40 * a, 30 * a, a, a, a), spring=[mc.Spring(300)] * 3 + [None] * 3, **e
                ),
            }[kind](ends)
        )
        before = f"b{i}"
    if not moving:
        return scene
    world = mc.ReducedWorld(scene)
    world.qd = rng.normal(size=len(world.qd))
    return world.to_scene()


ARMS = {
    "hinges": ("hinge", "hinge", "hinge"),
    "slider": ("hinge", "slider"),
    "screw": ("hinge", "screw", "hinge"),
    "balls": ("ball", "ball"),
    "universal": ("universal", "hinge"),
    "cylindrical": ("hinge", "cylindrical"),
    "free": ("hinge", "free"),
    "many": ("ball", "slider", "universal", "hinge"),
}


@every_integrator
def test_a_pendulum_swings_as_its_inertia_and_the_rotor(name):
    """theta'' (I + a) = m g l cos theta: the speed at the bottom is by the energy, in which the rotor has its part."""
    make, keywords = INTEGRATORS[name]
    world = make(pendulum(3.0), dt=1e-3, **keywords)
    energy = world.energy()
    while world.joint("hinge").angle < np.pi / 2:
        world.step()
    angle, speed = world.joint("hinge").angle, world.joint("hinge").velocity
    whole = 2.0 / 3.0 + 3.0
    assert speed == pytest.approx(np.sqrt(2 * 2.0 * G * 0.5 * np.sin(angle) / whole), rel=1e-6)
    assert world.energy().kinetic == pytest.approx(0.5 * whole * speed**2)
    assert world.energy().total == pytest.approx(energy.total, abs=1e-5 if "tree" not in name else 1e-9)


def test_a_slider_falls_as_its_mass_and_the_rotor():
    """The rotor has no weight: m g / (m + a)."""
    for make in (mc.World, mc.ReducedWorld):
        scene = mc.Scene(gravity=(0, 0, -G))
        scene.add_body("load", mass=2.0, inertia=(1, 1, 1))
        scene.add_joint(mc.SliderJoint(None, "load", (0, 0, 1), armature=6.0, name="slide"))
        world = make(scene, dt=1e-2)
        world.step(100)
        assert world.body("load").position[2] == pytest.approx(-0.5 * G * 2.0 / 8.0, rel=1e-9)
        assert world.joint("slide").force[2] == pytest.approx(2.0 * G * 6.0 / 8.0)  # what holds it up is the rotor


@pytest.mark.parametrize("kinds", ARMS.values(), ids=ARMS)
def test_both_worlds_move_alike(kinds):
    """Under "reference" to rounding; by the steps of each to their order, which is the second, of rk4 the fourth. Rows of
    free joints, which hold nothing, are swept, to the first order."""
    scene = arm(kinds)
    exact = mc.ReducedWorld(scene, dt=1 / 100, integrator="reference")
    start = exact.energy().total
    exact.step(30)
    assert exact.energy().total == pytest.approx(start, abs=1e-11 * max(1.0, abs(start)))

    def off(name, n):
        make, keywords = INTEGRATORS[name]
        world = make(scene, dt=1 / (100 * n), **keywords)
        assert world.energy().total == pytest.approx(start)
        world.step(30 * n)
        return np.abs(world.positions - exact.positions).max()

    assert off("reference", 1) < 1e-12
    for name, most, falls in (
        ("default", 1e-5, 3.0),
        ("rattle", 1e-5, 3.0),
        ("variational", 1e-5, 3.0),
        ("tree", 1e-4, 3.0),
        ("rk4", 1e-9, 12.0),
        ("tree rk4", 1e-7, 12.0),
    ):
        if name == "default" and "free" in kinds:
            most, falls = 5e-3, 1.5
        coarse, fine = off(name, 2), off(name, 4)
        assert coarse < most, name
        assert fine < coarse / falls or fine < 1e-12, name


@every_integrator
@pytest.mark.slow
def test_energy_is_kept(name):
    """Ten seconds of three hinges, in each step's own bounds."""
    make, keywords = INTEGRATORS[name]
    world = make(arm(ARMS["hinges"]), dt=1 / 240, **keywords)
    start, size = world.energy().total, world.energy().kinetic
    worst = 0.0
    for _ in range(100):
        world.step(24)
        worst = max(worst, abs(world.energy().total - start))
    most = {"tree": 1e-9, "tree reference": 1e-9, "reference": 1e-9, "rk4": 1e-4, "tree rk4": 1e-3}.get(name, 0.02)
    assert worst < most * max(size, 1.0)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("armature", [0.5, 3.0])
def test_blows_move_rotors(restitution, armature):
    """Two links fall on a floor: both worlds, and without loss none of the energy."""
    found = []
    for make, keywords in ((mc.ReducedWorld, {}), (mc.World, {}), (mc.World, {"integrator": "rk4"})):
        scene = mc.Scene(gravity=(0, 0, -G))
        material = mc.Material(friction=0.0, restitution=restitution)
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
        for i, before in enumerate((None, "b0")):
            turn = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
            scene.add_body(
                f"b{i}",
                shape=mc.Capsule(0.05, 0.3),
                position=(0.35 + 0.7 * i, 0, 1),
                orientation=turn,
                density=1000,
                material=material,
            )
            scene.add_joint(mc.HingeJoint(before, f"b{i}", (0.7 * i, 0, 1), (0, 1, 0), armature=armature, name=f"j{i}"))
        world = make(scene, dt=1 / 1000, **keywords)
        start = world.energy().total
        world.step(1000)
        found.append((world.joint("j0").angle, world.joint("j1").angle, world.energy().total - start))
        assert restitution < 1.0 or found[-1][2] == pytest.approx(0.0, abs=1e-3)
    assert np.ptp([angle for angle, _, _ in found]) < 5e-3
    assert np.ptp([lost for _, _, lost in found]) < 0.2


def test_motors_move_rotors_too():
    """A PD motor's step response is that of I + a; a bounded velocity motor takes (I + a) w / T to come to its speed."""
    for make in (mc.World, mc.ReducedWorld):
        flat = pendulum(1.0, motor=mc.Motor(position=0.5, kp=50.0, kd=4.0)).to_dict() | {"gravity": [0, 0, 0]}
        world = make(mc.Scene.from_dict(flat), dt=1e-3)
        world.step(500)
        whole = 2.0 / 3.0 + 1.0
        decay, rate = 2.0 / whole, np.sqrt(50.0 / whole - (2.0 / whole) ** 2)
        t = 0.5
        expected = 0.5 - 0.5 * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
        assert world.joint("hinge").angle == pytest.approx(expected, abs=1e-5)
        flat = pendulum(1.0, motor=mc.Motor(velocity=3.0, max_force=10.0)).to_dict() | {"gravity": [0, 0, 0]}
        world = make(mc.Scene.from_dict(flat), dt=1e-3)
        world.step(400)
        assert world.joint("hinge").velocity == pytest.approx(10.0 / whole * 0.4, rel=1e-6)
        world.step(300)
        assert world.joint("hinge").velocity == pytest.approx(3.0, rel=1e-9)


def test_swept_joints_need_more_sweeps():
    """Where joints are rows of sweeps, a rotor is one among them: enough of them, and it is right."""
    scene = arm(ARMS["hinges"])
    exact = mc.ReducedWorld(scene, dt=1 / 960, integrator="reference")
    exact.step(240)
    for keywords in ({"joint_solver": "rows"}, {"solver": "pgs"}):
        off = []
        for iterations in (8, 100):
            world = mc.World(scene, dt=1 / 960, iterations=iterations, **keywords)
            world.step(240)
            off.append(np.abs(world.positions - exact.positions).max())
        assert off[1] < 1e-5 and off[1] < 0.1 * off[0]


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_copies_go_on_alike(make):
    """Files, pickles, snapshots, scenes of now: to the bit, or as the scene describes it anew."""
    world = make(arm(ARMS["many"]))
    world.step(10)
    again = make(mc.Scene.from_dict(arm(ARMS["many"]).to_dict()))
    again.step(10)
    assert again.state_hash() == world.state_hash()
    other = make(arm(ARMS["many"]))
    other.restore(world.snapshot())
    unpickled = pickle.loads(pickle.dumps(world))
    for each in (world, again, other, unpickled):
        each.step(10)
    assert world.state_hash() == again.state_hash() == other.state_hash() == unpickled.state_hash()
    described = world.to_scene()
    assert [joint.axes[0].armature for joint in described.joints] == [0.2, 4.0, 0.2, 0.2]
    assert make(described).energy().total == pytest.approx(world.energy().total)
    wrong = make(arm(ARMS["many"], a=0.3))
    with pytest.raises(SceneError, match="equal scene"):
        wrong.restore(world.snapshot())


def test_units_do_not_count():
    """Lengths times 4, masses times 8, inertias and armatures with them, to the bit."""
    for make in (mc.World, mc.ReducedWorld):
        worlds = []
        for size, weight in ((1.0, 1.0), (4.0, 8.0)):
            scene = mc.Scene(gravity=(0, 0, -9.0 * size))
            for i in range(2):
                inertia = weight * size**2 * np.array([0.1, 0.12, 0.15])
                scene.add_body(f"b{i}", mass=weight * (1.5 + i), inertia=inertia, position=(0.5 * size * (i + 1), 0, 0))
                rotor = weight * size**2 * 0.5
                ends = {"a": f"b{i - 1}" if i else None, "b": f"b{i}", "anchor": (0.5 * size * i, 0, 0)}
                scene.add_joint(mc.HingeJoint(axis=(0, 1, 0.5), armature=rotor, **ends))
            worlds.append(make(scene))
            worlds[-1].step(60)
        assert np.array_equal(4.0 * worlds[0].positions, worlds[1].positions)
        assert np.array_equal(worlds[0].orientations, worlds[1].orientations)


def test_a_row_says_what_the_rotor_does():
    """Its impulse is -a times the change of the coordinate's rate."""
    world = mc.World(pendulum(3.0), dt=1 / 400, substeps=1)
    world.step(40)
    before = world.joint("hinge").velocity
    world.step()
    rows = world.rows
    (row,) = rows[rows["kind"] == "armature"]
    assert row["compliance"] == pytest.approx(1 / 3.0)
    assert row["impulse"] == pytest.approx(-3.0 * (world.joint("hinge").velocity - before), rel=1e-6)
    reduced = mc.ReducedWorld(pendulum(3.0))
    assert "armature" not in reduced.rows["kind"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mc.HingeJoint(None, "b", (0, 0, 0), (0, 0, 1), armature=-1.0), "armature must not be negative, got -1.0"),
        (lambda: mc.HingeJoint(None, "b", (0, 0, 0), (0, 0, 1), armature=np.nan), "armature must be finite, got nan"),
        (
            lambda: mc.CylindricalJoint(None, "b", (0, 0, 0), (0, 0, 1), armature=[1.0] * 3),
            "armature must be a number or a",
        ),
        (lambda: mc.FreeJoint(None, "b", armature=[1, 2, 3, 1, 1, 2]), "armature must be one number about x, y and z"),
    ],
)
def test_what_is_no_armature_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_lightest_rotors_do_nothing():
    """Down to the smallest number there is; and the heaviest hold still."""
    for make in (mc.World, mc.ReducedWorld):
        ends = []
        for armature in (0.0, 5e-324, 1e-90):
            world = make(pendulum(armature))
            world.step(50)
            ends.append(world.positions)
        assert np.abs(np.array(ends) - ends[0]).max() < 1e-4  # that a row is solved with the joint, not in turn with it
        world = make(pendulum(1e12))
        world.step(50)
        assert np.abs(world.positions - (0.5, 0, 0)).max() < 1e-9
