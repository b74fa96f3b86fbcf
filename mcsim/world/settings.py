"""The keywords of World: how those follow that are left alone, their checks, and what the kernels are told of them."""

from __future__ import annotations  # signatures read as they are written here

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.processors import processors
from mcsim.scene import Body, Scene
from mcsim.scene.checks import FieldError, choose, show
from mcsim.solve import SOLVERS
from mcsim.solve.problems.impacts import LAWS, ORDERS
from mcsim.state.arrays import BodyArrays
from mcsim.world.capabilities import (
    COMPLIANT_LAWS,
    CONTACT_TABLE,
    EVENT_INTEGRATORS,
    FRICTION_POINTS,
    FRICTIONS,
    IMPLICIT,
    INTEGRATOR_TABLE,
    INTEGRATORS,
    LABORATORY_TABLE,
    MOST_SUBSTEPS,
    POSITION_INTEGRATORS,
    REDUCED_INTEGRATORS,
    REDUCED_STABILIZATIONS,
    RELAXING,
    SOLVER_TABLE,
    STABILIZATION_TABLE,
    check,
    check_given,
    check_goes,
    check_model,
    of_bounds,
    solver_of,
)

MOST_SWEEPS = 1000  # where a residual ends them
OF_PROBLEMS = 2  # Settings.solver: neither of solve.SOLVERS
USUAL_SUBSTEPS = 4

# How stiff soft rows are: as stiff as the substep bears, so that they converge to rigid ones as h does to 0. Joints: a
# quarter of 1 / h. Contacts: what sway of a tall stack the sweeps hardly touch is held by the warm impulses alone; with
# c the compliance, b = h bias_rate and N sweeps a substep, in two halves each counted twice, it is stable while N c > b,
# that is (h w)^2 < N (docs/theory/stabilization.md). So hertz grows with the root of `iterations`, up to four of them.
HERTZ_PER_RATE = 0.25
CONTACT_HERTZ_PER_RATE = {True: 0.26, False: 0.23}  # forces in two halves, or in whole kicks
MOST_HERTZ_ITERATIONS = 4
# Runge-Kutta's own: the rates of its stabilizations' feedback, the same at any small step, since rates that grow as 1 / h
# cost an order: joint_hertz by default [Hz], but at most this part of 1 / h, and the time in which "baumgarte" removes
# its part, but at least h [s]; and the largest h |eigenvalue| of the feedback (classical Runge-Kutta is stable up to 2.785
# on the real axis).
RK4_HERTZ = 2.0
RK4_HERTZ_PER_RATE = 0.03
RK4_BAUMGARTE_TIME = 1.0 / 60.0
RK4_FASTEST = 2.5

# The first step has no impulses to begin with: so many times as many sweeps, where their number is left alone. Of 300
# arches of up to 31 stones that can stand all do from 32 times on, one of 31 at 1.1 times the least thickness from 64 on;
# 9 fell with the sweeps of any other step (docs/accuracy.md).
FIRST_STEP = 64

# Lengths and speeds that are not given follow from the thickness t of the thinner of two shapes, or the size r of a body
# (how far it reaches from its centre), and from what gravity g does in a step: no scene has another length or speed in it.
#   speculative_distance    min(NEAR_FALLS g dt^2, NEAR_MOST t), at least NEAR_PART t
#   slop                    SLOP_PART t
#   restitution_threshold   RESTITUTION_FALLS g dt
#   push_speed              PUSH_RATE t + PUSH_FALLS g h: a contact carries no more than m a_2 times that in a substep
#                           (theory/stabilization.md), so it must grow with the weight that a substep brings. Joints and
#                           limits, which are rigid, carry any load: CLOSING_RATE l + sqrt(CLOSING_HEIGHT g l), and angles
#                           at that over l, with l twice the longest lever, or radius of gyration, of those of the joint's
#                           two bodies that move (state/arrays.py, measure_joints)
#   sleep_speed             min(SLEEP_FALLS g dt, SLEEP_PART sqrt(g r)), at least SLEEP_RATE r
# For a cube of 1 m at dt = 1/60 s, h = dt / 4: 20 mm, 0.5 mm, 0.49 m/s, 3 m/s, 10 mm/s.
# In a substep of the default number nothing that gravity moves alone may have this part of its thickness as g h^2:
# none falls by more than a hundredth of it from rest. What is smaller needs substeps in proportion to sqrt(t) in any
# case: what is left to
# sweeps asks for n^2 g h^2 / t of them (effort_of), n bodies on each other (theory/stabilization.md).
FALL_PART = 0.02
NEAR_PART, NEAR_FALLS, NEAR_MOST = 0.02, 7.34, 0.25
SLOP_PART = 0.0005
# How far a contact's load may press a spring of (h w)^2 = 1 in before more is asked of it, by size: effort_of.
LOAD = 0.4
# And what is small enough for that, in parts of g h^2: 0.2 m at h = 1/240 s.
SMALL = 1200.0
# How many times the way that outer forces would drive it in a substep goes into what need be no stiffer
# (stiffness_of_pull): 5 cm at h = 1/240 s.
PRESSED = 300.0
# A sweep may leave changes of velocities undone up to SETTLE_FALLS g h; where nothing has a weight, up to SETTLE_PART t
# / h: contacts, whose springs are as stiff as the substep bears, hold against a velocity that is left after about v h,
# so that is a depth by size. Beside a weight it would let finer substeps leave more. Contacts of bodies that all they
# touch outweighs far, and which it changes more, are swept again in the relax pass, at most MORE_SWEEPS times
# (docs/theory/si.md).
# For a cube of 1 m at h = 1/240 s: 0.8 mm/s, without gravity 2 mm/s.
SETTLE_FALLS, SETTLE_PART = 0.02, 1.0 / 120_000.0
MORE_SWEEPS = 128
RESTITUTION_FALLS = 3.0
PUSH_RATE, PUSH_FALLS = 2.0, 24.5  # [1/s], 1
CLOSING_RATE, CLOSING_HEIGHT = 3.0, 0.01  # [1/s], 1
SLEEP_RATE, SLEEP_FALLS, SLEEP_PART = 0.01, 0.06, 0.014  # [1/s], 1, 1


def check_settings(keywords: Mapping[str, Any], scene: Scene) -> dict[str, Any]:
    """The keywords of World, all of them, checked; those left at None resolved. -> a new dict"""
    try:
        return _checked(dict(keywords), scene)
    except FieldError as error:
        raise SceneError(f"World: {error}") from None


def _checked(k: dict[str, Any], scene: Scene, reduced: bool = False, smooth: bool = False) -> dict[str, Any]:
    """smooth: accelerations hold joints closed, whatever the name of the integrator."""
    check(k, "dt")
    events = _check_events(k)
    choose(k["integrator"], EVENT_INTEGRATORS if events else INTEGRATORS, "integrator")
    if k["substeps"] is None:
        k["substeps"] = 1 if k["contact"] == "event" else _usual_substeps(k, scene)
    check(k, "substeps")
    check_given(k, "joint_solver")
    exact = _check_laboratory(k)
    if k["stop"] is None:
        k["stop"] = "residual" if exact or k["tolerance"] is not None else "iterations"
    if k["tolerance"] is None:
        k["tolerance"] = 1e-6
    check(k, "stop", "tolerance")
    check_goes(k, "solver", solver_of(k).goes, "joint_solver")
    check(k, "geometric_stiffness")
    if k["geometric_stiffness"] > 0.0:
        warnings.warn(
            "geometric_stiffness has no effect any more: joint_solver='tree' keeps the energy of articulations "
            "under strain by itself (docs/theory/tree.md); leave it out",
            DeprecationWarning,
            stacklevel=5,
        )
    k["geometric_stiffness"] = 0.0
    check(k, "stabilization", "friction", "friction_points", "compliant_law")
    check_goes(k, "contact", CONTACT_TABLE[k["contact"]].goes, "integrator", "stabilization", "solver")
    if k["contact"] == "compliant":
        k["friction_points"] = "point"
    own_iterations = k["iterations"] is None
    if own_iterations:
        entry = STABILIZATION_TABLE[of_bounds(k)]
        k["iterations"] = CONTACT_TABLE[k["contact"]].sweeps or (entry.reduced_sweeps if reduced else entry.sweeps)
    check(k, "iterations", "position_rounds", "baumgarte", "damping_ratio", "joint_damping_ratio")
    check_given(k, "slop", "restitution_threshold", "speculative_distance", "push_speed", "joint_push_speed")
    h = k["dt"] / k["substeps"]
    if h < 1e-12:
        raise FieldError("dt", f"divided by substeps is {h:.3g} s; it must be at least 1e-12 s")
    if k["hertz"] is None:
        k["hertz"] = _usual_hertz(k)
    smooth = smooth or INTEGRATOR_TABLE[k["integrator"]].smooth
    if k["joint_hertz"] is None:
        fed_back = smooth and k["stabilization"] == "soft"
        k["joint_hertz"] = min(RK4_HERTZ, RK4_HERTZ_PER_RATE / h) if fed_back else HERTZ_PER_RATE / h
    _settle_iterations(k, own_iterations, exact)
    check(k, "hertz", "joint_hertz", "reference_tolerance", "reference_creep")
    integrator = INTEGRATOR_TABLE[k["integrator"]]
    check_goes(k, "integrator", integrator.goes, "joint_solver", "stabilization", "solver")
    if smooth and not INTEGRATOR_TABLE[k["integrator"]].tolerant:
        _check_feedback(k, h)
    if not isinstance(k["sleep"], (bool, np.bool_)):
        raise FieldError("sleep", f"must be True or False, or a Sleep, got {show(k['sleep'])}")
    k["sleep"] = bool(k["sleep"]) and integrator.sleeps and CONTACT_TABLE[k["contact"]].sleeps
    check(k, "sleep_time", "threads", "strict")
    check_given(k, "sleep_speed")
    return k


def _settle_iterations(k: dict[str, Any], own_iterations: bool, exact: bool) -> None:
    """How many sweeps there are beside the usual ones. own_iterations: whether their number was left alone."""
    more = FIRST_STEP if own_iterations else 1
    if own_iterations and (exact or k["stop"] == "residual"):
        k["iterations"], more = LABORATORY_TABLE[k["solver"]].most if exact else MOST_SWEEPS, 1
    if k["first_iterations"] is None:
        k["first_iterations"] = more * k["iterations"]
    if k["more_iterations"] is None:
        k["more_iterations"] = MORE_SWEEPS if k["stop"] == "iterations" else 0
    if k["least_iterations"] is None:
        k["least_iterations"] = 1 if own_iterations and k["stop"] == "iterations" else k["iterations"]
    check(k, "first_iterations", "more_iterations", "least_iterations")


def _usual_substeps(k: Mapping[str, Any], scene: Scene) -> int:
    """USUAL_SUBSTEPS, or as many as FALL_PART asks for. What joints hold does not fall freely, and springs of the
    user's have a time of their own."""
    if k["contact"] != "rigid" or k["integrator"] != "semi_implicit":
        return USUAL_SUBSTEPS
    held = {name for joint in scene.joints for name in (joint.a, joint.b)}
    falls = [
        abs(body.gravity_scale) / max(shape.thickness for shape in body.shapes if not shape.sensor)
        for body in scene.bodies
        if body.kind == "dynamic" and body.name not in held and not all(shape.sensor for shape in body.shapes)
    ]
    most = max(falls, default=0.0) * _length(scene.gravity) * k["dt"] * k["dt"] / FALL_PART
    return math.ceil(min(math.sqrt(most), MOST_SUBSTEPS)) if most > USUAL_SUBSTEPS * USUAL_SUBSTEPS else USUAL_SUBSTEPS


def _check_laboratory(k: dict[str, Any]) -> bool:
    """Whether a solver of the laboratory is asked for; what goes with it, resolved."""
    if k["solver"] not in SOLVER_TABLE:
        k["contact_model"] = k["contact_model"] or "ncp"
    check_model(k)
    if solver_of(k).code is not None:
        return False
    check_goes(k, "integrator", INTEGRATOR_TABLE[k["integrator"]].goes, "solver")
    k["friction"], k["friction_points"] = "cone", "point"
    k["joint_solver"] = k["joint_solver"] or "rows"
    return True


def _check_events(k: dict[str, Any]) -> bool:
    """Whether contacts are events; the integrator that is meant where none is named."""
    check(k, "contact")
    events = k["contact"] == "event"
    # The impacts of rigid contacts are one after the other, what closes at the same time at once (solve/_impact.pyx).
    k["impacts"] = k["impacts"] or (ORDERS[0] if events else "sequential")
    check(k, "impacts")
    check_goes(k, "contact", CONTACT_TABLE[k["contact"]].goes, "impacts", "restitution_law")
    if k["contact"] != "compliant":
        k["restitution_law"] = k["restitution_law"] or LAWS[-1]
        check(k, "restitution_law")
    if k["integrator"] is None:
        k["integrator"] = EVENT_INTEGRATORS[0] if events else "semi_implicit"
    check(k, "solver")
    if events:
        check_goes(k | {"contact_model": None}, "contact", CONTACT_TABLE["event"].goes, "solver")
    return events


def check_reduced_settings(keywords: Mapping[str, Any], scene: Scene) -> dict[str, Any]:
    """The keywords of ReducedWorld that a step reads, checked, with those of World that it has not at what they mean
    here. -> a new dict"""
    k = dict(keywords)
    try:
        events = _check_events(k)
        choose(k["integrator"], EVENT_INTEGRATORS if events else REDUCED_INTEGRATORS, "integrator")
        choose(k["stabilization"], REDUCED_STABILIZATIONS, "stabilization")
        choose(k["solver"], ("si", *LABORATORY_TABLE), "solver")
        if k["solver"] in SOLVER_TABLE and k["solver"] != "si":
            k["contact_model"] = k["contact_model"] or "ncp"  # here it is the laboratory's
        checked = _checked(
            k | {"integrator": None if events else "semi_implicit", "joint_solver": "rows", "position_rounds": 1},
            scene,
            reduced=True,
            smooth=INTEGRATOR_TABLE[k["integrator"]].smooth,
        )
        checked["sleep"] = checked["sleep"] and INTEGRATOR_TABLE[k["integrator"]].sleeps
        return checked | {"integrator": k["integrator"]}
    except FieldError as error:
        raise SceneError(f"ReducedWorld: {error}") from None


def check_damping(described: Sequence[Body], bodies: BodyArrays, h: float) -> None:
    """Damping rates of the bodies (BodyArrays) that Runge-Kutta bears at substeps of h. described: their names."""
    fastest = np.maximum(bodies.linear_damping, bodies.angular_damping)
    if fastest.max(initial=0.0) * h > RK4_FASTEST:
        i = int(np.argmax(fastest))
        raise SceneError(
            f"World: body {described[i].name!r} is damped at {fastest[i]:.4g} 1/s, too fast for "
            f'integrator="rk4" at substeps of {h:.4g} s: pass at most {RK4_FASTEST / h:.4g}, a '
            "smaller dt, or another integrator, whose damping is implicit"
        )


def _check_feedback(k: Mapping[str, Any], h: float) -> None:
    """Feedback at joints that Runge-Kutta bears."""
    z = k["joint_damping_ratio"]
    fastest = 2.0 * math.pi * k["joint_hertz"] * (z + math.sqrt(max(z * z - 1.0, 0.0)))
    if k["stabilization"] == "soft" and fastest * h > RK4_FASTEST:
        raise FieldError(
            "joint_hertz",
            f"of {k['joint_hertz']:.4g} with joint_damping_ratio {z:.4g} is too fast for "
            f'integrator="rk4" at substeps of {h:.4g} s: pass at most '
            f"{k['joint_hertz'] * RK4_FASTEST / (fastest * h):.4g}, or a smaller dt",
        )


def feedback_gains(k: Mapping[str, Any]) -> tuple[float, float]:
    """-> (rate_gain [1/s], error_gain [1/s^2]) of the joints' errors in accelerations, J a = -J' v - rate_gain J v -
    error_gain C: Baumgarte's 2 a and a^2 with a = baumgarte / max(h, 1/60 s), or 2 z w and w^2 of "soft", w = 2 pi
    joint_hertz."""
    if not INTEGRATOR_TABLE[k["integrator"]].smooth:
        return 0.0, 0.0
    if k["stabilization"] == "baumgarte":
        a = k["baumgarte"] / max(k["dt"] / k["substeps"], RK4_BAUMGARTE_TIME)
        return 2.0 * a, a * a
    if k["stabilization"] == "soft":
        w = 2.0 * math.pi * k["joint_hertz"]
        return 2.0 * k["joint_damping_ratio"] * w, w * w
    return 0.0, 0.0


def of_accelerations(k: Mapping[str, Any]) -> dict[str, float]:
    """Those of the Settings record that integrators over accelerations read."""
    rate_gain, error_gain = feedback_gains(k)
    tolerant = INTEGRATOR_TABLE[k["integrator"]].tolerant
    own = {name: k[name] if tolerant else 0.0 for name in ("reference_tolerance", "reference_creep")}
    return own | {"implicit": IMPLICIT.get(k["integrator"], 0), "rate_gain": rate_gain, "error_gain": error_gain}


def joint_warm_start(k: Mapping[str, Any]) -> float:
    """How much of a joint's last impulse a substep starts with.

    Position feedback through impulses that are warm started in full is unstable for modes that the sweeps hardly touch:
    w < 1 / (1 + b) keeps all poles inside the unit circle, whatever part of a residual the sweeps leave, with b = beta
    under "baumgarte" and half of it under "soft" (docs/theory/stabilization.md, Warm joints). What is taken has the same
    distance from that bound as the bound has from 1. Where forces act in two halves and no relax pass follows, joints
    bear the first half alone.
    """
    if k["stabilization"] == "soft":
        hw = 2.0 * math.pi * k["joint_hertz"] * k["dt"] / k["substeps"]
        return 1.0 / (1.0 + hw / (2.0 * k["joint_damping_ratio"] + hw))
    if k["contact"] == "compliant":
        return 0.5
    return 1.0 / (1.0 + 2.0 * k["baumgarte"]) if k["stabilization"] == "baumgarte" else 1.0


def joint_tree(k: Mapping[str, Any]) -> int:
    """Settings.joint_tree: 0 rows, 1 the direct solver, 2 the direct solver unless a scene's loops make it too costly
    (the default; solver="pgs" has rows alone, the other integrators direct solvers of their own)."""
    if k["integrator"] in POSITION_INTEGRATORS:
        return 0
    if k["contact_model"] is not None:
        return 0
    if k["joint_solver"] is None:
        return 2 if k["solver"] == "si" and not INTEGRATOR_TABLE[k["integrator"]].smooth else 0
    return int(k["joint_solver"] == "tree")


def sleep_settings(
    k: Mapping[str, Any], gravity: Iterable[float], bodies: BodyArrays
) -> tuple[np.ndarray, float, np.ndarray]:
    """What constraints/_islands.pyx is told of the bodies (BodyArrays): from which speeds down they are still (n,) [m/s],
    for what time they must be [s], and from no farther on than what distances they have contacts (n,) [m]."""
    sizes = bodies.sizes()
    if not k["sleep"]:
        speeds = np.zeros(bodies.count)
    elif k["sleep_speed"] is not None:
        speeds = np.full(bodies.count, k["sleep_speed"])
    else:
        g = _length(gravity)
        speeds = np.maximum(SLEEP_RATE * sizes, np.minimum(SLEEP_FALLS * g * k["dt"], SLEEP_PART * np.sqrt(g * sizes)))
    near = _nearness(k, gravity)
    thickness = 2.0 * bodies.reach
    with np.errstate(invalid="ignore"):
        nearest = np.maximum(near["part"] * thickness, np.minimum(near["distance"], near["most"] * thickness))
    nearest[nearest != nearest] = np.inf
    return speeds, k["sleep_time"], nearest


def _length(gravity: Iterable[float]) -> float:
    x, y, z = map(float, gravity)
    return math.sqrt(x * x + y * y + z * z)


def _nearness(k: Mapping[str, Any], gravity: Iterable[float]) -> dict[str, float]:
    """The Nearness record: from which separation on pairs have contacts."""
    if k["speculative_distance"] is not None:
        return {"distance": k["speculative_distance"], "most": math.inf, "part": 0.0}
    return {"distance": NEAR_FALLS * _length(gravity) * k["dt"] * k["dt"], "most": NEAR_MOST, "part": NEAR_PART}


def _usual_hertz(k: Mapping[str, Any]) -> float:
    """Of contacts, where the user names none."""
    soft = k["contact"] == "compliant" or k["stabilization"] == "soft" and k["integrator"] == "semi_implicit"
    rate = CONTACT_HERTZ_PER_RATE[soft]
    return rate * math.sqrt(min(k["iterations"], MOST_HERTZ_ITERATIONS)) / (k["dt"] / k["substeps"])


def in_halves(k: Mapping[str, Any]) -> bool:
    """Whether forces act in two halves of a substep, before its drift and after it."""
    return k["contact"] == "compliant" or k["stabilization"] in RELAXING and k["integrator"] == "semi_implicit"


def _follows_loads(k: Mapping[str, Any]) -> bool:
    """Whether contacts may be stiffer where they bear much: not where springs are as stiff as the user says."""
    return k["hertz"] == _usual_hertz(k) and k["stabilization"] == "soft"


def _load_scale(k: Mapping[str, Any], gravity: Iterable[float]) -> float:
    """wide/_blocks.pxd, effort_of: 1 / (LOAD g) [s^2/m], or 0 where springs are as stiff as the user says."""
    g = _length(gravity)
    return 1.0 / (LOAD * g) if _follows_loads(k) and g > 0.0 else 0.0


def _lengths_and_speeds(k: Mapping[str, Any], gravity: Iterable[float]) -> dict[str, Any]:
    """Those settings that follow from the bodies' sizes and from gravity where they are not given: `x` and `x_part` make
    x + x_part * size, size that of the thinner one of two shapes."""
    g = _length(gravity)
    push = k["push_speed"]
    given = push is not None
    return {
        "slop": 0.0 if k["slop"] is None else k["slop"],
        "slop_part": SLOP_PART if k["slop"] is None else 0.0,
        "restitution_threshold": (
            RESTITUTION_FALLS * g * k["dt"] if k["restitution_threshold"] is None else k["restitution_threshold"]
        ),
        "push_speed": push if given else PUSH_FALLS * g * k["dt"] / k["substeps"],
        "push_rate": 0.0 if given else PUSH_RATE,
        "joint_push": (k["joint_push_speed"], CLOSING_RATE, CLOSING_HEIGHT * g),
        "speculative": _nearness(k, gravity),
    }


def workers(threads: int) -> int:
    """How many threads really work: no more than there are processors, since results do not depend on it."""
    return min(threads, processors())


def kernel_settings(k: Mapping[str, Any], gravity: Iterable[float]) -> dict[str, Any]:
    """The Settings record of ``state/_settings.pxd`` as a dict, from checked keywords."""
    accelerations = of_accelerations(k)
    projects = k["stabilization"] == "projection"
    k = {**k, "stabilization": of_bounds(k)}
    stabilization = STABILIZATION_TABLE[k["stabilization"]]
    h = k["dt"] / k["substeps"]
    return {
        "dt": k["dt"],
        "h": h,
        "substeps": k["substeps"],
        "iterations": k["iterations"],
        "first_iterations": k["first_iterations"],
        "more_iterations": k["more_iterations"],
        "least_iterations": k["least_iterations"],
        "settle_speed": SETTLE_FALLS * _length(gravity) * h,
        "settle_rate": 0.0 if _length(gravity) > 0.0 else SETTLE_PART / h,
        "stabilization": stabilization.code,
        "relaxes": int(stabilization.relaxes),
        "displaces": int(stabilization.displaces),
        "solver": SOLVERS.get(k["solver"], OF_PROBLEMS),
        "friction_cone": FRICTIONS[k["friction"]],
        "friction_central": FRICTION_POINTS[k["friction_points"]],
        "joint_tree": joint_tree(k),
        "gravity": dict(zip("xyz", (float(x) for x in gravity))),
        "first_kick": 0.5 if in_halves(k) else 1.0,
        "baumgarte": k["baumgarte"],
        **_lengths_and_speeds(k, gravity),
        "contact_hertz": k["hertz"],
        "contact_damping_ratio": k["damping_ratio"],
        "joint_hertz": k["joint_hertz"],
        "joint_damping_ratio": k["joint_damping_ratio"],
        "joint_warm_start": joint_warm_start(k),
        "restitution_law": LAWS.index(k["restitution_law"] or LAWS[-1]),
        "position_rounds": k["position_rounds"],
        "time": 0.0,
        "integrator": INTEGRATORS.get(k["integrator"], 0),
        "smooth_projection": int(projects),
        **accelerations,
        "threads": workers(k["threads"]),
        "user_rows": 0,
        "load_scale": _load_scale(k, gravity),
        "load_small": SMALL * _length(gravity) * h * h,
        "load_press": PRESSED * h * h if _follows_loads(k) else 0.0,
        "compliant": int(k["contact"] == "compliant"),
        "hunt_crossley": COMPLIANT_LAWS[k["compliant_law"]],
    }
