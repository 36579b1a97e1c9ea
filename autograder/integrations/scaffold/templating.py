"""Fills the templates of `course new`."""

from __future__ import annotations

import functools

import jupytext
from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode

from autograder.course.cells import grade_id


def filled(template: str, **values: object) -> str:
    """A template of ``autograder/integrations/scaffold/templates`` with its values filled in."""
    return _environment().get_template(template).render(**values)


def cells(template: str, **values: object) -> list[NotebookNode]:
    """The cells that a template in the percent format makes, their ids the same every time."""
    made = jupytext.reads(filled(template, **values), fmt="py:percent").cells
    for cell in made:
        cell["id"] = grade_id(cell)
    return made


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("autograder.integrations.scaffold"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
