"""Draws a CSV of joints.py: joint error and position error against time per step, one line an engine, a point a number
of substeps.

    python benchmarks/joints.py chain100 chain20_heavy --joint-solver rows tree --substeps 1 2 4 8 16 --repeats 5 \
        --rapier --culverin python3.12 --csv benchmarks/results/joints_substeps.csv
    python benchmarks/joints_picture.py benchmarks/results/joints_substeps.csv docs/theory/joints.png [light | dark]
"""

import csv
import sys
from math import inf

from joints import CASES
from mcsim.core.plot_style import plot_style, theme_of

TITLES = {"chain100": "chain of 100, from the horizontal", "chain20_heavy": "20 links of 1 kg, 1000 kg at the end"}
# Engine of the CSV -> its name in the picture, colour, marker.
LOOKS = {
    "mcsim tree": ("mcsim tree", "C0", "o", "-"),
    "mcsim rows": ("mcsim rows", "C1", "s", "--"),
    "rapier": ("Rapier", "C2", "^", "-."),
    "culverin": ("Jolt (culverin)", "C3", "D", ":"),
}
FLOOR = 1e-9  # [mm] what is less is drawn here


def read(path):
    """-> machine's line, {case: {engine: rows in the order of their substeps}}"""
    with open(path, encoding="utf-8") as file:
        machine = file.readline().lstrip("# ").strip()
        file.readline()
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        settings = dict(pair.split("=") for pair in row["settings"].split())
        engine = f"{row['engine'].split()[0]} {settings.get('joint_solver', '')}".strip()
        row["substeps"] = int(settings.get("substeps", 0))
        found.setdefault(row["case"], {}).setdefault(engine, []).append(row)
    for engines in found.values():
        for kept in engines.values():
            kept.sort(key=lambda row: row["substeps"])
    return machine, found


def joint_error(row):
    """[mm]"""
    return max(float(row["joint_mm"]), FLOOR) if not row["note"] else inf


def position_error(row):
    """[mm] at the last time of the reference; inf where the run did not come so far."""
    return float(row["rms_mm"].split()[-1]) if row["rms_mm"] and not row["note"] else inf


def draw(panel, engines, error, goal, theme):
    """goal: (ms, mm) of the corner to be in."""
    from matplotlib.ticker import LogLocator

    for engine, rows in engines.items():
        rows = [row for row in rows if error(row) < inf]
        if not rows:
            continue
        x, y = [float(row["ms_step"]) for row in rows], [error(row) for row in rows]
        spread = [
            [max(0.0, at - float(row["ms_fastest"])) for at, row in zip(x, rows)],
            [max(0.0, float(row["ms_slowest"]) - at) for at, row in zip(x, rows)],
        ]
        label, color, marker, dashes = LOOKS.get(engine, (engine, "C6", "x", "-"))
        panel.errorbar(x, y, xerr=spread, color=color, marker=marker, ls=dashes, elinewidth=0.8, capsize=2, label=label)
        for at, height, row in zip(x, y, rows):
            if row["substeps"]:
                panel.annotate(
                    row["substeps"], (at, height), xytext=(4, 4), textcoords="offset points", fontsize=7, color=color
                )
    panel.set(xscale="log", yscale="log")
    left, bottom = min(panel.get_xlim()[0], goal[0] / 2), min(panel.get_ylim()[0], goal[1] / 10)
    panel.fill_between([left, goal[0]], bottom, goal[1], color=theme.shade, zorder=0)
    panel.set_xlim(left=left)
    panel.set_ylim(bottom=bottom)
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter("")


def main(path, png, theme="light"):
    """Draws the cases of TITLES that the CSV has."""
    import matplotlib
    from matplotlib.figure import Figure

    machine, found = read(path)
    names = [name for name in TITLES if name in found]
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(3.6 * len(names), 5.4), layout="constrained")
        _paint(figure, machine, found, names, theme_of(theme))
        figure.savefig(png, dpi=140)
    print(f"wrote {png}")


def _paint(figure, machine, found, names, theme):
    panels = figure.subplots(2, len(names), squeeze=False)
    for column, name in enumerate(names):
        case = CASES[name]
        draw(panels[0][column], found[name], joint_error, (case.ms, case.joint_mm), theme)
        draw(panels[1][column], found[name], position_error, (case.ms, case.rms_mm[-1]), theme)
        panels[0][column].set(title=TITLES[name])
        panels[1][column].set(xlabel="ms a step of 1/60 s")
    panels[0][0].set(ylabel="largest joint error of any step [mm]")
    panels[1][0].set(ylabel="rms position error, last reference time [mm]")
    panels[0][0].legend()
    figure.suptitle(f"{machine}.\nNumbers: substeps. Shaded: what was to be reached.", fontsize=7, fontweight="normal")


if __name__ == "__main__":
    main(*sys.argv[1:4])
