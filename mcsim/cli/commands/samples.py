"""mcsim samples: the samples of other engines, listed, checked and shown."""

import csv as csv_file
import inspect
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcsim.cli.app import paragraphs
from mcsim.cli.options import check_output, output
from mcsim.cli.outputs import (
    CameraOption,
    Gif,
    Glb,
    Html,
    Outputs,
    Png,
    Show,
    Speed,
    Strip,
    ThemeOption,
    play_page,
    told_of,
)
from mcsim.cli.terminal import FAILED, InputError, counted, folded, metric, progress, width_of

if TYPE_CHECKING:
    from mcsim.samples import Outcome


def sample_names(incomplete: str) -> list[str]:
    """Groups and names of samples that begin so: what a shell completes."""
    from mcsim.samples import find, names

    known = names()
    return [name for name in [*dict.fromkeys(find(name).group for name in known), *known] if name.startswith(incomplete)]


def samples(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            show_default=False,
            autocompletion=sample_names,
            help="Those of an engine (box3d), of a group (box3d/stacking), or one (box3d/stacking/arch); all if left out.",
        ),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Run them, and say which are right; with exit code 1 if one is not.")
    ] = False,
    view: Annotated[
        bool, typer.Option("--view", help="Run one, and play it on a page in the browser, until Ctrl-C.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="As JSON: what is listed or, with --check, what came out.")] = False,
    csv: Annotated[Path | None, output("csv", "With --check: write the table (.csv).")] = None,
    png: Png = None,
    strip: Strip = None,
    gif: Gif = None,
    html: Html = None,
    glb: Glb = None,
    speed: Speed = None,
    camera: CameraOption = None,
    show: Show = None,
    theme: ThemeOption = None,
) -> None:
    """List the samples of other engines; run, check and show them.

    Each is a function of at most 25 lines that says in numbers what should happen. With the whole name of one, pictures
    and films of its run can be written. The table of --check has the time a step took, the worst joint error, the
    deepest overlap at the end, and in how many steps notes were made.
    """
    from mcsim.core.extras import require_viser
    from mcsim.samples import find, names

    found = names(name)
    one = found == [name.strip("/")]
    if show and "contacts" in show:
        raise InputError("--show contacts does not go with samples: their recordings have none; take --show joints")
    outputs = Outputs(
        png, strip, gif, speed, html, glb, camera or (find(found[0]).camera if png or gif else None), show, theme
    )
    outputs.check()
    if view:
        require_viser()
    check_output("--csv", csv, ".csv")
    if csv and not check:
        raise InputError(f"--csv {csv} does nothing without --check: add it, or leave --csv out")
    if (view or outputs.wanted()) and not one:
        raise InputError(
            f"{name or 'all'}: {len(found)} samples; pictures, films and --view are of one: give its whole name"
        )
    if not (check or view or outputs.wanted()):
        _list(name, found, one, json_)
        return
    outcomes = []
    with progress(len(found), "running", "samples", whole=True) as told:
        for k, each in enumerate(found):
            outcomes.append(find(each).run(record=view or outputs.wanted()))
            told(k + 1, None)
    _tell(outcomes, json_)
    if csv:
        _write(csv, outcomes)
    if outputs.wanted():
        outputs.write(outcomes[0].scene, outcomes[0].recording)
    if view and (played := outcomes[0]).recording is not None and played.scene is not None:
        play_page(played.name, played.scene, played.recording)
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(FAILED)


# ---- the list --------------------------------------------------------------------------------------------------------


def _list(name: str, found: Sequence[str], one: bool, as_json: bool) -> None:
    """Groups and their samples; of one group its samples; of one sample all that is known."""
    from mcsim.samples import find

    samples = [find(each) for each in found]
    if as_json:
        told = [
            {"name": s.name, "title": s.title, "source": s.source, "description": s.description, "slow": s.slow}
            for s in samples
        ]
        print(json.dumps(told[0] if one else told, indent=2))
        return
    if one:
        text = f"{samples[0].name}: {inspect.getdoc(samples[0].function)}"
        for line in (paragraphs(text) if sys.stdout.isatty() else text).splitlines():
            print(folded(line, sys.stdout, indent=0))
        print()
        print(folded(f"original: {samples[0].title} ({samples[0].source})", sys.stdout))
        print(folded(f"code: {inspect.getsourcefile(samples[0].function)}", sys.stdout))
        return
    groups: dict[str, list[Any]] = {}
    for each in samples:
        groups.setdefault(each.group, []).append(each)
    if len(groups) > 1:
        rows = [(group, str(len(members)), ", ".join(m.name.rpartition("/")[2] for m in members))
                for group, members in groups.items()]  # fmt: skip
        _print_table(("group", "samples", "which"), rows)
        print(counted(len(samples), "sample", "samples"))
    else:
        _print_table(("sample", "title", "what happens"), [(s.name, s.title, s.description) for s in samples])


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in head:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console()
    # A pipe has no width: give every row its line.
    Console(width=None if console.is_terminal else 4000, highlight=False).print(table)


# ---- what came out ---------------------------------------------------------------------------------------------------


def _tell(outcomes: Sequence["Outcome"], as_json: bool) -> None:
    """The table, and what was not right; of one sample everything that it expected."""
    from mcsim.lab.tables import aligned

    if as_json:
        print(json.dumps([outcome.to_dict() for outcome in outcomes], indent=2))
        return
    head = [
        ["sample", ""],
        ["outcome", ""],
        ["step", "ms"],
        ["bodies", ""],
        ["joint error", ""],
        ["overlap", ""],
        ["notes", ""],
    ]
    body = [
        [
            outcome.name,
            "ok" if outcome.ok else "failed",
            f"{outcome.milliseconds:.3g}",
            str(outcome.bodies),
            metric(outcome.joint_error, "m"),
            metric(outcome.overlap, "m"),
            ", ".join(f"{kind} {count}" for kind, count in outcome.notes.items()),
        ]
        for outcome in outcomes
    ]
    print("\n".join(aligned(head, body, width_of(sys.stdout), 1, 2)))
    print()
    if len(outcomes) == 1:
        for expectation in outcomes[0].expectations:
            print(folded(f"{'ok    ' if expectation.ok else 'failed'} {expectation}", sys.stdout, indent=7))
        if outcomes[0].error:
            print(folded(f"failed {outcomes[0].error}", sys.stdout, indent=7))
        return
    for outcome in outcomes:
        if not outcome.ok:
            print(folded(outcome.line(), sys.stdout))
    passed = sum(outcome.ok for outcome in outcomes)
    print(f"{passed} of {len(outcomes)} are right; their steps took {sum(outcome.seconds for outcome in outcomes):.3g} s")


def _write(path: Path, outcomes: Sequence["Outcome"]) -> None:
    """The table as a file."""
    rows = [outcome.to_dict() for outcome in outcomes]
    for row in rows:
        del row["expectations"]
        row["failures"] = "; ".join(row["failures"])
        row["notes"] = "; ".join(f"{kind} {count}" for kind, count in row["notes"].items())
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv_file.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    told_of(path, counted(len(rows), "row", "rows"))
