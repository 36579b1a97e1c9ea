"""In whatever order things are done: page, tables, exports and nbgrader's gradebook say one and the same mark."""

from __future__ import annotations

import csv
import math
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from graded_course import result, set_grade
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from nbgrader.api import Gradebook
from tiny_course import LAB, TOML, details, released, write_notebook
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course.labs import points as points_of
from autograder.course.labs import read_released
from autograder.course.settings import load_course
from autograder.grade.gradebook import GradebookWriter, read_marks
from autograder.grade.results import ExerciseResult
from autograder.integrations.exporting.tables import Cell, make_plain_table
from autograder.marking.results_folder import bring_up_to_date
from autograder.pages.feedback import write_feedback

pytestmark = pytest.mark.long

DUE = datetime(2026, 11, 2, 12, tzinfo=UTC)
STUDENTS = st.sampled_from(["ada", "bo"])
HALVES = st.integers(0, 4).map(lambda number: number / 2)
RUBRIC = '[why]\nitems = ["Names the scale", "Says what it changes"]\npoints = [3, 1]\n'


class Term(RuleBasedStateMachine):
    """Sequences of grading, regrading, marking, dating, extending, excusing, removing, changing the lab, exporting."""

    template: Path

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        shutil.copytree(self.template, self.folder / "course")
        self.root = self.folder / "course"
        self.tables: list[str] = []
        self.graded: set[str] = set()
        self.last: dict[str, dict] = {}  # by student: what the last verdict was made of
        self.versions = 1
        self.is_current = True

    @property
    def course(self):
        toml = TOML.replace("[[labs]]", "[grading]\nlate_percent_per_day = 20\n\n[[labs]]")
        toml += f"due = {DUE.isoformat()}\n" + "".join(self.tables)
        (self.root / "course.toml").write_text(toml)
        return load_course(self.root)

    @rule(student=STUDENTS, points=HALVES, days=st.integers(-1, 3), answer=st.sampled_from("xyz"))
    def grade(self, student, points, days, answer) -> None:
        came = DUE + timedelta(days=days)
        code = f"def double({answer}): ..."
        self.last[student] = {"double": points, "code": code, "content": f"{answer}{points}{days}", "timestamp": came}
        self.record(student)

    def record(self, student) -> None:
        course = self.course
        verdict = result(course, student, grader_version=f"g{self.versions}", **self.last[student])
        found = {exercise.exercise: exercise for exercise in verdict.exercises}
        verdict = replace(
            verdict,
            exercises=tuple(
                replace(found[name], max_score=points) if name in found else ExerciseResult(name, 1, points, "graded")
                for name, points in points_of(read_released(course, LAB)).items()
            ),
        )
        with GradebookWriter(course.db_url, course) as writer:
            writer.record([verdict])
            (mark,) = writer.marks(LAB, [student])
            write_feedback(course, mark.with_notebook(verdict.notebook), self.root / "grades" / "feedback")
            bring_up_to_date(course, writer, self.root / "grades")
        self.graded.add(student)
        self.is_current = True

    @rule(student=STUDENTS, points=HALVES, knows_when=st.booleans())
    def regrade(self, student, points, knows_when) -> None:
        """The same work again by another grader, from an archive that does not say when it came."""
        if student in self.graded:
            course = self.course
            (before,) = [mark for mark in read_marks(course, course.db_url, LAB) if mark.student == student]
            same = points == self.last[student]["double"]
            self.versions += 1
            verdict = self.last[student] | {"double": points}
            self.last[student] = verdict if knows_when else verdict | {"timestamp": None}
            self.record(student)
            (after,) = [mark for mark in read_marks(course, course.db_url, LAB) if mark.student == student]
            assert after.timestamp == before.timestamp
            by_hand, then = (
                {part.name: part.by_hand for part in mark.parts if part.by_hand is not None} for mark in (after, before)
            )
            assert by_hand == then
            has_grown = [part.name for part in after.parts] != [part.name for part in before.parts]
            if same and not has_grown and not before.waiting_for("grader"):
                assert (after.score, after.penalty) == (before.score, before.penalty)

    @rule(student=STUDENTS, everything=st.booleans())
    def remove(self, student, everything) -> None:
        if student in self.graded:
            others = {name: self.page(name).read_bytes() for name in self.graded - {student}}
            words = ["student", student] if everything else ["attempt", LAB, student]
            current = self.is_current
            self.typed("remove", *words, "--yes")
            self.graded.discard(student)
            assert not self.page(student).parent.exists()
            assert not current or others == {name: self.page(name).read_bytes() for name in self.graded}
            self.is_current = True

    def page(self, student) -> Path:
        return self.root / "grades" / "feedback" / student / f"{LAB}.html"

    @rule(student=STUDENTS, part=st.sampled_from(["double", "why"]), points=st.none() | HALVES)
    def mark(self, student, part, points) -> None:
        if student in self.graded:
            course = self.course
            with GradebookWriter(course.db_url, course) as writer:
                writer.mark_by_hand(LAB, student, part, points, f"because of {points}")
                bring_up_to_date(course, writer, self.root / "grades")
            self.is_current = True

    @rule(student=STUDENTS, items=st.sets(st.sampled_from("12")).map(sorted), points=st.none() | HALVES)
    def items(self, student, items, points) -> None:
        """An answer in words, marked by its rubric; points beside the items replace their sum."""
        if student in self.graded:
            given = [word for item in items or "0" for word in ("--item", item)]
            said = self.typed("mark", LAB, student, "why", *([] if points is None else [points]), *given)
            worth = sum({"1": 3, "2": 1}[item] for item in items) if points is None else points
            (mark,) = [mark for mark in read_marks(self.course, self.course.db_url, LAB) if mark.student == student]
            (why,) = [part for part in mark.parts if part.name == "why"]
            assert why.by_hand == worth, said
            page = self.page(student).read_text("utf-8")
            assert (page.count("✓ Names the scale"), page.count("✓ Says what it changes")) == tuple(
                int(item in items) for item in "12"
            )
            self.is_current = True

    @rule(points=st.sampled_from([3, 4]), has_cube=st.booleans())
    def change(self, points, has_cube) -> None:
        """The lab gets or loses an exercise, and an exercise other points."""
        course = self.course
        path = course.release_notebook(LAB)
        lab = read_released(course, LAB)
        lab.cells = [cell for cell in lab.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != "cube"]
        if has_cube:
            test = details("cube", grade=True, locked=True, points=1)
            lab.cells.append(nbformat.v4.new_code_cell('check("cube")', metadata=test))
        for cell in lab.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "square":
                cell.metadata["nbgrader"]["points"] = points
        path.chmod(0o644)
        write_notebook(path, lab)
        self.is_current = False

    def typed(self, *words) -> str:
        """What a command says that is typed in the folder of the course."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            self.course  # noqa: B018  writes course.toml
            done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(map(str, words)))
        assert done.exit_code == 0, (done.output, done.exception)
        return " ".join(done.output.split())

    @rule(student=STUDENTS, part=st.sampled_from(["square", "why"]), points=st.none() | HALVES, comment=st.booleans())
    def formgrader(self, student, part, points, comment) -> None:
        """Points and a comment that are typed in Formgrader, or taken away there; the next command tells them."""
        if student not in self.graded:
            return
        set_grade(self.course, student, part, manual_score=points, needs_manual_grade=False)
        if comment:
            cell = part if part == "why" else f"{part}-code"
            with Gradebook(self.course.db_url, self.course.course_id) as gradebook:
                gradebook.find_comment(cell, LAB, LAB, student).manual_comment = f"typed at {points}"
                gradebook.db.commit()
        self.is_current = False
        (mark,) = [mark for mark in read_marks(self.course, self.course.db_url, LAB) if mark.student == student]
        (found,) = [candidate for candidate in mark.parts if candidate.name == part]
        assert points is None or found.by_hand == points
        if comment:
            self.export()
            assert f"typed at {points}" in self.page(student).read_text("utf-8")

    @rule(student=STUDENTS, days=st.integers(-1, 3))
    def times(self, student, days) -> None:
        """The platform's times, for work that is graded already."""
        if student in self.graded:
            course, came = self.course, DUE + timedelta(days=days)
            self.last[student] |= {"timestamp": came}
            with GradebookWriter(course.db_url, course) as writer:
                writer.set_times(LAB, {student: came})
                bring_up_to_date(course, writer, self.root / "grades")
                (mark,) = writer.marks(LAB, [student])
            assert mark.timestamp == came and f"handed in {came:%Y-%m-%d %H:%M}" in self.page(student).read_text(
                "utf-8"
            )
            self.is_current = True

    @rule(student=STUDENTS, days=st.integers(0, 3))
    def extend(self, student, days) -> None:
        later = (DUE + timedelta(days=days)).isoformat()
        self.tables = [table for table in self.tables if "due" not in table or f'"{student}"' not in table]
        self.tables.append(f'\n[[extensions]]\nstudent = "{student}"\nlab = "{LAB}"\ndue = {later}\n')
        self.is_current = False

    @rule(student=STUDENTS)
    def excuse(self, student) -> None:
        self.tables.append(f'\n[[excused]]\nstudent = "{student}"\nlab = "{LAB}"\n')
        self.is_current = False

    @rule()
    def export(self) -> None:
        """The tables that other systems read, and the terminal."""
        if self.graded:
            waiting = self.typed("export", "csv", LAB)
            self.typed("export", "term", LAB)
            tables = {name: self.table(name) for name in ("export", "term")}
            for mark in read_marks(self.course, self.course.db_url, LAB):
                final = not (mark.excused or mark.waits)
                assert tables["export"][mark.student][LAB] == (f"{mark.score:g}" if final else "")
                assert tables["export"][mark.student][f"{LAB} state"] in (mark.state, "waits")
                counted = tables["term"][mark.student][f"{LAB} %"]
                assert counted == ("" if not final else f"{mark.percent:.2f}")
                assert f"counts: {mark.score:g} of {mark.max_score:g}" in self.typed("mark", LAB, mark.student)
                assert bool(mark.waiting_for("grader")) <= ("grade again" in waiting)
            self.is_current = True

    def table(self, name: str) -> dict[str, dict[str, str]]:
        with (self.root / "grades" / f"{name}.csv").open() as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    @invariant()
    def all_agree(self) -> None:
        if not getattr(self, "is_current", False) or not (self.root / "gradebook.db").exists():
            return
        course = self.course
        marks = {mark.student: mark for mark in read_marks(course, course.db_url, LAB)}
        rows = self.table("grades")
        with (self.root / "grades" / "results.csv").open() as file:
            parts = [(row["student"], row["exercise"], float(row["score"])) for row in csv.DictReader(file)]
        exported = make_plain_table({LAB: marks}, None, {}, Cell())
        assert set(marks) == set(rows) == self.graded
        assert len({mark.max_score for mark in marks.values()}) <= 1
        for student, mark in marks.items():
            row = rows[student]
            assert (float(row["score"]), float(row["late"])) == (mark.score, mark.penalty)
            assert (float(row["max_score"]), row["state"]) == (mark.max_score, mark.state)
            assert (float(row["automatic"]), float(row["percent"])) == (mark.automatic, round(mark.percent, 2))
            assert math.fsum(score for who, _, score in parts if who == student) == pytest.approx(mark.earned)
            page = self.page(student).read_text("utf-8")
            assert f'<p class="total">{mark.score:g} of {mark.max_score:g} points' in page
            assert page.count("Set by your instructor") == sum(part.by_hand is not None for part in mark.parts)
            cell = next(row for row in exported.rows if row["student"] == student)[LAB]
            assert cell == ("" if mark.excused or mark.waits else f"{mark.score:g}")
            with Gradebook(course.db_url, course.course_id) as gradebook:
                submission = gradebook.find_submission(LAB, student)
                assert submission.score == pytest.approx(mark.earned)
                assert (submission.late_submission_penalty or 0.0) == pytest.approx(mark.penalty)
                assert submission.max_score == mark.max_score

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


def test_every_sequence_of_commands_tells_one_story(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    Term.template = released(tmp_path / "course", monkeypatch).root
    rubric = Term.template / "exercises" / "tiny" / "rubrics.toml"
    rubric.parent.mkdir(parents=True, exist_ok=True)
    rubric.write_text(RUBRIC)
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        Term,
        settings=settings(
            max_examples=15, stateful_step_count=12, deadline=None, suppress_health_check=checks, derandomize=True
        ),
    )
