"""The class report in a browser: its filters work, nothing else runs, nothing is fetched."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from selenium.webdriver.support.ui import Select
from tiny_course import LAB, released
from workplace import Window

from autograder.grading.results import ExerciseResult, LabResult
from autograder.pages.class_report import write_report

pytestmark = pytest.mark.browser


@pytest.fixture
def window(tmp_path):
    opened = Window(tmp_path)
    yield opened
    opened.close()


def test_students_are_filtered_by_name_mark_and_need(tmp_path, monkeypatch, window):
    course = released(tmp_path / "course", monkeypatch)
    declared = {"double": SimpleNamespace(spec=SimpleNamespace(sentences={}))}
    monkeypatch.setattr("autograder.pages.class_report.declared_exercises", lambda course, lab: declared)
    students = {"Ada": 2, "bob": 0, "<b>eve</b>": 1}
    results = [
        LabResult(name, LAB, (ExerciseResult("double", score, 2, "graded"),)) for name, score in students.items()
    ]
    write_report(course, results, tmp_path / "report.html")
    window.driver.get((tmp_path / "report.html").as_uri())

    def shown() -> list[str]:
        return [
            row.find_element("css selector", "th").text
            for row in window.all("#students tbody tr")
            if row.is_displayed()
        ]

    assert shown() == ["<b>eve</b>", "Ada", "bob"]
    window.find("#name").send_keys("AD")
    assert shown() == ["Ada"] and window.find("#shown").text == "1 of 3 students"
    window.find("#name").clear()
    window.find("#below").send_keys("60")
    Select(window.find("#lab")).select_by_value(LAB)
    assert shown() == ["<b>eve</b>", "bob"]
    window.click("#concerned")
    assert shown() == ["bob"]
    window.shot("class-report")
    assert not [line for line in window.driver.get_log("browser") if line["level"] == "SEVERE"]
