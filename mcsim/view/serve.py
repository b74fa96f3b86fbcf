"""One page, given to whoever asks for it on this machine."""

from __future__ import annotations  # signatures read as they are written here

import errno
import os
import webbrowser
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mcsim.core.errors import SceneError

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
        if has_screen():
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


def has_screen() -> bool:
    """Whether a browser can be opened where this runs."""
    return os.name != "posix" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


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
