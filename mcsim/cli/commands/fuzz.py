"""mcsim fuzz: random calls, until something is wrong."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.terminal import FAILED, INTERRUPTED, counted, folded, one_line, progress


def fuzz(
    seconds: Annotated[float, typer.Option(min=0.0, metavar="S", help="How long new runs begin [s].")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the first run; those that follow count up.")] = 0,
    runs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default=False, help="End after so many runs, if they are done earlier."),
    ] = None,
    operations: Annotated[int, typer.Option(min=1, metavar="N", help="The most calls of a run.")] = 60,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Processes.")] = 1,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", file_okay=False, help="Where the script of a failure is written.")
    ] = Path(),
) -> None:
    """Make random calls on random worlds, and look at everything after each.

    For whoever changes mcsim. A call is answered or refused in words; whatever else happens is a failure, which is made
    short and written as a script, fuzz_SEED.py, that fails likewise. The code is then 1.
    """
    from mcsim.fuzz import Campaign

    with progress(runs or seconds, "playing", "runs" if runs else "s", whole=True) as show:
        campaign = Campaign(seed, seconds, runs, operations, jobs, out)
        if runs:
            campaign.tell = lambda done, failures: show(done, None)
        try:
            found = campaign.run()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
    calls = sum(campaign.outcomes.values())
    print(f"runs       {campaign.done} from seed {seed}, in {campaign.elapsed:.3g} s")
    print(
        f"calls      {calls} in runs without failures, {calls / max(campaign.elapsed, 1e-9):.3g} a second, on three worlds"
    )
    refused = [f"{count} {kind}" for kind, count in campaign.outcomes.most_common() if kind != "done"]
    print(f"refused    {', '.join(refused) or 'none'}")
    print(f"failures   {sum(len(failure.seeds) for failure in found.values())}")
    for failure in found.values():
        seeds = ", ".join(map(str, failure.seeds[:5])) + (", ..." if len(failure.seeds) > 5 else "")
        print(folded(f"  {failure.kind}: {one_line(failure.text)}"[:600], sys.stdout))
        print(f"    in {counted(len(failure.seeds), 'run', 'runs')} (seed {seeds}), written to {failure.script}")
    if found:
        raise typer.Exit(FAILED)
