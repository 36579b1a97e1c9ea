"""Judges what a student's object returned against references: which groups of cases pass, and what went wrong.

The same code serves the notebook's `check` (visible cases) and the grader (hidden cases). It never runs student code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from coursekit.check.comparison import diagnose, difference, kind_of_difference, lacking, resembles
from coursekit.check.rules import Unchecked
from coursekit.probes import load_probe
from coursekit.probes.evidence import ContractError, ReadOutside

# Every status that an exercise can have, as a student reads it: in the check, in feedback, in the notebook.
STATUS_WORDS = {
    "graded": "graded",
    "missing": "not started yet",
    "error": "your code raises an error",
    "timeout": "your code did not finish in time",
    "crashed": "your code ended the Python process",
    "forbidden": "your code uses something that this exercise forbids",
}

STUB = "Write your code here"  # what the line raises that stands where students write
# Modes in which nobody computes what one mistake does: each result takes hundreds of runs of the formula.
UNNAMED_MODES = ("gradient",)
# The kinds of failure that the hints of a group of this name speak of, and its advice where that is one sentence; those
# of other groups speak of all.
SPEAK_OF = {
    "types": {"error", "value"},
    "tensors": {"error"},
    "training": {"graph", "error"},
    "fully_masked": {"nan"},
    "large": {"nan", "value"},
    "large_scores": {"nan", "value"},
    "large_logits": {"nan", "value"},
    "far": {"nan", "value"},
    "sizes": {"shape", "error"},
    "reload": {"error"},
    "saved": {"error"},
    "refusal": {"error", "value"},
}


@dataclass(frozen=True)
class GroupSpec:
    """A named group of cases that is passed or failed as a whole.

    Attributes:
        name: short id, unique in the exercise.
        title: what is tested, in the student's terms.
        weight: its share of the exercise's points.
        advice: what to look at when the group fails and no mistake explains it; one text for every kind of failure, or
            texts for ``value``, ``nan``, ``shape`` and ``graph``, each shown for its own kind alone.
        hints: hints of rising strength for who fails this group; none states the answer.
    """

    name: str
    title: str
    weight: int
    advice: str | Mapping[str, str] = ""
    hints: tuple[str, ...] = ()

    def speaks_of(self, failure: str) -> bool:
        """Whether advice and hints are about failures of this kind, one of those of `GroupJudgement.failure`."""
        return failure in SPEAK_OF.get(self.name, {failure})


@dataclass(frozen=True)
class Section:
    """A section of a lecture: its heading, and the page's path in the course with the section's id."""

    title: str
    page: str


@dataclass(frozen=True)
class ExerciseSpec:
    """What a student may know of an exercise: its groups with their hints, the sentence of each mistake, rules.

    Attributes:
        name: the exercise's name in the syllabus.
        groups: the groups of cases, in the order in which they are shown.
        sentences: for each misconception's id, the sentence that names it to the student; empty for one that is not
            named, because to find it is the task.
        forbidden: dotted names that may not do the work.
        no_loops: whether Python loops are ruled out.
        reveal: whether a message may state the reference value.
        probe: how the object is driven, as plain data (`coursekit.probes.described`); None where
            `coursekit.probes` has a probe for it.
        next_hints: for a misconception's id the hint for who makes it, in place of those of the group.
        sections: for a misconception's id the section of a lecture that explains what is right.
        relations: whether a check may say how wrong numbers relate to the right ones, where no mistake is named.
        costs_at_most: for a misconception's id the largest share of the points that it may cost, where it is the only
            mistake and does not concern what the exercise is about.
        worked: a derivation in words, for who passed or has had every hint.
    """

    name: str
    groups: tuple[GroupSpec, ...]
    sentences: Mapping[str, str]
    forbidden: tuple[str, ...] = ()
    no_loops: bool = False
    reveal: bool = True
    probe: Mapping[str, Any] | None = None
    next_hints: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, Section] = field(default_factory=dict)
    relations: bool = False
    costs_at_most: Mapping[str, float] = field(default_factory=dict)
    worked: str = ""

    @property
    def asks_for_answers(self) -> bool:
        """Whether the exercise asks for answers that do not depend on each other, in a dictionary."""
        return self.probe is not None and self.probe.get("kind") == "value"


@dataclass(frozen=True)
class Expectation:
    """One case with its references.

    Attributes:
        group: name of the group that the case belongs to.
        description: what is tried, in the student's terms.
        inputs: named inputs of the probe.
        mode: the probe's mode.
        expected: right results by name; NaN in an array stands for any finite number.
        tolerance: by name, the largest difference that rounding explains.
        dtype: the float type that every result must have, or None.
        wrong: fingerprints of the results made with each mistake that changes them, by its id.
        property: name of a property in `coursekit.check.comparison` that the results must have, or None.
        withheld: what the property needs besides the inputs; the probe never gets it.
    """

    group: str
    description: str
    inputs: Mapping[str, Any]
    mode: str
    expected: Mapping[str, Any]
    tolerance: Mapping[str, float]
    dtype: str | None = None
    wrong: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    property: str | None = None
    withheld: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Attempt:
    """What came back from one case: named results, or the kind and text of a failure.

    `kind` is ``missing``, ``error``, ``contract`` or ``forbidden``; None with results.
    """

    outputs: Mapping[str, Any] | None = None
    kind: str | None = None
    message: str = ""


@dataclass(frozen=True)
class GroupJudgement:
    """Whether one group passed; if not, what was tried and what was wrong.

    `kind` is that of the attempt that failed, None where results came back. `named` says
    whether what the judgement names as the cause explains these results. `failure` is the kind
    of failure of which an advice speaks: ``value``, ``nan``, ``shape``, ``graph`` or ``error``.
    """

    spec: GroupSpec
    passed: bool
    description: str = ""
    message: str = ""
    kind: str | None = None
    named: bool = False
    failure: str = "value"

    def explanation(self, *, advise: bool, again: bool) -> str:
        """What was tried and what was wrong; empty for a passed group.

        Args:
            advise: whether one line on it follows: what an error of the code means where that is known, and otherwise
                the group's advice, if it speaks of such a failure. A broken contract says itself what to do.
            again: whether an earlier group has told the same error, which is not told twice.
        """
        if self.passed:
            return ""
        message = "the same error as above." if again else self.message
        text = f"tried {self.description}: {message}" if self.description else message
        if not advise or self.kind not in (None, "error"):
            return text
        from coursekit.check.failures import meaning

        return sentences_of(text, (meaning(self.message) if self.kind == "error" else "") or self._advice)

    @property
    def _advice(self) -> str:
        advice = self.spec.advice
        if isinstance(advice, str):
            return advice if self.spec.speaks_of(self.failure) else ""
        return advice.get(self.failure, "")

    @property
    def cause(self) -> str:
        """What an error has in common with others from the same cause; empty where results came back."""
        return re.sub(r"[\[(](?:[\d\s,]|None)*[\])]|\d+", "", self.message) if self.kind else ""


@dataclass(frozen=True)
class Judgement:
    """The outcome of an exercise.

    `status` is ``graded``, ``missing`` (nothing written yet), ``error`` (every case raised) or ``forbidden``.
    `remark` is what can be said of the numbers where no mistake is named; it may be empty. `least` is the share of the
    points that is kept whatever groups fail, because the one mistake that was made may not cost more. `first` is what
    the student is told before anything else, such as that an exercise that this one calls is not right.
    """

    exercise: str
    status: str
    groups: tuple[GroupJudgement, ...]
    misconceptions: tuple[str, ...]
    message: str = ""
    remark: str = ""
    least: float = 0.0
    first: str = ""

    @property
    def first_failing(self) -> GroupSpec | None:
        """The first group that fails, in declared order: the one that a student should mend first."""
        return next((group.spec for group in self.groups if not group.passed), None)

    @property
    def hints(self) -> tuple[str, ...]:
        """Hints for the first group that fails; none if a mistake is named for it, or if they fit other failures."""
        group = next((group for group in self.groups if not group.passed), None)
        return group.spec.hints if group and not group.named and group.spec.speaks_of(group.failure) else ()

    @property
    def passed(self) -> bool:
        return self.status == "graded" and all(group.passed for group in self.groups)

    @property
    def explanations(self) -> list[str]:
        """For each group what was wrong, empty for a passed one.

        A group's advice supposes that the groups before it pass, and what fails later usually fails for the same
        reason: only the first failure that no named mistake explains is given its line of advice.
        """
        unnamed = next((group for group in self.groups if not (group.passed or group.named)), None)
        causes = [group.cause for group in self.groups]
        return [
            group.explanation(advise=group is unnamed, again=bool(cause) and cause in causes[:index])
            for index, (group, cause) in enumerate(zip(self.groups, causes, strict=True))
        ]

    def sentences(self, spec: ExerciseSpec) -> tuple[str, ...]:
        """What the student is told about the cause: `first`, the sentences of named mistakes, the remark on numbers."""
        told = [spec.sentences[misconception] for misconception in self.misconceptions]
        if self.misconceptions and self.least > self._passed_share:
            told.append(f"It is the only mistake here, and costs at most {100 * (1 - self.least):g} % of the points.")
        return tuple(filter(None, (self.first, *told, self.remark)))

    @property
    def share(self) -> float:
        """The share of the points that was earned, from 0 to 1."""
        return max(self._passed_share, self.least) if self.status == "graded" else 0.0

    @property
    def _passed_share(self) -> float:
        total = sum(group.spec.weight for group in self.groups)
        return sum(group.spec.weight for group in self.groups if group.passed) / total

    @property
    def is_wrong(self) -> bool:
        """Whether the student's code ran, or raised an error, and a group failed."""
        return self.status in ("graded", "error") and not all(group.passed for group in self.groups)

    @property
    def bare(self) -> Judgement:
        """The judgement with nothing but which groups passed: no text tells what the code returned."""
        groups = tuple(GroupJudgement(group.spec, group.passed, named=True) for group in self.groups)
        return Judgement(self.exercise, self.status, groups, (), least=self.least)


def sentences_of(text: str, *others: str) -> str:
    """Join `text` and the others that are not empty; `text` gets a full stop if it has none."""
    others = tuple(filter(None, others))
    return " ".join([text if not others or text.endswith((".", "?", "…")) else f"{text}.", *others])


def tidy_message(text: str) -> str:
    """An error's text without what TensorFlow and Keras add to it, in at most three lines and 400 characters.

    They add colours, the steps of a graph, a trace of files ("in user code: …") and a list of the layer's arguments.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", text[:20_000])
    text = re.split(r"(Call a|A)rguments received by", text)[0]
    text = re.sub(r"\{\{function_node[^{}]{0,300}\}\}\s*|\[Op:\w+\]\s*(name:\s*)?", "", text)
    text = re.sub(r"(In\[1\]: \[[\d,]{0,60}\]) [01] [01]\b", r"\1", text)  # flags that only oneDNN adds
    for added in (
        "; NodeDef:",
        "A KerasTensor is a symbolic placeholder",
        "Consider casting elements to a",
        "You can attempt the following resolutions",  # they name tf.function, in which the code runs already
        "If you are looking for numpy-related methods, please run",
    ):
        text = text.partition(added)[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any("Graph execution error" in line for line in lines):  # what is wrong stands below the trace
        trace = re.compile(r'Graph execution error|^Detected at node|^File "|^<stack traces|^\[\[\{\{node')
        lines = [line for line in lines if not trace.search(line)] or lines
    if any("in user code:" in line for line in lines):
        named = [index for index, line in enumerate(lines) if re.match(r"\w{1,60}(Error|Exception): ", line)]
        lines = lines[named[-1] if named else 0 :]
    text = " ".join(lines[:3])
    return text if len(text) <= 400 else text[:399] + "…"


def not_run(spec: ExerciseSpec, expectations: Sequence[Expectation], violations: Sequence[str]) -> list[Attempt]:
    """Return attempts that earn nothing for an answer with a loop, if the exercise forbids loops; else an empty list.

    Such an answer is not run: with the sizes of these exercises it might not end.
    """
    broken = [violation for violation in violations if not isinstance(violation, Unchecked)]
    return [Attempt(kind="forbidden", message=broken[0]) for _ in expectations] if spec.no_loops and broken else []


def judge(
    spec: ExerciseSpec,
    expectations: Sequence[Expectation],
    attempts: Sequence[Attempt],
    violations: Sequence[str] = (),
) -> Judgement:
    """Judge an exercise.

    Args:
        spec: the exercise.
        expectations: its cases.
        attempts: what came back, one for each case.
        violations: rules that the source code breaks, as sentences; `Unchecked` where it cannot be read.
    """
    broken = [violation for violation in violations if not isinstance(violation, Unchecked)]
    forbidden = [*broken, *(attempt.message for attempt in attempts if attempt.kind == "forbidden")]
    problems = [problem(spec, case, attempt) for case, attempt in zip(expectations, attempts, strict=True)]
    groups = tuple(_group(group, expectations, attempts, problems) for group in spec.groups)
    kinds = {attempt.kind for attempt in attempts}
    if kinds == {"missing"}:
        return Judgement(spec.name, "missing", groups, (), attempts[0].message)
    if forbidden:
        return Judgement(spec.name, "forbidden", groups, (), forbidden[0])
    if violations:
        return Judgement(spec.name, "error", groups, (), violations[0])
    if None not in kinds and "contract" not in kinds:
        case, message = next(
            (case, attempt.message)
            for case, attempt in zip(expectations, attempts, strict=True)
            if attempt.kind == "error"
        )
        from coursekit.check.failures import meaning

        text = f"tried {case.description}: {message}" if case.description else message
        return Judgement(spec.name, "error", groups, (), sentences_of(text, meaning(message)))
    found = _named(spec, expectations, attempts)
    if found:
        groups = tuple(_group(group, expectations, attempts, problems, found) for group in spec.groups)
        least = _least_share(spec, expectations, attempts, problems, found)
        return Judgement(spec.name, "graded", groups, found, least=least)
    remark = _remark(expectations, attempts, problems) if spec.relations else ""
    return Judgement(spec.name, "graded", groups, (), remark=remark)


def _least_share(
    spec: ExerciseSpec,
    expectations: Sequence[Expectation],
    attempts: Sequence[Attempt],
    problems: Sequence[str | None],
    found: Sequence[str],
) -> float:
    """Return the least share of the points that is earned: more than 0 if one named mistake explains all that is wrong
    and may not cost everything. References do not hold its gradients: these need the right form only."""
    if len(found) != 1 or found[0] not in spec.costs_at_most:
        return 0.0
    for case, attempt, wrong in zip(expectations, attempts, problems, strict=True):
        if wrong is None:
            continue
        if attempt.outputs is None or not _of_type(case, attempt.outputs):
            return 0.0
        if case.mode in UNNAMED_MODES:
            if _failure(case, attempt.outputs) != "value":
                return 0.0
        elif not _explained(case, attempt.outputs, found):
            return 0.0
    return 1 - spec.costs_at_most[found[0]]


def _of_type(case: Expectation, outputs: Mapping[str, Any]) -> bool:
    """Whether results have the float type that the case asks for."""
    return case.dtype is None or all(
        getattr(outputs.get(key), "dtype", None) == case.dtype
        for key, value in case.expected.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def _named(spec: ExerciseSpec, expectations: Sequence[Expectation], attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Return the mistake that explains the results; if each answer stands alone, one for each wrong answer."""
    if spec.asks_for_answers or all("constraint" in case.inputs for case in expectations):
        found = _behind_answers(spec, expectations, attempts)
    else:
        found = {
            diagnose(
                list(spec.sentences),
                [attempt.outputs for attempt in attempts],
                [case.expected for case in expectations],
                [case.wrong for case in expectations],
                [case.tolerance for case in expectations],
                [case.group for case in expectations],
            )
        }
    return tuple(id for id, sentence in spec.sentences.items() if sentence and id in found)


def _behind_answers(spec: ExerciseSpec, expectations: Sequence[Expectation], attempts: Sequence[Attempt]) -> set[str]:
    """For each answer a mistake that explains it, and every other answer that the mistake changes: the one that
    explains most of them, and among equals the one declared first."""
    changes = {id: [index for index, case in enumerate(expectations) if id in case.wrong] for id in spec.sentences}
    made = [
        id
        for id, changed in changes.items()
        if all(_explained(expectations[index], attempts[index].outputs or {}, [id]) for index in changed)
    ]
    made.sort(key=lambda id: -len(changes[id]))
    return {next((id for id in made if index in changes[id]), "") for index in range(len(expectations))}


def _remark(expectations: Sequence[Expectation], attempts: Sequence[Attempt], problems: Sequence[str | None]) -> str:
    """Say how numbers that no listed mistake explains relate to the right ones; say nothing if an error came first."""
    failed = [index for index, found in enumerate(problems) if found is not None]
    if not failed or attempts[failed[0]].outputs is None:
        return ""
    from coursekit.check.failures import relation

    return relation(
        [case.inputs for case in expectations],
        [attempt.outputs for attempt in attempts],
        [case.expected for case in expectations],
        [case.tolerance for case in expectations],
    )


def problem(spec: ExerciseSpec, case: Expectation, attempt: Attempt) -> str | None:
    """What is wrong first in one case, as a sentence; None if nothing is."""
    if attempt.outputs is None:
        return attempt.message or "nothing came back."
    for name, expected in case.expected.items():
        if name not in attempt.outputs:
            return f"`{name}` did not come back."
        shown = spec.name if spec.asks_for_answers and name == "value" else name  # of one question: the variable
        found = difference(
            shown, attempt.outputs[name], expected, case.tolerance.get(name, 0.0), dtype=case.dtype, reveal=spec.reveal
        )
        if found:
            return found
    if case.property:
        return lacking(case.property, {**case.inputs, **case.withheld}, attempt.outputs)
    return None


def _group(
    spec: GroupSpec,
    expectations: Sequence[Expectation],
    attempts: Sequence[Attempt],
    problems: Sequence[str | None],
    found: Sequence[str] = (),
) -> GroupJudgement:
    members = [index for index, case in enumerate(expectations) if case.group == spec.name]
    for index in members:
        found_wrong = problems[index]
        if found_wrong is not None:
            case, outputs = expectations[index], attempts[index].outputs
            named = outputs is not None and _explained(case, outputs, found)
            failure = _failure(case, outputs)
            return GroupJudgement(spec, False, case.description, found_wrong, attempts[index].kind, named, failure)
    return GroupJudgement(spec, bool(members))


def _failure(case: Expectation, outputs: Mapping[str, Any] | None) -> str:
    """Return the kind of a failure; advice is given by this kind."""
    if case.mode == "graph":
        return "graph"
    if outputs is None:
        return "error"
    kinds = [kind_of_difference(key, outputs.get(key), value) for key, value in case.expected.items()]
    return next((kind for kind in ("shape", "nan") if kind in kinds), "value")


def _explained(case: Expectation, outputs: Mapping[str, Any], found: Sequence[str]) -> bool:
    """Whether one of the named mistakes gives these results."""
    return any(
        mistake in case.wrong and resembles(outputs, case.wrong[mistake], case.expected, case.tolerance)
        for mistake in found
    )


# -- what a probe has seen, said outside of the student's process -----------------------------------------------------


UNREADABLE = "what came back cannot be read as the result asked for."


def read(lab: str, exercise: str, inputs: Mapping[str, Any], mode: str, attempt: Attempt) -> Attempt:
    """The attempt with what its results show in their place, for an exercise that has a reading; else as it is.

    Whatever came back, reading it does not fail: what cannot be read breaks the contract.

    Args:
        lab, exercise: their names.
        inputs, mode: of the case.
        attempt: what came back from the probe, maybe from a process of the student's.
    """
    probe = find_reading(lab, exercise)
    if probe is None or attempt.outputs is None:
        return attempt
    try:
        return Attempt(probe.says(inputs, mode, attempt.outputs))
    except ContractError as error:
        return Attempt(kind="contract", message=tidy_message(str(error)))
    except Exception:
        return Attempt(kind="contract", message=UNREADABLE)


@cache
def find_reading(lab: str, exercise: str) -> ReadOutside | None:
    """The probe of an exercise, if what it hands over is read; None for other exercises, and labs of other courses."""
    try:
        probe = load_probe(lab, exercise)
    except (AttributeError, KeyError):
        return None
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("coursekit.probes."):
            raise  # a library that is missing here opens no hole in the wall
        return None
    return probe if isinstance(probe, ReadOutside) else None


# -- exercises that call others which are not right -------------------------------------------------------------------


def beside(
    judgement: Judgement, callees: Sequence[Judgement], specs: Mapping[str, ExerciseSpec], more: str = ""
) -> Judgement:
    """Return the judgement of an exercise that calls wrong ones, and say so first. Its points do not change.

    What looks like a mistake here may be a mistake there: so there is no advice, and a name is given with this
    reservation. If nothing came back, because the other exercise raises an error or is empty, this one has to wait.

    Args:
        judgement: of the exercise that calls.
        callees: the judgements of the wrong exercises that it calls; at least one.
        specs: the lab's exercises by name.
        more: what to say about the second judging, without their faults; empty if there was none.
    """
    groups = tuple(replace(group, named=True) for group in judgement.groups)
    stops = [callee for callee in callees if callee.status == "missing"]
    if judgement.status == "missing":
        stops = stops or [*callees]
    elif not stops:
        stops = [callee for callee in callees if callee.status == "error"]
    waits = stops and all(group.passed or group.kind in ("missing", "error") for group in groups)
    callee = stops[0] if waits else callees[0]
    name, finding = callee.exercise, _finding(callee, specs)
    first = f"“{name}”, which this one calls, is not right yet: {finding}"
    if not waits:
        told = sentences_of(first, "What else is said here may come from there.", more)
        return replace(judgement, groups=groups, first=told)
    told = sentences_of(first, more) if more else f"This is judged when “{name}”, which it calls, works: {finding}"
    if judgement.status == "missing":
        return Judgement(judgement.exercise, "error", groups, (), f"It calls “{name}”: {finding}", first=told)
    return replace(judgement, groups=groups, misconceptions=(), remark="", first=told)


def _finding(judgement: Judgement, specs: Mapping[str, ExerciseSpec]) -> str:
    """What is wrong, in a sentence: the mistake that is named, the error, or the first group that fails."""
    if judgement.status == "missing":
        return "it is not written yet."
    failing = judgement.first_failing
    said = replace(judgement, first="").sentences(specs[judgement.exercise])[:1] or (judgement.message,)
    return said[0] or (f"it fails “{failing.title}”." if failing else "")


def undefined(judgement: Judgement) -> tuple[str, ...]:
    """Return the names that an error reports as not defined."""
    texts = [judgement.message, *(group.message for group in judgement.groups)]
    return tuple(name for text in texts for name in re.findall(r"name '(\w+)' is not defined", text))
