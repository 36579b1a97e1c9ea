"""Hands public implementations in as answers: each is fetched, adapted by a table, and graded as students' work is.

    python benchmarks/public_code.py                         from raw.githubusercontent.com
    python benchmarks/public_code.py --mirror DIR            from git mirrors, DIR/<owner>/<name>
    python benchmarks/public_code.py --out FILE              also writes the table as Markdown, between marks in FILE

`public_code.toml` names each source by repository, commit, path and lines, with its licence, the checksum of those
lines, how its names become the exercise's, and what the grader should find. No line of a source is kept there.
The exit code is 1 when something that was graded came out differently.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import hashlib
import json
import re
import subprocess
import sys
import textwrap
import tomllib
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.labs import grade_id, is_solution
from autograder.course.settings import Course, load_course
from autograder.grade.lab_grader import LabGrader
from autograder.sandbox import Sandbox
from autograder.sandbox.warm import preload_of

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml")
SEED = 20261125  # the hidden cases of the published table
RAW = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"
SECONDS = 30.0
BEGIN, END = "<!-- what benchmarks/public_code.py --out writes begins here -->", "<!-- and ends here -->"
SHORT = 20  # characters of a line that says nothing of whose it is, such as `raise ValueError(`
FULL, REFUSED = "full marks", "refused"
KEYS = {"name", "exercise", "lab", "repository", "commit", "path", "lines", "sha256", "licence", "expect"}
MORE = {"told", "replace", "glue", "before", "after", "indent"}


class Unavailable(Exception):
    """A source cannot be had here; the text says why."""


class Changed(Exception):
    """The lines that were fetched are not those that the table names."""


@dataclass(frozen=True)
class Source:
    """One public implementation: where its text is, and how it becomes an answer.

    Args:
        name: what the table calls it.
        exercise: the exercise that it answers, and `lab`, the lab of it.
        repository: owner/name on GitHub; `commit` and `path` name the file, `lines` the first and last line of each
            piece. Lines of a notebook are those of its code cells, one after another.
        sha256: of the lines, as UTF-8, joined by newlines.
        licence: of the source.
        expect: "full marks", "refused" (for a reason that has no name), or ids of the mistakes to be named.
        told: the sentence of the published table about it.
        replace: regular expressions with what takes their place, in order.
        glue: texts of our own for the cell: pieces of the table, then `before` and `after` the source.
        indent: spaces before each line of the source, which is first moved to the left.
    """

    name: str
    exercise: str
    lab: str
    repository: str
    commit: str
    path: str
    lines: tuple[tuple[int, int], ...]
    sha256: str
    licence: str
    expect: str | tuple[str, ...]
    told: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    glue: str = ""
    before: str = ""
    after: str = ""
    indent: int = 0

    @property
    def address(self) -> str:
        """The page on GitHub that shows the file at this commit, at its longest piece."""
        first, last = max(self.lines, key=lambda piece: piece[1] - piece[0])
        part = "" if self.path.endswith(".ipynb") else f"#L{first}-L{last}"
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}{part}"

    def answer(self, file: str) -> str:
        """The cell that is handed in, from the text of the whole file.

        Raises:
            Changed: the file has other lines there.
            ValueError: the table holds a line of the source.
        """
        text = cut(code_of(self.path, file), self.lines)
        found = digest(text)
        if found != self.sha256:
            raise Changed(f"{self.name}: the lines have the checksum {found}, and the table says {self.sha256}")
        ours = {line.strip() for part in (self.glue, self.before, self.after) for line in part.splitlines()}
        if copied := [line for line in map(str.strip, text.split("\n")) if len(line) > SHORT and line in ours]:
            raise ValueError(f"{self.name}: the table holds a line of the source: {copied[0]}")
        for pattern, new in self.replace:
            text, count = re.subn(pattern, new, text, flags=re.MULTILINE)
            if not count:
                raise Changed(f"{self.name}: nothing in the source matches {pattern!r}")
        text = textwrap.indent(text, " " * self.indent)
        return "\n\n".join(
            filter(None, (self.glue.strip(), self.before.strip("\n"), text.strip("\n"), self.after.strip("\n")))
        )


@dataclass(frozen=True)
class Verdict:
    """What became of a source: its points and what was named, or why it was not graded."""

    source: Source
    score: float = 0.0
    most: float = 0.0
    named: tuple[str, ...] = ()
    passed: bool = False
    sentences: tuple[str, ...] = ()
    missing: str = ""

    @property
    def found(self) -> str | tuple[str, ...]:
        """The outcome in the words of the table."""
        return FULL if self.passed else self.named or REFUSED

    @property
    def as_expected(self) -> bool:
        if isinstance(self.source.expect, str) or isinstance(self.found, str):
            return self.found == self.source.expect
        return set(self.source.expect) <= set(self.found)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def code_of(path: str, file: str) -> str:
    """The lines that the table counts: those of the file, or of a notebook's code cells."""
    if not path.endswith(".ipynb"):
        return file
    cells = json.loads(file)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def cut(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    """The lines of each piece, moved to the left, pieces one after another."""
    lines = text.split("\n")
    return "\n".join(textwrap.dedent("\n".join(lines[first - 1 : last])) for first, last in pieces)


def read_table(path: Path = TABLE) -> list[Source]:
    """The sources of a table.

    Raises:
        ValueError: an entry lacks something, or holds something unknown.
    """
    table = tomllib.loads(path.read_text("utf-8"))
    pieces = table.get("glue", {})
    sources = []
    for entry in table["source"]:
        if lacking := KEYS - set(entry):
            raise ValueError(f"{path.name}: {entry.get('name', '?')} lacks {', '.join(sorted(lacking))}")
        if unknown := set(entry) - KEYS - MORE:
            raise ValueError(f"{path.name}: {entry['name']} has unknown keys: {', '.join(sorted(unknown))}")
        glue = "\n\n".join(pieces[each].strip() for each in entry.get("glue", ()))
        expect = entry["expect"] if isinstance(entry["expect"], str) else tuple(entry["expect"])
        made = {
            "glue": glue,
            "expect": expect,
            "lines": tuple((first, last) for first, last in entry["lines"]),
            "replace": tuple((pattern, new) for pattern, new in entry.get("replace", ())),
        }
        sources.append(Source(**{**entry, **made}))
    return sources


def fetch(source: Source, mirror: Path | None) -> str:
    """The text of a source's file at its commit, from a git mirror where one is named, else from GitHub.

    Raises:
        Unavailable: it cannot be had.
    """
    if mirror is None:
        address = RAW.format(repository=source.repository, commit=source.commit, path=source.path)
        try:
            with urllib.request.urlopen(address, timeout=SECONDS) as answer:
                return answer.read().decode("utf-8")
        except (urllib.error.URLError, TimeoutError, OSError) as error:
            raise Unavailable(f"{address}: {error}") from error
    owner, _, name = source.repository.partition("/")
    folders = (mirror / f"{owner}+{name}" / "repo", mirror / owner / name, mirror / owner / f"{name}.git")
    folder = next((each for each in folders if each.is_dir()), None)
    if folder is None:
        raise Unavailable(f"{mirror} has no {source.repository}")
    words = ["git", "-C", str(folder), "show", f"{source.commit}:{source.path}"]
    shown = subprocess.run(words, capture_output=True, check=False)
    if shown.returncode:
        raise Unavailable(shown.stderr.decode("utf-8", "replace").strip() or f"git ended with {shown.returncode}")
    return shown.stdout.decode("utf-8")


def handed_in(release: NotebookNode, exercise: str, answer: str) -> bytes:
    """A lab as a student hands it in: all as released, but for one answer."""
    notebook = copy.deepcopy(release)
    (cell,) = [each for each in notebook.cells if grade_id(each) == f"{exercise}-code" and is_solution(each)]
    cell.source = answer
    return nbformat.writes(notebook).encode("utf-8")


def grade(sources: Sequence[Source], mirror: Path | None, course: Course, seed: int = SEED) -> list[Verdict]:
    """Fetch and grade sources, lab by lab; the verdicts are in the order of the table.

    Raises:
        Changed: a text is not the one that the table names.
    """
    answers: dict[str, str] = {}
    verdicts: dict[str, Verdict] = {}
    for source in sources:
        try:
            answers[source.name] = source.answer(fetch(source, mirror))
        except Unavailable as error:
            verdicts[source.name] = Verdict(source, missing=str(error))
    for lab in dict.fromkeys(source.lab for source in sources if source.name in answers):
        grader = LabGrader(course, lab, seed=seed)
        with Sandbox(grader.limits, preload=preload_of(course, lab)) as sandbox:
            for source in sources:
                if source.lab == lab and source.name in answers:
                    data = handed_in(grader.release, source.exercise, answers[source.name])
                    verdicts[source.name] = _verdict(source, grader, data, sandbox)
                    print(_line(verdicts[source.name]), flush=True)
    return [verdicts[source.name] for source in sources]


def _verdict(source: Source, grader: LabGrader, data: bytes, sandbox: Sandbox) -> Verdict:
    results = {each.exercise: each for each in grader.judge(grader.open_bytes(data), source.name, sandbox).exercises}
    result = results[source.exercise]
    said = (*result.sentences, result.message)
    said += tuple(f"{group.title}: {group.message}" for group in result.groups if not group.passed)
    return Verdict(
        source, result.score, result.max_score, result.misconceptions, result.passed, tuple(filter(None, said))
    )


def words_of(outcome: str | tuple[str, ...]) -> str:
    return outcome if isinstance(outcome, str) else ", ".join(outcome)


def _line(verdict: Verdict) -> str:
    mark = "ok " if verdict.as_expected else "!! "
    points = f"{verdict.score:g}/{verdict.most:g}"
    return f"{mark}{verdict.source.name:<34}{verdict.source.exercise:<30}{points:>9}  {words_of(verdict.found)}"


def markdown(verdicts: Sequence[Verdict]) -> str:
    """The table, one row a source."""
    rows = [
        "| source | licence | lab, exercise | points | the grader says | as expected |",
        "|---|---|---|---|---|---|",
    ]
    for verdict in verdicts:
        source = verdict.source
        pieces = ", ".join(f"{first}–{last}" if first < last else f"{first}" for first, last in source.lines)
        counted = "code lines" if source.path.endswith(".ipynb") else "lines"
        where = f"[{source.repository}]({source.address}), `{source.path}`, {counted} {pieces}"
        number = source.lab.partition("_")[0]
        cells = [where, source.licence, f"{number} `{source.exercise}`"]
        if verdict.missing:
            cells += ["", "not fetched", ""]
        else:
            said = _said(verdict)
            points = f"{verdict.score:g} of {verdict.most:g}" if verdict.most else "optional"
            cells += [points, said, "yes" if verdict.as_expected else "**no**"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _said(verdict: Verdict) -> str:
    found = verdict.found
    said = found if isinstance(found, str) else ", ".join(f"`{each}`" for each in found)
    told = verdict.source.told
    return f"{said}: {told}".replace("|", "\\|") if told else said


def made() -> str:
    """When, from which commit and with what a table was made."""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    today = datetime.datetime.now(datetime.UTC).date()
    versions = ", ".join(f"{name} {version(name)}" for name in ("tensorflow", "keras", "numpy"))
    return f"Made on {today} at commit {commit} of this repository, with {versions}."


def write_page(path: Path, text: str) -> None:
    """Put a text between the marks of a page, or in place of a file that has none."""
    page = path.read_text("utf-8") if path.exists() else ""
    if BEGIN in page and END in page:
        text = f"{page.partition(BEGIN)[0]}{BEGIN}\n{text}{END}{page.partition(END)[2]}"
    path.write_text(text, "utf-8")


def summary(verdicts: Sequence[Verdict]) -> Mapping[str, int]:
    graded = [each for each in verdicts if not each.missing]
    return {
        "sources": len(verdicts),
        "not fetched": len(verdicts) - len(graded),
        "full marks": sum(each.found == FULL for each in graded),
        "refused and named": sum(not isinstance(each.found, str) for each in graded),
        "refused without a name": sum(each.found == REFUSED for each in graded),
        "not as expected": sum(not each.as_expected for each in graded),
    }


def main(words: Sequence[str] | None = None, course: Course | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="a folder of git mirrors, in place of the network")
    parser.add_argument("--table", type=Path, default=TABLE, metavar="FILE", help="another table")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there as Markdown")
    parser.add_argument("--only", metavar="TEXT", help="only sources whose name or repository contains TEXT")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the hidden cases")
    parser.add_argument("--why", action="store_true", help="also print what the student would read")
    given = parser.parse_args(words)
    sources = read_table(given.table)
    if given.only:
        sources = [each for each in sources if given.only in each.name or given.only in each.repository]
    try:
        verdicts = grade(sources, given.mirror, course or load_course(ROOT), given.seed)
    except Changed as error:
        print(error, file=sys.stderr)
        return 1
    for verdict in verdicts:
        if verdict.missing:
            print(f"-- {verdict.source.name:<34}not fetched: {verdict.missing}")
        elif given.why and verdict.found != FULL:
            print(f"\n{verdict.source.name}", *verdict.sentences, sep="\n  ")
    counts = summary(verdicts)
    said = ", ".join(f"{name}: {count}" for name, count in counts.items())
    print(f"\n{said}")
    if given.out:
        write_page(given.out, f"\n{made()} {said.capitalize()}.\n\n{markdown(verdicts)}\n")
    return 1 if counts["not as expected"] else 0


if __name__ == "__main__":
    sys.exit(main())
