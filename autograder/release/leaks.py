"""Finds what students must not see in files that they are about to get: solutions, oracles, hidden cases."""

from __future__ import annotations

import ast
import gzip
import html
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import numpy as np

from autograder.course.labs import answers_in_words, is_solution, parse_notebook
from autograder.course.settings import Course
from autograder.declare.declaration import course_files
from autograder.declare.rubrics import rubric_texts

Planned = Mapping[Path, bytes | None]  # files that a release is about to write, or to remove
NOTHING_PLANNED: Planned = {}
_SKIPPED_PARTS = {"__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", "real"}

_MARKS = ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS")
_SHORTEST = min(map(len, _MARKS))
_IMPORT = re.compile(
    r"^\s*(?:(?:from|import)\s+(autograder|solutions)\b|from\s+(exercises)\b[\w.]*\s+import\b|import\s+(exercises)\b)",
    re.MULTILINE,
)
# Lines that say nothing about an answer, however long they are.
_HARMLESS = re.compile(
    r"(from|import)\b.*|(def|class)\b.*|@.*|super\(\).*|self\.(\w+)\s*=\s*\3"
    r"|return \w+|return self\.\w+|(if|elif|for|while|with|except)\b.{,40}:|[\W\d]*|raise\b.*"
)
_LEAST_SOLUTION, _LEAST_ORACLE, _LEAST_PROSE = 16, 40, 40
# Tags that stand within a line, and attributes whose values are text.
_INLINE = {"a", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup"}
_SPOKEN = {"alt", "content", "title"}
# Kinds of files in which nobody looks for lines. What can be read as text is read all the same, whatever its name says.
BINARY = frozenset({
    ".bin", ".eot", ".gif", ".h5", ".hdf5", ".ico", ".index", ".jpeg", ".jpg", ".mp3", ".mp4", ".ogg", ".parquet",
    ".pb", ".pdf", ".png", ".ttf", ".wav", ".webm", ".webp", ".woff", ".woff2",
})  # fmt: skip
_SHARD = re.compile(r"\.data-\d+-of-\d+")  # of a model's parameters
_ENCODED = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_COLOUR = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
_ESCAPED = re.compile(r"\\+([nrt\"'])")
# What stands before a line in a diff, a table, a traceback or a listing: signs, and numbers with a blank behind them.
_BEFORE = re.compile(r"^[^\S\n]*(?:(?:[-+|>*]+|\d+[:.|)\]]?(?=\s))[^\S\n]*)+", re.MULTILINE)


class Unopened(ValueError):
    """An archive that cannot be opened; the text says which."""


def find_leaks(files: Mapping[str, bytes], course: Course, planned: Planned = NOTHING_PLANNED) -> list[str]:
    """What students must not see in `files` (path -> content), one sentence for each place.

    Looked for are whole lines, without regard to white space, comment signs, and what a diff, a table, a listing or a
    terminal adds to them: lines of the solutions that neither a lecture nor the given code of a lab shows, lines of
    oracles and of the code that draws hidden cases, lines of rubrics and of the instructor's own answers in words;
    besides solution markers and imports of `autograder`. `planned` files of the course are taken as they will be.
    """
    leaks = []
    for name, content in files.items():
        try:
            for where, text in _readings(name, content):
                leaks += [f'{where}: holds the marker "{mark}"' for mark in _MARKS if mark in text]
                if found := _IMPORT.search(text):
                    leaks.append(f"{where}: imports {found[found.lastindex or 0]}, which students do not have")
        except Unopened as error:
            leaks.append(str(error))
    return list(dict.fromkeys(leaks + find_secret_lines(files, course, planned)))


def find_secret_lines(files: Mapping[str, bytes], course: Course, planned: Planned = NOTHING_PLANNED) -> list[str]:
    """Return a sentence for each line in `files` that gives an answer away: `find_leaks` without the markers."""
    secrets = secret_lines(course, planned)
    leaks: dict[tuple[str, str], str] = {}
    for name, content in files.items():
        with suppress(Unopened):
            for where, text in _readings(name, content):
                for line in text.splitlines():
                    parts = (line, *re.split("[;|]", line)) if ";" in line or "|" in line else (line,)
                    for part in map(_normal, parts):
                        if part in secrets:
                            said = f"{where}: holds a line of {secrets[part]}: {line.strip()[:80]}"
                            leaks.setdefault((where, part), said)
    return list(leaks.values())


def secret_lines(course: Course, planned: Planned = NOTHING_PLANNED) -> dict[str, str]:
    """Normalised lines that give an answer away -> the file each is from."""
    public: set[str] = set()
    answers: dict[str, str] = {}
    for path, content in read_files(course.lectures, ("*.ipynb",), planned):
        for source, _ in _cells(path, content):
            public |= {_normal(line) for line in source.splitlines()}
    for lab in course.labs:
        for path, content in read_files(course.solutions / lab.name, (f"{lab.name}.ipynb",), planned):
            in_words = _find_own_answers(path, content)
            for source, is_code in _cells(path, content):
                inside, outside = (source.splitlines(), []) if source in in_words else _split_regions(source)
                least = _LEAST_PROSE if source in in_words else _LEAST_SOLUTION
                told = [line for line in inside if _tells(line, least)]
                answers |= {_normal(line): str(path.relative_to(course.root)) for line in told}
                # Given code is public. Text is not taken for public here: an answer spelt out in a task is a leak.
                if is_code:
                    public |= {_normal(line) for line in outside}
    hidden: dict[str, str] = {}
    for path, text in rubric_texts(course):
        told = [line for line in text.splitlines() if _tells(line, _LEAST_PROSE)]
        hidden |= {_normal(line): str(path.relative_to(course.root)) for line in told}
    sources = {path: path.read_text(encoding="utf-8") for path in course_files(course)}
    named = {name: text for source in sources.values() for name, text in _find_named_texts(source).items()}
    for path, source in sources.items():
        for line in (*_function_lines(source), *_edit_lines(source, named)):
            if _tells(line, _LEAST_ORACLE):
                hidden[_normal(line)] = str(path.relative_to(course.root))
    return {line: source for line, source in (hidden | answers).items() if line not in public}


def _tells(line: str, least: int) -> bool:
    return len(_normal(line)) >= least and _HARMLESS.fullmatch(line.strip()) is None


def _normal(line: str) -> str:
    """A line without white space, without comment, quote and list signs around it, and without a comment at its end."""
    return re.sub(r"\s+", "", re.sub(r"\s+#\s.*$", "", line.strip())).strip("#>`\"',;")


def _split_regions(source: str) -> tuple[list[str], list[str]]:
    inside: list[str] = []
    outside: list[str] = []
    target = outside
    for line in source.splitlines():
        if "BEGIN SOLUTION" in line:
            target = inside
        elif "END SOLUTION" in line:
            target = outside
        else:
            target.append(line)
    return inside, outside


def _cells(path: Path, content: bytes) -> Iterator[tuple[str, bool]]:
    for cell in parse_notebook(path, content).cells:
        yield cell.source, cell.cell_type == "code"


def _find_own_answers(path: Path, content: bytes) -> set[str]:
    """Return the instructor's answers in words: students get none of their lines."""
    cells = answers_in_words(parse_notebook(path, content)).values()
    return {cell.source for cell in cells if is_solution(cell) and "BEGIN SOLUTION" not in cell.source}


def _function_lines(source: str) -> Iterator[str]:
    """Lines inside functions, without docstrings: the formulas and the draws, but no sentences for students.

    A line that is nothing but a text handed to a call says what a case tries: students read it in visible cases.
    """
    lines = source.splitlines()
    tree = ast.parse(source)
    said = {
        part.lineno - 1
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and not (isinstance(call.func, ast.Name) and call.func.id == "edit")
        for part in call.args
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.lineno == part.end_lineno
        if lines[part.lineno - 1].strip().rstrip(",") == ast.get_source_segment(source, part)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        body = node.body if isinstance(node.body, list) else [node.body]
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            yield from (lines[n] for n in range(statement.lineno - 1, statement.end_lineno or 0) if n not in said)


def _edit_lines(source: str, named: Mapping[str, str]) -> Iterator[str]:
    """Lines of the edits by which mistakes are declared, ``edit(old, new)``: strings, or names of strings."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "edit":
            for part in (part for text in call.args for part in (text.elts if isinstance(text, ast.Tuple) else [text])):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield from part.value.splitlines()
                elif isinstance(part, ast.Name | ast.Attribute):
                    yield from named.get(ast.unparse(part).rpartition(".")[2], "").splitlines()


def _find_named_texts(source: str) -> dict[str, str]:
    """The strings that a file gives a name."""
    return {
        target.id: node.value.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def files_in(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """The files in a folder, and below it, that match one of the patterns; no links, caches or downloaded data."""
    for pattern in patterns:
        for path in sorted(folder.rglob(pattern)):
            inside = path.relative_to(folder)
            if path.is_file() and not path.is_symlink() and not _SKIPPED_PARTS & set(inside.parts):
                yield path


def read_files(folder: Path, patterns: Iterable[str], planned: Planned) -> Iterator[tuple[Path, bytes]]:
    """The files of a folder with what is in them once the `planned` ones are written."""
    patterns = tuple(patterns)
    for path in files_in(folder, patterns):
        if path not in planned:
            yield path, path.read_bytes()
    for path, content in planned.items():
        if content is not None and path.is_relative_to(folder) and any(map(path.match, patterns)):
            yield path, content


def is_binary(name: str) -> bool:
    """Whether a file of this name is of a kind that has no lines of text."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix in BINARY or _SHARD.fullmatch(suffix) is not None


def _readings(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts in a file with their place: as they are, and without what may stand around their lines."""
    for where, text in _texts(name, content):
        if len(text) < _SHORTEST:
            continue
        cleaned = _ESCAPED.sub(_unescape, html.unescape(_COLOUR.sub("", text)))
        yield from ((where, reading) for reading in dict.fromkeys((text, cleaned, _BEFORE.sub("", cleaned))))


def _unescape(escaped: re.Match[str]) -> str:
    return {"n": "\n", "r": "\n", "t": " "}.get(escaped[1], escaped[1])


def _texts(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """The texts in a file, each with where it is: its name, its lines, strings of JSON, members of archives."""
    last = PurePosixPath(name)
    yield name, f"{last.name}\n{last.stem}"
    if (packed := _members(name, content)) is not None:
        for member, unpacked in packed.items():
            yield from _texts(member, unpacked)
    elif (text := _decode(name, content)) is not None:
        try:
            yield from ((name, found) for found in _strings(json.loads(text)))
        except (ValueError, RecursionError):
            yield name, text
        if name.endswith((".html", ".svg")):
            page = _Text()
            page.feed(text)
            page.close()
            yield name, "".join(page.pieces)


def _members(name: str, content: bytes) -> dict[str, bytes] | None:
    """What is packed in an archive, or stored as text in an array; None for any other file.

    Raises Unopened for an archive in which nobody can look.
    """
    try:
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return {f"{name}/{member}": archive.read(member) for member in archive.namelist()}
        if content.startswith(b"\x1f\x8b"):
            return {name.removesuffix(".gz"): gzip.decompress(content)}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error) as error:
        raise Unopened(f"{name}: cannot be opened ({error}), so nobody knows what it holds; pack it again") from error
    if content.startswith(b"\x93NUMPY"):
        with suppress(ValueError):  # objects, which are pickled: read as text
            array = np.load(io.BytesIO(content), allow_pickle=False)
            texts = "\n".join(array.astype("U").ravel()) if array.dtype.kind in "SU" else ""
            return {name: texts.encode()}
    return None


def _decode(name: str, content: bytes) -> str | None:
    """The text of a file in whichever encoding; None if its kind is binary and it is no text."""
    encoding = next((encoding for mark, encoding in _ENCODED.items() if content.startswith(mark)), "utf-8-sig")
    if encoding == "utf-8-sig" and not is_binary(name):
        content = content.replace(b"\0", b"")  # UTF-16 or UTF-32 without a mark at its beginning
    try:
        return content.decode(encoding)
    except UnicodeError:
        return None if is_binary(name) else content.decode(encoding, "replace")


class _Text(HTMLParser):
    """The text of a page as a reader copies it, coloured code by its lines, and what attributes say."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")
        self.pieces += [f"\n{value}\n" for name, value in attrs if name in _SPOKEN and value]

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value) if any(item.endswith("\n") for item in value) else "\n".join(value)
        else:
            for item in value:
                yield from _strings(item)
    elif isinstance(value, dict):
        yield "\n".join(key for key in map(str, value) if len(key) >= _LEAST_SOLUTION)
        for key, item in value.items():
            if not str(key).startswith("image/") or str(key) == "image/svg+xml":
                yield from _strings(item)
