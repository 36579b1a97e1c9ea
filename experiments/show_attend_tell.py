"""Train captioners with soft and with hard attention on synthetic scenes of digits: "a seven above a two".

    python experiments/show_attend_tell.py

The plan is that of Xu et al. (2015, "Show, Attend and Tell"): a convolutional network that learned to classify first,
attention over its places, an LSTM. The digits are scikit-learn's, handwritten and real; scenes and captions are
generated. It writes `coursekit/lecture/recorded/show_attend_tell.json`, which lecture 1b shows.
"""

from __future__ import annotations

import itertools
import time
from typing import Annotated, NamedTuple

import keras
import numpy as np
import tensorflow as tf
import typer
from corpus_bleu import bleu, overlaps
from keras import layers, ops
from records import Out, Record, Seeds, numbers
from scipy.stats import binomtest
from sklearn.datasets import load_digits

from coursekit.lecture import recorded

NAME = "show_attend_tell"
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
WORDS = ("[PAD]", "[START]", "[END]", "a", "above", "left", "of", *NAMES)
PAD, START, END = range(3)
LONGEST = 7  # words, the end included
SIZE, DIGIT, PLACES = 24, 8, 6  # pixels of a scene and of a digit; the features' grid is 6 × 6
WIDTH = 128  # of the LSTM, of the features, and of the scores
BATCH, FIRST_STEPS, STEPS, PEAK_RATE = 64, 600, 1_200, 2e-3
FRESH = 4_000  # scenes, drawn anew when all were used
KINDS = ("soft", "hard", "hard, draws only")
ENTROPY = 0.02  # weight of the entropy of the attention weights in the loss of hard attention
TEST = 1_000  # scenes

app = typer.Typer(add_completion=False)


class Scenes(NamedTuple):
    """Images (N, 24, 24, 1), captions, the same as ids (N, 7), and the digits with their upper left corners."""

    images: np.ndarray
    captions: list[str]
    ids: np.ndarray
    digits: np.ndarray  # (N, 2), in the order in which the caption names them
    corners: np.ndarray  # (N, 2, 2): for each digit y and x


def scenes(count: int, pool: np.ndarray, rng: np.random.Generator) -> Scenes:
    """Generate scenes of two digits above or beside each other, among four scraps; the caption begins above or left.

    Args:
        pool: which of scikit-learn's drawings may be used.
    """
    source = load_digits()
    drawings = source.images.astype("float32") / 16  # (1797, 8, 8)
    images, ids = np.zeros((count, SIZE, SIZE, 1), "float32"), np.zeros((count, LONGEST), "int32")
    captions, corners = [], np.zeros((count, 2, 2), int)
    chosen = rng.choice(pool, size=(count, 2))
    upright = rng.integers(0, 2, count)
    for n in range(count):
        for scrap in rng.choice(pool, size=4):
            (a, b), (y, x) = rng.integers(0, 5, 2), rng.integers(0, SIZE - 3, 2)
            images[n, y : y + 4, x : x + 4, 0] = drawings[scrap, a : a + 4, b : b + 4]
        near = rng.integers(0, SIZE - 2 * DIGIT + 1)  # the upper or left one
        along = (near, rng.integers(near + DIGIT, SIZE - DIGIT + 1))
        first = rng.integers(0, SIZE - DIGIT + 1)
        across = (first, np.clip(first + rng.integers(-3, 4), 0, SIZE - DIGIT))
        for each in (0, 1):
            y, x = (along[each], across[each]) if upright[n] else (across[each], along[each])
            corners[n, each] = y, x
            images[n, y : y + DIGIT, x : x + DIGIT, 0] = drawings[chosen[n, each]]
        one, other = (NAMES[digit] for digit in source.target[chosen[n]])
        captions.append(f"a {one} {'above' if upright[n] else 'left of'} a {other}")
        words = [*captions[n].split(), "[END]"]
        ids[n, : len(words)] = [WORDS.index(word) for word in words]
    return Scenes(images, captions, ids, source.target[chosen], corners)


class Captioner(keras.Model):
    """Images (B, 24, 24, 1) and the words so far to the next word; `kind` says how the places are read."""

    def __init__(self, kind: str, **kwargs):
        super().__init__(**kwargs)
        self.kind = kind

        def conv(filters, size=3):
            return layers.Conv2D(filters, size, padding="same", activation="relu", kernel_initializer="he_normal")

        self.eye = keras.Sequential(
            [conv(16), layers.MaxPooling2D(), conv(48), layers.MaxPooling2D(), conv(WIDTH, 1)]
        )  # each place sees 10 × 10 pixels
        self.place = self.add_weight(shape=(PLACES**2, WIDTH), initializer=keras.initializers.RandomNormal(stddev=1.0))
        self.start_h, self.start_c = layers.Dense(WIDTH, "tanh"), layers.Dense(WIDTH, "tanh")
        self.embedding, self.cell = layers.Embedding(len(WORDS), 32), layers.LSTMCell(WIDTH)
        self.keys, self.query, self.score = layers.Dense(WIDTH), layers.Dense(WIDTH, use_bias=False), layers.Dense(1)
        self.word = layers.Dense(len(WORDS))

    def look(self, images):
        """Features (B, 36, D) with a learned vector for each place, their keys, and the LSTM's first state."""
        features = ops.reshape(self.eye(images), (-1, PLACES**2, WIDTH)) + self.place
        mean = ops.mean(features, axis=1)  # (B, D)
        return features, self.keys(features), [self.start_h(mean), self.start_c(mean)]

    def step(self, words, features, keys, state, drawn: bool):
        """One word (B,) further: logits (B, V), the next state, attention weights (B, 36), log α of what was read (B,).

        Args:
            drawn: hard attention reads a place drawn with probabilities α, and "hard" the mean by α for the first half
                of the batch; otherwise it reads the place with the largest α.
        """
        scores = self.score(ops.tanh(keys + self.query(state[0])[:, None]))[..., 0]  # (B, 36)
        log_alpha = ops.log_softmax(scores, axis=-1)
        alpha, log_read = ops.exp(log_alpha), ops.zeros_like(scores[:, 0])
        if self.kind == "soft":
            read = ops.sum(alpha[..., None] * features, axis=1)  # (B, D)
        else:
            place = tf.random.categorical(log_alpha, 1)[:, 0] if drawn else ops.argmax(alpha, axis=-1)  # (B,)
            one_hot = ops.one_hot(place, PLACES**2)
            if drawn and self.kind == "hard":
                first = ops.arange(ops.shape(alpha)[0])[:, None] < ops.shape(alpha)[0] // 2  # (B, 1)
                one_hot, log_alpha = ops.where(first, alpha, one_hot), ops.where(first, 0.0, log_alpha)
            read, log_read = ops.sum(one_hot[..., None] * features, axis=1), ops.sum(one_hot * log_alpha, axis=-1)
        h, state = self.cell(ops.concatenate([self.embedding(words), read], axis=-1), state)
        return self.word(ops.concatenate([h, read], axis=-1)), state, alpha, log_read


def losses(model: Captioner, images, ids, baseline):
    """The loss of one batch, and the mean reward (T,) from each word on, for the running baseline (T,).

    Hard attention: the gradient of log p of the words for the places drawn, and REINFORCE for the choice of places: the
    slope of log α of each choice times log p of the words from there on, less the baseline: a running mean for each
    word. "hard" takes half of the images with the mean of the places instead, as Xu et al. do (section 4.1).
    """
    features, keys, state = model.look(images)
    words, likelihoods, choices, entropies = ops.full_like(ids[:, 0], START), [], [], []
    for t in range(LONGEST):
        logits, state, alpha, log_read = model.step(words, features, keys, state, drawn=True)
        real = ops.cast(ids[:, t] != PAD, "float32")
        likelihoods.append(-real * ops.sparse_categorical_crossentropy(ids[:, t], logits, from_logits=True))
        choices.append(real * log_read)
        entropies.append(-real * ops.sum(alpha * ops.log(alpha + 1e-9), axis=-1))
        words = ids[:, t]
    likelihood = ops.stack(likelihoods, axis=1)  # (B, T)
    rewards = ops.stop_gradient(ops.flip(ops.cumsum(ops.flip(likelihood, axis=1), axis=1), axis=1))  # from t on
    loss = -ops.mean(ops.sum(likelihood, axis=1))
    if model.kind.startswith("hard"):
        chosen = ops.stack(choices, axis=1) * (rewards - baseline)
        loss = loss - ops.mean(ops.sum(chosen, axis=1)) - ENTROPY * ops.mean(ops.sum(ops.stack(entropies, 1), axis=1))
    return loss, ops.mean(rewards, axis=0)


def learn_to_classify(eye: keras.Model, pool: np.ndarray, rng: np.random.Generator) -> None:
    """Train the convolutional network to name one digit of a scene of two: the target is either of them at random.

    A linear classifier looks at each place, and the largest logits count. Its weights are not used afterwards.
    """
    image = keras.Input((SIZE, SIZE, 1))
    model = keras.Model(image, ops.max(layers.Dense(10)(eye(image)), axis=(1, 2)))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    seen = scenes(FIRST_STEPS * BATCH // 4, pool, rng)
    rows = np.arange(len(seen.images))
    model.fit(seen.images, seen.digits[rows, rng.integers(0, 2, len(rows))], batch_size=BATCH, epochs=4, verbose=0)


def trained(kind: str, seed: int, pool: np.ndarray, steps: int) -> Captioner:
    """Train a captioner on fresh scenes."""
    keras.utils.set_random_seed(seed)
    rng, model = np.random.default_rng(seed), Captioner(kind)
    learn_to_classify(model.eye, pool, rng)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, steps * 9 // 10, warmup_target=PEAK_RATE, warmup_steps=steps // 10
    )
    optimizer, baseline = keras.optimizers.Adam(rate, clipnorm=1.0), tf.Variable(tf.zeros(LONGEST))

    @tf.function
    def step(images, ids):
        with tf.GradientTape() as tape:
            loss, rewards = losses(model, images, ids, baseline)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        baseline.assign(0.9 * baseline + 0.1 * rewards)
        return loss

    few = scenes(2, pool, rng)
    losses(model, tf.constant(few.images), tf.constant(few.ids), baseline)  # makes the variables
    optimizer.build(model.trainable_variables)
    for number in range(steps):
        at = number * BATCH % (FRESH // BATCH * BATCH)
        if at == 0:
            fresh = scenes(FRESH, pool, rng)
        step(tf.constant(fresh.images[at : at + BATCH]), tf.constant(fresh.ids[at : at + BATCH]))
    return model


def told(model: Captioner, images: np.ndarray) -> tuple[list[list[str]], np.ndarray]:
    """Captions written greedily, as lists of words, and the attention weights of each word (N, T, 36)."""

    @tf.function
    def write(images):
        features, keys, state = model.look(images)
        words, written, maps = ops.full((ops.shape(images)[0],), START, dtype="int32"), [], []
        for _ in range(LONGEST + 1):
            logits, state, alpha, _ = model.step(words, features, keys, state, drawn=False)
            words = ops.cast(ops.argmax(logits, axis=-1), "int32")
            written.append(words)
            maps.append(alpha)
        return ops.stack(written, axis=1), ops.stack(maps, axis=1)

    ids, maps = (np.array(each) for each in write(tf.constant(images)))
    captions = [list(itertools.takewhile(lambda word: word != "[END]", (WORDS[i] for i in row))) for row in ids]
    return captions, maps


def judged(captions: list[list[str]], test: Scenes) -> dict:
    """Exact captions with Wilson's 95 % interval, BLEU with that of 1,000 redrawn test sets, and what is wrong."""
    right = [" ".join(words) == true for words, true in zip(captions, test.captions, strict=True)]
    named = [
        sorted(word for word in words if word in NAMES) == sorted(NAMES[digit] for digit in digits)
        for words, digits in zip(captions, test.digits, strict=True)
    ]
    interval = binomtest(sum(right), len(right)).proportion_ci(method="wilson")
    table = np.array([overlaps(words, true.split()) for words, true in zip(captions, test.captions, strict=True)])
    rng = np.random.default_rng(0)
    redrawn = [bleu(table[rng.integers(0, len(table), len(table))]) for _ in range(1_000)]
    return {
        "exact": round(sum(right) / len(right), 4),
        "exact interval": [round(float(interval.low), 4), round(float(interval.high), 4)],
        "BLEU": round(bleu(table), 2),
        "BLEU interval": [round(float(each), 2) for each in np.percentile(redrawn, [2.5, 97.5])],
        "both digits right": round(sum(named) / len(named), 4),
        "exact, of those with both digits right": round(float(np.sum(np.array(right)[named])) / max(sum(named), 1), 4),
    }


def inside(captions: list[list[str]], maps: np.ndarray, test: Scenes) -> dict[str, float]:
    """The mean share of the attention weights inside the box of the digit, by the word that is about to be written.

    Only exact captions count. "the other digit": while a digit is named, the share in the box of the other one.
    """
    shares: dict[str, list] = {"its digit": [], "the other digit": [], "either digit, other words": []}
    for words, alpha, true, corners in zip(captions, maps, test.captions, test.corners, strict=True):
        if " ".join(words) != true:
            continue
        pixels = alpha.reshape(-1, PLACES, PLACES).repeat(SIZE // PLACES, 1).repeat(SIZE // PLACES, 2)
        pixels = pixels / pixels.sum(axis=(1, 2), keepdims=True)  # (T, 24, 24)
        boxes = [pixels[:, y : y + DIGIT, x : x + DIGIT].sum(axis=(1, 2)) for y, x in corners]  # 2 × (T,)
        named = iter((0, 1))
        for t, word in enumerate(words):
            if word in NAMES:
                which = next(named)
                shares["its digit"].append(boxes[which][t])
                shares["the other digit"].append(boxes[1 - which][t])
            else:
                shares["either digit, other words"].append(boxes[0][t] + boxes[1][t])
    return {name: round(float(np.mean(each)), 3) if each else 0.0 for name, each in shares.items()}


def shown(model: Captioner, test: Scenes, first: int = 3) -> list[dict]:
    """Words and maps of the first test scenes; nobody chose them."""
    captions, maps = told(model, test.images[:first])
    return [
        {"words": [*words, "[END]"], "maps": np.round(alpha[: len(words) + 1], 3).tolist()}
        for words, alpha in zip(captions, maps, strict=True)
    ]


@app.command(help=__doc__)
def main(
    seeds: Seeds = "1,2,3",
    steps: Annotated[int, typer.Option(help=f"Batches of {BATCH} scenes.")] = STEPS,
    out: Out = recorded.FOLDER,
) -> None:
    began = time.process_time()
    order = np.random.default_rng(0).permutation(len(load_digits().images))
    pool, test_pool = order[:1_300], order[1_300:]  # no drawing is in both
    test = scenes(TEST, test_pool, np.random.default_rng(1))
    record = Record(
        NAME,
        "Captions of scenes of digits with soft and hard attention: exact captions, BLEU, maps of each word",
        "Synthetic scenes and captions; the digits are scikit-learn's (Alpaydin and Kaynak, 1998), real",
        out,
        seed=numbers(seeds)[0],
    )
    results = record.results = {
        "drawings": [len(pool), len(test_pool)],
        "steps": steps,
        "scenes": {"images": np.round(test.images[:3, ..., 0] * 16).astype(int).tolist(), "true": test.captions[:3]},
        "parameters": {},
        "runs": [],
        "first test scenes": {},
    }
    for seed, kind in itertools.product(numbers(seeds), KINDS):
        started = time.process_time()
        model = trained(kind, seed, pool, steps)
        seconds = round(time.process_time() - started, 1)
        captions, maps = told(model, test.images)
        run = {"kind": kind, "seed": seed} | judged(captions, test) | {"inside": inside(captions, maps, test)}
        results["runs"].append(run | {"cpu seconds": seconds})
        results["parameters"][kind] = sum(int(np.prod(each.shape)) for each in model.trainable_variables)
        if kind in ("soft", "hard") and kind not in results["first test scenes"]:
            results["first test scenes"][kind] = shown(model, test)
        print(results["runs"][-1], flush=True)
    record.save(time.process_time() - began)


if __name__ == "__main__":
    app()
