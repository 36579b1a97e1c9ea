"""What lecture 9 says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    others = page.recorded("lecture_seeds")["results"]["09_vision_transformer"]
    tokens(page)
    counted(page)
    trained(page, others)
    position_map(page, others)
    moved(page)
    rollout(page)
    mistakes(page)
    given(page)


def tokens(page: Page) -> None:
    pixels = page.number("v9-pixels", r"pixels +[\d,]+ tokens +attention weights +([\d.]+) GB")
    page.says("(c) There are 224 · 224 = 50,176 tokens, and 12 · 50,176² weights of 4 bytes are {:.0f} GB.", pixels)
    page.given("(a) 10 MB - (b) 1 GB - (c) 100 GB", because="choices")
    page.says("the number of attention weights by P⁴; with P = 16 that is 65,536.")
    page.says("One token for each pixel costs the fourth power of the image's side; patches divide that by P⁴.")
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
    found = page.output("v9-counted")
    table = {
        line.split()[0]: [int(number.replace(",", "")) for number in line.split()[1:5]]
        for line in found.splitlines()
        if line.startswith("ViT")
    }  # tokens, without head, with it, billions
    million = {name: (round(row[1] / 1e6), round(row[2] / 1e6)) for name, row in table.items()}
    widths = {"ViT-B/16": 768, "ViT-L/32": 1024, "ViT-H/14": 1280}  # D, also that of the pre-training head's layer
    page.says(
        "No column of our table gives all three: 86 is B/16 without its head, 632 is H/14 with it, and 307 fits only "
        "L/32.",
        holds=[
            million["ViT-B/16"][0] == 86,
            million["ViT-B/16"][1] != 86,
            million["ViT-H/14"][1] == 632,
            million["ViT-H/14"][0] != 632,
            million["ViT-L/32"][1] == 307,
            307 not in million["ViT-L/16"],
        ],
    )
    page.says(
        "One rule fits B/16, L/32 and H/14: leave out the classifier, and add the hidden layer (D² + D numbers)",
        holds=[round((table[name][1] + d * d + d) / 1e6) for name, d in widths.items()] == [86, 307, 632],
    )
    page.says("L/16 has {:.0f} or {:.0f} million, so", *million["ViT-L/16"])
    page.says(
        "B/32 has more parameters: its projection is larger",
        holds=[table["ViT-B/32"][2] > table["ViT-B/16"][2], 3.5 < table["ViT-B/16"][3] / table["ViT-B/32"][3] < 4.5],
    )
    page.given(
        "32 · 32 · 3 · 768 numbers against 16 · 16 · 3 · 768, and its smaller position table saves only 147 · 768.",
        "because 197 tokens pass every block instead of 50",
        "The paper's table 1 gives 86, 307 and 632 million parameters for Base, Large and Huge.",
        '"ViT-L/16 has 307 million parameters" mixes two models.',
        "To count H/14 you need not build its 32 blocks",
        because="calculated by hand, or cited: table 1 of the paper",
    )


def trained(page: Page, others: dict) -> None:
    vit, convnet = page.numbers("v9-train", r"([\d,]+) parameters")
    correct = page.numbers("v9-train", r"(\d+) of 360 test digits correct")
    chance = page.number("v9-train", r"p = ([\d.]+)") > 0.05
    only = page.numbers("v9-train", r"only the ViT is correct: (\d+), only the ConvNet: (\d+)")
    page.says(
        "The ViT is correct on {:.0f} of the 360 digits, the ConvNet on {:.0f}, and each reads two that the other "
        "misses: no difference beyond chance",
        *correct,
        holds=[chance, only == [2, 2]],
    )
    page.says("the same number of parameters within 1 %", holds=abs(vit / convnet - 1) < 0.01)
    first = {
        name: [
            float(number) for number in page.output("v9-seeds").split(f"{name} ")[1].split("[")[1].split("]")[0].split()
        ]
        for name in ("vit", "convnet")
    }
    beside = page.evidence("09")
    slower = np.reshape(
        beside.numbers("e09-rates", r"(?m)^0\.00[12] +\d +(\d+) +(\d+) "), (2, -1, 2)
    )  # (rates, seeds, ViT and ConvNet): the first epoch above 97 %
    ahead = np.array(first["vit"]) > 2 * np.array(first["convnet"])
    page.says(
        "at each of three learning rates the ConvNet needs far fewer passes over them, with every seed.",
        holds=[len(ahead) == 5, ahead.all(), (slower[..., 0] > 2 * slower[..., 1]).all()],
    )
    page.says(
        "at {:g} and {:g}, too, the ConvNet needs far fewer epochs",
        *sorted(set(beside.numbers("e09-rates", r"(?m)^(0\.00\d) ")), reverse=True),
        holds=(slower[..., 0] > 2 * slower[..., 1]).all(),
    )
    page.says("The ConvNet is above 97 percent many epochs before the ViT.", holds=ahead.all())
    page.says("The line marks 97 percent.")
    tested = np.reshape(page.numbers("v9-seeds", r"test " + ", ".join([r"([\d.]+)%"] * 5)), (2, 5)).mean(axis=1)
    page.says(
        "At the end the two are equal on the test digits: each reads {:.1f} % correctly, averaged over five seeds.",
        tested[0],
        holds=round(tested[0], 1) == round(tested[1], 1),
    )
    colour = np.reshape(page.numbers("v9-seeds", r"epochs, \w+ +([\d.]+)%, ([\d.]+)%, ([\d.]+)%"), (2, 3))
    page.says(
        "(CIFAR-10, last two lines) the ConvNet is ahead after six epochs", holds=colour[0].max() < colour[1].min()
    )
    page.given("1,797 handwritten digits of 8 × 8 pixels", "Patches of 2 × 2 give 16 tokens.", because="the data")
    page.given(
        "no choice depends on the 360 test images",
        "On the digits it is 0.004",
        because="the split of the page",
    )


def position_map(page: Page, others: dict) -> None:
    rows = np.reshape(
        page.numbers("v9-cosines", r"neighbours ([-+.\d]+) → ([-+.\d]+), others ([-+.\d]+) → ([-+.\d]+)"), (5, 4)
    )
    near_before, near, far_before, far = rows.T
    page.says(
        "The table starts as noise, and training writes a little of the image's geometry into it.",
        holds=[(near - far > near_before - far_before).all(), (near > far).all(), near.max() < 0.3],
    )
    noise = np.random.default_rng(0).normal(size=(500, 16, 64))
    noise -= noise.mean(axis=1, keepdims=True)
    noise /= np.linalg.norm(noise, axis=-1, keepdims=True)
    base = (np.einsum("nid,njd->nij", noise, noise).sum(axis=(1, 2)) - 16).mean() / (16 * 15)
    page.says(
        "Rows of noise, their mean taken away, would have a cosine of about −1/15 = −0.067, neighbours or not.",
        holds=abs(base + 1 / 15) < 0.002,
    )
    page.says(
        "With all five seeds the cosine of neighbours rises to between {:+.2f} and {:+.2f}.",
        near.min(), near.max(),
        holds=[len(rows) == 5, (near_before < 0).all(), (near > base + 0.05).all()],
    )  # fmt: skip
    page.says("That of the others stays near its base rate.", holds=abs(rows[:, 2:] - base).max() < 0.03)
    page.says(
        "After training, rows of neighbouring patches are a little more alike than others.", holds=(near > far).all()
    )
    page.given(
        "one small map for each of the 16 patches: the cosine of its position vector with the other 15",
        "Two blocks of 4 by 4 small maps",
        "with the rows of all 16 patches",
        "a ViT with one learned vector for each position reaches 64.2 %, with vectors of row and column 64.0 %, "
        "without positions 61.4 % (table 8)",
        because="the design of the page, or cited: the ViT paper, table 8",
    )


def moved(page: Page) -> None:
    rows = np.reshape(
        page.numbers("v9-moved", r"(?m)^\w+ +([\d.]+)% +([\d.]+)% +([\d.]+)% +([\d.]+)%"), (4, 4)
    )  # right, left, up, down: ConvNet, ViT, rows moved along, the same ink cut off
    convnet, vit, along, cut = rows.T
    page.says("The last two printed columns must be equal.", holds=(along == cut).all())
    page.says("(c) The blocks see the same tokens as before", holds=along[0] > 90)
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
        "Over all 16 moves by two pixels, the diagonal ones included, it loses less with all five seeds:",
        holds=[here[0] < here[1], seeds[0].max() < seeds[1].min()],
    )
    page.says(
        "To the right the accuracy falls from {:.1f} % to {:.1f} %, and the moved rows bring it back to {:.1f} %",
        page.number("v9-bytes", r"0 to 1: ([\d.]+)% correct"), vit[0], along[0],
    )  # fmt: skip
    still = page.number("v9-bytes", r"0 to 1: ([\d.]+)% correct")
    back = (along - vit) / (still - vit)  # the share of each loss that the rows bring back
    page.says("there most of the loss comes from the ink", holds=(back[2:] < 0.5).all())
    page.says("Sideways, the position table explains nearly all that is lost.", holds=(back[:2] > 0.9).all())


def rollout(page: Page) -> None:
    page.says("0.6 · 0 + 0.4 · 0.8 = 0.32", holds="0.68 0.32" in page.output("v9-followed"))
    page.given(
        "In the product of the second and the first, row 0 has in its second column",
        because="calculated by hand",
    )
    (more, ink_more), (less, ink_less) = np.reshape(
        page.numbers("v9-ink", r"rollout, ink ([\d.]+): ([\d.]+)% still"), (2, 2)
    )[:, ::-1]
    page.says(
        "Without the patches of more rollout {:.0f} % of the digits are still correct, without those of less {:.0f} %, "
        "and chance alone can make such a difference.",
        *(more, less),
        holds=page.number("v9-ink", r"p = ([\d.]+)") > 0.05,
    )
    page.says("(This is one model, the second set has {:.0f} % more ink", 100 * (ink_less / ink_more - 1))
    page.says("Believe a map only after a test that it could have failed.")


def mistakes(page: Page) -> None:
    right, wrong = page.numbers("v9-bytes", r"([\d.]+)% correct")
    page.says("The model was trained on pixels from 0 to 1 and gets bytes, 0 to 255.", holds=wrong < right - 5)


def given(page: Page) -> None:
    page.given("An image of 4 × 4 pixels, one channel, P = 2, D = 2, no bias.", because="an example")
    page.given("Each patch is flattened, (16, 16, 3) → 768 numbers", because="calculated by hand")
    page.given(
        "14 by 14 square patches with gaps; below them 21 patches",
        'each "patch" holds 256 consecutive pixels, from two rows of the image',
        because="the design of the page",
    )
    page.given(
        "Time: about 65 minutes to read and predict",
        "count B/16, L/16 and H/14 yourself",
        "One photograph of 224 × 224 pixels, one block, 12 heads, 4 bytes a number.",
        "An image is worth 16 × 16 words",
        "part of scikit-learn",
        "CC BY 2.0",
        "Patches are counted from 0, so patch 1 is at the top right.",
        "A name such as B/16 gives",
        "Compare B/32 with B/16.",
        "And B/16 costs about four times as much",
        "any weight between 0 and 1",
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
        "N = 6 · 9 = 54. Patches (B, 54, 768), tokens (B, 55, 192), table (55, 192).",
        "There are 9 times as many patches and 81 times as many weights.",
        "197 rows against 577",
        because="calculated by hand",
    )
