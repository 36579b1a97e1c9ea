"""What lecture 3 says of its numbers."""

from __future__ import annotations

import numpy as np

BY_HAND = "calculated by hand on the page"
SHAPE = "a shape, a size or a setting that the page defines"


def claims(page) -> None:
    runs = page.recorded("two_questions")["results"]
    kept(page)
    defined(page)
    one_average(page)
    heads(page)
    two_jobs(page, runs)
    circuits(page, runs["two heads"])


def kept(page) -> None:
    """The sentences to keep."""
    page.says("of two answers in the same feature, the shares that it explains sum to at most one.")
    page.says("H heads are H softmaxes: each can ask a question of its own.")
    page.says("A head is two matrices: where it looks, and what it writes.")


def defined(page) -> None:
    page.given(
        "Heads are counted from 0.",
        "about 54 minutes to read and predict (estimated, not measured); "
        "the code runs in about one minute on two CPU cores.",
        r"X W_V^h) \qquad \text{output} = [\text{head}_0;\dots;\text{head}_{H-1}]\;",
        "One head: one of the two columns is near 1. Two heads: the first is near 1 for above, the second for wanted.",
        "With as many sentences as heads there is no error, and in every sentence head 1 gets the mask of sentence 1:",
        "D = 12 and H = 3.",
        "The weights are (3, T, T), a head's output is (T, 4), and each block of $W_O$ is (4, 12).",
        "The number of heads goes from 8 to 16, with K = D/H.",
        because=SHAPE,
    )


def one_average(page) -> None:
    together = page.numbers("one-average", r"together ([\d.]+)")
    arrived = page.numbers("same-number", r"dog is ([\d.]+)")
    page.says("Four different dogs, and the same number arrives.", holds=[len(arrived) == 4, set(arrived) == {1.5}])
    page.says("The sum is 1 each time", holds=np.allclose(together, 1, atol=0.01))
    page.given("p = ½, p = 0.8 and p = 1", because="an example")
    page.given(
        "For p = ½ both are ½. For p = 0.8",
        "so 0.059 of $a$ and 0.941 of $b$ remain. For p = 1 the two are 0 and 1",
        because=BY_HAND,
    )
    page.given("with mean 0 and variance 1", "1 − p on the verb", "so together they are at most 1", because=SHAPE)
    page.given(
        '"dog" puts 0.9 of its row on the colour and 0.1 on the verb',
        "They sum to 1, as before.",
        "With p = 0.8, for example, the sixteen dogs of section 1 give sixteen different numbers",
        because=BY_HAND,
    )


def heads(page) -> None:
    two = page.numbers("l3-two-and-one", r"two heads, a dog gets \[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)")
    one = page.numbers("l3-two-and-one", r"one head of width 6 +\[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)")
    page.says(
        "Each head spends nearly all its weight on its own question; the single head "
        "shares one row among three tokens, and so does head 0 when you turn it half way: its weights must sum to 1, "
        "whatever it asks.",
        holds=[two[3] > 0.9, one[3] < 0.4],
    )
    page.given("A softmax that divides by √6, not √3, is flatter", because="the widths of the two layers")
    page.says("So here one row does fetch both, {:.2f} of each", one[0], holds=one[0] == one[1] == one[3])
    page.given(
        "Here is an array of T = 3 tokens with D = 6 numbers",
        "24 is token 2, feature 4",
        "two heads of width 3",
        "features 0 to 2",
        because=SHAPE,
    )
    page.given(
        "8/√3 = 4.62",
        "(e^4.62 = 101.)",
        "and 0 with every word that is no colour",
        "In head 0",
        "(8, 0, 0), a colour has the key (1, 0, 0), a verb (0, 1, 0), and every other word has the key 0",
        "Head 1 does the same with verbs",
        because=BY_HAND,
    )
    page.given("Head 0", "head 0", "token 0 and half of token 1", "head 1", because="a number that is a name")
    page.given(
        "D = 512, H = 8 and K = 64",
        "D = 512 and H = 8",
        "For K = 64",
        "For K = 512 a projection is 512 × 4,096",
        "for K = 64?",
        "eight times",
        because=SHAPE,
    )
    page.given(
        "(table 3, rows A)",
        "0.9 points of BLEU, a score of translations",
        "32 heads of width 16 were worse than 8 or 16",
        because="Vaswani et al. 2017, table 3",
    )


def two_jobs(page, runs) -> None:
    means = {version: np.mean([run["unexplained"] for run in seeds], axis=1) for version, seeds in runs.items()}
    page.says(
        "One softmax gives one average: in one layer with a linear read-out, two answers in the same feature need two "
        "heads.",
        holds=max(means["two heads"]) < 0.01 < 0.4 < min(*means["one head"], *means["one wide head"]),
    )
    both = {version: np.sort([run["unexplained"] for run in seeds], axis=1) for version, seeds in runs.items()}
    page.says("One head, narrow or wide, answers one question (0) and leaves the other (1).", holds=[
        np.allclose(both["one head"], [0, 1], atol=0.02),
        np.allclose(both["one wide head"], [0, 1], atol=0.02),
        max(means["two heads"]) < 0.01,
        runs["one head"][0]["parameters"] == runs["two heads"][0]["parameters"],
    ])  # fmt: skip
    twice = np.array([run["jobs"] for run in runs["one head, twice"]])  # (5 seeds, 2 layers, 2 jobs)
    page.says(
        '"One head, twice" solves the task too, with twice the parameters: in four of five seeds each of its '
        "two layers takes one job.",
        holds=[
            max(means["one head, twice"]) < 0.05,
            runs["one head, twice"][0]["parameters"] == 2 * runs["one head"][0]["parameters"],
            (np.sort(twice.max(axis=2).min(axis=1)) > 0.9).tolist() == [False, True, True, True, True],
        ],
    )
    page.says("Four heads solve both too", holds=max(means["four heads"]) < 0.01)
    page.given("Equal weights on all six rows would give 0.17", because="1/6")
    page.given(
        "0 is perfect, 1 is no answer.",
        "If row 2 is name D, number 0.7, wants A , its answers are the number of row 1",
        "of width 16, one head of width 64, and two heads of width 8",
        "one head of width 16",
        because=SHAPE,
    )


def circuits(page, runs) -> None:
    kept_blocks = [run["predicted blocks alone"] for run in runs]
    largest = max(max(kept["unexplained"]) for kept in kept_blocks)
    page.says(
        "The blocks are enough: with them alone at most {:.3f} of an answer's variance is unexplained.",
        largest,
        holds=min(head["share"] for kept in kept_blocks for head in kept["heads"]) > 0.95,
    )
    page.says("It is at most {:.3f}, with each of five seeds.", largest, holds=len(kept_blocks) == 5)
    copied = np.sort([[head["number copied to"] for head in kept["heads"]] for kept in kept_blocks])  # (5, 2 heads, 2)
    page.says(
        "one head copies the number to “above” and the other to “wanted”, times {:.2f} to {:.2f}; "
        "to its other answer it adds {:.2f}.",
        copied[..., 1].min(), copied[..., 1].max(), np.abs(copied[..., 0]).max(),
        holds=all({head["job"] for head in kept["heads"]} == {"above", "wanted"} for kept in kept_blocks),
    )  # fmt: skip
    copies = page.numbers("circuits", r"above ([\d.]+), wanted ([\d.]+)")
    page.says("A head is two matrices", holds=sorted(copies) == [0, 0, 1, 1])
    page.given(
        "the 19 columns of a token",
        "(six each)",
        "Each QK circuit has 19 × 19 = 361 numbers. Keep the 36 of its head's job",
        "Of each head's 361 numbers 36 do the work",
        "a matrix of 19 by 19",
        "a published model of 30 blocks",
        because=SHAPE,
    )
