#!/usr/bin/env python
"""What the makers' own libraries compute with the two published models, for `tests/data/test_published.py`.

Needs PyTorch, transformers, accelerate, gguf and sentence-transformers, which nothing else here does; run it in an
environment of its own:

    pip install torch transformers accelerate gguf sentence-transformers
    python experiments/published_parity.py FOLDER_OF_SMOLLM2 FOLDER_OF_MINILM

The folders are those that `coursekit.data.published` names. It writes `tests/published_parity.json`: of five texts each
the ids, and the logits behind the last token at every 997th id; and the vectors of five sentences.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TEXTS = (
    "The capital of France is",
    "def mean(numbers):\n    return",
    "In 2024 it's naïve… 12 dogs\n\n  x",
    "a brown dog is running after the black dog",
    "To be, or not to be, that is the",
)
SENTENCES = (
    "a brown dog is running after the black dog",
    "a black dog is running after the brown dog",
    "Two canines chase each other!",
    "The company said its profit rose 3.5% in Q4; shares of the firm went up.",
    "Déjà vu",
)
EVERY = 997


def main() -> None:
    import sentence_transformers
    import torch
    import transformers

    smollm2, minilm = map(Path, sys.argv[1:])
    (file,) = smollm2.glob("*.gguf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(smollm2, gguf_file=file.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(smollm2, gguf_file=file.name, dtype=torch.float32)
    logits = []
    for text in TEXTS:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            last = model(torch.tensor([ids])).logits[0, -1]
        logits.append({"text": text, "ids": ids, "logits": [round(float(each), 5) for each in last[::EVERY]]})
    encoder = sentence_transformers.SentenceTransformer(str(minilm), device="cpu")
    vectors = encoder.encode(list(SENTENCES), normalize_embeddings=True)
    found = {
        "made with": {name.__name__: name.__version__ for name in (torch, transformers, sentence_transformers)},
        "smollm2": logits,
        "minilm": [
            {"text": text, "vector": [round(float(each), 6) for each in vector]}
            for text, vector in zip(SENTENCES, vectors, strict=True)
        ],
    }
    target = Path(__file__).resolve().parents[1] / "tests" / "published_parity.json"
    target.write_text(json.dumps(found, ensure_ascii=False) + "\n", "utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
