"""Finds everybody's submission in the files, folders and archives that an instructor points at.

Whose the files are is told by the layout; which of a student's notebooks counts is chosen here.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from autograder.course.text import student_id
from autograder.read.handing_in import FoundSubmission, PassedOver, time_in
from autograder.read.layouts import (
    Claim,
    LabNames,
    Search,
    may_be_anothers,
    place_of,
    read_name,
    show_place,
    stem_of,
)
from autograder.read.reading import Unreadable, has_cells
from autograder.read.tree import Budget, FoundSource, Item, Tree, is_notebook, is_script, is_work, read_each

MOST_TOLD = 20  # notebooks of one student that do not count, each in a line of its own
SAME_SECONDS = 2.0  # two times are the same: an archive's are even numbers
MAX_CANDIDATES = 20  # notebooks of one student that are read to find the lab's among them
MAX_CANDIDATES_BYTES = 256 * 2**20  # of all of them: the one with which that is reached is the last
PACKED = "-submission"
ATTEMPT = re.compile(r"-(\d+)$")
_SUFFIX_DIGITS = 8


@dataclass(frozen=True)
class Found:
    """What lies in the places an instructor points at.

    `claimed_twice` has a sentence for each id that several submissions claim; `layouts` names those that were read.
    """

    submissions: list[FoundSubmission]
    passed_over: list[PassedOver]
    claimed_twice: list[str]
    layouts: list[str]


def find_submissions(
    paths: Iterable[Path],
    lab: str,
    known: Mapping[str, Collection[str]] | None = None,
    *,
    layout: str | None = None,
    check_owner: bool = True,
    listed: dict[Path, Tree | None] | None = None,
) -> Found:
    """Return one submission for every student found in `paths`, those with nothing to grade included.

    One path is a notebook, or a folder or a zip archive, of one student or of a class in one of the `LAYOUTS`; archives
    inside are looked into. Of several paths each is one student's, unless all of them are classes.

    The student's id is
    - in a Moodle download the name with the participant number, `Ada Lovelace_12345`;
    - in a Canvas download the name with the user number, `lovelaceada_12345`, or the anonymous id, `anon_aB3xY`;
    - in a Blackboard download and in the exchange the user name;
    - otherwise the name of the student's folder or archive, or of the notebook where it is not named like the lab.
    What lies inside a student's own folder or archive never names another student. Characters that no file name can
    have everywhere become `_`. When several submissions claim one id (letter case ignored), each gets the id with a
    digest of where it lies, `ada~1f2e3d4c`, and none of them gets the id itself.

    A Python script with cells (`# %%`) stands for a notebook where the student has none of that lab.
    Of several notebooks of a student that are named like the lab, the newest in the folder counts, the newest attempt
    in a Canvas download; where none is, the one with most of the lab's grade_ids; else the student has a problem to be
    solved by hand. What nobody's name is on, and other notebooks named like the lab, are passed over, and named.

    Args:
        paths: what to search, in order.
        lab: the lab's name, such as `02_self_attention`.
        known: grade_ids of each lab of the course by name.
        layout: one of the `LAYOUTS`; recognised by its signs where nothing is said.
        check_owner: pass over an entry of an exchange that belongs to another account than its student's; those of the
            account that grades are taken as they are named.
        listed: what was listed for another lab, by path; who looks for several labs gives one dictionary to all.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    search = Search(LabNames(lab, known or {}), layout, check_owner, {} if listed is None else listed)
    claims = search.find_claims(list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths)))
    chooser = Chooser(search.names)
    found = [(chooser.choose(claim), claim.tree.place) for claim in claims]
    submissions, claimed_twice = _with_unique_ids(found)
    return Found(submissions, search.passed_over + chooser.passed_over, claimed_twice, [*search.layouts])


def _with_unique_ids(found: list[tuple[FoundSubmission, str]]) -> tuple[list[FoundSubmission], list[str]]:
    """Return the submissions with one id each, and a sentence on each id that several claim.

    The same notebook found twice counts once. An id that is claimed twice is nobody's: which of them it belonged to
    would depend on what else is graded in the same run.
    """
    claimants: dict[str, list[tuple[FoundSubmission, str]]] = {}
    seen: set[FoundSource] = set()
    for submission, place in found:
        if submission.source is None or submission.source not in seen:
            claimants.setdefault(submission.student.casefold(), []).append((submission, place))
            if submission.source is not None:
                seen.add(submission.source)
    result, told = [], []
    taken = set(claimants)
    for claims in claimants.values():
        if len(claims) == 1:
            result.append(claims[0][0])
            continue
        parts = []
        for submission, place in claims:
            digest = hashlib.sha256(os.fsencode(place)).hexdigest()
            length = _SUFFIX_DIGITS
            while (student := f"{submission.student}~{digest[:length]}").casefold() in taken:
                length += 1
            taken.add(student.casefold())
            note = f"{len(claims)} submissions have the id “{submission.student}”; this one is kept as “{student}”."
            note = " ".join(filter(None, [submission.note, note]))
            result.append(replace(submission, student=student, note=note))
            parts.append(f"{show_place(place)} is graded as “{student}”")
        told.append(f"{len(claims)} submissions have the id “{claims[0][0].student}”: {', '.join(parts)}.")
    return result, told


@dataclass
class _Candidate:
    """A notebook of a student, with the folders above it."""

    above: tuple[str, ...]
    home: Tree
    item: Item

    @cached_property
    def stem(self) -> str:
        return stem_of(self.item.name)

    @property
    def attempt(self) -> int:
        number = ATTEMPT.search(self.stem)
        return int(number.group(1)[:9]) if number else 0

    @property
    def path(self) -> str:
        return "/".join((*self.above, self.item.name))

    @property
    def place(self) -> str:
        return place_of(self.home, self.item)


class Chooser:
    """Chooses submissions for one lab; `passed_over` names what could have been meant as well."""

    def __init__(self, names: LabNames):
        self.names = names
        self.passed_over: list[PassedOver] = []

    def choose(self, claim: Claim) -> FoundSubmission:
        """Return a student's submission: the notebook among their files that counts."""
        student, budget = student_id(claim.student), claim.tree.budget
        submission = FoundSubmission(student, self.names.lab, None, timestamp=claim.timestamp, note=claim.note)
        inside = {folder.budget for _, folder in claim.tree.walk_folders()} - {budget}
        listing = sum(other.spent for other in inside)
        try:
            with budget.paying():
                budget.check(besides=listing)
                submission = self._choose(claim, submission)
        except Unreadable as refused:
            submission = replace(submission, problem=refused.reason)
        return replace(submission, spent=budget.spent + listing)

    def _choose(self, claim: Claim, submission: FoundSubmission) -> FoundSubmission:
        """Return the submission with the notebook that counts. Raises Unreadable where there is none."""
        if claim.tree.problem:
            raise Unreadable(claim.tree.problem)
        candidates = self._find_candidates(claim)
        copies = [candidate for candidate in candidates if self.names.is_copy(candidate.stem)]
        named = [copy for copy in copies if self.names.is_lab(copy.stem) and not claim.in_attempts] or copies
        sound = [candidate for candidate in named or candidates if candidate.item.source]
        if not sound:
            refused = [candidate.item.problem for candidate in named]
            raise Unreadable((refused[0] if refused else None) or _why_nothing(claim.tree))
        if named:
            beside = self._find_beside(claim, sound, copies)
            chosen, why = self._choose_newest(beside)
            note = self._note_on_others(chosen, why, beside if claim.in_attempts else copies, submission)
        else:
            chosen, note = self._choose_by_content(claim, sound), submission.note
        source = chosen.item.source
        assert source is not None  # it is a sound one
        for _, folder in claim.tree.walk_folders():
            if folder.problem:  # a notebook in it could be meant, too
                self.passed_over.append(PassedOver(show_place(folder.place), folder.problem))
        names = map(read_name, chosen.place.split("/") if claim.in_attempts else ())
        is_late = any(named.is_late for named in names if named)  # by the platform's own due date
        time = claim.timestamp or self._read_time_beside(claim, chosen)
        return replace(submission, path=source.path, source=source, timestamp=time, note=note, is_marked_late=is_late)

    def _find_candidates(self, claim: Claim) -> list[_Candidate]:
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
        contents = _read_until_much([script for script in scripts if script.item.source], claim.tree.budget)
        with_cells = [script for script in scripts if script.item.problem or has_cells(next(contents, b""))]
        named = [script for script in with_cells if self.names.is_copy(script.stem)]
        return named or notebooks or with_cells

    # -- notebooks that are named like the lab -----------------------------------------------------------------------

    def _find_beside(self, claim: Claim, named: list[_Candidate], copies: list[_Candidate]) -> list[_Candidate]:
        """Return the notebooks of the last attempt, or of the likeliest folder."""
        if claim.in_attempts:
            last = max(candidate.attempt for candidate in named)
            return [candidate for candidate in named if candidate.attempt == last]
        home = min(named, key=self._order).home
        return [candidate for candidate in copies if candidate.home is home and candidate.item.source]

    def _choose_newest(self, beside: list[_Candidate]) -> tuple[_Candidate, str]:
        """Return the newest of several notebooks; of equally old ones that which packing made; and in words why."""
        times = [candidate.item.time for candidate in beside]
        known = [time for time in times if time is not None]
        left, why = beside, ""
        if len(known) == len(beside):
            left = [candidate for candidate in beside if max(known) - (candidate.item.time or 0) <= SAME_SECONDS]
            why = ", because it is the newest" if len(left) < len(beside) else ""
        packed = [candidate for candidate in left if PACKED in candidate.item.name.casefold()]
        if 0 < len(packed) < len(left):
            left, why = packed, ", because it is the one that packing made"
        return min(left, key=self._order), why

    def _order(self, candidate: _Candidate) -> tuple[bool, int, int, str]:
        """Order notebooks named like the lab, the likeliest first."""
        name = candidate.item.name
        return not self._is_in_lab_folder(candidate), len(candidate.above), len(name), name.casefold()

    def _is_in_lab_folder(self, candidate: _Candidate) -> bool:
        return bool(candidate.above) and self.names.is_lab(candidate.above[-1])

    def _note_on_others(
        self, chosen: _Candidate, why: str, candidates: list[_Candidate], submission: FoundSubmission
    ) -> str | None:
        """Name the other notebooks that could be meant as this lab's, here and in `passed_over`."""
        others = [candidate for candidate in candidates if candidate is not chosen]
        if not others:
            return submission.note
        if not why and any(other.home is chosen.home for other in others):
            why = ", because its name is nearest to the lab's"
        elif not why:
            lies = "lies in the lab's folder" if self._is_in_lab_folder(chosen) else "lies nearest to the top"
            why = f", because it {lies}"
        reason = f"“{chosen.path}” counts as the notebook of “{submission.student}”{why}."
        told = [(other.place, other.item.problem or reason) for other in others[:MOST_TOLD]]
        if (more := len(others) - MOST_TOLD) > 0:
            told.append((chosen.place, f"There are {more} more notebooks of “{submission.student}” that do not count."))
        self.passed_over += (PassedOver(show_place(place), reason) for place, reason in told)
        names = ", ".join(f"“{other.path}”" for other in others[:3])
        note = f"“{chosen.path}” was graded{why}; passed over: {names}{' and more' if len(others) > 3 else ''}."
        return " ".join(filter(None, [submission.note, note]))

    def _read_time_beside(self, claim: Claim, chosen: _Candidate) -> datetime | None:
        """Return the time in the `timestamp.txt` that nbgrader's exchange puts beside a notebook it collects.

        Where a student can have put it, in an LMS's download or in an archive of their own, it says nothing.
        """
        collected = chosen.home.archives == claim.archives and self.names.is_lab((claim.tree.name, *chosen.above)[-1])
        for item in chosen.home.items if collected else ():
            if item.name == "timestamp.txt" and item.source:
                return time_in(item.source)
        return None

    # -- notebooks that are not --------------------------------------------------------------------------------------

    def _choose_by_content(self, claim: Claim, notebooks: list[_Candidate]) -> _Candidate:
        """Return the notebook with most of the lab's cells. Raises Unreadable where that is none or several."""
        if len(notebooks) == 1:
            return notebooks[0]
        contents = _read_until_much(notebooks[:MAX_CANDIDATES], claim.tree.budget)
        scored = [
            (candidate, self.names.score(data), hashlib.sha256(data).digest())
            for candidate, data in zip(notebooks, contents, strict=False)
        ]
        looked_into = len(scored)
        if claim.in_attempts:
            scored = [each for each in scored if each[1] and not may_be_anothers(each[0].item.name)] or scored
        highest = max(score for _, score, _ in scored)
        best = [(candidate, digest) for candidate, score, digest in scored if score == highest]
        if highest or len(notebooks) == looked_into:
            if len({digest for _, digest in best}) == 1:
                return best[0][0]
            if claim.in_attempts and len({ATTEMPT.sub("", candidate.stem) for candidate, _ in best}) == 1:
                return max((candidate for candidate, _ in best), key=lambda candidate: candidate.attempt)
        names = ", ".join(f"“{candidate.item.name}”" for candidate in notebooks[:4])
        several = f"There are {len(notebooks)} notebooks ({names}{', …' if len(notebooks) > 4 else ''})"
        why = "more than one or none of them holds cells of the lab"
        if len(notebooks) > looked_into:
            why = f"only the first {looked_into} were looked into"
        raise Unreadable(f"{several}; none is named {self.names.lab}.ipynb, and {why}.")


def _read_until_much(candidates: Iterable[_Candidate], budget: Budget) -> Iterator[bytes]:
    """Yield the contents of a student's files until they are more than are looked into."""
    left = MAX_CANDIDATES_BYTES
    for data in read_each(candidate.item.source for candidate in candidates if candidate.item.source):
        budget.check()
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
