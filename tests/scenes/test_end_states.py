"""What becomes of the livelier scenes: where bodies end, how fast they were, and what physics says of it."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, chisquare

import mcsim as mc
from mcsim.core.rotation import conjugate, rotate

G = 9.81


def indices(world, start):
    """Of the bodies whose names start so."""
    return np.array([k for k, name in enumerate(world.body_names) if name.startswith(start)])


def tilts(world, bodies):
    """Angles between the bodies' z and the vertical [rad]."""
    x, y = world.orientations[bodies, 1], world.orientations[bodies, 2]
    return np.arccos(np.clip(1 - 2 * (x * x + y * y), -1, 1))


# ---- dominoes --------------------------------------------------------------------------------------------------------


def falling_times(world, seconds):
    """When each domino was first leant by 0.4 rad, more than its balance of 0.12 allows; inf: never."""
    pieces = indices(world, "domino")
    times = np.full(len(pieces), np.inf)
    for _ in range(round(seconds / world.dt)):
        world.step()
        times[(tilts(world, pieces) > 0.4) & np.isinf(times)] = world.time
        if np.isfinite(times).all():
            break
    return times


def wave_speed(world, seconds, first):
    """[m/s] From the piece `first` on; and that they fell in order."""
    times = falling_times(world, seconds)
    assert np.isfinite(times).all(), "some stand"
    assert (np.diff(times) >= 0).all(), "out of order"
    places = np.array([body.position for body in world.scene.bodies[1:]])
    way = np.linalg.norm(np.diff(places[first:], axis=0), axis=1).sum()
    return way / (times[-1] - times[first])


def test_all_of_the_spiral_falls_in_order():
    """One after the other, at the order of sqrt(g h), and they lie as shingles do."""
    world = mc.World(mc.scenes.domino_spiral(count=100, height=0.8, spacing=0.5))
    speed = wave_speed(world, 20.0, 15)
    assert 0.7 < speed / math.sqrt(G * 0.8) < 3.0
    world.step(120)
    pieces = indices(world, "domino")
    shingles = math.acos(0.12 / 0.5)  # thickness = spacing times the cosine of the tilt
    assert tilts(world, pieces)[10:-10] == pytest.approx(shingles, abs=0.05)
    assert tilts(world, pieces)[-1] == pytest.approx(math.pi / 2, abs=0.02), "nothing is behind the last one"


@pytest.mark.parametrize("spacing", [0.35, 0.6])
def test_all_dominoes_of_a_bend_fall(spacing):
    """Froude's law: pieces four times as high fall in twice the time, so the wave is twice as fast."""
    small, large = (
        wave_speed(mc.World(mc.scenes.dominoes(height=height, spacing=spacing), dt=dt), 20.0, 10)
        for height, dt in ((0.2, 1 / 240), (0.8, 1 / 120))
    )
    assert large / small == pytest.approx(2.0, rel=0.05)


# ---- the wrecking ball -----------------------------------------------------------------------------------------------


def test_wrecking_ball_breaks_the_wall():
    """It arrives as a rigid pendulum does, loses energy in the wall, and passes; the wall falls away from it."""
    scene = mc.scenes.wrecking_ball(height=8)
    world = mc.World(scene)
    ball, bricks, swinging = (
        indices(world, "ball")[0],
        indices(world, "brick"),
        [*indices(world, "link"), indices(world, "ball")[0]],
    )
    hook = np.array([0, 0, 8 * 0.6 + 0.5 + 0.5 + 0.3])
    start, placed, energy = world.energy().total, world.positions.copy(), []
    arms = placed[swinging] - hook
    masses = world.masses[swinging]
    moments = [b.inertia[0, 0] for b in (scene.body(world.body_names[k]) for k in swinging)]
    inertia = (masses * (arms**2).sum(axis=1) + moments).sum()
    speed, centre = 0.0, placed[ball]
    while np.abs(world.positions[bricks] - placed[bricks]).max() < 1e-3:
        centre, speed = world.positions[ball].copy(), np.linalg.norm(world.velocities[ball])
        energy.append(world.energy().total)
        world.step()
        assert world.time < 3.0, "it meets nothing"
    assert np.abs(np.array(energy) - start).max() < 1e-3 * start
    # 1/2 I w^2 = the fall of the centre of mass of a straight chain, from `angle` to where the ball was.
    drop = (hook - centre)[2] / np.linalg.norm(hook - centre) - math.cos(1.1)
    rate = math.sqrt(2 * G * drop * (masses * np.linalg.norm(arms, axis=1)).sum() / inertia)
    assert speed == pytest.approx(rate * np.linalg.norm(arms[-1]), rel=0.02)

    passed = -np.inf
    for _ in range(5 * 60):
        world.step()
        energy.append(world.energy().total)
        passed = max(passed, world.positions[ball, 0])
    assert max(energy[-150:]) < energy[0] and np.diff(energy).max() < 2e-3 * start, "no energy comes from the wreck"
    assert passed > 2.0, "it does not come through"
    moved = world.positions[bricks] - placed[bricks]
    before_it = np.abs(placed[bricks] - (placed[bricks][0, 0], 0, 0.8)).max(axis=1) < 0.5
    assert before_it.sum() >= 4 and (moved[before_it, 0] > 1.0).all(), "what it met lies behind the wall"
    assert moved[:, 0].mean() > 0.3 and world.positions[bricks, 2].min() > 0.06
    assert world.joint_errors().max() < 1e-5


def test_most_wrecks_gain_no_energy():
    """In one of five wrecks that differ in their last digits alone bricks that are wedged spring apart in some step, by up
    to 1e-3 of the energy at the start; in the middle one of nine no step gains more than 1e-6 of it."""
    rises = []
    for height in (6, 8, 10):
        for k in range(3):
            scene = mc.scenes.wrecking_ball(height=height)
            scene.gravity = (0, 0, -G * (1 + 1e-7 * k))
            world = mc.World(scene)
            energy = [world.energy().total]
            for _ in range(400):
                world.step()
                energy.append(world.energy().total)
            rises.append(np.diff(energy).max() / energy[0])
    assert np.median(rises) < 1e-6 and max(rises) < 2e-3


# ---- the tumbler -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [{}, pytest.param({"count": 300, "radius": 3.0, "depth": 2.0}, marks=pytest.mark.slow)],
    ids=["small", "large"],
)
def test_tumbler_carries_them_up(parameters):
    """On average the torque of the walls is that of the weight, which lies on the side that rises; nobody gets out."""
    world = mc.World(mc.scenes.tumbler(**parameters), sleep=False)
    radius, depth = parameters.get("radius", 2.0), parameters.get("depth", 1.6)
    axle = world.positions[indices(world, "drum")[0]]
    bodies = indices(world, "body")
    masses = world.masses[bodies]
    world.step(3 * 60)  # until it tumbles evenly
    torques, offsets = [], []
    for _ in range(6 * 60):
        world.step()
        contacts = world.contacts
        met = contacts[~np.isin(contacts["body_a"], bodies)]  # by drum or planes
        force = (met["normal_impulse"][:, None] * met["normal"] + met["tangent_impulse"]) / world.dt
        torques.append(np.cross(met["position"] - axle, force)[:, 1].sum())
        offsets.append(masses @ world.positions[bodies, 0] / masses.sum())
    offset = np.mean(offsets)
    # It turns from z to x, so the lowest wall moves to -x; the bodies' middle stays within the drum.
    assert -radius < offset < -0.1 * radius
    assert np.mean(torques) == pytest.approx(-G * masses.sum() * offset, rel=0.05)
    away = world.positions[bodies] - axle
    corner = radius / math.cos(math.pi / 8)
    assert np.hypot(away[:, 0], away[:, 2]).max() < corner and np.abs(away[:, 1]).max() < depth / 2


# ---- the rope bridge -------------------------------------------------------------------------------------------------


def balanced(lengths, weights, loads, span):
    """Slopes of a chain of links between two points `span` apart at one height, at the least potential energy, by SciPy.

    loads: (link, weight, its place in the link's frame from the link's middle: along, above).
    """

    def heights(slopes):
        ends = np.concatenate([[0.0], np.cumsum(lengths * np.sin(slopes))])
        return (ends[1:] + ends[:-1]) / 2

    def energy(slopes):
        middles = heights(slopes)
        return weights @ middles + sum(
            load * (middles[k] + along * math.sin(slopes[k]) + above * math.cos(slopes[k]))
            for k, load, along, above in loads
        )

    closed = {"type": "eq", "fun": lambda s: (lengths @ np.cos(s) - span, lengths @ np.sin(s))}
    start = np.linspace(-0.5, 0.5, len(lengths))
    scale = weights.sum()
    found = minimize(
        lambda s: energy(s) / scale, start, constraints=closed, method="SLSQP", options={"ftol": 1e-13, "maxiter": 500}
    )
    assert found.success, found.message
    return found.x


@pytest.mark.parametrize("crates", [0, 3])
def test_rope_bridge_hangs_as_statics_has_it(crates):
    """Planks and ropes take the slopes of least potential energy under the crates, and their ends bear the weight."""
    n = 9
    world = mc.World(mc.scenes.rope_bridge(planks=n, crates=crates, damping=3.0))
    world.step(60 if crates == 0 else 5 * 60)
    bodies = {name: world.body(name) for name in world.body_names}
    links = [bodies[f"left_rope{k // 2}" if k % 2 == 0 else f"plank{k // 2}"] for k in range(2 * n + 1)]
    weights = np.array([G * body.mass * (2 if k % 2 == 0 else 1) for k, body in enumerate(links)])
    axes = [rotate(body.orientation, np.array([0, 0, 1.0] if k % 2 == 0 else [1.0, 0, 0])) for k, body in enumerate(links)]
    slopes = np.array([math.atan2(axis[2], axis[0]) for axis in axes])

    loads = []
    for k in range(crates):
        number = bodies[f"crate{k}"].index
        touching = [c for c in world.contacts if number in (c["body_a"], c["body_b"])]
        (under,) = {int(c["body_a"] + c["body_b"] - number) for c in touching}
        plank = bodies[world.body_names[under]]
        away = rotate(conjugate(plank.orientation), bodies[f"crate{k}"].position - plank.position)
        loads.append((2 * int(plank.name[5:]) + 1, G * bodies[f"crate{k}"].mass, away[0], away[2]))
    assert len({k for k, *_ in loads}) == crates

    east, west = bodies["east_bank"].position[0], bodies["west_bank"].position[0]
    expected = balanced(np.array([0.2, 0.5] * n + [0.2]), weights, loads, east - west - 2 * 1.02)
    assert slopes == pytest.approx(expected, abs=2e-3)

    knots = [world.joint(f"{side}_knot{k}").force for k in (0, 2 * n + 1) for side in ("left", "right")]
    west_end, east_end = knots[0] + knots[1], -(knots[2] + knots[3])  # of the banks on the bridge
    assert (west_end + east_end)[2] == pytest.approx(weights.sum() + sum(load[1] for load in loads), rel=5e-3)
    pull = -west_end[0]
    assert pull == pytest.approx((west_end[2] - weights[0] / 2) / math.tan(-expected[0]), rel=0.01)
    assert world.joint_errors().max() < 1e-6


# ---- people on stairs ------------------------------------------------------------------------------------------------


def test_ragdolls_tumble_down_the_stairs():
    """All leave the landing and lie still, a metre lower at least, on the stairs; the energy of the whole only falls."""
    scene = mc.scenes.ragdoll_stairs(count=3)
    world = mc.World(scene)
    energy = [world.energy().total]
    for _ in range(8 * 60):
        world.step()
        energy.append(world.energy().total)
    assert np.diff(energy).max() < 1e-5 * energy[0]
    assert world.energy().kinetic < 1.0 and np.abs(world.velocities).max() < 0.05
    segments = indices(world, "human")
    hips = [k for k in segments if world.body_names[k].endswith("lower_trunk")]
    assert (world.positions[hips, 2] < 14 * 0.25 - 1.0).all()
    steps = np.ceil(-world.positions[segments, 0] / 0.3).clip(0, 14)
    assert (world.positions[segments, 2] > 0.25 * steps).all(), "someone fell through"
    assert world.joint_errors().max() < 1e-4
    for joint in scene.joints:
        if joint.type == "hinge":
            axis = joint.axes[0]
            assert axis.lower - 0.05 < world.joint(joint.name).angle < axis.upper + 0.05


# ---- the marble run --------------------------------------------------------------------------------------------------


def test_marbles_run_into_the_tray_one_after_the_other():
    """On the straight they roll with 5/7 g sin(slope), none overtakes, none arrives faster than its height gives, and all
    come to rest on the floor within the tray."""
    scene = mc.scenes.marble_run(count=6)
    world = mc.World(scene, dt=1 / 120)
    marbles, radius, slope = indices(world, "marble"), 0.05, math.atan(0.1)
    start = world.positions[marbles].copy()
    energy = [world.energy().total]
    tray = np.array([wall.position[0] for wall in scene.body("tray").shapes[:2]])  # far, near
    arrivals, speeds = np.full(len(marbles), np.inf), np.zeros(len(marbles))
    for step in range(1, 9 * 120 + 1):
        world.step()
        energy.append(world.energy().total)
        if step == 60:  # the last one has not met the turns
            along = (world.positions[marbles] - start)[-1] @ (math.cos(slope), 0, -math.sin(slope))
            assert along == pytest.approx(5 / 7 * G * math.sin(slope) / 2 * world.time**2, rel=0.03)
        here = np.isinf(arrivals) & (world.positions[marbles, 0] > tray[1]) & (world.positions[marbles, 2] < 0.4)
        arrivals[here] = world.time
        fastest = np.linalg.norm(world.velocities[marbles], axis=1)
        speeds[np.isinf(arrivals)] = fastest[np.isinf(arrivals)]
    assert np.isfinite(arrivals).all() and (np.diff(arrivals) > 0).all()
    fallen = start[:, 2] - 5 * radius
    assert (speeds**2 < 10 / 7 * G * fallen).all() and (speeds**2 > 0.3 * 10 / 7 * G * fallen).all()
    assert max(np.diff(energy)) < 1e-3 * energy[0]
    end = world.positions[marbles]
    assert end[:, 2] == pytest.approx(radius, abs=2e-3)
    assert ((tray[1] < end[:, 0]) & (end[:, 0] < tray[0])).all() and np.abs(world.velocities[marbles]).max() < 0.05


# ---- the Galton board ------------------------------------------------------------------------------------------------

LEVEL = 1e-3  # of the chi-square test: so rarely would a true binomial fail


def filled(rows, **parameters):
    """How many balls each bin has, the bins numbered by rows that went to the right; those of another kind are refused."""
    world = mc.World(mc.scenes.galton_board(rows=rows, **parameters))
    balls, pitch = indices(world, "ball"), 0.4
    while world.velocities[balls].any() or world.time < 1.0:
        world.step(30)
        assert world.time < 60.0, "some hang"
    ways = world.positions[balls, 0] / pitch + rows / 2
    numbers = np.round(ways).astype(int)
    assert np.abs(ways - numbers).max() < 0.5 - 0.04 and (world.positions[balls, 2] < 0.12 * 40).all()
    assert numbers.min() >= 0 and numbers.max() <= rows
    return np.bincount(numbers, minlength=rows + 1)


def chances(counts):
    """p of the chi-square test against the binomial, whose rare bins at either end count as one."""
    rows = len(counts) - 1
    expected = counts.sum() * binom.pmf(np.arange(rows + 1), rows, 0.5)
    rare = max(int(np.searchsorted(np.cumsum(expected), 5.0)), 1)
    pooled = [np.array([v[: rare + 1].sum(), *v[rare + 1 : -rare - 1], v[-rare - 1 :].sum()]) for v in (counts, expected)]
    return chisquare(*pooled).pvalue


@pytest.mark.parametrize("rows, lanes", [(8, 8), pytest.param(7, 10, marks=pytest.mark.slow)])
def test_galton_board_fills_as_the_binomial_has_it(rows, lanes):
    """At a level of one in a thousand; even bins, and those of rows at rest, would not pass."""
    counts = filled(rows, lanes=lanes)
    assert counts.sum() == 200
    assert chances(counts) > LEVEL, counts
    assert chances(np.full(rows + 1, 200 // (rows + 1))) < LEVEL


@pytest.mark.slow
def test_galton_board_at_rest_is_not_binomial():
    """Without the swing a ball keeps its way, or turns back, from pin to pin: the test would see it."""
    assert chances(filled(8, swing=0.0)) < LEVEL


# ---- wheels ----------------------------------------------------------------------------------------------------------


def test_gears_turn_by_their_teeth():
    """At every moment within the play of the teeth; and the motor gives what the brake takes, and little more."""
    first, second, third = 18, 24, 20
    world = mc.World(
        mc.scenes.gear_train(first=first, second=second, third=third, speed=4.0, load=40.0), dt=1 / 240, substeps=1
    )
    axles = [world.joint(f"{name}_axle") for name in ("first", "second", "third")]
    torques = []
    for _ in range(4 * 240):
        world.step()
        a, b, c = (axle.angle for axle in axles)
        # Half the play of 0.08 modules to each side, as an angle, and as much for chords and blows: twice for the third.
        assert b == pytest.approx(-first / second * a, abs=2 * 0.08 / second)
        assert c == pytest.approx(first / third * a, abs=2 * 2 * 0.08 / third)
        torques.append(axles[0].motor_force)
    assert axles[0].angle * first / (2 * math.pi) > 45, "so many teeth have met"
    needed = 40.0 * first / third
    assert needed < np.mean(torques[240:]) < 1.4 * needed


@pytest.mark.parametrize("torque", [0.25, 0.5])
def test_escapement_lets_a_tooth_pass_at_each_swing(torque):
    """Half a tooth in each direction, with a swing that lasts, for any torque; and at about the pendulum's own period,
    which the pushes change by a few parts in a hundred."""
    scene = mc.scenes.escapement(torque=torque)
    world = mc.World(scene)
    body = scene.body("pendulum")
    arm = body.center_of_mass[[0, 2]]
    inertia, hung = body.inertia[1, 1] + body.mass * arm @ arm, math.atan2(arm[0], -arm[1])
    pivot, arbor = world.joint("pivot"), world.joint("arbor")
    ends, before = [], 0.0
    for _ in range(16 * 60):
        world.step()
        if pivot.velocity * before < 0:
            ends.append((world.time, 0.1 + hung + pivot.angle, arbor.angle * 12 / (2 * math.pi)))
        before = pivot.velocity
    times, angles, passed = np.array(ends).T
    assert len(ends) >= 14 and np.diff(passed) == pytest.approx(-0.5, abs=0.03)
    swing = np.abs(angles[-4:]).mean()
    assert 0.045 + 0.02 < swing < 0.3, "less than lift and lock would stop the clock"
    assert np.abs(angles[-6:-4]).mean() == pytest.approx(swing, rel=0.02)
    own = 2 * math.pi * math.sqrt(inertia / (body.mass * G * np.linalg.norm(arm))) * (1 + swing**2 / 16)
    assert (times[-1] - times[1]) / (len(times) - 2) * 2 == pytest.approx(own, rel=0.04)


def test_escapement_stops_without_a_drive():
    """What hardly pushes does not make up for the air: the wheel stands in the end, and no tooth passes any more."""
    world = mc.World(mc.scenes.escapement(torque=0.01, damping=1.0))
    world.step(20 * 60)
    rested = world.joint("arbor").angle
    world.step(5 * 60)
    assert world.joint("arbor").angle == pytest.approx(rested, abs=1e-3)
