"""Make the mistake here, in a browser: a line is changed by pointer or keyboard, and the page names the mistake."""

from __future__ import annotations

import pytest
from selenium.webdriver import ActionChains, Keys
from test_web_site import SCREENS, THEMES, show, violations
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

from autograder.integrations.site.mistakes_here import ATTENTION, BLOCK, OUTPUT, SCORES
from coursekit.check.lab import load_reference

pytestmark = [pytest.mark.long, pytest.mark.slow]

SENTENCES = {
    id: sentence.replace("`", "")
    for id, sentence in load_reference(ATTENTION.lab).specs[ATTENTION.exercise].sentences.items()
}
MAP = "return [...document.querySelectorAll('.mistake-map tbody td.is-weight')].map((each) => each.textContent)"


def open_editor(window: Window, home: str, page: str = "index", size: str = "wide", theme: str = "light") -> None:
    show(window, f"{home}/{page}.html", size, theme)
    window.driver.execute_script("document.querySelector('.course-mistake').scrollIntoView()")
    window.find(".mistake-code textarea")


def status(window: Window) -> str:
    return window.driver.execute_script("return document.querySelector('.course-mistake').dataset.status")


def write(window: Window, *lines: str) -> None:
    """Replace the lines by the keyboard."""
    field = window.find(".mistake-code textarea")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE, Keys.ENTER.join(lines))


def test_a_wrong_line_is_named_the_right_one_passes_and_a_strange_one_is_said_to_be_strange(window, home):
    """The map is drawn anew each time."""
    open_editor(window, home)
    assert "the softmax runs over the queries" in window.find(".mistake-verdict").text, "it begins with a mistake"
    write(window, "scores = q @ k.T / k.shape[-1]", BLOCK, "weights = softmax(scores, axis=-1)", OUTPUT)
    window.find(".mistake-name", SENTENCES["scaled_by_d"])
    wrong = window.driver.execute_script(MAP)
    assert window.find(".mistake-checks .is-right") and window.find(".mistake-case", "tried")
    own = (
        "s = np.einsum('td,sd->ts', q, k) * q.shape[-1] ** -0.5",
        "s[~mask] = -1e9",
        "e = np.exp(s - s.max(axis=1, keepdims=True))",
        "weights = e / e.sum(axis=1, keepdims=True)",
        OUTPUT,
    )
    write(window, *own)
    window.find(".mistake-name", "Right, in your own writing.")
    right = window.driver.execute_script(MAP)
    assert len(right) == 25 and right != wrong
    write(window, SCORES, BLOCK, "weights = attend(scores)", OUTPUT)
    window.find(".mistake-verdict", "Line 3: attend is not known here.")
    assert "Understood are" in window.find(".mistake-verdict").text
    assert window.find(".mistake-code mark").get_attribute("textContent") == "weights = attend(scores)"
    write(window, SCORES, BLOCK, "weights = softmax(scores, axis=1) / 2", OUTPUT)
    window.find(".mistake-name", "no mistake that the check knows")
    assert "tried q (5, 3), k (5, 3), v (5, 2)" in window.find(".mistake-case").text, "the smallest case that fails"


@pytest.mark.parametrize("page", ["index", "lectures/02_self_attention"])
def test_each_chip_fills_the_lines_in_and_shows_its_mistake_in_the_map(window, home, page):
    open_editor(window, home, page)
    for choice in ATTENTION.choices:
        window.click(".mistake-chip", choice.label)
        assert window.find(".mistake-code textarea").get_attribute("value") == "\n".join(choice.lines)
        assert SENTENCES.get(choice.id, "These lines are right.") in window.find(".mistake-name").text
        assert bool(window.all(".mistake-map .is-seen")) == bool(choice.id)
    assert "NaN" in window.find(".mistake-map table").text, "the last one overflows, with larger queries"
    window.click(".mistake-chip", "no scaling")
    window.find(".mistake-verdict a").click()
    window.wait(lambda: window.driver.current_url.endswith("02_self_attention.html#why-sqrt-dk"), "the section")


def test_the_keyboard_goes_from_the_chips_to_the_lines_and_on(window, home):
    open_editor(window, home)
    window.driver.execute_script("document.querySelector('.mistake-chip').focus()")
    ActionChains(window.driver).send_keys(Keys.ENTER).perform()
    assert status(window) == "right"
    ActionChains(window.driver).send_keys(Keys.TAB * len(ATTENTION.choices)).perform()
    assert window.driver.switch_to.active_element.tag_name == "textarea"
    ActionChains(window.driver).key_down(Keys.CONTROL).send_keys(Keys.HOME).key_up(Keys.CONTROL).perform()
    ActionChains(window.driver).send_keys(Keys.ARROW_DOWN, Keys.HOME, "# ").perform()
    window.find(".mistake-name", SENTENCES["mask_ignored"])
    ActionChains(window.driver).send_keys(Keys.TAB).perform()
    assert window.driver.switch_to.active_element.tag_name != "textarea", "Tab leaves the field"


def test_without_a_script_one_mistake_stands_there_recorded(window, home):
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*.js", "*.js?*"]})
    window.driver.get(f"{home}/index.html")
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    window.driver.get_log("browser")
    assert "softmax(scores, axis=0)" in window.find(".mistake-lines").text
    assert SENTENCES["softmax_over_queries"] in window.find(".mistake-recorded").text


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_every_state_is_accessible_and_fits(window, home, size, theme):
    open_editor(window, home, size=size, theme=theme)
    wrong = []
    for label in [choice.label for choice in ATTENTION.choices] + [""]:
        if label:
            window.click(".mistake-chip", label)
        else:
            write(window, "weights = attend(q)")
            window.find(".mistake-head", "cannot judge")
        piece = window.find(".course-mistake")
        wide = "return [...arguments[0].querySelectorAll('*')].filter((e) => e.scrollWidth > e.clientWidth + 1 &&"
        wide += " getComputedStyle(e).display !== 'inline').map((e) => e.className || e.tagName)"
        wrong += [f"{label}: {name} is too wide" for name in window.driver.execute_script(wide, piece)]
        root = "const root = document.documentElement; return root.scrollWidth <= root.clientWidth"
        assert window.driver.execute_script(root), label
        wrong += [f"{label}: {found}" for found in violations(window, ".course-mistake")]
    assert not wrong


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_a_recorded_check_is_accessible_and_fits(window, home, size, theme):
    lab = "08_decoder_and_masking"
    open_page = f"{home}/labs/{lab}/{lab}.html"
    show(window, open_page, size, theme)
    box = window.find(".course-mistake")
    assert "The mask is True on and above the diagonal." in box.text
    assert not window.all(".mistake-code"), "nothing can be changed there"
    assert window.driver.execute_script("return arguments[0].scrollWidth <= arguments[0].clientWidth", box)
    assert not violations(window, ".course-mistake")
