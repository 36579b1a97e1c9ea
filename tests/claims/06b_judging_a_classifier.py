"""What lecture 6b says of its numbers. The stored page shows the real reviews; sections 2 and 3 are recorded."""

from __future__ import annotations

import re

import numpy as np

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


ENCODER, MEAN = "encoder with positions", "mean of embeddings"
MAXIMUM = "encoder, 600 words, maximum over words"


def by_film(page) -> None:
    film = page.recorded("imdb_by_film")["results"]
    page.says(
        "the exact test of 50 to 30 says that a fair coin does this, or something rarer, in {:.1f} % of all cases",
        100 * page.number("byfilm6b", r"50 to 30: p = ([\d.]+)"),
    )
    held = page.number("byfilm6b", r"held back ([\d,]+) of")
    page.says("{:,.0f} reviews are held back, and each setting has three seeds.", held)
    recipe = {part: runs(film, "ladder", ENCODER, part) for part in ("held back", "test")}
    page.says(
        "has {:.3f} on the reviews held back and {:.3f} on test, both on average over three seeds.",
        recipe["held back"].mean(),
        recipe["test"].mean(),
    )
    searched(page, film, recipe["held back"])
    ladder(page, film, recipe["test"])
    duels(page, film, recipe["test"])
    labels(page, film)
    starts(page)


def runs(film, group, name, part) -> np.ndarray:
    """Accuracies (3,) of a network, seed by seed."""
    return np.array([film[group][f"{name}; seed {seed}"][part] for seed in range(3)])


def tests(page, output, part, first, second) -> np.ndarray:
    """(seeds, 3): reviews that only the first gets right, that only the second gets right, and p."""
    block = page.output(output).partition(f"{part}: reviews that only “{first}” gets right")[2]
    row = re.search(rf"(?m)^  {second}  .*$", block)
    assert row, f"{output}: no line of {second}"
    found = re.findall(r"([\d,]+) +([\d,]+) \(p ([\d.e+-]+)", row[0][len(second) + 2 :])
    return np.array([[float(value.replace(",", "")) for value in each] for each in found])


def searched(page, film, recipe) -> None:
    p = {
        name: tests(page, "search6b", "held back", ENCODER, name)[:, 2]
        for name in ("first 200 words", "no hidden words", "maximum for the mean")
    }
    lost = 100 * (recipe - runs(film, "search", "first 200 words", "held back"))
    page.says("with each of the three seeds, by {:.1f} to {:.1f} points.", lost.min(), lost.max(), holds=lost.min() > 0)
    page.says("But only one of the three tests has a $p$ below 0.05.", holds=np.sum(p["first 200 words"] < 0.05) == 1)
    maximum = runs(film, "search", "maximum for the mean", "held back")
    page.says(
        "no test has a $p$ below 0.1, and the maximum is ahead of the mean with one of the seeds.",
        holds=[
            *(p["no hidden words"] > 0.1),
            *(p["maximum for the mean"] > 0.1),
            np.sum(maximum > recipe) == 1,
        ],
    )


def ladder(page, film, recipe) -> None:
    means = {
        name: page.number("ladder6b", rf"(?m)^{name} +[\d,]+ +[\d. ]+?   ([\d.]+) +\d+$")
        for name in (
            "words", "words and pairs", "NBSVM", "convolution", MEAN, "encoder without positions", "LSTM", ENCODER,
            MAXIMUM, "encoder, 600 words, maximum with padding", "LSTM twin, 600 words, maximum over words",
        )
    }  # fmt: skip
    page.says("; ".join(f"{name} {{:.4f}}" for name in means), *means.values())
    means[MEAN] = runs(film, "ladder", MEAN, "test").mean()  # to more than four places
    page.says(
        "The four other networks of 200 words lie between {:.3f} and {:.3f}, the mean of embeddings at {:.3f}.",
        min(means[name] for name in ("convolution", "encoder without positions", "LSTM", ENCODER)),
        max(means[name] for name in ("convolution", "encoder without positions", "LSTM", ENCODER)),
        means[MEAN],
    )
    networks = [value for name, value in means.items() if name not in ("words", "words and pairs", "NBSVM")]
    page.says(
        "No network beats the mean of embeddings by more than a point, and none beats single words.",
        holds=[max(networks) < means["words"], max(networks) - means[MEAN] < 0.01],
    )
    seconds = {
        name: page.number("ladder6b", rf"(?m)^{name} +[\d,]+ +[\d. ]+?   [\d.]+ +(\d+)$") for name in ("words", ENCODER)
    }
    page.says(
        "The linear model of single words has {:.3f} and takes a third of the encoder's time",
        means["words"],
        holds=0.25 < seconds["words"] / seconds[ENCODER] < 0.4,
    )
    page.says("pairs give another {:.1f} points", 100 * (means["words and pairs"] - means["words"]))
    page.says("NBSVM is equal to them", holds=tests(page, "duels6b", "test", "words and pairs", "NBSVM")[0, 2] > 0.05)
    parameters = dict.fromkeys((MAXIMUM, "LSTM twin, 600 words, maximum over words"))
    for name in parameters:
        parameters[name] = page.number("ladder6b", rf"(?m)^{name} +([\d,]+)")
    page.says("an encoder block ({:,.0f} parameters)", parameters[MAXIMUM])
    page.says("an LSTM in place of the block ({:,.0f}).", list(parameters.values())[1])


def duels(page, film, recipe) -> None:
    unplaced = runs(film, "ladder", "encoder without positions", "test")
    p = tests(page, "duels6b", "test", ENCODER, "encoder without positions")[:, 2]
    page.says("with $p = 6\\cdot 10^{-5}$. Are positions", holds=[round(p[2] * 1e5) == 6, recipe[2] > unplaced[2]])
    page.says(
        "section 3 has one of $6\\cdot 10^{-5}$ that two other seeds contradict", holds=list(unplaced[:2] > recipe[:2])
    )
    page.says("There the encoder without positions is ahead.", holds=list(unplaced[:2] > recipe[:2]))
    ahead = 100 * (unplaced - runs(film, "ladder", MEAN, "test"))
    by_chance = tests(page, "duels6b", "test", "encoder without positions", MEAN)[:, 2]
    page.says("It is ahead with each seed, by {:.1f}, {:.1f} and {:.1f} points", *ahead, holds=min(ahead) > 0)
    page.says(
        "two of the three differences are no more than chance ($p = {:.1g}$ and ${:.1g}$). So if the block helps, it "
        "helps by less than a point.",
        by_chance[0],
        by_chance[2],
        holds=[by_chance[0] > 0.05, by_chance[1] < 0.05, by_chance[2] > 0.05, max(ahead) < 1],
    )
    page.says(
        "the encoder with positions is ahead with one seed and behind with two.", holds=np.sum(recipe > unplaced) == 1
    )
    lstm = runs(film, "ladder", "LSTM", "test")
    page.says(
        "The LSTM is behind the encoder with two seeds and ahead with one.",
        holds=[np.sum(lstm < recipe) == 2, np.sum(lstm > recipe) == 1],
    )
    behind = 100 * (recipe - runs(film, "ladder", "convolution", "test"))
    page.says("is behind the encoder by more than {:.1f} points with each seed.", np.floor(10 * behind.min()) / 10)
    longer = runs(film, "maximum", MAXIMUM, "test") - recipe
    page.says(
        "this encoder is equal to the recipe with one seed, ahead with one and behind with one.",
        holds=[abs(longer[0]) < 0.0005, longer[1] > 0.005, longer[2] < -0.002],
    )
    padded = tests(page, "duels6b", "test", MAXIMUM, "encoder, 600 words, maximum with padding")
    page.says(
        "Whether the maximum runs over padding as well makes no difference that we can see.",
        holds=len(set(np.sign(padded[:, 0] - padded[:, 1]))) == 2,
    )
    twin = runs(film, "maximum", "LSTM twin, 600 words, maximum over words", "test")
    page.says(
        "The LSTM twin is behind this encoder with each seed, and its own seeds lie {:.1f} points apart.",
        100 * np.ptp(twin),
        holds=list(twin < recipe + longer),
    )
    lead = 100 * (film["ladder"]["words and pairs"]["test"] - recipe)
    page.says("beat the encoder by {:.1f} to {:.1f} points with each seed.", lead.min(), lead.max())
    pairs, words, chance = tests(page, "duels6b", "test", "words and pairs", "words")[0]
    page.says("Pairs beat single words, {:.0f} reviews to {:.0f}.", pairs, words, holds=chance < 1e-6)
    pairs, other, chance = tests(page, "duels6b", "test", "words and pairs", "NBSVM")[0]
    page.says(
        "Pairs and NBSVM disagree on {:,.0f} reviews, {:.0f} to {:.0f}, and neither is better.",
        pairs + other,
        pairs,
        other,
        holds=chance > 0.05,
    )
    page.says(
        "From their accuracies, {:.4f} and {:.4f}, nobody could have said so.",
        film["ladder"]["words and pairs"]["test"],
        film["ladder"]["NBSVM"]["test"],
    )
    pairs, other, chance = tests(page, "duels6b", "held back", "words and pairs", "NBSVM")[0]
    page.says("On the reviews held back it is the same: {:.0f} to {:.0f}.", pairs, other, holds=chance > 0.05)


def labels(page, film) -> None:
    means = r": ([\d.]+) \(([\d.]+) to ([\d.]+)\)"
    rows = np.reshape(page.numbers("curve6b", means), (3, 4, 3))  # models, numbers of labels, (mean, least, most)
    shown = dict(zip(("words and pairs", ENCODER, MEAN), rows, strict=True))
    gains = 100 * np.diff(shown["words and pairs"][:, 0])
    page.says(
        "it gains {:.1f} points from 1,000 to 3,000 labels, {:.1f} to 10,000 and {:.1f} to {:,.0f}, a smaller factor",
        *gains,
        film["split"]["by title"]["training"],
        holds=[0.3 < gains[2] / gains[0] < 0.5, *(np.diff(gains) < 0)],
    )
    in_all = {name: 100 * (values[-1, 0] - values[0, 0]) for name, values in shown.items()}
    last = {name: 100 * np.diff(values[:, 0])[-1] for name, values in shown.items()}
    page.says(
        "The networks start lower and gain a little more in all, the encoder {:.1f} points and the mean of embeddings "
        "{:.1f}, against {:.1f}. All three still rise at the end.",
        in_all[ENCODER],
        in_all[MEAN],
        in_all["words and pairs"],
        holds=[*(each > 0.5 for each in last.values()), in_all["words and pairs"] == min(in_all.values())],
    )
    page.says("Its curve in section 3 rises to the end.", holds=last[ENCODER] > 0.5)
    page.says(
        "With 1,000 labels the choice of the subset moves the linear model by {:.1f} points",
        100 * (shown["words and pairs"][0, 2] - shown["words and pairs"][0, 1]),
    )
    page.says(
        "the linear model highest at each number.",
        holds=[
            *(shown["words and pairs"][:, 0] > shown[ENCODER][:, 0]),
            *(shown["words and pairs"][:, 0] > shown[MEAN][:, 0]),
        ],
    )


def starts(page) -> None:
    film = page.recorded("imdb_by_film")["results"]["labels"]

    def table(name, start="") -> np.ndarray:  # (3 subsets, 3 numbers of labels)
        return np.array(
            [
                [film[f"{name}{start}, {n}; seed {seed}"]["held back"] for n in (1_000, 3_000, 10_000)]
                for seed in range(3)
            ]
        )

    texts, control = ", vectors from texts", ", the same vectors, of other words"
    better, worse = table(ENCODER, texts) - table(ENCODER), table(ENCODER, control) - table(ENCODER)
    page.says(
        "on average by {:.1f}, {:.1f} and {:.1f} points with 1,000, 3,000 and 10,000 labels.",
        *100 * better.mean(axis=0),
        holds=list((better > 0).ravel()),
    )
    page.says(
        "they gain nothing and lose up to {:.1f} points.",
        -100 * worse.mean(axis=0).min(),
        holds=list(worse.mean(axis=0) <= 0),
    )
    page.says(
        "The mean of embeddings gains nothing from either.",
        holds=[
            *((table(MEAN, texts) - table(MEAN)).mean(axis=0) < 0.001),
            *((table(MEAN, control) - table(MEAN)).mean(axis=0) < 0.001),
        ],
    )
    page.says(
        "Left, the encoder: the vectors from texts are ahead at each number.",
        holds=list(
            table(ENCODER, texts).mean(axis=0) > np.maximum(table(ENCODER), table(ENCODER, control)).mean(axis=0)
        ),
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
