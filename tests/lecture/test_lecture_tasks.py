"""The toy tasks and stacks that lectures 3 to 5 train and measure are what their texts say."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.lecture import memory_task, sorting, stacks, twins, two_questions

pytestmark = pytest.mark.long


def test_a_sorter_gives_scores_and_a_run_begins_where_it_is_told_to():
    model = sorting.sorter(lambda: lambda x: x, depth=1)
    trainer, start = sorting.Trainer(model), model.get_weights()
    inputs = sorting.digits(25)
    first, second = (trainer.run(start, inputs, lambda step: 1e-3) for _ in range(2))
    np.testing.assert_allclose(first[0], second[0], rtol=1e-3)
    assert len(first[0]) == 1 and 0 < first[0][0] < np.log(10) + 0.2
    assert sorting.digits(1).min() == 0 and sorting.digits(1).max() == 9


def test_twins_hold_the_same_words_and_have_opposite_labels():
    ids, labels = twins.pairs(50, seed=3)
    sentences, others = ids[:50], ids[50:]
    assert (np.sort(sentences) == np.sort(others)).all()
    assert (labels[:50] + labels[50:] == 1).all()
    assert ((sentences != others).sum(axis=1) == 2).all()
    first = (sentences == 2).argmax(axis=1) < (sentences == 3).argmax(axis=1)
    assert (labels[:50] == first).all()


def test_the_memory_task_asks_for_the_last_letter():
    ids, letters = memory_task.rows(20, 30, seed=4)
    for row, answers in zip(ids, letters, strict=True):
        for t in range(30):
            shown = [number for number in row[: t + 1] if number > 1]
            assert answers[t] == shown[-1] - 2


@pytest.mark.parametrize("positions", memory_task.METHODS)
def test_a_memory_model_sees_no_later_token_and_a_window_cuts_earlier_ones(positions):
    model = memory_task.model(positions)
    ids, _ = memory_task.rows(1, 20, seed=5)
    changed = ids.copy()
    changed[0, 10] = 1 + changed[0, 10] % 9
    attention = next(layer for layer in model.layers if isinstance(layer, memory_task.CausalAttention))
    for window, last in ((memory_task.TESTED, 19), (5, 14)):
        attention.window = window
        moved = np.abs(np.asarray(model(ids)) - np.asarray(model(changed)))[0].max(axis=-1)  # (T,)
        assert (np.flatnonzero(moved > 1e-6) >= 10).all() and moved[10] > 1e-6
        assert np.flatnonzero(moved > 1e-6).max() <= last


def test_rotary_scores_and_alibi_know_distances_only():
    ids, _ = memory_task.rows(1, 30, seed=6)
    window = 8
    for positions in ("rotary", "ALiBi", "none"):
        model = memory_task.model(positions)
        next(layer for layer in model.layers if isinstance(layer, memory_task.CausalAttention)).window = window
        later = np.concatenate([ids[:, :1]] * 5 + [ids], axis=1)  # the same text, five positions later
        one, other = np.asarray(model(ids))[0, window:], np.asarray(model(later))[0, 5 + window :]
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_the_two_answers_of_a_row_come_from_two_other_rows():
    data = two_questions.tables(40, seed=7)
    rows = np.arange(two_questions.ROWS)
    assert (data.wanted != rows).all() and (data.wanted != (rows - 1) % two_questions.ROWS).all()
    numbers = data.tokens[..., -1]
    assert (np.take_along_axis(numbers, data.wanted, axis=1) == data.answers[..., 1]).all()
    assert (np.roll(numbers, 1, axis=1) == data.answers[..., 0]).all()
    assert (np.take_along_axis(data.names, data.wanted, axis=1) == data.wants).all()
    assert data.tokens.shape == (40, two_questions.ROWS, two_questions.FEATURES)


def test_a_head_and_the_rest_add_up_to_the_answers():
    solver, test = two_questions.Solver(2, 8, seed=0, epochs=1), two_questions.tables(30, seed=8)
    parts = [solver.past_the_attention(test), *(solver.contribution(head, test) for head in range(2))]
    rest = np.asarray(solver.model(test.tokens)) - sum(parts)  # one constant for each answer
    assert np.ptp(rest, axis=(0, 1)).max() < 1e-4
    silent = solver.without(0, test)
    answers = np.asarray(solver.model(test.tokens)) - solver.contribution(0, test)
    np.testing.assert_allclose(silent, two_questions.unexplained(answers, test))


def test_a_stack_without_residual_connections_makes_tokens_alike():
    with_sums, without = (stacks.at_the_start(4, seed=0, residual=residual) for residual in (True, False))
    assert without.cosine[-1] > 0.99 > with_sums.cosine[-1]
    assert len(without.query) == len(without.largest) == 4 and len(without.size) == 5
    assert stacks.mean_cosine(np.ones((1, 3, 2))) == pytest.approx(1)
    bare = {"residual": False, "norm": "none"}
    mixing, alone = (stacks.at_the_start(4, seed=0, parts=part, **bare) for part in ("attention", "network"))
    assert mixing.cosine[-1] > 0.99 > alone.cosine[-1] and alone.query.max() == 0 < mixing.query[0]
    with pytest.raises(ValueError, match='norm is "both"'):
        stacks.at_the_start(1, seed=0, norm="both")
    with pytest.raises(ValueError, match='parts is "heads"'):
        stacks.at_the_start(1, seed=0, parts="heads")
