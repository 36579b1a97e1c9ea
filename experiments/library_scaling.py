"""How the loss of a language model falls with its size, its text and its operations: many trainings at once on a GPU.

    python experiments/library_scaling.py text                       # cut the library into tokens, on any machine
    KERAS_BACKEND=jax python experiments/library_scaling.py train    # needs JAX: pip install "jax[cuda12]"

The model, the windows, the optimizer and its schedule are those of `library_language_model.py`. There one training is
so many small operations that a GPU waits for its orders; here JAX compiles many steps into one program, in which
three seeds at three learning rates are trained side by side. `coursekit/lecture/recorded/library_scaling.json` holds
the results; a training that is recorded already is not repeated.
"""

from __future__ import annotations

import functools
import itertools
import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import keras
import numpy as np
import typer
from keras import ops
from library_models import SIZES, operations, transformer
from records import Out, Record

from coursekit.lecture import recorded
from coursekit.lecture.pages.windows import BATCH, LENGTH, PEAK_RATE, WARMUP, side_by_side, starts

NAME = "library_scaling"
TEXT = Path(__file__).resolve().parents[1] / "build" / "library" / "tokens.npz"
MEASURE = "the page's model"
GRID = ("a tiny one", "a small one", MEASURE, "a larger one")
AMOUNTS = (80, 320, 1280, 5120)  # steps of each size in the grid, each with a schedule of its own
BUDGETS = (320, 1280, 5120, 20480)  # steps of MEASURE; every size takes as many operations
LONGEST = 80_000  # steps: what would take more is left out
SEEDS = (1, 2, 3)
RATES = (PEAK_RATE / 2, PEAK_RATE, PEAK_RATE * 2)
CHUNK = 40  # steps in one call
app = typer.Typer(add_completion=False, help=__doc__)


class Training(NamedTuple):
    """A size and the number of its steps."""

    size: str
    steps: int


def plan(vocab_size: int) -> list[Training]:
    """The grid and the budgets, cheapest first; steps within a percent of the grid's are the grid's."""
    per_token = {size: operations(size, parameters_of(size, vocab_size), 1, LENGTH) for size in SIZES}
    trainings = {Training(size, steps) for size, steps in itertools.product(GRID, AMOUNTS)}
    for budget, size in itertools.product(BUDGETS, SIZES):
        steps = round(budget * per_token[MEASURE] / per_token[size])
        if steps <= LONGEST:
            trainings.add(Training(size, next((near for near in AMOUNTS if abs(steps / near - 1) < 0.01), steps)))
    return sorted(trainings, key=lambda each: each.steps * per_token[each.size])


def parameters_of(size: str, vocab_size: int) -> int:
    """The parameters of a size: its table, its blocks and its norms."""
    d_model, blocks, _, d_ff = SIZES[size]
    return vocab_size * d_model + blocks * (4 * d_model**2 + 3 * d_model * d_ff + 2 * d_model) + d_model


@app.command()
def text() -> None:
    """Cut the library into tokens, so that all machines train on those of one interpreter."""
    from library_language_model import text_of  # needs TensorFlow, which a machine that only trains need not have

    found = text_of()
    TEXT.parent.mkdir(parents=True, exist_ok=True)
    arrays = {"train": found.stream, "held_out": found.held_out_stream}
    np.savez_compressed(
        TEXT, token_bytes=found.token_bytes, **{name: array.astype("uint16") for name, array in arrays.items()}
    )
    print(f"{TEXT}: {len(found.stream):,} tokens for training, {len(found.held_out_stream):,} held out")


class Trainer:
    """Trains one size at all SEEDS and RATES side by side, the lanes (L = seeds · rates)."""

    def __init__(self, size: str, tokens: dict[str, np.ndarray]):
        import jax

        self.jax, self.tokens = jax, tokens
        self.lanes = list(itertools.product(SEEDS, RATES))
        self.vocab_size = len(tokens["token_bytes"])
        self.stream = jax.numpy.asarray(tokens["train"].astype("int32"))
        self.windows = jax.numpy.asarray(side_by_side(tokens["held_out"].astype("int32")))
        self.held_out_bytes = tokens["token_bytes"][np.asarray(self.windows)[:, 1:]].sum()
        first = []
        for seed in SEEDS:
            keras.utils.set_random_seed(seed)
            self.model = transformer(self.vocab_size, size)
            self.model(keras.KerasTensor((1, 2), "int32"))  # makes the weights and computes nothing
            first += [[variable.value for variable in self.model.trainable_variables]] * len(RATES)
        self.first = [jax.numpy.stack(lane) for lane in zip(*first, strict=True)]
        self.optimizer = keras.optimizers.AdamW(
            PEAK_RATE, weight_decay=0.1, beta_1=0.9, beta_2=0.95, global_clipnorm=1.0
        )
        self.optimizer.build(self.model.trainable_variables)
        self.run = jax.jit(self._chunk)
        self.judge = jax.jit(jax.vmap(self._nats))

    def _logits(self, weights, rows):
        return self.model.stateless_call(weights, [], rows[:, :-1])[0]

    def _loss(self, weights, rows):
        return ops.mean(ops.sparse_categorical_crossentropy(rows[:, 1:], self._logits(weights, rows), from_logits=True))

    def _step(self, weights, moments, begins, rate):
        """One step of one lane at one rate."""
        rows = self.stream[begins[:, None] + np.arange(LENGTH + 1)]
        loss, gradients = self.jax.value_and_grad(self._loss)(weights, rows)
        place = next(i for i, each in enumerate(self.optimizer.variables) if each.path.endswith("learning_rate"))
        moments = [*moments[:place], rate, *moments[place + 1 :]]
        return *self.optimizer.stateless_apply(moments, gradients, weights), loss

    def _chunk(self, weights, moments, begins, rates):
        """CHUNK steps: begins (CHUNK, L, BATCH), rates (CHUNK, L)."""

        def step(state, given):
            weights, moments, loss = self.jax.vmap(self._step)(*state, *given)
            return (weights, moments), loss

        return self.jax.lax.scan(step, (weights, moments), (begins, rates))

    def _nats(self, weights):
        """The nats of all held-out windows."""

        def some(rows):
            logits = self._logits(weights, rows)
            return ops.sum(ops.sparse_categorical_crossentropy(rows[:, 1:], logits, from_logits=True))

        most = len(self.windows) // 32 * 32
        return self.jax.lax.map(some, self.windows[:most].reshape(-1, 32, LENGTH + 1)).sum() + some(self.windows[most:])

    def train(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Train all lanes for so many steps: bits a byte held out, and the mean loss of the last steps (both (L,))."""
        rates = np.stack([schedule(steps, rate) for _, rate in self.lanes], axis=1)
        begins = np.stack([starts(len(self.stream), steps, seed) for seed, _ in self.lanes], axis=1)
        rates, begins = filled(rates), filled(begins.astype("int32"))
        weights, losses = self.first, []
        moments = [self.jax.numpy.stack([each.value] * len(self.lanes)) for each in self.optimizer.variables]
        for begin in range(0, len(rates), CHUNK):
            part = slice(begin, begin + CHUNK)
            (weights, moments), loss = self.run(weights, moments, begins[part], rates[part])
            losses.append(loss)
        bits = np.asarray(self.judge(weights)) / np.log(2) / self.held_out_bytes
        return bits, np.concatenate(losses)[:steps][-CHUNK:].mean(0)


def filled(array: np.ndarray) -> np.ndarray:
    """Zeros behind what is asked of each step, to a multiple of CHUNK: a rate of zero moves no weight."""
    return np.concatenate([array, np.zeros((-len(array) % CHUNK, *array.shape[1:]), array.dtype)])


def schedule(steps: int, peak: float) -> np.ndarray:
    """The rate of every step: that of `keras.optimizers.schedules.CosineDecay` with the page's warm-up."""
    warmup = round(steps * WARMUP)
    step = np.arange(steps)
    cosine = (1 + np.cos(np.pi * np.clip((step - warmup) / (steps - warmup), 0, 1))) / 2
    return (peak * np.where(step < warmup, step / max(warmup, 1), cosine)).astype("float32")


def finished(results: dict[str, Any], training: Training) -> bool:
    """Whether the record holds a training."""
    return any((run["size"], run["steps"]) == training for run in results["runs"])


@app.command()
def train(
    out: Out = recorded.FOLDER,
    most: Annotated[float, typer.Option(help="Start no training after so many seconds.")] = 1e9,
    sizes: Annotated[str, typer.Option(help="Only these sizes, with commas.")] = ",".join(SIZES),
) -> None:
    """Train what is not recorded yet."""
    import jax

    began = time.monotonic()
    tokens = dict(np.load(TEXT))
    record = Record(
        NAME,
        "Language models of Python source: loss by size, text, operations and learning rate",
        "Functions of the standard library of Python 3.11.7 (PSF licence)",
        out,
        empty={"runs": []},
        device=f"{jax.devices()[0].device_kind}, TF32; seconds are those of a clock, with the compiler's",
        command=f"KERAS_BACKEND=jax python experiments/{NAME}.py train",
        seed=SEEDS[0],
    )
    results = record.results
    results |= {"jax": jax.__version__, "training tokens": len(tokens["train"])}
    trainer_of = functools.cache(functools.partial(Trainer, tokens=tokens))
    vocab_size = len(tokens["token_bytes"])
    for training in plan(vocab_size):
        if training.size not in sizes.split(",") or finished(results, training) or time.monotonic() - began > most:
            continue
        trainer, since = trainer_of(training.size), time.monotonic()
        bits, losses = trainer.train(training.steps)
        count = parameters_of(training.size, vocab_size)
        assert count == trainer.model.count_params()
        read = training.steps * BATCH * LENGTH
        common = {"size": training.size, "parameters": count, "steps": training.steps, "tokens": read}
        common |= {"operations": operations(training.size, count, read, LENGTH)}
        seconds = round(time.monotonic() - since, 1)
        results["runs"].append(
            common
            | {
                "seconds": seconds,
                "lanes": [
                    {
                        "seed": seed,
                        "rate": rate,
                        "held-out bits a byte": rounded(bit),
                        "training nats a token": rounded(loss),
                    }
                    for (seed, rate), bit, loss in zip(trainer.lanes, bits, losses, strict=True)
                ],
            }
        )
        print(training, np.round(bits, 3).tolist(), seconds, "s", flush=True)
        record.save(sum(run["seconds"] for run in results["runs"]))


def rounded(value: float) -> float | None:
    """Four decimals; None for a training that ended in no number."""
    return round(float(value), 4) if np.isfinite(value) else None


if __name__ == "__main__":
    app()
