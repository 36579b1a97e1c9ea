"""What lecture 8b says of its numbers, and which outputs the numbers come from."""

import re

import numpy as np
from claims.page import Page


def claims(page: Page) -> None:
    choosing(page)
    search(page)
    cache(page)
    alignment(page)
    bleu(page)
    given(page)


def choosing(page: Page) -> None:
    record = page.recorded("caption_model")["results"]
    seed = record["seeds"]["1"]
    larger = page.recorded("language_model")["results"]
    perplexities = [run["test perplexity"] for run in larger["runs"].values()]
    page.says(
        "A model that guesses among {0:.0f} equally probable words has {0:.0f}. Ours (one seed, two epochs) has "
        "{0:.1f} on captions whose words it knows.",
        seed["unseen"]["perplexity"],
        holds=[
            record["unseen captions with an unknown word"] > 0,
            len(record["seeds"]) == 1,
            len(seed["training loss"]) == 2,
        ],
    )
    page.says(
        "with {:,.0f} words, counting strings of four words gives {:.1f}, and a model like ours, more than twice as "
        "large, {:.1f} to {:.1f}",
        larger["vocabulary"],
        min(larger["n-gram test perplexity"].values()),
        min(perplexities),
        max(perplexities),
        holds=[
            larger["parameters"] > 2 * record["parameters"],
            larger["n-gram test perplexity"]["4"] == min(larger["n-gram test perplexity"].values()),
        ],
    )
    page.given("of those under 16 words, the one in which the number varies most", because="how it is chosen")
    one, _, most = page.numbers("nucleus", r"left at (\d+)%, median (\d+), most (\d+)")
    page.says("(b) at about one position in ten", holds=7 <= one <= 13)
    page.says("Elsewhere it leaves up to hundreds.", holds=most > 200)
    people = 100 * record["unseen, known strings of four words"]
    page.says("in unseen captions written by people, {:.0f} % of the strings are known.", people)
    known = {
        cut: [100 * found["known"] for found in by_temperature.values()]
        for cut, by_temperature in seed["settings"].items()
    }
    everything, top_k, top_p = known.values()
    page.says(
        "At temperature 1 drawn captions are less familiar than those of people, {:.0f} against {:.0f} %.",
        everything[3],
        people,
    )
    page.says(
        "With top-p 0.9 it is {:.0f} %, and with top-k {:.0f} % ([evidence](evidence/08.ipynb#caption-model)); only "
        "the cut has changed. Hence much of the difference comes from the improbable words that a cut removes.",
        *(top_p[3], top_k[3]),
        holds=[people - everything[3] < 2 * (top_p[3] - everything[3]), top_k[3] > top_p[3]],
    )
    page.says(
        "Without a cut, the curve crosses the line of the people between 0.75 and 1.",
        holds=everything[2] > people > everything[3],
    )
    different = [found["different captions"] for cut in seed["settings"].values() for found in cut.values()]
    page.says(
        "Cold captions repeat what training held",
        holds=[min(known[cut][0] for cut in known) > 90, min(different) < 0.6],
    )
    coldest = [cut["0.25"]["different captions"] for cut in seed["settings"].values()]
    page.says(
        "all curves rise, from {:.2f} to {:.2f} at 0.25 to 1 from 0.75 on.",
        *(min(coldest), max(coldest)),
        holds=[
            min(cut["0.75"]["different captions"], cut["1.0"]["different captions"]) > 0.995
            for cut in seed["settings"].values()
        ],
    )
    page.says("Temperature and cuts trade strange text for repeated text; compare the result with what people write.")


def search(page: Page) -> None:
    output = page.output("searched")
    beam = page.number("searched", r"beam 64: log p +(-[\d.]+)")
    best = page.number("searched", r"exact: +log p +(-[\d.]+)")
    mean, largest = page.numbers("searched", r"drawn: +log p +(-[\d.]+) on average, (-[\d.]+) at most")
    token, best_token = page.numbers("searched", r"a token (-[\d.]+), in the exact one (-[\d.]+)")
    page.says(
        "The beam of 64 finds “a group of people walking down the street .” with −{:.2f}, and the exact search "
        "finds “a man .” with −{:.2f}.",
        -beam,
        -best,
        holds=["a group of people walking down the street ." in output, "  a man .   (" in output, best > beam],
    )
    page.says(
        "Drawn captions have about −40 on average, and the best of 300 stays below both.",
        holds=[round(mean, -1) == -40, largest < beam < best],
    )
    people = page.recorded("caption_model")["results"]["log p of the unseen captions"]
    page.says(
        "It is more probable than each of 300 drawn captions and each of {:.0f} captions of people.",
        len(people),
        holds=best > max(largest, max(people)),
    )
    seed = page.recorded("caption_model")["results"]["seeds"]["1"]
    tokens = [seed["searched"][name]["tokens"] for name in ("beam 4, alpha 0.0", "beam 64, alpha 0.0", "exact")]
    page.says(
        "a wider search writes a shorter caption: a beam of 4 writes {:.0f} tokens, one of 64 writes {:.0f}, and the "
        "exact search {:.0f}.",
        *tokens,
        holds=tokens[0] > tokens[1] > tokens[2],
    )
    page.says("with it the beam of 4 writes {:.0f}", seed["searched"]["beam 4, alpha 0.6"]["tokens"])
    page.says(
        "*Per token*, too, it is more probable than a drawn caption: −{:.1f} against −{:.1f}.",
        -best_token, -token,
        holds=best_token > token,
    )  # fmt: skip
    found = re.findall(r"beam +\d+: log p +(-[\d.]+)  (.+)", output)
    searched = [float(log_p) / (len(text.split()) + 1) for log_p, text in found]  # with the end token
    page.says(
        "Among the captions found by search it is the least probable per token (greedy −{:.1f}, beam of 64 −{:.1f}), "
        "and wins by its length alone.",
        -searched[0], -searched[-1],
        holds=[len(searched) == 4, min(searched) > best_token],
    )  # fmt: skip
    page.says("it is drawn once in {:,.0f} captions.", round(np.exp(-best), -2))
    page.says("The most probable caption lies far from all typical ones.", holds=best > max(people) + 3)
    page.says("Section 2 has an example with a beam of 64.", holds=best > beam)
    page.says("The most probable sentence is not a typical one: to see typical sentences, draw.")


def cache(page: Page) -> None:
    with_cache, without = (
        page.numbers("cache-rates", rf"(?m)^{name} .*512 tokens: (\d+)")[0] for name in ("with cache", "without")
    )
    short, plain = (
        page.numbers("cache-rates", rf"(?m)^{name} +32 tokens: (\d+)")[0] for name in ("with cache", "without")
    )
    page.says(
        "At 512 tokens the cache makes writing more than {:.0f} times as fast; at 32 tokens it gains almost nothing.",
        with_cache // without,
        holds=1 < short / plain < 1.1,
    )
    whole, smaller = page.numbers("grouped", r"G = +(?:64|8):.*small layer ([\d,]+)")
    large, shared = page.numbers("grouped", r"G = +(?:64|8): Llama's cache +([\d.]+) GB")
    page.says("Layer and cache both become smaller", holds=[smaller < whole, shared < large])
    page.says("4,096 tokens take {:.2f} GB", shared)
    page.says("it is eight times as much, {:.1f} GB for each text that is being written", large)
    page.says("A cache trades memory for time, and changes nothing but rounding; fewer key heads make it smaller.")
    apart = page.recorded("language_model")["results"]["largest difference of logits with and without cache"]
    page.says("The logits differ by at most {:.7f}, which is rounding", apart, holds=apart < 1e-4)


def alignment(page: Page) -> None:
    rows = {
        part: page.numbers("alignment", rf"(?m)^{part} +(\d+)%  (\d+)%  (\d+)% +(\d+)% +([\d.]+)")
        for part in ("year", "month", "day")
    }
    year, month, day = (np.array(row) for row in rows.values())
    page.says(
        "By the shares alone the order is year, day, month",
        holds=[(year[:3] > day[:3]).all(), (day[:3] > month[:3]).all()],
    )
    page.says("half of all source tokens belong to the year", holds=abs(year[3] - 50) < 4)
    page.says(
        "Divided by its base rate, each share is above 1, with each of three seeds.",
        holds=[(part[:3] > part[3]).all() for part in (year, month, day)],
    )
    recorded = page.recorded("date_alignment")["results"]
    written = [run["lines"] for run in recorded["seeds"].values()]
    page.says(
        "take the mean over heads, blocks and dates (1,000 unseen dates, if written correctly; recorded, three seeds)",
        holds=[len(written) == 3, min(written) > 900, max(written) < 1000],
    )
    equal = np.mean([run["equal"] for run in recorded["seeds"].values()], axis=0)
    ceilings = dict(zip(recorded["parts"], 1 / equal, strict=True))
    page.says(
        "no share exceeds 1, so the year's ratio can reach {:.1f} at most, the month's {:.1f}.",
        ceilings["year"],
        ceilings["month"],
    )
    page.says(
        "the year, with the largest share, has the smallest ratio",
        holds=[year[4] < month[4], year[4] < day[4], min(year[:3]) > max(*month[:3], *day[:3])],
    )
    page.says(
        "month and day are above the year, and all are above 1",
        holds=[year[4] > 1, month[4] > year[4], day[4] > year[4]],
    )
    colours = page.recorded("recurrent_translation")["results"]["colours"]
    weights = np.concatenate(list(colours["weight"].values()))
    page.says(
        "recurrent translators put {:.2f} to {:.2f} of the weight on that colour in the source, and equal weights "
        "would put {:.2f} there",
        weights.min(),
        weights.max(),
        colours["equal weights"],
    )
    page.says("An attention map says something only beside what equal weights would give.")


def bleu(page: Page) -> None:
    spaces, apart, lower = page.numbers("bleu", r"split [a-z, ]+BLEU ([\d.]+)")
    page.says(
        "The same 15 translations (of five captions, with three seeds) gain {:.1f} BLEU when punctuation is split off; "
        "lower case adds nothing here.",
        apart - spaces,
        holds=apart == lower,
    )
    greedy, beam = (
        np.array(page.numbers("bleu", rf"flickr, {name} +([\d.]+), ([\d.]+), ([\d.]+)"))
        for name in ("greedy", "beam 4")
    )
    page.says(
        "With each of three seeds a beam of 4 with the length penalty is ahead of greedy search",
        holds=(beam > greedy).all(),
    )
    exact = [
        run["bleu"]["beam 4"] - run["bleu"]["greedy"] for run in page.recorded("multi30k")["results"]["seeds"].values()
    ]
    page.says("is ahead of greedy search, by {:.1f} to {:.1f} BLEU.", min(exact), max(exact), holds=min(exact) > 0)
    page.says("A BLEU is comparable only with the same test set, the same splitting and the same case: its signature.")
    flat = page.numbers("mistake-temperature", r"divided: \[([\d.]+).*multiplied: \[([\d.]+)")
    page.says("What should become sharper becomes flatter.", holds=flat[0] > 0.5 > flat[1])


def given(page: Page) -> None:
    page.given(
        "A small model has read 29,000 captions of photographs",
        "Time: about 65 minutes to read and predict",
        "Top-p with p = 0.8, at the positions of 20 unseen captions.",
        "how many of 150 captions differ from each other",
        "the share of different captions among 150",
        "for all words, top-k 20 and top-p 0.9",
        "It leaves one word wherever the best word alone has 0.8 or more.",
        because="the design of the page",
    )
    page.given(
        "A cut then sets probabilities to 0, and the rest is divided by its sum.",
        "With k = 1 it is greedy.",
        "“the” gets 0.8 of the rest and “my” the remaining 0.2",
        "After “a” the best word is “dog” with 0.4, after “the” it is “dog” with 0.9.",
        "from 0.444 on",
        "“the dog” has $0.9 \\cdot 0.8\\,(1 - p) = 0.72\\,(1-p)$; "
        "that is more as long as $p$ is below 0.72/1.12 = 0.643",
        "So between 0.444 and 0.643 greedy misses the most probable sentence, and a beam of 2 finds it.",
        "You run a beam of 64 and the exact search.",
        "A text of 7 tokens is written.",
        "One token takes 2 · 80 · 8 · 128 = 163,840 numbers, so 327,680 bytes",
        "With 64 instead of 8 heads",
        "Top-p with p = 0.9 on a distribution whose best word has 0.95.",
        "Top-k leaves 20, of which 19 share at most 0.05.",
        "A map puts 60 % of the weight on the noun.",
        "equal weights would give 50 %",
        "2 · L · G · K numbers a token",
        "Every new token gets position 0.",
        "tok:13a how words were split",
        "a quality near that of G = H, at a speed near that of G = 1",
        because="by definition, calculated by hand, or cited",
    )
    page.given(
        "a bar shows how many words top-p keeps with p = 0.8, on a logarithmic axis: 5, 21, 16, 5, "
        "530, 27, 100, 60, 73, 6, 373, 7, 1.",
        "A dashed line marks the 20 words of top-k.",
        "both broad with means of -43 and -40; a vertical line at -8.8",
        because="the figure's own numbers, put into its words by the cell that draws it",
    )
