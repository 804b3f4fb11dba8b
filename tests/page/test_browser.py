"""The page in a real browser: both ways end to end, with and without a script, wide and narrow.

Needs Debian's chromium and chromium-driver. The accessibility checker is axe-core from npm, which
`.ci/run` puts into .venv/axe; without it everything else is tested.
"""

import json
import os
import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from browsers import CHROMIUM, DRIVER, browser, look, serve
from page_visitor import write_deaths

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromium-driver is missing"),
]
pytest.importorskip("selenium")

ROOT = Path(__file__).parents[2]
AXE = Path(os.environ.get("HOLDFAST_AXE", ROOT / ".venv/axe/node_modules/axe-core/axe.min.js"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    place = tmp_path_factory.mktemp("browser")
    (place / "tables").mkdir()
    write_deaths(place / "tables" / "deaths.csv", rows=120)
    return place


@pytest.fixture(scope="module")
def served(tables):
    page = serve(tables / "tables", tables / "private")
    yield page
    page.stop()


@pytest.fixture(scope="module")
def chrome(served):
    with browser() as driver:
        driver.get(served.address)
        yield driver


class Hands:
    """Somebody who fills in the page."""

    def __init__(self, driver):
        self.driver = driver

    def one(self, css):
        return self.driver.find_element("css selector", css)

    def type(self, css, text):
        field = self.one(css)
        field.clear()
        field.send_keys(text)

    def tick(self, css):
        if not self.one(css).is_selected():
            self.one(css).click()

    def press(self, css):
        self.one(css).click()

    @property
    def words(self):
        """What the page says; while it changes, nothing."""
        from selenium.common.exceptions import WebDriverException

        try:
            return self.one("main").text
        except WebDriverException:
            return ""

    def until(self, words):
        end = time.monotonic() + 180
        while words not in self.words:
            assert time.monotonic() < end, self.words
            time.sleep(0.1)

    def to_form(self):
        self.driver.get(f"http://{urlsplit(self.driver.current_url).netloc}/")
        self.until("I have a table to publish")
        self.type("#path", "deaths.csv")
        self.press('form[action="/drafts"] button')
        self.until("NOT PRIVATE")

    def fill(self, out):
        self.tick('input[name="count"][value="deaths"]')
        for name in ("keep", "within"):
            self.tick(f'input[name="{name}"][value="state"]')
        self.type("#f-epsilon", "2")
        self.type("#f-out", out)
        self.press('button[value="check"]')
        self.until("A run would spend")


def serious(driver):
    """What axe finds that is serious or worse, each with where it is."""
    if not AXE.is_file():
        return []
    driver.execute_script(AXE.read_text())
    return driver.execute_async_script(
        "const done = arguments[0]; axe.run({resultTypes: ['violations']}).then(r => done("
        "r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => [v.id, v.nodes.map(n => n.target.join(' ')).slice(0, 3)])))"
    )


def foreign_requests(driver, served):
    """Addresses other than the page's own that the browser asked for."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    own = (served.root, "data:", "blob:", "chrome", "about:")
    return [url for url in asked if not url.startswith(own)]


def test_the_stewards_way_and_the_analysts(chrome, served, tables):
    hands = Hands(chrome)
    assert serious(chrome) == []
    hands.to_form()
    assert serious(chrome) == []
    hands.type("#f-epsilon", "-1")
    hands.press('button[value="check"]')
    hands.until("must be positive")
    assert "NOT PRIVATE" in hands.words and serious(chrome) == []
    hands.fill("first")
    assert serious(chrome) == []
    chrome.execute_script("const b = document.querySelector('.act'); b.click(); b.click();")
    hands.until("recomputed and holds")
    assert serious(chrome) == []
    assert [path.name for path in (tables / "tables").glob("first*")] == ["first"]
    hands.press('a[href$="/ask"]')
    hands.until("The answer says how sure it is")
    hands.type("#question", "top 5")
    hands.press("main form button")
    hands.until("among the 5 highest")
    assert serious(chrome) == []
    assert foreign_requests(chrome, served) == []
    assert chrome.get_log("browser") == []


def test_a_run_is_cancelled(chrome, tables):
    import fcntl

    hands = Hands(chrome)
    hands.to_form()
    hands.fill("cancelled")
    (queue,) = [place / "queue" for place in (tables / "private").iterdir()]
    with queue.open("ab") as held:  # another run is under way: this one waits
        fcntl.flock(held, fcntl.LOCK_EX)
        hands.press("button.act")
        hands.until("Waiting for another release")
        assert serious(chrome) == []
        hands.press("#cancel button")
        hands.until("Cancelled")
    hands.until("Nothing was measured or spent")
    assert not (tables / "tables" / "cancelled").exists()


def test_the_whole_way_without_a_script(chrome, served, tables):
    with browser(script=False) as driver:
        driver.get(served.next_address())
        hands = Hands(driver)
        hands.to_form()
        hands.fill("plain")
        hands.press("button.act")
        hands.until("recomputed and holds")  # the page looks again by itself
        assert (tables / "tables" / "plain" / "table.csv").exists()


def test_nothing_is_wider_than_a_telephone(chrome, served, bundle, tables):
    hands = Hands(chrome)
    shutil.copytree(bundle, tables / "tables" / "narrow")
    look(chrome, width=400, dark=True)
    try:
        hands.to_form()
        hands.fill("narrow-2")
        pages = ["/", urlsplit(chrome.current_url).path]
        chrome.get(served.root)
        hands.type("#release", "narrow")
        hands.press('form[action="/releases"] button')
        hands.until("recomputed and holds")
        release = urlsplit(chrome.current_url).path
        for page in [*pages, release, f"{release}/ask?question=top+5"]:
            chrome.get(served.root + page)
            hands.until("e")
            width = chrome.execute_script("return document.documentElement.scrollWidth")
            assert width <= 400, (page, width)
            assert serious(chrome) == [], page
    finally:
        look(chrome)


def test_the_keyboard_alone_is_enough(chrome, served):
    from selenium.webdriver.common.keys import Keys

    chrome.get(served.root)
    hands = Hands(chrome)
    hands.until("I have a table to publish")
    for _ in range(20):
        chrome.switch_to.active_element.send_keys(Keys.TAB)
        if chrome.switch_to.active_element.get_attribute("id") == "path":
            break
    chrome.switch_to.active_element.send_keys("deaths.csv", Keys.ENTER)
    hands.until("NOT PRIVATE")
