"""Golden hashes: what every kind of world comes to after many steps, kept in golden_hashes.json.

`python tests/golden.py` says which differ now, `python tests/golden.py --write` keeps those of now. A hash that changes is
a change that users see: the changelog has a line for it, and the commit says why.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

import processor_worlds
from mcsim.scenes import SCENES

PLACE = Path(__file__).parent / "golden_hashes.json"
MANY = 600  # steps of a ready scene, of up to FEW bodies
FEW = 60


def motion(world):
    """Poses and velocities, bit by bit; not what a state is made of beside, which may change without a body's way."""
    digest = hashlib.blake2b(digest_size=12)
    for numbers in (world.positions, world.orientations, world.velocities, world.angular_velocities):
        digest.update(np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()


def golden(name):
    """The hash of the world of that name."""
    make, steps = processor_worlds.worlds()[name]
    world = make()
    world.step(MANY if name in SCENES and len(world.body_names) <= FEW else steps)
    return motion(world)


def main():
    found = {name: golden(name) for name in processor_worlds.worlds()}
    kept = json.loads(PLACE.read_text()) if PLACE.exists() else {}
    for name in sorted(found | kept):
        if found.get(name) != kept.get(name):
            print(f"{name}: {kept.get(name, 'new')} -> {found.get(name, 'gone')}")
    if "--write" in sys.argv[1:]:
        PLACE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
