"""MJCF files: geoms, who collides, equality constraints, actuators, sensors, what is left out, and what is wrong."""

import builtins
import math
import warnings

import hypothesis.strategies as st
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount
from mcsim.io import MjcfWarning, load_mjcf, read_mjcf
from mjcf_models import Writer, forward, random_state

BALL = '<geom size=".1" mass="1"/>'


def model_of(*parts, world="", option=""):
    """A model of bodies and what stands beside them."""
    return f"<mujoco>{option}<worldbody>{world}</worldbody>{''.join(parts)}</mujoco>"


# ---- geoms -----------------------------------------------------------------------------------------------------------

TETRAHEDRON = 'vertex="0 0 0  .4 0 0  0 .5 0  .1 .1 .6"'


def rays(world, model, data, count, seed=0, size=1.0):
    """Distances along the same rays: mcsim's and MuJoCo's; infinite where nothing is hit."""
    rng = np.random.default_rng(seed)
    origins, targets = rng.normal(size=(count, 3)), rng.normal(size=(count, 3)) * size
    origins *= 6 / np.linalg.norm(origins, axis=1)[:, None]
    origins[:, 2] = np.abs(origins[:, 2])  # above the ground, which is solid beneath in mcsim alone
    directions = (targets - origins) / np.linalg.norm(targets - origins, axis=1)[:, None]
    ours, theirs = [], []
    for origin, direction in zip(origins, directions):
        hit = world.ray_cast(origin, direction, max_distance=1e6)
        ours.append(np.inf if hit is None else hit.distance)
        found = mujoco.mj_ray(model, data, origin, direction, None, 1, -1, np.zeros(1, np.int32))
        theirs.append(found if found >= 0 else np.inf)
    return np.array(ours), np.array(theirs)


@pytest.mark.parametrize("where", ["in the world", "on a body"])
def test_geoms_stand_where_mujocos_do(where):
    """Rays hit them at the same places: kinds, sizes, positions, turns, in bodies of bodies."""
    chance = Writer(7)
    sizes = {"sphere": ".2", "capsule": ".15 .3", "cylinder": ".2 .25", "box": ".1 .2 .3"}
    geoms = "".join(f'<geom type="{kind}" size="{size}" {chance.place()}/>' for kind, size in sizes.items())
    geoms += f'<geom type="mesh" mesh="t" {chance.place()}/><geom type="plane" size="0 0 1" pos="0 0 -3" euler="5 3 0"/>'
    if where == "on a body":
        plane = geoms[geoms.index('<geom type="plane"') :]
        moving = geoms.removesuffix(plane)
        geoms = f"<body {chance.place()}><freejoint/>{BALL}<body {chance.place()}>{moving}</body></body>{plane}"
    text = model_of(f"<asset><mesh name='t' {TETRAHEDRON}/></asset>", world=geoms)
    model = mujoco.MjModel.from_xml_string(text)
    world = mc.World(load_mjcf(text))
    data = forward(model, model.qpos0, np.zeros(model.nv))
    ours, theirs = rays(world, model, data, amount(200, 2000))
    assert np.isfinite(theirs).sum() > 50
    assert np.array_equal(np.isfinite(ours), np.isfinite(theirs))
    hit = np.isfinite(theirs)
    assert np.abs(ours[hit] - theirs[hit]).max() < 1e-6  # the mesh has single precision in MuJoCo


def test_a_height_field_is_mujocos():
    """A tilted ground with another number of rows than columns: both ways about would be seen."""
    rows, columns = 4, 7
    heights = " ".join(str(0.1 + 0.1 * r + 0.02 * c) for r in range(rows) for c in range(columns))
    asset = f'<asset><hfield name="h" nrow="{rows}" ncol="{columns}" size="1.5 .8 .5 .1" elevation="{heights}"/></asset>'
    text = model_of(asset, world='<geom type="hfield" hfield="h" pos=".1 .2 -.3" euler="0 0 30"/>')
    model = mujoco.MjModel.from_xml_string(text)
    data = forward(model, model.qpos0, np.zeros(0))
    world = mc.World(load_mjcf(text))
    down = np.array([0.0, 0.0, -1.0])
    for x, y in np.random.default_rng(0).uniform(-0.5, 0.5, (40, 2)):
        hit = world.ray_cast((x, y, 5.0), down, max_distance=10.0)
        theirs = mujoco.mj_ray(model, data, np.array([x, y, 5.0]), down, None, 1, -1, np.zeros(1, np.int32))
        assert hit.distance == pytest.approx(theirs, abs=1e-6)


def test_ellipsoids_are_ellipsoids():
    robot = read_mjcf(model_of(world='<body><freejoint/><geom name="egg" type="ellipsoid" size=".3 .2 .1"/></body>'))
    (egg,) = robot.scene.bodies[0].shapes
    assert egg.type == "ellipsoid" and egg.radii == (0.3, 0.2, 0.1) and not robot.left_out
    model = mujoco.MjModel.from_xml_string(
        model_of(world='<body><freejoint/><geom type="ellipsoid" size=".3 .2 .1"/></body>')
    )
    assert robot.scene.bodies[0].mass == pytest.approx(model.body_mass[1], rel=1e-14)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("way", [(9.81, 0, 0), (4, -8, 0)])
def test_a_ball_joint_leans_as_far_as_its_limit(kind, way):
    """A link that hangs on a ball and is pulled aside comes to rest at the limit, as in MuJoCo."""
    joint = '<joint name="k" type="ball" limited="true" range="0 30" damping=".05"/>'
    link = '<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="1"/>'
    text = model_of(world=f'<body name="link" pos="0 0 1">{joint}{link}</body>')
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.gravity[:] = way
    data = mujoco.MjData(model)
    scene = read_mjcf(text).scene
    scene.gravity = way
    world = kind(scene, dt=1 / 240)
    world.step(1200)
    for _ in range(5000):
        mujoco.mj_step(model, data)
    theirs = 2 * np.arccos(data.qpos[0])
    ours = np.linalg.norm(world.joint("k").position)
    assert ours == pytest.approx(math.radians(30), abs=1e-3) and theirs == pytest.approx(ours, abs=0.03)


def test_pairs_of_geoms_have_their_friction():
    """Exactly those two geoms, each with a material of its name; what else the pair says stands in the list."""
    ball = '<geom name="{}" size=".1" pos="{} 0 0" friction=".9" condim="6"/>'
    world = f'<geom name="floor" type="plane" size="5 5 1"/><body pos="0 0 .1"><freejoint/>{ball.format("a", 0)}'
    world += ball.format("b", 1) + "</body>"
    pairs = '<contact><pair geom1="floor" geom2="a" condim="4" friction=".1 .1 .02 .003 .003"/>'
    pairs += '<pair geom1="floor" geom2="b" condim="3" friction=".1 .2 0 0 0" margin=".1" solref=".1 1"/></contact>'
    robot = read_mjcf(model_of(pairs, world=world))
    names = [[shape.material.name for shape in body.shapes] for body in robot.scene.bodies]
    assert names == [["floor"], ["a", "b"]]
    told = [(pair.of, {pair.a, pair.b}, pair.numbers) for pair in robot.scene.pair_materials]
    assert told == [
        ("materials", {"floor", "a"}, (0.1, None, 0.0, 0.02)),
        ("materials", {"floor", "b"}, (0.1, None, 0.0, 0.0)),
    ]
    assert robot.left_out == {
        "friction of contact pairs that differs by direction": ["floor and b"],
        "margin and gap of contact pairs": ["floor and b"],
        "solref and solimp of contact pairs": ["floor and b"],
    }
    assert read_mjcf(model_of(world=world)).scene.bodies[1].shapes[0].material.name is None


def test_friction_is_by_condim():
    geoms = "".join(f'<geom size="1" friction=".7 .02 .003" condim="{dim}"/>' for dim in (1, 3, 4, 6))
    scene = load_mjcf(model_of(world=geoms))
    found = [(m.friction, m.torsional_friction, m.rolling_friction) for m in (s.material for s in scene.bodies[0].shapes)]
    assert found == [(0, 0, 0), (0.7, 0, 0), (0.7, 0.02, 0), (0.7, 0.02, 0.003)]


# ---- who collides ----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 3), st.booleans()), min_size=1, max_size=6),
    st.tuples(st.integers(0, 7), st.integers(0, 7)),
    st.booleans(),
)
@settings(max_examples=amount(10, 200))
def test_the_pairs_that_collide_are_mujocos(bodies, ground, excluded):
    """Balls at about one place touch if contype and conaffinity say so: of the world, of bodies with one joint, several or
    none, each beneath the one before or beside it; parents and children do not."""

    def ball(i, contype, conaffinity):
        return f'<geom size=".5" pos="{0.01 * i} 0 0" contype="{contype}" conaffinity="{conaffinity}"/>'

    text, depth = ball(0, *ground), 0
    for i, (contype, conaffinity, joints, beneath) in enumerate(bodies):
        if not beneath:
            text, depth = text + "</body>" * depth, 0
        held = "".join(f'<joint axis="{axis}"/>' for axis in ("0 0 1", "1 0 0", "0 1 0")[:joints])
        inertia = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        text += f'<body name="b{i}">{inertia}{held}{ball(i + 1, contype, conaffinity)}'
        depth += 1
    exclude = '<contact><exclude body1="b0" body2="world"/></contact>' if excluded else ""
    text = model_of(exclude, world=text + "</body>" * depth)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    leader = [model.body(model.body_weldid[i]).name for i in range(model.nbody)]
    theirs = {frozenset(leader[model.geom_bodyid[geom]] for geom in contact.geom) for contact in data.contact}
    scene = read_mjcf(text).scene
    if any(len(bits) > 1 for bits in _bits_by_body(model).values()) or not any(b.kind == "dynamic" for b in scene.bodies):
        return
    world = mc.World(scene)
    world.step()
    names = world.body_names
    assert {frozenset((names[point["body_a"]], names[point["body_b"]])) for point in world.contacts} == theirs


def _bits_by_body(model):
    """What geoms of each body of the scene say, of those that say anything: one body has one answer there."""
    found = {}
    for i in range(model.ngeom):
        bits = int(model.geom_contype[i]), int(model.geom_conaffinity[i])
        if any(bits):
            found.setdefault(int(model.body_weldid[model.geom_bodyid[i]]), set()).add(bits)
    return found


def test_what_is_added_later_collides_as_a_geom_that_says_nothing():
    world = '<body name="{}"><freejoint/><geom size=".5" contype="{}" conaffinity="{}"/></body>'
    kinds = {"a": (1, 0), "b": (0, 1), "c": (2, 2), "d": (3, 0)}
    scene = load_mjcf(model_of(world="".join(world.format(name, *bits) for name, bits in kinds.items())))
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    running = mc.World(scene)
    running.step()
    floor = running.body("floor").index
    touching = {
        running.body_names[p["body_b" if p["body_a"] == floor else "body_a"]]
        for p in running.contacts
        if floor in (p["body_a"], p["body_b"])
    }
    assert touching == {"a", "b", "d"}


def test_switches():
    body = (
        f'<body><joint axis="0 1 0" limited="true" range="-10 10" stiffness="2" damping="3" frictionloss="1"/>{BALL}</body>'
    )
    flags = {"gravity", "contact", "limit", "spring", "damper", "frictionloss"}
    for off in ("", *flags):
        option = f'<option><flag {off}="disable"/></option>' if off else ""
        scene = read_mjcf(model_of(world=body, option=option)).scene
        (axis,) = scene.joints[0].axes
        assert (scene.gravity[2] == 0.0) == (off == "gravity")
        assert (scene.bodies[0].collision_mask == 0) == (off == "contact")
        assert np.isinf(axis.upper) == (off == "limit")
        assert (axis.friction == 0.0) == (off == "frictionloss")
        assert (axis.spring.stiffness, axis.spring.damping) == (2 * (off != "spring"), 3 * (off != "damper"))


# ---- what couples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["connect", "connect sites", "weld", "weld sites"])
def test_equality_between_bodies_is_mujocos(kind):
    """How far they are open at a random pose is what MuJoCo says; they are closed where MuJoCo has them closed."""
    chance = Writer(11)
    bodies = "".join(
        f'<body name="b{i}" {chance.place()}><freejoint/>{BALL}<body name="w{i}" {chance.place()}>{BALL}'
        f'<site name="s{i}" {chance.place()}/></body></body>'
        for i in range(2)
    )
    if "sites" in kind:
        ends = 'site1="s0" site2="s1"'
    else:
        ends = 'body1="w0" body2="w1" anchor=".1 .2 .3"'
    text = model_of(f'<equality><{kind.split()[0]} name="e" {ends}/></equality>', world=bodies)
    model = mujoco.MjModel.from_xml_string(text)
    q = random_state(model, 3)[0]
    for here in (model.qpos0, q):
        data = mujoco.MjData(model)
        data.qpos[:] = here
        mujoco.mj_forward(model, data)
        key = f'<keyframe><key qpos="{" ".join(map(repr, here.tolist()))}"/></keyframe></mujoco>'
        scene = load_mjcf(text.replace("</mujoco>", key), keyframe=0)
        metres, radians = mc.World(scene).joint_errors()[scene.joint("e").index]
        rows = data.efc_pos[data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
        assert metres == pytest.approx(np.linalg.norm(rows[:3]), abs=1e-9)
        if len(rows) == 6:
            assert np.sin(radians / 2) == pytest.approx(np.linalg.norm(rows[3:]), abs=1e-7)
        if here is model.qpos0 and "sites" not in kind:
            assert metres < 1e-9


def test_the_files_tree_keeps_its_coordinates():
    """A weld, a ball and a free joint that close loops have other freedoms than the joints of the tree."""
    bodies = "".join(
        f'<body name="a{i}" pos="{i} 0 0"><joint name="h{i}" axis="0 1 0"/>'
        f'<joint name="s{i}" type="slide" axis="1 0 0"/>{BALL}'
        f'<body name="c{i}" pos="0 0 -1"><joint name="k{i}" axis="0 1 0"/>{BALL}</body></body>'
        for i in range(2)
    )
    bodies += f'<body name="f" pos="0 3 0"><freejoint name="free"/>{BALL}</body>'
    loops = '<equality><weld body1="c0" body2="c1"/><connect body1="a0" body2="f" anchor="0 0 1"/></equality>'
    text = model_of(loops, world=bodies)
    robot, model = read_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert robot.tree == [model.joint(i).name for i in range(model.njnt)]
    world = mc.ReducedWorld(robot.scene, tree=robot.tree)
    assert (len(world.q), len(world.qd)) == (model.nq, model.nv)
    for i in range(model.njnt):
        assert world.index(model.joint(i).name)[1].start == model.jnt_dofadr[i]
    assert len(mc.ReducedWorld(robot.scene).q) != model.nq


@pytest.mark.parametrize("kind", ["joint", "tendon"])
def test_gears_hold_what_mujoco_holds(kind):
    """Where MuJoCo's residual is r, mcsim's coordinates are off by r: with references, offsets and slides."""
    bodies = f'<body><joint name="a" axis="0 0 1" ref=".3"/>{BALL}</body>'
    bodies += f'<body pos="1 0 0"><joint name="b" type="slide" ref=".2"/>{BALL}</body>'
    if kind == "joint":
        couples = '<equality><joint name="e" joint1="a" joint2="b" polycoef=".1 -2 0 0 0"/></equality>'
    else:
        couples = (
            '<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-3"/></fixed></tendon>'
            '<equality><tendon name="e" tendon1="t" polycoef=".1 0 0 0 0"/></equality>'
        )
    text = model_of(couples, world=bodies)
    model = mujoco.MjModel.from_xml_string(text)
    scene = load_mjcf(text)
    gear = scene.joint("e")
    assert gear.type == "gear" and (gear.joint_a, gear.joint_b) == ("a", "b")
    for q in np.random.default_rng(0).normal(size=(5, 2)):
        data = mujoco.MjData(model)
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        (residual,) = data.efc_pos[data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
        ours = q[0] + gear.ratio * q[1] - gear.constant
        assert ours * (2 if kind == "tendon" else 1) == pytest.approx(residual, abs=1e-12)


def test_a_straight_tendon_is_a_rope_or_a_spring():
    world = f'<site name="s"/><body pos="0 0 -1"><freejoint/>{BALL}<site name="e" pos="0 0 .1"/></body>'
    tendon = '<tendon><spatial name="t" {}><site site="s"/><site site="e"/></spatial></tendon>'
    rope = load_mjcf(model_of(tendon.format('limited="true" range="0 1.2"'), world=world))
    assert rope.joint("t").type == "distance" and rope.joint("t").axes[0].upper == 1.2
    running = mc.World(rope)
    running.step(300)
    assert running.joint("t").position == pytest.approx(1.2, abs=1e-3)
    spring = load_mjcf(model_of(tendon.format('stiffness="100" damping="5" springlength=".7"'), world=world))
    running = mc.World(spring)
    running.step(600)
    assert running.joint("t").position == pytest.approx(0.7 + 9.81 / 100, abs=1e-3)


def test_a_fixed_tendon_over_one_joint_is_the_joints():
    """Its forces beside the joint's own are MuJoCo's, wherever the joint is; its limits are divided by the coefficient."""
    joint = (
        '<joint name="j" axis="0 1 0" stiffness="3" springref=".4" damping=".2" ref=".1" limited="true" range="-100 100"/>'
    )
    tendon = '<tendon><fixed name="t" stiffness="5" damping=".7" springlength="-.6" frictionloss=".1" limited="true"'
    tendon += ' range="-2 1"><joint joint="j" coef="-1.5"/></fixed></tendon>'
    text = model_of(tendon, world=f"<body>{joint}{BALL}</body>")
    robot, model = read_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert robot.left_out == {}
    (axis,) = robot.scene.joints[0].axes
    assert (axis.lower, axis.upper) == pytest.approx((-1 / 1.5, 2 / 1.5))
    assert axis.friction == pytest.approx(0.15)
    for q, v in np.random.default_rng(0).normal(size=(5, 2)):
        data = forward(model, [q], [v])
        ours = -axis.spring.stiffness * (q - axis.spring.rest) - axis.spring.damping * v
        assert ours == pytest.approx(data.qfrc_passive[0], abs=1e-12)


# ---- actuators -------------------------------------------------------------------------------------------------------

ARM = f"""
<body name="upper"><joint name="shoulder" axis="0 1 0" damping=".3"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/>
 <body name="lower" pos=".5 0 0"><joint name="elbow" axis="0 1 0" pos="0 0 .1" damping=".2"/><joint name="rail" type="slide"
   axis="1 0 0" damping="1" stiffness="20"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
  <site name="hand" pos=".4 0 .1" euler="10 20 30"/></body></body>
<body name="base" pos="0 2 0"><freejoint name="root"/>{BALL}</body>"""
DRIVES = """
<tendon><fixed name="both"><joint joint="shoulder" coef=".5"/><joint joint="elbow" coef="-1.5"/></fixed></tendon>
<actuator><motor name="m" joint="shoulder" gear="3" ctrlrange="-1 .8" ctrllimited="true"/>
 <position name="p" joint="elbow" kp="7" kv=".5" forcerange="-2 2"/><velocity name="v" joint="rail" kv="4"/>
 <general name="g" joint="rail" gainprm="2 .3 .1" gaintype="affine" biasprm=".1 -.2 -.3" biastype="affine" gear="1.5"/>
 <motor name="t" tendon="both" gear="2"/></actuator>"""


def test_actuators_give_mujocos_forces():
    """At random states and controls, in and out of ranges, in both worlds."""
    text = model_of(DRIVES, world=ARM).replace(
        'name="elbow"', 'name="elbow" actuatorfrcrange="-4 4" actuatorfrclimited="true"'
    )
    model = mujoco.MjModel.from_xml_string(text)
    robot = read_mjcf(text)
    assert [actuator.kind for actuator in robot.actuators.values()] == ["motor", "position", "velocity", "general", "motor"]
    assert (robot.actuators["p"].kp, robot.actuators["p"].kv, robot.actuators["v"].kv) == (7, 0.5, 4)
    assert robot.actuators["t"].joints == {"shoulder": 1.0, "elbow": -3.0}
    reduced = mc.ReducedWorld(robot.scene)
    for seed in range(5):
        q, v, _ = random_state(model, seed)
        control = np.random.default_rng(seed).normal(size=model.nu) * 2
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, control
        mujoco.mj_forward(model, data)
        reduced.q[:], reduced.qd[:] = q, v
        for world in (reduced, reduced.maximal()):
            for name, force in robot.forces(world, control).items():
                assert force == pytest.approx(data.qfrc_actuator[model.joint(name).dofadr[0]], abs=1e-9)


def test_driving_moves_both_worlds_as_mujoco_moves():
    """Half a second under controls: ReducedWorld by tau, World by forces on the bodies."""
    text = model_of(DRIVES, world=ARM, option='<option timestep="5e-4"><flag contact="disable"/></option>')
    model = mujoco.MjModel.from_xml_string(text)
    robot, data = read_mjcf(text, between=1e-6), mujoco.MjData(model)
    control = np.array([0.5, 0.4, 0.3, -0.2, 0.1])
    data.ctrl[:] = control
    mujoco.mj_step(model, data, 1000)
    for kind in (mc.World, mc.ReducedWorld):
        world = kind(robot.scene, dt=5e-4)
        for _ in range(1000):
            robot.drive(world, control)
            world.step()
        for name in ("shoulder", "elbow", "rail"):
            assert world.joint(name).position == pytest.approx(data.joint(name).qpos[0], abs=5e-3), (kind, name)
        assert abs(data.joint("shoulder").qpos[0]) > 0.1


def test_drives_leave_no_momentum():
    """Of a robot that floats without gravity, pushed by all its actuators: torques and forces have their opposites."""
    arm = ARM.replace('<body name="upper">', '<body name="upper"><freejoint/><geom size=".2"/><body name="arm">', 1)
    arm = arm.replace("</body></body>", "</body></body></body>", 1)
    text = model_of(DRIVES, world=arm, option='<option gravity="0 0 0"><flag contact="disable"/></option>')
    for kind in (mc.World, mc.ReducedWorld):
        robot = read_mjcf(text)
        world = kind(robot.scene, dt=1e-3)
        for _ in range(50):
            robot.drive(world, [0.5, 1.0, 0.3, -0.2, 0.4])
            world.step()
        assert abs(world.joint("shoulder").velocity) > 0.1 and abs(world.joint("rail").velocity) > 0.01
        assert max(np.abs(part).max() for part in world.momentum()) < 1e-7, kind  # as bodies move while a force stands


def test_controls_are_checked():
    robot = read_mjcf(model_of(DRIVES, world=ARM))
    world = mc.World(robot.scene)
    for control in ([0, 0], [0, 0, 0, 0, np.nan], "x"):
        with pytest.raises(mc.SceneError, match="control"):
            robot.drive(world, control)


# ---- sensors ---------------------------------------------------------------------------------------------------------

FRAMES = "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel".split()


def test_sensors_of_a_state_are_mujocos():
    """Joints, frames in the world and in each other, gyro, velocimeter; of sites, geoms, bodies and their own frames."""
    ends = {"site": "hand", "body": "lower", "xbody": "base"}
    text = '<jointpos name="q" joint="elbow"/><jointvel name="qd" joint="rail"/><gyro name="w" site="hand"/>'
    text += '<velocimeter name="u" site="hand" cutoff=".5"/>'
    for kind in FRAMES:
        for of, name in ends.items():
            text += f'<{kind} name="{kind} {of}" objtype="{of}" objname="{name}"/>'
            text += f'<{kind} name="{kind} {of} in" objtype="{of}" objname="{name}" reftype="xbody" refname="upper"/>'
    text = model_of(f"<sensor>{text}</sensor>", world=ARM)
    model = mujoco.MjModel.from_xml_string(text)
    robot = read_mjcf(text)
    q, v, _ = random_state(model, 1)
    data = forward(model, q, v)
    reduced = mc.ReducedWorld(robot.scene)
    reduced.q[:], reduced.qd[:] = q, v
    assert len(robot.sensors) == model.nsensor == 4 + 2 * 3 * len(FRAMES)
    for world in (reduced, reduced.maximal()):
        for name, found in robot.readings(world).read().items():
            theirs = data.sensor(name).data
            if "quat" in name:
                found = found * np.sign(found @ theirs)
            assert found == pytest.approx(theirs, abs=1e-9), name


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_sensors_of_forces_are_mujocos(kind):
    """Accelerations and what a parent puts on its child, in a motion without contact; the body is a link of its own."""
    parts = "".join(
        f'<{what} name="{what}" site="{site}"/>'
        for what, site in (("accelerometer", "hand"), ("force", "wrist"), ("torque", "wrist"))
    )
    parts += "".join(f'<{what} name="{what}" objtype="site" objname="hand"/>' for what in ("framelinacc", "frameangacc"))
    hand = '<body name="tool" pos=".4 0 0" euler="0 20 0"><geom size=".1" pos="0 .1 0"/>'
    hand += '<site name="wrist" pos="0 0 .2"/></body>'
    text = model_of(
        f"<sensor>{parts}</sensor>",
        world=ARM.replace("</body></body>", f"{hand}</body></body>", 1),
        option='<option><flag contact="disable"/></option>',
    )
    model = mujoco.MjModel.from_xml_string(text)
    q, v, _ = random_state(model, 1)
    data = forward(model, q, v)
    key = f'<keyframe><key qpos="{" ".join(map(repr, q.tolist()))}" qvel="{" ".join(map(repr, v.tolist()))}"/></keyframe>'
    robot = read_mjcf(text.replace("</mujoco>", f"{key}</mujoco>"), keyframe=0, between=1e-8)
    assert "tool" in [body.name for body in robot.scene.bodies]
    world = kind(robot.scene, dt=1e-5)
    readings = robot.readings(world)
    assert np.isnan(readings["accelerometer"]).all()
    readings.step()
    for name, found in readings.read().items():
        theirs = data.sensor(name).data
        assert np.abs(found - theirs).max() < 2e-3 * np.abs(theirs).max(), name


def test_touch_weighs_what_presses():
    """The zone about the sole feels the weight, one beside it nothing."""
    box = '<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/>'
    zones = '<site name="sole" type="box" size=".2 .2 .02" pos="0 0 -.1"/>'
    zones += '<site name="beside" size=".02" pos=".3 0 -.1"/></body>'
    sensors = '<sensor><touch name="on" site="sole"/><touch name="off" site="beside"/></sensor>'
    robot = read_mjcf(model_of(sensors, world=f'<geom type="plane" size="1 1 1"/>{box}{zones}'))
    world = mc.World(robot.scene)
    readings = robot.readings(world)
    readings.step(120)
    assert readings["on"] == pytest.approx([2 * 9.81], rel=1e-6)
    assert readings["off"] == [0.0]


# ---- what is left out, what is wrong ---------------------------------------------------------------------------------


def test_armature_is_the_joints():
    """Of all four kinds; a model that was changed to have several about one ball is told of, with the least of them."""
    joints = '<joint name="h" armature=".1"/><joint name="s" type="slide" armature=".2"/>'
    joints += '<joint name="b" type="ball" armature=".3"/>'
    model = mujoco.MjModel.from_xml_string(
        model_of(world=f'<body><joint name="f" type="free" armature=".4"/>{BALL}<body>{joints}{BALL}</body></body>')
    )
    robot = read_mjcf(model)
    found = {joint.name: [axis.armature for axis in joint.axes] for joint in robot.scene.joints}
    assert found == {"f": [0.4] * 6, "h": [0.1], "s": [0.2], "b": [0.3] * 3} and robot.left_out == {}
    model.dof_armature[-1] = 0.5
    robot = read_mjcf(model)
    assert [axis.armature for axis in robot.scene.joint("b").axes] == [0.3] * 3
    assert robot.left_out == {"armature of joints that differs about x, y and z": ["b"]}


def test_all_that_is_left_out_is_named(tmp_path):
    """Each thing in the file that has no counterpart stands in the list, by its name; nothing else does."""
    body = (
        f'<body name="b"><joint name="j" axis="0 0 1" armature=".1"/><joint name="i" axis="0 1 0"/>{BALL}'
        f'<geom name="seen" size=".1" contype="0" conaffinity="0" mass="0"/><site name="s"/>'
        f'<body name="d" pos="1 0 0"><joint name="k" type="ball" limited="true" range="0 20"/>{BALL}</body></body>'
    )
    beside = (
        '<tendon><fixed name="t" limited="true" range="0 1"><joint joint="j" coef="1"/><joint joint="i" coef="1"/></fixed>'
        "</tendon>"
        '<equality><joint name="e" joint1="j" active="false"/></equality>'
        '<actuator><muscle name="m" joint="j" lengthrange="0 1"/><motor name="a" site="s"/></actuator>'
        '<sensor><magnetometer name="n" site="s"/></sensor>'
        '<contact><pair geom1="seen" geom2="soft"/></contact>'
    )
    world = f'<geom name="soft" size="1" solref=".01 1" margin=".1"/>{body}'
    text = model_of(beside, world=world, option='<option density="1.2"/>')
    robot = read_mjcf(text)
    assert robot.left_out == {
        "geoms that collide with nothing": ["seen"],
        "solref and solimp of geoms": ["soft"],
        "margin of geoms": ["soft"],
        "contact pairs of geoms that collide by that alone": ["soft and seen"],
        "that limits of ball joints are of the whole angle (swing and twist have it each)": ["k"],
        "equality constraints that are not active": ["e"],
        "limits of tendons": ["t"],
        "sensors of kind magnetometer": ["n"],
        "actuators with a law or state of their own (muscles, filters, …)": ["m"],
        "what actuators do on a site": ["a"],
        "forces of a fluid (density, viscosity, wind)": [],
    }
    with pytest.warns(
        MjcfWarning, match=r"that limits of ball joints are of the whole angle \(.*\): k; .*limits of tendons: t"
    ) as caught:
        load_mjcf(text)
    assert len(caught) == 1 and caught[0].filename == __file__
    path = tmp_path / "some.xml"
    path.write_text(text)
    for load in (load_mjcf, mc.load):
        with pytest.warns(MjcfWarning, match=f"{path}: left out: ") as caught:
            load(path)
        assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_mjcf(model_of(world=f"<body><freejoint/>{BALL}</body>"))


def test_files_and_models(tmp_path):
    """A path, a text and a compiled model say the same; includes are found beside the file."""
    (tmp_path / "part.xml").write_text(f'<mujocoinclude><body name="b"><freejoint/>{BALL}</body></mujocoinclude>')
    path = tmp_path / "whole.xml"
    path.write_text('<mujoco model="whole"><worldbody><include file="part.xml"/></worldbody></mujoco>')
    scene = mc.load(path)
    assert scene.name == "whole" and [body.name for body in scene.bodies] == ["b"]
    assert scene == load_mjcf(mujoco.MjModel.from_xml_path(str(path))) == mc.load(str(path), between="1e-6")
    assert mc.Scene.from_dict(scene.to_dict()) == scene


def test_wrong_files_are_refused_by_name(tmp_path):
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco><worldbody><body><geom/></body></worldbody></mujoco>")
    with pytest.raises(mc.SceneError, match=r"broken\.xml: MuJoCo does not compile it: .*size"):
        mc.load(broken)
    with pytest.raises(FileNotFoundError, match="no such MJCF file"):
        mc.load(tmp_path / "none.xml")
    (tmp_path / "folder.xml").mkdir()
    with pytest.raises(mc.SceneError, match="is a folder"):
        mc.load(tmp_path / "folder.xml")
    with pytest.raises(mc.SceneError, match="has no body and no geom"):
        load_mjcf("<mujoco/>")
    with pytest.raises(mc.SceneError, match="path, a text or a mujoco.MjModel, not int"):
        load_mjcf(3)
    text = model_of("<keyframe><key name='home'/></keyframe>", world=ARM)
    for arguments, said in (
        ({"keyframe": "hom"}, "keyframe must be one of: home; got 'hom'; did you mean 'home'"),
        ({"keyframe": 1}, "keyframe must be one of: home; got 1"),
        (
            {"joint_positions": {"elbo": 1}},
            "joint_positions cannot place 'elbo'; did you mean 'elbow'.*shoulder, elbow, rail",
        ),
        ({"joint_positions": {"elbow": np.nan}}, r"joint_positions\['elbow'\] must be finite"),
        ({"between": 0}, "between must be"),
        ({"hull_vertices": 3}, "hull_vertices must be"),
    ):
        with pytest.raises(mc.SceneError, match=f"the text: {said}"):
            load_mjcf(text, **arguments)
    with pytest.raises(TypeError, match="there is no argument 'key'; the arguments are: source, keyframe"):
        load_mjcf(text, key=1)


def test_mocap_bodies_are_kinematic_and_go_with_keyframes():
    body = '<body name="hand" mocap="true" pos="1 2 3"><geom name="g" size=".1"/></body>'
    weld = '<equality><weld body1="hand" body2="ball"/></equality>'
    key = '<keyframe><key name="up" mpos="0 0 9" mquat="0 2 0 0" qpos="0 0 9 1 0 0 0"/></keyframe>'
    text = model_of(weld, key, world=f'{body}<body name="ball" pos="1 2 3"><freejoint/>{BALL}</body>')
    scene = load_mjcf(text)
    assert scene.body("hand").kind == "kinematic" and np.allclose(scene.body("hand").position, (1, 2, 3))
    moved = load_mjcf(text, keyframe="up").body("hand")
    assert np.allclose(moved.position, (0, 0, 9)) and np.allclose(moved.orientation, (0, 1, 0, 0))
    world = mc.World(scene)
    world.set_velocity("hand", velocity=(0, 0, 1))
    world.step(60)
    assert world.body("ball").position[2] == pytest.approx(world.body("hand").position[2], abs=1e-4)


def test_what_mujoco_warns_of_is_told_and_no_file_is_written(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    before = mujoco.get_mju_user_warning()
    robot = read_mjcf(
        f"<mujoco><compiler settotalmass='3'/><worldbody><body><freejoint/>{BALL}</body></worldbody></mujoco>"
    )
    assert [what for what in robot.left_out if "settotalmass" in what] and not list(tmp_path.iterdir())
    assert mujoco.get_mju_user_warning() is before and capfd.readouterr() == ("", "")
    assert robot.scene.bodies[0].mass == pytest.approx(3.0)


def test_mujoco_that_is_not_there(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "mujoco":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'mcsim-physics\[mjcf\]'"):
        load_mjcf("<mujoco/>")


def test_starts_outside_of_limits_are_told():
    """By the poses, as worlds tell them, and not where the start is inside or at a limit."""
    text = model_of(world=f'<body><joint name="j" axis="0 0 1" limited="true" range="20 90"/>{BALL}</body>')
    with pytest.warns(MjcfWarning, match=r"outside of their limits.*: j \(0 rad, limits 0.3491 to 1.571\)"):
        load_mjcf(text)
    for start in (np.radians(20), 0.5, np.radians(90)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load_mjcf(text, joint_positions={"j": start})
