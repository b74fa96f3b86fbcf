"""The compiled dynamics against the twin, by identities, in batches, and with what it must refuse."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from dynamics_checks import (
    ASKED,
    METHODS,
    Compiled,
    apart,
    ask,
    batch,
    case,
    chain_of,
    check_agreement,
    differences,
    random_case,
    state_of,
)
from level_runs import on_every_level
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.kinds import QUATERNIONS
from mcsim.reduced.system import System
from random_trees import joint_coordinates, random_inertia, random_scene, scenes
from twin import KINDS, Twin, rotation_of

every_method = pytest.mark.parametrize("method", METHODS)


# ---- agreement -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 20, 40, 60, *(pytest.param(k, marks=pytest.mark.slow) for k in range(80, 200, 20))])
def test_random_trees(first):
    for number in range(first, first + 20):
        system, state = random_case(number)
        check_agreement(Compiled(system), Twin(system), state)


@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_one_kind(kind):
    for number in range(4):
        system, state = chain_of(kind, number)
        check_agreement(Compiled(system), Twin(system), state, 1e-12)


def test_without_forces():
    system, state = random_case(7)
    compiled, twin = Compiled(system), Twin(system)
    for method in ("inverse_dynamics", "forward_dynamics"):
        asked = state["q"], state["qd"], state["x"]
        assert apart(method, getattr(compiled, method)(*asked), getattr(twin, method)(*asked)) < 1e-11


def test_another_gravity():
    system, state = random_case(8)
    gravity = (3.0, -1.0, 7.0)
    check_agreement(Compiled(system, gravity=gravity), Twin(system, gravity), state)


def test_kinematic_bodies():
    """A chain on a carriage, the τ of which are its accelerations."""
    rng = np.random.default_rng(15)
    scene = mc.Scene()
    scene.add_body(
        "carriage",
        kind="kinematic",
        shape=mc.Box((0.1, 0.2, 0.3)),
        position=(1, 2, 3),
        orientation=(0.5, -0.5, 0.5, 0.5),
        center_of_mass=(0.1, 0.2, 0.3),
    )
    for k in range(4):
        scene.add_body(f"b{k}", mass=1.0 + k, inertia=random_inertia(rng, 1.0), position=rng.normal(size=3))
        scene.add_joint(mc.HingeJoint(f"b{k - 1}" if k else "carriage", f"b{k}", rng.normal(size=3), rng.normal(size=3)))
    system = System(scene)
    state = state_of(rng, system)
    compiled = Compiled(system)
    check_agreement(compiled, Twin(system), state, 1e-12)
    qdd = compiled.forward_dynamics(state["q"], state["qd"], state["x"])
    carriage = system.links[system.link_of["carriage"]]
    assert carriage.prescribed and np.array_equal(qdd[carriage.v], state["x"][carriage.v])


def test_a_tree_far_away():
    """A base body that floats 1e6 m off: its joints feel nothing of it but the rounding of its pose."""
    rng = np.random.default_rng(9)
    scene = mc.Scene()
    for k in range(4):
        scene.add_body(f"b{k}", shape=mc.Box((0.2, 0.3, 0.1)), position=(k, 0, 0))
    for k in range(1, 4):
        scene.add_joint(mc.BallJoint(f"b{k - 1}", f"b{k}", (k - 0.5, 0.1, 0)))
    system = System(scene)
    dynamics, state = Dynamics(system), state_of(rng, system)
    near = dynamics.forward_dynamics(state["q"], state["qd"], state["x"])
    state["q"][:3] += 1e6
    far = dynamics.forward_dynamics(state["q"], state["qd"], state["x"])
    assert system.links[0].kind == "free"
    assert np.array_equal(far, near)


# ---- identities ------------------------------------------------------------------------------------------------------


@settings(max_examples=amount(13, 40))
@given(scenes(largest=30))
def test_identities(made):
    """Forward and inverse dynamics undo each other; H q̈ + C = τ; H is symmetric to the bit and positive definite."""
    scene, rng = made
    system = System(scene)
    dynamics, state = Compiled(system), state_of(rng, system)
    q, qd, tau, forces = (state[name] for name in ("q", "qd", "x", "forces"))
    qdd = dynamics.forward_dynamics(q, qd, tau, forces)
    assert np.allclose(dynamics.inverse_dynamics(q, qd, qdd, forces), tau, rtol=0, atol=1e-9)
    h = dynamics.mass_matrix(q)
    assert np.array_equal(h, h.T) and np.linalg.eigvalsh(h).min(initial=1.0) > 0.0
    back = h @ tau + dynamics.bias_force(q, qd)
    assert apart("inverse_dynamics", dynamics.inverse_dynamics(q, qd, tau), back) < 1e-12


def test_columns_of_the_mass_matrix_are_inverse_dynamics_at_rest():
    system, dynamics, state = case()
    still, q = np.zeros(system.nv), state["q"]
    at_rest = dynamics.inverse_dynamics(q, still, still)
    columns = [dynamics.inverse_dynamics(q, still, unit) - at_rest for unit in np.eye(system.nv)]
    h = dynamics.mass_matrix(q)
    assert np.allclose(np.array(columns).T, h, rtol=0, atol=1e-12 * np.abs(h).max())


def test_links_that_do_not_hang_together_do_not_feel_each_other():
    """H is zero to the bit between links of which neither bears the other."""
    system, state = random_case(11, 20)
    h = Dynamics(system).mass_matrix(state["q"])
    bearing = {-1: set()}
    for link in system.links:
        bearing[link.number] = bearing[link.parent] | {link.number}
    strangers = [
        (a, b)
        for a in system.links
        for b in system.links
        if a.number not in bearing[b.number] and b.number not in bearing[a.number]
    ]
    assert len(strangers) > 20
    for a, b in strangers:
        assert np.all(h[a.v, b.v] == 0.0)


def test_the_length_of_a_quaternion_does_not_count():
    """Scaled by 2, which is exact: the same bits; by another number: the same but for rounding."""
    system, dynamics, state = case(2, 20)
    q = state["q"]
    quaternions = [k for link in system.links if link.kind in QUATERNIONS for k in range(link.q.stop - 4, link.q.stop)]
    assert quaternions
    for factor, tolerance in ((2.0, 1e-15), (1.0 + 1e-9, 1e-13)):
        longer = q.copy()
        longer[quaternions] *= factor
        assert apart("mass_matrix", dynamics.mass_matrix(longer), dynamics.mass_matrix(q)) < tolerance


# ---- batches ---------------------------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 17, 64])
def test_batches_equal_single_states_to_the_bit(method, count):
    system, dynamics, _ = case()
    many = batch(system, count)
    found = ask(dynamics, method, many)
    singles = [ask(dynamics, method, {name: value[i] for name, value in many.items()}) for i in range(count)]
    assert found.shape == (count, *ask(dynamics, method, case()[2]).shape)
    assert np.array_equal(found, np.array(singles).reshape(found.shape))


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_every_kind(kind):
    system, _ = chain_of(kind)
    dynamics, many = Dynamics(system), batch(system, 11)
    for method in METHODS:
        singles = [ask(dynamics, method, {name: value[i] for name, value in many.items()}) for i in range(11)]
        assert np.array_equal(ask(dynamics, method, many), singles), method


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_single_arguments_serve_all_states_of_a_batch(single):
    system, dynamics, _ = case()
    many = batch(system, 5)
    given_ = {name: value[0] if alone else value for alone, (name, value) in zip(single, many.items())}
    repeated = {
        name: np.repeat(value[:1], 5, axis=0) if alone else value for alone, (name, value) in zip(single, many.items())
    }
    for method in ("inverse_dynamics", "forward_dynamics"):
        found = ask(dynamics, method, given_)
        assert found.shape == ((system.nv,) if all(single) else (5, system.nv))
        assert np.array_equal(np.broadcast_to(found, (5, system.nv)), ask(dynamics, method, repeated))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_bodies_of_batches_equal_those_of_single_states_to_the_bit(count):
    system, dynamics, _ = case()
    many, bodies = batch(system, count), len(system.scene.bodies)
    q, qd = many["q"], many["qd"]
    found = [*dynamics.state(q, qd), dynamics.body_jacobian(system.links[-1].body, q)]
    shapes = (bodies, 3), (bodies, 4), (bodies, 3), (bodies, 3), (6, system.nv)
    for k, (part, shape) in enumerate(zip(found, shapes)):
        singles = [
            [*dynamics.state(q[i], qd[i]), dynamics.body_jacobian(system.links[-1].body, q[i])][k] for i in range(count)
        ]
        assert part.shape == (count, *shape)
        assert np.array_equal(part, np.array(singles).reshape(part.shape))
    for part, other in zip(dynamics.poses(q), found):
        assert np.array_equal(part, other)


def test_one_pose_and_many_velocities():
    system, dynamics, _ = case()
    many = batch(system, 3)
    for q, qd in ((many["q"][0], many["qd"]), (many["q"], many["qd"][0])):
        found = dynamics.state(q, qd)
        repeated = dynamics.state(np.broadcast_to(q, (3, system.nq)), np.broadcast_to(qd, (3, system.nv)))
        for part, other in zip(found, repeated):
            assert np.array_equal(part, other)


def test_static_bodies_stay_where_they_are():
    rng = np.random.default_rng(16)
    scene = random_scene(rng, 4)
    scene.add_body(
        "still",
        kind="static",
        shape=mc.Box((1, 1, 1)),
        position=(1, 2, 3),
        orientation=(0.5, 0.5, -0.5, 0.5),
        center_of_mass=(0, 0, 1),
    )
    system = System(scene)
    dynamics, many = Dynamics(system), batch(system, 2)
    positions, orientations, velocities, spins = dynamics.state(many["q"], many["qd"])
    assert np.allclose(positions[:, -1], [1, 2, 3] + rotation_of([0.5, 0.5, -0.5, 0.5]) @ [0, 0, 1], atol=1e-15)
    assert np.all(orientations[:, -1] == [0.5, 0.5, -0.5, 0.5])
    assert np.all(velocities[:, -1] == 0.0) and np.all(spins[:, -1] == 0.0)
    assert np.all(dynamics.body_jacobian("still", many["q"]) == 0.0)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_the_bits(threads):
    system, dynamics, _ = case()
    many = batch(system, 500)
    several = Dynamics(system, threads=threads)
    for method in METHODS:
        assert np.array_equal(ask(several, method, many), ask(dynamics, method, many)), method


LEVEL_RUN = """
import hashlib
from dynamics_checks import METHODS, ask, batch, case
system, dynamics, _ = case(4, 25)
many = batch(system, 21)
print(hashlib.sha256(b"".join(ask(dynamics, method, many).tobytes() for method in METHODS)).hexdigest())
"""


def test_all_levels_give_the_same_bits():
    found = on_every_level(LEVEL_RUN)
    assert len(set(found.values())) == 1, found


def test_calls_leave_no_trace():
    """Answers do not depend on what was asked before, and stay as they are when more is asked."""
    system, dynamics, state = case()
    first = {method: ask(dynamics, method, state) for method in METHODS}
    kept = {method: answer.copy() for method, answer in first.items()}
    for seed in range(3):
        many = batch(system, 9, seed)
        for method in METHODS:
            ask(dynamics, method, many)
            ask(dynamics, method, {name: value[0] for name, value in many.items()})
    for method in METHODS:
        assert np.array_equal(first[method], kept[method]), method
        assert np.array_equal(ask(dynamics, method, state), kept[method]), method
        assert first[method].flags.writeable and first[method].base is None


# ---- arrays of all sorts ---------------------------------------------------------------------------------------------


def sorts(a):
    """The same numbers in other arrays."""
    frozen = a.copy()
    frozen.flags.writeable = False
    spread = np.zeros((*a.shape, 2))
    spread[..., 0] = a
    return {
        "list": a.tolist(),
        "memoryview": memoryview(a),
        "read-only": frozen,
        "strided": spread[..., 0],
        "reversed": a[..., ::-1].copy()[..., ::-1],
        "Fortran": np.asfortranarray(a),
        "big-endian": a.astype(">f8"),
        "long": a.astype(np.longdouble),
    }


@every_method
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_any_array_of_numbers_will_do(method, many):
    system, dynamics, state = case()
    state = batch(system, 6) if many else state
    before = {name: value.copy() for name, value in state.items()}
    expected = ask(dynamics, method, state)
    for sort in sorts(state["q"]):
        others = {name: sorts(value)[sort] for name, value in state.items()}
        assert np.array_equal(ask(dynamics, method, others), expected), sort
    for name, value in state.items():
        assert np.array_equal(value, before[name])


def test_arrays_off_their_alignment_will_do():
    _, dynamics, state = case()
    odd = {name: np.ndarray(a.shape, buffer=bytearray(b"x" + a.tobytes()), offset=1) for name, a in state.items()}
    for method in METHODS:
        assert np.array_equal(ask(dynamics, method, odd), ask(dynamics, method, state))


def test_integers_and_short_floats_are_read_as_they_are():
    system, dynamics, state = case()
    ones = np.ones(system.nv)
    expected = dynamics.forward_dynamics(state["q"], ones, ones)
    for kind in (int, np.int8, bool, np.float32):
        assert np.array_equal(dynamics.forward_dynamics(state["q"], ones.astype(kind), ones.astype(kind)), expected)


def test_arguments_by_name():
    _, dynamics, state = case()
    q, qd, x, forces = (state[name] for name in ("q", "qd", "x", "forces"))
    assert np.array_equal(
        dynamics.forward_dynamics(q=q, qd=qd, tau=x, forces=forces), dynamics.forward_dynamics(q, qd, x, forces)
    )
    assert np.array_equal(
        dynamics.inverse_dynamics(q=q, qd=qd, qdd=x, forces=forces), dynamics.inverse_dynamics(q, qd, x, forces)
    )


# ---- small and large trees -------------------------------------------------------------------------------------------


def empty_scenes():
    yield mc.Scene()
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    yield scene
    scene = mc.Scene()
    scene.add_body("block", shape=mc.Box((1, 1, 1)))
    scene.add_joint(mc.FixedJoint(None, "block"))
    yield scene


@pytest.mark.parametrize("scene", list(empty_scenes()), ids=["nothing", "static", "fixed"])
def test_nothing_that_moves(scene):
    system = System(scene)
    dynamics, none = Dynamics(system), np.zeros(0)
    assert system.nv == 0
    assert dynamics.forward_dynamics(none, none, none).shape == dynamics.bias_force(none, none).shape == (0,)
    assert dynamics.mass_matrix(none).shape == (0, 0)
    assert dynamics.mass_matrix(np.zeros((3, 0))).shape == (3, 0, 0)
    assert dynamics.inverse_dynamics(np.zeros((3, 0)), none, none).shape == (3, 0)


def test_a_pendulum_by_hand():
    """A bob of 2 kg on a rod of 1.5 m from a hinge about y: H = I + m l², C = -m g l sin(angle)."""
    scene = mc.Scene(gravity=(0, 0, -9.81))
    scene.add_body("bob", mass=2.0, inertia=(0.1, 0.2, 0.15), position=(0, 0, 1.5))
    scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, 1, 0)))
    dynamics = Dynamics(System(scene))
    angle, moment = 0.4, 0.2 + 2.0 * 1.5**2
    torque = 2.0 * 9.81 * 1.5 * np.sin(angle)
    assert np.allclose(dynamics.mass_matrix([angle]), [[moment]], rtol=1e-15)
    assert np.allclose(dynamics.bias_force([angle], [3.0]), -torque, rtol=1e-14)
    assert np.allclose(dynamics.forward_dynamics([angle], [3.0], [0.7]), (0.7 + torque) / moment, rtol=1e-14)


def test_a_free_body_by_hand():
    """Newton's law in the world's axes, Euler's in the body's."""
    scene = mc.Scene(gravity=(0, 0, -5.0))
    moments = np.array([0.3, 0.5, 0.7])
    scene.add_body("body", mass=3.0, inertia=moments)
    dynamics = Dynamics(System(scene))
    quaternion = np.array([0.1, -0.5, 0.7, 0.5])
    v, w, push, torque = np.array([[0.3, -0.2, 0.5], [1.0, 2.0, -1.5], [0.0, 6.0, 0.0], [0.1, 0.0, 0.7]])
    qdd = dynamics.forward_dynamics([1.0, 2.0, 3.0, *quaternion], [*v, *w], np.zeros(6), [[*push, *torque]])
    assert np.allclose(qdd[:3], push / 3.0 + [0, 0, -5.0], atol=1e-14)
    own_torque = rotation_of(quaternion).T @ torque
    assert np.allclose(qdd[3:], (own_torque - np.cross(w, moments * w)) / moments, atol=1e-14)


def test_a_chain_of_hundreds():
    rng = np.random.default_rng(12)
    system = System(random_scene(rng, amount(200, 400), kinds=("revolute", "universal"), branching=0.0))
    dynamics, state = Compiled(system), state_of(rng, system)
    found = differences(dynamics, Twin(system), {**state, "qd": 0.1 * state["qd"]})
    assert max(found.values()) < 1e-9, found


@pytest.mark.parametrize("ratio", [1e-4, 1e4])
def test_heavy_and_light_bodies(ratio):
    """Masses that go up or down from body to body, from 1 to the ratio."""
    rng = np.random.default_rng(13)
    scene = mc.Scene()
    for k in range(10):
        scene.add_body(f"b{k}", shape=mc.Box((0.1, 0.2, 0.15)), density=100 * ratio ** (k / 9), position=(0.5 * k, 0, 0))
        scene.add_joint(mc.BallJoint(f"b{k - 1}" if k else None, f"b{k}", (0.5 * k - 0.25, 0.05, 0)))
    system = System(scene)
    dynamics, state = Dynamics(system), state_of(rng, system)
    qdd = dynamics.forward_dynamics(state["q"], state["qd"], np.zeros(system.nv))
    expected = np.linalg.solve(dynamics.mass_matrix(state["q"]), -dynamics.bias_force(state["q"], state["qd"]))
    assert apart("forward_dynamics", qdd, expected) < 1e-9


# ---- what it must refuse ---------------------------------------------------------------------------------------------

WRONG = {
    "too short": lambda a: a[..., :-1],
    "too long": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "one number": lambda a: 1.0,
    "too many axes": lambda a: np.array([[a]]),
    "words": lambda a: "rest",
    "objects": lambda a: np.full(a.shape, object()),
    "NaN": lambda a: np.where(np.arange(a.shape[-1]) == a.shape[-1] - 1, np.nan, a),
    "infinite": lambda a: np.where(np.arange(a.shape[-1]) == 0, -np.inf, a),
    "ragged": lambda a: [[1.0, 2.0], [3.0]],
    "dict": lambda a: {"q": 1.0},
}


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("method, name", [(method, name) for method in METHODS for name in ASKED[method].split()])
def test_wrong_arrays_are_refused_by_name(method, name, how):
    _, dynamics, state = case()
    argument = {"x": {"inverse_dynamics": "qdd", "forward_dynamics": "tau"}.get(method)}.get(name, name)
    expected = ask(dynamics, method, state)
    with pytest.raises(mc.SceneError, match=rf"^{argument}\b"):
        ask(dynamics, method, state | {name: WRONG[how](state[name])})
    assert np.array_equal(ask(dynamics, method, state), expected)


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("name", ["q", "qd"])
def test_wrong_states_of_bodies_are_refused_by_name(name, how):
    system, dynamics, state = case()
    wrong = state | {name: WRONG[how](state[name])}
    with pytest.raises(mc.SceneError, match=rf"^{name}\b"):
        dynamics.state(wrong["q"], wrong["qd"])
    if name == "q":
        for ask_for in (dynamics.poses, lambda q: dynamics.body_jacobian(system.links[0].body, q)):
            with pytest.raises(mc.SceneError, match=r"^q\b"):
                ask_for(wrong["q"])


@pytest.mark.parametrize("body", ["nobody", None, 3, []])
def test_a_jacobian_of_no_body_is_refused(body):
    _, dynamics, state = case()
    with pytest.raises(mc.SceneError, match="there is no body"):
        dynamics.body_jacobian(body, state["q"])


@pytest.mark.parametrize("name", ["qd", "x", "forces"])
def test_batches_of_different_lengths_are_refused(name):
    system, dynamics, _ = case()
    many = batch(system, 5)
    for count in (1, 4):
        with pytest.raises(mc.SceneError, match=f"{count} states"):
            dynamics.forward_dynamics(*(value[:count] if key == name else value for key, value in many.items()))


@pytest.mark.parametrize("name", ["q", "qd"])
def test_nothing_in_place_of_an_argument_is_refused(name):
    _, dynamics, state = case()
    with pytest.raises(mc.SceneError, match=f"^{name}"):
        ask(dynamics, "forward_dynamics", state | {name: None})


@pytest.mark.parametrize("method", ["inverse_dynamics", "forward_dynamics"])
def test_nothing_in_place_of_forces_or_accelerations_is_refused(method):
    _, dynamics, state = case()
    with pytest.raises(mc.SceneError, match="^(tau|qdd)"):
        ask(dynamics, method, state | {"x": None})


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), "down", 9.81])
def test_wrong_gravity_is_refused(gravity):
    with pytest.raises(mc.SceneError, match="gravity"):
        Dynamics(case()[0], gravity=gravity)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_wrong_threads_are_refused(threads):
    with pytest.raises(mc.SceneError, match="threads"):
        Dynamics(case()[0], threads=threads)


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_zero_quaternion_is_refused(kind):
    system, state = chain_of(kind)
    state["q"][system.links[1].q.stop - 4 : system.links[1].q.stop] = 0.0
    with pytest.raises(mc.SceneError, match="quaternion"):
        Compiled(system).forward_dynamics(state["q"], state["qd"], state["x"])


def test_singular_yaw_pitch_and_roll_is_refused():
    """The message names the joint. Inverse dynamics and the mass matrix are as good there as anywhere."""
    system, state = chain_of("spherical_ypr")
    link = next(link for link in system.links if link.kind == "spherical_ypr")
    state["q"][link.q.start + 1] = np.pi / 2
    compiled, twin = Compiled(system), Twin(system)
    for method, arguments in (("inverse_dynamics", ("q", "qd", "x")), ("mass_matrix", ("q",)), ("bias_force", ("q", "qd"))):
        given = [state[name] for name in arguments]
        assert np.allclose(getattr(compiled, method)(*given), getattr(twin, method)(*given), rtol=1e-10, atol=1e-10)
    with pytest.raises(mc.SceneError, match=f"{link.joint.name}.*(pitch|singular)"):
        compiled.forward_dynamics(state["q"], state["qd"], state["x"])


@pytest.mark.parametrize("off", [1e-2, 1e-4, 1e-6])
def test_near_singular_yaw_pitch_and_roll(off):
    """Forward and inverse dynamics still undo each other, to what the condition of H leaves."""
    system, state = chain_of("spherical_ypr", 1)
    rng = np.random.default_rng(14)
    for link in system.links:
        state["q"][link.q] = joint_coordinates(rng, link.kind)
    state["q"][system.links[1].q.start + 1] = np.pi / 2 - off
    compiled = Compiled(system)
    qdd = compiled.forward_dynamics(state["q"], state["qd"], state["x"])
    back = compiled.inverse_dynamics(state["q"], state["qd"], qdd)
    assert np.allclose(back, state["x"], rtol=0, atol=1e-13 * (1 + np.abs(qdd).max()))
