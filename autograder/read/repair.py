"""Puts a submitted notebook back onto the release's skeleton and orders what grading has to run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from nbformat import NotebookNode, from_dict

from autograder.course.labs import (
    PRELUDE,
    Release,
    ReleaseCell,
    Role,
    find_checked_exercise,
    find_defined_names,
    grade_id,
    only_checks,
    read_release,
    strip_lines,
)
from autograder.read.reading import SubmittedNotebook, Unreadable, free_id, read_notebook, tidy

MAX_CELL_BYTES = 2**20
_START_LAB = re.compile(r"""start_lab\(\s*["']([\w.-]+)["']""")
_RESET = re.compile(r"^[^\S\n]*%reset\b|magic\(\s*[\"']%?reset\b", re.MULTILINE)
CHANGED_SINCE = "Your instructor changed the lab since you got it."
TOO_NEW = "Your instructor added it after you got the lab."
REMOVED = "Your instructor has removed “{}”: it earns and costs nothing."
_FIXED = (Role.LOCKED, Role.TEST, Role.TASK)


@dataclass(frozen=True)
class CellStep:
    """Code to run. `exercise` is the one whose solution cell this is; `index` and `cell_id` find it in the notebook."""

    source: str
    exercise: str | None
    locked: bool
    index: int
    cell_id: str


@dataclass(frozen=True)
class ProbeStep:
    """The moment at which an exercise is probed."""

    exercise: str
    points: float
    grade_id: str


@dataclass(frozen=True)
class ManualCell:
    """A cell that a person grades; `untouched` when it says what the release says."""

    grade_id: str
    points: float
    source: str
    untouched: bool


@dataclass(frozen=True)
class Plan:
    """What to run for one submission, in order, and what was found out on the way.

    `exercises` (name to points), locked sources and all nbgrader metadata come from the release alone. `reasons` says
    for some of the `missing` exercises why. `repairs` are sentences for the student. `notebook` is valid nbformat 4.5,
    without outputs, and holds every cell of the release that nbgrader asks for.
    """

    steps: tuple[CellStep | ProbeStep, ...]
    exercises: Mapping[str, float]
    missing: frozenset[str]
    untouched: frozenset[str]
    reasons: Mapping[str, str]
    repairs: tuple[str, ...]
    manual: tuple[ManualCell, ...]
    notebook: NotebookNode


Known = Mapping[str, Collection[str]]


def read_plan(data: bytes, release: NotebookNode | Release, known: Known | None = None) -> Plan:
    """Read and repair a submission in one go; see `read_notebook` and `repair`."""
    return repair(read_notebook(data), release, known)


def repair(notebook: NotebookNode, release: NotebookNode | Release, known: Known | None = None) -> Plan:
    """Return the plan by which a submitted notebook is graded.

    Cells are told by grade_id, else by cell id, else by content: a locked cell by its source, a test cell by
    `check("NAME")`, a solution cell by defining what the release's stub defines. Locked cells are the release's;
    deleted ones come back. All copies of a solution cell run in the order handed in, except an untouched stub beside a
    real answer. What a student added to a locked code cell runs too, before the release's cell. A probe stands at its
    test cell, but never before the last copy of its solution.

    Args:
        notebook: as `read_notebook` returns it, or any notebook.
        release: the lab as students get it; `read_release` of it, where many are repaired.
        known: grade_ids of each lab of the course by lab name, to tell which lab a wrong notebook belongs to.

    Raises:
        Unreadable: no cell of this lab can be made out.
    """
    if not isinstance(notebook, SubmittedNotebook):
        notebook = tidy(notebook)
    return _Repair(notebook, release if isinstance(release, Release) else read_release(release), known or {}).plan()


@dataclass(eq=False)
class _Entry:
    """One cell on its way into the repaired notebook; `target` is the release cell whose place it takes."""

    source: str
    cell: NotebookNode | None = None
    target: ReleaseCell | None = None
    number: int = 0
    altered: bool = False
    is_code: bool = False
    restored: bool = False
    carries: bool = False
    serves: list[ReleaseCell] = field(default_factory=list)

    @cached_property
    def names(self) -> frozenset[str]:
        return find_defined_names(self.source, guess=self.cell is None or self.cell["cell_type"] == "code")

    def has_role(self, *roles: Role) -> bool:
        return self.target is not None and self.target.role in roles

    @property
    def released(self) -> ReleaseCell:
        """`target`, of an entry that has one: `has_role` or `_stands_for` has told so."""
        assert self.target is not None
        return self.target

    def defines(self, solution: ReleaseCell) -> bool:
        return any(name in self.source for name in solution.key) and not self.names.isdisjoint(solution.key)

    def stands_alone(self, solution: ReleaseCell) -> bool:
        """Say whether this defines what the stub defines, rather than changing it."""
        return self.defines(solution) and any(
            re.search(rf"^[^\S\n]*(?:async[ \t]+def|def|class)[ \t]+{re.escape(name)}\b", self.source, re.MULTILINE)
            for name in solution.key
        )

    def answers(self, solution: ReleaseCell) -> bool:
        """Say whether this is more than the stub: the student's own text, and with the right definitions."""
        return not solution.has_source(self.source) and (not solution.key or self.defines(solution))


class _Repair:
    def __init__(self, notebook: SubmittedNotebook, release: Release, known: Known):
        self.release = release
        self.solutions = release.with_role(Role.SOLUTION)
        self.notes = list(notebook.repairs)
        self.renewed: list[str] = []
        self.too_new: dict[str, str] = {}
        self.too_long: dict[str, str] = {}
        self.missing: set[str] = set()
        self.untouched: set[str] = set()
        self._refuse_other_labs(notebook, known)
        labels = self._labels(notebook["cells"])
        self.entries = self._entries(notebook["cells"], labels)
        self.notes += [REMOVED.format(name) for name in self._removed_exercises(notebook["cells"])]
        self._forget_plain_copies()

    def plan(self) -> Plan:
        self._fix_wrong_grade_ids()
        for solution in self.solutions:
            self._choose_copies(solution)
        self._choose_manual()
        self._keep_one_of_each_fixed_cell()
        self._place_tests()
        self._restore()
        self._move_prelude_up()
        return self._build()

    # -- which lab -----------------------------------------------------------------------------------------------

    def _refuse_other_labs(self, notebook: SubmittedNotebook, known: Known) -> None:
        tests = {cell.grade_id for cell in self.release.with_role(Role.TEST, Role.MANUAL)}
        others = {lab: set(ids) for lab, ids in known.items() if not tests or not tests <= set(ids)}
        found = {grade_id(cell) for cell in notebook["cells"]} - {""}
        mine = {gid for gid, cell in self.release.named.items() if cell.role not in (Role.LOCKED, Role.TASK)}
        certain = (found & mine).difference(*others.values())
        if certain:
            return
        told = {lab for cell in notebook["cells"] for lab in _START_LAB.findall(cell["source"])}
        own_name = {lab for cell in self.release.cells for lab in _START_LAB.findall(cell.source)}
        score = {lab: len((found & ids) - set(self.release.named)) for lab, ids in others.items()}
        for lab in told - own_name:
            score[lab] = score.get(lab, 0) + 1
        best = max(sorted(score), key=score.__getitem__, default=None)
        strength = score[best] if best is not None else 0
        if strength > self._count_recognised(notebook) + len(told & own_name):
            raise Unreadable(f"The notebook belongs to another lab: it looks like {best}.")
        if not (found & mine or told & own_name or self._count_recognised(notebook)):
            raise Unreadable("The notebook has no cell of this lab.")

    def _count_recognised(self, notebook: SubmittedNotebook) -> int:
        """Count the exercises whose solution or test can be told by cell id or content."""
        ids = {cell.cell.get("id"): cell.grade_id for cell in self.release.with_role(Role.SOLUTION, Role.TEST)}
        seen: set[str] = set()
        for cell in notebook["cells"]:
            entry = _Entry(_limit(cell["source"]), cell)
            seen.update(solution.grade_id for solution in self.solutions if entry.defines(solution))
            seen.update(name for name in [ids.get(cell["id"]), find_checked_exercise(entry.source)] if name)
        return len(seen & set(self.release.named))

    # -- what is what --------------------------------------------------------------------------------------------

    def _labels(self, cells: list[NotebookNode]) -> list[ReleaseCell | None]:
        """Return for each submitted cell the release cell it stands for, as far as ids and fixed text tell."""
        by_id = {cell.cell["id"]: cell for cell in self.release.cells if "id" in cell.cell}
        labels = [self.release.named.get(grade_id(cell)) for cell in cells]
        for i, cell in enumerate(cells):
            labels[i] = labels[i] or by_id.get(cell["id"])
        taken = {label.position for label in labels if label is not None}
        by_source: dict[str, ReleaseCell] = {}
        for known in reversed(self.release.cells):
            if known.position not in taken and known.role is not Role.SOLUTION:
                by_source[known.source.strip()] = known
        for i, cell in enumerate(cells):
            if labels[i] is None and cell["source"].strip():
                labels[i] = by_source.get(cell["source"].strip()) or self._test_by_content(cell["source"], taken)
        return labels

    def _test_by_content(self, source: str, taken: set[int]) -> ReleaseCell | None:
        named = self.release.named.get(find_checked_exercise(source) or "")
        return named if named is not None and named.role is Role.TEST and named.position not in taken else None

    def _removed_exercises(self, cells: list[NotebookNode]) -> Iterator[str]:
        """The exercises of an earlier release whose test is handed in: both its label and its text say the name."""
        for cell in cells:
            name = find_checked_exercise(_limit(cell["source"]))
            if name and name == grade_id(cell) and name not in self.release.named:
                yield name

    def _entries(self, cells: list[NotebookNode], labels: list[ReleaseCell | None]) -> list[_Entry]:
        entries: list[_Entry] = []
        for number, (cell, label) in enumerate(zip(cells, labels, strict=True), start=1):
            if _size(cell["source"]) > MAX_CELL_BYTES:
                self._leave_out(cell, label, number)
                cell = NotebookNode(cell, source="")
                if label is None or label.role is Role.SOLUTION:
                    continue
            entry = _Entry(cell["source"], cell, label, number, is_code=cell["cell_type"] == "code")
            if label is not None and label.role in _FIXED:
                if not label.has_source(entry.source):
                    entries.extend(self._addition(entry))
                entries.append(_Entry(label.source, None, label, number, is_code=label.is_code))
            else:
                entries.append(entry)
        return entries

    def _leave_out(self, cell: NotebookNode, label: ReleaseCell | None, number: int) -> None:
        reason = f"Cell {number} holds {_size(cell['source']) / 2**20:.1f} MB of text; more than 1 MB is not run."
        self.notes.append(reason)
        for exercise in label.exercises if label is not None else ():
            self.too_long[exercise] = reason

    def _addition(self, entry: _Entry) -> list[_Entry]:
        """Return what a student wrote into a locked cell as a cell of the student's own, if it may do anything."""
        label = entry.released
        if self.release.said_before(label, entry.source):
            self.renewed.append(label.grade_id)
            return []
        own = _Entry(entry.source, entry.cell, None, entry.number, altered=True, is_code=entry.is_code)
        holds_answer = any(own.defines(solution) for solution in self.solutions)
        if label.is_code:
            added = entry.is_code and label.grade_id != "setup" and not only_checks(entry.source)
        else:
            added = label.bare_source in strip_lines(entry.source)
        if holds_answer or added:
            self.notes.append(
                f"The locked cell “{label.grade_id}” was changed; it was restored, and your text was kept beside it."
            )
            return [own]
        if label.grade_id != "setup" or not _only_installs(label, entry.source):
            self.notes.append(f"The locked cell “{label.grade_id}” was changed; it was restored.")
        return []

    def _forget_plain_copies(self) -> None:
        seen: set[int] = set()
        for entry in self.entries:
            if entry.has_role(Role.PLAIN):
                if entry.released.position in seen:
                    entry.target = None
                else:
                    seen.add(entry.released.position)

    def _fix_wrong_grade_ids(self) -> None:
        """Give a cell that defines another exercise, and not its own, to that other exercise."""
        for entry in self.entries:
            if not entry.has_role(Role.SOLUTION, Role.MANUAL) or entry.defines(entry.released):
                continue
            real = next((solution for solution in self.solutions if entry.defines(solution)), None)
            if real is not None and (entry.released.key or entry.has_role(Role.MANUAL)):
                wrong = entry.released.grade_id
                self.notes.append(f"Cell {entry.number} was labelled “{wrong}”; it is “{real.grade_id}”.")
                entry.target = real

    # -- which copies --------------------------------------------------------------------------------------------

    def _choose_copies(self, solution: ReleaseCell) -> None:
        labelled = [entry for entry in self.entries if entry.target is solution]
        copies: list[_Entry] = []
        for more in self._candidates(solution, labelled):
            copies.extend(more)
            if any(entry.answers(solution) for entry in copies):
                break
        own_text = [entry for entry in copies if not solution.has_source(entry.source)]
        if own_text:
            stubs = [entry for entry in copies if solution.has_source(entry.source)]
            if not own_text[0].stands_alone(solution):  # it fills in what the stub above it defines
                first = self.entries.index(own_text[0])
                stubs = [entry for entry in stubs if self.entries.index(entry) > first]
            self._remove(stubs, f"An untouched copy of “{solution.grade_id}” beside your answer was left out.")
            copies = [entry for entry in copies if entry not in stubs]
        elif copies:
            self.untouched.update(solution.exercises)
        for entry in labelled:
            if entry not in copies and entry in self.entries:
                entry.target = None
                self.notes.append(f"Cell {entry.number} is text; “{solution.grade_id}” is answered in another cell.")
        self._adopt(copies, solution)

    def _candidates(self, solution: ReleaseCell, labelled: list[_Entry]) -> Iterator[list[_Entry]]:
        """Yield cells that may answer an exercise, the likeliest first: code before text, labelled before not."""
        yield [entry for entry in labelled if entry.is_code]
        defining = [entry for entry in self.entries if entry.target is not solution and entry.defines(solution)]
        own = [entry for entry in defining if entry.target is None or entry.has_role(Role.PLAIN)]
        yield [entry for entry in own if entry.is_code]
        yield [entry for entry in defining if entry.is_code and entry.has_role(Role.SOLUTION)]
        yield [entry for entry in labelled if not entry.is_code]
        yield [entry for entry in own if not entry.is_code]

    def _adopt(self, copies: list[_Entry], solution: ReleaseCell) -> None:
        if not copies:
            self.missing.update(solution.exercises)
            return
        if len(copies) > 1:
            self.notes.append(f"“{solution.grade_id}” is there {len(copies)} times; all run, and the last one counts.")
        for entry in copies:
            if not entry.is_code:
                entry.is_code = True
                self.notes.append(f"Cell {entry.number} (“{solution.grade_id}”) had become text; it is code again.")
            if entry.target is None or entry.target.role is Role.PLAIN:
                entry.target = solution
                self.notes.append(f"Cell {entry.number} had no label; it was recognised as “{solution.grade_id}”.")
            entry.serves.append(solution)
        mine = [entry for entry in copies if entry.target is solution]
        best = [entry for entry in mine if entry.answers(solution)] or mine
        if best:
            best[-1].carries = True

    def _choose_manual(self) -> None:
        for manual in self.release.with_role(Role.MANUAL):
            copies = [entry for entry in self.entries if entry.target is manual]
            if not copies and (found := self._between_neighbours(manual)) is not None:
                copies = [found]
                found.target = manual
                self.notes.append(f"Cell {found.number} had lost its label; it was taken for “{manual.grade_id}”.")
            changed = [entry for entry in copies if not manual.has_source(entry.source)]
            for entry in copies:
                if entry is not (changed or copies)[-1]:
                    entry.target = None
                else:
                    entry.carries = True
                    entry.is_code = manual.is_code

    def _between_neighbours(self, manual: ReleaseCell) -> _Entry | None:
        """Return the one unlabelled cell of the right kind right after the release cell that stands above `manual`."""
        for above, entry in pairwise(self.entries):
            if above.target is not None and above.target.position == manual.position - 1:
                return entry if entry.target is None and entry.is_code == manual.is_code and not entry.altered else None
        return None

    # -- order ---------------------------------------------------------------------------------------------------

    def _remove(self, entries: list[_Entry], note: str) -> None:
        for entry in entries:
            self.entries.remove(entry)
            self.notes.append(note)

    def _keep_one_of_each_fixed_cell(self) -> None:
        seen: set[int] = set()
        for entry in [entry for entry in self.entries if entry.has_role(Role.LOCKED, Role.TASK)]:
            if entry.released.position in seen:
                self._remove([entry], f"A second copy of the locked cell “{entry.released.grade_id}” was left out.")
            seen.add(entry.released.position)

    def _place_tests(self) -> None:
        """Keep one test cell for each exercise, where the probe belongs."""
        for test in self.release.with_role(Role.TEST):
            copies = [entry for entry in self.entries if entry.target is test]
            if not copies:
                continue
            last = self._last_answer(test)
            after = [entry for entry in copies if self.entries.index(entry) > last]
            kept = after[0] if after else copies[0]
            spare = [entry for entry in copies if entry is not kept]
            self._remove(spare, f"A second copy of the test “{test.grade_id}” was left out.")
            if not after:
                self.entries.remove(kept)
                self.entries.insert(self._last_answer(test) + 1, kept)
                self.notes.append(f"The test “{test.grade_id}” was above its solution; it was moved below it.")

    def _last_answer(self, test: ReleaseCell) -> int:
        """Return the position of the last cell that answers a test's exercise, -1 where there is none."""
        solution = self.release.solution_of(test.grade_id)
        return max((i for i, entry in enumerate(self.entries) if solution in entry.serves), default=-1)

    def _restore(self) -> None:
        """Put back, at its place among its neighbours, each named release cell that is not there."""
        where = {id(entry.target): entry for entry in self.entries if self._stands_for(entry)}
        previous: _Entry | None = None
        for cell in self.release.cells:
            present = where.get(id(cell))
            if present is None and cell.role is not Role.PLAIN:
                present = _Entry(cell.source, None, cell, restored=True, is_code=cell.is_code)
                self.entries.insert(self._place_of(cell, previous, where), present)
                if self.release.is_new(cell):
                    self.renewed.append(cell.grade_id)
                    self.too_new.update(dict.fromkeys(cell.exercises, TOO_NEW))
                elif cell.role is not Role.SOLUTION or self.missing.intersection(cell.exercises):
                    self.notes.append(f"The cell “{cell.grade_id}” was missing; it was put back.")
            previous = present or previous

    def _stands_for(self, entry: _Entry) -> bool:
        """Say whether an entry has its release cell's id and metadata, rather than standing beside it."""
        filled_by_student = entry.has_role(Role.SOLUTION, Role.MANUAL)
        return entry.target is not None and (entry.carries or entry.restored or not filled_by_student)

    def _place_of(self, cell: ReleaseCell, previous: _Entry | None, where: dict[int, _Entry]) -> int:
        if cell.role is Role.TEST and (last := self._last_answer(cell)) >= 0:
            return last + 1
        place = self.entries.index(previous) + 1 if previous is not None else None
        followers = (where.get(id(later)) for later in self.release.cells[cell.position + 1 :])
        following = next((self.entries.index(entry) for entry in followers if entry is not None), None)
        if place is None:
            return following or 0
        return min(place, following) if cell.role is Role.LOCKED and following is not None else place

    def _move_prelude_up(self) -> None:
        prelude = [e for gid in PRELUDE for e in self.entries if e.has_role(Role.LOCKED) and e.released.grade_id == gid]
        code = [entry for entry in self.entries if entry.is_code]
        if code[: len(prelude)] == prelude:
            return
        rest = [entry for entry in self.entries if entry not in prelude]
        first = next((i for i, entry in enumerate(rest) if entry.is_code), len(rest))
        self.entries = rest[:first] + prelude + rest[first:]

    # -- result --------------------------------------------------------------------------------------------------

    def _build(self) -> Plan:
        standing = [entry for entry in self.entries if self._stands_for(entry)]
        taken = {entry.released.cell["id"] for entry in standing if "id" in entry.released.cell}
        steps: list[CellStep | ProbeStep] = []
        prelude: list[CellStep] = []
        cells: list[NotebookNode] = []
        for index, entry in enumerate(self.entries):
            cell = self._cell(entry, taken, index)
            cells.append(cell)
            taken.add(cell["id"])
            if entry.has_role(Role.TEST):
                steps.append(ProbeStep(entry.released.grade_id, entry.released.points, entry.released.grade_id))
            elif entry.is_code and entry.source.strip() and not (entry.restored and entry.has_role(Role.SOLUTION)):
                served = sorted(entry.serves, key=lambda solution: solution is not entry.target)
                exercise = next((name for solution in served for name in solution.exercises), None)
                step = CellStep(entry.source, exercise, entry.has_role(Role.LOCKED), index, cell["id"])
                steps.append(step)
                if entry.has_role(Role.LOCKED) and entry.released.grade_id in PRELUDE:
                    prelude.append(step)
                elif _RESET.search(entry.source):  # on top of a notebook it cost nothing at home
                    steps += prelude
        metadata = from_dict(self.release.notebook["metadata"])
        if self.renewed:
            names = ", ".join(f"“{name}”" for name in dict.fromkeys(self.renewed))
            self.notes.append(f"{CHANGED_SINCE} These cells are now as in the new version: {names}.")
        return Plan(
            steps=tuple(steps),
            exercises={test.grade_id: test.points for test in self.release.with_role(Role.TEST)},
            missing=frozenset(self.missing),
            untouched=frozenset(self.untouched),
            reasons={name: why for name, why in (self.too_new | self.too_long).items() if name in self.missing},
            repairs=tuple(dict.fromkeys(self.notes)),
            manual=tuple(self._manual()),
            notebook=NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells),
        )

    def _cell(self, entry: _Entry, taken: set[str], index: int) -> NotebookNode:
        kind = "code" if entry.is_code else entry.cell["cell_type"] if entry.cell is not None else None
        metadata, cell_id = NotebookNode(), entry.cell["id"] if entry.cell is not None else f"restored-{index}"
        if self._stands_for(entry):
            original = entry.released.cell
            kind = original["cell_type"]
            metadata = from_dict(original["metadata"])
            if entry.cell is not None and entry.has_role(Role.PLAIN):
                kind = entry.cell["cell_type"]
            if "id" in original:
                cell_id = original["id"]
                taken = taken - {cell_id}
        cell = NotebookNode(id=free_id(cell_id, taken), cell_type=kind, metadata=metadata, source=entry.source)
        if kind == "code":
            cell.update(outputs=[], execution_count=None)
        elif entry.cell is not None and "attachments" in entry.cell:
            cell["attachments"] = entry.cell["attachments"]
        return cell

    def _manual(self) -> list[ManualCell]:
        found = []
        for entry in self.entries:
            if entry.has_role(Role.TASK) or (entry.has_role(Role.MANUAL) and (entry.carries or entry.restored)):
                target = entry.released
                untouched = target.role is Role.MANUAL and target.has_source(entry.source)
                found.append(ManualCell(target.grade_id, target.points, entry.source, untouched))
        return found


def _only_installs(label: ReleaseCell, source: str) -> bool:
    """Say whether a set-up cell differs only in where coursekit comes from: the site writes that into a download."""
    given = {line.strip() for line in label.source.splitlines()}
    return all(
        line in given or "coursekit.zip" in line or "helper package" in line
        for line in map(str.strip, source.splitlines())
    )


def _limit(source: str) -> str:
    return source if _size(source) <= MAX_CELL_BYTES else ""


def _size(source: str) -> int:
    return len(source) if source.isascii() else len(source.encode("utf-8", "replace"))
