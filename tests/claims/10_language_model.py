"""What lecture 10 says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.counting import equal_text, neighbours
from claims.page import Page
from claims.scaling import also, equal_operations, scaling_law

LINES = ((1, 1), (2, 3), (4, 6), (7, 1000))
TABLE, BLOCKS = "c10-25", "c10-38"


def claims(page: Page) -> None:
    pieces(page)
    trained(page)
    written(page)
    copying(page)
    real(page)
    order(page)
    mistakes(page)
    recorded(page)
    page.given(
        "about 73 minutes to read and predict (estimated, not measured)",
        "the code runs in about four minutes on two CPU cores, without the published model in about two.",
        "SmolLM2 (93 MB to fetch;",
        "The 256 bytes are such a list and can write everything",
        "One model uses this vocabulary and has a loss of 2 nats a token. "
        "Another reads single bytes and has a loss of 1.2 nats a byte.",
        "and the second 1.2.",
        "A step takes eight random windows of 257 tokens",
        "The first 256 are the inputs, the last 256 the targets:",
        "(1 nat = 1.44 bits)",
        "Perplexity is 2 to the power of the bits a token: at perplexity 8 the model is as unsure as between 8 equally "
        "probable tokens.",
        "a 4-gram model counts how often each token",
        "new tokens count from 256",
        "| 4-gram | Kneser–Ney |",
        "The number of `l` is 108 and that of `se` is 256",
        because="defined, estimated or an example",
    )


def pieces(page: Page) -> None:
    page.says(
        "A token of this vocabulary stands for about two bytes.",
        holds=[1.9 < page.number("c10-15", r"([\d.]+) bytes a token") < 2.4],
    )


def trained(page: Page) -> None:
    bits = [page.number(TABLE, rf"{name} +([\d.]+) bits") for name in ("counted 4-gram", "Transformer")]
    late = page.number(TABLE, r"Transformer, at least 128 before +([\d.]+) bits")
    page.says(
        "The Transformer begins each held-out window of 256 tokens without context, and counting never does. The "
        "difference is small: with at least 128 tokens before each token the run above pays {:.2f} bits.",
        late,
        holds=0 < bits[1] - late < 0.02,
    )
    equal = page.number(TABLE, r"counted 4-gram, as many tokens +([\d.]+) bits")
    better, better_equal = page.numbers(TABLE, r"Kneser–Ney 6-gram(?:, as many tokens)? +([\d.]+) bits")
    read, text = (page.number("c10-24", pattern) for pattern in (r"([\d,]+) tokens read", r"text of ([\d,]+)"))
    page.says(
        "It has counted twice as many tokens as the Transformer has read. With as many tokens each, the two are about "
        "equal. A better rule for counting (Kneser–Ney, below) still leads.",
        holds=[
            1 < bits[0] < bits[1],
            abs(equal - bits[1]) < 0.03 < bits[1] - bits[0],
            0.45 < read / text < 0.55,
            better < better_equal < bits[1] - 0.15,
        ],
    )
    page.says(
        "The 4-gram counts all {:.1f} million tokens; the Transformer will read {:.1f} million.", text / 1e6, read / 1e6
    )
    covered = page.evidence("10").number("e10-equal-text-runs", r"cover (\d+)% of the text")
    also(
        page,
        "with seed 1 those of 1.3 million tokens cover {:.0f} % of the text, and as many tokens are counted from half",
        covered,
    )
    by_order = page.recorded("library_language_model")["results"]["counted"]["held-out bits a byte"]
    page.says(
        "four tokens (Witten–Bell) and six (Kneser–Ney) are the best of one to six on this held-out text, and six, the "
        "edge of what was tried, still gains.",
        holds=[
            min(by_order, key=by_order.get) == "4",
            len(by_order) == 6,
            page.recorded("library_counting")["results"]["all text"]["Kneser-Ney, all held-out text"][-2] > better,
        ],
    )
    found = re.search(
        r"STEPS - (\d+), warmup_target=([\d.]+), warmup_steps=\1\).*weight_decay=([\d.]+), beta_2=([\d.]+), "
        r"global_clipnorm=(\d)\.0\)",
        page.cells["c10-24"].source,
        re.DOTALL,
    )
    assert found.groups() == ("100", "0.003", "0.1", "0.95", "1")  # what the records were trained with
    steps = re.search(r"STEPS = .*?, (\d+) ", page.cells["c10-24"].source)
    assert int(steps[1]) == page.recorded("library_language_model")["results"]["table"]["steps"]
    fresh, guessing = page.numbers("c10-loss", r"([\d.]+) nats a token; guessing costs ln 512 = ([\d.]+)")
    repeats = np.reshape(
        page.evidence("10").numbers("e10-untrained", r"seed \d: ([\d.]+) nats .* at (\d+)% of"), (3, 3, 2)
    )  # (one table, two, and one with a small start; seeds; loss and share)
    page.says(
        "Before training the model costs more than guessing, mostly because one table both reads and predicts, and "
        "starts large: the row of the token just read predicts this token again. With a small start, as in GPT-2, the "
        "model costs {:.1f} nats, as guessing does",
        repeats[2, :, 0].mean(),
        holds=[
            fresh > guessing + 1,
            page.number("c10-loss", r"just read: (\d+)%") > 95,
            repeats[0, :, 1].min() > 95,
            repeats[1, :, 1].max() < 5,
            repeats[0, :, 0].min() > guessing + 1 > repeats[1, :, 0].min() > repeats[2, :, 0].max() > guessing,
        ],
    )
    also(
        page,
        "predicts at every position the token that it has just read, and costs {:.1f} nats. With a table of its own "
        "for the predictions it costs {:.1f}.",
        *repeats[:2, :, 0].mean(axis=1),
    )
    parameters = page.number("c10-24", r"([\d,]+) parameters")
    also(page, "about 20, the page's model has read {:.1f}", read / parameters)


def written(page: Page) -> None:
    everyone = page.number("c10-32", r"ended: \d+ of (\d+)")
    fine = page.number("c10-32", r"of these parse: (\d+)")
    short = [int(length) for length in re.search(r"that parse: +\[([\d, ]+)\]", page.output("c10-32"))[1].split(",")]
    page.says(
        "Can it write a function that Python accepts? Sometimes, and at temperature 0.7 mostly a short one.",
        holds=[0 < len(short) == fine < everyone, sum(length <= 2 for length in short) > fine / 2],
    )
    example, refused = page.output("c10-30").split("refuses:\n\n")
    line = int(page.number("c10-30", r"unterminated .*<unknown>, line (\d+)"))
    page.says(
        "in our run the first function returns `result`, which nothing defines.",
        holds=[
            "return result\n" in example,
            "result =" not in example,
            example.count("result") == 1,
            refused.split("\n")[line - 1].count("'") % 2 == 1,  # the literal that is not closed
        ],
    )
    page.says("`pass` parses after every prompt.", holds=[page.number("c10-32", r"`pass`: +(\d+)") == everyone])


def copying(page: Page) -> None:
    one, two = (page.number(BLOCKS, rf"{blocks}: ([\d.]+) nats") for blocks in ("1 block", "2 blocks"))
    page.says("Here one block does not learn to copy by content, and two blocks do", holds=[one > 2, two < 0.6])
    kinds = {
        name: page.evidence("10").numbers("e10-04", rf"(?m)^{name} +\d +[\d,]+ +([\d.]+)")
        for name in ("1 block", "2 blocks", "1 block, 8 heads", "1 block, 1,350 steps")
    }
    page.says(
        "Two blocks copy in each of three seeds. One block does not, with eight heads or with three times the steps",
        holds=[
            [len(losses) for losses in kinds.values()] == [3] * 4,
            min(min(losses) for name, losses in kinds.items() if name != "2 blocks") > 3 * max(kinds["2 blocks"]),
        ],
    )
    knowing = page.evidence("10").number("e10-04", r"not their order: ([\d.]+)")
    page.says(
        "above it ends at {:.2f} nats, and knowing the tokens of the period, without their order, costs {:.2f}.",
        one, knowing, holds=one > knowing,
    )  # fmt: skip
    page.says(
        "while the curve of one block stays above the level of knowing which tokens repeat",
        holds=[one > knowing > two, min(kinds["1 block"]) > knowing],
    )
    before, after = (page.numbers(BLOCKS, rf"{what} ([\d.]+)") for what in ("token before", "last time"))
    page.says(
        "one head looks at the token before, the other at what followed last time.",
        holds=[before[1] > 0.4, before[1] > 5 * before[2], after[1] < 0.1, after[2] > 0.4],
    )
    page.says(
        "the map of block 0 has its weight just below the diagonal, the map of block 1 has, below the "
        "horizontal line where the repetition begins, a line that runs parallel to the diagonal further to the left",
        holds=[before[1] > 0.4, after[2] > 0.4],
    )
    page.says(
        "The head of block 1 puts more than half of its weight on what followed the same token last time "
        "(equal weights: {:.2f})",
        page.number(BLOCKS, r"equal weights: ([\d.]+)"),
        holds=[after[2] > 0.5],
    )
    off = page.evidence("10").output("e10-one-period")
    heads = [
        [[float(value) for value in pair] for pair in re.findall(r"([\d.]+), ([\d.]+);", line)]
        for line in off.splitlines()
        if "2 blocks" in line
    ]
    also(
        page,
        "Of the heads of block 1, the more of its weight a head has on the token before, the more the loss of two "
        "blocks rises without it, in each of three seeds.",
        holds=[
            [len(pairs) for pairs in heads] == [4] * 3,
            *(pairs == sorted(pairs) == sorted(pairs, key=lambda pair: pair[1]) for pairs in heads),
        ],
    )
    fixed = [float(value) for value in re.findall(r"every period 12: ([\d.]+)", off)]
    page.says(
        "With a fixed period the token to copy always stands at the same one, and a single block learns it",
        holds=[len(fixed) == 3, max(fixed) < 0.05],
    )


def real(page: Page) -> None:
    """SmolLM2 in the page's class."""
    page.says(
        "so the cell stores each pair three times ({:.1f} million numbers, {:.1f} million of them different).",
        page.number("c10-real", r"([\d,]+) numbers in PlainLanguageModel") / 1e6,
        134_515_008 / 1e6,
        holds=page.number("c10-real", r"PlainLanguageModel, (\d+) blocks") == 30,
    )
    asked = page.output("c10-asked")
    page.says("The first answer names the right effect.", holds="Rayleigh scattering" in asked)
    page.says(
        "The second has the form of an answer and counts wrong: {:.0f}, where it is 6.",
        page.number("c10-asked", r"a total of (\d+) legs"),
    )
    beginning, alone, _, speakers, line, turns, whole = (
        answer.strip() for answer in re.findall(r"→ (.*)", page.output("c10-template"))
    )
    page.says(
        "The most probable next token is the end of the turn. With the names of the speakers the same question is "
        "answered.",
        holds=[
            beginning.startswith("Paris."),
            "The answer is: 2018-01-22" in page.output("c10-template"),  # only the beginning of a sentence goes on
            alone == "<|im_end|>",
            whole == "The capital of France is Paris.<|im_end|>",
            *("Paris" in answer for answer in (speakers, line, turns, whole)),
        ],
    )
    template(page)
    own, longer, real_one = page.numbers("c10-real-bits", r"([\d.]+) bits a byte")
    page.says("SmolLM2 reads these twelve best", holds=[real_one < longer < own])
    (first, again), (once, twice) = np.reshape(
        page.numbers("c10-twice", r"first time ([\d.]+), second time ([\d.]+)"), (2, 2)
    )
    page.says(
        "Random tokens cost SmolLM2 {:.1f} nats each, and {:.1f} when they come again. Knowing only which 40 tokens "
        "come would cost $\\ln 40 = 3.7$: it copies in part. Your model does not copy these;",
        once, twice,
        holds=[twice < once / 2, abs(first - again) < 0.3, round(np.log(40), 1) == 3.7, twice < np.log(40)],
    )  # fmt: skip
    start = page.recorded("assistant")["results"]["start"]
    page.says(
        "({:,} steps, {:.1f} million tokens: a longer training of your model, which comes with the course.)",
        start["steps"],
        start["tokens"] / 1e6,
    )
    page.given(
        "and a body may have 90 tokens.",
        "(Ben Allal et al. 2025) has 30 of the blocks above, D = 576, nine heads of K = 64 and V = 49,152.",
        "It has read 2 trillion tokens of web pages, code and textbooks; yours has read 1.3 million.",
        "`constants` sets the base of the rotary angles (10,000 in lecture 5) and the ε of the norms (ours is 10⁻⁶).",
        "Its file has 98 MB (93 MB packed, to fetch), where four bytes a number would make 538 MB. The table has "
        "8 bits a number (Q8_0), the 210 matrices of the blocks 4 bits (Q4_1); 32 numbers share a scale.",
        "Each row has 40 tokens, drawn from 32, and repeats its first 6 to 19 tokens;",
        "Transformer, 0.86 million parameters |",
        "Nine heads share three pairs of keys and values",
        "SmolLM2 has read 15,000 tokens a parameter",
        "Here are twelve held-out functions of 80 to 400 bytes",
        "SmolLM2-135M-Instruct (Ben Allal et al.",
        "Feed them 40 random tokens, then the same 40 again:",
        "concluded that size and text should grow equally, at about 20 tokens a parameter",
        "Muennighoff et al. (2023) found repeated text nearly as good as new text for about four passes",
        "Twelve functions, 16 docstrings, ten questions: too few",
        because="as published, or a setting",
    )


def template(page: Page) -> None:
    """Ten questions in seven forms, in the evidence."""
    evidence = page.evidence("10")
    of, at_once, right = np.reshape(
        evidence.numbers("e10-template", r"of (\d+): +(\d+) end at once, +(\d+) are answered"), (7, 3)
    ).T  # alone, after the end of a text, Question and Answer, speakers, the assistant's line, no system message, whole
    rows = ("the question alone", "the end-of-text token, then the question", "`Question: … Answer:`")
    rows += ("the speakers' names in plain letters", None, None, "the whole template")
    for row, ends, good in zip(rows, at_once, right, strict=True):
        if row:
            page.says(f"| {row} | {ends:.0f} | {good:.0f} |")
    page.says(
        "A bare question it mostly ends; a question that looks like a conversation it mostly answers, with or without "
        "the special tokens.",
        holds=[at_once[0] > 5, right[3] > 5, right[6] > 5],
    )
    page.says(
        "So The largest planet of the solar system is Jupiter, but it's actually Saturn that's the largest counts.",
        holds="Jupiter, but it's actually Saturn that's the largest" in evidence.output("e10-template"),
    )
    words = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    alone, after, form, speakers, line, turns, whole = (words[int(count)] for count in right)
    assert set(of) == {10}
    also(
        page,
        f"Of ten questions, asked alone, {words[int(at_once[0])]} end the text at once, and {alone} is answered. As "
        f"`Question: … Answer:` {words[int(at_once[2])]} end at once and {form} are answered. With the names of the "
        f"speakers in plain letters, and no special token, {words[int(at_once[3])]} ends at once and {speakers} are "
        f"answered; with the assistant's line as the only part of the template {line}; without the system message "
        f"{turns}; with the whole template {whole}. A token `<|endoftext|>` before the question alone makes {after} of "
        "ten answers.",
    )


def order(page: Page) -> None:
    """What the order of a prompt is worth to SmolLM2, in the evidence."""
    evidence = page.evidence("10")
    none, other, shuffled, close, kept = evidence.numbers("e10-order", r"([\d.]+) nats a token \(standard")
    share, lowest, highest = evidence.numbers("e10-order", r"whole gain: (\d+)%, 95 % between (\d+) and (\d+)")
    page.says(
        "Forty words of a docstring make the next ten words {:.2f} nats a token cheaper; shuffled, they keep {:.0f} % "
        "of this gain",
        none - kept,
        share,
    )
    also(
        page,
        "In order, the first forty words of a docstring make the next ten words {:.2f} nats a token cheaper than no "
        "prompt; shuffled, they make them {:.2f} cheaper. This is {:.0f} % of the gain (95 % between {:.0f} and "
        "{:.0f}).",
        none - kept, none - shuffled, share, lowest, highest,
    )  # fmt: skip
    found = r" ([\d.]+) nats a token, 95 % between (-?[\d.]+) and ([\d.]+)"
    cost, low, high = evidence.numbers("e10-order", f"shuffling costs{found}")
    helps, least, most = evidence.numbers("e10-order", f"another text saves{found}")
    also(
        page,
        "Shuffling the prompt costs {:.2f} nats a token (95 % between {:.2f} and {:.2f}). Forty words of another "
        "docstring, in order, save {:.2f} (−{:.2f} to {:.2f}), so it is these words that help.",
        cost, low, high, helps, -least, most,
        holds=[least < 0 < most < none - shuffled, low > 0, abs(none - other - helps) < 0.011],
    )  # fmt: skip
    also(
        page,
        "the cost falls from {:.2f} to {:.2f}; with all in order it is {:.2f}.",
        shuffled, close, kept,
        holds=shuffled - close > close - kept,
    )  # fmt: skip


def mistakes(page: Page) -> None:
    colon, newline = (page.number("c10-51", rf"after the {name} +(\d+) of") for name in ("colon", "newline"))
    ends = page.number("c10-51", r"before the end in (\d+)%")
    page.says(
        "In the training text half of the lone newlines stand at the end of a function, and the model has learned "
        "that:",
        holds=[45 < ends < 55, colon <= 1, newline >= 8],
    )
    own, following = page.numbers("c10-53", r"just read ([\d.]+), on the next token ([\d.]+)")
    page.says(
        "The loss falls to nearly nothing, and the next token costs more than guessing:",
        holds=[own < 0.2, following > np.log(512) + 1],
    )


def recorded(page: Page) -> None:
    """The runs of three seeds, in `coursekit/lecture/recorded` and in the evidence."""
    results = page.recorded("library_language_model")["results"]
    table_of_models(page, results)
    counting = page.recorded("library_counting")["results"]
    equal_text(page, results, counting)
    neighbours(page, counting)
    longer_runs(page, results, counting["names"])
    which_head(page, results)
    scaling = page.recorded("library_scaling")["results"]["runs"]
    scaling_law(page, scaling)
    equal_operations(page, scaling)
    low_rank(page, results)
    settings = {"at 1": (1.0, 1.0), "at 0.7": (0.7, 0.9), "at 0": (0.0, 1.0)}
    runs = {
        name: [
            run
            for run in results["written"]["runs"]
            if (run["model"], run["temperature"], run["top-p"]) == ("the page's model", *setting)
        ]
        for name, setting in settings.items()
    }
    parse = {name: [run["parse"] for run in found] for name, found in runs.items()}
    ended = {name: [run["ended"] for run in found] for name, found in runs.items()}
    of_ended = {name: 100 * np.divide(parse[name], ended[name]) for name in runs}
    medians = {name: [np.median(run["lines of parsed"]) for run in found] for name, found in runs.items()}
    for name, row in (("at 0.7", "temperature 0.7, $p = 0.9$"), ("at 0", "temperature 0")):
        page.says(
            f"| {row} | {{}} to {{}} | {{:.0f}} to {{:.0f}} % | {{:g}}, {{:g}} and {{:g}} |",
            *(side(ended[name]) for side in (min, max)),
            *(side(of_ended[name]) for side in (min, max)),
            *medians[name],
            holds=[len(found) == 3 for found in runs.values()],
        )
    real = results["written"]["real"]
    page.says(
        "| real bodies | {} | {:.0f} % | {:.0f} |",
        real["ended"],
        100 * real["parse"] / real["ended"],
        real["median lines"],
    )
    page.says(
        "Three recorded seeds, each with {} prompts and at most 256 tokens, so that more bodies end:",
        results["written"]["prompts"],
        holds=[max(medians["at 0.7"]) < real["median lines"]],
    )
    also(
        page,
        "and {} to {} of {} bodies end at 0.7; on the page it is 90 tokens, and fewer end.",
        min(ended["at 0.7"]),
        max(ended["at 0.7"]),
        results["written"]["prompts"],
        holds=[
            "most=90" in page.cells["c10-29"].source,
            np.divide(*page.numbers("c10-32", r"ended: (\d+) of (\d+)")) < min(ended["at 0.7"]) / 96,
        ],
    )
    also(
        page,
        "At temperature 0.7 with $p = 0.9$ more bodies parse than at 1, in each seed; greedy ones more still in two",
        holds=[
            *np.greater(parse["at 0.7"], parse["at 1"]),
            sum(np.greater(parse["at 0"], parse["at 0.7"])) == 2,
        ],
    )
    page.says(
        "a real body uses {:.0f} % of its parameters (`self` apart), ours at 0.7 at most {:.0f} %",
        100 * results["written"]["real"]["used"],
        100 * max(run["used"] for run in runs["at 0.7"]),
    )
    by_lines = [
        [
            sum(low <= lines <= high for run in runs["at 0.7"] for lines in run[f"lines of {kind}"])
            for kind in ("parsed", "ended")
        ]
        for low, high in LINES
    ]
    rates = [fine / all_ for fine, all_ in by_lines]
    by_seed = [
        [
            sum(low <= lines <= high for lines in run["lines of parsed"])
            / sum(low <= lines <= high for lines in run["lines of ended"])
            for low, high in LINES
        ]
        for run in runs["at 0.7"]
    ]
    page.says(
        "Bodies of one line parse most often, and those of seven or more lines most seldom.",
        holds=[np.argmax(of_seed) == 0 and np.argmin(of_seed) == 3 for of_seed in by_seed],
    )
    page.says(
        "Of one line nearly nine in ten parse, of two to six lines about half, of seven or more one in six.",
        holds=[0.85 < rates[0] < 0.9, 0.45 < rates[2] < rates[1] < 0.55, abs(rates[3] - 1 / 6) < 0.01],
    )
    counts = [f"{fine} of {all_}" for fine, all_ in by_lines]
    shares = "{} with one line parse, {} with two or three, {} with four to six and {} with seven or more"
    assert shares.format(*counts) in page.evidence("10").prose


def table_of_models(page: Page, results: dict) -> None:
    bits = {
        model: np.array([run["held-out bits a byte"] for run in results["table"]["runs"] if run["model"] == model])
        for model in ("the page's model", "LSTM", "the page's model on bytes", "LSTM at equal time")
    }
    pieces, lstm, in_bytes, _ = bits.values()
    assert max(pieces) < min(in_bytes) and "Bytes in place of pieces cost more" in page.evidence("10").prose
    low, high = page.evidence("10").numbers("e10-r02", r"95 % interval (-?[\d.]+) to ([\d.]+)")
    page.says(
        "We cannot say: an LSTM of the same size is {:.2f} to {:.2f} bits behind the Transformer on the same tokens, "
        "perhaps by chance",
        *(side(lstm - pieces) for side in (min, max)),
        holds=[low < 0 < high, min(lstm - pieces) > 0],
    )
    also(
        page,
        "an LSTM with as many parameters is {:.2f} to {:.2f} bits behind the Transformer in each of three seeds",
        *(side(lstm - pieces) for side in (min, max)),
        holds=[low < 0 < high],
    )


def _longer(page: Page) -> list[dict]:
    return page.recorded("library_language_model")["results"]["longer"]["runs"]


def longer_runs(page: Page, results: dict, worth: dict) -> None:
    """A new made-up name gets dearer, and a known one goes back."""
    longest = [run["checkpoints"] for run in _longer(page) if run["steps"] == 7840]
    last = [points[-1]["nats of a made-up name"] for points in longest]
    early = [
        {point["step"]: point["nats of a made-up name"] for point in run["checkpoints"]}[640] for run in _longer(page)
    ]
    new, known = ([name[kind] for name in last] for kind in ("third, new", "third"))
    here = [name for name in early if name in [point["nats of a made-up name"] for run in longest for point in run]]
    middle = [
        next(point["nats of a made-up name"] for point in run if point["step"] == 1960)["third"] for run in longest
    ]
    also(
        page,
        "After 7,840 steps a made-up name costs {:.1f}, {:.1f} and {:.1f} of about {:.0f} nats less at its third "
        "occurrence than a name that is new there. It is the new name that has become dearer, from {:.0f} to {:.0f} "
        "nats at step 640; the known one costs {:.0f} to {:.0f}, about as much as then.",
        *np.subtract(new, known),
        np.mean(new),
        min(name["third"] for name in here),
        max(name["third, new"] for name in here),
        min(known),
        max(known),
        holds=[
            len(longest) == len(here) == 3,
            min(new) > worth["nats, equal tokens"] > max(known),
            *(abs(name["third, new"] - name["third"]) < 0.6 for name in early),
        ],
    )
    also(
        page,
        "After four million tokens the name that is new goes on to get dearer, and the known one gets cheaper again.",
        holds=[min(np.subtract(middle, known)) > 1, min(np.subtract(new, middle)) > 1],
    )
    short = [run["nats of a made-up name"] for run in results["copying"]["runs"]]
    page.says(
        "In three recorded seeds after {} steps the last name costs {:.1f} nats "
        "if it is known (it has stood there before) and {:.1f} if it is "
        "new ; after {:.0f} million tokens {:.1f} and {:.1f}. So the longer training tells a known name from a new "
        "one, mostly because the new one got dearer: it copies in part at most",
        results["table"]["steps"],
        *(np.mean([name[kind] for name in short]) for kind in ("third", "third, new")),
        longest[0][-1]["tokens"] / 1e6,
        *(np.mean([name[kind] for name in last]) for kind in ("third", "third, new")),
        holds=[
            len(short) == 3,
            *(0.4 < name["third, new"] - name["third"] < 0.6 for name in short),
            np.mean(new) - np.mean([name["third, new"] for name in short])
            > np.mean([name["third"] for name in short]) - np.mean(known)
            > 0,
            min(known) > worth["nats, equal names"] + 5,
        ],
    )
    rows = [points[-1]["nats a token of random rows"] for points in longest]
    also(
        page,
        "at the end of each training the second time costs more than the first",
        holds=min(b - a for a, b in rows) > 0,
    )
    also(
        page,
        "Both stay far above the line for knowing how such names are made.",
        holds=min(known) > worth["nats, equal names"] + 5,
    )
    also(
        page,
        "median and range of three recorded trainings of 16 million tokens",
        holds=all(abs(points[-1]["tokens"] - 16e6) < 1e5 for points in longest),
    )


def which_head(page: Page, results: dict) -> None:
    """The head that matters most on the even functions, judged on the odd ones, and what it looks at."""
    runs, found = results["heads"]["runs"], []
    for run in runs:
        whole = np.array(run["nats of a third name, new and known"])  # (halves, 2)
        off = np.array(run["with a head off"])  # (blocks, H, halves, 2)
        lost = (whole[:, 0] - whole[:, 1] - off[..., 0] + off[..., 1]).reshape(-1, 2)
        best, looks = lost[:, 0].argmax(), np.ravel(run["weight on what followed, odd functions"])
        others = np.delete(lost[:, 1], best)
        found.append((whole[1, 0] - whole[1, 1], lost[best, 1], others, looks[best], 1 + best // off.shape[1]))
    saved, lost, others, weights, blocks = zip(*found, strict=True)
    also(
        page,
        "These are {:.0f} to {:.0f} %. The 15 other heads take away {:.1f}, {:.1f} and {:.1f} on average "
        "({:.0f} to {:.0f} %), and {:.0f} to {:.0f} % at most.",
        *(100 * side(np.divide(lost, saved)) for side in (min, max)),
        *(losses.mean() for losses in others),
        *(100 * side(np.divide([losses.mean() for losses in others], saved)) for side in (min, max)),
        *(100 * side(np.divide([losses.max() for losses in others], saved)) for side in (min, max)),
        holds=[len(runs) == 3, *(run["steps"] == 7840 for run in runs), min(weights) > 5 * runs[0]["base rate"]],
    )
    assert "It stands in block {} or {}.".format(*sorted(set(blocks))) in page.evidence("10").prose


def low_rank(page: Page, results: dict) -> None:
    runs = results["lora"]["runs"]
    low, full = ([way for way in runs[0] if way.startswith(name)] for name in ("low rank", "full"))
    also(
        page,
        "In each of three seeds training all parameters fits the held-out module `tarfile` better than LoRA of rank 4.",
        holds=[
            len(runs) == 3,
            len(low) == len(full) == 2,
            *(max(run[way]["bits"] for way in full) < min(run[way]["bits"] for way in low) for run in runs),
        ],
    )
