"""Slabs that far outweigh the many things on them."""

import numpy as np

import mcsim as mc

TURNED = (0.5**0.5, 0.5**0.5, 0, 0)
SHAPES = (mc.Box((0.3, 0.25, 0.3)), mc.Sphere(0.3), mc.Box((0.3, 0.3, 0.3)), mc.Capsule(0.3, 0.2))


def slab(density=1000.0, size=(8, 8, 0.5), floor_friction=0.2, gravity=(0, 0, -9.81), **keywords):
    """A slab with its top at 0 on a plane; they are bodies 0 and 1."""
    scene = mc.Scene(gravity=gravity)
    rough = mc.Material(friction=floor_friction)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1), -2 * size[2]), kind="static", material=rough)
    scene.add_body("slab", shape=mc.Box(size), density=density, position=(0, 0, -size[2]), **keywords)
    return scene


def loaded(scene, side=8, high=1, density=50.0, gap=0.0, shapes=SHAPES, friction=0.6, velocity=(0, 0, 0)):
    """side² columns on the slab, of balls, capsules that lie and boxes; of boxes alone, where they are higher than one."""
    for i in range(side * side):
        kind = i % 4 if high == 1 else 2
        x, y = 1.2 * (i % side - side / 2 + 0.5), 1.2 * (i // side - side / 2 + 0.5)
        for k in range(high):
            scene.add_body(
                shape=shapes[kind % len(shapes)],
                density=density,
                position=(x, y, 0.3 + gap + (0.6 + gap) * k),
                orientation=TURNED if kind == 3 else (1, 0, 0, 0),
                material=mc.Material(friction=friction, rolling_friction=0.01 if kind == 1 else 0.0),
                velocity=velocity,
            )
    return scene


def pushed():
    return loaded(slab(velocity=(0.5, 0.2, 0)))


def falling():
    """Columns with gaps, on a slab that falls, too, and turns."""
    return loaded(slab(velocity=(0, 0, 0.5), angular_velocity=(0, 0.02, 0.05)), high=2, gap=0.05)


def tilted():
    return loaded(slab(gravity=9.81 * np.array((-0.3, -0.1, -0.9))), side=9)
