"""The documentation site: `python -m sphinx -W --keep-going -b html docs docs/_build/html` (contributing.md)."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from docstrings import as_rest  # noqa: E402

import mcsim  # noqa: E402

project = "mcsim"
author = "the authors of mcsim"
copyright = "the authors of mcsim, MIT licence"
version = release = mcsim.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build"]

# ---- pages -----------------------------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "deflist", "attrs_block", "colon_fence"]
myst_heading_anchors = 3
# A fence without a language is text, and so is one with a language that only people read.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = f"mcsim {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

# ---- docstrings ------------------------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "none"
smartquotes = False  # "soft" is to be copied as it stands
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True

# A heading or paragraph with a name of its own, as code hosts want it.
NAMED = re.compile(r'^(#+ )?<a id="([\w-]+)"></a>', re.M)


# Pages outside docs/ -> the pages here that include them.
INCLUDED = {"benchmarks/README.md": "performance.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


# Names of paragraphs, which Sphinx knows in all pages at once, while links name the page too.
PARAGRAPHS = "|".join(
    match[2] for page in HERE.glob("**/*.md") for match in NAMED.finditer(page.read_text(encoding="utf-8")) if not match[1]
)
TO_PARAGRAPH = re.compile(rf"\]\([\w./-]+\.md#({PARAGRAPHS})\)")


# Where api/command_line.md has the tables of options.
OPTIONS = "<!-- the options of all commands -->"


def option_tables():
    """Commands, arguments and options of the command line, as Markdown."""
    import typer

    from mcsim.cli import app

    lines = []
    for name, command in typer.main.get_command(app).commands.items():
        told = (command.help or "").split("\n\n")
        lines += [
            f"## mcsim {name}",
            "",
            *(" ".join(part.split()) + "\n" for part in told),
            "| | | default |",
            "|---|---|---|",
        ]
        for parameter in command.params:
            if parameter.name == "help":
                continue
            option = parameter.param_type_name == "option"
            names = parameter.metavar or parameter.name.upper()
            if option:
                names = ", ".join([*parameter.opts, *parameter.secondary_opts])
            shown = getattr(parameter, "show_default", False)
            default = shown if isinstance(shown, str) else parameter.default if shown else ""
            text = " ".join((getattr(parameter, "help", "") or "").split()).replace("|", "\\|")
            text = re.sub(r"\[bold\](.*?)\[/\]", r"`\1`", text)
            lines.append(f"| `{names}` | {text} | {default if default not in (None, (), []) else ''} |")
        lines.append("")
    return "\n".join(lines)


def prepare(app, docname, source):
    """`<a id="name"></a>` names a heading or paragraph here as well; links to pages that are included go there."""
    source[0] = NAMED.sub(lambda match: f"{{#{match[2]}}}\n{match[1]}" if match[1] else f"({match[2]})=\n", source[0])
    source[0] = TO_PARAGRAPH.sub(r"](#\1)", source[0])
    for outside, page in INCLUDED.items():
        source[0] = re.sub(rf"\]\(\.\./((?:\.\./)*){re.escape(outside)}", rf"](\1{page}", source[0])
    if OPTIONS in source[0]:
        source[0] = source[0].replace(OPTIONS, option_tables())


def docstring(app, what, name, obj, options, lines):
    """Docstrings are plain text; reST is what autodoc reads."""
    lines[:] = as_rest("\n".join(lines), obj)


# Steps are told as fractions of a second.
FRACTIONS = {repr(1 / rate): f"1/{rate}" for rate in (60, 120, 240, 1000)}


def signature(app, what, name, obj, options, arguments, result):
    """Steps as fractions."""
    for number, fraction in FRACTIONS.items():
        arguments = arguments and arguments.replace(f"={number}", f"={fraction}")
    return arguments, result


def setup(app):
    app.connect("autodoc-process-signature", signature)
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", docstring)
