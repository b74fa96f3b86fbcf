"""A joint's spring moves what hangs on the bodies that it is between, and is as fast or slow as that is (docs/theory,
constraints/_axis_rows.pxd). Its two bodies' own masses were asked, so a spring at a massless carriage was taken for a fast
one, and damped the heavy thing on the carriage: by all its energy in some periods."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from constraint_scenes import add_random_body, answers

WORLDS = {"world": mc.World, "reduced": mc.ReducedWorld}


def oscillator(guide, light, stiffness, *, depth=1, damping=0.0, drive="spring", length=1.0, mass=1.0):
    """A thing of `mass` on the last of `depth` carriages of `light` times its mass, which a spring holds along x. All set
    off along it by one `length` a second."""
    scene = mc.Scene(gravity=(0, 0, 0))
    if drive == "spring":
        along = {"spring": mc.Spring(stiffness, damping)}
    else:
        along = {"motor": mc.Motor(position=0.0, kp=stiffness, kd=damping)}
    inertia = (light * mass * length * length,) * 3
    holder = None
    for k in range(depth):
        name = f"carriage{k}"
        scene.add_body(name, mass=light * mass, inertia=inertia, velocity=(length, 0, 0))
        if k:
            scene.add_joint(mc.FixedJoint(holder, name, (0, 0, 0)))
        elif guide == "slider":
            scene.add_joint(mc.SliderJoint(None, name, (1, 0, 0), (0, 0, 0), **along))
        elif guide == "planar":
            scene.add_joint(
                mc.PlanarJoint(None, name, (0, 0, 0), (0, 0, 1), **{n: [s] * 2 + [None] for n, s in along.items()})
            )
        holder = name
    scene.add_body("thing", mass=mass, inertia=(0.1 * mass * length * length,) * 3, velocity=(length, 0, 0))
    scene.add_joint(mc.HingeJoint(holder, "thing", (0, 0, 0), (0, 1, 0)))
    return scene


def energy(world, stiffness):
    return 0.5 * stiffness * world.positions[-1, 0] ** 2 + 0.5 * world.masses[-1] * world.velocities[-1, 0] ** 2


@settings(deadline=None, max_examples=amount(8, 60))
@given(
    kind=st.sampled_from(sorted(WORLDS)),
    guide=st.sampled_from(("slider", "planar")),
    drive=st.sampled_from(("spring", "motor")),
    light=st.floats(-6, -2),
    turn=st.floats(0.02, 0.2),
    depth=st.integers(1, 3),
    length=st.floats(-2, 2),
    mass=st.floats(-2, 2),
)
def test_springs_at_massless_carriages_do_not_damp(kind, guide, drive, light, turn, depth, length, mass):
    """turn: what the oscillation turns by within a substep [rad]. Over 200 of them the energy is that of the start but for
    its square, in any unit."""
    length, mass = 10.0**length, 10.0**mass
    h = 1.0 / 240.0
    stiffness = (turn / h) ** 2 * mass
    scene = oscillator(guide, 10.0**light, stiffness, depth=depth, drive=drive, length=length, mass=mass)
    world = WORLDS[kind](scene, dt=4 * h, substeps=4, sleep=False)
    before = energy(world, stiffness)
    lost = []
    for _ in range(50):
        world.step()
        lost.append(1.0 - energy(world, stiffness) / before)
    assert np.abs(lost).max() < turn * turn + 5.0 * depth * 10.0**light


@pytest.mark.parametrize("kind", sorted(WORLDS))
@pytest.mark.parametrize("part", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("light", [1e-5, 1e-3, 1e-1])
def test_dampers_at_massless_carriages_damp_as_they_say(kind, part, light):
    """x(t) = exp(-d w t) (cos s t + d w / s sin s t), s = w sqrt(1 - d^2): d the part of the critical damping."""
    mass, w = 2.0, 20.0
    whole = mass * (1.0 + light)
    scene = oscillator("slider", light, whole * w * w, damping=2.0 * part * w * whole, mass=mass)
    world = WORLDS[kind](scene, dt=1 / 960, substeps=4, sleep=False)
    s = w * np.sqrt(1.0 - part * part)
    off = []
    for _ in range(480):
        world.step()
        off.append(world.positions[-1, 0] - np.exp(-part * w * world.time) * np.sin(s * world.time) / s)
    assert np.abs(off).max() < 1e-4 / w


@pytest.mark.parametrize("kind", sorted(WORLDS))
def test_a_rotor_on_a_light_carriage_whirls_as_far_as_in_theory(kind):
    """Jeffcott's (Laval's) rotor at its critical speed: r = m e w^2 / (c w) = 25 mm. It was 24.39 mm, and 23.81 mm."""
    m, k, c, e, w = 2.0, 800.0, 8.0, 0.005, 20.0
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("carriage", mass=1e-3, inertia=(1e-3,) * 3)
    scene.add_body("disc", shape=mc.Cylinder(0.2, 0.01), mass=m, position=(e, 0, 0))
    springs = [mc.Spring(k, c)] * 2 + [mc.Spring(1e3, 10)]
    scene.add_joint(mc.PlanarJoint(None, "carriage", (0, 0, 0), (0, 0, 1), spring=springs))
    scene.add_joint(mc.HingeJoint("carriage", "disc", (0, 0, 0), (0, 0, 1), motor=mc.Motor(velocity=w)))
    world = WORLDS[kind](scene, dt=1 / 1000)
    world.set_velocity("disc", (0, e * w, 0), (0, 0, w))
    world.step(5500)
    assert np.linalg.norm(world.positions[0]) == pytest.approx(
        m * e * w * w / np.hypot(k - (m + 1e-3) * w * w, c * w), rel=1e-4
    )


def dense_answers(world):
    """J P J' of the rows of springs, P by the dense matrices of the rows, and the coordinates that they are of."""
    rows, J = world.rows, world.jacobian().toarray()
    P = answers(world, J[rows["kind"] == "joint"])
    return {int(rows["source"][i]): J[i] @ P @ J[i] for i in np.flatnonzero(rows["kind"] == "spring")}


@settings(max_examples=amount(10, 40), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 8), free=st.booleans(), rods=st.integers(0, 2))
def test_what_springs_move_is_that_of_dense_matrices(seed, bodies, free, rods):
    """Of trees' joints; of springs beside them, between two bodies that joints hold to each other, no less."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    stiff = mc.Spring(1e24)
    for i in range(bodies):
        add_random_body(scene, f"b{i}", rng)
        ends = [f"b{rng.integers(0, i)}" if i else None, f"b{i}"]
        if i and rng.random() < 0.5:
            ends.reverse()
        kind = (mc.HingeJoint, mc.SliderJoint, mc.CylindricalJoint)[rng.integers(3)]
        if i or not free:
            spring = [stiff, None] if kind is mc.CylindricalJoint else stiff
            scene.add_joint(kind(*ends, anchor=rng.normal(size=3), axis=rng.normal(size=3), spring=spring))
    trees = len(scene.joints)
    for _ in range(rods if bodies > 1 else 0):
        a, b = rng.choice(bodies, 2, replace=False)
        scene.add_joint(mc.DistanceJoint(f"b{a}", f"b{b}", *rng.normal(size=(2, 3)), spring=stiff))
    world = mc.World(scene, dt=1e-9, sleep=False)
    expected = dense_answers(world)
    world.step()
    for number, answer in expected.items():
        moved = world.joints[number]._record["axes"]["moved"][0]
        if number < trees:
            assert moved == pytest.approx(answer, rel=1e-5)
        else:
            assert moved >= answer * (1.0 - 1e-5)


@pytest.mark.parametrize("kind", sorted(WORLDS))
@pytest.mark.parametrize("steps", [0, 1])
def test_a_step_that_fails_leaves_no_trace(kind, steps):
    """What it has found of what springs move is forgotten with it."""
    world = WORLDS[kind](oscillator("slider", 1e-4, 1e4))
    world.step(steps)
    world.set_velocity("thing", (1e150, 0, 0))
    before = world.state_hash()
    with pytest.raises(mc.SimulationError):
        world.step()
    assert world.state_hash() == before
