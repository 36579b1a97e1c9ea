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
    real_head(page)
    ablation(page, runs["two heads"])
    circuits(page, runs["two heads"])


def kept(page) -> None:
    """The sentences to keep."""
    page.says("of two answers in the same feature, the shares that it explains sum to at most one.")
    page.says(
        "H heads are H softmaxes: each can ask a question of its own, and together they have the parameters of one "
        "head of width D."
    )
    page.says("Ablation shows whether the model needs a head")
    page.says("A head is two matrices: where it looks, and what it writes.")
    page.says("this one looks one token back, and so each dog finds its own colour")


def defined(page) -> None:
    page.given(
        "Heads are counted from 0.",
        "about 63 minutes to read and predict (estimated, not measured); "
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
    page.says("The sum is 1 each time", holds=np.allclose(together, 1, atol=0.01))
    page.given(
        "If p = ½ and m = 1, then $(a, b)$ may be (1, 1), (3, −1) or (0, 2)",
        "p = ½, p = 0.8 and p = 1",
        because="an example",
    )
    page.given(
        "For p = ½ both are ½. For p = 0.8",
        "so 0.059 of $a$ and 0.941 of $b$ remain. For p = 1 the two are 0 and 1",
        because=BY_HAND,
    )
    page.given("with mean 0 and variance 1", "1 − p on its verb", "so together they are at most 1", because=SHAPE)


def heads(page) -> None:
    two = page.numbers("l3-two-and-one", r"two heads, a dog gets \[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)")
    one = page.numbers("l3-two-and-one", r"one head of width 6 +\[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)")
    page.says(
        "Each head spends nearly all its weight on its own question; the single head "
        "shares one row among three tokens, and so does head 0 when you turn it half way: its weights must sum to 1, "
        "whatever it asks.",
        holds=[two[3] > 0.9, one[3] < 0.4],
    )
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
    lossless = [any(max(left) < 0.005 for left in run["without"]["zero"]) for run in runs["four heads"]]
    page.says(
        "In four of our five models with four heads, at least one head can go without any loss",
        holds=sum(lossless) == 4,
    )
    means = {version: np.mean([run["unexplained"] for run in seeds], axis=1) for version, seeds in runs.items()}
    page.says(
        "One softmax gives one average: in one layer, two answers in the same feature need two heads.",
        holds=max(means["two heads"]) < 0.01 < 0.4 < min(*means["one head"], *means["one wide head"]),
    )
    page.says("One head reaches ½ at both widths. Two heads reach 0", holds=[
        np.allclose(means["one head"], 0.5, atol=0.02),
        np.allclose(means["one wide head"], 0.5, atol=0.02),
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
        "0 is perfect",
        "of width 16, one head of width 64, and two heads of width 8",
        "one head of width 16",
        because=SHAPE,
    )


def real_head(page) -> None:
    own = page.numbers("real-head", r"(?:brown|black) ([\d.]+)")
    one_back, equal = page.numbers("real-head", r"mean weight one token back ([\d.]+), equal weights ([\d.]+)")[:2]
    page.says(
        "and so each dog finds its own colour",
        holds=[0.8 < min(own) <= max(own) < 1, 0.8 < one_back < 1, equal == 0.08],
    )
    back = page.evidence("03").numbers("real-heads", r"one token back ([\d.]+)")  # 12 heads, block by block
    page.says(
        "none of the other eleven is as clear", holds=[len(back) == 12, sorted(back)[-2] < 0.5 < max(back) == back[2]]
    )
    page.given("head 2 of its first block", "12 by 12 pieces", because=SHAPE)


def ablation(page, runs) -> None:
    left, other = {}, []
    for job, name in enumerate(("above", "wanted")):
        for kind in ("zero", "mean", "row mean"):
            without = np.array([run["without"][kind][int(np.argmax(np.array(run["jobs"])[:, job]))] for run in runs])
            left[name, kind] = without[:, job]
            other.append(without[:, 1 - job].max())
    page.says(
        "The answer of the head that is left stays correct: at most {:.2f} is unexplained.",
        max(other),
        holds=max(other) < 0.05,
    )
    page.says(
        "The mean is not milder than zero: the two agree within 0.03.",
        holds=[abs(left[name, "zero"] - left[name, "mean"]).max() < 0.03 for name in ("above", "wanted")],
    )
    page.says(
        "With the mean of each row this part stays, and the error is 1.00.",
        holds=np.allclose(left["above", "row mean"], 1, atol=0.006),
    )
    page.says("Only with the mean of each row is it 1.00.", holds=min(left["above", "zero"]) > 1.05)
    page.given(
        "should have 1.00 of its variance unexplained",
        "smaller",
        "and above 1",
        "exceeds 1",
        because="what zero knowledge leaves",
    )
    changes = abs(left["wanted", "zero"] - left["wanted", "row mean"]).max()
    page.says("For the other head this mean hardly changes the error.", holds=changes < 0.03)


def circuits(page, runs) -> None:
    kept_blocks = [run["predicted blocks alone"] for run in runs]
    page.says(
        "The blocks are enough: with them alone at most {:.3f} of an answer's variance is unexplained.",
        max(max(kept["unexplained"]) for kept in kept_blocks),
        holds=min(head["share"] for kept in kept_blocks for head in kept["heads"]) > 0.95,
    )
    page.given(
        "the 19 columns of a token",
        "(six each)",
        "keep only the 6 × 6 block",
        "the other 325 entries",
        "a matrix of 19 by 19",
        "one of 19 by 2",
        because=SHAPE,
    )
