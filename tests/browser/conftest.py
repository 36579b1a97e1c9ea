"""The tests in this folder are skipped where there is no browser; one that fails leaves a picture of what it saw."""

from __future__ import annotations

import contextlib

import pytest
from selenium.common.exceptions import WebDriverException
from workplace import Window, missing


def pytest_collection_modifyitems(items):
    reason = missing()
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.browser)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed:
        given = getattr(item, "funcargs", {}).values()
        for window in (candidate for value in given for candidate in (value if isinstance(value, list) else [value])):
            if isinstance(window, Window):
                with contextlib.suppress(WebDriverException):  # the browser itself may be what failed
                    report.sections.append(("screenshot", str(window.shot(f"failed-{item.name}"))))
    return report
