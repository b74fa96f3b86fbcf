"""Ball joints several at a time against one by one."""

import mcsim.direct._state
import mcsim.wide._batches
import numpy as np
import pytest
from mcsim.wide._direct_balls import lanes, record_types

import mcsim as mc


def tree(kind):
    """A tree of ball joints: a chain, a star whose body is a hub, one with hinges in it, one on a driven body."""
    rng = np.random.default_rng(3)
    scene = mc.Scene()
    parents = {"chain": np.arange(19) - 1, "star": np.where(np.arange(19) < 9, -1, 3)}.get(kind)
    if parents is None:
        parents = np.array([rng.integers(-1, i) if i else -1 for i in range(19)])
    if kind == "star":
        parents[1:] = 0
    if kind == "driven":
        scene.add_body("base", kind="kinematic", position=(0, 0, 0), velocity=(0.3, 0, 0), angular_velocity=(0, 0, 0.7))
    root = "base" if kind == "driven" else None
    place = []
    for i, parent in enumerate(parents):
        start = place[parent] if parent >= 0 else np.zeros(3)
        place.append(start + rng.normal(size=3) * 0.3 + (0.5, 0, 0))
        scene.add_body(
            f"b{i}",
            mass=rng.uniform(0.5, 2),
            inertia=rng.uniform(0.02, 0.03, 3),
            position=place[-1],
            orientation=(0.6, 0.0, 0.8, 0.0),
            velocity=0.1 * rng.normal(size=3),
        )
        joint = mc.HingeJoint if kind == "hinges" and i % 3 == 1 else mc.BallJoint
        scene.add_joint(
            joint(
                f"b{parent}" if parent >= 0 else root,
                f"b{i}",
                anchor=0.5 * (start + place[-1]),
                **({"axis": (0, 1, 0)} if joint is mc.HingeJoint else {}),
            )
        )
    return scene


@pytest.mark.parametrize("kind", ["chain", "star", "hinges", "driven", "random"])
def test_one_by_one_gives_the_same(kind, monkeypatch):
    """To what Newton's method leaves of the joints' errors; and both keep the joints. In no batch, where joints of
    different articulations stand side by side instead of an articulation's own."""
    monkeypatch.setattr(mcsim.wide._batches, "batched", lambda *_: [])
    found = []
    for name in ("BALL", None):
        if name is None:
            monkeypatch.setattr(mcsim.direct._state, "BALL", -1)
        world = mc.World(tree(kind), joint_solver="tree")
        world.step(25)
        assert world.joint_errors()[:, 0].max() < 2e-7
        found.append(np.hstack([world.positions, world.velocities]))
    assert np.abs(found[0] - found[1]).max() < 1e-6
    assert not np.array_equal(found[0], found[1])  # the other way was really taken


def test_the_force_is_what_moves_the_body():
    """m (dv / dt - g) of the last body, both halves of a substep together, while the joints turn; dt is so
    short that no step is divided. What is damped has no account of its energy, which moves bodies too."""
    scene = mc.Scene()
    scene.add_body(
        "a",
        mass=1.0,
        inertia=(0.03, 0.05, 0.06),
        position=(0.4, 0, 0.3),
        angular_velocity=(1, 2, 0.5),
        angular_damping=1e-3,
    )
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0.2, -0.1, -0.4), angular_velocity=(0.5, 0, -1))
    scene.add_joint(mc.BallJoint(None, "a", (0.8, 0, 0.6)))
    scene.add_joint(mc.BallJoint("a", "b", (0, 0, 0), name="j"))
    world = mc.World(scene, dt=1 / 360, substeps=1, joint_solver="tree")
    for _ in range(30):
        before = world.velocities[1].copy()
        world.step()
        force = 2.0 * ((world.velocities[1] - before) * 360 - (0, 0, -9.81))
        assert world.joint("j").force == pytest.approx(force, abs=1e-9 * np.linalg.norm(force))


def test_short_blocks_repeat_their_first_lane():
    taken, begin = lanes([0, 0, 0, 0, 0], 4)
    assert taken.tolist() == [[0, 1, 2, 3], [4, 4, 4, 4]] and begin.tolist() == [0, 2]
    taken, begin = lanes([], 4)
    assert taken.shape == (0, 4) and begin.tolist() == [0]


def test_no_block_has_things_of_two_groups():
    taken, begin = lanes([0, 0, 2, 2, 2, 2, 2], 4)
    assert taken.tolist() == [[0, 1, 0, 0], [2, 3, 4, 5], [6, 6, 6, 6]]
    assert begin.tolist() == [0, 1, 1, 3]


@pytest.mark.parametrize("width", [2, 4, 8])
def test_records_fill_whole_registers(width):
    """No padding is left to the compiler, so that NumPy's records are the kernels'."""
    for dtype in record_types(width):
        assert dtype.itemsize % (8 * width) == 0
