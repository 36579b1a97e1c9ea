"""What lecture 9 says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    tokens(page)
    counted(page)
    trained(page)
    position_map(page)
    moved(page)
    rollout(page)
    sentences_as_labels(page)
    mistakes(page)
    given(page)


def tokens(page: Page) -> None:
    pixels = page.number("v9-pixels", r"pixels +[\d,]+ tokens +attention weights +([\d.]+) GB")
    page.says(
        "Take each pixel of a photograph as a token: 224 · 224 = 50,176 tokens",
        holds=[pixels > 100, "50,176 tokens" in page.output("v9-pixels")],
    )
    page.says("You get fewer tokens by P², and fewer weights by P⁴; with P = 16 that is 65,536.")
    page.says(
        "With one token for each pixel the attention weights grow with the fourth power of the image's side; patches "
        "divide them by P⁴."
    )
    rows = page.number("v9-grid", r"row of tokens \(1, (\d+), 768\)")
    page.says("The encoder gets the photograph as a row of {:.0f} squares.", rows)
    page.says("Which of the {:.0f} outputs should the head read?", rows)
    first, second = page.numbers("v9-hand", r"its token: \[ *(-?\d+)\. *(-?\d+)\.\]")
    page.says("The first feature is 2 + 6 = 8, the second 3 − 7 = −4.", holds=[first == 8, second == -4])
    page.given("The patch is (2, 3, 6, 7).", because="calculated by hand")
    page.says("A ViT begins with one convolution", holds="up to rounding: True" in page.output("v9-conv"))
    noticed = page.output("v9-swap").split("swap: ")
    page.says(
        "Only the position table notices that two patches are swapped.",
        holds=[noticed[1].startswith("True"), noticed[2].startswith("False")],
    )


def counted(page: Page) -> None:
    table = {
        line.split()[0]: [float(number.replace(",", "")) for number in line.split()[1:4]]
        for line in page.output("v9-counted").splitlines()
        if line.startswith("ViT")
    }  # tokens, parameters without head, billions of multiplications
    page.says(
        "B/32 has more parameters than B/16: its projection is larger",
        holds=[table["ViT-B/32"][1] > table["ViT-B/16"][1], 3.5 < table["ViT-B/16"][2] / table["ViT-B/32"][2] < 4.5],
    )
    page.says(
        "But B/16 costs about four times as much, because {:.0f} tokens pass every block instead of {:.0f}.",
        *(table["ViT-B/16"][0], table["ViT-B/32"][0]),
    )
    base, large = table["ViT-B/16"], table["ViT-L/16"]
    page.says(
        "L/16 has as many tokens as B/16, {:.1f} times its parameters and {:.1f} times its cost.",
        large[1] / base[1], large[2] / base[2], holds=large[0] == base[0],
    )  # fmt: skip
    page.says(
        "At these sizes a ViT's cost is close to parameters times tokens: each token passes nearly every matrix once.",
        holds=[abs(tokens * count / 1e9 / work - 1) < 0.15 for tokens, count, work in table.values()],
    )
    page.given(
        "32 · 32 · 3 · 768 numbers against 16 · 16 · 3 · 768.",
        "(Why you read 86, 307 and 632 million elsewhere:",
        "To count H/14 you need not build its 32 blocks",
        because="calculated by hand, or cited: table 1 of the paper",
    )


def trained(page: Page) -> None:
    vit, convnet = page.numbers("v9-train", r"([\d,]+) parameters")
    correct = page.numbers("v9-train", r"(\d+) of 360 test digits correct")
    page.says("the same number of parameters within 1 %", holds=abs(vit / convnet - 1) < 0.01)
    rows = {
        name: page.numbers("v9-seeds", rf"(?m)^{name} " + r" +(\d+)" * 5 + r" +([\d.]+)%" * 5)
        for name in ("vit", "convnet")
    }
    first = {name: np.array(row[:5]) for name, row in rows.items()}
    tested = {name: np.mean(row[5:]) for name, row in rows.items()}
    page.says(
        "At the end they are equal: each reads {:.1f} % of the test digits, averaged over five runs.",
        tested["vit"],
        holds=[
            round(tested["vit"], 1) == round(tested["convnet"], 1),
            *(abs(count / 3.6 - row[5]) < 0.06 for count, row in zip(correct, rows.values(), strict=True)),
        ],
    )
    beside = page.evidence("09")
    slower = np.reshape(
        beside.numbers("e09-rates", r"(?m)^0\.00[12] +\d +(\d+) +(\d+) "), (2, -1, 2)
    )  # (rates, seeds, ViT and ConvNet): the first epoch above 97 %
    page.says(
        "it looks the same at two smaller learning rates",
        holds=(slower[..., 0] > 2 * slower[..., 1]).all(),
    )
    page.says(
        "Both learn to read these digits; the ViT takes several times as many passes.",
        holds=[(first["vit"] > 2 * first["convnet"]).all(), np.median(first["vit"] / first["convnet"]) > 3],
    )
    page.says(
        "But the ConvNet is first above 97 % after {:.0f} to {:.0f} of the 80 epochs, the ViT after {:.0f} to {:.0f};",
        *(first["convnet"].min(), first["convnet"].max(), first["vit"].min(), first["vit"].max()),
    )
    page.given("1,797 handwritten digits of 8 × 8 pixels", "Patches of 2 × 2 give 16 tokens.", because="the data")
    page.given("the 360 test images choose nothing", because="the split of the page")


def position_map(page: Page) -> None:
    rows = np.reshape(
        page.numbers("v9-cosines", r"neighbours ([-+.\d]+) → ([-+.\d]+), others ([-+.\d]+) → ([-+.\d]+)"), (5, 4)
    )
    near_before, near, _, far = rows.T
    noise = page.numbers("v9-cosines", r"noise: neighbours ([-+.\d]+), others ([-+.\d]+)")
    page.says(
        "After the mean is taken away, 16 rows of pure noise have a cosine of about −1/15 = −0.067, neighbours or not.",
        holds=[abs(each + 1 / 15) < 0.002 for each in noise],
    )
    page.says(
        "In every run neighbouring rows end a little more alike than others: {:+.2f} to {:+.2f}, where noise "
        "has −0.067.",
        near.min(), near.max(),
        holds=[len(rows) == 5, (near_before < 0).all(), (near > far).all(), near.max() < 0.3],
    )  # fmt: skip


def moved(page: Page) -> None:
    rows = np.reshape(
        page.numbers("v9-moved", r"(?m)^\w+ +([\d.]+)% +([\d.]+)% +([\d.]+)% +([\d.]+)%"), (4, 4)
    )  # right, left, up, down: ConvNet, ViT, rows moved along, the same ink cut off
    convnet, vit, along, cut = rows.T
    page.says("The last two columns are equal, as the theorem says.", holds=(along == cut).all())
    page.says("(c) Move patch and row together, and the encoder reads the same sums", holds=along[0] > 90)
    page.says("the ViT's accuracy falls below one half", holds=vit[0] < 50)
    page.says(
        "To the right and to the left the ViT falls far below the ConvNet, and with its position rows moved along it "
        "is above the ConvNet.",
        holds=[(vit[:2] < convnet[:2] - 15).all(), (along[:2] > convnet[:2]).all()],
    )
    page.says("Up and down the rows bring back a part", holds=(vit[2:] + 10 < along[2:]).all())
    here = page.numbers("v9-moved-all", r"this page (\d+)%")
    seeds = np.reshape(page.numbers("v9-moved-all", r"seeds (\d+)%, (\d+)%, (\d+)%, (\d+)%"), (2, 4))
    page.says(
        "Over all 16 moves by two pixels, the diagonal ones included, it still loses less in every run:",
        holds=[here[0] < here[1], seeds[0].max() < seeds[1].min()],
    )
    page.says(
        "To the right the accuracy falls from {:.1f} % to {:.1f} %, and the moved rows bring it back to {:.1f} %",
        page.number("v9-bytes", r"0 to 1: ([\d.]+)% correct"), vit[0], along[0],
    )  # fmt: skip
    still = page.number("v9-bytes", r"0 to 1: ([\d.]+)% correct")
    back = (along - vit) / (still - vit)  # the share of each loss that the rows bring back
    page.says("there most of the loss is the ink's", holds=(back[2:] < 0.5).all())
    page.says(
        "to the right it loses {:.1f} points, more than the {:.1f} that the ink costs the ViT",
        still - convnet[0], still - cut[0], holds=page.output("v9-train").count("356 of 360") == 2,
    )  # fmt: skip
    page.given("three convolutions of 3 × 3 padded with zeros, two halvings", because="digit_images.convnet")
    page.says(
        "Here, sideways, the position table explains nearly all that the ViT loses.", holds=(back[:2] > 0.9).all()
    )


def rollout(page: Page) -> None:
    page.says("0.6 · 0 + 0.4 · 0.8 = 0.32", holds="0.68 0.32" in page.output("v9-followed"))
    page.given(
        "Check the 0.32: row 0 of",
        "is (0.6, 0.4), column 1 of",
        "is (0, 0.8), and",
        because="calculated by hand",
    )
    beside = page.evidence("09")
    page.says(
        "{:.1f} % and {:.1f} % of the digits were still read. The difference is within chance:",
        *beside.numbers("e09-deleted", r"([\d.]+)% still correct"),
        holds=beside.number("e09-deleted", r"p = ([\d.]+)") > 0.05,
    )
    page.says(
        "Rollout assumes its mixture: after two blocks the class token keeps at least a quarter of itself, whatever it "
        "has read."
    )


def sentences_as_labels(page: Page) -> None:
    old, *_ = page.numbers("v9-zero-shot", r"a handwritten three +([\d.]+)%")
    new = page.number("v9-zero-shot", r"the digit 3 +([\d.]+)%")
    others, sevens = page.numbers("v9-zero-shot", r"without a seven: ([\d.]+)% of the others, ([\d.]+)% of \d+ sevens")
    page.says(
        "(b) With the digit 3 it still reads {:.1f} % correctly, with the words of the training {:.1f} %; guessing has "
        "10 %. Of the sevens it reads none, though their caption is on offer.",
        *(new, old),
        holds=[sevens == 0, others > 85],
    )
    page.says(
        "In this toy most digits were found by words that the training never had; the digit that it never had was not "
        "found.",
        holds=[new > 80, sevens == 0],
    )
    own, other = (
        np.array(page.numbers("v9-words", rf"{name} +" + r" (\S+)" * 10))
        for name in ("its own new caption", "the nearest other")
    )
    lead = own - other
    page.says(
        "But a handwritten one is ahead by {:.3f} only, the others by {:.3f} or more.",
        lead[1], np.delete(lead, 1).min(), holds=lead.argmin() == 1,
    )  # fmt: skip
    page.says(
        "Each old caption has its own new one nearest: MiniLM knows that 3 and three go together.",
        holds=(lead > 0).all(),
    )
    page.says("the sevens are taken for other digits, and none for a seven", holds=sevens == 0)
    page.given(
        "(Radford et al., 2021) reads 400 million such pairs",
        "The image tower is your ViT, anew from noise, with 384 outputs",
        "Two maps of ten by ten",
        "each row sums to 1.",
        "The factor 30 is ours; CLIP learns its own, from 14 on and capped at 100 (section 2.5 of the paper).",
        because="cited, or the design of the page",
    )


def mistakes(page: Page) -> None:
    right, wrong = page.numbers("v9-bytes", r"([\d.]+)% correct")
    page.says("The model was trained on pixels from 0 to 1 and gets bytes, 0 to 255.", holds=wrong < right - 5)


def given(page: Page) -> None:
    page.given("the photograph costs 196 tokens, the question six", because="the shapes of the figure")
    page.given("An image of 4 × 4 pixels, one channel, P = 2, D = 2, no bias.", because="an example")
    page.given("Each patch is flattened, (16, 16, 3) → 768 numbers", because="calculated by hand")
    page.given(
        "14 by 14 square patches with gaps; below them 21 patches",
        'each "patch" holds 256 consecutive pixels, from two rows of the image',
        because="the design of the page",
    )
    page.given(
        "Time: about 63 minutes to read and predict",
        "count B/16, L/16 and H/14 yourself",
        "one block take, with 12 heads and 4 bytes a number",
        "An image is worth 16 × 16 words",
        "part of scikit-learn",
        "CC BY 2.0",
        "Patches are counted from 0, so patch 1 is at the top right.",
        "A name such as B/16 gives",
        "An image of 96 × 144 × 3, P = 16, D = 192.",
        "You go from P = 24 to P = 8.",
        "A ViT trained at 224 pixels should read images of 384.",
        "(B, N + 1, D) |",
        "(N + 1)·D |",
        "L·(4D² + 2DF + 9D + F) |",
        "2D + D·K + K |",
        because="names, definitions and the design of the page",
    )
    page.given(
        "MiniLM of lecture 7 (84 MB:",
        "The shapes are those of ViT-B/16.",
        "a convolution with stride 16 and becomes 196 patch tokens of 768 numbers. A class token stands in front of "
        "them. Learned positions are added to all 197.",
        "gives 1,000 logits",
        "a distribution over 65,536 outputs that nobody has named",
        "each with a softmax over 65,536 outputs",
        "First you write new sentences, the digit 3 in place of",
        "(B, 196, 576); the question goes through the word table, (B, 6, 576);",
        "8 × 8 digits, one ConvNet and one ViT of its size.",
        "The lines for KerasHub were read in the source of 0.29.1",
        because="the models' own sizes, and the design of the page",
    )
    page.given(
        "N = 6 · 9 = 54. Patches (B, 54, 768), tokens (B, 55, 192), table (55, 192).",
        "There are 9 times as many patches and 81 times as many weights.",
        "197 rows against 577",
        because="calculated by hand",
    )
