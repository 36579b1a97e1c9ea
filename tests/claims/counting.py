"""What lecture 10 says of counting beside the network, against the recorded counts and trainings."""

from __future__ import annotations

import numpy as np
from claims.page import Page
from claims.scaling import also

TABLE = "c10-25"


def equal_text(page: Page, results: dict, counting: dict) -> None:
    """Counting and the network by the tokens that each has seen, means over draws and seeds."""
    counts: dict[int, list[float]] = {}
    better: dict[int, list[float]] = {}  # by Kneser–Ney
    for draw in counting["less text"]:
        counts.setdefault(draw["tokens"], []).append(draw["all held-out text"][-1])
        better.setdefault(draw["tokens"], []).append(draw["Kneser-Ney, all held-out text"][-1])
        assert min(draw["Kneser-Ney, all held-out text"]) == better[draw["tokens"]][-1], "six tokens are the best"
    network: dict[int, list[float]] = {}
    for run in results["table"]["runs"] + results["scale"]["runs"] + results["longer"]["runs"]:
        if run.get("model", run.get("size", "the page's model")) == "the page's model":
            network.setdefault(run.get("steps", 640) * 8 * 256, []).append(run["held-out bits a byte"])
    ahead = {tokens: np.mean(network[tokens]) - np.mean(found) for tokens, found in counts.items()}
    some, more = 163_840, 1_310_720
    whole = counting["all text"]["all held-out text"][-1]
    best = counting["all text"]["Kneser-Ney, all held-out text"][-1]
    far = {tokens: np.mean(network[tokens]) - np.mean(found) for tokens, found in better.items()}
    drawn = page.number(TABLE, r"4-gram, as many tokens +([\d.]+) bits")
    page.says(
        f"| {more / 1e6:.1f}, recorded means | {{:.2f}} | {{:.2f}} | {{:.2f}} |",
        *(np.mean(found[more]) for found in (network, counts, better)),
    )
    page.says(
        f"| {more / 1e6:.1f}, the run above | {{:.2f}} | {{:.2f}} | {{:.2f}} |",
        *(
            page.number(TABLE, rf"{name} +([\d.]+) bits")
            for name in ("Transformer", "4-gram, as many tokens", "Kneser–Ney 6-gram, as many tokens")
        ),
    )
    assert all(len(found) == 3 for found in (*counts.values(), *network.values())) and len(counts) == 4
    assert round(np.ptp([*counts[more], drawn]), 2) >= 0.02
    longer = network[1960 * 8 * 256]
    leads = [max(found) < min(network[tokens]) for tokens, found in counts.items() if tokens < more]
    read = 1960 * 8 * 256 / 1e6
    page.says(f"| {read:.1f}, recorded mean | {{:.2f}} | | |", np.mean(longer))
    graphics = {
        rate: [
            lane["held-out bits a byte"]
            for run in page.recorded("library_scaling")["results"]["runs"]
            if (run["parameters"], run["steps"]) == (857_216, 1280)
            for lane in run["lanes"]
            if lane["rate"] == rate
        ]
        for rate in (0.003, 0.006)
    }
    scaling = page.recorded("library_scaling")["results"]["runs"]
    larger = {
        size: [
            lane["held-out bits a byte"]
            for run in scaling
            if (run["parameters"], run["tokens"]) == (size, tokens)
            for lane in run["lanes"]
            if lane["rate"] == 0.003
        ]
        for size, tokens in ((1_878_720, 2_621_440), (4_877_568, 2_072_576))
    }
    behind = [max(found) < min(network[tokens]) for tokens, found in better.items()]
    behind += [best < min(graphics[0.003]), best < np.mean(graphics[0.006])]
    page.says(
        "| 2.6, recorded: all of the text | {:.2f} | {:.2f} | {:.2f} |",
        np.mean(graphics[0.003]), whole, best,
        holds=[*leads, abs(ahead[more]) < 0.03],
    )  # fmt: skip
    for (size, bits), million in zip(larger.items(), (2.6, 2.1), strict=True):
        page.says(f"| {million}, but {size / 1e6:.1f} million parameters | {{:.2f}} | | |", np.mean(bits))
    page.says(
        "So two things put the Transformer ahead of Kneser–Ney: more parameters, or the same text read again. (The "
        "rows with 2.6 and 2.1 million tokens were trained on a GPU, at the page's rate.)",
        holds=[*leads, *behind, max(longer) < best, *(max(bits) < best for bits in larger.values())],
    )
    page.says(
        "on one reading of this text Kneser–Ney beats the page's small Transformer, and a larger Transformer beats "
        "Kneser–Ney.",
        holds=[*behind, *(max(bits) < best for bits in larger.values())],
    )
    page.says(
        "Against a Transformer of this size counting by Witten–Bell leads until {:.1f} million tokens, by "
        "Kneser–Ney until the text ends; with {:.0f} "
        "million read the Transformer is ahead of both.",
        more / 1e6,
        read,
        holds=[*leads, *behind, max(longer) < best < whole],
    )
    page.says(
        "at {:.1f} million tokens the 4-gram is a little below the Transformer, Kneser–Ney far below;",
        more / 1e6,
        holds=[0 < ahead[more] < 0.03, far[more] > 0.15],
    )
    page.says(
        "both end at {:.1f} million with the text, where three crosses, trainings of the same size on a GPU, lie well "
        "below the 4-gram and a little above Kneser–Ney; larger models on a GPU lie below Kneser–Ney there;",
        counting["all text"]["tokens"] / 1e6,
        holds=[len(graphics[0.003]) == 3, max(graphics[0.003]) < whole - 0.1, 0 < min(graphics[0.003]) - best < 0.06],
    )
    also(
        page,
        "by Witten–Bell it is {:.1f} bits ahead at {:.2f} million tokens and {:.2f} at {:.1f} million, by modified "
        "Kneser–Ney (Chen and Goodman 1999) {:.1f} and {:.2f}.",
        ahead[some],
        some / 1e6,
        ahead[more],
        more / 1e6,
        far[some],
        far[more],
    )
    also(
        page,
        "{:.2f} bits, with the rate 0.006 {:.2f}, entry on sizes; that is behind Kneser–Ney with the whole text, "
        "{:.2f})",
        np.mean(graphics[0.003]),
        np.mean(graphics[0.006]),
        best,
    )
    passed: dict[int, list[tuple[int, int]]] = {}  # by the length of a training: the checkpoints around the crossing
    level = counting["all text"]["Kneser-Ney, the page's part"][-1]
    for run in results["longer"]["runs"]:
        points = [(point["step"], point["bits"]) for point in run["checkpoints"]]
        first = next(place for place, (_, bits) in enumerate(points) if bits < level)
        passed.setdefault(run["steps"], []).append((points[first - 1][0], points[first][0]))
    also(
        page,
        "It passes Kneser–Ney with six tokens between steps {:,} and {:,}, and in the longer trainings between {:,} "
        "and {:,}.",
        *(side(step for pair in passed[steps] for step in pair) for steps in (1960, 7840) for side in (min, max)),
    )
    page.says("the Transformer's curve falls on to {:.0f} million", max(network) / 1e6)


def neighbours(page: Page, counting: dict) -> None:
    """What the other half of a module is worth."""
    runs = counting["neighbours"]
    bits = [np.mean([run[name]["bits a byte"] for run in runs]) for name in ("with neighbours", "without")]
    page.says(
        "A counted model (section 5) pays {1:.2f} bits a byte for half of the functions of these modules. If it has "
        "also counted the other half, it pays {0:.2f}",
        *bits,
        holds=[
            len(runs) == 3,
            *(run["without"]["bits a byte"] - run["with neighbours"]["bits a byte"] > 0.2 for run in runs),
        ],
    )
