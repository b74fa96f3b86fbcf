"""The drawings of frames in these pages: python docs/theory/figures.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon

from mcsim.core.plot_style import BLUE as C_BLUE, GREEN as C_GREEN, THEMES, VERMILLION, plot_style

HERE = Path(__file__).resolve().parent
RED, GREEN, BLUE = (THEMES["light"].colors[number] for number in (VERMILLION, C_GREEN, C_BLUE))
GREY = "#555555"
BODY_A, BODY_B = "#dfe8f3", "#f6e6d2"


def canvas(width, height, xlim, ylim):
    figure, axes = plt.subplots(figsize=(width, height), dpi=100)
    axes.set(xlim=xlim, ylim=ylim, aspect="equal")
    axes.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    return figure, axes


def arrow(axes, start, end, colour, label="", shift=(0.0, 0.0), width=1.8, style="-|>", dashed=False):
    axes.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": style,
            "color": colour,
            "lw": width,
            "shrinkA": 0,
            "shrinkB": 0,
            "linestyle": "--" if dashed else "-",
            "mutation_scale": 14,
        },
    )
    if label:
        axes.text(end[0] + shift[0], end[1] + shift[1], label, color=colour, fontsize=13, ha="center", va="center")


def dot(axes, place, label="", shift=(0.0, 0.0), colour="black"):
    axes.plot(*place, "o", color=colour, ms=6, zorder=5)
    if label:
        axes.text(place[0] + shift[0], place[1] + shift[1], label, color=colour, fontsize=13, ha="center", va="center")


def turn(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


def seen(vector):
    """A place of space on the paper: x to the lower left, y to the right, z upwards."""
    x, y, z = vector
    return np.array([y - 0.45 * x, z - 0.35 * x])


def rotation(axis, degrees):
    """Rodrigues' formula."""
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    k = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def frames():
    """World frame, body frame, position, quaternion, twist."""
    figure, axes = canvas(7, 3.9, (-1.4, 5.6), (-0.8, 3.1))
    origin, middle = np.zeros(2), np.array([3.0, 1.15])
    r = rotation((0.3, 0.5, 1.0), 40)
    half = np.array([0.75, 0.95, 0.5])
    corners = {(i, j, k): middle + seen(r @ (half * (i, j, k))) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)}
    to_eye = np.array([1.0, 0.45, 0.35])
    for axis in range(3):
        sign = 1 if r[:, axis] @ to_eye > 0 else -1
        others = [n for n in range(3) if n != axis]
        face = []
        for one, other in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            key = [0, 0, 0]
            key[axis], key[others[0]], key[others[1]] = sign, one, other
            face.append(corners[tuple(key)])
        axes.add_patch(Polygon(face, facecolor=BODY_B, edgecolor="#9c8a6e", lw=1.2))
    for direction, colour, name, shift in zip(
        np.eye(3), (RED, GREEN, BLUE), "xyz", ((-0.2, -0.1), (0.24, 0.0), (0.0, 0.24))
    ):
        arrow(axes, origin, seen(1.1 * direction), colour, rf"$\hat{{e}}_{name}$", shift)
    for column, colour, name, shift in zip(r.T, (RED, GREEN, BLUE), "xyz", ((-0.05, -0.24), (0.28, 0.0), (-0.05, 0.24))):
        arrow(axes, middle, middle + seen(1.5 * column), colour, rf"$\hat{{e}}'_{name}$", shift)
    arrow(axes, origin, middle, GREY, dashed=True, width=1.3)
    axes.text(1.55, 0.82, "$x$", color=GREY, fontsize=13, ha="center")
    dot(axes, middle)
    dot(axes, origin)
    axes.text(0.35, -0.42, "world", color=GREY, fontsize=11)
    axes.text(
        -0.9,
        2.6,
        "the quaternion $q$ turns the world's axes\ninto the body's: $\\hat{e}'_i = R(q) \\ \\hat{e}_i$",
        color=GREY,
        fontsize=11,
        ha="left",
    )
    arrow(axes, middle, middle + np.array([1.75, -0.75]), "black", "$v$", (0.15, -0.08), 2.4)
    axes.text(1.7, -0.6, "body: its centre of mass is at $x$ and moves at $v$", color=GREY, fontsize=11)
    figure.savefig(HERE / "frames.png")
    plt.close(figure)


def blob(axes, middle, size, colour, degrees):
    """A body's outline."""
    t = np.linspace(0, 2 * np.pi, 60)
    shape = np.stack(
        [np.sign(np.cos(t)) * np.abs(np.cos(t)) ** 0.55 * size[0], np.sign(np.sin(t)) * np.abs(np.sin(t)) ** 0.55 * size[1]]
    )
    axes.add_patch(Polygon((turn(degrees) @ shape).T + middle, facecolor=colour, edgecolor="#888888", lw=1.2))


def joint_frames():
    """A hinge, opened a little: frames on a and b, lever arms, the angle."""
    figure, axes = canvas(7, 3.4, (-0.6, 8.2), (-1.5, 2.75))
    a, b = np.array([1.5, 0.2]), np.array([6.2, 1.05])
    pa, pb = np.array([3.62, 0.0]), np.array([4.3, 0.52])
    blob(axes, a, (2.0, 0.95), BODY_A, 0)
    blob(axes, b, (1.85, 0.8), BODY_B, 18)
    dot(axes, a, "$x_a$", (-0.3, 0.12))
    dot(axes, b, "$x_b$", (0.32, 0.1))
    for place, angle, name in ((pa, 0, "a"), (pb, 35, "b")):
        x, y = turn(angle) @ np.array([1.0, 0.0]), turn(angle) @ np.array([0.0, 1.0])
        length = 1.05
        arrow(axes, place, place + length * x, RED, rf"$\hat{{x}}_{name}$", (0.05, -0.25) if name == "a" else (0.2, 0.16))
        arrow(axes, place, place + length * y, GREEN, rf"$\hat{{y}}_{name}$", (-0.12 if name == "a" else 0.0, 0.25))
        axes.plot(*place, "o", mfc="white", mec=BLUE, ms=11, mew=1.6, zorder=6)
        axes.plot(*place, "o", color=BLUE, ms=3.5, zorder=7)
    arrow(axes, a, pb, GREY, dashed=True, width=1.2)
    arrow(axes, b, pb, GREY, dashed=True, width=1.2)
    axes.text(2.45, 0.5, "$r_a$", color=GREY, fontsize=13)
    axes.text(5.2, 0.45, "$r_b$", color=GREY, fontsize=13)
    axes.text(3.5, -0.38, "$p_a$", fontsize=13, color=BLUE)
    axes.text(4.2, 0.17, "$p_b$", fontsize=13, color=BLUE)
    axes.text(0.1, -1.05, "body a", fontsize=11, color=GREY)
    axes.text(7.1, 0.2, "body b", fontsize=11, color=GREY)
    angles = np.radians(np.linspace(4, 33, 30))
    corner = np.array([5.25, -1.2])
    for degrees, name, shift in ((0, r"\hat{x}_a", (0.3, 0.0)), (35, r"\hat{x}_b", (0.28, 0.12))):
        end = corner + 0.95 * (turn(degrees) @ np.array([1.0, 0.0]))
        arrow(axes, corner, end, RED, f"${name}$", shift, 1.4)
    axes.plot(corner[0] + 0.6 * np.cos(angles), corner[1] + 0.6 * np.sin(angles), color="black", lw=1.2)
    axes.text(corner[0] + 0.8, corner[1] + 0.24, r"$\psi$", fontsize=13, ha="center", va="center")
    axes.text(2.9, -1.3, "$\\hat{z}_a$, $\\hat{z}_b$ towards\nthe reader", color=BLUE, fontsize=11)
    figure.savefig(HERE / "joint_frames.png")
    plt.close(figure)


def contact_frame():
    """A box over a slope: normal, tangents, gap, lever arms."""
    figure, axes = canvas(7, 4.2, (-0.4, 8.0), (-1.35, 3.7))
    lean = 8
    along, up = turn(lean) @ np.array([1.0, 0.0]), turn(lean) @ np.array([0.0, 1.0])
    corner = np.array([0.2, -0.35])
    ground = [corner, corner + 7.3 * along, corner + 7.3 * along - 1.35 * up, corner - 1.35 * up]
    axes.add_patch(Polygon(ground, facecolor=BODY_A, edgecolor="#888888", lw=1.2))
    pa = corner + 3.1 * along
    pb = pa + 0.75 * up
    tilt = turn(lean + 24)
    box = [pb, pb + tilt @ (2.5, 0), pb + tilt @ (2.5, 1.7), pb + tilt @ (0, 1.7)]
    axes.add_patch(Polygon(box, facecolor=BODY_B, edgecolor="#888888", lw=1.2))
    xb = pb + tilt @ (1.25, 0.85)
    xa = corner + 4.9 * along - 0.95 * up
    arrow(axes, xb, pb, GREY, dashed=True, width=1.2)
    arrow(axes, xa, pa, GREY, dashed=True, width=1.2)
    dot(axes, xa, "$x_a$", (0.32, -0.02))
    dot(axes, xb, "$x_b$", (0.32, 0.05))
    dot(axes, pa, "$p_a$", (-0.05, -0.28), BLUE)
    dot(axes, pb, "$p_b$", (0.3, -0.16), BLUE)
    start = pa - 1.35 * along
    arrow(axes, start, start + 1.35 * up, BLUE, r"$\hat{n}$", (-0.05, 0.22), 2.2)
    arrow(axes, start, start + 1.0 * along, RED, r"$\hat{t}_1$", (-0.1, -0.3), 2.0)
    axes.plot(*start, "o", mfc="white", mec=GREEN, ms=13, mew=1.6, zorder=6)
    axes.plot(*start, "x", color=GREEN, ms=8, mew=1.6, zorder=7)
    axes.text(start[0] - 0.38, start[1] + 0.22, r"$\hat{t}_2$", color=GREEN, fontsize=13, ha="center", va="center")
    side = pa - 0.22 * along
    arrow(axes, side, side + 0.75 * up, "black", style="<|-|>", width=1.1)
    axes.text(*(side + 0.42 * up - 0.2 * along), "$C$", fontsize=13, ha="right", va="center")
    axes.text(*(xb - 0.45 * along + 0.2 * up), "$r_b$", color=GREY, fontsize=13)
    axes.text(*(xa - 1.0 * along + 0.62 * up), "$r_a$", color=GREY, fontsize=13)
    axes.text(0.5, -1.05, "body a", fontsize=11, color=GREY)
    axes.text(*(pb + tilt @ (1.7, 1.3)), "body b", fontsize=11, color=GREY, ha="center")
    axes.text(
        -0.2,
        3.05,
        "the normal points from a to b;\nthe gap $C$ is negative\nwhere the shapes overlap",
        fontsize=11,
        color=GREY,
        va="center",
    )
    figure.savefig(HERE / "contact_frame.png")
    plt.close(figure)


if __name__ == "__main__":
    plt.style.use(plot_style())
    frames()
    joint_frames()
    contact_frame()
