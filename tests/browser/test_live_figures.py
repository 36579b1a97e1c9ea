"""Every live figure of the site answers: each of its controls to the keyboard, and what is pointed at to a finger."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from test_web_site import THEMES, draw, show, tap
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

from coursekit.lecture.diagrams import contrast

pytestmark = [pytest.mark.long, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LIVE = [f"lectures/{path.stem}" for path in sorted((ROOT / "lectures").glob("*.py")) if "\nlive." in path.read_text()]
ROUNDS = 3  # a control may wait for another: k counts once top-k is chosen
SOON = 2.0  # seconds in which a drawing changes
# Where the panels of a figure begin, how many it has side by side at most, and by how much its controls are too wide.
_PLACED = """
const chart = JSON.parse(arguments[0].querySelector("script[type='application/json']").textContent);
const panels = [...arguments[0].querySelectorAll("svg g.concat-group, svg g[class*='concat_'][class*='_group']")];
const room = arguments[0].clientWidth, ends = [...arguments[0].querySelectorAll(".vega-bind *")]
  .map((each) => each.getBoundingClientRect().right - arguments[0].getBoundingClientRect().left);
return [panels.map((each) => each.getBoundingClientRect().left), chart.columns ?? 1, Math.max(...ends) - room - 1];
"""
_WORDS = """
const found = [...arguments[0].querySelectorAll("svg [class*='role-axis'] text, svg [class*='role-title'] text,"
  + " svg [class*='role-legend'] text")].filter((each) => each.textContent.trim());
const back = getComputedStyle(document.querySelector("html")).getPropertyValue("--pst-color-background");
const drawn = document.createElement("div"); drawn.style.color = back; document.body.append(drawn);
const behind = getComputedStyle(drawn).color; drawn.remove();
return [found.map((each) => getComputedStyle(each).fill), behind];
"""


def rgb(colour: str) -> tuple[float, ...]:
    """``rgb(1, 2, 3)`` as shares of one."""
    return tuple(int(number) / 255 for number in re.findall(r"\d+", colour)[:3])


def drawing(figure: WebElement) -> str:
    return figure.find_element(By.CSS_SELECTOR, "svg").get_attribute("outerHTML") or ""


def changes(window: Window, figure: WebElement, before: str) -> bool:
    try:
        WebDriverWait(window.driver, SOON, poll_frequency=0.05).until(lambda _: drawing(figure) != before)
    except TimeoutException:
        return False
    return True


@pytest.mark.parametrize("page", LIVE)
def test_the_keyboard_reaches_every_control_and_every_control_changes_the_drawing(window, home, page):
    """From control to control by the Tab key alone; at each the arrows or the space bar are pressed."""
    show(window, f"{home}/{page}.html")
    for figure in draw(window):
        controls = figure.find_elements(By.CSS_SELECTOR, ".vega-bind")
        names = [control.text.split("\n")[0].strip() for control in controls]
        first = controls[0].find_element(By.CSS_SELECTOR, "select, input:checked, input:not([type=radio])")
        waiting = set(range(len(controls)))
        for turn in range(ROUNDS):
            window.driver.execute_script("arguments[0].focus()", first)
            for number, control in enumerate(controls):
                focused = window.driver.switch_to.active_element
                inside = window.driver.execute_script("return arguments[0].contains(arguments[1])", control, focused)
                assert inside, f"{page}: the Tab key does not lead to {names[number]!r}"
                before = drawing(figure)
                kind = focused.get_attribute("type")
                arrow = Keys.ARROW_UP if turn % 2 and kind != "radio" else Keys.ARROW_DOWN  # it may be at its end
                focused.send_keys(*{"checkbox": [Keys.SPACE], "range": 3 * [arrow]}.get(kind, [arrow]))
                if number in waiting and changes(window, figure, before):
                    waiting.discard(number)
                ActionChains(window.driver).send_keys(Keys.TAB).perform()
            if not waiting:
                break
        assert not waiting, f"{page}: {[names[number] for number in waiting]} change nothing"


@pytest.mark.parametrize("size", ["low", "laptop", "narrow"])
@pytest.mark.parametrize("page", LIVE)
def test_a_live_figure_is_on_one_screen_with_its_controls_above_it(window, home, page, size):
    """Nothing of the controls is cut off; panels stand side by side where there is room for two."""
    show(window, f"{home}/{page}.html", size)
    screen = window.driver.execute_script("return innerHeight - document.querySelector('.bd-header').offsetHeight")
    for figure in draw(window):
        place = ".course-live-chart"
        boxes = [
            window.driver.execute_script("return arguments[0].getBoundingClientRect().toJSON()", part)
            for part in figure.find_elements(By.CSS_SELECTOR, f"{place} .vega-bindings, {place} svg")
        ]
        chart, controls = sorted(boxes, key=lambda box: -box["height"])
        assert controls["bottom"] <= chart["top"] + 1, f"{page}: controls below the chart"
        assert chart["bottom"] - controls["top"] <= screen, f"{page}: taller than the screen"
        panels, columns, cut = window.driver.execute_script(_PLACED, figure)
        assert cut <= 0, f"{page}: the controls are {cut} pixels too wide"
        beside = {round(left) for left in panels}
        assert size == "narrow" or min(columns, len(panels)) == 1 or len(beside) > 1, f"{page}: one tall column"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", LIVE)
def test_what_a_live_figure_says_can_be_read_on_the_page(window, home, page, theme):
    """Words outside the marks of a chart, such as titles and labels of axes, on the background of the page."""
    show(window, f"{home}/{page}.html", theme=theme)
    for figure in draw(window):
        colours, behind = window.driver.execute_script(_WORDS, figure)
        low = {colour for colour in colours if contrast(rgb(colour), rgb(behind)) < 4.5}
        assert colours and not low, (page, low, behind)


@pytest.fixture
def finger(window):
    """The window is a touch screen while a test runs."""
    window.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield
    window.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


@pytest.mark.parametrize(
    ("page", "mark", "control", "value"),
    [
        ("02_self_attention", "path[aria-label*='attends from: brown;']", "query", "brown"),
        ("03_multi_head_attention", "path[aria-label*='attends from: brown;']", "query", "brown"),
        ("09_vision_transformer", "path[aria-label='patch 7']", "query", "patch 7"),
    ],
)
def test_a_finger_chooses_what_is_shown(window, home, finger, page, mark, control, value):
    show(window, f"{home}/lectures/{page}.html", "narrow")
    (figure,) = draw(window)
    place = next(box for box in figure.find_elements(By.CSS_SELECTOR, ".vega-bind") if box.text.startswith(control))
    chosen = place.find_element(By.CSS_SELECTOR, "select, input")
    assert chosen.get_attribute("value") != value
    before = drawing(figure)
    tap(window, figure.find_element(By.CSS_SELECTOR, mark))
    window.wait(lambda: chosen.get_attribute("value") == value, f"a finger chooses {value}")
    assert drawing(figure) != before


@pytest.mark.parametrize(("page", "kind"), [("08_decoder_and_masking", "checkbox"), ("08b_generating_text", "range")])
def test_a_finger_moves_a_slider_and_turns_a_switch(window, home, finger, page, kind):
    show(window, f"{home}/lectures/{page}.html", "narrow")
    figure = draw(window)[0]
    before = drawing(figure)
    control = figure.find_element(By.CSS_SELECTOR, f"input[type={kind}]")
    value = control.get_attribute("value"), control.is_selected()
    tap(window, control)
    window.wait(lambda: drawing(figure) != before, f"a finger on a {kind}")
    assert (control.get_attribute("value"), control.is_selected()) != value


def test_the_query_is_dragged_on_the_chart(window, home):
    """The slider follows the pointer while the button is held, and stays when it is let go."""
    show(window, f"{home}/lectures/01_attention_intuition.html")
    (figure,) = draw(window)
    control = next(e for e in figure.find_elements(By.CSS_SELECTOR, ".vega-bind") if e.text.startswith("query"))
    slider = control.find_element(By.CSS_SELECTOR, "input")
    assert slider.get_attribute("value") == "2.5"
    chart = figure.find_element(By.CSS_SELECTOR, "svg g[class*='voronoi']")
    window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    chart_width = chart.rect["width"]
    pointer = ActionChains(window.driver, duration=100)
    pointer.move_to_element(chart).click_and_hold().move_by_offset(int(chart_width / 4), 0).perform()
    window.wait(lambda: float(slider.get_attribute("value")) == pytest.approx(3.75, abs=0.1), "the query is dragged")
    before = slider.get_attribute("value")
    pointer.release().move_by_offset(-int(chart_width / 2), 0).perform()
    assert slider.get_attribute("value") == before, "the query moves without a button"


def test_a_click_chooses_the_feature_that_gamma_and_beta_change(window, home):
    """Not the pointer on its way: it has to click."""
    show(window, f"{home}/lectures/04_encoder_block.html")
    (figure,) = draw(window)
    control = next(e for e in figure.find_elements(By.CSS_SELECTOR, ".vega-bind") if e.text.startswith("γ and β"))
    chosen = control.find_element(By.CSS_SELECTOR, "select")
    rows = figure.find_elements(By.CSS_SELECTOR, "svg path[fill-opacity='0.01']")
    assert len(rows) == 12
    window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", rows[2])
    ActionChains(window.driver).move_to_element(rows[2]).perform()
    assert chosen.get_attribute("value") == "feature 0"
    ActionChains(window.driver).click(rows[2]).perform()
    window.wait(lambda: chosen.get_attribute("value") == "feature 2", "a click chooses feature 2")


@pytest.mark.parametrize(("page", "panel"), [("03", 0), ("08", 1), ("09", 1)])
def test_a_map_has_the_same_colours_on_a_dark_page(window, home, page, panel):
    name = next(path for path in LIVE if f"/{page}_" in path)
    maps = []
    for theme in THEMES:
        show(window, f"{home}/{name}.html", "laptop", theme)
        (figure,) = draw(window)
        behind = figure.find_element(By.CSS_SELECTOR, f"[class*='concat_{panel}_group'] > g > path.background")
        window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", behind)
        x, y, width, height = window.driver.execute_script(
            "const r = arguments[0].getBoundingClientRect(); return [r.x, r.y, r.width, r.height]", behind
        )
        with Image.open(window.shot(f"map-{page}-{theme}")) as shot:
            places = [
                (x + width * (i + 0.5) / 100, y + height * (j + 0.5) / 100) for i in range(100) for j in range(100)
            ]
            maps.append([shot.convert("RGB").getpixel((int(left), int(top))) for left, top in places])
    differ = sum(max(abs(a - b) for a, b in zip(*pair, strict=True)) > 40 for pair in zip(*maps, strict=True))
    assert differ < 200, "two in a hundred: a chart may begin on another part of a pixel"


def test_a_live_figure_is_as_wide_on_a_dark_page(window, home):
    widths = []
    for theme in THEMES:
        show(window, f"{home}/{LIVE[-2]}.html", "narrow", theme)
        widths.append(draw(window)[0].get_property("clientWidth"))
    assert widths[0] == widths[1]
