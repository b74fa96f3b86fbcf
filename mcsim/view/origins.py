"""Which pages in a browser may speak to a server of viser: those that it served itself.

A browser lets any page open a WebSocket to any address, and says in the header Origin where the page is from: the check is
left to the server, and viser makes none.
"""

from __future__ import annotations  # signatures read as they are written here

import ipaddress
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from websockets.datastructures import Headers

REFUSAL = b"this server answers only the pages that it served itself\n"
_one_at_a_time = threading.Lock()


def is_local(host: str) -> bool:
    """Whether a host, as an address has it, is this machine as seen by itself alone."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_own(headers: Headers, local: bool) -> bool:
    """Whether a request comes from a page that the server itself served, or from no page. local: whether the server is
    there for this machine alone.

    What says no origin is no page, since browsers always say it; another program could say any, and is not what this is
    against. Where the server is local the page's host has to be, too: whose name is resolved to 127.0.0.1 by somebody
    else is a page of that somebody.
    """
    origins, hosts = headers.get_all("Origin"), headers.get_all("Host")
    if not origins:
        return True
    if len(origins) > 1 or len(hosts) != 1:
        return False
    try:
        page, host = urlsplit(origins[0]), urlsplit(f"//{hosts[0]}")
        return page.netloc.lower() == host.netloc.lower() != "" and (not local or is_local(host.hostname or ""))
    except ValueError:
        return False


@contextmanager
def own_pages_only(host: str) -> Iterator[list[bool]]:
    """A block that makes a server of viser, which listens on a host: it answers other pages by 403. It is given a list that
    is still empty at the end where another version of viser makes its server in another way.

    viser hands no such check on to the library under it, so that library's `serve` is given one on the way.
    """
    import websockets.asyncio.server as library
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    local, plain = is_local(host), library.serve
    guarded: list[bool] = []

    def serve(handler: Any, *arguments: Any, **keywords: Any) -> Any:
        answer: Callable[..., Any] | None = keywords.get("process_request")
        if not getattr(handler, "__module__", "").startswith("viser."):
            return plain(handler, *arguments, **keywords)

        def answer_own(connection: Any, request: Any) -> Any:
            if not is_own(request.headers, local):
                return Response(HTTPStatus.FORBIDDEN, "Forbidden", Headers({"Content-Length": str(len(REFUSAL))}), REFUSAL)
            return None if answer is None else answer(connection, request)

        guarded.append(True)
        return plain(handler, *arguments, **keywords | {"process_request": answer_own})

    with _one_at_a_time:
        library.serve = serve  # type: ignore[assignment, misc]
        try:
            yield guarded
        finally:
            library.serve = plain  # type: ignore[misc]
