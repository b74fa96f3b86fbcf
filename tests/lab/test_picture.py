"""The pictures of a study: they are written, not blank, and show what there is."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import mcsim as mc
from mcsim.core.plot_style import THEMES, Lines
from mcsim.lab import Study, picture
from mcsim.lab.report import summary


@pytest.fixture(scope="module")
def swing():
    return mc.compare(
        mc.scenes.double_pendulum(), ["maximal:si+baumgarte", "maximal:tree+soft", "reduced:aba"], 0.5, [1 / 60, 1 / 240]
    )


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), np.int16)


def color_count(pixels, color):
    """How many of them have nearly this colour."""
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], np.int16)
    return int((np.abs(pixels - wanted).max(axis=2) < 12).sum())


@pytest.mark.parametrize("kind, theme", [("time", "light"), ("convergence", "dark"), ("work", "light"), ("work", "dark")])
def test_pictures_show_every_method(swing, kind, theme, tmp_path):
    path = tmp_path / "out.png"
    swing.plot(path, kind, theme=theme)
    found, colors, lines = pixels(path), THEMES[theme], Lines(THEMES[theme], swing.series)
    assert found.shape[1] == round(220 * picture.WIDTH)
    assert all(color_count(found, lines.color(name)) > 200 for name in swing.series)
    assert color_count(found, colors.colors[2]) < 200  # no method has it
    assert color_count(found, colors.shade) > (500 if kind != "work" else 200)
    assert color_count(found, colors.background) > found.shape[0] * found.shape[1] / 2
    assert [p.name for p in tmp_path.iterdir()] == ["out.png"]


def test_the_default_is_convergence_if_there_are_steps(swing, tmp_path, monkeypatch):
    drawn = []
    for name in ("_over_time", "_over_step"):
        monkeypatch.setattr(picture, name, lambda study, theme, name=name: drawn.append(name) or Figure())
    one = Study(
        swing.scene,
        swing.bodies,
        swing.joints,
        swing.seconds,
        swing.dts[-1:],
        {name: runs[-1:] for name, runs in swing.series.items()},
    )
    for study, kind in ((swing, None), (one, None), (swing, "time"), (swing, "convergence")):
        study.plot(tmp_path / "a.png", kind)
    assert drawn == ["_over_step", "_over_time", "_over_time", "_over_step"]


@pytest.mark.parametrize("suffix, start", [(".pdf", b"%PDF"), (".svg", b"<?xml")])
@pytest.mark.sampled(2)
def test_vector_formats(swing, suffix, start, tmp_path):
    swing.plot(tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").read_bytes().startswith(start)


def axes_of(study, monkeypatch, tmp_path, kind):
    """The panels of a picture."""
    kept = []
    monkeypatch.setattr(picture, "_frame", lambda figure, *args: kept.append(figure))
    monkeypatch.setattr(Figure, "savefig", lambda *args, **keywords: None)
    study.plot(tmp_path / "out.png", kind)
    return [ax for ax in kept[0].axes if ax.axison]


def titles(study, monkeypatch, tmp_path, kind="time"):
    return [ax.get_title(loc="left") for ax in axes_of(study, monkeypatch, tmp_path, kind)]


def test_work_is_error_over_computing_time(swing, monkeypatch, tmp_path):
    """Median step time times steps, a point for each step, on logarithmic axes."""
    axes = axes_of(swing, monkeypatch, tmp_path, "work")
    assert [ax.get_title(loc="left") for ax in axes] == ["Distance to the reference", "Energy error", "Joint drift"]
    for ax, key in zip(axes, ("distance_m", "energy_error", "joint_drift_m")):
        assert ax.get_xscale() == ax.get_yscale() == "log"
        drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
        assert set(drawn) == set(swing.series)
        for name, runs in swing.series.items():
            right = [(np.median(run.step_seconds) * len(run), summary(swing, run)[key]) for run in runs]
            assert np.array_equal(drawn[name], [point for point in right if point[1] > picture.LOWEST])


def test_each_residual_has_a_panel_of_its_own(monkeypatch, tmp_path):
    scene, methods = mc.scenes.wrecking_ball(links=3, height=2, width=2), ["maximal:si+baumgarte", "reduced:aba"]
    unasked, asked = (
        mc.compare(scene, methods, 0.4, 1 / 60, None, timing=False, residuals=residuals) for residuals in (False, True)
    )
    assert titles(unasked, monkeypatch, tmp_path, "residuals") == ["Natural map", "Last correction"]
    axes = axes_of(asked, monkeypatch, tmp_path, "residuals")
    labels = [(ax.get_title(loc="left"), ax.get_ylabel()) for ax in axes]
    assert labels[0] == ("Natural map", "worst row [N s or N m s]") and ("Complementarity", "worst row [J]") in labels
    for ax, name in zip(axes, ("natural_map", "velocity", "primal")):
        drawn = {line.get_label(): line.get_ydata().max() for line in ax.get_lines()}
        assert drawn == {run.name: pytest.approx(run.residuals[name][1:].max()) for run in asked.all_runs()}


def test_panels_follow_the_scene(monkeypatch, tmp_path):
    """Overlap where bodies touch; no joints, no drift; no reference, no distance; at most six panels."""
    pile = mc.compare(mc.scenes.wrecking_ball(links=3, height=2, width=2), "maximal:rows+soft", 0.4, 1 / 60, budget=10_000)
    assert titles(pile, monkeypatch, tmp_path) == [
        "Joint drift",
        "Energy error",
        "Angular momentum error",
        "Distance to the reference",
        "Overlap",
        "Time a step",
    ]
    handle = mc.compare(mc.scenes.dzhanibekov(), "maximal:tree+soft", 0.4, reference=None, timing=False)
    assert titles(handle, monkeypatch, tmp_path) == ["Energy error", "Angular momentum error"]


def test_curves_are_the_largest_values():
    time = np.arange(1001) / 1000
    values = np.sin(40 * time)
    when, high = picture._envelope(time, values)
    assert len(when) == picture.POINTS and high.max() == np.abs(values).max()
    assert np.all(np.diff(when) > 0) and np.all(high >= 0)
    assert picture._envelope(time[:1], values[:1])[0].size == 0


@pytest.mark.slow
def test_failed_runs_are_drawn(tmp_path):
    study = mc.compare(
        mc.scenes.chain(n=5), ["maximal:tree+soft@rattle", "maximal:tree+soft"], 1.0, [0.5, 0.02], reference=None
    )
    assert study.series["maximal:tree+soft@rattle"][0].failure
    for kind in picture.KINDS:
        study.plot(tmp_path / "out.png", kind)
        assert (
            color_count(pixels(tmp_path / "out.png"), Lines(THEMES["light"], study.series).color("maximal:tree+soft")) > 200
        )


def test_every_plot_has_the_style(tmp_path):
    """Whoever draws: the ground, and what is written on it, have the theme's colours."""
    world = mc.World(mc.load("stack", count=2))
    world.step(5)
    problem = world.problem()
    study = mc.lab.solvers(problem, ["pgs", "ipm"], tolerance=1e-6)
    system = mc.reduced.System(mc.load("double_pendulum"))
    for draw, theme in ((study.plot, "dark"), (problem.draw, "dark"), (system.draw, "light"), (system.draw, "dark")):
        draw(tmp_path / "out.png", theme=theme)
        found = pixels(tmp_path / "out.png")[::2, ::2]
        assert color_count(found, THEMES[theme].background) > 0.5 * found.shape[0] * found.shape[1]
        assert color_count(found, THEMES[theme].text) > 5
        with pytest.raises(mc.SceneError, match="theme must be one of: light, dark; got 'grey'"):
            draw(tmp_path / "other.png", theme="grey")
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_bad_pictures(swing, tmp_path, monkeypatch):
    with pytest.raises(mc.SceneError, match="must end in .png, .pdf, .svg"):
        swing.plot(tmp_path / "out.gif")
    with pytest.raises(mc.SceneError, match="kind must be one of: time, residuals, convergence, work; got 'space'"):
        swing.plot(tmp_path / "out.png", "space")
    with pytest.raises(mc.SceneError, match="theme must be one of: light, dark; got 'blue'"):
        swing.plot(tmp_path / "out.png", theme="blue")
    one = mc.compare(mc.scenes.pendulum(), "reduced:aba", 0.1, reference=None)
    with pytest.raises(mc.SceneError, match="needs several dt"):
        one.plot(tmp_path / "out.png", "convergence")
    untimed = mc.compare(mc.scenes.pendulum(), "reduced:aba", 0.1, reference=None, timing=False)
    with pytest.raises(mc.SceneError, match="work-precision diagram needs timed runs"):
        untimed.plot(tmp_path / "out.png", "work")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install"):
        one.plot(tmp_path / "out.png")
    assert not list(tmp_path.iterdir())
