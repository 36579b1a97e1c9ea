"""What section 3 of lecture 6b says of the recorded models that were judged by film."""

from __future__ import annotations

import re

import numpy as np

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
