"""What every lab must hold: the solution scores full marks, the stub nothing, and each mistake fails and is named.

`tests/labs` has a file for each lab, so that processes can share the work.

A mistake is proved twice. By its formula, on each change: every one that is declared fails, by more than rounding, and
is named. By the answers of the corpus, as students write them: on each change where no model is built, else in the long
run. Sixteen seeds, the check against the grader and the strength of cases are proved in the long and exhaustive runs.
"""

from __future__ import annotations

import contextlib
import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

import nbformat
import numpy as np
import pytest
from this_course import exercises_of

from autograder.course.labs import is_solution
from autograder.declare.exercise import Case, Exercise, differs
from coursekit.check import rules
from coursekit.check.cells import read_cells
from coursekit.check.comparison import Fingerprint, difference, resembles
from coursekit.check.judge import UNNAMED_MODES, Attempt, Expectation, Judgement, judge, not_run
from coursekit.check.lab import run_cases
from coursekit.check.rules import guard

ROOT = Path(__file__).resolve().parents[1]
LABS = sorted(path.name for path in (ROOT / "solutions").glob("*/") if (path / f"{path.name}.ipynb").exists())
SEED = 40723
# Answers to these build or train models, or draw much, and layers do so, too. `make test` tries every mistake that is
# declared for them, by its formula; `make test-long` tries the right and wrong answers of the corpus.
HEAVY = {"generate", "linear_baseline", "load_keras_weights", "mask_tokens", "measure_bandwidth"}
# Of these there are 18 to 85 wrong answers, a sixth of the time of all long tests: `make test-long` tries every third,
# `make test-exhaustive` all.
BY_THIRDS = {
    *("Encoder", "EncoderBlock", "DecoderBlock", "Transformer", "GroupedAttention", "LanguageModel"),
    *("build_classifier", "train_classifier", "build_vit", "generate"),
}
PRELUDE = "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import ops\n"


def variants(lab: str, name: str) -> ModuleType:
    """The module with the variants of an exercise: `CORRECT` sources, and `WRONG` ones as (mistakes or "", source)."""
    return importlib.import_module(f"corpus.{lab.partition('_')[2]}.{name}")


def exercise_names(lab: str) -> list[str]:
    """The lab's exercises, as the corpus has them: nothing that declares them is loaded. See `test_every_lab.py`."""
    files = (ROOT / "corpus" / lab.partition("_")[2]).glob("*.py")
    return sorted(path.stem for path in files if path.stem not in ("__init__", "shared"))


def is_heavy(name: str) -> bool:
    return name[0].isupper() or name.startswith(("build_", "train_")) or name in HEAVY


def exercises() -> list[tuple[str, str]]:
    return [(lab, name) for lab in LABS for name in exercise_names(lab)]


@cache
def expectations(lab: str, name: str, seed: int = SEED) -> list[Expectation]:
    return exercises_of(lab)[name].expectations(seed)


@cache
def code_cells(lab: str, folder: str = "solutions") -> dict[str, str]:
    """Sources of the code cells by grade_id; a lab's own imports come first."""
    notebook = nbformat.read(ROOT / folder / lab / f"{lab}.ipynb", as_version=4)
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and "nbgrader" in cell.metadata
    }


@cache
def answer_cells(lab: str, folder: str = "solutions") -> list[str]:
    """Sources of the code cells that students write, whether a check stands below them or not."""
    notebook = nbformat.read(ROOT / folder / lab / f"{lab}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell)]


compiled = cache(compile)  # the solutions of a lab, for each of its wrong answers


def namespace(sources: list[str]) -> dict:
    names: dict = {"__name__": "__main__"}
    for source in [PRELUDE, *sources]:
        with contextlib.suppress(NotImplementedError):  # the stub of a cell that only assigns
            exec(compiled(source, "<cell>", "exec"), names)
    names["In"] = [PRELUDE, *sources]
    return names


@cache
def imports(lab: str) -> tuple[str, ...]:
    """The names that the lab's own cells import."""
    notebook = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
    return rules.find_imports([cell.source for cell in notebook.cells if cell.cell_type == "code"])


def solution_sources(lab: str) -> list[str]:
    return [code_cells(lab)["imports"].replace("check = ", "# check = "), *answer_cells(lab)]


def broken_rules(lab: str, exercise: Exercise, cells: list[str]) -> list[str]:
    """What is told of the exercise's rules that the cells break."""
    spec = exercise.spec
    return rules.find_violations(
        read_cells(cells), exercise.name, forbidden=spec.forbidden, no_loops=spec.no_loops, given=imports(lab)
    )


def outcome(lab: str, exercise: Exercise, names: dict, seed: int = SEED) -> Judgement:
    spec = exercise.spec
    cases = expectations(lab, exercise.name, seed)
    broken = broken_rules(lab, exercise, names["In"])
    with guard(spec.forbidden):
        attempts = not_run(spec, cases, broken) or run_cases(lab, exercise.name, cases, names, spec.probe)
        return judge(spec, cases, attempts, broken)


def told(judgement: Judgement) -> str:
    return "; ".join(
        f"{group.spec.name} ({group.description}): {group.message}" for group in judgement.groups if not group.passed
    )


def forged(case: Expectation, results: dict) -> Attempt:
    """What a student who makes these mistakes would return, as float32; some number where any will do."""

    def returned(key: str, value):
        if not (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
            return value
        right = case.expected.get(key)
        free = np.isnan(right) & np.isnan(value) if np.shape(right) == value.shape else False
        return np.where(free, 0.5, value).astype(case.dtype or "float32")

    return Attempt({key: returned(key, value) for key, value in results.items()})


def _echoes(cases: list[Expectation]) -> list[str]:
    return sorted({key for case in cases for key, value in case.inputs.items() if isinstance(value, np.ndarray)})


def _faked(fake, value, case: Expectation):
    if isinstance(fake, str):
        echo = case.inputs.get(fake)
        return echo if isinstance(echo, np.ndarray) and echo.shape == np.shape(value) else None
    if isinstance(value, np.ndarray):
        return fake(value)
    return type(value)() if fake is np.zeros_like else None


def _same_results(cases, changed, mistake, named) -> bool:
    """Whether the named mistake gives the same results, so that nobody could tell it from the true one."""
    for index in changed:
        case = cases[index]
        if named not in case.wrong:
            return False
        values = {
            key: value.values.reshape(-1)[: value.values.size].reshape(value.shape)
            if isinstance(value, Fingerprint) and value.values.size == int(np.prod(value.shape))
            else None
            for key, value in case.wrong[mistake].items()
            if isinstance(value, Fingerprint)
        }
        plain = {key: value for key, value in case.wrong[mistake].items() if not isinstance(value, Fingerprint)}
        full = {key: value for key, value in values.items() if value is not None}
        reference = {key: value for key, value in case.wrong[named].items() if key in full or key in plain}
        if not resembles({**full, **plain}, reference, case.expected, case.tolerance):
            return False
    return True


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
class LabTests:
    """The tests of one lab."""

    lab: str

    def pytest_generate_tests(self, metafunc):
        names = exercise_names(self.lab)
        of_corpus = "variants" in metafunc.function.__name__
        long = {name: pytest.mark.long if of_corpus and is_heavy(name) else () for name in names}
        if "every" in metafunc.fixturenames:
            each = {name: 3 if name in BY_THIRDS else 1 for name in names}
            some = [
                pytest.param(name, each[name], marks=long[name], id=name if each[name] == 1 else f"{name}-every third")
                for name in names
            ]
            whole = [
                pytest.param(name, 1, marks=pytest.mark.exhaustive, id=f"{name}-all")
                for name in names
                if each[name] > 1
            ]
            metafunc.parametrize(("name", "every"), [*some, *whole])
        elif "name" in metafunc.fixturenames:
            metafunc.parametrize("name", [pytest.param(name, marks=long[name]) for name in names])

    def test_solution_passes_and_stub_earns_nothing(self):
        names = namespace(solution_sources(self.lab))
        stubs = namespace(answer_cells(self.lab, "labs"))
        for exercise in exercises_of(self.lab).values():
            judgement = outcome(self.lab, exercise, names)
            assert judgement.passed and judgement.share == 1.0, (
                f"{exercise.name}: {judgement.message} {told(judgement)}"
            )
            judgement = outcome(self.lab, exercise, stubs)
            assert judgement.status == "missing" and judgement.share == 0.0, f"{exercise.name}: {judgement}"

    def test_code_with_a_bug_earns_nothing_as_given_and_no_check_names_the_bug(self):
        given = code_cells(self.lab, "labs").get("find_the_bug-code")
        if given is None:
            return
        source = given.replace('raise NotImplementedError("Write your code here")', "", 1)
        names = namespace([*solution_sources(self.lab), source])
        judgement = outcome(self.lab, exercises_of(self.lab)["find_the_bug"], names)
        assert judgement.status == "graded" and judgement.share == 0.0, told(judgement)
        assert judgement.misconceptions == () and not judgement.remark

    def test_declarations_and_notebook_name_the_same_exercises(self):
        graded = [key.removesuffix("-code") for key in code_cells(self.lab) if key.endswith("-code")]
        assert sorted(graded) == sorted(exercises_of(self.lab))
        assert set(graded) <= set(code_cells(self.lab))

    def test_correct_variants_score_full_marks(self, name):
        for number, source in enumerate(variants(self.lab, name).CORRECT):
            judgement = outcome(
                self.lab, exercises_of(self.lab)[name], namespace([*solution_sources(self.lab), source])
            )
            assert judgement.passed, (
                f"variant {number}: {judgement.status} {judgement.message} {told(judgement)}\n{source}"
            )

    def test_wrong_variants_fail_and_are_named(self, name, every):
        for misconception, source in variants(self.lab, name).WRONG[::every]:
            judgement = outcome(
                self.lab, exercises_of(self.lab)[name], namespace([*solution_sources(self.lab), source])
            )
            assert not judgement.passed and judgement.share < 1, source
            if misconception:
                expected = (misconception,) if isinstance(misconception, str) else misconception
                assert judgement.misconceptions == expected, f"{judgement.misconceptions} {told(judgement)}\n{source}"
                most = exercises_of(self.lab)[name].spec.costs_at_most
                if len(expected) == 1 and expected[0] in most:
                    assert judgement.share >= 1 - most[expected[0]], f"{expected[0]} costs too much\n{source}"

    def test_every_mistake_fails_and_is_named(self, name):
        exercise = exercises_of(self.lab)[name]
        cases = expectations(self.lab, name)
        drawn = [Case(case.inputs, mode=case.mode, withheld=case.withheld) for case in cases]
        for mistake in exercise.named_mistakes:
            changed = [index for index, case in enumerate(cases) if mistake in case.wrong]
            attempts = []
            touched, failed_clearly = set(), set()  # groups: by more than half a tolerance, by more than two
            for declared, case in zip(drawn, cases, strict=True):
                if declared.mode in UNNAMED_MODES:
                    attempts.append(Attempt(kind="error", message="not looked at"))
                    continue
                try:
                    results = exercise.mistaken_results(declared, mistake)
                except (ValueError, IndexError) as error:
                    attempts.append(Attempt(kind="error", message=str(error)))
                    failed_clearly.add(case.group)
                    continue
                attempts.append(forged(case, results))
                for factor, failed in zip((0.5, 2), (touched, failed_clearly), strict=True):
                    if any(
                        differs(key, results[key], exact, factor * case.tolerance[key])
                        for key, exact in case.expected.items()
                    ):
                        failed.add(case.group)
            assert touched <= failed_clearly, f"{mistake}: rounding decides about {touched - failed_clearly}"
            judgement = judge(exercise.spec, cases, attempts)
            assert not judgement.passed and judgement.share < 1, f"{mistake} earns full marks"
            named = judgement.misconceptions
            assert named, f"{mistake} is not named: no reference gives these results"
            assert named == (mistake,) or (len(named) == 1 and _same_results(cases, changed, mistake, named[0])), (
                f"{mistake} is called {named}"
            )

    def test_rounding_is_far_below_the_tolerance(self, name):
        """The oracle in float32 stays within an eighth of it: right answers that sum in another order pass anywhere."""
        exercise = exercises_of(self.lab)[name]
        if exercise.tolerance is not None:
            return
        for case in expectations(self.lab, name):
            declared = Case(case.inputs, mode=case.mode, withheld=case.withheld)
            single = exercise.reference(declared, precision="float32")
            for key, exact in case.expected.items():
                result = single[key]
                if isinstance(exact, np.ndarray) and exact.dtype.kind == "f":
                    result = np.where(np.isnan(exact), 0, result)
                apart = difference(key, result, exact, case.tolerance[key] / 8)
                assert apart is None, f"{apart} ({case.description}, tolerance {case.tolerance[key]:.2g})"

    def test_no_group_is_passed_by_an_answer_that_ignores_the_question(self, name):
        """Zeros, ones, or an input handed back must fail every group: a check that cannot fail is a defect."""
        exercise = exercises_of(self.lab)[name]
        cases = expectations(self.lab, name)
        for fake in (np.zeros_like, np.ones_like, *_echoes(cases)):
            attempts = [
                Attempt({key: _faked(fake, value, case) for key, value in case.expected.items()}) for case in cases
            ]
            judgement = judge(exercise.spec, cases, attempts)
            passed = [group.spec.name for group in judgement.groups if group.passed]
            assert not passed, f"{getattr(fake, '__name__', fake)} passes {passed}"
