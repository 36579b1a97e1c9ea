"""The student's side of a lab: `start_lab` reads its cases and gives the `check` function of its notebook."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import linecache
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, cast

import numpy as np

from coursekit import __version__
from coursekit.beside import hash_cell, raises, read_passed, write_passed
from coursekit.check import rules
from coursekit.check.attempts import attempt
from coursekit.check.cells import Cell, read_cells
from coursekit.check.comparison import FINGERPRINT_SIZE, Fingerprint
from coursekit.check.judge import (
    STUB,
    Attempt,
    ExerciseSpec,
    Expectation,
    GroupSpec,
    Judgement,
    Section,
    beside,
    judge,
    not_run,
    read,
    undefined,
)
from coursekit.check.report import CheckFailed, Report
from coursekit.check.rules import guard
from coursekit.probes import described, load_probe
from coursekit.probes.layers import LayerCache, sharing


def start_lab(lab: str) -> Lab:
    """Open a lab and say what is in it.

    Args:
        lab: the lab's folder name, such as ``"02_self_attention"``.

    Returns:
        The lab, to be called with an exercise's name: ``check = start_lab(…)``, then ``check("SelfAttention")``.

    Raises:
        ValueError: there is no such lab.
    """
    started = Lab(load_reference(lab), read_passed(lab))
    total = sum(started.reference.points.values())
    print(
        f"Lab {lab.partition('_')[0]}, {started.reference.title}: {len(started.progress)} exercises, {total:g} points. "
        'After each exercise, run the cell check("…") below it.'
    )
    return started


class Lab:
    """The visible checks of one lab, and which of them passed.

    Args:
        reference: the lab.
        before: for exercises that passed before the kernel was restarted, the hash of the cell.
    """

    def __init__(self, reference: LabReference, before: Mapping[str, str] = MappingProxyType({})):
        self.reference = reference
        self._before = {name: cell for name, cell in before.items() if name in reference.specs}
        self._passed: dict[str, str] = {}  # since then
        self.progress = dict.fromkeys(reference.specs, False)
        self.failed: Counter[tuple[str, str]] = Counter()  # failed tries, by exercise and first group that failed
        self._shares = dict.fromkeys(reference.specs, 0.0)  # of an exercise's points, when last checked
        self._tried: dict[tuple[str, str], list[str]] = {}  # the code of the last try that failed there

    def __call__(self, exercise: str) -> None:
        """Check an exercise and show the report.

        Where nbgrader runs the notebook, or COURSE_CHECKS_RAISE=1 is set, a check that does not pass also raises
        `CheckFailed`; for a student it does not, so "Run all" goes on behind it.

        Args:
            exercise: the exercise's name; the object of that name is taken from the notebook.

        Raises:
            ValueError: the lab has no such exercise.
            CheckFailed: something is not right yet, in such a run; the report says what.
        """
        report = self.report(exercise, sys._getframe(1).f_globals)
        _show(report)
        write_passed(self.reference.lab, self._before | self._passed)
        if not report.judgement.passed and raises():
            raise CheckFailed(report.summary)

    def report(self, exercise: str, namespace: Mapping[str, Any]) -> Report:
        """Check an exercise on the objects in `namespace`, and return the report."""
        if exercise not in self.reference.specs:
            there = ", ".join(self.reference.specs)
            raise ValueError(
                f"there is no exercise {exercise!r} in this lab: your instructor has removed it, or the name is not "
                f"quite right. The exercises are {there}"
            )
        cells = _cells(namespace)
        trees = read_cells(cells)
        judgement = self._judge(exercise, namespace, trees)
        if judgement.is_wrong or (judgement.status == "missing" and _is_written(exercise, cells, trees)):
            judgement = self._beside_callees(judgement, namespace, trees)
        self.progress[exercise], self._shares[exercise] = judgement.passed, judgement.share
        self._remember(exercise, judgement.passed, cells, trees)
        failing = judgement.first_failing
        place = exercise, failing.name if failing else ""
        if judgement.status != "missing" and failing:
            code = [cells[number] for number in sorted(rules.find_code_behind(trees, exercise))]
            if not code or self._tried.get(place) != code:  # a check of unchanged code is the same try again
                self.failed[place] += 1
            self._tried[place] = code
        points = self.reference.points
        shares = self._shares | dict.fromkeys(self._before, 1.0)
        reached = sum(points.get(name, 0.0) * share for name, share in shares.items())
        spec, reach = self.reference.specs[exercise], (reached, sum(points.values()))
        return Report(spec, judgement, self.failed[place], self.progress, reach, frozenset(self._before))

    def _remember(self, exercise: str, passed: bool, cells: Sequence[str], trees: Sequence[Cell]) -> None:
        """Keep what this check says, and forget what passed before the restart with another cell than has run since."""
        found = {name: _find_own_cell(name, cells, trees) for name in (exercise, *self._before)}
        own = {name: None if cell is None else hash_cell(cell) for name, cell in found.items()}
        self._before = {
            name: before for name, before in self._before.items() if name != exercise and own[name] in (None, before)
        }
        self._passed.pop(exercise, None)
        if passed:
            self._passed[exercise] = own[exercise] or ""

    def _beside_callees(self, judgement: Judgement, namespace: Mapping[str, Any], trees: Sequence[Cell]) -> Judgement:
        """Add to the judgement what has to be said about the exercises that this one calls: that a cell has not run, or
        that one of them is wrong."""
        specs = self.reference.specs

        def lacks(found: Judgement) -> str:
            return next((name for name in undefined(found) if name in specs and name not in namespace), "")

        if name := lacks(judgement):
            first = f"`{name}` is not there yet: run the cell that defines `{name}` first."
            return replace(judgement, misconceptions=(), first=first)
        called = rules.find_callees(trees, judgement.exercise, specs)
        parts = [self._judge(name, namespace, trees) for name in specs if name in called]
        if wrong := [part for part in parts if (part.is_wrong or part.status == "missing") and not lacks(part)]:
            return beside(judgement, wrong, specs)
        if name := next((name for name in undefined(judgement) if name not in namespace), ""):
            first = f"`{name}` is not defined: run the cell that defines it first, or correct the name."
            return replace(judgement, misconceptions=(), first=first)
        return judgement

    def _judge(self, exercise: str, namespace: Mapping[str, Any], trees: Sequence[Cell]) -> Judgement:
        """Try an exercise on its visible cases, and judge it without a look at the exercises that it calls."""
        spec, expectations = self.reference.specs[exercise], self.reference.expectations[exercise]
        given = self.reference.imports
        broken = rules.find_violations(trees, exercise, forbidden=spec.forbidden, no_loops=spec.no_loops, given=given)
        with guard(spec.forbidden), _calm_tensorflow():
            attempts = not_run(spec, expectations, broken) or run_cases(
                self.reference.lab, exercise, expectations, namespace, spec.probe
            )
        return judge(spec, expectations, attempts, broken)


def _is_written(exercise: str, cells: Sequence[str], trees: Sequence[Cell]) -> bool:
    """Whether the stub is gone from the last cell that defines an exercise."""
    own = _find_own_cell(exercise, cells, trees)
    return own is not None and STUB not in own


def _find_own_cell(exercise: str, cells: Sequence[str], trees: Sequence[Cell]) -> str | None:
    """The last cell that defines an exercise."""
    own = (cell for cell, tree in zip(cells, trees, strict=True) if any(exercise in part.binds for part in tree))
    return next(reversed([*own]), None)


def _cells(namespace: Mapping[str, Any]) -> list[str]:
    """Return the cells that were run, from IPython's history; without a history, the cells that define the objects."""
    history = [str(cell) for cell in namespace.get("In", ())]
    if "In" not in namespace or any(cell.strip() for cell in history):
        return history
    defined = [value_ for value in namespace.values() for value_ in (value, *getattr(value, "__dict__", {}).values())]
    files = dict.fromkeys(function.__code__.co_filename for function in defined if isinstance(function, FunctionType))
    return ["".join(linecache.getlines(name)) for name in files if not Path(name).exists()]  # a cell is no file


def run_cases(
    lab: str,
    exercise: str,
    expectations: Sequence[Expectation],
    namespace: Mapping[str, Any],
    probe_description: Mapping[str, Any] | None = None,
) -> list[Attempt]:
    """Try an exercise on each case, with the lab's probe or the described one. Cases share the layers they build.

    Each try gets a copy of the inputs: what an answer changes in place is not there for the next check.
    """
    probe = described(exercise, probe_description) if probe_description else load_probe(lab, exercise)
    with sharing(LayerCache()):
        attempts = [attempt(probe, namespace, copy.deepcopy(case.inputs), case.mode) for case in expectations]
    return [
        read(lab, exercise, case.inputs, case.mode, found) for case, found in zip(expectations, attempts, strict=True)
    ]


@contextlib.contextmanager
def _calm_tensorflow() -> Iterator[None]:
    """While a check runs, switch off TensorFloat-32, which rounds matrix products on recent GPUs to three digits, and
    TensorFlow's advice in its log, which is about how the check calls."""
    if "tensorflow" not in sys.modules:
        yield
        return
    import tensorflow as tf

    settings, log = tf.config.experimental, tf.get_logger()
    precision, level = settings.tensor_float_32_execution_enabled(), log.level
    settings.enable_tensor_float_32_execution(False)
    log.setLevel("ERROR")
    try:
        yield
    finally:
        settings.enable_tensor_float_32_execution(precision)
        log.setLevel(level)


def _show(report: Report) -> None:
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(report)
    else:
        display(report)


# -- the lab's reference files: visible cases, their right results, fingerprints of wrong ones ------------------------


BESIDE = "reference"  # folder beside a lab's notebook


@dataclass(frozen=True)
class LabReference:
    """A lab as the student's side knows it: title, and for each exercise its spec and the visible cases.

    `imports` are the names that the lab's own cells import, None where an older release does not say.
    """

    lab: str
    title: str
    points: Mapping[str, float]
    specs: Mapping[str, ExerciseSpec]
    expectations: Mapping[str, list[Expectation]]
    imports: tuple[str, ...] | None = None


def load_reference(lab: str) -> LabReference:
    """Load the reference of a lab, such as ``"02_self_attention"``.

    A lab of another course than this package's brings it along: in the folder `BESIDE` beside the notebook, which a
    notebook's kernel and `python -m coursekit` have as, or make, their working folder.

    Raises:
        ValueError: there is no such lab, and the message lists those that there are; or its files are of a release
            whose form this one does not know.
    """
    own = Path.cwd() / BESIDE
    ours = cast(Path, resources.files("coursekit") / "reference")  # the package is not imported from an archive
    return _load(lab, own if (own / f"{lab}.json").is_file() else ours)


@functools.cache
def _load(lab: str, folder: Path) -> LabReference:
    try:
        description = json.loads((folder / f"{lab}.json").read_text("utf-8"))
        arrays = np.load(io.BytesIO((folder / f"{lab}.npz").read_bytes()), allow_pickle=False)
    except FileNotFoundError:
        known = sorted(path.name[:-5] for path in folder.iterdir() if path.name.endswith(".json"))
        raise ValueError(
            f"there is no lab {lab!r}: no {BESIDE}/{lab}.json lies beside the notebook (take the lab's whole folder, "
            f"and start Jupyter so that the notebook runs in it), and the labs of the course are {', '.join(known)}"
        ) from None
    with _of_this_release(lab):
        return _read(lab, description, arrays)


@contextmanager
def _of_this_release(lab: str) -> Iterator[None]:
    """Turn the error that a reference file of another release causes into a sentence."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"the reference files of {lab} are of another release of the course than coursekit {__version__}, which "
            f"cannot read them ({type(error).__name__}: {error}): take the lab's folder and coursekit from one release"
        ) from error


def _read(lab: str, description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> LabReference:
    entries = {entry["name"]: entry for entry in description["exercises"]}
    specs = {
        name: ExerciseSpec(
            name=name,
            groups=tuple(GroupSpec(**{**group, "hints": tuple(group["hints"])}) for group in entry["groups"]),
            sentences=entry["sentences"],
            forbidden=tuple(entry["forbidden"]),
            no_loops=entry["no_loops"],
            reveal=entry["reveal"],
            probe=entry.get("probe"),
            next_hints=entry.get("next_hints", {}),
            sections={id: Section(**section) for id, section in entry.get("sections", {}).items()},
            relations=entry.get("relations", "changes" in entry),  # an older release told both or none
            costs_at_most=entry.get("costs_at_most", {}),
            worked=entry.get("worked", ""),
        )
        for name, entry in entries.items()
    }
    visible = _VisibleCases(lab, entries, arrays)
    imports = tuple(description["imports"]) if "imports" in description else None
    return LabReference(lab, description["title"], description["points"], specs, visible, imports)


class _VisibleCases(Mapping[str, list[Expectation]]):
    """The cases of each exercise, unpacked when they are first asked for: opening a lab must not take a while."""

    def __init__(self, lab: str, entries: Mapping[str, Mapping[str, Any]], arrays: Mapping[str, np.ndarray]):
        self._lab = lab
        self._entries = entries
        self._arrays = arrays
        self._unpacked: dict[str, list[Expectation]] = {}

    def __getitem__(self, exercise: str) -> list[Expectation]:
        if exercise not in self._unpacked:
            entry = self._entries[exercise]
            with _of_this_release(self._lab):
                self._unpacked[exercise] = [
                    _expectation(case, self._arrays, f"{exercise}.{index}") for index, case in enumerate(entry["cases"])
                ]
        return self._unpacked[exercise]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _expectation(case: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> Expectation:
    def values(part: str) -> dict[str, Any]:
        plain = dict(case.get(part, {}))
        found = {key: arrays[f"{prefix}.{part}.{key}"] for key in case.get(f"{part}_arrays", ())}
        return {**plain, **found}

    expected = values("expected")
    return Expectation(
        group=case["group"],
        description=case["description"],
        inputs=values("inputs"),
        mode=case["mode"],
        expected=expected,
        tolerance=case["tolerance"],
        dtype=case["dtype"],
        wrong=_WrongReferences(case, expected, arrays, prefix),
        property=case["property"],
        withheld=values("withheld"),
    )


class _WrongReferences(Mapping[str, Mapping[str, Any]]):
    """The results with each mistake that changes them, unpacked when first asked for: by a wrong answer.

    Older files have them with pairs of mistakes as well, called ``first+second``; nobody asks for these.
    """

    def __init__(
        self,
        case: Mapping[str, Any],
        expected: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        prefix: str,
    ):
        self._case = case
        self._expected = expected
        self._arrays = arrays
        self._prefix = prefix

    @functools.cached_property
    def _results(self) -> dict[str, dict[str, Any]]:
        if not self._case["wrong"]:
            return {}
        fingerprinted = self._case["expected_arrays"]
        store = self._arrays[f"{self._prefix}.wrong"].astype("float64")
        found, start = {}, 0
        listed = self._case["wrong"].items()
        for mistake, deviations in ((id, said) for some, said in listed for id in some.split()):
            results = dict(deviations)
            for key in fingerprinted:
                shape = tuple(deviations.get(key, self._expected[key].shape))
                size = min(math.prod(shape), FINGERPRINT_SIZE)
                results[key] = Fingerprint(shape, store[start : start + size])
                start += size
            found[mistake] = results
        return found

    def __getitem__(self, mistake: str) -> Mapping[str, Any]:
        return self._results[mistake]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)
