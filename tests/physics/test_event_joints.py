"""contact="event": limits, motors and friction of joints, and capsules, at the times and states of closed forms and of an
independent integrator."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from amounts import amount

G = 9.81
WORLDS = [mc.World, mc.ReducedWorld]
QUICKER = [pytest.param(mc.World, marks=pytest.mark.slow), mc.ReducedWorld]
EXACT = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}


def events(world, kind):
    log = world.event_log
    return log[log["kind"] == kind]


def pendulum(world, limits=(-10.0, 0.5), dt=5e-3, start=-1.0, **keywords):
    """A point of 2 kg on a rod of 0.7 m, inertia 0.1 about its own centre; at rest at an angle from hanging down."""
    scene = mc.Scene(gravity=(0, 0, -G))
    at = 0.7 * np.array([np.sin(start), 0, -np.cos(start)])
    scene.add_body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=at)
    # about -y: the angle grows as the bob swings towards +x, from 0 where it starts
    scene.add_joint(
        mc.HingeJoint(
            None, "bob", anchor=(0, 0, 0), axis=(0, -1, 0), name="pivot", limits=tuple(np.array(limits) - start), **keywords
        )
    )
    return world(scene, dt=dt, contact="event")


def swing(state, seconds, until=None, torque=0.0):
    """[angle, rate] of that pendulum after a time, or when the angle reaches `until`. -> t, state"""
    about = 0.1 + 2.0 * 0.7**2
    stop = None
    if until is not None:

        def stop(t, y):
            return y[0] - until

        stop.terminal, stop.direction = True, np.sign(until - state[0])
    found = solve_ivp(
        lambda t, y: [y[1], (torque - 2.0 * G * 0.7 * np.sin(y[0])) / about], (0.0, seconds), state, **EXACT, events=stop
    )
    return found.t[-1], found.y[:, -1]


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", WORLDS)
def test_a_pendulum_strikes_its_limit(world):
    """The limit takes its whole speed; it swings back, and comes again with the same speed less what it lost."""
    run = pendulum(world, dt=1e-2)
    first, (_, speed) = swing([-1.0, 0.0], 5.0, until=0.5)
    about = 0.1 + 2.0 * 0.7**2
    steps = int(1.6 / run.dt)
    run.step(steps)
    struck = events(run, "limit")
    assert len(struck) == 1 and struck["time"][0] == pytest.approx(first, abs=1e-9)
    assert struck["speed"][0] == pytest.approx(speed, abs=1e-9)
    assert struck["normal_impulse"][0] == pytest.approx(about * speed, abs=1e-9)
    assert (struck["body_a"][0], struck["body_b"][0]) == (-1, 0)
    _, (angle, rate) = swing([0.5, 0.0], steps * run.dt - first)
    assert run.joint("pivot").position == pytest.approx(angle + 1.0, abs=1e-9)
    assert run.joint("pivot").velocity == pytest.approx(rate, abs=1e-9)
    assert np.max(run.joint_errors()) < 1e-13 and not run.stats.notes


@pytest.mark.parametrize("world", QUICKER)
def test_a_pendulum_leans_on_its_limit(world):
    """It falls on its limit and lies on it: no further event, no drift."""
    run = pendulum(world, limits=(0.3, 10.0), start=1.0)
    when, _ = swing([1.0, 0.0], 5.0, until=0.3)
    run.step(amount(150, 300))
    assert events(run, "limit")["time"] == pytest.approx([when], abs=1e-9)
    assert run.joint("pivot").position == pytest.approx(0.3 - 1.0, abs=1e-12)
    assert abs(run.joint("pivot").velocity) < 1e-13


def arm(world):
    """Two links that fall; the elbow comes to its limit on the way, and the shoulder later."""
    scene = mc.Scene(gravity=(0, 0, -G))
    for name, x in (("upper", 0.5), ("lower", 1.4)):
        scene.add_body(name, mass=1.0, inertia=(0.02, 0.08, 0.08), position=(x, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "upper", anchor=(0, 0, 0), axis=(0, 1, 0), name="shoulder", limits=(-0.1, 0.9)))
    scene.add_joint(mc.HingeJoint("upper", "lower", anchor=(1, 0, 0), axis=(0, 1, 0), name="elbow", limits=(-2.0, 0.25)))
    run = world(scene, dt=5e-3, contact="event")
    if world is mc.World:
        run.set_velocity("lower", (0, 0, -2.4), (0, 6.0, 0))
    else:
        run.qd[:] = 0.0, 6.0
    return run


def test_limits_of_a_chain():
    """The first impact of the elbow's limit is that of H, at the time of an independent integrator over the tree; both
    worlds go on alike."""
    maximal, reduced = arm(mc.World), arm(mc.ReducedWorld)
    tree = arm(mc.ReducedWorld)

    def rates(t, y):
        return np.concatenate([y[2:], tree.forward_dynamics(y[:2], y[2:], np.zeros(2))])

    def stop(t, y):
        return 0.25 - y[1]

    stop.terminal = True
    found = solve_ivp(rates, (0, 2.0), [0, 0, 0, 6.0], **EXACT, events=stop)
    q, qd = found.y[:2, -1], found.y[2:, -1]
    H = tree.mass_matrix(q)
    push = np.linalg.solve(H, [0.0, 1.0])
    after = qd - push * qd[1] / push[1]
    steps = int(found.t[-1] / maximal.dt) + 1
    for run in (maximal, reduced):
        run.step(steps)
        struck = events(run, "limit")
        assert struck["time"] == pytest.approx([found.t[-1]], abs=1e-9)
        assert struck["normal_impulse"] == pytest.approx([qd[1] / push[1]], abs=1e-9)
    left = steps * reduced.dt - found.t[-1]

    # with the elbow held: one degree of freedom more than a pendulum's, integrated with qdd_1 = 0
    def held(t, y):
        qdd = tree.forward_dynamics(y[:2], y[2:], np.zeros(2))
        p = np.linalg.solve(tree.mass_matrix(y[:2]), [0.0, 1.0])
        force = -qdd[1] / p[1]
        return np.concatenate([y[2:], qdd + min(force, 0.0) * p])

    end = solve_ivp(held, (0, left), np.concatenate([q, after]), **EXACT).y[:, -1]
    assert np.concatenate([reduced.q, reduced.qd]) == pytest.approx(end, abs=1e-8)
    for run in (maximal, reduced):
        run.step(amount(50, 200))
    assert maximal.positions == pytest.approx(reduced.positions, abs=1e-8)
    assert maximal.joint("shoulder").position <= 0.9 + 1e-12


@pytest.mark.parametrize("world", WORLDS)
def test_a_slider_falls_on_its_stop(world):
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("block", mass=3.0, inertia=(1, 1, 1))
    scene.add_joint(mc.SliderJoint(None, "block", axis=(0, 0, 1), limits=(-0.5, 0.2), name="rail"))
    run = world(scene, dt=0.02, contact="event")
    run.step(30)
    assert events(run, "limit")["time"] == pytest.approx([np.sqrt(1.0 / G)], abs=1e-12)
    assert run.positions[0] == pytest.approx([0, 0, -0.5], abs=1e-12) and np.max(np.abs(run.velocities)) < 1e-14
    run.apply_force("block", (0, 0, 3.0 * (G + 2.0)))
    run.step(5)
    assert run.positions[0, 2] == pytest.approx(-0.5 + 0.1**2, abs=1e-12)


def test_a_rope_becomes_taut():
    """Free fall to its length, a jerk that takes the speed along it, then a pendulum."""
    length, start = 1.0, np.array([0.6, 0, 0.0])
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("bob", mass=2.0, inertia=(0.01, 0.01, 0.01), position=start)
    scene.add_joint(mc.DistanceJoint(None, "bob", anchor_a=(0, 0, 0), anchor_b=start, limits=(0.0, length), name="rope"))
    run = mc.World(scene, dt=1e-2, contact="event")
    run.step(60)
    when = np.sqrt(2 * 0.8 / G)  # 0.6, -0.8: taut
    struck = events(run, "limit")
    assert struck["time"][0] == pytest.approx(when, abs=1e-12)
    assert struck["normal_impulse"][0] == pytest.approx(2.0 * G * when * 0.8, abs=1e-11)
    angle = np.arctan2(0.6, 0.8)  # from hanging down
    rate = -G * when * 0.6
    left = 60 * run.dt - when
    y = solve_ivp(lambda t, y: [y[1], -G / length * np.sin(y[0])], (0, left), [angle, rate], **EXACT).y[:, -1]
    assert run.positions[0] == pytest.approx([np.sin(y[0]), 0, -np.cos(y[0])], abs=1e-9)


# ---- motors and friction ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", WORLDS)
def test_a_velocity_motor_comes_to_its_speed_and_keeps_it(world):
    """a = F / m until v, then v; with more load than the motor has it is pushed back by the difference."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("cart", mass=2.0, inertia=(1, 1, 1))
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), motor=mc.Motor(velocity=1.5, max_force=10.0), name="rail"))
    run = world(scene, dt=0.02, contact="event")
    run.step(20)
    assert events(run, "stick")["time"] == pytest.approx([0.3], abs=1e-12)
    assert run.velocities[0] == pytest.approx([1.5, 0, 0], abs=1e-12)
    assert run.positions[0, 0] == pytest.approx(1.5 * 0.15 + 1.5 * 0.1, abs=1e-12)
    run.apply_force("cart", (-9.0, 0, 0))
    run.step(5)
    assert run.velocities[0, 0] == pytest.approx(1.5, abs=1e-12)  # the motor has more
    run.apply_force("cart", (-16.0, 0, 0))
    run.step(5)
    assert run.velocities[0, 0] == pytest.approx(1.5 - 3.0 * 0.1, abs=1e-12)
    run.joint("rail").set_motor(velocity=-1.0)
    run.step(30)
    assert run.velocities[0, 0] == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.parametrize("world", QUICKER)
def test_a_motor_lifts_a_pendulum_until_it_is_too_heavy(world):
    """At a constant rate while its torque suffices; at the angle at which it does not, an event; then against the least
    that it can do."""
    top = 9.0
    run = pendulum(world, limits=(-10.0, 10.0), start=0.0, motor=mc.Motor(velocity=0.8, max_force=top))
    run.step(40)
    held = events(run, "stick")
    assert len(held) == 1
    t, y = (
        held["time"][0],
        solve_ivp(
            lambda t, y: [y[1], (top - 2.0 * G * 0.7 * np.sin(y[0])) / 1.08], (0, held["time"][0]), [0.0, 0.0], **EXACT
        ).y[:, -1],
    )
    assert y[1] == pytest.approx(0.8, abs=1e-9)
    heavy = np.arcsin(top / (2.0 * G * 0.7))
    lost = t + (heavy - y[0]) / 0.8
    found = []
    while run.time < lost + 0.1:
        run.step()
        found += list(events(run, "slip")["time"])
    assert found == pytest.approx([lost], abs=1e-9)
    _, (angle, rate) = swing([heavy, 0.8], run.time - lost, torque=top)
    assert run.joint("pivot").position == pytest.approx(angle, abs=1e-9)
    assert run.joint("pivot").velocity == pytest.approx(rate, abs=1e-9)


@pytest.mark.parametrize("world", WORLDS)
def test_joint_friction_stops_a_slider(world):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("cart", mass=2.0, inertia=(1, 1, 1), velocity=(1.2, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), friction=4.0))
    run = world(scene, dt=0.02, contact="event")
    run.step(50)
    assert events(run, "stick")["time"] == pytest.approx([0.6], abs=1e-12)
    assert run.positions[0, 0] == pytest.approx(0.36, abs=1e-12) and abs(run.velocities[0, 0]) < 1e-14


def test_a_motor_turns_a_wheel_that_drives_a_cart():
    """Motor, contact with friction, and rolling together: F = m a, a = r alpha, by the torque at its bound."""
    torque, radius, m, inertia = 0.3, 0.1, 2.0, 0.01
    scene = mc.Scene(gravity=(0, 0, -G))
    material = mc.Material(friction=0.8, restitution=0.0)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=material)
    scene.add_body(
        "wheel", shape=mc.Sphere(radius), mass=1.0, inertia=(inertia,) * 3, position=(0, 0, radius), material=material
    )
    scene.add_body("cart", mass=1.0, inertia=(1, 1, 1), position=(0, 0, radius))
    scene.add_joint(mc.PlanarJoint(None, "cart", anchor=(0, 0, radius), normal=(0, 1, 0)))
    scene.add_joint(
        mc.HingeJoint(
            "cart", "wheel", anchor=(0, 0, radius), axis=(0, 1, 0), motor=mc.Motor(velocity=100.0, max_force=torque)
        )
    )
    run = mc.World(scene, dt=0.02, contact="event")
    run.step(25)
    a = torque * radius / (m * radius**2 + inertia)
    assert run.velocities[2] == pytest.approx([0.5 * a, 0, 0], abs=1e-10)
    assert run.angular_velocities[1, 1] == pytest.approx(0.5 * a / radius, abs=1e-9)


@pytest.mark.parametrize(
    "build, message",
    [
        (
            lambda s: s.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), motor=mc.Motor(velocity=1.0), name="rail")),
            "'rail'.*max_force",
        ),
        (
            lambda s: s.add_joint(
                mc.UniversalJoint(
                    None, "cart", anchor=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0), name="cross", friction=1.0
                )
            ),
            "'cross' has limits, friction.*universal joint",
        ),
    ],
)
def test_what_is_refused_is_named(build, message):
    scene = mc.Scene()
    scene.add_body("cart", mass=2.0, inertia=(1, 1, 1))
    build(scene)
    with pytest.raises(mc.SceneError, match=message):
        mc.World(scene, contact="event")


# ---- capsules --------------------------------------------------------------------------------------------------------


def dropped(below, keywords=None, e=0.5, **capsule):
    scene = mc.Scene(gravity=(0, 0, -G))
    material = mc.Material(friction=0.0, restitution=e)
    scene.add_body("below", shape=below, kind="static", material=material, **(keywords or {}))
    scene.add_body("rod", material=material, **capsule)
    return mc.World(scene, dt=4e-3, contact="event")


def impacts(world):
    log = events(world, "impact")
    return log[log["normal_impulse"] > 0.0]


@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_a_capsule_falls_across_a_capsule(offset):
    """Crossed at right angles: one contact between the insides, at a lever of the upper one's centre."""
    mass, inertia, r, e, drop = 2.0, 0.17, 0.05, 0.5, 0.4
    turn = np.sqrt(0.5)
    run = dropped(
        mc.Capsule(r, 1.0, orientation=(turn, turn, 0, 0)),
        e=e,
        shape=mc.Capsule(r, 0.5),
        mass=mass,
        inertia=(inertia, inertia, 0.001),
        orientation=(turn, 0, turn, 0),
        position=(offset, 0, 2 * r + drop),
    )
    run.step(int(np.sqrt(2 * drop / G) / run.dt) + 1)
    struck = impacts(run)
    when = np.sqrt(2 * drop / G)
    impulse = (1 + e) * G * when / (1 / mass + offset**2 / inertia)
    assert struck["time"] == pytest.approx([when], abs=1e-12)
    assert struck["normal_impulse"] == pytest.approx([impulse], abs=1e-11)
    assert struck["position"][0] == pytest.approx([0, 0, r], abs=1e-12)
    left = run.time - when
    assert run.velocities[1, 2] == pytest.approx(-G * when + impulse / mass - G * left, abs=1e-11)
    assert run.angular_velocities[1, 1] == pytest.approx(offset * impulse / inertia, abs=1e-10)


def test_a_rod_lies_over_the_edge_of_a_table_and_on_a_log():
    """At rest: over an edge with its centre inside, and along the top of a fixed parallel one, by two contacts each."""
    turn = np.sqrt(0.5)
    run = dropped(
        mc.Box((0.5, 0.5, 0.5)),
        {"position": (0, 0, -0.5)},
        e=0.0,
        shape=mc.Capsule(0.05, 0.5),
        mass=2.0,
        inertia=(0.17, 0.17, 0.001),
        orientation=(turn, 0, turn, 0),
        position=(0.3, 0, 0.05),
    )
    run.step(50)
    contacts = run.contacts
    assert run.positions[1] == pytest.approx([0.3, 0, 0.05], abs=1e-12)
    assert np.sum(contacts["normal_impulse"]) == pytest.approx(2.0 * G * run.dt, rel=1e-9)
    assert np.sum(contacts["normal_impulse"] * contacts["position"][:, 0]) == pytest.approx(
        2.0 * G * run.dt * 0.3, rel=1e-9
    )
    assert np.sort(contacts["position"][contacts["normal_impulse"] > 1e-9][:, 0]) == pytest.approx([-0.2, 0.5], abs=1e-9)
    run = dropped(
        mc.Capsule(0.05, 1.0, orientation=(turn, 0, turn, 0)),
        e=0.0,
        shape=mc.Capsule(0.05, 0.5),
        mass=2.0,
        inertia=(0.17, 0.17, 0.001),
        orientation=(turn, 0, turn, 0),
        position=(0.1, 0, 0.1),
    )
    run.step(25)
    assert run.positions[1] == pytest.approx([0.1, 0, 0.1], abs=1e-9)
    assert run.contacts["normal_impulse"] == pytest.approx([G * run.dt] * 2, rel=1e-9)


@pytest.mark.parametrize("world", QUICKER)
def test_the_same_bits_after_restore_and_in_single_steps(world):
    """A limit beyond a whole turn, a motor that comes there, and what it says of the angle."""

    def build():
        return pendulum(world, limits=(-10.0, 7.5), start=0.0, dt=1e-2, motor=mc.Motor(velocity=9.0, max_force=40.0))

    whole, parts, restored = build(), build(), build()
    whole.step(120)
    for _ in range(60):
        parts.step()
    restored.restore(parts.snapshot())
    for run in (parts, restored):
        run.step(60)
    assert len({run.state_hash() for run in (whole, parts, restored)}) == 1
    assert whole.joint("pivot").position == pytest.approx(7.5, abs=1e-12)
