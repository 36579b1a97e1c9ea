"""What lecture 9 says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page

CHART = "application/vnd.vegalite.v5+json"


def claims(page: Page) -> None:
    memory(page)
    patches_and_parameters(page)
    digits(page)
    shifts(page)
    rollout(page)
    mistakes(page)
    examples(page)
    cited(page)


def memory(page: Page) -> None:
    rows = np.reshape(page.numbers("a430e8e4", r"([\d,]+) tokens +([\d,.]+) GB"), (3, 4))
    (_, small_pixels), (pixels, by_pixel) = rows[0, :2], rows[1, :2]
    page.says("224 · 224 = {:,.0f} tokens.", pixels)
    page.says("{:.0f} GB, for one image and one of 12 blocks.", by_pixel)
    page.says("The photograph becomes {:.0f} tokens", rows[1, 2])
    page.says("the attention weights by P⁴ = {:,.0f}", 16**4, holds=abs(by_pixel / rows[1, 3] / 16**4 - 1) < 0.01)
    gigabytes = by_pixel / 224**4
    page.says(
        "the line crosses 16 gigabytes at a side of about 135 pixels; with patches of 4 at about 540; "
        "patches of 16 stay below one gigabyte up to 1024",
        holds=[abs((16 / gigabytes) ** 0.25 - side) < 5 for side in (135, 540 / 4)]
        + [gigabytes * (1024 / 16) ** 4 < 1, small_pixels < 16],
    )
    page.says("The number of tokens falls by P²", holds=pixels / rows[1, 2] == 256)


def patches_and_parameters(page: Page) -> None:
    flat = page.numbers("4d9d5682", r"patch 1: \[(\d)\. (\d)\. (\d)\. (\d)\.\]")
    token = page.numbers("4d9d5682", r"its token: \[ ?(-?\d)\. (-?\d)\.\]")
    page.says("({:.0f}, {:.0f}, {:.0f}, {:.0f}). First feature 2 + 6 = 8, second 3 − 7 = −4", *flat)
    page.says("The token is ({:.0f}, −{:.0f})", token[0], -token[1])
    tokens, width = page.number("7bc4a02e", r"tokens \(1, (\d+),"), page.number("7bc4a02e", r"tokens \(1, \d+, (\d+)\)")
    page.says("(16, 16, 3) → {:.0f} numbers", width)
    page.says("Which of the {:.0f} outputs should the head read?", tokens)
    page.says("the photograph's {:.0f} tokens at D = 64 twice", tokens)
    page.says("14 by 14 square patches", holds=tokens == 14 * 14)
    same = page.output("0f1b3d89")
    weights = page.numbers("0f1b3d89", r"parameters: (\d+) (\d+)")
    page.says(
        "They agree up to rounding.",
        holds=["equal up to rounding: True" in same, weights == [16 * 16 * 3 * 64 + 64] * 2],
    )
    kept = page.output("51bb7c8b")
    page.says(
        "(a) yes; (b) not at all.",
        holds=["answer: False" in kept.split("\n")[0], "answer: True" in kept.split("\n")[1]],
    )

    one, two, block = page.numbers("52800c6f", r"block ([\d,]+), two blocks ([\d,]+), so a block has ([\d,]+)")
    page.says("together {:,.0f}.", block, holds=block == 16_640 + 16_576 + 256 and two - one == block)
    page.given(
        "Projection 2·2·1·64 + 64 = 320. Class token 64. Positions 17·64 = 1,088. A block: attention "
        "4·(64² + 64) = 16,640,",
        "feed-forward 64·128 + 128 + 128·64 + 64 = 16,576, two norms 256",
        "Final norm 128. Head 64·10 + 10 =",
        because="calculated by hand, and checked in the cell below: 'the hand's: True'",
    )
    assert "the hand's: True" in page.output("52800c6f")

    names = ("B/32", "B/16", "L/32", "L/16", "H/14")
    row = r" +([\d,]+) +[\d,]+ +([\d,]+) +([\d,]+)"
    tokens, _, full = (
        dict(zip(names, column, strict=True))
        for column in np.transpose([page.numbers("6e99299d", f"ViT-{name}{row}") for name in names])
    )
    page.says("differ by about {:.1f} million parameters", (full["B/32"] - full["B/16"]) / 1e6)
    page.says("B/32 has more", holds=full["B/32"] > full["B/16"])
    page.says("B/16 has {:.0f} tokens against {:.0f}", tokens["B/16"], tokens["B/32"])
    page.says("nearly four times the arithmetic", holds=3.8 < tokens["B/16"] / tokens["B/32"] < 4)
    page.says(
        "Our count agrees for B/16 and H/14.",
        holds=[round(full["B/16"] / 1e6) in (86, 87), round(full["H/14"] / 1e6) == 632],
    )
    page.says(
        "For Large, {:.0f} M is the number of L/32 with its head, and L/16 has {:.0f} M.",
        full["L/32"] / 1e6,
        full["L/16"] / 1e6,
    )
    page.says("B/32 and B/16 have nearly the same number of parameters", holds=full["B/32"] / full["B/16"] < 1.02)
    totals = page.numbers("5c424360", r"ViT-\S+ +(\d+) billion")
    page.says(
        "B/32 about {:.0f} billion, B/16 about {:.0f}, L/32 about {:.0f}, L/16 about {:.0f}, H/14 about {:.0f}", *totals
    )
    shares = np.reshape(page.numbers("5c424360", r"projections (\d+) %, scores (\d+) %, feed-forward (\d+) %"), (5, 3))
    page.says(
        "The feed-forward networks take about two thirds, the projections one third, scores "
        "and weighted sums a thin slice",
        holds=[(abs(shares[:, 2] - 65) < 5).all(), (abs(shares[:, 0] - 33) < 4).all(), (shares[:, 1] < 6).all()],
    )
    page.says("At 197 tokens the quadratic part, in red, is a thin slice.", holds=shares[1, 1] < 6)


def digits(page: Page) -> None:
    fitted, watched, tested = page.numbers("4b9eb547", r"(\d+) to fit, (\d+) to watch, (\d+) to test")
    page.says("{:,.0f} real scans of 8 × 8 grey pixels", fitted + watched + tested)
    page.says("and {:.0f} images are few", tested)
    right = dict(zip(("vit", "convnet", "svm"), page.numbers("64708585", r"(\d+) of 360 right"), strict=True))
    bounds = np.reshape(page.numbers("64708585", r"interval ([\d.]+)% to ([\d.]+)%"), (3, 2))
    page.says("the three intervals overlap", holds=bounds[:, 0].max() < bounds[:, 1].min())
    page.says("train one on real images to more than 97 %", holds=right["vit"] / tested > 0.97)
    page.says(
        "an old method without any knowledge of images, is in the same range",
        holds=bounds[:, 0].max() < bounds[:, 1].min(),
    )
    lowest = 1 / (1 + 1.96**2 / tested)
    page.says("1/(1 + 3.84/360) = {:.1f} %", 100 * lowest)
    epochs = r" 97 %: on this page in epoch (\d+), seeds 1 to 4 in epochs \[(\d+), (\d+), (\d+), (\d+)\]"
    shown = page.numbers("7aa89219", r"(?:first above|last below)" + epochs)  # ViT, then ConvNet: both lines of each
    first, last = np.reshape(shown, (2, 2, 5)).swapaxes(0, 1)
    page.says(
        "the ConvNet first passes 97 % within a few epochs, the ViT later",
        holds=[(first[1] < first[0]).all(), first[1].max() <= 20],
    )
    page.says("Both fall below it again.", holds=(first < last).all())
    page.says(
        "The ConvNet first passes 97 percent within a few epochs, the ViT later; at the end they are close",
        holds=abs(np.subtract(*page.numbers("64708585", r"last epoch: ([\d.]+)%"))) < 2,
    )
    table = np.reshape(page.numbers("c34de42d", r"(?:this page|seed \d) +(\S+) +(\S+) +(\S+) +(\S+)"), (5, 4))
    page.says(
        "A little, on this page and with each of the other seeds: the last column but one is larger than the last",
        holds=[(table[:, 2] > table[:, 3] + 0.05).all(), abs(table).max() < 0.3],
    )


def shifts(page: Page) -> None:
    here = np.reshape(page.numbers("44382ac8", r"moved by one pixel ([\d.]+)%, by two ([\d.]+)%"), (2, 2))
    seeds = np.reshape(page.numbers("44382ac8", r"([\d.]+)% to ([\d.]+)%, by two ([\d.]+)% to ([\d.]+)%"), (2, 4))
    vit, convnet = here
    page.says(
        "With moves by one pixel, which the augmentation has shown it, the ViT is still right on more than 90 % "
        "of the digits.",
        holds=[vit[0] > 90, seeds[0, 0] > 90],
    )
    page.says(
        "With two pixels it is right on about a quarter, with every seed",
        holds=[abs(vit[1] - 25) < 5, abs(seeds[0, 2:] - 25).max() < 6],
    )
    page.says("but it is right on about two thirds", holds=[abs(convnet[1] - 66) < 6, abs(seeds[1, 2:] - 66).max() < 6])
    page.says("The ViT. In a ConvNet a shifted digit gives shifted features", holds=(here[0] < here[1]).all())
    page.says(
        "Two pixels away from it the ViT has fallen much further than the ConvNet", holds=vit[1] < convnet[1] - 20
    )


def rollout(page: Page) -> None:
    page.says("(0.68, 0.32). So 0.32.", holds=page.numbers("26842696", r"\[\[([\d.]+) ([\d.]+)\]") == [0.68, 0.32])
    rows = {
        name: page.numbers("f8c176c8", rf"(?m)^{name} +(\d+)% +(\d+)% +(\d+)% +(\d+)% +(\d+)% +(\d+)% +(\d+)%")
        for name in ("rollout first", "ink first", "rollout last", "random, mean of 10 orders")
    }
    first, ink, last, chance = (np.array(values) for values in rows.values())
    page.says("Ink first falls at once and by far the most.", holds=(ink[1:5] < chance[1:5] - 10).all())
    points = (
        r"rollout first +(\S+), rollout last +(\S+), ink first +(\S+), random orders +(\S+) to +(\S+); .* ink (\S+)"
    )
    by_model = np.reshape(page.numbers("f8c176c8", points), (5, 6))  # this page and four seeds: points, correlation
    top, bottom, most, low, high, correlation = by_model.T
    page.says(
        "around it rollout first and rollout last, which are above the band with four patches deleted",
        holds=[top[0] > high[0], bottom[0] > high[0], abs(first - chance).max() < 12, abs(last - chance).max() < 12],
    )
    page.says("with four patches deleted, its top patches cost less than every random order", holds=top[0] > high[0])
    passes = (top < low) & (bottom > high)
    page.says(
        "One of the five models passes, that of seed 1.", holds=passes.tolist() == [False, True, False, False, False]
    )
    page.says(
        "With seeds 2 to 4 the top patches cost as much as random ones", holds=((low < top) & (top < high))[2:].all()
    )
    page.says(
        "the bottom patches cost less with seed 3 and more with seeds 2 and 4",
        holds=[bottom[3] > high[3], bottom[2] < low[2], bottom[4] < low[4]],
    )
    page.says(
        "The correlation with ink is weak and changes its sign.",
        holds=[abs(correlation).max() < 0.3, correlation.min() < 0 < correlation.max()],
    )
    page.says(
        "a map of the ink, which needs no model at all, finds the patches that matter far better",
        holds=(most < np.minimum(top, low) - 15).all(),
    )
    live_rollout(page)


def live_rollout(page: Page) -> None:
    """Every token keeps at least a quarter of itself in the rollout over both blocks that the figure stores."""
    chart = next(output.data[CHART] for output in page.cells["live-rollout"].outputs if CHART in output.data)
    rows = [row for rows in chart["datasets"].values() for row in rows if row.get("what") == "rollout up to it"]
    tokens = list(dict.fromkeys(row["query"] for row in rows))
    own = {block: [r["share"][tokens.index(r["query"])] for r in rows if r["block"] == block] for block in (1, 2)}
    page.says("So after one block at least ½ of the class token's rollout is its own.", holds=min(own[1]) >= 0.5)
    page.says("½ · ½ = ¼ after two blocks, whatever the weights are.", holds=min(own[2]) >= 0.25)
    page.given("a token may give itself any weight between 0 and 1", because="by definition")


def mistakes(page: Page) -> None:
    good, as_bytes = page.numbers("1bce2fe8", r"0 to 1: ([\d.]+)%; the same images as bytes: ([\d.]+)%")
    page.says("2: the accuracy drops, without an error message", holds=as_bytes < good - 30)
    page.says("and many answers are wrong", holds=page.number("1bce2fe8", r"last token: ([\d.]+)%") < 80)
    floor = page.number("1bce2fe8", r"second softmax: ([\d.]+)")
    page.says("the loss cannot fall below {:.2f} for ten classes", floor)


def examples(page: Page) -> None:
    page.given("Time: about 72 minutes", because="counted by tests/test_lectures.py")
    page.given(
        "A sentence of 200 words is 200 tokens.",
        "A photograph of 224 × 224 pixels",
        "12 heads, 4 bytes a number",
        "10 MB, 1 GB, 100 GB?",
        "12 · 50,176² numbers of 4 bytes",
        "a patch of 16 × 16 pixels",
        "cut to 224 × 224",
        "below them 21 patches laid out in a row",
        "An image of 4 × 4 pixels, one channel, P = 2, D = 2, no bias",
        "What is patch 1 (top right)",
        "For images of 8 × 8 × 1, P = 2, D = 64, F = 128, 10 classes",
        "its 32 blocks",
        "32·32·3·768 weights instead of 16·16·3·768, and its smaller position table saves only 147·768",
        "Patches of 2 × 2 give 16 tokens of four numbers",
        "Nine handwritten digits of 8 by 8 pixels",
        "At 8 by 8 pixels several of them are hard to read.",
        "three stages of 3 × 3 convolutions",
        "for no error at all it says ± 0.",
        "For a right answers of n and z = 1.96 it is",
        "A model has 360 of 360 right. Between which accuracies does it lie, with 95 % confidence?",
        "The upper end is 1",
        "No error in 360 does not mean",
        "on 8 × 8 pixels",
        "even that patch 5 lies beside patch 6",
        "by shift of the test digits, -2 to +2 pixels each way",
        "Block 1 has weights (1, 0 / 0.4, 0.6), block 2 (0.2, 0.8 / 0, 1). How much of input token 1 "
        "is in output token 0?",
        "block 1 (1, 0 / 0.2, 0.8), block 2 (0.6, 0.4 / 0, 1). The later block stands on the left: "
        "row 0 of the product is "
        "0.6·(1, 0) + 0.4·(0.2, 0.8) =",
        "Rows still sum to 1.",
        "Row 0 is the class token's; its entries 1 to 16 are a map of the patches",
        "under a map of 4 by 4 patches",
        "why a 3 and not an 8",
        "Six grids of 8 by 8 patches with one query patch in red. ViT and DeiT: it attends to all "
        "64. Swin: to the 16 of its "
        "window; in the next block to the 16 of a window shifted by half. MaxViT: to its block of "
        "16, then to 16 patches "
        "spread evenly over the whole image. T2T: three overlapping 3 by 3 windows.",
        "Someone gives the model bytes, 0 to 255, after training on 0 to 1.",
        "Answer 1: each “patch” is a strip of one or two rows",
        "4: the loss",
        "3: the last token is a patch",
        "Pixels not in 0 to 1",
        "Training accuracy 100 %, validation far below.",
        "40 epochs in section 7 instead of 80",
        "Digits of 8 × 8 pixels",
        because="an example, or a setting of the page",
    )
    page.given(
        "N = 6 · 9 = 54. Patches (B, 54, 768), tokens (B, 55, 192), table (55, 192), output (B, 55, 192).",
        "An image of 96 × 144 × 3, P = 16, D = 192.",
        "You go from P = 24 to P = 8.",
        "9 times the patches, 81 times the weights.",
        "A ViT trained at 224 should read images of 384.",
        "197 rows against 577",
        "a ViT with P = 1",
        because="calculated by hand",
    )
    for number in range(1, 6):
        page.given(f"{number}. ", because="the number of a question")
    page.given(
        "[← 8b ·",
        "equations 1 to 4 of the paper",
        "a/n = 1, and the root becomes z/2n. The upper end is 1, the lower one 1/(1 + z²/n)",
        because="a link, a reference, or calculated by hand",
    )
    models = (
        "B/16",
        "B/32",
        "L/16",
        "L/32",
        "H/14",
        "1-D",
        "2-D",
    )
    page.given(*models, because="names of models, data sets and dimensions")
    page.given("N + 1", "(N + 1)·D", "L·(4D² + 2DF + 9D + F)", "2D + D·K + K", because="a formula or a shape")


def cited(page: Page) -> None:
    page.given(
        "An image is worth 16 × 16 words",
        "The paper's table 1 gives 86 M, 307 M and 632 M",
        '"ViT-L/16 has 307 million parameters"',
        "a standard deviation of 0.02, as in the paper's code",
        "without positions 61.4 % in its 5-shot linear test, learned 1-D rows 64.2 %, 2-D rows 64.0 %",
        "the 86-million-parameter model reaches 83.1 % in under three days on one computer "
        "(abstract); compare 77.9 % for a ViT-B/16 (table 5 of the ViT paper)",
        "the abstract reports up to 85.2 %",
        "Patches of 4 × 4, attention only inside windows of 7 × 7 patches",
        "Between stages 2 × 2 patches are merged into one",
        "86.5 % on ImageNet without other data (abstract)",
        because="cited: Dosovitskiy et al., 2021, and the papers named beside the numbers",
    )
