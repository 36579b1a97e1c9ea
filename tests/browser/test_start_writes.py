"""The start page's model: nothing of it comes before the click; it answers a guess, writes, and says how fast."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from page_weight import served
from selenium.webdriver import ActionChains, Keys
from test_web_site import COURSE, SCREENS, THEMES, requests, show, violations
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

pytestmark = [pytest.mark.long, pytest.mark.slow]

RECORDED = json.loads((COURSE / "site" / "written.json").read_text("utf-8"))
TOKENS = "return [...document.querySelectorAll('.start-text .writer-token')].map((each) => each.textContent)"


def let_it_write(window: Window, *, guess: str = "") -> str:
    """Press the button, wait for the last token, and return what is said."""
    if guess:
        window.find("#start-guess").send_keys(guess)
    window.click(".start-form button")
    return window.wait(lambda: re.search(r".*tokens a second.*", window.find(".start-said").text), "it has written")[0]


def test_the_model_comes_with_the_click_writes_what_was_recorded_and_answers_the_guess(window, site):
    with served(site) as home:
        window.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        requests(window)
        show(window, f"{home}/index.html")
        recorded = window.driver.execute_script(TOKENS)
        assert recorded == ["end" if text is None else text for text, _ in RECORDED["tokens"]]
        assert not [url for url in requests(window) if "/strip/" in url]
        said = let_it_write(window, guess="return")
        assert [url for url in requests(window) if url.endswith("library_model.bin")]
    assert window.driver.execute_script(TOKENS) == recorded, "the recorded text is what the button gives"
    found = re.match(
        r"You said “return”. The model gives that (\d+) %, its (\w+) choice. Its first choice is “(.+)” ", said
    )
    assert found and int(found[1]) > 5 and found[2] != "first"
    speed = re.search(rf"It wrote {len(recorded)} tokens, (\d+) tokens a second in this browser\.", said)
    assert speed and int(speed[1]) > 0
    bits = "return [...document.querySelectorAll('.writer-token')].map((each) => each.getAttribute('aria-label'))"
    told = [float(re.search(r"([\d.]+) bits$", label)[1]) for label in window.driver.execute_script(bits)]
    np.testing.assert_allclose(told, [bits for _, bits in RECORDED["tokens"]], atol=0.006)


def test_another_line_and_another_press_write_another_text_by_keyboard(window, home):
    show(window, f"{home}/index.html")
    field = window.find("#start-line")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("def close(self):", Keys.ENTER)
    window.find(".start-said", "tokens a second")
    first = window.driver.execute_script(TOKENS)
    assert window.find(".start-text").text.startswith("def close(self):")
    let_it_write(window)
    window.wait(
        lambda: window.driver.execute_script(TOKENS)[-1:] and window.find(".start-said", "tokens a second"), "2"
    )
    assert window.driver.execute_script(TOKENS) != first
    window.driver.execute_script("document.querySelector('.writer-token').focus()")
    ActionChains(window.driver).send_keys(Keys.ARROW_RIGHT).perform()
    assert window.find(".writer-told").text.startswith("Token 2, “")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_it_fits_is_accessible_and_stands_in_the_first_screen(window, home, size, theme):
    show(window, f"{home}/index.html", size, theme)
    for css in (".course-claim strong", "#start-line", ".start-form button"):
        box = window.driver.execute_script("return arguments[0].getBoundingClientRect().toJSON()", window.find(css))
        assert 0 < box["top"] < box["bottom"] <= SCREENS[size][1], css
    let_it_write(window, guess="if not")
    fits = "const root = document.documentElement; return root.scrollWidth <= root.clientWidth"
    assert window.driver.execute_script(fits)
    assert not violations(window, ".course-start")


def test_without_a_script_the_recorded_text_stands_there_and_no_form(window, home):
    window.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    window.driver.get(f"{home}/index.html")
    assert RECORDED["line"] in window.find(".start-text").text
    assert not window.find(".start-writer").find_element("css selector", "form").is_displayed()
    window.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
