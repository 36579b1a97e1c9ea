"""A student's way through lab 02, in JupyterLab, with nothing but what `course publish` gives."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest
from hostile.making import FULL, POINTS
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from workplace import NARROW, WIDE, NotebookWindow, Server

from autograder.course.settings import load_course
from autograder.release.publish import publish

ROOT = Path(__file__).resolve().parents[2]
LAB = "02_self_attention"
NOTEBOOK = f"labs/{LAB}/{LAB}.ipynb"
EXERCISE = "self_attention_matrix"
PICTURE = ROOT / "docs" / "images" / "check.png"
OVER_QUERIES = """def self_attention_matrix(x):
    scores = ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5  # (…, T, T)
    return ops.matmul(ops.softmax(scores, axis=-2), x)"""
# What a report has to have: text as WCAG asks for text, and signs as it asks for graphics.
TEXT, SIGNS = 4.5, 3.0
SCREENS = (1440, 900), (1280, 720), (390, 844)
PLACE_OF_THE_FIRST_LINE = "const b = arguments[0].getBoundingClientRect(); return [b.top, b.left, b.right]"
pytestmark = [pytest.mark.long, pytest.mark.slow]


def solved() -> dict[str, str]:
    """The cells of the solution that students have to write, by grade_id."""
    notebook = nbformat.read(ROOT / "solutions" / LAB / f"{LAB}.ipynb", as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in notebook.cells}
    return {name: source for name, source in cells.items() if name and name.endswith("-code")}


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "course"
    publish(load_course(ROOT), folder)
    return folder


@pytest.fixture(scope="module")
def window(published, tmp_path_factory):
    """The lab, open, with its first two cells run. The kernel has the published coursekit and no autograder."""
    state = tmp_path_factory.mktemp("student")
    blocked = state / "blocked" / "autograder"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text('raise ImportError("students do not have this")\n')
    server = Server(published, state / "jupyter", {"PYTHONPATH": f"{published}:{blocked.parent}"})
    try:
        window = NotebookWindow(state, server, published, NOTEBOOK)
        try:
            window.run("setup")
            assert f"{len(POINTS)} exercises, {FULL:g} points" in window.run("imports").text
            yield window
        finally:
            window.close()
    finally:
        server.stop()


def test_a_failed_check_is_read_and_mended(window):
    window.write(
        EXERCISE + "-code", "def self_attention_matrix(x):\n    raise NotImplementedError('Write your code here')"
    )
    window.run(EXERCISE + "-code")
    assert "not started yet" in window.check(EXERCISE).text

    window.write(EXERCISE + "-code", OVER_QUERIES)
    window.run(EXERCISE + "-code")
    report = window.check(EXERCISE).text
    assert "0 of 4 checks pass" in report and "a softmax over the queries" in report
    window.shot("failed")
    # The mistake has a name, so no hint speaks of anything else, however often the check is run.
    assert "Hint" not in report and "Hint" not in window.check(EXERCISE).text

    window.write(EXERCISE + "-code", OVER_QUERIES.replace("axis=-2", "axis=-1"))
    window.run(EXERCISE + "-code")
    report = window.check(EXERCISE).text
    assert "4 of 4 checks pass" in report and f"1 of {len(POINTS)} exercises pass" in report and "Hint" not in report
    assert "CheckFailed" not in window.cell(EXERCISE).text
    window.shot("passed")


def test_the_picture_in_the_guide_shows_this_check(window):
    """TAKE_PICTURE=1 takes it anew; the words of the report are stored in the file."""
    window.hide_files()
    window.write(EXERCISE + "-code", OVER_QUERIES)
    window.run(EXERCISE + "-code")
    words = window.check(EXERCISE).text
    if os.environ.get("TAKE_PICTURE"):
        sharp = {"width": 900, "height": 900, "deviceScaleFactor": 1.5, "mobile": False}
        window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sharp)
        window.cell(EXERCISE + "-code")
        parts = [window.all(".jp-Notebook .jp-Cell")[window._numbers[name]] for name in (EXERCISE + "-code", EXERCISE)]
        boxes = [{side: 1.5 * value for side, value in part.rect.items()} for part in parts]
        scrolled = 1.5 * window.driver.execute_script("return arguments[0].getBoundingClientRect().top", parts[0])
        left, height = boxes[0]["x"], boxes[1]["y"] + boxes[1]["height"] - boxes[0]["y"]
        with Image.open(window.shot("picture")) as shot:
            told = PngInfo()
            told.add_text("Description", words)
            area = (left, scrolled, left + boxes[0]["width"], scrolled + height)
            shot.crop(tuple(map(round, area))).convert("P", palette=Image.Palette.ADAPTIVE).save(PICTURE, pnginfo=told)
        window.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    with Image.open(PICTURE) as picture:
        assert picture.info["Description"] == words, "take it anew: TAKE_PICTURE=1 pytest tests/browser -k picture"


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_report_can_be_read(window, theme):
    window.driver.set_window_size(*WIDE)
    choose(window, theme)
    window.hide_files()
    window.write(EXERCISE + "-code", OVER_QUERIES)
    window.run(EXERCISE + "-code")
    report = window.check(EXERCISE)
    for size in (WIDE, NARROW):
        window.driver.set_window_size(*size)
        window.cell(EXERCISE)
        window.shot(f"{theme}-{size[0]}")
        for text, contrast in window.contrasts(report):
            assert contrast >= (SIGNS if set(text) <= set("✓✗■□") else TEXT), (text, contrast)
        width, room = window.driver.execute_script(
            "return [arguments[0].scrollWidth, arguments[0].clientWidth]", report
        )
        assert width <= room


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_validate_begins_with_the_points_where_something_fails(window, theme):
    window.driver.set_window_size(*WIDE)
    choose(window, theme)
    window.write(EXERCISE + "-code", OVER_QUERIES + "\n\nraise ValueError('<img src=x onerror=document.title=1>')")
    said = validated(window, f"with-a-mistake-{theme}")
    assert re.fullmatch(rf"\d[\d.]* of {FULL:g} points", said[0])
    assert said.count("The following cell failed:") >= 1 and said[1] == "The following cell failed:"
    assert not window.all(".jp-Dialog-content img")  # what a notebook raises is text in the dialog
    window.click(".jp-Dialog-button")


@pytest.mark.parametrize("theme", ["Light", pytest.param("Dark", marks=pytest.mark.long)])
def test_validate_runs_the_saved_lab_from_the_top(window, published, theme):
    window.driver.set_window_size(*WIDE)
    choose(window, theme)
    for name, source in solved().items():
        window.write(name, source)
    said = validated(window, theme)
    assert said == [f"{FULL:g} of {FULL:g} points", "Success! Your notebook passes all the tests."]
    window.click(".jp-Dialog-button")
    saved = nbformat.read(published / NOTEBOOK, as_version=4)
    assert any("2 * length" in cell.source for cell in saved.cells)


def choose(window, theme: str) -> None:
    window.menu("Settings", "Theme", f"JupyterLab {theme}")
    window.find(f"body[data-jp-theme-light={'true' if theme == 'Light' else 'false'}]")


def validated(window, name: str) -> list[str]:
    """Press Validate, and read the lines of the dialog that are seen, which have to be readable on each screen."""
    window.click(".jp-NotebookPanel-toolbar .jp-ToolbarButton", "Validate")
    dialog = window.find(".jp-Dialog-content", "Validation Results")
    body = dialog.find_element("id", "validation-message")
    for width, height in SCREENS:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        window.shot(f"validated-{name}-{width}")
        assert min(contrast for text, contrast in window.contrasts(body) if text in body.text) >= TEXT
        assert body.get_property("scrollWidth") <= body.get_property("clientWidth")
        top, left, right = window.driver.execute_script(PLACE_OF_THE_FIRST_LINE, body)
        assert 0 <= top < height and left >= 0 and right <= width
    window.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return [line for line in body.text.splitlines() if line.strip()]
