"""Real code that lies on every machine: the functions of the standard library of the running Python.

They belong to the Python Software Foundation and come under the PSF licence; nothing is copied into the course.
"""

from __future__ import annotations

import ast
import os
import platform
import sysconfig
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

from coursekit.data.files import DataError, announce

# Folders without code that is worth reading: tests, tables of characters, generated text, other people's packages.
LEFT_OUT = frozenset(
    ("test", "tests", "idle_test", "encodings", "pydoc_data", "idlelib", "lib2to3", "distutils", "ensurepip")
) | {"site-packages", "dist-packages", "__pycache__"}
LEFT_OUT_START = "config-"  # of the folder with the build's settings
ONE_IN = 10  # modules are held out

Part = tuple[list[str], list[str]]


def library_functions(path: str | os.PathLike | None = None) -> tuple[Part, Part]:
    """Load functions and methods: `(train_texts, train_modules), (held_out_texts, held_out_modules)`.

    A text is the source of one function, without decorators, moved to the left margin, with one newline at its end. A
    function inside a function belongs to the text of the outer one. A text that occurs twice counts once; a text with
    characters outside ASCII is left out. Whole modules are held out: those whose name has a CRC-32 that ten divides.
    The sources are parsed, never run.

    Args:
        path: a folder of Python sources; without it, the standard library of the running interpreter.

    Returns:
        Two parts: the texts, and the name of the top module of each, such as "email" for email/header.py.

    Raises:
        DataError: the folder holds no Python sources, as with an interpreter that is embedded or packed into one file.
    """
    folder = Path(path or sysconfig.get_path("stdlib")).expanduser()
    modules: dict[str, str] = {}  # of each text: the first module that has it
    for file in _sources(folder):
        module = file.relative_to(folder).parts[0].removesuffix(".py")
        for text in _functions(file):
            modules.setdefault(text, module)
    if not modules:
        raise DataError(
            f"{folder} holds no Python functions. Some interpreters come without the sources of their library: "
            'embedded ones, programs packed into one file. Name a folder of sources: library_functions(path="…"), or '
            "start the notebook with a Python from python.org, conda or your system's packages."
        )
    parts: tuple[Part, Part] = ([], []), ([], [])
    for text, module in modules.items():
        texts, names = parts[held_out(module)]
        texts.append(text)
        names.append(module)
    whose = f"from {path}" if path else f"Python {platform.python_version()}'s standard library, PSF licence"
    announce("functions", f"real ({whose})", training=len(parts[0][0]), testing=len(parts[1][0]))
    return parts


def held_out(module: str) -> bool:
    """Whether a module is held out; the same on every machine."""
    return zlib.crc32(module.encode()) % ONE_IN == 0


def _sources(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).parts
        if not LEFT_OUT.intersection(parts) and not parts[0].startswith(LEFT_OUT_START):
            yield file


def _functions(file: Path) -> Iterator[str]:
    try:
        source = file.read_text("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old escapes in strings
            tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, ValueError):  # a file that is no module of this Python, such as a template
        return
    lines = source.split("\n")  # as the parser counts them: a form feed ends no line
    for node in _outer_functions(tree):
        margin = lines[node.lineno - 1][: node.col_offset]  # a line of a string may stand further to the left
        text = "\n".join(line.removeprefix(margin) for line in lines[node.lineno - 1 : node.end_lineno]).rstrip() + "\n"
        if text.isascii():
            yield text


def _outer_functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            yield from _outer_functions(node)
