"""The web site without a mouse: the Tab key reaches everything, the reader sees where it is, keys do what clicks do."""

from __future__ import annotations

import pytest
from selenium.webdriver import ActionChains, Keys
from test_web_site import RESULTS, SIZES, SOME, show
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

pytestmark = [pytest.mark.long, pytest.mark.slow]

# What can be used with a pointer and is in sight; of radio buttons that belong together the keyboard reaches one.
_USABLE = """
return [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter(each => each.checkVisibility({visibilityProperty: true}) && each.getClientRects().length && !each.disabled
    && each.type !== "hidden" && (each.type !== "radio" || each.checked));
"""
# How the focused element is marked: an outline, a shadow, or the same on what is around it.
MARKED = """
const e = document.activeElement; e.dataset.reached = "yes";
return [e, e.parentElement].some(each => { const s = getComputedStyle(each);
  return (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none"; });
"""


def press(window: Window, *keys: str) -> None:
    ActionChains(window.driver).send_keys(*keys).perform()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", SOME)
def test_the_tab_key_reaches_everything_and_shows_where_it_is(window, home, page, size):
    show(window, f"{home}/{page}.html", size)
    usable = window.driver.execute_script(_USABLE)
    assert len(usable) > 4
    unmarked = []
    for _ in range(len(usable) + 20):  # blocks that scroll are stops as well
        press(window, Keys.TAB)
        if not window.driver.execute_script(MARKED):
            unmarked.append(window.driver.execute_script("return document.activeElement.outerHTML.slice(0, 120)"))
    missed = window.driver.execute_script(
        "return arguments[0].filter(each => each.checkVisibility() && !each.dataset.reached)"
        ".map(each => each.outerHTML.slice(0, 120))",
        usable,
    )
    assert not missed
    assert not [html for html in unmarked if not html.startswith("<body")]


def _next_result(window: Window) -> str | None:
    """Go on by one Tab; the address of the result that has the focus then, if one has it."""
    press(window, Keys.TAB)
    return window.driver.execute_script(
        "const e = document.activeElement; return e.matches(arguments[0]) ? e.href : null", RESULTS
    )


def test_a_search_needs_no_mouse(window, home):
    show(window, f"{home}/index.html")
    ActionChains(window.driver).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    window.wait(lambda: window.driver.switch_to.active_element.get_attribute("name") == "q", "the field of the search")
    press(window, "cross-attention", Keys.ENTER)
    window.find(RESULTS)
    # Results are drawn anew while pieces of the index arrive: what has the focus is asked, not one element compared.
    reached = window.wait(lambda: _next_result(window), "a result that the Tab key reaches")
    press(window, Keys.ENTER)
    window.wait(lambda: window.driver.current_url == reached, "the page that was found")
    assert "cross-attention" in window.find("main").text.lower()


def test_light_and_dark_are_switched_by_keyboard_and_stay(window, home):
    show(window, f"{home}/lectures/02_self_attention.html")

    def theme() -> str:
        return window.driver.execute_script("return document.documentElement.dataset.theme")

    def choose(wanted: str) -> None:
        window.driver.execute_script("document.querySelector('.bd-header button.theme-switch-button').focus()")
        press(window, Keys.ENTER)
        for _ in range(4):
            press(window, Keys.ARROW_DOWN)
            if window.driver.switch_to.active_element.get_attribute("data-mode") == wanted:
                break
        press(window, Keys.ENTER)
        window.wait(lambda: theme() == wanted, f"the page is {wanted}")

    choose("dark")
    window.driver.refresh()
    window.wait(lambda: theme() == "dark", "the page is dark again")
    choose("light")
    window.driver.execute_script("localStorage.clear()")
