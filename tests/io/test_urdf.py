"""URDF files: every feature of the format, and what is said of files that are wrong."""

import random
import re
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount
from mcsim.cli import main
from mcsim.core.rotation import matrix
from mcsim.io import UrdfWarning, load_urdf
from urdf_robots import ARM, GRIPPER, agree, collision, joint, link, pinocchio_model, robot

# ---- links and joints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("merge_fixed", [True, False])
@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_an_arm_is_pinocchios(write, base, merge_fixed):
    """Masses, inertias and kinematics, whether the weld makes one body or stays a joint."""
    path = write(ARM)
    scene = mc.load(path, base=base, merge_fixed=merge_fixed)
    assert scene.name == "arm"
    bodies = ["base", "upper", "slide"] if merge_fixed else ["base", "upper", "tip", "slide"]
    assert [body.name for body in scene.bodies] == bodies
    assert [joint.name for joint in scene.joints] == (["shoulder", "rail"] if merge_fixed else ["shoulder", "weld", "rail"])
    assert scene.body("base").kind == ("dynamic" if base == "floating" else "static")
    if merge_fixed:
        agree(scene, path, base == "floating")
        assert [type(shape).__name__ for shape in scene.body("upper").shapes] == ["Box", "Sphere"]
        assert np.allclose(scene.body("upper").shapes[1].position, (0, 0, 0.5))
    else:
        assert scene.body("tip").mass == 0.5 and scene.joint("weld").type == "fixed"
    assert scene.joint("shoulder").axes[0].lower == -1.0 and scene.joint("shoulder").axes[0].upper == 2.0
    world = mc.World(scene)
    assert np.abs(world.joint_errors()).max() < 1e-12
    world.step(60)
    assert np.abs(world.joint_errors()).max() < 1e-5
    assert mc.Scene.from_dict(scene.to_dict()) == scene


@given(st.data())
@settings(max_examples=amount(6, 30))
def test_random_trees_are_pinocchios(tmp_path_factory, data):
    """Trees of all kinds of joints that have at most one coordinate, with random places, axes, masses; or no mass."""
    chance = random.Random(data.draw(st.integers(0, 10**6)))
    count = data.draw(st.integers(2, 15))

    def three(size=1.0):
        return " ".join(repr(chance.uniform(-size, size)) for _ in range(3))

    def some_inertia():
        a = np.array([[chance.gauss(0, 0.3) for _ in range(3)] for _ in range(4)])
        second = a.T @ a  # of a cloud of points
        full = np.trace(second) * np.eye(3) - second
        return [repr(float(full[i, j])) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]

    parts = [link("l0", com=three(), i=some_inertia())]
    for k in range(1, count):
        kind = chance.choice(("revolute", "continuous", "prismatic", "fixed"))
        light = kind == "fixed" and chance.random() < 0.5
        parts.append(
            link(f"l{k}", mass=None if light else chance.uniform(0.1, 3), com=three(), rpy=three(3), i=some_inertia())
        )
        parts.append(joint(f"j{k}", kind, f"l{chance.randrange(k)}", f"l{k}", three(), three(3), axis=three()))
    root, *rest = parts
    chance.shuffle(rest)  # a child may stand before its parent
    path = tmp_path_factory.getbasetemp() / "tree.urdf"
    path.write_text(robot(root, *rest))
    for base in ("floating", "fixed"):
        scene = mc.load(path, base=base)
        if any(body.kind == "dynamic" for body in scene.bodies):
            agree(scene, path, base == "floating")
        assert len(mc.load(path, base=base, merge_fixed=False).bodies) >= len(scene.bodies)


def test_box_sizes_and_places(write):
    """Whole sizes become half ones; origin places the shape."""
    scene = mc.load(
        write(
            robot(
                link(
                    "a",
                    collision('<box size="0.2 0.4 0.6"/>', "1 2 3", "0 0 1.5707963267948966"),
                    collision('<cylinder radius="0.1" length="0.5"/>'),
                    collision('<capsule radius="0.2" length="0.6"/>'),
                    collision('<!-- a comment --><sphere radius="0.3"/>'),
                    "<visual><geometry/></visual><collision/>",
                )
            )
        )
    )
    box, cylinder, capsule, sphere = scene.body("a").shapes
    assert box.type == "box" and np.allclose(box.half_extents, (0.1, 0.2, 0.3))
    assert np.allclose(box.position, (1, 2, 3)) and np.allclose(matrix(box.orientation) @ (1, 0, 0), (0, 1, 0))
    assert (cylinder.type, cylinder.radius, cylinder.half_length) == ("cylinder", 0.1, 0.25)
    assert (capsule.type, capsule.radius, capsule.half_length) == ("capsule", 0.2, 0.3)
    assert (sphere.type, sphere.radius) == ("sphere", 0.3)


def test_all_joint_types(write):
    scene = mc.load(
        write(
            robot(
                *(link(name) for name in "abcdefg"),
                joint(
                    "r",
                    "revolute",
                    "a",
                    "b",
                    limit='lower="-0.5" upper="0.25" effort="10" velocity="1"',
                    extra='<dynamics damping="0.3" friction="0.2"/>',
                ),
                joint("c", "continuous", "b", "c", axis="0 0 1", limit='effort="3" velocity="1"'),
                joint("p", "prismatic", "c", "d", axis="0 1 0", limit='lower="-inf" upper="0.5"'),
                joint("f", "fixed", "d", "e"),
                joint("o", "floating", "e", "f"),
                joint("n", "planar", "f", "g", axis="0 0 3"),
            )
        ),
        merge_fixed=False,
    )
    assert [joint.type for joint in scene.joints] == ["hinge", "hinge", "slider", "fixed", "free", "planar"]
    r, c, p = (scene.joint(name).axes[0] for name in "rcp")
    assert (r.lower, r.upper, r.friction, r.spring.damping, r.spring.stiffness) == (-0.5, 0.25, 0.2, 0.3, 0.0)
    assert np.allclose(matrix(scene.joint("r").frame_b[1])[:, 2], (1, 0, 0))  # the axis if none is given
    assert (c.lower, c.upper, c.spring, c.motor) == (-np.inf, np.inf, None, None)
    assert (p.lower, p.upper) == (-np.inf, 0.5)
    assert np.allclose(matrix(scene.joint("n").frame_b[1]), np.eye(3))
    mc.World(scene).step(10)


def test_missing_limits_are_zero(write):
    """As URDF has it: lower and upper are 0 where <limit> gives none."""
    scene = mc.load(write(robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit='upper="1"'))))
    assert (scene.joint("j").axes[0].lower, scene.joint("j").axes[0].upper) == (0.0, 1.0)


def test_damping_slows_as_it_should(write):
    """A wheel in a damped bearing: w = w0 exp(-c t / I)."""
    scene = mc.load(
        write(
            robot(
                link("base"),
                link("wheel"),
                joint("j", "continuous", "base", "wheel", axis="0 0 1", extra='<dynamics damping="0.05"/>'),
            )
        ),
        base="fixed",
    )
    world = mc.World(scene, dt=1e-3)
    world.set_velocity("wheel", angular_velocity=(0, 0, 2.0))
    world.step(1000)
    assert world.joint("j").velocity == pytest.approx(2.0 * np.exp(-0.5), rel=1e-3)


def test_motors(write):
    """They hold what they are asked to, with the file's effort; what mimics another joint has none."""
    text = robot(
        link("base"),
        link("a", com="0.5 0 0"),
        link("b"),
        joint("j", "revolute", "base", "a", axis="0 1 0", limit='lower="-3" upper="3" effort="20"'),
        joint("k", "continuous", "a", "b", extra='<mimic joint="j"/>', limit=None),
    )
    path = write(text)
    assert mc.load(path).joint("j").axes[0].motor is None
    scene = mc.load(path, base="fixed", motors="position", joint_positions={"j": 0.3})
    motor = scene.joint("j").axes[0].motor
    assert (motor.position, motor.max_force) == (0.3, 20.0) and scene.joint("k").axes[0].motor is None
    world = mc.World(scene)
    world.step(120)
    assert abs(world.joint("j").position - 0.3) < 0.03
    motor = mc.load(path, motors="velocity").joint("j").axes[0].motor
    assert (motor.velocity, motor.max_force) == (0.0, 20.0)


@pytest.mark.parametrize("said, speed", [('velocity="0.5"', 0.5), ('velocity="0"', np.inf), ("", np.inf)])
def test_a_position_motor_goes_at_the_velocity_limit_at_most(write, said, speed):
    """0, which files have that know none, and nothing are no limit; nor has a velocity motor any."""
    limit = f'lower="-3" upper="3" effort="200" {said}'
    text = robot(link("base"), link("a", com="0.5 0 0"), joint("j", "revolute", "base", "a", limit=limit))
    path = write(text)
    scene = mc.load(path, base="fixed", motors="position")
    assert scene.joint("j").axes[0].motor.max_velocity == speed
    assert mc.load(path, motors="velocity").joint("j").axes[0].motor.max_velocity == np.inf
    world = mc.World(scene, dt=1 / 240)
    world.joint("j").motor_position = 2.0
    fastest = 0.0
    for _ in range(240):
        world.step()
        fastest = max(fastest, abs(world.joint("j").velocity))
    assert fastest < 0.51 if speed == 0.5 else fastest > 1.0


# ---- the base --------------------------------------------------------------------------------------------------------


def test_a_root_called_world_is_the_base(write):
    """Whatever `base` says; and it needs no mass."""
    path = write(robot(link("world", mass=None), link("a"), joint("j", "continuous", "world", "a", "0 0 1")))
    for base in ("floating", "fixed"):
        scene = mc.load(path, base=base)
        assert scene.body("world").kind == "static" and scene.body("a").kind == "dynamic"
        agree(scene, path, floating=False)


def test_what_is_fixed_to_the_world_stands(write):
    path = write(
        robot(
            link("world", mass=None),
            link("foot", collision('<box size="1 1 1"/>')),
            link("a"),
            joint("w", "fixed", "world", "foot", "0 0 1"),
            joint("j", "continuous", "foot", "a", "0 0 1"),
        )
    )
    scene = mc.load(path)
    assert [body.name for body in scene.bodies] == ["world", "a"] and len(scene.body("world").shapes) == 1
    agree(scene, path, floating=False)
    scene = mc.load(path, merge_fixed=False)
    assert [body.name for body in scene.bodies] == ["world", "foot", "a"]
    world = mc.World(scene)
    world.step(10)
    assert np.abs(world.velocities[1]).max() < 1e-9


def test_the_root_is_placed(write):
    q = np.array([0.5, 0.5, 0.5, 0.5])
    scene = mc.load(write(ARM), position=(1, 2, 3), orientation=q)
    assert np.allclose(scene.body("base").position, (1, 2, 3)) and np.allclose(scene.body("base").orientation, q)
    plain = mc.load(write(ARM))
    for body in plain.bodies:
        assert np.allclose(scene.body(body.name).position, matrix(q) @ body.position + (1, 2, 3))
    mc.World(scene)
    assert np.abs(mc.World(scene).joint_errors()).max() < 1e-12


def test_joint_positions(write):
    """Bodies start where the joints are, and the joints know their coordinates."""
    path = write(ARM)
    given = {"shoulder": 0.7, "rail": -0.4}
    scene = mc.load(path, joint_positions=given)
    world = mc.World(scene)
    for name, value in given.items():
        assert world.joint(name).position == pytest.approx(value, abs=1e-12)
    assert np.abs(world.joint_errors()).max() < 1e-12


# ---- lumping ---------------------------------------------------------------------------------------------------------


def test_massless_links_are_lumped_both_ways(write):
    """A massless root takes the mass of what hangs on it; a massless flange goes to what it hangs on."""
    text = robot(
        link("footprint", mass=None),
        link("trunk", mass=5.0, com="0 0 0.1"),
        link("lid", mass=1.0),
        link("arm"),
        link("flange", collision('<sphere radius="0.1"/>', "0 0 0.1"), mass=None),
        link("tool", mass=None),
        joint("up", "fixed", "footprint", "trunk", "0 0 0.3", "0 0 1"),
        joint("on", "fixed", "trunk", "lid", "0 0 0.4"),
        joint("j", "continuous", "trunk", "arm", "0.2 0 0", axis="0 0 1"),
        joint("k", "fixed", "arm", "flange", "0 0 1"),
        joint("l", "fixed", "flange", "tool", "0 0 1"),
    )
    path = write(text)
    scene = mc.load(path)
    assert [body.name for body in scene.bodies] == ["footprint", "arm"]
    agree(scene, path, floating=True)
    assert scene.body("footprint").mass == 6.0
    assert np.allclose(scene.body("footprint").center_of_mass, (0, 0, (5 * 0.4 + 0.7) / 6))
    assert np.allclose(scene.body("arm").shapes[0].position, (0, 0, 1.1))
    scene = mc.load(path, merge_fixed=False)
    assert [body.name for body in scene.bodies] == ["footprint", "lid", "arm"]
    assert scene.joint("on").a == "footprint" and scene.body("footprint").mass == 5.0
    assert np.abs(mc.World(scene).joint_errors()).max() < 1e-12


def test_inertia_without_mass_counts(write):
    """As Pinocchio has it: a rotor that weighs nothing adds to the inertia of its body."""
    path = write(
        robot(
            link("a"),
            link("rotor", mass=0, i=(0.01, 0, 0, 0.02, 0, 0.03)),
            joint("w", "fixed", "a", "rotor", "1 0 0", "0.3 0.2 0.1"),
        )
    )
    agree(mc.load(path), path, floating=True)


def test_a_moving_link_needs_mass(write):
    text = robot(link("base"), link("ghost", mass=None), joint("j", "continuous", "base", "ghost"))
    with pytest.raises(mc.SceneError, match="line 4: link 'ghost': has no mass, but joint 'j' moves it; give"):
        mc.load(write(text))
    with pytest.raises(mc.SceneError, match=r"link 'alone': has no mass, but it is the floating root; .* base='fixed'"):
        mc.load(write(robot(link("alone", mass=None))))
    assert mc.load(write(robot(link("alone", mass=None))), base="fixed").bodies[0].kind == "static"


# ---- inertia ---------------------------------------------------------------------------------------------------------


def test_the_triangle_inequality(write):
    """Warned of by name and taken as it is, or refused; a scene saved with it loads again."""
    path = write(robot(link("a"), link("odd", i=(1, 0, 0, 1, 0, 3)), joint("j", "continuous", "a", "odd")))
    with pytest.warns(UrdfWarning, match="robot.urdf: the inertia of link odd is that of no solid") as caught:
        scene = mc.load(path)
    assert caught[0].filename == __file__
    assert np.allclose(scene.body("odd").inertia, np.diag((1, 1, 3)))
    agree(scene, path, floating=True)
    scene.save(path.parent / "scene.json")
    assert mc.load(path.parent / "scene.json") == scene
    with pytest.raises(mc.SceneError, match="line 4: link 'odd': inertia breaks the triangle inequality.* 1, 1, 3"):
        mc.load(path, inertia="strict")
    mc.load(write(robot(link("a"), joint("w", "fixed", "a", "b"), link("b"))), inertia="strict")


@pytest.mark.parametrize("i", [(1, 0, 0, 1, 0, -1), (1, 2, 0, 1, 0, 1), (0, 0, 0, 0, 0, 0)])
def test_inertia_must_be_positive_definite(write, i):
    text = robot(link("a"), link("bad", i=i), joint("j", "continuous", "a", "bad"))
    for strictness in ("warn", "strict"):
        with pytest.raises(mc.SceneError, match="link 'bad': inertia must be positive definite, its principal moments"):
            mc.load(write(text), inertia=strictness)


def test_a_lumped_link_may_be_a_point(write):
    """A point mass on an arm is fine; one that is less than nothing is told of, and blamed if it spoils the body."""

    def fixed_to_arm(i):
        return robot(link("arm"), link("knob", i=i, mass=0.2), joint("w", "fixed", "arm", "knob", "1 0 0"))

    path = write(fixed_to_arm((0, 0, 0, 0, 0, 0)))
    agree(mc.load(path, inertia="strict"), path, floating=True)
    path = write(fixed_to_arm((1e-6, 0, 0, 1e-6, 0, -1e-6)))
    with pytest.warns(UrdfWarning, match="link knob"):
        agree(mc.load(path), path, floating=True)
    with pytest.raises(mc.SceneError, match="link 'knob': inertia must be positive definite"):
        mc.load(path, inertia="strict")
    with pytest.raises(mc.SceneError, match="link 'knob': inertia, together with arm, must be positive definite"):
        mc.load(write(fixed_to_arm((-1, 0, 0, 1, 0, 1))))


# ---- mimic -----------------------------------------------------------------------------------------------------------


def test_mimic_joints_are_geared(write):
    """They start where they belong, also through one another, and stay there."""
    scene = mc.load(write(GRIPPER), base="fixed", joint_positions={"open": 0.1})
    gears = [joint for joint in scene.joints if joint.type == "gear"]
    assert [(g.name, g.joint_a, g.joint_b, g.ratio, g.constant) for g in gears] == [
        ("follow_mimic", "follow", "open", -2.0, 0.05),
        ("bend_mimic", "bend", "follow", 3.0, 0.0),
    ]
    world = mc.World(scene)
    for step in range(60):
        q = {name: world.joint(name).position for name in ("open", "follow", "bend")}
        assert q["follow"] == pytest.approx(2 * q["open"] + 0.05, abs=1e-4)
        assert q["bend"] == pytest.approx(-3 * q["follow"], abs=1e-4)
        if step == 0:
            assert q["open"] == pytest.approx(0.1, abs=1e-12)
        world.apply_force("left", (0, 1.0, 0))
        world.step(1)
    assert world.joint("open").position > 0.11


# ---- meshes ----------------------------------------------------------------------------------------------------------


def mesh(filename, scale=None):
    scale = f' scale="{scale}"' if scale else ""
    return collision(f'<mesh filename="{filename}"{scale}/>')


def write_mesh(path, points, shape="hull"):
    """A file with the hull of some points."""
    import trimesh

    path.parent.mkdir(parents=True, exist_ok=True)
    trimesh.convex.convex_hull(np.array(points, float)).export(path)
    return path


CUBE = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]


@pytest.mark.parametrize("suffix", ["stl", "obj", "dae"])
def test_meshes_become_hulls(write, tmp_path, suffix):
    write_mesh(tmp_path / f"meshes/cube.{suffix}", CUBE)
    name = f"meshes/cube.{suffix}"
    scene = mc.load(write(robot(link("a", mesh(name), mesh(name, "0.1 0.1 -0.2")))))
    plain, scaled = scene.body("a").shapes
    assert plain.type == "hull" and len(plain.vertices) == 8 and plain.volume == pytest.approx(6.0, rel=1e-6)
    assert np.allclose(np.ptp(scaled.vertices, axis=0), (0.1, 0.2, 0.6)) and scaled.vertices[:, 2].min() < -0.59


def test_units_of_collada(write, tmp_path):
    """A drawing in centimetres comes in metres."""
    path = write_mesh(tmp_path / "cube.dae", CUBE)
    text = path.read_text()
    assert len(re.findall(r"<asset>", text)) == 1
    path.write_text(re.sub(r"<unit[^>]*/>", "", text).replace("<asset>", '<asset><unit name="cm" meter="0.01"/>'))
    (hull,) = mc.load(write(robot(link("a", mesh("cube.dae"))))).body("a").shapes
    assert np.allclose(np.ptp(hull.vertices, axis=0), (0.01, 0.02, 0.03))


def test_large_hulls_are_simplified(write, tmp_path):
    """Down to what is asked for; nothing sticks out, the box stays, and little volume is lost."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(3000, 3))
    points = points / np.linalg.norm(points, axis=1)[:, None] * (1, 0.3, 0.1)
    write_mesh(tmp_path / "egg.stl", points)
    path = write(robot(link("a", mesh("egg.stl"))))
    whole = 4 / 3 * np.pi * 0.03
    for count, share in ((64, 0.75), (256, 0.92), (8, 0.1)):
        (hull,) = mc.load(path, hull_vertices=count).body("a").shapes
        assert len(hull.vertices) <= count and share * whole < hull.volume < whole
        assert np.allclose(np.ptp(hull.vertices, axis=0), np.ptp(points, axis=0), rtol=1e-6)
        assert (np.linalg.norm(hull.vertices / (1, 0.3, 0.1), axis=1) < 1 + 1e-6).all()


def test_packages_are_found(write, tmp_path, monkeypatch):
    """Named; above the file, by folder or package.xml; along the paths of ROS; by file://."""

    def found(filename, **arguments):
        (tmp_path / "my_robot/urdf").mkdir(parents=True, exist_ok=True)
        path = write(robot(link("a", mesh(filename))), "my_robot/urdf/robot.urdf")
        return len(mc.load(path, **arguments).body("a").shapes) == 1

    cube = write_mesh(tmp_path / "my_robot/meshes/cube.stl", CUBE)
    assert found("package://my_robot/meshes/cube.stl") and found("model://my_robot/meshes/cube.stl")
    assert found("../meshes/cube.stl") and found(f"file://{cube}") and found(str(cube))
    (tmp_path / "my_robot/package.xml").write_text("<package><name>other_name</name></package>")
    assert found("package://other_name/meshes/cube.stl")
    write_mesh(tmp_path / "beside/meshes/cube.stl", CUBE)
    assert found("package://beside/meshes/cube.stl")
    write_mesh(tmp_path / "far/away/far_robot/cube.stl", CUBE)
    assert found("package://far_robot/cube.stl", packages={"far_robot": tmp_path / "far/away/far_robot"})
    assert found("package://far_robot/cube.stl", packages=f"far_robot={tmp_path}/far/away/far_robot")
    with pytest.raises(mc.SceneError, match="link 'a': the mesh 'package://far_robot/cube.stl' is not there; looked"):
        found("package://far_robot/cube.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nothing:{tmp_path}/far/away")
    assert found("package://far_robot/cube.stl")
    write_mesh(tmp_path / "install/share/ros2_robot/cube.stl", CUBE)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/install")
    assert found("package://ros2_robot/cube.stl")


def test_meshes_that_are_missing_or_broken(write, tmp_path):
    path = write(robot(link("a", mesh("gone.stl"), collision('<sphere radius="1"/>'))))
    with pytest.raises(mc.SceneError, match="urdf: line 3: link 'a': the mesh 'gone.stl' is not there; .*packages="):
        mc.load(path)
    with pytest.warns(UrdfWarning, match="left out meshes that are not there, of links a"):
        assert len(mc.load(path, meshes="found").body("a").shapes) == 1
    assert len(mc.load(path, meshes="none").body("a").shapes) == 1
    write_mesh(tmp_path / "cube.stl", CUBE)
    (tmp_path / "text.stl").write_text("solid nothing\n")
    (tmp_path / "text.xyzzy").write_text("?")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    for filename, words in [
        ("text.stl", "the mesh .*text.stl"),
        ("text.xyzzy", "cannot be read"),
        ("flat.obj", "flat"),
        ("http://example.org/a.stl", "not a file here"),
        ("", "filename is empty"),
    ]:
        for meshes in ("required", "found"):
            with pytest.raises(mc.SceneError, match=f"link 'a': .*{words}"):
                mc.load(write(robot(link("a", mesh(filename)))), meshes=meshes)
    with pytest.raises(mc.SceneError, match="flat"):
        mc.load(write(robot(link("a", mesh("cube.stl", "1 1 0")))))


# ---- collisions ------------------------------------------------------------------------------------------------------


def test_neighbours_do_not_collide_others_do(write):
    """Three balls in one place: those that a joint joins leave each other alone."""
    ball = collision('<sphere radius="0.2"/>')
    path = write(
        robot(
            link("a", ball),
            link("b", ball),
            link("c", ball),
            joint("j", "continuous", "a", "b"),
            joint("k", "continuous", "b", "c", "0.01 0 0"),
        )
    )
    world = mc.World(mc.load(path, base="fixed", ignore_overlaps=False))
    world.step(1)
    assert {(int(c["body_a"]), int(c["body_b"])) for c in world.contacts} == {(0, 2)}
    scene = mc.load(path, base="fixed", self_collision=False)
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(0.1, 0, 0))
    world = mc.World(scene)
    world.step(1)
    assert {(int(c["body_a"]), int(c["body_b"])) for c in world.contacts} == {(0, 3), (1, 3), (2, 3)}


def test_links_that_overlap_at_zero_do_not_collide(write, caplog):
    """a and c stand in each other at zero, wherever they start; b and d do not, even if they do where they start. Those
    that just touch collide."""
    ball = collision('<sphere radius="0.2"/>')
    path = write(
        robot(
            link("a", ball),
            link("b", ball),
            link("c", ball),
            link("d", ball),
            joint("j", "prismatic", "a", "b", "0.3 0 0", limit="lower='-9' upper='9'"),
            joint("k", "prismatic", "b", "c", "0.05 0 0", limit="lower='-9' upper='9'"),
            joint("l", "prismatic", "c", "d", "0.35 0 0", limit="lower='-9' upper='9'"),
        )
    )
    with caplog.at_level("INFO", "mcsim"):
        scene = mc.load(path)
    assert scene.ignored_pairs == [("a", "c")] and mc.load(path, ignore_overlaps="false").ignored_pairs == []
    assert f"{path}: these links overlap at zero and do not collide: a and c" in caplog.text
    scene = mc.load(path, joint_positions={"l": -0.2})
    assert scene.ignored_pairs == [("a", "c")]
    for kind in (mc.World, mc.ReducedWorld):
        world = kind(scene)
        rows = world.rows
        found = {tuple(sorted(world.body_names[i] for i in pair)) for pair in rows["bodies"][rows["kind"] == "normal"]}
        assert found == {("b", "d")}


# ---- arguments, the command line, without yourdfpy -------------------------------------------------------------------


def test_text_is_as_good(write):
    path = write(ARM)
    assert mc.load(path, merge_fixed="false", position="0,0,1", hull_vertices="32") == mc.load(
        path, merge_fixed=False, position=(0, 0, 1)
    )
    assert load_urdf(path) == mc.load(str(path))


def test_command_line(write, capsys):
    path = write(robot(link("a"), link("odd", i=(1, 0, 0, 1, 0, 3)), joint("j", "continuous", "a", "odd")))
    assert main(["check", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"ok: {path}: scene 'robot', 2 bodies (2 dynamic)") and "1 joint" in out
    assert err == f"warning: {path}: {err.split(': ', 2)[2]}" and "link odd" in err and err.count("\n") == 1
    assert main(["check", str(path), "--set", "inertia=strict"]) == 2
    assert "error: " in capsys.readouterr().err
    assert main(["run", str(path), "--set", "base=fixed", "--seconds", "0.1"]) == 0
    assert "robot: 2 bodies, 1 joint" in capsys.readouterr().out


def test_without_yourdfpy(write, monkeypatch, capsys):
    path = write(ARM)
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'mcsim-physics[urdf]'")):
        mc.load(path)
    assert main(["check", str(path)]) == 2
    assert "pip install 'mcsim-physics[urdf]'" in capsys.readouterr().err


# ---- a robot that was built ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["floating", pytest.param("fixed", marks=pytest.mark.slow)])
def test_jvrc(base):
    """The JVRC-1 humanoid: 44 links, mimicking fingers, Collada meshes in package:// paths."""
    import jvrc_description

    path = jvrc_description.urdf_path
    scene = mc.load(path, base=base)
    agree(scene, path, base == "floating")
    assert sum(shape.type == "hull" for body in scene.bodies for shape in body.shapes) > 30
    assert sum(joint.type == "gear" for joint in scene.joints) == 10
    world = mc.World(mc.load(path, base=base, self_collision=False))
    world.step(60)
    assert np.abs(world.joint_errors()).max() < 1e-4 and np.isfinite(world.positions).all()


def test_accelerations_are_pinocchios(write):
    """The first step of a free humanoid, without what limits and drives it, goes as aba says."""
    import jvrc_description
    import pinocchio as pin

    data = mc.load(jvrc_description.urdf_path, base="fixed", meshes="none").to_dict()
    data["joints"] = [
        {key: value for key, value in joint.items() if key not in ("limits", "spring", "friction")}
        for joint in data["joints"]
        if joint["type"] != "gear"
    ]
    for body in data["bodies"]:
        body.pop("shapes", None)
    dt = 1e-6
    world = mc.World(mc.Scene.from_dict(data), dt=dt, substeps=1)
    world.step(1)
    model = pinocchio_model(jvrc_description.urdf_path, floating=False)
    zero = np.zeros(model.nv)
    theirs = pin.aba(model, model.createData(), pin.neutral(model), zero, zero)
    for name in model.names[1:]:
        ours = world.joint(name).velocity / dt
        assert abs(ours - theirs[model.joints[model.getJointId(name)].idx_v]) < 1e-7 * np.abs(theirs).max()
