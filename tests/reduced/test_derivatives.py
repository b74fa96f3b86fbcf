"""Derivatives of the algorithms over a tree against differences, by identities, in batches, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from dynamics_checks import as_kind, batch, case, chain_of, random_case, state_of
from level_runs import on_every_level
from mcsim.reduced import Dynamics, JointModel, System
from random_trees import random_inertia, random_scene, scenes
from twin import KINDS, advance

DYNAMICS = "inverse_dynamics", "forward_dynamics"
STEP = 1e-3  # of the differences, whose error is of fourth order: some 1e-9 of the largest number
DIFFERENCES = 1e-7


def moved(system, q, step):
    """q after a unit of time with these velocities, by the twin."""
    result = q.copy()
    for link in system.links:
        result[link.q] = advance(link.kind, q[link.q], step[link.v], 1.0)
    return result


def along(function, size):
    """(…, size): derivatives of a function of a step (size,)."""
    columns = []
    for unit in STEP * np.eye(size):
        near, far = function(unit) - function(-unit), function(2 * unit) - function(-2 * unit)
        columns.append((8.0 * near - far) / (12.0 * STEP))
    return np.stack(columns, axis=-1) if columns else np.zeros((0, 0))


def differences(dynamics, method, state):
    """By q, qd and the third argument."""
    ask, n = getattr(dynamics, method), dynamics.nv
    q, qd, x, forces = (state[name] for name in ("q", "qd", "x", "forces"))
    return (
        along(lambda e: ask(moved(dynamics.system, q, e), qd, x, forces), n),
        along(lambda e: ask(q, qd + e, x, forces), n),
        along(lambda e: ask(q, qd, x + e, forces), n),
    )


def derivatives(dynamics, method, state):
    return getattr(dynamics, f"{method}_derivatives")(*(state[name] for name in ("q", "qd", "x", "forces")))


def off(found, expected):
    """The largest difference, relative to the largest number, or to 1 where that is less."""
    return max(
        np.abs(one - other).max(initial=0.0) / np.abs(other).max(initial=1.0)
        for one, other in zip(found, expected, strict=True)
    )


def by_body(system, state, seed=0):
    """The state with forces by body, and without."""
    forces = np.random.default_rng(seed).normal(size=(len(system.scene.bodies), 6))
    return state | {"forces": forces}, state | {"forces": None}


# ---- differences -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_one_kind(kind):
    """Both ways round, with forces and without."""
    for number in range(4):
        system, state = chain_of(kind, number)
        dynamics = Dynamics(system)
        for given_ in by_body(system, state):
            for method in DYNAMICS:
                assert off(derivatives(dynamics, method, given_), differences(dynamics, method, given_)) < DIFFERENCES


@settings(max_examples=amount(15, 60))
@given(scenes(largest=12), st.booleans())
def test_random_trees(made, forced):
    scene, rng = made
    system = System(scene)
    dynamics, state = Dynamics(system), by_body(system, state_of(rng, system))[0 if forced else 1]
    for method in DYNAMICS:
        assert off(derivatives(dynamics, method, state), differences(dynamics, method, state)) < 10 * DIFFERENCES


def test_yaw_pitch_and_roll():
    system, state = random_case(13)
    assert {"spherical_ypr", "planar"} <= {link.kind for link in system.links}
    dynamics, state = Dynamics(system), by_body(system, state)[0]
    for method in DYNAMICS:
        assert off(derivatives(dynamics, method, state), differences(dynamics, method, state)) < 10 * DIFFERENCES


def test_bodies_that_differ_in_gravity():
    rng = np.random.default_rng(3)
    scene = mc.Scene(gravity=(1, 2, -9))
    for k, scale in enumerate((1.0, -2.0, 0.5)):
        scene.add_body(f"b{k}", mass=1.0, inertia=random_inertia(rng, 1.0), position=(k, 0, 0), gravity_scale=scale)
        scene.add_joint(mc.BallJoint(f"b{k - 1}" if k else None, f"b{k}", (k - 0.5, 0.1, 0)))
    system = System(scene)
    dynamics, state = Dynamics(system), state_of(rng, system) | {"forces": None}
    for method in DYNAMICS:
        assert off(derivatives(dynamics, method, state), differences(dynamics, method, state)) < DIFFERENCES


def carriages():
    """Two chains on kinematic bodies, and one that floats."""
    rng = np.random.default_rng(15)
    scene = mc.Scene()
    for name in ("one", "two"):
        scene.add_body(name, kind="kinematic", shape=mc.Box((0.1, 0.2, 0.3)), position=rng.normal(size=3))
    for k, parent in enumerate(("one", "b0", "b1", "two", None, "b4")):
        scene.add_body(f"b{k}", mass=1.0 + k, inertia=random_inertia(rng, 1.0), position=rng.normal(size=3))
        if parent is not None:
            joint = mc.HingeJoint(parent, f"b{k}", rng.normal(size=3), rng.normal(size=3))
            scene.add_joint(mc.BallJoint(parent, f"b{k}", rng.normal(size=3)) if k == 1 else joint)
    system = System(scene)
    return system, Dynamics(system), by_body(system, state_of(rng, system))[0]


def test_kinematic_bodies():
    """Their accelerations are given, in place of tau."""
    system, dynamics, state = carriages()
    for method in DYNAMICS:
        assert off(derivatives(dynamics, method, state), differences(dynamics, method, state)) < DIFFERENCES
    given_ = np.concatenate([np.arange(link.v.start, link.v.stop) for link in system.links if link.prescribed])
    found = derivatives(dynamics, "forward_dynamics", state)
    assert len(given_) == 12
    assert not found.dqdd_dq[given_].any() and not found.dqdd_dqd[given_].any()
    assert np.array_equal(found.dqdd_dtau[given_], np.eye(system.nv)[given_])


@pytest.mark.parametrize("kind", KINDS)
def test_bodies(kind):
    """Poses and velocities of all bodies, of a chain of every kind."""
    for number in range(4):
        system, state = chain_of(kind, number)
        dynamics, q, qd, n = Dynamics(system), state["q"], state["qd"], system.nv
        if n == 0:
            continue
        pose, velocity = dynamics.pose_derivatives(q), dynamics.velocity_derivatives(q, qd)
        expected = along(lambda e: dynamics.poses(moved(system, q, e))[0], n)
        assert off([pose.position], [expected]) < DIFFERENCES
        for k in (0, 1):
            by_q = along(lambda e: dynamics.state(moved(system, q, e), qd)[2 + k], n)
            by_qd = along(lambda e: dynamics.state(q, qd + e)[2 + k], n)
            assert off([velocity[k], velocity[2 + k]], [by_q, by_qd]) < DIFFERENCES
        for body in system.scene.bodies:
            jacobian = dynamics.body_jacobian(body, q)
            number_ = [b.name for b in system.scene.bodies].index(body.name)
            for part in (pose, velocity[2:]):
                assert np.allclose(np.concatenate([part[0][number_], part[1][number_]]), jacobian, rtol=0, atol=1e-14)


def test_turns_are_rotation_vectors_in_world_axes():
    system, state = random_case(18)
    dynamics, q = Dynamics(system), state["q"]
    found = dynamics.pose_derivatives(q).rotation
    step = 1e-6 * np.random.default_rng(0).normal(size=system.nv)
    before, after = dynamics.poses(q)[1], dynamics.poses(dynamics.advance(q, step))[1]
    for number, (p, r) in enumerate(zip(before, after)):
        turn = mc.rotation.multiply(r, mc.rotation.conjugate(p))
        vector = 2.0 * np.sign(turn[0]) * turn[1:]
        assert np.allclose(vector, found[number] @ step, rtol=0, atol=1e-10)


# ---- steps along velocities ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_steps_along_velocities(kind):
    """As the twin goes them; none leaves q as it is, but for lengths of quaternions."""
    system, state = chain_of(kind, 1)
    dynamics, many = Dynamics(system), batch(system, 4)
    expected = [moved(system, many["q"][i], many["qd"][i]) for i in range(4)]
    assert np.allclose(dynamics.advance(many["q"], many["qd"]), np.reshape(expected, (4, system.nq)), rtol=0, atol=1e-14)
    assert np.allclose(dynamics.advance(state["q"], np.zeros(system.nv)), state["q"], rtol=0, atol=1e-15)
    for q, step in ((many["q"][0], many["qd"]), (many["q"], many["qd"][0])):
        pairs = zip(np.broadcast_to(q, (4, system.nq)), np.broadcast_to(step, (4, system.nv)))
        expected = np.reshape([dynamics.advance(*pair) for pair in pairs], (4, system.nq))
        assert np.array_equal(dynamics.advance(q, step), expected)


def test_small_turns_of_a_planar_joint():
    system, state = chain_of("planar")
    dynamics, q = Dynamics(system), state["q"]
    for turn in (0.0, 1e-9, 1e-6, 1.1e-6, -1e-3):
        step = np.tile([0.3, -0.2, turn], system.nv // 3)
        assert np.allclose(dynamics.advance(q, step), moved(system, q, step), rtol=0, atol=1e-15)


# ---- identities ------------------------------------------------------------------------------------------------------


@settings(max_examples=amount(13, 40))
@given(scenes(largest=30))
def test_identities(made):
    """By qdd: the mass matrix. H^-1 is symmetric to the bit and undoes H, and with it inverse and forward dynamics go
    together."""
    scene, rng = made
    system = System(scene)
    dynamics, state = Dynamics(system), by_body(system, state_of(rng, system))[0]
    q, qd, x, forces = (state[name] for name in ("q", "qd", "x", "forces"))
    h, found = dynamics.mass_matrix(q), dynamics.forward_dynamics_derivatives(q, qd, x, forces)
    inverse = dynamics.inverse_dynamics_derivatives(q, qd, dynamics.forward_dynamics(q, qd, x, forces), forces)
    assert np.array_equal(inverse.dtau_dqdd, inverse.dtau_dqdd.T)
    assert np.allclose(inverse.dtau_dqdd, h, rtol=0, atol=1e-13 * np.abs(h).max(initial=0.0))
    assert np.array_equal(found.dqdd_dtau, found.dqdd_dtau.T)
    scale = np.sqrt(np.outer(np.diag(h), np.diag(h)))
    for part, expected in (
        (found.dqdd_dtau, np.eye(system.nv)),
        (found.dqdd_dq, -inverse.dtau_dq),
        (found.dqdd_dqd, -inverse.dtau_dqd),
    ):
        size = scale.max(initial=0.0) * np.abs(part).max(initial=0.0) + 1.0
        assert np.abs(h @ part - expected).max(initial=0.0) < 1e-12 * size


def test_where_a_free_tree_floats_does_not_count():
    """Nor how fast it goes along: not to the bit."""
    rng = np.random.default_rng(9)
    scene = mc.Scene()
    for k in range(4):
        scene.add_body(f"b{k}", shape=mc.Box((0.2, 0.3, 0.1)), position=(k, 0, 0))
    for k in range(1, 4):
        scene.add_joint(mc.BallJoint(f"b{k - 1}", f"b{k}", (k - 0.5, 0.1, 0)))
    system = System(scene)
    dynamics, state = Dynamics(system), by_body(system, state_of(rng, system))[0]
    assert system.links[0].kind == "free"
    ways = system.links[0].v.start + np.arange(3)
    for method in DYNAMICS:
        found = derivatives(dynamics, method, state)
        assert not found[0][:, ways].any()
        assert off([found[1][:, ways]], [np.zeros((system.nv, 3))]) < 1e-13
        far = derivatives(dynamics, method, state | {"q": state["q"] + 1e6 * (np.arange(system.nq) < 3)})
        assert all(np.array_equal(one, other) for one, other in zip(found, far))


def test_at_rest_forces_have_a_potential():
    """Of joints whose velocities are rates of coordinates tau is a gradient then, and dtau_dq a Hessian: symmetric."""
    rng = np.random.default_rng(21)
    kinds = ("revolute", "prismatic", "helical", "cylindrical", "universal")
    system = System(random_scene(rng, 15, kinds=kinds))
    assert not {"free", "planar", "spherical"} & {link.kind for link in system.links[1:]}
    q, still = state_of(rng, system)["q"], np.zeros(system.nv)
    found = Dynamics(system).inverse_dynamics_derivatives(q, still, still).dtau_dq
    joints = np.concatenate([np.arange(link.v.start, link.v.stop) for link in system.links if link.kind in kinds])
    hessian = found[np.ix_(joints, joints)]
    assert np.abs(hessian).max() > 1.0 and np.allclose(hessian, hessian.T, rtol=0, atol=1e-12 * np.abs(hessian).max())


def test_what_velocities_ask_for_is_of_second_order():
    """C(q, qd) without gravity is homogeneous: by Euler, dtau_dqd qd = 2 C."""
    system, state = random_case(17)
    dynamics = Dynamics(system, gravity=(0, 0, 0))
    q, qd = state["q"], state["qd"]
    found = dynamics.inverse_dynamics_derivatives(q, qd, np.zeros(system.nv)).dtau_dqd @ qd
    assert off([found], [2.0 * dynamics.bias_force(q, qd)]) < 1e-12


def test_links_that_do_not_hang_together_do_not_feel_each_other():
    """All derivatives of tau are zero to the bit between links of which neither bears the other."""
    system, state = random_case(11, 20)
    found = Dynamics(system).inverse_dynamics_derivatives(state["q"], state["qd"], state["x"])
    strangers = 0
    for a in system.links:
        for b in system.links:
            if a.number not in system.support(b.number) and b.number not in system.support(a.number):
                strangers += 1
                assert not any(part[a.v, b.v].any() for part in found)
    assert strangers > 20


def test_a_pendulum_by_hand():
    """A bob of 2 kg on a rod of 1.5 m from a hinge about y: tau = H qdd - m g l sin(angle)."""
    scene = mc.Scene(gravity=(0, 0, -9.81))
    scene.add_body("bob", mass=2.0, inertia=(0.1, 0.2, 0.15), position=(0, 0, 1.5))
    scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, 1, 0)))
    dynamics = Dynamics(System(scene))
    angle, moment = 0.4, 0.2 + 2.0 * 1.5**2
    slope = 2.0 * 9.81 * 1.5 * np.cos(angle)
    found = dynamics.inverse_dynamics_derivatives([angle], [3.0], [0.7])
    assert np.allclose([part[0, 0] for part in found], [-slope, 0.0, moment], rtol=1e-14, atol=1e-14)
    found = dynamics.forward_dynamics_derivatives([angle], [3.0], [0.7])
    assert np.allclose([part[0, 0] for part in found], [slope / moment, 0.0, 1.0 / moment], rtol=1e-14, atol=1e-14)
    pose, velocity = dynamics.pose_derivatives([angle]), dynamics.velocity_derivatives([angle], [3.0])
    sine, cosine = np.sin(angle), np.cos(angle)
    assert np.allclose(pose.position[0, :, 0], [1.5 * cosine, 0, -1.5 * sine], atol=1e-15)
    assert np.allclose(pose.rotation[0, :, 0], [0, 1, 0], atol=1e-15)
    assert np.allclose(velocity.dv_dq[0, :, 0], [-4.5 * sine, 0, -4.5 * cosine], atol=1e-14)
    assert np.allclose(velocity.dw_dq[0, :, 0], 0.0, atol=1e-15)


def test_a_free_body_by_hand():
    """A force that keeps its direction in the world turns no linear acceleration; a torque turns in the body's axes."""
    moments, push, torque = np.array([0.3, 0.5, 0.7]), np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, 0.7])
    scene = mc.Scene(gravity=(0, 0, -5.0))
    scene.add_body("body", mass=3.0, inertia=moments)
    dynamics = Dynamics(System(scene))
    q, v, w = np.array([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]), np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -1.5])
    found = dynamics.forward_dynamics_derivatives(q, [*v, *w], np.zeros(6), [[*push, *torque]])
    turned = np.cross(torque, np.eye(3)).T  # columns: how the torque, in the body's axes, changes as that turns
    expected = np.zeros((6, 6))
    expected[3:, 3:] = turned / moments[:, None]
    assert np.allclose(found.dqdd_dq, expected, atol=1e-14)
    gyroscopic = -np.cross(np.eye(3), moments * w).T - np.cross(w, np.diag(moments)).T
    expected[3:, 3:] = gyroscopic / moments[:, None]
    assert np.allclose(found.dqdd_dqd, expected, atol=1e-14)
    assert np.allclose(found.dqdd_dtau, np.diag([1 / 3, 1 / 3, 1 / 3, *(1.0 / moments)]), atol=1e-15)


# ---- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", DYNAMICS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 17, 64])
def test_batches_equal_single_states_to_the_bit(method, count):
    system, dynamics, _ = case()
    many = batch(system, count)
    found = derivatives(dynamics, method, many)
    singles = [derivatives(dynamics, method, {name: value[i] for name, value in many.items()}) for i in range(count)]
    for k in range(3):
        assert found[k].shape == (count, system.nv, system.nv)
        assert np.array_equal(found[k], np.reshape([single[k] for single in singles], found[k].shape))


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_every_kind(kind):
    system, _ = chain_of(kind, 1)
    check_batch(Dynamics(system), batch(system, 11))


def test_batches_with_kinematic_bodies():
    system, dynamics, _ = carriages()
    check_batch(dynamics, batch(system, 11))


def check_batch(dynamics, many):
    count = len(many["q"])
    for forces in (many["forces"], None):
        for method in DYNAMICS:
            found = derivatives(dynamics, method, many | {"forces": forces})
            for i in range(count):
                one = {name: value[i] for name, value in many.items()}
                single = derivatives(dynamics, method, one if forces is not None else one | {"forces": None})
                assert all(np.array_equal(part[i], own) for part, own in zip(found, single)), method


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_single_arguments_serve_all_states_of_a_batch(single):
    system, dynamics, _ = case()
    many = batch(system, 5)
    asked = {name: value[0] if alone else value for alone, (name, value) in zip(single, many.items())}
    repeated = {
        name: np.repeat(value[:1], 5, axis=0) if alone else value for alone, (name, value) in zip(single, many.items())
    }
    for method in DYNAMICS:
        found, expected = derivatives(dynamics, method, asked), derivatives(dynamics, method, repeated)
        for part, other in zip(found, expected):
            assert part.shape == (() if all(single) else (5,)) + (system.nv, system.nv)
            assert np.array_equal(np.broadcast_to(part, other.shape), other)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_bodies_of_batches_equal_those_of_single_states_to_the_bit(count):
    system, dynamics, _ = case()
    many, bodies = batch(system, count), len(system.scene.bodies)
    q, qd = many["q"], many["qd"]
    found = [*dynamics.pose_derivatives(q), *dynamics.velocity_derivatives(q, qd)]
    for k, part in enumerate(found):
        assert part.shape == (count, bodies, 3, system.nv)
        for i in range(count):
            assert np.array_equal(
                part[i], [*dynamics.pose_derivatives(q[i]), *dynamics.velocity_derivatives(q[i], qd[i])][k]
            )


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_the_bits(threads):
    system, dynamics, _ = case()
    many, several = batch(system, 300), Dynamics(system, threads=threads)
    for method in DYNAMICS:
        for part, other in zip(derivatives(several, method, many), derivatives(dynamics, method, many)):
            assert np.array_equal(part, other), method


LEVEL_RUN = """
import hashlib
from dynamics_checks import batch, case
from test_derivatives import DYNAMICS, derivatives
system, dynamics, one = case(4, 25)
many = batch(system, 21)
parts = [part for given in (one, many) for method in DYNAMICS for part in derivatives(dynamics, method, given)]
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
"""


def test_all_levels_give_the_same_bits():
    found = on_every_level(LEVEL_RUN)
    assert len(set(found.values())) == 1, found


def test_calls_leave_no_trace():
    """Answers do not depend on what was asked before, of derivatives or of the dynamics themselves, which are as before."""
    system, dynamics, state = case()
    asked = [state[name] for name in ("q", "qd", "x", "forces")]
    plain = [getattr(dynamics, method)(*asked) for method in DYNAMICS]
    first = {method: [part.copy() for part in derivatives(dynamics, method, state)] for method in DYNAMICS}
    for seed in range(3):
        many = batch(system, 9, seed)
        for method in DYNAMICS:
            derivatives(dynamics, method, many)
            derivatives(dynamics, method, {name: value[0] for name, value in many.items()})
            getattr(dynamics, method)(many["q"], many["qd"], many["x"])
        dynamics.velocity_derivatives(many["q"], many["qd"])
    for method, before in zip(DYNAMICS, plain):
        again = derivatives(dynamics, method, state)
        assert all(np.array_equal(part, other) for part, other in zip(again, first[method])), method
        assert all(part.flags.writeable and part.flags.c_contiguous for part in again)
        assert np.array_equal(getattr(dynamics, method)(*asked), before)


def test_nothing_that_moves():
    system = System(mc.Scene())
    dynamics, none = Dynamics(system), np.zeros(0)
    for method in DYNAMICS:
        assert all(part.shape == (0, 0) for part in getattr(dynamics, f"{method}_derivatives")(none, none, none))
        many = getattr(dynamics, f"{method}_derivatives")(np.zeros((3, 0)), none, none)
        assert all(part.shape == (3, 0, 0) for part in many)
    assert dynamics.pose_derivatives(none).position.shape == (0, 3, 0)
    assert dynamics.advance(none, none).shape == (0,)


# ---- what they refuse ------------------------------------------------------------------------------------------------

WRONG = {
    "too short": lambda a: a[..., :-1],
    "too long": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "too many axes": lambda a: np.array([[a]]),
    "words": lambda a: "rest",
    "NaN": lambda a: np.where(np.arange(a.shape[-1]) == a.shape[-1] - 1, np.nan, a),
    "nothing": lambda a: None,
}


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("name", ["q", "qd", "x", "forces"])
@pytest.mark.parametrize("method", DYNAMICS)
def test_wrong_arrays_are_refused_by_name(method, name, how):
    _, dynamics, state = case()
    if name == "forces" and how == "nothing":
        return
    argument = {"x": {"inverse_dynamics": "qdd", "forward_dynamics": "tau"}[method]}.get(name, name)
    expected = derivatives(dynamics, method, state)
    with pytest.raises(mc.SceneError, match=rf"^{argument}\b"):
        derivatives(dynamics, method, state | {name: WRONG[how](state[name])})
    assert all(np.array_equal(*pair) for pair in zip(derivatives(dynamics, method, state), expected))


@pytest.mark.parametrize("how", WRONG)
def test_wrong_states_of_bodies_and_wrong_steps_are_refused_by_name(how):
    _, dynamics, state = case()
    q, qd = state["q"], state["qd"]
    for name, ask in (
        ("q", lambda: dynamics.pose_derivatives(WRONG[how](q))),
        ("q", lambda: dynamics.velocity_derivatives(WRONG[how](q), qd)),
        ("qd", lambda: dynamics.velocity_derivatives(q, WRONG[how](qd))),
        ("q", lambda: dynamics.advance(WRONG[how](q), qd)),
        ("step", lambda: dynamics.advance(q, WRONG[how](qd))),
    ):
        with pytest.raises(mc.SceneError, match=rf"^{name}\b"):
            ask()


@pytest.mark.parametrize("name", ["qd", "x", "forces"])
def test_batches_of_different_lengths_are_refused(name):
    system, dynamics, _ = case()
    many = batch(system, 5)
    with pytest.raises(mc.SceneError, match="4 states"):
        derivatives(dynamics, "forward_dynamics", many | {name: many[name][:4]})
    with pytest.raises(mc.SceneError, match="4 states"):
        dynamics.advance(many["q"], many["qd"][:4])


def test_singular_coordinates_are_refused():
    """The message names the joint. Inverse dynamics is as good there as anywhere."""
    system, state = chain_of("spherical_ypr")
    link = next(link for link in system.links if link.kind == "spherical_ypr")
    state["q"][link.q.start + 1] = np.pi / 2
    dynamics, asked = Dynamics(system), (state["q"], state["qd"], state["x"])
    assert np.isfinite(dynamics.inverse_dynamics_derivatives(*asked).dtau_dq).all()
    with pytest.raises(mc.SceneError, match=f"{link.joint.name}.*pitch"):
        dynamics.forward_dynamics_derivatives(*asked)


@pytest.mark.parametrize("many", [False, True])
def test_what_has_no_mass_is_refused(many):
    """A hinge whose axis goes through the centre of mass of a body that has no inertia about it: the message names it."""
    system, state = chain_of("revolute")
    as_kind(system, "revolute", 0.0)
    last = system.links[-1]
    object.__setattr__(last, "mass", 0.0)
    object.__setattr__(last, "inertia", np.zeros((3, 3)))
    asked = [np.array([state[name]] * 3 if many else state[name]) for name in ("q", "qd", "x")]
    with pytest.raises(mc.SceneError, match=f"positive definite at joint '{last.joint.name}'"):
        Dynamics(system).forward_dynamics_derivatives(*asked)


def test_joints_of_the_users_are_refused():
    """By dynamics and velocities; poses need no more than the subspace."""
    scene = mc.Scene()
    scene.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1))
    scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, 1, 0), name="own"))
    model = JointModel(1, lambda q: (np.eye(3), np.array([q[0], 0.0, 0.0])))
    system = System(scene, models={"own": model})
    dynamics = Dynamics(system)
    for ask in (
        lambda: dynamics.inverse_dynamics_derivatives([0.1], [0.0], [0.0]),
        lambda: dynamics.forward_dynamics_derivatives([[0.1]], [0.0], [0.0]),
        lambda: dynamics.velocity_derivatives([0.1], [0.0]),
    ):
        with pytest.raises(mc.SceneError, match="^joint 'own' has a JointModel.*differences"):
            ask()
    found = dynamics.pose_derivatives([0.1])
    jacobian = dynamics.body_jacobian("bob", [0.1])
    assert np.array_equal(np.concatenate([found.position[0], found.rotation[0]]), jacobian)
