"""Exports the visible cases of a lab, with references from the oracle, to the files that `coursekit` ships.

With a mistake goes the section of a lecture to which it refers, such as ``02#why-sqrt-dk``.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import nbformat
import numpy as np

from autograder.course.settings import Course, CourseError
from autograder.declare.declaration import Declaration
from autograder.declare.exercise import VISIBLE_SEED, Exercise
from coursekit.check.comparison import Fingerprint
from coursekit.check.judge import ExerciseSpec, Expectation, Section

_ROUNDING = 1e-6  # relative; arrays are stored in float32, numbers with nine digits
_ZIP = b"PK"  # how an .npz file begins
_HEADING = re.compile(r"^#+\s+(.*\S)", re.MULTILINE)
_NUMBER = re.compile(r"(\d\d[a-z]?)#")
_ROOT = re.compile(r"\\sqrt\{(\w+)\}")


def export(
    lab: str,
    title: str,
    points: Mapping[str, float],
    declared: Mapping[str, Declaration],
    own: Mapping[str, Sequence[Expectation]] = MappingProxyType({}),
    sections: Mapping[str, Mapping[str, Section]] = MappingProxyType({}),
    imports: Sequence[str] | None = None,
) -> dict[str, bytes]:
    """Return the reference files of a lab: file name -> content.

    No oracle is in them: inputs, right results, and fingerprints of wrong results are.

    Args:
        lab: folder name of the lab.
        title: title of the lab.
        points: points of each exercise, from the solution notebook, in the notebook's order.
        declared: the lab's exercises by name.
        own: the visible cases of those whose references come from the solution.
        sections: by exercise and mistake, the section of a lecture that the mistake refers to.
        imports: the names that the lab's own cells import, all of which an answer may use.
    """
    arrays: dict[str, np.ndarray] = {}
    entries = []
    for name in points:
        cases = own[name] if name in own else _draw(declared[name])
        spec = replace(declared[name].spec, sections=sections.get(name, {}))
        entries.append(_exercise(spec, cases, arrays))
    description = {"lab": lab, "title": title, "points": dict(points), "exercises": entries}
    if imports is not None:
        description["imports"] = list(imports)
    text = json.dumps(description, ensure_ascii=False, indent=0, allow_nan=False) + "\n"
    return {f"{lab}.json": text.encode("utf-8"), f"{lab}.npz": _pack(arrays)}


def same(old: bytes, new: bytes) -> bool:
    """Whether two reference files of one kind, ``.json`` or ``.npz``, say the same up to rounding.

    The last bits of what `numpy.exp` and matrix products return differ between processors. A file that is the same in
    this sense stays as it is, so that every machine makes the same release.
    """
    if old == new:
        return True
    if old[:2] != _ZIP or new[:2] != _ZIP:
        return _same_value(json.loads(old), json.loads(new))
    return _same_value(_arrays(old), _arrays(new))


def differing_exercises(lab: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """The exercises that are in both exports of a lab, and whose declaration or cases differ by more than rounding.

    Args:
        lab: folder name of the lab.
        old, new: the reference files by name, as `export` returns them.
    """
    before, after = _by_exercise(lab, old), _by_exercise(lab, new)
    return [name for name, entry in after.items() if name in before and not _same_value(before[name], entry)]


def _by_exercise(lab: str, files: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """For each exercise its entry in the ``.json`` file and its arrays in the ``.npz`` file."""
    description = json.loads(files.get(f"{lab}.json", b"{}"))
    arrays = _arrays(files[f"{lab}.npz"]) if f"{lab}.npz" in files else {}
    return {
        (name := entry["name"]): entry | {key: array for key, array in arrays.items() if key.partition(".")[0] == name}
        for entry in description.get("exercises", ())
    }


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return dict(stored)


def _same_value(old: Any, new: Any) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(_same_value(old[name], new[name]) for name in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same_value, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=_ROUNDING, abs_tol=1e-12)
    if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray):
        return type(old) is type(new) and old == new
    if old.dtype != new.dtype or old.shape != new.shape or old.dtype.kind != "f":
        return old.dtype == new.dtype and np.array_equal(old, new)
    return np.allclose(old, new, rtol=_ROUNDING, atol=0.1 * _ROUNDING, equal_nan=True)


def _exercise(spec: ExerciseSpec, expectations: Sequence[Expectation], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    return {
        "name": spec.name,
        "groups": [{**vars(group), "hints": list(group.hints)} for group in spec.groups],
        "sentences": dict(spec.sentences),
        "forbidden": list(spec.forbidden),
        "no_loops": spec.no_loops,
        "reveal": spec.reveal,
        **({"probe": dict(spec.probe)} if spec.probe else {}),
        **({"next_hints": dict(spec.next_hints)} if spec.next_hints else {}),
        **({"sections": {id: vars(section) for id, section in spec.sections.items()}} if spec.sections else {}),
        **({"relations": True} if spec.relations else {}),
        **({"costs_at_most": dict(spec.costs_at_most)} if spec.costs_at_most else {}),
        **({"worked": spec.worked} if spec.worked else {}),
        "cases": [_case(case, arrays, f"{spec.name}.{index}") for index, case in enumerate(expectations)],
    }


def _draw(declared: Declaration) -> Sequence[Expectation]:
    assert isinstance(declared, Exercise), f"{declared.name}: its cases need the solution"
    return declared.expectations(VISIBLE_SEED)


def _case(case: Expectation, arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"group": case.group, "description": case.description, "mode": case.mode}
    parts = {"inputs": case.inputs, "expected": case.expected} | ({"withheld": case.withheld} if case.withheld else {})
    for part, values in parts.items():
        in_arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
        plain = {key: value for key, value in values.items() if key not in in_arrays}
        entry[part] = _nine_digits(plain) if part == "expected" else plain
        entry[f"{part}_arrays"] = list(in_arrays)
        for key, value in in_arrays.items():
            keep = value if part != "expected" or value.dtype.kind != "f" else value.astype("float32")
            arrays[f"{prefix}.{part}.{key}"] = keep
    entry["tolerance"] = _nine_digits(case.tolerance)
    entry["dtype"] = case.dtype
    entry["property"] = case.property
    stated: list[tuple[str, str]] = []
    wrong: list[np.ndarray] = []
    for mistake, results in case.wrong.items():
        prints = {key: value for key, value in results.items() if isinstance(value, Fingerprint)}
        usual = {key: np.shape(case.expected.get(key, 0)) for key in prints}
        said = {
            key: list(value.shape) if isinstance(value, Fingerprint) else _nine_digits(value)
            for key, value in results.items()
            if not (isinstance(value, Fingerprint) and value.shape == usual[key])
        }
        stated.append((mistake, json.dumps(said)))
        if prints.keys() != set(entry["expected_arrays"]):
            arrays_are = ", ".join(entry["expected_arrays"])
            raise ValueError(f"{prefix}: {', '.join(prints)} are arrays with {mistake}, and {arrays_are} without")
        wrong.extend(prints[key].values for key in entry["expected_arrays"])  # the order in which they are read
    # Neighbours that say the same share an entry: most are arrays of the usual shape, and say nothing.
    entry["wrong"] = {
        " ".join(id for id, _ in some): json.loads(said) for said, some in groupby(stated, key=itemgetter(1))
    }
    if stated:
        with np.errstate(over="ignore"):  # what is too large for float32 is infinite in a student's result, too
            arrays[f"{prefix}.wrong"] = np.concatenate(wrong or [np.zeros(0)]).astype("float32")
    return entry


def _nine_digits(value: Any) -> Any:
    """Round the floats in `value` to nine significant digits: further ones differ between processors."""
    if isinstance(value, dict):
        return {key: _nine_digits(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nine_digits(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """An .npz file whose bytes depend on the arrays alone: NumPy's own writer stores the time of writing."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array, order="C"), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content.getvalue(), compresslevel=9)
    return target.getvalue()


# -- sections of lectures to which mistakes refer --------------------------------------------------------------------


def find_referred_sections(course: Course, declared: Mapping[str, Declaration]) -> dict[str, dict[str, Section]]:
    """For each exercise the sections that its mistakes refer to, by the mistake's id.

    A reference to a lecture that the course has left out is none.

    Raises:
        CourseError: a lecture has no such section, or a reference names none; the message names exercise and mistake.
    """
    found: dict[str, dict[str, Section]] = {}
    for name, exercise in declared.items():
        for id, mistake in exercise.named_mistakes.items() if isinstance(exercise, Exercise) else ():
            if mistake.see and not is_left_out(course, mistake.see):
                try:
                    found.setdefault(name, {})[id] = section(course, mistake.see)
                except CourseError as error:
                    raise CourseError(f"{exercise.at(id)}{name}, mistake {id}: {error}") from error
    return found


def is_left_out(course: Course, reference: str) -> bool:
    """Whether a reference, such as ``"02#why-sqrt-dk"``, is to a lecture that the course does not have."""
    number = _NUMBER.match(reference)
    return number is not None and not any(course.lectures.glob(f"{number[1]}_*.ipynb"))


def section(course: Course, reference: str) -> Section:
    """The section with an id: the line ``<a id="why-sqrt-dk"></a>`` stands before its heading.

    Args:
        course: whose lectures are looked at.
        reference: number of the lecture and id, such as ``"02#why-sqrt-dk"`` or ``"02b#cost"``.

    Raises:
        CourseError: there is no such lecture, or no such section in it.
    """
    number, _, anchor = reference.partition("#")
    for path in sorted(course.lectures.glob(f"{number}_*.ipynb")) if number and anchor else ():
        for cell in nbformat.read(path, as_version=4).cells:
            _, mark, after = cell.source.partition(f'<a id="{anchor}"></a>')
            if cell.cell_type == "markdown" and mark and (heading := _HEADING.search(after)):
                title = _ROOT.sub(r"√\1", heading[1]).replace("$", "")  # read where no formulas are set, too
                of_it = f"section {title}" if title[0].isdigit() else title
                return Section(f"Lecture {number.lstrip('0')}, {of_it}", f"{path.relative_to(course.root)}#{anchor}")
    raise CourseError(
        f"no lecture has the section {reference!r}; write the number of a lecture, # and the id in a line "
        f'<a id="…"></a> before a heading of it'
    )
