"""What lecture 9b says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page

SHARES = r" +".join([r"([\d.]+)%"] * 8)


def claims(page: Page) -> None:
    reads(page)
    larger(page)
    more_images(page)
    built_in(page)
    video(page)
    given(page)


def reads(page: Page) -> None:
    last = page.output("b9-reads-table").splitlines()[-1].split("mean  ")[1]
    decided = np.array([[int(count) for count in pair.split(":")] for pair in last.split(",")])  # (seeds, 2)
    others = page.recorded("lecture_seeds")["results"]["09b_many_images_and_video"]
    recorded = [run["only one is right"] for run in others.values()]
    page.says(
        "counts only the digits in the last line: at most eight, on both sides.",
        holds=[(decided[1:] == recorded).all(), decided.sum(axis=1).max() == 8, decided.min() > 0],
    )
    page.says(
        "Class token or mean: on these digits, with one rate for both, there is no difference beyond chance.",
        holds=[abs(a - b) ** 2 < 3.84 * (a + b) for a, b in decided],  # McNemar's test, seed by seed
    )


def larger(page: Page) -> None:
    flat, line, shuffled, fresh = (
        np.reshape(page.numbers("b9-grow-figure", rf"(?m)^{way} .*?: +{SHARES}"), (2, 4))
        for way in ("in two dimensions", "in one dimension", "shuffled", "fresh")
    )  # (before and after, seeds)
    page.says("in two dimensions: {:.0f} to {:.0f} % with four seeds", flat[0].min(), flat[0].max())
    page.says(
        "The stretched line has {:.0f} to {:.0f} %, above chance with every seed.",
        *(line[0].min(), line[0].max()),
        holds=line[0].min() > 10 + 2 * 1.6,  # two standard errors of 360 guesses
    )
    noise = np.concatenate([shuffled[0], fresh[0]])
    page.says(
        "Shuffled and fresh rows scatter around chance, {:.0f} to {:.0f} %.",
        *(noise.min(), noise.max()),
        holds=[shuffled[0].min() < 10 < shuffled[0].max(), fresh[0].min() < 10 < fresh[0].max()],
    )
    best = np.max([line[1], shuffled[1], fresh[1]], axis=0)
    page.says("the first is still ahead with every seed", holds=(flat[1] > best).all())
    page.says("Before training it does no better than noise", holds=shuffled[0].mean() <= fresh[0].mean() + 3)
    page.says("after five epochs it ends below noise with every seed", holds=(shuffled[1] < fresh[1]).all())
    page.says("Enlarged as a picture, the table works at once.", holds=flat[0].min() > 60)
    page.says("Only the position table depends on the image's size, and it can be enlarged as a picture.")


def more_images(page: Page) -> None:
    sizes = (r"500", r"2,000", r"8,000", r"32,000")
    pattern = r"(?m)^{} .*?at" + "".join(rf" +{size}: ([\d.]+)% / ([\d.]+)%" for size in sizes)
    clothes, colour = (
        np.reshape(page.numbers("b9-more", pattern.format(name)), (4, 2)) for name in ("fashion_mnist", "cifar10")
    )  # (sizes, ViT and ConvNet)
    page.says(
        "(b) , or a little more, on Fashion-MNIST: the ConvNet has {:.1f} %, and the ViT {:.1f} % with 8,000 images. "
        "(c) on CIFAR-10: the ConvNet has {:.1f} %, and the ViT {:.1f} % with 32,000.",
        *(clothes[1, 1], clothes[2, 0], colour[1, 1], colour[3, 0]),
    )
    every = np.stack([clothes, colour])  # (2, sizes, 2)
    runs = page.recorded("vit_against_convnet")["results"]["runs"]
    single = [
        run for run in runs if (run["dataset"], run["images"], run["augmentation"]) == ("fashion_mnist", 32_000, False)
    ]
    page.says(
        "The ConvNet is ahead at every size (Fashion-MNIST with 32,000 images: one run of each model, {:.1f} points).",
        clothes[3, 1] - clothes[3, 0],
        holds=[(every[..., 1] > every[..., 0]).all(), len(single) == 2],
    )
    lead = colour[:, 1] - colour[:, 0]  # (sizes,)
    page.says("On CIFAR-10 its lead is {:.0f}, {:.0f}, {:.0f} and {:.0f} points.", *lead)
    page.says(
        "the ViT with 2,000 images is already above the ConvNet with 500 ({:.1f} against {:.1f} %)",
        *(clothes[1, 0], clothes[0, 1]),
        holds=clothes[1, 0] > clothes[0, 1] + 1,
    )
    short, level = clothes[2, 0] - clothes[1, 1], colour[3, 0] - colour[1, 1]  # points, at 4 and at 16 times as many
    page.says(
        "To match the ConvNet with 2,000 images, the ViT needed a little more than four times as many on Fashion-MNIST "
        "and about sixteen times on CIFAR-10, and it overtook at no size.",
        holds=[-1 < short < 0, clothes[3, 0] > clothes[1, 1], abs(level) < 0.5, colour[2, 0] < colour[1, 1] - 5],
    )
    page.says(
        "to match the ConvNet with 2,000, a little more than four times as many on Fashion-MNIST, sixteen times on "
        "CIFAR-10"
    )
    page.says("To match the ConvNet with 2,000 images the ViT needs about four to sixteen times as many.")
    longest = [run for run in runs if run["dataset"] == "cifar10" and run["images"] == 32_000]
    page.says(
        "On CIFAR-10 six epochs with 32,000 images finish neither model",
        holds=all(run["epochs"] == 6 and run["best_epoch"] >= 5 for run in longest),
    )
    counts = np.reshape(list(page.recorded("vit_against_convnet")["results"]["parameters"].values()), (2, 2))
    page.says("parameters within 1 %", holds=(abs(counts[:, 0] / counts[:, 1] - 1) < 0.01).all())


def video(page: Page) -> None:
    nine = r".*?([\d.]+)%" * 9
    average, joint, factorised = (
        np.reshape(page.numbers("b9-video", rf"(?m)^{kind}{nine}"), (3, 3))
        for kind in ("frame average", "joint", "factorised")
    )  # (measures, seeds)
    page.says(
        "The frame average has {:.0f} to {:.0f} %, between guessing and 50 %.",
        *(average[0].min(), average[0].max()),
        holds=[average[0].min() > 25, average[0].max() < 50],
    )
    both = np.concatenate([joint, factorised], axis=1)
    page.says(
        "The video models have at least {:.1f} %; with shuffled frames {:.0f} to {:.0f} %.",
        *(both[0].min(), both[1].min(), both[1].max()),
    )
    page.says("the opposite answer in at least {:.1f} %.", both[2].min())
    page.says("In order: about {:.1f}, then nearly 1 twice.", average[0].mean() / 100, holds=both[0].min() > 99)
    orderless = np.concatenate([average[1], both[1]])
    page.says(
        "Frames shuffled: all between {:.2f} and {:.2f}.",
        *(orderless.min() / 100, orderless.max() / 100),
    )
    results = page.recorded("moving_digits")["results"]
    halves = [
        run["right, frames shuffled"]["share"] / run["axis right, frames shuffled"]["share"] for run in results["runs"]
    ]
    page.says(
        "Without the order all lie between the two lines: where the axis is right, about half of the directions are "
        "right too, as chance gives",
        holds=[orderless.min() > 25, orderless.max() < 50, min(halves) > 0.46, max(halves) < 0.56],
    )
    reached = page.numbers("b9-reads-along", r" (\d+) of 48 tubelets")
    page.says("Two cheap steps reach every tubelet, as the one expensive step does.", holds=reached == [48, 16, 48])
    page.given("Which of the 48 tubelets above can one output token read?", because="3 · 4 · 4, printed above")
    factor, whole = (results["kinds"][kind] for kind in ("factorised", "joint"))
    page.says(
        "At equal accuracy factorised attention computes {:,} instead of {:,} scores a head, with {:,} parameters "
        "instead of {:,}.",
        *(kind[what] for what in ("scores of one head", "parameters") for kind in (factor, whole)),
        holds=abs(joint[0].mean() - factorised[0].mean()) < 0.5,
    )
    page.says(
        "On clips this small a step still takes longer ({:.3f} against {:.3f} processor seconds, measured once).",
        *(kind["processor seconds a training step"] for kind in (factor, whole)),
    )
    page.says(
        "(8 frames of {} × {} pixels, {:,} clips to train)",
        *(*results["clip"][1:], results["training clips"]),
        holds=results["clip"][0] == 8,
    )
    page.says("To test whether a model uses time, shuffle the frames;")


def built_in(page: Page) -> None:
    """The control of section 3: the ConvNet on scrambled images, at 500 and 2,000."""
    rows = {
        name: np.array(page.numbers("b9-built-in", rf"(?m)^{name} +\(mean of 3\) +([\d.]+)% +([\d.]+)%"))
        for name in ("ConvNet", "ConvNet, scrambled images", "ViT")
    }
    whole, scrambled, vit = rows.values()
    page.says(
        "Scrambled, the ConvNet has with 2,000 images what it has with 500 whole ones.",
        holds=abs(scrambled[1] - whole[0]) < 1,
    )
    page.says(
        "is worth a factor of four here, and more than half of its lead.",
        holds=((whole - scrambled) / (whole - vit) > 0.5).all(),
    )
    page.says("A built-in assumption that fits the images saves images.", holds=(whole > scrambled + 5).all())


def given(page: Page) -> None:
    page.given(
        "Time: about 46 minutes to read and predict",
        "the digits are enlarged to 16 × 16 pixels, without new detail. Now there are 64 positions, and the table "
        "has rows for 16.",
        "four ways to get 64 rows:",
        "its 64 rows |",
        "the 4 × 4 positions as a picture, enlarged to 8 × 8",
        "the 16 rows as a line, stretched to 64",
        "chance (10 %)",
        "test accuracy against the number of labelled images, 500 to 32,000",
        "An arrow leads from the ConvNet with 2,000 images to the ViT of about the same accuracy: with 8,000 on "
        "Fashion-MNIST and 32,000 on CIFAR-10",
        "- (a) about 2,000 - (b) about four times as many",
        "With a better recipe ImageNet alone is enough for 83.1 % with Base, also at 384 pixels (DeiT;",
        "Two panels, Fashion-MNIST and CIFAR-10: test accuracy",
        "One control scrambles all images of CIFAR-10 in the same way",
        because="the design of the page",
    )
    page.given(
        "A ViT that was trained at 224 pixels is often fine-tuned at 384.",
        "ImageNet accuracy after pre-training on three sets and fine-tuning at 384 pixels",
        "24 · 24 = 576 instead of 14 · 14 = 196 with P = 16",
        "a picture of 14 × 14 positions with D channels",
        "animals and vehicles, 32 × 32, colour; 64 patches of 4 × 4",
        "clothes, 28 × 28, grey; 16 patches of 7 × 7",
        "between 9 and 90 million images a ViT-B/32 overtakes a ResNet-50, and with 14 million Large and Huge are",
        "between 9 and 90 million images a ViT-B/32 overtakes a ResNet-50 (published)",
        "After pre-training on 9 million images of JFT a ViT-B/32 was far below a ResNet-50",
        "classifies 76.9 % of Kinetics-400 and 36.6 % of Something-Something-V2 correctly; with joint attention and "
        "equal parameters, 77.4 and 58.5 %",
        "With 1.3 million images Base (77.9) is ahead of Large (76.5).",
        "With 14 million Large (85.2) and Huge (85.1) are ahead of Base (84.0).",
        "With 303 million Huge (88.0) leads, then Large (87.1), then Base (84.2).",
        because="cited",
    )
    page.given(
        "Each frame is divided into 4 by 4 patches.",
        "A clip of 32 frames of 224 × 224 pixels, tubelets of 2 × 16 × 16.",
        "There are 16 moments of 14 · 14 = 196 positions",
        "Factorised: 3,136 · (196 + 16) = 664,832, one fifteenth",
        "A ViT-B/16 (D = 768) goes from 224 to 384 pixels.",
        "Played backwards, the opposite answer: 0, then nearly 1 twice.",
        "So guessing has 25 %, and without the order no model can expect more than 50 %.",
        "dashed lines mark guessing, 0.25, and the most without the order, 0.5",
        because="by definition",
    )
