"""The tests in this folder are skipped where there is no browser; one that fails leaves a picture of what it saw."""

from __future__ import annotations

import contextlib

import pytest
from chromium import missing

# What a person would try first, on the course's pages and in JupyterLab: `.ci/run` adds these to the short tests.
TRIED_FIRST = (
    "test_student.py::test_a_failed_check_is_read_and_mended",
    "test_student.py::test_validate_runs_the_saved_lab_from_the_top[Light]",
    "test_start_page.py::test_it_opens_on_the_list_is_accessible_and_a_link_opens_the_lab_by_keyboard",
    "test_web_site.py::test_the_start_page_says_on_one_screen_what_it_is_and_leads_to_all",
    "test_web_site.py::test_formulas_stand_without_javascript",
    "test_web_site.py::test_a_hit_of_the_search_leads_to_its_section",
    "test_web_site.py::test_a_figure_opens_at_its_full_size_and_escape_closes_it",
    "test_predictions.py::test_a_choice_opens_its_answer_says_what_was_said_and_a_reload_keeps_it",
    "test_mistakes_on_page.py::test_a_wrong_line_is_named_the_right_one_passes_and_a_strange_one_is_said_to_be_strange",
    "test_start_writes.py::test_the_model_comes_with_the_click_writes_what_was_recorded_and_answers_the_guess",
    "test_strip_page.py::test_a_hidden_word_has_five_guesses_and_the_first_is_the_encoders",
    "test_writer_page.py::test_it_writes_only_after_a_prediction_which_it_then_compares",
    "test_live_figures.py::test_the_query_is_dragged_on_the_chart",
)


def pytest_collection_modifyitems(items):
    reason = missing()
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.browser)
            if item.nodeid.partition("browser/")[2].startswith(TRIED_FIRST):
                item.add_marker(pytest.mark.tried_first)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed:
        from selenium.common.exceptions import WebDriverException  # a second to import, where no browser test runs
        from workplace import Window

        given = getattr(item, "funcargs", {}).values()
        for window in (candidate for value in given for candidate in (value if isinstance(value, list) else [value])):
            if isinstance(window, Window):
                with contextlib.suppress(WebDriverException):  # the browser itself may be what failed
                    report.sections.append(("screenshot", str(window.shot(f"failed-{item.name}"))))
    return report
