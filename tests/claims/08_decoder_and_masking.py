"""What lecture 8 says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    leaks = page.recorded("decoder_leak")["results"]
    target = np.full(35, 0.1 / 35) + np.eye(35)[0] * 0.9
    floor = float(-(target * np.log(target)).sum())
    assert page.number("d8-floor", r"floor ([\d.]+)") == round(floor, 3)
    masks(page)
    published(page)
    loss(page, floor)
    training(page, leaks, floor)
    leak(page, leaks, floor)
    own_mistakes(page, leaks)
    exposure(page, leaks)
    mistakes(page)
    given(page)


def masks(page: Page) -> None:
    open_, masked = (
        page.numbers("d8-hand", rf"{name} +\[([\d.]+) +([\d.]+) +([\d.]+) *\]")
        for name in ("without the mask:", "with the mask:")
    )
    page.says("The weights are {:.3f}, {:.3f} and {:.3f}: nearly all of the weight lies on the future.", *open_)
    page.says("so the weights are 1/4 = {:.2f}, 3/4 = {:.2f} and {:.0f}.", *masked)
    page.given("the exponentials are 1, 3 and 148.4, and their sum is 152.4", because="calculated by hand")
    with_mask, without = page.numbers("d8-influence", r"causal=\w+ *: ([\d.]+)")
    page.says("With the mask a later token moves nothing. Without it, it does", holds=with_mask == 0 < without)
    page.says("A mask hides the future if no prediction moves when any later token changes.")


def published(page: Page) -> None:
    *before, last = page.numbers("d8-real", r" ([\d.]+)\n")
    page.says(
        "Eight predictions stay as they were to six decimals. Only the ninth moves",
        holds=[len(before) == 8, not any(before), last > 1],
    )
    pattern = (
        r"([\d.]+) nats a token with the mask, ([\d.]+) with all open but the next token, ([\d.]+) with all open "
        r"\(a uniform guess: ([\d.]+)\).*puts ([\d.]+) of its weight .* equal weights ([\d.]+)"
    )
    (caption, closed, open_caption, uniform, *ahead), (noise, _, open_noise, _, *ahead_noise) = np.reshape(
        page.numbers("d8-unmasked", pattern), (2, 6)
    )
    page.says(
        "In the caption {:.1f} nats instead of {:.1f}. The control, random tokens, which no context gives away: {:.1f} "
        "instead of {:.1f}.",
        open_caption, caption, open_noise, noise,
        holds=[open_caption < caption / 2, open_noise < noise],
    )  # fmt: skip
    page.says("taking the mask away saves {:.1f} of {:.1f} nats", caption - open_caption, caption)
    page.says("In noise {:.1f} is still more than a uniform guess costs", open_noise, holds=open_noise > uniform)
    page.says("with the next token alone still closed it saves {:.1f}.", caption - closed)
    page.says("most of it hangs on the look at the answer", holds=caption - closed < 0.2 * (caption - open_caption))
    page.says(
        "{:.2f} of one such head's weight lies on it in the caption, {:.2f} in noise",
        ahead[0], ahead_noise[0],
        holds=[weight > 3 * equal for weight, equal in (ahead, ahead_noise)],
    )  # fmt: skip
    page.given("Position $t$ may not look at $t + 1$.", because="by definition")
    page.says("So a part of the {:.1f} nats may be the answer, too.", caption - closed)
    page.given("32 random tokens", because="the design of the page")


def loss(page: Page, floor: float) -> None:
    real, all_, means = page.numbers(
        "d8-counts", r"real tokens ([\d.]+), over all positions ([\d.]+), mean of the lines' means ([\d.]+)"
    )
    page.says("The mean over all positions divides by padding, too", holds=all_ < real < means)
    reached, entropy = page.number("d8-six", r"step 300: loss ([\d.]+)"), page.number("d8-six", r"the people: ([\d.]+)")
    page.says("Still the loss cannot fall below {:.3f}.", entropy, holds=entropy < reached < entropy + 0.02)
    page.says(
        "The smallest possible loss is the entropy of what follows the same input. Without label smoothing it is 0 "
        "exactly where the input makes the target certain."
    )
    page.says("training loss minus its floor of {:.3f} by epoch", floor)


def training(page: Page, leaks: dict, floor: float) -> None:
    above = page.numbers("d8-train", r"by epoch: \[[^\]]* ([\d.]+)\]")[0]
    correct = page.number("d8-write", r"without a mistake: ([\d.]+)%")
    page.says(
        "The last date is in none of the six formats of the training, and the model gets it wrong.",
        holds=[
            above < 0.05,
            correct > 95,
            "1 9 9 4 0 3 2 7 <end>" not in page.output("d8-write").split("27th of march, 94")[1],
        ],
    )
    seeds = page.recorded("multi30k")["results"]
    bleu = [run["bleu"]["greedy"] for run in seeds["seeds"].values()]
    page.says(
        "with three blocks and 1.7 million parameters learned English to German from the 29,000 captions of Multi30k",
        holds=[seeds["model"]["blocks"] == 3, round(seeds["parameters"] / 1e6, 1) == 1.7],
    )
    page.says("it reaches {:.1f} to {:.1f} BLEU (sacreBLEU) with three seeds", min(bleu), max(bleu))
    examples = [line for run in seeds["seeds"].values() for line in run["examples"]]
    lines = [line["greedy"] for line in examples if "brown" in line["english"]]
    human = next(line["german"] for line in examples if "brown" in line["english"])
    exchanged = human.replace("einem", "einer").replace("Mund", "Maul")
    page.says(
        "Two words differ from the human translation: einer for einem",
        holds=[line == exchanged for line in lines],
    )
    page.says("Training takes one pass for all positions; writing takes one pass for each token.")


def leak(page: Page, leaks: dict, floor: float) -> None:
    masked, leaky = ([run[name] for run in leaks.values()] for name in ("mask", "no mask"))
    losses, leaky_losses = (np.array([run["losses"] for run in runs]) for runs in (masked, leaky))
    lower = bool((leaky_losses[:, 1:] < losses[:, 1:]).all())
    page.says("from the second epoch on the loss is lower without the mask, with each seed.", holds=lower)
    last, leaky_last = losses[:, -1] - floor, leaky_losses[:, -1] - floor
    page.says(
        "In the end {:.4f} to {:.4f} are left above the floor with the mask, and {:.4f} to {:.4f} without.",
        min(last), max(last), min(leaky_last), max(leaky_last),
    )  # fmt: skip
    page.says(
        "in the last {:.4f} to {:.4f} with the mask and {:.4f} to {:.4f} without",
        min(last), max(last), min(leaky_last), max(leaky_last),
    )  # fmt: skip
    page.says(
        "Without the mask less than a tenth of the loss is left above the floor, with each seed",
        holds=bool((leaky_last < 0.1 * last).all()),
    )
    page.says("nearly equal in the first epoch", holds=bool((abs(leaky_losses - losses)[:, 0] < 0.1).all()))
    page.says(
        "After three epochs it is nearer to its floor than the correct model after five.",
        holds=bool((leaky_losses[:, 2] < losses[:, 4]).all()),
    )
    page.says(
        "The second comes nearer to the smallest possible loss than the correct model, and writes strange dates.",
        holds=[bool((leaky_last < last).all()), *(run["mask off"]["alone"] == 0 for run in leaky)],
    )
    table = np.reshape(
        page.numbers("d8-leak", r"mask o\w+" + 6 * r" +([\d,]+)"), (4, 2, len(leaky))
    )  # (row, reads or writes, seed)
    page.says(
        "With the mask nothing to the right is seen: the columns have to be equal.",
        holds=[bool((table[0, 0] == table[0, 1]).all()), bool((table[0] > 0.95 * 3701).all())],
    )
    disturbed = table[1]
    page.says(
        "With the target there {:.0f} to {:.0f} dates are correct, with start tokens {:.0f} to {:.0f}.",
        disturbed[0].min(), disturbed[0].max(), disturbed[1].min(), disturbed[1].max(),
        holds=[bool((disturbed[0] <= disturbed[1]).all()), disturbed[0].max() < disturbed[1].max()],
    )  # fmt: skip
    page.says("No date is correct in either column.", holds=not table[2].any())
    page.says(
        "Where the answers stand to the right, all dates are correct. Where they do not, none is.",
        holds=[bool((table[3, 0] == 3701).all()), not table[3, 1].any()],
    )
    copied, base = (np.array([run["copied"] for run in runs]) for runs in (leaky, masked))  # (seeds, 8)
    first, second, later = (100 * copied[:, digits] for digits in (0, 1, slice(2, None)))
    page.says(
        "Without the mask it copies the first digit in {:.0f} to {:.0f} % of the dates, the second in {:.0f} to "
        "{:.0f} %, and each later one in {:.0f} to {:.0f} %.",
        *(edge(share) for share in (first, second, later) for edge in (np.min, np.max)),
    )
    page.says("With the mask it is at most {:.1f} %.", 100 * base.max())
    page.says("from the third digit on the model copies", holds=copied[:, 2:].min() > 0.8)
    page.says("with the mask almost never", holds=base.max() < 0.05)
    page.says("A model that leaks can be perfect while it reads the target, and wrong when it writes.")


def own_mistakes(page: Page, leaks: dict) -> None:
    own = [run["mask"]["own mistakes"] for run in leaks.values()]
    read, alone = ([run["wrong"][name] for run in own] for name in ("reading", "alone"))
    live = page.numbers("d8-own", r"(\d+) of ([\d,]+) tokens are wrong")
    tokens = live[1]
    page.says(
        "about twice as many mistakes: {:.0f} to {:.0f} wrong tokens instead of {:.0f} to {:.0f}.",
        min(alone), max(alone), min(read), max(read),
        holds=[live == [read[0], tokens, alone[0], tokens]]
        + [1.7 < own_ / right < 2.3 for own_, right in zip(alone, read, strict=True)],
    )  # fmt: skip
    table = np.reshape(page.numbers("d8-own-recorded", r"wrong in (\d+) of (\d+) dates, .* in (\d+)"), (-1, 3))
    page.says(
        "the next token is wrong in {:.0f} of {:.0f} dates; after the correct token, in none of the same dates",
        table[:, 0].sum(), table[:, 1].sum(),
        holds=[len(table) == 3, not table[:, 2].any()],
    )  # fmt: skip
    costs = [100 * (more - less) / tokens for more, less in zip(alone, read, strict=True)]
    page.says("all in all exposure bias costs {:.2f} to {:.2f} % of the tokens.", min(costs), max(costs))
    page.says(
        "What exposure bias costs is the price of one mistake times the number of mistakes: in this translator the "
        "price is high, and the number small."
    )


def exposure(page: Page, leaks: dict) -> None:
    after = {
        name: np.array([[run[name]["after a false digit"][t][t + 1] for t in range(7)] for run in leaks.values()])
        for name in ("mask", "mask, corrupted prefixes")
    }  # (seeds, 7)
    clean, corrupted = after.values()
    shares = 100 * clean.mean(axis=1)
    year, month = 100 * clean[:, 0], 100 * clean[:, 3]
    page.says(
        "(c) In {:.0f} to {:.0f} % and in {:.0f} to {:.0f} % of the dates",
        *(year.min(), year.max(), month.min(), month.max()),
        holds=len(shares) == 3,
    )
    before = np.array([run["mask"]["after a false digit"][7][1:8] for run in leaks.values()])  # the same seven digits
    page.says("after a correct prefix it is more than 99 %", holds=(before.mean(axis=1) > 0.99).all())
    repaired = 100 * corrupted.mean(axis=1)
    page.says(
        "With false digits in training, {:.0f} % of the next digits are correct with each of three seeds",
        min(repaired),
        holds=[len(repaired) == 3, round(min(repaired)) == round(max(repaired)), *(repaired > shares + 30)],
    )
    page.says(
        "A tenth of false digits in training repairs nearly everything that one random false digit does.",
        holds=corrupted.mean() > 0.97,
    )
    inside, next_field = clean[:, [0, 1, 2, 4, 6]], clean[:, [3, 5]]  # in year, month, day; year to month, month to day
    page.says(
        "far below 1 inside the year, the month and the day, and higher where the next field begins",
        holds=[(inside.mean(axis=0) < 0.6).all(), (next_field.min(axis=1) > inside.max(axis=1)).all()],
    )
    page.says("Trained with false digits, all cells are near 1.", holds=corrupted.min() > 0.95)
    page.says(
        "In the left map below, the next digit of the same year, month or day suffers most",
        holds=(next_field.min(axis=1) > inside.max(axis=1)).all(),
    )


def mistakes(page: Page) -> None:
    right, turned = (
        [np.array(row.split(), float) for row in line]
        for line in np.reshape(
            [part for part in page.output("d8-inverted").replace("]", "[").split("[") if "." in part], (2, 2)
        )
    )
    page.says(
        "Turned round, position 0 sees everything but itself. Position 3 may see nothing, and Keras sets its row to "
        "zero",
        holds=[right[0][0] == 1, turned[0][0] == 0, bool((turned[0][1:] > 0).all()), not turned[1].any()],
    )
    shapes = page.numbers("d8-order", r"\((\d+), (\d+), (\d+)\)")
    same = [shapes == [1, 3, 8, 1, 3, 8], "equal: False" in page.output("d8-order")]
    page.says("no error, the same shapes, other numbers", holds=same)


def given(page: Page) -> None:
    page.given(
        "Time: about 65 minutes to read and predict (estimated, not measured); the code runs in about a minute",
        "SmolLM2 (93 MB:",
        "0.6 GB of memory",
        "a decoder of 30 blocks that has no source",
        "On the 1,000 unseen captions of",
        "after one false digit in 1,000 unseen dates",
        "The paper's model has a dropout of 0.1 behind every part",
        "ε = 0.1 in the paper",
        because="the design of the page, or cited: Vaswani et al., 2017",
    )
    page.given(
        "In the encoder (2, 4, 11, 11), in the decoder (2, 4, 7, 7), in the cross-attention (2, 4, 7, 11).",
        "It reads “&lt;start&gt; 1 9 9 4”. At position 0 it predicts 1, at position 4 the end token.",
        "The target is “1 9 9 4 &lt;end&gt;”.",
        "B = 2, H = 4, T = 7, S = 11.",
        "(B, 1, S) |",
        "so that its weight is 0 and the others still sum to 1",
        "lets position $t$ look only at the positions 0 to $t$",
        "The padding mask has the shape (B, 1, T)",
        "Position 1 has the scores $(0, \\ln 3, 5)$ with the positions 0, 1 and 2.",
        "With the mask the exponentials are 1, 3 and 0 with the sum 4",
        "Position 0 has to predict the first digit, and position 1 reads the first digit.",
        "so position 0 could fetch its answer",
        "token 50 needs token 49",
        "position 0 can read its own answer at position 1",
        "is 1 where the target is a real token and 0 where it is padding",
        "The floor is 0",
        "Where the floor is 0, the loss falls as long as the correct logit grows.",
        "with V = 35, is now the entropy of this target",
        "German allows both, so $H(Y \\mid X)$ is not 0.",
        "row 1 is the same in both columns",
        because="by definition",
    )
