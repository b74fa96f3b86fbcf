"""What the readers of robots' files share: floating bases by a joint, named frames, starts outside of limits, floors."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount
from mcsim.cli import main
from mcsim.core.rotation import matrix
from mcsim.io import UrdfWarning, load_urdf, read_urdf
from mcsim.scenes import with_floor
from urdf_robots import ARM, joint, link, pinocchio_model, robot


def pinocchio_q(q):
    """A floating robot's q as Pinocchio has it: its quaternions are (x, y, z, w)."""
    return np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])


def pinocchio_v(q, v):
    """Its velocities: the base's linear velocity along its own axes."""
    turn = np.eye(len(v))
    turn[:3, :3] = matrix(q[3:7]).T
    return turn @ v, turn


def test_a_base_by_a_free_joint_has_pinocchios_coordinates(write):
    """q is Pinocchio's but for the order of the quaternion, q̇ but for the axes of the base's velocity; M and the bias force
    are its own, transformed likewise."""
    path = write(ARM)
    scene = load_urdf(path, base="free_joint")
    assert scene.joints[0].name == "base_free" and scene.joints[0].type == "free"
    dynamics = mc.reduced.Dynamics(mc.reduced.System(scene))
    model = pinocchio_model(path, floating=True)
    data = model.createData()
    assert (dynamics.system.nq, dynamics.system.nv) == (model.nq, model.nv)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
        q[3:7] /= np.linalg.norm(q[3:7])
        theirs, turn = pinocchio_v(q, v)
        inertia = pin.crba(model, data, pinocchio_q(q))
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        assert np.abs(dynamics.mass_matrix(q) - turn.T @ inertia @ turn).max() < 1e-10
        bias = turn.T @ pin.nonLinearEffects(model, data, pinocchio_q(q), theirs)
        # The rate of the transformation: the base's velocity along the world's axes turns no longer with the base.
        spin, speed = v[3:6], theirs[:3]
        rate = np.concatenate([-np.cross(spin, speed), np.zeros(model.nv - 3)])
        assert np.abs(dynamics.bias_force(q, v) - bias - turn.T @ inertia @ rate).max() < 1e-9
    start = load_urdf(path, base="free_joint", position=(1, 2, 3), orientation=(0.6, 0.8, 0, 0))
    assert mc.ReducedWorld(start).q[:7] == pytest.approx([1, 2, 3, 0.6, 0.8, 0, 0], abs=1e-15)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_a_free_joint_changes_no_motion(write, kind):
    """It forbids nothing: the same fall and swing without it."""
    worlds = [kind(load_urdf(write(ARM), base=base), dt=1e-3) for base in ("floating", "free_joint")]
    for world in worlds:
        world.set_velocity("base", velocity=(1, 0, 2), angular_velocity=(0.5, 1, -2))
        world.step(200)
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 1e-6


@given(st.integers(0, 10**6))
@settings(max_examples=amount(4, 30))
def test_frames_of_merged_links_are_pinocchios(tmp_path_factory, seed):
    """Poses, velocities and Jacobians of links that are one body with others, in both worlds."""
    rng = np.random.default_rng(seed)

    def three(size=1.0):
        return " ".join(map(repr, rng.uniform(-size, size, 3).tolist()))

    parts = [link("l0")]
    for k in range(1, 7):
        kind = rng.choice(["revolute", "prismatic", "fixed", "fixed"])
        parts += [
            link(f"l{k}", com=three()),
            joint(f"j{k}", kind, f"l{rng.integers(k)}", f"l{k}", three(), three(3), three()),
        ]
    path = tmp_path_factory.getbasetemp() / "frames.urdf"
    path.write_text(robot(*parts))
    read = read_urdf(path, base="free_joint")
    assert set(read.frames) == {f"l{k}" for k in range(7)} - {body.name for body in read.scene.bodies}
    model = pinocchio_model(path, floating=True)
    data = model.createData()
    world = mc.ReducedWorld(read.scene)
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    q[3:7] /= np.linalg.norm(q[3:7])
    order = [world.index(name)[1].start for name in list(model.names)[2:]]  # theirs may come in another order
    ours_v = v.copy()
    q_theirs, _ = pinocchio_q(q), None
    for k, place in enumerate(order):
        q_theirs[7 + k], v[6 + k] = q[1 + place], ours_v[place]
    world.q[:], world.qd[:] = q, ours_v
    pin.forwardKinematics(model, data, q_theirs, pinocchio_v(q, v)[0])
    pin.updateFramePlacements(model, data)
    for name, frame in read.frames.items():
        number = model.getFrameId(name, pin.FrameType.BODY)
        motion = pin.getFrameVelocity(model, data, number, pin.LOCAL_WORLD_ALIGNED)
        for running in (world, world.maximal()):
            position, orientation = frame.pose(running)
            assert np.abs(position - data.oMf[number].translation).max() < 1e-9
            assert np.abs(matrix(orientation) - data.oMf[number].rotation).max() < 1e-9
            velocity, spin = frame.velocity(running)
            assert np.abs(velocity - motion.linear).max() < 1e-9 and np.abs(spin - motion.angular).max() < 1e-9
        assert np.abs(frame.jacobian(world) @ ours_v - np.concatenate([motion.linear, motion.angular])).max() < 1e-9


def test_frames_that_are_not_there(write):
    read = read_urdf(write(ARM))
    assert list(read.frames) == ["tip"]
    with pytest.raises(mc.SceneError, match="there is no frame 'tup'; did you mean 'tip'"):
        read.frame("tup")
    assert read_urdf(write(ARM), merge_fixed=False).frames == {}
    fixed = read_urdf(
        write(robot(link("a"), link("b"), link("c"), joint("w", "fixed", "a", "b"), joint("j", "revolute", "a", "c"))),
        base="fixed",
    )
    assert np.allclose(fixed.frame("b").jacobian(mc.ReducedWorld(fixed.scene)), 0.0)


def test_starts_outside_of_limits_are_told_of(write):
    limit = 'lower="0.5" upper="2"'
    path = write(robot(link("a"), link("b"), joint("j", "revolute", "a", "b", axis="0 0 1", limit=limit)))
    with pytest.warns(UrdfWarning, match=r"outside of their limits.*j \(0 rad, limits 0.5 to 2\)") as caught:
        mc.load(path)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mc.load(path, joint_positions={"j": 0.5})
    # An angle of more than half a turn is told by the poses: there a world finds it outside.
    wide = write(robot(link("a"), link("b"), joint("j", "revolute", "a", "b", axis="0 0 1", limit='lower="0" upper="6"')))
    with pytest.warns(UrdfWarning, match=r"j \(-2.283 rad"):
        scene = mc.load(wide, joint_positions={"j": 4.0})
    assert mc.World(scene).joint("j").position == pytest.approx(4.0 - 2 * np.pi)


# ---- floors ----------------------------------------------------------------------------------------------------------

SHAPES = {
    "sphere": mc.Sphere(0.3),
    "capsule": mc.Capsule(0.2, 0.5),
    "cylinder": mc.Cylinder(0.3, 0.4),
    "cone": mc.Cone(0.3, 0.4),
    "box": mc.Box((0.1, 0.2, 0.3)),
    "hull": mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (3, -2, 1), (0, 0, 0)])
def test_a_floor_touches_the_lowest_point(kind, gravity):
    """Of a turned shape, whatever is down: the distance to it is zero, and that of all others more."""
    rng = np.random.default_rng(5)
    scene = mc.Scene(gravity=gravity)
    for k in range(3):
        turn = rng.normal(size=4)
        scene.add_body(
            f"b{k}", shape=SHAPES[kind], position=rng.normal(size=3) * 4, orientation=turn / np.linalg.norm(turn)
        )
    with_it = with_floor(scene)
    assert [body.name for body in scene.bodies] == ["b0", "b1", "b2"]
    world = mc.World(with_it)
    distances = [world.distance(f"b{k}", "floor").distance for k in range(3)]
    assert min(distances) == pytest.approx(0.0, abs=1e-9)
    up = -np.array(gravity) if any(gravity) else np.array([0, 0, 1.0])
    assert with_it.body("floor").shapes[0].normal == pytest.approx(up / np.linalg.norm(up))


def test_floors_of_odd_scenes():
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1), offset=-5), kind="static")
    with pytest.raises(mc.SceneError, match="no body has a shape"):
        with_floor(scene)
    scene.add_body("mesh", shape=mc.Mesh([(0, 0, 2), (1, 0, 2), (0, 1, 1.5)], [(0, 1, 2)]), kind="static")
    assert with_floor(scene).body("floor_").position == pytest.approx((0, 0, 1.5))


def test_robots_from_the_command_line(write, capsys, monkeypatch, tmp_path):
    """run --floor for both kinds of robot, check, and what is said of what is left out."""
    monkeypatch.chdir(tmp_path)
    write(ARM)
    body = '<body pos="0 0 2"><freejoint/><geom size=".1"/><body><joint armature="1" margin="1" name="j"/><geom size=".2"/>'
    (tmp_path / "robot.xml").write_text(f"<mujoco><worldbody>{body}</body></body></worldbody></mujoco>")
    for name in ("robot.urdf", "robot.xml"):
        assert main(["run", name, "--floor", "--seconds", "1"]) == 0
        out, err = capsys.readouterr()
        assert "deepest contact" in out and "none overlaps" not in out
        assert ("margin of joints: j" in err) == name.endswith(".xml")
        assert main(["run", name, "--seconds", "0.1"]) == 0
        assert "none overlaps" in capsys.readouterr().out
    assert main(["check", "robot.xml"]) == 0
    assert "2 bodies (2 dynamic), 2 shapes, 2 joints" in capsys.readouterr().out
    assert main(["run", "robot.xml", "--set", "betwen=1"]) == 2
    assert "did you mean 'between'" in capsys.readouterr().err


def test_inertia_of_the_shapes(write):
    """Where the file's is none: that of the shapes of one density, at the file's mass and centre; else the file's own."""
    from urdf_robots import collision

    box = collision('<box size="0.2 0.4 0.6"/>', "0 0 0.1", "0.3 0 0")
    zero = robot(link("a", box, mass=2.0, com="0.01 0 0", i=(0, 0, 0, 0, 0, 0)))
    with pytest.raises(mc.SceneError, match="positive definite.*inertia='shapes' takes that of its shapes"):
        mc.load(write(zero))
    with pytest.warns(UrdfWarning, match="inertia of links a is none, and taken from their shapes"):
        body = mc.load(write(zero), inertia="shapes").body("a")
    shape = mc.Scene().add_body("b", shape=body.shapes, mass=2.0)
    assert np.allclose(body.inertia, shape.inertia, rtol=1e-12) and body.mass == 2.0
    assert np.allclose(body.center_of_mass, (0.01, 0, 0))
    assert mc.load(write(ARM), inertia="shapes") == mc.load(write(ARM))
    with pytest.raises(mc.SceneError, match="positive definite"):
        mc.load(write(robot(link("a", i=(0, 0, 0, 0, 0, 0)))), inertia="shapes")


@pytest.mark.parametrize(
    "first", ['<?xml version="0.0" ?>', "<?xml version='2.7' encoding='utf-8'?>", "", '<?xml version="1.0"?>']
)
def test_other_versions_of_xml_are_read(write, first):
    """As PyBullet's files have them, whose reader passes over the version."""
    assert mc.load(write(first + ARM.split("?>", 1)[1].lstrip())) == mc.load(write(ARM, "other.urdf"))


def test_a_declaration_below_the_top_is_passed_over(write):
    """And lines keep their numbers."""
    late = "<!-- made by hand -->\n\n" + ARM
    assert mc.load(write(late)) == mc.load(write(ARM, "other.urdf"))
    wrong = late.replace('mass value="3.0"', 'mass value="x"')
    line = 1 + wrong[: wrong.index('mass value="x"')].count("\n")
    with pytest.raises(mc.SceneError, match=f"line {line}: link 'base'"):
        mc.load(write(wrong))
