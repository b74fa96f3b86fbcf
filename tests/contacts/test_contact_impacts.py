"""Impacts of two bodies and of worlds: closed forms of Newton's and Poisson's restitution, with and without friction."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

contacts = mc.contacts
WORLDS = [mc.World, mc.ReducedWorld]
LAWS = ["newton", "poisson"]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("kind", WORLDS)
def test_a_rod_falls_onto_its_end(kind, e, law):
    """A uniform rod at an angle to the floor, falling at v without turning: without friction the impulse at its end is
    (1 + e) m v / (1 + 3 cos²); where it sticks, the end stops along the floor as well."""
    mass, half, r, angle, v = 1.5, 0.6, 0.02, 0.7, 2.0
    inertia = mass * (2 * half) ** 2 / 12
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    turn = (np.cos(np.pi / 4 - angle / 2), 0, np.sin(np.pi / 4 - angle / 2), 0)
    scene.add_body(
        "rod",
        shape=mc.Capsule(r, half),
        mass=mass,
        inertia=(inertia, inertia, 1e-4),
        position=(0, 0, r + half * np.sin(angle)),
        orientation=turn,
        velocity=(0, 0, -v),
    )
    found = contacts.equations(kind(scene), touching=1e-9)
    assert found.count == 1 and found.closing.all()
    arm = found.points[0] - np.array([0, 0, r + half * np.sin(angle)])
    smooth = found.impact(e, law=law)
    assert smooth.impulses == pytest.approx([(1 + e) * v / (1 / mass + arm[0] ** 2 / inertia)])
    assert smooth.rates == pytest.approx([e * v])
    # In the plane of the rod: A (2, 2) over (z, x) of the end, solved by hand.
    A = np.eye(2) / mass + np.array([[arm[0] ** 2, -arm[0] * arm[2]], [-arm[0] * arm[2], arm[2] ** 2]]) / inertia
    stick = found.impact(e, np.inf, law="newton")
    p = np.linalg.solve(A, [(1 + e) * v, 0.0])
    axes = contacts.contact_axes((0, 0, 1))
    assert stick.impulses @ axes == pytest.approx([p[1], 0, p[0]], rel=1e-9, abs=1e-9)
    assert stick.rates @ axes == pytest.approx([0, 0, e * v], abs=1e-9)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("order, after", [("sequential", [0, 0, 0, 1.0]), ("simultaneous", [-0.5, 0.5, 0.5, 0.5])])
def test_newtons_cradle(kind, order, after):
    """One ball of four comes in: in sequence the last goes off alone; at once they share it as one problem says."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(4):
        scene.add_body(f"ball{i}", shape=mc.Sphere(0.1), mass=0.3, position=(0.2 * i, 0, 0), velocity=(float(i == 0), 0, 0))
    world = kind(scene)
    found = contacts.equations(world)
    blow = found.impact(1.0, order=order)
    speeds = (found.v + blow.velocity_change).reshape(-1, 6)[:, 0]
    assert speeds == pytest.approx(after, abs=1e-12)
    assert blow.energy == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=amount(15, 150))
@given(seed=st.integers(0, 10**6), law=st.sampled_from(LAWS), friction=st.sampled_from([None, 0.3, np.inf]))
def test_articulations_are_struck_alike_in_both_worlds(seed, law, friction):
    """A chain that falls onto the floor by its last link: the same impulses, H change = T p (+ K' mu), K change = 0."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    count, r = int(rng.integers(1, 4)), 0.1
    for i in range(count):
        scene.add_body(
            f"ball{i}", shape=mc.Sphere(r), mass=rng.uniform(0.5, 2), position=(0.3 * i, 0, r + 0.2 * (count - 1 - i))
        )
    for i in range(1, count):
        joint = (mc.BallJoint, mc.UniversalJoint)[int(rng.integers(2))]
        axes = {} if joint is mc.BallJoint else {"axis_a": (0, 1, 0), "axis_b": (1, 0, 0)}
        place = (0.3 * i - 0.15, 0.02, r + 0.2 * (count - i) - 0.1)
        scene.add_joint(joint(f"ball{i - 1}", f"ball{i}", anchor=place, name=f"joint{i}", **axes))
    reduced = mc.ReducedWorld(scene)
    reduced.qd[...] = rng.normal(0, 1, len(reduced.qd))
    world = reduced.maximal()
    e = rng.choice([0.0, 0.5, 1.0])
    one, other = (contacts.equations(some) for some in (world, reduced))
    assert one.count == 1
    try:
        blows = [equations.impact(e, friction, law=law) for equations in (one, other)]
    except mc.SimulationError as error:  # it could stick only by pulling
        assert friction == np.inf and "infinite friction" in str(error)
        return
    assert blows[0].impulses == pytest.approx(blows[1].impulses, rel=1e-8, abs=1e-8)
    assert blows[0].rates == pytest.approx(blows[1].rates, rel=1e-8, abs=1e-8)
    assert blows[0].energy == pytest.approx(blows[1].energy, rel=1e-8, abs=1e-8)
    if one.closing[0] and law == "newton":
        assert blows[0].rates[0] == pytest.approx(-e * one.zeta[0])
    for equations, blow in zip((one, other), blows):
        columns = equations.T if friction is None else np.column_stack([equations.T, equations.tangents])
        pushed = columns @ blow.impulses + equations.K.T @ blow.joint_impulses
        assert equations.H @ blow.velocity_change == pytest.approx(pushed, abs=1e-9)
        assert equations.K @ blow.velocity_change == pytest.approx(np.zeros(len(equations.K)), abs=1e-9)


@pytest.mark.parametrize("kind", WORLDS)
def test_a_bat_that_is_driven(kind):
    """A kinematic wall that comes at 3 m/s throws a ball at rest off at (1 + e) 3 m/s: zeta is not T' v there."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("bat", shape=mc.Box((0.1, 1, 1)), kind="kinematic", velocity=(3.0, 0, 0))
    scene.add_body("ball", shape=mc.Sphere(0.2), mass=0.5, position=(0.3, 0, 0))
    found = contacts.equations(kind(scene))
    assert found.zeta == pytest.approx([-3.0]) and found.T.T @ found.v == pytest.approx([0.0])
    for friction in (None, 0.4, np.inf):
        blow = found.impact(0.5, friction)
        assert blow.velocity_change[:3] == pytest.approx([4.5, 0, 0])
        assert np.ravel(blow.rates)[0] == pytest.approx(1.5)


@settings(max_examples=amount(15, 150))
@given(seed=st.integers(0, 10**6), e=st.floats(0, 1), mu=st.sampled_from([0.0, 0.2, 5.0, np.inf]))
def test_two_bodies_are_two_free_bodies(seed, e, mu):
    """two_bodies is impact over the rows of the one contact, and the closed forms of one contact are its ends."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.5, 3, 2)
    roots = rng.normal(size=(2, 3, 3))
    inertias = roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(3)
    centers, point, velocities = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=(2, 6))
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    after, impulse = contacts.two_bodies(masses, inertias, centers, point, normal, velocities, e, mu)
    H = contacts.body_inertia(masses, inertias)
    T = contacts.contact_rows([point], [normal], [(0, 1)], centers, tangents=True)
    try:
        blow = contacts.impact(H, T, velocities.ravel(), e, mu)
    except mc.SimulationError as error:
        assert mu == np.inf and impulse @ normal < 0.0 and "infinite friction" in str(error)
        return
    assert after.ravel() - velocities.ravel() == pytest.approx(blow.velocity_change, abs=1e-8)
    assert blow.impulses @ contacts.contact_axes(normal) == pytest.approx(impulse, abs=1e-8)
    before = T.T @ velocities.ravel()
    if mu == 0.0:
        p, change = contacts.frictionless_impact(np.linalg.inv(H), T[:, 0], before[0], e)
        assert change == pytest.approx(blow.velocity_change, abs=1e-9) and p == pytest.approx(blow.impulses[0], abs=1e-9)
    elif mu == np.inf:
        p, change = contacts.sticking_impact(np.linalg.inv(H), T, before, e)
        assert change == pytest.approx(blow.velocity_change, abs=1e-8)
    momentum = [sum(m * v[:3] for m, v in zip(masses, some)) for some in (velocities, after)]
    assert momentum[0] == pytest.approx(momentum[1], abs=1e-12)


BODIES = {
    "masses": [1.0, 2.0],
    "inertias": [np.eye(3)] * 2,
    "centers": [(0, 0, -1), (0, 0, 1)],
    "point": (0, 0, 0),
    "normal": (0, 0, 1),
    "velocities": np.zeros((2, 6)),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "change, message",
    [
        ({"masses": [1.0, 0.0]}, "masses[1] is 0.0; give what is positive"),
        ({"normal": (0, 0, 0.5)}, "normal has the length 0.5; give a unit vector"),
        ({"velocities": np.zeros((2, 3))}, "velocities has the shape (2, 3); give (2, 6)"),
        ({"restitution": 1.5}, "restitution must be from 0 to 1, got 1.5"),
        ({"friction": -0.1}, "friction must be from 0 to inf, got -0.1"),
        ({"law": "hertz"}, "two_bodies: law must be one of: newton, poisson, stronge; got 'hertz'"),
        ({"inertias": [np.eye(2)] * 2}, "inertias[0] has the shape (2, 2); give (3, 3)"),
    ],
)
def test_bad_bodies(change, message):
    with pytest.raises(mc.SceneError) as refused:
        contacts.two_bodies(**(BODIES | change))
    assert message in str(refused.value)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: contacts.impact(np.eye(2), np.eye(3), [0, 0], 0.5), "T has the shape (3, 3); give (2, any)"),
        (lambda: contacts.impact(np.eye(2), np.eye(2), [0, 0], 0.5, 0.3), "with friction give three a contact"),
        (lambda: contacts.impact(np.eye(2), np.eye(2), [0, 0], [0.5]), "restitution has the shape (1,)"),
        (lambda: contacts.impact(np.eye(2), np.eye(2), [0, 0], "x"), "restitution must be a number"),
        (lambda: contacts.impact(-np.eye(2), np.eye(2), [0, 0], 0.5), "H is not positive definite"),
        (lambda: contacts.impact(np.eye(2), np.eye(2), [0, 0], 0.5, rates=[1]), "rates has the shape (1,)"),
        (lambda: contacts.impact(np.eye(2), np.eye(2), [0, 0], 0.5, K=[[1, 2, 3]]), "K has the shape (1, 3)"),
        (lambda: contacts.sticking_impact(np.eye(3), np.eye(2), [0, 0, 0]), "T has the shape (2, 2); give (3, 3)"),
        (lambda: contacts.frictionless_impact(np.eye(3), [1, 0], -1.0), "T has the shape (2,); inverse_inertia asks"),
    ],
)
def test_bad_impacts(call, message):
    with pytest.raises(mc.SceneError) as refused:
        call()
    assert message in str(refused.value)
