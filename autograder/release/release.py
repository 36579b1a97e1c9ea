"""Makes what students get from what the instructor edits: labs and reference files, course cells of lectures."""

from __future__ import annotations

import logging
import math
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from autograder.course.labs import (
    choose_data_files,
    details,
    earlier_file,
    is_in_words,
    is_test,
    points,
    read_earlier_cells,
    read_released,
    remember_cells,
)
from autograder.course.settings import Course, CourseError, load_nbgrader_config
from autograder.course.text import write_atomically
from autograder.course.text_pairs import PairError, check_pair, find_pairs, read_pair, write_text
from autograder.declare.declaration import Declaration, declared_exercises, find_place, own_exercises
from autograder.declare.exercise import VISIBLE_SEED, Exercise
from autograder.declare.rubrics import rubrics
from autograder.grade.lab_grader import compute_own_expectations
from autograder.release import reference_export, trials
from autograder.release.course_cells import write_course_cells
from autograder.release.leaks import find_leaks
from autograder.release.lint_lab import (
    FixedGroup,
    find_fixed_groups,
    find_idle_mistakes,
    find_missing_parts,
    find_structure_problems,
    find_unexplained_groups,
    find_variants_left,
)
from autograder.release.notes import describe_check_changes, describe_student_changes
from autograder.release.numbering import find_texts_left, renumber, write_points
from autograder.release.publish import find_publication_problems
from autograder.sandbox import Sandbox
from autograder.sandbox.warm import limits_of, preload_of
from coursekit import quiet
from coursekit.check.judge import Expectation
from coursekit.check.rules import find_imports


class ReleaseRefused(ValueError):
    """The labs cannot be released as they are; `reasons` says why, one sentence each."""

    def __init__(self, reasons: Iterable[str]):
        self.reasons = tuple(reasons)
        super().__init__("\n".join(self.reasons))


@dataclass
class ReleaseSummary:
    """What a release changed, or would change: files, relative to the course, and what students will notice.

    `fixed` has a line for each reason why groups of a changed lab expect the same for every seed;
    `numbered` says what became of sections, table and references of a lab that lost, got or moved an exercise;
    `left` which texts of dropped exercises are still there; `failing` which given cells fail in the sandbox.
    `totals` has the points of a lab whose sum changed: before and now.
    """

    changed: tuple[str, ...] = ()
    students: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    numbered: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    totals: dict[str, tuple[float, float]] = field(default_factory=dict)


def release(
    course: Course, labs: Iterable[str] | None = None, check: bool = False, publish_to: Path | None = None
) -> ReleaseSummary:
    """Bring labs, reference files and the course cells of the lectures to what solutions and course.toml say.

    With some `labs` named, only these are released, and the lectures stay as they are.
    With `check` nothing is written. Nothing is written either when one of the labs has to be refused, or when what is
    released could not be published into the folder `publish_to`; publishing itself is left to `publish`.
    Raises ReleaseRefused with every reason found, CourseError for a lab that course.toml does not list, and where
    nbgrader_config.py cannot be run.
    """
    load_nbgrader_config(course)  # what is wrong there is wrong in all labs
    names = [course.lab(lab).name for lab in labs] if labs is not None else [lab.name for lab in course.labs]
    planned: dict[Path, bytes | None] = {}
    summary = ReleaseSummary()
    problems = _version_problems(course)
    for name in names:
        try:
            planned |= _plan_lab(course, name, summary)
        except ReleaseRefused as refusal:
            problems += refusal.reasons
        except (CourseError, PairError) as error:
            problems.append(str(error))
    if labs is None:
        try:
            planned |= _plan_lectures(course)
        except PairError as error:
            problems.append(str(error))
    shipped = {str(path.relative_to(course.root)): content for path, content in planned.items() if content is not None}
    public = {path: text for path, text in shipped.items() if not path.startswith("solutions/")}
    problems += find_leaks(public, course, planned)
    if publish_to is not None:
        problems += find_publication_problems(course, publish_to, planned)
    if problems:
        raise ReleaseRefused(dict.fromkeys(problems))
    if not check:
        for path, content in planned.items():
            if content is None:
                path.unlink()
            else:
                write_atomically(path, content)
    summary.changed = tuple(sorted(str(path.relative_to(course.root)) for path in planned))
    for name in names:
        if any(f"/{name}" in path for path in summary.changed):
            summary.fixed += _fixed_points(course, name)
    return summary


def _fixed_points(course: Course, lab: str) -> Iterator[str]:
    """Return a line for each reason why a copy of what is released earns points in this lab."""
    worth = points(read_pair(course.solution_notebook(lab)))
    by_reason: dict[str, list[FixedGroup]] = defaultdict(list)
    for group in find_fixed_groups(declared_exercises(course, lab)):
        by_reason[group.reason].append(group)
    for reason, groups in by_reason.items():
        earned = math.fsum(group.share * worth[group.exercise] for group in groups)
        named = "; ".join(f"{group.exercise}, group {group.group}" for group in groups)
        yield f"{lab}, {named}, {earned:.2g} points: {reason}"


def _plan_lab(course: Course, lab: str, summary: ReleaseSummary) -> dict[Path, bytes | None]:
    """Return the files of a lab to write or, where None stands, to remove; add to the summary what that means.

    Raises ReleaseRefused, CourseError or PairError where the lab cannot be released.
    """
    solution_path = course.solution_notebook(lab)
    if not solution_path.is_file() and not solution_path.with_suffix(".py").is_file():
        raise ReleaseRefused([f"{solution_path}: is missing; write it, or take the lab out of course.toml"])
    solution = read_pair(solution_path)
    disagree = check_pair(solution_path) is not None
    declared = declared_exercises(course, lab)
    rubrics(course, lab, solution)
    problems = [f"solutions/{lab}: {problem}" for problem in find_structure_problems(solution)]
    if problems := [*find_missing_parts(course, lab, solution, declared), *problems]:
        raise ReleaseRefused(problems)
    text = write_text(solution)
    summary.numbered += (f"{lab}: {line}" for line in renumber(solution))
    write_points(solution)
    disagree = disagree or write_text(solution) != text
    generated = generate(course, lab, solution)
    wanted = {course.releases / lab / name: text for name, text in generated.items()}
    files = choose_data_files(generated, f"solutions/{lab}")
    new = nbformat.reads(generated[f"{lab}.ipynb"].decode(), as_version=4)
    imports = find_imports([cell.source for cell in new.cells if cell.cell_type == "code"])
    exported = _references(course, lab, solution, declared, files, imports, summary.failing.append)
    folders = course.reference(lab)
    wanted |= {folder / name: content for folder in folders for name, content in exported.items()}
    if disagree:
        wanted |= _pair_content(solution_path, solution)

    planned: dict[Path, bytes | None] = {
        path: content for path, content in wanted.items() if not _is_current(path, content, path.parent in folders)
    }
    for folder, pattern in ((course.releases / lab, "**/*"), *((folder, f"{lab}.*") for folder in folders)):
        planned |= {
            path: None for path in folder.glob(pattern) if path.is_file() and path not in wanted and not _is_cache(path)
        }
    if planned and (unexplained := find_unexplained_groups(lab, declared)):
        raise ReleaseRefused(unexplained)
    if planned and (failed := trials.find_failed_checks(lab, solution, exported, files)):
        raise ReleaseRefused(failed)
    old = None
    with suppress(CourseError):  # not there yet, or not whole: then all of it is new
        old = read_released(course, lab)
    if course.release_notebook(lab) in planned:
        summary.students += describe_student_changes(lab, old, new)
        if old is not None and (memory := remember_cells(read_earlier_cells(course, lab), old, new)):
            planned[earlier_file(course, lab)] = memory
    if any(path.parent in folders for path in planned):
        shipped = {path.name: path.read_bytes() for path in folders[-1].glob(f"{lab}.*")}
        summary.students += describe_check_changes(lab, shipped, exported)
    lines_left = [*(find_texts_left(old, new) if old else ()), *find_variants_left(course, lab, declared)]
    summary.left += (f"{lab}: {line}" for line in lines_left)
    if old is not None and (before := _worth(old)) != (now := _worth(new)):
        summary.totals[lab] = before, now
    return planned


def _worth(notebook: NotebookNode) -> float:
    """Return the points of a lab, including those that a person gives."""
    return math.fsum(details(cell).get("points") or 0 for cell in notebook.cells if is_test(cell) or is_in_words(cell))


def generate(course: Course, lab: str, solution: NotebookNode) -> dict[str, bytes]:
    """The files of a released lab by name, made from its solution by nbgrader with the course's nbgrader_config.py."""
    with tempfile.TemporaryDirectory(prefix="course-release-") as name:
        root = Path(name).resolve()
        config = load_nbgrader_config(course)
        config.CourseDirectory.root = str(root)
        config.CourseDirectory.assignment_id = lab
        config.CourseDirectory.db_url = f"sqlite:///{root / 'unused.db'}"
        # The gradebook learns of a lab when it is graded, and from the release: here no database is needed.
        config.GenerateAssignment.no_database = True
        config.GenerateAssignment.preprocessors = [
            preprocessor
            for preprocessor in config.GenerateAssignment.preprocessors
            if "SaveCells" not in str(preprocessor)
        ]
        source = root / config.CourseDirectory.source_directory / lab
        if (course.solutions / lab).is_dir():
            shutil.copytree(course.solutions / lab, source, ignore=shutil.ignore_patterns(".*", "*.ipynb"))
        source.mkdir(parents=True, exist_ok=True)
        (source / f"{lab}.ipynb").write_text(nbformat.writes(solution), encoding="utf-8")
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log = _quiet_log()
        try:
            converter.start()
        except NbGraderException as error:
            raise ReleaseRefused(
                [f"solutions/{lab}: nbgrader could not make the student's version: {error}"]
            ) from error
        target = root / config.CourseDirectory.release_directory / lab
        return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}


def _references(
    course: Course,
    lab: str,
    solution: NotebookNode,
    declared: Mapping[str, Declaration],
    files: Mapping[str, bytes],
    imports: Sequence[str],
    tell: Callable[[str], None],
) -> dict[str, bytes]:
    """The reference files by name; the instructor's own exercises take theirs from the solution, run in the sandbox."""
    visible = {}
    if own := own_exercises(declared):
        with _sandbox(course, lab) as sandbox:
            visible = compute_own_expectations(lab, solution, own, VISIBLE_SEED, sandbox, files, tell)
    starting = nullcontext() if "tensorflow" in sys.modules else quiet.no_messages()  # a formula may start it
    try:
        sections = reference_export.find_referred_sections(course, declared)
        with starting:
            title = course.lab(lab).title
            exported = reference_export.export(lab, title, points(solution), declared, visible, sections, imports)
    except CourseError as error:
        raise ReleaseRefused([str(error)]) from error
    except Exception as error:  # whatever a formula, or a function that draws cases, can raise
        if place := find_place(course, error):
            raise ReleaseRefused([f"{place}: {type(error).__name__}: {error}; correct it"]) from error
        raise
    if idle := [*find_idle_mistakes(declared, exported[f"{lab}.json"])]:
        raise ReleaseRefused(idle)
    if tried := [exercise for exercise in declared.values() if exercise.wrong_answers]:
        with _sandbox(course, lab) as sandbox:
            passed = [
                trials.find_too_good(lab, exercise, solution, _visible_cases(exercise, visible), sandbox, files)
                for exercise in tried
            ]
        if any(passed):
            raise ReleaseRefused(line for lines in passed for line in lines)
    return exported


def _sandbox(course: Course, lab: str) -> Sandbox:
    """Return the sandbox for the instructor's own code; it runs even if no walls can be built."""
    return Sandbox(limits_of(course), unsafe=True, preload=preload_of(course, lab))


def _visible_cases(exercise: Declaration, of_own: Mapping[str, list[Expectation]]) -> list[Expectation]:
    return exercise.expectations(VISIBLE_SEED) if isinstance(exercise, Exercise) else of_own[exercise.name]


def _plan_lectures(course: Course) -> dict[Path, bytes | None]:
    planned: dict[Path, bytes | None] = {}
    for path in find_pairs(course):
        if not path.is_relative_to(course.lectures):
            continue
        notebook = read_pair(path)
        before = write_text(notebook)
        write_course_cells(notebook, course, path.relative_to(course.root).as_posix())
        if write_text(notebook) != before or check_pair(path) is not None:
            planned |= _pair_content(path, notebook)
    return planned


def _pair_content(path: Path, notebook: NotebookNode) -> dict[Path, bytes]:
    """Both halves of a pair; the text is written last, so that it is never the older one by a crash in between."""
    notebook.metadata["jupytext"] = {"formats": "ipynb,py:percent"}
    content = {path: (nbformat.writes(notebook).rstrip("\n") + "\n").encode(), path.with_suffix(".py"): b""}
    content[path.with_suffix(".py")] = write_text(notebook).encode()
    return {half: text for half, text in content.items() if not half.is_file() or half.read_bytes() != text}


def _is_current(path: Path, content: bytes, is_reference: bool) -> bool:
    if not path.is_file():
        return False
    old = path.read_bytes()
    return reference_export.same(old, content) if is_reference else old == content


def _version_problems(course: Course) -> list[str]:
    init = course.root / "coursekit" / "__init__.py"
    found = re.search(r'^__version__ = "([^"]*)"', init.read_text(), re.MULTILINE) if init.is_file() else None
    if found and found[1] != course.version:
        return [
            f"course.toml: distribution.version is {course.version}, and coursekit is {found[1]}; "
            f"Colab would install another version than the labs were tested with"
        ]
    return []


def _is_cache(path: Path) -> bool:
    return ".ipynb_checkpoints" in path.parts or "__pycache__" in path.parts


def _quiet_log() -> logging.Logger:
    log = logging.getLogger("autograder.release.release.nbgrader")
    log.setLevel(logging.ERROR)
    return log
