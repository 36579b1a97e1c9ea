"""Imports run downwards only: who may know whom, between packages and between modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

from autograder.grade.lab_grader import NOT_READ

ROOT = Path(__file__).resolve().parents[2]
HOUSES = ("autograder", "coursekit", "exercises")


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path, modules: Iterable[str]) -> set[str]:
    """The modules of this repository that a file imports, at the top and inside functions."""
    folder = ".".join(path.relative_to(ROOT).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), folder)
            found |= {full if (full := f"{base}.{alias.name}") in modules else base for alias in node.names}
    return {name for name in found if name in modules and name != module_name(path)}


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports; imports that only a type checker sees count, too."""
    paths = {module_name(path): path for house in HOUSES for path in (ROOT / house).rglob("*.py")}
    return {name: imported(path, paths.keys()) for name, path in paths.items()}


def package(module: str) -> str:
    """The package a module belongs to: each integration is one of its own."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[:2] == ["autograder", "integrations"] else 2])


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_two_packages_of_the_engine_import_each_other_and_none_reaches_itself():
    graph: dict[str, set[str]] = {}
    for module, others in imports().items():
        if module.startswith("autograder."):
            graph.setdefault(package(module), set()).update(
                package(other)
                for other in others
                if other.startswith("autograder.") and package(other) != package(module)
            )
    assert len(graph) > 15
    assert circle(graph) == []
    assert graph["autograder.course"] == set()


def test_no_module_imports_itself_by_a_detour():
    graph = {
        name: {other for other in others if not name.startswith(f"{other}.")} for name, others in imports().items()
    }
    assert circle(graph) == []


@pytest.mark.parametrize(
    ("house", "forbidden"), [("coursekit", ("autograder", "exercises")), ("autograder", ("exercises",))]
)
def test_what_students_get_knows_no_grader_and_the_engine_knows_no_course(house, forbidden):
    for module, others in imports().items():
        if module.split(".")[0] == house:
            assert not {other for other in others if other.split(".")[0] in forbidden}, module


def test_what_grading_leaves_out_of_its_version_is_reached_from_no_verdict_and_no_page():
    roots = ("autograder.grade.", "autograder.pages.feedback", "autograder.worker.", "coursekit.")
    reached, waiting = set(), [module for module in imports() if module.startswith(roots)]
    while waiting:
        if (module := waiting.pop()) not in reached:
            reached.add(module)
            waiting += imports()[module]
    assert len(reached) > 100 and not NOT_READ & {package(module).split(".")[1] for module in reached if "." in module}
