"""Chooses which notebook counts, among the files that one student handed in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from autograder.course.ids import student_id
from autograder.course.printable import on_one_line, printable
from autograder.submission.file_names import (
    ATTEMPT,
    LabNames,
    is_marked_late,
    place_of,
    shown_place,
    stem_of,
)
from autograder.submission.opening import Source
from autograder.submission.percent import has_cells
from autograder.submission.reading import Unreadable
from autograder.submission.times import time_in
from autograder.submission.tree import Item, Tree, is_notebook, is_script, is_work, read_each

MAX_CANDIDATES = 20  # notebooks of one student that are read to find the lab's among them
MAX_CANDIDATES_BYTES = 256 * 2**20  # of all of them: the one with which that is reached is the last


@dataclass(frozen=True)
class FoundSubmission:
    """What one student handed in for one lab. `problem` says why there is nothing to grade; else `read()` works.

    `path` is the file on disk: the notebook, or the archive that holds it. `note` tells the instructor of a choice that
    was made (an id that two claimed, the newest of several attempts). `is_marked_late` where Canvas wrote so into its
    name.
    """

    student: str
    lab: str
    path: Path | None
    source: Source | None = None
    problem: str | None = None
    timestamp: datetime | None = None
    note: str | None = None
    is_marked_late: bool = False

    @property
    def file_name(self) -> str:
        """The name of the file that arrived, without folders; inside archives the innermost; empty where none is."""
        if self.source is None:
            return ""
        return [self.source.path.name, *getattr(self.source, "members", ())][-1].rpartition("/")[2]

    def __post_init__(self) -> None:
        for name in ("problem", "note"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, printable(getattr(self, name)))

    def read(self) -> bytes:
        """Return the bytes of the notebook.

        Raises:
            Unreadable: there is none, or it cannot be read.
        """
        if self.source is None:
            raise Unreadable(self.problem or "There is no notebook.")
        return self.source.read()


@dataclass(frozen=True)
class PassedOver:
    """Something that was not graded, because nothing says whose it is; the reason is a sentence for the instructor.

    Strangers choose names: both are one printable line, whoever shows them. `is_fault` where the grader could not look.
    """

    path: str
    reason: str
    is_fault: bool = False

    def __post_init__(self) -> None:
        for name in ("path", "reason"):
            object.__setattr__(self, name, on_one_line(getattr(self, name)))


@dataclass
class Claim:
    """The files of one student.

    `archives` is how many archives lie around what the instructor collected: what is packed deeper, the student packed.
    It is -1 where an LMS collected. `in_attempts` where the number at the end of a name counts attempts.
    """

    student: str
    tree: Tree
    archives: int = -1
    in_attempts: bool = False
    timestamp: datetime | None = None
    note: str | None = None


@dataclass
class _Candidate:
    """A notebook of a student, with the folders above it."""

    above: tuple[str, ...]
    home: Tree
    item: Item
    stem: str = field(init=False)

    def __post_init__(self) -> None:
        self.stem = stem_of(self.item.name)

    @property
    def attempt(self) -> int:
        number = ATTEMPT.search(self.stem)
        return int(number.group(1)[:9]) if number else 0


class Chooser:
    """Chooses submissions for one lab; `passed_over` names what could have been meant as well."""

    def __init__(self, names: LabNames):
        self.names = names
        self.passed_over: list[PassedOver] = []

    def chosen(self, claim: Claim) -> FoundSubmission:
        """Return a student's submission: the notebook among their files that counts."""
        submission = FoundSubmission(student_id(claim.student), self.names.lab, None, note=claim.note)
        submission = replace(submission, timestamp=claim.timestamp)
        if claim.tree.problem:
            return replace(submission, problem=claim.tree.problem)
        candidates = self._candidates(claim)
        named = [candidate for candidate in candidates if self.names.is_lab(candidate.stem)]
        named = (
            named
            if named and not claim.in_attempts
            else [candidate for candidate in candidates if self.names.is_copy(candidate.stem)]
        )
        sound = [candidate for candidate in named or candidates if candidate.item.source]
        if not sound:
            refused = [candidate.item.problem for candidate in named]
            return replace(submission, problem=refused[0] if refused else _why_nothing(claim.tree))
        chosen = self._best_named(claim, sound) if named else self._best_by_content(claim, sound)
        if isinstance(chosen, str):
            return replace(submission, problem=chosen)
        source = chosen.item.source
        assert source is not None  # it is a sound one
        time = claim.timestamp or self._time_beside(claim, chosen)
        note = self._note_on_others(claim, chosen, candidates, submission)
        for _, folder in claim.tree.walk_folders():
            if folder.problem:  # a notebook in it could be meant, too
                self.passed_over.append(PassedOver(shown_place(folder.place), folder.problem))
        is_late = claim.in_attempts and any(map(is_marked_late, place_of(chosen.home, chosen.item).split("/")))
        return replace(submission, path=source.path, source=source, timestamp=time, note=note, is_marked_late=is_late)

    def _candidates(self, claim: Claim) -> list[_Candidate]:
        """Return a student's notebooks; scripts with cells where no notebook is the lab's by its name."""
        files = [
            _Candidate(above, home, item)
            for above, home in claim.tree.walk_folders()
            for item in home.items
            if is_work(item.name) and not self.names.other_labs.intersection(name.casefold() for name in above)
        ]
        notebooks = [file for file in files if is_notebook(file.item.name)]
        if any(self.names.is_copy(notebook.stem) for notebook in notebooks):
            return notebooks
        scripts = [file for file in files if is_script(file.item.name)]
        scripts = sorted(scripts, key=lambda script: not self.names.is_copy(script.stem))[:MAX_CANDIDATES]
        contents = _until_much(read_each(script.item.source for script in scripts if script.item.source))
        with_cells = [script for script in scripts if script.item.problem or has_cells(next(contents, b""))]
        named = [script for script in with_cells if self.names.is_copy(script.stem)]
        return named or notebooks or with_cells

    def _which_of(self, several: list[_Candidate], looked_into: int) -> str:
        wanted = f"{self.names.lab}.ipynb"
        names = ", ".join(f"“{candidate.item.name}”" for candidate in several[:4])
        problem = f"There are {len(several)} notebooks ({names}{', …' if len(several) > 4 else ''})"
        if len(several) > looked_into:
            return f"{problem}; none is named {wanted}, and only the first {looked_into} were looked into."
        return f"{problem}; none is named {wanted}, and more than one or none of them holds cells of the lab."

    def _note_on_others(
        self, claim: Claim, chosen: _Candidate, candidates: list[_Candidate], submission: FoundSubmission
    ) -> str | None:
        """Name the other notebooks that could be meant as this lab's, here and in `passed_over`."""
        if claim.in_attempts:
            return submission.note
        others = [
            candidate for candidate in candidates if candidate is not chosen and self.names.is_copy(candidate.stem)
        ]
        if not others:
            return submission.note
        counts = "/".join((*chosen.above, chosen.item.name))
        for other in others:
            reason = other.item.problem or f"“{counts}” counts as the notebook of “{submission.student}”."
            self.passed_over.append(PassedOver(shown_place(place_of(other.home, other.item)), reason))
        names = ", ".join(f"“{'/'.join((*other.above, other.item.name))}”" for other in others[:3])
        note = f"“{counts}” was graded; passed over: {names}{' and more' if len(others) > 3 else ''}."
        return " ".join(filter(None, [submission.note, note]))

    def _best_named(self, claim: Claim, named: list[_Candidate]) -> _Candidate:
        if claim.in_attempts:
            return max(named, key=lambda candidate: candidate.attempt)
        return min(
            named,
            key=lambda candidate: (
                not self._in_lab_folder(candidate),
                len(candidate.above),
                len(candidate.stem),
                candidate.stem,
            ),
        )

    def _in_lab_folder(self, candidate: _Candidate) -> bool:
        return bool(candidate.above) and self.names.is_lab(candidate.above[-1])

    def _best_by_content(self, claim: Claim, notebooks: list[_Candidate]) -> _Candidate | str:
        """Return the notebook with most of the lab's cells, or in a sentence why that is none or several."""
        if len(notebooks) == 1:
            return notebooks[0]
        sources = (notebook.item.source for notebook in notebooks[:MAX_CANDIDATES])
        contents = _until_much(read_each(source for source in sources if source is not None))
        scored = [
            (candidate, self.names.score(data), hashlib.sha256(data).digest())
            for candidate, data in zip(notebooks, contents, strict=False)
        ]
        problem = self._which_of(notebooks, len(scored))
        highest = max(score for _, score, _ in scored)
        if not highest and len(notebooks) > len(scored):
            return problem
        best = [(candidate, digest) for candidate, score, digest in scored if score == highest]
        if len({digest for _, digest in best}) == 1:
            return best[0][0]
        if claim.in_attempts and len({ATTEMPT.sub("", candidate.stem) for candidate, _ in best}) == 1:
            return max((candidate for candidate, _ in best), key=lambda candidate: candidate.attempt)
        return problem

    def _time_beside(self, claim: Claim, chosen: _Candidate) -> datetime | None:
        """Return the time in the `timestamp.txt` that nbgrader's exchange puts beside a notebook it collects.

        Where a student can have put it, in an LMS's download or in an archive of their own, it says nothing.
        """
        collected = chosen.home.archives == claim.archives and self.names.is_lab((claim.tree.name, *chosen.above)[-1])
        for item in chosen.home.items if collected else ():
            if item.name == "timestamp.txt" and item.source:
                return time_in(item.source)
        return None


def _until_much(contents: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the contents of a student's files until they are more than are looked into."""
    left = MAX_CANDIDATES_BYTES
    for data in contents:
        yield data
        left -= len(data)
        if left <= 0:
            return


def _why_nothing(tree: Tree) -> str:
    if problems := tree.problems():
        return problems[0]
    names = sorted({item.name for _, item in tree.walk()})
    if not names:
        return "There is no notebook: the folder is empty."
    listed = ", ".join(f"“{name}”" for name in names[:3])
    return f"There is no notebook for this lab; found {listed}{' and more' if len(names) > 3 else ''}."
