"""System: spanning trees, frames and inertias of links, coordinates; against definitions written out in NumPy."""

import copy
import itertools
import json
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import IDENTITY, matrix, normalized, rotate
from mcsim.reduced import System
from mcsim.reduced.kinds import KIND_OF, KINDS, QUATERNIONS
from reduced_scenes import (
    TREE_JOINTS,
    forward_kinematics,
    in_world,
    make_joint,
    random_coordinates,
    random_frame,
    random_scene,
)

SEED = st.integers(0, 2**32 - 1)


@st.composite
def scenes(draw, kinds=("dynamic", "dynamic", "dynamic", "kinematic", "static"), most=8):
    """A random graph: bodies of all kinds, joints of all kinds between any two, several between the same ones too."""
    count = draw(st.integers(1, most))
    bodies = draw(st.lists(st.sampled_from(kinds), min_size=count, max_size=count))
    node = st.one_of(st.none(), st.integers(0, count - 1))
    joints = draw(st.lists(st.tuples(st.sampled_from((*TREE_JOINTS, "distance")), node, node), max_size=2 * most))
    joints = [
        (kind, a, b)
        for kind, a, b in joints
        if a != b and any(end is not None and bodies[end] == "dynamic" for end in (a, b))
    ]
    return random_scene(joints, bodies, np.random.default_rng(draw(SEED)))


def components(count, pairs):
    """The component of each node, by relabelling until nothing changes; the base is the last node."""
    label = np.arange(count + 1)
    for _ in range(count + 1):
        for a, b in pairs:
            label[a] = label[b] = min(label[a], label[b])
    return label


def graph_of(scene):
    """Node of each body, -1 for static ones, and the joints that are edges with their nodes."""
    node = {body.name: -1 if body.kind == "static" else i for i, body in enumerate(scene.bodies)} | {None: -1}
    return node, [(joint, node[joint.a], node[joint.b]) for joint in scene.joints if joint.type in KIND_OF]


# ---- the tree --------------------------------------------------------------------------------------------------------


@given(scenes())
def test_numbering_is_regular_and_sets_agree(scene):
    """λ(i) < i, λ(i) = min(p(i), s(i)); κ, μ, ν follow from λ; a subtree's numbers are consecutive."""
    system = System(scene)
    n = len(system.links)
    assert [link.number for link in system.links] == list(range(n))
    assert [link.parent for link in system.links] == system.parent.tolist()
    assert (system.parent < np.arange(n)).all() and (system.parent >= -1).all()
    assert np.array_equal(np.minimum(system.predecessor, system.successor)[:n], system.parent)
    assert np.array_equal(np.maximum(system.predecessor, system.successor)[:n], np.arange(n))
    for i in range(-1, n):
        supported = [j for j in range(n) if i in (-1, *system.support(j))]
        assert system.subtree(i).tolist() == supported
        assert system.children(i).tolist() == [j for j in range(n) if system.parent[j] == i]
        assert i == -1 or len(supported) == system.subtree_size[i]
    for i in range(n):
        assert system.support(i).tolist() == [*system.support(int(system.parent[i])), i]


@given(scenes())
def test_tree_loops_and_couplings_are_all_joints(scene):
    """Each joint is one of the three, each body that moves is one link, coordinates follow each other by links."""
    system = System(scene)
    tree = [link.joint.name for link in system.links if link.joint is not None]
    loops, couplings = [loop.joint.name for loop in system.loops], [joint.name for joint in system.couplings]
    assert sorted(tree + loops + couplings) == sorted(joint.name for joint in scene.joints)
    assert all(joint.type == "distance" for joint in system.couplings)
    assert sorted(link.body for link in system.links) == sorted(b.name for b in scene.bodies if b.kind != "static")
    assert system.link_of == {**{body.name: -1 for body in scene.bodies}, **{k.body: k.number for k in system.links}}
    assert [scene.bodies[link.body_number].name for link in system.links] == [link.body for link in system.links]
    for part, size in (("q", "nq"), ("v", "nv")):
        ends = np.cumsum([0] + [getattr(KINDS[link.kind], size) for link in system.links])
        assert [getattr(link, part) for link in system.links] == [slice(a, b) for a, b in itertools.pairwise(ends)]
        assert getattr(system, size) == ends[-1]


def head_of(members, leads):
    """The root of a tree of bodies whose joints lead from one to another as `leads` has it."""
    free = [i for i in members if not any(b == i for _, b in leads)]
    if len(free) == 1:
        return free[0]
    ways = np.full((max(members) + 1,) * 2, np.inf)
    np.fill_diagonal(ways, 0.0)
    for a, b in leads:
        if a in members:
            ways[a, b] = ways[b, a] = 1.0
    for k in members:
        ways = np.minimum(ways, ways[:, k, None] + ways[None, k])
    total = {i: ways[i, members].sum() for i in members}
    best = [i for i in members if total[i] == min(total.values())]
    return best[0] if len(best) == 1 or (best[0], best[1]) in leads else best[1]


@given(scenes())
def test_tree_has_one_root_for_each_component_and_cuts_the_fewest_rows(scene):
    """A free joint is added to kinematic bodies and to one body of what reaches neither them nor the base: that to which
    none of its tree's joints leads or, if there are several, from which paths to the others are shortest in all.

    No exchange of a loop joint with a tree joint of its loop saves rows.
    """
    system = System(scene)
    _node, edges = graph_of(scene)
    kinematic = [(-1, i) for i, body in enumerate(scene.bodies) if body.kind == "kinematic"]
    label = components(len(scene.bodies), kinematic + [(a, b) for _, a, b in edges])
    apart = {}
    for i, body in enumerate(scene.bodies):
        if body.kind != "static" and label[i] != label[-1]:
            apart.setdefault(label[i], []).append(i)
    place = {body.name: i for i, body in enumerate(scene.bodies)}
    leads = {
        (place[link.joint.a], place[link.joint.b])
        for link in system.links
        if link.joint is not None and None not in (link.joint.a, link.joint.b)
    }
    heads = [head_of(members, leads) for members in apart.values()]
    assert sorted(link.body_number for link in system.links if link.joint is None) == sorted(
        [i for _, i in kinematic] + heads
    )
    assert [link.body for link in system.links if link.prescribed] == [
        link.body for link in system.links if scene.body(link.body).kind == "kinematic"
    ]
    for loop in system.loops:
        around = [system.links[i] for i in system.loop_links(loop)]
        assert all(KINDS[loop.kind].nv >= KINDS[link.kind].nv for link in around if link.joint is not None)
        assert around or loop.predecessor == loop.successor == -1
        # Around the loop every body is met twice but its two ends: its joints form one closed path.
        nodes = [i for link in around for i in (link.number, link.parent)] + [loop.predecessor, loop.successor]
        assert all(nodes.count(i) == 2 for i in nodes)


@given(scenes(kinds=("dynamic",)), st.data())
def test_tree_and_roots_are_the_users_choice(scene, data):
    """Named joints are in the tree, named bodies are roots; a joint that closes a loop with them is refused."""
    _, edges = graph_of(scene)
    roots = data.draw(st.sets(st.integers(0, len(scene.bodies) - 1), max_size=2))
    names = data.draw(
        st.lists(st.sampled_from([joint for joint, _, _ in edges]), unique_by=lambda joint: joint.name)
        if edges
        else st.just([])
    )
    pairs = [(-1, root) for root in roots]
    for joint in names:
        label = components(len(scene.bodies), pairs)
        ((a, b),) = [(a, b) for other, a, b in edges if other is joint]
        if label[a] == label[b]:
            with pytest.raises(mc.SceneError, match=f"joint '{joint.name}' closes a loop with"):
                System(scene, tree=names, roots=[scene.bodies[root] for root in roots])
            return
        pairs.append((a, b))
    system = System(scene, tree=names, roots=[scene.bodies[root].name for root in roots])
    assert {joint.name for joint in names} <= {link.joint.name for link in system.links if link.joint is not None}
    assert {scene.bodies[i].name for i in roots} <= {link.body for link in system.links if link.joint is None}


def test_children_stand_in_the_order_of_their_joints():
    """Depth first; the base's free joints come last, in the order of bodies."""
    scene = mc.Scene()
    for name in ("alone", "hand", "trunk", "leg", "drifter"):
        scene.add_body(name, shape=mc.Sphere(0.1))
    for a, b in ((None, "trunk"), ("leg", "trunk"), ("trunk", "hand")):
        scene.add_joint(mc.BallJoint(a, b, anchor=(0, 0, 0)))
    system = System(scene)
    assert [link.body for link in system.links] == ["trunk", "leg", "hand", "alone", "drifter"]
    assert [link.reversed for link in system.links] == [False, True, False, False, False]
    assert system.parent.tolist() == [-1, 0, 0, -1, -1]


@pytest.mark.parametrize(
    ("name", "links", "nq", "nv", "loops"),
    [
        ("pendulum", 1, 1, 1, []),
        ("double_pendulum", 2, 2, 2, []),
        ("four_bar", 3, 3, 3, ["pivot"]),
        ("slider_crank", 3, 3, 3, ["cylinder"]),
        ("cardan_shaft", 3, 4, 4, ["cross_2"]),
        ("spinning_top", 1, 4, 3, []),
        ("dzhanibekov", 1, 7, 6, []),
        ("newton_cradle", 5, 5, 5, []),
        ("bridge", 23, 41, 38, ["hinge20"]),
    ],
)
def test_known_mechanisms(name, links, nq, nv, loops):
    system = System(mc.load(name))
    assert (len(system.links), system.nq, system.nv) == (links, nq, nv)
    assert [loop.joint.name for loop in system.loops] == loops
    assert sum(link.mass for link in system.links) == pytest.approx(sum(b.mass for b in system.scene.bodies))


def test_ragdolls_are_floating_trees():
    system = System(mc.load("ragdolls", count=2))
    assert system.children(-1).tolist() == [0, 16] and system.subtree(16).tolist() == list(range(16, 32))
    assert system.links[16].kind == "free" and system.links[16].joint is None
    assert system.index("human1.lower_trunk") == (slice(49, 56), slice(39, 45))
    assert system.index("human1.waist") == (slice(56, 60), slice(45, 48))


def test_a_long_chain_is_no_trouble():
    """The tree is walked without recursion."""
    scene = mc.load("chain", n=1100)
    assert System(scene).support(1099).tolist() == list(range(1100))


# ---- links -----------------------------------------------------------------------------------------------------------


@given(scenes(), st.booleans())
def test_frames_and_inertias(scene, rooted):
    """Every link's frame leads to its body's centre of mass and axes, and its inertia is the body's, at any q."""
    system = System(scene, roots=[body for body in scene.bodies if body.kind == "dynamic"][-1:] if rooted else None)
    positions, orientations, *_ = forward_kinematics(system, *random_coordinates(system, np.random.default_rng(1)))
    center = dict(
        zip(
            [b.name for b in scene.bodies],
            zip(positions, map(matrix, orientations), np.zeros_like(positions), np.zeros_like(positions)),
        )
    )
    for link in system.links:
        body = scene.body(link.body)
        inner = link_frame(scene, link)
        place, axes, *_ = in_world(scene, center, link.body, inner)
        assert np.allclose(place + axes @ link.frame[0], center[link.body][0], atol=1e-13)
        assert np.allclose(axes @ link.frame[1], center[link.body][1], atol=1e-13)
        assert np.array_equal(link.com, link.frame[0])
        turned = center[link.body][1]
        assert np.allclose(axes @ link.inertia @ axes.T, turned @ body.inertia @ turned.T, atol=1e-13)
        assert np.array_equal(link.inertia, link.inertia.T) and link.mass == body.mass


def link_frame(scene, link):
    """The link's frame in its body's own frame."""
    if link.joint is None:
        return scene.body(link.body).center_of_mass, IDENTITY[1]
    return link.joint.frame_a if link.reversed else link.joint.frame_b


@given(scenes())
def test_transforms(scene):
    """X_T, X_P, X_S take a body's spatial velocity to the joint's frames on it, whose velocities are known."""
    rng = np.random.default_rng(2)
    system = System(scene)
    twists = {body.name: (rng.normal(size=3), rng.normal(size=3)) for body in scene.bodies if body.kind != "static"}
    moving = {
        body.name: (
            body.position + rotate(body.orientation, body.center_of_mass),
            matrix(body.orientation),
            *twists.get(body.name, (np.zeros(3), np.zeros(3))),
        )
        for body in scene.bodies
    }

    def spatial(name, frame):
        _, axes, v, w = in_world(scene, moving, name, frame)
        return np.concatenate([axes.T @ w, axes.T @ v])

    def of_link(number):
        if number < 0:
            return np.zeros(6)
        link = system.links[number]
        return spatial(link.body, link_frame(scene, link))

    transforms = system.X_T
    assert transforms.shape == (len(system.links), 6, 6)
    for link, transform in zip(system.links, transforms):
        if link.joint is None:
            assert np.array_equal(transform, np.eye(6))
            continue
        name, frame = (link.joint.b, link.joint.frame_b) if link.reversed else (link.joint.a, link.joint.frame_a)
        assert np.allclose(transform @ of_link(link.parent), spatial(name, frame), atol=1e-12)
    for loop in system.loops:
        joint = loop.joint
        assert np.allclose(loop.X_P @ of_link(loop.predecessor), spatial(joint.a, joint.frame_a), atol=1e-12)
        assert np.allclose(loop.X_S @ of_link(loop.successor), spatial(joint.b, joint.frame_b), atol=1e-12)


def test_links_on_the_base_see_static_bodies_where_they_stand():
    scene = mc.Scene()
    scene.add_body("wall", kind="static", position=(1, 2, 3), orientation=normalized((1, 0, 0, 1)))
    scene.add_body("door", shape=mc.Box((0.5, 0.1, 1)))
    scene.add_joint(mc.HingeJoint("wall", "door", frame_a=((0.5, 0, 0), (1, 0, 0, 0)), frame_b=((0, 0, 0), (1, 0, 0, 0))))
    (link,) = System(scene).links
    assert np.allclose(link.place, (1, 2.5, 3)) and np.allclose(link.turn, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert link.parent == -1


# ---- coordinates -----------------------------------------------------------------------------------------------------


@settings(max_examples=amount(25, 200))
@given(scenes(), SEED, st.sampled_from(["quaternion", "ypr"]), st.booleans())
def test_coordinates_are_read_back(scene, seed, ball, rooted):
    """q, qd -> poses and velocities by the definitions -> q, qd; no joint is off."""
    rng = np.random.default_rng(seed)
    system = System(
        scene, ball=ball, roots=[body for body in scene.bodies if body.kind == "dynamic"][-1:] if rooted else None
    )
    q, qd = random_coordinates(system, rng)
    state = forward_kinematics(system, q, qd)
    got_q, got_qd = system.coordinates(*state)
    for link in system.links:
        part = got_q[link.q].copy()
        if link.kind in QUATERNIONS and part[-4:] @ q[link.q][-4:] < 0:
            part[-4:] *= -1
        assert np.allclose(part, q[link.q], atol=1e-10), link.kind
        assert np.allclose(got_qd[link.v], qd[link.v], atol=1e-9), link.kind
    assert np.abs(system.tree_errors(*state)).max(initial=0.0) < 1e-9


@given(st.sampled_from(TREE_JOINTS), SEED, st.sampled_from(["quaternion", "ypr"]))
def test_reversed_joints_have_the_same_coordinates(kind, seed, ball):
    """Of two bodies either may be the root: the joint between them reads the same, and the poses come back."""
    rng = np.random.default_rng(seed)
    scene = random_scene([(kind, 0, 1)], ("dynamic", "dynamic"), rng)
    forward, backward = System(scene, roots=["body0"], ball=ball), System(scene, roots=["body1"], ball=ball)
    assert not forward.links[1].reversed and backward.links[1].reversed
    state = forward_kinematics(forward, *random_coordinates(forward, rng))
    joint = scene.joints[0]
    read = [system.coordinates(*state) for system in (forward, backward)]
    for part in (0, 1):
        assert np.allclose(
            *(c[part][system.index(joint)[part]] for c, system in zip(read, (forward, backward))), atol=1e-10
        )
    for system, (q, qd) in zip((forward, backward), read):
        for got, expected in zip(forward_kinematics(system, q, qd), state):
            assert same_up_to_sign(got, expected)


def same_up_to_sign(got, expected):
    """Arrays alike; rows of quaternions may have opposite signs."""
    if got.shape[-1] == 4:
        got = got * np.sign(np.sum(got * expected, axis=-1, keepdims=True))
    return np.allclose(got, expected, atol=1e-9)


@given(scenes(), SEED)
def test_velocities_are_the_rates_of_the_poses(scene, seed):
    """A small step along the bodies' twists changes q as qd says: quaternions by half the product, ways in F_p."""
    rng = np.random.default_rng(seed)
    system = System(scene)
    q, qd = random_coordinates(system, rng)
    x, orientation, v, w = forward_kinematics(system, q, qd)
    step = 1e-6

    def moved(h):
        half = np.concatenate([np.ones((len(x), 1)), 0.5 * h * w], axis=1)
        turned = np.array([normalized(quaternion_product(a, b)) for a, b in zip(half, orientation)])
        return system.coordinates(x + h * v, turned.reshape(-1, 4), v, w)[0]

    rate = (moved(step) - moved(-step)) / (2 * step)
    for link in system.links:
        own_q, own_qd, own_rate = q[link.q], qd[link.v], rate[link.q]
        if link.kind == "planar":
            c, s = np.cos(own_q[2]), np.sin(own_q[2])
            expected = np.array([c * own_qd[0] - s * own_qd[1], s * own_qd[0] + c * own_qd[1], own_qd[2]])
        elif link.kind in QUATERNIONS:
            turn = system.coordinates(x, orientation, v, w)[0][link.q][-4:]
            expected = 0.5 * quaternion_product(turn, np.concatenate([[0.0], own_qd[-3:]]))
            expected = np.concatenate([own_qd[: QUATERNIONS[link.kind]], expected])
        else:
            expected = own_qd
        assert np.allclose(own_rate, expected, atol=1e-6), link.kind


def quaternion_product(p, q):
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def test_coordinates_of_many_states_at_once():
    """Leading axes are carried through."""
    system = System(mc.load("ragdolls", count=1))
    rng = np.random.default_rng(3)
    states = [forward_kinematics(system, *random_coordinates(system, rng)) for _ in range(6)]
    many = [np.array(parts).reshape(2, 3, *parts[0].shape) for parts in zip(*states)]
    q, qd = system.coordinates(*many)
    errors = system.tree_errors(*many)
    assert q.shape == (2, 3, 49) and qd.shape == (2, 3, 39) and errors.shape == (2, 3, 16, 4)
    for i, state in enumerate(states):
        one = system.coordinates(*state)
        assert np.array_equal(q[i // 3, i % 3], one[0]) and np.array_equal(qd[i // 3, i % 3], one[1])


@pytest.mark.parametrize("name", ["pendulum", "four_bar", "slider_crank", "cardan_shaft", "spinning_top", "ragdolls"])
def test_initial_is_what_a_world_starts_with(name):
    """The scene's own poses are the World's; hinges placed by anchors start at zero, free bodies to the bit."""
    scene = mc.load(name, **({"count": 2} if name == "ragdolls" else {}))
    system, world = System(scene), mc.World(scene)
    state = world.positions, world.orientations, world.velocities, world.angular_velocities
    q, qd = system.initial()
    from_world = system.coordinates(*state)
    assert np.allclose(q, from_world[0], atol=1e-13) and np.allclose(qd, from_world[1], atol=1e-13)
    assert system.tree_errors(*state).max() < 1e-12
    for link in system.links:
        if link.kind == "free":
            pose = np.concatenate([world.body(link.body).position, world.body(link.body).orientation])
            assert np.array_equal(from_world[0][link.q], pose)
        else:
            assert np.allclose(q[link.q], system.neutral()[link.q], atol=1e-12)


def test_positions_are_those_of_the_maximal_path():
    """Where both have the same coordinates, world.joint(name).position and .velocity say the same."""
    rng = np.random.default_rng(4)
    kinds = [kind for kind in TREE_JOINTS if KINDS[KIND_OF[kind]].plain and kind != "fixed"]
    scene = random_scene([(kind, None, i) for i, kind in enumerate(kinds)], ["dynamic"] * len(kinds), rng)
    system, world = System(scene), None
    state = forward_kinematics(system, *random_coordinates(system, rng))
    world = mc.World(scene)
    for mine, theirs in zip(state, (world.positions, world.orientations, world.velocities, world.angular_velocities)):
        theirs[:] = mine
    q, qd = system.coordinates(*state)
    for link in system.links:
        joint = world.joint(link.joint.name)
        assert np.allclose(q[link.q], np.atleast_1d(joint.position), atol=1e-9), link.kind
        expected = np.atleast_1d(joint.velocity).copy()
        if link.kind == "planar":  # theirs along the axes of F_p
            turn = q[link.q][2]
            expected[:2] = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) @ expected[:2]
        assert np.allclose(qd[link.v], expected, atol=1e-9), link.kind


@pytest.mark.parametrize("angle", [np.pi, 3.0, -3.0, np.nextafter(np.pi, 0)])
def test_angles_are_within_half_a_turn(angle):
    scene = random_scene([("hinge", None, 0)], ["dynamic"], np.random.default_rng(5))
    system = System(scene)
    q, _ = system.coordinates(*forward_kinematics(system, np.array([angle]), np.zeros(1)))
    assert q == pytest.approx([angle], abs=1e-12) or q == pytest.approx([-angle], abs=1e-12) and abs(angle) > 3.1415926
    assert -np.pi < q[0] <= np.pi


@pytest.mark.parametrize("angle", [-40.0, -3.2, 0.1, 3.2, 6.3, 25.0])
def test_a_screws_way_counts_its_turns(angle):
    scene = random_scene([("screw", None, 0)], ["dynamic"], np.random.default_rng(6))
    system = System(scene)
    q, _ = system.coordinates(*forward_kinematics(system, np.array([angle]), np.zeros(1)))
    assert q == pytest.approx([angle], abs=1e-10)


@pytest.mark.parametrize("kind", TREE_JOINTS)
def test_tree_errors_are_how_far_a_body_was_moved(kind):
    """Forbidden displacements count as they are, free ones do not, and the coordinates do not notice the forbidden."""
    free = {
        "fixed": ((), ()),
        "hinge": ((), (2,)),
        "slider": ((2,), ()),
        "cylindrical": ((2,), (2,)),
        "planar": ((0, 1), (2,)),
        "ball": ((), (0, 1, 2)),
        "universal": ((), (0, 2)),
        "screw": ((), (2,)),
        "free": ((0, 1, 2), (0, 1, 2)),
        "slot": ((2,), (0, 1, 2)),
        "point_on_plane": ((0, 1), (0, 1, 2)),
    }[kind]
    scene = mc.Scene()
    scene.add_body("b", shape=mc.Sphere(0.1))
    at = random_frame(np.random.default_rng(7))
    scene.add_joint(make_joint(kind, None, "b", at, ((0, 0, 0), (1, 0, 0, 0))))
    system = System(scene)
    axes = matrix(at[1])
    none = np.zeros((1, 3))
    neutral, still = system.neutral(), np.zeros(system.nv)
    for i in range(3):
        for size, unit in ((0.01, axes[:, i]), (-0.02, axes[:, i])):
            shifted = (at[0] + size * unit)[None], at[1][None], none, none
            turn = np.concatenate([[np.cos(size / 2)], np.sin(size / 2) * np.eye(3)[i]])
            turned = at[0][None], quaternion_product(at[1], turn)[None], none, none
            moving = at[0][None], at[1][None], size * unit[None], none
            spinning = at[0][None], at[1][None], none, size * unit[None]
            for j, (state, allowed) in enumerate(
                ((shifted, free[0]), (turned, free[1]), (moving, free[0]), (spinning, free[1]))
            ):
                errors = system.tree_errors(*state)[0]
                q, qd = system.coordinates(*state)
                if kind == "screw" and i == 2:  # a turn alone, or a way alone: the other is missing
                    assert errors[0 if j < 2 else 2] > 0.25 * abs(size)
                elif i in allowed:
                    assert np.abs(errors).max() < 1e-13
                else:
                    assert errors[j] == pytest.approx(abs(size), rel=1e-9)
                    assert np.abs(np.delete(errors, j)).max() < 1e-13
                    assert np.allclose(q, neutral, atol=1e-12) and np.allclose(qd, still, atol=1e-12)


def test_yaw_pitch_roll_has_its_singularity():
    """At pitch π/2 there are angles, but no rates, unless nothing turns the way that is missing; the joint is named."""
    scene = random_scene([("ball", None, 0)], ["dynamic"], np.random.default_rng(8))
    system = System(scene, ball={"joint0": "ypr"})
    assert system.links[0].kind == "spherical_ypr" and system.nq == 3
    state = list(forward_kinematics(system, np.array([0.4, np.pi / 2, 0.0]), np.zeros(3)))
    q, qd = system.coordinates(*state)
    assert np.allclose(q, (0.4, np.pi / 2, 0.0), atol=1e-7) and not qd.any()
    state[3] = np.ones((1, 3))
    with pytest.raises(mc.SceneError, match="joint 'joint0' is at a pitch of ±π/2.*quaternion"):
        system.coordinates(*state)
    assert np.isfinite(system.tree_errors(*state)).all()


def test_wrong_states_are_refused():
    system = System(mc.load("four_bar"))
    good = [np.zeros((3, 3)), np.tile([1.0, 0, 0, 0], (3, 1)), np.zeros((3, 3)), np.zeros((3, 3))]
    system.coordinates(*good)
    for i, value, message in (
        (0, np.zeros((2, 3)), r"positions must be \(…, 3, 3\)"),
        (1, np.zeros((3, 3)), "orientations"),
        (1, np.ones((3, 4)), "body 'crank'.*unit"),
        (3, np.full((3, 3), np.nan), "body 'crank'.*finite"),
    ):
        state = list(good)
        state[i] = value
        with pytest.raises(mc.SceneError, match=message):
            system.coordinates(*state)


def test_quaternions_of_nearly_unit_length_are_taken_as_rotations():
    """As a file in single precision has them: the coordinates are those of the rotation."""
    system = System(mc.load("dzhanibekov"))
    state = forward_kinematics(system, *random_coordinates(system, np.random.default_rng(10)))
    rounded = [state[0], state[1] * (1 + 5e-7), *state[2:]]
    for got, expected in zip(system.coordinates(*rounded), system.coordinates(*state)):
        assert np.allclose(got, expected, atol=1e-14)


# ---- names, choices, errors ------------------------------------------------------------------------------------------


def test_index_answers_or_says_why_not():
    scene = mc.load("bridge", planks=3, crates=1)
    joint = scene.add_joint(mc.DistanceJoint("plank0", "plank2", (0, 0, 1), (0, 0, 2), name="rod"))
    system = System(scene)
    assert system.index("hinge1") == system.index(scene.joint("hinge1")) == (slice(1, 2), slice(1, 2))
    assert system.index("crate0") == system.index(scene.body("crate0")) == (slice(3, 10), slice(3, 9))
    assert system.index(mc.World(scene).joint("hinge1")) == (slice(1, 2), slice(1, 2))
    for which, message in (
        ("hinge3", "joint 'hinge3' closes a loop and is cut"),
        (joint, "'rod' is a distance joint"),
        ("plank1", "body 'plank1' hangs on joint 'hinge1': ask for the joint"),
        ("left_bank", "'left_bank' is static"),
        ("hinge11", "there is no tree joint or free body 'hinge11'; did you mean 'hinge1'.*crate0"),
        (7, "there is no tree joint or free body 7"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            system.index(which)


def test_wrong_choices_name_what_is_wrong():
    scene = mc.load("four_bar")
    scene.add_body("wall", kind="static")
    scene.add_joint(mc.DistanceJoint("crank", "rocker", (0, 0, 0), (1, 0, 0), name="rod"))
    for arguments, message in (
        (
            {"tree": ["drive", "pin", "elbow", "pivot"]},
            "'pivot' closes a loop with drive, pin, elbow; it cannot be a tree joint",
        ),
        ({"tree": ["drive", "pin"], "roots": ["coupler"]}, "'pin' closes a loop with drive and the free joint of coupler;"),
        ({"tree": ["rod"]}, "joint 'rod' is a distance joint, of which no tree"),
        ({"tree": "pin"}, r"tree must be a list of joints, got the string 'pin'; write \['pin'\]"),
        ({"tree": ["pim"]}, "no joint 'pim'; did you mean 'pin'"),
        ({"roots": ["wall"]}, "body 'wall' is static"),
        ({"roots": ["cranc"]}, "no body 'cranc'"),
        ({"ball": "euler"}, "ball must be one of: quaternion, ypr"),
        ({"ball": {"pin": "ypr"}}, "joint 'pin' is a hinge joint, not a ball"),
        ({"ball": {"nix": "ypr"}}, "no joint 'nix'"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            System(scene, **arguments)


def test_a_loop_may_be_cut_where_the_user_wants():
    scene = mc.load("four_bar")
    system = System(scene, tree=["pivot", scene.joint("elbow")])
    assert [(link.body, link.reversed) for link in system.links] == [("crank", False), ("rocker", False), ("coupler", True)]
    assert [loop.joint.name for loop in system.loops] == ["pin"]
    loop = system.loops[0]
    assert (loop.predecessor, loop.successor, loop.kind) == (0, 2, "revolute")
    assert system.loop_links(loop).tolist() == [0, 1, 2]


def test_an_empty_scene_is_a_system_of_nothing():
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    system = System(scene)
    assert (system.nq, system.nv, system.links, system.X_T.shape) == (0, 0, [], (0, 6, 6))
    q, qd = system.initial()
    assert q.shape == qd.shape == (0,) and system.children(-1).size == 0 and "0 links" in str(system)


def test_systems_copy_and_pickle():
    system = System(mc.load("slider_crank"))
    for other in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert other.to_dict() == system.to_dict()
        assert np.array_equal(other.initial()[0], system.initial()[0])


# ---- printed, saved, drawn -------------------------------------------------------------------------------------------


def test_print_shows_everything():
    scene = mc.load("four_bar")
    scene.add_joint(mc.GearJoint("drive", "pivot", 2.0, name="gears"))
    text = str(System(scene, roots=["rocker"]))
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == "System of 'four_bar': 3 links, 9 coordinates, 8 velocities, 2 loops, 1 coupling".split()
    assert ["0", "crank", "base", "drive", "revolute", "0", "0", "4.3056"] in lines
    assert ["2", "rocker", "base", "-", "free", "2..8", "2..7", "8.9856"] in lines
    assert ["pivot", "revolute", "base", "2", "rocker", "5", "2"] in lines
    assert ["gears", "gear", "crank", "rocker"] in lines
    assert repr(System(scene)) == "<System of 'four_bar': 3 links, 3 coordinates, 3 velocities, 1 loop, 1 coupling>"


@settings(max_examples=amount(10, 30))
@given(scenes(), st.booleans())
def test_what_is_saved_is_read_back(scene, rooted):
    """Through JSON text, to the bit, with the choices."""
    system = System(
        scene,
        roots=[body for body in scene.bodies if body.kind == "dynamic"][-1:] if rooted else None,
        ball={joint.name: "ypr" for joint in scene.joints[::2] if joint.type == "ball"},
    )
    again = System.from_dict(json.loads(json.dumps(system.to_dict())))
    assert again.to_dict() == system.to_dict() and again.scene == scene


def test_files(tmp_path):
    path = tmp_path / "model.json"
    system = System(mc.load("four_bar"), tree=["elbow", "pivot"])
    system.save(path)
    assert System.load(path).to_dict() == system.to_dict()
    data = json.loads(path.read_text())
    for field, change, message in (
        ("links", lambda v: v[1].update(mass=3.0), r"links\[1\].mass is not what the scene gives"),
        ("loops", lambda v: v.clear(), "loops is not what the scene gives"),
        ("scene", lambda v: v["bodies"][0].update(kind="soft"), "kind"),
        ("tree", lambda v: v.append("nix"), "no joint 'nix'"),
    ):
        other = copy.deepcopy(data)
        change(other[field])
        path.write_text(json.dumps(other))
        with pytest.raises(mc.SceneError, match=message) as error:
            System.load(path)
        assert str(path) in str(error.value)
    for text, message in (("{", "not JSON"), ("[]", "not a system model"), ('{"version": 1}', "scene is missing")):
        path.write_text(text)
        with pytest.raises(mc.SceneError, match=message):
            System.load(path)
    with pytest.raises(FileNotFoundError, match="nothing.json"):
        System.load(tmp_path / "nothing.json")


def test_a_scene_with_functions_cannot_be_saved(tmp_path):
    scene = mc.load("pendulum")
    scene.add_joint(mc.UserJoint(None, "rod", lambda a, b: [b.position[2]], name="mine"))
    with pytest.raises(mc.SceneError, match="'mine'"):
        System(scene).save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_pictures(tmp_path):
    """Every joint is drawn once, by its name: loops dashed, the rest solid."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    system = System(mc.load("four_bar"), roots=["coupler"])
    axes = Figure().add_subplot()
    assert system.draw(axes) is axes
    words = [text.get_text() for text in axes.texts]
    assert sorted(words) == sorted(
        ["base", "0", "1", "2", "crank", "coupler", "rocker", "drive", "pin", "elbow", "pivot", "free"]
    )
    assert [patch.get_linestyle() for patch in axes.patches] == ["-"] * 3 + ["--"] * 2
    for form, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = tmp_path / f"graph.{form}"
        system.draw(path)
        assert path.read_bytes().startswith(start)
    with pytest.raises(mc.SceneError, match="graph.txt: .*png, .svg, .pdf"):
        system.draw(tmp_path / "graph.txt")


def test_without_matplotlib_the_line_to_type_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'mcsim-physics\[plot\]'"):
        System(mc.load("pendulum")).draw(tmp_path / "graph.png")


def test_arrows_run_from_predecessor_to_successor():
    """A reversed joint's arrow points up, towards the base."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    scene = random_scene([("hinge", 0, 1), ("hinge", 2, 1)], ["dynamic"] * 3, np.random.default_rng(9))
    axes = Figure().add_subplot()
    System(scene, roots=scene.bodies[:1]).draw(axes)
    ends = [patch._path_original.vertices[[0, -1], 1] for patch in axes.patches]
    assert [end > start for start, end in ends] == [True, True, False]
