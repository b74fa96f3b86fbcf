"""Bodies that are very thin."""

import pytest

import mcsim as mc


def test_a_thread_is_refused_by_name():
    """The inertia of a rod of 25 nm and 36 m is singular to rounding: World raised NumPy's LinAlgError."""
    with pytest.raises(mc.SceneError, match="body 'thread': inertia comes to moments .* too slender"):
        mc.Scene().add_body("thread", shape=mc.Cylinder(2.5e-8, 18.0, orientation=(0.6, 0.0, 0.8, 0.0)))


def test_a_wire_and_a_foil_are_not():
    """What can be computed with is taken: a wire of 0.2 mm and 20 m, a foil of 1 µm and 1 m."""
    scene = mc.Scene()
    scene.add_body("wire", shape=mc.Cylinder(1e-4, 10.0, orientation=(0.6, 0.0, 0.8, 0.0)))
    scene.add_body("foil", shape=mc.Box((0.5, 0.5, 5e-7), orientation=(0.6, 0.0, 0.8, 0.0)), position=(30, 0, 0))
    mc.World(scene).step(10)
