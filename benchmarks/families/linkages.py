"""Gears, racks and screws; the spatial four-bar linkage."""

import math

import numpy as np

import mcsim as mc
from families.family import GAP, LOSS, RATE, SUBSTEPS, Choice, Error, Family, G, Log, Uniform, Watch, WholeLog, stepped

# ---- gears, racks and screws -----------------------------------------------------------------------------------------


def run_gears(kind, turn, inertia, steps, rate, substeps):
    """A weight of 1 kg sinks and turns wheels. turn: of the first wheel in the last substep [rad]; inertia: of a wheel, by
    that of the weight as the wheel feels it, 1 kg ratio^2 with the ratio a way a radian [m]."""
    # m g x = (m + I / r^2 + I / (2 r)^2) v^2 / 2
    fall = G / (1 + inertia * (1.25 if kind == "train" else 1.0))
    ratio = fall * steps / (rate * turn * rate * substeps)
    scene = mc.Scene()
    turning = inertia * ratio**2
    wheels = 2 if kind == "train" else 1
    if kind == "screw":
        scene.add_body("weight", mass=1.0, inertia=(turning,) * 3)
        scene.add_joint(mc.ScrewJoint(None, "weight", (0, 0, 0), (0, 0, 1), pitch=ratio, name="screw"))
    else:
        scene.add_body("weight", mass=1.0, inertia=(ratio**2,) * 3)
        scene.add_joint(mc.SliderJoint(None, "weight", (0, 0, 1), name="slider"))
        for k in range(wheels):
            center = (ratio, 3.0 * ratio * k, 0)
            scene.add_body(f"wheel{k}", mass=1.0, inertia=(turning,) * 3, position=center)
            scene.add_joint(mc.HingeJoint(None, f"wheel{k}", center, (0, 1, 0), name=f"hinge{k}"))
        if kind == "rack":
            scene.add_joint(
                mc.RackPinionJoint("weight", "wheel0", (ratio, 0, 0), (0, 0, 1), (0, 1, 0), radius=ratio, name="rack")
            )
        else:
            scene.add_joint(mc.GearJoint("slider", "hinge0", ratio, name="gear"))
        if kind == "train":
            scene.add_joint(mc.GearJoint("hinge0", "hinge1", 2.0, name="second"))  # it turns half as fast
    world = stepped(scene, rate, substeps)
    speed = way = gap = 0.0
    end = steps / rate
    for k in range(1, steps + 1):
        world.step()
        t = k / rate
        speed = max(speed, abs(world.velocities[0, 2] + fall * t) / (fall * end))
        way = max(way, abs(world.positions[0, 2] + fall * t * t / 2) / (fall * end * end / 2))
        gap = max(gap, float(world.joint_errors().max()))
    return {"speed": speed, "way": way, "gap": gap / ratio}


GEARS = Family(
    "gears",
    "A weight that turns wheels by gears, a rack or a screw",
    "All moves as one mass, m + sum of I / r^2, so it falls evenly accelerated; teeth neither slip nor open.",
    run_gears,
    {
        "kind": Choice("gear", "train", "rack", "screw"),
        "turn": Log(1e-3, 100),
        "inertia": Log(1e-3, 1e3),
        "steps": WholeLog(10, 300),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "speed": Error("", 0.01, "error of the speed, by the last"),
        "way": Error("", 0.02, "error of the way, by all of it"),
        "gap": Error("", 1e-6, "largest error of a joint [m or rad], by the way a radian"),
    },
    domain={"turn": Log(1e-3, 1.6)},
)


# ---- the spatial four-bar linkage ------------------------------------------------------------------------------------


def link_pose(angle, length, twist):
    """From one hinge's frame to the next: turned about z, along x, turned about x (J. Denavit, R. Hartenberg, 1955)."""
    c, s, ct, st = math.cos(angle), math.sin(angle), math.cos(twist), math.sin(twist)
    return np.array([[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]])


def bennett_frames(angle, lengths, twists):
    """The four hinges' frames. tan(a / 2) tan(b / 2) = sin((p + q) / 2) / sin((q - p) / 2) for neighbouring angles a, b and
    twists p, q (G. Bennett, "A new mechanism", 1903)."""
    p, q = twists
    other = 2 * math.atan2(math.sin((p + q) / 2) * math.cos(angle / 2), math.sin((q - p) / 2) * math.sin(angle / 2))
    frames = [np.eye(4)]
    for k, turn in enumerate((angle, other, -angle, -other)):
        frames.append(frames[-1] @ link_pose(turn, lengths[k % 2], twists[k % 2]))
    return frames, other


def run_bennett(twist, skew, start, per_turn, steps, rate, substeps):
    """Links of which opposite ones are equal, with lengths as the sines of their twists: four hinges in space that turn
    though twelve equations hold nine coordinates. per_turn: substeps in a turn of the first hinge as it begins."""
    twists = twist * (1 - skew), twist * (1 + skew)
    lengths = math.sin(twists[0]), math.sin(twists[1])
    spin, eps = 2 * math.pi * rate * substeps / per_turn, 1e-6
    (frames, other), (after, _), (earlier, _) = (bennett_frames(start + d, lengths, twists) for d in (0.0, eps, -eps))
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(3):
        ends = [frames[k + 1], frames[k + 2 if k < 2 else 3]]
        position = (frames[k][:3, 3] + frames[k + 1][:3, 3]) / 2
        velocity = spin * (sum(after[i][:3, 3] - earlier[i][:3, 3] for i in (k, k + 1))) / 2 / (2 * eps)
        turning = (after[k + 1][:3, :3] - earlier[k + 1][:3, :3]) @ ends[0][:3, :3].T * spin / (2 * eps)
        scene.add_body(
            f"link{k}",
            mass=1.0,
            inertia=(0.05, 0.08, 0.1),
            position=position,
            velocity=velocity,
            angular_velocity=(turning[2, 1], turning[0, 2], turning[1, 0]),
        )
    for k, (a, b) in enumerate(((None, "link0"), ("link0", "link1"), ("link1", "link2"), ("link2", None))):
        frame = frames[k]
        first, second = (a, b) if b is not None else (None, a)
        scene.add_joint(mc.HingeJoint(first, second, frame[:3, 3], frame[:3, 2], name=f"hinge{k}"))
    world = stepped(scene, rate, substeps)
    watch = Watch(world, scale=world.energy().kinetic)
    off = 0.0
    for _ in range(steps):
        watch.step()
        _, now = bennett_frames(start + world.joint("hinge0").position, lengths, twists)
        off = max(off, abs(math.remainder(now - other - world.joint("hinge1").position, 2 * math.pi)))
    return {**watch.found(), "angle": off}


BENNETT = Family(
    "bennett",
    "Four hinges in space that can turn",
    "Neighbouring angles by Bennett's formula; joints stay closed and energy is conserved.",
    run_bennett,
    {
        "twist": Uniform(0.3, 1.5),
        "skew": Log(1e-3, 0.6),
        "start": Uniform(0.3, 2.8),
        "per_turn": Log(30, 3000),
        "steps": WholeLog(30, 600),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {
        "gap": GAP,
        "gain": Error("", 1e-4, "energy above the start's"),
        "loss": LOSS,
        "angle": Error("rad", 1e-3, "error of the second angle"),
    },
    domain={"per_turn": Log(60, 3000), "skew": Log(0.03, 0.6)},
)

FAMILIES = (GEARS, BENNETT)
