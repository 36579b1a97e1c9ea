"""A green check is a mark: the notebook's check and the grader say the same of the same work.

Every variant of `variants` is judged twice on the visible cases: by what the notebook's check calls, and by way of a
real sandboxed worker, so encoded, sent and decoded. Then again with its results in another container or type.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from functools import cache

import pytest
from lab_matrix import PRELUDE, broken_rules, exercises, solution_sources, variants
from this_course import exercises_of

from autograder.grade.submission_run import read_attempt
from autograder.sandbox import Limits, Sandbox, Session, bubblewrap
from coursekit.check.judge import Attempt, Expectation, Judgement, judge, not_run, read
from coursekit.check.lab import load_reference, run_cases
from coursekit.check.rules import guard

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        isinstance(bubblewrap.working_variant(), str), reason=f"no walls here: {bubblewrap.working_variant()}"
    ),
    pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask"),
]

WRAPPINGS = {
    "as it is": "value",
    "list": "list(value)",
    "nested list": "np.asarray(value).tolist()",
    "tuple": "tuple(value)",
    "float16": "np.asarray(value).astype('float16')",
    "float32": "np.asarray(value).astype('float32')",
    "float64": "np.asarray(value).astype('float64')",
    "tf.Tensor": "tf.convert_to_tensor(value)",
    "tf.Variable": "tf.Variable(value)",
}
WRAP = """
import functools
def _wrap(value):
    if isinstance(value, dict):
        return {{key: _wrap(each) for key, each in value.items()}}
    if isinstance(value, tuple):
        return tuple(_wrap(each) for each in value)
    if np.ndim(value) == 0 or np.asarray(value).dtype.kind != "f":
        return value
    return {expression}

if isinstance({name}, dict):
    {name} = _wrap({name})
elif isinstance({name}, type):
    class {name}({name}):
        def __call__(self, *args, **kwargs):
            return _wrap(super().__call__(*args, **kwargs))
else:
    _inner = {name}
    @functools.wraps(_inner)
    def {name}(*args, **kwargs):
        return _wrap(_inner(*args, **kwargs))
"""
SAMPLE = [
    pytest.param("01_attention_intuition", "softmax", marks=pytest.mark.long),
    ("01_attention_intuition", "attend"),
    pytest.param("01_attention_intuition", "answers", marks=pytest.mark.long),
    pytest.param("02_self_attention", "self_attention_loops", marks=pytest.mark.long),
    pytest.param("02_self_attention", "attention_cost", marks=pytest.mark.long),
    pytest.param("02_self_attention", "SelfAttention", marks=pytest.mark.long),
    pytest.param("05_positional_encoding", "sinusoidal_positions", marks=pytest.mark.long),
    pytest.param("06_imdb_classifier", "build_vocabulary", marks=pytest.mark.long),
    ("08_decoder_and_masking", "causal_mask"),
    pytest.param("09_vision_transformer", "extract_patches", marks=pytest.mark.long),
]
LIMITS = Limits(cpu_seconds_per_step=200, wall_seconds_per_step=2000)  # generous: training is tried, too


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as started:
        yield started


def sources_of(lab: str, name: str) -> list[str]:
    """The correct variants of an exercise, then the wrong ones."""
    return [*variants(lab, name).CORRECT, *(source for _, source in variants(lab, name).WRONG)]


@cache
def trained(lab: str, name: str) -> bool:
    """Whether trying the exercise takes so long that it is not tried in every wrapping."""
    return exercises_of(lab)[name].cpu_seconds is not None


def checked(lab: str, name: str, cells: list[str]) -> list[Attempt]:
    """What the notebook's check finds. Cells are known to `linecache`, as those of a notebook are."""
    names: dict = {"__name__": "__main__"}
    for number, source in enumerate(cells):
        file = f"<cell {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), names)
    with guard(load_reference(lab).specs[name].forbidden):
        return run_cases(lab, name, load_reference(lab).expectations[name], names, exercises_of(lab)[name].probe)


def graded(session: Session, lab: str, name: str) -> list[Attempt]:
    """What the grader finds, in a worker in which the cells have run."""
    spec, cases = load_reference(lab).specs[name], load_reference(lab).expectations[name]

    def ask(case: Expectation) -> Attempt:
        reply = session.probe(lab, name, case.inputs, mode=case.mode, forbidden=spec.forbidden, probe=spec.probe)
        return read(lab, name, case.inputs, case.mode, read_attempt(reply))

    return [ask(case) for case in cases]


def told(judgement: Judgement) -> list[str]:
    """A judgement in words, without what differs from one process to the next: addresses, the numbers in names of
    layers (and so where a long message is cut), the digits of fractions, which depend on how memory is aligned (and so
    whether one more of a result's values is off by more than the tolerance), and whether TensorFlow's own kernel or
    oneDNN's is named in an error of TensorFlow's."""
    groups = [f"{group.spec.name}: {group.passed} {group.description} {group.message}" for group in judgement.groups]
    verdict = f"{judgement.status} {1000 * judgement.share:.0f} {judgement.misconceptions} {judgement.message}"
    without_numbers = (re.sub(r"(?<=[a-z])(_\d+)+", "", line) for line in (verdict, *groups))  # the first has none
    changing = r"0x[0-9a-f]+|-?\d+\.\d+(e-?\d+)?|-?\d+e-?\d+|\d+(?= of \d+ values differ)"
    return [re.sub(changing, "…", line.replace("_Mkl", ""))[:300] for line in without_numbers]


def compare(sandbox: Sandbox, lab: str, name: str, source: str, wrappings: list[str]) -> list[str]:
    """The wrappings for which check and grader disagree, with what each of them says."""
    reference = load_reference(lab)
    spec, cases = reference.specs[name], reference.expectations[name]
    prelude = [PRELUDE, *solution_sources(lab)]
    broken = broken_rules(lab, exercises_of(lab)[name], [*prelude, source])
    differing = []
    if not_run(spec, cases, broken):  # neither runs it: it might not end
        return differing
    with sandbox.session() as session:
        for wrapping in wrappings:
            cells = [*prelude, source, WRAP.format(name=name, expression=WRAPPINGS[wrapping])]
            for cell in cells:  # an answer may redefine what the prelude defines
                assert session.run_cell(cell).error is None
            by_check, by_grader = (
                judge(spec, cases, attempts, broken)
                for attempts in (checked(lab, name, cells), graded(session, lab, name))
            )
            for here, there in zip(told(by_check), told(by_grader), strict=True):
                if here != there:
                    differing.append(f"{wrapping}\n  check:  {here}\n  grader: {there}\n{source}")
    return differing


@pytest.mark.parametrize(("lab", "name"), SAMPLE)
def test_check_and_grader_agree(sandbox, lab, name):
    """Of each exercise in the sample: a correct and a wrong variant, in every wrapping."""
    for source in (sources_of(lab, name)[0], sources_of(lab, name)[-1]):
        assert not compare(sandbox, lab, name, source, list(WRAPPINGS))


def forms(number: int, of: int) -> list[str]:
    """In which wrappings variant `number` of `of` is tried: the first (right) and the last (wrong) in all of them, each
    of the others as it is and in one more, taken in turn. All of all would take seven hours of a processor, and what a
    wrapping changes, the way of a result, is the same for each variant."""
    as_it_is, *others = WRAPPINGS
    return list(WRAPPINGS) if number in (0, of - 1) else [as_it_is, others[number % len(others)]]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("lab", "name"), exercises())
def test_check_and_grader_agree_on_every_variant(sandbox, lab, name):
    sources = sources_of(lab, name)
    differing = []
    for number, source in enumerate(sources):
        wrappings = ["as it is"] if trained(lab, name) else forms(number, len(sources))
        differing += compare(sandbox, lab, name, source, wrappings)
    assert not differing, "\n\n".join(differing)
