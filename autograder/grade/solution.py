"""What grading takes from the instructor's solution.

The references of exercises that are her own come from it: it runs in the sandbox. And its code of exercises that others
call stands in for a student's that is not right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from autograder.course.labs import grade_id, is_test, make_writing_cell
from autograder.course.settings import FILE_NAME, Course, CourseError
from autograder.course.text_pairs import PairError, read_pair
from autograder.declare.declaration import Case, Declaration
from autograder.declare.own import OwnExercise
from autograder.grade.submission_run import DEMONSTRATION_TAG, read_attempt
from autograder.read import read_release
from autograder.sandbox import Sandbox, Session, SessionLost
from coursekit.check.judge import Attempt, Expectation

_NO_REFERENCE = "there is no lab"  # what `start_lab` says in the sandbox, where a lab's references never are


def compute_own_expectations(
    lab: str,
    solution: NotebookNode,
    exercises: Mapping[str, OwnExercise],
    seed: int,
    sandbox: Sandbox,
    files: Mapping[str, bytes] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, list[Expectation]]:
    """The cases of each exercise, drawn from `seed`, with what the solution returns for them.

    The notebook's cells run in order, and an exercise is tried where its test cell stands, as in a submission. The
    `files`, by path, lie in the working folder. A given cell that fails, though every exercise has its results, is
    handed to `tell` as a sentence.

    Raises:
        CourseError: the solution does not get that far, or a case is not as it should be; says which and what happened.
        SandboxUnavailable: the walls cannot be built.
    """
    expected: dict[str, list[Expectation]] = {}
    where = given = ""
    try:
        with sandbox.session() as session:
            if files:
                session.run_cell(make_writing_cell(files))
            for cell in solution.cells:
                where = grade_id(cell)
                if is_test(cell):
                    if where in exercises:
                        exercise = exercises[where]
                        expected[where] = exercise.expectations(seed, partial(_try, session, lab, exercise))
                elif cell.cell_type == "code" and DEMONSTRATION_TAG not in cell.metadata.get("tags", ()):
                    answered = exercises.get(where.removesuffix("-code"))
                    reply = session.run_cell(cell.source, cpu_seconds=answered.cpu_seconds if answered else None)
                    if reply.error:
                        stops = f"stops with {reply.error.type}: {reply.error.message}"
                        if answered:
                            raise ValueError(f"the cell {where} {stops}")
                        if "start_lab(" in cell.source and reply.error.message.startswith(_NO_REFERENCE):
                            continue
                        begins = cell.source.strip().partition("\n")[0][:60]
                        remedy = _advise(reply.error.type)
                        given = given or f'the given cell that begins "{begins}" {stops}{remedy}'
                if len(expected) == len(exercises):
                    break
    except SessionLost as lost:
        raise CourseError(f"solutions/{lab}: the solution's {where or 'cell'} does not end: {lost.message}") from lost
    except ValueError as error:  # of the solution, or of the function that draws the cases
        first = f"{given}; then " if given else ""
        raise CourseError(f"solutions/{lab}, exercise {where.removesuffix('-code')}: {first}{error}") from error
    if given:
        tell(f"solutions/{lab}: {given}")
    return expected


def _advise(kind: str) -> str:
    """What to do about an error of a given cell that has to do with the sandbox."""
    if kind == "ModuleNotFoundError":
        return f" (install the package, and name it in {FILE_NAME}: packages = […])"
    if kind == "FileNotFoundError":
        return " (put the file beside the solution's notebook, and name it by its path from there)"
    return ""


def _try(session: Session, lab: str, exercise: OwnExercise, case: Case) -> Attempt:
    reply = session.probe(
        lab, exercise.name, case.inputs, mode=case.mode, probe=exercise.probe, cpu_seconds=exercise.cpu_seconds
    )
    return read_attempt(reply)


def read_callees(course: Course, lab: str, declared: Mapping[str, Declaration]) -> NotebookNode | None:
    """Of a lab's solution, the cells of exercises that others call, and their tests; the rest is not needed to grade.

    None where no exercise calls another one, or where there is no solution: then nothing stands in.

    Raises:
        CourseError: the solution cannot be read.
    """
    path = course.solution_notebook(lab)
    if not (names := _list_called(declared)):
        return None
    try:
        solution = read_pair(path)
    except FileNotFoundError:
        return None
    except PairError as error:
        raise CourseError(f"{path}: the code of exercises that others call comes from it, and {error}") from error
    cells = read_release(solution).cells
    kept = [cell for cell in cells if names.intersection(cell.exercises) or cell.grade_id in names]
    for cell in kept:
        cell.cell["outputs"] = []
    return new_notebook(cells=[cell.cell for cell in kept], metadata=solution.metadata)


def find_callees_code(solution: NotebookNode | None, declared: Mapping[str, Declaration]) -> dict[str, str]:
    """The source of the cell that answers each exercise that others call, by name."""
    names = _list_called(declared)
    cells = read_release(solution).cells if solution else ()
    return {name: cell.source for cell in cells for name in cell.exercises if name in names}


def _list_called(declared: Mapping[str, Declaration]) -> set[str]:
    return {name for exercise in declared.values() for name in exercise.uses}
