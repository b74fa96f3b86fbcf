"""The equations of contacts of worlds: closed forms, one world against the other, and a step against the forces."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.reduced.formulations import Split, loop_matrix

G = 9.81
WORLDS = [mc.World, mc.ReducedWorld]


def with_floor(**more):
    scene = mc.Scene(**more)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=mc.Material(friction=0.5, restitution=0.25))
    return scene


def all_ways(equations):
    return equations.by_lcp(), equations.by_force_qp(), equations.by_acceleration_qp()


@pytest.mark.parametrize("kind", WORLDS)
def test_what_the_equations_say(kind):
    """Names, points, normals, gaps, coefficients, and which velocities they are."""
    scene = with_floor()
    scene.add_body("ball", shape=mc.Sphere(0.1), mass=2.0, position=(1, 2, 0.1), material=mc.Material(friction=0.5))
    found = mc.contacts.equations(kind(scene))
    assert found.names == [("floor", "ball")] and found.bodies.tolist() == [[0, 1]]
    assert found.points == pytest.approx(np.array([[1, 2, 0]]), abs=1e-15)
    assert found.normals == pytest.approx(np.array([[0, 0, 1.0]])) and found.gap == pytest.approx([0.0], abs=1e-15)
    assert found.friction == pytest.approx([0.5]) and found.restitution == pytest.approx([0.25])
    assert found.places.tolist() == list(range(6, 12) if kind is mc.World else range(6))
    assert found.N is found.T and found.M == pytest.approx(np.array([[0.5]])) and found.d == pytest.approx([-G])
    assert "1 contacts: 0 closing, 1 current, 0 opening" in repr(found)
    for answer in all_ways(found):
        assert answer.forces == pytest.approx([2.0 * G]) and answer.a == pytest.approx(np.zeros(6), abs=1e-12)


@pytest.mark.parametrize("kind", WORLDS)
def test_a_ball_that_slides_over_a_ball(kind):
    """On top of a fixed ball of R, at the speed v: the force is m g - m v² / (R + r), none beyond v² = g (R + r)."""
    R, r, mass = 0.5, 0.2, 3.0
    for v in (0.0, 1.5, np.sqrt(G * (R + r)) + 0.01):
        scene = mc.Scene()
        scene.add_body("base", shape=mc.Sphere(R), kind="static")
        scene.add_body("ball", shape=mc.Sphere(r), mass=mass, position=(0, 0, R + r), velocity=(v, 0, 0))
        found = mc.contacts.equations(kind(scene))
        force = max(mass * (G - v**2 / (R + r)), 0.0)
        for answer in all_ways(found):
            assert answer.forces == pytest.approx([force], abs=1e-9)
            assert answer.active.tolist() == [force > 0.0]


@pytest.mark.parametrize("contact", ["rigid", "event"])
def test_a_stack_that_sleeps(contact):
    """Asleep, and with contact='event': each layer carries what is above it; forces are not unique."""
    world = mc.World(mc.load("stack", count=3), contact=contact)
    world.step(1 if contact != "rigid" else 300)
    state = world.snapshot()
    found = mc.contacts.equations(world, touching=1e-2, still=0.1)
    assert mc.World is type(world) and world.time == state.time
    weights = world.masses[1:] * G
    for answer in all_ways(found):
        assert answer.solved and not answer.unique
        layers = [answer.forces[np.max(found.bodies, axis=1) == i].sum() for i in (1, 2, 3)]
        assert layers == pytest.approx(np.cumsum(weights[::-1])[::-1], rel=1e-5)


def standing(seed):
    """Some links on hinges and balls that lie or lean on a floor, moving, with a loop now and then: a scene, and whether
    it has one."""
    rng = np.random.default_rng(seed)
    scene = with_floor()
    count, radius = int(rng.integers(1, 5)), 0.1
    for i in range(count):
        scene.add_body(
            f"link{i}",
            shape=mc.Capsule(radius, 0.3, orientation=(0.5**0.5, 0, 0.5**0.5, 0)),
            density=500,
            position=(0.8 * i, 0, radius),
        )
    for i in range(1, count):
        place = (0.8 * i - 0.4, 0, radius)
        if rng.random() < 0.5:
            scene.add_joint(mc.HingeJoint(f"link{i - 1}", f"link{i}", anchor=place, axis=(0, 0, 1), name=f"joint{i}"))
        else:
            scene.add_joint(mc.BallJoint(f"link{i - 1}", f"link{i}", anchor=place, name=f"joint{i}"))
    loop = count > 2 and rng.random() < 0.6
    if loop:
        scene.add_joint(
            mc.DistanceJoint("link0", "link2", anchor_a=(0, -0.3, radius), anchor_b=(1.6, 0.5, radius), name="rod")
        )
    return scene, loop, rng


@settings(max_examples=amount(12, 100))
@given(seed=st.integers(0, 10**6))
def test_both_worlds_say_the_same(seed):
    """zeta, M, d, forces that are unique and accelerations of all bodies: of articulations with loops or without, in
    motion, under forces, in maximal and in generalized coordinates."""
    scene, loop, rng = standing(seed)
    reduced = mc.ReducedWorld(scene)
    assert bool(reduced.system.loops or reduced.system.couplings) == loop
    reduced.qd[...] = rng.normal(0, 1, len(reduced.qd))
    for link in reduced.system.links:
        if link.kind == "free":  # it slides and turns on the floor
            reduced.qd[link.v] = [*rng.normal(0, 1, 2), 0, 0, 0, rng.normal()]
        elif link.kind == "ball":
            reduced.qd[link.v][...] *= [0, 0, 1]
    if loop:
        loops = loop_matrix(reduced.dynamics, reduced.q)
        free = Split.of(loops.rows, 1e-8, loops.size).free
        reduced.qd[...] = free @ (free.T @ reduced.qd)
    world = reduced.maximal()
    wrench = rng.normal(0, 3, (len(world.body_names) - 1, 3))
    for some in (reduced, world):
        for name, force in zip(world.body_names[1:], wrench):
            some.apply_force(name, force)
    one, other = (mc.contacts.equations(some, still=1e3) for some in (world, reduced))
    assert one.count == other.count > 0 and one.names == other.names
    assert other.zeta == pytest.approx(one.zeta, abs=1e-9)
    assert other.M == pytest.approx(one.M, rel=1e-7, abs=1e-7 * np.abs(one.M).max())
    assert other.d == pytest.approx(one.d, rel=1e-7, abs=1e-7 * np.abs(one.d).max())
    answers = [*all_ways(one), *all_ways(other)]
    assert len({answer.status for answer in answers}) == 1
    if not answers[0].solved:
        return
    size = 1.0 + np.abs(answers[0].a).max()
    for answer in answers:
        assert answer.accelerations == pytest.approx(answers[0].accelerations, abs=1e-6 * size)
        assert answer.unique == answers[0].unique
        if answer.unique:
            assert answer.forces == pytest.approx(answers[0].forces, rel=1e-6, abs=1e-6 * size)
    linear, angular = reduced.dynamics.accelerations(reduced.q, reduced.qd, answers[-1].a)
    assert np.concatenate([linear, angular], axis=1)[1:].ravel() == pytest.approx(answers[0].a, abs=1e-6 * size)


GROUNDS = {
    "plane": mc.Plane((0, 0, 1)),
    "box": mc.Box((2, 2, 0.1), position=(0, 0, -0.1)),
    "mesh": mc.Mesh([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], [(0, 1, 2), (0, 2, 3)]),
    "height field": mc.HeightField(np.zeros((5, 5)), spacing=1.0),
}
HEIGHTS = {
    mc.Sphere(0.1): 0.1,
    mc.Box((0.1, 0.2, 0.05)): 0.05,
    mc.Capsule(0.1, 0.2, orientation=(0.5**0.5, 0, 0.5**0.5, 0)): 0.1,
    mc.Cylinder(0.2, 0.1): 0.1,
    mc.Cylinder(0.2, 0.1, orientation=(0.5**0.5, 0, 0.5**0.5, 0)): 0.2,
    mc.ConvexHull([(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.1, 0.1)]): 0.1,
    mc.Box((0.08, 0.18, 0.03), rounding=0.02): 0.05,
    mc.Cylinder(0.18, 0.08, rounding=0.02): 0.1,
    mc.Cylinder(0.18, 0.08, orientation=(0.5**0.5, 0, 0.5**0.5, 0), rounding=0.02): 0.2,
}


@pytest.mark.parametrize("ground", GROUNDS)
def test_every_shape_on_every_ground(ground):
    """It rests with its weight on the ground, in both worlds; turning about the normal changes nothing."""
    for shape, height in HEIGHTS.items():
        scene = mc.Scene()
        scene.add_body("ground", shape=GROUNDS[ground], kind="static")
        scene.add_body("body", shape=shape, mass=2.0, position=(0.11, 0.07, height), angular_velocity=(0, 0, 0.8))
        for kind in WORLDS:
            found = mc.contacts.equations(kind(scene), touching=1e-6)
            assert found.count and found.drift == pytest.approx(np.zeros(found.count), abs=1e-9)
            for answer in all_ways(found):
                assert answer.forces.sum() == pytest.approx(2.0 * G)
                assert answer.a == pytest.approx(np.zeros(6), abs=1e-6)


def test_an_arm_that_leans_on_a_block():
    """Statics in closed form: a hinged arm of m over a block under its tip carries m g / 2 there, and with a torque tau
    against it more."""
    for tau in (0.0, 3.0):
        scene = with_floor()
        scene.add_body("arm", shape=mc.Box((0.5, 0.02, 0.02)), mass=2.0, position=(0.5, 0, 0.42))
        scene.add_body("block", shape=mc.Sphere(0.2), mass=7.0, position=(1.0 - 0.1, 0, 0.2))
        scene.add_joint(mc.HingeJoint(None, "arm", anchor=(0, 0, 0.42), axis=(0, 1, 0), name="hinge"))
        world = mc.ReducedWorld(scene)
        world.tau[world.index("hinge")[1]] = tau
        found = mc.contacts.equations(world)
        load = (2.0 * G * 0.5 + tau) / 0.9
        on_arm = found.bodies.min(axis=1) == 1
        for answer in all_ways(found):
            assert answer.unique and answer.active.all()
            assert answer.forces[on_arm] == pytest.approx([load])
            assert answer.forces[~on_arm] == pytest.approx([7.0 * G + load])


@pytest.mark.parametrize("kind", WORLDS)
def test_springs_and_given_motions_count(kind):
    """A box on a table that rises at a given speed, under a spring and damping: the force is what Newton asks for."""
    scene = mc.Scene()
    scene.add_body("table", shape=mc.Box((1, 1, 0.1)), kind="kinematic", velocity=(0, 0, 0.5))
    scene.add_body(
        "box", shape=mc.Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.2), velocity=(0, 0, 0.5), linear_damping=0.3
    )
    scene.add_joint(
        mc.DistanceJoint(
            None, "box", anchor_a=(0, 0, 2), anchor_b=(0, 0, 0.2), spring=mc.Spring(stiffness=10.0, rest=1.0), name="spring"
        )
    )
    found = mc.contacts.equations(kind(scene))
    assert found.zeta == pytest.approx(np.zeros(4), abs=1e-12)
    for answer in all_ways(found):
        assert answer.forces.sum() == pytest.approx(2.0 * G - 10.0 * 0.8 + 0.3 * 2.0 * 0.5)


@pytest.mark.parametrize("kind", WORLDS)
def test_a_box_on_a_turntable(kind):
    """A box that turns with its table: its corners' accelerations under friction that holds are those of the table."""
    scene = mc.Scene()
    rough = mc.Material(friction=2.0)
    w, x = 1.5, 0.6
    scene.add_body("table", shape=mc.Box((1, 1, 0.1)), kind="kinematic", angular_velocity=(0, 0, w), material=rough)
    scene.add_body(
        "box",
        shape=mc.Box((0.1, 0.1, 0.1)),
        mass=2.0,
        position=(x, 0, 0.2),
        velocity=(0, x * w, 0),
        angular_velocity=(0, 0, w),
        material=rough,
    )
    found = mc.contacts.equations(kind(scene))
    answer = found.with_friction()
    assert answer.status == "solved"
    assert answer.a[:3] == pytest.approx([-x * w**2, 0, 0], abs=1e-9)
    assert answer.accelerations == pytest.approx(np.zeros((4, 3)), abs=1e-9)
    assert answer.forces[:, 0].sum() == pytest.approx(2.0 * G)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("mu, slides", [(0.2, True), (0.9, False)])
def test_a_box_on_a_slope(kind, mu, slides):
    """It slides at g (sin - mu cos), or stays."""
    angle = 0.5
    n = np.array([np.sin(angle), 0, np.cos(angle)])
    scene = mc.Scene()
    surface = mc.Material(friction=mu)
    scene.add_body("slope", shape=mc.Plane(tuple(n)), kind="static", material=surface)
    scene.add_body(
        "box",
        shape=mc.Box((0.2, 0.2, 0.01)),
        mass=2.0,
        position=tuple(0.01 * n),
        orientation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0),
        material=surface,
    )
    answer = mc.contacts.equations(kind(scene)).with_friction()
    a = G * (np.sin(angle) - mu * np.cos(angle)) if slides else 0.0
    assert answer.a[:3] == pytest.approx([a * np.cos(angle), 0, -a * np.sin(angle)], abs=1e-6)


def test_a_step_does_what_the_forces_say():
    """One short step of a World without friction changes velocities by h times the accelerations, to first order in h."""
    scene = mc.Scene()
    smooth = mc.Material(friction=0.0)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=smooth)
    scene.add_body("a", shape=mc.Sphere(0.2), density=800, position=(0, 0, 0.2), material=smooth)
    scene.add_body(
        "b", shape=mc.Sphere(0.15), density=500, position=(0.21, 0, 0.2 + np.sqrt(0.35**2 - 0.21**2)), material=smooth
    )
    h = 1e-5
    for kind in WORLDS:
        world = kind(scene, dt=h, substeps=1)
        found = mc.contacts.equations(world)
        expected = found.by_lcp()
        assert found.count == 2 and expected.active.all()
        world.step(1)
        changed = np.concatenate([world.velocities, world.angular_velocities], axis=1)[1:].ravel() / h
        assert changed == pytest.approx(expected.a, abs=1e-3 * G)


@pytest.mark.parametrize("kind", WORLDS)
def test_the_world_stays_as_it_is(kind):
    """Looking at the equations changes no bit of what follows."""
    one, other = (kind(mc.load("stack", count=3)) for _ in range(2))
    for _ in range(5):
        one.step(3)
        other.step(3)
        mc.contacts.equations(other)
    assert one.positions.tobytes() == other.positions.tobytes() and one.velocities.tobytes() == other.velocities.tobytes()


def test_kkt_of_a_world_that_sleeps():
    """World.kkt has the forces of bodies that sleep (they were not numbers)."""
    world = mc.World(mc.load("stack", count=2))
    world.step(300)
    assert world.asleep[1:].all()
    accelerations, _ = world.kkt().solve()
    assert accelerations[1:] == pytest.approx(np.tile([0, 0, -G, 0, 0, 0], (2, 1)), abs=1e-9)
    assert world.asleep[1:].all()
