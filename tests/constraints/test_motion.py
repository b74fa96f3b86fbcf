"""Prescribed motion: the coordinate follows its function of time, and the forces are those of statics and dynamics."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc
from constraint_scenes import (
    FREE,
    LENGTH,
    SIDES,
    Pair,
    conjugate,
    exponential,
    logarithm,
    multiply,
    numerical_jacobian,
    random_coordinates,
)
from test_jacobian import numerical_curvature

WAVE = dict(position=0.1, velocity=0.3, acceleration=-0.2, amplitude=0.4, frequency=0.7, phase=0.5)
SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in ("none", "baumgarte", "soft") for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))


def wave(t):
    """WAVE written out."""
    return 0.1 + 0.3 * t - 0.1 * t**2 + 0.4 * np.sin(2 * np.pi * 0.7 * t + 0.5)


def driven(joint, gravity=(0, 0, 0), mass=2.0, position=(0, 0, 0), **world):
    scene = mc.Scene(gravity=gravity)
    scene.add_body("m", mass=mass, inertia=(0.2, 0.3, 0.25), position=position)
    scene.add_joint(joint)
    return mc.World(scene, **world)


# ---- the function itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("motion", [mc.Motion(**WAVE), mc.Motion(wave)], ids=["formula", "function"])
def test_derivatives_of_a_motion(motion):
    """at(t) against differences of the plain formula; close to t = 0 it is not called for negative times."""
    for t in (0.0, 3e-5, 0.2, 1.7):
        d = 1e-4
        expected = wave(t), (wave(t + d) - wave(t - d)) / (2 * d), (wave(t + d) - 2 * wave(t) + wave(t - d)) / d**2
        np.testing.assert_allclose(motion.at(t), expected, atol=3e-3 if t < d else 1e-6)
    seen = []
    mc.Motion(lambda t: seen.append(t) or t).at(0.0)
    assert min(seen) >= 0.0


# ---- rows ------------------------------------------------------------------------------------------------------------


def at_target(kind, seed, side, motion, error=0.0):
    """A pair whose driven joint stands at the motion's place of t = 0, its other coordinates at random."""
    start = random_coordinates(np.random.default_rng(seed + 90), kind)
    for i, m in enumerate(motion):
        if m is not None and kind != "distance":
            start[i] = m.at(0.0)[0]
    keywords = {"length": None} if kind == "distance" else {}
    return Pair(seed, kind, side, error, start, spin=2.0, motion=motion[0] if len(motion) == 1 else motion, **keywords)


MOTIONS = {
    "hinge": (mc.Motion(**WAVE),),
    "slider": (mc.Motion(**WAVE),),
    "universal": (mc.Motion(**WAVE), mc.Motion(0.3, 0.8, amplitude=0.2, frequency=1.1)),
    "ball": (mc.Motion(**WAVE), mc.Motion(-0.5, 0.8), mc.Motion(0.7, amplitude=0.3, frequency=0.4)),
    "cylindrical": (mc.Motion(**WAVE), mc.Motion(0.3, 0.8, amplitude=0.2, frequency=1.1)),
    "planar": (mc.Motion(**WAVE), mc.Motion(0.3, 0.8), mc.Motion(-0.2, 0.5, amplitude=0.3, frequency=0.4)),
    "screw": (mc.Motion(**WAVE),),
    "rack_pinion": (mc.Motion(**WAVE),),
    "distance": (mc.Motion(LENGTH, 0.3, amplitude=0.2, frequency=0.7),),
    "free": (
        mc.Motion(**WAVE),
        mc.Motion(-0.2),
        mc.Motion(0.3, 0.4),
        mc.Motion(0.3, 0.5),
        mc.Motion(-0.5, 0.8),
        mc.Motion(0.7, amplitude=0.3, frequency=0.4),
    ),
}
PARTLY = {
    "cylindrical way": ("cylindrical", (mc.Motion(**WAVE), None)),
    "cylindrical angle": ("cylindrical", (None, mc.Motion(**WAVE))),
    "planar y": ("planar", (None, mc.Motion(**WAVE), None)),
    "planar angle": ("planar", (None, None, mc.Motion(**WAVE))),
    "free z": ("free", (None, None, mc.Motion(**WAVE), None, None, None)),
    "free turn": ("free", (None, None, None, *MOTIONS["ball"])),
}
DRIVEN = {kind: (kind, motion) for kind, motion in MOTIONS.items()} | PARTLY


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", DRIVEN)
def test_rows_of_a_motion(name, side):
    """One more row an axis in the joint's block, J and curvature by finite differences over the poses, and rate and
    curvature's part of time by finite differences over time."""
    kind, motion = DRIVEN[name]
    count = sum(m is not None for m in motion)
    own = 0 if kind == "distance" else 6 - FREE[kind]
    for seed in range(3):
        pair = at_target(kind, seed, side, motion)
        world = pair.world
        n = own + count
        raw = world._raw_rows().copy()
        assert len(raw) == n and np.all(raw["kind"] == 0) and raw["block"][0] == n
        np.testing.assert_allclose(raw["error"], 0, atol=1e-14)
        np.testing.assert_allclose(
            world.jacobian().toarray(), numerical_jacobian(world, lambda: world.rows["error"]), atol=3e-9
        )
        moved = slice(own, n)
        free = numerical_curvature(world)[moved]

        def at(time, field):
            world._pipeline.set_clock(world._pipeline.steps, time)
            return world._raw_rows()[field][moved].copy()

        d = 1e-4
        rate = (at(d, "error") - at(-d, "error")) / (2 * d)
        np.testing.assert_allclose(raw["rate"][moved], rate, atol=1e-6)
        turn = (at(d, "rate") - at(-d, "rate")) / (2 * d)
        np.testing.assert_allclose(raw["curvature"][moved], free + turn, atol=3e-6)


# ---- what moves ------------------------------------------------------------------------------------------------------


@every_world
def test_a_hinge_at_constant_speed(keywords):
    """A mass on a driven arm: the angle is w t, the joint pulls with m w^2 r, and no torque is needed."""
    w, r = 3.0, 0.8
    world = driven(
        mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), name="h", motion=mc.Motion(velocity=w)),
        position=(r, 0, 0),
        dt=1e-3,
        iterations=30,
        **keywords,
    )
    world.step(2500)
    joint = world.joint("h")
    drift = 2e-2 if keywords["stabilization"] == "none" else 1e-5
    assert joint.position == pytest.approx(w * 2.5, abs=drift)
    assert joint.velocity == pytest.approx(w, abs=1e-6 if keywords["stabilization"] != "baumgarte" else 1e-3)
    assert joint.force == pytest.approx(-2.0 * w**2 * world.body("m").position, rel=1e-2, abs=5e-2)
    assert abs(joint.torque[2]) < 1e-2 and abs(joint.motor_force) < 1e-2


@every_world
@pytest.mark.parametrize("function", [False, True], ids=["formula", "function"])
def test_a_slider_that_swings(function, keywords):
    """x = A sin w t on a body under gravity: the drive gives m (g + x'')."""
    amplitude, frequency = 0.3, 0.8
    w = 2 * np.pi * frequency
    motion = (
        mc.Motion(lambda t: amplitude * np.sin(w * t), lambda t: amplitude * w * np.cos(w * t))
        if function
        else mc.Motion(amplitude=amplitude, frequency=frequency)
    )
    world = driven(
        mc.SliderJoint(None, "m", axis=(0, 0, 1), name="s", motion=motion),
        gravity=(0, 0, -9.81),
        dt=1e-3,
        substeps=4,
        iterations=20,
        **keywords,
    )
    joint = world.joint("s")
    for _ in range(15):
        world.step(100)
        x = amplitude * np.sin(w * world.time)
        assert joint.position == pytest.approx(x, abs=5e-3 if keywords["stabilization"] == "none" else 1e-4)
        assert joint.motor_force == pytest.approx(2.0 * (9.81 - w * w * x), abs=0.05)
        assert joint.force[2] == pytest.approx(joint.motor_force, rel=1e-9)


def test_a_motion_converges_at_second_order():
    """An arm driven about a leaning axis: where its end is, against the formula."""
    errors = []
    for substeps in (1, 2, 4):
        world = driven(
            mc.HingeJoint(None, "m", (0, 0, 0), (0, 1, 1), name="h", motion=mc.Motion(**WAVE)),
            position=(0.7, 0, 0),
            gravity=(0, 0, -9.81),
            dt=5e-3,
            substeps=substeps,
            iterations=10,
        )
        world.step(200)
        errors.append(abs(world.joint("h").position - wave(1.0)))
    assert errors[0] < 1e-3 and errors[-1] < errors[0] / 10, errors


def test_a_ball_joint_follows_a_rotation_vector():
    world = driven(
        mc.BallJoint(None, "m", (0, 0, 0), name="b", motion=MOTIONS["ball"]),
        position=(0.2, 0.1, 0),
        dt=2e-3,
        substeps=4,
        iterations=20,
    )
    world.step(400)
    target = [m.at(world.time)[0] for m in MOTIONS["ball"]]
    off = multiply(exponential(world.joint("b").position), conjugate(exponential(np.array(target))))
    assert np.linalg.norm(logarithm(off)) < 1e-5
    assert world.joint("b").velocity.shape == (3,)


def test_a_universal_joint_follows_two_angles():
    world = driven(
        mc.UniversalJoint(None, "m", (0, 0, 0), (0, 0, 1), (1, 0, 0), name="u", motion=MOTIONS["universal"]),
        position=(0.2, 0.1, 0),
        dt=2e-3,
        substeps=4,
        iterations=20,
    )
    world.step(400)
    assert world.joint("u").position == pytest.approx([m.at(world.time)[0] for m in MOTIONS["universal"]], abs=1e-5)
    assert world.joint("u").velocity == pytest.approx([m.at(world.time)[1] for m in MOTIONS["universal"]], abs=1e-4)


def test_a_driven_crank_moves_what_hangs_on_it():
    """A slider-crank at constant speed: the slider is where trigonometry has it."""
    r, l, w = 0.3, 1.0, 4.0
    scene = mc.Scene(gravity=(0, 0, -9.81))
    inertia = (0.02, 0.02, 0.02)
    scene.add_body("crank", mass=1.0, inertia=inertia, position=(r / 2, 0, 0))
    scene.add_body("rod", mass=1.0, inertia=inertia, position=(r + l / 2, 0, 0))
    scene.add_body("slide", mass=2.0, inertia=inertia, position=(r + l, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "crank", (0, 0, 0), (0, 1, 0), motion=mc.Motion(velocity=w)))
    scene.add_joint(mc.HingeJoint("crank", "rod", (r, 0, 0), (0, 1, 0)))
    scene.add_joint(mc.BallJoint("rod", "slide", (r + l, 0, 0)))
    scene.add_joint(mc.SliderJoint(None, "slide", axis=(1, 0, 0)))
    world = mc.World(scene, dt=1e-3, iterations=100)
    for _ in range(4):
        world.step(200)
        angle = w * world.time
        x = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2)
        assert world.body("slide").position == pytest.approx((x, 0, 0), abs=2e-4)


EVERY_SOLVER = pytest.mark.parametrize(
    "keywords",
    [
        dict(joint_solver="rows", iterations=20),
        dict(joint_solver="tree"),
        dict(joint_solver="rows", stabilization="projection", iterations=20),
        dict(integrator="rk4"),
    ],
    ids=["rows", "tree", "projection", "rk4"],
)


def from_rest(amplitude, frequency, start=0.0):
    """start + amplitude (1 - cos 2 pi frequency t): at rest at t = 0."""
    return mc.Motion(start + amplitude, amplitude=-amplitude, frequency=frequency, phase=np.pi / 2)


NEW_KINDS = {
    "cylindrical": (
        lambda m: mc.CylindricalJoint(None, "m", (0, 0, 0), (0, 0, 1), name="j", motion=m),
        (from_rest(0.3, 0.8), from_rest(2.0, 0.4)),
    ),
    "planar": (
        lambda m: mc.PlanarJoint(None, "m", (0, 0, 0), (0, 1, 1), name="j", motion=m),
        (from_rest(0.3, 0.8), from_rest(-0.4, 0.5), from_rest(3.0, 0.4)),
    ),
    "screw": (
        lambda m: mc.ScrewJoint(None, "m", (0, 0, 0), (0, 0, 1), 0.05, name="j", motion=m[0]),
        (from_rest(5.0, 0.5),),
    ),
    "distance": (
        lambda m: mc.DistanceJoint(None, "m", (0, 0, 1.2), (0, 0, 0), name="j", motion=m[0]),
        (from_rest(-0.2, 0.8, 1.2),),
    ),
    "rack_pinion": (
        lambda m: mc.RackPinionJoint(None, "m", (0, 0, 0), (1, 0, 0), (0, 0, 1), 0.2, name="j", motion=m[0]),
        (from_rest(2.0, 0.4),),
    ),
    "free": (
        lambda m: mc.FreeJoint(None, "m", name="j", motion=m),
        (*[from_rest(0.1 * k, 0.5) for k in (1, 2, 3)], *[from_rest(0.3 * k, 0.4) for k in (1, -2, 1)]),
    ),
}


@EVERY_SOLVER
@pytest.mark.parametrize("kind", NEW_KINDS)
def test_the_newer_joints_follow_their_motions(kind, keywords):
    """Coordinates and rates against the formula, under gravity, from a body off the joint's point where it can be."""
    make, motion = NEW_KINDS[kind]
    gravity = (0, 0, -9.81) if kind != "rack_pinion" else (0, 0, 0)
    world = driven(
        make(motion),
        gravity=gravity,
        position=(0.1, 0.2, 0) if kind in ("planar", "screw") else (0, 0, 0),
        dt=2e-3,
        substeps=4,
        **keywords,
    )
    joint = world.joint("j")
    for _ in range(4):
        world.step(160)
        targets = np.array([m.at(world.time) for m in motion]).T
        np.testing.assert_allclose(np.atleast_1d(joint.position), targets[0], atol=2e-5)
        if kind != "free":
            np.testing.assert_allclose(np.atleast_1d(joint.velocity), targets[1], atol=1e-3)


@EVERY_SOLVER
def test_what_driving_the_newer_joints_takes(keywords):
    """A lift on a cylindrical joint: m (g + z'') and I w'. A screw: I w' + p m (g + p w'')."""
    inertia, mass, p = 0.25, 2.0, 0.05
    make, motion = NEW_KINDS["cylindrical"]
    world = driven(make(motion), gravity=(0, 0, -9.81), dt=2e-3, **keywords)
    make, turn = NEW_KINDS["screw"]
    screwed = driven(make(turn), gravity=(0, 0, -9.81), dt=2e-3, **keywords)
    for _ in range(3):
        world.step(110)
        screwed.step(110)
        lift, spin = (m.at(world.time)[2] for m in motion)
        assert world.joint("j").motor_force == pytest.approx((mass * (9.81 + lift), inertia * spin), abs=0.05)
        a = turn[0].at(world.time)[2]
        assert screwed.joint("j").motor_force == pytest.approx((inertia + mass * p * p) * a + mass * p * 9.81, abs=0.05)


def test_motions_of_the_newer_joints_in_files(tmp_path):
    for kind, (make, motion) in NEW_KINDS.items():
        scene = mc.Scene()
        scene.add_body("m", mass=1, inertia=(1, 1, 1))
        scene.add_joint(make(motion))
        scene.save(tmp_path / "scene.json")
        assert mc.load(str(tmp_path / "scene.json")) == scene, kind


# ---- state, files, bad input -----------------------------------------------------------------------------------------


def test_time_goes_with_the_state():
    """Restore, copy and pickle go on to the same bits; so does a world of another dt from the same time."""

    def world(motion, **keywords):
        return driven(
            mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), name="h", motion=motion), position=(1, 0, 0), **keywords
        )

    first = world(mc.Motion(**WAVE))
    first.step(20)
    middle = first.snapshot()
    first.step(20)
    for other in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert other.state_hash() == first.state_hash()
    end = first.state_hash()
    first.restore(middle)
    first.step(20)
    assert first.state_hash() == end
    finer = world(mc.Motion(**WAVE), dt=1 / 600)
    finer.restore(middle)
    finer.step(200)
    assert finer.time == pytest.approx(first.time)
    assert finer.joint("h").position == pytest.approx(wave(finer.time), abs=1e-4)
    free = world(mc.Motion(wave))  # a local function: copies, but cannot be pickled
    free.step(10)
    assert copy.deepcopy(free).state_hash() == free.state_hash()


def test_looking_changes_nothing():
    world = driven(mc.SliderJoint(None, "m", axis=(0, 0, 1), name="s", motion=mc.Motion(wave)))
    world.step(7)
    before = world.state_hash()
    world.rows, world.jacobian(), world.joint("s").position, world.joint_errors()
    assert world.state_hash() == before


def test_files_keep_formulas_and_refuse_functions(tmp_path):
    scene = mc.Scene()
    scene.add_body("m", mass=1, inertia=(1, 1, 1))
    for joint in (
        mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), motion=mc.Motion(**WAVE)),
        mc.BallJoint(None, "m", (0, 0, 0), motion=MOTIONS["ball"]),
        mc.UniversalJoint(None, "m", (0, 0, 0), (0, 0, 1), (1, 0, 0), motion=(None, mc.Motion(velocity=1))),
    ):
        scene.add_joint(joint)
    scene.save(tmp_path / "scene.json")
    assert mc.load(str(tmp_path / "scene.json")) == scene
    scene.add_joint(mc.SliderJoint(None, "m", axis=(0, 0, 1), name="s", motion=mc.Motion(wave)))
    with pytest.raises(mc.SceneError, match="joint 's': motion is a Python function, which a file cannot hold"):
        scene.save(tmp_path / "scene.json")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mc.Motion("fast"), "position must be a number"),
        (lambda: mc.Motion(np.nan), "position must be finite"),
        (lambda: mc.Motion(frequency=-1), "frequency must not be negative"),
        (lambda: mc.Motion(wave, 3.0), "velocity must be a function as position is"),
        (lambda: mc.Motion(1.0, wave), "velocity must be a number as position is"),
        (lambda: mc.Motion(wave, amplitude=1), "amplitude is given together with a function"),
        (lambda: mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), motion=wave), "motion must be a Motion"),
        (
            lambda: mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), motion=mc.Motion(), motor=mc.Motor(velocity=1)),
            "motion is given together with a motor",
        ),
        (lambda: mc.BallJoint(None, "m", (0, 0, 0), motion=mc.Motion()), "motion must be three of Motion"),
        (lambda: mc.BallJoint(None, "m", (0, 0, 0), motion=(None, mc.Motion(), None)), "motion must be three of Motion"),
        (
            lambda: mc.UniversalJoint(None, "m", (0, 0, 0), (0, 0, 1), (1, 0, 0), motion=mc.Motion()),
            "motion must be a pair",
        ),
        (
            lambda: mc.UniversalJoint(None, "m", (0, 0, 0), (0, 0, 1), (1, 0, 0), motion=(1, None)),
            r"motion\[0\] must be a Motion",
        ),
        (
            lambda: mc.PlanarJoint(None, "m", (0, 0, 0), (0, 0, 1), motion=(None, None)),
            "motion must be 3 of Motion or None",
        ),
        (lambda: mc.ScrewJoint(None, "m", (0, 0, 0), (0, 0, 1), 0.1, motion=3), "motion must be a Motion"),
        (
            lambda: mc.DistanceJoint(None, "m", (0, 0, 1), (0, 0, 0), length=1.0, motion=mc.Motion(1.0)),
            "length is that of a rod",
        ),
        (
            lambda: mc.CylindricalJoint(
                None, "m", (0, 0, 0), (0, 0, 1), motion=(None, mc.Motion()), motor=(None, mc.Motor(velocity=1.0))
            ),
            "together with a motor",
        ),
        (
            lambda: mc.FreeJoint(None, "m", motion=(None, None, None, mc.Motion(), None, None)),
            "all three of the rotation vector",
        ),
    ],
)
def test_wrong_motions_are_refused(make, message):
    with pytest.raises(mc.SceneError, match=message):
        make()


def test_a_function_that_fails_stops_the_step():
    """What it raises comes out, the last good state stays, and the world goes on once it works again."""
    fault = {"at": 0.1, "give": lambda: 1 / 0}

    def motion(t):
        return fault["give"]() if t > fault["at"] else np.sin(t)

    world = driven(mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), name="h", motion=mc.Motion(motion)), dt=0.01)
    with pytest.raises(ZeroDivisionError):
        world.step(50)
    assert 0.08 < world.time <= 0.1 and abs(world.joint("h").position - np.sin(world.time)) < 1e-3
    kept = world.state_hash()
    for give, message in (
        (lambda: np.nan, "must give a finite number"),
        (lambda: "x", "must give a number"),
        (lambda: (1, 2), "joint 'h': its motion"),
    ):
        fault["give"] = give
        with pytest.raises(mc.SimulationError, match=message):
            world.step(1)
        assert world.state_hash() == kept
    fault["at"] = 1e9
    world.step(50)
    assert world.joint("h").position == pytest.approx(np.sin(world.time), abs=1e-3)
    with pytest.raises(mc.SimulationError, match="must give a finite number"):
        driven(mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), motion=mc.Motion(lambda t: np.inf)))
