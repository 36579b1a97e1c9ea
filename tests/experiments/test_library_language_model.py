"""The models and measures of lecture 10's experiment, on a fixed copy of some modules of this project."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.long

tf = pytest.importorskip("tensorflow")
ROOT = Path(__file__).resolve().parents[2]
FIXED = ROOT / "tests" / "fixed_library"


@pytest.fixture(scope="module")
def experiment():
    """The experiment's modules, by the last part of their names."""
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        names = ("models", "writing", "copying", "language_model", "counting")
        yield {name: importlib.import_module(f"library_{name}") for name in names}
    finally:
        sys.path.remove(str(ROOT / "experiments"))


@pytest.fixture(scope="module")
def text():
    from coursekit import data
    from coursekit.lecture.pages.byte_pairs import PlainBytePairs

    (train, _), (held_out, _) = data.library_functions(FIXED)
    pairs = PlainBytePairs(train, 60)
    return {"pairs": pairs, "train": train, "held out": held_out, "stream": pairs.stream(train)}


@pytest.fixture
def model(experiment, text):
    import keras

    keras.utils.set_random_seed(3)
    model = experiment["models"].transformer(len(text["pairs"].token_bytes), "a tiny one")
    model(np.zeros((1, 2), "int32"))
    return model


class TestThePagesModel:
    def test_no_token_sees_a_later_one_and_every_token_an_earlier_one(self, model):
        ids = np.arange(14).reshape(2, 7)
        for changed in range(7):
            other = ids.copy()
            other[:, changed] += 90
            apart = np.abs(np.array(model(ids)) - np.array(model(other))).max((0, 2))
            assert (apart[:changed] == 0).all() and (apart[changed:] > 1e-4).all()

    def test_its_size_is_the_sum_of_its_matrices(self):
        from coursekit.lecture.pages.language_model import PlainLanguageModel

        model = PlainLanguageModel(512, 128, 4, 4, 344)
        model(np.zeros((1, 2), "int32"))
        assert model.count_params() == 512 * 128 + 4 * (4 * 128 * 128 + 3 * 128 * 344 + 2 * 128) + 128 == 857_216

    def test_rotary_scores_depend_on_the_distance_alone(self):
        from coursekit.lecture.pages.language_model import rotated

        q, k = np.random.default_rng(0).normal(size=(2, 1, 8)).astype("float32")
        scores = [float((rotated(q, [m]) * rotated(k, [n])).numpy().sum()) for m, n in ((0, 0), (5, 5), (9, 3), (6, 0))]
        np.testing.assert_allclose(scores[0], (q * k).sum(), rtol=1e-5)
        np.testing.assert_allclose(scores[0::2], scores[1::2], rtol=1e-4)

    def test_step_by_step_with_kept_keys_it_gives_the_same_logits(self, experiment, model):
        ids = np.random.default_rng(1).integers(0, 300, size=(3, 20))
        whole, step = np.array(model(ids)), experiment["writing"].CachedSteps(model, 3, 20)
        for time in range(20):
            np.testing.assert_allclose(step(ids[:, time]), whole[:, time], atol=1e-4)

    def test_the_operations_of_a_training(self, experiment):
        """Three times those of the forward pass: two for each product of a number with a number."""
        products = 512 * 128 + 4 * (4 * 128 * 128 + 3 * 128 * 344)
        forward = 2 * products + 4 * 2 * 2 * 256 * 128  # scores, and weights times values
        counted = experiment["models"].operations("the page's model", 857_216, 1000, 256)
        assert counted == pytest.approx(3 * forward * 1000, rel=2e-3)  # the norms' scales multiply, too


class TestTraining:
    @staticmethod
    def noting(seen):
        return lambda *args: seen.append(args)

    def test_it_learns(self, experiment, text):
        from coursekit.lecture.pages import training

        models = experiment["models"]
        build = [
            lambda: models.transformer(len(text["pairs"].token_bytes), "a tiny one"),
            lambda: models.RecurrentModel(len(text["pairs"].token_bytes), 8, 8),
        ]
        for make in build:
            seen: list = []
            _, losses, _ = training.train(
                make, text["stream"], seed=1, steps=12, rate=0.02, watch=self.noting(seen), watch_at=[3, 12]
            )
            assert len(losses) == 12 and np.mean(losses[-3:]) < losses[0] - 0.1 and np.isfinite(losses).all()
            assert [step for _, step, _ in seen] == [3, 12]

    def test_a_model_that_returns_caches_too_learns_live(self, experiment, text, capsys):
        import keras

        from coursekit.lecture.pages import training

        class WithCaches(keras.Model):
            def __init__(self):
                super().__init__()
                self.inner = experiment["models"].transformer(len(text["pairs"].token_bytes), "a tiny one")

            def call(self, ids):
                return self.inner(ids), [ids]

        asked: list = []
        model = training.trained_live(
            WithCaches, text["stream"], steps=3, measure=lambda model: asked.append(model) or 2.5
        )
        assert asked == [model] and "step 3: 2.50 bits a byte" in capsys.readouterr().out

    def test_bits_a_byte_of_equal_shares(self, experiment, text, model):
        """With equal logits every token costs log2 V bits, whatever its length."""
        from coursekit.lecture.pages.training import held_out_bits

        model.table.assign(np.zeros(model.table.shape))
        pairs = text["pairs"]
        stream = text["stream"][: 256 * 3 + 1]
        bits = held_out_bits(model, stream, pairs.token_bytes)
        expected = 768 * np.log2(len(pairs.token_bytes)) / pairs.token_bytes[stream[1:]].sum()
        assert bits == pytest.approx(expected, rel=1e-5)

    def test_low_rank_starts_as_the_frozen_model_and_trains_only_its_own(self, experiment, text, model):
        ids, frozen = np.arange(9)[None], list(model.weights)
        before, whole = np.array(model(ids)), [np.array(weight) for weight in frozen]
        fitted = experiment["language_model"].fitted
        count = fitted(model, text["stream"], "low rank", rate=0.01, steps=1, rank=4, seed=0)
        assert count == 2 * 4 * 4 * 2 * 32  # two blocks, four matrices, rank 4, two sides of 32
        assert np.abs(np.array(model(ids)) - before).max() > 1e-4
        assert all(np.array_equal(one, two) for one, two in zip(whole, frozen, strict=True))
        for block in model.blocks:
            for name in ("w_q", "w_k", "w_v", "w_o"):
                getattr(block.attention, name).lora_kernel_b.assign(np.zeros((4, 32)))
        np.testing.assert_allclose(np.array(model(ids)), before, atol=1e-5)

    @pytest.mark.parametrize("order", [1, 3])
    def test_counted_models_are_distributions(self, text, order):
        from coursekit.lecture.pages.counted import WittenBell

        counted = WittenBell(text["stream"][:500], order, 320)
        for context in ((), (101,), tuple(text["stream"][:5].tolist())):
            assert counted.distribution(context).sum() == pytest.approx(1)
        tokens = text["pairs"].token_bytes
        one, other = (
            counted.bits_per_byte(text["stream"][part], tokens)[-1] for part in (slice(500), slice(500, 1000))
        )
        assert one < other


class TestWriting:
    def test_what_counts_as_python(self, experiment):
        writing = experiment["writing"]

        def judged(body, ended=True, prompt="def f(self, names, most=3):"):
            return writing.judged(writing.Sample(prompt, body, ended, ()))

        assert judged("\n    return names[:most]\n") == writing.Judged(lines=1, bound=1.0, used=1.0)
        body = "\n    for name in names:\n\n        total = len(name) + other\n    return total\n"
        assert judged(body) == writing.Judged(lines=3, bound=0.8, used=0.5)
        assert judged("\n    pass\n") == writing.Judged(lines=1, bound=None, used=0.0)
        assert judged("\n    pass\n", prompt="def f(self):").used is None
        assert judged("\n    return (\n") is None and judged("\n    pass\n", ended=False) is None
        assert judged("\n    pass\nprint()\n") is None  # the function's end, and something else

    def test_it_writes_behind_prompts_and_stops_at_the_end(self, experiment, text, model, monkeypatch):
        writing, pairs = experiment["writing"], text["pairs"]
        monkeypatch.setattr(writing, "LONGEST", 12)
        samples = writing.write(model, pairs, ["def f(x):", "def longer_one(self, other):"], 1.0, 1.0, seed=0)
        assert [sample.prompt for sample in samples] == ["def f(x):", "def longer_one(self, other):"]
        assert all(len(sample.ids) <= 12 and pairs.end_id not in sample.ids for sample in samples)
        again = writing.write(model, pairs, ["def f(x):", "def longer_one(self, other):"], 1.0, 1.0, seed=0)
        assert samples == again
        model.norm.gamma.assign(np.zeros(model.norm.gamma.shape))  # equal logits: greedy takes id 0 for ever
        assert writing.write(model, pairs, ["def f(x):"], 0, 1.0, seed=0)[0].ids == (0,) * 12

    def test_draws_follow_temperature_and_top_p(self, experiment):
        drawn, rng = experiment["writing"].drawn, np.random.default_rng(0)
        logits = np.tile(np.log([0.5, 0.3, 0.15, 0.05]), (20_000, 1))
        for temperature, p, expected in (
            (1, 1, [0.5, 0.3, 0.15, 0.05]),
            (1, 0.79, [5 / 8, 3 / 8, 0, 0]),
            (0, 1, [1, 0, 0, 0]),
        ):
            shares = np.bincount(drawn(logits, temperature, p, rng), minlength=4) / 20_000
            np.testing.assert_allclose(shares, expected, atol=0.02)
        squared = np.array([0.5, 0.3, 0.15, 0.05]) ** 2
        shares = np.bincount(drawn(logits, 0.5, 1, rng), minlength=4) / 20_000
        np.testing.assert_allclose(shares, squared / squared.sum(), atol=0.02)


class TestCopying:
    def test_a_name_is_changed_where_it_stands(self, experiment):
        renamed = experiment["copying"].renamed
        text, spans = renamed("def f(alpha, b):\n    return g(alpha=alpha)  # alpha\n", ["one", "other"])
        assert text == "def f(one, b):\n    return g(alpha=other)  # alpha\n"
        assert [text[begin:end] for begin, end in spans] == ["one", "other"]
        assert renamed("def f(abc):\n    return abc\n", ["one", "other"]) is None  # three letters
        assert renamed("def f(alpha):\n    return 1\n", ["one", "other"]) is None  # once

    def test_the_tokens_of_a_name(self, experiment, text):
        pairs, source = text["pairs"], "def f(alpha, b):\n    return alpha\n"
        changed, spans = experiment["copying"].renamed(source, ["vomeka", "vomeka"])
        ids, places = experiment["copying"]._tokens_of(pairs, changed, spans)
        assert ids[0] == pairs.end_id
        assert [pairs.decode(ids[begin:end]).strip() for begin, end in places] == ["vomeka", "vomeka"]

    def test_scores_of_heads_that_look_everywhere_equally(self, experiment, text, model):
        """With queries of zero, position t has the weight 1 / (t + 1) on every earlier one: the base rate."""
        for block in model.blocks:
            block.attention.w_q.kernel.assign(np.zeros(block.attention.w_q.kernel.shape))
        rows = experiment["copying"].repeated_rows(300, 16, 4, seed=0)
        assert (rows[:, :16] == rows[:, 16:]).all() and rows.max() < 299
        base = np.mean(1 / (np.arange(16, 32) + 1))
        np.testing.assert_allclose(experiment["copying"].induction(model, rows), base, rtol=1e-4)

    def test_a_head_that_is_off_writes_nothing_and_comes_back(self, experiment, model):
        copying, ids = experiment["copying"], np.arange(9)[None]
        before = np.array(model(ids))
        off = copying.without_head(model, 0, 0, lambda: np.array(model(ids)))
        assert np.abs(off - before).max() > 1e-3
        assert np.array_equal(np.array(model(ids)), before)
        model.blocks[0].attention.w_o.kernel.assign(np.zeros((32, 32)))  # the block's only head
        np.testing.assert_allclose(np.array(model(ids)), off, atol=1e-5)

    def test_costs_of_names(self, experiment, text, model):
        copying, pairs = experiment["copying"], text["pairs"]
        costs = copying.name_costs(model, pairs.end_id, copying.with_names(pairs, text["train"], seed=0))
        assert costs["functions"] >= 5 and 10 < costs["first"] < 80
        assert set(costs) == {"functions", "first", "second", "third", "third, new"}

    def test_where_heads_look_at_a_name(self, experiment, text, model):
        """The best head of equal weights has the base rate, and one that looks only at its own token has nothing."""
        copying, end_id = experiment["copying"], text["pairs"].end_id
        named = copying.with_names(text["pairs"], text["train"], seed=0)
        for block in model.blocks:
            block.attention.w_q.kernel.assign(np.zeros((32, 32)))
        scores, base = copying.name_looks(model, end_id, named)
        assert scores.shape == (2, 1) and 0.001 < base < 0.1
        np.testing.assert_allclose(scores, base, rtol=1e-4)
        for block in model.blocks:
            block.attention.w_q.kernel.assign(1e3 * np.eye(32))
            block.attention.w_k.kernel.assign(np.eye(32))
        scores, _ = copying.name_looks(model, end_id, named)
        assert scores[0] < base / 5

    def test_the_control_differs_in_the_first_names_alone(self, experiment, text):
        pairs, named = text["pairs"], experiment["copying"].with_names(text["pairs"], text["train"], seed=0)
        words = {
            kind: [
                [pairs.decode(ids[begin:end]).strip() for begin, end in places]
                for ids, places in zip(functions.rows, functions.spans, strict=True)
            ]
            for kind, functions in named.items()
        }
        for same, other in zip(words["same"], words["other"], strict=True):
            assert len(set(same)) == 1 and len(set(other)) == 3 and same[2] == other[2]

    def test_of_equally_long_parameters_the_same_is_renamed_in_every_run(self, experiment):
        """A set's order changes from run to run; so many sets of two do not all have the same one by chance."""
        pairs = [(f"{letter}alpha", f"{letter}omega") for letter in "abcdefghijklmnop"]
        for first, second in pairs:
            text, _ = experiment["copying"].renamed(f"def f({second}, {first}):\n    return {first}, {second}\n", ["x"])
            assert text.startswith(f"def f(x, {first})")


def _documents(stream, text):
    return np.split(stream, np.flatnonzero(stream == text.pairs.end_id) + 1)


class TestCounting:
    @pytest.fixture
    def held(self, text):
        pairs = text["pairs"]
        few = text["train"][:8]
        return argparse.Namespace(
            pairs=pairs,
            token_bytes=pairs.token_bytes,
            vocab_size=len(pairs.token_bytes),
            train=text["train"][8:],
            held_out=few,
            held_out_modules=["one"] * 4 + ["two"] * 4,
            held_out_stream=pairs.stream(few),
        )

    def test_a_stream_in_another_order_holds_the_same_functions(self, experiment, held):
        in_order = experiment["counting"].in_order
        one, two = (in_order(held, seed) for seed in (1, 2))
        assert not np.array_equal(one, two)
        functions = [sorted(map(bytes, _documents(stream, held))) for stream in (one, two)]
        assert functions[0] == functions[1] and len(functions[0]) == len(held.train) + 1  # nothing behind the last end

    def test_counting_the_judged_text_itself_costs_least(self, experiment, held):
        counted, stream = experiment["counting"].counted, held.pairs.stream(held.train)
        other, same = (counted(held, tokens) for tokens in (stream, held.held_out_stream))
        assert other["tokens"] == len(stream) and len(other["all held-out text"]) == 4
        for way, orders in (("", 4), ("Kneser-Ney, ", 6)):
            assert len(same[f"{way}all held-out text"]) == len(same[f"{way}the page's part"]) == orders
            assert same[f"{way}all held-out text"][-1] < other[f"{way}all held-out text"][-1] / 2

    def test_strings_of_tokens_by_hand(self, experiment):
        strings = experiment["counting"].strings
        one, two = strings(np.arange(10)), strings(np.array([*range(1, 10), 3]))  # 3 and 3 strings, 2 of them in both
        assert len(one) == len(two) == 3 and np.isin(one, two).sum() == 2

    def test_both_texts_of_the_neighbours_have_as_many_tokens(self, experiment, held, monkeypatch):
        counting, streams = experiment["counting"], []

        class Noting(counting.WittenBell):
            def __init__(self, stream, *args):
                streams.append(stream)
                super().__init__(stream, *args)

        monkeypatch.setattr(counting, "WittenBell", Noting)
        found = counting.neighbours(held, seed=1)
        without, beside = ([held.pairs.decode(part) for part in _documents(stream, held)] for stream in streams)
        assert [len(stream) for stream in streams] == [found["tokens"]] * 2 and found["functions"] == 4
        assert not set(without) & set(held.held_out) and len(set(beside) & set(held.held_out)) == 4

    def test_what_a_made_up_name_is_worth(self, experiment, text, held):
        found = experiment["counting"].names(argparse.Namespace(**{**vars(held), "held_out": text["train"]}))
        assert found["nats, equal names"] == pytest.approx(3 * np.log(13 * 5), abs=0.01)
        assert found["nats, equal tokens"] == pytest.approx(found["tokens"] * np.log(held.vocab_size), rel=1e-3)
        assert 2 < found["tokens"] <= 7 and found["functions"] >= 5


class TestRowsThatRepeat:
    def test_knowing_the_tokens_without_their_order(self, monkeypatch):
        from coursekit.lecture.pages import induction

        one = np.array([[3, 3, 5, 7] * 10]), np.array([[4]])  # shares of 1/2, 1/4, 1/4
        monkeypatch.setattr(induction, "repeating", lambda rng, rows: one)
        assert induction.without_order() == pytest.approx(1.5 * np.log(2))
        rows = np.array([[3, 3, 5, 7] * 10, [1, 2] * 20]), np.array([[4], [2]])
        monkeypatch.setattr(induction, "repeating", lambda rng, rows_asked: rows)
        assert induction.without_order() == pytest.approx((35 * 1.5 + 37) * np.log(2) / 72)

    def test_another_kind_of_model_can_be_taught(self):
        from coursekit.lecture.pages import induction

        class Kind(induction.AttentionOnly):
            pass

        model, curve = induction.taught(1, steps=2, seed=0, kind=Kind)
        assert isinstance(model, Kind) and curve.shape == (2, 2)

    def test_each_row_repeats_with_its_own_period(self):
        from coursekit.lecture.pages import induction

        ids, periods = induction.repeating(np.random.default_rng(0), 30)
        assert ids.shape == (30, induction.LENGTH) and len(set(periods[:, 0])) > 5
        for row, period in zip(ids, periods[:, 0], strict=True):
            assert (row[period:] == row[:-period]).all()

    def test_heads_without_queries_look_everywhere_equally(self):
        from coursekit.lecture.pages import induction

        model = induction.AttentionOnly(1)
        model(np.zeros((1, 2), "int32"))
        kernel = model.attentions[0].w_q.kernel
        kernel.assign(np.zeros(kernel.shape))
        _, periods = induction.repeating(np.random.default_rng(1), 64)
        there = np.arange(induction.LENGTH) >= periods
        base = np.broadcast_to(1 / (np.arange(induction.LENGTH) + 1), there.shape)[there].mean()
        for scores in induction.head_scores(model):
            np.testing.assert_allclose(scores, base, rtol=1e-4)
        assert induction.equal_weights() == pytest.approx(base)

    def test_rows_can_all_have_one_period(self):
        from coursekit.lecture.pages import induction

        ids, periods = induction.repeating(np.random.default_rng(0), 5, span=(12, 13))
        assert (periods == 12).all() and (ids[:, 12:] == ids[:, :-12]).all()

    def test_the_periods_asked_for_are_those_that_are_taught(self, monkeypatch):
        from coursekit.lecture.pages import induction

        asked, repeating = [], induction.repeating
        monkeypatch.setattr(
            induction, "repeating", lambda rng, rows=2, span=None: asked.append(span) or repeating(rng, rows, span)
        )
        induction.taught(1, steps=1, seed=0, span=(7, 8))
        assert asked == [(7, 8)] * 2

    def test_a_head_that_is_off_is_missed_only_where_it_writes(self):
        from coursekit.lecture.pages import induction

        model = induction.AttentionOnly(2)
        model(np.zeros((1, 2), "int32"))
        kernel = model.attentions[0].w_o.kernel
        start = np.array(kernel)
        start[: 3 * induction.WIDTH // induction.HEADS] = 0  # the first three of four heads write nothing
        kernel.assign(start)
        whole, off = induction.repeated_loss(model), induction.losses_without(model, 0)
        np.testing.assert_allclose(off[:3], whole, rtol=1e-6)
        assert abs(off[3] - whole) > 1e-3
        np.testing.assert_array_equal(np.array(kernel), start)
