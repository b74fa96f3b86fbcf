"""Every ready scene: it builds, keeps through a file, starts with joints assembled and nothing overlapping."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import nnls

import mcsim as mc
from mcsim import scenes
from mcsim.core.rotation import compose, matrix, rotate
from mcsim.scene import Scene, load_scene

SMALL = {"ragdolls": {"count": 5}, "ragdolls11": {"n": 4}, "rain": {"n": 60}, "grid": {"n": 6}, "pyramid": {"base": 8}}
ALL = sorted(scenes.SCENES)


@pytest.fixture(scope="module", params=ALL)
def scene(request):
    return scenes.build(request.param, **SMALL.get(request.param, {}))


def placed(body):
    return body.position, body.orientation


def body_frame(scene, name):
    return (np.zeros(3), np.array([1.0, 0, 0, 0])) if name is None else placed(scene.body(name))


def motion(scene, name, point):
    """Velocity of the body's material at a world point, and its angular velocity."""
    if name is None:
        return np.zeros(3), np.zeros(3)
    body = scene.body(name)
    center = body.position + rotate(body.orientation, body.center_of_mass)
    return body.velocity + np.cross(body.angular_velocity, point - center), body.angular_velocity


# ---- what holds for all ----------------------------------------------------------------------------------------------


def test_the_issue_names_them_all():
    wanted = """pendulum double_pendulum bridge cardan_shaft slider_crank four_bar spinning_top dzhanibekov stack wall
        dominoes card_tower arch newton_cradle incline ragdolls wrecking_ball tumbler one pyramid tower
        tower10_heavy rain ragdolls11 free_ragdoll chain chain20_heavy grid marbles terrain domino_spiral
        rope_bridge ragdoll_stairs marble_run gear_train escapement jansen_walker tippe_top rattleback
        quadruped galton_board point_pendulum four_bars squeezer bricard governor heavy_top planar_chain""".split()
    assert set(wanted) == set(scenes.SCENES)


def test_defaults_build_under_their_own_name():
    for name in ALL:
        assert scenes.build(name).name == name
        assert scenes.description(name).endswith(".")


def test_round_trip(scene, tmp_path):
    assert Scene.from_dict(scene.to_dict()) == scene
    scene.save(tmp_path / "scene.json")
    assert load_scene(tmp_path / "scene.json") == scene


def test_joints_are_assembled(scene):
    for joint in scene.joints:
        if joint.type == "distance":  # its points are apart
            continue
        point_a, turn_a = compose(body_frame(scene, joint.a), joint.frame_a)
        point_b, turn_b = compose(body_frame(scene, joint.b), joint.frame_b)
        assert np.allclose(point_a, point_b, atol=1e-12 * max(1, np.abs(point_a).max())), joint
        assert abs(turn_a @ turn_b) == pytest.approx(1.0, abs=1e-12), joint


def test_velocities_keep_the_joints(scene):
    """What a joint forbids does not move at the start either."""
    for joint in scene.joints:
        point, turn = compose(body_frame(scene, joint.a), joint.frame_a)
        x, y, z = matrix(turn).T
        (va, wa), (vb, wb) = motion(scene, joint.a, point), motion(scene, joint.b, point)
        free = {
            "ball": ([], [x, y, z]),
            "universal": ([], [z, matrix(turn).T[0]]),
            "hinge": ([], [z]),
            "slider": ([z], []),
            "fixed": ([], []),
            "distance": ([x, y, z], [x, y, z]),  # only as springs, which forbid nothing
        }[joint.type]
        for relative, axes in ((vb - va, free[0]), (wb - wa, free[1])):
            span = np.array(axes).reshape(-1, 3).T
            rest = relative - span @ np.linalg.lstsq(span, relative, rcond=None)[0] if axes else relative
            assert np.abs(rest).max() < 1e-9, joint


def points_and_radius(shape, frame):
    """A shape as the hull of some points, grown by a radius."""
    points = {
        "sphere": lambda: np.zeros((1, 3)),
        "capsule": lambda: np.array([(0, 0, -shape.half_length), (0, 0, shape.half_length)]),
        "box": lambda: shape.half_extents * np.array(list(itertools.product((-1, 1), repeat=3))),
        "hull": lambda: shape.vertices,
        "cylinder": lambda: np.array(
            [
                (shape.radius * math.cos(a), shape.radius * math.sin(a), z * shape.half_length)
                for a in np.linspace(0, 2 * math.pi, 32)
                for z in (-1, 1)
            ]
        ),
    }[shape.type]()
    position, orientation = compose(frame, (shape.position, shape.orientation))
    return points @ matrix(orientation).T + position, shape.radius if shape.type in ("sphere", "capsule") else 0.0


def hull_distance(a, b):
    """The distance of two convex hulls, as a least squares problem over the weights of their corners."""
    center = a.mean(axis=0)
    heavy = 1e3
    system = np.zeros((5, len(a) + len(b)))
    system[:3, : len(a)], system[:3, len(a) :] = (a - center).T, -(b - center).T
    system[3, : len(a)] = system[4, len(a) :] = heavy
    weights = nnls(system, np.array([0, 0, 0, heavy, heavy]))[0]
    return np.linalg.norm(system[:3] @ weights)


def overlapping(scene):
    """Pairs of bodies that collide and overlap by more than rounding."""
    joined = {frozenset((joint.a, joint.b)) for joint in scene.joints if not joint.collide}
    solids = [
        (body, *points_and_radius(shape, placed(body)))
        for body in scene.bodies
        if body.collision_mask
        for shape in body.shapes
        if shape.type not in ("plane", "mesh", "height_field")
    ]
    lower = np.array([p.min(axis=0) - r for _, p, r in solids]).reshape(-1, 3)
    upper = np.array([p.max(axis=0) + r for _, p, r in solids]).reshape(-1, 3)
    found = []
    for i, (body, points, radius) in enumerate(solids):
        near = (lower[i + 1 :] < upper[i] - 1e-7).all(axis=1) & (upper[i + 1 :] > lower[i] + 1e-7).all(axis=1)
        for k in np.flatnonzero(near) + i + 1:
            other, points_2, radius_2 = solids[k]
            meet = body.collision_group & other.collision_mask and other.collision_group & body.collision_mask
            if not meet or body is other or "dynamic" not in (body.kind, other.kind):
                continue
            if frozenset((body.name, other.name)) in joined:
                continue
            reach = radius + radius_2
            if reach == 0.0:  # flat shapes that touch share points: shrink them a little
                shrink = 1.0 - 1e-5
                points_1 = points.mean(axis=0) + shrink * (points - points.mean(axis=0))
                points_2 = points_2.mean(axis=0) + shrink * (points_2 - points_2.mean(axis=0))
                bad = hull_distance(points_1, points_2) < 1e-8
            else:
                bad = hull_distance(points, points_2) < reach - 1e-6
            if bad:
                found.append((body.name, other.name))
    for plane_body in scene.bodies:
        for plane in plane_body.shapes:
            if plane.type == "plane" and plane_body.collision_mask:
                origin, orientation = compose(placed(plane_body), (plane.position, plane.orientation))
                normal = matrix(orientation)[:, 2]
                found += [
                    (plane_body.name, body.name)
                    for body, points, radius in solids
                    if body.kind == "dynamic" and (points @ normal - normal @ origin).min() < radius - 1e-9
                ]
    return found


def test_nothing_overlaps_at_the_start(scene):
    assert overlapping(scene) == []


@pytest.mark.parametrize("name", ["marbles", "terrain"])
def test_nothing_overlaps_a_surface_at_the_start(name):
    world = mc.World(scenes.build(name))
    world.step()
    surface = {i for i, body in enumerate(world.scene.bodies) if body.kind == "static"}
    touching = [c for c in world.contacts if {int(c["body_a"]), int(c["body_b"])} & surface]
    assert all(c["separation"] > -1e-3 for c in touching)


def test_the_overlap_check_finds_one():
    import mcsim.scene as ms

    bad = Scene()
    bad.add_body("a", shape=ms.Box((1, 1, 1)))
    bad.add_body("b", shape=ms.Box((1, 1, 1)), position=(1.999, 0, 0))
    bad.add_body("c", shape=ms.Sphere(1), position=(0, 0, 1.99))
    assert overlapping(bad) == [("a", "b"), ("a", "c")]


def test_default_ragdolls_start_apart():
    assert overlapping(scenes.ragdolls()) == []


def lowest_points(scene):
    return {
        body.name: min(
            (points[:, 2].min() - radius)
            for points, radius in (points_and_radius(shape, placed(body)) for shape in body.shapes)
        )
        for body in scene.bodies
        if body.kind == "dynamic"
    }


@pytest.mark.parametrize(
    "name, standing",
    [
        ("stack", ["box0"]),
        ("wall", ["brick0_0", "brick0_9"]),
        ("one", ["cube"]),
        ("tower", ["cube0"]),
        ("pyramid", ["cube0_0", "cube0_19"]),
        ("arch", ["stone0", "stone10"]),
        ("card_tower", ["left0_0", "right0_2"]),
        ("dominoes", ["domino0", "domino1", "domino29"]),
    ],
)
def test_what_stands_touches_the_floor(name, standing):
    lowest = lowest_points(scenes.build(name))
    assert min(lowest.values()) == pytest.approx(0, abs=1e-12)
    for body in standing:
        assert lowest[body] == pytest.approx(0, abs=1e-12)


# ---- one by one ------------------------------------------------------------------------------------------------------


def test_pendulum_hangs_at_its_angle():
    body = scenes.pendulum(length=2, angle=0.3).body("rod")
    assert np.allclose(body.position, [math.sin(0.3), 0, -math.cos(0.3)])
    assert np.allclose(rotate(body.orientation, np.array([0, 0, 1.0])), [-math.sin(0.3), 0, math.cos(0.3)])


def test_slider_crank_starts_on_its_closed_form():
    r, rod, angle, speed = 0.3, 0.9, 0.5, 6.0
    piston = scenes.slider_crank().body("piston")
    root = math.sqrt(rod**2 - (r * math.sin(angle)) ** 2)
    assert piston.position[0] == pytest.approx(r * math.cos(angle) + root)
    rate = -r * math.sin(angle) * (1 + r * math.cos(angle) / root)
    assert piston.velocity[0] == pytest.approx(rate * speed)
    assert np.allclose(piston.position[1:], 0) and np.allclose(piston.velocity[1:], 0)


def test_four_bar_has_its_lengths():
    scene = scenes.four_bar()
    anchor = {joint.name: compose(body_frame(scene, joint.b), joint.frame_b)[0] for joint in scene.joints}
    lengths = (("drive", "pin", 0.4), ("pin", "elbow", 1.2), ("elbow", "pivot", 0.9), ("drive", "pivot", 1.1))
    for a, b, length in lengths:
        assert np.linalg.norm(anchor[a] - anchor[b]) == pytest.approx(length)


@pytest.mark.parametrize("in_phase, ratio", [(True, 1.0), (False, math.cos(0.7) ** 2)])
def test_cardan_shaft_turns_by_its_formula(in_phase, ratio):
    scene = scenes.cardan_shaft(bend=0.7, in_phase=in_phase)
    speed = {name: np.linalg.norm(scene.body(name).angular_velocity) for name in ("input", "middle", "output")}
    assert speed["middle"] / speed["input"] == pytest.approx(math.cos(0.7))
    assert speed["output"] / speed["input"] == pytest.approx(ratio)


@pytest.mark.parametrize("spin", [120.0, -150.0])
def test_top_precesses_steadily(spin):
    """In steady precession the angular momentum turns with the top: W x L = torque of gravity about the tip."""
    top = scenes.spinning_top(spin=spin).body("top")
    r = matrix(top.orientation)
    arm = r @ top.center_of_mass
    momentum = r @ top.inertia @ r.T @ top.angular_velocity + top.mass * np.cross(arm, top.velocity)
    torque = np.cross(arm, [0, 0, -9.81 * top.mass])
    # angular velocity = W z + s axis: W from the part across the axis.
    axis = r[:, 2]
    across = top.angular_velocity - (top.angular_velocity @ axis) * axis
    z = np.array([0, 0, 1.0]) - axis[2] * axis
    precession = np.array([0, 0, (across @ z) / (z @ z)])
    assert np.allclose(np.cross(precession, momentum), torque, atol=1e-9 * np.linalg.norm(torque))
    assert top.angular_velocity @ axis == pytest.approx(spin)
    assert abs(precession[2]) < 0.2 * abs(spin)


def test_dzhanibekov_spins_about_the_middle_axis():
    body = scenes.dzhanibekov().body("handle")
    moments = np.diag(body.inertia)
    assert np.allclose(body.inertia, np.diag(moments))
    spin = body.angular_velocity
    assert sorted(moments)[1] == moments[np.argmax(np.abs(spin))]
    assert min(np.diff(sorted(moments))) > 0.05 * max(moments)


def test_newton_cradle_touches():
    scene = scenes.newton_cradle(balls=4, lifted=2, radius=0.1)
    places = np.array([body.position for body in scene.bodies])
    assert np.linalg.norm(places[3] - places[2]) == pytest.approx(0.2)
    assert np.linalg.norm(places[1] - places[0]) == pytest.approx(0.2)
    assert places[1, 2] > places[2, 2]
    assert all(body.material.restitution == 1 and body.material.friction == 0 for body in scene.bodies)


def test_arch_stones_share_faces():
    scene = scenes.arch(stones=5)
    corners = [points_and_radius(body.shapes[0], placed(body))[0] for body in scene.bodies if body.kind == "dynamic"]
    for a, b in itertools.pairwise(corners):
        gaps = np.linalg.norm(a[:, None] - b[None], axis=2)
        assert (gaps < 1e-12).sum() == 4


def test_card_tower_counts_and_touches():
    scene = scenes.card_tower(levels=3)
    assert len(scene.bodies) - 1 == 2 * (3 + 2 + 1) + (2 + 1)
    left, right, across = (
        points_and_radius(scene.body(name).shapes[0], placed(scene.body(name)))[0]
        for name in ("left0_1", "right0_1", "across0_0")
    )
    assert across[:, 2].min() == pytest.approx(left[:, 2].max())
    assert left[:, 0].max() == pytest.approx(right[:, 0].min())


def test_first_domino_is_past_its_balance():
    scene = scenes.dominoes(turn=0)
    first = scene.body("domino0")
    corners = points_and_radius(first.shapes[0], placed(first))[0]
    foot = corners[corners[:, 2] < 1e-9]
    assert (first.position[0] > foot[:, 0]).all()  # its weight is ahead of its edge, so it falls on


def test_incline_block_rests_on_the_slope():
    scene = scenes.incline(angle=0.4, speed=1.0)
    block, slope = scene.body("block"), scene.body("slope").shapes[0]
    corners = points_and_radius(block.shapes[0], placed(block))[0]
    heights = corners @ slope.normal - slope.offset
    assert np.sort(heights)[:4] == pytest.approx(0, abs=1e-12)
    assert block.velocity @ slope.normal == pytest.approx(0, abs=1e-12)
    assert block.velocity[2] < 0 and np.linalg.norm(block.velocity) == pytest.approx(1)


def test_tumbler_is_closed():
    scene = scenes.tumbler(sides=6)
    drum = scene.body("drum")
    assert drum.kind == "kinematic" and np.allclose(drum.angular_velocity, [0, 0.8, 0])
    for angle in np.linspace(0, 2 * math.pi, 97):  # a ray from the axis always meets a wall
        ray = np.array([math.cos(angle), 0, math.sin(angle)])
        hit = False
        for wall in drum.shapes:
            local = matrix(wall.orientation).T
            points = (np.linspace(0, 3, 601)[:, None] * ray - wall.position) @ local.T
            hit |= (np.abs(points) <= wall.half_extents + 1e-9).all(axis=1).any()
        assert hit


# ---- the benchmark scenes, as they were measured elsewhere -----------------------------------------------------------


def test_benchmark_pyramid():
    scene = scenes.pyramid(base=50)
    assert len(scene.bodies) == 1 + 50 * 51 // 2
    bottom = scene.body("cube0_1").position - scene.body("cube0_0").position
    assert np.allclose(bottom, [1.05, 0, 0])
    assert np.allclose(scene.body("cube49_0").position, [0, 0, 49.5])
    assert scene.body("cube0_0").mass == pytest.approx(1000)


def test_benchmark_towers():
    scene = scenes.tower(n=15)
    assert [body.position[2] for body in scene.bodies[1:]] == [0.5 + k for k in range(15)]
    masses = [body.mass for body in scenes.tower10_heavy().bodies[1:]]
    assert masses == pytest.approx([1000] * 9 + [100_000])


def test_benchmark_rain():
    scene = scenes.rain(n=2000)
    bodies = [body for body in scene.bodies if body.kind == "dynamic"]
    assert [body.shapes[0].type for body in bodies[:4]] == ["box", "sphere", "capsule", "box"]
    assert bodies[0].shapes[0].half_extents.tolist() == [0.25] * 3 and bodies[1].shapes[0].radius == 0.3
    assert (bodies[2].shapes[0].radius, bodies[2].shapes[0].half_length) == (0.2, 0.3)
    k = 13 * 13 * 2 + 13 * 3 + 5  # layer 2, row 3, column 5
    shift = 0.03 * np.sin(12.9898 * k + np.arange(3))
    assert np.allclose(bodies[k].position, np.array([0.85 * (5 - 6), 0.85 * (3 - 6), 0.8 + 2.2]) + shift)
    west, east = scene.body("west"), scene.body("east")
    assert east.position[0] - west.position[0] - 2 * east.shapes[0].half_extents[0] == pytest.approx(12)


def test_benchmark_chains():
    scene = scenes.chain(n=100)
    assert len(scene.bodies) == len(scene.joints) == 100
    assert np.allclose(scene.bodies[3].position, [1.75, 0, 0]) and scene.joints[0].a is None
    shape = scene.bodies[0].shapes[0]
    assert (shape.radius, shape.half_length) == (0.1, 0.15)
    assert np.allclose(rotate(scene.bodies[0].orientation, np.array([0, 0, 1.0])), [1, 0, 0])
    heavy = scenes.chain20_heavy()
    assert [body.mass for body in heavy.bodies] == pytest.approx([1.0] * 20 + [1000.0])
    assert heavy.bodies[-1].shapes[0].radius == 0.5 and len(heavy.joints) == 21


def test_benchmark_grid():
    scene = scenes.grid(n=40)
    assert (len(scene.bodies), len(scene.joints)) == (1600, 3122)
    assert len(scenes.grid(n=5, corners=4).joints) == 2 * 5 * 4 + 4
    point, _ = compose(placed(scenes.grid(n=3).body("ball0_0")), scenes.grid(n=3).joints[0].frame_a)
    assert np.allclose(point, [0.5, 0, 0])


def test_benchmark_ragdolls():
    scene = scenes.ragdolls11(n=64)
    assert (len(scene.bodies), len(scene.joints)) == (1 + 704, 640)
    doll = [body for body in scene.bodies if body.name.startswith("doll0.")]
    limbs = ("upper_arm", "forearm", "thigh", "shank")
    names = {"pelvis", "torso", "head"} | {f"{side}_{limb}" for side in ("left", "right") for limb in limbs}
    assert {body.name.split(".")[1] for body in doll} == names
    kinds = {joint.name.split(".")[1]: joint.type for joint in scene.joints if joint.name.startswith("doll0.")}
    hinges = {name for name, kind in kinds.items() if kind == "hinge"}
    assert hinges == {"left_elbow", "right_elbow", "left_knee", "right_knee"}
    assert len(kinds) == 10
    assert all(np.isfinite(joint.swing_limit) for joint in scene.joints if joint.type == "ball")
    a, floor = doll[0], scene.body("floor")
    assert not a.collision_group & a.collision_mask and floor.collision_group & a.collision_mask


# ---- people ----------------------------------------------------------------------------------------------------------


def test_ragdolls_are_de_levas_men():
    scene = scenes.ragdolls(count=1)
    body = {b.name.split(".")[1]: b for b in scene.bodies if "." in b.name}
    assert len(body) == 16 and len(scene.joints) == 15
    assert sum(b.mass for b in body.values()) == pytest.approx(73.0, rel=2e-4)
    assert body["left_thigh"].mass == pytest.approx(0.1416 * 73)
    thigh = body["left_thigh"].shapes[0]
    assert 2 * (thigh.radius + thigh.half_length) == pytest.approx(0.4222)
    point = {joint.name.split(".")[1]: compose(placed(scene.body(joint.b)), joint.frame_b)[0] for joint in scene.joints}
    assert np.linalg.norm(point["left_hip"] - point["left_knee"]) == pytest.approx(0.4222)
    assert np.linalg.norm(point["left_knee"] - point["left_ankle"]) == pytest.approx(0.4340)
    assert np.linalg.norm(point["right_shoulder"] - point["right_elbow"]) == pytest.approx(0.2817)
    assert np.linalg.norm(point["right_elbow"] - point["right_wrist"]) == pytest.approx(0.2689)
    middle_hips = (point["left_hip"] + point["right_hip"]) / 2
    middle_shoulders = (point["left_shoulder"] + point["right_shoulder"]) / 2
    assert np.linalg.norm(middle_shoulders - middle_hips) == pytest.approx(0.5155)
    for b in body.values():  # no segment is far from a body's density
        assert 500 < b.mass / sum(shape.volume for shape in b.shapes) < 2000, b.name


def test_ragdolls_scale():
    one, big = scenes.ragdolls(count=1), scenes.ragdolls(count=1, stature=2 * 1.741, mass=146.0)
    assert big.body("human0.head").mass == pytest.approx(2 * one.body("human0.head").mass)
    assert big.body("human0.head").shapes[0].radius == pytest.approx(2 * one.body("human0.head").shapes[0].radius)


def test_ragdoll_joints_have_the_ranges_of_a_human():
    scene = scenes.ragdolls(count=1)
    joint = {j.name.split(".")[1]: j for j in scene.joints}
    for name in ("left_elbow", "right_elbow", "left_knee", "right_knee"):
        axis = joint[name].axes[0]
        assert axis.lower < 0 < axis.upper and 2.2 < axis.upper - axis.lower < 2.6
        # At the lower limit the limb is straight: it does not bend the other way.
        upper, lower = scene.body(joint[name].a), scene.body(joint[name].b)
        along = [rotate(b.orientation, np.array([0, 0, 1.0])) for b in (upper, lower)]
        hinge = rotate(compose(placed(upper), joint[name].frame_a)[1], np.array([0, 0, 1.0]))
        bend = math.atan2(np.cross(along[0], along[1]) @ hinge, along[0] @ along[1])
        assert bend == pytest.approx(-axis.lower, abs=1e-9)
    for name in ("neck", "waist", "chest", "left_shoulder", "right_hip", "left_wrist"):
        ball = joint[name]
        assert ball.type == "ball" and 0.2 < ball.swing_limit < 1.6
        assert ball.axes[2].lower < 0 < ball.axes[2].upper


def test_ragdolls_mirror():
    scene = scenes.ragdolls(count=1)
    pelvis = scene.body("human0.lower_trunk")
    local = {
        b.name.split(".")[1]: matrix(pelvis.orientation).T @ (b.position - pelvis.position)
        for b in scene.bodies
        if "." in b.name
    }
    for name in ("upper_arm", "hand", "thigh", "foot"):
        assert np.allclose(local[f"left_{name}"], local[f"right_{name}"] * (1, -1, 1))


def test_ragdolls_lie_every_way():
    ups = np.array([rotate(scenes.ragdoll.spread_orientation(k), np.array([0, 0, 1.0])) for k in range(200)])
    assert np.abs(ups.mean(axis=0)).max() < 0.1 and np.allclose(ups.T @ ups / 200, np.eye(3) / 3, atol=0.05)
