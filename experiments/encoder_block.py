"""Train the sorting model of lecture 4 without its parts, and with other rates and warm-ups; record the results.

    python experiments/encoder_block.py rates parts norms

Every comparison changes one thing and has three seeds. The results go to `encoder_block.json` in
`coursekit/lecture/recorded`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import keras
import typer
from keras import layers
from records import Record

from coursekit.lecture import sorting

NAME = "encoder_block"
WIDTH, HEADS, BLOCKS, STEPS = 32, 4, 12, 250
SEEDS = (1, 2, 3)

app = typer.Typer(add_completion=False, help=__doc__)


class Sorted(keras.Layer):
    """An encoder block of lecture 4 with one part changed or taken away: x (B, T, D) to (B, T, D)."""

    def __init__(
        self,
        order: str = "pre",
        residual: bool = True,
        norm: str = "layer",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.order, self.residual = order, residual
        self.attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, kernel_initializer=sorting.glorot(WIDTH))
        self.network = keras.Sequential([layers.Dense(2 * WIDTH, activation="relu"), layers.Dense(WIDTH)])
        kinds: dict[str, Callable[[], Any]] = {
            "layer": lambda: layers.LayerNormalization(epsilon=1e-6),
            "batch": lambda: layers.BatchNormalization(epsilon=1e-6, momentum=0.9),
            "none": layers.Identity,
        }
        self.norms = [kinds[norm](), kinds[norm]()]
        self.drop = layers.Dropout(dropout)

    def _around(self, x: Any, sub_layer: Callable[[Any], Any], norm: Any, mask: Any, training: bool | None) -> Any:
        def normed(value: Any) -> Any:
            if isinstance(norm, layers.BatchNormalization):
                return norm(value, training=training, mask=mask)
            return norm(value)

        h = self.drop(sub_layer(normed(x) if self.order == "pre" else x), training=training)
        h = x + h if self.residual else h
        return normed(h) if self.order == "post" else h

    def call(self, x: Any, mask: Any = None, training: bool | None = None) -> Any:
        hidden = None if mask is None else mask[:, None, :]  # (B, 1, T)
        first, second = self.norms
        x = self._around(x, lambda h: self.attention(h, h, attention_mask=hidden), first, mask, training)
        return self._around(x, self.network, second, mask, training)


def _build(depth: int, order: str = "pre", **parts: Any) -> keras.Model:
    return sorting.sorter(lambda: Sorted(order, **parts), depth, final_norm=order == "pre", width=WIDTH)


def _train(depth: int, rates: dict[str, Callable[[int], float]], **how: Any) -> dict[str, Any]:
    """Each rate with each seed; the same model trains all of them, from fresh weights."""
    trainer, inputs = sorting.Trainer(_build(depth, **how)), sorting.digits(STEPS)
    runs: dict[str, Any] = {name: {"losses": [], "correct": []} for name in rates}
    for seed in SEEDS:
        for name, rate in rates.items():
            keras.utils.set_random_seed(seed)
            losses, correct = trainer.run(_build(depth, **how).get_weights(), inputs, rate)
            runs[name]["losses"].append(losses)
            runs[name]["correct"].append(correct)
            print(f"{how}, {depth} blocks, {name}, seed {seed}: {losses[-1]:.2f}, {correct:.0%}", flush=True)
    return runs


def rates() -> dict[str, Any]:
    """Post-norm and pre-norm, twelve blocks: constant rates, a warm-up, and full steps before a warm-up."""

    def full_steps_first(count: int) -> Callable[[int], float]:
        return lambda step: 3e-3 if step < count else 3e-3 * min(1, (step - count) / 100)

    post: dict[str, Callable[[int], float]] = {
        "0.003": lambda step: 3e-3,
        "0.001": lambda step: 1e-3,
        "0.0003": lambda step: 3e-4,
        "0.003, warm-up": lambda step: 3e-3 * min(1, step / 100),
        "1 full step, then the warm-up": full_steps_first(1),
        "10 full steps, then the warm-up": full_steps_first(10),
    }
    pre = {name: post[name] for name in ("0.003", "0.001", "0.003, warm-up")}
    return {"post-norm": _train(BLOCKS, post, order="post"), "pre-norm": _train(BLOCKS, pre, order="pre")}


def parts() -> dict[str, Any]:
    """Pre-norm without its residual paths, and residual paths without a norm, with 2 and with 12 blocks."""
    constant = {"0.003": lambda step: 3e-3}
    two = {**constant, "0.001": lambda step: 1e-3}
    return {
        "whole, 2 blocks": _train(2, constant),
        "no residual, 2 blocks": _train(2, constant, residual=False),
        "no residual, 12 blocks": _train(BLOCKS, two, residual=False),
        "no norm, 2 blocks": _train(2, constant, norm="none"),
        "no norm, 12 blocks": _train(BLOCKS, two, norm="none"),
    }


def norms() -> dict[str, Any]:
    """Pre-norm with batch norm in the place of layer norm, with 2 and with 12 blocks."""
    constant = {"0.003": lambda step: 3e-3, "0.001": lambda step: 1e-3}
    return {f"batch norm, {depth} blocks": _train(depth, constant, norm="batch") for depth in (2, BLOCKS)}


MEASURED = {"rates": rates, "parts": parts, "norms": norms}


@app.command(help=__doc__)
def main(names: Annotated[list[str], typer.Argument(help=f"Some of {', '.join(MEASURED)}.")]) -> None:
    for name in names:
        if name not in MEASURED:
            raise typer.BadParameter(f"choose among {', '.join(MEASURED)}", param_hint="NAMES")
    what = "Lecture 4: the sorting model without its parts, and by rate and warm-up; three seeds"
    command = f"python experiments/{NAME}.py {' '.join(MEASURED)}"
    record = Record(NAME, what, "random digits", seed=SEEDS[0], command=command)
    for name in names:
        started = time.process_time()
        record.results[name] = MEASURED[name]()
        record.add(time.process_time() - started)


if __name__ == "__main__":
    app()
