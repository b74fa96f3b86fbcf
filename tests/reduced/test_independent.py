"""Loops by independent coordinates: against multipliers, closed forms, and worlds in generalized coordinates."""

import numpy as np
import pytest

import mcsim as mc
from looped_scenes import bennett, looped_system, moving, parallelogram
from mcsim.reduced import Dynamics, Formulation, Independent, System
from mcsim.reduced.formulations import Split, loop_matrix
from random_trees import random_q, random_scene

PAGE = mc.scenes.published  # constants of the squeezer


def looped_dynamics(seed):
    """A random tree with one or two loops that leave it some freedom."""
    rng = np.random.default_rng(seed)
    while True:
        system = looped_system(rng, 4 + seed % 3, loops=1 + seed % 2, ball=("quaternion", "ypr")[seed % 3 == 0])
        dynamics = Dynamics(system)
        q = system.initial()[0]
        loops = loop_matrix(dynamics, q)
        split = Split.of(loops.rows, 1e-8, loops.size)
        if split.free.shape[1] and len(split.values) and split.values[-1] > 1e-2 * loops.size:
            return rng, dynamics, q


@pytest.mark.parametrize("seed", range(12))
def test_accelerations_are_those_of_the_multipliers(seed):
    """Of random trees of all joints with loops of all joints: velocities that loops allow are G times the independent ones,
    and q̈ is what [H K'; K 0] gives."""
    rng, dynamics, q = looped_dynamics(seed)
    made = Independent(dynamics)
    qd, tau = moving(rng, dynamics, q), rng.normal(size=dynamics.nv)
    forces = rng.normal(size=(len(dynamics.system.scene.bodies), 6))
    scale = 1 + np.abs(qd).max()
    assert np.allclose(made.velocities(q, qd[made.independent]), qd, rtol=0, atol=1e-9 * scale)
    expected = Formulation(dynamics, q, qd, tau, forces)
    K, k = expected.loop_K, expected.loop_k
    assert np.allclose(K @ made.G(q), 0, atol=1e-9) and np.allclose(K @ made.g(q, qd), k, atol=1e-8 * scale**2)
    qdd = expected.joint_accelerations("kkt")
    size = np.abs(qdd).max()
    assert np.allclose(made.joint_accelerations(q, qd, tau, forces), qdd, rtol=0, atol=1e-8 * size)
    assert np.allclose(made.forward_dynamics(q, qd, tau, forces), qdd[made.independent], rtol=0, atol=1e-8 * size)
    base = made.G(q)
    assert np.allclose(made.mass_matrix(q), base.T @ dynamics.mass_matrix(q) @ base)
    assert sorted([*made.independent, *made.dependent]) == list(range(dynamics.nv)) and len(made.names) == base.shape[1]


@pytest.mark.parametrize("seed", range(12))
def test_condition_is_the_sine_of_what_the_independent_ones_see_least(seed):
    """Of all motions of length 1 that loops allow, the least length of the independent part; no choice at random is ten
    times as good."""
    rng, dynamics, q = looped_dynamics(seed)
    made = Independent(dynamics)
    loops = loop_matrix(dynamics, q)
    free = Split.of(loops.rows, 1e-8, loops.size).free
    least = np.linalg.svd(free[made.independent], compute_uv=False)[-1]
    assert np.isclose(made.condition(q), least, rtol=1e-6)
    others = [rng.permutation(dynamics.nv)[: free.shape[1]] for _ in range(200)]
    assert least > 0.1 * max(np.linalg.svd(free[other], compute_uv=False)[-1] for other in others)


@pytest.mark.parametrize("seed", range(12))
def test_loops_are_closed_by_the_dependent_coordinates(seed):
    """From a place nearby, to rounding; independent coordinates stay, but for parts of quaternions and planar joints."""
    rng, dynamics, q = looped_dynamics(seed)
    made = Independent(dynamics)
    start = q + 1e-3 * rng.normal(size=q.shape)
    closed = made.closed(start)
    assert max(np.abs(part.error).max() for part in loop_matrix(dynamics, closed).parts) < 1e-12
    assert np.abs(closed - start).max() < 0.3
    for link in dynamics.system.links:
        plain = link.q.stop - link.q.start == link.v.stop - link.v.start and link.kind != "planar"
        for i in range(link.v.stop - link.v.start):
            if plain and link.v.start + i in made.independent:
                assert closed[link.q.start + i] == start[link.q.start + i]


def test_a_four_bar_closes_as_the_law_of_cosines_says():
    """By whichever coordinate, all the way round; and its condition is that of one number among three."""
    system = System(mc.load("four_bar", driven=False))
    made, q = Independent(system, least=0.65), system.initial()[0]
    lengths = 1.1, 0.4, 1.2, 0.9
    for crank in np.linspace(1.0, 1.0 + 2 * np.pi, 25):
        for _ in range(9):  # whichever is independent goes on until the crank is there
            made.rechoose(q)
            rate = made.G(q)[0, 0]
            q = q.copy()
            q[made.independent] += np.clip((crank - 1.0 - q[0]) / rate, -0.2, 0.2)
            q = made.closed(q)
        x, z = lengths[0] - lengths[1] * np.cos(crank), -lengths[1] * np.sin(crank)
        distance = np.hypot(x, z)
        opening = np.arccos((lengths[2] ** 2 + distance**2 - lengths[3] ** 2) / (2 * lengths[2] * distance))
        lean = np.arctan2(z, x) + opening
        assert np.isclose(q[0], crank - 1.0, rtol=0, atol=1e-9)
        if crank == 1.0:
            start = lean
        assert np.isclose(q[1], (lean - start) - q[0], rtol=0, atol=1e-9)
    assert made.choices > 2


def run(made, q, qd, h, steps, **forces):
    q = made.closed(q)
    qd = made.velocities(q, qd[made.independent])
    for _ in range(steps):
        q, qd = made.step(q, qd, h, **forces)
    return q, qd


@pytest.mark.parametrize("least", [0.0, 0.6])
def test_a_four_bar_through_a_whole_turn(least):
    """To the fourth order it goes as the reference does, with one choice and with several; energy likewise."""
    scene = mc.load("four_bar", driven=False)
    world = mc.ReducedWorld(scene, dt=0.02, integrator="reference")
    world.step(80)
    assert world.q[0] > 2 * np.pi
    errors, drifts = [], []
    for h in (0.04, 0.02):
        made = Independent(System(scene), least=least)
        start = made.system.initial()
        q, qd = run(made, *start, h, round(1.6 / h))
        errors.append(max(np.abs(q - world.q).max(), 0.1 * np.abs(qd - world.qd).max()))
        drifts.append(abs(sum(made.dynamics.energy(q, qd)) - sum(made.dynamics.energy(*start))))
        assert (made.choices > 1) == (least > 0)
    assert errors[1] < 1e-2 and errors[1] < errors[0] / 12 and drifts[1] < drifts[0] / 12


def test_a_four_bar_beside_runge_kutta_with_multipliers():
    """ReducedWorld(integrator="rk4") has the loop's multipliers at each stage: the two differ by what their steps leave."""
    scene = mc.load("four_bar", driven=False)
    world = mc.ReducedWorld(scene, dt=0.005, integrator="rk4")
    world.step(80)
    made = Independent(System(scene), least=0.7)
    q, qd = run(made, *made.system.initial(), 0.005, 80)
    assert np.allclose(q, world.q, rtol=0, atol=1e-6) and np.allclose(qd, world.qd, rtol=0, atol=1e-5)


def squeezer_forces(system):
    """The spring's force on K3 as a function of the state, and the torque on the crank, by the data of the book."""
    dynamics = Dynamics(system)
    number = [body.name for body in system.scene.bodies].index("K3")
    spring = system.scene.joint("spring")
    hook = np.array(spring.frame_b[0] if spring.b == "K3" else spring.frame_a[0])
    tau = np.zeros(system.nv)
    tau[system.index("beta")[1]] = 0.033

    def forces(q, qd):
        x, orientation = dynamics.poses(q)
        arm = mc.rotation.rotate(orientation[number], hook)
        way = np.array([0.014, 0.0, 0.072]) - x[number] - arm
        length = np.linalg.norm(way)
        pull = 4530.0 * (length - 0.07785) * way / length
        out = np.zeros((len(system.scene.bodies), 6))
        out[number] = [*pull, *np.cross(arm, pull)]
        return out

    return {"tau": tau, "forces": forces}


def test_the_squeezer_where_its_crank_stops_to_be_the_best():
    """Three loops, from 9 to 10 ms: on the way the crank's pin comes to move more than the crank, and is taken in its
    place; the motion is that by multipliers."""
    scene = mc.load("squeezer")
    system = System(scene)
    world = mc.ReducedWorld(scene, dt=1e-3, integrator="reference")
    world.step(9)
    made = Independent(system, world.q, least=0.65)
    before = made.names
    forces = squeezer_forces(system)
    state = Formulation(system, world.q, world.qd, forces["tau"], forces["forces"](world.q, world.qd))
    qdd = state.joint_accelerations("kkt")
    found = made.joint_accelerations(world.q, world.qd, forces["tau"], forces["forces"](world.q, world.qd))
    assert np.allclose(found, qdd, rtol=1e-9, atol=1e-9 * np.abs(qdd).max())
    q, qd = run(made, world.q.copy(), world.qd.copy(), 5e-5, 20, **forces)
    rk4 = mc.ReducedWorld(scene, dt=5e-5, integrator="rk4")
    rk4.q[...], rk4.qd[...] = world.q, world.qd
    rk4.step(20)
    assert before == ("beta[0]",) and made.names == ("pin[0]",) and made.choices == 2
    assert np.allclose(q, rk4.q, rtol=0, atol=1e-5) and np.allclose(qd, rk4.qd, rtol=1e-4, atol=0.1)


@pytest.mark.slow
def test_the_squeezer_comes_to_the_published_angle():
    """After 0.03 s, from rest: 15.81077111… in Hairer and Wanner's book."""
    system = System(mc.load("squeezer"))
    made = Independent(system, least=0.65)
    q, _ = run(made, *system.initial(), 5e-5, 600, **squeezer_forces(system))
    assert made.choices > 4
    assert q[0] + PAGE.SQUEEZER_START == pytest.approx(15.8107711, abs=1e-3)


def long_stroke():
    """A slider-crank of some metres, whose piston is in the tree and its wrist cut. -> scene, system"""
    scene = mc.load("slider_crank", driven=False, crank=5.0, rod=15.0, angle=0.5, speed=-6.0)
    return scene, System(scene, tree=["drive", "pin", "cylinder"])


def test_a_piston_whose_way_comes_to_its_end():
    """Of a large slider-crank the piston's way is chosen, for it makes more metres than the crank makes radians; at the
    dead centre, where it stands still, the crank is taken. Without that the step there fails, and says what to do."""
    scene, system = long_stroke()
    made, state, seen = Independent(system), system.initial(), []
    for _ in range(30):
        seen += made.names
        state = run(made, *state, 0.005, 1)
    q, crank_or_pin = state[0], {"drive[0]", "pin[0]"}
    assert seen[0] == seen[-1] == "cylinder[0]" and crank_or_pin & set(seen) and made.choices == 3
    world = mc.ReducedWorld(scene, dt=0.005, integrator="reference")
    world.step(30)
    assert q[0] < -0.5 and np.isclose(q[0], world.joint("drive").position, rtol=0, atol=1e-4)
    stubborn = Independent(system, least=0.0)
    with pytest.raises(mc.SimulationError, match="does not close the loop of joint 'wrist'|do not make the other"):
        run(stubborn, *system.initial(), 0.005, 30)


@pytest.mark.parametrize("scene", [parallelogram(), bennett()], ids=["parallelogram", "bennett"])
def test_overconstrained_loops(scene):
    """Redundant rows are left out, also while the loop is a little open and they say what others do not."""
    system = System(scene)
    made, rng = Independent(system), np.random.default_rng(0)
    q = system.initial()[0]
    assert len(made.independent) == 1 == len(Independent(system, q + 1e-4).independent)
    qd, tau = moving(rng, made.dynamics, q), rng.normal(size=system.nv)
    expected = Formulation(system, q, qd, tau).joint_accelerations("kkt")
    assert np.allclose(made.joint_accelerations(q, qd, tau), expected, rtol=1e-8)
    q, qd = run(made, q + 1e-4, qd, 0.01, 10)
    assert max(np.abs(part.error).max() for part in loop_matrix(made.dynamics, q).parts) < 1e-11


def test_a_tree_without_loops_is_free_in_all():
    """G is 1, g is 0, and nothing is chosen anew."""
    system = System(random_scene(np.random.default_rng(2), 4))
    made, rng = Independent(system), np.random.default_rng(3)
    q, qd, tau = random_q(rng, system), rng.normal(size=system.nv), rng.normal(size=system.nv)
    assert (made.G(q) == np.eye(system.nv)).all() and not made.g(q, qd).any() and made.condition(q) == 1.0
    assert np.allclose(made.forward_dynamics(q, qd, tau), Dynamics(system).forward_dynamics(q, qd, tau))
    assert not made.rechoose(q) and made.choices == 1
    after, speed = made.step(q, qd, 1e-3, tau)
    assert np.allclose(speed - qd, 1e-3 * made.forward_dynamics(q, qd, tau), atol=1e-2) and np.isfinite(after).all()


def test_bad_input_is_named():
    """Open loops, velocities that break them, wrong shapes; what is given; singular places."""
    system = System(mc.load("four_bar", driven=False))
    made = Independent(system)
    q, qd = system.initial()
    assert "pin[0] of 3 velocities, choice 1" in repr(made)
    assert "… (39 in all) of 39 velocities" in repr(Independent(System(mc.load("ragdolls", count=1))))
    kinematic = mc.Scene()
    kinematic.add_body("cart", shape=mc.Box((0.1, 0.1, 0.1)), kind="kinematic")
    flat = System(parallelogram(angle=0.0))
    cases = [
        (lambda: made.G(q + 0.1), r"q leaves the loop of joint 'pivot' open by .* closed\(q\) closes it"),
        (
            lambda: made.g(q, [1.0, 1.0, 1.0]),
            r"qd breaks the loop of joint 'pivot' at .*velocities\(q, qd\[independent\]\)",
        ),
        (lambda: made.velocities(q, [1.0, 2.0]), r"yd must be \(1,\), got \(2,\)"),
        (lambda: made.closed(q[:2]), r"q must be \(3,\)"),
        (lambda: Independent(system, least=2.0), r"least must be in \[0, 1\]"),
        (lambda: made.step(q, qd, "soon"), "h must be a number"),
        (lambda: Independent(System(kinematic)), "body 'cart' is kinematic"),
        (lambda: Independent("four_bar"), "the first argument must be a System"),
    ]
    for call, message in cases:
        with pytest.raises(mc.SceneError, match=message):
            call()
    raised = Independent(System(parallelogram()))
    with pytest.raises(mc.SimulationError, match="rank below .* the place is singular"):
        raised.condition(flat.initial()[0] + [0.7, -0.7, 0.7])
    out_of_reach = long_stroke()[1]
    with pytest.raises(mc.SimulationError, match="Newton's method does not close the loop of joint 'wrist'.*shorter step"):
        Independent(out_of_reach).closed(out_of_reach.initial()[0] + [0.0, 0.0, 100.0])
