"""Characters: on the flat, at walls, over steps, on slopes, in the air, on what moves, against what gives way."""

import copy

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import multiply, rotate

SKIN = 0.01
STANDS = 0.8 + SKIN  # of a capsule of 0.3 + 0.5


def world(*bodies, kind=mc.World, dt=1 / 60, gravity=(0, 0, -9.81), ground=True, position=(0, 0, STANDS), shape=None):
    scene = mc.Scene(gravity=gravity)
    if ground:
        scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    for i, body in enumerate(bodies):
        scene.add_body(**{"name": f"b{i}", "kind": "static"} | body)
    scene.add_body("hero", kind="kinematic", shape=shape or mc.Capsule(0.3, 0.5), position=position)
    return kind(scene, dt=dt)


def walked(world, seconds, wanted=(2.0, 0.0), hero=None, each=None, **settings):
    hero = hero or mc.Character(world, "hero", **settings)
    for _ in range(round(seconds / world.dt)):
        hero.walk(wanted)
        world.step()
        if each is not None:
            each(hero)
    return hero


def box(half, at, **more):
    return {"shape": mc.Box(half), "position": at} | more


def ramp(angle, width=5.0):
    """Rising towards +x from x = 1 on."""
    turn = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
    centre = rotate(np.array(turn), np.array([5.0, 0, -0.5])) + (1, 0, 0)
    return {"shape": mc.Box((5, width, 0.5)), "orientation": turn, "position": centre}


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_on_the_flat(kind):
    hero = walked(world(kind=kind), 1.0, (1.5, -2.0))
    walked(hero.world, 1.0, (1.5, -2.0), hero)
    assert hero.body.position == pytest.approx([3.0, -4.0, STANDS], abs=0.1)
    before = hero.body.position.copy()
    walked(hero.world, 1.0, (1.5, -2.0), hero)
    assert hero.body.position - before == pytest.approx([1.5, -2.0, 0], abs=1e-9)
    assert hero.velocity == pytest.approx([1.5, -2.0, 0]) and hero.ground.name == "ground"


def test_a_wall_stops_it_and_lets_it_slide():
    wall = box((0.5, 9, 2), (2.0, 0, 1))
    hero = walked(world(wall), 2.0)
    assert hero.body.position == pytest.approx([1.2 - SKIN, 0, STANDS], abs=1e-6)
    assert hero.velocity == pytest.approx([0, 0, 0], abs=1e-9)
    hero = walked(world(wall), 2.0, (2.0, 1.0))
    assert hero.body.position[:2] == pytest.approx([1.2 - SKIN, 2.0], abs=0.05)
    assert hero.velocity == pytest.approx([0, 1, 0], abs=1e-9)


@pytest.mark.parametrize("opening", [40, 90, 140])
def test_a_corner_holds_it_still(opening):
    """Two walls that meet at an angle, whose corner it is driven into: it comes to rest, in neither."""
    half = np.radians(opening) / 2
    walls = []
    for sign in (1, -1):
        q = np.array([np.cos(half / 2), 0, 0, sign * np.sin(half / 2)])
        walls.append(
            {
                "shape": mc.Box((9, 0.5, 2)),
                "orientation": multiply([0, 0, 0, 1], q),
                "position": rotate(multiply([0, 0, 0, 1], q), np.array([9.0, -sign * 0.5, 0])) + (4, 0, 1),
            }
        )
    hero = walked(world(*walls), 4.0)
    before = hero.body.position.copy()
    walked(hero.world, 1.0, hero=hero)
    assert np.abs(hero.body.position - before).max() < 1e-3
    for name in ("b0", "b1"):
        assert hero.world.distance("hero", name).distance > 0.0


@pytest.mark.parametrize("rise", [0.05, 0.15, 0.25, 0.29])
def test_steps_that_are_low_enough(rise):
    stairs = [box((3, 5, 5), (1.0 + 0.5 * i + 3, 0, rise * (i + 1) - 5)) for i in range(4)]
    heights = []
    hero = walked(world(*stairs), 4.0, each=lambda hero: heights.append(hero.body.position[2]))
    assert hero.body.position[2] == pytest.approx(STANDS + 4 * rise, abs=1e-6)
    walked(hero.world, 4.0, (-2.0, 0.0), hero, each=lambda hero: heights.append(hero.body.position[2]) or hero.ground.name)
    assert hero.body.position[2] == pytest.approx(STANDS, abs=1e-6)
    assert np.abs(np.diff(heights)).max() < 0.31
    off = [other for i in range(4) if (other := hero.world.distance("hero", f"b{i}").distance) < 0]
    assert not off


def test_a_step_that_is_too_high():
    for rise in (0.35, 0.5, 1.0):
        hero = walked(world(box((0.5, 5, rise / 2), (2.0, 0, rise / 2))), 2.0)
        assert hero.body.position[2] == pytest.approx(STANDS, abs=1e-6) and hero.body.position[0] < 1.4


@pytest.mark.parametrize("degrees", [10, 30, 45])
def test_slopes_up_and_down(degrees):
    """Across as fast as on the flat, and always on the ground."""
    grounded = []
    hero = walked(world(ramp(np.radians(degrees))), 3.0, each=lambda hero: grounded.append(hero.ground is not None))
    high = hero.body.position[2]
    assert hero.body.position[0] == pytest.approx(6.0, abs=0.15) and all(grounded[1:])
    walked(hero.world, 3.0, (-2.0, 0.0), hero, each=lambda hero: grounded.append(hero.ground is not None))
    assert all(grounded[1:]) and high > 0.8 + np.tan(np.radians(degrees)) * 4
    assert hero.body.position == pytest.approx([0, 0, STANDS], abs=0.15)


def test_a_slope_that_is_too_steep():
    hero = walked(world(ramp(np.radians(60))), 3.0)
    assert hero.body.position[2] == pytest.approx(STANDS, abs=0.02)
    up_there = world(ramp(np.radians(60)), position=(3, 0, 6))
    hero = walked(up_there, 2.5, (0.0, 0.0))
    assert hero.body.position[2] == pytest.approx(STANDS, abs=0.02) and hero.body.position[0] < 1.1


def test_jumps_and_falls():
    """A parabola to 4.5^2 / 2 g, and back; off an edge, the fall of a body."""
    heights = []
    hero = mc.Character(world(), "hero")
    hero.walk((0, 0))
    hero.world.step()
    for k in range(80):
        hero.walk((1.0, 0.0), jump=4.5 if k == 0 else 0.0)
        hero.world.step()
        heights.append(hero.body.position[2] - STANDS)
    t = np.arange(1, 56) / 60
    assert np.array(heights[:54]) == pytest.approx((4.5 * t - 0.5 * 9.81 * t * t)[:54], abs=1e-9)
    assert heights[-1] == pytest.approx(0.0, abs=1e-6) and hero.ground.name == "ground"
    hero = walked(world(position=(0, 0, STANDS + 5)), 0.5, (0, 0))
    assert hero.body.position[2] == pytest.approx(STANDS + 5 - 0.5 * 9.81 * 0.25, abs=1e-6)
    assert hero.ground is None and hero.velocity[2] == pytest.approx(-9.81 * 0.5)


def test_under_a_ceiling():
    hero = mc.Character(world(box((5, 5, 0.1), (0, 0, 2.2))), "hero")
    hero.walk((0, 0))
    hero.world.step()
    top = 0.0
    for k in range(60):
        hero.walk((0, 0), jump=5.0 if k == 0 else 0.0)
        hero.world.step()
        top = max(top, hero.body.position[2])
    assert top == pytest.approx(2.1 - 0.8 - SKIN, abs=1e-3) and hero.ground is not None


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_what_moves_under_it_carries_it(kind):
    """A lift that rises, a tray that slides, and a turntable."""
    plate = box((2, 2, 0.1), (0, 0, 0.1), name="plate", kind="kinematic")
    for velocity, spin in (((0, 0, 1.0), (0, 0, 0)), ((0.8, 0, 0), (0, 0, 0)), ((0, 0, -0.0), (0, 0, 0.7))):
        made = world(plate, kind=kind, dt=1 / 60, position=(1, 0, 0.2 + STANDS))
        hero = walked(made, 0.2, (0, 0))
        made.set_velocity("plate", velocity, spin)
        begin, when = hero.body.position.copy(), made.time
        walked(made, 1.0, (0, 0), hero)
        t = made.time - when
        turned = rotate(np.array([np.cos(spin[2] * t / 2), 0, 0, np.sin(spin[2] * t / 2)]), begin)
        assert hero.body.position == pytest.approx(turned + np.array(velocity) * t, abs=0.02)
        assert hero.ground.name == "plate"


def test_it_pushes_what_gives_way():
    """With its force against the friction of a crate: a light one goes as fast as it walks, a heavy one stays."""
    speeds = []
    for mass in (10.0, 300.0):
        crate = box((0.4, 0.4, 0.4), (2.0, 0, 0.4), name="crate", kind="dynamic", mass=mass)
        hero = walked(world(crate), 4.0)
        speeds.append(hero.world.body("crate").velocity[0])
        assert hero.world.distance("hero", "crate").distance > -1e-3
    assert speeds[0] == pytest.approx(2.0, abs=0.3) and abs(speeds[1]) < 1e-3


def test_its_weight_rests_on_what_gives_way():
    """A plate on a spring sinks by m g / k."""
    scene = world(box((1, 1, 0.1), (0, 0, 1.0), name="plate", kind="dynamic", mass=5.0), position=(0, 0, 1.1 + STANDS))
    scene.add_joint(mc.SliderJoint(None, "plate", axis=(0, 0, 1), spring=mc.Spring(5000.0, 300.0)))
    low = []
    for mass in (0.0, 80.0):
        begin = scene.snapshot()
        hero = walked(scene, 4.0, (0, 0), mass=mass)
        low.append(scene.body("plate").position[2])
        assert hero.ground.name == "plate"
        scene.restore(begin)
    assert low[0] - low[1] == pytest.approx(80 * 9.81 / 5000, abs=2e-3)


def test_it_comes_out_of_what_it_stands_in():
    hero = walked(world(box((0.5, 5, 2), (0.6, 0, 1))), 0.2, (0, 0))
    assert hero.world.distance("hero", "b0").distance > 0.0 and hero.body.position[0] == pytest.approx(-0.2, abs=0.03)


def test_what_never_collides_is_passed_through():
    wall = box((0.5, 9, 2), (2.0, 0, 1))
    made = world(wall)
    made.ignore_collision("hero", "b0")
    assert walked(made, 2.0).body.position[0] > 3.5
    for masks in ({"collision_group": 2}, {"collision_mask": 2}):
        made = world(wall | masks)
        made.set_body("hero", collision_mask=1)
        assert walked(made, 2.0).body.position[0] > 3.5


def test_in_another_frame_it_walks_the_same_way():
    """Everything, and gravity, turned about a skew axis and moved far."""
    turn, place = np.array([0.8, 0.36, -0.48, 0.0]), np.array([300.0, -200.0, 100.0])
    bodies = [
        box((3, 5, 5), (4.0, 0, 0.2 - 5)),
        ramp(np.radians(25)) | {"position": (9, 2, -0.8)},
        box((9, 0.3, 3), (0, 1.5, 1)),
    ]
    paths = []
    for turned in (False, True):
        scene = mc.Scene(gravity=rotate(turn, np.array([0, 0, -9.81])) if turned else (0, 0, -9.81))
        start = box((9, 9, 0.5), (0, 0, -0.5), name="ground", kind="static")
        hero = {"name": "hero", "kind": "kinematic", "shape": mc.Capsule(0.3, 0.5), "position": (0, 0, STANDS)}
        for i, body in enumerate([start, *bodies, hero]):
            body = {"name": f"b{i}", "kind": "static", "orientation": (1, 0, 0, 0)} | body
            if turned:
                body["position"] = rotate(turn, np.array(body["position"], float)) + place
                body["orientation"] = multiply(turn, body["orientation"])
            scene.add_body(**body)
        made = mc.World(scene)
        wanted, path = np.array([1.7, 0.6, 0]), []
        walked(
            made, 2.0, rotate(turn, wanted) if turned else wanted, each=lambda hero: path.append(hero.body.position.copy())
        )
        paths.append(np.array(path))
    back = np.array([rotate(turn * (1, -1, -1, -1), point - place) for point in paths[1]])
    assert np.abs(back - paths[0]).max() < 1e-6 and np.ptp(paths[0][:, 2]) > 0.1


def test_ground_that_is_taken_away():
    """It falls, onto what is below; and what is ground to it may be changed, and come back by a snapshot."""
    made = world(box((2, 2, 0.1), (0, 0, 1.1), name="plate"), position=(0, 0, 1.2 + STANDS))
    hero = walked(made, 0.2, (0, 0))
    saved, kept = made.snapshot(), hero.state
    assert hero.ground.name == "plate"
    made.remove_body("plate")
    walked(made, 1.0, (0, 0), hero)
    assert hero.ground.name == "ground" and hero.body.position[2] == pytest.approx(STANDS, abs=1e-6)
    made.restore(saved)
    hero.state = kept
    walked(made, 0.2, (0, 0), hero)
    assert hero.ground.name == "plate" and hero.body.position[2] == pytest.approx(1.2 + STANDS, abs=1e-6)


def test_a_copy_goes_on_alike():
    made = world(box((3, 5, 5), (4.0, 0, 0.2 - 5)))
    hero = walked(made, 0.8)
    other = copy.deepcopy(made)
    twin = mc.Character(other, "hero")
    twin.state = hero.state
    walked(made, 0.5, hero=hero)
    walked(other, 0.5, hero=twin)
    assert made.state_hash() == other.state_hash()


def test_any_solid_shape_and_several():
    for shape in (
        mc.Box((0.3, 0.3, 0.8)),
        mc.Cylinder(0.3, 0.8),
        [mc.Sphere(0.3, position=(0, 0, z)) for z in (-0.5, 0.5)],
    ):
        hero = walked(world(box((3, 5, 5), (4.0, 0, 0.2 - 5)), shape=shape), 2.0)
        assert hero.body.position[2] == pytest.approx(STANDS + 0.2, abs=1e-3), shape


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"max_slope": 2.0}, "Character: max_slope must be in"),
        ({"max_slope": np.pi / 2}, "Character: max_slope must be in"),
        ({"step_height": -1}, "Character: step_height"),
        ({"skin": 0}, "Character: skin must be"),
        ({"step_heigth": 1}, "step_height"),
    ],
)
def test_what_it_refuses(settings, words):
    with pytest.raises((mc.SceneError, TypeError), match=words):
        mc.Character(world(), "hero", **settings)


def test_what_it_cannot_be():
    made = world(box((0.1, 0.1, 0.1), (5, 0, 3), name="crate", kind="dynamic"))
    with pytest.raises(mc.SceneError, match="body 'crate' is dynamic; it must be kinematic"):
        mc.Character(made, "crate")
    with pytest.raises(mc.SceneError, match="did you mean 'hero'"):
        mc.Character(made, "her")
    with pytest.raises(mc.SceneError, match="must be a World"):
        mc.Character(made.scene, "hero")
    made.add_body("ghost", kind="kinematic")
    with pytest.raises(mc.SceneError, match="body 'ghost' has no shape"):
        mc.Character(made, "ghost")
    hero = mc.Character(made, "hero")
    for wrong in ((1,), (1, 2, 3, 4), "north", (np.nan, 0), 3):
        with pytest.raises(mc.SceneError, match="Character.walk"):
            hero.walk(wrong)
    with pytest.raises(mc.SceneError, match="jump"):
        hero.walk((0, 0), jump=-1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_it_enters_nothing_wherever_it_walks(seed):
    """Through a yard of boxes that stand and lean, over a rough ground, in all directions, jumping now and then."""
    rng = np.random.default_rng(seed)
    bodies = []
    for _ in range(40):
        q = rng.normal(size=4) * (1, 0.3, 0.3, 1)
        bodies.append(
            {
                "shape": mc.Box(rng.uniform(0.1, 0.9, 3)),
                "orientation": q / np.linalg.norm(q),
                "position": (*rng.uniform(-6, 6, 2), rng.uniform(-0.4, 0.8)),
            }
        )
    heights = rng.uniform(-0.3, 0.0, (17, 17))
    bodies.append({"shape": mc.HeightField(heights, spacing=(1.0, 1.0)), "position": (0, 0, 0)})
    made = world(*bodies, ground=False, position=(0, 0, 3.0))
    hero = mc.Character(made, "hero")
    names = [name for name in made.body_names if name != "hero"]
    deepest, far = 0.0, []
    for k in range(400):
        if k % 40 == 0:
            wanted = rng.uniform(-3, 3, 2)
        place = hero.body.position
        wanted = np.where(np.abs(place[:2]) > 7, -np.sign(place[:2]) * 2.0, wanted)
        hero.walk(wanted, jump=4.0 if k % 60 == 59 else 0.0)
        made.step()
        if k % 5 == 0:
            deepest = min([deepest, *(made.distance("hero", name).distance for name in names)])
            far.append(hero.body.position.copy())
    assert deepest > -1e-3 and np.ptp(np.array(far)[:, :2], axis=0).min() > 1.0
    assert np.array(far)[-20:, 2].min() > -1.0
