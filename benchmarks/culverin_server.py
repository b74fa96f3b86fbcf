"""The other side of culverin_peer.py: Python 3.12 with culverin, nothing else. A scene as JSON in the first line. Then
every line that comes in is a number of steps, answered by the seconds of each, or "state", answered by the bodies'
positions, quaternions (x, y, z, w), velocities and angular velocities, four columns each; all as float64."""

import array
import json
import os
import sys
import time

import culverin

SHAPES = {
    "sphere": culverin.SHAPE_SPHERE,
    "capsule": culverin.SHAPE_CAPSULE,
    "box": culverin.SHAPE_BOX,
    "plane": culverin.SHAPE_PLANE,
}
MOTIONS = {"static": culverin.MOTION_STATIC, "dynamic": culverin.MOTION_DYNAMIC}

# Jolt lets rest what has not moved for half a second; after so many simulated seconds all bodies are woken again.
AWAKE = 0.2


class Simulation:
    """One world with the scene's bodies, in their order."""

    def __init__(self, scene):
        self.count = count = len(scene["bodies"])
        self.world = culverin.PhysicsWorld(
            {  # room for all contacts: those beyond it would be dropped without a word
                "gravity": tuple(scene["gravity"]),
                "num_threads": 1,
                "max_bodies": count + 100,
                "max_pairs": 65536 + 32 * count,
                "max_contact_constraints": 32768 + 16 * count,
                "temp_allocator_size": 1 << 28,
            }
        )
        handles = [self.add_body(body) for body in scene["bodies"]]
        self.moving = [handle for handle, body in zip(handles, scene["bodies"]) if body["kind"] == "dynamic"]
        ground = self.world.create_body(
            pos=(0.0, 0.0, 0.0), size=(0.1,), shape=culverin.SHAPE_SPHERE, motion=culverin.MOTION_STATIC, category=1, mask=0
        )
        for joint in scene["joints"]:
            a, b = (ground if i < 0 else handles[i] for i in joint["bodies"])
            self.world.create_constraint(culverin.CONSTRAINT_POINT, a, b, (tuple(joint["point"]),))
        self.substeps, self.dt = scene["substeps"], scene["dt"] / scene["substeps"]
        self.period, self.done = max(1, int(AWAKE / scene["dt"])), 0
        self.world.step(0.0)  # puts the bodies in, moves nothing
        if [self.world.get_index(handle) for handle in handles] != list(range(count)):
            raise RuntimeError("culverin keeps the bodies in another order")

    def add_body(self, body):
        return self.world.create_body(
            pos=tuple(body["position"]),
            rot=tuple(body["rotation"]),
            size=tuple(body["size"]),
            shape=SHAPES[body["shape"]],
            motion=MOTIONS[body["kind"]],
            mass=body["mass"],
            friction=body["friction"],
            restitution=0.0,
            category=body["category"],
            mask=body["mask"],
        )

    def step(self, wanted):
        """-> seconds of each step."""
        seconds = array.array("d")
        for _ in range(wanted):
            if self.done % self.period == 0:
                self.keep_awake()
            begin = time.perf_counter()
            for _ in range(self.substeps):
                self.world.step(self.dt)
            seconds.append(time.perf_counter() - begin)
            self.done += 1
        return seconds

    def keep_awake(self):
        """Starts the bodies' time to sleep anew. The next step carries it out, so this is not done before each."""
        if len(self.world.get_active_indices()) // 4 < len(self.moving):
            raise RuntimeError("bodies sleep in culverin")
        for handle in self.moving:
            self.world.activate(handle)

    def state(self):
        world, values = self.world, array.array("d")
        for rows in (world.positions, world.rotations, world.velocities, world.angular_velocities):
            values.extend(memoryview(rows)[: 4 * self.count])
        return values


def main():
    if hasattr(os, "sched_setaffinity"):  # culverin always has a worker beside its caller: they take turns on one CPU
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    scene = json.loads(sys.stdin.readline())
    try:
        simulation = Simulation(scene)
    except MemoryError as error:  # it has room for so many joints
        print(f"cannot: {error}", flush=True)
        return
    print(culverin.__version__.split()[0], flush=True)
    for line in sys.stdin:
        values = simulation.state() if line == "state\n" else simulation.step(int(line))
        sys.stdout.buffer.write(values.tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
