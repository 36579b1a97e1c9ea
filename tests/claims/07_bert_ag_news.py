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
    counted, tests = page.numbers("b7-first", r"words counted: ([\d.]+)% of ([\d,]+)")
    live = page.number("b7-first", r"frozen MiniLM, linear head: ([\d.]+)%")
    page.says(
        "It is {:.1f} % on average over ten draws of 240 texts; counted words have {:.1f} %.",
        mean(page, "frozen"), mean(page, "words"),
        holds=[80 < live < 90, counted < live, tests == 1_500, len(study(page)["test"]["frozen"]) == 10],
    )  # fmt: skip
    page.says(
        "A live number may differ by a point.",
        holds=[abs(live - mean(page, "frozen")) < 1, abs(counted - mean(page, "words")) < 1],
    )
    page.says(
        "The *striker* makes a dispute about wages *Sports*. With a *miner* the same sentence is *Business*.",
        holds=[leading(page, "The striker") == "Sports", leading(page, "The miner") == "Business"],
    )
    page.says("(A blind guess: 25 %. Counted words, with the same labels: about 74 %.)", holds=abs(counted - 74) < 0.5)
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
    words, table, whole = (mean(page, kind) for kind in ("words", "table", "frozen"))
    page.says(
        "Over ten draws: counted words {:.1f} %, the table {:.1f} %, the frozen MiniLM {:.1f} %.", words, table, whole
    )
    lead, by_table = pair(page, "frozen", "words")[0], pair(page, "table", "words")[0]
    share = by_table / lead
    test = {kind: np.array(shares) for kind, shares in study(page)["test"].items()}
    each = (test["table"] - test["words"]) / (test["frozen"] - test["words"])
    page.says(
        "Of the {:.1f} points by which the frozen MiniLM leads, the table brings {:.1f}, which is {:.0f} % ({:.0f} to "
        "{:.0f} % in the single draws).",
        lead, by_table, 100 * share, 100 * min(each), 100 * max(each),
        holds=[0.6 < share < 0.8, pair(page, "frozen", "table")[1] > 0],
    )  # fmt: skip
    page.says(
        "Without its blocks, by the mean of its table's rows, MiniLM keeps about seven tenths of its lead on the "
        "news; that table was trained under these blocks.",
        holds=round(10 * share) == 7,
    )
    page.says("The word table alone goes most of the way.", holds=share > 0.5)
    shares = {kind: study(page)["test"][kind] for kind in ("words", "table", "frozen")}
    page.says(
        "Counted words lie between {:.0f} and {:.0f}, the mean of MiniLM's table rows between {:.0f} and {:.0f}, the "
        "frozen MiniLM between {:.1f} and {:.0f}: no dot of the three groups overlaps with another group.",
        *(100 * extreme(shares[kind]) for kind in ("words", "table", "frozen") for extreme in (min, max)),
        holds=[max(shares["words"]) < min(shares["table"]), max(shares["table"]) < min(shares["frozen"])],
    )
    near = dict(re.findall(r"(?m)^(striker|earnings|iraq) +([^;]+);", page.output("b7-neighbours")))
    page.says(
        "In the table similar words have similar rows:",
        holds=["midfielder" in near["striker"], "profits" in near["earnings"], "baghdad" in near["iraq"]],
    )
    cosine = page.number("b7-neighbours", r"midfielder ([\d.]+)")
    middle = page.numbers("b7-neighbours", r"all pieces ([\d.]+)")
    page.says(
        "*Striker* and *midfielder* have the cosine {:.2f}, so what a label says of one can also count for the other.",
        cosine, holds=cosine > 0.3 > max(middle),
    )  # fmt: skip
    for kind, label in (
        ("words", "words counted"),
        ("table", "MiniLM's word table alone"),
        ("frozen", "MiniLM, frozen"),
    ):
        page.says(f"{label} | {{:.1f}} % | {{:.1f}} % |", mean(page, kind), mean(page, kind, "sample"))
    apart = pair(page, "frozen", "table", "sample")
    page.says(
        "There the six blocks add {:.1f} points to the table, more than on the news, and the table adds nothing to "
        "counting",
        apart[0],
        holds=[
            apart[0] > pair(page, "frozen", "table")[0],
            apart[1] > 0,
            pair(page, "table", "words", "sample")[1] < 0,
        ],
    )
    printed = page.numbers("b7-draws", r"(?m)^(?:words|table|frozen) +ten draws: mean ([\d.]+)%")
    assert np.allclose(printed, [words, table, whole], atol=0.06)
    many = study(page)["10,000 labels"]
    page.says(
        "With 10,000 labels the table's lead is gone: counted words reach {:.1f} %, the table's means {:.1f} %.",
        100 * many["words"], 100 * many["table"], holds=many["words"] > many["table"],
    )  # fmt: skip


def summary(page: Page) -> None:
    """The table at the end."""
    names = {"words": "words counted", "table": "MiniLM's word table alone", "frozen": "MiniLM, frozen"}
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
        "It is {:.1f} %, {:.1f} points better than the frozen one with the same texts ({:.1f} to {:.1f} over the test "
        "texts; one draw, one seed).",
        tuned, difference, low, high,
        holds=low > 0,
    )  # fmt: skip
    everything, minutes = page.numbers("b7-trained", r"draw 0: ([\d,]+) numbers learn, \d+ epochs, (\d+) minutes")
    everything_small = 1_448_276
    page.says("All {:.1f} million numbers learn from the same 240 texts", everything / 1e6)
    run = study(page)["runs"]["fine-tuned"][0]
    page.says(
        "It knows its 240 texts by heart, every one, and is no worse for it on new texts.",
        holds=run["training"] == 1 and difference > 0,
    )
    page.says("The price is three minutes of one core.", holds=[minutes == 3, 150 < run["training seconds"] < 210])
    few, square = page.numbers("b7-lora-keras", r"A and B have ([\d,]+) numbers, the matrix ([\d,]+)")
    assert few == 2 * 4 * 384 and square == 384**2
    small = page.recorded("news_few_labels")["results"]
    tuned_small, lora_small, frozen_small = (np.mean(small["test"][kind]) for kind in ("fine-tuned", "LoRA", "frozen"))
    page.says(
        "it learns {:.1f} % of the numbers and has {:.1f} % right, where full fine-tuning has {:.1f} %",
        100 * page.number("b7-lora-keras", r"LoRA +([\d,]+) numbers") / everything_small,
        100 * lora_small, 100 * tuned_small,
        holds=small["learned"]["fine-tuned"] == everything_small,
    )  # fmt: skip
    page.says("Frozen, the small BERT, which has only guessed words, has {:.1f} %.", 100 * frozen_small)
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
        "It has {:.1f} % of the test texts right: {:.1f} points fewer than counting has with the same labels "
        "({:.1f} to "
        "{:.1f} over the test texts; one draw, one seed).",
        scratch, difference, low, high,
        holds=[low > 0, fitted == 100, len(study(page)["test"]["scratch"]) == 1],
    )  # fmt: skip
    small = page.recorded("news_few_labels")["results"]["test"]
    page.says(
        "The small BERT's network does no better from scratch in any of three draws",
        holds=[len(small["scratch"]) == 3, 100 * max(small["scratch"]) < scratch],
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
    printed = page.numbers("b7-order", r"ten draws: ([\d.]+)% of the answers")
    printed += page.numbers("b7-order", r"the news, .*: frozen ([\d.]+)%, shuffled ([\d.]+)%")
    page.says("So the order is worth {:.1f} points on the news.", pair(page, "frozen", "shuffled")[0])
    assert np.allclose(printed, [moved, before, after], atol=0.06)
    twin, meaning, other = page.numbers("b7-order", r"profits: ([-\d.]+) ([-\d.]+) ([-\d.]+)")
    page.says(
        "and its reverse have the cosine {:.2f}; the same scene in other words has {:.2f}.",
        twin, meaning,
        holds=twin > 0.9 > meaning,
    )  # fmt: skip
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
        holds=[before - after < 1, twin > meaning > other],
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
    leads = np.reshape(page.numbers("b7-errors", r"labels ([+-][\d.]+)"), (2, 4))  # linear, LSA
    page.says("Counting catches up as the labels fill its columns.", holds=bool((np.diff(leads[0]) < 0).all()))
    page.says(
        "with 100 labels it is {:.1f} points behind the small BERT, counting {:.1f}",
        leads[1][0], leads[0][0], holds=leads[1][0] < leads[0][0],
    )  # fmt: skip
    mixed, wrong = page.numbers("b7-errors", r"(\d+) of (\d+) errors: Business")
    page.says(
        "{:.0f} of the {:.0f} errors of MiniLM's live draw take Business and Sci/Tech for each other",
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
            leads[1][3] > leads[1][2],
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
        "about 67 minutes to read and predict (estimated, not measured); the code runs in about two minutes on two CPU "
        "cores.",
        "the word table turns them into vectors of 384 numbers",
        "You train a linear head on MiniLM's vectors of 240 texts",
        "(a) about 74 % - (b) about 85 % - (c) about 95 %",
        "each piece has one row of 384 numbers",
        "(a) at 74 %: without attention it is counting",
        "Test accuracy with 240 labels, ten draws of labelled texts",
        "a word that your 240 texts never use has no weight",
        "correct with 240 labels, ten draws |",
        "eight times over",
        "MiniLM (84 MB:",
        "built like BERT, six blocks, D = 384; others trained it further as a **sentence encoder** (section 3) | 3 to "
        "7 |",
        "the course's own, three blocks, D = 128; it learned by guessing hidden words | 1, 2, 5, 8, 9 |",
        "the published one, twelve blocks, D = 768; you see how to load it, and it is not run here | 9 |",
        "one draw of 240 labelled texts, on 1,500 test texts",
        "on 3,000 test texts: ten draws where a fit is cheap",
        "The mean has length 1, as its makers compare sentences by cosine;",
        "its numbers have a mean square of 1:",
        "took peaks of 2 to 5·10⁻⁵ and 2 to 4 epochs;",
        "an error of 5.25 % with BERT-base and all 120,000 labels.",
        "Sections 3 to 7 are Keras 3.",
        "Ten draws of 240 texts for what is cheap;",
        "In 600 unseen news items one word each was hidden by a rule (the first whole word of four letters or more "
        "from "
        "position 10 on)",
        "here it is 1·10⁻⁴ and 8, set beforehand and not searched",
        "it learns 240 texts by heart",
        "MiniLM has 30,522 pieces of its own.",
        "1 for tokens, 0 for padding |",
        "0 for the first text, 1 for the second, 0 for padding |",
        "a table of two rows, (2, D) |",
        "MLM chooses 15 % of the tokens and lets the encoder guess them.",
        "Of the chosen tokens 80 % become `[MASK]`, 10 % become a random piece, 10 % stay as they are.",
        "With 80/10/10 any token that looks ordinary may have to be predicted",
        "must become ids that begin with 101 6627 11256 1024 1996 6627 5016 2003 2551 2006.",
        "was written for Keras 2.",
        "Since TensorFlow 2.16, `keras` and `tf.keras` are Keras 3, with other classes;",
        "Keras 2 goes on as the package `tf_keras`.",
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
