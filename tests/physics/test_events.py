"""Contacts that begin and end, what comes into sensors, and the filters, read after the step."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

NAMES = ("step", "body_a", "body_b", "shape_a", "shape_b")


def floor_scene(**keywords):
    scene = mc.Scene(**keywords)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    return scene


def pairs(events):
    """Names and steps without the rest."""
    return [tuple(int(event[name]) for name in NAMES) for event in events]


def touching_by_hand(world, before):
    """The rule in Python, from world's manifolds: a point carried an impulse or is no farther than 0, or a part of
    `near` if it was."""
    found = world._collider.get_manifolds()
    touching = set()
    for m in found:
        near = 0.025 * m["near"] if int(m["key"]) in before else 0.0
        points = m["points"][: m["point_count"]]
        if np.any(points["total_normal_impulse"] > 0.0) or np.any(points["separation"] <= near):
            touching.add(int(m["key"]))
    return touching


def key_of(world, event):
    first = np.cumsum([0] + [len(body.shapes) for body in world.scene.bodies])
    return int(first[event["body_a"]] + event["shape_a"]) << 32 | int(first[event["body_b"]] + event["shape_b"])


# ---- contacts --------------------------------------------------------------------------------------------------------


def test_a_ball_that_bounces():
    """Each bounce begins and ends a contact; step numbers, pair, place and impulse are those of the impact."""
    scene = floor_scene()
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0.3, 0, 1.1), mass=2.0, material=mc.Material(restitution=0.8))
    world = mc.World(scene, restitution_threshold=0.1)
    assert len(world.events.begin) == len(world.events.end) == 0
    world.step(60)
    begin, end = world.events.begin, world.events.end
    assert len(begin) >= 1 and [p[1:] for p in pairs(begin)] == [(0, 1, 0, 0)] * len(begin)
    impact = np.sqrt(2 * 1.0 / 9.81)  # the ball is 1 m above the floor
    assert begin["step"][0] * world.dt == pytest.approx(impact, abs=2 * world.dt)
    assert begin["impulse"][0] == pytest.approx(2.0 * 1.8 * np.sqrt(2 * 9.81), rel=0.1)
    assert begin["normal"][0] == pytest.approx((0, 0, 1)) and begin["position"][0][:2] == pytest.approx((0.3, 0))
    assert np.all(np.diff(np.sort([*begin["step"], *end["step"]])) >= 1) and begin["step"][0] < end["step"][0]
    for _ in range(300):
        world.step()
    assert not len(world.events.begin) and not len(world.events.end)  # it lies
    world.set_velocity("ball", (0, 0, 3.0))
    world.step(5)
    assert pairs(world.events.end)[0][1:] == (0, 1, 0, 0) and not len(world.events.begin)


def test_one_call_or_many():
    """step(n) gives the events of n calls of step(), in order; steps count on."""

    def made(calls):
        world = mc.World(mc.load("rain", n=60))
        rows = [], []
        for n in calls:
            world.step(n)
            for out, events in zip(rows, (world.events.begin, world.events.end)):
                out.extend(event.tobytes() for event in events)
                assert np.all(np.diff(events["step"]) >= 0)
                assert len(events) == 0 or world.time >= events["step"][-1] * world.dt - 1e-9
        return rows

    one = made([90])
    assert one == made([1] * 90) == made([30, 45, 15])
    assert len(one[0]) > 60 and len(one[1]) > 20


def test_events_tell_what_touches():
    """Step by step, what has begun and not ended is what touches by the rule; sorted by step and pair; ends follow
    begins."""
    world = mc.World(mc.load("rain", n=80), sleep=False)
    now = set()
    for _ in range(100):
        world.step()
        events = world.events
        for kind in (events.begin, events.end):
            rows = pairs(kind)
            assert all(step == round(world.time / world.dt) for step, *_ in rows)
            keys = [key_of(world, event) for event in kind]
            assert keys == sorted(set(keys))
        expected = touching_by_hand(world, now)
        begun, ended = ({key_of(world, event) for event in kind} for kind in (events.begin, events.end))
        assert begun == expected - now and ended == now - expected
        now = expected
    assert len(now) > 80


def test_resting_things_make_no_events():
    """A stack that has settled, and boxes side by side at distance 0, begin once and stay."""
    scene = floor_scene()
    for i in range(4):
        scene.add_body(shape=mc.Box((0.5, 0.5, 0.5)), position=(1.0 * i, 0, 0.5))
    for i in range(4):
        scene.add_body(shape=mc.Box((0.5, 0.5, 0.5)), position=(9, 0, 0.5 + i))
    world = mc.World(scene, sleep=False)
    world.step(60)
    world.step(300)
    assert len(world.events.begin) == len(world.events.end) == 0


def test_sleeping_contacts_do_not_end():
    """Nothing ends or begins while bodies fall asleep, sleep and wake; what leaves then, ends."""
    scene = floor_scene()
    for i in range(3):
        scene.add_body(f"b{i}", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5 + i))
    world = mc.World(scene)
    world.step(5)
    assert len(world.events.begin) == 3
    world.step(600)
    assert len(world.events.begin) == len(world.events.end) == 0
    if world.settings["sleep"]:
        assert all(world.body(f"b{i}").asleep for i in range(3))
    world.set_velocity("b2", (0.0, 0, 5.0))
    world.step(10)
    assert [p[1:3] for p in pairs(world.events.end)] == [(2, 3)] and not len(world.events.begin)


def test_events_after_restore():
    """A world goes on from a snapshot, a pickle or a copy with the same events; restoring itself makes none."""
    world = mc.World(mc.load("rain", n=60))
    world.step(60)
    kept = world.snapshot()
    others = pickle.loads(pickle.dumps(world)), copy.deepcopy(world)
    world.step(40)
    events = world.events
    assert len(events.begin) and len(events.end)
    world.restore(kept)
    assert len(world.events.begin) == len(world.events.end) == 0
    for other in (world, *others):
        other.step(40)
        assert other.events.begin.tobytes() == events.begin.tobytes()
        assert other.events.end.tobytes() == events.end.tobytes()


@pytest.mark.parametrize(
    "keywords",
    [
        {"integrator": "rk4", "stabilization": "none"},
        {"integrator": "rattle"},
        {"solver": "pgs"},
        {"stabilization": "split_impulse"},
        {"friction_points": "point"},
    ],
)
def test_every_pipeline_notes_events(keywords):
    """A ball that falls on the floor begins one contact, whatever steps it."""
    if keywords.get("integrator"):
        keywords = {"substeps": 1, **keywords}
    scene = floor_scene()
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 0.3), material=mc.Material(restitution=0.0))
    world = mc.World(scene, **({"stabilization": "soft"} | keywords))
    world.step(60)
    assert [p[1:] for p in pairs(world.events.begin)][:1] == [(0, 1, 0, 0)]


def test_shapes_of_compounds():
    """Each pair of shapes has its own events, numbered in their bodies."""
    scene = floor_scene(gravity=(0, 0, -10))
    scene.add_body(
        "dumbbell",
        shape=[mc.Sphere(0.1, position=(-1, 0, 0)), mc.Sphere(0.1, position=(1, 0, 0))],
        position=(0, 0, 0.099),
        orientation=(np.cos(0.05), 0, np.sin(0.05), 0),
    )
    world = mc.World(scene)
    world.step(30)
    assert sorted(p[1:] for p in pairs(world.events.begin))[:2] == [(0, 1, 0, 0), (0, 1, 0, 1)]


def test_a_mesh_is_one_contact():
    """A box that slides over the triangles of a mesh begins one contact with it and ends none, whatever parts it has."""
    x, y = np.meshgrid(np.linspace(-3, 3, 13), np.linspace(-1, 1, 5), indexing="ij")
    number = np.arange(65).reshape(13, 5)
    a, b, c, d = (number[i : 12 + i, j : 4 + j].ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    vertices = np.stack([x, y, 0.3 * np.abs(x)], axis=-1).reshape(-1, 3)
    mesh = mc.Mesh(vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))
    scene = mc.Scene()
    scene.add_body(
        "ground", shape=[mc.Sphere(0.1, position=(0, 0, -5)), mesh], kind="static", material=mc.Material(friction=0.0)
    )
    scene.add_body("box", shape=mc.Box((0.2, 0.2, 0.2)), position=(-1.5, 0, 0.72), material=mc.Material(friction=0.1))
    scene.add_body("gate", shape=mc.Sphere(0.2, sensor=True), position=(0, 0, 0), kind="kinematic")
    world = mc.World(scene, sleep=False)
    parts = 0
    world.step(60)
    begin = [p[1:] for p in pairs(world.events.begin)]
    for _ in range(240):
        world.step()
        begin += [p[1:] for p in pairs(world.events.begin)]
        assert len(world.events.end) == 0
        parts = max(parts, len(world._collider.get_manifolds()))
    assert begin == [(0, 1, 1, 0)] and parts > 1
    assert "ground" in [body.name for body in world.overlaps("gate")]


# ---- filters ---------------------------------------------------------------------------------------------------------


def test_groups_and_masks():
    """Two bodies collide, and a sensor sees a body, if each one's group is in the other's mask; joined ones do neither."""
    for group, mask, joined in ((1, -1, False), (2, -1, False), (1, 2, False), (4, 6, False), (1, -1, True)):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("wall", shape=mc.Box((0.5, 0.5, 0.5)), kind="static", collision_group=2, collision_mask=3)
        scene.add_body(
            "door", shape=mc.Box((0.7, 0.7, 0.7), sensor=True), kind="static", collision_group=2, collision_mask=3
        )
        scene.add_body(
            "ball",
            shape=mc.Sphere(0.5),
            position=(1.0, 0, 0),
            velocity=(-1, 0, 0),
            collision_group=group,
            collision_mask=mask,
        )
        if joined:
            scene.add_joint(mc.FreeJoint("wall", "ball"))
            scene.add_joint(mc.FreeJoint("door", "ball"))
        world = mc.World(scene)
        world.step()
        agree = bool(group & 3 and 2 & mask) and not joined
        assert (len(world.events.begin) == 1) == (len(world.contacts) == 1) == agree
        assert (len(world.events.sensor_begin) == 1) == agree
        assert [body.name for body in world.overlaps("door")] == ["ball"] * agree


# ---- sensors ---------------------------------------------------------------------------------------------------------


def gate(kind="static", **keywords):
    scene = floor_scene(**keywords)
    scene.add_body("gate", shape=mc.Box((1, 1, 1), sensor=True), kind=kind, position=(0, 0, 1))
    return scene


def test_a_ball_through_a_gate():
    """It is not pushed; it is in from the step on at whose end it overlaps, until the one at whose end it does not."""
    scene = gate(gravity=(0, 0, 0))
    scene.add_body("ball", shape=mc.Sphere(0.25), position=(-3, 0, 1), velocity=(2.0, 0, 0))
    world = mc.World(scene, dt=0.01)
    seen = []
    for k in range(1, 400):
        world.step()
        inside = abs(world.positions[2, 0]) <= 1.25
        assert [body.name for body in world.overlaps("gate")] == ["ball"] * int(inside)
        seen += [(k, +1)] * len(world.events.sensor_begin) + [(k, -1)] * len(world.events.sensor_end)
    assert seen == [(88, 1), (213, -1)] or seen == [(87, 1), (213, -1)]
    assert world.velocities[2].tolist() == [2.0, 0, 0] and len(world.contacts) == 0
    again = mc.World(scene, dt=0.01)
    again.step(399)
    assert pairs(again.events.sensor_begin) == [(seen[0][0], 1, 2, 0, 0)]
    assert pairs(again.events.sensor_end) == [(seen[1][0], 1, 2, 0, 0)]
    assert len(again.events.begin) == 0


def test_what_sensors_see():
    """Static ones what moves, moving ones all; not themselves, not other sensors; planes are seen and can be sensors."""
    scene = gate()
    scene.add_body("wall", shape=mc.Box((0.2, 0.2, 0.2)), kind="static", position=(0, 0, 1))
    scene.add_body("lift", shape=mc.Box((0.2, 0.2, 0.2)), kind="kinematic", position=(0.5, 0, 1))
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(-0.5, 0, 1), gravity_scale=0.0)
    scene.add_body(
        "walker",
        shape=[mc.Sphere(0.2), mc.Sphere(0.3, position=(0, 0, -0.2), sensor=True)],
        position=(0, 5, 0.45),
        kind="kinematic",
    )
    scene.add_body(
        "ghost", shape=mc.Sphere(0.2, sensor=True), position=(0.5, 0.5, 1), mass=1.0, inertia=(1, 1, 1), gravity_scale=0.0
    )
    scene.add_body("sea", shape=mc.Plane((0, 0, 1), 0.9, sensor=True), kind="static")
    world = mc.World(scene)

    def inside(name):
        return [body.name for body in world.overlaps(name)]

    world.step()
    assert inside("gate") == ["lift", "ball"]
    assert inside("walker") == ["floor"]
    assert inside("sea") == ["lift", "ball", "walker"]
    assert inside("ghost") == []
    assert [(p[1], p[2]) for p in pairs(world.events.sensor_begin)] == [(1, 3), (1, 4), (5, 0), (7, 3), (7, 4), (7, 5)]
    world.body("ghost").position[:] = (0, 0, 0.1)
    assert inside("ghost") == ["floor", "wall"] or inside("ghost") == ["floor"]
    with pytest.raises(mc.SceneError, match="overlaps: body 'ball' has no sensor"):
        world.overlaps("ball")


def test_sensors_are_not_hit():
    """Rays and queries pass through sensors."""
    world = mc.World(gate())
    assert world.ray_cast((0, 0, 5), (0, 0, -1)).body.name == "floor"
    assert [body.name for body in world.overlap(mc.Sphere(0.1), (0, 0, 1))] == []
    assert world.shape_cast(mc.Sphere(0.1), (0, 0, 5), (1, 0, 0, 0), (0, 0, -1)).body.name == "floor"
    assert world.distance("floor", "gate") is None


def test_sensors_change_nothing():
    """The same bits with and without sensors, for all that is not a sensor."""

    def stepped(sensor):
        scene = mc.load("rain", n=40)
        if sensor:
            scene.add_body("gate", shape=mc.Box((2, 2, 2), sensor=True), kind="static", position=(0, 0, 1))
        world = mc.World(scene)
        begun = 0
        for _ in range(60):
            world.step()
            begun += len(world.events.sensor_begin)
        return world, begun

    (plain, none), (watched, some) = stepped(False), stepped(True)
    n = len(plain.body_names)
    assert none == 0 and some > 10
    for name in ("positions", "orientations", "velocities", "angular_velocities"):
        assert getattr(plain, name).tobytes() == getattr(watched, name)[:n].tobytes()


def test_sensors_after_restore():
    """What was inside is in the snapshot: no event twice, none lost, even if a body was put into the sensor by hand."""
    scene = gate(gravity=(0, 0, 0))
    for i in range(5):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.2), position=(-2.0 - 0.5 * i, 0, 1), velocity=(1.0, 0, 0))
    world = mc.World(scene)
    world.step(60)
    world.set_pose("b4", (0.5, 0.5, 1.0))
    kept = world.snapshot()
    others = pickle.loads(pickle.dumps(world)), copy.deepcopy(world)
    world.step(200)
    events = world.events
    assert len(events.sensor_begin) == 4 and len(events.sensor_end) >= 4 and events.sensor_begin["step"][0] == 61
    world.restore(kept)
    assert not len(world.events.sensor_begin)
    for other in (world, *others):
        other.step(200)
        assert other.events.sensor_begin.tobytes() == events.sensor_begin.tobytes()
        assert other.events.sensor_end.tobytes() == events.sensor_end.tobytes()


def test_mass_of_sensors():
    """None, unless it has a density; a body of sensors alone needs mass and inertia."""
    scene = mc.Scene()
    solid, sensor = mc.Sphere(0.5), mc.Sphere(0.9, position=(3, 0, 0), sensor=True)
    body = scene.add_body(shape=[solid, sensor])
    assert body.mass == scene.add_body(shape=solid).mass and body.center_of_mass.tolist() == [0, 0, 0]
    heavy = scene.add_body(shape=[solid, mc.Sphere(0.9, position=(3, 0, 0), sensor=True, density=10.0)])
    assert heavy.mass > body.mass and heavy.center_of_mass[0] > 0.0
    with pytest.raises(mc.SceneError, match="has no shape but sensors, so it needs mass"):
        scene.add_body(shape=sensor)
    with pytest.raises(mc.SceneError, match="sensor must be True or False"):
        mc.Box((1, 1, 1), sensor=1)
    read = mc.Scene.from_dict(scene.to_dict())
    assert read == scene and read.bodies[0].shapes[1].sensor and not read.bodies[0].shapes[0].sensor
    assert "sensor" not in scene.to_dict()["bodies"][1]["shapes"][0]


# ---- while bodies come and go ----------------------------------------------------------------------------------------


def test_queries_and_sensors_follow_changes():
    """Bodies that come and go are seen at once; what stays in a sensor makes no event, what is removed goes without one."""
    scene = gate(gravity=(0, 0, 0))
    for i in range(4):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(0.3 * i, 0, 1))
    world = mc.World(scene)
    world.step()
    assert len(world.events.sensor_begin) == 4
    world.remove_body("b0")
    assert len(world.events.sensor_begin) == len(world.events.sensor_end) == 0
    assert [body.name for body in world.overlaps("gate")] == ["b1", "b2", "b3"]
    world.add_body("late", shape=[mc.Sphere(0.1), mc.Box((0.1, 0.1, 0.1), position=(0, 0, 0.3))], position=(0, 0.5, 1))
    hit = world.ray_cast((0, 0.5, 5), (0, 0, -1))
    assert hit.body.name == "late" and hit.shape == 1
    world.step()
    assert [(world.body_names[p[2]], p[4]) for p in pairs(world.events.sensor_begin)] == [("late", 0), ("late", 1)]
    assert len(world.events.sensor_end) == 0
    world.remove_bodies(["gate", "b1", "b2", "b3", "late"])
    assert world.ray_cast((0, 0, 5), (0, 0, -1)).body.name == "floor"
    assert [body.name for body in world.overlap(mc.Sphere(3.0))] == ["floor"]
    world.step(2)
    assert len(world.events.sensor_end) == 0
    kept = world.snapshot()
    world.add_body("gate", shape=mc.Box((1, 1, 1), sensor=True), kind="static", position=(0, 0, 1))
    world.add_body("b", shape=mc.Sphere(0.1), position=(0, 0, 1))
    world.step()
    assert len(world.events.sensor_begin) == 1
    world.restore(kept)
    world.step()
    assert len(world.events.sensor_begin) == 0 and len(world.body_names) == 1


def test_contacts_of_what_is_removed():
    """The contacts of others go on; those of a removed body go with it."""
    scene = floor_scene()
    for i in range(3):
        scene.add_body(f"b{i}", shape=mc.Box((0.5, 0.5, 0.5)), position=(3.0 * i, 0, 0.5))
    world = mc.World(scene)
    world.step(10)
    assert len(world.events.begin) == 3
    world.remove_body("b0")
    world.step(10)
    assert len(world.events.begin) == len(world.events.end) == 0
    world.set_shape("b2", mc.Sphere(0.5))
    world.step(10)
    assert {p[2] for p in pairs(world.events.begin)} <= {2}
    assert world.ray_cast((6.0, 0.45, 5), (0, 0, -1)).distance > 4.2
