"""Record what the check of a lab says of one wrong answer, for the labs' pages: python site/record_checks.py

Each answer is one of the corpus, by its exercise and the name of its mistake. Labs 02 to 04 have lines that a reader
changes instead. Writes checks.json beside this file.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent
sys.path.insert(0, str(SITE.parent))  # for the corpus

from coursekit import quiet  # noqa: E402
from coursekit.check.lab import Lab, load_reference  # noqa: E402

PRELUDE = "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import ops\n"
ANSWERS = {
    "01_attention_intuition": ("softmax", "last_axis_only"),
    "05_positional_encoding": ("sinusoidal_positions", "sines_then_cosines"),
    "06_imdb_classifier": ("masked_mean", "padding_in_the_mean"),
    "07_bert_ag_news": ("warmup_linear_decay", "without_warmup"),
    "08_decoder_and_masking": ("causal_mask", "transposed"),
    "08b_generating_text": ("top_p", "not_renormalised"),
    "09_vision_transformer": ("extract_patches", "every_nth_pixel"),
    "10_language_model": ("next_token_windows", "y_is_x"),
    "10b_from_model_to_assistant": ("group_advantages", "over_batch"),
}


def record(lab: str, exercise: str, mistake: str) -> dict[str, str]:
    """The exercise, the answer's lines, and the report of the lab's check on it as HTML."""
    wrong = importlib.import_module(f"corpus.{lab.partition('_')[2]}.{exercise}").WRONG
    lines = next(source for name, source in wrong if name == mistake).strip("\n")
    names: dict[str, object] = {"__name__": "__main__", "In": [PRELUDE, lines]}
    exec(PRELUDE + lines, names)
    report = Lab(load_reference(lab)).report(exercise, names)
    if mistake not in report.judgement.misconceptions:
        raise ValueError(f"{lab}, {exercise}: the check names {report.judgement.misconceptions}, not {mistake!r}")
    return {"exercise": exercise, "lines": lines, "box": report._repr_html_()}


def record_all() -> dict[str, dict[str, str]]:
    """By lab, what its page shows."""
    quiet.start_tensorflow()
    return {lab: record(lab, *answer) for lab, answer in ANSWERS.items()}


if __name__ == "__main__":
    text = json.dumps(record_all(), ensure_ascii=False, indent=1)
    (SITE / "checks.json").write_text(text + "\n", encoding="utf-8")
