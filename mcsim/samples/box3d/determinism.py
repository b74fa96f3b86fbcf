"""Box3D's sample of determinism."""

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
    play.check("twice the same", hashes[0] == hashes[1])
    play.check("the same with two threads", hashes[0] == hashes[2])
    play.check("the same after a restore", hashes[0] == worlds[0].state_hash())
