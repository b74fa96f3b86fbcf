"""A view: a session that is played in a thread of its own, and a page in the browser that shows it."""

from __future__ import annotations

import html
import threading
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_viser
from mcsim.live.details import Selection
from mcsim.live.frames import Camera, Frame, Wanted
from mcsim.live.page import Page
from mcsim.live.panel import Panel
from mcsim.live.plots import Plots
from mcsim.live.session import Session
from mcsim.scene.checks import FieldError, count, text
from mcsim.view.serve import has_display, in_notebook, quiet_server, stop, warning_of
from mcsim.world import World

if TYPE_CHECKING:
    from viser import ViserServer

HOST, PORT = "127.0.0.1", 8080
TICK = 1 / 60  # [s] between two ticks of the session, each with a frame
TOLD_EVERY = 0.2  # [s] between two changes of the panel's texts
NOTEBOOK_HEIGHT = 560  # [pixels] of the page in a notebook
NOTICE = 8.0  # [s] that a message stands on the page


class View:
    """A page that shows worlds and plays them. Made by mcsim.view.

    url: its address. session: what is played (mcsim.live.session.Session); worlds: those that it has now: they belong to
    the view's thread until `close`. `wait` returns when Ctrl-C is pressed or the view is closed; `with` closes it, too.
    """

    def __init__(self, session: Session, host: str, port: int) -> None:
        require_viser()
        self.session = session
        self._wanted = Wanted()
        self._server = _server(host, port)
        self._closing = threading.Event()
        self._fresh = threading.Event()
        self._selected: tuple[int, str] | None = None
        self._followed: np.ndarray | None = None  # where the body was that the cameras follow
        self.frames_sent = 0
        self._camera = Camera(session, self._wanted)
        self._page = Page(self._server, self._ask, self._select)
        self._panel = Panel(self._server, session, self._page, self._wanted, self._ask)
        self._plots = Plots(self._server, session, self._camera.probes, self._wanted)
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._server.get_port()}"
        self._frame: Frame = self._camera.take()
        self._page.show(self._frame)
        self._threads = [
            threading.Thread(target=work, name=f"mcsim view, {work.__name__.strip('_')}", daemon=True)
            for work in (self._simulate, self._send)
        ]
        for thread in self._threads:
            thread.start()

    def __repr__(self) -> str:
        return f"<View of {len(self.session.worlds)} worlds at {self.url}{', closed' if self._closing.is_set() else ''}>"

    def _repr_html_(self) -> str | None:
        """The page inside the output of a notebook's cell; nothing of it once the view is closed."""
        if self._closing.is_set():
            return None
        return (
            f'<iframe src="{html.escape(self.url)}" style="width: 100%; height: {NOTEBOOK_HEIGHT}px; border: none" '
            'allow="fullscreen"></iframe>'
        )

    @property
    def worlds(self) -> list[World]:
        """The worlds as they are now."""
        return list(self.session.worlds)

    def wait(self) -> None:
        """Wait for Ctrl-C, or until the view is closed by another thread; then close it."""
        try:
            while not self._closing.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop playing, and the page with it. The worlds are left as they are."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._fresh.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        stop(self._server)

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- threads -----------------------------------------------------------------------------------------------------

    def _simulate(self) -> None:
        """Ticks, and frames of them: the one thread that touches the worlds. It waits for no page."""
        while not self._closing.is_set():
            begin = time.perf_counter()
            try:
                self.session.tick()
                self._camera.probe()
                if (new := self._camera.take_new()) is not None:
                    self._frame = new
                    self._fresh.set()
            except Exception as error:  # the page goes on and says it
                self.session.playing = False
                self.session.say(f"{type(error).__name__}: {error}")
                traceback.print_exc()
                self._closing.wait(0.5)
            self._closing.wait(max(0.0, begin + TICK - time.perf_counter()))

    def _send(self) -> None:
        """The newest frame to the pages, as often as it is another one."""
        told, meter, last = 0.0, _Meter(), self._frame
        said = self.session.messages[-1][0] if self.session.messages else 0
        while not self._closing.is_set():
            self._fresh.wait(TOLD_EVERY)
            self._fresh.clear()
            now, shown = time.perf_counter(), self._frame
            if self._closing.is_set():
                return
            try:
                if shown is not last or not self._page.arranged:
                    self._page.show(shown)
                    self.frames_sent += 1
                    last = shown
                    self._follow(shown)
                if now - told >= TOLD_EVERY:
                    told = now
                    self._panel.show(*meter.rates(now, shown.time, self.frames_sent))
                    self._panel.tell(shown)
                    self._plots.show()
                said = self._notify(said)
            except Exception as error:  # a page that goes in the middle of it must not end the others
                if not self._closing.is_set():
                    self.session.say(f"{type(error).__name__}: {error}")
                    traceback.print_exc()
                    self._closing.wait(0.5)

    def _notify(self, said: int) -> int:
        """New messages to all pages. -> the number of the last one."""
        for number, sentence in list(self.session.messages):
            if number > said:
                said = number
                for client in self._server.get_clients().values():
                    client.add_notification("mcsim", sentence, auto_close_seconds=NOTICE)
        return said

    # ---- what pages ask for ------------------------------------------------------------------------------------------

    def _ask(self, client: Any, name: str, /, **values: Any) -> None:
        """Ask the session; what is wrong is said on the page that asked."""
        try:
            self.session.submit(name, **values)
        except SceneError as error:
            if client is not None:
                client.add_notification("mcsim", str(error), auto_close_seconds=NOTICE, color="red")

    def _select(self, chosen: Selection, body: str) -> None:
        """A click: tell about what is there, on a body or beside it."""
        self._selected = chosen.world, body
        self._wanted.select(chosen)

    def _follow(self, shown: Frame) -> None:
        """Move the cameras with the body that was clicked, where that is wanted."""
        place = None
        if self._panel.follows.value and self._selected is not None and self._selected[0] < len(shown.worlds):
            world = shown.worlds[self._selected[0]]
            names = [body.name for body in world.scene.bodies]
            if self._selected[1] in names:
                place = world.centers[names.index(self._selected[1])]
        before, self._followed = self._followed, place
        if place is None or before is None:
            return
        for client in self._server.get_clients().values():
            camera = client.camera
            camera.position, camera.look_at = camera.position + place - before, camera.look_at + place - before


class _Meter:
    """Rates over the last second or so."""

    def __init__(self) -> None:
        self._past: list[tuple[float, float, int]] = []

    def rates(self, now: float, simulated: float, frames: int) -> tuple[float, float]:
        """-> simulated seconds and frames a second."""
        self._past = [entry for entry in self._past if now - entry[0] < 1.2]
        self._past.append((now, simulated, frames))
        then, before, sent = self._past[0]
        span = max(now - then, 1e-9)
        return max(simulated - before, 0.0) / span, (frames - sent) / span


def _server(host: str, port: int) -> ViserServer:
    """A viser server that cannot be asked to open a tunnel to the outside."""
    server = quiet_server(host, port)
    server.request_share_url = _refuse_tunnel  # any page could ask for one
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
    server.gui.set_panel_label("mcsim")
    server.gui.main_panel.dock_right()
    return server


def _refuse_tunnel(*_: Any, **__: Any) -> None:
    return None


def view(
    worlds: World | Sequence[World],
    *,
    names: Sequence[str] | None = None,
    host: str = HOST,
    port: int = PORT,
    open_browser: bool | None = None,
    playing: bool = False,
) -> View:
    """Show one to four worlds of one scene on a page in the browser, where they are played in step and touched. -> View

    names: what the worlds are called. host: on which address the page is served: 127.0.0.1 is this machine alone; under any
    other one everybody who reaches the machine by it can play with the worlds, of which a warning tells. port: the next
    free one from it on. open_browser: whether to open the page; None: if there is a display, and no notebook, which shows
    the page by itself where the view is a cell's value. playing: whether it begins at once.

    It returns at once: the worlds are played by a thread of the view, to which they belong until `close()`; `wait()` waits
    for Ctrl-C. It needs viser: pip install 'mcsim-physics[view]'.
    """
    require_viser()
    try:
        host, port = text(host, "host"), count(port, "port", 0, 65535)
    except FieldError as error:
        raise SceneError(f"view: {error}") from None
    session = Session([worlds] if isinstance(worlds, World) else list(worlds), names)
    session.playing = bool(playing)
    shown = View(session, host, port)
    if warning_of(host):
        warnings.warn(warning_of(host), stacklevel=3)
    if has_display() and not in_notebook() if open_browser is None else open_browser:
        import webbrowser

        webbrowser.open(shown.url)
    return shown
