"""`course similar`: what hides a copy and what does not, and a page on which no text of theirs acts."""

from __future__ import annotations

import json
import pickle
import re
import resource
import time
from pathlib import Path

import numpy as np
import pytest
from hostile.making import LAB, ROOT, answered, as_bytes, solution
from measuring import slowness
from typed_commands import type_command

from autograder.integrations.similarity import comparing
from autograder.integrations.similarity.comparing import (
    GRAM,
    MOST_CHARACTERS,
    Document,
    compare,
    filter_cells,
    make_document,
)
from autograder.read import child

COPIED = '''
def self_attention_loops(x):
    """Mine."""
    rows, width = x.shape[0], x.shape[1]
    collected = []
    for row in range(rows):
        weights = []
        for other in range(rows):
            weights.append(sum(x[row, at] * x[other, at] for at in range(width)))
        largest = max(weights)
        powers = [np.exp(each - largest) for each in weights]
        whole = sum(powers)
        mixture = np.zeros(width)
        for other in range(rows):
            mixture += powers[other] / whole * x[other]
        collected.append(mixture)
    return np.stack(collected)
'''
RENAMED = """
# completely different
def self_attention_loops(x: 'array') -> 'array':
    n, d = x.shape[0], x.shape[1]

    out = []
    for i in range(n):
        s = []   # the scores
        for j in range(n):
            s.append(
                sum(x[i, k] * x[j, k] for k in range(d))
            )
        m = max(s)
        e = [np.exp(v - m) for v in s]
        total = sum(e)
        acc = np.zeros(d)
        for j in range(n):
            acc += e[j] / total * x[j]
        out.append(acc)
    return np.stack(out)
"""
INDEPENDENT = """
def self_attention_loops(x):
    scores = np.empty((len(x), len(x)))
    for i, query in enumerate(x):
        for j, key in enumerate(x):
            scores[i, j] = np.dot(query, key)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=1, keepdims=True)
    result = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(x)):
            result[i] = result[i] + weights[i, j] * x[j]
    return result
"""


NOTHING = filter_cells([], [])


def of(student: str, *sources: str, words: str = "", earlier: bool = False) -> Document:
    return make_document(student, filter_cells(sources, [words]), NOTHING, earlier=earlier)


def likeness(one: str, other: str) -> float:
    return max(
        (max(pair.of_first, pair.of_second) for pair in compare([of("a", one), of("b", other)], pairs=1).pairs),
        default=0,
    )


def test_names_layout_comments_and_annotations_hide_nothing_and_independent_work_is_not_alike():
    assert likeness(COPIED, RENAMED) > 0.9
    assert likeness(COPIED, INDEPENDENT) == 0
    one = "class A:\n    def __init__(self, w):\n        self.w = w\n    def call(self, x): return self.w @ x"
    two = "class B:\n    def __init__(self, key):\n        self.k = key # my\n    def call(self, q): return self.k @ q"
    assert filter_cells([one], []).compared == filter_cells([two], []).compared
    assert filter_cells([one], []).compared != filter_cells([one.replace("@", "*")], []).compared


@pytest.mark.parametrize(
    "source",
    [
        "x = (((",
        "!ls\n%%time\nx = 1",
        "\x00\ud800",
        "a" * 300_000,
        "(" * 90_000,
        "'" * 90_000,
        "@a." * 30_000,
        "f'{" * 30_000,
        " \\\n" * 30_000 + "x",
        "from a import b," * 6_000,
    ],
)
def test_any_cell_is_read_in_seconds_and_is_text_that_can_be_shown(source):
    begun = time.process_time()
    text = filter_cells([source], [source])
    assert (time.process_time() - begun) / slowness() < 10
    assert text.shown.replace("\n", "").isprintable() and len(text.shown) <= MOST_CHARACTERS + 4
    compare([of("ada", source), of("bo", source)], pairs=9)


def test_every_passage_that_is_longer_than_the_bound_is_found():
    rng = np.random.default_rng(1)

    def text(count: int) -> str:
        return "".join(rng.choice(list("+-*/%&|^~<>=.,:;()[]"), count))

    for _ in range(200):
        passage = text(GRAM)
        one, two = (of("a", f"{text(rng.integers(0, 50))}{passage}{text(9)}") for _ in range(2))
        assert len(np.intersect1d(one.numbers, two.numbers))


def test_the_order_of_cells_hides_nothing():
    one, two = COPIED, INDEPENDENT.replace("self_attention_loops", "another")
    found = compare([of("ada", one, two), of("bo", two, RENAMED), of("cyd", INDEPENDENT + "\nprint(1)")], pairs=9)
    best = found.pairs[0]
    assert {best.first.student, best.second.student} == {"ada", "bo"}
    assert best.of_first > 0.95
    assert len(compare([of("ada", one, two), of("bo", two, one)], pairs=9).same) == 1


def test_an_unfinished_cell_hides_no_other_one():
    assert likeness(COPIED, RENAMED) == pytest.approx(
        max(pair.of_first for pair in compare([of("a", COPIED), of("b", 'x = """', RENAMED)], pairs=1).pairs), abs=0.05
    )


def test_answers_in_words_are_compared_whatever_their_letters_and_lines():
    words = "The rows of the softmax sum to one, so each output is a mixture of the values of all positions."
    other = "One divides by the root of the width; else the largest score takes everything and no gradient is left."
    one, two = (
        of("ada", words=f"{words} {words.replace('rows', 'weights')}"),
        of("bo", words=words.upper().replace(" ", "\n")),
    )
    assert [pair.second.student for pair in compare([one, two, of("cyd", words=other)], pairs=9).pairs] == ["bo"]


def test_what_many_write_counts_for_nobody():
    many = [of(f"s{at:02}", COPIED, f"a{at} = {at}") for at in range(11)]
    assert not compare(many, pairs=9).pairs and compare(many, pairs=9).common
    assert len(compare(many, pairs=9, most=11).pairs) == 9


def test_submissions_that_are_the_same_are_told_however_many():
    renamed = COPIED.replace("row", "line").replace("weights", "w").replace('"""Mine."""', '"""Theirs."""  # by hand')
    many = [of(f"s{at:02}", COPIED if at % 2 else renamed) for at in range(14)] + [of("other", INDEPENDENT)]
    found = compare(many, pairs=9)
    assert [[each.student for each in same] for same in found.same] == [[f"s{at:02}" for at in range(14)]]
    assert not compare([of("ada", "x = 1"), of("bo", "x = 1")], pairs=9).same, "what is short is alike by chance"
    before = [of(f"e{at}", COPIED, earlier=True) for at in range(2)]
    assert not compare([*before, of("ada", INDEPENDENT)], pairs=9).same
    assert [len(same) for same in compare([*before, of("ada", renamed)], pairs=9).same] == [3]


def test_what_the_class_shares_does_not_silence_an_earlier_source():
    """Each of many adds lines of their own to one solution of last year; ten others of last year wrote their own."""
    own = [f"a{at} = [np.exp(each * {at}) for each in range({at})]" for at in range(14)]
    many = [of(f"s{at:02}", COPIED, own[at]) for at in range(14)]
    before = [of(f"e{at:02}", INDEPENDENT, earlier=True) for at in range(12)]
    found = compare([*many, of("source", RENAMED, earlier=True), *before], pairs=99)
    assert {(pair.first.student, pair.second.student) for pair in found.pairs} == {
        (f"s{at:02}", "source") for at in range(14)
    }
    assert all(pair.of_second > 0.8 for pair in found.pairs)


def test_earlier_ones_are_not_compared_with_each_other():
    found = compare(
        [of("ada", COPIED), of("x", RENAMED, earlier=True), of("y", RENAMED, earlier=True), of("bo", INDEPENDENT)],
        pairs=9,
    )
    assert [(pair.first.student, pair.second.student) for pair in found.pairs] == [("ada", "x"), ("ada", "y")]


def test_a_passage_that_stands_twice_and_is_no_ones_common_counts():
    """copydetect's own way to leave passages out drops a repeated one."""
    assert likeness(COPIED + COPIED, RENAMED) > 0.9
    common = [of(f"s{at:02}", INDEPENDENT, f"own{at} = {at} * [{at}, np.exp({at})]") for at in range(11)]
    found = compare([*common, of("ada", COPIED + COPIED), of("bo", RENAMED)], pairs=9)
    assert [(pair.first.student, pair.second.student) for pair in found.pairs] == [("ada", "bo")]


ZEROS = "0, " * 11_000  # more signs than grading reads
PADDED = {
    "after it": f"{RENAMED}\nif 0: ({ZEROS})\n",
    "before it": f"if 0:\n    ({ZEROS})\n{RENAMED}",
    "inside it": RENAMED.replace("    out = []", f"    if 0: ({ZEROS})\n    out = []"),
    "with a magic": f"%time 1\n{RENAMED}\n({ZEROS})",
    "with a deep sum": f"{RENAMED}\nspare = " + "+".join("0" for _ in range(15_000)),
    "with more than is read": f"{RENAMED}\n# " + "x" * 300_000,
}


@pytest.mark.parametrize("copy", PADDED.values(), ids=PADDED)
def test_a_copy_that_is_made_too_large_is_found(copy):
    (best,) = compare([of("ada", COPIED), of("bo", copy)], pairs=9).pairs
    assert best.of_first > 0.8  # where something is put in, the passages around it are torn


def test_what_is_left_out_is_said():
    assert filter_cells([PADDED["with more than is read"]], []).cut and filter_cells(["x = 1"] * 40_000, []).cut
    assert not filter_cells([PADDED["inside it"], "x = 1"], ["words"]).cut


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Type `course similar` for lab 02, with pages going to a folder of the test's.

    What is handed in is read in this process: `test_reading_children.py` has that a child reads alike.
    """

    def ask(children, method, *arguments, spent=0.0):
        kind, answer = child._answer(pickle.loads(children._work)[0], method, arguments)
        if kind == "raised":
            raise answer
        return answer

    monkeypatch.setattr(child.Children, "ask", ask)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "500")

    def typed(*words: object) -> tuple[int, str, str]:
        target = tmp_path / "page.html"
        code, said = type_command(monkeypatch, capsys, "similar", LAB, *words, "--out", target)
        return code, said, target.read_text("utf-8") if target.exists() else ""

    return typed


def hand_in(folder: Path, student: str, **codes: str) -> None:
    path = folder / student / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(as_bytes(answered(**codes)))


def test_the_page_shows_the_pair_and_escapes_what_students_write(run, tmp_path):
    evil = "# <script>alert(1)</script><img src=x onerror=alert(2)>\n"
    hand_in(tmp_path / "in", "ada", self_attention_loops=COPIED)
    hand_in(tmp_path / "in", "bo", self_attention_loops=evil + RENAMED.strip().replace("# completely different", ""))
    hand_in(tmp_path / "in", "cyd", self_attention_loops=INDEPENDENT)
    (tmp_path / "in" / "dan").mkdir()
    (tmp_path / "in" / "dan" / f"{LAB}.ipynb").write_text("no notebook")
    code, said, page = run(tmp_path / "in", "--common", "2")
    assert code == 0 and "ada and bo" in said and "Similarity is no proof" in said
    assert "<b>Similarity is no proof.</b>" in page and "dan: The file is not a notebook" in page
    shared = re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL)
    assert any("powers = [np.exp(each - largest) for each in weights]" in passage for passage in shared)
    assert any("e = [np.exp(v - m) for v in s]" in passage for passage in shared)
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;alert(1)" in page
    assert (
        "default-src 'none'" in page
        and "src=" not in page.replace("img src=x", "")
        and "http" not in page.replace("http-equiv", "")
    )


def test_the_labs_own_code_is_left_out(run, tmp_path):
    for student in ("ada", "bo"):
        path = tmp_path / "in" / student / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes((ROOT / "labs" / LAB / f"{LAB}.ipynb").read_bytes())
    code, said, page = run(tmp_path / "in")
    assert code == 0 and "No two submissions share more" in said + page


def test_last_years_copy_in_another_order_is_found(run, tmp_path):
    hand_in(tmp_path / "new", "ada", self_attention_loops=COPIED)
    hand_in(tmp_path / "new", "bo", self_attention_loops=INDEPENDENT)
    notebook = answered(self_attention_loops=RENAMED)
    cell = solution(notebook, "self_attention_loops")
    notebook["cells"].remove(cell)
    notebook["cells"].append(cell)
    old = tmp_path / "old" / "zed" / f"{LAB}.ipynb"
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps(notebook))
    hand_in(tmp_path / "old", "yan", self_attention_loops=COPIED)
    code, said, page = run(tmp_path / "new", "--against", tmp_path / "old", "--common", "3")
    assert code == 0 and "ada and zed (earlier)" in said and "2 earlier ones" in page
    assert "yan (earlier) and zed" not in said and "zed (earlier) and yan" not in said


@pytest.mark.parametrize(("words", "told"), [(("missing.zip",), "no such file"), ((), "Missing argument")])
def test_mistakes_get_a_sentence(run, words, told):
    code, said, _ = run(*words)
    assert code == 2 and told in said


@pytest.mark.long
def test_five_hundred_submissions_take_bounded_time_and_memory(run, tmp_path):
    """One in fifty is written anew by renaming; the rest differ in what they add. The largest cells are 150 kB."""
    for at in range(500):
        extra = "\n".join(f"v{at}_{n} = np.sum(x[{at + n}:] ** {n % 7}) / {at + 2}" for n in range(40))
        code = (
            COPIED if at % 50 == 0 else INDEPENDENT
        ) + f"\n\ndef own(x):\n    {extra.replace(chr(10), chr(10) + '    ')}\n"
        if at % 100 == 7:
            code += "\n".join(f"z{n} = [{n}, {at}]" for n in range(2_000))
        hand_in(tmp_path / "in", f"s{at:03}", self_attention_loops=code)
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    code, said, _ = run(tmp_path / "in")
    seconds = (time.process_time() - begun) / slowness()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"500 submissions: {seconds:.0f} s of computing, {memory / 1024:.0f} MB more than before")
    assert code == 0 and "500 submissions" in said
    assert seconds < 300 and memory < 1024 * 1024


def test_a_submission_that_cannot_be_compared_is_a_line_of_the_page(run, tmp_path, monkeypatch):
    for student in ("ada", "bob", "eve"):
        hand_in(tmp_path / "class", student, project_qkv=f"def project_qkv(x, w_q, w_k, w_v):\n    return '{student}'")

    def failing(student, *some, **settings):
        if student == "eve":
            raise RecursionError("deep")
        return make_document(student, *some, **settings)

    monkeypatch.setattr(comparing, "make_document", failing)
    code, said, page = run(tmp_path / "class")
    assert code == 0 and "1 submissions cannot be read" in said and "eve: it cannot be compared" in page


def test_a_submission_that_is_not_compared_whole_is_a_line_of_the_page(run, tmp_path):
    hand_in(tmp_path / "in", "ada", self_attention_loops=COPIED)
    hand_in(tmp_path / "in", "bo", self_attention_loops=PADDED["with more than is read"].strip())
    code, said, page = run(tmp_path / "in", "--common", "2")
    assert code == 0 and "ada and bo" in said and "1 submissions are not compared whole" in said
    assert "bo: it is so large that a part of it is not compared" in page
