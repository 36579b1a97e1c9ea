"""The functions of the standard library as data: which they are, how they are split, and what goes wrong clearly.

Numbers come from `tests/fixed_library`, a fixed copy of some modules of this project: those of an interpreter's own
library differ from version to version.
"""

from __future__ import annotations

import ast
import itertools
import platform
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from coursekit import data
from coursekit.data.library import held_out
from coursekit.lecture.pages.byte_pairs import BREAK, CHUNK, PlainBytePairs, merged

FIXED = Path(__file__).parents[1] / "fixed_library"
MODULE = '''import os
raise SystemExit("this module was run")

@decorated
def first(x):
    """Two lines.

    And one more.
    """
    def inner():
        return x
    return inner


class Thing:
    async def second(self):
        return 1
\x0c
    def third(self): return "\\d"

    class Deeper:
        if True:
            def fourth(self):
                return (
    2)


def umlaut():
    return "ü"
'''


@pytest.fixture
def folder(tmp_path):
    for name in ("module.py", "copy_of_it.py", "test/module.py", "package/tests/deep.py", "encodings/table.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MODULE if "/" not in name else f"def in_{Path(name).stem}():\n    pass\n", "utf-8")
    (tmp_path / "broken.py").write_text("def no(:\n")
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe4\n")
    return tmp_path


class TestFunctions:
    def test_outer_functions_and_methods_at_the_margin_each_once(self, folder, capsys):
        parts = data.library_functions(folder)
        texts = parts[0][0] + parts[1][0]
        assert [text.split("(")[0].split()[-1] for text in texts] == ["first", "second", "third", "fourth"]
        assert texts[0].startswith("def first(x):") and "    def inner():\n        return x\n" in texts[0]
        assert texts[2] == 'def third(self): return "\\d"\n'
        assert all(text.endswith("\n") and not text.endswith("\n\n") and text.isascii() for text in texts)
        assert set(parts[0][1] + parts[1][1]) == {"copy_of_it"}  # the first module that has the text
        assert capsys.readouterr().out.startswith(f"functions: real (from {folder}): ")

    def test_whole_modules_are_held_out(self):
        (train, train_modules), (test, test_modules) = data.library_functions(FIXED)
        assert (len(train), len(test)) == (36, 6) and set(test_modules) == {"packing"}
        assert set(train_modules) == {"dates", "live", "plain", "statements"}
        assert not set(train) & set(test)
        assert [name for name in ("copy", "email", "gzip", "json") if held_out(name)] == ["copy", "gzip"]

    def test_a_folder_without_sources(self, tmp_path):
        with pytest.raises(data.DataError, match=r"holds no Python functions.*path=\"…\""):
            data.library_functions(tmp_path)
        with pytest.raises(data.DataError, match="holds no Python functions"):
            data.library_functions(tmp_path / "not there")

    @pytest.mark.long
    @pytest.mark.skipif(not Path(sysconfig.get_path("stdlib"), "ast.py").is_file(), reason="a library without sources")
    def test_the_running_interpreters_own_library(self, capsys):
        (train, train_modules), (test, test_modules) = data.library_functions()
        line = capsys.readouterr().out
        assert f"Python {platform.python_version()}'s standard library, PSF licence" in line
        assert len(train) > 5_000 and len(test) > 400 and len(train) == len(train_modules)
        assert not set(train_modules) & set(test_modules)
        assert not {"test", "encodings", "idlelib", "site-packages"} & set(train_modules + test_modules)
        parsed = [ast.parse(text).body for text in test]
        assert all(len(body) == 1 and isinstance(body[0], ast.FunctionDef | ast.AsyncFunctionDef) for body in parsed)


class TestBytePairs:
    def test_merges_run_from_left_to_right_and_overlaps_merge_once(self):
        for text, expected in {"aaa": [256, 97], "aaaa": [256, 256], "baaab": [98, 256, 97, 98]}.items():
            ids, kept = merged(np.array([*text.encode(), BREAK]), (97, 97), 256)
            assert ids.tolist() == [*expected, BREAK] and kept.sum() == len(ids)

    def test_self_set_self_by_hand(self):
        assert PlainBytePairs(["self.set.self"], 4).pieces[256:] == [b"se", b"lf", b"self", b"set"]

    def test_every_text_comes_back(self):
        (train, _), (test, _) = data.library_functions(FIXED)
        pairs = PlainBytePairs(train, 100)
        for text, ids in zip(test, pairs.encode(test), strict=True):
            assert pairs.decode([*ids, pairs.end_id]) == text
            assert pairs.token_bytes[ids].sum() == len(text.encode())
        assert pairs.decode(pairs.encode(["naïve €"])[0]) == "naïve €"
        assert pairs.decode([0xFF]) == "\N{REPLACEMENT CHARACTER}"
        stream = pairs.stream(test)
        assert (stream == pairs.end_id).sum() == len(test) and stream[-1] == pairs.end_id

    def test_it_merges_as_the_definition_says(self):
        """Against the definition, written down without arrays: the most frequent pair, of equals the smaller one."""
        (train, _), _ = data.library_functions(FIXED)
        chunks = [list(chunk.encode()) for text in train[:12] for chunk in CHUNK.findall(text)]
        pairs = PlainBytePairs(train[:12], 30)
        for rank, merge in enumerate(pairs.merges):
            counts: dict[tuple[int, int], int] = {}
            for chunk in chunks:
                for pair in itertools.pairwise(chunk):
                    counts[pair] = counts.get(pair, 0) + 1
            assert merge == min(counts, key=lambda pair: (-counts[pair], pair))
            for chunk in chunks:
                place = 0
                while place < len(chunk) - 1:
                    if tuple(chunk[place : place + 2]) == merge:
                        chunk[place : place + 2] = [256 + rank]
                    place += 1
