"""What lecture 1 says of its numbers."""

from __future__ import annotations

import numpy as np
from claims.page import Page
from scipy.special import softmax

from coursekit.lecture import toy_scores


def claims(page: Page) -> None:
    alignment(page)
    by_hand(page)
    bandwidth(page)
    scores(page)
    translators(page)
    questions(page)


def alignment(page: Page) -> None:
    page.given(
        "most of the 29,000 French–English sentence pairs",
        "numbers from 0 to 1 that sum to 1",
        because="cited; by definition",
    )
    runs = page.recorded("recurrent_translation")["results"]["runs"]
    passes = [run["passes"] for run in runs if run["kind"] == "Luong, additive"]
    page.says("has read most of the 29,000 French–English sentence pairs", holds=[min(passes) > 0.7, max(passes) < 1])
    found = page.recorded("recurrent_translation")["results"]["alignment"]
    weights, french = found["weights"]["Luong, additive"], found["french"]
    looked_at = {
        word: french[max(range(len(row)), key=row.__getitem__)]
        for word, row in zip(found["english"], weights, strict=True)
    }
    page.says(
        'The next English word is "red"', holds=[found["english"][4:6] == ["red", "shirt"], looked_at["red"] == "rouge"]
    )
    page.says('and then comes back for "shirt"', holds=looked_at["shirt"] == "T-shirt")
    first, second, third, equal = page.numbers("cell-8", r"(0\.\d+)")
    page.says("and can learn to find it", holds=min(first, second, third) > 5 * equal)


def by_hand(page: Page) -> None:
    first, second, _ = page.numbers("cell-14", r"weights \[\[([\d.]+) ([\d.]+) ([\d.]+)\]")
    context = page.number("cell-14", r"context \[\[([\d.]+)\]")
    page.says("The weights are 2.718/6.436 = {:.4f}, 1/6.436 = {:.4f}", first, second)
    page.says("0.4223·10 + 0.1554·20 + 0.4223·0 = {:.2f}", context)
    page.given(
        "Three keys: (1, 0), (0, 1), (1, 1)", "Their values: 10, 20, 0", "The query is (1, 0)", because="an example"
    )
    page.given(
        "The scores are 1, 0 and 1. Their exponentials are 2.718, 1 and 2.718, with the sum 6.436", because="by hand"
    )
    page.given("and again 0.4223", because="by hand")
    page.says("Attention is an average whose weights are computed from the query.")


def bandwidth(page: Page) -> None:
    itself, out = page.numbers("cell-26", r"σ = ([\d.]+)")
    page.given("Here are 150 noisy measurements", "Set the query to 2.5", because="the cell's data")
    page.says("leaving each point out, it has a minimum in between", holds=[
        itself == 0.02, 0.05 < out < 1
    ])  # fmt: skip
    page.says("{:.2f} predicts the left-out points best", out)
    page.says(
        "The bandwidth decides between copying and averaging: a small one is hard attention, a large one the plain "
        "mean."
    )


def scores(page: Page) -> None:
    page.given("Cosine lies between −1 and 1", "guessing is 0.20", because="by definition")
    page.says("A score without parameters can only compare")
    (cosine, parameters), (dot, _) = toy_scores.SCORES["cosine"], toy_scores.SCORES["dot"]
    q, k, position = toy_scores.requests("same language", 2000, np.random.default_rng(9))
    weights, sharper = (softmax(np.asarray(score(q, k)), axis=-1) for score in (cosine, dot))
    wanted = np.arange(len(position)), position
    page.says("In the same language cosine picks the correct item and gives it little weight.", holds=[
        parameters == [], np.mean(weights.argmax(axis=1) == position) > 0.99,
        0.2 < weights[wanted].mean() < 0.5, sharper[wanted].mean() > 0.95,
    ])  # fmt: skip


def translators(page: Page) -> None:
    trained = page.numbers("cell-33", r"'([\d.]+)'")
    page.says("with it, all of one to three", holds=[min(trained) > 0.95, max(trained) <= 1])
    runs = page.recorded("date_translators")["results"]
    with_it = [share for run in runs["with attention"] for count in "123" for share in run["correct"][count]]
    first = [run["correct"][count][0] for run in runs["without attention"] for count in "123"]
    later = [share for run in runs["without attention"] for count in "23" for share in run["correct"][count][1:]]
    assert min(with_it) > max(later) + 0.5
    page.says("Trained for 16 epochs without attention, the translator writes one date of a line; "
              "trained for 5 with it, all of one to three.", holds=[
        min(with_it) > 0.95, min(first) > 0.6, max(later) < 0.35
    ])  # fmt: skip
    page.says(
        "Of the first dates {:.0f} to {:.0f} % are correct, depending on seed and length of the line. "
        "Of all other dates at most {:.0f} % are.",
        100 * min(first), 100 * max(first), 100 * max(later),
        holds=np.ptp(np.reshape(first, (3, 3)), axis=0).max() > 0 < np.ptp(np.reshape(first, (3, 3)), axis=1).max(),
    )  # fmt: skip
    without, with_attention = ({run["epochs"] for run in runs[f"{word} attention"]} for word in ("without", "with"))
    page.says(
        "Four seeds with attention train for {:.0f} epochs. Without attention the same network trains for {:.0f}, with "
        "three seeds.",
        *(max(with_attention), max(without)),
        holds=[len(without) == len(with_attention) == 1],
    )
    page.given("week 3; what is new is that a line holds one, two or three dates", because="cited")
    parameters = page.evidence("01").numbers("cell-3", r"epochs, ([\d,]+) parameters")
    page.says(
        "The network without attention also has fewer parameters ({:,.0f}, with attention {:,.0f}).",
        min(parameters), max(parameters),
        holds=[parameters.count(max(parameters)) == 4, parameters.count(min(parameters)) == 3],
    )  # fmt: skip
    page.given("about 48 minutes to read", because="counted by tests/lecture/test_lectures.py")
    page.given("Its decoder begins with one state of 128 numbers", because="an LSTM of 64 units has two states")
    last = [run["correct"]["4"][2] for run in runs["with attention"]]
    page.says(
        "lines of four dates were never trained, and their third date is nearly always wrong", holds=max(last) < 0.1
    )
    translated = page.recorded("caption_alignment")["results"]
    colours = {  # of each sentence, where the row of the first and of the second dog's colour is largest
        name: [found["french"][row.index(max(row))].rstrip(".") for row in (found["weights"][1], found["weights"][7])]
        for name, found in ((name, translated[name]) for name in ("caption", "twin"))
    }
    page.says('for our caption, one translator wrote "black" while looking mostly at chien', holds=[
        colours["caption"][1] == "chien", max(translated["caption"]["weights"][7]) > 0.5,
        translated["caption"]["written"].endswith("the black dog."),
    ])  # fmt: skip
    beside = page.evidence("01").prose
    assert "colour of the second dog while its largest weight is on chien" in beside
    assert "For the first dog its largest weight is on the colour" in beside
    assert colours == {"caption": ["brun", "chien"], "twin": ["noir", "chien"]}
    assert f"{translated['steps']} steps, about half a pass" in beside and 0.45 < translated["passes"] < 0.6
    assert translated["twin"]["written"].endswith("the brown dog.")


def questions(page: Page) -> None:
    padding = page.numbers("cell-41", r"weight on padding ([\d.]+)")
    page.says(
        "a score of 0 is no mask: below, padding still gets {:.2f} of the weight.",
        padding[1],
        holds=[padding[0] > 0.5, padding[1] > 0.4, padding[2] == 0],
    )
    sums = page.numbers("cell-41", r"row sums \[([\d.]+) +([\d.]+) +([\d.]+) *\]")
    page.says("a query can lose everywhere: the second row below sums to {:.2f}.", sums[1], holds=min(sums) < 0.05)
    page.given("scores 100, 100, 100 and 100", "All values are 5", "5. The weights sum to 1", because="an example")
    page.given("Queries have width 64, keys have width 48", because="an example")
    page.given("positive and sum to 1", because="by definition")
