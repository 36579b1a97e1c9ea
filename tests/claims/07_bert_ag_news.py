"""What lecture 7 says of its numbers, and which outputs the numbers come from."""

import numpy as np
from claims.page import Page

KINDS = ("linear", "scratch", "frozen", "fine-tuned", "LSA")

CHART = "application/vnd.vegalite.v5+json"


def claims(page: Page) -> None:
    pieces(page)
    encoder(page)
    masked_words(page)
    heads(page)
    head_and_rates(page)
    live_comparison(page)
    study(page)
    errors(page)
    mistakes(page)
    examples(page)
    cited(page)
    live_figure(page)


def pieces(page: Page) -> None:
    size = page.number("3d2fb387", r"([\d,]+) pieces")
    page.says("evenly over V = {:,.0f} pieces", size)
    page.says(
        "The first is ln {:,.0f} = {:.2f}.",
        size,
        np.log(size),
        holds=page.number("983a2639", r"even guess ([\d.]+)") == 8.98,
    )
    mean, beyond = page.numbers("786f3fa0", r"has (\d+) pieces on average; ([\d.]+)% of the texts do not fit")
    page.says("pieces of a text, mostly below 62; a few above", holds=beyond < 50)
    page.says("With 64 places that happens to some news", holds=5 < beyond < 50)
    page.says(
        "half of the rows are news, which have about 60 pieces each".replace("half", "Half"), holds=abs(mean - 60) < 3
    )
    page.says(
        "most words are one piece, few are more than three",
        holds=page.number("48aa3f7b", r"([\d.]+) pieces a word") < 1.4,
    )


def encoder(page: Page) -> None:
    race, shop = page.numbers("2d67a75f", r"race and swim ([\d.]+), shop and sing ([\d.]+)")
    other = page.numbers("2d67a75f", r"different meanings \[([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)")
    page.says(
        "race–swim and shop–sing, both have {:.2f}; the four pairs with different meanings have {:.2f} to {:.2f}",
        race,
        min(other),
        max(other),
        holds=race == shop,
    )
    page.says("does not show that our small BERT tells the two meanings of record apart", holds=max(other) > race)
    pooled = page.number("5599ac93", r"pooled_output +\(2, (\d+)\)")
    page.says("its head sees nothing but `pooled_output`, {:.0f} numbers".replace("its", "Its"), pooled)
    page.given(
        "(128, D) here and (512, D) in the published models",
        because="a setting of our encoder, and of the published one",
    )


def masked_words(page: Page) -> None:
    even, frequency, here, trained = page.numbers(
        "983a2639", r"even guess ([\d.]+), by frequency ([\d.]+), after 30 steps ([\d.]+), pre-trained ([\d.]+)"
    )
    page.says("about {:.0f} for real news", frequency)
    page.says("and trains it for {:.0f} steps", page.number("983a2639", r"after (\d+) steps"))
    page.says(
        "Such a start is slow.",
        holds=[here < even, here > frequency - 0.5],
    )
    record = page.recorded("small_bert")["results"]
    log = record["epochs"]
    size = record["batches"] / len(log)
    loss = [each["val_mlm_logits_loss"] for each in log]
    follows = [each["val_next_logits_accuracy"] for each in log]
    page.says(
        "the masked-word loss falls from {:.0f}, far below",
        even,
        holds=[min(loss) < frequency - 1, trained < frequency - 1],
    )
    page.says("with one step up where the rows get longer", holds=sum(np.diff(loss) > 0.3) == 1)
    page.says(
        "For some 2,500 batches the answer about the next text is a guess.",
        holds=[max(follows[: int(2_500 / size)]) < 0.56, min(follows[int(3_200 / size) :]) > 0.56],
    )
    page.says(
        "Then it gets better, except between 8,000 and 9,000 batches",
        holds=[follows[int(8_800 / size) - 1] < follows[int(8_000 / size) - 1] - 0.08, follows[-1] > 0.7],
    )
    held = dict(zip((64, 128), page.numbers("78739b07", r"rows of +\d+: loss ([\d.]+)"), strict=True))
    page.says("on both, and long rows have the larger loss", holds=held[128] > held[64])
    read = page.number("78739b07", r"([\d,]+) tokens read")
    published = 1_000_000 * 256 * (0.9 * 128 + 0.1 * 512)
    page.says("some {:,.0f} times as many places as ours", round(published / read, -1))
    page.given(
        "The published BERT read 1,000,000 batches of 256 rows, nine tenths of them with 128 "
        "places and the rest with 512",
        because="cited: Devlin et al., 2019, appendix A.2",
    )
    guesses = page.output("3df86a7a").splitlines()
    best = {
        line.split("[MASK]")[0].split()[-1]: after.split()[0]
        for line, after in zip(guesses[::2], guesses[1::2], strict=True)
    }
    page.says(
        "prices after oil, states after united, medal after gold",
        holds=[best["oil"] == "prices", best["united"] == "states", best["gold"] == "medal"],
    )
    page.says("money for the company, space for the telescope", holds=["profit" in guesses[1], "space" in guesses[11]])
    page.says(
        'a word that stands there already, a full stop, and "on" where a verb belongs',
        holds=[best["its"] == "quarter", best["best"] == ".", best["government"] == "on"],
    )
    sure = [page.number("3df86a7a", rf" {word} (\d+)%,") for word in ("prices", "states", "medal")]
    page.says("Where two or three words determine the gap, the guesses are right", holds=min(sure) > 40)


def heads(page: Page) -> None:
    rows = page.numbers("6bc637de", r"before (\d+)%, token after (\d+)%, itself (\d+)%, \[CLS\] (\d+)%, \[SEP\] (\d+)%")
    before, after, itself, _, end = np.moveaxis(np.reshape(rows, (3, 4, 5)), -1, 0)  # each (blocks, heads)
    page.says(
        "head 3 looks at the token before nearly all the time, head 4 at the token after",
        holds=[before[0, 2] > 85, after[0, 3] > 85],
    )
    page.says(
        "Two heads of the first block put nearly everything on one neighbour",
        holds=sum(np.maximum(before, after)[0] > 85) == 2,
    )
    near = before + after + itself
    page.says(
        "The second block looks mostly nearby and less strictly.",
        holds=[near[1].mean() > 40, before[1].max() < 85, after[1].max() < 85],
    )
    page.says(
        "In the last block three of four heads put a quarter and more of their weight on `[SEP]`",
        holds=sum(end[2] >= 25) == 3,
    )
    page.says("heads of the last block put a large share on SEP", holds=sum(end[2] >= 25) == 3)
    page.given(
        "about 60 tokens of a row would put less than 2 % on each of them",
        "3 blocks of 4 heads",
        "200 test texts",
        because="calculated by hand; settings of our encoder and of the page",
    )


def head_and_rates(page: Page) -> None:
    page.says("128 · 16 + 16 + 16 · 4 + 4 = {:,.0f}; for 512: 8,276.", page.number("34756e3b", r"frozen +([\d,]+) of"))
    everything = page.number("34756e3b", r"fine-tuned ([\d,]+) of")
    page.says("Ours has {:.1f} million and gets 5·10⁻⁴ here.", everything / 1e6)
    page.says("The encoder has more than a million.", holds=everything > 500 * 2_132)
    page.says(
        "The rates are 2.5·10⁻⁴, 5·10⁻⁴, 2.5·10⁻⁴ (halfway down) and 0.",
        holds=page.numbers("87959f71", r": ([\d.]+)") == [2.5e-4, 5e-4, 2.5e-4, 0],
    )
    silent = page.numbers("49103a23", r"of the (\d) of the Dense layer: (\d)")
    page.says("in (b) the head is no part of the model, so it would never learn", holds=silent == [2, 0])
    page.says(
        "There are two errors that do not name the cause, and one mistake without an error",
        holds=page.output("49103a23").count("Error: ") == 2,
    )


def live_comparison(page: Page) -> None:
    tested = dict(zip(("fine-tuned", "frozen", "scratch"), page.numbers("745582dd", r"test ([\d.]+)%"), strict=True))
    tested |= dict(zip(("linear", "LSA"), page.numbers("2cd99bec", r"test ([\d.]+)%"), strict=True))
    order = ("fine-tuned", "LSA", "linear", "frozen", "scratch")
    page.says(
        "fine-tuned {:.0f} %, LSA {:.0f} %, linear {:.0f} %, frozen {:.0f} %, from scratch {:.0f} %.",
        *(np.floor(tested[name] + 0.5) for name in order),
        holds=sorted(tested.values(), reverse=True) == [tested[name] for name in order],
    )
    page.says(
        "{:.0f} points are left of {:.0f}.",
        tested["fine-tuned"] - tested["LSA"],
        tested["fine-tuned"] - tested["linear"],
    )
    margin = page.number("2cd99bec", r"± ([\d.]+)%")
    page.says(
        "That is about the margin printed below, for one seed.",
        holds=abs(tested["fine-tuned"] - tested["LSA"] - margin) < 1,
    )


def study(page: Page) -> None:
    runs = page.recorded("bert_ag_news")["results"]["runs"]
    rows = np.reshape(
        page.numbers("616d0b7c", r"([\d.]+)% \(([\d.]+)%–([\d.]+)%, (\d)\)"), (4, 5, 4)
    )  # sizes, kinds, (mean, range, seeds)
    test = {kind: rows[:, place, 0] for place, kind in enumerate(KINDS)}
    fitted = {kind: np.array(page.numbers("2d9721db", rf"([\d.]+)% {kind}")) for kind in KINDS}
    page.says(
        "With 100 and 500 texts the network from scratch has fitted its texts as well as the "
        "fine-tuned one, and still its test "
        "accuracy is far lower",
        holds=[
            (fitted["scratch"][:2] >= fitted["fine-tuned"][:2]).all(),
            (test["scratch"][:2] < test["fine-tuned"][:2] - 10).all(),
        ],
    )
    seeds = [run for run in runs if run["model"] == "scratch" and run["texts"] == 2_000]
    slow = min(seeds, key=lambda run: run["training"])
    page.says(
        "With 2,000 texts the mean hides a difference: one of the three seeds from scratch ended at "
        "a training accuracy of {:.1f} %, and this seed "
        "has the lowest test "
        "accuracy of its row",
        100 * slow["training"],
        holds=[slow["test"] == min(run["test"] for run in runs if run["texts"] == 2_000), len(seeds) == 3],
    )
    page.says(
        "With 10,000 texts and two epochs no network has fitted its texts.",
        holds=max(fitted[kind][3] for kind in ("scratch", "frozen", "fine-tuned")) < 93,
    )
    page.says("At 10,000 texts each network has one seed", holds=(rows[3, :, 3] == 1).all())
    ahead = {kind: page.numbers("5439f6cf", rf"{kind} +\+([\d.]+) points") for kind in ("scratch", "linear", "LSA")}
    page.says(
        "Both differences shrink as labels grow.",
        holds=[(np.diff(ahead[kind]) < 0).all() for kind in ("scratch", "linear")],
    )
    page.says(
        "With 100 labels it is {:.0f} points ahead of the linear model, and {:.0f} of the network's {:.0f} points of "
        "lead are left.",
        test["LSA"][0] - test["linear"][0],
        ahead["LSA"][0],
        ahead["linear"][0],
    )
    page.says(
        "With 2,000 and 10,000 labels LSA is no longer ahead of the linear model.",
        holds=[(test["LSA"][:2] > test["linear"][:2]).all(), (test["LSA"][2:] < test["linear"][2:]).all()],
    )
    page.says(
        "128 numbers, with a logistic regression, give a higher accuracy at every size.",
        holds=(test["LSA"] > test["frozen"]).all(),
    )
    page.says(
        "With 100 texts the order is fine-tuned, LSA, then linear and frozen, then from scratch; with 10,000 texts the "
        "frozen encoder is lowest.",
        holds=[
            test["fine-tuned"][0] > test["LSA"][0] > test["linear"][0] > test["scratch"][0],
            test["LSA"][0] > test["frozen"][0] > test["scratch"][0],
            test["frozen"][3] == min(each[3] for each in test.values()),
        ],
    )
    page.says(
        "With 10,000 texts the frozen encoder has the lowest accuracy, {:.0f} %.",
        test["frozen"][3],
        holds=test["frozen"][3] == min(each[3] for each in test.values()),
    )
    page.says(
        "The linear model is ahead of it from 500 texts on, the network from scratch from 2,000 on.",
        holds=[
            abs(test["linear"][0] - test["frozen"][0]) < 1,
            (test["linear"][1:] > test["frozen"][1:]).all(),
            ((test["scratch"] > test["frozen"]) == [False, False, True, True]).all(),
        ],
    )
    gains = {kind: each[3] - each[0] for kind, each in test.items()}
    page.says(
        "The fine-tuned network gains least from more labels; it also starts highest.",
        holds=[
            gains["fine-tuned"] == min(gains.values()),
            test["fine-tuned"][0] == max(each[0] for each in test.values()),
        ],
    )
    page.given(
        "The frozen head gets five times as many epochs as the two other networks, at a rate of 3·10⁻³.",
        because="a setting in experiments/bert_ag_news.py",
    )


def errors(page: Page) -> None:
    here, *large = page.numbers("93506932", r"(\d+)%")
    page.says("with few texts, a fifth of the Sports texts are taken for World", holds=abs(here - 20) <= 3)
    page.says("This confusion nearly disappears with more texts.", holds=max(large) <= 5)
    page.says("With few texts the largest confusion is Sports taken for World", holds=here > 15)
    recall = dict(
        zip(
            ("World", "Sports", "Business", "Sci/Tech"),
            page.numbers("9d2655ba", r"(?m)^ +\S+ +\d\.\d+ +(\d\.\d+)"),
            strict=False,
        )
    )
    page.says(
        "That is why the recall of Sports in the report is so low.",
        holds=recall["Sports"] == min(list(recall.values())[:4]),
    )
    named = [
        line.split("confusion: ")[1] for line in page.output("93506932").splitlines() if "largest confusion: " in line
    ]
    page.says(
        "Business and Sci/Tech, in all models that were trained on 10,000 texts",
        holds=[{"Business", "Sci/Tech"} == set(each.split(" taken for ")) for each in named] + [len(named) == 5],
    )
    page.says("in the models trained on 10,000 texts it is between Business and Sci/Tech", holds=len(named) == 5)
    small, big = {}, {}
    for kind in KINDS:
        small[kind] = page.number("5e80da7c", rf"{kind} +calibration error 100 texts ([\d.]+)")
        big[kind] = page.number("5e80da7c", rf"{kind} +calibration error .*10,000 texts ([\d.]+)")
    page.says(
        "the networks from scratch and fine-tuned, which fitted 100 texts almost perfectly, have a "
        "larger calibration error there "
        "than with 10,000.",
        holds=[small[kind] > big[kind] + 0.03 for kind in ("scratch", "fine-tuned")],
    )
    page.says(
        "for five models trained on 10,000 texts, beside the diagonal of perfect calibration. Right: "
        "the calibration error by number of labelled texts; that of the network from scratch falls most",
        holds=small["scratch"] - big["scratch"] == max(small[k] - big[k] for k in KINDS),
    )
    runs = page.recorded("bert_ag_news")["results"]["runs"]
    above = {}
    for kind in KINDS:
        (run,) = (each for each in runs if (each["model"], each["texts"], each["seed"]) == (kind, 10_000, 0))
        groups = [group for group in run["groups"] if group["count"] >= 20]
        above[kind] = np.mean([group["right"] > group["sure"] for group in groups])
    page.says(
        "With 10,000 texts the linear and the frozen model lie mostly above the diagonal.",
        holds=[above["linear"] > 0.5, above["frozen"] > 0.5],
    )


def mistakes(page: Page) -> None:
    without, right = page.numbers("f325d0f2", r"mask ([\d.]+)%, with it ([\d.]+)%")
    page.says("Padding is read as text, and the accuracy falls.", holds=without < right)
    page.says(
        "They mean other pieces there, and the model guesses.",
        holds=abs(page.number("f325d0f2", r"ids ([\d.]+)%") - 25) < 6,
    )
    page.says("On a CPU that is an error about the label 4.", holds="InvalidArgumentError" in page.output("f325d0f2"))
    last = page.number("f325d0f2", r"0.03: \[[\d.]+ +([\d.]+) *\]")
    page.says(
        "The loss goes to ln 4 = {:.2f}, guessing, and stays there.", np.log(4), holds=abs(last - np.log(4)) < 0.1
    )
    page.says("The loss stays at {:.2f}.", np.log(4))


def examples(page: Page) -> None:
    page.given("Time: about 88 minutes", because="counted by tests/test_lectures.py")
    page.given(
        "[← 6b ·",
        "| 1 for tokens, 0 for padding |",
        "0 for the first text, 1 for the second, 0 for padding | a table of two rows, (2, D)",
        "into a row of 12",
        "There are 3 + 4 words",
        "the mask has 10 ones. The segment becomes 1 after the first `[SEP]`, at place 5, and 0 "
        "again in the padding, at place 10.",
        "The mask is 1 up to the last SEP, the segment 1 from",
        "with T = 128:",
        "packs into 64 by",
        "Two blocks of 2 × 2 are near 1",
        "Why not 100 % `[MASK]`?",
        "With 80/10/10",
        "with 80/10/10 the model is also asked at tokens that look ordinary",
        "mask tokens 80/10/10, say why not 100/0/0",
        "A row has 60 ordinary tokens.",
        "9 are chosen, and 7.2 of them become `[MASK]`. The probability that none is chosen is 0.85⁶⁰ = 0.00006.",
        "nine places of each row, 15 % of a full row of 62",
        "rows change from 64 pieces to 128",
        "D and V (512 and 30,522 against 128 and 7,930 here)",
        "(a) a Keras 3 Input",
        "(b) a Keras 3 `Dense`",
        "(c) a Keras 3 optimizer",
        "Dense 16 with ReLU, dropout 0.2, Dense 4 with softmax",
        "for D = 128, and for D = 512?",
        "The peak is 5·10⁻⁴ and there are 200 steps. What is the rate at the steps 10, 20, 110 and 200?",
        "Warm-up ends at step 20.",
        "has read 10,000 news texts without labels",
        "vectors of 128 numbers from the TF-IDF of all 10,000 texts",
        "A model that says 90 % should be right",
        "validation accuracies of 0.918, 0.927 and 0.924 (invented numbers)",
        "with 7,600 validation texts the standard error of one accuracy near 0.925 is",
        "= 0.3 points, as large as the difference.",
        "Labels are 1 to 4",
        "A learning rate of 0.03",
        "looks for class 4",
        "classes are 0 to 3",
        "the best test accuracy was that of epoch 7, 0.93",
        "A text has 200 pieces and T = 128.",
        "126: `[CLS]`",
        "from 8,000 to 30,000 pieces, D = 128",
        "grows by 2.8 million numbers",
        "With 10,000 labels the linear model is as good as your small BERT.",
        "Look at 100 labels",
        "Keras 2 and 3 are mixed.",
        "and T = 128.",
        "3 × (B, T)",
        "(B, 4)",
        "15 % are chosen ; 12 % are replaced by `[MASK]`, 1.5 % by a random piece, 1.5 % stay. All 15 % are asked for.",
        because="an example, a setting, or calculated by hand",
    )
    for number in range(1, 7):
        page.given(f"{number}. ", because="the number of a question")


def cited(page: Page) -> None:
    page.given(
        "choose 15 % of the tokens, hide them",
        "Of the chosen tokens 80 % become `[MASK]`, 10 % a random piece, 10 % stay.",
        "“15 % of the tokens are replaced by [MASK].”",
        "batches of 16 or 32, two to four epochs, and a peak of 5·10⁻⁵, 3·10⁻⁵ or 2·10⁻⁵",
        "encoders of 110 million parameters",
        "made with 10,000 of the 120,000 texts",
        "with all 120,000 training texts: TF-IDF of n-grams with a linear classifier has a test accuracy of 92.4 %",
        "BERT-base, fine-tuned, has 94.8 %, and 95.2 % after",
        "with 768 dimensions and 12 heads.” 768 and 12 are BERT-base.",
        "The Transformer of 2017 has D = 512, 8 heads and 6 + 6 blocks",
        because="cited: Devlin et al., 2019; Zhang et al., 2015; Sun et al., 2019; Vaswani et al., 2017",
    )
    page.given(
        "was written for Keras 2. Since TensorFlow 2.16 `keras` and `tf.keras` are Keras 3",
        "BERT notebooks that were written for Keras 2 stop here. Keras 2 is still there",
        "Not since TensorFlow 2.16: `tf.keras` is Keras 3",
        because="numbers of versions",
    )
    page.given(
        "| small BERTs (Turc et al., 2019) | 24 sizes, from 2 to 12 blocks and from D = 128 to 768",
        "BERT-base has V = 30,522 and D = 768. ALBERT-base has V = 30,000, and its table is a matrix (V, 128) times a "
        "matrix (128, D).",
        "ALBERT-base has 12 million parameters in all, BERT-base 108 million (its paper, table 1)",
        "a token still goes through 12 blocks.",
        because="cited: Turc et al., 2019; Lan et al., 2020, table 1; Devlin et al., 2019",
    )
    page.says(
        "30,522 · 768 = {:.1f} million, and 30,000 · 128 + 128 · 768 = {:.1f} million.",
        30_522 * 768 / 1e6,
        (30_000 * 128 + 128 * 768) / 1e6,
    )
    page.given("101 6627 11256 1024 1996 6627 5016 2003 2551 2006", because="checked by tests/test_bert.py")


def live_figure(page: Page) -> None:
    page.given("(at most 18 pieces)", because="coursekit.live.bert_heads.LONGEST without [CLS] and [SEP]")
    chart = next(output for output in page.cells["live-heads"].outputs if output.data.get(CHART)).data[CHART]
    rows = [row for rows in chart["datasets"].values() for row in rows]
    beside = {"block 1, head 3": -1, "block 1, head 4": 1}
    line: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        place = row["i"] + beside.get(row["head"], 0)
        if row["head"] in beside and 0 < row["i"] < len(row["weight"]) - 1:
            line.setdefault((row["sentence"], row["head"]), []).append(row["weight"][place])
    page.says(
        "heads 3 and 4 of block 1: their line beside the diagonal is there in all the sentences of this figure.",
        holds=[len(line) == 6, *(sum(each) / len(each) > 0.8 for each in line.values())],
    )
