"""Results that are no answers."""

from __future__ import annotations

from textwrap import dedent

from hostile.kinds import returning
from hostile.making import Hostile, answered, made

_FAILED = ("graded", "error")

RESULTS = [
    returning("nan", "NaN everywhere", "np.full(x.shape, np.nan, 'float32')"),
    returning("infinite", "infinity everywhere", "np.full(x.shape, np.inf, 'float32')"),
    returning("object-array", "an array of objects", "np.full(x.shape, object())", _FAILED),
    returning("complex", "complex numbers", "np.asarray(x) + 0j", _FAILED),
    returning("structured", "a structured array", "np.zeros(x.shape, [('a', 'f4'), ('b', 'f4')])", _FAILED),
    returning("masked-array", "a masked array that hides every value",
               "np.ma.masked_all(x.shape, 'float32')", _FAILED),
    returning("huge-view", "a view of one number with a billion billion entries",
               "np.broadcast_to(np.float32(0), (1 << 30, 1 << 30))", ("graded", "error", "crashed")),
    returning("large-array", "thirty megabytes of the wrong shape", "np.zeros(7_500_000, 'float32')"),
    returning("many-axes", "an array with thirty axes", "np.zeros((1,) * 30, 'float32')"),
    returning("empty-array", "an array without entries", "np.zeros((0, 7), 'float32')"),
    returning("generator", "a generator", "(row for row in x)", _FAILED),
    returning("iterates-for-ever", "an array-like that never ends", "iter(int, 1)", _FAILED),
    returning("self-containing", "a list that holds itself", "(lambda a: a.append(a) or a)([])", _FAILED),
    returning("deep-list", "lists nested a hundred thousand deep",
               "[a := 0, [a := [a] for _ in range(100_000)], a][2]", ("graded", "error", "crashed")),
    returning("long-text", "a text of a hundred megabytes", "'x' * 100_000_000", _FAILED),
    returning("nothing", "nothing", "None", _FAILED),
    returning("dates", "dates", "np.zeros(x.shape, 'datetime64[s]')", _FAILED),
    returning("ragged", "a ragged tensor", "tf.ragged.constant([[1.0], [1.0, 2.0]])", _FAILED),
    returning("a-million-results", "a tuple of a million results", "(x,) * 1_000_000", ("graded", "error", "timeout")),
    Hostile("number-tricks", "counts as a huge number, a bool, NaN and a number that equals all others",
            made(answered(attention_cost=dedent("""
                class Equal(int):
                    def __eq__(self, other): return True
                    def __sub__(self, other): return 0
                    __rsub__ = __sub__
                    __hash__ = int.__hash__
                count = 0
                def attention_cost(length, d_model):
                    global count
                    count += 1
                    return {"multiply_adds": [10**5000, True, float("nan"), Equal(1)][count % 4],
                            "weights_entries": Equal(1)}
            """).strip())), {"attention_cost": _FAILED}),
    Hostile("many-things", "lists of tens of thousands of things in the place of numbers",
            made(answered(attention_cost=dedent("""
                def attention_cost(length, d_model):
                    return {"multiply_adds": [None, "a"] * 20_000, "weights_entries": ["b"] * 40_000}
            """).strip())), {"attention_cost": _FAILED}),
    Hostile("answers-tricks", "answers that agree with every key, and poisoned values",
            made(answered(answers=dedent("""
                class Everything(dict):
                    def __getitem__(self, key): return np.nan
                    def __contains__(self, key): return True
                answers = Everything()
            """).strip())), {"answers": _FAILED}),
    Hostile("answers-list", "letters and too many numbers as the answer",
            made(answered(answers='answers = {"key_row": "ten 19 8", "scaled_scores": [[21, 20]] * 9, '
                          '"weights": "abcd"}')), {"answers": _FAILED}),
]  # fmt: skip
