"""Box3D's sample of determinism."""

import tempfile
from pathlib import Path

import mcsim as mc
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_determinism.cpp"


@sample("box3d/determinism/falling_ragdolls", title="Falling Ragdolls", source=SOURCE, slow=True, overlap=None)
def falling_ragdolls(play):
    """Nine ragdolls fall to the same bits: twice, after a restore, and with two threads."""
    scene = mc.scenes.ragdolls(count=9)
    worlds = [mc.World(scene), mc.World(scene), mc.World(scene, threads=2)]
    snapshot = None
    for world in worlds:
        play(world, 1.0)
        snapshot = snapshot or world.snapshot()
        play(world, 1.0)
    hashes = [world.state_hash() for world in worlds]
    worlds[0].restore(snapshot)
    play(worlds[0], 1.0)
    play.between("they have fallen", worlds[0].positions[1:, 2].min(), 0.0, 0.5, unit="m")
    play.check("twice the same", hashes[0] == hashes[1])
    play.check("the same with two threads", hashes[0] == hashes[2])
    play.check("the same after a restore", hashes[0] == worlds[0].state_hash())


@sample("box3d/determinism/replay", title="Replay", source="Box3D, sample_replay.cpp", overlap=None)
def replay(play):
    """A run is recorded call by call and made again from the file: every hash is the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.jsonl"
        world = mc.World(mc.scenes.ragdolls(count=2))
        with mc.record_calls(path, world):
            play(world, 0.5)
            world.apply_impulse(world.body_names[1], (20.0, 0, 0))
            play(world, 0.5)
        found = mc.replay_calls(path)
    play.expect("steps that were made again", found.steps, 60, within=0)
    play.check("no call differs", found.difference is None)
