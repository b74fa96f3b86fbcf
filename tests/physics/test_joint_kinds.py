"""Cylindrical, planar, screw, distance, rack-and-pinion and free joints against closed forms."""

import numpy as np
import pytest
from scipy.special import ellipk

import mcsim as mc
from mechanism_scenes import G, down, rotation, turned

SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in ("none", "baumgarte", "soft") for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))
HELD = pytest.mark.parametrize("stabilization", ("baumgarte", "soft"))

MASS, INERTIA = 2.0, (0.1, 0.2, 0.25)
SAG = G / 240**2  # what a soft joint yields under a weight is below g h^2 [m]


def alone(joint, gravity=(0, 0, -G), world=None, **body):
    """A body "b" on one joint from the world, named "j". -> world, joint handle, body handle"""
    scene = mc.Scene(gravity=gravity)
    scene.add_body("b", **dict(mass=MASS, inertia=INERTIA) | body)
    scene.add_joint(joint)
    world = mc.World(scene, **world or {})
    return world, world.joint("j"), world.body("b")


# ---- cylindrical -----------------------------------------------------------------------------------------------------


@every_world
def test_a_cylindrical_joint_slides_and_turns_freely(keywords):
    """Free fall along the axis, constant spin about it; a push and a moment across go into the joint."""
    world, joint, body = alone(
        mc.CylindricalJoint(None, "b", (0, 0, 0), (0, 0, 1), name="j"), world=keywords, angular_velocity=(0, 0, 5.0)
    )
    for _ in range(60):
        world.apply_force("b", (3.0, 0, 0), point=body.position + (0, 0, 0.4))
        world.step()
    assert joint.velocity == pytest.approx((-G, 5.0), rel=1e-6)
    assert joint.position == pytest.approx((-0.5 * G, 5.0), rel=5e-3)
    assert joint.angle == pytest.approx(5.0, rel=1e-6)
    assert joint.force == pytest.approx((-3.0, 0, 0), abs=1e-6)
    assert np.abs(world.joint_errors()).max() < 1e-4


@every_world
def test_drives_and_limits_of_a_cylindrical_joint(keywords):
    """A bounded motor on the way, a spring and damper on the angle, a limit that carries the weight."""
    world, joint, _ = alone(
        mc.CylindricalJoint(
            None,
            "b",
            (0, 0, 0),
            (0, 0, 1),
            name="j",
            limits=((-0.2, None), None),
            spring=(None, mc.Spring(6.0, 2.0, 0.5)),
            motor=(mc.Motor(velocity=-1.0, max_force=4.0), None),
        ),
        gravity=(0, 0, -1.0),
        world=keywords,
    )
    world.step(12)
    assert joint.velocity[0] == pytest.approx(-0.2 * (MASS + 4.0) / MASS, rel=1e-9)
    world.apply_torque("b", (0, 0, -1.2))
    world.step(600)
    assert joint.position == pytest.approx((-0.2, 0.5 - 1.2 / 6.0), abs=2e-3)
    assert joint.force == pytest.approx((0, 0, MASS * 1.0), abs=1e-6)
    assert joint.motor_force == pytest.approx((-4.0, 0.0), abs=1e-9)


# ---- planar ----------------------------------------------------------------------------------------------------------


@every_world
def test_a_planar_joint_slides_down_its_slope(keywords):
    """On a plane tilted by 0.5: acceleration g sin 0.5 down the slope, constant velocity across, constant spin."""
    normal, along = np.array([np.sin(0.5), 0, np.cos(0.5)]), np.array([np.cos(0.5), 0, -np.sin(0.5)])
    world, joint, body = alone(
        mc.PlanarJoint(None, "b", (0, 0, 0), normal, name="j"),
        world=keywords,
        velocity=(0, 0.7, 0),
        angular_velocity=4.0 * normal,
        inertia=(0.2, 0.2, 0.2),
    )
    world.step(120)
    a = G * np.sin(0.5)
    assert joint.velocity == pytest.approx((2 * a, 0.7, 4.0), rel=1e-6)
    assert joint.position == pytest.approx((2 * a, 1.4, 8.0), rel=5e-3)
    assert joint.angle == pytest.approx(8.0, rel=1e-6)
    assert body.position @ normal == pytest.approx(0, abs=SAG)
    assert body.position @ along == pytest.approx(joint.position[0], rel=1e-9)
    assert joint.force == pytest.approx(MASS * G * np.cos(0.5) * normal, rel=1e-6, abs=1e-6)


@every_world
def test_a_planar_joint_off_its_body_holds_the_moment(keywords):
    """Weight at an arm from the joint's point: the body stays level, the moment is in the joint."""
    world, joint, _ = alone(
        mc.PlanarJoint(None, "b", (-0.4, 0, 0), (0, 0, 1), name="j"), world=keywords | {"iterations": 50}
    )
    world.step(240)
    assert joint.position == pytest.approx((0, 0, 0), abs=1e-4)
    assert joint.force == pytest.approx((0, 0, MASS * G), rel=1e-6, abs=1e-6)
    assert joint.torque == pytest.approx((0, -0.4 * MASS * G, 0), rel=2e-3, abs=1e-3)


@every_world
def test_drives_and_limits_of_a_planar_joint(keywords):
    """Friction on x sticks, a velocity motor on y, limits on the angle: each acts on its own coordinate."""
    world, joint, _ = alone(
        mc.PlanarJoint(
            None,
            "b",
            (0, 0, 0),
            (0, 0, 1),
            name="j",
            limits=(None, None, (-0.3, 0.2)),
            friction=(5.0, 0.0, 0.0),
            motor=(None, mc.Motor(velocity=0.6), None),
        ),
        world=keywords,
        angular_velocity=(0, 0, 3.0),
    )
    world.apply_force("b", (4.9, 0, 0))
    world.step(60)
    assert joint.velocity == pytest.approx((0, 0.6, 0), abs=1e-6)
    assert joint.position == pytest.approx((0, 0.6, 0.2), abs=5e-3)


# ---- screw -----------------------------------------------------------------------------------------------------------


@every_world
@pytest.mark.parametrize("pitch", [0.2, -0.05])
def test_a_screw_falls_at_the_reduced_acceleration(keywords, pitch):
    """Under gravity along its axis z'' = -g / (1 + I / (m p^2)), and it turns by z / p, over several turns."""
    world, joint, body = alone(
        mc.ScrewJoint(None, "b", (0, 0, 0), (0, 0, 1), pitch, name="j"), world=keywords | {"iterations": 30}
    )
    world.step(180)
    a = -G / (1 + INERTIA[2] / (MASS * pitch**2))
    assert body.velocity[2] == pytest.approx(3 * a, rel=1e-6)
    assert joint.velocity == pytest.approx(3 * a / pitch, rel=1e-6)
    assert body.position[2] == pytest.approx(4.5 * a, rel=5e-3)
    assert joint.angle == pytest.approx(body.position[2] / pitch, rel=1e-4) and abs(joint.angle) > 1.5
    assert world.joint_errors()[0, 0] < SAG


@HELD
def test_a_screw_drives_and_stops(stabilization):
    """A motor turns it for many turns up to its limit; the way is the pitch times the angle."""
    world, joint, body = alone(
        mc.ScrewJoint(
            None,
            "b",
            (0, 0, 0),
            (1, 0, 0),
            0.01,
            name="j",
            limits=(-1, 40.0),
            motor=mc.Motor(velocity=30.0, max_force=50.0),
        ),
        world=dict(stabilization=stabilization, iterations=30),
    )
    world.step(60)
    assert joint.velocity == pytest.approx(30.0, rel=1e-6) and body.velocity[0] == pytest.approx(0.3, rel=1e-6)
    world.step(120)
    assert joint.position == pytest.approx(40.0, abs=5e-3)
    assert body.position[0] == pytest.approx(0.4, abs=1e-4)


@HELD
def test_a_screw_between_two_bodies_keeps_momentum(stabilization):
    """A nut and a bolt in free flight: linear and angular momentum stay; the pitch holds."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("nut", mass=1, inertia=(0.1, 0.2, 0.3), velocity=(0.1, 0, 0), angular_velocity=(0.3, 0, -3))
    scene.add_body("bolt", mass=2, inertia=(0.3, 0.2, 0.1), position=(0, 0, 0.5), angular_velocity=(0.3, 0, 5))
    scene.add_joint(mc.ScrewJoint("nut", "bolt", (0, 0, 0), (0, 0, 1), 0.05))
    world = mc.World(scene, stabilization=stabilization, iterations=20)
    before = np.concatenate(world.momentum())
    world.step(300)
    assert np.concatenate(world.momentum()) == pytest.approx(before, abs=1e-11)
    assert world.joint_errors().max() < 2e-3


# ---- distance --------------------------------------------------------------------------------------------------------


@HELD
def test_a_rod_is_a_pendulum(stabilization):
    """A point mass on a rod at 90 degrees has period 4 sqrt(l / g) K(1/2); its error falls with the step squared."""
    exact, errors = 4 * np.sqrt(1.3 / G) * ellipk(0.5), []
    for substeps, tolerance in ((4, 4e-4), (16, 4e-5)):
        start = 1.3 * down(np.pi / 2)
        world, joint, body = alone(
            mc.DistanceJoint(None, "b", (0, 0, 0), start, name="j"),
            position=start,
            world=dict(stabilization=stabilization, substeps=substeps),
        )
        x, worst = [], 0.0
        for _ in range(600):
            world.step()
            x.append(body.position[0])
            worst = max(worst, world.joint_errors()[0, 0])
        x = np.array(x)
        at = np.nonzero(np.diff(np.sign(x)))[0]
        period = 2 * np.diff(at + x[at] / (x[at] - x[at + 1])).mean() * world.dt
        assert period == pytest.approx(exact, rel=tolerance)
        assert joint.position == pytest.approx(1.3, abs=worst + 1e-12)
        errors.append(worst)
    assert errors[0] < 2e-3 and errors[1] < errors[0] / 8, errors


@every_world
def test_a_rod_pulls_and_pushes_along_itself(keywords):
    """A rod off both centres of mass, hanging still, and stood upright on a body below: tension and compression."""
    world, joint, _ = alone(mc.DistanceJoint(None, "b", (0, 0, 1), (0, 0, 0.2), name="j"), world=keywords)
    world.step(60)
    assert joint.force == pytest.approx((0, 0, MASS * G), rel=1e-6)
    assert joint.torque == pytest.approx((0, 0, 0), abs=1e-9)
    world, joint, _ = alone(mc.DistanceJoint(None, "b", (0, 0, -1), (0, 0, -0.2), name="j"), world=keywords)
    world.step(60)
    assert joint.force == pytest.approx((0, 0, MASS * G), rel=1e-6)


@every_world
def test_a_rope_is_slack_then_taut(keywords):
    """A body falls freely for the rope's length, without a force, then hangs from it."""
    world, joint, body = alone(
        mc.DistanceJoint(None, "b", (0, 0, 0), (0, 0, -0.1), limits=(None, 1.1), name="j"),
        position=(0, 0, -0.1),
        world=keywords,
    )
    world.step(20)
    assert body.velocity[2] == pytest.approx(-G / 3, rel=1e-12) and joint.force == pytest.approx((0, 0, 0), abs=1e-12)
    assert joint.position == pytest.approx(0.1 + 0.5 * G / 9, rel=2e-2)
    world.step(200)
    assert joint.position == pytest.approx(1.1, abs=1e-3) and abs(body.velocity[2]) < 1e-6
    assert joint.force == pytest.approx((0, 0, MASS * G), rel=1e-6)
    world.set_velocity("b", (0, 0, 2.0))
    world.step(6)
    assert joint.force == pytest.approx((0, 0, 0), abs=1e-12)


@every_world
def test_a_shortest_distance_holds_apart(keywords):
    """The lower limit pushes: a body let fall onto it rests above the anchor."""
    world, joint, _ = alone(
        mc.DistanceJoint(None, "b", (0, 0, 0), (0, 0, 0.8), limits=(0.5, None), name="j"),
        position=(0, 0, 0.8),
        world=keywords,
    )
    world.step(240)
    assert joint.position == pytest.approx(0.5, abs=1e-3)
    assert joint.force == pytest.approx((0, 0, MASS * G), rel=1e-6)


@every_world
def test_a_spring_between_two_bodies_swings_at_its_frequency(keywords):
    """Two masses on a spring: sqrt(k / mu), mu the reduced mass; momentum stays."""
    k, mu = 90.0, 2.0 * 1.0 / 3.0
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("a", mass=2, inertia=(0.1, 0.1, 0.1))
    scene.add_body("b", mass=1, inertia=(0.1, 0.1, 0.1), position=(1.2, 0, 0))
    scene.add_joint(mc.DistanceJoint("a", "b", (0, 0, 0), (1.2, 0, 0), length=1.0, spring=mc.Spring(k), name="j"))
    world = mc.World(scene, dt=1e-3, **keywords)
    assert world.energy().potential == pytest.approx(0.5 * k * 0.04)
    world.step(round(1000 * np.pi / np.sqrt(k / mu)))  # half a period
    assert world.joint("j").position == pytest.approx(0.8, abs=3e-3)
    assert np.abs(np.concatenate(world.momentum())).max() < 1e-13


@every_world
def test_a_winch_pulls_in(keywords):
    """A velocity motor on the distance shortens it at its speed under load."""
    world, joint, _ = alone(
        mc.DistanceJoint(None, "b", (0, 0, 0), (0, 0, -2), motor=mc.Motor(velocity=-0.5), name="j"),
        position=(0, 0, -2),
        world=keywords,
    )
    world.step(120)
    assert joint.position == pytest.approx(1.0, abs=1e-9) and joint.velocity == pytest.approx(-0.5, rel=1e-9)
    assert joint.motor_force == pytest.approx(-MASS * G, rel=1e-9)


def test_points_of_a_rope_may_meet():
    """A spring of no length, let go through its anchor: finite, and it swings through."""
    world, _, body = alone(
        mc.DistanceJoint(None, "b", (0, 0, 0), (0, 0, 0), spring=mc.Spring(50.0), limits=(0, 1.0), name="j"),
        gravity=(0, 0, 0),
        velocity=(1.0, 0, 0),
    )
    lowest = 0.0
    for _ in range(120):
        world.step()
        lowest = min(lowest, body.position[0])
    assert lowest < -0.1 and np.isfinite(world.positions).all()


# ---- rack and pinion -------------------------------------------------------------------------------------------------


def rack_and_pinion(radius=0.25, **joint):
    """A rack on a slider along x, a pinion on a hinge about y above it, a joint between them."""
    scene = mc.Scene()
    scene.add_body("rack", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(0.1, 0, -0.25))
    scene.add_body("pinion", mass=1.0, inertia=(0.02, 0.04, 0.02), position=(0, 0.3, 0))
    scene.add_joint(mc.SliderJoint(None, "rack", (1, 0, 0), name="slide"))
    scene.add_joint(mc.HingeJoint(None, "pinion", (0, 0, 0), (0, 1, 0), name="hinge"))
    scene.add_joint(mc.RackPinionJoint("rack", "pinion", (0, 0, 0), (1, 0, 0), (0, 1, 0), radius, name="mesh", **joint))
    return scene


@every_world
@pytest.mark.parametrize("radius", [0.25, -0.1])
def test_a_rack_goes_by_the_radius_a_radian(keywords, radius):
    """A torque on the pinion: x = r angle, acceleration r T / (I + m r^2), over several turns."""
    world = mc.World(rack_and_pinion(radius), **keywords | {"iterations": 60})
    for _ in range(240):
        world.apply_torque("pinion", (0, 0.6, 0))
        world.step()
    slide, hinge, mesh = (world.joint(name) for name in ("slide", "hinge", "mesh"))
    angular = 0.6 / (0.04 + 3.0 * radius**2)
    assert hinge.velocity == pytest.approx(4 * angular, rel=1e-4)
    assert slide.velocity == pytest.approx(radius * hinge.velocity, rel=1e-6)
    assert slide.position == pytest.approx(radius * hinge.position, rel=1e-3)
    assert hinge.position == pytest.approx(8 * angular, rel=5e-3) and hinge.position > 2 * np.pi
    assert mesh.angle == pytest.approx(hinge.angle, abs=1e-3)


@HELD
def test_a_motor_on_a_rack_and_pinion(stabilization):
    """The joint's own motor turns the pinion against the rack up to the limit of its angle."""
    scene = rack_and_pinion(limits=(-2.0, 9.0), motor=mc.Motor(velocity=3.0, max_force=40.0))
    world = mc.World(scene, stabilization=stabilization, iterations=60)
    world.step(120)
    assert world.joint("mesh").velocity == pytest.approx(3.0, rel=1e-5)
    assert world.joint("slide").velocity == pytest.approx(0.75, rel=1e-4)
    world.step(180)
    assert world.joint("mesh").angle == pytest.approx(9.0, abs=5e-3)
    assert world.joint("slide").position == pytest.approx(2.25, abs=5e-3)


@HELD
def test_a_pinion_rolls_down_a_fixed_rack(stabilization):
    """On a rack tilted by 0.3 the pinion rolls like a disc, a = g sin 0.3 / (1 + I / (m r^2)), m with its hub."""
    along, normal, r = np.array([np.cos(0.3), 0, -np.sin(0.3)]), np.array([0, 1.0, 0]), 0.2
    scene = mc.Scene()
    # rack_axis x pinion_axis points from the axle to the teeth, down: so the rack axis goes up the slope.
    scene.add_body("b", mass=MASS, inertia=(0.03, 0.05, 0.03))
    scene.add_body("hub", mass=0.5, inertia=(0.01, 0.01, 0.01))
    scene.add_joint(mc.SliderJoint(None, "hub", along, name="slope"))
    scene.add_joint(mc.HingeJoint("hub", "b", (0, 0, 0), normal, name="axle"))
    scene.add_joint(mc.RackPinionJoint(None, "b", (0, 0, 0), -along, normal, r, name="mesh"))
    world = mc.World(scene, stabilization=stabilization, iterations=100)
    world.step(120)
    a = G * np.sin(0.3) / (1 + 0.05 / ((MASS + 0.5) * r**2))
    assert world.joint("slope").velocity == pytest.approx(2 * a, rel=1e-3)
    assert world.joint("axle").velocity == pytest.approx(2 * a / r, rel=1e-3)
    assert world.joint("axle").angle == pytest.approx(world.joint("slope").position / r, rel=1e-3)


def test_a_rack_and_pinion_in_free_flight_keeps_momentum():
    """The teeth's force acts at one point of both bodies, whichever way they turn."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("rack", mass=3.0, inertia=(0.1, 0.2, 0.3), position=(0.1, 0, -0.25), angular_velocity=(0.2, 0.1, 0))
    scene.add_body("pinion", mass=1.0, inertia=(0.02, 0.04, 0.03), angular_velocity=(0.1, 5.0, 0.2))
    scene.add_joint(mc.RackPinionJoint("rack", "pinion", (0, 0, 0), (1, 0, 0), (0, 1, 0), 0.25))
    world = mc.World(scene, iterations=10)
    before = np.concatenate(world.momentum())
    world.step(100)
    assert np.concatenate(world.momentum()) == pytest.approx(before, abs=1e-12)
    assert world.joint_errors()[0, 0] < 1e-3


# ---- free ------------------------------------------------------------------------------------------------------------


def test_a_free_joint_changes_nothing_and_measures():
    """The same bits as without it; its coordinates are the frame of b seen from a."""

    def scene(joined):
        s = mc.Scene()
        s.add_body(
            "a",
            mass=1,
            inertia=(0.1, 0.2, 0.25),
            position=(1, 2, 3),
            orientation=turned((1, 2, 3), 0.7),
            angular_velocity=(1, 2, 0.5),
        )
        s.add_body("b", mass=2, inertia=(0.3, 0.2, 0.25), velocity=(0, 1, 0), angular_velocity=(-1, 0, 0.5))
        if joined:
            s.add_joint(mc.FreeJoint("a", "b", name="j"))
        return s

    world, plain = mc.World(scene(True)), mc.World(scene(False))
    assert world.joint("j").position == pytest.approx(np.zeros(6), abs=1e-15)
    world.step(40)
    plain.step(40)
    assert np.array_equal(world.positions, plain.positions) and np.array_equal(world.velocities, plain.velocities)
    assert len(world.rows) == 0 and not world.joint_errors().any()
    frame_a = world.scene.joints[0].frame_a
    (pa, pb), (ra, rb) = world.positions, (rotation(q) for q in world.orientations)
    axes = ra @ rotation(frame_a[1])
    np.testing.assert_allclose(world.joint("j").position[:3], axes.T @ (pb - pa - ra @ frame_a[0]), atol=1e-12)
    angle = np.linalg.norm(world.joint("j").position[3:])
    turn = rotation(turned(world.joint("j").position[3:], angle))
    np.testing.assert_allclose(turn, axes.T @ rb, atol=1e-12)
    wa, wb = world.angular_velocities
    va, vb = world.velocities
    np.testing.assert_allclose(
        world.joint("j").velocity,
        np.concatenate([axes.T @ (vb - va - np.cross(wa, pb - pa)), axes.T @ (wb - wa)]),
        atol=1e-12,
    )


# ---- all -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.CylindricalJoint(None, "b", (0, 0, 0), (0, 0, 1)),
        lambda: mc.PlanarJoint(None, "b", (0, 0, 0), (0, 0, 1)),
        lambda: mc.ScrewJoint(None, "b", (0, 0, 0), (0, 0, 1), 0.1),
        lambda: mc.DistanceJoint(None, "b", (0, 0, 1), (0, 0, 0)),
        lambda: mc.RackPinionJoint(None, "b", (0, 0, 0), (1, 0, 0), (0, 0, 1), 0.1),
        lambda: mc.FreeJoint(None, "b"),
    ],
    ids=["cylindrical", "planar", "screw", "distance", "rack_pinion", "free"],
)
def test_files_and_snapshots_go_on_to_the_same_bits(make, tmp_path):
    scene = mc.Scene()
    scene.add_body("b", mass=MASS, inertia=INERTIA, velocity=(0.1, 0.2, 0.3), angular_velocity=(0, 0, 4.0))
    scene.add_joint(make())
    scene.save(tmp_path / "scene.json")
    world, read = mc.World(scene), mc.World(mc.load(tmp_path / "scene.json"))
    world.step(20)
    read.step(20)
    kept = world.snapshot()
    world.step(30)
    read.restore(kept)
    read.step(30)
    assert world.state_hash() == read.state_hash()
    angles = "angle" if make().type in ("cylindrical", "planar", "screw", "rack_pinion") else None
    if angles is None:
        with pytest.raises(mc.SceneError, match="has no angle"):
            world.joint("joint0").angle
    else:
        assert isinstance(world.joint("joint0").angle, float)


def test_limits_of_every_axis_have_a_place_of_their_own():
    """Six coordinates with limits, as only the records allow so far: the swing limit's number was that of axis 3."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1, 2, 3), angular_velocity=(-3, 0, 0))
    joint = scene.add_joint(mc.FreeJoint(None, "b"))
    world = mc.World(scene)
    world._joints["axes"]["lower"][0] = -0.2
    world._joints["axes"]["upper"][0] = 0.3
    for _ in range(60):
        world.apply_torque("b", (-2.4, 0, 0))
        world.step()
    assert world.joint(joint).position == pytest.approx((0.3, 0.3, 0.3, -0.2, 0.0, 0.0), abs=1e-4)
    assert world._joints["axes"]["impulse"][0, 3, 0] == pytest.approx(2.4 / 240)
    assert world._joints["swing_impulse"][0] == 0.0
