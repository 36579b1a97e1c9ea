"""Lecture 10's language model writes in the page: loaded when opened, after a prediction, repeated by a seed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from page_weight import served
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import Select
from test_strip_page import WRITER, errors, value
from test_web_site import SCREENS, THEMES, requests, show, violations
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

pytestmark = [pytest.mark.long, pytest.mark.slow]

MOST = 3_000_000  # bytes over the wire, from the press of the button on


def open_writer(window: Window, home: str, size: str = "wide", theme: str = "light") -> None:
    show(window, f"{home}/{WRITER}.html", size, theme)
    window.click(".course-strip button", "Open the model")
    window.find("#writer-prompt")


def press(window: Window, words: str) -> None:
    (button,) = [candidate for candidate in window.all(".course-strip button") if candidate.text == words]
    window.driver.execute_script("arguments[0].click()", button)


def pressable(window: Window, words: str) -> bool:
    return next(button for button in window.all(".course-strip button") if button.text == words).is_enabled()


def slide(window: Window, which: str, to: float) -> None:
    move = "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
    window.driver.execute_script(f"{move} e.dispatchEvent(new Event('input'))", f"writer-{which}", to)


def set_seed(window: Window, seed: int) -> None:
    move = "const e = document.getElementById('writer-seed'); e.value = arguments[0];"
    window.driver.execute_script(f"{move} e.dispatchEvent(new Event('change'))", seed)


def written(window: Window) -> list[str]:
    """The text of each token that was written."""
    script = "return [...document.querySelectorAll('.writer-token')].map((each) => each.textContent)"
    return window.driver.execute_script(script)


def write_on(window: Window) -> list[str]:
    """Let it write to the end."""
    press(window, "Write on")
    window.wait(lambda: re.search(r"wrote the end|stops at", window.find(".writer-status").text), "it has written")
    return written(window)


def next_tokens(window: Window) -> dict[str, str]:
    """The likeliest next tokens that stay, and what is said of each."""
    rows = [
        line.text.split("\n") for line in window.all(".writer-next .strip-bars")[0].find_elements("css selector", "li")
    ]
    return {row[0]: row[-1] for row in rows}


def test_nothing_of_it_is_asked_for_before_it_is_opened_and_then_little_and_nothing_from_elsewhere(window, site):
    with served(site) as home:
        window.driver.execute_cdp_cmd("Network.enable", {})
        window.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        requests(window)
        show(window, f"{home}/{WRITER}.html")
        assert not [url for url in requests(window) if "/strip/" in url]
        window.driver.execute_script("performance.clearResourceTimings()")
        window.click(".course-strip button", "Open the model")
        window.find("#writer-prompt")
        asked = requests(window)
        assert {"library_model.bin", "library_model.json", "writer.js"} <= {url.rsplit("/", 1)[1] for url in asked}
        assert not [url for url in asked if "small_bert" in url or not url.startswith(home)]
        sizes = "return performance.getEntriesByType('resource').map((each) => each.transferSize)"
        assert 1_700_000 < sum(window.driver.execute_script(sizes)) <= MOST
    assert not errors(window)


def test_it_stands_at_the_end_of_the_section_on_sampling(window, home):
    show(window, f"{home}/{WRITER}.html")
    section, later = window.driver.execute_script(
        "const box = document.querySelector('.course-strip'), after = box.nextElementSibling;"
        "const heading = box.closest('section:not(.course-strip)').querySelector('h2');"
        "return [heading.textContent, after && after.textContent.trim()];"
    )
    assert "Let it write" in section
    assert not later, "only the anchor of the next section may follow"


def test_it_writes_only_after_a_prediction_which_it_then_compares(window, home):
    open_writer(window, home)
    assert not pressable(window, "Write one token") and not pressable(window, "Write on")
    press(window, "starts of words")
    assert pressable(window, "Write one token")
    tokens = write_on(window)
    assert len(tokens) > 20
    told = window.find(".writer-sure").text
    found = {
        row.text.split("\n")[0].replace("\n", " "): row.text.split("\n")[-1]
        for row in window.all(".writer-sure .strip-bars li")
    }
    parts = {kind: re.match(r"([\d.]+) · (\d+) tokens", text).groups() for kind, text in found.items()}
    assert sum(int(count) for _, count in parts.values()) == len(tokens) - (tokens[-1] == "end")
    surest = min((float(bits), kind) for kind, (bits, count) in parts.items() if int(count) >= 5)[1]
    assert "You said: starts of words." in told
    assert ("that is right" in told) == (surest == "starts of words")
    assert surest == "starts of words" or f"it was {surest}" in told
    assert not pressable(window, "Write one token"), "the text has ended"


def test_one_press_draws_one_of_the_tokens_that_stay(window, home):
    open_writer(window, home)
    press(window, "line ends")
    slide(window, "p", 0.3)
    for _ in range(5):
        stay = next_tokens(window)
        before = len(written(window))
        press(window, "Write one token")
        assert len(written(window)) == before + 1
        script = "return [...document.querySelectorAll('.writer-token')].at(-1).getAttribute('aria-label')"
        label = window.driver.execute_script(script)
        assert label.rsplit(": ", 1)[0] in stay
        bits = value(label.rsplit(": ", 1)[1].removesuffix(" bits"))
        assert bits >= 0


def test_the_row_of_probabilities_follows_temperature_and_top_p(window, home):
    open_writer(window, home)
    title = ".writer-next .strip-title"

    def kept() -> tuple[int, int]:
        found = re.match(r"Next token: (\d+) of (\d+) stay, with (\d+) %", window.find(title).text)
        assert int(found[2]) == 512
        return int(found[1]), int(found[3])

    slide(window, "temperature", 1)
    slide(window, "p", 1)
    assert kept()[1] == 100 and kept()[0] > 400
    slide(window, "p", 0.9)
    press(window, "starts of words")
    for _ in range(3):  # after the colon the model is nearly sure
        press(window, "Write one token")
    wide, mass = kept()
    assert mass >= 90 and 1 < wide < 400
    shares = [
        re.match(r"(?:< )?(\d+) %, drawn with (?:< )?(\d+) %", said).groups() for said in next_tokens(window).values()
    ]
    assert all(int(drawn) >= int(likely) for likely, drawn in shares)
    assert "Cut off" in window.find(".writer-next").text
    slide(window, "temperature", 0.3)
    assert kept()[0] < wide
    slide(window, "temperature", 0)
    assert kept() == (1, 100)


def test_a_seed_repeats_a_text_and_another_seed_writes_another_one(window, home):
    open_writer(window, home)
    press(window, "line ends")
    Select(window.find(".course-strip select")).select_by_index(2)
    prompt = window.find("#writer-prompt").get_attribute("value")
    assert prompt.startswith("def ") and prompt in window.find(".writer-text").text
    first = write_on(window)
    press(window, "Start again")
    assert not written(window)
    assert write_on(window) == first
    set_seed(window, 2)
    assert write_on(window) != first
    field = window.find("#writer-prompt")
    field.clear()
    field.send_keys("def area(width, height):", Keys.ENTER)
    assert not written(window)
    assert window.find(".writer-text").text == "def area(width, height):"


def test_without_temperature_no_seed_matters_and_writing_can_be_stopped(window, home):
    open_writer(window, home)
    press(window, "signs and digits")
    slide(window, "temperature", 0)
    first = write_on(window)
    set_seed(window, 5)
    press(window, "Write on")
    window.wait(lambda: len(written(window)) > 3, "it writes")
    press(window, "Stop")
    so_far = written(window)
    assert so_far == first[: len(so_far)]
    assert f"{len(so_far)} tokens" in window.find(".writer-status").text


def test_it_is_used_by_keyboard_alone_and_arrow_keys_walk_through_the_tokens(window, home):
    open_writer(window, home)
    assert window.driver.switch_to.active_element.get_attribute("id") == "writer-prompt"
    keys = [Keys.TAB] * 6 + [Keys.ENTER]  # button, choice, temperature, top-p, seed, first answer
    ActionChains(window.driver).send_keys(*keys).perform()
    assert window.driver.switch_to.active_element.text == "Write one token"
    ActionChains(window.driver).send_keys(Keys.ENTER, Keys.ENTER, Keys.ENTER, Keys.TAB, Keys.TAB, Keys.TAB).perform()
    tokens = written(window)
    assert len(tokens) == 3
    for key, at in ((None, 1), (Keys.ARROW_RIGHT, 2), (Keys.END, 3), (Keys.ARROW_LEFT, 2), (Keys.HOME, 1)):
        if key:
            ActionChains(window.driver).send_keys(key).perform()
        focused = window.driver.switch_to.active_element
        assert focused.get_attribute("aria-selected") == "true"
        told = window.find(".writer-told").text
        bits, probability = re.search(r"([\d.]+) bits, a probability of (\d\.?\d*)", told).groups()
        assert told.startswith(f"Token {at}, “")
        assert float(probability) == pytest.approx(2 ** -float(bits), abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_it_fits_its_window_is_accessible_and_its_letters_stand_out_on_every_shade(window, home, size, theme):
    open_writer(window, home, size, theme)
    wrong = violations(window, ".course-strip")
    press(window, "rests of words")
    slide(window, "temperature", 1.5)
    slide(window, "p", 1)
    press(window, "Write on")
    window.wait(lambda: len(written(window)) > 40, "it writes")
    press(window, "Stop")
    shades = window.driver.execute_script(
        "return [...document.querySelectorAll('.writer-token')]"
        ".map((each) => parseFloat(each.style.getPropertyValue('--shade')))"
    )
    assert max(shades) == 45 and min(shades) < 20
    for element in ("document.documentElement", "document.querySelector('.course-strip')"):
        assert window.driver.execute_script(f"return {element}.scrollWidth - {element}.clientWidth") <= 0
    wrong += violations(window, ".course-strip")
    assert not wrong
    darkest = window.driver.execute_script(
        "const token = [...document.querySelectorAll('.writer-token')].sort((a, b) =>"
        " parseFloat(b.style.getPropertyValue('--shade')) - parseFloat(a.style.getPropertyValue('--shade')))[0];"
        "const canvas = document.createElement('canvas'), pen = canvas.getContext('2d', {willReadFrequently: true});"
        "const drawn = (...colours) => {"
        " for (const each of colours) { pen.fillStyle = each; pen.fillRect(0, 0, 1, 1); }"
        " return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3); };"
        "const style = getComputedStyle(token), back = getComputedStyle(token.closest('pre')).backgroundColor;"
        "return [drawn(back, style.backgroundColor), drawn(style.color)];"
    )
    linear = [
        np.where(np.array(c) / 255 <= 0.04045, np.array(c) / 3294.6, ((np.array(c) / 255 + 0.055) / 1.055) ** 2.4)
        for c in darkest
    ]
    low, high = sorted(float(rgb @ [0.2126, 0.7152, 0.0722]) for rgb in linear)
    assert (high + 0.05) / (low + 0.05) >= 4.5
