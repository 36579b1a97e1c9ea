"""What lecture 8b says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    decoding(page)
    beam(page)
    cache(page)
    language_model(page)
    growth(page)
    alignment(page)
    looking_back(page)
    translation(page)
    recurrent_translation(page)
    mistakes(page)
    examples(page)
    live_figures(page)


def decoding(page: Page) -> None:
    right = page.number("b669b012", r"mistake: ([\d.]+)%")
    page.says("Our date model is practically never wrong when it writes greedily.", holds=99 < right <= 100)
    first, second = page.numbers("a61a501e", r"'top_k': 2} \[([\d.]+) ([\d.]+)")
    page.says("k = 2: ({:.3f}, {:.3f}).", first, second)
    page.says(
        "three words reach 0.9, so ({:.3f}, {:.3f}, {:.3f}).",
        *page.numbers("a61a501e", r"'top_p': 0.8} \[([\d.]+) ([\d.]+) ([\d.]+)"),
    )
    page.says(
        "(0.25, 0.0625, 0.0225, 0.01)/0.345 = ({:.3f}, {:.3f}, {:.3f}, {:.3f})",
        *page.numbers("a61a501e", r"0.5} \[([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)"),
    )
    page.given("p = 0.8: 0.5 + 0.25 = 0.75 is not enough", because="calculated by hand")
    drawn, calculated = page.numbers("90d507f4", r"all words: ([\d.]+); calculated 0.903 to the ninth = ([\d.]+)")
    page.says("About 0.903⁹ = {:.2f}.", calculated, holds=abs(drawn - calculated) < 0.09)
    page.says("to about 0.4 at temperature 1 and further to nearly 0", holds=abs(drawn - 0.4) < 0.09)
    coldest, hottest = page.numbers("90d507f4", r"all words +([\d.]+).* ([\d.]+)\n")
    page.says("Drawing from all words falls from 1 at low temperature", holds=[coldest > 0.97, hottest < 0.15])
    cuts = [
        page.numbers("90d507f4", rf"{name} +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)")[3]
        for name in ("top-k, k = 3", "top-p, p = 0.8")
    ]
    page.says(
        "Cutting to three words or to a probability of 0.8 keeps the share high for longer.",
        holds=min(cuts) > drawn + 0.2,
    )
    largest = page.number("fe6df868", r"between ([\d.]+) and [\d.]+")
    page.says("The largest entry stays near 0.90 and does not reach 1", holds=largest > 0.85)
    page.says("one entry near 0.9 moves from digit to digit", holds=page.number("fe6df868", r"and ([\d.]+)") < 0.95)


def beam(page: Page) -> None:
    rows = np.reshape(
        page.numbers("fe2f9b84", r"right +([\d.]+)%, mean log p (\S+), more probable than greedy's in ([\d.]+)%"),
        (2, 3, 3),
    )
    young, trained = rows
    page.says(
        "The finished model makes practically no mistakes, so a beam cannot improve it.",
        holds=[(trained[:, 0] > 99).all(), trained[2, 2] < 1],
    )
    page.says(
        "A wider beam finds sentences that the model finds more probable",
        holds=[(np.diff(young[:, 1]) >= 0).all(), young[1, 2] > 0],
    )
    assert "beam 1 is greedy: True" in page.output("fe2f9b84")
    page.says("k = 1 is greedy search.", holds=young[0, 2] == 0)
    page.given(
        "a with 0.5, the with 0.4, my with 0.1. Greedy takes a and then dog: 0.200. The best "
        "sentence is the dog with 0.360. "
        "Beam search with width 2",
        'Greedy takes "a", since 0.5 > 0.4, and ends with "a dog", 0.20. The best sentence is "the dog", 0.36.',
        because="calculated by hand from the tree in the cell",
    )


def cache(page: Page) -> None:
    slow, fast = page.numbers("8e5f6b59", r"tokens: ([\d.]+) times the time without, ([\d.]+) times with")
    page.says("somewhere between 4 and 16", holds=4 < slow < 16)
    page.says("The time rises less.", holds=fast < slow)
    page.says("Computing everything again rises steeply. With the cache the time rises less.", holds=slow > fast)
    page.says("So we keep them.", holds=page.number("8e5f6b59", r"the cache is (\d+) times") > 20)
    tokens = page.number("96f9d37e", r"same output at token ([\d,]+): True")
    page.says("grows from 256 to {:,.0f}", tokens)
    layers, width, tokens = 96, 12_288, 2_048
    page.says(
        "GPT-3 has {:,.0f} layers of width {:,.0f} and reads {:,.0f} tokens",
        layers,
        width,
        tokens,
        holds=page.number("1eed5bda", r"([\d.]+) MB") == round(2 * layers * width * 2 / 1e6, 2),
    )


def language_model(page: Page) -> None:
    counted = page.numbers("0a0c7a20", r"\d-gram ([\d.]+)")
    reached = page.numbers("0a0c7a20", r"seed \d: ([\d.]+)")
    page.says("Counting has a perplexity near {:.0f} when it looks at no word before", round(counted[0], -1))
    page.says(
        "Counting is best with four words, and gains nothing from a fifth",
        holds=counted[4] > counted[3] == min(counted),
    )
    page.says(
        "The Transformer's perplexity is lower than that of every counted model, by about three tenths with each of "
        "three seeds.",
        holds=[len(reached) == 3, *(abs(1 - each / min(counted) - 0.3) < 0.05 for each in reached)],
    )
    page.says(
        "it falls steeply from 1-grams to 2-grams, a little more to 3-grams, and stays there; the dashed line of the "
        "Transformer lies below all of them",
        holds=[
            counted[1] < counted[0] / 4,
            counted[2] < counted[1],
            max(counted[2:]) < 1.05 * min(counted[2:]),
            max(reached) < min(counted),
        ],
    )
    page.says(
        "The cache changes the logits by rounding only.",
        holds=page.number("0a0c7a20", r"differ by at most (\S+)") < 1e-4,
    )
    cached = page.numbers("0a0c7a20", r"with cache +32 tokens: (\d+) .*128 tokens: (\d+) .*512 tokens: (\d+)")
    slow = page.numbers("0a0c7a20", r"without +32 tokens: (\d+) .*128 tokens: (\d+) .*512 tokens: (\d+)")
    page.says(
        "about as many tokens in one processor second with it as without it", holds=abs(cached[0] / slow[0] - 1) < 0.1
    )
    page.says("At 512 tokens it is four times as fast", holds=abs(cached[2] / slow[2] - 4) < 0.5)
    page.says("the time of a step no longer grows with the text", holds=max(cached) < 1.3 * min(cached))
    page.says(
        "with the cache about the same for every length, without it fewer the longer the text",
        holds=slow[0] > slow[1] > slow[2],
    )
    page.given(
        "on the 29,000 English captions", "for 29,000 captions?", because="the size of Multi30k: Elliott et al., 2016"
    )
    page.given("a 5-gram model asks", "e to the mean of", because="a name")
    page.given(
        "at temperature 0.5 they are correct and alike, at 1 they begin well and stop making sense, at 1.5 the "
        "grammar is wrong",
        because="read off the recorded captions",
    )


def alignment(page: Page) -> None:
    year, month, day = page.numbers("ccb89d70", r"put (\d+)% of their weight")
    page.says(
        "The alignment is clear for the year and, less so, for the day. It is not for the month",
        holds=year > day > month,
    )
    onto = dict(
        zip(
            ("year", "month"),
            page.numbers("ccb89d70", r"first digit of the month: (\d+)% on the year, (\d+)% on the month"),
            strict=True,
        )
    )
    page.says(
        "the first digit of the month puts more weight on the year than on the month",
        holds=onto["year"] > onto["month"],
    )


def translation(page: Page) -> None:
    seeds = page.recorded("multi30k")["results"]["seeds"].values()
    ahead = [run["bleu"]["beam 4"] - run["bleu"]["greedy"] for run in seeds]
    page.says(
        "The beam is ahead of greedy search with each of the three seeds, by {:.1f} to {:.1f} BLEU.",
        min(ahead),
        max(ahead),
        holds=[len(ahead) == 3, min(ahead) > 0],
    )
    minutes = page.numbers("1c2201c2", r"epochs, (\d+), (\d+), (\d+) minutes")
    page.says("Twenty to thirty minutes of processor time", holds=[min(minutes) > 17.5, 27.5 < max(minutes) < 32.5])
    page.given("Recorded training on Multi30k, seed 1.", because="which run is drawn")
    page.says("trained for {:.0f} to {:.0f} minutes of processor time", min(minutes), max(minutes))
    one, two = np.reshape(page.numbers("671540eb", r"\((\d), (\d)\)"), (2, 2))
    page.says('so one counts; "cat" counts: {:.0f}/{:.0f}.', *one)
    page.says('"the cat" yes: {:.0f}/{:.0f}.', *two)
    page.given(
        "29,000 captions give usable German",
        "29,000 pairs to train on, tested on the 1,000 of",
        because="the size of Multi30k: Elliott et al., 2016",
    )


def recurrent_translation(page: Page) -> None:
    results = page.recorded("recurrent_translation")["results"]
    runs = {kind: [run for run in results["runs"] if run["kind"] == kind] for kind in results["mean BLEU"]}
    passes = {kind: [run["passes"] for run in each] for kind, each in runs.items()}
    luong = [each for kind in passes if kind.startswith("Luong") for each in passes[kind]]
    page.says(
        "between {:.2f} and {:.2f} of the training pairs, and the Transformer through the fewest, {:.2f} to {:.2f}.",
        min(luong),
        max(luong),
        min(passes["Transformer"]),
        max(passes["Transformer"]),
        holds=min(luong) > max(passes["Bahdanau"]) > min(passes["Bahdanau"]) > max(passes["Transformer"]),
    )
    bleu = dict(
        zip(runs, page.numbers("995c1831", r"passes, BLEU ([\d.]+) \("), strict=True),
    )
    page.says(
        "After 40 seconds the Transformer also has the lowest BLEU, {:.1f} on average.",
        bleu["Transformer"],
        holds=[bleu["Transformer"] == min(bleu.values()), results["seconds of a run"] == 40],
    )
    page.says(
        "Luong's order reaches {:.1f} and Bahdanau's {:.1f}.",
        bleu["Luong, additive"],
        bleu["Bahdanau"],
        holds=bleu["Luong, additive"] == max(bleu.values()),
    )
    scores = {kind: np.array([run["BLEU"] for run in each]) for kind, each in runs.items()}  # (seeds,) of each
    low, high = page.numbers("995c1831", r"Luong, additive: .* from (\S+) to (\S+)\n")
    ahead = scores["Luong, additive"] - scores["Bahdanau"]
    page.says(
        f"The interval of the difference, −{abs(low):.1f} to −{abs(high):.1f}, does not include 0, and Luong's order "
        "is ahead with each of the three seeds, by {:.1f} to {:.1f}.",
        min(ahead),
        max(ahead),
        holds=[
            high < 0,
            len(ahead) == 3,
            min(ahead) > 0,
            runs["Bahdanau"][0]["steps"] < runs["Luong, additive"][0]["steps"],
        ],
    )
    dot = scores["Luong, dot"] - scores["Bahdanau"]
    page.says(
        "With the dot score Luong's order is ahead with each seed too, by {:.1f} to {:.1f}.",
        min(dot),
        max(dot),
        holds=min(dot) > 0,
    )
    general = scores["Luong, general"]
    others = np.min([scores[kind] for kind in ("Bahdanau", "Luong, dot", "Luong, additive")], axis=0)
    page.says(
        "The general score is the lowest of the recurrent models with each seed, and its seeds lie between {:.1f} and "
        "{:.1f}.",
        min(general),
        max(general),
        holds=list(general < others),
    )
    page.says("The Transformer's {:.1f} says nothing about longer training", bleu["Transformer"])
    page.says(
        "40 seconds are about a half of one pass.", holds=all(abs(each - 0.55) < 0.1 for each in passes["Transformer"])
    )
    longer = page.recorded("multi30k")["results"]["seeds"].values()
    page.says(
        "with about {:.0f} times as many processor seconds, has {:.1f} with greedy search",
        5 * round(np.mean([run["training_cpu_seconds"] for run in longer]) / results["seconds of a run"] / 5),
        page.number("1c2201c2", r"greedy: ([\d.]+) \(by seed"),
        holds=len(longer) == 3,
    )
    page.given(
        "the base model of 2017 has 27.3 BLEU and the recurrent GNMT with attention 24.6, for about seven times",
        because="cited: Vaswani et al., 2017, table 2: 3.3e18 and 2.3e19 operations",
    )
    page.says(
        "the larger one was better each time",
        holds=all(loss["0.004"] < loss["0.002"] for loss in results["rates tried"].values()),
    )
    weights = {
        kind: page.numbers("e9e4d806", rf"{kind} +([\d.]+), ([\d.]+), ([\d.]+)\n")
        for kind in runs
        if kind != "Transformer"
    }
    sharp = [*weights["Luong, dot"], *weights["Luong, additive"]]
    page.says(
        "{:.2f} to {:.2f} of the weight lie on the colour when its translation is due, in Bahdanau's order {:.2f} to "
        "{:.2f}.",
        min(sharp),
        max(sharp),
        min(weights["Bahdanau"]),
        max(weights["Bahdanau"]),
    )
    page.says("Equal weights would put {:.2f} there.", page.number("e9e4d806", r"would give ([\d.]+)"))
    page.says(
        "The general score differs between its seeds, {:.2f}, {:.2f} and {:.2f}, and its seed with the least sharp "
        "alignment has the highest BLEU",
        *weights["Luong, general"],
        holds=np.argmin(weights["Luong, general"]) == np.argmax(general),
    )
    page.says(
        "the number of parameters (within 1 %)",
        holds=max(results["parameters"].values()) < 1.01 * min(results["parameters"].values()),
    )
    lengths = [list(run["by length"].values()) for each in runs.values() for run in each]
    page.says("All lines fall from short to long sentences.", holds=all(each[0] > each[-1] for each in lengths))
    page.given("the first test sentence of 8 to 12 words", because="the rule in the record")
    page.given(
        "has a BLEU of 49.7 from French to English",
        because="cited: the metadata of the model card of Helsinki-NLP/opus-mt-tc-big-fr-en",
    )


def mistakes(page: Page) -> None:
    kept, right = page.numbers("5e47a708", r"keeps (\d) words instead of (\d)")
    page.says("1: two words are left instead of three, so the nucleus is too small.", holds=[kept == 2, right == 3])
    multiplied, divided = page.numbers("5e47a708", r"multiplied: \[([\d.]+).*divided: \[([\d.]+)")
    page.says("2: the distribution gets flatter where it should get sharper.", holds=multiplied < 0.5 < divided)
    page.says(
        "3: the beam of two is a beam of one, that is greedy search.",
        holds=len(set(re.findall(r"'(\S+?)'", page.output("5e47a708")))) == 1,
    )
    apart = page.numbers("5e47a708", r"positions: \[([\d.]+) +([\d.]+) +([\d.]+)\]")
    page.says(
        "4: the first token is right, and all others are read as if they stood first",
        holds=[apart[0] == 0, min(apart[1:]) > 0],
    )


def growth(page: Page) -> None:
    times, months, first = page.numbers(
        "96a3c389", r"to GPT-3: ([\d.]+) times in (\d+) months, one doubling in ([\d.]+)"
    )
    (later,) = page.numbers("96a3c389", r"GPT-3 to PaLM: [\d.]+ times in 23 months, one doubling in ([\d.]+)")
    said = "175,000/213 is {:.0f}, or {:.1f} doublings, in {:.0f} months: one in {:.1f} months."
    page.says(said, times, np.log2(times), months, first)
    page.says("From GPT-3 to PaLM, 23 months later, one doubling took {:.0f} months.", later)
    (text,) = page.numbers("96a3c389", r"tokens, GPT-3 to Llama 3.1: .* one doubling in ([\d.]+)")
    page.says("from GPT-3 to Llama 3.1 one doubling of its amount took {:.0f} months.", text)
    page.says("Until 2020 the number of parameters grew fast. After that the text grew", holds=first < later / 3)
    gopher, chinchilla = page.numbers("96a3c389", r"parameters · tokens = ([\d.e+]+)")
    page.says("with about as much computation as Gopher", holds=1 < chinchilla / gopher < 1.25)
    page.given(
        "The big Transformer of June 2017 has 213 million parameters, GPT-3 of May 2020 has 175 billion.",
        "None of the models up to 2022 read more than 1.4 trillion; Llama 3.1 of 2024 read eleven times as many.",
        "from GPT-3 to Llama 3.1",
        "but with a quarter of the parameters and nearly five times the text",
        "Chinchilla was better in 51 of the 57 tasks of one large test.",
        "6 operations for each parameter and token",
        because="cited: the papers named in the references; Hoffmann et al., 2022, table 1 and figure 6",
    )


def looking_back(page: Page) -> None:
    (first, often), (second, mostly) = np.reshape(
        page.numbers("65f8dddd", r"written last ([\d.]+), the largest of its row in (\d) of 8"), (2, 2)
    )
    even = page.number("65f8dddd", r"equal weights would give ([\d.]+)")
    page.says(
        "the token that was written last has the largest weight in {:.0f} of 8 rows, and {:.2f} on average.",
        mostly,
        second,
    )
    page.says("it has the largest weight in {:.0f} of 8 rows, and {:.2f} on average.", often, first)
    page.says("Equal weights would give {:.2f}.", even)
    page.says("both blocks look at the last token more than at an average one", holds=min(first, second) > 1.2 * even)
    page.given(
        "Which cells of such a table are 0 whatever the model has learned?",
        "row t has t equal weights of 1/t",
        because="by definition",
    )
    page.given("mean over 500 unseen dates and all heads", because="a setting of the page")


def examples(page: Page) -> None:
    page.given("Time: about 88 minutes", because="counted by tests/test_lectures.py")
    page.given(
        "[← 8 ·",
        "The distribution is sharper for τ below 1 and flatter for τ above 1; τ → 0 is greedy",
        "set the others to 0",
        "The probabilities are (0.5, 0.25, 0.15, 0.1). What is left with top-k, k = 2? With top-p, p = 0.8?",
        "As it is; temperature 0.5 makes the first word larger; temperature 2 makes the bars nearly "
        "equal; top-k keeps two words; "
        "top-p 0.9 keeps four. Dots from 2,000 draws",
        "when it draws at temperature 1? (It gives the right token 0.90 at every step",
        "p(right) = 0.903 as calculated",
        "To write token t + 1",
        "`march 2 7 … ; 1 9 9 4 …`",
        "sum the weights over 500 unseen days",
        "mean over 500 unseen dates",
        "n = 1 to 4",
        "tok:13a",
        "Which share of its 1-grams and of its 2-grams counts?",
        "Answer 1-grams:",
        '2-grams: "the the" no',
        "Top-p is cut before",
        "2. The logits are multiplied",
        "3. All k equal starts",
        "4. With a cache, every new token gets position 0.",
        "a perplexity of 12, yours of 15",
        "train on a sentence of 20 tokens",
        "a beam of 4 does four rows",
        "Top-p with p = 0.9 on a distribution whose first word has 0.95.",
        "Greedy and beam 1 differ.",
        "5 epochs instead of 7",
        "2 · layers · t · D",
        because="an example, a setting of the page, or the number of a question",
    )
    page.given(
        "even a beam of 100 misses",
        "the paper has 4",
        "takes α = 0.6",
        because="cited: Stahlberg and Byrne, 2019; Vaswani et al., 2017",
    )
    page.given("one colour scale, from 0 to 1, for all.", because="by definition")
    page.given("a Transformer that reads the images as well has 38.7", because="cited: the repository of Yao and Wan")


def live_figures(page: Page) -> None:
    guess = np.array([0.42, 0.24, 0.16, 0.1, 0.05, 0.03])
    sharp, flat = (guess**power / (guess**power).sum() for power in (2, 0.5))
    kept = [int((np.cumsum(each) < 0.9).sum()) + 1 for each in (guess, sharp, flat)]
    page.says("Top-p with p = 0.9 leaves four words at temperature 1.", holds=kept[0] == 4)
    page.says(
        "At temperature 0.5 three words reach 0.9 ({:.3f} + {:.3f} + {:.3f}), at temperature 2 it takes five.",
        *sharp[:3],
        holds=kept[1:] == [3, 5],
    )
    page.given("How many does it leave at temperature 0.5, and how many at 2?", "with k = 4", because="defined there")
    page.says("p < 0.8·(1 − p), that is below {:.3f}.", 0.8 / 1.8)
    page.says('"a dog" has 0.4·p, "the dog" 0.72·(1 − p): from {:.3f} on', 0.72 / 1.12)
    page.given('"the" gets 0.8 of the rest.', "a beam of 2 finds it", because="calculated by hand")
    page.given("(a beam of width 1)", "A text has 7 tokens.", because="defined there")
    squares = [t * t for t in range(1, 8)]
    page.says("1 + 2 + … + 7 = {:.0f}.", sum(range(1, 8)))
    page.says("1 + 4 + 9 + 16 + 25 + 36 + 49 = {:.0f}.", sum(squares))
    page.says("And {:.0f} tokens go through the projections instead of 7.", sum(range(1, 8)))
