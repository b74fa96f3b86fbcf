"""docs/accuracy.md between its markers, and its pictures, from the tables of benchmarks/truth.py."""

import itertools

import numpy as np

from families import FAMILIES, GROUPS
from families.family import Choice, Log, WholeLog
from folding import folded
from mcsim.core.extras import require_matplotlib
from mcsim.core.plot_style import BLUE, VERMILLION, plot_style, theme_of

BEGIN, END = "<!-- begin: made by benchmarks/truth.py -->", "<!-- end -->"
PANELS = 4  # parameters in a picture
LOWEST, HIGHEST = 1e-6, 1e6
PARTS = 3  # of a range, where it is told where draws fail
TELLING = 0.15  # shares of failing draws that differ by so much are told
SHOWN = 3  # draws that are told in full


def write_page(path, tables, drawn):
    """tables: {family: [(parameters, errors)]}; drawn: of which families pictures are to be made anew."""
    text = path.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END, 1)[1]
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name in drawn:
        if name in tables:
            draw(FAMILIES[name], tables[name], folder / f"{name}.png")
    path.write_text(head + BEGIN + "\n\n" + body(tables, folder.name) + "\n" + END + tail, encoding="utf-8")


def body(tables, folder):
    """The generated part."""
    lines = [
        "## At a glance",
        "",
        "How many draws are within their bounds:",
        "",
        "| family | in the domain | worst error there, by its bound | in known shortfalls | beyond the domain |",
        "|---|---|---|---|---|",
    ]
    for name, rows in tables.items():
        lines.append(glance(FAMILIES[name], rows))
    for title, module in GROUPS.values():
        lines += ["", f"## {title}"]
        for family in module.FAMILIES:
            if family.name in tables:
                lines += ["", *section(family, tables[family.name], folder)]
    return "\n".join(lines) + "\n"


def number(value):
    return "fails" if np.isinf(value) else f"{value:.2g}"


def shares(family, rows):
    """-> {place: [excess of each draw there]}"""
    found = {"domain": [], "shortfall": [], "outside": []}
    for parameters, errors in rows:
        found[family.place(parameters)].append(family.excess(errors))
    return found


def of(excesses):
    """How many are within the bounds."""
    return f"{sum(x <= 1 for x in excesses)} of {len(excesses)}" if excesses else "–"


def glance(family, rows):
    found = shares(family, rows)
    worst = number(max(found["domain"])) if found["domain"] else "–"
    return (
        f"| [{family.title}](#{family.name}) | {of(found['domain'])} | {worst} | {of(found['shortfall'])} | "
        f"{of(found['outside'])} |"
    )


# ---- a family --------------------------------------------------------------------------------------------------------


def section(family, rows, folder):
    lines = [
        f'### <a id="{family.name}"></a>{family.title}',
        "",
        *folded(f"`{family.name}`, {len(rows)} draws. {family.truth}"),
        "",
        *folded(f"![{family.title}: errors by their bounds against the parameters]({folder}/{family.name}.png)"),
        "",
        "| parameter | tried | bounds stated for |",
        "|---|---|---|",
    ]
    for name, part in family.ranges.items():
        lines.append(f"| `{name}` | {part} | {family.domain.get(name, 'all of it')} |")
    lines += [
        "",
        "| error | bound | median in the domain | worst in the domain | worst beyond it |",
        "|---|---|---|---|---|",
    ]
    places = [family.place(parameters) for parameters, _ in rows]
    for name, error in family.errors.items():
        inside, beyond = (
            [errors[name] for place, (_, errors) in zip(places, rows) if (place == "domain") == wanted]
            for wanted in (True, False)
        )
        cells = [
            number(np.median(inside)) if inside else "–",
            *(number(max(part)) if part else "–" for part in (inside, beyond)),
        ]
        what = f"{error.what} [{error.unit}]" if error.unit else error.what
        lines.append(f"| {what} | {error.bound:g} | {' | '.join(cells)} |")
    found = shares(family, rows)
    lines += ["", f"Within all bounds: in the domain {of(found['domain'])}, beyond it {of(found['outside'])}."]
    for known in family.shortfalls:
        lines += ["", *folded(shortfall(family, known, rows))]
    lines += failing(family, rows)
    lines += breaking(family, rows)
    return lines


def shortfall(family, known, rows):
    where = ", ".join(f"`{name}` {part}" for name, part in known.where.items()) or "everywhere"
    there = [
        family.excess(errors)
        for parameters, errors in rows
        if family.within(parameters, family.domain) and family.within(parameters, known.where)
    ]
    return f"**Falls short today** ({where}; {of(there)} within the bounds): {known.why}"


def failing(family, rows):
    """The worst draws in the domain, so that they can be run again."""
    bad = sorted(
        (
            (family.excess(errors), parameters)
            for parameters, errors in rows
            if family.place(parameters) == "domain" and family.excess(errors) > 1
        ),
        key=lambda pair: -pair[0],
    )
    if not bad:
        return []
    return [
        "",
        f"Beyond a bound inside the domain, {len(bad)} draws" + (", the worst:" if len(bad) > SHOWN else ":"),
        "",
    ] + [
        line
        for excess, parameters in bad[:SHOWN]
        for line in folded(
            f"- {number(excess)} times its bound: `{', '.join(f'{name}={value!r}' for name, value in parameters.items())}`",
            "  ",
        )
    ]


def groups_of(part, values):
    """-> [(words, mask)]: the choices, or parts of the range of the drawn values."""
    if isinstance(part, Choice):
        return [(str(choice), np.array([value == choice for value in values])) for choice in part]
    values = np.array(values, float)
    edges = [part.at(k / PARTS) for k in range(PARTS + 1)]
    return [
        (f"{low:.2g}–{high:.2g}", (values >= low) & ((values < high) if k < PARTS - 1 else (values <= high)))
        for k, (low, high) in enumerate(itertools.pairwise(edges))
    ]


def breaking(family, rows):
    """Where draws are beyond a bound: shares by parts of those parameters that tell most."""
    bad = np.array([family.excess(errors) > 1 for _, errors in rows])
    if not bad.any():
        return []
    told = []
    for name, part in family.ranges.items():
        groups = groups_of(part, [parameters[name] for parameters, _ in rows])
        parts = [(words, float(bad[mask].mean())) for words, mask in groups if mask.sum() >= 5]
        spread = max(share for _, share in parts) - min(share for _, share in parts) if parts else 0.0
        if spread >= TELLING:
            told.append((spread, f"- `{name}`: " + ", ".join(f"{words} {100 * share:.0f} %" for words, share in parts)))
    return [
        "",
        "Share of all draws beyond a bound, by what tells most:"
        if told
        else f"Of all draws {100 * bad.mean():.0f} % are beyond a bound, whatever the parameters.",
        *([""] if told else []),
        *(line for _, item in sorted(told, key=lambda pair: -pair[0])[:PANELS] for line in folded(item, "  ")),
    ]


# ---- pictures --------------------------------------------------------------------------------------------------------


def telling(family, rows):
    """The parameters on which errors depend most: by how much the shares of failing draws in their parts differ, and
    the mean logarithms."""
    excess = np.array([family.excess(errors) for _, errors in rows])
    logs, weights = np.log10(np.clip(excess, LOWEST, HIGHEST)), {}
    for name, part in family.ranges.items():
        masks = [mask for _, mask in groups_of(part, [p[name] for p, _ in rows]) if mask.any()]
        weights[name] = np.ptp([(excess[mask] > 1).mean() for mask in masks]) + 0.1 * np.ptp(
            [logs[mask].mean() for mask in masks]
        )
    return sorted(weights, key=weights.get, reverse=True)[:PANELS]


def draw(family, rows, path):
    """The largest error by its bound against the parameters that matter most; a point a draw."""
    require_matplotlib()
    colors = theme_of("light")
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    names = telling(family, rows)
    excess = np.clip([family.excess(errors) for _, errors in rows], LOWEST, HIGHEST)
    places = np.array([family.place(parameters) for parameters, _ in rows])
    jitter = np.random.default_rng(0)
    with rc_context(plot_style()):
        figure = Figure(figsize=(1.9 * len(names) + 0.5, 2.1), layout="constrained")
        panels = figure.subplots(1, len(names), sharey=True, squeeze=False)
        for panel, name in zip(panels[0], names):
            part = family.ranges[name]
            values = [parameters[name] for parameters, _ in rows]
            if isinstance(part, Choice):
                values = np.array([part.index(value) for value in values]) + jitter.uniform(-0.25, 0.25, len(rows))
                panel.set_xticks(
                    range(len(part)),
                    [str(choice) for choice in part],
                    rotation=30 if len(part) > 3 else 0,
                    ha="right" if len(part) > 3 else "center",
                    fontsize=6,
                )
            elif isinstance(part, (Log, WholeLog)):
                panel.set_xscale("log")
                ticks = [part.at(u) for u in (0.0, 0.5, 1.0)]
                panel.set_xticks(ticks, [f"{tick:.2g}" if tick < 100 else f"{tick:.0f}" for tick in ticks])
                panel.xaxis.set_minor_formatter(NullFormatter())
                panel.set_xlim(part.low / 1.2, part.high * 1.2)
            values = np.array(values, float)
            for place, color, label in (
                ("outside", colors.rule, "beyond the domain"),
                ("shortfall", colors.colors[VERMILLION], "known shortfall"),
                ("domain", colors.colors[BLUE], "domain"),
            ):
                mask = places == place
                if mask.any():
                    panel.scatter(values[mask], excess[mask], s=5, color=color, linewidths=0, label=label, alpha=0.8)
            panel.axhline(1.0, color="black", linewidth=0.7)
            panel.set_yscale("log")
            panel.set_ylim(LOWEST / 2, HIGHEST * 2)
            panel.set_xlabel(name.replace("_", " "))
        panels[0][0].set_ylabel("error by its bound")
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=7, markerscale=2)
        figure.savefig(path, dpi=100, pil_kwargs={"optimize": True}, metadata={"Software": None})
