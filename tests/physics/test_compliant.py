"""World(contact="compliant"), ReducedWorld likewise: against closed forms, and differential equations integrated by
SciPy; convergence, energy, rest, stiffness beyond the substep; state kept; bad input."""

import copy
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc

G = 9.81
WORLDS = [mc.World, mc.ReducedWorld]
RIGID = mc.Material(friction=1.0)


def soft(stiffness, damping=0.0, friction=0.0, **more):
    return mc.Material(friction=friction, stiffness=stiffness, damping=damping, **more)


def ground(gravity=(0.0, 0.0, -G), material=RIGID):
    scene = mc.Scene(gravity=gravity)
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    return scene


def ball_world(material, kind=mc.World, *, mass=1.0, height=0.0, velocity=(0, 0, -2.0), spin=(0, 0, 0), gravity=0.0,
               floor=RIGID, dt=1e-3, **keywords):
    """A solid ball of radius 0.1 m, `height` above a plane."""
    scene = ground((0, 0, -gravity), floor)
    scene.add_body("ball", shape=mc.Sphere(0.1), mass=mass, position=(0, 0, 0.1 + height), velocity=velocity,
                   angular_velocity=spin, material=material)
    return kind(scene, dt=dt, **dict(substeps=1, contact="compliant") | keywords)


def block_world(material, kind=mc.World, *, angle=0.0, velocity=(0, 0, 0), spin=(0, 0, 0), dt=1e-3, floor=RIGID,
                position=(0, 0, 0.1), **keywords):
    """A block of 2 kg, 0.4 x 0.4 x 0.2 m, on a plane that gravity is inclined to."""
    scene = ground((G * np.sin(angle), 0, -G * np.cos(angle)), floor)
    scene.add_body("block", shape=mc.Box((0.2, 0.2, 0.1)), mass=2.0, position=position, velocity=velocity,
                   angular_velocity=spin, material=material)
    return kind(scene, dt=dt, **dict(substeps=1, contact="compliant") | keywords)


def energies(world, steps):
    out = [world.energy().total]
    for _ in range(steps):
        world.step()
        out.append(world.energy().total)
    return np.array(out)

# ---- one impact ----------------------------------------------------------------------------------------------------------


def linear_impact(k, d, m=1.0):
    """-> restitution, duration of contact, closed form: it ends where f = k z + d z' comes to 0."""
    w = np.sqrt(k / m)
    zeta = d / (2.0 * np.sqrt(k * m))
    q = np.sqrt(1.0 - zeta**2)
    time = (np.pi - np.arctan2(2.0 * zeta * q, 1.0 - 2.0 * zeta**2)) / (w * q)
    decay = np.exp(-zeta * w * time)
    speed = decay * (np.cos(q * w * time) - zeta / q * np.sin(q * w * time))
    return -speed, time


def hunt_crossley_restitution(chi, v):
    """m z' dz' / (1 + chi z') = -k z dz, so chi z' - ln(1 + chi z') is the same before and after: by bisection."""
    def level(u):
        return chi * u - np.log1p(chi * u)
    low, high = 0.0, min(v, (1.0 - 1e-12) / chi)
    for _ in range(200):
        u = 0.5 * (low + high)
        low, high = (u, high) if level(-u) < level(v) else (low, u)
    return u / v


def test_the_closed_form_is_that_of_the_equation():
    """Of the linear law with f >= 0; exp(-pi zeta / sqrt(1 - zeta^2)), which lets the spring pull, is another one."""
    k, d = 1e4, 40.0
    found = solve_ivp(lambda t, y: [y[1], -(k * y[0] + d * y[1])], (0, 1), [0.0, 2.0], rtol=1e-12, atol=1e-14,
                      events=[lambda t, y: k * y[0] + d * y[1] if t > 0 else 1.0])
    i = 0
    e, time = linear_impact(k, d)
    assert found.t_events[0][i] == pytest.approx(time, rel=1e-8)
    assert -found.y_events[0][i][1] / 2.0 == pytest.approx(e, rel=1e-8)
    zeta = d / (2 * np.sqrt(k))
    assert abs(e - np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2))) > 0.02


def rebound(world, dt, seconds=0.06):
    """-> restitution, how long it bore [s]"""
    bore = 0
    for _ in range(round(seconds / dt)):
        world.step()
        bore += len(world.contacts) > 0 and world.contacts["normal_impulse"].sum() > 0.0
    assert len(world.contacts) == 0 or world.contacts["normal_impulse"].sum() == 0.0
    return world.velocities[1, 2] / 2.0, bore * dt


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("law, damping", [("linear", 0.0), ("linear", 5.0), ("linear", 40.0), ("linear", 120.0),
                                          ("hunt_crossley", 0.0), ("hunt_crossley", 0.2), ("hunt_crossley", 1.0)])
def test_restitution_and_duration(kind, law, damping):
    k = 1e4
    e, time = linear_impact(k, damping)
    if law == "hunt_crossley":
        e, time = (hunt_crossley_restitution(damping, 2.0), None) if damping else linear_impact(k, 0.0)
    errors = []
    for dt in (2e-3, 5e-4, 1.25e-4):
        height = 0.0037 * dt / 2e-3                      # nowhere near a whole number of steps from the touch
        found, bore = rebound(ball_world(soft(k, damping), kind, height=height, dt=dt, compliant_law=law), dt)
        errors.append(abs(found - e))
        if time is not None:
            assert bore == pytest.approx(time, abs=2.01 * dt)
    assert errors[0] < 0.05 and errors[-1] < 3e-4, errors


@pytest.mark.parametrize("law, damping", [("linear", 60.0), ("hunt_crossley", 0.6)])
def test_second_order_while_it_bears(law, damping):
    """Bobbing on the spring without leaving it, under gravity, against the differential equation."""
    k, m, t = 2e3, 1.0, 0.2
    def rate(_, y):
        force = k * y[0] + damping * y[1] if law == "linear" else k * y[0] * (1 + damping * y[1])
        return [y[1], G - force / m]
    exact = solve_ivp(rate, (0, t), [0.008, 0.0], rtol=1e-12, atol=1e-15).y[0, -1]
    for kind in WORLDS:
        errors = []
        for dt in (4e-3, 2e-3, 1e-3, 5e-4):
            world = ball_world(soft(k, damping), kind, height=-0.008, velocity=(0, 0, 0), gravity=G, dt=dt,
                               compliant_law=law)
            world.step(round(t / dt))
            errors.append(abs(0.1 - world.positions[1, 2] - exact))
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        assert orders.min() > 1.85 and errors[-1] < 5e-7, (errors, orders)


def test_an_elastic_ball_keeps_bouncing():
    """Undamped: no gain ever, and what is lost at the touches falls with the substep."""
    lost = []
    for dt in (2e-3, 1e-3, 5e-4):
        world = ball_world(soft(1e4), height=0.02, velocity=(0, 0, 0), gravity=G, dt=dt)
        found = energies(world, round(1.0 / dt))
        assert np.diff(found).max() < 1e-12
        lost.append((found[0] - found[-1]) / (G * 0.02))
    assert lost[0] < 0.15 and lost[2] < 0.3 * lost[0], lost


def test_surfaces_in_series():
    """Two balls meet: 1 / k and 1 / d add up, the reduced mass bounces as on one surface; a rigid one leaves the other's."""
    (ka, da), (kb, db) = (1.5e4, 30.0), (4e4, 12.0)
    e, _ = linear_impact(ka * kb / (ka + kb), da * db / (da + db), 1.0 * 3.0 / 4.0)
    lone, _ = linear_impact(ka, da, 0.75)
    for material, expected in ((soft(kb, db), e), (RIGID, lone)):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("a", shape=mc.Sphere(0.1), mass=1.0, velocity=(1.5, 0, 0), material=soft(ka, da))
        scene.add_body("b", shape=mc.Sphere(0.1), mass=3.0, position=(0.20013, 0, 0), material=material)
        world = mc.World(scene, dt=1e-4, substeps=1, contact="compliant")
        world.step(400)
        assert (world.velocities[1, 0] - world.velocities[0, 0]) / 1.5 == pytest.approx(expected, abs=3e-4)
        assert world.momentum()[0] == pytest.approx((1.5, 0, 0), abs=1e-13)


def test_the_surface_comes_back_by_itself():
    """d / k = 0.1 s: it is left behind pressed in, with energy that goes by exp(-2 k t / d), and bears anew only where
    the ball comes down to it."""
    k, d, h = 1e4, 1e3, 1e-4
    world = ball_world(soft(k, d), mass=20.0, height=1e-6, dt=h)
    while world.time < 0.01 or world.contacts["normal_impulse"].sum() > 0.0:
        world.step()
    assert 0.0 < world.velocities[1, 2] < 0.6 and world.positions[1, 2] < 0.1
    kept = world.energy().potential
    assert kept > 0.1
    world.set_pose("ball", (0, 0, 0.1 + 0.001))
    world.set_velocity("ball", (0, 0, 0))
    world.step(500)
    assert world.energy().potential == pytest.approx(kept * np.exp(-2.0 * 500 * h * k / d), rel=1e-6)
    world.set_velocity("ball", (0, 0, -1.0))
    while not world.contacts["normal_impulse"].sum() > 0.0:
        pressed = np.sqrt(2.0 * world.energy().potential / k)
        world.step()
    assert pressed > 5e-3 and 0.1 - world.positions[1, 2] == pytest.approx(pressed, abs=1.1 * h)


# ---- rest and friction ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("law", ["linear", "hunt_crossley"])
@pytest.mark.parametrize("stiffness, dt", [(5e3, 1e-3), (5e3, 1 / 60), (1e5, 1 / 240), (1e7, 1 / 60), (1e9, 1 / 60)])
def test_rest_is_that_of_statics(kind, law, stiffness, dt):
    """m g / 4 k at every corner, whether or not the substep resolves the spring; stiff ones are told of."""
    damping = 0.3 * np.sqrt(stiffness) if law == "linear" else 50.0
    world = block_world(soft(stiffness, damping, friction=0.5), kind, dt=dt, substeps=2, compliant_law=law)
    world.step(round(4.0 / dt))
    assert 0.1 - world.positions[1, 2] == pytest.approx(2.0 * G / (4 * stiffness), rel=1e-5)
    assert np.abs(world.velocities).max() < 1e-6
    assert world.contacts["normal_impulse"] / dt == pytest.approx(np.full(4, 2.0 * G / 4), rel=1e-5)
    expected = 4 * 0.5 * stiffness * (2.0 * G / (4 * stiffness))**2 + 2.0 * G * world.positions[1, 2]
    assert world.energy().potential == pytest.approx(expected, rel=1e-6)
    assert world.stats.residuals["natural_map"] < 1e-9
    h, moved = dt / 2, 0.5 + 2 * 0.2**2 / (2.0 * (0.4**2 + 0.2**2) / 12.0)
    if law == "hunt_crossley":
        damping *= 2.0 * G / 4
    stiff = h * (damping + h * stiffness) * moved > 1.0
    assert [note[0] for note in world.stats.notes] == (["stiff contacts"] if stiff else [])


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("friction", ["cone", "pyramid"])
def test_a_block_on_a_slope_sticks_or_slides(kind, friction):
    material = soft(2e4, 80.0, 0.49, tangential_stiffness=1e4, tangential_damping=60.0)
    floor = mc.Material(friction=0.49)
    sticking = block_world(material, kind, angle=0.4, floor=floor, friction=friction)
    sticking.step(3000)
    load = 2.0 * G * np.sin(0.4)
    assert np.tan(0.4) < 0.49 and np.abs(sticking.velocities).max() < 1e-9
    assert -sticking.contacts["tangent_impulse"].sum(axis=0)[0] / 1e-3 == pytest.approx(load, rel=1e-9)
    sliding = block_world(material, kind, angle=0.6, floor=floor, friction=friction)
    sliding.step(500)
    before = sliding.velocities[1, 0]
    sliding.step(1000)
    assert sliding.velocities[1, 0] - before == pytest.approx(G * (np.sin(0.6) - 0.49 * np.cos(0.6)), rel=1e-9)


@pytest.mark.parametrize("kind", WORLDS)
def test_a_pull_drags_the_surface_along(kind):
    """By F / 4 k_t, and back when it ends; with mu m g the block goes."""
    world = block_world(soft(2e4, 80.0, 0.5, tangential_stiffness=1e4, tangential_damping=60.0), kind,
                        floor=mc.Material(friction=0.5))
    world.step(1000)
    start = world.positions[1, 0]
    for force, steps in ((6.0, 1500), (0.0, 1500)):
        for _ in range(steps // 10):
            world.apply_force("block", (force, 0, 0), point=(world.positions[1, 0], 0, 0))
            world.step(10)
        assert world.positions[1, 0] - start == pytest.approx(force / (4 * 1e4), rel=5e-4, abs=1e-10)
    world.apply_force("block", (0.51 * 2.0 * G, 0, 0), point=(world.positions[1, 0], 0, 0))
    world.step(500)
    assert world.positions[1, 0] - start > 5e-3


def test_a_block_slides_to_a_stop_and_springs_back():
    """v^2 / 2 mu g far, then it swings on its dragged surfaces, undamped but for what they damp."""
    world = block_world(soft(2e4, 80.0, 0.5, tangential_stiffness=3e4), velocity=(1.5, 0, 0), dt=5e-4,
                        floor=mc.Material(friction=0.5))
    found = energies(world, 1600)
    assert world.positions[1, 0] == pytest.approx(1.5**2 / (2 * 0.5 * G), abs=1e-3)
    assert np.diff(found).max() < 1e-12
    assert np.abs(world.velocities).max() < 1e-8


def test_spin_is_braked_as_by_coulomb():
    """A spinning block: every corner rubs against its own slip, torque mu m g r."""
    world = block_world(soft(2e4, 80.0, 0.3), spin=(0, 0, 20.0), floor=mc.Material(friction=0.3))
    world.step(200)
    before = world.angular_velocities[1, 2]
    world.step(300)
    radius = 0.2 * np.sqrt(2.0)
    inertia = 2.0 * (0.4**2 + 0.4**2) / 12.0
    assert before - world.angular_velocities[1, 2] == pytest.approx(0.3 * 0.3 * 2.0 * G * radius / inertia, rel=2e-3)
    assert world.positions[1, :2] == pytest.approx((0, 0), abs=1e-6)


@pytest.mark.parametrize("law, damping", [("linear", 8.0), ("hunt_crossley", 0.5)])
@pytest.mark.parametrize("velocity, spin", [((1.0, 0, -2.0), 0.0), ((0.2, 0, -2.0), 6.0), ((3.0, 0, -2.0), -20.0)])
def test_an_oblique_impact(law, damping, velocity, spin):
    """A ball with spin, from the touch on until it leaves, against the differential equation of its five states."""
    k, kt, mu, m, r = 1e4, 6e3, 0.3, 1.0, 0.1
    inertia = 0.4 * m * r**2
    chi = law == "hunt_crossley"

    def rate(t, y):
        z, s, w, u, spin = y
        f = max(k * z * (1 + damping * w) if chi else k * z + damping * w, 0.0)
        dt = damping * kt * z if chi else damping
        slip = u - (r - 0.5 * z) * spin
        push = -(kt * s + dt * slip)
        moves = slip
        if abs(push) > mu * f:
            push = np.sign(push) * mu * f
            moves = -(push + kt * s) / max(dt, 1e-9)
        return [w, moves, -f / m, push / m, -(r - 0.5 * z) * push / inertia]

    end = 0.015 if not chi else 0.02
    begin = [1e-4, 0.0, -velocity[2], velocity[0], spin]
    exact = solve_ivp(rate, (0, end), begin, rtol=1e-9, atol=1e-12, method="LSODA" if chi else "DOP853").y[:, -1]
    errors = []
    for kind in WORLDS:
        for dt in (2e-4, 2.5e-5):
            world = ball_world(soft(k, damping, mu, tangential_stiffness=kt), kind, height=-1e-4, velocity=velocity,
                               spin=(0, spin, 0), dt=dt, compliant_law=law, floor=mc.Material(friction=mu))
            world.step(round(end / dt))
            found = (-world.velocities[1, 2], world.velocities[1, 0], r * world.angular_velocities[1, 1])
            errors.append(np.abs(found - exact[2:] * (1, 1, r)).max())
    assert max(errors[0], errors[2]) < 2e-2 and max(errors[1], errors[3]) < 3e-3, errors
