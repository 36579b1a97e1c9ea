"""What lecture 6 says of its numbers. The stored page shows the real reviews."""

from __future__ import annotations

import numpy as np

BY_HAND = "calculated by hand on the page; tests/test_model_sizes.py counts the models"
DEFINED = "chosen or defined, not measured"
CITED = "cited from the data set's paper"


def claims(page) -> None:
    reviews(page)
    model(page)
    training(page)
    padding(page)
    verdict(page)
    mistakes(page)
    givens(page)


def reviews(page) -> None:
    train, test = page.numbers("398c69d0", r"files\): ([\d,]+) for training, ([\d,]+) for testing")
    page.says("(Our copy has {:,.0f} + {:,.0f}: eight files were damaged.)", train, test)
    cut, lost = page.numbers("e51fdbbf", r"cut at 200: (\d+)% of the reviews lose something, (\d+)% of all words")
    page.says(
        "On the real reviews about four in ten are cut at 200, and nearly a third of all words is lost.",
        holds=[round(cut, -1) == 40, 28 <= lost < 33.4],
    )
    page.says(
        "it peaks below 200 and has a long tail beyond 600", holds=page.number("e51fdbbf", r"cut at 600: (\d+)%") > 2
    )
    rare, words = page.numbers("f709effc", r"(\d+)% of the ([\d,]+) words")
    page.says("Most of them are rare", holds=[rare > 50, words == 20_000])
    unknown = page.number("1fd1d5c4", r"unknown in the validation part: ([\d.]+)%")
    page.says("The curve on the right is the reason why we keep 20,000 words.", holds=unknown < 5)
    one_hot, vector = page.numbers("e61715b7", r"as [\w-]+ *: +([\d.]+) MB")
    page.says("{:.0f} MB against {:.0f} kB for one review", one_hot, 1000 * vector)


def model(page) -> None:
    size = lambda name: page.numbers("4c304a2f", rf"(?m)^{name} +([\d,]+)")  # noqa: E731
    attention, norms, dense = size("MultiHeadAttention")[0], size("LayerNormalization"), size("Dense")
    together, share = page.numbers("4c304a2f", r"together +([\d,]+) +of which (\d+)%")
    block, feed = attention + sum(norms) + sum(dense[:2]), sum(dense[:2])
    page.says("One encoder block, {:,.0f} numbers, and the question", together)
    page.says("explain each of its {:,.0f} parameters", together)
    page.says("So the block has {:,.0f} + {:,.0f} + {:.0f} = {:,.0f} .", attention, feed, sum(norms), block)
    page.says("Together {:,.0f} .", together)
    page.says("Feed-forward 2·(32·32 + 32) = {:,.0f}. Two norms 2·64 = {:.0f}.", feed, sum(norms))
    page.says("32·20 + 20 = {:.0f} and 20 + 1 = {:.0f}.", *dense[2:])
    page.says(
        "with {:,.0f} parameters, encoder block with {:,.0f}, mean with none, head with {:.0f} and {:.0f}",
        size("TokenAndPositionEmbedding")[0],
        block,
        *dense[2:],
    )
    page.says("{:.0f} of 100 parameters are word vectors.", share)
    page.says("The encoder block, the only part with attention, has {:.1f} %.", 100 * block / together)
    lstm = page.number("d6a954eb", r"([\d,]+) parameters")
    page.says("together {:,.0f}: {:.0f} fewer.", lstm, together - lstm)
    page.says("Which U brings the whole model to about {:,.0f} parameters?", together)


def training(page) -> None:
    epochs = r"(\d) epochs, [\d.]+ CPU seconds each; best is epoch (\d): training ([\d.]+), validation ([\d.]+)"
    free, braked = (page.numbers("72c65e6c", rf"{name}: {epochs}") for name in ("no brakes", "Transformer"))
    page.says(
        "reaches {:.3f} on validation and the one without {:.3f} after its best epoch",
        braked[3],
        free[3],
        holds=abs(braked[3] - free[3]) < 0.013,
    )
    reviews = page.number("398c69d0", r"validation ([\d,]+), test")
    page.says("Chance allows ±{:.3f}, and the learning rate differs as well", 1.96 * (0.88 * 0.12 / reviews) ** 0.5)
    page.says(
        "With {:,.0f} reviews chance allows ±{:.3f}, so no single gap", reviews, 1.96 * (0.88 * 0.12 / reviews) ** 0.5
    )
    page.says("On the real reviews the validation loss rises after the first epochs", holds=free[1] < free[0])
    last = {
        name: page.numbers("3c0fda18", rf"{name} +(?:after epoch \d: )?training ([\d.]+), validation ([\d.]+)")
        for name in ("no brakes", "Transformer", "linear")
    }
    page.says(
        "the run without brakes is right on {:.3f} of its training reviews after six epochs and on {:.3f} of "
        "the validation part; the Transformer with brakes on {:.3f} and {:.3f}.",
        *last["no brakes"],
        *last["Transformer"],
    )
    page.says("Without brakes the training accuracy nears 1.", holds=last["no brakes"][0] > 0.97)
    page.says(
        "The linear model is right on nearly all its training reviews, {:.3f}, and is still the best on validation.",
        last["linear"][0],
        holds=last["linear"][1] > max(last["no brakes"][1], last["Transformer"][1]),
    )


def padding(page) -> None:
    outputs = {
        name: page.numbers("2bb3f5d3", rf"{name} +one review, rows of 40 to 200: " + " ".join([r"([\d.]+)"] * 6))
        for name in ("masked", r"mask lost at \+", "no mask, end", "no mask, front")
    }
    moved = {name: np.ptp(values) for name, values in outputs.items()}
    page.says(
        'It does for all but the first. It does even for "lost at +", where attention still gets its mask and only the '
        "mean does not.",
        holds=[moved["masked"] == 0, *(moved[name] > 0.1 for name in list(moved)[1:])],
    )


def verdict(page) -> None:
    names = ("Transformer", "LSTM", "words and pairs, linear")
    rows = {
        name: page.numbers("96d8dff0", rf"(?m)^{name} +[\d,]+ +\d+(?: in all)? +([\d.]+) +([\d.]+)$") for name in names
    }
    test = {name: row[1] for name, row in rows.items()}
    chance = page.number("96d8dff0", r"by about ±([\d.]+)")
    weak, strong = page.numbers("c4685b86", r"C = +\d+: training [\d.]+, validation ([\d.]+)")
    page.says("Only two values are tried here, and the larger one wins on the real reviews.", holds=strong > weak)
    page.says(
        "On the real reviews the linear model wins clearly.",
        holds=test["words and pairs, linear"] - max(test["LSTM"], test["Transformer"]) > 4 * chance,
    )
    page.says(
        "On the real reviews each of the three is a little worse on test than on validation.",
        holds=[0 < valid - tested < 0.013 for valid, tested in rows.values()],
    )
    results = page.recorded("imdb_classifier")["results"]
    promised = max(run["history"]["val_accuracy"][-1] for run in results["search, at random"].values())
    kept = results["transformer, 200 words, at random"]["seed 0"]["test_accuracy"]
    page.says("validation accuracy was three points above its test accuracy", holds=abs(promised - kept - 0.03) < 0.005)


def mistakes(page) -> None:
    with_mask, without = page.numbers("dc2abd76", r"with the mask ([\d.]+), without ([\d.]+)")
    page.says("The mean is {:.0f} with the mask and {:.0f} without", with_mask, without)
    words, zero = page.numbers("dc2abd76", r"over words (-?[\d.]+), GlobalMaxPooling1D ([\d.]+)")
    page.says("The largest word is −{:.0f}, but padding wins with {:.0f}.", -words, zero)
    page.says(
        "There are {:.0f} left, counting the full stops.", page.number("dc2abd76", r"60 characters hold (\d+) words")
    )
    page.says("It survives only among the last 20.", holds="kept: False, True" in page.output("dc2abd76"))


def givens(page) -> None:
    page.given(
        "0 is padding, 1 is `[UNK]`",
        "2 the, 4 quick, 5 brown, 3 fox in the first row",
        "of the third row holds 0",
        "the 3, fox 2, quick 2, then brown, dog, is, jumps, lazy, over with 1 each",
        "a vector of V zeros with a single 1",
        "V = 4, D = 2, E = ((0, 0), (1, 5), (2, 6), (3, 7)). Multiply the one-hot vector of word 2 by E.",
        "(0, 0, 1, 0) · E = (2, 6), the row of word 2",
        "4 is not twice 2",
        "with V = 20,000, T = 200, D = F = 32, H = 2",
        "Words 20,000·32 = 640,000; positions 200·32 = 6,400",
        "3·(32·64 + 64) = 6,336, output 64·32 + 32 = 2,080",
        "4·((D + U)·U + U)",
        "Words 640,000, head 20·U + 20 + 21. For U = 50: LSTM 4·(82·50 + 50) = 16,600, head 1,041",
        "with V = 20,000 and the same block. And with an LSTM of 32 units",
        "with V = 10,000 and T = 600",
        "320,000 + 19,200 + 10,656 + 681 = 350,537",
        "T = 600, where reviews are that long",
        because=BY_HAND,
    )
    page.given(
        "25,000 + 25,000 reviews of Maas et al.",
        "positive (7 stars or more) or negative (4 or fewer)",
        "The data has up to 30 reviews of a film",
        "those with 5 or 6 stars were left out",
        because=CITED,
    )
    page.given(
        "A published model keeps 200 words",
        "with lines at 200 and 600",
        "in its first 200 words or in its last",
        "keeps the last 200; lecture",
        "gets 32 parameters of its own",
        "reads 600 words, has no positions",
        "goes through dropout 0.5",
        "640,000 word parameters, some 20,000 reviews",
        "goes on falling to nearly 0",
        "Dropout 0.1, as published",
        "A learning rate that falls to 0 over",
        "the same 400 validation reviews, shortened to their last 40 words",
        "Accuracy on 400 shortened validation reviews",
        "on rows of one width, such as 200.",
        "In Keras 3.15",
        "Two words with the values 3 and 5, and two places",
        "values −1 and −2",
        "if the first 20 words are kept? If the last 20 are?",
        "at 60 characters in place of 60 words",
        "cut at 600 characters.” At 600 tokens",
        "reads 600 words; 600 characters would be about a hundred",
        "reviews to 200; pad_sequences",
        "at position 199",
        "reaches 0.87 on validation",
        "id 0 has a learned row",
        "a score of 0 is not a weight of 0",
        "Training accuracy 0.99, validation 0.86",
        "stays at 0.69",
        "the masked mean divides by 0",
        "rows of 100 words",
        "batch_size=256 , 600 words",
        "stays in float32 by its dtype",
        "(B, D) → (B, 1)",
        because=DEFINED,
    )
    page.says(
        "Words 640,000, block 10,656, output 32 + 1 = 33: together {:,.0f} . The LSTM has 4·(64·32 + 32) = 8,320 in "
        "place of 10,656: {:,.0f} .",
        *page.numbers("largest-of-600", r"block: ([\d,]+) parameters; LSTM: ([\d,]+)"),
    )
    page.says(
        "4,096² is {:.1f} million, and 4,096 · 256 is {:.2f} million, a sixteenth.",
        4096**2 / 1e6,
        4096 * 256 / 1e6,
        holds=4096 / 256 == 16,
    )
    page.given("T = 4,096. How many scores", "a window of 256 keys", because="chosen for a calculation by hand")
    page.given(
        "57 minutes to read and predict; on the sample the code runs in about two minutes on two CPU cores.",
        because="counted by tests/test_lectures.py",
    )
    page.given(
        'mixed_precision.set_global_policy("mixed_float16")',
        "Lecture 6b tries values up to 100.",
        "Answer 1\\.",
        "2. The largest",
        "3. It is NaN",
        "4. It survives",
        "5. There are",
        "6. It goes in front",
        because="no measurement",
    )
