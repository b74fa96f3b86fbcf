"""Denavit-Hartenberg tables against products of their four elementary matrices."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mcsim as mc
from mcsim.core.rotation import from_matrix, matrix, normalized
from mcsim.reduced import System, dh_scene
from reduced_scenes import X, Z, forward_kinematics, turn_about


def homogeneous(rotation, place):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = rotation, place
    return out


def frames(rows, convention, q, base=None):
    """(4, 4) of each link's frame, by the definition."""
    out, at = [], np.eye(4) if base is None else base
    for (a, alpha, d, theta, kind), coordinate in zip(rows, q):
        theta, d = (theta + coordinate, d) if kind == "revolute" else (theta, d + coordinate)
        about_z = homogeneous(turn_about(Z, theta), np.zeros(3)) @ homogeneous(np.eye(3), (0, 0, d))
        about_x = homogeneous(np.eye(3), (a, 0, 0)) @ homogeneous(turn_about(X, alpha), np.zeros(3))
        at = at @ (about_z @ about_x if convention == "standard" else about_x @ about_z)
        out.append(at)
    return out


ROW = st.tuples(
    *[
        st.sampled_from([0.0, 0.4, -0.7]),
        st.sampled_from([0.0, np.pi / 2, -np.pi / 2, 0.3]),
        st.sampled_from([0.0, 0.5, -0.2]),
        st.sampled_from([0.0, 1.0, np.pi / 2]),
        st.sampled_from(["revolute", "prismatic"]),
    ]
)


@given(st.lists(ROW, min_size=1, max_size=7), st.sampled_from(["standard", "modified"]), st.integers(0, 2**32 - 1))
def test_links_stand_where_the_table_says(rows, convention, seed):
    """At the start, and at any other q; the coordinates read what was given."""
    rng = np.random.default_rng(seed)
    start, later = rng.uniform(-1.5, 1.5, (2, len(rows)))
    place, turn = rng.normal(size=3), normalized(rng.normal(size=4))
    base = homogeneous(matrix(turn), place)
    scene = dh_scene(rows, convention, q=start, base=(place, turn))
    system = System(scene)
    assert np.allclose(system.initial()[0], start, atol=1e-12)
    for body, frame in zip(scene.bodies, frames(rows, convention, start, base)):
        assert np.allclose(homogeneous(matrix(body.orientation), body.position), frame, atol=1e-12)
    positions, orientations, *_ = forward_kinematics(system, later, np.zeros(len(rows)))
    for body, position, orientation, frame in zip(
        scene.bodies, positions, orientations, frames(rows, convention, later, base)
    ):
        axes = matrix(orientation)
        assert np.allclose(homogeneous(axes, position - axes @ body.center_of_mass), frame, atol=1e-11)


def test_both_conventions_describe_the_same_arm():
    """An elbow arm, once by each table: its joints' axes are the same lines, and so is where the last link gets."""
    upper, fore = 0.5, 0.4
    standard = dh_scene([(0, np.pi / 2, 0.3, 0), (upper, 0, 0, 0), (fore, 0, 0, 0)])
    modified = dh_scene([(0, 0, 0.3, 0), (0, np.pi / 2, 0, 0), (upper, 0, 0, 0)], "modified", tool=(fore, 0, 0))
    q = np.array([0.3, 0.7, -1.1])
    ends = []
    for scene, offset in ((standard, (0, 0, 0)), (modified, (fore, 0, 0))):
        system = System(scene)
        positions, orientations, *_ = forward_kinematics(system, q, np.zeros(3))
        axes = matrix(orientations[-1])
        ends.append(positions[-1] + axes @ (np.array(offset) - scene.bodies[-1].center_of_mass))
    reach = upper * np.cos(q[1]) + fore * np.cos(q[1] + q[2])
    expected = (reach * np.cos(q[0]), reach * np.sin(q[0]), 0.3 + upper * np.sin(q[1]) + fore * np.sin(q[1] + q[2]))
    assert np.allclose(ends[0], expected, atol=1e-12) and np.allclose(ends[1], expected, atol=1e-12)


def test_default_links_are_rods_between_the_joints():
    """A planar arm of two links: each rod's middle is between its joints, heavier for the longer one."""
    for convention, tool in (("standard", (0, 0, 0)), ("modified", (0.5, 0, 0))):
        rows = [(1.0, 0, 0, 0), (0.5, 0, 0, 0)] if convention == "standard" else [(0, 0, 0, 0), (1.0, 0, 0, 0)]
        scene = dh_scene(rows, convention, tool=tool)
        middles = [body.position + body.center_of_mass for body in scene.bodies]
        assert np.allclose(middles, [(0.5, 0, 0), (1.25, 0, 0)], atol=1e-12)
        assert scene.bodies[0].mass > scene.bodies[1].mass > 0
        assert scene.bodies[0].shapes[0].half_length == pytest.approx(0.5)


def test_given_masses_centers_and_inertias_are_taken():
    rows = [(0.3, 0.1, 0, 0, "revolute"), (0.3, 0, 0, 0)]
    scene = dh_scene(
        rows,
        masses=[2.0, 3.0],
        centers=[(0, 0, 0.1), (0.2, 0, 0)],
        inertias=[(1, 1, 1), np.eye(3) * 0.5],
        limits=[None, (-1, 1)],
        name="arm",
        gravity=(0, 0, 0),
    )
    link, other = System(scene).links
    assert (link.mass, other.mass) == (2.0, 3.0) and np.allclose(other.inertia, 0.5 * np.eye(3))
    assert np.allclose(scene.bodies[1].center_of_mass, (0.2, 0, 0)) and scene.joints[1].axes[0].upper == 1.0
    assert scene.name == "arm" and not scene.gravity.any()


def test_wrong_tables_say_what_is_wrong():
    for arguments, message in (
        (([(1, 2, 3)],), r"rows\[0\] must be \(a, alpha, d, theta, kind\)"),
        (([(1, 2, 3, 4, "screw")],), r"rows\[0\]\[4\] must be one of: revolute, prismatic"),
        (([(1, 2, 3, float("nan"))],), r"rows\[0\]\[3\] must be finite"),
        (([], "craig"), "convention must be one of: standard, modified"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            dh_scene(*arguments)
    for keywords, message in (
        ({"masses": [1, 2]}, "masses must be 1 of them"),
        ({"q": [1, 2]}, "q must be 1 numbers"),
        ({"inertias": [(1, 1, 1)]}, "inertias need masses as well"),
        ({"masses": [1.0], "centers": [(0, 0, 0)]}, "centers need inertias as well"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            dh_scene([(1, 0, 0, 0)], **keywords)
    assert from_matrix(np.eye(3))[0] == 1.0
