"""What lecture 6b says of its numbers. The stored page shows the real reviews; sections 2 and 3 are recorded."""

from __future__ import annotations

import numpy as np
from claims.reviews_by_film import by_film

BY_HAND = "calculated by hand on the page"
DEFINED = "chosen or defined, not measured"
CITED = "cited, with its source in the sentence or the references"


def claims(page) -> None:
    results = page.recorded("imdb_classifier")["results"]
    films(page)
    search(page, results)
    finals(page, results)
    by_film(page)
    order(page)
    vectors(page)
    sentences(page)
    attention_and_errors(page)
    calibrated(page)
    givens(page)


def films(page) -> None:
    apart = dict(zip(*[iter(page.numbers("8b9c33fd", r"are +(\d+) apart: ([\d.]+)%"))] * 2, strict=True))
    page.says(
        "Positive reviews that are neighbours share one far more often than reviews that are a thousand files "
        "apart, and beyond "
        "30 files nothing is left of it",
        holds=[apart[1] > 10 * apart[1000], apart[50] <= 1.5 * apart[1000]],
    )
    split = r"negative: film in training +([\d.]+)%, with the other label only +([\d.]+)%; accuracy ([\d.]+)"
    positive = r"positive: film in training +([\d.]+)%, with the other label only +([\d.]+)%; accuracy ([\d.]+)"
    known = {
        name: (page.numbers("f673cb9f", rf"{name} +{split}"), page.numbers("f673cb9f", rf"{name} +{positive}"))
        for name in ("at random", "by file number", "by title")
    }
    both = page.numbers("f673cb9f", r"single words: validation ([\d.]+), test ([\d.]+)")
    gap = dict(zip(known, np.subtract(both[::2], both[1::2]), strict=True))  # validation − test
    page.says(
        "Two thirds, and nearly always the other label only.",
        holds=[
            abs(known["by file number"][0][0] - 66.7) < 3,
            known["by file number"][0][1] > known["by file number"][0][0] - 1,
        ],
    )
    page.says(
        "At random , nearly every film is known, and validation promises {:.1f} points too much.",
        100 * gap["at random"],
        holds=[share[0] > 90 for share in known["at random"]],
    )
    page.says("Validation is {:.1f} points too low", -100 * gap["by file number"])
    negative, other = known["by file number"][0][2], known["by file number"][1][2]
    page.says(
        "the negative reviews are worse than the positive ones by five points",
        holds=round(100 * (other - negative)) == 5,
    )
    page.says(
        "By title , no film is known, and validation and test agree to a tenth of a point.",
        holds=[known["by title"][0][0] == 0, known["by title"][1][0] == 0, abs(gap["by title"]) < 0.0015],
    )
    page.says(
        "{:.0f} to {:.0f} of 100 reviews held back at random have a film that training knows",
        *(int(share[0]) for share in known["at random"]),
    )


def search(page, results) -> None:
    random, number = page.output("73358530").split("held back by file number")
    best = {}
    for name, part in (("random", random), ("number", number)):
        best[name] = {
            tuple(line.split()[:-1]): float(line.split()[-1]) for line in part.splitlines() if " 200 " in line
        }
    ends = {end: best["random"][end, "200", "0.0", "0.001", "stopped", "early"] for end in ("first", "last")}
    page.says("the first 200 words beat the last by {:.3f}.", ends["first"] - ends["last"])
    ends = {end: best["number"][end, "200", "0.5", "0.002", "2,", "rate", "falls"] for end in ("first", "last")}
    exact = {
        end: results["search, by file number"][name]["history"]["val_accuracy"][-1]
        for end, name in (
            ("first", "end first, word_dropout 0.5, learning_rate 0.002, decay_epochs 2"),
            ("last", "word_dropout 0.5, learning_rate 0.002, decay_epochs 2"),
        )
    }
    page.says(
        "all else equal, the last 200 win by {:.3f}.",
        exact["last"] - exact["first"],
        holds=ends["last"] > ends["first"],
    )
    two, three = (best["number"]["last", "200", "0.3", "0.002", epochs, "rate", "falls"] for epochs in ("2,", "3,"))
    page.says(
        "By file number two epochs were ahead of three, which is within chance.",
        holds=0 < two - three < 1.96 * (0.88 * 0.12 / 5000) ** 0.5,
    )
    page.says("Two numbers closer than {:.3f} say little", 1.96 * (0.88 * 0.12 / 5000) ** 0.5)
    promised = max(best["random"].values())
    kept = results["transformer, 200 words, at random"]["seed 0"]["test_accuracy"]
    page.says("The best at random had {:.3f} on validation and {:.3f} on the test split.", promised, kept)
    reached = [run["test_accuracy"] for run in results["transformer, 200 words, by file number"].values()]
    page.says(
        "The best by file number had {:.3f} on validation and {:.3f} on average on test",
        max(best["number"].values()),
        np.mean(reached),
        holds=np.mean(reached) > max(best["number"].values()),
    )


def finals(page, results) -> None:
    names = (
        "Transformer, 200 words, at random",
        "Transformer, 600 words, at random, 20,000 reviews",
        "Transformer, 200 words, by file number",
        "Transformer, 600 words, by file number, 20,000 reviews",
        "Transformer, 600 words, by file number",
        "LSTM, 200 words",
        "published model, one output",
        "linear: words and pairs, last 200",
        "linear: words, last 200",
        "linear: words and pairs, whole review",
        "linear: words, whole review",
    )
    test = {name: page.number("71b99aaa", rf"(?m)^{name} +([\d.]+)(?:  \(|$)") for name in names}
    page.says("; ".join(f"{name} {{:.4f}}" for name in names), *test.values())
    page.says("reach {:.3f} on average over three seeds", test["Transformer, 200 words, by file number"])
    tried = results["linear"]["words and pairs, whole review"]
    size = results["transformer, 600 words, by file number"]["seed 0"]["parameters"]
    page.says(
        "With 600 words ({:,} parameters) they reach {:.3f}", size, test["Transformer, 600 words, by file number"]
    )
    page.says("The LSTM of the same size has {:.3f} in its one run", test["LSTM, 200 words"])
    page.says(
        "The linear model of words and pairs, on whole reviews, has {:.3f} with C = {:.0f}, the largest value tried;",
        test["linear: words and pairs, whole review"],
        tried["c"],
        holds=tried["c"] == max(map(float, tried["validation"])),
    )
    film = page.recorded("imdb_by_film")["results"]["ladder"]["words and pairs"]
    page.says(
        "by film (section 3), where 100 was tried as well, {:.0f} stayed the best.",
        film["c"],
        holds=max(map(float, film["by c"])) == 100 > film["c"] == float(max(film["by c"], key=film["by c"].get)),
    )
    each = page.numbers("71b99aaa", r"published: ([\d,]+) parameters, test accuracy after each epoch ([\d.]+) ([\d.]+)")
    page.says("has {:.3f} after its first epoch and {:.3f} after its second.", *each[1:])
    untrained = page.number("71b99aaa", r"positions not trained: ([\d,]+) parameters")
    page.says(
        "It became a constant, {:,.0f} parameters were missing, and the model trained all the same. The count, "
        "{:,.0f} in place of {:,.0f}, showed it.",
        each[0] - untrained,
        untrained,
        each[0],
    )
    whole, last = test["linear: words and pairs, whole review"], test["linear: words and pairs, last 200"]
    lead = whole - test["Transformer, 200 words, by file number"]
    page.says(
        "the linear model on the last 200 words too: nearly a third of its lead over the Transformer is gone",
        holds=0.26 < (whole - last) / lead < 0.34,
    )


def order(page) -> None:
    right = {
        (model, kind): page.number("f895f186", rf"(?m){model} {kind}: ([\d.]+)$")
        for model in ("Transformer", "LSTM", "words and pairs")
        for kind in ("in order", "shuffled")
    }
    page.says("; ".join(f"{model}, {kind}: {{:.3f}}" for model, kind in right), *right.values())
    inner, mixed = right["Transformer", "in order"], right["Transformer", "shuffled"]
    page.says("it loses nothing : {:.3f} in order, {:.3f} shuffled.", inner, mixed, holds=mixed >= inner - 0.002)
    pairs, bags = right["words and pairs", "in order"], right["words and pairs", "shuffled"]
    page.says(
        "The linear model of words and pairs loses {:.1f} points, from {:.3f} to {:.3f}.",
        100 * (pairs - bags),
        pairs,
        bags,
    )
    page.says("Order is worth {:.1f} points to pairs of words, and nothing to our Transformer.", 100 * (pairs - bags))
    page.says("Shuffled, the two models are equal.", holds=abs(mixed - bags) < 0.003)
    negated = {
        model: page.numbers("df453f08", rf"{model} +with negation ([\d.]+) +without ([\d.]+)")
        for model in ("Transformer", "words and pairs")
    }
    page.says(
        "it does no better than the linear model", holds=negated["Transformer"][0] <= negated["words and pairs"][0]
    )


def vectors(page) -> None:
    start = page.number("1937d451", r"before training: ([\d.]+)")
    lengths = page.numbers("1937d451", r"mean length ([\d.]+)")
    page.says(
        "the lengths are {:.2f}, {:.2f}, {:.2f} and {:.2f}: vectors of words that occur a few times have "
        "grown from {:.2f}, and half as much as those of the most frequent words.",
        *lengths,
        start,
        holds=0.4 < (lengths[0] - start) / (lengths[-1] - start) < 0.6,
    )
    page.says(
        "a neighbour of “superb” is `910`", holds="superb        598 times; nearest: 910" in page.output("1937d451")
    )


def sentences(page) -> None:
    probabilities = page.numbers("a0bf8638", r"(?m)^ +([\d.]+) +[\d.]+ +[\d.]+  ")
    same = [abs(good - bad) < 0.05 for good, bad in zip(probabilities[::2], probabilities[1::2], strict=True)]
    page.says(
        "the small Transformer gives both sentences of most pairs the same probability",
        holds=[sum(same) > len(same) / 2, *(0 <= p <= 1 for p in probabilities)],
    )


def attention_and_errors(page) -> None:
    agreement = page.number("ca3c11db", r"rank correlation (-?[\d.]+)")
    page.says(
        "The words with the longest bars are not in every row those with the most attention.",
        holds=abs(agreement) < 0.5,
    )
    page.given(
        "Effects: the +0.3, actors -0.4, are +0.1, wonderful +1.4, but +0.3, the +0.3, story +0.1, is +0.4, a "
        "+0.3, waste -9.2, "
        "of +0.2, time +0.2",
        because="this is the output itself",
    )
    wrong, reviews = page.numbers("45751898", r"(\d+) of (\d+) wrong")
    cells = page.numbers(
        "45751898",
        r"Negative reviews: (\d+) right, (\d+) called positive. Positive reviews: (\d+) called negative, (\d+) right",
    )
    page.says(
        "{:.0f} right, {:.0f} called positive. Positive reviews: {:.0f} called negative, {:.0f} right.",
        *cells,
        holds=[sum(cells[1:3]) == wrong, sum(cells) == reviews],
    )
    linear, network = page.numbers("0a9e63e7", r"linear ([\d.]+)"), page.numbers("0a9e63e7", r"  p ([\d.]+)")
    page.says(
        "These are the eight mistakes of which the model is surest",
        holds=[0.47 < abs(mine - 0.5) <= 0.5 for mine in network],
    )
    shown = page.output("0a9e63e7")
    ends = ("a tight script", "keep up the good work", "to the next short", "thanks ziba", "a real campy hoot")
    for end in (*ends, "fantastic as always", "isnt in itself bad", "for todays viewing"):
        page.says(end, holds=f"{end}\n" in shown)
    page.says(
        "The linear model has all eight wrong too",
        holds=[len(linear) == 8, *((mine > 0.5) == (its > 0.5) for mine, its in zip(network, linear, strict=True))],
    )
    best = page.numbers("be6c170c", r"test reviews: ([\d.]+) on average")
    page.says("The gain is more than a point, with 2,500 test reviews", holds=best[-1] - best[0] > 0.01)


def calibrated(page) -> None:
    row = r"right ([\d.]+), mean of how sure ([\d.]+), calibration error ([\d.]+);"
    transformer, lstm, strong, weak = np.reshape(page.numbers("1145195f", row), (4, 3))  # right, sure, error
    page.says("Both networks promise too much.", holds=[transformer[1] > transformer[0], lstm[1] > lstm[0]])
    page.says("the Transformer says {:.3f} and is right on {:.3f} of the reviews", transformer[1], transformer[0])
    page.says("the LSTM says {:.3f} and is right on {:.3f}.", lstm[1], lstm[0])
    page.says(
        "Both linear models promise too little, most of all the one with the strong penalty: with C = 1 it says {:.3f} "
        "and is right on {:.3f}.",
        strong[1],
        strong[0],
        holds=[strong[1] < strong[0], weak[1] < weak[0], strong[0] - strong[1] > weak[0] - weak[1]],
    )
    page.says(
        "With C = 10, where only the penalty is changed, the calibration error falls from {:.3f} to {:.3f}.",
        strong[2],
        weak[2],
        holds=weak[2] < strong[2],
    )
    page.says(
        "The linear model with C = 10 is right more often than the Transformer, and has the larger calibration error, "
        "{:.3f} against {:.3f}.",
        weak[2],
        transformer[2],
        holds=[weak[0] > transformer[0], weak[2] > transformer[2]],
    )
    page.says(
        "Calibration errors: Transformer {:.3f}; LSTM {:.3f}; linear, C = 1 {:.3f}; linear, C = 10 {:.3f}",
        *(model[2] for model in (transformer, lstm, strong, weak)),
    )
    page.given("one run of each network, and 2,477 reviews: chance moves an accuracy by ±0.013", because=BY_HAND)
    page.given(
        "A model that says 0.9 should be right nine times out of ten.",
        "the larger of p and 1 − p",
        because="by definition",
    )


def givens(page) -> None:
    page.given(
        "A rare word is one that 2 to 30 training reviews contain",
        "the first 5,000 reviews by file number",
        "negative file 2,000 and positive file 2,000",
        "5,000 reviews are held back by file number, 2,500 or so of each label",
        "The line with the last 200 words, nothing hidden and rate 0.001",
        "with our masks and batches of 64 in place of 32",
        "the learning rate falls to 0 within",
        "for 5,000 reviews, and each setting has one seed",
        "(A film has at most 30 reviews.)",
        "also trained on the 5,000 reviews held back",
        "at the size and the 200 words of the published model",
        "trained on 1,000, 3,000 and 10,000 of the reviews",
        "From 1,000 to 3,000 labels",
        "the step from 10,000 to all 20,179 gain",
        "leaves the weight of a rare one near 0",
        "32 numbers for each",
        "“9/10” without its stroke",
        "The small Transformer reads 200 words",
        "The linear model's penalty keeps the weight of a rare word near 0, and its problem has one solution",
        "20,000 labels are still few for the encoder.",
        "on the same 24,996 test reviews",
        "The networks read the last 200 words",
        "one `Conv1D` over five words and its maximum (Kim, 2014, has three widths)",
        "Three more read 600 words and have one output behind a maximum over the words , dropout 0.5",
        "both trained with seed 2",
        "the networks make more passes, up to 12",
        "With 1,000 labels the encoder has to learn from them what 20,000 words mean.",
        "counted in all 20,179 training texts",
        "words at most 8 places apart",
        "keep 32 dimensions with",
        "The search of section 2 preferred the last 200 words",
        "The last 200 words are ahead of the first 200",
        "600 words and the maximum",
        "with 1,000, 3,000 and 10,000 labels",
        "an id of 0 is masked",
        "batch_size=256",
        because=DEFINED,
    )
    page.given(
        "Wang and Manning (2012) reach 0.912 on this data, and the averaged word vectors of Iyyer et al.",
        "(2015) 0.894",
        "Fine-tuned BERT reaches about 0.94 to 0.95 on this data (Sun et al., 2019)",
        "those with 5 or 6 stars were left out",
        because=CITED,
    )
    page.given(
        "Two models disagree on 80 reviews: 50 to 30.",
        "Your calculation gives 5;",
        "a value of 3.84 or more occurs by chance in fewer than one case of 20",
        "the same 20 reviews of difference came from 2,000 disagreements",
        "$20^2/80 = 5$, above 3.84",
        "$20^2/2000 = 0.2$",
        "“Our model has 0.886 and the baseline 0.882 on 5,000 reviews",
        "Chance moves each of the two by about ±0.009",
        "reports 0.88 against your linear model's 0.87, each on 1,000 test reviews",
        "Chance alone moves each by ±0.02",
        "You have X-rays of 500 patients",
        "Two models disagree on 40 of 10,000 reviews, 28 to 12.",
        "16 reviews, so 0.0016. And $16^2/40 = 6.4$, above 3.84",
        because=BY_HAND,
    )
    page.given(
        "68 minutes to read and predict; on the sample the code runs in about a minute and a half on two CPU cores.",
        because="counted by tests/test_lectures.py",
    )
