"""Renders the HTML pages of the autograder; everything in them is escaped unless it is made here."""

from __future__ import annotations

import functools
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from coursekit.check.report import as_html


def render(template: str, **values: Any) -> bytes:
    """Fill a template of ``autograder/pages/templates`` with values."""
    return _environment().get_template(template).render(**values).encode("utf-8", "replace")


def source_of(name: str) -> str:
    """The text of a file of ``autograder/pages/templates``, as it stands."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def marked(text: str) -> Markup:
    """Escape a text, and set what stands between backquotes as code."""
    return Markup(as_html(text))


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked"] = marked
    return environment
