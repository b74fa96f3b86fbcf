"""Who may speak to the server of a live view: its own pages and programs, and no page from elsewhere."""

import asyncio
import contextlib
import importlib.util
import socket
import types
import urllib.error
import urllib.request

import pytest

import mcsim as mc

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(not importlib.util.find_spec("viser"), reason="viser is not installed: pip install -e '.[view]'"),
]


@pytest.fixture(scope="module")
def view():
    with mc.view(mc.World(mc.load("chain", count=2)), port=0, open_browser=False) as found:
        yield found


def port_of(view):
    return int(view.url.rsplit(":", 1)[1])


def answer(view, origin=None, host="127.0.0.1"):
    """The status of a WebSocket's handshake from a page of an origin; 101: it is open."""
    import viser
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    protocol, port = [f"viser-v{viser.__version__}"], port_of(view)
    with contextlib.closing(socket.create_connection(("127.0.0.1", port))) as wire:
        try:
            with connect(f"ws://{host}:{port}", origin=origin, subprotocols=protocol, max_size=None, sock=wire) as page:
                assert page.recv(timeout=30)  # what a page is shown
                return 101
        except InvalidStatus as error:
            return error.response.status_code


def test_pages_of_the_view_are_let_in(view):
    """By each name that this machine has for itself; and programs, which say no origin, or any that they like."""
    port = port_of(view)
    assert answer(view) == 101
    assert answer(view, f"http://127.0.0.1:{port}") == 101
    assert answer(view, f"http://localhost:{port}", "localhost") == 101
    assert answer(view, f"http://LOCALHOST:{port}", "localhost") == 101


def test_pages_from_elsewhere_are_refused(view):
    """Other hosts, other ports, pages without a host, and names that somebody lets point to this machine."""
    port = port_of(view)
    for origin in (
        "http://evil.example",
        f"http://evil.example:{port}",
        f"http://127.0.0.1:{port + 1}",
        "http://127.0.0.1",
        f"http://127.0.0.1:{port}.evil.example",
        f"http://evil.example/127.0.0.1:{port}",
        f"http://localhost:{port}",  # a page that another server gave, under another name of this machine
        "null",  # a file, or a frame in a sandbox
        "http://[",
        "",
    ):
        assert answer(view, origin) == 403, origin
    assert answer(view, f"http://evil.example:{port}", "evil.example") == 403
    assert len(view._server.get_clients()) == 0


def test_other_pages_cannot_read_it_either(view):
    """A plain request with an origin from elsewhere is refused; one without is the page."""
    request = urllib.request.Request(view.url, headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=30)
    assert b"<html" in urllib.request.urlopen(view.url, timeout=30).read().lower()


def test_which_hosts_are_this_machine():
    from mcsim.view.origins import is_local

    assert all(map(is_local, ("127.0.0.1", "127.9.9.9", "localhost", "LocalHost", "view.localhost", "::1", "[::1]")))
    assert not any(map(is_local, ("0.0.0.0", "::", "192.168.1.2", "localhost.evil.example", "127.0.0.1.evil.example", "")))


def test_a_server_for_others_lets_in_its_own_pages_by_any_name():
    """What is served to the network is reached by names that it does not know; other pages are still refused."""
    from websockets.datastructures import Headers

    from mcsim.view.origins import is_own

    for local in (False, True):
        own = Headers([("Origin", "http://lab7:8080"), ("Host", "lab7:8080")])
        assert is_own(own, local) is not local
        assert not is_own(Headers([("Origin", "http://evil.example"), ("Host", "lab7:8080")]), local)
        assert not is_own(Headers([("Origin", "http://lab7:8080")]), local)
        assert not is_own(
            Headers([("Origin", "http://lab7:8080"), ("Origin", "http://evil.example"), *own.raw_items()]), local
        )


def test_a_viser_that_cannot_be_guarded_serves_nothing(monkeypatch):
    """Where the check finds no place in another version of viser, the server is stopped and the error says so."""
    import viser

    stopped = []
    made = types.SimpleNamespace(stop=lambda: stopped.append(True))
    monkeypatch.setattr(viser, "ViserServer", lambda **_: made)
    with pytest.raises(mc.SceneError, match=r"viser 1.* cannot be kept from answering other pages: pip install"):
        mc.view(mc.World(mc.load("chain", count=2)), port=0, open_browser=False)
    assert stopped == [True]


def test_other_servers_of_the_program_are_left_alone():
    """A WebSocket server that is made meanwhile by anybody else is what it would be by itself."""
    import websockets.asyncio.server as library

    from mcsim.view.origins import own_pages_only

    async def check():
        made = library.serve(print, "127.0.0.1", 0)
        assert isinstance(made, plain)
        async with made as server:
            assert server.process_request is None

    plain = library.serve
    with own_pages_only("127.0.0.1") as guarded:
        assert library.serve is not plain
        asyncio.run(check())
    assert library.serve is plain and not guarded


def test_serving_to_others_is_warned_of():
    """In Python by a warning, on the command line by a line; a host that is none is an error, and nothing is served."""
    with pytest.warns(UserWarning, match="no password") as caught:
        mc.view(mc.World(mc.load("chain", count=2)), host="0.0.0.0", port=0, open_browser=False).close()
    assert caught[0].filename == __file__
    with pytest.raises(mc.SceneError, match="host 'no such host'"):
        mc.view(mc.World(mc.load("chain", count=2)), host="no such host", port=0, open_browser=False)
