"""The page's evaluator of lines gives NumPy's numbers, and its judge says what the course's judge says of them."""

from __future__ import annotations

import json
import math
import random
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from site_building import ROOT

from autograder.integrations.site.formulas import find_node
from autograder.integrations.site.mistakes_here import (
    BLOCK,
    EDITORS,
    OUTPUT,
    SCORES,
    WEIGHTS,
    Editor,
    compute_answer,
    describe,
    export,
    given_inputs,
    is_judged_here,
    make_inputs,
)
from coursekit.check.judge import Attempt, Judgement, judge
from coursekit.check.lab import load_reference

NODE = find_node()
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")
DRAWN = 400  # expressions
_RUN = """
require(process.argv[1] + "/array_lines.js");
require(process.argv[1] + "/judge_lines.js");
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { CannotJudge, Numbers, Raised, read, run } = arrayLines;
const plain = (each) => each instanceof Numbers
  ? { shape: each.shape, kind: each.kind, data: [...each.data].map(String) } : null;
const tried = (act) => { try { return act(); } catch (error) {
  if (error instanceof Raised) return { raised: error.message };
  if (error instanceof CannotJudge) return { unclear: error.message };
  throw error; } };
const arrays = Object.fromEntries(Object.entries(asked.arrays ?? {}).map(([name, [shape, kind, data]]) =>
  [name, new Numbers(shape, data, kind)]));
const computed = (asked.lines ?? []).map((lines) => tried(() => plain(run(read(lines), arrays).y)));
const told = asked.told && courseMistakes.unpack(asked.told);
const judged = (asked.answers ?? []).map((lines) => courseMistakes.judge(told, lines));
process.stdout.write(JSON.stringify({ computed, judged }));
"""


def in_node(**asked) -> dict:
    assert NODE
    command = [NODE, "-e", _RUN, str(ROOT / "site" / "_static")]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


ARRAYS = {
    "a": np.random.default_rng(1).normal(size=(3, 4)),
    "b": np.random.default_rng(2).normal(size=4),
    "c": np.random.default_rng(3).normal(size=(2, 4, 3)),
    "i": np.arange(-5, 7).reshape(3, 4),
    "m": np.random.default_rng(4).random((3, 4)) > 0.5,
}
WRITTEN = (
    "a @ c",
    "a @ a.T",
    "b @ b",
    "a @ b[:3]",
    "-2 ** 2",
    "2 ** -1",
    "i ** -1",
    "1 / 0",
    "i // 3 + i % 3 - 7 // 2",
    "a[1]",
    "a[-1, ::2]",
    "a[..., None, ::-1]",
    "a[:, np.newaxis]",
    "c[0, 1:, :2]",
    "a[3]",
    "b[0, 0]",
    "c.transpose(2, 0, 1)",
    "c.transpose((1, 0, 2)).reshape(4, -1)",
    "np.transpose(c)",
    "c.mT",
    "np.swapaxes(c, -1, 0)",
    "c.reshape(3, 8)",
    "c.reshape(5, -1)",
    "c.reshape(2, 12 / 2, 2)",
    "c.sum(axis=(0, -1))",
    "c.max(axis=1, keepdims=True)",
    "c.max(axis=3)",
    "a.var(axis=-1, ddof=1)",
    "np.std(a, axis=0)",
    "m.sum(axis=0)",
    "m.mean()",
    "(a > 0).any(axis=1)",
    "~m",
    "~i",
    "~a",
    "-m",
    "m - m",
    "m + m",
    "1 - m",
    "m * a",
    "m & (a > 0) | ~m",
    "a & m",
    "softmax(a)",
    "softmax(c, axis=-1)",
    "softmax(i * 1000, axis=0)",
    "np.exp(i * 1000)",
    "np.where(m, a, -np.inf)",
    "np.where(a, i, 0)",
    "np.einsum('td,bds->bts', a, c)",
    "np.einsum('...d,d->...', c.mT, b)",
    "np.einsum('td,sd->ts', a, b)",
    "np.tri(3, 4, 1, dtype=bool)",
    "np.tril(c[0]) + np.triu(c[1], k=1)",
    "np.eye(4) @ b",
    "np.concatenate([a, a + 1], axis=1)",
    "np.concatenate([a, b], axis=0)",
    "np.stack(np.split(a, 2, axis=-1), axis=1)",
    "np.split(a, 3, axis=1)[0]",
    "np.repeat(a[:, None], 2, axis=1)",
    "np.expand_dims(a, 0).shape[0] * a",
    "math.sqrt(a.shape[-1]) * b",
    "math.sqrt(a)",
    "math.sqrt(-1)",
    "np.maximum(a, 0) + np.minimum(b, 0) + abs(i)",
    "m.astype(float) / len(a)",
    "a.astype(int)",
    "(a + 1e-3 < 1_000 * b) == m",
    "np.ones((2, 3)) @ np.zeros(3)",
    "a.dot(a.T) != 0",
)


def draw(rng: random.Random, depth: int) -> str:
    """An expression of arrays, which may be wrong."""
    if not depth:
        return rng.choice([*ARRAYS, "2", "0.5", "-3", "a.T", "c[0]", "True"])
    one, two = (draw(rng, depth - rng.randint(1, depth)) for _ in range(2))
    return rng.choice(
        (
            f"({one} {rng.choice(['+', '-', '*', '/', '//', '%', '@', '<', '>=', '==', '&', '|'])} {two})",
            f"{rng.choice(['-', '~'])}({one})",
            f"np.{rng.choice(['exp', 'abs', 'square', 'sqrt', 'isnan'])}({one})",
            f"np.{rng.choice(['sum', 'max', 'mean', 'min', 'any', 'all'])}({one}, axis={rng.choice([None, 0, -1, 1])}"
            f"{rng.choice(['', ', keepdims=True'])})",
            f"np.where({one}, {two}, {rng.choice(['0', 'a', 'm'])})",
            f"np.swapaxes({one}, -1, -2)",
            f"softmax({one}, axis={rng.choice([0, -1])})",
            f"np.asarray({one})[{rng.choice(['0', '-1', '..., 0', ':, None', '::-1', '1:'])}]",
        )
    )


def test_every_line_gives_what_numpy_gives_or_fails_where_numpy_fails():
    rng = random.Random(5)
    expressions = [*WRITTEN, *(draw(rng, 4) for _ in range(DRAWN))]
    arrays = {
        name: [value.shape, value.dtype.kind, value.ravel().astype(float).tolist()] for name, value in ARRAYS.items()
    }
    found = in_node(arrays=arrays, lines=[f"y = {each}" for each in expressions])["computed"]
    wrong, kinds = [], {"numbers": 0, "raised": 0}
    for expression, got in zip(expressions, found, strict=True):
        try:
            with np.errstate(all="ignore"):
                scope = {"np": np, "math": math, "softmax": softmax, **ARRAYS}
                expected = np.asarray(eval(expression, scope))  # expressions of this file
        except Exception as error:
            kinds["raised"] += 1
            if "raised" not in got:
                wrong.append((expression, repr(error), got))
            continue
        kinds["numbers"] += 1
        if "data" not in got:
            wrong.append((expression, expected, got))
            continue
        values = np.array([{"Infinity": "inf", "-Infinity": "-inf"}.get(each, each) for each in got["data"]], float)
        same = got["shape"] == list(expected.shape) and got["kind"] == expected.dtype.kind
        near = 1e-3 if expected.dtype == "float16" else 1e-12  # NumPy's powers of truth values
        same = same and np.allclose(values, expected.ravel().astype(float), rtol=near, atol=1e-12, equal_nan=True)
        if not same:
            wrong.append((expression, expected, got))
    assert not wrong, "\n".join(map(str, wrong[:40]))
    assert min(kinds.values()) > 50, kinds


LINES = (
    (
        SCORES,
        "scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])",
        "scores = np.einsum('td,sd->ts', q, k) * k.shape[-1] ** -0.5",
        "scores = q @ k.T",
        "scores = q @ k.T / k.shape[-1]",
        "scores = q @ k.T * math.sqrt(k.shape[-1])",
        "scores = q @ k.T / math.sqrt(v.shape[-1])",
        "scores = q @ k.T / math.sqrt(k.shape[0])",
        "scores = q @ k.T / 8",
        "scores = q @ k / math.sqrt(k.shape[-1])",
        "scores = k @ q.T / math.sqrt(k.shape[-1])",
    ),
    (
        BLOCK,
        "scores[~mask] = -1e30",
        "scores += (1 - mask) * -1e9",
        "scores = np.where(mask, scores, -np.inf)",
        "scores = np.where(~mask, scores, -1e9)",
        "scores = np.where(mask, scores, -10)",
        "scores = scores * mask",
        "scores = scores + mask",
        "scores = scores - 10 * (1 - mask)",
        "scores = np.where(mask.T, scores, -1e9)",
        "# nothing",
    ),
    (
        WEIGHTS,
        "weights = softmax(scores - scores.max(), axis=-1)",
        "e = np.exp(scores - scores.max(axis=-1, keepdims=True)); weights = e / e.sum(axis=-1, keepdims=True)",
        "weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)",
        "weights = softmax(scores)",
        "weights = softmax(scores, axis=0)",
        "weights = scores / scores.sum(axis=-1, keepdims=True)",
        "weights = (scores == scores.max(axis=-1, keepdims=True)) * 1.0",
        "weights = scores",
    ),
    (OUTPUT, "output = np.matmul(weights, v)", "output = weights.T @ v", "weights, output = weights @ v, weights"),
)


RIGHT = [SCORES, BLOCK, WEIGHTS, OUTPUT]


def expected_judgement(editor: Editor, lines: list[str]) -> Judgement:
    """What the course's own judge says of the lines on the cases that the page tries."""
    reference = load_reference(editor.lab)
    cases = [case for case in reference.expectations[editor.exercise] if is_judged_here(case)]
    spec, tried = reference.specs[editor.exercise], {case.group for case in cases}
    spec = replace(spec, groups=tuple(group for group in spec.groups if group.name in tried))
    attempts = []
    for case in cases:
        try:
            attempts.append(Attempt(compute_answer(editor, lines, given_inputs(editor, case))))
        except Exception as error:
            attempts.append(Attempt(kind="error", message=f"{type(error).__name__}: {error}"))
    return judge(spec, cases, attempts)


@pytest.mark.parametrize("editor", EDITORS, ids=lambda editor: editor.exercise)
def test_the_page_judges_as_the_course_does(editor):
    """All lines to begin with, and of attention every line in every other writing, one and two at a time."""
    answers = [list(choice.lines) for choice in editor.choices]
    if editor.exercise == "scaled_dot_product_attention":
        rng = random.Random(6)
        answers += [[*RIGHT[:at], line, *RIGHT[at + 1 :]] for at, others in enumerate(LINES) for line in others]
        answers += [[rng.choice(line) for line in LINES] for _ in range(60)]
    told = describe(editor) | json.loads(export(editor))
    found = in_node(told=told, answers=["\n".join(lines) for lines in answers])["judged"]
    names = set()
    for lines, got in zip(answers, found, strict=True):
        expected = expected_judgement(editor, lines)
        passed = [group.passed for group in expected.groups]
        assert got["status"] == ("right" if all(passed) else "wrong"), (lines, got)
        assert [group["passed"] for group in got["groups"]] == passed, (lines, got)
        assert got.get("id", "") == "".join(expected.misconceptions), (lines, got)
        names.add(got.get("id", ""))
    for choice, got in zip(editor.choices, found, strict=False):
        assert got.get("id", "") == choice.id
    assert len(names) > len(editor.choices) or len(answers) == len(editor.choices)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("weights = attend(q, k)", "`attend` is not known here"),
        ("for row in q: pass", "the word `for`"),
        ("weights = softmax(q @ k.T, axis=1", "is missing at the end"),
        ("weights = np.linalg.norm(q)", "`np.linalg` is not known here"),
        (f"{SCORES}\n{WEIGHTS}", "no line defines `output`"),
        ("output = weights = q", "is not expected here"),
        ("q @ k.T", "a line has the form"),
        ("output = np.ones((10**5, 10**5))", "too large"),
        ("output = " + "(" * 900 + "q" + ")" * 900, "nested too deeply"),
        ("", "nothing is written"),
    ],
)
def test_what_it_cannot_judge_is_said(lines, said):
    (got,) = in_node(told=describe(EDITORS[0]) | json.loads(export(EDITORS[0])), answers=[lines])["judged"]
    assert got["status"] == "unclear" and said in got["message"], got


def test_lines_that_need_a_mask_are_tried_with_masks_only():
    lines = f"{SCORES}\nweights = softmax(np.where(mask, scores, -1e9), axis=-1)\n{OUTPUT}"
    (got,) = in_node(told=describe(EDITORS[0]) | json.loads(export(EDITORS[0])), answers=[lines])["judged"]
    assert got["status"] == "right" and got["reduced"] and len(got["groups"]) == 3


def test_the_map_s_inputs_are_one_sentence():
    inputs = make_inputs()
    assert inputs["q"].shape == (5, 16) and inputs["mask"].sum() == 15
