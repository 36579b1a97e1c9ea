"""The generator of the exercises: a stream that is written down here, and draws as they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.generator import Generator

seeds = st.integers(0, 2**64) | st.lists(st.integers(0, 2**32), min_size=1, max_size=4)
shapes = st.integers(0, 5) | st.lists(st.integers(0, 4), max_size=3).map(tuple)


@given(seeds, shapes, st.integers(-(2**40), 2**40), st.integers(1, 2**62))
def test_draws_have_their_shape_and_stay_in_their_range(seed, size, low, span):
    rng = Generator(seed)
    shape = (size,) if isinstance(size, int) else size
    whole = rng.integers(low, low + span, size=size)
    assert whole.shape == shape and whole.dtype == "int64"
    assert ((whole >= low) & (whole < low + span)).all()
    assert (rng.integers(span, size=size) < span).all()
    for values, least, bound in (
        (rng.random(size), 0, 1),
        (rng.uniform(2.0, 5.0, size), 2, 5),
        (rng.normal(size=size), -6, 6),
    ):
        assert values.shape == shape and values.dtype == "float64"
        assert ((values >= least) & (values < bound)).all()


@given(seeds)
def test_without_a_size_one_number_comes(seed):
    rng = Generator(seed)
    for value in (rng.random(), rng.uniform(1, 2), rng.normal(), rng.integers(7), rng.choice(7), rng.choice([1.5, 2])):
        assert np.ndim(value) == 0 and not isinstance(value, np.ndarray)
    assert str(rng.choice(["one"])) == "one"


@given(seeds, st.lists(st.integers(), max_size=8))
def test_a_permutation_keeps_every_entry(seed, entries):
    rng = Generator(seed)
    assert sorted(rng.permutation(len(entries))) == list(range(len(entries)))
    assert sorted(rng.permutation(np.array(entries, object))) == sorted(entries)
    table = np.arange(12).reshape(4, 3)
    assert (np.sort(rng.permuted(table, axis=1), axis=1) == table).all()
    rows = rng.permutation(table)
    assert (rows[np.argsort(rows[:, 0])] == table).all()


@given(seeds, st.integers(1, 9), st.data())
def test_a_choice_without_replacement_has_different_entries(seed, count, data):
    size = data.draw(st.integers(0, count))
    chosen = Generator(seed).choice(count, size=size, replace=False)
    assert len(set(chosen.tolist())) == size and set(chosen.tolist()) <= set(range(count))


def test_what_cannot_be_drawn_is_refused():
    rng = Generator(0)
    for low, high in ((3, 3), (4, 3), (0, 2**63)):
        with pytest.raises(ValueError, match="no integer"):
            rng.integers(low, high)
    with pytest.raises(ValueError, match="5 different entries of 3"):
        rng.choice(3, size=5, replace=False)
    with pytest.raises(TypeError):
        rng.integers(2.5)


def test_the_stream_is_the_one_written_down():
    """On every machine, with every NumPy: these are the bits behind all visible cases, which students have."""
    rng = Generator([20170612, 0, *b"softmax"])
    assert rng.random(2).tolist() == [0.2932317169044587, 0.8385280635604963]
    assert rng.integers(1000, size=4).tolist() == [504, 322, 744, 893]
    assert rng.normal(size=3).tolist() == [0.18980068620294333, 0.04307767981663346, -0.3763210189063102]
    assert rng.permutation(6).tolist() == [3, 0, 4, 2, 5, 1]
    assert rng.choice(list("abc"), size=4).tolist() == ["c", "a", "c", "a"]


def test_draws_are_distributed_as_their_names_say():
    """Fixed seed; bounds of five standard errors."""
    rng, n = Generator(7), 200_000
    normal = rng.normal(size=n)
    assert abs(normal.mean()) < 5 / n**0.5 and abs(normal.var() - 1) < 5 * (2 / n) ** 0.5
    for beyond, share in ((1, 0.3173), (2, 0.0455), (3, 0.0027)):
        assert abs((np.abs(normal) > beyond).mean() - share) < 0.004
    assert abs(rng.random(n).mean() - 0.5) < 5 * (1 / 12 / n) ** 0.5
    counts = np.bincount(rng.integers(7, size=n), minlength=7)
    assert np.abs(counts - n / 7).max() < 5 * (n / 7) ** 0.5
    places = np.array([rng.permutation(5) for _ in range(4000)])
    assert np.abs((places[..., None] == np.arange(5)).mean(axis=0) - 0.2).max() < 5 * (0.16 / 4000) ** 0.5
    assert abs(np.corrcoef(normal[:-1], normal[1:])[0, 1]) < 5 / n**0.5
