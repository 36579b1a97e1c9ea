"""The interval of a difference between two recipes, of lecture 6b."""

from __future__ import annotations

import numpy as np


def difference_interval(first, second, films, draws=4_000, same_networks=False):
    """Difference of two recipes, correct (seeds, N) each, and its 95 % interval: films and seeds drawn again."""
    rng = np.random.default_rng(0)
    count = films.max() + 1
    weight = rng.multinomial(count, np.full(count, 1 / count), size=draws)  # how often each film is drawn
    reviews = weight @ np.bincount(films, minlength=count)  # reviews of each draw, (draws,)

    def accuracies(answers, seeds):  # of one recipe: (draws,); seeds (draws, n) says which networks each draw takes
        by_film = np.array([np.bincount(films, run, minlength=count) for run in answers])  # correct answers, (n, films)
        drawn_correct = weight @ by_film.T  # correct answers of each network in each draw of films, (draws, n)
        return np.take_along_axis(drawn_correct, seeds, axis=1).mean(axis=1) / reviews  # the networks that were drawn

    drawn = [rng.integers(len(runs), size=(draws, len(runs))) for runs in (first, second)]
    if same_networks:  # the same networks with two kinds of input, or equal seeds: they are drawn together
        drawn[1] = drawn[0]
    low, high = np.quantile(accuracies(first, drawn[0]) - accuracies(second, drawn[1]), [0.025, 0.975])
    return first.mean() - second.mean(), low, high
