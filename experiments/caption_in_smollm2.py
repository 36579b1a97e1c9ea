"""What one head of SmolLM2 compares on the course's caption, stored for who has not fetched the model.

    python experiments/caption_in_smollm2.py

`coursekit/lecture/recorded/caption_in_smollm2.json` is written; lecture 2 shows it. The weights of all 270 heads are
summed up: how much each puts, on average, on the token before.
"""

from __future__ import annotations

import time

import numpy as np
import typer
from records import Out, Record

from coursekit.lecture import recorded, scenes
from coursekit.lecture.smollm2_heads import every_block

NAME = "caption_in_smollm2"
BLOCK, HEAD = 16, 0
APART = "a brown young dog is running after the black old dog"  # a word between each colour and its dog
SENTENCES = (scenes.CAPTION, scenes.TWIN, APART)


def main(out: Out = recorded.FOLDER) -> None:
    begun, kept = time.process_time(), {}
    for sentence in SENTENCES:
        blocks = every_block(sentence)
        chosen = blocks[BLOCK]
        before = np.array([np.diagonal(block.weights(), -1, 1, 2)[:, 1:].mean(axis=-1) for block in blocks])
        kept[sentence] = {
            "pieces": chosen.pieces,
            "queries": chosen.queries[HEAD].round(4).tolist(),
            "keys": chosen.keys[HEAD].round(4).tolist(),
            "on the token before": before.round(3).tolist(),
        }
        print(sentence, "heads above one half:", int((before > 0.5).sum()), flush=True)
    record = Record(
        NAME,
        "Queries and keys of block 16, head 0 of SmolLM2-135M-Instruct on three sentences, and by head (30, 9) "
        "the mean weight on the token before, from the third token on",
        "the course's caption, its twin, and the caption with a word between each colour and its dog",
        out,
    )
    record.results = {"block": BLOCK, "head": HEAD, "sentences": kept}
    file = record.save(time.process_time() - begun)
    print(f"written: {file.name}")


if __name__ == "__main__":
    typer.run(main)
