"""What a user's type checker sees of mcsim. Checked by mypy --strict in tests/test_lint.py, and run there too."""

from collections.abc import Callable
from pathlib import Path
from typing import assert_type

import numpy as np

import mcsim as mc
from mcsim.scene import Body
from mcsim.world.queries import Hit


def build() -> mc.Scene:
    """A box on a hinge above a floor."""
    scene = mc.Scene(name="door")
    floor = scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    door = scene.add_body("door", shape=mc.Box((0.4, 0.02, 1.0)), position=(0.4, 0, 1.1), density=500)
    joint = scene.add_joint(
        mc.HingeJoint(
            None, "door", anchor=(0, 0, 1.1), axis=(0, 0, 1), name="hinge", motor=mc.Motor(velocity=1.0, max_force=20.0)
        )
    )
    assert_type(floor, Body)
    assert_type(door.position, np.ndarray)
    assert joint.name == "hinge"
    return scene


def simulate(scene: mc.Scene) -> mc.World:
    """Half a second, seen from all sides."""
    world = mc.World(scene, dt=1 / 240, contact=mc.RigidContact(iterations=8), sleep=False)
    world.apply_force("door", (0.0, 3.0, 0.0), point=(0.8, 0.0, 1.1))
    world.step(120)
    assert_type(world.positions, np.ndarray)
    assert_type(world.time, float)
    assert_type(world.energy().total, float)
    assert_type(world.body("door").name, str)
    assert_type(world.ray_cast((0.4, -5, 1), (0, 1, 0)), Hit | None)
    assert_type(world.ray_cast((0.4, -5, 1), (0, 1, 0), all=True), list[Hit])
    for note in world.stats.notes:
        assert_type(note.text, str)
    before = world.snapshot()
    world.set_velocity("door", angular_velocity=(0, 0, 2.0))
    world.restore(before)
    return world


def coordinates(scene: mc.Scene) -> np.ndarray:
    """The same scene in generalized coordinates."""
    world = mc.ReducedWorld(scene, dt=1e-3)
    world.step()
    assert_type(world.q, np.ndarray)
    return world.mass_matrix(world.q)


def study(folder: Path) -> None:
    """Methods compared, a contact problem solved, a run recorded."""
    found = mc.compare(mc.scenes.pendulum(length=2.0), ["maximal:tree+soft", "reduced:aba"], 0.1, 1 / 240, None)
    found.csv(folder / "study.csv")
    assert_type(found.table(80), str)
    world = mc.World(mc.load("stack", count=2))
    recorder = mc.io.Recorder(world, every=2)
    recorder.step(5)
    recording = recorder.recording()
    assert_type(recording, mc.io.Recording)
    recording.save(folder / "run.npz")
    solution = mc.solve(world.problem(), solver="ipm", tolerance=1e-6)
    assert_type(solution.converged, bool)
    assert_type(solution.impulses, np.ndarray)
    maker: Callable[..., mc.Scene] = mc.scenes.SCENES["stack"]
    assert_type(maker(count=2), mc.Scene)


def main(folder: Path) -> None:
    """All of it."""
    scene = build()
    scene.save(folder / "door.json")
    assert_type(mc.load(folder / "door.json"), mc.Scene)
    simulate(scene)
    coordinates(scene)
    study(folder)


if __name__ == "__main__":
    import sys

    main(Path(sys.argv[1]))
