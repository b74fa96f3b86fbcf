"""Newton's kamino examples: bodies of boxes on joints, loops, a Hoberman ring and sphere, a walker of nested loops."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import both, load, period, watched, weight
from mcsim.samples.parts import G, X, Y, Z, box, ground, lean, rod, turned
from mcsim.samples.registry import sample

SOURCE = "Newton 1.8, newton/examples/kamino"


def on_floor(play, scene, seconds=3.0):
    """Plays what fell on the ground -> the world, its weight on the ground expected."""
    world = mc.World(scene)
    play(world, seconds)
    play.expect("load over the weight", load(world) / weight(world), 1.0, within=5e-3)
    return world


@sample("newton/kamino/box_on_plane", title="kamino: box_on_plane", source=SOURCE)
def box_on_plane(play):
    """A box of 0.2 m falls 0.1 m, lies, and sleeps."""
    scene = ground()
    scene.add_body("box", shape=box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.2))
    world = on_floor(play, scene)
    play.expect("place", world.positions[1], (0, 0, 0.1), within=1e-4, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("newton/kamino/box_pendulum", title="kamino: box_pendulum", source=SOURCE, camera="front")
def box_pendulum(play):
    """A box of 0.5 × 0.1 × 0.1 m falls from level on a hinge at its end: energy and period are the formulas'."""
    scene = mc.Scene()
    body = scene.add_body("box", shape=box(0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "box", (0, 0, 0), Y, name="pivot"))
    world = mc.World(scene, dt=1 / 240)
    times, angle = watched(play, world, 8.0, lambda: world.joint("pivot").angle)
    a, b = 1.0, np.cos(np.pi / 4)  # amplitude 90°: the mean of Gauss
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    over = (body.inertia[1, 1] + 0.0625) / (G * 0.25)
    play.expect("period", period(times, angle, np.pi / 2), 2 * np.pi * np.sqrt(over) / a, within=2e-4, unit="s")
    play.expect("energy", world.energy().total, 0.0, within=1e-6, unit="J")


@sample("newton/kamino/box_pendulum_vertical", title="kamino: box_pendulum_vertical", source=SOURCE, camera="front")
def box_pendulum_vertical(play):
    """A box upright on a hinge, a hair off: it falls at the rate of its unstable balance, and comes up as far again."""
    scene = mc.Scene()
    body = scene.add_body("box", shape=box(0.1, 0.1, 0.5), mass=1.0, position=(0, 0, 0.25))
    scene.add_joint(mc.HingeJoint(None, "box", (0, 0, 0), Y, name="pivot"))
    world = mc.World(scene, dt=1 / 480)
    turn = turned(Y, np.degrees(1e-3))
    world.set_pose("box", mc.rotation.rotate(turn, np.array([0, 0, 0.25])), turn)
    times, angle = watched(play, world, 6.0, lambda: world.joint("pivot").angle)
    rate = np.sqrt(G * 0.25 / (body.inertia[1, 1] + 0.0625))
    early = times < 0.6
    play.expect("angle at first, over cosh", angle[early] / np.cosh(rate * times[early]), 1e-3, within=1e-5, unit="rad")
    play.expect("farthest", angle.max(), 2 * np.pi - 1e-3, within=2e-4, unit="rad")


@sample("newton/kamino/boxes_hinged", title="kamino: boxes_hinged", source=SOURCE)
def boxes_hinged(play):
    """Two boxes on a hinge fall flat on the ground and lie, the hinge straight."""
    scene = ground()
    for k in range(2):
        scene.add_body(f"box{k}", shape=box(0.5, 0.1, 0.1), position=(0.25 + 0.5 * k, 0, 0.3))
    scene.add_joint(mc.HingeJoint("box0", "box1", (0.5, 0, 0.3), Y, name="hinge"))
    world = on_floor(play, scene)
    play.expect("heights", world.positions[1:, 2], 0.05, within=1e-4, unit="m")
    play.expect("angle", world.joint("hinge").angle, 0.0, within=1e-3, unit="rad")


@sample("newton/kamino/boxes_nunchaku", title="kamino: boxes_nunchaku", source=SOURCE)
def boxes_nunchaku(play):
    """Two boxes joined by a ball and two ball joints fall on the ground and lie on it, the joints closed."""
    scene = ground()
    scene.add_body("left", shape=box(0.5, 0.1, 0.1), position=(-0.3, 0, 0.3), mass=1.0)
    scene.add_body("ball", shape=mc.Sphere(0.05), position=(0, 0, 0.3), mass=1.0)
    scene.add_body("right", shape=box(0.5, 0.1, 0.1), position=(0.3, 0, 0.3), mass=1.0)
    scene.add_joint(mc.BallJoint("left", "ball", (-0.05, 0, 0.3)))
    scene.add_joint(mc.BallJoint("ball", "right", (0.05, 0, 0.3)))
    world = on_floor(play, scene, 4.0)
    play.expect("heights", world.positions[1:, 2], 0.05, within=1e-3, unit="m")
    play.between("distance of the boxes", np.linalg.norm(world.positions[3] - world.positions[1]), upper=0.6001, unit="m")


@sample("newton/kamino/boxes_nunchaku_vertical", title="kamino: boxes_nunchaku_vertical", source=SOURCE)
def boxes_nunchaku_vertical(play):
    """As boxes_nunchaku, hung up by one box's end, with a push: it swings with its energy, and both worlds agree."""
    scene = mc.Scene()
    scene.add_body("upper", shape=box(0.1, 0.1, 0.5), position=(0, 0, -0.25), mass=1.0)
    scene.add_body("ball", shape=mc.Sphere(0.05), position=(0, 0, -0.55), mass=1.0)
    scene.add_body("lower", shape=box(0.1, 0.1, 0.5), position=(0, 0, -0.85), mass=1.0)
    for a, b, z in ((None, "upper", 0.0), ("upper", "ball", -0.5), ("ball", "lower", -0.6)):
        scene.add_joint(mc.BallJoint(a, b, (0, 0, z)))
    worlds = [mc.World(scene, dt=1 / 480), mc.ReducedWorld(scene, dt=1 / 480)]
    for world in worlds:
        world.apply_impulse("lower", (0.3, 0.2, 0), point=(0, 0, -1.0))
        play(world, world.dt)  # a World's joints take the impulse up in the step that comes
        energy = world.energy().total
        play(world, 1.0)
        play.expect("energy", world.energy().total, energy, within=2e-3, unit="J")
    play.expect("one world against the other", worlds[0].positions - worlds[1].positions, 0.0, within=0.001, unit="m")
    play.between("way of the lower box", np.linalg.norm(world.positions[2, :2]), lower=0.01, unit="m")


@sample("newton/kamino/boxes_fourbar", title="kamino: boxes_fourbar", source=SOURCE)
def boxes_fourbar(play):
    """Four boxes on hinges in a loop fall on the ground from 0.4 m and lie, the loop closed, free to shear."""
    scene, h = ground(), 0.4
    for k, (x, z, size) in enumerate(
        ((0, 0, (0.5, 0.1, 0.1)), (0.3, 0.3, (0.1, 0.1, 0.5)), (0, 0.6, (0.5, 0.1, 0.1)), (-0.3, 0.3, (0.1, 0.1, 0.5)))
    ):
        scene.add_body(f"box{k}", shape=box(*size), position=(x, 0, z + h), mass=1.0)
    for k, (x, z) in enumerate(((0.3, 0.0), (0.3, 0.6), (-0.3, 0.6), (-0.3, 0.0))):
        hinge = mc.HingeJoint(f"box{k}", f"box{(k + 1) % 4}", (x, 0, z + h), Y, name=f"hinge{k}", limits=(-0.8, 0.8))
        scene.add_joint(hinge)
    world = on_floor(play, scene, 4.0)
    angles = [joint.angle for joint in world.joints]
    play.expect("sum of the angles", sum(angles), 0.0, within=1e-6, unit="rad")
    play.expect("one angle against the next", angles[0] + angles[1], 0.0, within=1e-4, unit="rad")
    play.between("angles", np.abs(angles), upper=0.802, unit="rad")


@sample("newton/kamino/cartpole", title="kamino: cartpole", source=SOURCE, camera="front")
def cartpole(play):
    """A pole on a cart that is free on a rail falls over: both worlds agree, and the centre stays along the rail."""
    scene = mc.Scene()
    scene.add_body("cart", shape=box(0.2, 0.5, 0.2), mass=1.0, collision_mask=0)
    turn = turned(Y, 5.0)
    place = mc.rotation.rotate(turn, np.array([0, 0, 0.375]))
    scene.add_body("pole", shape=box(0.05, 0.05, 0.75), mass=0.2, position=place, orientation=turn, collision_mask=0)
    scene.add_joint(mc.SliderJoint(None, "cart", X, limits=(-2.0, 2.0)))
    scene.add_joint(mc.HingeJoint("cart", "pole", (0, 0, 0), Y))
    world, apart = both(play, scene, 1.0, dt=1 / 480)
    play.between("distance of the two worlds", apart, upper=1e-3, unit="m")
    play.expect("centre of mass", world.masses @ world.positions[:, 0], 0.2 * place[0], within=1e-6, unit="kg m")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


@sample("newton/kamino/test_mechanism", title="kamino: test mechanism", source=SOURCE)
def test_mechanism(play):
    """A driven loop of hinge, ball, universal, cylinder and slider moves as the formula says, alike in both worlds."""
    scene = mc.Scene()
    scene.add_body("crank", shape=box(0.2, 0.04, 0.04), position=(0.1, 0, 0))
    scene.add_body("rod", shape=box(0.04, 0.6, 0.04), position=(0.2, 0.3, 0))
    scene.add_body("slide", shape=box(0.1, 0.1, 0.1), position=(0.2, 0.6, 0))
    scene.add_body("turret", shape=box(0.05, 0.05, 0.3), position=(0.2, 0.6, 0.2), angular_velocity=(0, 0, 2.0))
    scene.add_joint(mc.HingeJoint(None, "crank", (0, 0, 0), Z, motion=mc.Motion(velocity=4.0)))
    scene.add_joint(mc.BallJoint("crank", "rod", (0.2, 0, 0)))
    scene.add_joint(mc.UniversalJoint("rod", "slide", (0.2, 0.6, 0), X, Z))
    scene.add_joint(mc.SliderJoint(None, "slide", Y))
    scene.add_joint(mc.CylindricalJoint("slide", "turret", (0.2, 0.6, 0), Z, spring=[mc.Spring(500.0, 20.0), None]))
    world = mc.World(scene, dt=1 / 480)
    reduced = mc.ReducedWorld(scene, dt=1 / 480)
    for one in (world, reduced):
        play(one, 2.0)
        a = 4.0 * one.time
        wanted = 0.2 * np.sin(a) + np.sqrt(0.36 - (0.2 * np.cos(a) - 0.2) ** 2)
        play.expect("way of the slide", one.body("slide").position[1], wanted, within=1e-4, unit="m")
    play.expect("one world against the other", world.positions - reduced.positions, 0.0, within=1e-3, unit="m")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


def scissors(scene, name, turn, alpha, spread, length):
    """Adds a ring of angulated scissors: bars a and b, bent by alpha at their pivot; `spread`: half their angle."""
    n = round(2 * np.pi / alpha)
    points = {}
    for k in range(n):
        middle = length * np.sin(spread - alpha / 2) / np.sin(alpha / 2)
        for side, sign in (("a", 1.0), ("b", -1.0)):
            ends = [
                np.array([middle + length * np.cos(t), sign * length * np.sin(t), 0])
                for t in (spread, spread - np.pi - alpha)
            ]
            around = mc.rotation.multiply(turn, turned(Z, np.degrees((k + 0.5) * alpha)))
            pivot, outer, inner = (mc.rotation.rotate(around, p) for p in (np.array([middle, 0, 0]), *ends))
            points[side, k] = outer, inner
            shape = [rod((0, 0, 0), end - pivot, 0.015) for end in (outer, inner)]
            bar = {"mass": 1.0, "inertia": (0.05, 0.05, 0.05), "center_of_mass": (0, 0, 0), "collision_mask": 0}
            scene.add_body(f"{name}{side}{k}", shape=shape, position=pivot, **bar)
        axis = mc.rotation.rotate(turn, np.array(Z))
        scene.add_joint(mc.HingeJoint(f"{name}b{k}", f"{name}a{k}", pivot, axis, name=f"{name}pivot{k}"))
    return points, axis


def radius(angle, alpha, length, spread):
    """Of the pivots of a ring, where the scissors have opened by an angle from their first spread."""
    return length * np.sin(spread + angle / 2 - alpha / 2) / np.sin(alpha / 2)


@sample("newton/kamino/hoberman_ring", title="kamino: Hoberman ring", source=SOURCE, camera="top", slow=True)
def hoberman_ring(play):
    """Sixteen bars in eight bent scissors, closed to a ring with one way to move, open evenly as one pivot is driven."""
    scene, alpha, spread = mc.Scene(gravity=(0, 0, 0)), np.pi / 4, 1.2
    points, axis = scissors(scene, "", np.array([1.0, 0, 0, 0]), alpha, spread, 0.5)
    for k in range(8):
        scene.add_joint(mc.HingeJoint(f"a{k}", f"b{(k + 1) % 8}", points["a", k][0], axis))
        scene.add_joint(mc.HingeJoint(f"b{k}", f"a{(k + 1) % 8}", points["b", k][1], axis))
    world = mc.World(scene, dt=1 / 240)
    world.joint("pivot0").set_motor(mc.Motor(position=-0.8, hertz=0.5))
    _, found = watched(play, world, 3.0, lambda: [world.joint("pivot0").angle, *np.linalg.norm(world.positions, axis=1)])
    wanted = radius(found[:, :1], alpha, 0.5, spread)
    play.expect(
        "radii of all bars' pivots", found[:, 1:], np.broadcast_to(wanted, found[:, 1:].shape), within=2e-4, unit="m"
    )
    play.expect("angle of the driven pivot", found[-1, 0], -0.8, within=0.02, unit="rad")
    play.expect("momentum", world.momentum()[0], 0.0, within=1e-6, unit="kg m/s")


@sample("newton/kamino/hoberman_sphere", title="kamino: Hoberman sphere", source=SOURCE, slow=True)
def hoberman_sphere(play):
    """Three such rings, tied by twelve hubs where they cross, open as one: 60 bodies, 96 hinges, one way to move."""
    scene, alpha, spread = mc.Scene(gravity=(0, 0, 0)), np.pi / 4, 1.2
    turns = {"x": np.array([1.0, 0, 0, 0]), "y": turned(X, 90.0), "z": turned((1, 1, 1), 120.0)}
    hubs = {}
    for name, turn in turns.items():
        points, axis = scissors(scene, name, turn, alpha, spread, 0.5)
        for k, (one, which) in ((k, end) for k in range(8) for end in (("a", 0), ("b", 1))):
            at, bars = points[one, k][which], (f"{name}{one}{k}", f"{name}{'ba'[which]}{(k + 1) % 8}")
            key = tuple(np.round(at, 6) + 0.0)
            if k % 2 == 1 and key not in hubs:
                hubs[key] = scene.add_body(f"hub{len(hubs)}", mass=0.2, inertia=(0.001,) * 3, position=at)
            for a, b in [bars] if k % 2 == 0 else [(hubs[key], bar) for bar in bars]:
                scene.add_joint(mc.HingeJoint(a, b, at, axis))
    world = mc.World(scene, dt=1 / 120)
    world.joint("xpivot0").set_motor(mc.Motor(position=-0.8, hertz=0.5))
    play(world, 3.0)
    bars = [k for k, name in enumerate(world.body_names) if not name.startswith("hub")]
    wanted = radius(world.joint("xpivot0").angle, alpha, 0.5, spread)
    play.expect("radii of all bars' pivots", np.linalg.norm(world.positions[bars], axis=1), wanted, within=1e-3, unit="m")
    play.expect("angle of the driven pivot", world.joint("xpivot0").angle, -0.8, within=0.02, unit="rad")
    play.check("60 bodies, 96 hinges", len(world.bodies) == 60 and len(world.joints) == 96)


@sample(
    "newton/kamino/overlay_of_solvers", title="kamino: overlay of several solvers", source=SOURCE, camera="front", slow=True
)
def overlay_of_solvers(play):
    """A four-bar linkage falls under seven pairs of solvers and integrators: all are at the same place after 1 s."""
    scene = mc.Scene()
    for k, (a, b) in enumerate((((0, 0), (0, 1)), ((0, 1), (1.5, 1.2)), ((1.5, 1.2), (1.2, 0)))):
        middle, way = np.add(a, b) / 2, np.subtract(b, a)
        turn = turned(Y, np.degrees(np.arctan2(way[0], way[1])))
        scene.add_body(f"bar{k}", shape=box(0.1, 0.1, np.hypot(*way)), position=(middle[0], 0, middle[1]), orientation=turn)
    for k, (x, z) in enumerate(((0, 0), (0, 1), (1.5, 1.2), (1.2, 0))):
        bodies = [f"bar{k - 1}" if k else None, f"bar{k}" if k < 3 else None]
        scene.add_joint(mc.HingeJoint(*bodies, (x, 0, z), Y))
    exact = mc.World(scene, dt=1 / 60, integrator="reference")
    play(exact, 1.0)
    ways = [{}, {"joint_solver": "rows", "iterations": 40}, {"integrator": "rk4"}, {"integrator": "rattle"}]
    ways += [{"integrator": "variational"}, {"stabilization": "projection"}]
    worlds = [mc.World(scene, dt=1 / 960, **way) for way in ways] + [mc.ReducedWorld(scene, dt=1 / 960)]
    for world, way in zip(worlds, [*ways, "reduced"], strict=True):
        play(world, 1.0)
        play.expect(f"places with {way or 'defaults'}", world.positions, exact.positions, within=2e-3, unit="m")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


def leg(scene, name, y, top):
    """Adds a leg of boxes in three nested loops: parallelograms as thigh and shank, a crank with a rod on the thigh."""
    light = {"density": 500.0, "collision_mask": 0}
    step, ends = (top - 0.03) / 2, (-0.1, 0.1)
    scene.add_body(f"{name}.knee", shape=box(0.26, 0.1, 0.06), position=(0, y, top - step), **light)
    scene.add_body(f"{name}.foot", shape=box(0.5, 0.3, 0.06), position=(0, y, 0.03), density=500.0)
    for part, upper, lower, z in (("thigh", "torso", "knee", top), ("shank", f"{name}.knee", "foot", top - step)):
        for k, x in enumerate(ends):
            bar = f"{name}.{part}{k}"
            scene.add_body(bar, shape=box(0.05, 0.05, step), position=(x, y, z - step / 2), **light)
            scene.add_joint(mc.HingeJoint(upper, bar, (x, y, z), Y, name=bar))
            scene.add_joint(mc.HingeJoint(bar, f"{name}.{lower}", (x, y, z - step), Y))
    crank, rod = f"{name}.crank", f"{name}.rod"
    scene.add_body(crank, shape=box(0.04, 0.04, 0.1), position=(0.3, y, top - 0.05), **light)
    scene.add_body(rod, shape=box(0.2, 0.04, 0.04), position=(0.2, y, top - 0.1), **light)
    scene.add_joint(mc.HingeJoint("torso", crank, (0.3, y, top), Y, name=crank))
    scene.add_joint(mc.HingeJoint(crank, rod, (0.3, y, top - 0.1), Y))
    scene.add_joint(mc.HingeJoint(rod, f"{name}.thigh1", (0.1, y, top - 0.1), Y))


@sample("newton/kamino/walker", title="kamino: a walker of six nested loops", source=SOURCE, slow=True)
def walker(play):
    """Two legs of three nested loops each, of boxes: it squats and stands up by its motors, torso level, feet flat."""
    scene = ground(friction=0.9)
    scene.add_body("torso", shape=box(0.7, 0.6, 0.2), position=(0.05, 0, 0.83), density=500.0, collision_mask=0)
    for name, y in (("left", 0.25), ("right", -0.25)):
        leg(scene, name, y, 0.83)
    world = mc.World(scene, dt=1 / 240)
    driven = {f"{name}.{part}": sign for name in ("left", "right") for part, sign in (("crank", 1.0), ("shank1", -1.0))}
    off, leans, low = [], [], []
    for step in play.steps(world, 5.0):
        angle = 0.4 * (1 - np.cos(np.pi * min(step * world.dt, 4.0) / 2))
        for name, sign in driven.items():
            world.joint(name).set_motor(mc.Motor(position=sign * angle))
        told = [0.4 * np.cos(world.joint(f"left.{part}1").angle) for part in ("thigh", "shank")]
        off.append(world.body("torso").position[2] - sum(told) - 0.03)
        leans.append(lean(world, "torso"))
        low.append(world.body("torso").position[2])
    play.expect("height against that of the legs' angles", off, 0.0, within=1e-3, unit="m")
    play.between("lean", leans, upper=0.01, unit="rad")
    play.expect("lowest", min(low), 0.8 * np.cos(0.8) + 0.03, within=5e-3, unit="m")
    play.expect("load over the weight", load(world) / weight(world), 1.0, within=0.001)
