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
    page.says(
        "caption and twin get the same probability: however long you train, exactly half of the answers are correct.",
        holds=[page.number("blind", r"accuracy ([\d.]+)") == 0.5, one == other],
    )
    page.says("A row of numbers for each position, added to the token, is enough to tell a sentence from its twin.")
    page.says(
        "With positions alone, one fixed matrix looks one to the left, wherever the query stands.",
        holds=[
            "shifts all positions: True" in page.output("shift"),
            *(0.9 < weight <= 1 for weight in page.numbers("shift", r"weight ([\d.]+) on")),
        ],
    )
    page.says(
        "In this trained table neighbouring positions are alike, and a learned table has no row beyond its length."
    )
    page.says(
        "Let the position act by a matrix, and demand that a score depends on the offset alone: in two dimensions you "
        "get a rotation."
    )
    page.says(
        "In a task that asks only for the most recent letter, ALiBi, which weakens far keys, holds beyond its length "
        "by itself; the rotary model holds only if far keys are cut or brought nearer."
    )
    page.given("Positions 2 and 8, where the dogs stand", "are multiplied by 50", because=SHAPE)


def defined(page) -> None:
    page.given(
        "about 65 minutes to read and predict (estimated, not measured); "
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
    learned = page.numbers("sinusoidal-learns", r"epochs: (\S+) (\S+) (\S+)")
    page.says("is enough to tell a sentence from its twin", holds=learned[-1] == 1)
    page.says(
        "After three epochs it reads all new twins correctly; without a table it stays at {:.2f}.",
        page.number("blind", r"accuracy ([\d.]+)"),
        holds=[learned[1] == 1, learned[-1] == 1],
    )


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
    slowest, within = (
        np.array(page.numbers("base", r"once in +([\d,]+) positions; pairs that turn within 8,192: (\d+)"))
        .reshape(3, 2)
        .T
    )
    page.says("Longer texts want slower pairs, and so a larger base", holds=[
        list(slowest) == sorted(slowest), list(within) == sorted(within, reverse=True)
    ])  # fmt: skip
    told = page.output("rotary-code")
    page.says(
        "Both keep the demand, and they are not the same",
        holds=[told.count("diagonals: True, lengths kept: True") == 2, "agree: False" in told],
    )
    page.given(
        "The paper takes 10,000, SmolLM2-135M 100,000 (it stands in its file), Llama 3 500,000",
        because="read from the file of SmolLM2, and cited",
    )
    q, k = np.random.default_rng(0).normal(size=(2, 5, 8))[:, 4]
    own = float(q @ k)  # turned by the same angles, they keep their product
    mine, other, reordered = np.array(page.numbers("other-layout", r"(-?\d+\.\d+)")).reshape(3, 5)
    page.says(
        "The key at the query's own position gets the same score either way; all others differ.",
        holds=[
            mine[4] == other[4] == round(own, 3),
            (abs(mine - other)[:4] > 0.1).all(),
            np.allclose(mine, reordered, atol=2e-3),
        ],
    )


def encoder(page) -> None:
    cosines = r" .*twin (\S+), in the passive (\S+), another caption (\S+), its words backwards (\S+)"
    real = page.numbers("real-encoder", "with its positions" + cosines)
    blind = page.numbers("real-encoder", "all positions equal" + cosines)
    page.says(
        "(c) It is {:.2f}. In the passive, the black dog is being run after by a brown dog , the caption means the "
        "same, and has {:.2f}.", *real[:2],
    )  # fmt: skip
    page.says("get one and the same vector", holds=[blind[0] == 1, blind[3] == 1])
    page.says("With its positions the words backwards fall to {:.2f}.", real[3])
    page.says(
        "to swap who chases whom costs {:.2f}, less than to say the same in the passive; another caption has −{:.2f}.",
        1 - real[0], -real[2], holds=real[0] > real[1],
    )  # fmt: skip
    low, high, passive, most = page.numbers("real-encoder", r"cosine ([\d.]+) to ([\d.]+)")
    page.says("exchanged, {:.3f} to {:.3f}; in the passive, {:.3f} to {:.3f}.", low, high, passive, most)
    page.says("still a sentence is nearer to its reverse than to its own passive.", holds=low > most)
    page.given(
        "(a) below 0.5: another meaning", "(b) about 0.8", "(c) above 0.95", "a learned table of 512 positions",
        "fetches it once (84 MB)", "is counted in lectures 6b and 7.",
        "Lectures 6b and 7 shuffle real texts and count", because="wrong answers, and the model's sizes",
    )  # fmt: skip


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
        "| {:.2f} here, low from the start: one block sees the earlier tokens as a set |",
        far["none"].mean(),
        holds=[bool((none[:, :4] < tables[..., :4].min(axis=0)).all()), *(np.round(far["none"], 2) == 0.44)],
    )
    page.given("Letters stand at 30 % of the positions", because="how coursekit/lecture/memory_task.py draws them")
    views = {name: np.array([run[name] for run in results["rotary"]]) for name in results["rotary"][0]}
    whole, far, near, window = (
        views[name] for name in ("all keys", "last 28, first 4", "all keys, positions / 5", "last 32")
    )
    page.says(
        "With all 160 keys, and no distance beyond those of training, the unchanged weights reach {:.2f} to {:.2f} in "
        "place of about {:.2f}: more keys, and neighbours only a fifth of a step apart, cost at most {:.2f} together.",
        near[:, 1:].min(), near[:, 1:].max(), np.median(whole[:, 2]), (window - near)[:, 1:].max(),
        holds=near[:, 2].min() - whole[:, 2].max() > 0.4,
    )  # fmt: skip
    page.says("Through the window everything is correct.", holds=window[:, 1:].min() > 0.995)
    page.says(
        "Within the training length ALiBi pays for it: in the figure it lies below the rotary model.",
        holds=(curves["ALiBi"][:, :4] < curves["rotary"][:, :4]).all(),
    )
    page.says("a window takes the rotary model from a third to all letters", holds=[
        abs(whole[:, 2] - 1 / 3).max() < 0.05, window.min() > 0.995
    ])  # fmt: skip
    page.says(
        "All keys: about 0.63, then about 0.35.",
        holds=[abs(whole[:, 1].mean() - 0.63) < 0.01, abs(whole[:, 2].mean() - 0.35) < 0.01],
    )
    page.says(
        "Last 28 and first 4 keys: the same as all keys on the left, {:.2f} to {:.2f} on the right.",
        far[:, 2].min(), far[:, 2].max(),
        holds=abs(far[:, 1] - whole[:, 1]).max() < 0.007,
    )  # fmt: skip
    page.says("All keys with positions divided by five: {:.2f} to {:.2f}.", near[:, 1:].min(), near[:, 1:].max())
    page.says("Last 32 keys: {:.2f} in both panels.", window[:, 1:].min())
    page.says(
        "four far keys among 32 do as badly as all keys between 32 and 63.",
        holds=abs(far[:, 1] - whole[:, 1]).max() < 0.007,
    )
    page.says("(From 64 on the same four are further away and cost less", holds=(far[:, 2] > far[:, 1] + 0.1).all())
    cut = np.array(page.numbers("views", r"(?m)^\w+, last 32 +positions .*64-159: (\S+) (\S+) (\S+)"))
    page.says(
        "The window does not save the sinusoidal model, nor the one without positions.",
        holds=cut.reshape(-1, 3)[1:].max() < 0.6,
    )
    printed = page.numbers("views", r"rotary, all keys +positions 32-63: (\S+) (\S+) (\S+) +64-159: (\S+) (\S+) (\S+)")
    page.says("Test the same model again", holds=np.allclose(printed, whole[:, 1:].T.ravel(), atol=0.006))
    page.says(
        "The window does not help the sinusoidal model between 32 and 63",
        holds=np.median([run["last 32"][1] for run in results["sinusoidal"]]) < 0.5,
    )
    page.given(
        "Share of correct letters at positions 32 to 63 and 64 to 159",
        "fails", "A dotted line at 0.39 marks a model without memory.",
        because=SHAPE,
    )  # fmt: skip
