"""What lecture 6 says of its numbers. The stored page shows the real reviews."""

from __future__ import annotations

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    assert "real: " in page.output("baseline"), "run without the real reviews: set COURSE_SOURCE=real and COURSE_DATA"
    texts(page)
    model(page)
    brakes(page)
    padding(page)
    verdict(page)
    kept(page)
    givens(page)


def texts(page: Page) -> None:
    sample, valid = page.numbers("baseline", r"entries; validation ([\d.]+)")
    page.says(
        "On IMDB counting is correct for nine validation reviews in ten, and its strongest entries are the words that "
        "you would have chosen;",
        holds=[abs(valid - 0.9) < 0.02, "worst" in page.output("baseline")],
    )
    page.says(
        "In the sample counting fails for every fourth review, although a pair like gripping but holds a "
        "scrap of order.",
        holds=[abs(sample - 0.75) < 0.03, "gripping but" in page.output("baseline")],
    )
    cut = page.number("rows", r"real: .* longer than 200 words (\d+)%")
    page.says("Four in ten of the real reviews are longer than 200 words", holds=abs(cut - 40) < 3)
    shown = np.reshape(page.numbers("by-hand", r"\[ ?(\d+) +(\d+) +(\d+) +(\d+) +(\d+)\]"), (6, 5)).tolist()
    rows = [[2, 4, 5, 3, 0], [8, 10, 2, 9, 6], [2, 3, 7, 4, 0]]
    page.says("`2 4 5 3 0` · `8 10 2 9 6` · `2 3 7 4 0`", holds=shown[:3] == rows)
    rows = [[2, 1, 3, 0, 0], [1, 0, 0, 0, 0], [2, 4, 5, 3, 8]]
    page.says("`2 4 5 3 8`: four words are cut off.", holds=shown[3:] == rows)


def model(page: Page) -> None:
    everything, share = page.numbers("model", r"([\d,]+) parameters, (\d+)%")
    page.says("account for its {:,.0f} parameters", everything)
    page.says("640,000 + 6,400 + 10,656 + 660 + 21 = {:,.0f}", everything)
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
        r"{} +held back: lowest loss ([\d.]+) after epoch (\d), at the end ([\d.]+); accuracy ([\d.]+) after epoch 2, "
        r"([\d.]+) at the end"
    )
    free, slow = (page.numbers("brakes", shown.format(name)) for name in ("no brakes", "brakes, 6 epochs"))
    runs = page.recorded("imdb_controls")["results"]["brakes"]
    bare = [run["loss"] for name, run in runs.items() if name.startswith("no brakes")]
    page.says(
        "The training loss goes on towards 0. The held-back loss turns and rises from {:.2f} to {:.2f}",
        free[0],
        free[2],
        holds=[len(bare) == 3, np.median(bare, axis=0)[-1] < 0.05, free[1] == slow[1] == 2],
    )
    page.says(
        "The held-back accuracy stays: it is {:.3f} after epoch 2, and {:.3f} after epoch 6. (All are medians of three "
        "seeds.)",
        free[3],
        free[4],
        holds=[free[3] < free[4], slow[3] < slow[4]],
    )
    page.says(
        "Brakes slow the rise, to {:.2f}, and do not prevent it; the accuracy ends at {:.3f}.",
        slow[2],
        slow[4],
        holds=slow[0] < slow[2] < free[2],
    )
    late = [
        page.numbers("brakes", rf"{name} .*by seed after epochs (\d) (\d) (\d)") for name in ("6 epochs", "no brakes")
    ]
    page.says(
        "With and without brakes one seed of three has its lowest loss later, after epoch {:.0f} and {:.0f}.",
        *map(max, late),
        holds=[sorted(epochs)[:2] == [2, 2] for epochs in late],
    )
    page.says(
        "held-back loss and held-back accuracy may disagree about it, so choose your measure before you look.",
        holds=[free[0] < free[2], free[3] < free[4]],
    )


def padding(page: Page) -> None:
    same = page.output("padding")
    page.says(
        "For all but (a).",
        holds=[same.count("True") == 1, "attention and mean  same answers whatever the padding: True" in same],
    )
    page.says(
        "In rows of width 200 the accuracy on IMDB falls from {:.3f} to {:.3f}, and without any mask to {:.3f}.",
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
    shown = r"{} +{} +in order ([\d.]+), shuffled ([\d.]+); answers that change ([\d,]+) of ([\d,]+)"
    found = {
        (source, name): page.numbers("test", shown.format(source, name))
        for source in ("sample", "real")
        for name in ("words and pairs", "Transformer")
    }
    sample, imdb = (
        [found[source, name][0] for name in ("words and pairs", "Transformer")] for source in ("sample", "real")
    )
    page.says("| sample | {:.3f} | {:.3f} | Transformer, {:.1f} points |", *sample, 100 * (sample[1] - sample[0]))
    page.says("last 200 words | {:.3f} | {:.3f} | counting, {:.1f} points |", *imdb, 100 * (imdb[0] - imdb[1]))
    record = page.recorded("imdb_classifier")["results"]
    alike = np.mean([run["test_accuracy"] for run in record["transformer, 200 words, by file number"].values()])
    pairs, words = (record["linear"][f"{name}, last 200"]["test_accuracy"] for name in ("words and pairs", "words"))
    gains = [100 * (counted - alike) for counted in (pairs, words)]
    page.says("both read the last 200 words | {:.4f} | {:.4f} | counting, {:.1f} points |", pairs, alike, gains[0])
    page.says(
        "On IMDB counting is ahead, by {:.1f} points where both read the same words.",
        gains[0],
        holds=len(record["transformer, 200 words, by file number"]) == 3,
    )
    page.says("are {:.1f} points ahead there: {:.4f}.", gains[1], words)
    page.says("On equal input counting leads by {:.1f} points with pairs, and by {:.1f} with single words.", *gains)
    page.says("On equal input counting leads by {:.1f} points with pairs and by {:.1f} with single words;", *gains)
    page.says(
        "on our grammar the Transformer is {:.0f} points ahead of words and pairs; on real film reviews counting wins.",
        100 * (sample[1] - sample[0]),
        holds=imdb[0] > imdb[1],
    )
    page.says(
        "In the sample the Transformer is {:.0f} points ahead.",
        100 * (sample[1] - sample[0]),
        holds=sample[1] > sample[0],
    )
    shuffled(page, found)
    ladder(page, words)


def shuffled(page: Page, found: dict) -> None:
    """What is left when the words come in random order, of a text and of a sentence."""
    before, after = found["sample", "Transformer"][:2]
    page.says("In the sample the Transformer falls from {:.3f} to {:.3f}: it had read the order.", before, after)
    counted_after = found["sample", "words and pairs"][1]
    page.says("(Counting falls below that, to {:.3f}: it weighs pairs", counted_after, holds=counted_after < 0.70)
    before, after, changed, tested = found["real", "Transformer"]
    page.says(
        "On IMDB {:.4f} stays {:.4f}, and {:.0f} of {:,.0f} answers change, one in {:.0f}.",
        *(before, after, changed, tested, tested / changed),
        holds=before == after,
    )
    repeated = Page("06b_judging_a_classifier").numbers("order", r"last 200 .* in order +(\d+), only shuffled +(\d+)")
    page.says(
        "with three networks: {:.0f}, {:.0f} and {:.0f} of 4,596 change.", *np.reshape(repeated, (3, 2)).sum(axis=1)
    )
    (cell,) = (cell.id for cell in page.notebook.cells if 'controls["none hidden"]' in cell.source)
    hidden = page.numbers(cell, r"answers that change (\d+) of 4,596")
    page.says(
        "With none hidden they change {:.0f}, {:.0f} and {:.0f} of the 4,596 answers, so the hidden words are not the "
        "reason.",
        *hidden,
        holds=len(hidden) == 3 and max(hidden) < 20,
    )
    before, after = found["real", "words and pairs"][:2]
    ahead = Page("06b_judging_a_classifier").numbers("answers", r"words and pairs ([\d.]+), words ([\d.]+);")
    page.says(
        "pairs lose {:.1f} points when the words are shuffled (their order is worth less than that: single words are "
        "{:.1f} points behind in",
        100 * (before - after),
        100 * (ahead[0] - ahead[1]),
    )
    page.says(
        "On our grammar, where order decides, this network is {:.0f} points ahead of words and pairs; on film reviews, "
        "shuffling all words changes hardly any of its answers, and counting wins.",
        100 * (found["sample", "Transformer"][0] - found["sample", "words and pairs"][0]),
        holds=[changed < 0.01 * tested, before > found["real", "Transformer"][0]],
    )
    said = r"{} +{} +([\d.]+) ([\d.]+) +yours ([\d.]+)"
    counted, read, count_imdb, imdb = (
        page.numbers("twins", said.format(source, name))
        for source in ("sample", "real")
        for name in ("words and pairs", "Transformer")
    )
    page.says(
        "its Transformer is sure: {:.2f} and {:.2f} (counting: {:.2f} and {:.2f}).",
        *read[:2],
        *counted[:2],
        holds=counted[0] > 0.5 > counted[1],
    )
    page.says(
        "On IMDB the Transformer gives {:.2f} twice, and counting prefers the wrong one: {:.2f} and {:.2f}.",
        imdb[0],
        *count_imdb[:2],
        holds=[imdb[0] == imdb[1], count_imdb[0] < count_imdb[1]],
    )
    page.says(
        "A network that is correct on {:.0f} % of the test reviews does not notice which of the two was dull.",
        100 * found["real", "Transformer"][0],
        holds=imdb[0] == imdb[1],
    )
    loaded = page.number("save", r"loaded again: ([\d.]+)")
    page.says(
        "To I expected to be bored, and I was not it says {:.2f} as well.", loaded, holds=loaded == imdb[2] == imdb[0]
    )


def ladder(page: Page, words: float) -> None:
    film = page.recorded("imdb_by_film")["results"]["ladder"]
    tests = {
        name: np.array([film[f"{name}; seed {seed}"]["test"] for seed in range(3)])
        for name in ("mean of embeddings", "encoder without positions", "encoder with positions", "LSTM", "convolution")
    }
    mean = page.number("ladder", r"(?m)^mean of word vectors +([\d.]+)")
    others = [tests[name].mean() for name in tests if name not in ("mean of embeddings", "convolution")]
    page.says("Below the line ({:,} training reviews", page.recorded("imdb_controls")["results"]["split"]["training"])
    page.says(
        "the mean of word vectors, without block and positions, is at {:.4f}. With this recipe the block and the "
        "positions add less than half a point to it, an LSTM in place of all three does so, too, and a convolution in "
        "place of the block is {:.1f} points below it.",
        *(mean, 100 * (tests["mean of embeddings"] - tests["convolution"]).mean()),
        holds=[
            round(tests["mean of embeddings"].mean(), 4) == mean,
            min(others) > mean,
            max(others) - mean < 0.005,
        ],
    )
    page.says(
        "among the networks only the convolution stands apart",
        holds=tests["convolution"].max() < min(tests[name].min() for name in tests if name != "convolution"),
    )


def kept(page: Page) -> None:
    page.says("Count words before you build")
    page.says("Every step from text to ids loses something, and none of them says so.")
    page.says("Cross-entropy is minus the logarithm of the probability of the correct label")
    page.says("Write this test for every model that reads padded rows: add padding, and no answer may change.")
    page.says("Save the text layer with the network")


def givens(page: Page) -> None:
    page.given(
        "about 65 minutes to read and predict", "the code runs in about a minute on two CPU cores",
        because="counted by tests/lecture/test_lectures.py; an estimate",
    )  # fmt: skip
    page.given(
        "The sample has 5,000 short reviews",
        "In six of ten no single word tells the verdict",
        "Four of ten reviews there can be judged by single words",
        "IMDB has 50,000 real reviews, positive (7 stars or more) or negative (4 or fewer)",
        "The copy used here lacks 8 reviews.)",
        because="data/README.md; cited: Maas et al., 2011",
    )
    page.given(
        "which word it was, if unknown: all become 1, `[UNK]` |",
        "0 is padding |",
        "Number the vocabulary from 2: the most frequent word first, ties in alphabetical order.",
        "(3 times), fox (2), quick (2), then brown , dog , is , jumps , lazy , over (1 each), numbered 2 to 10.",
        'The new texts: `2 1 3 0 0`, since "slow" is unknown. `1 0 0 0 0`:',
        "(ln 10 ≈ 2.30, ln 9 ≈ 2.20, ln 2 ≈ 0.69)",
        "as much as 6.6 guesses",
        because="calculated by hand",
    )
    page.given(
        "710 is “7/10”, a rating in the text.",
        "Counting has C = 10 in both worlds.",
        "410 means 4 of 10 stars",
        "Now the reviews, with at most 20,000 ids (two of them are padding and unknown).",
        "We keep the last 200 words",
        "You build the upper one in this section, and the lower one in sections 2 to 5.",
        "The figure of section 1 has the counts (question 1 at the end counts by hand).",
        "V = 20,000, T = 200, D = 32, two heads of width 32 each, 32 hidden units in the feed-forward network, 20 in "
        "the head: count the parameters.",
        'A positive review gets probability 0.9 for "positive", then 0.5, then 0.01.',
        "and hidden words (in each epoch a new 30 % of a review's words become padding)",
        "a learning rate that falls to 0",
        "Recorded runs train on 3,000 real reviews",
        "On training reviews it falls towards 0",
        "are cut to their last 40 words",
        "id 0 has a row of the table",
        "The network's last 200 words stay the last 200; only their order goes.",
        "All models of the next figure read the last 200 words.",
        "Test accuracies of models that read the last 200 words",
        "“The model reaches 0.87 on validation”",
        "(B, D) → (B, 1) |",
        "The ±0.004 of the figure is each model's own.",
        "Is it the training, which hid 30 % of the words?",
        because="a setting, an example, or a number shown in the cell above",
    )
    page.given(
        "646,400 parameters, encoder block with 10,656, mean with none, head with 660 and 21",
        because="counted by tests/lecture/test_model_sizes.py",
    )
    page.given(
        "0.786 at 40, 0.618 at 200; nowhere: 0.786 at 40, 0.586 at 200.",
        "mean of word vectors 0.8705; … and an encoder block 0.8737; … and positions: the Transformer 0.8747; "
        "LSTM for all three 0.8741; convolution for the block 0.8550.",
        "words and pairs 0.8985; words 0.8825; the Transformer 0.8768.",
        "sample, words and pairs 0.760 and 0.614; sample, Transformer 0.972 and 0.729; IMDB, words and pairs 0.906 and "
        "0.879; IMDB, Transformer 0.872 and 0.872.",
        because="the words of a figure, made from what it draws",
    )
