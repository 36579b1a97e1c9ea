"""Reads a notebook in the format of Otter Assign, version 1: raw cells begin and end questions, solutions and tests."""

from __future__ import annotations

import re
from typing import Any

import yaml
from nbformat import NotebookNode

from autograder.importing.assignment import BEGIN, END, Assignment, Given, Question, Test, Written, as_name, marked

_BLOCK = re.compile(r"\s*#\s*(BEGIN|END)\s+(QUESTION|SOLUTION|PROMPT|TESTS)\s*$", re.IGNORECASE)
_CONFIG = re.compile(r"\s*#\s*ASSIGNMENT CONFIG", re.IGNORECASE)
_REGION = re.compile(r"^([ \t]*)#[ \t]*(BEGIN|END) SOLUTION(?: NO PROMPT)?[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"^([ \t]*)(\S.*?)[ \t]*#[ \t]*SOLUTION(?: NO PROMPT)?[ \t]*$", re.MULTILINE)
_PROMPT = re.compile(
    r'^[ \t]*"""[ \t]*# BEGIN PROMPT\n.*?"""[ \t]*;?[ \t]*# END PROMPT[ \t]*\n?', re.DOTALL | re.MULTILINE
)
_TEST_CONFIG = re.compile(r'\A\s*"""[ \t]*# BEGIN TEST CONFIG\n(.*?)"""[ \t]*# END TEST CONFIG[ \t]*\n?', re.DOTALL)
_HIDDEN = re.compile(r"\A\s*#[ \t]*HIDDEN\b.*$", re.IGNORECASE | re.MULTILINE)
_IGNORED = re.compile(r"^.*#[ \t]*IGNORE[ \t]*$\n?", re.MULTILINE | re.IGNORECASE)


def is_otter(notebook: NotebookNode) -> bool:
    """Whether raw cells mark questions, as Otter Assign does."""
    return any(cell.cell_type == "raw" and _block(cell.source) == ("BEGIN", "QUESTION") for cell in notebook.cells)


def read_otter(notebook: NotebookNode) -> Assignment:
    """Return the assignment."""
    found = Assignment("Otter")
    inside: list[str] = []
    settings: dict[str, Any] = {}
    question: Question | None = None
    for cell in notebook.cells:
        if cell.cell_type == "raw":
            if _CONFIG.match(cell.source):
                keys = ", ".join(_yaml(cell.source, found))
                found.left.append(f"the settings of the assignment ({keys}): see course.toml for what there is here")
                continue
            if (block := _block(cell.source)) is not None:
                way, what = block
                if way == "BEGIN":
                    inside.append(what)
                elif what in inside:
                    inside.remove(what)
                if what == "QUESTION":
                    settings = _yaml(cell.source, found) if way == "BEGIN" else {}
                    question = None
                continue
        if "TESTS" in inside:
            question = question or _question(found, settings, "pass")
            question.tests.append(_test(cell.source, found, settings))
        elif "PROMPT" in inside:
            found.left.append(
                f"the prompt of {settings.get('name')}: students get the solution cell without the answer"
            )
        elif "SOLUTION" in inside and (settings.get("manual") or cell.cell_type != "code"):
            name = as_name(str(settings.get("name", "answer")))
            taken = sum(isinstance(part, Written) and part.name.startswith(name) for part in found.parts)
            worth = _number(settings.get("points"), 1.0)
            found.parts.append(Written(f"{name}_{taken + 1}" if taken else name, cell.cell_type, cell.source, worth))
        elif "SOLUTION" in inside:
            if question is None:
                question = _question(found, settings, _solution(cell.source))
            else:  # a second cell of the same answer
                question.solution += f"\n\n{_solution(cell.source)}"
        else:
            found.parts.append(Given(cell.cell_type, _IGNORED.sub("", cell.source), cell.get("attachments", {})))
    _share_points(found)
    return found


def _question(found: Assignment, settings: dict[str, Any], solution: str) -> Question:
    question = Question(as_name(str(settings.get("name", "question"))), solution)
    found.parts.append(question)
    return question


def _solution(source: str) -> str:
    """Return a solution with this course's marks; prompts, which stand for it in the student's version, go."""
    source = _PROMPT.sub("", source)
    source = _REGION.sub(r"\1### \2 SOLUTION", source)
    source = _LINE.sub(rf"\1{BEGIN}\n\1\2\n\1{END}", source)
    return marked(re.sub(rf"^[ \t]*{END}\n[ \t]*{BEGIN}\n", "", source, flags=re.MULTILINE))


def _test(source: str, found: Assignment, settings: dict[str, Any]) -> Test:
    own: dict[str, Any] = {}
    if (config := _TEST_CONFIG.match(source)) is not None:
        own = _yaml(config[1], found)
        source = source[config.end() :]
    hidden = bool(own.get("hidden")) or _HIDDEN.match(source) is not None
    return Test(_IGNORED.sub("", _HIDDEN.sub("", source)).strip(), _number(own.get("points"), 0.0), hidden)


def _share_points(found: Assignment) -> None:
    """Otter gives a question one point where nobody says; this course gives points to exercises, not to tests."""
    for part in found.parts:
        if isinstance(part, Question) and part.tests and not any(test.points for test in part.tests):
            share = 1.0 / len(part.tests)
            part.tests = [Test(test.source, share, test.hidden) for test in part.tests]


def _block(source: str) -> tuple[str, str] | None:
    found = _BLOCK.match(source.partition("\n")[0])
    return (found[1].upper(), found[2].upper()) if found else None


def _yaml(source: str, found: Assignment) -> dict[str, Any]:
    try:
        content = yaml.safe_load(source)
    except yaml.YAMLError:
        found.left.append(f"settings that are no YAML: {source.strip()[:60]}")
        return {}
    return content if isinstance(content, dict) else {}


def _number(value: Any, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else otherwise
