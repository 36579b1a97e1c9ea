"""What lecture 9b says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page

SHARES = r" +".join([r"([\d.]+)%"] * 8)


def claims(page: Page) -> None:
    larger(page)
    more_images(page)
    built_in(page)
    video(page)
    given(page)


def larger(page: Page) -> None:
    flat, line, shuffled, fresh = (
        np.reshape(page.numbers("b9-grow-figure", rf"(?m)^{way} +{SHARES}"), (2, 4))
        for way in ("in two dimensions", "in one dimension", "shuffled", "fresh")
    )  # (before and after, seeds)
    page.says("in two dimensions: {:.0f} to {:.0f} % with four seeds", flat[0].min(), flat[0].max())
    noise = np.concatenate([shuffled[0], fresh[0]])
    page.says(
        "Shuffled and fresh rows have {:.0f} to {:.0f} %.",
        *(noise.min(), noise.max()),
        holds=noise.min() < 10 < noise.max(),
    )
    page.says(
        "The stretched line has {:.0f} to {:.0f} %, with every seed more than noise.",
        *(line[0].min(), line[0].max()),
        holds=(line[0] > np.maximum(shuffled[0], fresh[0])).all(),
    )
    best = np.max([line[1], shuffled[1], fresh[1]], axis=0)
    page.says("After five epochs the first is still ahead with every seed", holds=(flat[1] > best).all())
    page.says(
        "Before further training it does no better than noise ({:.0f} and {:.0f} % on average), and after five epochs "
        "it is worse in three of four seeds ({:.0f} against {:.0f} %).",
        *(shuffled[0].mean(), fresh[0].mean(), shuffled[1].mean(), fresh[1].mean()),
        holds=[shuffled[0].mean() <= fresh[0].mean(), (shuffled[1] < fresh[1]).sum() == 3],
    )
    page.says("Enlarged as a picture, the table works best at once.", holds=(flat[0] > line[0] + 20).all())
    page.says(
        "Of all parameters only the position table depends on the size of the images, and it can be enlarged as a "
        "picture."
    )


def more_images(page: Page) -> None:
    sizes = (r"500", r"2,000", r"8,000", r"32,000")
    pattern = r"(?m)^{} .*?images" + "".join(rf" +{size}: ([\d.]+)% / ([\d.]+)%" for size in sizes)
    every = np.array(
        [np.reshape(page.numbers("b9-more", pattern.format(name)), (4, 2)) for name in ("fashion_mnist", "cifar10")]
    )  # (sets, sizes, ViT and ConvNet)
    ranges = re.findall(r"%; the ViT needs (.*?) as many", page.output("b9-more-figure"))
    page.says("The ConvNet is ahead at every size.", holds=(every[..., 1] > every[..., 0]).all())
    own = {
        (model, images): np.array(
            page.numbers("b9-more", rf"improving, {model} +{images} images: ([\d.]+)% ([\d.]+)% ([\d.]+)%")
        )
        for model, images in (("vit", "2,000"), ("convnet", "500"))
    }
    page.says(
        "the ViT with 2,000 images of CIFAR-10 has {:.1f} to {:.1f} %, the ConvNet with 500 has {:.1f} to {:.1f} %",
        *(edge for each in own.values() for edge in (each.min(), each.max())),
    )
    page.says(
        "So here the ViT needs more than four times as many.",
        holds=own["vit", "2,000"].max() < own["convnet", "500"].min(),
    )
    page.says(
        "The arrows give larger factors: eight to thirteen times for 500 images of CIFAR-10 (for 500 clothes two to "
        "four).",
        holds=[ranges[2] == "8 to 13 times", ranges[0] == "2 to 4 times"],
    )
    page.says("To match the ConvNet the ViT needs several times as many images.")
    counts = np.reshape(list(page.recorded("vit_against_convnet")["results"]["parameters"].values()), (2, 2))
    page.says(
        "with the same number of parameters, within 1 %", holds=(abs(counts[:, 0] / counts[:, 1] - 1) < 0.01).all()
    )
    augmented = page.evidence("09").numbers(
        "run-b-0", r"augmented: to match the ConvNet with 500 the ViT needs (\d+) to (\d+) times"
    )
    page.says("With moved and mirrored images the eight to thirteen become three to seven.", holds=augmented == [3, 7])
    longest = [run for run in page.recorded("vit_against_convnet")["results"]["runs"] if run["images"] == 32_000]
    page.says(
        "with 32,000 images six epochs are too few for either model",
        holds=[run["best_epoch"] >= 5 for run in longest if run["dataset"] == "cifar10" and not run["augmentation"]],
    )


def video(page: Page) -> None:
    models = {
        (frames, kind): np.reshape(
            page.numbers("b9-video", rf"(?m)^{words}, {kind}" + r" +([\d.]+)%" * 3 * rows), (rows, 3)
        )  # (in order, shuffled; with two frames each backwards, opposite answer to each backwards; seeds)
        for frames, words, rows in ((2, "two frames", 4), (1, "one frame", 2))
        for kind in ("own moment only", "factorised")
    }
    pair = np.concatenate([models[2, "own moment only"], models[2, "factorised"]], axis=1)
    blind, over_time = models[1, "own moment only"], models[1, "factorised"]
    page.says(
        "With two frames both do, even the one without attention over time: at least "
        "{:.1f} %, and as much when the moments are shuffled.",
        pair[0].min(),
        holds=pair[1].min() == pair[0].min(),
    )
    page.says(
        "With tubelets of one frame only the factorised model learns them: {:.1f}, {:.1f} and {:.1f} % with three "
        "seeds (with the second, little more than the axis), and {:.0f} to {:.0f} % when the moments are shuffled. "
        "Without attention over time it is {:.1f} to {:.1f} %.",
        *(*over_time[0], over_time[1].min(), over_time[1].max(), blind[0].min(), blind[0].max()),
        holds=[over_time[0, [0, 2]].min() > 95, 50 < over_time[0, 1] < 60, blind[0].max() < 30],
    )
    results = page.recorded("moving_digits")["results"]

    def shares(name: str, *kinds: tuple[int, str]) -> np.ndarray:
        return np.array([100 * r[name]["share"] for r in results["runs"] if (r["tubelet"], r["kind"]) in kinds])

    timed = (1, "factorised")
    page.says(
        "turn each tubelet round, and at least {:.1f} % of the answers become the opposite ones.",
        pair[3].min(),
        holds=pair[2].max() < 1,
    )
    page.says(
        "With one frame, factorised, shuffling leaves 50 %. Only the direction is lost: the axis is still right in at "
        "least {:.0f} %",
        shares("axis right, tubelets shuffled", timed).min(),
        holds=[(abs(over_time[1] - 50) < 3).all(), shares("axis right", timed).min() > 99, results["epochs"] == 6],
    )
    page.says(
        "in order and with moments shuffled nearly 1, each tubelet backwards nearly 0.",
        holds=[pair[:2].min() > 95, pair[2].max() < 5],
    )
    page.says("One frame, own moment only: all dots near guessing.", holds=abs(blind - 25).max() < 8)
    page.says(
        "One frame, factorised: in order nearly 1 with two seeds and a little above 0.5 with the third, moments "
        "shuffled about 0.5.",
        holds=[(over_time[0] > 95).sum() == 2, over_time[0].min() > 50],
    )
    page.says(
        "A motion inside one moment needs no attention over time; one across moments was learned only with it.",
        holds=[models[2, "own moment only"][0].min() > 95, blind[0].max() < 50, np.median(over_time[0]) > 95],
    )
    page.says("A motion inside a moment needs no attention over time; one across moments was learned only with it.")
    sizes = {name: kind["parameters"] for name, kind in results["kinds"].items()}
    page.says(
        "or factorised (with about half as many parameters again).",
        holds=[
            1.4 < sizes[f"factorised, tubelets of {frames}"] / sizes[f"own moment only, tubelets of {frames}"] < 1.6
            for frames in (1, 2)
        ],
    )
    page.says("what no single moment shows was learned only with attention over time")
    reached = page.numbers("b9-reads-along", r" (\d+) of 48 tubelets")
    page.says("Two cheap steps reach every tubelet, as the expensive one does", holds=reached == [48, 16, 48])
    page.given("Which of the 48 tubelets above can one output token read?", because="3 · 4 · 4, printed above")
    page.says(
        "({} frames of {} × {} pixels)",
        *results["clip"],
    )
    page.says(
        "All four, recorded: {:,} clips, six epochs, three seeds, {:,} new clips:",
        *(results["training clips"], results["test clips"]),
        holds=results["epochs"] == 6,
    )
    live = page.numbers("b9-live", r"tubelets of \d, own moment only: ([\d.]+)%")
    page.says(
        "The two without attention over time, trained here on 2,000 clips:",
        holds=[live[0] > 95, abs(live[1] - 25) < 5],
    )
    page.says(
        "tubelets of two frames or of one, attention to the own moment only or factorised",
        holds={run["tubelet"] for run in results["runs"]} == {1, 2},
    )
    page.says("a dot for each of three seeds", holds={run["seed"] for run in results["runs"]} == {1, 2, 3})


def built_in(page: Page) -> None:
    """The control of section 1: the ConvNet on scrambled images, at 500 and 2,000."""
    rows = {
        name: np.array(page.numbers("b9-built-in", rf"(?m)^{name} +([\d.]+)% \(.*?\) +([\d.]+)% \("))
        for name in ("ConvNet", "ConvNet, scrambled images", "ViT")
    }
    whole, scrambled, vit = rows.values()
    page.says(
        "With 2,000 scrambled images the ConvNet has what it has with 500 whole ones.",
        holds=abs(scrambled[1] - whole[0]) < 1,
    )
    page.says(
        "Here, what the order of the pixels gives a ConvNet is worth at most about four times as many images, and "
        "about half of its lead.",
        holds=(abs((whole - scrambled) / (whole - vit) - 0.5) < 0.1).all(),
    )
    page.says(
        "By the means the scrambling takes {:.0f} and {:.0f} % of the lead over the ViT, with 500 and with 2,000 "
        "images;",
        *page.numbers("b9-built-in", r"scrambling takes (\d+)% (\d+)%"),
    )
    page.says(
        "to a ConvNet with 2,000 images of CIFAR-10 the order of the pixels is worth at most about four times as many",
        holds=abs(scrambled[1] - whole[0]) < 1,
    )
    page.says(
        "What is not built in must be learned: from more images, or with a stronger recipe.",
        holds=(whole > scrambled + 5).all(),
    )


def given(page: Page) -> None:
    page.given(
        "Time: about 47 minutes to read and predict",
        "digits enlarged to 16 × 16 pixels have 64 positions, and the table has rows for 16.",
        "its 64 rows |",
        'the 64 rows of "in two dimensions", in random order',
        "the 4 × 4 positions as a picture, enlarged to 8 × 8",
        "the 16 rows as a line, stretched to 64",
        "are trained alike, with 500 to 32,000 images",
        "test accuracy against the number of labelled images, 500 to 32,000",
        "In each panel two arrows lead from the ConvNet, with 500 and with 2,000 images, to the line of the ViT at the "
        "same height",
        "Scramble all of CIFAR-10 in the same way",
        "its patches of 16 by 16 pixels have changed places",
        "The control has 500 and 2,000 images of one set.",
        "Section 1 is for one ViT and one ConvNet",
        "digits of 8 × 8 pixels, four seeds.",
        "Two panels, Fashion-MNIST and CIFAR-10: test accuracy",
        because="the design of the page",
    )
    page.given(
        "A ViT that was trained at 224 pixels is often fine-tuned at 384.",
        "24 · 24 = 576 instead of 14 · 14 = 196 with P = 16",
        "a picture of 14 × 14 positions with D channels",
        "animals and vehicles, 32 × 32, colour; 64 patches of 4 × 4",
        "clothes, 28 × 28, grey; 16 patches of 7 × 7",
        "Published: a ViT-B/32 is behind a ResNet-50 after 9 million images, and ahead of it after 90 million.",
        "ImageNet alone takes a Base model at 384 pixels to 83.1 % (DeiT; Touvron et al., 2021), where the first paper "
        "has 77.9 % (table 5)",
        "between 9 and 90 million images a ViT-B/32 overtakes a ResNet-50 (published)",
        "After pre-training on 9 million images of JFT (Google's own unpublished set) a ViT-B/32 was far below",
        "a TimeSformer that reads each frame alone loses 0.5 points on Kinetics-400, where one frame often shows "
        "the class, and 21.9 on Something-Something-V2",
        because="cited",
    )
    page.given(
        "Each frame is divided into 4 by 4 patches.",
        "A clip of 32 frames of 224 × 224 pixels, tubelets of 2 × 16 × 16.",
        "There are 16 moments of 14 · 14 = 196 positions",
        "Factorised: 3,136 · (196 + 16) = 664,832, one fifteenth",
        "A ViT-B/16 (D = 768) goes from 224 to 384 pixels.",
        "So guessing has 25 %, and without the order no model can expect more than 50 %.",
        "Dashed lines mark guessing, 0.25, and the most without the order, 0.5",
        because="by definition",
    )
