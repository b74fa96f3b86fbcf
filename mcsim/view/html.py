"""Recordings as one HTML file that plays in any browser, without a network: viser's page, with what it would be sent."""

from __future__ import annotations  # signatures read as they are written here

import html
import os
from itertools import product

import numpy as np

from mcsim.core.extras import require_viser
from mcsim.core.files import written_whole
from mcsim.scene import Scene
from mcsim.view.batches import Batches, aim
from mcsim.view.enabled import enabled_frames
from mcsim.view.film import Recorded, check_recording

ASPECT = (4, 3)  # of the part of the page that shows the scene, about
HEIGHT = 480  # pixels of a page in a notebook
SAMPLES = 60  # frames that the camera is placed for
PLANE = 4.0  # side of the square that stands for a plane, in sizes of what moves
PLACES = 2.0**-16  # in sizes of what moves: what no screen shows is cut off, and the file gets smaller
TURNS = 2.0**-12


def save_html(path: str | os.PathLike[str], scene: Scene, recording: Recorded) -> None:
    """A page that plays the recording, in one file: it needs no server, no network and nothing installed.

    path: ends with .html. scene, recording: as of save_png.
    """
    require_viser()
    check_recording(path, ".html", scene, recording)
    text = page(scene, recording)
    with written_whole(path) as file:
        file.write(text.encode())


def framed(scene: Scene, recording: Recorded) -> str | None:
    """The page as a part of another one, for notebooks; None where viser is missing."""
    try:
        require_viser()
    except ImportError:
        return None
    text = html.escape(page(scene, recording))
    return f'<iframe srcdoc="{text}" style="width: 100%; height: {HEIGHT}px; border: none"></iframe>'


def page(scene: Scene, recording: Recorded) -> str:
    """The text of the page."""
    from mcsim.view.serve import quiet_server, stop  # here, because servers take long to import

    points = _seen(scene, recording)
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    step = PLACES * 2.0 ** np.ceil(np.log2(size))
    server = quiet_server("127.0.0.1", 0)  # that nobody visits: it writes what it would send
    try:
        aim(server, points, ASPECT)
        server.scene.configure_default_lights(True, cast_shadow=False)
        enabled = enabled_frames(scene, recording)
        batches = Batches(server.scene, scene, PLANE * size, np.asarray(enabled.any(axis=0)))
        batches.move(recording.positions[0], recording.orientations[0])
        if (enabled != enabled.any(axis=0))[0].any():
            batches.draw(enabled[0])
        serializer = server.get_scene_serializer()
        for k in range(1, len(recording.time)):
            serializer.insert_sleep(float(recording.time[k] - recording.time[k - 1]))
            batches.move(_cut(recording.positions[k], step), _cut(recording.orientations[k], TURNS))
            if (enabled[k] != enabled[k - 1]).any():
                batches.draw(enabled[k])
        return serializer.as_html()
    finally:
        stop(server)


def _seen(scene: Scene, recording: Recorded) -> np.ndarray:
    """Points (k, 3) [m] of what moves, in all frames, that the camera is to frame."""
    reach = np.array([max((shape.extent for shape in body.shapes), default=0.0) for body in scene.bodies])
    moves = np.array([body.kind != "static" for body in scene.bodies], bool) & np.isfinite(reach)
    moves &= enabled_frames(scene, recording).any(axis=0)
    some = np.unique(np.linspace(0, len(recording.time) - 1, SAMPLES).astype(int))
    centres = recording.positions[some][:, moves].reshape(-1, 3)
    if not len(centres):
        return np.array([[-1.0] * 3, [1.0] * 3])
    middle = np.median(centres, axis=0)
    away = np.linalg.norm(centres - middle, axis=1)
    near = away <= 3.0 * np.percentile(away, 90)  # a few that fly off do not make the others small
    radius = np.tile(reach[moves], len(some))[near, None]
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    return (centres[near, None] + radius[:, None] * corners / np.sqrt(3.0)).reshape(-1, 3)


def _cut(numbers: np.ndarray, step: float) -> np.ndarray:
    return np.round(numbers / step) * step
