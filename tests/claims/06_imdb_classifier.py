"""What lecture 6 says of its numbers. The stored page shows the real reviews."""

from __future__ import annotations

import numpy as np
from claims.page import Page
from scipy.stats import ttest_ind


def claims(page: Page) -> None:
    texts(page)
    model(page)
    brakes(page)
    padding(page)
    verdict(page)
    kept(page)
    givens(page)


def texts(page: Page) -> None:
    valid = page.number("baseline", r"validation ([\d.]+)")
    page.says(
        "On the real reviews this baseline is correct for nine validation reviews in ten", holds=abs(valid - 0.9) < 0.02
    )
    page.says(
        "The strongest entries are the words that you would have chosen;", holds="worst" in page.output("baseline")
    )
    cut, lost = page.numbers("lengths", r"cuts (\d+)% of the reviews and loses (\d+)% of all words")
    page.says("Four in ten of the real reviews are too long", holds=abs(cut - 40) < 3)
    page.says("A row of 200 words cuts {:.0f}% of the reviews and loses {:.0f}% of all words.", cut, lost)
    rows = [[2, 4, 5, 3, 0], [8, 10, 2, 9, 6], [2, 3, 7, 4, 0]]
    shown = page.numbers("by-hand", r"\[ ?(\d+) +(\d+) +(\d+) +(\d+) +(\d+)\]")
    page.says("`2 4 5 3 0` · `8 10 2 9 6` · `2 3 7 4 0`", holds=np.reshape(shown, (3, 5)).tolist() == rows)
    rows = [[2, 1, 3, 0, 0], [1, 0, 0, 0, 0], [2, 4, 5, 3, 8]]
    shown = page.numbers("three-more", r"\[(\d+) +(\d+) +(\d+) +(\d+) +(\d+)\]")
    page.says("`2 4 5 3 8`: four words are cut off.", holds=np.reshape(shown, (3, 5)).tolist() == rows)


def model(page: Page) -> None:
    everything, share = page.numbers("model", r"([\d,]+) parameters, (\d+)%")
    page.says("account for each of its {:,.0f} parameters", everything)
    page.says("640,000 + 6,400 + 10,656 + 660 + 21 = {:,.0f}", everything)
    page.says("| this one: last 200 words, positions, mean | {:,.0f} |", everything)
    page.says(
        "{:.0f} % of the parameters are word vectors; the block that mixes the words has {:.1f} %.",
        share,
        100 * 10_656 / everything,
    )
    sure, half, wrong = page.numbers("entropy-loss", r"loss ([\d.]+)")
    page.says("{:.2f} (−ln 0.9), {:.2f} and {:.2f}.", sure, half, wrong)
    page.says("Guessing costs ln 2 = {:.2f}. Being confident and wrong costs {:.2f}, as much as", half, wrong)


def brakes(page: Page) -> None:
    shown = (
        r"{} +(\d) seeds, lowest held-back loss ([\d.]+) after epoch (\d); at the end ([\d.]+): training ([\d.]+), "
        r"held back ([\d.]+) \(([\d.]+) to ([\d.]+)\)"
    )
    free, long, short = (
        page.numbers("brakes", shown.format(name)) for name in ("no brakes", "brakes, 6 epochs", "brakes, 2 epochs")
    )
    page.says(
        "The held-back loss falls for two epochs, and then rises from {:.2f} to {:.2f}.",
        free[1],
        free[3],
        holds=[free[0] == 3, free[2] == 2, free[4] > 0.99],
    )
    page.says(
        "With brakes it has the same lowest value at the same epoch, and rises to {:.2f}.",
        long[3],
        holds=[abs(long[1] - free[1]) < 0.011, long[2] == free[2]],
    )
    page.says("So the brakes do not prevent overfitting, they slow it.", holds=free[1] < long[3] < free[3])
    film = page.recorded("imdb_by_film")["results"]
    recipe, bare = (
        [100 * film[part][f"{name}; seed {seed}"]["held back"] for seed in range(3)]
        for part, name in (("ladder", "encoder with positions"), ("search", "no hidden words"))
    )
    gains = [with_them - without for with_them, without in zip(recipe, bare, strict=True)]
    page.says(
        "On all reviews, hidden words alone gain {:.1f} to {:.1f} points with three seeds", min(gains), max(gains)
    )
    runs = page.recorded("imdb_controls")["results"]["brakes"]
    second, last = (
        {
            name: np.median([run["val_accuracy"][epoch] for key, run in runs.items() if key.startswith(name)])
            for name in ("no brakes", "brakes, 6 epochs")
        }
        for epoch in (1, -1)
    )
    page.says(
        "After epoch 2 it is {:.3f} without brakes and {:.4f} with them, after six epochs {:.3f} and {:.3f}",
        *second.values(), *last.values(), holds=[abs(last["no brakes"] - free[5]) < 1e-3, long[5] == 0.833],
    )  # fmt: skip
    page.says(
        "The ranges of the final values overlap.",
        holds=max(free[6], long[6], short[6]) <= min(free[7], long[7], short[7]),
    )
    page.says("So after epoch 2 the loss rises, and the accuracy ends no lower.", holds=[
        short[5] < free[5] < long[5], all(second[name] <= last[name] for name in last),
        free[1] < free[3], long[1] < long[3],
    ])  # fmt: skip
    page.says(
        "Brakes slow overfitting; early stopping keeps the weights of the lowest validation loss, and here those of "
        "the last epoch were correct no less often.",
        holds=[free[1] < long[3] < free[3], all(second[name] <= last[name] for name in last)],
    )


def padding(page: Page) -> None:
    same = page.output("padding")
    page.says(
        "For all but (a).",
        holds=[same.count("True") == 1, "attention and mean  same answers whatever the padding: True" in same],
    )
    page.says(
        "In rows of width 200 the accuracy falls from {:.3f} to {:.3f}, and without any mask to {:.3f}.",
        page.number("padding-figure", r"mean only: ([\d.]+) at 40"),
        page.number("padding-figure", r"mean only: .*?([\d.]+) at 200"),
        page.number("padding-figure", r"nowhere: .*?([\d.]+) at 200"),
    )
    page.says(
        "For one negative review the probability of “positive” goes from {:.2f} to {:.2f}.",
        *page.numbers("padding-figure", r"label 0, .* ([\d.]+) at width 40, ([\d.]+) at width 200"),
    )
    page.says(
        "With the mask in attention only, the accuracy hides the error ({:.3f}), and still the answers change.",
        page.number("padding-figure", r"attention only: .*?([\d.]+) at 200"),
    )
    page.says(
        "attention and mean: 0.786 at 40, 0.786 at 200; attention only: 0.786 at 40, {:.3f} at 200;",
        page.number("padding-figure", r"attention only: .*?([\d.]+) at 200"),
    )


def verdict(page: Page) -> None:
    transformer, counted, chance = page.numbers("test", r"Transformer ([\d.]+), words and pairs ([\d.]+).*±([\d.]+)")
    page.says(
        "On the real reviews counting wins by {:.1f} points",
        100 * (counted - transformer),
        holds=counted - transformer > 2 * chance,
    )
    spread = sum(share * (1 - share) for share in (transformer, counted)) / 24_996  # if the reviews were not the same
    page.says("(drawing other reviews: ±{:.1f} at most)", 196 * spread**0.5)
    film = page.recorded("imdb_by_film")["results"]["ladder"]
    tests = {
        name: np.array([film[f"{name}; seed {seed}"]["test"] for seed in range(3)])
        for name in ("mean of embeddings", "encoder without positions", "encoder with positions", "LSTM", "convolution")
    }
    mean = page.numbers("ladder", r"mean of word vectors +([\d.]+)")[0]
    page.says(
        "The mean of word vectors (no block, no positions) is at {:.4f}.",
        mean,
        holds=round(tests["mean of embeddings"].mean(), 4) == mean,
    )
    gain = 100 * (tests["encoder without positions"] - tests["mean of embeddings"])
    page.says(
        "With the encoder block it is {:.1f} points higher on average; three seeds of each are too few to be sure of "
        "that.",
        gain.mean(),
        holds=ttest_ind(tests["encoder without positions"], tests["mean of embeddings"], equal_var=False).pvalue > 0.05,
    )
    signs = np.sign(tests["encoder with positions"] - tests["encoder without positions"])
    page.says("They show no gain from positions", holds=abs(signs.sum()) == 1)
    signs = np.sign(tests["encoder with positions"] - tests["LSTM"])
    page.says("and no difference with an LSTM in place of positions, block and mean.", holds=abs(signs.sum()) == 1)
    page.says(
        "The convolution, which takes the largest value of each feature and has no positions, is behind.",
        holds=tests["convolution"].max() < min(tests[name].min() for name in tests if name != "convolution"),
    )
    words, pairs = (page.numbers("ladder", rf"(?m)^{name} +([\d.]+)")[0] for name in ("words", "words and pairs"))
    page.says(
        "No network reaches the accuracy of single words, {:.3f}, and pairs of words reach {:.3f}.",
        words,
        pairs,
        holds=max(map(np.max, tests.values())) < words,
    )
    record = page.recorded("imdb_classifier")["results"]
    linear = record["linear"]
    alike = np.mean([run["test_accuracy"] for run in record["transformer, 200 words, by file number"].values()])
    pairs_cut, words_cut = (linear[f"{name}, last 200"]["test_accuracy"] for name in ("words and pairs", "words"))
    page.says(
        "But it read whole reviews, and the Transformer only the last 200 words. In another record all read the last "
        "200: there pairs of words win by {:.1f} points and single words by {:.1f} ({:.4f} and {:.4f} against {:.4f}, "
        "the mean of three seeds;",
        *(100 * (counted - alike) for counted in (pairs_cut, words_cut)), pairs_cut, words_cut, alike,
        holds=len(record["transformer, 200 words, by file number"]) == 3,
    )  # fmt: skip
    page.says(
        "Counting, which reads whole reviews, is ahead of every network",
        holds=page.numbers("ladder", r"last 200: ([\d.]+)") == [words_cut, pairs_cut],
    )
    ratio = page.number("rule", r"= (\d+)")
    page.says("on the real reviews it is about 100, and counting wins", holds=abs(ratio - 100) < 10)
    page.says("On the real reviews that is about 100, far below 1,500", holds=ratio < 150)


def kept(page: Page) -> None:
    page.says("Before you build a network, count words: it takes a few lines, and it says what has to be beaten.")
    page.says("Every step from text to ids loses something, and none of them says so.")
    page.says("Cross-entropy is minus the logarithm of the probability of the correct label")
    page.says("Write this test for every model that reads padded rows: add padding, and no answer may change.")
    page.says("If samples ÷ mean length is below 1,500, count pairs of words first")


def givens(page: Page) -> None:
    page.given(
        "constant at 0.001, the mean of the falling one",
        "about 64 minutes to read and predict", "the code runs in about two minutes on two CPU cores",
        because="counted by tests/lecture/test_lectures.py; an estimate",
    )  # fmt: skip
    page.given(
        "25,000 + 25,000 reviews from IMDB, positive (7 stars or more) or negative (4 or fewer)",
        because="cited: Maas et al., 2011",
    )
    page.given(
        "which word it was, if unknown: all become 1, `[UNK]` |",
        "0 is padding |",
        "Number the vocabulary from 2: the most frequent word first, ties in alphabetical order.",
        "(3 times), fox (2), quick (2), then brown , dog , is , jumps , lazy , over (1 each), numbered 2 to 10.",
        "A review of 200 words takes 16 MB as one-hot vectors and 26 kB as vectors of width 32.",
        "(ln 10 ≈ 2.30, ln 2 ≈ 0.69)",
        "as much as 6.6 guesses",
        because="calculated by hand",
    )
    page.given(
        "710 is “7/10”",
        "410 means 4 of 10 stars",
        "Now the reviews, with 20,000 words as in the published model (section 3).",
        "in words, with a dashed line at 200.",
        "We keep the last 200 words of a review",
        "V = 20,000, T = 200, D = 32, two heads of width 32 each, 32 hidden units in the feed-forward network, "
        "20 in the head.",
        "600 words, no positions, maximum over the words, no hidden layer in the head |",
        "this one with an LSTM of 50 units in place of positions, block and mean |",
        'A positive review gets probability 0.9 for "positive", then 0.5, then 0.01.',
        "dropout of 0.1; * a learning rate that falls to 0; * hidden words : in each epoch a new random 30 % of each "
        "review's words",
        "Without brakes the training loss goes to nearly 0.",
        "3,000 training reviews, three seeds each",
        "are cut to their last 40 words",
        "id 0 has a row of the table",
        "Below 1,500, count pairs of words; above, try a model of sequences.",
        "“The model reaches 0.87 on validation”",
        "Training accuracy 0.999 (words and pairs) and 0.90 (Transformer).",
        "And 0.90 was measured while 30 % of the words were hidden",
        "With brakes the training loss is that of reviews of which 30 % of the words are hidden.",
        "(B, D) → (B, 1) |",
        because="a setting, an example, or a number shown in the cell above",
    )
    page.given(
        "there the ratio is about 150, and the Transformer wins, 0.97 to 0.76",
        because="this page, run on the sample",
    )
    page.given(
        "646,400 parameters, encoder block with 10,656, mean with none, head with 660 and 21",
        "650,689",
        "648,353",
        "657,641",
        because="counted by tests/lecture/test_model_sizes.py",
    )
    page.given(
        "0.786 at 40, 0.618 at 200; nowhere: 0.786 at 40, 0.586 at 200.",
        "words and pairs 0.9036; words 0.8898; mean of word vectors 0.8705; … and an encoder block 0.8737; … and "
        "positions: this page 0.8747; LSTM for all three 0.8741; convolution for the block 0.8550.",
        because="the words of a figure, made from what it draws",
    )
