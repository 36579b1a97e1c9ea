"""The web site as a reader meets it: typeset, searchable, within its window, accessible, and nobody else is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
from selenium.webdriver.support.ui import WebDriverWait
from site_building import site as site  # a fixture
from workplace import PATIENCE, Window

SIZES = {"wide": (1280, 800), "narrow": (390, 844)}
THEMES = ("light", "dark")
# One page of each kind; the marker `long` looks at all the others as well.
SOME = ("index", "lectures/02_self_attention", "labs/02_self_attention/02_self_attention", "docs/running", "search")
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
FIRST_PAINT = 2.0  # seconds, from a local server


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing; a browser that leaves early is no error."""

    def log_message(self, *_: object) -> None:
        pass

    def copyfile(self, source, outputfile) -> None:
        try:
            super().copyfile(source, outputfile)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@pytest.fixture(scope="module")
def home(site) -> Iterator[str]:
    """The address of the site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def window(tmp_path_factory) -> Iterator[Window]:
    window = Window(tmp_path_factory.mktemp("reader"), logs={"browser": "ALL", "performance": "ALL"})
    yield window
    window.close()


def pages(site: Path) -> list[str]:
    return sorted(path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html"))


def show(window: Window, address: str, size: str = "wide", theme: str = "light") -> None:
    """Open a page in a window of that size and theme, and wait until it is whole, formulas included."""
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "narrow"}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = [{"name": "prefers-color-scheme", "value": theme}]
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    window.driver.get(address)
    WebDriverWait(window.driver, PATIENCE).until(
        lambda driver: (
            driver.execute_script("return document.readyState === 'complete' && document.documentElement.dataset.theme")
            == theme
        )
    )
    window.driver.set_script_timeout(PATIENCE)
    window.driver.execute_async_script(
        "const done = arguments[0]; if (!document.querySelector('.math')) { done(); return; }"
        "const wait = () => window.MathJax?.startup?.promise"
        " ? MathJax.startup.promise.then(done) : setTimeout(wait, 50); wait();"
    )


def violations(window: Window) -> list[str]:
    """What axe-core finds against WCAG 2.2 AA on the page, all its answers open.

    Coloured code and drawn formulas would take it minutes, by their thousands of pieces. So of code one piece of each
    colour is measured here, and a formula has the colour of the text around it; then both are taken away.
    """
    pieces = window.driver.execute_script(
        "for (const each of document.querySelectorAll('details')) each.open = true;"
        "const kinds = new Map(); for (const each of document.querySelectorAll('.highlight pre span[class]'))"
        " if (!kinds.has(each.className)) kinds.set(each.className, each); return [...kinds.values()];"
    )
    contrasts = [found for piece in pieces for found in window.contrasts(piece)]
    window.driver.execute_script(
        "for (const each of document.querySelectorAll('.highlight pre')) each.textContent = each.textContent;"
        "for (const each of document.querySelectorAll('mjx-math')) each.remove();"
    )
    package = find_spec("axe_playwright_python")
    assert package and package.submodule_search_locations
    (script,) = Path(package.submodule_search_locations[0]).rglob("axe.min.js")
    window.driver.execute_script(script.read_text("utf-8"))
    found = window.driver.execute_async_script(
        "const done = arguments[1];"
        "axe.run(document, {runOnly: arguments[0], resultTypes: ['violations']}).then(r => done(r.violations));",
        STANDARDS,
    )
    wrong = [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]
    return wrong + [f"code {text!r} has contrast {contrast:.2f}" for text, contrast in contrasts if contrast < 4.5]


def requests(window: Window) -> list[str]:
    """The addresses that were asked since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in window.driver.get_log("performance")]
    urls = [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if url.startswith(("http", "ws"))]  # not what is in the page, or in the browser itself


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_page_has_an_error_asks_somebody_else_leaves_a_formula_unset_or_is_too_wide(window, home, site, size):
    requests(window)
    wrong, total = [], 0
    for page in pages(site):
        show(window, f"{home}/{page}.html", size)
        log = window.driver.get_log("browser")
        wrong += [f"{page}: {entry['message']}" for entry in log if entry["level"] in ("WARNING", "SEVERE")]
        wrong += [f"{page}: asks {url}" for url in requests(window) if not url.startswith(home)]
        formulas, typeset, failed, needed, room = window.driver.execute_script(
            "const all = [...document.querySelectorAll('.math')], root = document.documentElement;"
            "return [all.length, all.filter(each => each.querySelector('mjx-container')).length,"
            "document.querySelectorAll('mjx-merror').length, root.scrollWidth, root.clientWidth]"
        )
        total += formulas
        if failed or typeset != formulas:
            wrong.append(f"{page}: {typeset} of {formulas} formulas are typeset, {failed} with an error")
        if needed > room:
            wrong.append(f"{page}: needs {needed} pixels, and has {room}")
    assert not wrong
    assert total > 100


def test_the_start_page_fits_on_one_screen(window, home):
    show(window, f"{home}/index.html")
    bottom = window.driver.execute_script(
        "return document.querySelector('.course-topics').getBoundingClientRect().bottom"
    )
    assert bottom <= SIZES["wide"][1]


def test_search_finds_cross_attention_and_lands_on_it(window, home):
    show(window, f"{home}/search.html?q=cross-attention")
    first = window.find("#search-results li a")
    assert any("Decoder and masking" in each.text for each in window.all("#search-results li a")[:5])
    first.click()
    window.wait(lambda: "search.html" not in window.driver.current_url, "the page that was found")
    in_sight = (
        "return [...document.querySelectorAll('.bd-article :is(h2, h3, li, p, td)')].some(each => {"
        " const box = each.getBoundingClientRect();"
        " return /cross-attention/i.test(each.textContent) && box.bottom > 0 && box.top < innerHeight; })"
    )
    assert window.wait(lambda: window.driver.execute_script(in_sight), "the words that were looked for, in sight")


def test_an_answer_is_folded_and_opens_by_keyboard(window, home):
    show(window, f"{home}/lectures/02_self_attention.html")
    opened = window.driver.execute_script(
        "const answer = document.querySelector('.bd-article section > details');"
        "const before = answer.open; answer.querySelector('summary').focus();"
        "return [before, document.activeElement.tagName]"
    )
    assert opened == [False, "SUMMARY"]
    window.driver.switch_to.active_element.send_keys("\n")
    assert window.driver.execute_script("return document.querySelector('.bd-article section > details').open")


def test_everything_that_is_folded_is_printed(window, home):
    show(window, f"{home}/lectures/02_self_attention.html")
    count = "return document.querySelectorAll('.bd-article details:not([open])').length"
    folded = window.driver.execute_script(count)
    window.driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert folded and window.driver.execute_script(count) == 0
    window.driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert window.driver.execute_script(count) == folded


def test_a_lecture_is_painted_soon(window, home):
    """The best of five: what else the machine does is not the page's."""
    times = []
    for _ in range(5):
        window.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        show(window, f"{home}/lectures/08_decoder_and_masking.html")
        paint = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
        times.append(window.driver.execute_script(paint) / 1000)
        if times[-1] < FIRST_PAINT:
            return
    pytest.fail(f"first paints after {times} s")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", SOME)
def test_a_page_of_each_kind_is_accessible(window, home, page, theme):
    for size in SIZES:
        show(window, f"{home}/{page}.html", size, theme)
        window.shot(f"{page.replace('/', '-')}-{size}-{theme}")
        assert not violations(window), size


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
def test_every_page_is_accessible(window, home, site, theme):
    found = {}
    for page in pages(site):
        show(window, f"{home}/{page}.html", "wide", theme)
        if wrong := violations(window):
            found[page] = wrong
    assert not found
