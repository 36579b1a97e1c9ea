"""The class report in a browser: its filters work, nothing else runs, nothing is fetched."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import Select
from tiny_course import LAB, released
from workplace import Window

from autograder.grade.marks import make_mark
from autograder.grade.results import ExerciseResult, LabResult
from autograder.pages.class_report import write_report

pytestmark = pytest.mark.long


@pytest.fixture
def window(tmp_path):
    opened = Window(tmp_path)
    yield opened
    opened.close()


def show_class(tmp_path, monkeypatch, window) -> None:
    """Open the report on three students, with 100, 0 and 50 % in the only lab."""
    course = released(tmp_path / "course", monkeypatch)
    declared = {"double": SimpleNamespace(spec=SimpleNamespace(sentences={}))}
    monkeypatch.setattr("autograder.pages.class_report.declared_exercises", lambda course, lab: declared)
    students = {"Ada": 2, "bob": 0, "<b>eve</b>": 1}
    results = [
        make_mark(LabResult(name, LAB, (ExerciseResult("double", score, 2, "graded"),)))
        for name, score in students.items()
    ]
    write_report(course, results, tmp_path / "report.html")
    window.driver.get((tmp_path / "report.html").as_uri())


def shown(window) -> list[str]:
    rows = [row for row in window.all("#students tbody tr") if row.is_displayed()]
    return [row.find_element("css selector", "th").text for row in rows]


def test_students_are_filtered_by_name_mark_and_need(tmp_path, monkeypatch, window):
    show_class(tmp_path, monkeypatch, window)
    assert shown(window) == ["<b>eve</b>", "Ada", "bob"]
    window.find("#name").send_keys("AD")
    assert shown(window) == ["Ada"] and window.find("#shown").text == "1 of 3 students"
    window.find("#name").clear()
    window.find("#below").send_keys("60")
    Select(window.find("#lab")).select_by_value(LAB)
    assert shown(window) == ["<b>eve</b>", "bob"]
    window.click("#concerned")
    assert shown(window) == ["bob"]
    window.shot("class-report")
    assert not [line for line in window.driver.get_log("browser") if line["level"] == "SEVERE"]


def test_the_filters_need_no_mouse(tmp_path, monkeypatch, window):
    show_class(tmp_path, monkeypatch, window)
    window.driver.execute_script("document.getElementById('name').focus()")

    def press(*keys: str) -> None:
        ActionChains(window.driver).send_keys(*keys).perform()

    press("b")
    assert shown(window) == ["<b>eve</b>", "bob"]
    press(Keys.TAB, "40", Keys.TAB, Keys.ARROW_DOWN, Keys.TAB)
    assert shown(window) == ["bob"] and Select(window.find("#lab")).first_selected_option.text == "A tiny lab"
    press(Keys.SPACE)
    assert window.find("#concerned").is_selected() and shown(window) == ["bob"]
