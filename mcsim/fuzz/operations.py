"""What can be called of a world while it runs: one table of operations, each a function that draws a call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcsim.fuzz.parts import (
    NAMES,
    Rng,
    body,
    chance,
    joint,
    material,
    motor,
    numbers,
    one_of,
    shape,
    short,
    turn,
    within,
)
from mcsim.fuzz.words import Call, Value, at, expression, made, places, replaced

MOST_BODIES, MOST_JOINTS = 12, 8
KEPT = ("s0", "s1", "s2")  # names under which snapshots are kept


@dataclass
class Present:
    """What is there to choose from, as calls are drawn."""

    rng: Rng
    world: Any
    count: int

    @property
    def reduced(self) -> bool:
        """Whether it is a ReducedWorld."""
        return hasattr(self.world, "mass_matrix")

    def body(self) -> Value:
        """A body by name or number, one time in thirty one that is gone or never was."""
        names = self.world.body_names
        if not names or chance(self.rng, 0.03):
            return one_of(self.rng, ["nobody", 1000, -1, expression("kept.get('h', 'nobody')")])
        i = int(self.rng.integers(len(names)))
        return i if chance(self.rng, 0.1) else names[i]

    def joint(self) -> Value:
        """A joint, likewise."""
        names = self.world.joint_names
        if not names or chance(self.rng, 0.03):
            return one_of(self.rng, ["no joint", 1000, -1, expression("kept.get('j', 'no joint')")])
        return one_of(self.rng, names)

    def point(self) -> list[float]:
        """Where a body may be."""
        return within(self.rng, (-1, -1, 0.2), (1, 1, 2))


Draw = Callable[[Present], Call]
OPERATIONS: dict[str, tuple[float, Draw]] = {}


def operation(weight: float) -> Callable[[Draw], Draw]:
    """A line of the table: how often, beside the others, it is drawn."""

    def add(draw: Draw) -> Draw:
        OPERATIONS[draw.__name__] = weight, draw
        return draw

    return add


# ---- steps -----------------------------------------------------------------------------------------------------------


@operation(14)
def step(p: Present) -> Call:
    return Call("step", "w.step(*)", (one_of(p.rng, [1, 1, 1, 2, 3, 8]),))


@operation(0.3)
def step_beside_threads(p: Present) -> Call:
    return Call("step beside threads", "callbacks.beside(w, lambda w: w.step({0}))", (int(p.rng.integers(1, 4)),))


@operation(0.3)
def recorded(p: Present) -> Call:
    return Call("record", "callbacks.recorded(w, {0})", (int(p.rng.integers(1, 4)),))


# ---- what moves ------------------------------------------------------------------------------------------------------


@operation(2)
def set_pose(p: Present) -> Call:
    orientation = turn(p.rng) if chance(p.rng, 0.5) else None
    return Call("set_pose", "w.set_pose(*)", (p.body(), p.point(), orientation))


@operation(2)
def set_velocity(p: Present) -> Call:
    return Call("set_velocity", "w.set_velocity(*)", (p.body(), numbers(p.rng), numbers(p.rng)))


@operation(0.5)
def set_by_handle(p: Present) -> Call:
    name, value = one_of(
        p.rng,
        [
            ("position", p.point()),
            ("velocity", numbers(p.rng)),
            ("orientation", turn(p.rng)),
            ("angular_velocity", numbers(p.rng)),
            ("gravity_scale", 0.5),
            ("linear_damping", 0.1),
            ("angular_damping", 0.1),
            ("bullet", True),
            ("user_data", "mine"),
        ],
    )
    return Call(f"body.{name} =", "w.body({0})." + name + " = {1}", (p.body(), value))


@operation(1)
def move_to(p: Present) -> Call:
    return Call("move_to", "w.move_to(*)", (p.body(), p.point(), turn(p.rng) if chance(p.rng, 0.3) else None))


@operation(2)
def push(p: Present) -> Call:
    name, size = one_of(p.rng, [("apply_force", 50.0), ("apply_impulse", 1.0), ("apply_torque", 1.0)])
    args: tuple[Value, ...] = (p.body(), numbers(p.rng, 3, size))
    if name != "apply_torque" and chance(p.rng, 0.5):
        args += (p.point(),)
    return Call(name, f"w.{name}(*)", args)


@operation(0.5)
def push_all(p: Present) -> Call:
    name = one_of(p.rng, ["apply_forces", "apply_impulses"])
    bodies = [p.body() for _ in range(2)]
    return Call(name, f"w.{name}(*)", ([numbers(p.rng) for _ in bodies], bodies))


@operation(0.5)
def write_views(p: Present) -> Call:
    return Call("write views", "callbacks.written_views(w, {0})", (one_of(p.rng, [0.5, 0.0, -1.0]),))


@operation(0.7)
def write_coordinates(p: Present) -> Call:
    name = one_of(p.rng, ["tau", "tau", "qd", "q"] if p.reduced else ["tau"])
    change = "*= 0.5" if name != "tau" else "+= {0}"
    return Call(f"write {name}", f"w.{name}[...] {change}", (short(p.rng.normal()),))


@operation(0.4)
def set_coordinates(p: Present) -> Call:
    name = one_of(p.rng, ["tau", "qd", "q"] if p.reduced else ["tau"])
    size = len(getattr(p.world, name))
    return Call(f"{name} =", f"w.{name} = {{0}}", (numbers(p.rng, size, 0.1),))


# ---- bodies and joints that come, go and change ----------------------------------------------------------------------


@operation(2)
def add_body(p: Present) -> Call:
    if len(p.world.body_names) >= MOST_BODIES:
        return remove_body(p)
    name = f"n{p.count}" if chance(p.rng, 0.9) else f"b{p.count % 4}"
    return Call("add_body", "w.add_body(*)", (), body(p.rng, name))


@operation(0.5)
def add_bodies(p: Present) -> Call:
    if len(p.world.body_names) >= MOST_BODIES:
        return remove_body(p)
    each = [{"dict": body(p.rng, f"n{p.count}.{i}")} for i in range(int(p.rng.integers(0, 3)))]
    return Call("add_bodies", "w.add_bodies(*)", (each,))


@operation(0.7)
def add_bodies_from_arrays(p: Present) -> Call:
    if len(p.world.body_names) >= MOST_BODIES:
        return remove_body(p)
    n = int(p.rng.integers(1, 4))
    one = body(p.rng, "")
    arrays: dict[str, Any] = {key: one[key] for key in ("kind", "material", "bullet", "gravity_scale") if key in one}
    arrays |= {"names": [f"a{p.count}.{i}" for i in range(n)], "shapes": [one["shape"]] * n}
    arrays["positions"] = [body(p.rng, "")["position"] for _ in range(n)]
    if "orientation" in one:
        arrays["orientations"] = one["orientation"]
    if "velocity" in one:
        arrays["velocities"] = [numbers(p.rng) for _ in range(n)]
    return Call("add_bodies", "w.add_bodies(*)", (), arrays)


@operation(1)
def remove_body(p: Present) -> Call:
    if chance(p.rng, 0.2):
        return Call("remove_bodies", "w.remove_bodies(*)", ([p.body() for _ in range(2)],))
    return Call("remove_body", "w.remove_body(*)", (p.body(),))


@operation(3)
def add_joint(p: Present) -> Call:
    names = p.world.body_names
    if len(p.world.joint_names) >= MOST_JOINTS or not names:
        return remove_joint(p)
    i = int(p.rng.integers(len(names)))
    a = None if chance(p.rng, 0.3) else one_of(p.rng, names)
    anchor = [short(float(x) if abs(x) < 1e3 else 0.0) for x in p.world.positions[i] + p.rng.uniform(-0.3, 0.3, 3)]
    new = joint(p.rng, a, names[i], anchor, f"m{p.count}", p.world.joint_names)
    if chance(p.rng, 0.1):
        return Call("add_joints", "w.add_joints(*)", ([new],))
    return Call("add_joint", "w.add_joint(*)", (new,))


@operation(1)
def remove_joint(p: Present) -> Call:
    return Call("remove_joint", "w.remove_joint(*)", (p.joint(),))


@operation(1)
def set_shape(p: Present) -> Call:
    mass = {"mass": 1.0} if chance(p.rng, 0.3) else {}
    return Call("set_shape", "w.set_shape(*)", (p.body(), shape(p.rng, chance(p.rng, 0.8))), mass)


@operation(0.7)
def set_material(p: Present) -> Call:
    return Call("set_material", "w.set_material(*)", (p.body(), material(p.rng)))


@operation(1)
def set_kind(p: Present) -> Call:
    return Call("set_kind", "w.set_kind(*)", (p.body(), one_of(p.rng, ["static", "kinematic", "dynamic"])))


@operation(1)
def set_body(p: Present) -> Call:
    given = one_of(
        p.rng,
        [
            {"density": 300.0},
            {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]},
            {"collision_mask": one_of(p.rng, [0, 1, -1])},
            {"linear_damping": 0.5},
            {"gravity_scale": -0.5},
            {"bullet": True},
            {"enabled": chance(p.rng, 0.5)},
            {"center_of_mass": [0.01, 0.0, 0.0]},
        ],
    )
    return Call("set_body", "w.set_body(*)", (p.body(),), dict(given))


@operation(0.7)
def ignore_collision(p: Present) -> Call:
    return Call("ignore_collision", "w.ignore_collision(*)", (p.body(), p.body(), chance(p.rng, 0.7)))


@operation(0.5)
def apply_wind(p: Present) -> Call:
    return Call("apply_wind", "w.apply_wind(*)", (numbers(p.rng),), {"drag": 0.5, "lift": one_of(p.rng, [0.0, 1.0])})


@operation(0.5)
def apply_buoyancy(p: Present) -> Call:
    given = {"drag": one_of(p.rng, [0.0, 0.5]), "current": numbers(p.rng)}
    return Call("apply_buoyancy", "w.apply_buoyancy(*)", (short(p.rng.uniform(-0.5, 1)),), given)


@operation(0.5)
def set_material_pair(p: Present) -> Call:
    given = one_of(p.rng, [{}, {"friction": 0.0}, {"friction": 0.9, "restitution": 0.6}, {"torsional_friction": 0.02}])
    two = one_of(p.rng, NAMES), one_of(p.rng, NAMES)
    return Call("set_material_pair", "w.set_material_pair(*)", two, dict(given))


@operation(0.5)
def set_pair(p: Present) -> Call:
    given = one_of(p.rng, [{}, {"friction": 0.0}, {"friction": 0.9, "restitution": 0.6}, {"rolling_friction": 0.02}])
    return Call("set_pair", "w.set_pair(*)", (p.body(), p.body()), dict(given))


@operation(0.5)
def keep_handles(p: Present) -> Call:
    if chance(p.rng, 0.5):
        return Call("keep handle", "kept['h'] = w.body({0})", (p.body(),))
    return Call("keep handle", "kept['j'] = w.joint({0})", (p.joint(),))


# ---- joints that are driven ------------------------------------------------------------------------------------------


@operation(1)
def set_motor(p: Present) -> Call:
    if chance(p.rng, 0.5):
        return Call("set_motor", "w.joint({0}).set_motor({1})", (p.joint(), one_of(p.rng, [motor(p.rng), None])))
    return Call("set_motor", "w.joint({0}).set_motor(velocity={1}, max_force={2})", (p.joint(), 1.0, 3.0))


@operation(0.7)
def set_limits(p: Present) -> Call:
    upper = short(p.rng.uniform(0, 0.5)) if chance(p.rng, 0.7) else None
    return Call("set_limits", "w.joint({0}).set_limits({1}, {2})", (p.joint(), short(-p.rng.uniform(0, 0.5)), upper))


@operation(0.7)
def set_spring(p: Present) -> Call:
    acts = one_of(p.rng, ["both", "pull", "push"])
    spring = made("mc.Spring", one_of(p.rng, [10.0, 1e4]), 1.0, acts=acts) if chance(p.rng, 0.7) else None
    return Call("set_spring", "w.joint({0}).set_spring({1})", (p.joint(), spring))


@operation(0.7)
def set_joint_by_handle(p: Present) -> Call:
    name = one_of(p.rng, ["tau", "motor_velocity", "motor_position", "motor_max_force"])
    return Call(f"joint.{name} =", "w.joint({0})." + name + " = {1}", (p.joint(), short(p.rng.normal())))


# ---- who moves through the world -------------------------------------------------------------------------------------


@operation(0.6)
def drive(p: Present) -> Call:
    places = [within(p.rng, (-0.3, -0.3, -0.3), (0.3, 0.3, 0.0)) for _ in range(2)]
    wheels = [made("mc.Wheel", place, 0.2, steered=steered) for place, steered in zip(places, (True, False))]
    given = (short(50.0 * p.rng.normal()), short(p.rng.uniform(-0.5, 0.5)), one_of(p.rng, [0.0, 20.0, math.inf]))
    return Call("drive", "mc.Vehicle(w, {0}, {1}).drive({2}, {3}, {4})", (p.body(), wheels, *given))


@operation(0.6)
def walk(p: Present) -> Call:
    kinematic = [name for name in p.world.body_names if p.world.body(name).kind == "kinematic"]
    who = one_of(p.rng, kinematic) if kinematic and chance(p.rng, 0.8) else p.body()
    return Call("walk", "mc.Character(w, {0}).walk({1}, {2})", (who, numbers(p.rng, 2), one_of(p.rng, [0.0, 0.0, 3.0])))


# ---- settings, filters, sleep ----------------------------------------------------------------------------------------


@operation(0.8)
def change_settings(p: Present) -> Call:
    given = one_of(
        p.rng,
        [
            {"substeps": 3},
            {"iterations": 3},
            {"hertz": 20.0},
            {"dt": 1 / 100},
            {"gravity": [0.0, 1.0, -3.0]},
            {"threads": 2},
            {"strict": True},
            {"strict": False},
            {"stop": "residual"},
            {"slop": 0.002},
            {"push_speed": None},
            {"joint_hertz": 15.0},
            {"sleep_time": 0.1},
        ],
    )
    return Call("change_settings", "w.change_settings(*)", (), dict(given))


@operation(0.3)
def set_gravity(p: Present) -> Call:
    return Call("gravity =", "w.gravity = {0}", (numbers(p.rng, 3, 5.0),))


@operation(0.6)
def contact_filter(p: Present) -> Call:
    names = ["meets_by_name", "meets_by_name", "fails_in_filter", "answers_garbage", "calls_back"]
    value = expression(f"callbacks.{one_of(p.rng, names)}") if chance(p.rng, 0.6) else None
    return Call("contact_filter =", "w.contact_filter = {0}", (value,))


@operation(0.7)
def wake(p: Present) -> Call:
    return Call("wake", "w.wake(*)", (p.body(),) if chance(p.rng, 0.5) else ())


# ---- looking ---------------------------------------------------------------------------------------------------------


@operation(1)
def look(p: Present) -> Call:
    return Call("look", "callbacks.look(w)")


@operation(2)
def query(p: Present) -> Call:
    form = made("mc.Sphere", 0.5) if chance(p.rng, 0.5) else shape(p.rng, chance(p.rng, 0.8))
    exclude = {"exclude": p.body()} if chance(p.rng, 0.3) else {}
    place, way = p.point(), numbers(p.rng)
    many: list[Value] = [[0.0, 0.0, 5.0], place]
    name, args, keywords = one_of(
        p.rng,
        [
            ("ray_cast", (place, way), {"all": chance(p.rng, 0.3), "solid": chance(p.rng, 0.5)} | exclude),
            ("ray_casts", (many, [[0.0, 0.0, -1.0], way]), exclude),
            ("overlap", (form, place, turn(p.rng)), exclude),
            ("overlaps", (p.body(),), {}),
            ("shape_cast", (form, place, turn(p.rng), way), {"max_distance": one_of(p.rng, [3.0, math.inf])} | exclude),
            ("distance", (p.body(), p.body() if chance(p.rng, 0.5) else form), {}),
        ],
    )
    return Call(name, f"w.{name}(*)", args, keywords)


@operation(0.7)
def compute(p: Present) -> Call:
    forms = ["w.index({0})", "w.dynamics", "w.system", "mc.step_derivatives(w)"]
    if p.reduced:
        forms += ["w.mass_matrix(w.q)", "w.bias_force(w.q, w.qd)", "w.to_maximal(w.q, w.qd)", "w.body_jacobian({0})"]
        forms += ["w.forward_dynamics(w.q, w.qd, w.tau)", "w.inverse_dynamics(w.q, w.qd, w.qd)"]
    form = one_of(p.rng, forms)
    return Call("compute", form, (p.body(),))


@operation(0.2)
def rollout(p: Present) -> Call:
    return Call("rollout", "mc.rollout(w, {0}, worlds={1})", (int(p.rng.integers(1, 4)), int(p.rng.integers(1, 3))))


# ---- copies and files ------------------------------------------------------------------------------------------------


@operation(1.5)
def keep(p: Present) -> Call:
    return Call("snapshot", f"kept[{one_of(p.rng, KEPT)!r}] = w.snapshot()")


@operation(1.5)
def restore(p: Present) -> Call:
    return Call("restore", "w.restore({0})", (expression(f"kept.get({one_of(p.rng, KEPT)!r})"),))


@operation(1)
def copies(p: Present) -> Call:
    form = one_of(
        p.rng,
        [
            "w = copy.deepcopy(w)",
            "w = copy.copy(w)",
            "w = pickle.loads(pickle.dumps(w))",
            "w.restore(pickle.loads(pickle.dumps(w.snapshot())))",
            "w = w.remade()",
        ],
    )
    return Call("copy", form)


@operation(0.7)
def made_anew(p: Present) -> Call:
    form = one_of(
        p.rng,
        [
            "w = type(w)(w.to_scene(), dt={0})",
            "w = type(w)(callbacks.through_file(w.to_scene()), dt={0})",
            "w = w.remade(callbacks.through_file(w.to_scene()))",
            "w = w.remade(dt={0})",
            "w = w.remade(stabilization='soft', integrator=None, dt={0})",
            *(["w.maximal(dt={0}).step(2)"] if p.reduced else []),
            "mc.ReducedWorld(w.to_scene(), dt={0}).step(2)",
            "w = type(w)(mc.load({1}), dt={0})",
        ],
    )
    ready = one_of(p.rng, ["ragdolls", "quadruped", "four_bar", "governor", "newton_cradle", "bridge"])
    return Call("make anew", form, (one_of(p.rng, [1 / 64, 1 / 100]), ready))


# ---- what is wrong on purpose ----------------------------------------------------------------------------------------

WRONG: list[Value] = [
    *(math.nan, math.inf, -math.inf, 1e308, -1e200, 1e30, 1e9, 1e-300, 0, 0.0, -1.0, 2**70, -(2**40)),
    *("", "nan", "b0", [], [1.0], [1.0, 2.0, 3.0, 4.0, 5.0], [[0.0, 0.0, 1.0]], [math.nan] * 3, [1e200, 0.0, 0.0]),
    *(None, True, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], ["a", "b", "c"], {"dict": {"x": 1.0}}),
    *map(expression, ("object()", "1j", "b'bytes'", "np.zeros(0)", "np.full(3, nan)", "np.zeros((3, 3))", "mc", "w")),
    *map(
        expression, ("np.int64(3)", "np.float32(0.5)", "float", "(lambda *a: 1)", "np.array(['x'])", "w.bodies", "{1, 2}")
    ),
]
# Numbers that are steps or counts make a call that goes on for ever, or needs all memory, if they are huge: no defect.
SMALL = {"step", "step beside threads", "record", "rollout", "make anew"}


def spoiled(rng: Rng, call: Call) -> Call:
    """A call with one part of its arguments replaced by what is likely wrong."""
    value = {"args": list(call.args), "kw": call.keywords}
    found = [path for part in ("args", "kw") for path in places(value[part], (part,)) if len(path) > 1]
    found = [path for path in found if path[-1] not in ("args", "kw", "dict", "call", "text", "name")]
    wrong = WRONG
    counts = call.name in SMALL or {"substeps", "iterations", "threads"} & call.keywords.keys()
    if counts:
        wrong = [item for item in WRONG if not (isinstance(item, (int, float)) and abs(item) > 3 and math.isfinite(item))]
    if not found or call.name.startswith(("write ", "record")):  # arrays are the user's own: what is written stands there
        return call
    path = one_of(rng, found)
    if isinstance(at(value, path), str) and isinstance(at(value, path[:-1]), dict) and "text" in at(value, path[:-1]):
        return call
    value = replaced(value, path, one_of(rng, wrong))
    return Call(call.name, call.form, tuple(value["args"]), value["kw"])


def drawn(rng: Rng, world: Any, count: int, wrong: float = 0.12) -> Call:
    """A random call on a world. wrong: in this part of the cases an argument is spoiled."""
    weights = np.array([weight for weight, _ in OPERATIONS.values()])
    draws = [draw for _, draw in OPERATIONS.values()]
    call = draws[int(rng.choice(len(draws), p=weights / weights.sum()))](Present(rng, world, count))
    return spoiled(rng, call) if chance(rng, wrong) else call
