"""Live figures in JupyterLab: drawn from what is stored, without a kernel; the viewer reads what is typed."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from stored_weights import largest_weight
from workplace import NotebookWindow, Server, Window

from autograder.course.settings import load_course
from autograder.release.publish import publish

pytestmark = [pytest.mark.long, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
VIEWER = "viewer.ipynb"


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """What students have, and a notebook of theirs with one cell."""
    folder = tmp_path_factory.mktemp("published") / "course"
    publish(load_course(ROOT), folder)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    cells = [new_code_cell('from coursekit import live\n\nlive.heads("the cat sat")', id="viewer")]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / VIEWER)
    return folder


@pytest.fixture(scope="module")
def server(published, tmp_path_factory):
    server = Server(published, tmp_path_factory.mktemp("server") / "jupyter", {"PYTHONPATH": str(published)})
    yield server
    server.stop()


def chart(window: Window, cell: WebElement) -> WebElement:
    """The drawing below a cell, as soon as it is there."""
    return window.wait(lambda: next(iter(cell.find_elements(By.CSS_SELECTOR, ".vega-embed svg")), None), "a drawing")


def texts(cell: WebElement) -> list[str]:
    """What is written in the drawing, in or out of sight."""
    return [element.get_attribute("textContent") for element in cell.find_elements(By.CSS_SELECTOR, "svg text")]


def test_a_lecture_that_is_opened_shows_a_figure_that_answers(server, published, tmp_path):
    lecture = nbformat.read(published / "lectures" / "02_self_attention.ipynb", as_version=4)
    drawn = next(cell.id for cell in lecture.cells if "live.sharpness(" in cell.source)
    window = NotebookWindow(tmp_path, server, published, "lectures/02_self_attention.ipynb")
    try:
        cell = window.cell(drawn)
        window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart(window, cell))
        undivided = largest_weight("dog (8)", 1)
        assert undivided in texts(cell)
        slider = cell.find_element(By.CSS_SELECTOR, "input[type=range]")
        left = 3 - slider.size["width"] // 2  # from its middle
        ActionChains(window.driver).move_to_element_with_offset(slider, left, 0).click().perform()
        assert slider.get_attribute("value") == "0.25"
        window.wait(lambda: undivided not in texts(cell), "other weights")
        slider.send_keys(Keys.END)  # the arrows belong to JupyterLab there
        window.wait(lambda: slider.get_attribute("value") == "8", "the keyboard moves the slider")
        pointed = cell.find_element(By.CSS_SELECTOR, "path[aria-label*='attends from: brown;']")
        ActionChains(window.driver).move_to_element(pointed).perform()
        chosen = cell.find_element(By.CSS_SELECTOR, "select")
        window.wait(lambda: chosen.get_attribute("value") == "brown", "the pointer chooses a row")
        window.shot("sharpness")
    finally:
        window.close()


def test_the_viewer_shows_the_heads_of_the_sentence_that_is_typed(server, published, tmp_path):
    window = NotebookWindow(tmp_path, server, published, VIEWER)
    try:
        window.find(".jp-Notebook .cm-content", "live.heads")
        window.find(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        for sentence in ("the cat sat", "our striker scored twice"):
            window.write("viewer", f'from coursekit import live\n\nlive.heads("{sentence}")')
            cell = window.run("viewer")
            chart(window, cell)
            pieces = {"[CLS]", *sentence.split(), "[SEP]"}
            window.wait(lambda cell=cell, pieces=pieces: pieces <= set(texts(cell)), f"the pieces of {sentence!r}")
            assert "block 2, head 2" in texts(cell)
            window.shot(sentence.replace(" ", "-"))
    finally:
        window.close()
