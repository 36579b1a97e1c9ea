"""What lecture 5 says of its numbers."""

from __future__ import annotations

import numpy as np

BY_HAND = "calculated by hand on the page"
SHAPE = "a shape, a size or a setting that the page defines"


def claims(page) -> None:
    by_seed = page.recorded("positions")["results"].values()
    results = {
        method: [run[method]["views"] for run in by_seed]
        for method in ("none", "learned", "sinusoidal", "rotary", "ALiBi")
    }
    kept(page)
    defined(page)
    twins(page)
    table(page)
    rotary(page)
    bases(page)
    beyond(page, results, by_seed)
    encoder(page)


def kept(page) -> None:
    """The sentences to keep."""
    one, other = page.numbers("blind", r"= ([\d.]+) for a sentence, ([\d.]+) for its twin")
    trained = page.numbers("four-kinds", r"(?m)^none +accuracy.*?: (\S+) (\S+) (\S+); (\S+) (\S+) (\S+);")
    page.says(
        "caption and twin get the same probability: however long you train, exactly half of the answers are correct.",
        holds=[page.number("blind", r"accuracy ([\d.]+)") == 0.5, one == other, set(trained) == {0.5}],
    )
    page.says("A row of numbers for each position, added to the token, is enough to tell a sentence from its twin.")
    page.says(
        "is one fixed matrix for all positions, and with it each dog finds its own colour",
        holds=[0.9 < weight <= 1 for weight in page.numbers("shift", r"weight ([\d.]+) on")],
    )
    page.says("Training finds the order of the positions, and a learned table has no row beyond its length.")
    page.says(
        "Let a matrix put the position into query and key, and demand that the score depends on the offset $m - n$ "
        "alone: a rotation follows."
    )
    page.says("Here a model holds beyond its length only if far keys are weakened, cut or brought nearer.")


def defined(page) -> None:
    page.given(
        "about 62 minutes to read and predict (estimated, not measured); "
        "the code runs in about two minutes on two CPU cores.",
        r"$$ PE[p, 2i] = \sin(\omega_i\,p), \qquad PE[p, 2i+1] = \cos(\omega_i\,p), \qquad \omega_i = 10000^{-2i/D} .",
        "cos a ≈ 1.) Answer ω₀ = 1 and ω₁ =",
        "Left: the binary digits of 0 to 15",
        "Right: sinusoidal positions 0 to 127",
        "the right ones hardly change within 128 positions",
        "texts of up to 128 tokens",
        "Two maps of cosines between 64 position vectors",
        "Nobody told the table that 4 lies between 3 and 5.",
        "a table of 128 rows has no row for position 128",
        "not token 57",
        "D = 64, so the product is 32 at offset 0.",
        "(a) Near 0.",
        "(b) About half of 32.",
        "(c) Nearly 32.",
        "their cosine is still near 1;",
        "at 48 positions each",
        "at all pairs of 48 positions",
        "A word would hand over something different at position 3 and at position 50",
        "8, 15 and 29: each further block reaches 7 tokens further back.",
        "| 0 |",
        because=SHAPE,
    )


def twins(page) -> None:
    one, other = page.numbers("blind", r"= ([\d.]+) for a sentence, ([\d.]+) for its twin")
    page.says(
        "Without positions (and without a causal mask) caption and twin get the same probability", holds=one == other
    )
    runs = {
        name: page.numbers("four-kinds", rf"(?m)^{name} +accuracy.*?: (\S+) (\S+) (\S+); (\S+) (\S+) (\S+);")
        for name in ("none", "learned", "sinusoidal")
    }
    page.says(
        "is enough to tell a sentence from its twin",
        holds=[max(runs["none"]) == 0.5, min(runs["learned"][2::3]) > 0.9, min(runs["sinusoidal"][2::3]) > 0.9],
    )
    tables = page.numbers(
        "four-kinds", r"(?m)^(?:learned|sinusoidal)\S*(?: no √D)? +accuracy.*?: \S+ \S+ (\S+); \S+ \S+ (\S+);"
    )
    page.says(
        "Within six epochs each of the three tables reaches an accuracy of {:.2f}", tables[0],
        holds=[len(tables) == 6, len(set(tables)) == 1],
    )  # fmt: skip
    page.says("without a table it stays at {:.2f}.", runs["none"][0], holds=len(set(runs["none"])) == 1)


def table(page) -> None:
    rows = page.numbers("table", r"(-?\d\.?\d*)")
    beside = page.evidence("05")
    products = beside.numbers("waves", r"40: \[(\S+) +\S+ +\S+ +\S+ +(\S+) \]")
    page.says("(b) It is {:.1f}", products[1], holds=products[0] == 32)
    page.says(
        "row 1 is (0.841, 0.540, 0.010, 1.000), row 2 is (0.909, −0.416, 0.020, 1.000)",
        holds=np.allclose(rows[4:], [0.841, 0.54, 0.01, 1, 0.909, -0.416, 0.02, 1], atol=1e-3),
    )
    page.given(
        "sin 1 = 0.841, cos 1 = 0.540, sin 2 = 0.909, cos 2 = −0.416",
        "Row 0 is (0, 1, 0, 1)",
        "ω₁ = 10000^(−2/4) = 1/100 = 0.01",
        "ω₀ = 1",
        "What are ω₀ and ω₁, and what are rows 0, 1 and 2?",
        "D = 4",
        because=BY_HAND,
    )
    page.given(
        "at p = 500 it is far larger than any feature of a word",
        "p/T, between 0 and 1",
        "from 7 = 0111 to 8 = 1000 all four digits flip",
        because=BY_HAND,
    )
    page.given("At distance 0 it is largest, D/2.", "counted from 0", "$k = -1$", because=SHAPE)


def rotary(page) -> None:
    page.says(
        "so the score is cos 2 = −0.416",
        holds=[abs(value + 0.416) < 1e-3 for value in page.numbers("rotary", r"\(1, 0\) +(\S+),")],
    )
    page.says(
        "With the key (0, 1) it would be sin 2 = 0.909 for a key before the query and −0.909 for one after it",
        holds=np.allclose(page.numbers("rotary", r"\(0, 1\) +(\S+)"), [0.909, 0.909, -0.909], atol=1e-3),
    )
    page.given(
        "The query (1, 0) stands at position 3, the key (1, 0) at position 1",
        "The angle between them is 3 − 1 = 2 radians",
        "It is the same at 53 and 51",
        because=BY_HAND,
    )
    page.given("position 2 would be the same as position 0.)", because=SHAPE)
    page.given(
        "One pair, θ = 1", "ALiBi's part alone: zero on the diagonal, falling to −3 at distance 47", because=SHAPE
    )


def bases(page) -> None:
    """Arithmetic; `test_the_rotary_code_of_lecture_5_turns_as_lecture_10s_does` runs the code that the page shows."""
    for base, within in ((10_000, 25), (100_000, 20), (500_000, 18)):
        turns_in = 2 * np.pi * base ** (np.arange(0, 64, 2) / 64)
        page.says(
            "| {:,} | {:,.0f} positions | {} of 32 |",
            base,
            turns_in[-1],
            within,
            holds=(turns_in < 8192).sum() == within,
        )
    page.given(
        "the slowest of 32 pairs (K = 64) turns once in", "pairs that turn within 8,192 positions", because=SHAPE
    )
    page.given(
        "The paper takes 10,000; SmolLM2, for texts of 8,192 tokens, 100,000; Llama 3, for longer ones, 500,000",
        because="read from the file of SmolLM2, and cited",
    )


def encoder(page) -> None:
    cosines = type(page)("07_bert_ag_news").numbers("b7-order", r"profits: (\S+) (\S+)")
    page.says(
        "to it their vectors have the cosine {:.2f}; Two canines chase each other has {:.2f} (", *cosines,
        holds=cosines[0] > 0.95,
    )  # fmt: skip
    page.given(
        "a learned table of 512 positions", "is counted in lectures 6b and 7.", because="sizes and numbers of pages"
    )


def beyond(page, results, by_seed) -> None:
    far = {method: np.array([views["all keys"][2] for views in runs]) for method, runs in results.items()}
    page.says(
        "ALiBi only, with {:.2f} to {:.2f}.",
        far["ALiBi"].min(),
        far["ALiBi"].max(),
        holds=[
            far["ALiBi"].min() > 0.9,
            max(far[method].max() for method in ("none", "learned", "sinusoidal", "rotary")) < 0.6,
        ],
    )
    others = np.concatenate([far[method] for method in ("none", "learned", "sinusoidal", "rotary")])
    page.says(
        "The other four end between {:.2f} and {:.2f}, rotary positions too.",
        others.min(),
        others.max(),
        holds=far["rotary"].max() <= others.max(),
    )
    page.says("Beyond the training length of 32 only ALiBi keeps its accuracy.", holds=far["ALiBi"].min() > 0.95)
    page.says("ALiBi stays near 0.97.", holds=abs(far["ALiBi"] - 0.97).max() < 0.015)
    page.says("Rotary holds for some positions, then falls below 0.4.", holds=far["rotary"].max() < 0.4)
    page.given("A line at 0.39 marks a model without memory.", because="0.3 + 0.7/8")
    page.says(
        "three of the five end there or below", holds=sum(np.median(values) < 0.4 for values in far.values()) == 3
    )
    page.given(
        "at positions 64 to 159?",
        "They train on 32 tokens and are tested on 160",
        "its last 32 keys only",
        "last 32 : each",
        "last 28, first 4 : as many keys",
        "all keys, positions / 5 : all 160 keys, but every distance divided by 5",
        "beyond 32",
        "no distance above 32",
        because=SHAPE,
    )
    curves = {
        method: np.array([run[method]["by 8 positions"] for run in by_seed]) for method in results
    }  # (seeds, 20 stretches of eight positions)
    none, tables = curves.pop("none"), np.stack(list(curves.values()))
    falls = -np.diff(none, axis=1)
    page.says(
        "Without positions the accuracy starts below the others, falls fast at first, then slowly.",
        holds=[bool((none[:, 0] < tables[..., 0]).all()), *(falls[:, 0] > 2 * falls[:, 1:].max(axis=1))],
    )
    page.says(
        "lowest at the start, {:.2f} here: only the causal mask shows the order |",
        far["none"].mean(),
        holds=[bool((none[:, :4] < tables[..., :4].min(axis=0)).all()), *(np.round(far["none"], 2) == 0.44)],
    )
    page.given("Letters stand at 30 % of the positions", because="how coursekit/lecture/memory_task.py draws them")
    views = {name: np.array([run[name] for run in results["rotary"]]) for name in results["rotary"][0]}
    whole, far, near, window = (
        views[name] for name in ("all keys", "last 28, first 4", "all keys, positions / 5", "last 32")
    )
    page.says(
        "Through the window the unchanged weights go from {:.2f} to {:.2f}.", np.median(whole[:, 2]), window[:, 2].min()
    )
    for name, values in (("all keys", whole), ("last 28, first 4", far)):
        page.says(
            "| {} | {:.2f} to {:.2f} | {:.2f} to {:.2f} |", name,
            *(extreme for part in (1, 2) for extreme in (values[:, part].min(), values[:, part].max())),
        )  # fmt: skip
    page.says(
        "| all keys, positions / 5 | {:.2f} | {:.2f} to {:.2f} |", near[:, 1].min(), near[:, 2].min(), near[:, 2].max(),
        holds=np.ptp(near[:, 1].round(2)) == 0,
    )  # fmt: skip
    page.says("| last 32 | {:.2f} | {:.2f} |", window[:, 1].min(), window[:, 2].min())
    page.says(
        "Between 32 and 63 these four cost as much as all far keys: {:.2f}, {:.2f} and {:.2f} of the letters "
        "are correct in both views.",
        *far[:, 1], holds=abs(far[:, 1] - whole[:, 1]).max() < 0.007,
    )  # fmt: skip
    page.says(
        "With all keys, but no distance above 32, the share is {:.2f} to {:.2f}.", near[:, 1:].min(), near[:, 1:].max()
    )
    printed = page.numbers("views", r"rotary +all keys +positions 32-63: (\S+) (\S+) (\S+) +64-159: (\S+) (\S+) (\S+)")
    page.says("Read the same models again", holds=np.allclose(printed, whole[:, 1:].T.ravel(), atol=0.006))
    page.says(
        "The window does not help the sinusoidal model between 32 and 63",
        holds=np.median([run["last 32"][1] for run in results["sinusoidal"]]) < 0.5,
    )
    page.given(
        "positions 32 to 63 | 64 to 159 |", 
        because=SHAPE,
    )  # fmt: skip
