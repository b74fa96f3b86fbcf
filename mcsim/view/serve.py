"""Pages for browsers: one page given to whoever asks for it, and servers of viser."""

from __future__ import annotations  # signatures read as they are written here

import contextlib
import errno
import io
import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from mcsim.core.errors import SceneError
from mcsim.view.origins import is_local, own_pages_only

if TYPE_CHECKING:
    from viser import ViserServer

TRIES = 20  # ports, from the one that is asked for


def serve(text: str, host: str, port: int, told: Callable[[str], Any]) -> None:
    """Serves the page until Ctrl-C, which ends it without an error. told(address) is called once it can be opened; where
    there is a screen, a browser opens it.

    port: the first that is free from there on; 0: any. SceneError if there is none, or no such host.
    """
    content = text.encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path in ("/", "/index.html")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content) if found else 0))
            self.end_headers()
            if found:
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    with _listening(host, port, Page) as server:
        address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{server.server_address[1]}/"
        told(address)
        if has_display():
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


def has_display() -> bool:
    """Whether a browser could be seen."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def in_notebook() -> bool:
    """Whether it is a notebook's kernel that runs this, and not a program or a terminal."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


def warning_of(host: str) -> str:
    """What serving a page on this address means, "" where only this machine reaches it."""
    if is_local(host):
        return ""
    return (
        f"the page is served on {host}: everybody who reaches this machine by it sees it, and in a live view can throw, "
        "drag and change things; there is no password and no encryption"
    )


def quiet_server(host: str, port: int) -> ViserServer:
    """A server of viser that answers its own pages alone, and prints nothing; viser itself tells its address, whatever one
    says. SceneError if this machine has no such host."""
    import viser

    _check_host(host)
    with contextlib.redirect_stdout(io.StringIO()), own_pages_only(host) as guarded:
        server = viser.ViserServer(host=host, port=port, verbose=False)
    if not guarded:  # better no server than an open one
        stop(server)
        raise SceneError(
            f"view: viser {viser.__version__} cannot be kept from answering other pages: pip install 'viser>=1.1,<1.2'"
        )
    return server


def _check_host(host: str) -> None:
    """Refuse an address that this machine cannot listen on: viser would try for ever."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
        with socket.socket(family, kind, protocol) as tried:
            tried.bind(address)
    except (OSError, UnicodeError) as error:
        raise SceneError(f"host {host!r}: {getattr(error, 'strerror', None) or error}") from None


def stop(server: ViserServer) -> None:
    """Stops it without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _listening(host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    for number in range(port, port + (TRIES if port else 1)):
        try:
            return ThreadingHTTPServer((host, number), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise SceneError(f"host {host!r}, port {number}: {error.strerror or error}") from None
        except OverflowError:
            break
    raise SceneError(f"host {host!r}: no port is free from {port} on; take another, or 0 for any that is free")
