"""What the grader and the checks write, in a browser: accessible in both themes, and no wider than the window."""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from class_runs import SAMPLES, TOLD, run
from hostile.making import LAB, POINTS, ROOT
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from selenium.webdriver import Keys
from test_web_site import SIZES, THEMES, violations
from workplace import Window

from coursekit.notebook import check_notebook

pytestmark = [pytest.mark.sandbox, pytest.mark.long]

FEEDBACK = [f"feedback/{student}/{LAB}.html" for student in TOLD]
PAGES = [*FEEDBACK, "report.html", "project.html", "similar.html", "checks.html"]
# The pictures of docs/instructors.md: the page, and the elements that are first and last in it, with their numbers.
PICTURES = {
    "feedback": (f"feedback/02-typical-mistakes/{LAB}.html", ("body > p", 0), ("section", 2)),
    "report": ("report.html", ("h2", 1), ("svg", 1)),
}
MOST_BYTES = 150_000  # of a picture
_BETWEEN = """
const range = document.createRange();
range.setStartBefore(arguments[0]);
range.setEndAfter(arguments[1]);
return range.toString();
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A folder with one of each: feedback, class report, page for the class, look-alikes, checks."""
    course = tmp_path_factory.mktemp("written") / "course"
    course.mkdir()
    for name in ("course.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, course / name)
    for folder in (f"solutions/{LAB}", f"labs/{LAB}", "exercises", "lectures", "coursekit"):
        shutil.copytree(ROOT / folder, course / folder)
    run("course", "grade", LAB, str(SAMPLES), "--workers", "2", cwd=course)
    run("course", "report", "--project", cwd=course)
    run("course", "similar", LAB, str(SAMPLES), cwd=course)
    reports = check_notebook(SAMPLES / "02-typical-mistakes" / f"{LAB}.ipynb")
    # As JupyterLab shows them: on a page that is light or dark, in its own colours.
    head = "<!doctype html><html lang='en'><meta name='viewport' content='width=device-width'><title>Checks</title>"
    head += "<style>:root { color-scheme: light dark; background: Canvas; color: CanvasText }</style>"
    body = head + "<main>" + "".join(report._repr_html_() for report in reports) + "</main></html>"
    (course / "grades" / "checks.html").write_text(body, encoding="utf-8")
    return course / "grades"


@pytest.fixture(scope="module")
def window(tmp_path_factory) -> Iterator[Window]:
    window = Window(tmp_path_factory.mktemp("reader"), logs={"browser": "ALL"})
    yield window
    window.close()


def test_the_report_leads_to_examples_of_each_mistake_and_to_its_tables(written):
    links = re.findall(r'href="([^"#]+)#?([^"]*)"', (written / "report.html").read_text("utf-8"))
    assert any(anchor for _, anchor in links) and ("report/items.csv", "") in links
    for page, anchor in links:
        text = (written / unquote(page)).read_text("utf-8")
        assert not anchor or f'id="{unquote(anchor)}"' in text, (page, anchor)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_accessible_and_fits_into_the_window(window, written, page, theme, size):
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "narrow"}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = [{"name": "prefers-color-scheme", "value": theme}]
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    window.driver.get((written / page).as_uri())
    window.shot(f"{page.replace('/', '-')}-{theme}-{size}")
    assert window.driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert not violations(window)
    assert not [line for line in window.driver.get_log("browser") if line["level"] == "SEVERE"]


def test_what_is_to_be_mended_first_leads_to_its_code_by_keyboard(window, written):
    """On one screen; a link of it unfolds the exercise, which was folded."""
    size = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    window.driver.get((written / f"feedback/02-typical-mistakes/{LAB}.html").as_uri())
    things = window.all(".mend li")
    assert 1 <= len(things) <= 3 and all(re.search(r"\d points?$", thing.text.split("\n")[0]) for thing in things)
    assert things[-1].rect["y"] + things[-1].rect["height"] <= size["height"]
    assert not window.all("section > details[open]")
    link = things[0].find_elements("css selector", "a[href^='#']")[0]
    name = (link.get_attribute("href") or "").partition("#")[2]
    window.driver.execute_script("arguments[0].focus()", link)
    link.send_keys(Keys.ENTER)
    (opened,) = window.wait(lambda: window.all("section > details[open]"), "the exercise is unfolded")
    assert opened.find_element("css selector", "summary code").text == name
    assert 0 <= window.driver.execute_script("return arguments[0].getBoundingClientRect().top", opened) < 200


def test_the_page_to_show_in_class_has_one_screen_a_lab(window, written):
    for width, height in ((1280, 720), (1440, 900)):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        window.driver.get((written / "project.html").as_uri())
        heights = [section.rect["height"] for section in window.all("section")]
        window.shot(f"project-{width}")
        assert len(heights) == 1 and max(heights) <= height, heights
        names = window.all(".full li")
        small = "return parseFloat(getComputedStyle(arguments[0]).fontSize)"
        assert len(names) == len(POINTS) and all(window.driver.execute_script(small, name) >= 12 for name in names)


def test_feedback_in_the_dark_shows_code_on_a_dark_ground_and_points_on_one_line(window, written):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    grounds = {}
    for theme in THEMES:
        media = [{"name": "prefers-color-scheme", "value": theme}]
        window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        window.driver.get((written / f"feedback/02-typical-mistakes/{LAB}.html").as_uri())
        points = window.all("section > details > summary > span")
        lines = [window.driver.execute_script("return arguments[0].getClientRects().length", span) for span in points]
        assert set(lines) == {1}
        ground = "return getComputedStyle(document.querySelector('.code')).backgroundColor"
        grounds[theme] = [int(number) for number in re.findall(r"\d+", window.driver.execute_script(ground))[:3]]
    assert max(grounds["dark"]) < 60 and min(grounds["light"]) > 200


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_guide_show_these_pages(window, written, name):
    """TAKE_PICTURE=1 takes them anew; the words of what they show are stored in the files, without numbers."""
    page, *parts = PICTURES[name]
    size = {"width": 860, "height": 1600, "deviceScaleFactor": 1.2, "mobile": False}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
    window.driver.get((written / page).as_uri())
    ends = [window.all(css)[number] for css, number in parts]
    words = " ".join(window.driver.execute_script(_BETWEEN, *ends).split())
    words = re.sub(r"[-\d.]*\d", "0", re.sub(r"\b[\da-f]{64}\b", "0", words))  # a file's hash changes with its bytes
    picture = ROOT / "docs" / "images" / f"{name}.png"
    if os.environ.get("TAKE_PICTURE"):
        top, bottom = ends[0].rect["y"] - 8, ends[1].rect["y"] + ends[1].rect["height"] + 8
        area = {"x": 0, "y": top, "width": size["width"], "height": bottom - top, "scale": 1}
        whole = {"clip": area, "captureBeyondViewport": True}
        shot = window.driver.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
        told = PngInfo()
        told.add_text("Description", words)
        with Image.open(io.BytesIO(base64.b64decode(shot))) as taken:
            small = taken.convert("P", palette=Image.Palette.ADAPTIVE)
            small.save(picture, pnginfo=told, optimize=True)
    assert picture.stat().st_size < MOST_BYTES
    with Image.open(picture) as shown:
        assert shown.info["Description"] == words, "take it anew: TAKE_PICTURE=1 pytest tests/browser -k picture"
