#!/usr/bin/env python
"""Puts every verdict on record, and says what a change of the code changes in them.

    python tools/golden.py record  [--lab LAB]      write tests/golden.txt; goes on where it was stopped
    python tools/golden.py compare [--lab LAB]      judge everything again, list the differences; exit code 1 if any

LAB is a lab, one exercise (LAB/EXERCISE), or `submissions`: all whole notebooks, which are graded in the sandbox.

On record are the right and wrong answers beside the labs (`corpus`), judged in this process with one seed; the
hostile and damaged submissions of lab 02, and the sample submissions, graded in the sandbox. Of the answers 300, drawn
by their hashes, also go through the sandbox and must get the same verdict there.

A line has seven columns: what was judged (exercise and the hash of the answer's text, so that files may move), status,
share of the points, points of each group, names of mistakes, kind and hash of what the student reads, and the groups in
which the farthest result is within a factor of ten of its tolerance. Numbers in texts are left out of the hash, and
the last column is told but never a difference: last digits are the processor's.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "golden.txt"
PARTS = ROOT / "build" / "golden"
COLUMNS = ("what", "status", "share", "groups", "names", "told", "near its tolerance")
THROUGH_THE_SANDBOX = 300
SUBMISSIONS = "submissions"  # what is graded as whole notebooks, in parts such as "submissions/hostile-3"
HOSTILE_PARTS = 8


def digest(text: str, length: int = 8) -> str:
    """A short hash of a text without its numbers, addresses, and the numbers in names of layers."""
    unnumbered = re.sub(r"(?<=[a-z])(_\d+)+", "", text)  # the first layer of a kind has no number
    plain = re.sub(r"0x[0-9a-f]+|-?\d[\d.,]*(e[-+]?\d+)?|_Mkl", "#", unnumbered)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:length]


def line(what: str, status: str, share: float, groups: str, names: Sequence[str], told: str, near: str = "") -> str:
    return "\t".join((what, status, f"{share:.4g}", groups, ";".join(names) or "-", told, near or "-"))


LAB = "02_self_attention"  # of the hostile and the damaged notebooks


# -- the adapter: all that knows the product's modules -----------------------------------------------------------------


def lab_names() -> list[str]:
    from lab_matrix import LABS

    return LABS


def exercise_names(lab: str) -> list[str]:
    from this_course import exercises_of

    return list(exercises_of(lab))


def answers(lab: str, name: str) -> dict[str, str]:
    """The answers beside an exercise by what stands in the first column."""
    from lab_matrix import variants

    module = variants(lab, name)
    texts = [*module.CORRECT, *(source for _, source in module.WRONG)]
    return {f"{lab}/{name} {hashlib.sha256(text.encode()).hexdigest()[:12]}": text for text in texts}


def judge_in_process(lab: str, name: str) -> Iterator[str]:
    """The lines of an exercise's answers."""
    import lab_matrix
    from this_course import exercises_of

    from coursekit.check.judge import judge, not_run
    from coursekit.check.lab import run_cases
    from coursekit.check.rules import guard

    exercise = exercises_of(lab)[name]
    spec, cases = _spec(exercise), lab_matrix.expectations(lab, name)
    for what, text in answers(lab, name).items():
        names = lab_matrix.namespace([*lab_matrix.solution_sources(lab), text])
        broken = lab_matrix.broken_rules(lab, exercise, names["In"])
        with guard(spec.forbidden):
            attempts = not_run(spec, cases, broken) or run_cases(lab, name, cases, names, spec.probe)
        yield _judged(what, spec, cases, attempts, judge(spec, cases, attempts, broken))


def judge_in_sandbox(lab: str, name: str, whats: Sequence[str]) -> Iterator[str]:
    """The lines of some of an exercise's answers, run by a worker behind its walls."""
    import lab_matrix
    from this_course import exercises_of

    from autograder.grade.submission_run import read_attempt
    from autograder.sandbox import Limits, Sandbox
    from coursekit.check.judge import judge, not_run, read

    exercise = exercises_of(lab)[name]
    spec, cases = _spec(exercise), lab_matrix.expectations(lab, name)
    texts = answers(lab, name)
    with Sandbox(Limits(cpu_seconds_per_step=200, wall_seconds_per_step=2000)) as sandbox:
        for what in whats:
            cells = [lab_matrix.PRELUDE, *lab_matrix.solution_sources(lab), texts[what]]
            broken = lab_matrix.broken_rules(lab, exercise, cells)
            if not (attempts := not_run(spec, cases, broken)):
                with sandbox.session() as session:
                    for cell in cells:
                        session.run_cell(cell)
                    for case in cases:
                        reply = session.probe(
                            lab, name, case.inputs, mode=case.mode, forbidden=spec.forbidden, probe=spec.probe
                        )
                        attempts.append(read(lab, name, case.inputs, case.mode, read_attempt(reply)))
            yield _judged(what, spec, cases, attempts, judge(spec, cases, attempts, broken))


def _spec(exercise):
    """What a judgement needs, but for relations of numbers: they are told where no name is, and not on record."""
    return replace(exercise.spec, relations=False)


def _judged(what: str, spec, cases, attempts, judgement) -> str:
    """A judgement as a line."""
    groups = ",".join(
        f"{group.spec.name}={group.spec.weight if group.passed else 0}/{group.spec.weight}"
        for group in judgement.groups
    )
    sentences = judgement.sentences(spec)
    kind = (
        "named" if judgement.misconceptions
        else "passed" if judgement.passed
        else judgement.status if judgement.status != "graded"
        else "unnamed"
    )  # fmt: skip
    told = "\n".join([judgement.message, *sentences, *judgement.explanations, *judgement.hints])
    near = ",".join(_near(cases, attempts))
    return line(
        what, judgement.status, judgement.share, groups, judgement.misconceptions, f"{kind}:{digest(told)}", near
    )


def _near(cases, attempts) -> Iterator[str]:
    """The groups in which the farthest result lies from a tenth of its tolerance to ten times it, and how far."""
    import numpy as np

    farthest: dict[str, float] = {}
    for case, attempt in zip(cases, attempts, strict=True):
        for key, right in case.expected.items():
            came = (attempt.outputs or {}).get(key)
            numbers = isinstance(right, (float, np.ndarray)) and isinstance(came, (int, float, np.ndarray))
            if not numbers or np.asarray(came).dtype.kind not in "biuf" or np.shape(came) != np.shape(right):
                continue
            with np.errstate(all="ignore"):
                apart = np.abs(np.asarray(came, "float64") - right) / (case.tolerance[key] or np.inf)
            apart = apart[np.isfinite(apart)]
            if apart.size and case.tolerance[key]:
                farthest[case.group] = max(farthest.get(case.group, 0.0), float(apart.max()))
    return (f"{group}={by:.1g}" for group, by in farthest.items() if 0.1 <= by <= 10)


def submission_parts(lab: str | None) -> list[str]:
    """The parts in which whole notebooks are graded, of one lab or of all; hostile and damaged ones are of lab 02."""
    samples = sorted(path.name for path in (ROOT / "exercises" / "samples").glob("[0-9]*"))
    hostile = [*(f"hostile-{number}" for number in range(HOSTILE_PARTS)), "damaged"]
    wanted = [f"sample-{name}" for name in samples if lab in (None, SUBMISSIONS, name)]
    return [f"{SUBMISSIONS}/{part}" for part in [*(hostile if lab in (None, SUBMISSIONS, LAB) else ()), *wanted]]


def judge_submissions(part: str) -> Iterator[str]:
    """The lines of hostile or damaged notebooks, or of a lab's samples: one for each exercise of each of them."""
    import secrets
    import socket
    import tempfile

    from hostile.corpus import CORPUS
    from hostile.files import FILES
    from hostile.making import SOON_REACHED, Scene, make_course

    kind, _, which = part.partition("-")
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name, socket.create_server(("127.0.0.1", 0)) as server:
        folder = Path(name)
        if kind == "sample":
            paths = sorted((ROOT / "exercises" / "samples" / which).glob("*/*.ipynb"))
            works = {f"sample/{which}/{path.parent.name}": path.read_bytes() for path in paths}
            yield from _graded(ROOT, which, works)
        elif kind == "hostile":
            (folder / "canary.txt").touch()
            scene = Scene(folder / "canary.txt", secrets.token_hex(8), server.getsockname()[1])
            works = {f"hostile/{each.name}": each.make(scene) for each in CORPUS[int(which) :: HOSTILE_PARTS]}
            yield from _graded(make_course(folder / "course", **SOON_REACHED), LAB, works)
        else:
            works = {}
            for damaged in FILES:
                path = folder / f"{damaged.name}.ipynb"
                damaged.put(path)  # a file, a link, a folder: what can be read is graded
                if path.is_file():
                    works[f"damaged/{damaged.name}"] = path.read_bytes()
            yield from _graded(make_course(folder / "course", **SOON_REACHED), LAB, works)


def _graded(root: Path, lab: str, works: dict[str, bytes]) -> Iterator[str]:
    from types import SimpleNamespace

    from autograder.course.settings import load_course
    from autograder.grade.lab_grader import GradingFailed, LabGrader, grade_all
    from autograder.read import FoundSubmission
    from autograder.sandbox.warm import start_sandbox

    course = load_course(root)
    grader = LabGrader(course, lab, seed=40723)
    found = [
        FoundSubmission(
            name, lab, None, SimpleNamespace(path=Path(f"{name}.ipynb"), members=(), read=lambda data=data: data)
        )
        for name, data in works.items()
    ]
    with start_sandbox(course) as warm:
        for results in grade_all(grader, found, warm.result(), workers=1):
            for result in results:
                if isinstance(result, GradingFailed):  # a fault of the machine: start again, it goes on here
                    raise RuntimeError(f"{result.student}: no verdict ({result.reason})")
                yield from _of_submission(result)


def _of_submission(result) -> Iterator[str]:
    for exercise in result.exercises:
        groups = ",".join(f"{group.name}={int(group.passed)}" for group in exercise.groups)
        texts = [exercise.message, *exercise.sentences, *(group.message for group in exercise.groups), exercise.hint]
        share = exercise.score / exercise.max_score if exercise.max_score else float(exercise.passed)
        yield line(
            f"{result.student} {exercise.exercise}", exercise.status, share, groups or "-", exercise.misconceptions,
            f"{result.state}:{digest(chr(10).join(texts))}",
        )  # fmt: skip


# -- end of the adapter ------------------------------------------------------------------------------------------------


def _prepare() -> None:
    """What each process does first: the tests' modules can be imported, and libraries are quiet, with one thread."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", MPLBACKEND="Agg")
    os.environ.update(OMP_NUM_THREADS="1", TF_NUM_INTRAOP_THREADS="1", TF_NUM_INTEROP_THREADS="1")
    sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in ("", "grade", "read"))]
    import warnings

    warnings.simplefilter("ignore")


def _work(part: str, into: str) -> str:
    """Judge one part, an exercise or what is graded as whole notebooks, and keep its lines in a file."""
    os.chdir(ROOT)
    path = Path(into, f"{part.replace('/', '.')}.txt")
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # answers print, and layers warn
        kind, _, name = part.partition("/")
        lines = sorted(judge_submissions(name) if kind == SUBMISSIONS else judge_in_process(kind, name))
    text = "".join(f"{each}\n" for each in lines)
    path.with_suffix(".new").write_text(text, "utf-8")
    path.with_suffix(".new").replace(path)  # there is never half of one
    return part


def _judge_all(lab: str | None, into: Path, workers: int, tell: Callable[[str], None]) -> list[str]:
    """The lines of all parts; those that lie in the folder already are not judged again."""
    into.mkdir(parents=True, exist_ok=True)
    if lab is not None and "/" in lab:  # one exercise
        parts = [lab]
    else:
        labs = [each for each in lab_names() if lab in (None, each)]
        parts = [f"{each}/{name}" for each in labs for name in exercise_names(each)] + submission_parts(lab)
    files = {part: into / f"{part.replace('/', '.')}.txt" for part in parts}
    todo = [part for part, file in files.items() if not file.exists()]
    tell(f"{len(parts)} parts, {len(parts) - len(todo)} of them judged before")
    # A new process after some parts gives back what TensorFlow has kept.
    with get_context("spawn").Pool(workers, _prepare, maxtasksperchild=8) as pool:
        work = partial(_work, into=str(into))
        for number, part in enumerate(pool.imap_unordered(work, todo), 1):
            tell(f"{number}/{len(todo)} {part}")
    return sorted(each for file in files.values() for each in file.read_text("utf-8").splitlines())


def _in_sandbox(lines: Sequence[str], tell: Callable[[str], None]) -> list[str]:
    """Of the drawn answers those on which check and sandbox do not agree, as two lines each."""
    answered = [each for each in lines if re.match(r"\d\w*/\w+ ", each)]
    drawn = sorted(answered, key=lambda each: hashlib.sha256(each.split("\t")[0].encode()).digest())
    by_exercise: dict[str, dict[str, str]] = {}
    for each in drawn[:THROUGH_THE_SANDBOX]:
        what = each.split("\t")[0]
        by_exercise.setdefault(what.split(" ")[0], {})[what] = each
    apart = []
    for number, (exercise, wanted) in enumerate(sorted(by_exercise.items()), 1):
        for each in judge_in_sandbox(*exercise.split("/"), list(wanted)):
            here = wanted[each.split("\t")[0]]
            if here.split("\t")[1:5] != each.split("\t")[1:5]:
                apart += [f"in process: {here}", f"in sandbox: {each}"]
        tell(f"through the sandbox: {number}/{len(by_exercise)} {exercise}")
    return apart


def differences(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """What differs between two records, a line each: a verdict that came, went or changed, and in which columns."""
    before, after = ({each.split("\t")[0]: each.split("\t") for each in lines} for lines in (old, new))
    for what in sorted(before.keys() | after.keys()):
        if what not in after:
            yield f"gone     {what}"
        elif what not in before:
            yield f"new      {' '.join(after[what])}"
        else:
            columns = list(zip(COLUMNS, before[what], after[what], strict=True))[1:-1]
            if changed := [f"{name} {was} -> {now}" for name, was, now in columns if was != now]:
                yield f"changed  {what}: {'; '.join(changed)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("--lab", help="this lab alone, such as 02_self_attention, or one exercise: LAB/EXERCISE")
    parser.add_argument("--workers", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--again", action="store_true", help="judge again what an earlier, stopped call has judged")
    parser.add_argument("--no-sandbox-sample", action="store_true", help="leave out the 300 answers in the sandbox")
    options = parser.parse_args(arguments)
    _prepare()
    os.chdir(ROOT)
    PARTS.mkdir(parents=True, exist_ok=True)
    into = PARTS / options.what
    for file in into.glob("*.txt") if options.again else ():
        file.unlink()
    tell = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    lines = _judge_all(options.lab, into, options.workers, tell)
    old = RECORD.read_text("utf-8").splitlines() if RECORD.exists() else []
    mine = [each for each in old if _concerns(each, options.lab)]
    found = list(differences(mine, lines))
    print("\n".join(found) or "no verdict differs")
    if not options.lab and not options.no_sandbox_sample and (apart := _in_sandbox(lines, tell)):
        print("Check and sandbox do not agree:", *apart, sep="\n")
        return 1
    if options.what == "record":
        others = [each for each in old if each not in set(mine)]
        RECORD.write_text("".join(f"{each}\n" for each in sorted([*others, *lines])), "utf-8")
        print(f"{RECORD.relative_to(ROOT)}: {len(lines)} verdicts")
    for file in into.glob("*.txt"):  # all is told: the next call judges anew
        file.unlink()
    return int(bool(found)) if options.what == "compare" else 0


def _concerns(each: str, lab: str | None) -> bool:
    """Whether a line is judged where this lab alone is; hostile and damaged notebooks are those of lab 02."""
    if lab is None:
        return True
    what = each.split("\t")[0]
    if "/" in lab:
        return what.startswith(f"{lab} ")
    is_submission = what.startswith(("hostile/", "damaged/", "sample/"))
    if lab == SUBMISSIONS:
        return is_submission
    return lab in what or (lab == LAB and is_submission and not what.startswith("sample/"))


if __name__ == "__main__":
    sys.exit(main())
