"""The machines that stand and walk, against their kinematics."""

import math

import numpy as np
import pytest
from scipy.optimize import fsolve

import mcsim as mc
from mcsim.core.rotation import rotate

# Theo Jansen's lengths.
A, B, C, D, E, F, G, H, I, J, K, L, M = 38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0


def foot_of(angle, guess):
    """The five joints of a leg behind its crank (5, 2), by its lengths alone, near a guess; the last one is the foot."""
    pin, pivot = M * np.array([math.cos(angle), math.sin(angle)]), np.array([-A, -L])

    def gaps(unknown):
        upper, lower, hip, knee, foot = unknown.reshape(5, 2)
        rods = (
            *((upper, pin, J), (upper, pivot, B), (lower, pin, K), (lower, pivot, C), (hip, pivot, D)),
            *((hip, upper, E), (knee, hip, F), (knee, lower, G), (foot, knee, H), (foot, lower, I)),
        )
        return [np.hypot(*(p - q)) - length for p, q, length in rods]

    found, _, flag, message = fsolve(gaps, guess.ravel(), full_output=True, xtol=1e-12)
    assert flag == 1, message
    return found.reshape(5, 2)


START = np.array([(-20, 30), (-20, -40), (-75, 10), (-60, -35), (-40, -85.0)])  # as he drew it: up, down, left, below


def path_of_foot():
    """(360, 2) the foot at each degree of the crank."""
    joints = foot_of(0.0, START)
    path = []
    for angle in np.radians(np.arange(360)):
        joints = foot_of(angle, joints)
        path.append(joints[4])
    return np.array(path)


def foot(world, name):
    """Where its foot is, in the x-z plane [m]."""
    shank = world.body(f"{name}.shank")
    tip = world.scene.body(shank.name).shapes[-1].position
    position, orientation = shank.frame
    return (position + rotate(orientation, tip))[[0, 2]]


def test_feet_go_as_the_linkage_says():
    """Held in the air, all feet of two pairs are where SciPy has them for the crank's angle, those ahead mirrored."""
    world = mc.World(mc.scenes.jansen_walker(pairs=1, held=True))
    frame = world.body("frame").frame[0][[0, 2]]
    seen, path = [], path_of_foot()
    joints = {}
    for _ in range(26):
        world.step(4)
        for k, phase in enumerate((0.0, math.pi)):
            crank = phase + world.joint("drive").angle
            for name, angle, mirror in ((f"rear{k}", crank, 1.0), (f"front{k}", math.pi - crank, -1.0)):
                near = joints.get(name)
                if near is None:
                    near = foot_of(0.0, START)
                    for part in np.linspace(0.0, math.remainder(angle, 2 * math.pi), 20):
                        near = foot_of(part, near)
                joints[name] = foot_of(angle, near)
                assert foot(world, name) == pytest.approx(frame + 0.01 * joints[name][4] * (mirror, 1.0), abs=1e-6)
        seen.append(joints["rear0"][4])
    assert abs(world.joint("drive").angle) > 2 * math.pi
    assert np.ptp(np.array(seen), axis=0) == pytest.approx(np.ptp(path, axis=0), rel=0.03), "the whole curve"


def test_walker_walks_by_its_strides():
    """What stands on the floor carries the frame on, by as much as the lowest foot goes back; at the height of the lowest
    foot, level and straight ahead."""
    world = mc.World(mc.scenes.jansen_walker(speed=6.0))
    path = 0.01 * path_of_foot()
    turn = np.arange(360)
    # All feet at each degree of the crank: of six phases, behind and ahead; those ahead run through the curve backwards.
    phases = [0, 120, 240, 60, 180, 300]
    feet = [path[(turn + phase) % 360] for phase in phases]
    feet += [path[(180 - turn - phase) % 360] * (-1, 1) for phase in phases]
    feet = np.array(feet)
    lowest = feet[:, :, 1].argmin(axis=0)
    steps = (np.roll(feet, -1, axis=1) - feet)[lowest, turn, 0]  # of a degree more
    assert 1.0 < steps.sum() < 2.0, "a turn's stride [m]"

    world.step(15)
    frame, drive = world.body("frame"), world.joint("drive")
    start, angle, heights = frame.frame[0], drive.angle, []
    for _ in range(25):
        world.step(2)
        heights.append(frame.frame[0][2])
    end = frame.frame[0]
    degrees = np.arange(round(math.degrees(drive.angle)), round(math.degrees(angle)))  # it turns clockwise
    assert len(degrees) > 120
    assert end[0] - start[0] == pytest.approx(steps[degrees % 360].sum(), rel=0.1)
    assert abs(end[1] - start[1]) < 0.1 * (end[0] - start[0])
    ground = -feet[:, :, 1].min(axis=0) + 0.015
    assert ground.min() - 5e-3 < min(heights) and max(heights) < ground.max() + 5e-3
    assert 2 * np.linalg.norm(frame.orientation[1:3]) < 0.05, "level"
    assert world.joint_errors().max() < 1e-5


# ---- the quadruped ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [0.0, 10.0])
def test_quadruped_stands_as_statics_has_it(load):
    """It comes to rest on four feet, whose forces bear the weight; each spring's torque is that of what is below it."""
    scene = mc.scenes.quadruped(load=load)
    world = mc.World(scene)
    fall, legs = np.array([0, 0, -9.81]), ("FL", "FR", "RL", "RR")
    world.step(4 * 60)
    trunk = world.body("trunk")
    assert np.abs(world.velocities).max() < 2e-3 and 2 * np.linalg.norm(trunk.orientation[1:]) < 0.02
    assert trunk.position[2] == pytest.approx(0.45 * math.cos(0.7) + 0.025, abs=0.01)
    contacts = world.contacts
    forces = (contacts["normal_impulse"][:, None] * contacts["normal"] + contacts["tangent_impulse"]) / world.dt
    floor = contacts["body_a"] == 0
    assert forces[floor].sum(axis=0)[2] == pytest.approx(9.81 * world.masses.sum(), rel=5e-3)
    for leg in legs:
        shank, thigh = world.body(f"{leg}.shank"), world.body(f"{leg}.thigh")
        under = floor & (contacts["body_b"] == shank.index)
        assert forces[under].sum(axis=0)[2] > 30.0
        for name, below in (("knee", (shank,)), ("swing", (shank, thigh))):
            joint = world.joint(f"{leg}.{name}")
            at = joint_point(world, joint.name)
            torque = np.cross(contacts["position"][under] - at, forces[under]).sum(axis=0)
            torque += sum(np.cross(body.position - at, body.mass * fall) for body in below)
            assert torque[1] == pytest.approx(300.0 * joint.angle, abs=0.2)
    assert max(abs(300.0 * world.joint(f"{leg}.knee").angle) for leg in legs) > 5.0, "they do carry"


def joint_point(world, name):
    """Where a joint is [m]."""
    joint = next(joint for joint in world.scene.joints if joint.name == name)
    position, orientation = world.body(joint.b).frame
    return position + rotate(orientation, joint.frame_b[0])


def test_quadruped_without_stiffness_sinks():
    world = mc.World(mc.scenes.quadruped(stiffness=0.0, damping=1.0))
    world.step(3 * 60)
    assert world.body("trunk").position[2] < 0.1 and world.energy().kinetic < 1e-3
