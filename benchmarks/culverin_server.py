"""The other side of culverin_peer.py: Python 3.12 with culverin, nothing else. A scene as JSON in the first line; after
every line that comes in one step, answered by its seconds and the bodies' states as float64."""

import array
import json
import sys
import time

import culverin

SHAPES = {"sphere": culverin.SHAPE_SPHERE, "capsule": culverin.SHAPE_CAPSULE}


def build(scene):
    """-> world, handles of the bodies"""
    world = culverin.PhysicsWorld({"gravity": tuple(scene["gravity"]), "num_threads": 1,
                                   "max_bodies": len(scene["bodies"]) + 100})
    handles = [world.create_body(pos=tuple(body["position"]), rot=tuple(body["rotation"]), size=tuple(body["size"]),
                                 shape=SHAPES[body["shape"]], mass=body["mass"], category=body["category"],
                                 mask=body["mask"]) for body in scene["bodies"]]
    ground = world.create_body(pos=(0.0, 0.0, 0.0), size=(0.1,), shape=culverin.SHAPE_SPHERE,
                               motion=culverin.MOTION_STATIC, category=1, mask=0)
    for joint in scene["joints"]:
        a, b = (ground if i < 0 else handles[i] for i in joint["bodies"])
        world.create_constraint(culverin.CONSTRAINT_POINT, a, b, (tuple(joint["point"]),))
    world.step(0.0)                                         # puts the bodies in, moves nothing
    return world, handles


def answer(world, handles, seconds):
    values = array.array("d", [seconds])
    for handle in handles:
        for read in (world.get_position, world.get_rotation, world.get_velocity, world.get_angular_velocity):
            values.extend(read(handle))
    sys.stdout.buffer.write(values.tobytes())
    sys.stdout.buffer.flush()


def main():
    scene = json.loads(sys.stdin.readline())
    try:
        world, handles = build(scene)
    except MemoryError as error:                            # it has room for so many joints
        print(f"cannot: {error}", flush=True)
        return
    print(culverin.__version__.split()[0], flush=True)
    answer(world, handles, 0.0)
    for _ in sys.stdin:
        for handle in handles:
            world.activate(handle)                          # nothing sleeps
        begin = time.perf_counter()
        for _ in range(scene["substeps"]):
            world.step(scene["dt"] / scene["substeps"])
        answer(world, handles, time.perf_counter() - begin)


if __name__ == "__main__":
    main()
