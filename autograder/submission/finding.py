"""Finds out whose submissions lie in the files, folders and archives an instructor points at."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.submission.budget import Budget, Spent
from autograder.submission.choosing import MAX_CANDIDATES, Chooser, Claim, FoundSubmission, PassedOver
from autograder.submission.file_names import (
    ENDING,
    INBOUND,
    LabNames,
    is_named_by_system,
    is_of_two,
    named_by_system,
    place_of,
    shown_place,
    stem_of,
    student_by_lms,
)
from autograder.submission.handing_in import as_time
from autograder.submission.opening import FileSource, Source, another_owner
from autograder.submission.reading import Unreadable, has_cells
from autograder.submission.tree import (
    FoundSource,
    Item,
    Tree,
    is_archive,
    is_notebook,
    is_script,
    is_work,
    owned,
    read_archive,
    read_each,
    read_folder,
)

MAX_SCRIPTS = 1_000  # of one folder that are looked into
_SUFFIX_DIGITS = 8
_OF_TWO = "Its name can be read as that of two students, so nothing says whose it is; grade it by itself."


@dataclass(frozen=True)
class Found:
    """What lies in the places an instructor points at.

    `claimed_twice` has a sentence for each id that several submissions claim.
    """

    submissions: list[FoundSubmission]
    passed_over: list[PassedOver]
    claimed_twice: list[str]


def find_submissions(
    paths: Iterable[Path],
    lab: str,
    known: Mapping[str, Collection[str]] | None = None,
    *,
    check_owner: bool = True,
    listed: dict[Path, Tree | None] | None = None,
) -> Found:
    """Return one submission for every student found in `paths`, those with nothing to grade included.

    One path is a notebook, a folder or a zip archive, laid out as nbgrader does (`<student>/<lab>/<lab>.ipynb`,
    exchange folders `<student>+<lab>+<time>+…`), as `<student>/<lab>.ipynb`, as `<student>.ipynb`, or as Moodle and
    Canvas pack downloads; archives inside are looked into. It can also be one student's own: it holds the lab's
    notebook, and neither other notebooks beside it, nor names that an LMS or the exchange makes, nor folders of several
    students.
    Of several paths each is one student's, unless all of them are folders or archives of several students.

    The student's id is
    - in a Moodle download the name with the participant number, `Ada Lovelace_12345`;
    - in a Canvas download the name with the user number, `lovelaceada_12345`, or the anonymous id, `anon_aB3xY`;
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
        check_owner: pass over an entry of an exchange that belongs to another account than its student's; those of the
            account that grades are taken as they are named.
        listed: what was listed for another lab, by path; who looks for several labs gives one dictionary to all.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    search = _Search(lab, known or {}, check_owner, {} if listed is None else listed)
    claims = search.claims(list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths)))
    chooser = Chooser(search.names)
    found = [(chooser.chosen(claim), claim.tree.place) for claim in claims]
    submissions, claimed_twice = _with_unique_ids(found)
    return Found(submissions, search.passed_over + chooser.passed_over, claimed_twice)


class _Search:
    """Looks for one lab's submissions.

    Who hands in what is asked of the folders of a class one by one, and what a question takes is counted against the
    folder that it is asked of.
    """

    def __init__(
        self, lab: str, known: Mapping[str, Collection[str]], check_owner: bool, listed: dict[Path, Tree | None]
    ):
        self.names = LabNames(lab, known)
        self.passed_over: list[PassedOver] = []
        self._check_owner = check_owner
        self._listed = listed
        self._payer: Budget | None = None
        self._scores: dict[FoundSource, int] = {}

    def claims(self, paths: list[Path]) -> list[Claim]:
        """Return who hands something in; what is nobody's is noted in `passed_over`."""
        above = Path(os.path.commonpath(paths)) if len(paths) > 1 else None
        direct = [path for path in paths if above is None or not _is_behind_link(path, above)]
        reason = "It is a link, or behind one. Name what it leads to."
        self.passed_over += (PassedOver(shown_place(str(path)), reason) for path in paths if path not in direct)
        for path in direct:
            if not path.exists():
                raise FileNotFoundError(f"{path}: there is no such file or folder")
        if len(paths) == 1 and not is_named_by_system(paths[0].name):
            tree = self._read(paths[0], None)
            if tree is not None:
                return self._claims_of_one(tree, paths[0])
        return self._claims_of_several(direct, above)

    def _claims_of_one(self, tree: Tree, path: Path) -> list[Claim]:
        owner = path.parent.name if self.names.is_lab(tree.name) else tree.name
        if tree.problem or self._is_students(tree):
            return [Claim(owner, tree, archives=0)]
        inner = self._unwrapped(tree)
        sorted_, passed_over = self._sorted(inner)
        if tree.archives and len(sorted_) == 1 and sorted_[0].archives >= 0:  # as students pack their folder
            return [Claim(owner, tree, archives=0)]
        self.passed_over += passed_over
        return sorted_

    def _claims_of_several(self, paths: list[Path], trusted: Path | None) -> list[Claim]:
        """Return the claims of paths of which each is one student's, or each a class.

        Below the `trusted` folder their names may be students' own, for a pattern such as `inbox/*` found them.
        """
        collected = Tree("", place="")
        parents = Counter(path.parent for path in paths)
        for path in paths:
            tree = self._read(path, trusted)
            item = Item(path.name, _named(path, trusted), owner=path.lstat().st_uid)
            if not self.names.is_lab(tree.name if tree else stem_of(path.name)):
                if tree is None:
                    collected.items.append(item)
                else:
                    collected.folders[str(path)] = tree
            elif tree is None and parents[path.parent] > 1:
                collected.items.append(item)  # in the middle of others' files
            else:
                above = path.parent.parent if self.names.is_lab(path.parent.name) else path.parent
                owner = collected.folders.setdefault(str(above), Tree(above.name, str(above)))
                if tree is None:
                    owner.items.append(item)
                else:
                    owner.folders[path.name] = tree
        claims, passed_over = self._sorted(collected, apart=True)
        self.passed_over += passed_over
        return claims

    def _sorted(self, tree: Tree, *, apart: bool = False) -> tuple[list[Claim], list[PassedOver]]:
        """Return the claims of what lies in the folder of a class, and what nobody can be named for.

        Args:
            tree: the folder.
            apart: its files and folders come from different places, each by a path of its own.
        """
        claims: list[Claim] = []
        over = [PassedOver(shown_place(tree.place), stray) for stray in tree.strays]
        grouped: dict[str, Claim] = {}
        attempts: dict[str, list[tuple[datetime | None, Tree]]] = {}
        plain: list[Tree] = []

        def group(lms: tuple[str, str, bool]) -> Tree:
            who, _, in_attempts = lms
            return grouped.setdefault(who, Claim(who, Tree(who, f"{tree.place}/{who}"), in_attempts=in_attempts)).tree

        def pass_over(place: str, reason: str) -> None:
            over.append(PassedOver(shown_place(place), reason))

        def is_anothers(place: str, owner: int | None, student: str) -> bool:
            whose = another_owner(owner, student) if in_exchange and owner is not None and self._check_owner else ""
            if whose:
                pass_over(place, f"It lies among attempts of the exchange, and belongs to {whose}.")
            return bool(whose)

        in_exchange = any(INBOUND.fullmatch(folder.name) for folder in tree.folders.values())
        scripts = self._scripts_of_lab(tree)
        for item in tree.items:
            stem = stem_of(item.name)
            if (lms := student_by_lms(item.name)) is not None:
                group(lms).items.append(replace(item, name=lms[1]))
            elif is_of_two(item.name):
                pass_over(place_of(tree, item), _OF_TWO)
            elif not is_notebook(item.name) and item.name not in scripts:
                pass_over(place_of(tree, item), item.problem or self._why_no_work(tree, item))
            elif self.names.is_copy(stem):
                pass_over(place_of(tree, item), self._nobodys())
            elif stem in self.names.other_labs:
                pass_over(place_of(tree, item), "It is named like another lab.")
            elif not is_anothers(place_of(tree, item), item.owner, name := ENDING.sub("", item.name)):
                claims.append(Claim(name, Tree(name, place_of(tree, item), items=[item]), tree.archives))
        for key, folder in tree.folders.items():
            if (inbound := INBOUND.fullmatch(folder.name)) is not None:
                if self.names.is_lab(inbound["lab"]):
                    if other := self._another_owner(folder, inbound["who"]):
                        pass_over(folder.place, f"It is in {inbound['who']}'s name and belongs to {other}.")
                    else:
                        attempts.setdefault(inbound["who"], []).append((as_time(inbound["time"]), folder))
                elif inbound["lab"].casefold() not in self.names.other_labs:
                    pass_over(folder.place, f"It was handed in for {inbound['lab']}, which is no lab of this course.")
            elif (lms := student_by_lms(folder.name)) is not None:
                _part(folder, tree)
                group(lms).folders[key] = folder
            elif is_of_two(folder.name):
                pass_over(folder.place, _OF_TWO)
            elif folder.name.casefold() in self.names.other_labs:
                pass_over(folder.place, "It is named like another lab.")
            elif self.names.is_lab(folder.name):
                if folder.problem or folder.archives > tree.archives:
                    pass_over(folder.place, folder.problem or self._nobodys())
                else:
                    more_claims, more_over = self._sorted(folder)
                    claims += more_claims
                    over += more_over
            elif not is_anothers(folder.place, folder.owner, folder.name):
                plain.append(folder)
        claims += grouped.values()
        claims += (_newest(who, tries) for who, tries in attempts.items())
        classes = [folder for folder in plain if self._ask(folder, self._is_class)]
        if apart and not claims and len(plain) > 1 and all(self._ask(folder, self._may_be_class) for folder in plain):
            classes = plain
        if plain and len(classes) == len(plain) and not claims:
            for folder in plain:
                more_claims, more_over = self._sorted(self._unwrapped(folder))
                claims += more_claims
                over += more_over
            return claims, over
        for folder in plain:
            if folder in classes:
                reason = (
                    "It holds the work of several students, or of one student in several folders; grade it by itself."
                )
                pass_over(folder.place, reason)
            else:
                _part(folder, tree)
                claims.append(Claim(folder.name, folder, tree.archives))
        return claims, over

    def _ask(self, folder: Tree, question: Callable[[Tree], bool]) -> bool:
        """Return the answer to a question about a folder; no where it takes more time than its student has."""
        try:
            if self._payer is not None:
                self._payer.check()
                return question(folder)
            self._payer = folder.budget
            try:
                with folder.budget.paying():
                    folder.budget.check()
                    return question(folder)
            finally:
                self._payer = None
        except Spent as spent:
            if self._payer is not None:
                raise
            folder.problem = spent.reason
            return False

    def _read(self, path: Path, trusted: Path | None) -> Tree | None:
        """Return the tree of a folder or an archive by its name on the command line, None for any other file."""
        if path not in self._listed:
            self._listed[path] = _read(path, trusted)
        return self._listed[path]

    def _another_owner(self, entry: Tree, student: str) -> str:
        """Return whose an entry of the exchange is in place of the student's; nothing where it is the student's own.

        From then on it is read only where all in it belongs to this account.
        """
        if entry.owner is None or not self._check_owner:
            return ""
        if other := another_owner(entry.owner, student):
            return other
        for _, item in entry.walk():
            if item.source is not None:
                item.source = owned(item.source, Path(entry.place).parent, entry.owner)
        return ""

    def _scripts_of_lab(self, tree: Tree) -> set[str]:
        """Return the names of the scripts at this level that have cells and check exercises of the lab."""
        notebooks = {stem_of(item.name) for item in tree.items if is_notebook(item.name)}
        scripts = [item for item in tree.items if is_script(item.name) and stem_of(item.name) not in notebooks]
        looked_into = [(item.name, item.source) for item in scripts if item.source][:MAX_SCRIPTS]
        contents = read_each(source for _, source in looked_into)
        return {
            name
            for (name, _), data in zip(looked_into, contents, strict=True)
            if has_cells(data) and self.names.score(data) > 0
        }

    def _why_no_work(self, tree: Tree, item: Item) -> str:
        """Say why a file that is no notebook is nobody's work."""
        if not is_script(item.name):
            return "It is not a notebook, a folder or a zip archive."
        if any(is_notebook(other.name) and stem_of(other.name) == stem_of(item.name) for other in tree.items):
            return "It is a script, and the notebook of the same name beside it counts."
        return f"It is a script without cells (# %%) that check exercises of {self.names.lab}."

    def _nobodys(self) -> str:
        return (
            f"It is named like the lab and lies among other work, so nothing says whose it is; give it, or a folder "
            f"around it, its student's name, or grade it by itself: course grade {self.names.lab} PATH."
        )

    def _holds_lab(self, tree: Tree) -> bool:
        """Say whether a folder has the lab's notebook, or the lab's folder with it."""
        labs = [folder for folder in tree.folders.values() if self.names.is_lab(folder.name)]
        return any(
            is_work(item.name) and self.names.is_copy(stem_of(item.name))
            for folder in (tree, *labs)
            for item in folder.items
        )

    def _is_students(self, tree: Tree) -> bool:
        """Say whether a folder that an instructor points at is one student's."""
        if not self._holds_lab(tree):
            return False
        for folder in (tree, *(folder for folder in tree.folders.values() if self.names.is_lab(folder.name))):
            if named_by_system(folder) or any(True for _ in self._others(folder)):
                return False
        return self._homes(tree) < 2

    def _others(self, tree: Tree) -> Iterator[str]:
        """Yield the notebooks at this level that are named neither like the lab nor like another one."""
        stems = (stem_of(item.name) for item in tree.items if is_notebook(item.name))
        return (stem for stem in stems if not self.names.is_copy(stem) and stem not in self.names.other_labs)

    def _homes(self, tree: Tree) -> int:
        """Count the folders at this level that can be different students' own: each has a notebook of the lab.

        Where no name tells it, a notebook is looked into, of some of the folders.
        """
        labs = {self.names.lab.casefold(), *self.names.other_labs}
        folders = [folder for folder in tree.folders.values() if folder.name.casefold() not in labs]
        named = [self._ask(folder, self._holds_lab) for folder in folders]
        unnamed = [folder for folder, is_named in zip(folders, named, strict=True) if not is_named]
        looked_into = [folder for folder in unnamed if any(_works(folder))][:MAX_CANDIDATES]
        return sum(named) + sum(self._ask(folder, self._begins_with_lab) for folder in looked_into)

    def _begins_with_lab(self, folder: Tree) -> bool:
        source = next(_works(folder))
        if source not in self._scores:
            try:
                self._scores[source] = self.names.score(source.read())
            except Unreadable:
                self._scores[source] = 0
        return self._scores[source] > 0

    def _is_class(self, tree: Tree) -> bool:
        """Say whether a folder in a class's is, against its place, not one student's but several students'."""
        if self._holds_lab(tree) or tree.problem:
            return False
        if len(named_by_system(tree)) > 1 or self._homes(tree) > 1:
            return True
        inner = [folder for folder in tree.folders.values() if not self.names.is_lab(folder.name)]
        return len(inner) == 1 and self._is_class(inner[0])

    def _may_be_class(self, tree: Tree) -> bool:
        if self._holds_lab(tree):
            return False
        return self._is_class(tree) or bool(named_by_system(tree)) or len(set(self._others(tree))) > 1

    def _unwrapped(self, tree: Tree) -> Tree:
        """Return the folder that holds the students where it is the only thing in one or more folders around it."""
        while len(tree.folders) == 1 and not tree.strays:
            (only,) = tree.folders.values()
            if any(
                is_notebook(item.name) or student_by_lms(item.name) for item in tree.items
            ) or not self._is_container(only):
                break
            tree = only
        return tree

    def _is_container(self, tree: Tree) -> bool:
        if is_named_by_system(tree.name) or self.names.is_lab(tree.name) or self._holds_lab(tree):
            return False
        if any(folder.name.casefold() in self.names.other_labs for folder in tree.folders.values()):
            return False
        return (
            bool(named_by_system(tree))
            or len(set(self._others(tree))) > 1
            or self._homes(tree) > 0
            or sum(self._ask(folder, _has_notebook) for folder in tree.folders.values()) > 1
            or any(self._ask(folder, self._is_container) for folder in tree.folders.values())
        )


def _part(folder: Tree, around: Tree) -> None:
    """Give a student's folder a budget of its own where it had that of its class's archive."""
    if folder.budget is not around.budget:
        return
    own, shared = Budget(), around.budget
    for _, tree in folder.walk_folders():
        if tree.budget is shared:
            tree.budget = own


def _works(folder: Tree) -> Iterator[FoundSource]:
    return (item.source for item in folder.items if is_work(item.name) and item.source)


def _has_notebook(folder: Tree) -> bool:
    return any(is_notebook(item.name) for _, item in folder.walk())


def _newest(who: str, tries: list[tuple[datetime | None, Tree]]) -> Claim:
    """Return the claim of the newest attempt in nbgrader's exchange."""
    earliest = datetime.min.replace(tzinfo=UTC)
    time, tree = max(tries, key=lambda attempt: (attempt[0] or earliest, attempt[1].name))
    note = f"The newest of {len(tries)} attempts." if len(tries) > 1 else None
    return Claim(who, tree, timestamp=time, note=note)


def _named(path: Path, trusted: Path | None) -> FileSource:
    """Return what a path on the command line stands for; links are followed down to the `trusted` folder, if any."""
    if trusted is None or path == trusted:
        return FileSource(Path(os.path.realpath(path)))
    return FileSource(Path(os.path.realpath(trusted)), path.relative_to(trusted).parts)


def _is_behind_link(path: Path, above: Path) -> bool:
    return any(part.is_symlink() for part in (path, *path.parents) if part != above and part.is_relative_to(above))


def _read(path: Path, trusted: Path | None) -> Tree | None:
    named = _named(path, trusted)
    if path.is_dir():
        tree = read_folder(named.root, named.parts)
        tree.name = path.name or tree.name
        return tree
    return read_archive(named) if is_archive(path.name) else None


def _with_unique_ids(found: list[tuple[FoundSubmission, str]]) -> tuple[list[FoundSubmission], list[str]]:
    """Return the submissions with one id each, and a sentence on each id that several claim.

    The same notebook found twice counts once. An id that is claimed twice is nobody's: which of them it belonged to
    would depend on what else is graded in the same run.
    """
    claimants: dict[str, list[tuple[FoundSubmission, str]]] = {}
    seen: set[Source] = set()
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
            parts.append(f"{shown_place(place)} is graded as “{student}”")
        told.append(f"{len(claims)} submissions have the id “{claims[0][0].student}”: {', '.join(parts)}.")
    return result, told
