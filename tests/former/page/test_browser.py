"""The page in a real browser: both ways end to end, with and without a script, wide and narrow.

Needs Debian's chromium and chromium-driver. The accessibility checker is axe-core from npm, which
`.ci/run` puts into .venv/axe; without it everything else is tested.
"""

import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import holdfast.former as holdfast
from browsers import CHROMIUM, DRIVER, browser, look, serve
from holdfast.former.ledger.ledger import Ledger
from page_visits import write_counties

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromium-driver is missing"),
]
pytest.importorskip("selenium")

ROOT = Path(__file__).parents[2]
AXE = Path(os.environ.get("HOLDFAST_AXE", ROOT / ".venv/axe/node_modules/axe-core/axe.min.js"))
FURTHEST_CELL = (
    "Math.max(0, ...[...document.querySelectorAll('.stack tbody :is(th, td)')]"
    ".map(cell => cell.getBoundingClientRect().right))"
)
ROLES = {"county": "category", "population": "classes", "deaths": "count"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A table as CSV, Parquet and Excel, and a ledger with little left."""
    pandas = pytest.importorskip("pandas")
    place = tmp_path_factory.mktemp("browser")
    (place / "tables").mkdir()
    frame = pandas.read_csv(write_counties(place / "tables" / "deaths.csv", rows=120))
    frame.to_parquet(place / "tables" / "deaths.parquet")
    with pandas.ExcelWriter(place / "tables" / "deaths.xlsx", engine="xlsxwriter") as book:
        frame.to_excel(book, sheet_name="Deaths", index=False, startrow=2)
    Ledger(place / "tables" / "budget.ledger").set_limit("deaths", epsilon="0.5")
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
    """Somebody who fills in the page, reloading as they go."""

    def __init__(self, driver):
        self.driver = driver

    def one(self, css):
        return self.driver.find_element("css selector", css)

    def type(self, css, text):
        field = self.one(css)
        field.clear()
        field.send_keys(text)

    def press(self, css="button[value=on]"):
        self.one(css).click()

    def choose(self, css, value):
        self.one(f'{css} option[value="{value}"]').click()

    @property
    def words(self):
        """What the page says; while it changes, nothing."""
        from selenium.common.exceptions import WebDriverException

        try:
            return self.one("main").text
        except WebDriverException:
            return ""

    def until(self, words):
        end = time.monotonic() + 120
        while words not in self.words:
            assert time.monotonic() < end, self.words
            time.sleep(0.05)

    def press_until(self, css, words):
        """Press, and again where the page was just being shown anew and did not hear it."""
        from selenium.common.exceptions import WebDriverException

        end = time.monotonic() + 120
        while words not in self.words:
            assert time.monotonic() < end, self.words
            with suppress(WebDriverException):
                self.press(css)
            time.sleep(1)

    def to_budget(self, path, roles=ROLES, *, reload=False):
        self.driver.get(f"http://{urlsplit(self.driver.current_url).netloc}/")
        self.type("#path", path)
        self.press('form[action="/drafts"] button')
        self.until("NOT PRIVATE")
        self.press()
        self.until("What is in each column?")
        for column, role in roles.items():
            self.choose(f'select[name="role:{column}"]', role)
        self.press()
        if "classes" in roles.values():
            self.until("Numbers that nothing protects")
            self.again(reload)
            self.press('input[name="public"]')
            self.press()
        self.until("Who is protected?\n")
        self.again(reload)
        self.press()
        self.until("How much may be learned?")
        self.again(reload)

    def reload_until(self, css, value):
        """Reload until a field holds what was typed: it is kept a moment later."""
        end = time.monotonic() + 60
        self.driver.refresh()
        while self.one(css).get_attribute("value") != value:
            assert time.monotonic() < end
            time.sleep(0.1)
            self.driver.refresh()

    def again(self, reload):
        if reload:
            self.driver.refresh()

    def fill_budget(self, **fields):
        for name, text in {"epsilon": "2", "max_count": "4", **fields}.items():
            self.type(f'input[name="{name}"]', text)


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


def test_the_stewards_way_by_group_with_a_reload_at_every_step(chrome, served, tables):
    hands = Hands(chrome)
    assert serious(chrome) == []
    hands.to_budget("deaths.csv", reload=True)
    hands.fill_budget()
    hands.press("button[data-looks]")
    hands.until("88% sure")
    hands.until("points on average")
    assert serious(chrome) == []
    chrome.refresh()
    assert hands.one("#epsilon").get_attribute("value") == "2"
    hands.press('input[name="totals"]')
    hands.press()
    hands.until("groups of")
    assert serious(chrome) == []
    hands.type("#out", "first")
    chrome.execute_script("const b = document.querySelector('.act'); b.click(); b.click();")
    hands.until("recomputed and holds")
    chrome.refresh()
    hands.until("add up to")
    assert serious(chrome) == []
    assert [path.name for path in (tables / "tables").glob("first*")] == ["first"]
    assert foreign_requests(chrome, served) == []
    assert chrome.get_log("browser") == []


def test_the_analysts_way(chrome, served, tables, bundle):
    hands = Hands(chrome)
    shutil.copytree(bundle, tables / "tables" / "one")
    again = {"count": "deaths", "category": "county", "epsilon": 2, "max_count": 4}
    holdfast.privatize(tables / "tables" / "deaths.csv", **again).save(tables / "tables" / "three")
    chrome.get(served.root)
    hands.type("#release", "one")
    hands.press('form[action="/releases"] button')
    hands.until("recomputed and holds")
    assert serious(chrome) == []
    chrome.find_element("link text", "Ask").click()
    hands.type('input[name="count"]', "2")
    hands.press("form button")
    hands.until("share of rows with 2 or more")
    assert serious(chrome) == []
    chrome.find_element("link text", "Table").click()
    hands.type("#search", "C00")
    hands.press('form[role="search"] button')
    hands.until("10 of 80 rows")
    assert serious(chrome) == []
    chrome.find_element("link text", "Compare").click()
    hands.one("#with").send_keys("three")
    hands.press("form button")
    hands.until("row by row")
    assert serious(chrome) == []
    chrome.find_element("link text", "Words explained").click()
    hands.until("epsilon")
    assert serious(chrome) == []
    assert foreign_requests(chrome, served) == []


def test_a_dropped_zip_is_opened(chrome, served, bundle, tmp_path):
    shutil.make_archive(str(tmp_path / "r"), "zip", bundle)
    chrome.get(served.root)
    hands = Hands(chrome)
    hands.one("#zip").send_keys(str(tmp_path / "r.zip"))
    hands.press('form[action="/releases"] button')
    hands.until("recomputed and holds")


def test_a_ledger_that_refuses_and_a_way_back(chrome, tables):
    hands = Hands(chrome)
    hands.to_budget("deaths.xlsx", {"county": "category", "deaths": "count"})
    hands.fill_budget(ledger="budget.ledger", dataset="deaths")
    hands.press()
    hands.until("the ledger will refuse it")
    hands.type("#out", "refused")
    hands.press("button.act")
    hands.until("holdfast refused")
    hands.until("Nothing was drawn or spent")
    assert serious(chrome) == []
    assert not (tables / "tables" / "refused").exists()
    hands.press("a.button")
    assert hands.one("#out").get_attribute("value") == "refused"


def test_a_run_is_cancelled(chrome, tables):
    import fcntl

    hands = Hands(chrome)
    hands.to_budget("deaths.csv", {"county": "category", "deaths": "count"})
    hands.fill_budget()
    hands.press()
    (queue,) = [place / "queue" for place in (tables / "private").iterdir()]
    with queue.open("ab") as held:  # another run is under way: this one waits
        fcntl.flock(held, fcntl.LOCK_EX)
        hands.type("#out", "cancelled")
        hands.press("button.act")
        hands.until("Waiting for another release")
        assert serious(chrome) == []
        hands.press_until("form button", "Cancelled")
    hands.until("Nothing was drawn or spent")
    assert not (tables / "tables" / "cancelled").exists()


def test_the_keyboard_alone_is_enough(chrome, served):
    from selenium.webdriver.common.keys import Keys

    chrome.get(served.root)
    hands = Hands(chrome)
    reached = []
    for _ in range(12):
        chrome.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(chrome.switch_to.active_element.get_attribute("id"))
        if reached[-1] == "path":
            break
    assert reached[-1] == "path"
    chrome.switch_to.active_element.send_keys("deaths.parquet", Keys.ENTER)
    hands.until("NOT PRIVATE")


@pytest.fixture
def narrow(chrome):
    """The same browser as a telephone would be, in the dark."""
    look(chrome, width=400, dark=True)
    yield chrome
    look(chrome)


def test_nothing_is_wider_than_a_telephone(narrow, served, bundle, tables):
    for name in ("narrow", "second"):
        shutil.copytree(bundle, tables / "tables" / name)
    hands = Hands(narrow)
    pages = ["/", "/glossary"]
    hands.to_budget("deaths.csv", {"county": "category", "deaths": "count"})
    hands.fill_budget()
    hands.press()
    hands.until("What happens")
    draft = urlsplit(narrow.current_url).path.rpartition("/")[0]
    pages += [f"{draft}/{step}" for step in ("file", "columns", "protected", "budget")]
    narrow.get(served.root)
    hands.type("#release", "narrow")
    hands.press('form[action="/releases"] button')
    hands.until("recomputed and holds")
    release = urlsplit(narrow.current_url).path
    pages += [release + part for part in ("", "/ask?what=top&top=3", "/table")]
    narrow.get(f"{served.root}{release}/compare")
    other = hands.one("#with option").get_attribute("value")
    pages.append(f"{release}/compare?with={other}")
    for page in pages:
        narrow.get(served.root + page)
        width = narrow.execute_script("return document.documentElement.scrollWidth")
        assert width <= 400, (page, width)
        assert narrow.execute_script(f"return {FURTHEST_CELL}") <= 400, page
        assert serious(narrow) == [], page


def test_the_whole_way_without_a_script(served, tables):
    with browser(script=False) as driver:
        driver.get(served.next_address())
        hands = Hands(driver)
        hands.to_budget("deaths.parquet", {"county": "category", "deaths": "count"})
        hands.fill_budget()
        hands.press("button[data-looks]")
        hands.until("88% sure")
        hands.until("points on average")
        hands.press()
        hands.type("#out", "plain")
        hands.press("button.act")
        hands.until("recomputed and holds")  # the page looks again by itself
        assert (tables / "tables" / "plain" / "table.parquet").exists()


def test_what_is_typed_survives_a_reload_and_a_page_from_before_is_shown_anew(chrome, tables):
    import fcntl

    hands = Hands(chrome)
    hands.to_budget("deaths.csv", {"county": "category", "deaths": "count"})
    hands.fill_budget()
    hands.press()
    hands.until("What happens")
    hands.type("#out", "typed\t")
    hands.reload_until("#out", "typed")
    (queue,) = [place / "queue" for place in (tables / "private").iterdir()]
    with queue.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        hands.press("button.act")
        hands.until("Waiting for another release")
        chrome.back()
        hands.until("Waiting for another release")
        assert chrome.find_elements("css selector", "button.act") == []
        hands.press_until("#cancel button", "Cancelled")
