"""The live view in a real browser: Chromium without a window, which draws by software.

It needs a Chromium (Debian: apt install chromium) and the package playwright, which drives it; neither is fetched.
"""

import io
import shutil
import time

import numpy as np
import pytest

import mcsim as mc

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SIZE = {"width": 900, "height": 560}
PATIENCE = 180.0  # [s] of a busy machine that draws by software

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt install chromium"),
]
pytest.importorskip("viser", reason="viser is not installed: pip install -e '.[view]'")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")


def toys():
    """A box on the floor, and a pendulum."""
    scene = mc.Scene(name="toys")
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("box", shape=mc.Box((0.3, 0.3, 0.3)), position=(-1, 0, 0.3))
    scene.add_body("rod", shape=mc.Capsule(0.1, 0.4), position=(1, 0, 1.0))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(1, 0, 1.5), axis=(0, 1, 0), name="pivot"))
    return scene


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


class Visitor:
    """One page in the browser, and all that its console said."""

    def __init__(self, browser, view, around=None):
        """around: a page that has the view in a frame, instead of the view itself."""
        self.view, self.page, self.said = view, browser.new_page(viewport=SIZE), []
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", lambda message: self.said.append((message.type, message.text)))
        self.page.on("pageerror", lambda error: self.said.append(("error", str(error))))
        self.open(around)

    def open(self, around=None):
        if around is None:
            self.page.goto(self.view.url)
            self.page.wait_for_selector("canvas")
        else:
            self.page.set_content(around)
            self.page.frame_locator("iframe").locator("canvas").first.wait_for()
        self.wait(lambda: self.clients())

    def clients(self):
        return list(self.view._server.get_clients().values())

    def wait(self, done, what="it"):
        end = time.monotonic() + PATIENCE
        while not done():
            session = self.view.session
            assert time.monotonic() < end, (
                f"{what} did not happen within {PATIENCE:g} s; the console said {self.said}, the session "
                f"{list(session.messages)}; playing: {session.playing}, t = {session.time:.2f} s"
            )
            self.page.wait_for_timeout(100)

    def picture(self, path=None):
        """(h, w, 3) what is on the page, as a camera would see it, not as the DOM tells it."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.page.screenshot(path=path))).convert("RGB"), float) / 255.0

    def pixel(self, point):
        """(2,) where a point of the world is on the page."""
        camera = self.clients()[-1].camera
        canvas = self.page.locator("canvas").first.bounding_box()
        back = camera.position - camera.look_at
        back /= np.linalg.norm(back)
        right = np.cross((0, 0, 1), back)
        right /= np.linalg.norm(right)
        local = np.stack([right, np.cross(back, right), back]) @ (np.asarray(point) - camera.position)
        scale = canvas["height"] / 2 / np.tan(camera.fov / 2)
        return (
            canvas["x"] + canvas["width"] / 2 - scale * local[0] / local[2],
            canvas["y"] + canvas["height"] / 2 + scale * local[1] / local[2],
        )

    def color_at(self, point):
        x, y = self.pixel(point)
        return self.picture()[int(y), int(x)]

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def errors(self):
        """What the console calls errors, but for one line of viser's own about the wheel and touch."""
        return [text for kind, text in self.said if kind == "error" and "inside passive event listener" not in text]


def body(view, name):
    """Its centre in the newest frame: the worlds are the view's own meanwhile."""
    frame = view._frame.worlds[0]
    return frame.centers[[part.name for part in frame.scene.bodies].index(name)]


def is_colored(color):
    """Of a body, also one that sleeps and is pale, not of the ground or the background."""
    return color.max() - color.min() > 0.08


def test_a_person_plays(browser, tmp_path):
    """The scene is seen, buttons work, a body follows the mouse, a reloaded page and a second one lose nothing."""
    world = mc.World(toys())
    with mc.view(world, port=0, open_browser=False) as view:
        visitor = Visitor(browser, view)
        # Pixels: both bodies where the camera has them, and nothing there where neither is.
        visitor.wait(lambda: is_colored(visitor.color_at((-1, 0, 0.3))), "the box in the picture")
        assert is_colored(visitor.color_at((1, 0, 1.0)))
        assert not is_colored(visitor.color_at((0, 0, 0.9)))
        visitor.picture(tmp_path / "opened.png")

        # Buttons.
        visitor.press("Step")
        visitor.wait(lambda: view.session.time == pytest.approx(1 / 60), "a step")
        visitor.press("Play")
        visitor.wait(lambda: view.session.time > 0.5, "playing")
        visitor.press("Pause")
        visitor.wait(lambda: not view.session.playing, "a pause")
        stopped = view.session.time
        visitor.press("◀ Back")
        visitor.wait(lambda: view.session.time < stopped, "going back")
        visitor.press("Reset")
        visitor.wait(lambda: view.session.time == 0.0, "the beginning")

        # The mouse: the box goes to where it is dragged, and its picture with it.
        visitor.press("Play")
        x, y = visitor.pixel((-1, 0, 0.3))
        mouse = visitor.page.mouse
        mouse.move(x, y)
        mouse.down()
        for k in range(1, 9):
            mouse.move(x + 15 * k, y - 15 * k)
            visitor.page.wait_for_timeout(60)
        visitor.wait(lambda: view.session.hand is not None, "a hand")

        def pulled():
            mouse.move(x + 121, y - 121)  # a busy page may have missed the last move
            mouse.move(x + 120, y - 120)
            return np.abs(np.subtract(visitor.pixel(view.session.hand.target), (x + 120, y - 120))).max() < 15

        visitor.wait(pulled, "the hand where the mouse is")
        visitor.wait(lambda: body(view, "box")[2] > 0.43 and body(view, "box")[0] > -0.8, "the box in the hand")
        visitor.wait(lambda: np.linalg.norm(view.session.hand.point(view.worlds[0]) - view.session.hand.target) < 0.05)
        held = visitor.pixel(view.session.hand.point(view.worlds[0]))
        assert np.hypot(held[0] - x - 120, held[1] - y + 120) < 30
        assert is_colored(visitor.color_at(body(view, "box")))
        visitor.picture(tmp_path / "dragged.png")
        mouse.up()
        visitor.wait(lambda: view.session.hand is None, "the hand open")
        visitor.wait(lambda: body(view, "box")[2] < 0.32, "the box on the floor")

        # Things fly in; a page that is loaded again, and a second one, see them, too.
        visitor.press("ball")
        visitor.wait(lambda: len(view._frame.worlds[0].scene.bodies) == 4, "a ball")
        visitor.press("Pause")
        visitor.wait(lambda: not view.session.playing)
        visitor.open()
        visitor.wait(lambda: is_colored(visitor.color_at(body(view, "box"))), "the box after loading")
        visitor.picture(tmp_path / "loaded_again.png")
        other = Visitor(browser, view)  # two that draw by software at once take minutes: of this one the DOM alone
        other.page.get_by_text(f"{view.session.time:.3f} s").wait_for()
        before = view.session.time
        visitor.page.close()
        other.press("Step")
        other.wait(lambda: view.session.time > before, "a step by the other page")
        assert not visitor.errors() and not other.errors()
    assert "thrown1" in world.body_names


def test_ghosts_switches_and_wrong_values(browser, tmp_path):
    """Two methods over each other; lines that are switched on are seen; a wrong value is answered on the page."""
    methods = ("maximal:si+baumgarte", "reduced:aba")
    worlds = [mc.lab.methods.parse(name).world(toys(), 1 / 120) for name in methods]
    with mc.view(worlds, names=methods, port=0, open_browser=False, playing=True) as view:
        visitor = Visitor(browser, view)
        visitor.wait(lambda: sum(is_colored(color) for color in visitor.picture()[:, :600].reshape(-1, 3)[::97]) > 20)
        visitor.picture(tmp_path / "side_by_side.png")
        visitor.page.get_by_label("Contact forces").check()
        visitor.wait(lambda: "contacts" in view._frame.worlds[0].lines, "contact forces")

        def reds():
            found = visitor.picture()
            return int(((found[..., 0] > 0.7) & (found[..., 1] < 0.3) & (found[..., 2] < 0.3)).sum())

        visitor.wait(lambda: reds() > 5, "arrows in the picture")
        visitor.picture(tmp_path / "forces.png")
        view._ask(view._server.get_clients()[max(view._server.get_clients())], "kick", body="box", velocity=(1e9, 0, 0))
        visitor.page.get_by_text("velocity must be no longer than 100").wait_for()
        view.session.submit("kick", body="nobody", velocity=(0, 0, 1))
        visitor.page.get_by_text("nobody").first.wait_for()
        assert not visitor.errors()


def test_marks_are_clicked(browser, tmp_path):
    """A joint's mark beside its body, and one of a contact at a corner: each tells its rows on the page."""
    with mc.view(mc.World(toys(), joint_solver="rows"), port=0, open_browser=False) as view:
        visitor = Visitor(browser, view)
        visitor.page.get_by_label("Joints and their axes").check()
        visitor.page.get_by_label("Contact forces").check()
        view.session.submit("step", count=30)
        visitor.wait(lambda: len(view._frame.worlds[0].marks.get("contact", ((),))[0]) == 4, "marks")
        joint, contact = (view._frame.worlds[0].marks[kind] for kind in ("joint", "contact"))
        eye = np.array(visitor.clients()[0].camera.position)

        def click(point, words):
            def told():
                visitor.page.mouse.click(*visitor.pixel(point))
                visitor.page.wait_for_timeout(500)
                return all(word in view._panel.selected.content for word in words)

            visitor.wait(told, f"a click that tells {words}")

        click(joint.positions[0] + (0, 0.7 * joint.halves[0].max() * np.sign(eye[1]), 0), ("pivot", "joint 0|"))
        visitor.page.get_by_text("hinge of the world and rod").wait_for()
        visitor.picture(tmp_path / "joint.png")
        k = np.argmin(np.linalg.norm(contact.positions - eye, axis=1))
        out = contact.positions[k] - body(view, "box")
        out = np.array((*(np.sign(out[:2]) / np.sqrt(2)), 0.0))
        click(contact.positions[k] + 0.4 * contact.halves[k] * out, ("4 contact points", "normal 0|"))
        visitor.picture(tmp_path / "contact.png")
        click(body(view, "box"), ("**box**: dynamic",))
        assert not visitor.errors()


def test_a_notebook_shows_the_page(browser, tmp_path):
    """In a frame of another page, as a notebook's cell is one, the scene is seen, and its buttons work."""
    with mc.view(mc.World(toys()), port=0, open_browser=False) as view:
        visitor = Visitor(browser, view, f"<h3>In [1]: mc.view(world)</h3>{view._repr_html_()}")
        visitor.wait(lambda: sum(is_colored(color) for color in visitor.picture().reshape(-1, 3)[::97]) > 20)
        visitor.page.frame_locator("iframe").get_by_role("button", name="Step", exact=True).click()
        visitor.wait(lambda: view.session.time == pytest.approx(1 / 60), "a step")
        visitor.picture(tmp_path / "notebook.png")
        assert not visitor.errors()
