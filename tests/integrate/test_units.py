"""The integrators on accelerations and on positions know no units of length and mass: what they compare are ratios."""

import numpy as np
import pytest

import mcsim as mc

INTEGRATORS = {
    "rk4": mc.RK4(),
    "rk4 projected": mc.RK4(projection=True),
    "rattle": mc.Rattle(),
    "variational": mc.Variational(),
}


def scene(length, mass, damping):
    """A box that slides and bounces; a chain of hinge with a limit, slider with a spring, ball and universal joint that
    swings in all directions, in these units."""
    made = mc.Scene(gravity=(0, 0, -9.81 * length))
    material = mc.Material(friction=0.5, restitution=0.3)
    density = 1000.0 * mass / length**3
    made.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    made.add_body(
        "box",
        shape=mc.Box(np.array((0.2, 0.15, 0.1)) * length),
        position=(0, 0, 0.25 * length),
        velocity=(0.5 * length, 0, 0),
        angular_velocity=(0, 0.3, 0.1),
        density=density,
        material=material,
    )
    for i in range(4):
        made.add_body(
            f"link{i}",
            shape=mc.Capsule(0.03 * length, 0.1 * length),
            density=density,
            position=(2 * length, 0, (1.5 - 0.3 * i) * length),
            angular_velocity=(0.2, 1, 0.1 * i),
        )

    def at(i):
        return 2 * length, 0, (1.65 - 0.3 * i) * length

    made.add_joint(mc.HingeJoint(None, "link0", at(0), (0, 1, 0), limits=(-0.2, 0.2)))
    made.add_joint(
        mc.SliderJoint(
            "link0", "link1", axis=(0, 0, 1), anchor=at(1), spring=mc.Spring(stiffness=400 * mass, damping=damping * mass)
        )
    )
    made.add_joint(mc.BallJoint("link1", "link2", at(2)))
    made.add_joint(mc.UniversalJoint("link2", "link3", at(3), axis_a=(1, 0, 0), axis_b=(0, 1, 0)))
    return made


@pytest.mark.parametrize("torn, damping", [(0.0, 0.0), (0.03, 0.0), (0.0, 5.0)])
@pytest.mark.parametrize("length, mass", [(2.0**-5, 1.0), (2.0**5, 1.0), (1.0, 2.0**7), (2.0**-3, 2.0**-9)])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_units_do_not_matter(integrator, length, mass, torn, damping):
    """To the bit: the errors at which Newton's method and sweeps ended were in metres, and metres beside radians. torn: how
    far the ball joint is open as it begins [m]."""
    one, other = (
        mc.World(scene(*units, damping), dt=1 / 120, integrator=INTEGRATORS[integrator])
        for units in ((1.0, 1.0), (length, mass))
    )
    one.positions[-2:, 0] += torn
    other.positions[-2:, 0] += torn * length
    for _ in range(60):
        one.step()
        other.step()
        assert np.array_equal(other.positions, one.positions * length)
        assert np.array_equal(other.orientations, one.orientations)
        assert np.array_equal(other.velocities, one.velocities * length)
        assert np.array_equal(other.angular_velocities, one.angular_velocities)
