"""What lecture 8 says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    leaks = page.recorded("decoder_leak")["results"]
    masks(page)
    training(page, leaks)
    leak(page, leaks)
    exposure(page, leaks)
    loss(page, leaks)
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
    with_mask, without = page.numbers("d8-influence", r"of a later token ([\d.]+)")
    page.says(
        "with the mask, only the tokens up to a position influence its prediction", holds=with_mask == 0 < without
    )
    page.says("With the mask no prediction moves when a later token changes.", holds=with_mask == 0)
    page.says("without the mask, position 0 can read its own answer at position 1", holds=without > 0.01)
    page.says("A mask hides the future if no prediction moves when a later token changes.")


def training(page: Page, leaks: dict) -> None:
    correct = page.number("d8-write", r"without a mistake: ([\d.]+)%")
    page.says("The model with the mask writes nearly every unseen date correctly.", holds=correct > 95)
    last = page.output("d8-write").split("27th of march, 94")[1]
    page.says(
        "The last date is in none of the six formats, and the model gets it wrong.",
        holds="1 9 9 4 0 3 2 7 <end>" not in last,
    )
    seeds = page.recorded("multi30k")["results"]
    bleu = [run["bleu"]["greedy"] for run in seeds["seeds"].values()]
    page.says(
        "with three blocks and 1.7 million parameters learned English to German from the 29,000 captions of Multi30k",
        holds=[seeds["model"]["blocks"] == 3, round(seeds["parameters"] / 1e6, 1) == 1.7],
    )
    page.says("On 1,000 unseen captions it reaches {:.1f} to {:.1f} BLEU with three seeds", min(bleu), max(bleu))
    examples = [line for run in seeds["seeds"].values() for line in run["examples"]]
    lines = [line["greedy"] for line in examples if "brown" in line["english"]]
    both = ["brauner Hund" in line and "lilafarbenen Frisbee" in line for line in lines]
    page.says("Both colours reach their nouns, with each seed.", holds=[len(both) == 3, *both])
    human = next(line["german"] for line in examples if "brown" in line["english"])
    exchanged = human.replace("einem", "einer").replace("Mund", "Maul")
    page.says(
        "Two words differ from the human translation: einer for einem",
        holds=[line == exchanged for line in lines],
    )
    page.says("Training takes one pass for all positions; writing takes one pass for each token.")


def leak(page: Page, leaks: dict) -> None:
    masked, leaky = ([run[name] for run in leaks.values()] for name in ("mask", "no mask"))
    page.says(
        "perfect on unseen days while it reads the target, and not one date correct on its own, with each of three "
        "seeds",
        holds=[len(leaky) == 3]
        + [run["mask off"]["reading"] > 0.999 and run["mask off"]["alone"] == 0 for run in leaky],
    )
    unmasked = [100 * run["mask off"]["alone"] for run in masked]
    page.says(
        "the same weights run without their mask and write {:.0f} to {:.0f} % of the dates correctly, so the mask is "
        "a part of the model",
        min(unmasked),
        max(unmasked),
        holds=[run["mask on"]["alone"] > 0.95 for run in masked],
    )
    page.says(
        "That does not help: no date is correct, even while the model reads the target.",
        holds=[run["mask on"]["alone"] == run["mask on"]["reading"] == 0 for run in leaky],
    )
    table = np.reshape(page.numbers("d8-leak", r"([\d.]+)%"), (4, 2, len(leaky)))  # (row, reads or writes, seed)
    page.says("The first row is the correct model.", holds=bool((table[0] > 95).all()))
    page.says(
        "The two columns agree: as long as each digit is correct, the model reads the same prefix.",
        holds=bool((table[0, 0] == table[0, 1]).all()),
    )
    page.says("The fourth row is the leak:", holds=bool((table[3, 0] == 100).all() and (table[3, 1] == 0).all()))
    first = {run["mask off"]["first line written"] for run in leaky}
    page.says("What it writes instead differs from seed to seed.", holds=len(first) == len(leaky))
    page.says(
        "good weights that are used without it write few dates correctly, or none",
        holds=[min(unmasked) == 0, max(unmasked) < 20],
    )
    copied, base = (np.array([run["copied"] for run in runs]) for runs in (leaky, masked))  # (seeds, 8)
    first, second, later = (100 * copied[:, digits] for digits in (0, 1, slice(2, None)))
    page.says(
        "Without the mask the model copies the first digit in {:.0f} to {:.0f} % of the dates, the second in {:.0f} to "
        "{:.0f} %, and each later one in {:.0f} to {:.0f} % (the range of three seeds).",
        *(edge(share) for share in (first, second, later) for edge in (np.min, np.max)),
    )
    page.says("it cannot see the false digit, and predicts it in at most {:.1f} %.", 100 * base.max())
    page.says("from the third digit on the model copies", holds=copied[:, 2:].min() > 0.8)
    page.says("with the mask almost never", holds=base.max() < 0.05)
    losses, leaky_losses = (np.array([run["losses"] for run in runs]) for runs in (masked, leaky))
    lower = bool((leaky_losses[:, 1:] < losses[:, 1:]).all())
    page.says("Without the mask the loss falls faster", holds=lower)
    page.says("shows one that does copy, and its loss is lower than that of the correct model.", holds=lower)
    page.says("both end near the same floor", holds=np.ptp([*losses[:, -1], *leaky_losses[:, -1]]) < 0.05)
    page.says("A model that leaks can be perfect while it reads the target, and wrong when it writes.")


def exposure(page: Page, leaks: dict) -> None:
    after = {
        name: np.array([[run[name]["after a false digit"][t][t + 1] for t in range(7)] for run in leaks.values()])
        for name in ("mask", "mask, corrupted prefixes")
    }  # (seeds, 7)
    clean, corrupted = after.values()
    shares = 100 * clean.mean(axis=1)
    page.says("(b) about half the time", holds=(abs(shares - 50) < 10).all())
    page.says("In {:.0f} to {:.0f} % of the cases (three seeds)", min(shares), max(shares), holds=len(shares) == 3)
    before = np.array([run["mask"]["after a false digit"][7][1:8] for run in leaks.values()])  # the same seven digits
    page.says("after a correct prefix in more than 99 %", holds=(before.mean(axis=1) > 0.99).all())
    repaired = 100 * corrupted.mean(axis=1)
    page.says(
        "The correct prefixes are the cause: with false digits in training, {:.0f} % of the next digits are correct "
        "with each of three seeds.",
        min(repaired),
        holds=[len(repaired) == 3, round(min(repaired)) == round(max(repaired)), *(repaired > shares + 30)],
    )
    gains = [
        100 * (run["mask, corrupted prefixes"]["mask on"]["alone"] - run["mask"]["mask on"]["alone"])
        for run in leaks.values()
    ]
    page.says(
        "Whole dates, written after its *own* prefixes, gain only {:.1f} to {:.1f} points",
        min(gains),
        max(gains),
        holds=0 < min(gains) <= max(gains) < 10,
    )
    page.says(
        "this model seldom makes a mistake that it could then read",
        holds=[run["mask"]["mask on"]["alone"] > 0.95 for run in leaks.values()],
    )
    page.says("A tenth of false digits in training repairs nearly everything.", holds=corrupted.mean() > 0.97)
    inside, next_field = clean[:, [0, 1, 2, 4, 6]], clean[:, [3, 5]]  # in year, month, day; year to month, month to day
    page.says(
        "far below 1 inside the year, the month and the day, and higher where the next field begins",
        holds=[(inside.mean(axis=0) < 0.6).all(), (next_field.min(axis=1) > inside.max(axis=1)).all()],
    )
    page.says("Trained with false digits, all cells are near 1.", holds=corrupted.min() > 0.95)
    page.says(
        "in the left map below, the next digit of the same year, month or day suffers most",
        holds=(next_field.min(axis=1) > inside.max(axis=1)).all(),
    )
    page.says("A model learns to continue after mistakes if its training contains mistakes.")


def loss(page: Page, leaks: dict) -> None:
    floor, last = page.numbers("d8-floor", r"floor ([\d.]+); loss of the last epoch ([\d.]+)")[:2]
    page.says("with smoothing 0.1 it has its minimum, the floor of {:.3f}, near a gap of 5.8, and rises again", floor)
    every = [run[name]["losses"][-1] for run in leaks.values() for name in ("mask", "no mask")]
    masked, leaky = every[::2], every[1::2]
    page.says(
        "All trainings end near the floor: with the mask {:.3f} to {:.3f} above it, the leaky ones {:.3f}.",
        min(masked) - floor, max(masked) - floor, max(leaky) - floor,
        holds=[max(*every, last) < floor + 0.05, round(min(leaky) - floor, 3) == round(max(leaky) - floor, 3)],
    )  # fmt: skip
    page.says(
        "The smallest possible loss is the entropy of the target, given what the model reads: it is 0 only if that "
        "makes the target certain."
    )
    reached, entropy = page.number("d8-six", r"step 300: loss ([\d.]+)"), page.number("d8-six", r"the people: ([\d.]+)")
    page.says("Its smallest value, at $q = p$, is the entropy of", holds=entropy < reached < entropy + 0.02)


def mistakes(page: Page) -> None:
    shifted, copied = page.numbers("d8-copier", r"attention: ([\d.]+)")
    page.says('A "model" without any attention is enough to copy it.', holds=copied < 0.05 < 1 < shifted)
    shapes = page.numbers("d8-order", r"\((\d+), (\d+), (\d+)\)")
    same = [shapes == [1, 3, 8, 1, 3, 8], "equal: False" in page.output("d8-order")]
    page.says("no error, the same shapes, other numbers", holds=same)


def given(page: Page) -> None:
    page.given(
        "A date in one of six formats becomes eight digits: 27.3.1994 becomes 19940327.",
        "The paper's model has a dropout of 0.1 behind every part",
        "ε = 0.1 in the paper",
        "Two 9 by 9 maps",
        because="the design of the page, or cited: Vaswani et al., 2017",
    )
    page.given(
        "What is the smallest loss for ε = 0.1 and V = 35? (ln 0.90286 = −0.1022; ln 0.002857 = −5.858)",
        "each of the 34 others 0.1/35 = 0.002857",
        because="calculated by hand",
    )
    page.given(
        "In the encoder (2, 4, 11, 11), in the decoder (2, 4, 7, 7), in the cross-attention (2, 4, 7, 11).",
        "It reads “&lt;start&gt; 1 9 9 4”. At position 0 it predicts 1, at position 4 the end token.",
        "The target is “1 9 9 4 &lt;end&gt;”.",
        "B = 2, H = 4, T = 7, S = 11.",
        "(B, 1, S) |",
        "so that its weight is 0 and the others still sum to 1",
        "no later softmax brings its sum back to 1",
        "lets position $t$ look only at the positions 0 to $t$",
        "The padding mask has the shape (B, 1, T)",
        "Position 1 has the scores $(0, \\ln 3, 5)$ with the positions 0, 1 and 2.",
        "With the mask the exponentials are 1, 3 and 0 with the sum 4",
        "Position 0 has to predict the first digit, and position 1 reads the first digit.",
        "so position 0 could fetch its answer",
        "because token 50 needs token 49",
        "Its smallest value, at $q = p$, is the entropy of $p$, not 0",
        "the floor is 0, and the loss comes ever closer to 0",
        "it is 0 only if that makes the target certain",
        "Without smoothing it falls towards 0;",
        because="by definition",
    )
    page.given(
        "Time: about 65 minutes to read and predict",
        "(1,000 unseen dates;",
        "after one false digit in 1,000 unseen dates",
        "Put a false digit one position to the right, where its answer stands",
        because="the design of the page",
    )
