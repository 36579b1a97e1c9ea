"""What lecture 9b says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    reads(page)
    larger(page)
    recorded_run(page)
    in_colour(page)
    video(page)
    examples(page)
    cited(page)


def reads(page: Page) -> None:
    table = page.output("b9-reads-table")
    token, mean = (
        np.array(page.numbers("b9-reads-table", rf"(?m)^{name} +([\d.]+)%  ([\d.]+)% ([\d.]+)% ([\d.]+)%"))
        for name in ("class token", "mean of the patches")
    )
    apart = np.round((mean - token) / 100 * 360)  # digits of 360
    page.says(
        "The mean is ahead with some seeds and not with others, by {:.0f} of 360 digits at most.",
        abs(apart).max(),
        holds=len(apart) == 4 and apart.min() < 0 < apart.max(),
    )
    decided = np.reshape(
        [int(n) for pair in table.splitlines()[-1].split("mean  ")[1].split(",") for n in pair.split(":")], (4, 2)
    )
    page.says(
        "The last line counts the digits that decide: few, and on both sides.",
        holds=[decided.max() < 15, decided.min() > 0],
    )
    page.says("Too close to say.", holds=[decided.max() < 15])


def larger(page: Page) -> None:
    ways = ("in two dimensions", "in one dimension", "shuffled", "fresh")
    numbers = {
        way: np.reshape(page.numbers("b9-grow-table", rf"(?m)^{way} .*?: +" + r" +".join([r"([\d.]+)%"] * 8)), (2, 4))
        for way in ways
    }
    flat, line, shuffled, fresh = numbers.values()
    page.says("is read at once: {:.0f} to {:.0f} % of the digits", flat[0].min(), flat[0].max())
    page.says("The stretched line gives {:.0f} to {:.0f} %", line[0].min(), line[0].max())
    page.says(
        "Only the table that was enlarged as a picture is read at once",
        holds=flat[0].min() > 60 and max(line[0].max(), shuffled[0].max(), fresh[0].max()) < 40,
    )
    page.says(
        "the dots of the enlarged picture lie far to the right of all others, and shuffled and fresh rows lie around "
        "chance. After five epochs all have moved to the right, and the enlarged picture still lies furthest",
        holds=[
            flat[0].min() > max(line[0].max(), shuffled[0].max(), fresh[0].max()) + 20,
            abs(np.mean([shuffled[0], fresh[0]]) - 10) < 5,
            all((way[1] > way[0]).all() for way in numbers.values()),
        ],
    )
    page.says("the rows of the table are far from arbitrary", holds=(flat > shuffled).all())
    page.says("With shuffled or fresh rows it is {:.0f} % at most.", max(shuffled[0].max(), fresh[0].max()))
    page.says(
        "The first way ends highest with every seed",
        holds=(flat[1] > np.max([line[1], shuffled[1], fresh[1]], axis=0)).all(),
    )
    small = page.numbers("b9-reads-table", r"(?m)^class token +([\d.]+)%  ([\d.]+)% ([\d.]+)% ([\d.]+)%")
    page.says("at most {:.1f} points below what the same model reached on small digits", max(small - flat[1]))
    page.says("Shuffled rows end lower than fresh noise", holds=(shuffled[1] < fresh[1]).all())


ACCURACIES = r"(?m)^ *([\d,]+) +\d +([\d.]+)%.*?  ([\d.]+)%.*?  ([\d.]+)%.*?  ([\d.]+)%"


def recorded_run(page: Page) -> None:
    runs = page.recorded("vit_against_convnet")["results"]["runs"]
    runs = [run for run in runs if run["dataset"] == "fashion_mnist"]
    table = np.reshape(page.numbers("2403e90a", ACCURACIES), (4, 5))
    (vit, vit_moved, convnet, convnet_moved) = table[:, 1:].T
    page.says("The ConvNet is ahead, at every size.", holds=[(convnet > vit).all(), (convnet_moved > vit_moved).all()])
    page.says("the ConvNet lies above the ViT at every size", holds=(convnet > vit).all())
    page.says(
        "What the ConvNet reaches with 2,000 images, the ViT reaches with 8,000, and what the "
        "ConvNet reaches with 8,000, "
        "the ViT with 32,000",
        holds=[vit[1] < convnet[1] <= vit[2] + 0.5, vit[2] < convnet[2] <= vit[3] + 0.5],
    )
    page.says(
        "More data lifts both, and in this range the ViT does not overtake.",
        holds=[(np.diff(vit) > 0).all(), (np.diff(convnet) > 0).all(), vit[-1] < convnet[-1]],
    )
    vits = [run for run in runs if run["model"] == "vit"]
    page.says(
        "With 32,000 images and six epochs the ViT's last epoch is its best",
        holds=[run["best_epoch"] == run["epochs"] == 6 for run in vits if run["images"] == 32_000],
    )
    page.says(
        "And at 8,000 and 32,000 there is one seed.",
        holds=[{r["seed"] for r in runs if r["images"] == n} == {0} for n in (8_000, 32_000)],
    )
    page.says(
        "Here it may help the ViT with 500 images; with 8,000 and more both models are less accurate with it.",
        holds=[vit_moved[0] > vit[0], (vit_moved[2:] < vit[2:]).all(), (convnet_moved[2:] < convnet[2:]).all()],
    )
    (fitted,) = (run["training"] for run in vits if run["images"] == 8_000 and run["augmentation"])
    page.says(
        "with 8,000 images the augmented ViT still gets more than a fifth of its training images wrong",
        holds=fitted < 0.8,
    )
    counts = page.numbers("453a4d52", r"([\d,]+) parameters")
    stored = page.recorded("vit_against_convnet")["results"]["parameters"]
    same = [counts == list(stored.values()), *(abs(vit / cnn - 1) < 0.01 for vit, cnn in np.reshape(counts, (2, 2)))]
    page.says("a ViT and a ConvNet of nearly the same size", holds=same)
    page.says(
        "At most 100, 50, 15 and 6 epochs are allowed, for 500, 2,000, 8,000 and 32,000 images",
        holds=[
            max(run["epochs"] for run in runs if run["images"] == n) == most
            for n, most in ((500, 100), (2_000, 50), (8_000, 15), (32_000, 6))
        ],
    )
    gains = page.numbers("df6af764", r"ahead by +([\d.]+) points at 500 images, by +([\d.]+)")
    page.says("The ConvNet is ahead", holds=min(gains) > 0)
    gaps = np.concatenate([convnet - vit, convnet_moved - vit_moved])
    page.says("Right: at every size the ConvNet is ahead, by {:.1f} to {:.1f} points.", gaps.min(), gaps.max())


def in_colour(page: Page) -> None:
    runs = page.recorded("vit_against_convnet")["results"]["runs"]
    seen = {
        (kind, moved, images): np.array(
            [
                [run["test"], run["training"]]
                for run in runs
                if (run["dataset"], run["model"], run["augmentation"], run["images"])
                == ("cifar10", kind, moved, images)
            ]
        ).T
        for kind in ("vit", "convnet")
        for moved in (False, True)
        for images in (500, 2_000, 8_000, 32_000)
    }  # (2, seeds) each
    assert all(each.shape == (2, 3) for each in seen.values())
    vit, vit_moved, convnet, convnet_moved = np.reshape(page.numbers("b9-colour-table", ACCURACIES), (4, 5))[:, 1:].T
    gaps = np.concatenate([convnet - vit, convnet_moved - vit_moved])
    fashion = np.reshape(page.numbers("2403e90a", ACCURACIES), (4, 5))[:, 1:].T
    small = np.concatenate([fashion[2] - fashion[0], fashion[3] - fashion[1]])
    page.says(
        "by {:.0f} to {:.0f} points, against {:.0f} to {:.0f} on Fashion-MNIST.",
        *(gaps.min(), gaps.max(), small.min(), small.max()),
        holds=gaps.min() > small.max(),
    )
    page.says("Right: at every size the ConvNet is ahead, by {:.1f} to {:.1f} points.", gaps.min(), gaps.max())
    page.says(
        "With 32,000 images the ViT reaches {:.0f} %, about what the ConvNet reaches with 2,000.",
        vit[3],
        holds=abs(vit[3] - convnet[1]) < 1.5,
    )
    gained = vit_moved - vit
    apart = [seen["vit", True, n][0].min() > seen["vit", False, n][0].max() for n in (500, 2_000)]
    page.says(
        "by {:.0f} points with 500 images and by {:.0f} with 2,000, and the ranges of the seeds do not overlap.",
        *gained[:2],
        holds=[*apart, gained[:2].min() > 5],
    )
    few = np.concatenate([seen["vit", False, n][1] for n in (500, 2_000)])
    many = np.concatenate([seen["vit", False, n][1] for n in (8_000, 32_000)])
    page.says(
        "Without augmentation it had fitted {:.0f} to {:.0f} % of these training images.",
        *(100 * few.min(), 100 * few.max()),
    )
    page.says(
        "With 8,000 and 32,000 images it had fitted {:.0f} % at most when its epochs were over. Its mean accuracy with "
        "augmentation is {:.1f} and {:.1f} points lower, but the ranges overlap: no effect is shown.",
        *(100 * many.max(), *-gained[2:]),
        holds=[seen["vit", True, n][0].max() > seen["vit", False, n][0].min() for n in (8_000, 32_000)],
    )
    lost = (convnet - convnet_moved)[1:]
    page.says(
        "The ConvNet loses by it from 2,000 images on, by {:.1f} to {:.1f} points on average, and no ranges overlap.",
        *(lost.min(), lost.max()),
        holds=[seen["convnet", True, n][0].max() < seen["convnet", False, n][0].min() for n in (2_000, 8_000, 32_000)],
    )


def video(page: Page) -> None:
    page.given(
        "for 8 frames of 20 × 20 pixels",
        "Tubelets of 2 × 4 × 4 make 100 tokens",
        "These are models 1 and 3 of ViViT",
        because="the design of the run",
    )
    seed = r"right ([\d.]+)% \(95 %: .*?\), sense right where the axis is ([\d.]+)% \(([\d.]+)% to ([\d.]+)%\), "
    seed += r"frames shuffled ([\d.]+)%, opposite answer to the clip reversed ([\d.]+)%"
    right, sense, low, high, shuffled, back = np.reshape(page.numbers("2e21b6f2", seed), (3, 3, 6)).transpose(2, 0, 1)
    page.says("Chance is 25 %, and the frame average gets {:.0f} to {:.0f} % right", right[0].min(), right[0].max())
    page.says(
        "the sense is right in {:.0f} to {:.0f} % of the clips, and each interval contains 50 %",
        *(sense[0].min(), sense[0].max()),
        holds=[low[0].max() < 50, high[0].min() > 50],
    )
    page.says("get at least {:.1f} % right", right[1:].min())
    page.says("the opposite answer to at least {:.1f} % of the reversed clips", back[1:].min())
    page.says("With shuffled frames they get {:.0f} to {:.0f} % right", shuffled[1:].min(), shuffled[1:].max())
    (all_scores, joint), (few_scores, factorised) = np.reshape(
        page.numbers("2e21b6f2", r"([\d,]+) scores of one head, ([\d.]+) processor seconds"), (2, 2)
    )
    page.says("calculates {:,.0f} scores for one head instead of {:,.0f}", few_scores, all_scores)
    page.says("still took longer, {:.3f} against {:.3f} processor seconds", factorised, joint, holds=factorised > joint)
    frames, pixels, tokens = page.numbers("a51a98b1", r"2 × 16 × 16: (\d+) · (\d+) = ([\d,]+) tokens")
    page.says("These are many tokens", holds=tokens == frames * pixels)


def examples(page: Page) -> None:
    page.given("Time: about 46 minutes", because="counted by tests/test_lectures.py")
    page.given(
        "40 epochs each",
        "after five epochs at the new size",
        "Four ways to get 64 rows",
        "the 64 rows |",
        "Sections 3 to 5 only read records.",
        "16 × 16 pixels",
        "With P = 2 there are 64 places for a table of 16",
        "the 4 × 4 places as a picture, enlarged to 8 × 8",
        "the 16 rows as a line, stretched to 64",
        "Eight test digits, enlarged to 16 by 16 pixels",
        "28 × 28 grey photographs",
        "The patches have 7 × 7 pixels, so the ViT has 16 of them",
        "moves of up to 7 % of the side",
        "A fifth of the images, 2,000 at most, chooses the best epoch; the 10,000 test images are used once per model.",
        "a ViT beats a ConvNet on your 2,000 images",
        "Each frame is divided into 4 by 4 patches",
        "whose frame k is filled with the number k",
        "20 epochs in section 1 instead of 40",
        "32 × 32 pixels in colour",
        "Patches of 4 × 4 pixels give 64 tokens",
        "Digits of 8 × 8 pixels",
        because="an example, or a setting of the page",
    )
    page.given(
        "For P = 16 it has 14 · 14 + 1 = 197 rows and needs 24 · 24 + 1 = 577",
        "197 · 768 = 151,296 before, 577 · 768 = 443,136 after",
        "A ViT-B/16 (D = 768) goes from 224 to 384 pixels.",
        "A clip of 16 frames, 96 × 96 pixels, tubelets of 2 × 8 × 8.",
        "8 · 12 · 12 = 1,152 tokens. Joint: 1,152² = 1,327,104. Factorised: each token reads the 144 of its moment and "
        "the 8 of its place, 1,152 · 152 = 175,104.",
        because="calculated by hand",
    )
    page.given("Five epochs repair much", because="the setting of the page")
    models = (
        "ViT-H/14",
        "ViT-L/16",
        "L/16",
        "JFT-300M",
        "ImageNet-21k",
        "CIFAR-10",
        "CIFAR-100",
        "ResNet50",
        "2-D",
        "3-D",
    )
    page.given(*models, because="names of models, data sets and dimensions")


def cited(page: Page) -> None:
    page.given(
        "trained at 224 pixels is often fine-tuned at 384",
        "a picture of 14 × 14 places",
        "What a photograph gains by 384 pixels",
        "was much worse than a ResNet50 after pre-training on 9 million images, and better from 90 million on",
        "a ViT-B/32 was much worse",
        "In the paper this cost about three points in a 5-shot test.",
        "fine-tuning at 384 pixels",
        "ImageNet alone (1.3 million images)",
        "With 1.3 million images Base (77.9) is ahead of Large (76.5). With 14 million Large (85.2) "
        "and Huge (85.1) are ahead of Base (84.0). With 303 million Huge (88.0) leads, then Large (87.1), "
        "then Base (84.2).",
        "with 303 million images the order is turned round",
        "| 88.55 ± 0.04 | 87.76 ± 0.03 | 85.30 ± 0.02 | 87.54 ± 0.02 | 88.4 (88.5: Touvron et al., 2020) |",
        "| 90.72 ± 0.05 | 90.54 ± 0.03 | 88.62 ± 0.05 | 90.54 | 90.55 |",
        "| 99.50 ± 0.06 | 99.42 ± 0.03 | 99.15 ± 0.03 | 99.37 ± 0.06 |",
        "| 94.55 ± 0.04 | 93.90 ± 0.05 | 93.25 ± 0.05 | 93.51 ± 0.08 |",
        "Pets, 37 breeds | 97.56 ± 0.03 | 97.32 ± 0.11 | 94.67 ± 0.15 | 96.62 ± 0.23 |",
        "Flowers, 102 kinds | 99.68 ± 0.02 | 99.74 ± 0.00 | 99.61 ± 0.02 | 99.63 ± 0.03 |",
        "mean of 19 tasks | 77.63 ± 0.23 | 76.28 ± 0.46 | 72.72 ± 0.21 | 76.29 ± 1.70 |",
        "| 2.5 k | 0.68 k | 0.23 k | 9.9 k | 12.3 k |",
        "ViT-L/16 has 90.54 with the corrected labels, as BiT-L has, and 76.28 on VTAB against 76.29, "
        "where the standard "
        "deviation of BiT-L alone is 1.70.",
        "and a hundredth of a point less on VTAB, with 7 % of its compute",
        "Labels for 300 million images are dear",
        "86 | 224 | 81.8",
        "88 | 224 | 83.5",
        "119 | 224 | 84.95",
        "72 | 256 | 83.6",
        "89 | 224 | 83.8",
        "54 | 480 | 85.1",
        "Swin-B and ConvNeXt-B, which were trained alike, are 0.3 points apart",
        because="cited: Dosovitskiy et al., 2021, and the papers named beside the numbers",
    )
