"""Keywords as options: messages in the words of who typed a command, and options that nothing reads."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mcsim.cli.terminal import InputError

# What every world reads.
ALWAYS = ("dt", "substeps", "contact", "integrator", "strict")


def option(keyword: str) -> str:
    """friction_points -> --friction-points"""
    return "--" + keyword.replace("_", "-")


def as_options(message: str, keywords: Iterable[str]) -> str:
    """A message that names keywords, with options in their place: solver='si' is --solver si."""
    names = "|".join(sorted(map(re.escape, keywords), key=len, reverse=True))
    if not names:
        return message

    def written(found: re.Match[str]) -> str:
        name, value = found.group(1), found.group(2).strip("'\"")
        if value in ("True", "False"):
            return option(name) if value == "True" else option(f"no_{name}")
        return f"{option(name)} {'none' if value == 'None' else value}"

    message = re.sub(rf"\b({names})=('[^']*'|\"[^\"]*\"|[\w.+@:-]*\w)", written, message)
    message = re.sub(rf"^(World|ReducedWorld): ({names}) '([^']*)'", r"\1: \2 \3", message)
    message = re.sub(rf"\b({names})=", lambda found: option(found.group(1)) + " ", message)
    return re.sub(
        rf"^(?:World|ReducedWorld|compare|solvers|suites): (?:({names})\b)?",
        lambda found: option(found.group(1)) if found.group(1) else "",
        message,
    )


def refuse_unread(world: Any, given: Mapping[str, Any]) -> None:
    """InputError where an option was given that a world of these settings does not read."""
    settings = world.settings
    read = {*ALWAYS, *([] if settings["contact"] == "event" else ["solver", "stabilization"])}
    for choice in (settings.contact, settings.joints, settings.integrator):
        if hasattr(choice, "spread"):
            read |= choice.spread().keys()
    for name in given:
        if name in read or name == "sleep" and (settings.sleep or not given["sleep"]):
            continue
        chosen = " ".join(f"{option(key)} {settings[key]}" for key in ("contact", "solver", "stabilization", "integrator"))
        raise InputError(f"{option(name)} is not read with {chosen}: leave it out{_goes_with(name, settings)}")


def _goes_with(name: str, settings: Any) -> str:
    """Which choices read an option, if other ones than these."""
    from mcsim.world.capabilities import OF_SWEEPS, SOLVER_TABLE, STABILIZATION_TABLE
    from mcsim.world.choices import CONTACT_CHOICES

    found = [f"--stabilization {key}" for key, entry in STABILIZATION_TABLE.items() if name in entry.reads]
    if name in OF_SWEEPS and settings["solver"] not in SOLVER_TABLE:
        found = [f"--solver {key}" for key in SOLVER_TABLE]
    found = found or [
        f"--contact {key}"
        for key, kind in CONTACT_CHOICES.items()
        if name in kind.keywords().values() and key != settings["contact"]
    ]
    return f", or take {' or '.join(found)}" if found else ""
