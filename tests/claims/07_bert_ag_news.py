"""What lecture 7 says of its numbers, and which outputs the numbers come from."""

from __future__ import annotations

import re

import numpy as np
from claims.page import Page

CHART = "application/vnd.vegalite.v5+json"


def claims(page: Page) -> None:
    beside = page.evidence("07")
    frozen(page)
    table_alone(page)
    learning(page)
    from_scratch(page)
    order(page)
    hidden_words(page, beside)
    base(page)
    more_labels(page)
    mistakes(page)
    summary(page)
    given(page)


def study(page: Page, source: str = "real") -> dict:
    return page.recorded("news_with_minilm")["results"][source]


def mean(page: Page, kind: str, source: str = "real") -> float:
    """In per cent, over the draws."""
    return 100 * float(np.mean(study(page, source)["test"][kind]))


def pair(page: Page, first: str, second: str, source: str = "real") -> tuple[float, float, float]:
    """Difference and interval in points."""
    (found,) = [each for each in study(page, source)["pairs"] if (each["first"], each["second"]) == (first, second)]
    return 100 * found["difference"], 100 * found["low"], 100 * found["high"]


def frozen(page: Page) -> None:
    counted, tests = page.numbers("b7-first", r"counting: ([\d.]+)% of ([\d,]+)")
    live = page.number("b7-first", r"frozen MiniLM, linear head: ([\d.]+)%")
    assert page.number("b7-first", r"training texts: ([\d.]+)%") > 90
    page.says(
        "It is {:.1f} % on average over ten draws of 240 texts; counting has {:.1f} %.",
        mean(page, "frozen"), mean(page, "words"),
        holds=[80 < live < 90, counted < live, tests == 1_500, len(study(page)["test"]["frozen"]) == 10],
    )  # fmt: skip
    page.says(
        "a live number may differ by a point.",
        holds=[abs(live - mean(page, "frozen")) < 1, abs(counted - mean(page, "words")) < 1],
    )
    page.says(
        "The *striker* makes a dispute about wages *Sports*. With a *miner* the same sentence is *Business*.",
        holds=[leading(page, "The striker") == "Sports", leading(page, "The miner") == "Business"],
    )
    page.says("(A blind guess: 25 %. Counting, with the same labels: about 74 %.)", holds=abs(counted - 74) < 0.5)
    assert page.number("b7-first", r"the head learned ([\d,]+) numbers") == 4 * 385
    total = sum(page.numbers("b7-load", r"(?m) ([\d,]+) numbers"))
    page.says("built like BERT, six blocks, D = 384, V = 30,522, {:.1f} million numbers.", total / 1e6)
    page.says(
        "On a frozen sentence encoder 240 labels go further than on counted words: about 85 of 100 news items are "
        "correct, against about 74.",
        holds=[abs(live - 85) < 2, abs(counted - 74) < 0.5, pair(page, "frozen", "words")[1] > 5],
    )


def leading(page: Page, begin: str) -> str:
    """The class with the largest share for one of the texts that a reader may change."""
    (line,) = [line for line in page.output("b7-own").splitlines() if f"· {begin}" in line]
    return max(re.findall(r"(\S+) ([\d.]+)", line.split("·")[0]), key=lambda found: float(found[1]))[0]


def table_alone(page: Page) -> None:
    test = {kind: np.array(shares) for kind, shares in study(page)["test"].items()}
    words, table, whole, bare = (mean(page, kind) for kind in ("words", "table", "frozen", "no blocks"))
    page.says(
        "Over ten draws: counting {:.1f} %, no block {:.1f} %, the frozen MiniLM {:.1f} %. Without positions, norm, "
        "`[CLS]` and `[SEP]`, the mean of the table's rows has {:.1f} %.",
        words, bare, whole, table,
        holds=0.5 < (bare - words) / (whole - words) < 0.84,
    )  # fmt: skip
    lead, by_table = pair(page, "frozen", "words")[0], pair(page, "table", "words")[0]
    share = by_table / lead
    each = (test["table"] - test["words"]) / (test["frozen"] - test["words"])
    page.says(
        "Of the {:.1f} points by which the frozen MiniLM leads, the table brings {:.1f}, which is {:.0f} % ({:.0f} to "
        "{:.0f} % in the single draws).",
        lead, by_table, 100 * share, 100 * min(each), 100 * max(each),
        holds=[0.6 < share < 0.8, pair(page, "frozen", "table")[1] > 0],
    )  # fmt: skip
    without = (
        "positions, norm, `[CLS]` and `[SEP]` by themselves change the table's result by {:.1f} points ({:.1f} to "
        "{:.1f})."
    )
    page.says(
        without.format(*pair(page, "no blocks", "table")).replace("-", "−"),
        holds=min(test["frozen"]) > max(test["no blocks"]),
    )
    page.says(
        "With 240 labels of these news items, MiniLM keeps about seven tenths of its lead over counting without its "
        "blocks, by the mean of its table's rows; that table was trained under these blocks.",
        holds=round(10 * share) == 7,
    )
    moved, directions, labelled = (
        mean(page, f"table {kind}") for kind in ("with rows moved", "with random directions", "of labelled pieces")
    )
    page.says(
        "The table alone goes most of the way, and only with its rows in their places.",
        holds=[share > 0.5, max(moved, directions) < words],
    )
    page.says(
        "From below: the table with its rows moved {:.0f} to {:.0f}, counting {:.0f} to {:.0f}, the table alone "
        "{:.0f} to {:.0f}, no block {:.0f} to {:.0f}, the frozen MiniLM {:.1f} to {:.0f}.",
        *(
            100 * extreme(test[kind])
            for kind in ("table with rows moved", "words", "table", "no blocks", "frozen")
            for extreme in (min, max)
        ),
    )
    near = dict(re.findall(r"(?m)^(striker|earnings|iraq) +([^;]+);", page.output("b7-neighbours")))
    page.says(
        "In the table similar words have similar rows:",
        holds=["midfielder" in near["striker"], "profits" in near["earnings"], "baghdad" in near["iraq"]],
    )
    cosine = page.number("b7-neighbours", r"midfielder ([\d.]+)")
    middle = page.numbers("b7-neighbours", r"all pieces ([\d.]+)")
    page.says(
        "*Striker* and *midfielder* have the cosine {:.2f}, so what a label says of one could also count for the "
        "other.",
        cosine, holds=cosine > 0.3 > max(middle),
    )  # fmt: skip
    page.says(
        "the table falls from {:.1f} to {:.1f} %, far below counting.",
        table,
        moved,
        holds=pair(page, "words", "table with rows moved")[1] > 0,
    )
    page.says("it falls to {:.1f} %", labelled, holds=pair(page, "table", "table of labelled pieces")[1] > 0)
    printed = page.numbers("b7-draws", r"(?m)^(?:counting|table alone|no block|frozen) +ten draws: mean ([\d.]+)%")
    assert np.allclose(printed, [words, table, bare, whole], atol=0.06)
    many = {kind: 100 * found for kind, found in study(page)["10,000 labels"].items()}
    kinds = ("words", "LSA", "table", "frozen")
    page.says(
        "240 labels, ten draws | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |", *(mean(page, kind) for kind in kinds)
    )
    page.says("10,000 labels, one fit | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |", *(many[kind] for kind in kinds))
    alike = [many[kind] for kind in ("words", "table", "frozen")]
    page.says(
        "With 10,000 labels MiniLM, frozen, has no lead to divide: counting, the table and MiniLM lie within {:.1f} "
        "points.",
        max(alike) - min(alike),
        holds=many["LSA"] < min(alike) - 2,
    )
    sample = [mean(page, kind, "sample") for kind in ("words", "table")]
    page.says(
        "With 240 labels counting has {:.1f} % there, the table {:.1f} %, {:.1f} below it, and the frozen MiniLM "
        "{:.1f} %: the whole lead comes with the blocks.",
        *sample, -pair(page, "table", "words", "sample")[0], mean(page, "frozen", "sample"),
        holds=[pair(page, "frozen", "table", "sample")[1] > 0, pair(page, "table", "words", "sample")[1] < 0],
    )  # fmt: skip


def summary(page: Page) -> None:
    """The table at the end."""
    names = {"words": "counting", "table": "MiniLM's table alone", "frozen": "MiniLM, frozen", "LSA": "LSA"}
    names |= {"table with rows moved": "MiniLM's table, rows moved"}
    names |= {"fine-tuned": "MiniLM, fine-tuned", "scratch": "MiniLM's network from scratch"}
    tests = f"{study(page)['tests']:,}"
    for kind, name in names.items():
        page.says(f"{name} | {{:.1f}} % | {{}} · {tests} |", mean(page, kind), len(study(page)["test"][kind]))
    small = page.recorded("news_few_labels")["results"]["test"]["fine-tuned"]
    page.says("the course's small BERT, fine-tuned | {:.1f} % | {} · 7,600 |", 100 * float(np.mean(small)), len(small))


def learning(page: Page) -> None:
    difference, low, high = pair(page, "fine-tuned", "frozen")
    tuned = page.number("b7-trained", r"test texts ([\d.]+)%")
    page.says(
        "It is {:.1f} %, {:.1f} points better than the frozen one with the same texts ({:.1f} to {:.1f}; one draw, one "
        "seed). Over ten draws the frozen one alone goes from {:.1f} to {:.1f} %.",
        tuned, difference, low, high, *(100 * extreme(study(page)["test"]["frozen"]) for extreme in (min, max)),
        holds=low > 0,
    )  # fmt: skip
    everything, minutes = page.numbers("b7-trained", r"draw 0: ([\d,]+) numbers learn, \d+ epochs, (\d+) minutes")
    everything_small = 1_448_276
    page.says("All {:.1f} million numbers learn from the same 240 texts", everything / 1e6)
    run = study(page)["runs"]["fine-tuned"][0]
    page.says(
        "It knows its 240 texts by heart, every one, and on new texts it is not behind.",
        holds=run["training"] == 1 and difference > 0,
    )
    page.says("The price is three minutes of one core.", holds=[minutes == 3, 150 < run["training seconds"] < 210])
    few, square = page.numbers("b7-lora-keras", r"A and B have ([\d,]+) numbers, the matrix ([\d,]+)")
    assert few == 2 * 4 * 384 and square == 384**2
    small = page.recorded("news_few_labels")["results"]
    kinds = ("fine-tuned", "LoRA", "frozen with a linear head")
    tuned_small, lora_small, frozen_small = (np.mean(small["test"][kind]) for kind in kinds)
    page.says(
        "with r = 4 in the matrices of queries and values: it learns {:.1f} % of the numbers and has {:.1f} % right, "
        "where full fine-tuning has {:.1f} %",
        100 * page.number("b7-lora-keras", r"LoRA +([\d,]+) numbers") / everything_small,
        100 * lora_small, 100 * tuned_small,
        holds=[small["learned"]["fine-tuned"] == everything_small, small["rank"] == 4],
    )  # fmt: skip
    page.says("Frozen, below the same linear head as MiniLM, the small BERT has {:.1f} %.", 100 * frozen_small)
    page.says(
        "In this one run fine-tuning every number adds little to a frozen MiniLM; on the small BERT, where it adds "
        "much, LoRA "
        "gets most of it with few numbers.",
        holds=[difference < 3, lora_small - frozen_small > 0.5 * (tuned_small - frozen_small)],
    )


def from_scratch(page: Page) -> None:
    fitted, scratch = page.numbers("b7-scratch", r"training texts ([\d.]+)%, test texts ([\d.]+)%")
    difference, low, high = pair(page, "words", "scratch")
    page.says(
        "It has {:.1f} % of the test texts right: {:.1f} points fewer than the {:.1f} % that counting has in this draw "
        "({:.1f} to {:.1f}; one draw, one seed).",
        scratch, difference, page.number("b7-scratch", r"(?m)^counting ([\d.]+)%"), low, high,
        holds=[low > 0, fitted == 100, len(study(page)["test"]["scratch"]) == 1],
    )  # fmt: skip
    few = page.recorded("news_few_labels")["results"]
    small, of_training = few["test"], few["training"]["scratch"]
    page.says(
        "The small BERT's network, also trained until it fits its texts, has {:.1f} to {:.1f} % in three draws, where "
        "counting words and pairs has {:.1f} to {:.1f} %",
        *(100 * extreme(small[kind]) for kind in ("scratch", "linear") for extreme in (min, max)),
        holds=[len(small["scratch"]) == 3, min(of_training) == 1],
    )
    page.says(
        "An architecture knows no words: from scratch, with 240 labels, both networks are behind counting.",
        holds=[low > 0, max(small["scratch"]) < min(small["linear"])],
    )


def order(page: Page) -> None:
    moved = 100 * float(np.mean(study(page)["changed by shuffling"]["frozen"]))
    before, after = mean(page, "frozen"), mean(page, "shuffled")
    page.says(
        "{:.1f} % of its answers change, and the share of correct ones falls from {:.1f} to {:.1f} % (ten draws).",
        moved, before, after,
        holds=[before > after, moved < 10],
    )  # fmt: skip
    printed = page.numbers("b7-order-record", r"ten draws: ([\d.]+)% of the answers")
    printed += page.numbers("b7-order-record", r"the news, .*: frozen ([\d.]+)%, shuffled ([\d.]+)%")
    parts = page.numbers("b7-order-record", r"(?m)minus .*: ([\d.]+) points$")  # order, blocks without it, table
    page.says(
        "{:.1f} points | {:.1f} | {:.1f} | {:.1f} |",
        pair(page, "frozen", "words")[0], *parts[::-1],
        holds=abs(sum(parts) - pair(page, "frozen", "words")[0]) < 0.1,
    )  # fmt: skip
    assert np.allclose(printed, [moved, before, after], atol=0.06)
    wages, first, second = page.numbers("b7-context", r"wages and wages ([\d.]+), wages and air ([\d.]+) and ([\d.]+)")
    page.says(
        "after six blocks its vectors in two texts on wages have the cosine {:.2f}, and with an air strike {:.2f} and "
        "{:.2f}.",
        wages, first, second, holds=wages > max(first, second),
    )  # fmt: skip
    swapped, same, _ = page.numbers("b7-scenes", r"cosine ([\d.]+), from")
    page.says(
        "In 50 scenes like *a man is chasing a woman*, the sentence with the roles swapped has the mean cosine {:.2f}; "
        "the passive with the same meaning has {:.2f}.",
        swapped, same,
    )  # fmt: skip
    page.says(
        "In none of the 50 is the same meaning nearer than the swapped roles.",
        holds=page.numbers("b7-scenes", r"nearer than roles swapped: (\d+) of (\d+)") == [0, 50],
    )
    sample = mean(page, "frozen", "sample") - mean(page, "shuffled", "sample")
    page.says(
        "On the sample, where the order of two sentences can decide, shuffling costs {:.1f} points, and the frozen "
        "MiniLM falls to the level of counting:",
        sample,
        holds=[sample > before - after, mean(page, "shuffled", "sample") <= mean(page, "words", "sample")],
    )
    page.says(
        "For the topic of these news items the words are nearly all: MiniLM, frozen, reads them in random order and "
        "loses less than one point.",
        holds=before - after < 1,
    )


def hidden_words(page: Page, beside: Page) -> None:
    size = page.number("b7-toy", r"V = ([\d,]+) pieces")
    loss, even = page.numbers("b7-guesses", r"loss ([\d.]+) nats; an even guess over V pieces: ([\d.]+)")
    page.says(
        "Its loss on these eight words is {:.2f}; an even guess over all {:,.0f} pieces has ln {:,.0f} = {:.2f}.",
        loss, size, size, even,
        holds=[loss < even / 2, abs(even - np.log(size)) < 0.006],
    )  # fmt: skip
    first = re.findall(r"(?m)^(.*?___.*?\.) +([a-z]+) [\d.]+", page.output("b7-guesses"))
    page.says(
        "Six of the eight are what stood there.",
        holds=[word for _, word in first[:6]] == ["minister", "medal", "rates", "sox", "engine", "movie"],
    )
    page.says(
        "*earth*, where it was *Mars*, and *months*, where it was *prison*",
        holds=[w for _, w in first[6:]] == ["earth", "months"],
    )
    correct, base = beside.numbers("guesses", r"correct (\d+)%.*commonest: (\d+)%")
    page.says(
        "it finds {:.0f} % of them, and always guessing the commonest one finds {:.0f} %",
        correct,
        base,
        holds=correct > 3 * base,
    )
    shares = np.reshape(
        beside.numbers("heads", r"head \d: before (\d+)%, after (\d+)%, itself (\d+)%, \[CLS\] (\d+)%, \[SEP\] (\d+)%"),
        (3, 4, 5),
    )
    equal = beside.number("heads", r"equal weights: ([\d.]+)%")
    beside.says(
        "Two heads of the first block look at one neighbour nearly all the time; three heads of the last block put a "
        "quarter and more on `[SEP]`.",
        holds=[min(shares[0, 2, 0], shares[0, 3, 1]) >= 90, np.sum(shares[2, :, 4] >= 25) == 3, equal < 2],
    )
    found = beside.cells["live-heads"].outputs[0]["data"]
    assert CHART in found or "text/html" in found
    page.says("A hidden word is a label that the text brings along.")


def base(page: Page) -> None:
    tuned = page.number("b7-base", r"240 labels: ([\d.]+)%")
    over_draws = 100 * float(np.mean(page.recorded("news_few_labels")["results"]["test"]["fine-tuned"]))
    page.says(
        "The small BERT has {:.1f} % in this draw, on 1,500 test texts ({:.1f} % over three draws and all test texts",
        tuned, over_draws,
        holds=abs(tuned - over_draws) < 2,
    )  # fmt: skip


def more_labels(page: Page) -> None:
    leads = np.reshape(page.numbers("b7-errors", r"labels ([+-][\d.]+)"), (3, 4))  # scratch, linear, LSA
    page.says(
        "ahead of the same network from scratch it shrinks from {:.1f} points with 100 labels to {:.1f} with 10,000.",
        leads[0][0], leads[0][3], holds=bool((np.diff(leads[0]) < 0).all()),
    )  # fmt: skip
    page.says("Counting catches up as well, as the labels fill its columns.", holds=bool((np.diff(leads[1]) < 0).all()))
    page.says(
        "LSA is {:.1f} points behind with 100 labels, and does not come nearer steadily",
        leads[2][0],
        holds=not (np.diff(leads[2]) < 0).all(),
    )
    mixed, wrong = page.numbers("b7-errors", r"(\d+) of (\d+) errors: Business")
    page.says(
        "{:.0f} of the {:.0f} of MiniLM's live draw take Business and Sci/Tech for each other",
        mixed, wrong, holds=mixed > wrong / 3,
    )  # fmt: skip
    page.says(
        "The small BERT's pre-training is worth most where labels are few",
        holds=[lead[0] > max(lead[1:]) for lead in leads],
    )
    page.says(
        "The lead of the fine-tuned small BERT is largest where labels are fewest.",
        holds=[lead[0] > max(lead[1:]) for lead in leads],
    )
    runs = page.recorded("bert_ag_news")["results"]["runs"]
    most = {run["model"]: run["test"] for run in runs if run["texts"] == 10_000}
    page.says(
        "With more labels counted words and the network from scratch come up to it; LSA does not.",
        holds=[
            min(most["linear"], most["scratch"]) > most["fine-tuned"] - 0.02 > most["LSA"],
            leads[2][3] > leads[2][2],
        ],
    )


def mistakes(page: Page) -> None:
    page.says("But the model does not know its weights", holds=page.number("b7-mix", r"trains: (\d+)") == 0)
    page.says(
        "The preprocessing of one model, the encoder of another.",
        holds=page.number("b7-other", r"vocabulary: ([\d.]+)%") < 35,
    )


def given(page: Page) -> None:
    page.given(
        "Somebody has sorted 240 news items into four classes for you.",
        "about 70 minutes to read and predict (estimated, not measured); the code runs in about two minutes on two CPU "
        "cores.",
        "the table turns them into vectors of 384 numbers",
        "You train a linear head on MiniLM's vectors of 240 texts",
        "(a) about 74 % - (b) about 85 % - (c) about 95 %",
        "(a) at 74 %: without attention it is counting",
        "Test accuracy with 240 labels, ten draws of labelled texts",
        "a word that your 240 texts never use has no weight",
        "eight times over",
        "MiniLM (84 MB:",
        "built like BERT, six blocks, D = 384; others trained it further as a **sentence encoder** (section 3) | 3 to "
        "8 |",
        "the course's own, three blocks, D = 128; it learned by guessing hidden words | 1, 2, 5, 6, 8, 9 |",
        "the published one, twelve blocks, D = 768; you see how to load it, and it is not run here | 9 |",
        "one draw of 240 labelled texts, on 1,500 test texts",
        "on 3,000 test texts: ten draws where a fit is cheap",
        "and the mean at length 1, which the frozen head reads.",
        "by $\\sqrt D$ first: a mean square of 1.",
        "In Devlin et al. (2019, C.2) this hardly matters after fine-tuning (MNLI: `[MASK]` alone 84.3, the "
        "mixture 84.2), but on frozen vectors (names in a text: 94.0 and 94.9).",
        "The vector of a sentence is the mean over its tokens, at length 1",
        "one fit with 10,000 labels.",
        "Ranges in brackets are 95 % intervals:",
        "correct, AG News | counting |",
        "MiniLM's texts are all of type 0;",
        "took peaks of 2 to 5·10⁻⁵ and 2 to 4 epochs;",
        "94.75 % correct with BERT-base and all 120,000 labels.",
        "so are sections 3 to 7.",
        "Ten draws of 240 texts for what is cheap;",
        "In 600 unseen news items one word each was hidden by a rule",
        "here it is 1·10⁻⁴ and 8, set beforehand and not searched",
        "it learns 240 texts by heart",
        "1 for tokens, 0 for padding |",
        "0 for the first text, 1 for the second, 0 for padding |",
        "a table of two rows, (2, D) |",
        "MLM chooses 15 % of the tokens and lets the encoder guess them.",
        "Of the chosen tokens 80 % become `[MASK]`, 10 % become a random piece, 10 % stay as they are.",
        "With 80/10/10 any token may have to be predicted",
        "must become ids that begin with 101 6627 11256 1024 1996 6627 5016 2003 2551 2006.",
        "`hub.KerasLayer` and all parts around it are Keras 2, the package `tf_keras`.",
        "Since TensorFlow 2.16, `keras` and `tf.keras` are Keras 3;",
        "Test accuracy on 7,600 texts by number of labelled texts, mean and range of three seeds (one seed at 10,000).",
        "With 100 labels fine-tuned leads",
        "A Keras 3 `Dense` on the output of a Keras 2 model",
        "A text has 200 pieces, and T = 128.",
        "126: `[CLS]` and `[SEP]` take two positions.",
        "MiniLM reads at most 128 pieces of a text here",
        "1.4 million numbers, half an hour on film reviews and these 10,000 news items",
        "Its numbers come from all 7,600 test texts, MiniLM's from the first 3,000.",
        "AG News, 240 labels | correct |",
        "makes 128 numbers of each text from the counts of all 10,000 texts",
        because="the design of the page, a setting, or cited",
    )
