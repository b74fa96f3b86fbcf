"""Pictures (.png) and films (.gif) of a run. Headless: Matplotlib's Agg draws, Pillow writes."""

from __future__ import annotations  # signatures read as they are written here

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.core.plot_style import theme_of
from mcsim.scene import Scene
from mcsim.scene.checks import show as show_value
from mcsim.view import stamps
from mcsim.view.camera import Camera, camera_of
from mcsim.view.enabled import enabled_frames
from mcsim.view.marks import impulses
from mcsim.view.overlay import MARKS

if TYPE_CHECKING:
    from mcsim.world import World

SIZE = (800, 600)  # pixels of a still
FILM_SIZE = (640, 480)  # pixels of a film's frame
FILM_COLORS = 128
MOST_PANELS = 100

CameraLike = str | Camera | Sequence[float] | np.ndarray


class Recorded(Protocol):
    """What pictures read of an mcsim.io.Recording, or of anything that has the same; of contacts, if they are drawn, also
    `contacts`, an array of them for each frame."""

    @property
    def time(self) -> np.ndarray: ...
    @property
    def positions(self) -> np.ndarray: ...
    @property
    def orientations(self) -> np.ndarray: ...


class Moment(NamedTuple):
    """A world as it is now, as a recording of one frame."""

    time: np.ndarray
    positions: np.ndarray
    orientations: np.ndarray
    contacts: tuple[np.ndarray, ...]


def save_png(
    path: str | os.PathLike[str],
    scene: Scene | World,
    recording: Recorded | Mapping[str, Recorded] | None = None,
    *,
    frames: int = 1,
    times: float | Iterable[float] | None = None,
    size: tuple[int, int] = SIZE,
    camera: CameraLike = "perspective",
    show: Iterable[str] = (),
    arrow_scale: float | None = None,
    theme: str = "light",
) -> None:
    """A picture of the last frame, or a strip of `frames` pictures from the first frame to the last, or of the frames
    nearest to `times` [s], one or several.

    path: ends with .png. scene: what was recorded, or a World, which without a recording is drawn as it is now. recording:
    a Recording, or any object with positions (t, n, 3), orientations (t, n, 4) and time (t,) of the scene's bodies; or
    several by name, a row each. size: (width, height) of a picture in pixels.

    camera: a mcsim.view.Camera, or "perspective", "orthographic", or, orthographic too, the view from the "front" (along
    +y), "back", "side" (along -x), "top", or from the direction (3,) that points from the scene to the eye. Orthographic
    pictures have a scale bar. show: "joints" draws joints and their axes, "contacts" the contacts and, as arrows, their
    impulses in the last step; a recording has them if it was made by Recorder(world, contacts=True). arrow_scale
    [m/(N s)]: of those arrows; by default the usual largest one is a good fifth of the picture high. theme: "light" or
    "dark".
    """
    require_matplotlib()
    recordings, scene = _recordings(path, ".png", scene, recording)
    if not 1 <= frames <= MOST_PANELS:
        raise SceneError(f"{os.fspath(path)}: a strip has 1 to {MOST_PANELS} frames, got {frames}")
    longest = max(recordings.values(), key=lambda recorded: recorded.time[-1])
    moments = _moments(os.fspath(path), longest.time, frames, times)
    chosen = {name: [_nearest(recorded.time, at) for at in moments] for name, recorded in recordings.items()}
    from PIL import Image

    shots = Shots(scene, recordings, chosen, size, camera, show, arrow_scale, theme)
    rows = [[shots.picture(name, k, first=i == 0) for i, k in enumerate(numbers)] for name, numbers in chosen.items()]
    with written_whole(path) as file:
        Image.fromarray(stamps.in_rows(rows, shots.painter.colors)).save(file, format="png")


def save_gif(
    path: str | os.PathLike[str],
    scene: Scene | World,
    recording: Recorded | Mapping[str, Recorded],
    *,
    size: tuple[int, int] = FILM_SIZE,
    speed: float = 1.0,
    camera: CameraLike = "perspective",
    show: Iterable[str] = (),
    arrow_scale: float | None = None,
    theme: str = "light",
    progress: Callable[[int], Any] | None = None,
) -> None:
    """A film of all frames that loops. `speed` 2 shows it twice as fast; `progress(k)` is called after frame k.

    path: ends with .gif. recording: as of save_png; several by name are side by side, at the times of the first. The rest
    is as of save_png.
    """
    require_matplotlib()
    recordings, scene = _recordings(path, ".gif", scene, recording)
    if not (np.isfinite(speed) and speed > 0):
        raise SceneError(f"{os.fspath(path)}: speed must be positive, got {speed}")

    time = next(iter(recordings.values())).time
    chosen = {name: [_nearest(recorded.time, at) for at in time] for name, recorded in recordings.items()}
    shots = Shots(scene, recordings, chosen, size, camera, show, arrow_scale, theme)
    count = len(time)

    def picture(k: int) -> np.ndarray:
        panels = [shots.picture(name, numbers[k]) for name, numbers in chosen.items()]
        return panels[0] if len(panels) == 1 else stamps.in_rows([panels], shots.painter.colors)

    # One palette for all frames, from the first, the middle and the last, of which every second pixel is enough.
    palette = Palette(np.concatenate([picture(k)[::2, ::2] for k in sorted({0, count // 2, count - 1})]))

    def images() -> Iterator[Any]:
        for k in range(count):
            yield palette.image(picture(k))
            if progress is not None:
                progress(k)

    film = images()
    with written_whole(path) as file:
        next(film).save(
            file,
            format="gif",
            save_all=True,
            append_images=film,
            loop=0,
            duration=_durations(time, speed),
            disposal=1,
        )


class Palette:
    """The colours that stand for those of some pictures (k, width, 3)."""

    def __init__(self, samples: np.ndarray) -> None:
        from PIL import Image

        from mcsim.view import _raster

        few = Image.fromarray(samples).quantize(FILM_COLORS, method=Image.Quantize.MEDIANCUT)
        self._colors = few.getpalette() or []
        self._table = np.empty(1 << 18, np.uint8)
        _raster.nearest(np.array(self._colors, np.intc).reshape(-1, 3), self._table)

    def image(self, picture: np.ndarray) -> Any:
        """The picture in these colours."""
        from PIL import Image

        from mcsim.view import _raster

        numbers = np.empty(picture.shape[:2], np.uint8)
        _raster.indices(np.ascontiguousarray(picture), self._table, numbers)
        image = Image.fromarray(numbers, "P")
        image.putpalette(self._colors)
        return image


class Shots:
    """Pictures of recordings of one scene, by one camera. chosen: of each recording the frames that are drawn."""

    def __init__(
        self,
        scene: Scene,
        recordings: Mapping[str, Recorded],
        chosen: Mapping[str, list[int]],
        size: tuple[int, int],
        camera: CameraLike,
        show: Iterable[str],
        arrow_scale: float | None,
        theme: str,
    ) -> None:
        from mcsim.view.painter import Painter

        theme_of(theme)
        self._recordings, self._alone = recordings, len(recordings) == 1
        self._shown = _shown(show)
        some = [(recorded, np.array(chosen[name])) for name, recorded in recordings.items()]
        self._enabled = {name: enabled_frames(scene, recorded) for name, recorded in recordings.items()}
        self.painter = Painter(
            scene,
            np.concatenate([recorded.positions[numbers] for recorded, numbers in some]),
            np.concatenate([recorded.orientations[numbers] for recorded, numbers in some]),
            size,
            camera=camera_of(camera),
            theme=theme,
            show=self._shown,
            arrow_scale=_positive(arrow_scale),
            usual_impulse=self._usual_impulse(chosen),
            drawn=np.any([self._enabled[name][numbers].any(axis=0) for name, numbers in chosen.items()], axis=0),
        )

    def _usual_impulse(self, chosen: Mapping[str, list[int]]) -> float:
        """The median over the frames that are drawn of the largest impulse [N s]."""
        largest = []
        for name, numbers in chosen.items():
            for contacts in (self._contacts(name, k) for k in numbers):
                if contacts is not None and len(contacts):
                    largest.append(np.linalg.norm(impulses(contacts), axis=1).max())
        return float(np.median([found for found in largest if found > 0.0] or [0.0]))

    def _contacts(self, name: str, k: int) -> np.ndarray | None:
        if "contacts" not in self._shown:
            return None
        kept: Any = getattr(self._recordings[name], "contacts", None)
        if kept is None:
            raise SceneError(
                "the recording has no contacts to show; Recorder(world, contacts=True) keeps them, a World has those of "
                "its last step"
            )
        return kept[k]

    def picture(self, name: str, k: int, first: bool = True) -> np.ndarray:
        """Frame k of a recording; only the first of a row is told what it is."""
        recorded = self._recordings[name]
        title = (None if self._alone else name) if first else ""
        label = f"{recorded.time[k]:.2f} s"
        at, contacts = (recorded.positions[k], recorded.orientations[k]), self._contacts(name, k)
        return self.painter.picture(*at, label, contacts, title, self._enabled[name][k])


def _recordings(
    path: str | os.PathLike[str], suffix: str, scene: Scene | World, recording: Any
) -> tuple[dict[str, Recorded], Scene]:
    """The recordings by name, and the scene."""
    from mcsim.world import World  # here, because mcsim imports this package before anybody asks for a world

    if isinstance(scene, World):
        world, scene = scene, scene.scene
        if recording is None:
            now = np.array([world.time]), world.positions[None].copy(), world.orientations[None].copy()
            recording = Moment(*now, (world.contacts,))
    if recording is None:
        raise SceneError(f"{os.fspath(path)}: of a scene a recording is drawn, or give a World in its place")
    found: dict[str, Recorded] = dict(recording) if isinstance(recording, Mapping) else {scene.name: recording}
    if not found or len(found) > MOST_PANELS:
        raise SceneError(f"{os.fspath(path)}: 1 to {MOST_PANELS} recordings are drawn, got {len(found)}")
    for recorded in found.values():
        check_recording(path, suffix, scene, recorded)
    return found, scene


def _moments(name: str, time: np.ndarray, frames: int, times: Any) -> np.ndarray:
    """The times [s] of the pictures."""
    if times is None:
        last = len(time) - 1
        chosen = [last] if frames == 1 else np.unique(np.round(np.linspace(0, last, frames)).astype(int))
        return time[chosen]
    if frames != 1:
        raise SceneError(f"{name}: give either frames or times")
    try:
        moments = np.atleast_1d(np.asarray(times if np.isscalar(times) else list(times), float))
    except (TypeError, ValueError):
        moments = np.zeros(0)
    if moments.ndim != 1 or not 1 <= len(moments) <= MOST_PANELS or not np.isfinite(moments).all():
        raise SceneError(f"{name}: times must be 1 to {MOST_PANELS} numbers of seconds, got {show_value(times)}")
    return moments


def _nearest(time: np.ndarray, at: float) -> int:
    """The number of the frame nearest to that time."""
    return int(np.abs(time - at).argmin())


def _shown(show: Any) -> tuple[str, ...]:
    names = (show,) if isinstance(show, str) else tuple(show)
    for name in names:
        if name not in MARKS:
            raise SceneError(f"show: must be of: {', '.join(MARKS)}; got {show_value(name)}")
    return names


def _positive(arrow_scale: Any) -> float | None:
    if arrow_scale is None:
        return None
    if isinstance(arrow_scale, bool) or not isinstance(arrow_scale, int | float) or not 0.0 < arrow_scale < np.inf:
        raise SceneError(f"arrow_scale must be a positive number of metres a newton second, got {show_value(arrow_scale)}")
    return float(arrow_scale)


def _durations(time: np.ndarray, speed: float) -> list[int]:
    """Milliseconds a frame. GIF counts hundredths of a second: rounding the times, not the steps, keeps the clock."""
    hundredths = np.round(100.0 * (time - time[0]) / speed).astype(int)
    return [int(10 * max(step, 2)) for step in np.diff(hundredths)] + [1000]


def check_recording(path: str | os.PathLike[str], suffix: str, scene: Scene, recording: Recorded) -> None:
    """SceneError unless the file may have that name and the frames are of the scene's bodies."""
    name = os.fspath(path)
    if Path(path).suffix.lower() != suffix:
        raise SceneError(f"{name}: must end in {suffix}")
    if recording.positions.shape[1] != len(scene.bodies):
        raise SceneError(
            f"{name}: the recording has {recording.positions.shape[1]} bodies, the scene {scene.name!r} {len(scene.bodies)}"
        )
    if len(recording.time) == 0:
        raise SceneError(f"{name}: the recording has no frames")
