"""The direct solver of integrator="rk4", "rattle" and "variational": joint forces of a step against dense NumPy."""

import numpy as np
import pytest

import mcsim as mc
import reduced_models
from mechanism_scenes import turned
from test_tree import chain

RATE = 480


def star(arms, held=True):
    """Arms of mixed joints on one body, each with a rod hanging on it; free, or on the world."""
    rng = np.random.default_rng(arms)
    scene = mc.Scene()
    scene.add_body("hub", mass=3.0, inertia=(1.0, 1.2, 0.9), angular_velocity=(0, 0, 0) if held else (0.3, 1.0, -0.5))
    if held:
        scene.add_joint(mc.BallJoint(None, "hub", (0.1, 0.2, 0.3)))
    for k in range(arms):
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        scene.add_body(f"arm{k}", mass=rng.uniform(0.5, 2), inertia=rng.uniform(0.04, 0.06, 3), position=way)
        scene.add_body(f"tip{k}", mass=0.5, inertia=(0.02, 0.03, 0.03), position=1.5 * way)
        across = np.cross(way, rng.normal(size=3))
        scene.add_joint(
            mc.HingeJoint("hub", f"arm{k}", 0.5 * way, across) if k % 2 else mc.BallJoint("hub", f"arm{k}", 0.5 * way)
        )
        scene.add_joint(mc.UniversalJoint(f"arm{k}", f"tip{k}", 1.2 * way, across, np.cross(way, across)))
    return scene


def geared(joints=5, ring=False):
    """Eccentric wheels in mesh; ring: also the last with the first, which says what the others say already."""
    scene = mc.Scene()
    for k in range(joints):
        scene.add_body(f"wheel{k}", mass=1.0 + k, inertia=(0.05, 0.04, 0.06), position=(k + 0.2, 0, 0.1 + 0.05 * k))
        scene.add_joint(mc.HingeJoint(None, f"wheel{k}", (k, 0, 0), (0, 1, 0), name=f"pivot{k}"))
        if k:
            scene.add_joint(mc.GearJoint(f"pivot{k - 1}", f"pivot{k}", ratio=2.0))
    if ring:
        # q0 = -2 q1 = 4 q2 = ...
        scene.add_joint(mc.GearJoint("pivot0", f"pivot{joints - 1}", ratio=-float((-2) ** (joints - 1))))
    return scene


def planets(count=3):
    """Wheels on a carrier that turns, in mesh with a wheel of their middle: gears between bodies that all move."""
    scene = mc.Scene()
    scene.add_body("carrier", mass=2.0, inertia=(0.5, 0.5, 0.8), position=(0.2, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "carrier", (0, 0, 0), (0, 1, 0), name="carrier"))
    scene.add_body("sun", mass=1.0, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(mc.HingeJoint("carrier", "sun", (0, 0, 0), (0, 1, 0), name="sun"))
    for k in range(count):
        at = np.array([np.cos(2 * k), 0, np.sin(2 * k)])
        scene.add_body(f"planet{k}", mass=0.5 + k, inertia=(0.05, 0.06, 0.05), position=1.1 * at)
        scene.add_joint(mc.HingeJoint("carrier", f"planet{k}", at, (0, 1, 0), name=f"planet{k}"))
        scene.add_joint(mc.GearJoint("sun", f"planet{k}", ratio=1.5))
    return scene


def on_a_wire(scene, body, anchor):
    """A joint of the user's own: a point of the body stays at its place but along x."""
    scene.add_joint(mc.UserJoint(None, body, lambda a, b: (b.position + b.rotation @ anchor)[1:], size=2))


def wired():
    scene = star(3, held=False)
    scene.add_body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 2))
    scene.add_joint(mc.BallJoint("hub", "bead", (0, 0, 1)))
    on_a_wire(scene, "bead", np.array([0.0, 0.0, 0.3]))
    return scene


def together():
    """Articulations of all kinds side by side, their joints added in turns."""
    scene = chain(3)
    scene.add_body("door", mass=20.0, inertia=(5, 5, 1), position=(10.5, 0, 1), orientation=turned((0, 0, 1), 0.4))
    for z in (0.2, 1.0, 1.8):
        scene.add_joint(mc.HingeJoint(None, "door", (10, 0, z), (0.1, 0, 1)))
    for k in range(8):
        scene.add_body(f"flap{k}", mass=0.3, inertia=(0.02, 0.01, 0.03), position=(10.5 + 0.1 * k, 0, 1.5))
        scene.add_joint(mc.HingeJoint("door", f"flap{k}", (10.5, 0, 1.2 + 0.1 * k), (0, 1, 0), name=f"flap{k}"))
    scene.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(3.5, 0.2, 0))
    scene.add_joint(mc.HingeJoint("rod2", "bob", (3, 0, 0), (0, 1, 0), name="bob"))
    scene.add_joint(mc.GearJoint("flap0", "bob", ratio=0.7))
    scene.add_joint(mc.GearJoint("flap1", "flap2", ratio=1.0))
    scene.add_body("alone", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(1, 2, 3))
    return scene


SCENES = {
    "chain": lambda: chain(8, heavy=5.0),
    "star": lambda: star(12),
    "free star": lambda: star(9, held=False),
    "gears": geared,
    "planets": planets,
    "user": wired,
    "four-bar": lambda: reduced_models.four_bar().scene(),
    "n four-bars": lambda: reduced_models.n_four_bar().scene(),
    "door": lambda: reduced_models.door().scene(),
    "bricard": lambda: reduced_models.bricard().scene(),
    "welded box": lambda: reduced_models.welded_box().scene(),
    "ring of gears": lambda: geared(4, ring=True),
    "together": together,
}
LOOPS = ("four-bar", "n four-bars", "door", "bricard", "welded box", "ring of gears", "together")


def stepped(scene, integrator):
    world = mc.World(
        scene, dt=1 / RATE, substeps=1, integrator=integrator, stabilization="projection" if integrator == "rk4" else "none"
    )
    world.step(40)
    return world


def dense(world):
    """Accelerations (6 n,), and of the joint forces that give them those of least D-weighted norm, D = diag(J M^-1 J'):
    by singular values."""
    system = world.kkt()
    n = 6 * system.body_count
    matrix = system.matrix.toarray()
    jacobian, inverse = matrix[n:, :n], np.linalg.inv(matrix[:n, :n])
    a = jacobian @ inverse @ jacobian.T
    scale = np.sqrt(np.diag(a))
    target = (system.rhs[n:] - jacobian @ inverse @ system.rhs[:n]) / scale
    forces = np.linalg.lstsq(a / np.outer(scale, scale), target, rcond=1e-10)[0] / scale
    return inverse @ (system.rhs[:n] + jacobian.T @ forces), forces


def accelerations(world, forces):
    """(6 n,) under the given joint forces."""
    system = world.kkt()
    n = 6 * system.body_count
    matrix = system.matrix.tocsr()
    return np.linalg.solve(matrix[:n, :n].toarray(), system.rhs[:n] + matrix[:n, n:] @ forces)


@pytest.mark.parametrize("integrator", ["rk4", "rattle"])
@pytest.mark.parametrize("name", SCENES)
def test_joint_forces_against_numpy(name, integrator):
    """Accelerations to 1e-12 of the largest; forces too where they are unique, else the least of those that do."""
    world = stepped(SCENES[name](), integrator)
    rows = world.rows
    found = RATE * rows["impulse"][rows["kind"] == "joint"]
    wanted, forces = dense(world)
    assert (world.redundancy(1e-7).redundant > 0) == (name in LOOPS)
    assert np.abs(accelerations(world, found) - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert np.abs(found - forces).max() < (1e-8 if name in LOOPS else 1e-12) * np.abs(forces).max()


@pytest.mark.parametrize("make", [chain, star, lambda n: star(n, held=False)], ids=["chain", "star", "free star"])
def test_the_work_grows_as_the_joints(make):
    """Products a joint of one factorization, of 50 and of 200: no star becomes dense."""
    pipelines = {n: mc.World(make(n), integrator="rattle")._pipeline for n in (50, 200)}
    small, large = (pipeline.parts.integrator.smooth.tree.work / n for n, pipeline in pipelines.items())
    assert large < 1.05 * small


def test_the_border_yields_to_the_tree():
    """Of a ball joint and rows of the user's that say the same along y and z, the ball joint carries the weight."""
    scene = mc.Scene()
    scene.add_body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0)))
    on_a_wire(scene, "bob", np.array([0.0, 0.0, 1.0]))
    world = mc.World(scene, integrator="rattle")
    world.step(10)
    assert np.allclose(world.joint(0).force, (0, 0, 2 * 9.81), atol=1e-10)
    assert np.abs(world.joint(1).force).max() < 1e-10
