"""Three ways to write a scene's equations: they agree with each other, with the tree's algorithms and with the twin's
maximal coordinates; their constraints are those of the motion; rank and redundant rows of known mechanisms."""

import numpy as np
import pytest

import mcsim as mc
from looped_scenes import LOOPS, bennett, looped_system, moving, parallelogram, ring
from mcsim.core.errors import SceneError
from mcsim.reduced import Dynamics, Formulation, JointModel, System, joint_spaces, mobility
from mcsim.reduced.formulations import METHODS, loop_matrix
from mcsim.reduced.spaces import turn_x, turn_z
from random_trees import random_forces, random_scene, random_state
from twin import Twin, place_of

AGREE = 1e-10


def tree(seed):
    """-> Dynamics, q, qd, tau, forces (bodies, 6) of a random tree; every other one has yaw, pitch and roll."""
    rng = np.random.default_rng(seed)
    system = System(random_scene(rng, 1 + seed % 10), ball=("quaternion", "ypr")[seed % 2])
    return Dynamics(system), *random_state(rng, system), by_body(system, random_forces(rng, system))


def by_body(system, forces):
    result = np.zeros((len(system.scene.bodies), 6))
    result[[link.body_number for link in system.links]] = forces
    return result


def looped(seed, loops=None, **keywords):
    """-> Dynamics, q, qd, tau, forces of a random tree with closed loops, at velocities that they allow."""
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(looped_system(rng, 3 + seed % 6, loops=loops or 1 + seed % 3, **keywords))
    q = dynamics.system.initial()[0]
    return (
        dynamics,
        q,
        moving(rng, dynamics, q),
        rng.normal(size=dynamics.nv),
        by_body(dynamics.system, random_forces(rng, dynamics.system)),
    )


def near(found, expected, tolerance=AGREE):
    return np.allclose(found, expected, rtol=0, atol=tolerance * (1 + np.abs(expected).max(initial=0)))


# ---- trees -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_three_formulations_give_the_trees_accelerations(seed):
    dynamics, q, qd, tau, forces = tree(seed)
    made = Formulation(dynamics, q, qd, tau, forces)
    qdd = dynamics.forward_dynamics(q, qd, tau, forces)
    linear, angular = dynamics.accelerations(q, qd, qdd)
    bodies = [link.body_number for link in dynamics.system.links]
    for method in METHODS:
        assert near(made.joint_accelerations(method), qdd)
        assert near(made.accelerations(method), np.hstack([angular, linear])[bodies])
    assert near(made.G.T @ made.H @ made.G, dynamics.mass_matrix(q))
    assert near(made.G.T @ (made.C - made.F + made.H @ made.g), dynamics.bias_force(q, qd, forces) - tau)
    assert near(made.K @ made.G, np.zeros((len(made.k), dynamics.nv)))
    assert near(made.K @ made.g, made.k) and made.redundant_rows == 0
    assert made.rank + dynamics.nv == len(made.C)


@pytest.mark.parametrize("seed", range(10))
def test_constraint_forces_are_the_twins(seed):
    """And with another T_a other constraint forces, but the same motion and the same force of each joint."""
    dynamics, q, qd, tau, forces = tree(seed)
    system, twin, rng = dynamics.system, Twin(dynamics.system), np.random.default_rng(seed)
    by_link = forces[[link.body_number for link in system.links]]
    _, expected = twin.constrained_dynamics(q, qd, tau, by_link)
    kinematics = twin.kinematics(q, qd)
    made = Formulation(dynamics, q, qd, tau, forces)
    active = {
        space.name: space.T_a + space.T @ rng.normal(size=(space.T.shape[1], space.T_a.shape[1]))
        for space, link in zip(joint_spaces(dynamics, q), system.links)
        if link.joint is not None
    }
    other = Formulation(dynamics, q, qd, tau, forces, active=active)
    assert near(other.joint_accelerations("kkt"), made.joint_accelerations("kkt"))
    changed = False
    for i, (found, another) in enumerate(zip(made.constraint_forces().values(), other.constraint_forces().values())):
        link, space = system.links[i], made.spaces[i]
        assert found.joint == space.name and found.determined
        # The twin's is on the link, about its origin in its axes, of the least power of T_a.
        rotation, origin = place_of(kinematics.from_world[i])
        on_link = found.world.copy()
        on_link[:3] += np.cross(space.origin - origin, on_link[3:])
        own = np.concatenate([rotation.T @ on_link[:3], rotation.T @ on_link[3:]]) * (-1 if link.reversed else 1)
        total = expected[i] + np.linalg.pinv(kinematics.s[i]).T @ tau[link.v]
        assert near(own, total, 1e-9)
        assert near(another.world, found.world, 1e-9)
        changed = changed or not near(another.constraint, found.constraint, 1e-3)
    assert changed or dynamics.nv in (0, 6)


@pytest.mark.parametrize("seed", range(10))
def test_given_accelerations_cost_the_hybrid_dynamics_forces(seed):
    dynamics, q, qd, tau, forces = tree(seed)
    rng = np.random.default_rng(seed)
    given, qdd = rng.random(dynamics.nv) < 0.5, rng.normal(size=dynamics.nv)
    made = Formulation(dynamics, q, qd, tau, forces, given=given, qdd=qdd)
    expected, needed = dynamics.hybrid_dynamics(q, qd, tau, qdd, given, forces)
    for method in METHODS:
        assert near(made.joint_accelerations(method), expected)
    assert made.G.shape[1] == np.sum(~given) and near(made.K @ made.g, made.k)
    found = made.constraint_forces()
    for link, space in zip(dynamics.system.links, made.spaces):
        numbers = np.arange(link.v.start, link.v.stop)[given[link.v]]
        if len(numbers):
            assert near(found[space.name].constraint[-len(numbers) :], needed[numbers], 1e-9)


def test_kinematic_bodies_move_as_they_are_told():
    scene = mc.Scene()
    scene.add_body("carriage", kind="kinematic", shape=mc.Box((0.1, 0.1, 0.1)))
    scene.add_body("bob", shape=mc.Sphere(0.2), position=(0.5, 0, -0.7))
    scene.add_joint(mc.BallJoint("carriage", "bob", (0, 0, 0)))
    dynamics, rng = Dynamics(System(scene)), np.random.default_rng(3)
    q, qd, x = random_state(rng, dynamics.system)
    made = Formulation(dynamics, q, qd, x, qdd=x)
    assert made.G.shape[1] == 3
    for method in METHODS:
        assert near(made.joint_accelerations(method), dynamics.forward_dynamics(q, qd, x))


def rolling_arm(reversed_joint):
    """A wheel on a rack, and on it a body on a joint model of its own: two coordinates, S that changes with both."""
    scene = mc.Scene()
    scene.add_body("wheel", mass=2.0, inertia=(0.5, 0.5, 0.9))
    scene.add_body("arm", mass=0.7, inertia=(0.1, 0.2, 0.25), position=(0.4, 0.1, 0.3))
    scene.add_joint(mc.RackPinionJoint(None, "wheel", (0, 0, 0), (1, 0, 0), (0, 1, 0), 0.3, name="rack"))
    ends = ("arm", "wheel") if reversed_joint else ("wheel", "arm")
    scene.add_joint(mc.HingeJoint(*ends, (0.2, 0, 0.1), (0, 1, 0.3), name="own"))

    def placement(q):
        return turn_z(q[0]) @ turn_x(q[1]), np.array([q[0], np.sin(q[0]), 0.2 * q[1] ** 2])

    return System(scene, models={"rack": "rack_pinion", "own": JointModel(2, placement)})


@pytest.mark.parametrize("reversed_joint", [False, True])
def test_models_of_the_users_and_racks(reversed_joint):
    system = rolling_arm(reversed_joint)
    assert [(link.kind, link.reversed) for link in system.links] == [("rack_pinion", False), ("user", reversed_joint)]
    dynamics, (q, qd, tau) = Dynamics(system), np.random.default_rng(4).uniform(-1, 1, (3, 3))
    made = Formulation(dynamics, q, qd, tau)
    assert made.redundant_rows == 0 and made.K.shape == (9, 12)
    for method in METHODS:
        assert near(made.joint_accelerations(method), dynamics.forward_dynamics(q, qd, tau), 1e-6)
    given = np.array([False, True, False])
    expected = Formulation(dynamics, q, qd, tau, given=given, qdd=tau)
    assert near(expected.joint_accelerations("kkt"), dynamics.hybrid_dynamics(q, qd, tau, tau, given)[0], 1e-6)


def test_a_singular_model_is_refused():
    scene = mc.Scene()
    scene.add_body("arm", mass=0.7, inertia=(0.1, 0.2, 0.25))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 0, 1), name="own"))
    model = JointModel(2, lambda q: (turn_z(q[0] + q[1]), np.array([q[0] * q[1], 0, 0])))
    system = System(scene, models={"own": model})
    with pytest.raises(SceneError, match="'own'.*singular"):
        Formulation(system, [0.5, 0.5])


# ---- loops -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_three_formulations_agree_on_loops(seed):
    dynamics, q, qd, tau, forces = looped(seed)
    made = Formulation(dynamics, q, qd, tau, forces)
    a = [made.accelerations(method) for method in METHODS]
    assert near(a[1], a[0]) and near(a[2], a[0])
    assert near(made.K @ a[0].ravel(), made.k) and near(made.K @ made.G, np.zeros((len(made.k), made.G.shape[1])))
    assert made.rank + made.G.shape[1] == len(made.C) and made.mobility.freedoms == made.G.shape[1]
    assert near(made.Phi, made.G @ np.linalg.solve(made.G.T @ made.H @ made.G, made.G.T))
    loops = loop_matrix(dynamics, q)
    assert near(made.loop_K, loops.rows) and made.rows[made.loop_rows] == loops.names
    # Over the tree: H qdd + C = tau + K' lambda, K qdd = k, with the same lambda.
    qdd, found = made.joint_accelerations("kkt"), made.constraint_forces()
    assert near(made.loop_K @ qdd, made.loop_k)
    multipliers = np.concatenate([found[loop.joint.name].constraint for loop in dynamics.system.loops])
    assert near(dynamics.inverse_dynamics(q, qd, qdd, forces), tau + made.loop_K.T @ multipliers, 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_joint_forces_and_outer_forces_move_each_body(seed):
    """I a = sum of what joints pass on and of what else acts: Newton and Euler of every body."""
    dynamics, q, qd, tau, forces = looped(seed)
    made = Formulation(dynamics, q, qd, tau, forces)
    a, found = made.accelerations("projected"), made.constraint_forces()
    bodies = [link.body_number for link in dynamics.system.links]
    x = dynamics.poses(q)[0][bodies]
    total = np.hstack([forces[:, 3:], forces[:, :3]])[bodies]
    for space in made.spaces:
        force = found[space.name].world
        assert np.allclose(force[3:], space.axes @ found[space.name].force[3:])
        for link, sign in ((space.successor, 1), (space.predecessor, -1)):
            if link >= 0:
                total[link, 3:] += sign * force[3:]
                total[link, :3] += sign * (force[:3] + np.cross(space.origin - x[link], force[3:]))
    assert near(made.H @ a.ravel() + made.C, total.ravel(), 1e-9)


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("seed", range(2))
def test_loop_rows_are_the_rates_of_the_loops_velocities(kind, seed):
    """d/dt (T' v_J) = K qdd - k along any motion that keeps the loop's velocities."""
    dynamics, q, qd, tau, _ = looped(seed, loops=1, kinds=(kind,))
    made, twin, h = Formulation(dynamics, q, qd, tau), Twin(dynamics.system), 1e-4
    qdd = tau  # not what the loop allows: any
    rates = []
    for t in (h, -h):
        at, rate = twin.integrate(q, qd + t / 2 * qdd, t), qd + t * qdd
        space = joint_spaces(dynamics, at, rate)[-1]
        rates.append(space.T.T @ space.velocity)
    assert near((rates[0] - rates[1]) / (2 * h), made.loop_K @ qdd - made.loop_k, 1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_power_balance(seed):
    """The rate of the kinetic energy is the power of applied forces: constraint forces do no work."""
    dynamics, q, qd, tau, forces = looped(seed)
    made = Formulation(dynamics, q, qd, tau, forces)
    linear, angular = dynamics.state(q, qd)[2:]
    v = np.hstack([angular, linear])[[link.body_number for link in dynamics.system.links]].ravel()
    assert np.allclose(made.K @ v, 0, atol=1e-11)
    gained = v @ made.H @ made.accelerations("kkt").ravel()  # and H' changes nothing: v . C is gravity's power
    outer = (forces[:, :3] * linear).sum() + (forces[:, 3:] * angular).sum()
    weight = -v @ made.C
    assert np.isclose(gained, tau @ qd + outer + weight, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_apparent_inertia_is_what_a_push_meets(seed):
    dynamics, q, qd, tau, forces = (tree if seed % 2 else looped)(seed)
    made, rng = Formulation(dynamics, q, qd, tau, forces), np.random.default_rng(seed)
    for number in range(0, len(dynamics.system.links), 2):
        link = dynamics.system.links[number]
        phi, b = made.apparent(link.body)
        assert near(phi, phi.T) and np.linalg.eigvalsh((phi + phi.T) / 2).min() > -1e-10 * np.abs(phi).max(initial=1)
        push = rng.normal(size=6)
        pushed = forces.copy()
        pushed[link.body_number] += *push[3:], *push[:3]
        a = Formulation(dynamics, q, qd, tau, pushed).accelerations("projected")[number]
        assert near(phi @ push + b, a)


def test_apparent_inertia_of_a_free_body_is_its_inverse_inertia():
    scene = mc.Scene()
    scene.add_body("top", mass=2.0, inertia=(0.1, 0.2, 0.25))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    made = Formulation(System(scene), System(scene).neutral())
    assert np.allclose(made.apparent("top").Phi, np.diag([10, 5, 4, 0.5, 0.5, 0.5]))
    assert np.allclose(made.apparent("top").b, [0, 0, 0, 0, 0, -9.81])
    with pytest.raises(SceneError, match="'floor' is static"):
        made.apparent("floor")


def test_baumgarte_closes_loops():
    """e'' = -2 alpha e' - beta² e, to first order: of an open loop without other forces."""
    system = looped(4, loops=1, kinds=("spherical",))[0].system
    dynamics, twin = Dynamics(system, gravity=(0, 0, 0)), Twin(system)
    rng, alpha, beta, h = np.random.default_rng(1), 3.0, 5.0, 1e-3
    q = twin.integrate(system.initial()[0], rng.normal(size=system.nv), 1e-3)
    qd = 1e-3 * rng.normal(size=system.nv)
    made, plain = (Formulation(dynamics, q, qd, baumgarte=pair) for pair in ((alpha, beta), (0.0, 0.0)))
    space = joint_spaces(dynamics, q, qd)[-1]
    assert np.linalg.norm(space.error) > 1e-4 and made.G.shape[1] == system.nv - 3
    expected = -2 * alpha * space.T.T @ space.velocity - beta**2 * space.error
    assert near((made.k - plain.k)[made.loop_rows], expected)
    assert np.array_equal(made.k[: made.loop_rows.start], plain.k[: made.loop_rows.start])
    qdd = made.joint_accelerations()
    after, before = (joint_spaces(dynamics, twin.integrate(q, qd + t / 2 * qdd, t), qd)[-1].error for t in (h, -h))
    second = (after - 2 * space.error + before) / h**2
    assert np.allclose(second, expected, rtol=0, atol=0.01 * np.abs(expected).max())


def test_a_scene_without_anything_that_moves():
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    made = Formulation(System(scene), [])
    assert made.accelerations("kkt").shape == (0, 6) and made.K.shape == (0, 0) and made.mobility.freedoms == 0


def test_a_world_at_rest_has_the_same_rows():
    """K spans what the Jacobian of a World does, and its accelerations after a small step are the same."""
    scene = mc.load("four_bar", driven=False, speed=0.0)
    made = Formulation(System(scene), *System(scene).initial())
    jacobian = mc.World(scene).jacobian().toarray().reshape(-1, 3, 6)
    bodies = [link.body_number for link in made.system.links]
    jacobian = jacobian[:, bodies][:, :, [3, 4, 5, 0, 1, 2]].reshape(len(jacobian), -1)
    assert np.linalg.matrix_rank(np.vstack([jacobian, made.K]), tol=1e-9) == made.rank == 17
    world = mc.World(scene, dt=1e-6, substeps=1, stabilization="none")
    world.step()
    assert np.allclose(world.velocities[bodies] / 1e-6, made.accelerations()[:, 3:], rtol=0, atol=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_reduced_worlds_step_by_the_same_accelerations(seed):
    rng, dt = np.random.default_rng(seed), 1e-6
    scene = (looped_system(rng, 3 + seed, loops=1) if seed < 4 else coupled(seed)[0].system).scene
    world = mc.ReducedWorld(scene, dt=dt, iterations=500)
    world.qd, world.tau = moving(rng, world.dynamics, world.q), rng.normal(size=len(world.qd))
    q, qd = world.q.copy(), world.qd.copy()
    expected = Formulation(world.dynamics, q, qd, world.tau).joint_accelerations("kkt")
    world.step()
    assert near((world.qd - qd) / dt, expected, 1e-4)


def test_a_joint_may_be_named_as_a_body():
    scene = parallelogram()
    scene.add_body("hinge3", mass=1.0, inertia=(1, 1, 1), position=(0, 5, 0))
    system = System(scene)
    found = Formulation(system, *system.initial(), tau=np.ones(system.nv)).constraint_forces()
    assert len(found["hinge3"].constraint) == 5 and np.allclose(
        found["hinge3"].world,
        Formulation(System(parallelogram()), np.zeros(3), tau=np.ones(3)).constraint_forces()["hinge3"].world,
    )


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    dynamics, q, qd, tau, _ = tree(3)
    with pytest.raises(SceneError, match="tau must be"):
        Formulation(dynamics, q, qd, tau[1:])
    with pytest.raises(SceneError, match="projected, kkt, apparent; got 'kktt'"):
        Formulation(dynamics, q, qd, tau).accelerations("kktt")


# ---- rods and gears --------------------------------------------------------------------------------------------------


def coupled(seed):
    """A random tree with a rod, a rope and a gear: -> Dynamics, q, qd that they allow, tau."""
    rng = np.random.default_rng(seed)
    geared = {"hinge": 1, "slider": 1, "cylindrical": 2, "universal": 2, "screw": 1}
    while True:
        scene = random_scene(rng, 5)
        bodies = [body.name for body in scene.bodies]
        named = [joint for joint in scene.joints if joint.type in geared]
        if len(named) >= 2:
            break
    for name, limits in (("rod", None), ("rope", (None, 9.0))):
        ends = rng.choice(bodies, 2, replace=False)
        if {scene.body(end).kind for end in ends} == {"static"}:
            ends = [None, "b0"]
        scene.add_joint(mc.DistanceJoint(*ends, *rng.normal(size=(2, 3)), limits=limits, name=name))
    one, other = (named[i] for i in rng.choice(len(named), 2, replace=False))
    scene.add_joint(
        mc.GearJoint(
            one,
            other,
            rng.uniform(0.5, 2),
            axis_a=int(rng.integers(geared[one.type])),
            axis_b=int(rng.integers(geared[other.type])),
            name="gear",
        )
    )
    dynamics = Dynamics(System(scene))
    q = dynamics.system.initial()[0]
    return dynamics, q, moving(rng, dynamics, q), rng.normal(size=dynamics.nv)


@pytest.mark.parametrize("seed", range(12))
def test_rods_and_gears_are_held(seed):
    dynamics, q, qd, tau = coupled(seed)
    made, twin, h = Formulation(dynamics, q, qd, tau), Twin(dynamics.system), 1e-4
    assert [name for name, _ in made.rows[made.loop_rows]] == ["rod", "gear"]
    a = [made.accelerations(method) for method in METHODS]
    assert near(a[1], a[0]) and near(a[2], a[0]) and near(made.K @ a[0].ravel(), made.k)
    assert made.mobility.freedoms == made.G.shape[1]

    def errors(t, qd, qdd):
        parts = loop_matrix(dynamics, twin.integrate(q, qd + t / 2 * qdd, t)).parts
        return np.concatenate([part.error for part in parts])

    # Along any motion the error's second rate is K qdd - k; along their own it stays.
    other = Formulation(dynamics, q, tau)
    for rates, qdd, expected in (
        (qd, tau, made.loop_K @ tau - made.loop_k),
        (tau, qd, other.loop_K @ qd - other.loop_k),
        (qd, made.joint_accelerations(), np.zeros(2)),
    ):
        second = (errors(h, rates, qdd) - 2 * errors(0, rates, qdd) + errors(-h, rates, qdd)) / h**2
        scale = 1 + np.abs(expected).max() + np.abs(made.loop_k).max()
        assert np.allclose(second, expected, rtol=0, atol=1e-5 * scale)
    # Their forces do no work, and are what the tree's algorithms miss.
    found = made.constraint_forces()
    multipliers = np.concatenate([found[name].constraint for name in ("rod", "gear")])
    left = dynamics.inverse_dynamics(q, qd, made.joint_accelerations("kkt")) - tau
    assert near(made.loop_K.T @ multipliers, left, 1e-9)
    assert np.isclose(left @ qd, 0, atol=1e-9 * (1 + np.abs(left).max()))


def test_geared_wheels_share_a_torque():
    """T / (I₁ + I₂ / r²): q_a + r q_b stays."""
    scene = mc.Scene()
    for name, x, inertia in (("a", 0.0, 0.3), ("b", 1.0, 0.5)):
        scene.add_body(name, mass=1.0, inertia=(0.4, 0.4, inertia), position=(x, 0, 0))
        scene.add_joint(mc.HingeJoint(None, name, (x, 0, 0), (0, 0, 1), name=f"pivot_{name}"))
    scene.add_joint(mc.GearJoint("pivot_a", "pivot_b", 2.0, constant=0.5, name="gear"))
    system = System(scene)
    made = Formulation(system, np.zeros(2), [2.0, -1.0], [3.0, 0.0])
    assert np.allclose(made.joint_accelerations("kkt"), np.array([1.0, -0.5]) * 3.0 / (0.3 + 0.5 / 4))
    assert mobility(system, np.zeros(2)).freedoms == 1
    pulled = Formulation(system, np.zeros(2), [2.0, -1.0], baumgarte=(0.0, 3.0))
    assert np.allclose(pulled.loop_k, 9.0 * 0.5)  # the error is -0.5
    torque = made.constraint_forces()["gear"].force
    assert np.allclose(torque, [0, 0, -0.5 * 0.5 * 3.0 / (0.3 + 0.5 / 4), 0, 0, 0])


def test_a_four_bar_with_a_rod_has_no_redundant_row():
    scene = mc.Scene()
    for name, x in (("crank", 0.0), ("rocker", 1.0)):
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0.5))
        scene.add_joint(mc.HingeJoint(None, name, (x, 0, 0), (0, 1, 0), name=f"pivot_{name}"))
    scene.add_joint(mc.DistanceJoint("crank", "rocker", (0, 0, 1.0), (1, 0, 1.2), name="coupler"))
    found = mobility(System(scene))
    assert (found.freedoms, found.rank, found.redundant) == (1, 1, ())


def test_unknown_couplings_are_refused():
    def scene_of(joint, *more):
        scene = mc.Scene()
        for name in "ab":
            scene.add_body(name, shape=mc.Sphere(0.1))
        for part in (*more, joint):
            scene.add_joint(part)
        return System(scene)

    rack = mc.RackPinionJoint("a", "b", (0, 0, 0), (1, 0, 0), (0, 0, 1), 0.2, name="rack")
    table = mc.PlanarJoint(None, "a", (0, 0, 0), (0, 0, 1), name="table")
    pivot = mc.HingeJoint(None, "b", (0, 0, 0), (0, 0, 1), name="pivot")
    rod = mc.DistanceJoint("a", "b", (0, 0, 0), (0, 0, 0), length=1.0, name="rod")
    for system, what in (
        (scene_of(rack), r"'rack' \(rack_pinion\)"),
        (scene_of(rod), "'rod': the two points.*coincide"),
        (
            scene_of(mc.GearJoint("table", "pivot", 1.0, axis_a=0, name="gear"), table, pivot),
            "'gear' gears coordinate 0 of joint 'table'",
        ),
    ):
        for call in (lambda: Formulation(system, system.initial()[0]), lambda: mobility(system)):
            with pytest.raises(SceneError, match=what):
                call()


# ---- rank ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scene, freedoms, redundant",
    [
        (mc.load("four_bar"), 1, 3),
        (mc.load("slider_crank"), 1, 3),
        (parallelogram(), 1, 3),
        (bennett(), 1, 3),
        (bennett(2.1, 0.6, 0.9, 0.4), 1, 3),
        (parallelogram(0.0), 2, 4),
        (mc.load("pendulum"), 1, 0),
    ],
)
def test_known_mechanisms(scene, freedoms, redundant):
    found = mobility(System(scene))
    assert (found.freedoms, len(found.redundant)) == (freedoms, redundant)
    assert found.closest > 1e-3
    made = Formulation(System(scene), *System(scene).initial())
    assert made.redundant_rows == redundant and made.G.shape[1] == freedoms


def test_a_spoilt_bennett_linkage_is_a_frame():
    """Other lengths with the same twists: nothing moves, and no row is redundant but two."""
    rng = np.random.default_rng(5)
    points, axes = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    found = mobility(System(ring(list(points), list(axes))))
    assert found.freedoms == 0 and found.rank == 3 and len(found.redundant) == 2 and found.counted == -2


def test_a_joint_that_stands_twice_forbids_nothing_more():
    """What its rows say over the tree is rounding alone, and must not pass for rows."""
    rng = np.random.default_rng(3)
    scene = mc.Scene()
    for name in "abc":
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=rng.normal(size=3))
    anchors = rng.normal(size=(2, 3))
    for k, (ends, anchor) in enumerate(((("a", "b"), anchors[0]), (("b", "c"), anchors[1]), (("b", "c"), anchors[1]))):
        scene.add_joint(mc.BallJoint(*ends, anchor, rng.normal(size=3), name=f"ball{k}"))
    dynamics = Dynamics(System(scene))
    q, qd, tau = random_state(rng, dynamics.system)
    found = mobility(dynamics, q)
    assert (found.freedoms, found.rank, found.overconstrained) == (12, 0, ("ball2",))
    assert 0 < np.abs(loop_matrix(dynamics, q).rows).max() < 1e-14
    made = Formulation(dynamics, q, qd, tau)
    expected = dynamics.forward_dynamics(q, qd, tau)
    assert made.G.shape[1] == 12 and all(near(made.joint_accelerations(method), expected) for method in METHODS)
    assert [force.determined for force in made.constraint_forces().values()] == [True, True, False, False]


def test_six_skew_hinges_are_a_frame_and_seven_move():
    rng = np.random.default_rng(6)
    for count, freedoms in ((6, 0), (7, 1), (8, 2)):
        found = mobility(System(ring(list(rng.normal(size=(count, 3))), list(rng.normal(size=(count, 3))))))
        assert found.freedoms == freedoms == max(found.counted, 0) and not found.redundant and not found.overconstrained


@pytest.mark.parametrize("scene", [mc.load("four_bar"), bennett(), parallelogram(0.0)])
def test_rows_called_redundant_can_be_left_out(scene):
    dynamics = Dynamics(System(scene))
    q = dynamics.system.initial()[0]
    found, loops = mobility(dynamics, q), loop_matrix(dynamics, q)
    kept = [i for i, name in enumerate(loops.names) if name not in found.redundant]
    assert len(kept) == found.rank == np.linalg.matrix_rank(loops.rows[kept], tol=1e-9)
    made = Formulation(dynamics, q)
    assert not any(force.determined for force in made.constraint_forces().values())


def test_only_what_is_overconstrained_is_undetermined():
    """A pendulum on the crank of a four-bar: its joint's force is known, whatever the others'."""
    scene = mc.load("four_bar")
    pin = System(scene).links[1].joint.frame_a[0]
    scene.add_body("weight", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    scene.add_joint(
        mc.BallJoint("crank", "weight", frame_a=(pin, (1, 0, 0, 0)), frame_b=((0, 0, 0.5), (1, 0, 0, 0)), name="hook")
    )
    dynamics = Dynamics(System(scene))
    q, qd = dynamics.system.initial()
    found = Formulation(dynamics, q, qd).constraint_forces()
    assert {name for name, force in found.items() if force.determined} == {"hook"}
    assert mobility(dynamics, q).overconstrained == ("pivot",)


def test_mobility_can_be_read():
    found = mobility(System(mc.load("four_bar")))
    assert str(found) == (
        "1 degree of freedom: 3 joint freedoms of the tree less rank 2 of 5 loop rows\n"
        "overconstrained: 3 redundant rows (counting rows would give -2), in pivot:\n"
        "  pivot: torque about x\n  pivot: torque about y\n  pivot: force along z"
    )
    assert "redundant=(('pivot', 'torque about x')" in repr(found)
    assert str(mobility(System(mc.load("pendulum")))) == (
        "1 degree of freedom: 1 joint freedom of the tree less rank 0 of 0 loop rows"
    )
    assert "K (20, 18) of rank 17" in repr(Formulation(System(mc.load("four_bar")), np.zeros(3)))


def test_given_velocities_are_no_freedoms():
    system = System(mc.load("four_bar"))
    given = np.array([True, False, False])
    assert mobility(system, given=given).freedoms == 0
    made = Formulation(system, *system.initial(), given=given, qdd=[2.0, 0, 0])
    assert near(made.joint_accelerations("kkt"), made.joint_accelerations("projected"))
    assert np.isclose(made.joint_accelerations("kkt")[0], 2.0)


@pytest.mark.parametrize("method", METHODS)
def test_motions_of_the_scene_are_as_given_accelerations(method):
    """A four-bar whose crank has a Motion: as one whose crank's acceleration is given, by the torque that takes."""
    plain, t = mc.load("four_bar", driven=False), 0.4
    motion = mc.Motion(0.0, 4.0, 6.0)
    scene = mc.Scene()
    for body in plain.bodies:
        scene.add_body(
            body.name,
            mass=body.mass,
            inertia=body.inertia,
            position=body.position,
            orientation=body.orientation,
            center_of_mass=body.center_of_mass,
        )
    for joint in plain.joints:
        moved = {"motion": motion} if joint.name == "drive" else {}
        scene.add_joint(
            mc.HingeJoint(joint.a, joint.b, frame_a=joint.frame_a, frame_b=joint.frame_b, name=joint.name, **moved)
        )
    dynamics, cut = Dynamics(System(plain, tree=["drive", "pin", "elbow"])), Dynamics(System(scene))
    assert {loop.joint.name for loop in cut.system.loops} == {"drive"}
    q, qd = (part.copy() for part in dynamics.system.initial())
    qd *= motion.at(t)[1] / qd[0]
    given = np.array([True, False, False])
    expected = Formulation(dynamics, q, qd, given=given, qdd=[6.0, 0, 0])
    state = cut.system.coordinates(*dynamics.state(q, qd))
    found = Formulation(cut, *state, time=t)
    order = [cut.system.link_of[link.body] for link in dynamics.system.links]
    assert near(found.accelerations(method)[order], expected.accelerations(method))
    assert near(found.constraint_forces()["drive"].force[2], expected.constraint_forces()["drive"].force[2], 1e-9)
    assert found.mobility.freedoms == 0
