"""What lecture 9b says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page

SHARES = r" +".join([r"([\d.]+)%"] * 8)


def claims(page: Page) -> None:
    reads(page)
    larger(page)
    more_images(page)
    video(page)
    given(page)


def reads(page: Page) -> None:
    last = page.output("b9-reads-table").splitlines()[-1].split("mean  ")[1]
    decided = np.array([[int(count) for count in pair.split(":")] for pair in last.split(",")])  # (seeds, 2)
    others = page.recorded("lecture_seeds")["results"]["09b_many_images_and_video"]
    recorded = [run["only one is right"] for run in others.values()]
    page.says(
        "they are few, and on both sides.",
        holds=[(decided[1:] == recorded).all(), decided.max() < 15, decided.min() > 0],
    )
    page.says(
        "Class token or mean: on these digits no difference beyond chance",
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
        "Shuffled and fresh rows have {:.0f} to {:.0f} %, below chance with some seeds and above it with others.",
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
        np.reshape(page.numbers("b9-more", pattern.format(name)), (2, 4, 2)) for name in ("fashion_mnist", "cifar10")
    )  # (as they are and augmented, sizes, ViT and ConvNet)
    page.says(
        "On Fashion-MNIST the ConvNet has {:.1f} % with 2,000 images, and the ViT {:.1f} % with 8,000. On CIFAR-10 "
        "the ConvNet has {:.1f} % with 2,000, and the ViT {:.1f} % with 32,000.",
        *(clothes[0, 1, 1], clothes[0, 2, 0], colour[0, 1, 1], colour[0, 3, 0]),
    )
    every = np.concatenate([clothes, colour])  # (4, sizes, 2)
    runs = page.recorded("vit_against_convnet")["results"]["runs"]
    single = [
        run for run in runs if (run["dataset"], run["images"], run["augmentation"]) == ("fashion_mnist", 32_000, False)
    ]
    page.says(
        "The ConvNet is ahead at every size (Fashion-MNIST with 32,000 images: one run of each model, {:.1f} points).",
        clothes[0, 3, 1] - clothes[0, 3, 0],
        holds=[(every[..., 1] > every[..., 0]).all(), len(single) == 2],
    )
    lead = every[..., 1] - every[..., 0]  # (4, sizes)
    page.says(
        "On CIFAR-10 its lead shrinks from {:.0f} points with 500 images to {:.0f} with 32,000; augmented, from {:.0f} "
        "to {:.0f}.",
        *(lead[2, 0], lead[2, 3], lead[3, 0], lead[3, 3]),
    )
    page.says(
        "the ViT with 2,000 images is already above the ConvNet with 500 ({:.1f} against {:.1f} %)",
        *(clothes[0, 1, 0], clothes[0, 0, 1]),
        holds=clothes[0, 1, 0] > clothes[0, 0, 1] + 1,
    )
    enough = [next(4 ** (k - 1) for k in range(1, 4) if row[k, 0] >= row[1, 1] - 1) for row in every[::2]]
    page.says(
        "To match the ConvNet with 2,000 images, the ViT needed about four times as many on Fashion-MNIST and about "
        "sixteen times on CIFAR-10, and it overtook at no size.",
        holds=enough == [4, 16],
    )
    page.says("to match the ConvNet with 2,000, about four times as many on Fashion-MNIST, sixteen times on CIFAR-10")
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
    page.says("The frame average has {:.0f} to {:.0f} %, and chance is 25 %.", average[0].min(), average[0].max())
    both = np.concatenate([joint, factorised], axis=1)
    page.says(
        "The video models have at least {:.1f} %; with shuffled frames {:.0f} to {:.0f} %.",
        *(both[0].min(), both[1].min(), both[1].max()),
    )
    page.says("the opposite answer in at least {:.1f} %.", both[2].min())
    page.says("Frames shuffled: all between 0.23 and 0.38.", holds=[average[1].min() > 22.5, both[1].max() < 38.5])
    reached = page.numbers("b9-reads-along", r" (\d+) of 48 tubelets")
    page.says("Two cheap steps reach every tubelet, as the one expensive step does.", holds=reached == [48, 16, 48])
    page.given("Which of the 48 tubelets above can one output token read?", because="3 · 4 · 4, printed above")
    kinds = page.recorded("moving_digits")["results"]["kinds"]
    page.says(
        "computes {:,} instead of {:,} scores for one head on these small clips; a training step took longer all the "
        "same, {:.3f} against {:.3f} processor seconds",
        *(kinds[kind]["scores of one head"] for kind in ("factorised", "joint")),
        *(kinds[kind]["processor seconds a training step"] for kind in ("factorised", "joint")),
    )
    page.says("Shuffle the frames and play them backwards: only then do you know that a model uses time.")


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
        "nearly, on Fashion-MNIST, and (c) on CIFAR-10.",
        "what a photograph gains by 384 pixels cannot be seen here",
        "With a better recipe ImageNet alone is enough for 81.8 % with Base (DeiT;",
        "Two panels, Fashion-MNIST and CIFAR-10: test accuracy",
        because="the design of the page",
    )
    page.given(
        "A ViT that was trained at 224 pixels is often fine-tuned at 384.",
        "24 · 24 = 576 instead of 14 · 14 = 196 with P = 16",
        "a picture of 14 × 14 positions with D channels",
        "animals and vehicles, 32 × 32, colour",
        "Between 9 and 90 million images the ViT overtakes the ResNet, and with 14 million Large and Huge are already",
        "between 9 and 90 million images the ViT overtakes the ResNet (published)",
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
        "In order: about chance, then nearly 1 twice.",
        "a dashed line marks chance, 0.25",
        because="by definition",
    )
