"""Closed linkages: six-bars of Watt and Stephenson, Jansen's leg and a Hoberman ring. Let go, they stay closed, keep
their energy, and agree with an eighth of the step."""

import numpy as np
import pytest

import mcsim as mc

GROUND = None


def crossing(p, r, q, s, side):
    """Where circles about p and q in the plane meet, on the left (1) or right (-1) of p -> q."""
    d = q - p
    along = (r * r - s * s + d @ d) / (2 * np.sqrt(d @ d))
    across = np.sqrt(r * r - along**2)
    e = d / np.sqrt(d @ d)
    return p + along * e + side * across * np.array([-e[1], e[0]])


def planar(points, links, hinges, gravity=9.81):
    """points: {letter: (x, z)}; links: {name: letters of its points}; hinges: (link, link, letter)."""
    scene = mc.Scene(gravity=(0, 0, -gravity))
    at = {letter: np.array([p[0], 0.0, p[1]]) for letter, p in points.items()}
    for name, letters in links.items():
        ends = np.array([at[letter] for letter in letters])
        spread = ((ends - ends.mean(axis=0)) ** 2).sum(axis=1).mean() + 1e-3
        scene.add_body(name, mass=1.0, inertia=(spread, 1.2 * spread, 0.7 * spread), position=ends.mean(axis=0))
    for a, b, letter in hinges:
        scene.add_joint(mc.HingeJoint(a, b, at[letter], (0, 1, 0)))
    return scene


def six_bar(kind):
    """A crank rocker A B C D; the second loop hangs on its rocker (Watt) or on its coupler (Stephenson)."""
    p = {"A": np.array([0.0, 0.0]), "D": np.array([1.2, 0.0]), "B": 0.4 * np.array([np.cos(1.0), np.sin(1.0)])}
    p["C"] = crossing(p["B"], 1.1, p["D"], 0.8, 1)
    links = {"crank": "AB", "coupler": "BC", "rocker": "DC", "link": "EF", "out": "GF"}
    if kind == "watt":
        p["E"], p["G"] = p["D"] + 0.6 * np.array([np.cos(0.6), np.sin(0.6)]), np.array([2.4, 0.0])
        p["F"] = crossing(p["E"], 1.0, p["G"], 0.7, 1)
        carrier, links["rocker"] = "rocker", "DCE"
    else:
        p["E"], p["G"] = (p["B"] + p["C"]) / 2 + (0, 0.4), np.array([-0.3, 1.6])
        p["F"] = crossing(p["E"], 0.7, p["G"], 0.6, -1)
        carrier, links["coupler"] = "coupler", "BCE"
    return planar(
        p,
        links,
        [
            (GROUND, "crank", "A"),
            ("crank", "coupler", "B"),
            ("coupler", "rocker", "C"),
            (GROUND, "rocker", "D"),
            (carrier, "link", "E"),
            ("link", "out", "F"),
            (GROUND, "out", "G"),
        ],
    )


def jansen():
    """T. Jansen's eleven numbers, in decimetres."""
    a, b, c, d, e, f, g, h, i, j, k, lower, m = (
        np.array([38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0]) / 100
    )
    p = {"O": np.zeros(2), "B": np.array([-a, -lower]), "C": m * np.array([np.cos(0.3), np.sin(0.3)])}
    p["D"] = crossing(p["B"], b, p["C"], j, 1)
    p["E"] = crossing(p["B"], d, p["D"], e, 1)
    p["F"] = crossing(p["B"], c, p["C"], k, -1)
    p["G"] = crossing(p["E"], f, p["F"], g, -1)
    p["P"] = crossing(p["G"], h, p["F"], i, -1)
    links = {"crank": "OC", "j": "CD", "top": "BDE", "k": "CF", "c": "BF", "f": "EG", "foot": "GFP"}
    return planar(
        p,
        links,
        [
            (GROUND, "crank", "O"),
            ("crank", "j", "C"),
            ("j", "top", "D"),
            (GROUND, "top", "B"),
            ("crank", "k", "C"),
            ("k", "c", "F"),
            (GROUND, "c", "B"),
            ("top", "f", "E"),
            ("f", "foot", "G"),
            ("c", "foot", "F"),
        ],
    )


def hoberman(pairs=8, inner=0.8, outer=1.1):
    """A ring of angulated scissors, redundant by as many rows as there are loops; it flies apart, and free."""
    step = 2 * np.pi / pairs
    middle = (outer + inner) / (2 * np.cos(step / 2))
    points, links, hinges = {}, {}, []
    for n in range(pairs):
        for letter, r, t in (("i", inner, n + 0.5), ("o", outer, n + 0.5), ("c", middle, n)):
            points[f"{letter}{n}"] = r * np.array([np.cos(t * step), np.sin(t * step)])
        last, following = (n - 1) % pairs, (n + 1) % pairs
        links[f"A{n}"], links[f"B{n}"] = (f"i{last}", f"c{n}", f"o{n}"), (f"o{last}", f"c{n}", f"i{n}")
        hinges += [(f"A{n}", f"B{n}", f"c{n}"), (f"A{n}", f"B{following}", f"o{n}"), (f"B{n}", f"A{following}", f"i{n}")]
    return planar(points, links, hinges, gravity=0.0)


def energy_and_gap(scene, seconds, dt, spread=0.0):
    """-> (largest |change of energy| in weights times a metre, widest gap, positions)"""
    world = mc.World(scene, dt=dt)
    world.velocities[:] = spread * world.positions
    world.step()
    start, change, gap = world.energy().total, 0.0, 0.0
    for _ in range(round(seconds / dt) - 1):
        world.step()
        change = max(change, abs(world.energy().total - start))
        gap = max(gap, world.joint_errors().max())
    return change / (9.81 * world.masses.sum()), gap, world.positions.copy()


@pytest.mark.parametrize(
    "make, spread, off",
    [
        (lambda: six_bar("watt"), 0.0, 1e-3),
        (lambda: six_bar("stephenson"), 0.0, 1e-3),
        (jansen, 0.0, 1e-3),
        (hoberman, 0.5, 1e-4),
    ],
    ids=["watt", "stephenson", "jansen", "hoberman"],
)
def test_linkages_that_are_let_go(make, spread, off):
    change, gap, positions = energy_and_gap(make(), 1.5, 1 / 60, spread)
    reference = energy_and_gap(make(), 1.5, 1 / 480, spread)[2]
    assert change < 5e-4 and gap < 1e-6
    assert np.abs(positions - reference).max() < off
    assert np.abs(positions - energy_and_gap(make(), 1 / 60, 1 / 60, spread)[2]).max() > 0.1
