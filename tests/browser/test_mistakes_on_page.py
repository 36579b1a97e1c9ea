"""Make the mistake here, in a browser: chips by pointer and keyboard, what they show, its width and its contrast."""

from __future__ import annotations

import re

import pytest
from selenium.webdriver import ActionChains, Keys
from test_web_site import SCREENS, THEMES, show, violations
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

from autograder.integrations.site.mistakes_here import CHOICES, RIGHT

pytestmark = [pytest.mark.long, pytest.mark.slow]

PAGES = ("index", "lectures/02_self_attention")
IDS = [choice.id or "right" for choice in CHOICES]
_SHOWN = """
const shown = [...document.querySelectorAll(".course-state")].filter(each => each.checkVisibility());
return shown.map(each => [each.id.replace("course-mistake-", ""), each.querySelector("pre").innerText,
  each.querySelector(".course-box").innerText, each.querySelectorAll(".course-seen").length]);
"""


def shown(window: Window) -> tuple[str, list[str], str, int]:
    """The one state that is visible: its id, its lines, the text of its box, how many numbers are marked."""
    ((name, lines, box, marked),) = window.driver.execute_script(_SHOWN)
    return name, [re.sub(r"^(changed|larger): ", "", line) for line in lines.split("\n") if line], box, marked


@pytest.mark.parametrize("page", PAGES)
def test_a_click_changes_lines_map_and_box(window, home, page):
    show(window, f"{home}/{page}.html")
    for name, choice in zip(IDS, CHOICES, strict=True):
        chip = window.find(f".course-chip:has([value={name}])")
        window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", chip)
        chip.click()
        current, lines, box, marked = shown(window)
        assert current == name and [line for line in lines if not line.startswith("q =")] == list(choice.lines)
        assert ("It looks like this" in box and "Read again" in box) == bool(choice.id)
        assert bool(marked) == bool(choice.id)


def test_it_needs_no_script(window, home):
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*.js", "*.js?*"]})
    window.driver.get(f"{home}/index.html")
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    window.driver.get_log("browser")
    window.find(".course-chip:has([value=mask_inverted])").click()
    assert shown(window)[0] == "mask_inverted"


def test_arrow_keys_pass_from_mistake_to_mistake_and_the_link_leads_to_the_section(window, home):
    show(window, f"{home}/index.html")
    window.driver.execute_script("document.querySelector('.course-mistake :checked').focus()")
    start = IDS.index("softmax_over_queries")
    for name in IDS[start + 1 :]:
        ActionChains(window.driver).send_keys(Keys.ARROW_RIGHT).perform()
        assert shown(window)[0] == name
    window.find("#course-mistake-unstable_softmax .course-box a").click()
    window.wait(lambda: window.driver.current_url.endswith("01_attention_intuition.html#ten-lines"), "the section")
    assert window.driver.execute_script("return document.getElementById('ten-lines') !== null")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_every_state_is_accessible_and_fits(window, home, size, theme):
    wrong = []
    show(window, f"{home}/index.html", size, theme)
    for name in IDS:
        window.driver.execute_script("document.querySelector(`.course-mistake [value=${arguments[0]}]`).click()", name)
        piece = window.find(f"#course-mistake-{name}")
        wide = window.driver.execute_script(
            "return [arguments[0], ...arguments[0].children].filter(each => each.scrollWidth > each.clientWidth + 1)"
            ".map(each => each.className)",
            piece,
        )
        root = "const root = document.documentElement; return root.scrollWidth <= root.clientWidth"
        if wide or not window.driver.execute_script(root):
            wrong.append(f"{name}: {wide}")
        low = [pair for pair in window.contrasts(piece) if pair[1] < (3 if set(pair[0]) <= set("✓✗■□") else 4.5)]
        wrong += [f"{name}: {pair}" for pair in low]
    assert not wrong
    assert not violations(window)
    assert len(shown(window)[1]) == len(RIGHT) + 1, "the last one has a line for its inputs"


def test_one_ring_shows_where_the_keyboard_is(window, home):
    """Around the chip, and not around the radio button in it, too, where it lay on the words."""
    show(window, f"{home}/index.html")
    window.driver.execute_script("document.querySelector('.course-mistake :checked').focus()")
    ActionChains(window.driver).send_keys(Keys.ARROW_RIGHT).perform()
    ring = "const s = getComputedStyle(arguments[0]); return [s.outlineStyle, s.boxShadow]"
    radio = window.find(".course-chip input:checked")
    assert window.driver.execute_script(ring, radio) == ["none", "none"]
    assert window.driver.execute_script(ring, window.find(".course-chip:has(:checked)"))[0] == "solid"
