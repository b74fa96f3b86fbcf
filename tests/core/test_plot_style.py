"""The style of plots: legible on both grounds, and a method looks the same in every plot."""

import itertools

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.plot_style import DASHES, THEMES, Lines, look_of, plot_style
from mcsim.lab.studies import STUDIES


def luminance(color):
    """Of #rrggbb: relative luminance as WCAG 2.1 defines it."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    """The contrast ratio of WCAG 2.1, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", THEMES)
def test_themes_are_legible(name):
    theme = THEMES[name]
    assert (luminance(theme.background) < 0.02) == (name == "dark")
    assert contrast(theme.text, theme.background) >= 4.5
    assert contrast(theme.text, theme.shade) >= 4.5
    assert all(contrast(color, theme.background) >= 2.0 for color in theme.colors)
    assert 1.05 < contrast(theme.grid, theme.background) < 2.0  # behind everything


@pytest.mark.parametrize("name", THEMES)
def test_matplotlib_takes_the_style(name):
    import matplotlib

    with matplotlib.rc_context(plot_style(name)):
        assert matplotlib.rcParams["text.color"] == THEMES[name].text
        assert matplotlib.rcParams["axes.facecolor"] == THEMES[name].background
        colors = [entry["color"] for entry in matplotlib.rcParams["axes.prop_cycle"]]
    assert colors == list(THEMES[name].colors)


def test_a_method_has_one_look_in_all_studies():
    """Whatever it is drawn beside; and the methods of one study are told apart in grey too, or by colour."""
    seen = {}
    for study in STUDIES.values():
        lines = Lines(THEMES["light"], study.methods)
        for name in study.methods:
            look = lines.color(name), lines.marker(name), str(lines.line(name)["linestyle"])
            assert seen.setdefault(name, look) == look
        looks = [seen[name] for name in study.methods]
        assert len(set(looks)) == len(looks)
        assert len({(color, dashes) for color, _, dashes in looks}) == len(looks)


def test_looks_that_would_be_the_same_differ_in_their_dashes():
    names = [f"maximal:{solver}+soft" for solver in ("ipm", "admm", "apgd")]  # one colour, and dashes of other solvers
    assert len({look_of(name) for name in names}) == 1
    lines = Lines(THEMES["dark"], names)
    styles = [lines.line(name) for name in names]
    assert len({style["color"] for style in styles}) == 1
    assert all(one["linestyle"] != other["linestyle"] for one, other in itertools.combinations(styles, 2))


def test_names_of_ones_own_take_what_is_left():
    names = ["mine", "maximal:tree+soft", "yours"]
    lines = Lines(THEMES["light"], names)
    assert len({lines.color(name) for name in names}) == 3
    many = [f"world {k}" for k in range(len(THEMES["light"].colors) * len(DASHES))]
    lines = Lines(THEMES["light"], many)
    assert len({(lines.color(name), str(lines.line(name)["linestyle"])) for name in many}) >= 24


def test_a_theme_that_is_none():
    with pytest.raises(mc.SceneError, match="theme must be one of: light, dark; got 'sepia'"):
        plot_style("sepia")
    with pytest.raises(mc.SceneError, match="theme must be one of: light, dark; got 3"):
        plot_style(3)
