"""Forces act in two halves, before and after the drift: what falls, what stands, and what is far away from it."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize(
    "keywords", [{}, {"substeps": 1}, {"substeps": 7, "dt": 1 / 90}, {"solver": "pgs"}, {"joint_solver": "rows"}], ids=str
)
@pytest.mark.parametrize("jointed", [False, True])
def test_what_falls_falls_as_far_as_it_should(keywords, jointed):
    """z = v t - g t^2 / 2, whatever else is in the world; with whole kicks it fell g t h / 2 too far."""
    scene = mc.Scene()
    scene.add_body("stone", shape=mc.Box((0.1, 0.2, 0.3)), position=(0, 0, 50), velocity=(1, 0, 4))
    if jointed:
        scene.add_body("door", shape=mc.Box((0.5, 0.5, 0.05)), position=(100, 0, 0))
        scene.add_joint(mc.HingeJoint(None, "door", anchor=(100, 0.5, 0), axis=(1, 0, 0)))
    world = mc.World(scene, **keywords)
    world.step(90)
    t, g = 90 * world.dt, 9.81
    np.testing.assert_allclose(world.positions[0], (t, 0, 50 + 4 * t - g * t * t / 2), rtol=0, atol=1e-11)


def tower(boxes, far=False, **keywords):
    scene = mc.load("tower", n=boxes)
    if far:
        scene.add_body("far", mass=1, inertia=(1, 1, 1), position=(1000, 0, 0))
        scene.add_joint(mc.HingeJoint(None, "far", anchor=(1000, 0, 1), axis=(0, 1, 0)))
    return mc.World(scene, sleep=False, **keywords)


def swaying(world):
    return np.abs(world.velocities[-1]).max()


@pytest.mark.parametrize(
    "keywords, seconds",
    [({}, 40), ({"iterations": 3}, 40), ({"iterations": 8}, 20), ({"substeps": 2}, 40), ({"dt": 1 / 120}, 20)],
    ids=str,
)
def test_the_sway_of_a_tower_dies_away(keywords, seconds):
    """Where second halves are those of the last substep's impulses it lasts: 3.3e-6 m/s after 40 s at the default."""
    world = tower(10, **keywords)
    world.step(round(seconds / world.dt))
    assert swaying(world) < 1e-6 if "substeps" not in keywords else swaying(world) < 2e-5


@pytest.mark.parametrize("size", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("boxes", [10, 15])
def test_columns_that_bear_much_do_not_swing(boxes, size):
    """Of stiffness that follows what they bear. A spring whose stiffness follows its load within a step is the more pressed
    in the less it bears: columns bounced at 0.2 m/s for ever."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(boxes):
        scene.add_body(f"box{i}", shape=mc.Box((size / 2,) * 3), position=(0, 0, size * (i + 0.5)))
    world = mc.World(scene, sleep=False, dt=np.sqrt(size) / 60, substeps=1)
    world.step(600)
    assert swaying(world) < 3e-3 * np.sqrt(size)


def pile(into):
    """A pyramid, and what rolls, slides and tumbles into it."""
    floor = mc.Plane((0, 0, 1))
    into.add_body("floor", kind="static", shape=floor)
    for i in range(4):
        for j in range(4 - i):
            into.add_body(f"box{i}{j}", shape=mc.Box((0.5, 0.5, 0.5)), position=(1.02 * (j + 0.5 * i), 0, 0.5 + i))
    into.add_body("ball", shape=mc.Sphere(0.4), position=(1.5, -4, 0.4), velocity=(0, 5, 0))
    into.add_body(
        "stick", shape=mc.Capsule(0.1, 0.5), position=(1.2, -2, 2), angular_velocity=(1, 2, 3), velocity=(0, 2, 0)
    )


def jointed(into):
    for k in range(5):
        into.add_body(f"link{k}", shape=mc.Capsule(0.1, 0.2), position=(2000 + 0.5 * k, 0, 3), orientation=(0.8, 0, 0.6, 0))
        into.add_joint(mc.BallJoint(f"link{k - 1}" if k else None, f"link{k}", anchor=(1999.75 + 0.5 * k, 0, 3)))


def driven(into):
    into.add_body("belt", kind="kinematic", shape=mc.Box((2, 1, 0.1)), position=(2000, 0, -5), velocity=(0.3, 0, 0))
    into.add_body("load", shape=mc.Box((0.2, 0.2, 0.2)), position=(2000, 0, -4.7))


def crowd(into):
    for k in range(7):
        into.add_body(f"other{k}", shape=mc.Sphere(0.3), position=(2000, 0, 0.3 + 0.59 * k), velocity=(0.1 * k, 0, 0))


@pytest.mark.parametrize(
    "keywords", [{}, {"solver": "pgs"}, {"joint_solver": "rows"}, {"friction_points": "point"}], ids=str
)
@pytest.mark.parametrize("other", [jointed, driven, crowd])
def test_what_is_far_away_changes_no_bit(other, keywords):
    """Whether forces acted in two halves hung on joints and kinematic bodies anywhere: a pyramid beside a chain two
    kilometres away ended 0.06 mm elsewhere."""
    ends = []
    for add in (lambda into: None, other):
        scene = mc.Scene()
        pile(scene)
        add(scene)
        world = mc.World(scene, sleep=False, **keywords)
        world.step(90)
        ends.append((world.positions[:13], world.velocities[:13], world.angular_velocities[:13]))
    for alone, beside in zip(*ends):
        assert np.array_equal(alone, beside)


@pytest.mark.parametrize("velocity", [(3, -2, 0), (0.1, 0, 0)])
def test_a_floor_that_moves_steadily_is_a_floor_at_rest(velocity):
    """In its own frame: landings on it were 1 cm elsewhere after 2 s."""
    ends = []
    for moving in (False, True):
        v = np.array(velocity, float) if moving else np.zeros(3)
        scene = mc.Scene()
        scene.add_body(
            "floor", kind="kinematic" if moving else "static", velocity=v, shape=mc.Box((20, 20, 1)), position=(0, 0, -1)
        )
        for k, shape in enumerate((mc.Box((0.3, 0.2, 0.1)), mc.Sphere(0.3), mc.Capsule(0.1, 0.3))):
            scene.add_body(
                f"body{k}",
                shape=shape,
                position=(2 * k, 0, 0.8),
                orientation=(0.8, 0.48, 0, 0.36),
                velocity=v + (0.5, 0, 0),
                angular_velocity=(0, 1, 0.5),
            )
        world = mc.World(scene, sleep=False)
        world.step(90)
        ends.append(world.positions - world.time * v)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-9)
