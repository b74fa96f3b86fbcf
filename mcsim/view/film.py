"""Pictures (.png) and films (.gif) of a run. Headless: Matplotlib's Agg draws, Pillow writes."""

from __future__ import annotations  # signatures read as they are written here

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.scene import Scene

SIZE = (800, 600)  # pixels of a still
FILM_SIZE = (640, 480)  # pixels of a film's frame
FILM_COLORS = 128


class Recorded(Protocol):
    """What pictures read of an mcsim.io.Recording, or of anything that has the same."""

    @property
    def time(self) -> np.ndarray: ...
    @property
    def positions(self) -> np.ndarray: ...
    @property
    def orientations(self) -> np.ndarray: ...


def save_png(
    path: str | os.PathLike[str], scene: Scene, recording: Recorded, *, frames: int = 1, size: tuple[int, int] = SIZE
) -> None:
    """A picture of the last frame, or a strip of `frames` pictures from the first frame to the last.

    path: ends with .png. recording: a Recording, or any object with positions (t, n, 3), orientations (t, n, 4) and time
    (t,) of the scene's bodies. size: (width, height) of a picture in pixels.
    """
    require_matplotlib()
    check_recording(path, ".png", scene, recording)
    if not 1 <= frames <= 100:
        raise SceneError(f"{os.fspath(path)}: a strip has 1 to 100 frames, got {frames}")
    from PIL import Image

    last = len(recording.time) - 1
    chosen = [last] if frames == 1 else np.unique(np.round(np.linspace(0, last, frames)).astype(int))
    painter = _painter(scene, recording, size, chosen)
    strip = np.concatenate([_picture(painter, recording, k) for k in chosen], axis=1)
    with written_whole(path) as file:
        Image.fromarray(strip).save(file, format="png")


def save_gif(
    path: str | os.PathLike[str],
    scene: Scene,
    recording: Recorded,
    *,
    size: tuple[int, int] = FILM_SIZE,
    speed: float = 1.0,
    progress: Callable[[int], Any] | None = None,
) -> None:
    """A film of all frames that loops. `speed` 2 shows it twice as fast; `progress(k)` is called after frame k.

    path: ends with .gif. scene, recording, size: as of save_png.
    """
    require_matplotlib()
    check_recording(path, ".gif", scene, recording)
    if not (np.isfinite(speed) and speed > 0):
        raise SceneError(f"{os.fspath(path)}: speed must be positive, got {speed}")
    from PIL import Image

    painter = _painter(scene, recording, size, slice(None))
    # One palette for all frames, from the first, the middle and the last.
    count = len(recording.time)
    samples = [_picture(painter, recording, k) for k in sorted({0, count // 2, count - 1})]
    palette = Image.fromarray(np.concatenate(samples)).quantize(FILM_COLORS, method=Image.Quantize.MEDIANCUT)

    def images() -> Iterator[Any]:
        for k in range(count):
            picture = Image.fromarray(_picture(painter, recording, k))
            yield picture.quantize(palette=palette, dither=Image.Dither.NONE)
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
            duration=_durations(recording.time, speed),
            disposal=1,
        )


def _durations(time: np.ndarray, speed: float) -> list[int]:
    """Milliseconds a frame. GIF counts hundredths of a second: rounding the times, not the steps, keeps the clock."""
    hundredths = np.round(100.0 * (time - time[0]) / speed).astype(int)
    return [int(10 * max(step, 2)) for step in np.diff(hundredths)] + [1000]


def _painter(scene: Scene, recording: Recorded, size: tuple[int, int], frames: Any) -> Any:
    from mcsim.view.painter import Painter

    return Painter(scene, recording.positions[frames], recording.orientations[frames], size)


def _picture(painter: Any, recording: Recorded, k: int) -> Any:
    return painter.picture(recording.positions[k], recording.orientations[k], f"{recording.time[k]:.2f} s")


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
