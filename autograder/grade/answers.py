"""The answers in words of a class, question by question, those that wait for a mark first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from autograder.course.labs import answers_in_words, cells_by_id, details, is_solution, read_released
from autograder.course.settings import Course, CourseError
from autograder.course.text_pairs import PairError, read_pair
from autograder.declare.rubrics import Rubric, rubrics
from autograder.grade.marks import Mark, PartMark
from autograder.grade.results import read_autograded


@dataclass(frozen=True, slots=True)
class Answer:
    """What one student wrote to one question, and its mark so far.

    `text` is None where the graded notebook is not here, and "" where the student left the cell as it was.
    """

    student: str
    part: PartMark
    text: str | None

    @property
    def waits(self) -> bool:
        """Whether somebody has to look at it: it has no mark, or changed since, or no points to have and no comment."""
        unread = not self.part.max_score and self.part.by_hand is None and not self.part.comment
        return bool(self.part.waits or (unread and self.text))


@dataclass(frozen=True, slots=True)
class QuestionInWords:
    """One answer in words of a lab, with what was asked, how it is marked, and what the class wrote.

    Attributes:
        part: the name of its cell.
        points: what the cell is worth.
        asked: the text above it in the lab.
        rubric: how it is marked; None where the instructor wrote none.
        good: the instructor's own answer; "" where the solution holds none.
        answers: those that wait first, and then by student.
    """

    part: str
    points: float
    asked: str
    rubric: Rubric | None
    good: str
    answers: tuple[Answer, ...]

    @property
    def waiting(self) -> tuple[Answer, ...]:
        return tuple(answer for answer in self.answers if answer.waits)

    def command(self, lab: str, answer: Answer) -> str:
        """What to type to mark an answer: by the items of the rubric, where there is one. No mark is set in it yet."""
        how = ["--item NUMBER"] if self.rubric else ["POINTS"] if self.points else []
        return " ".join(["course mark", lab, shlex.quote(answer.student), self.part, *how, '--because "…"'])


def read_questions(course: Course, lab: str, marks: Sequence[Mark]) -> list[QuestionInWords]:
    """The answers in words of a lab, as the marks of a gradebook have them.

    The texts are those of the notebooks that grading left in ``autograded/``.

    Raises:
        CourseError: the lab is not released, has no answer in words, or its rubrics cannot be read.
    """
    released = read_released(course, lab)
    cells = answers_in_words(released)
    if not cells:
        raise CourseError(f"{lab}: has no answer in words")
    marked_by = rubrics(course, lab, released)
    own = _read_own_answers(course, lab)
    written_to: dict[str, list[Answer]] = {name: [] for name in cells}
    for mark in marks:
        notebook = read_autograded(course, mark.student, mark.lab)
        written = cells_by_id(notebook) if notebook is not None else None
        for part_mark in mark.parts:
            if part_mark.name in written_to:
                text = _read_answer(written, part_mark.name, cells[part_mark.name])
                written_to[part_mark.name].append(Answer(mark.student, part_mark, text))
    return [
        QuestionInWords(
            name,
            float(details(cells[name])["points"] or 0.0),
            _find_above(released, name),
            marked_by.get(name),
            own.get(name, ""),
            tuple(sorted(answers, key=lambda answer: (not answer.waits, answer.student))),
        )
        for name, answers in written_to.items()
    ]


def _read_answer(written: dict[str, NotebookNode] | None, name: str, released: NotebookNode) -> str | None:
    if written is None:
        return None
    text = written[name].source.strip() if name in written else ""
    return "" if text == released.source.strip() and is_solution(released) else text


def _find_above(notebook: NotebookNode, name: str) -> str:
    """The text cell before a cell, which says what is asked."""
    asked = ""
    for cell in notebook.cells:
        if details(cell).get("grade_id") == name:
            return asked
        if cell.cell_type == "markdown":
            asked = cell.source
    return asked


def _read_own_answers(course: Course, lab: str) -> dict[str, str]:
    path: Path = course.solution_notebook(lab)
    try:
        cells = answers_in_words(read_pair(path))
    except (PairError, OSError):  # a course that has the released lab only
        return {}
    return {name: cell.source.strip() for name, cell in cells.items() if is_solution(cell)}
