"""Where the two halves of BERT are: the small one that comes with the course, and the published one.

A half is named by a handle, which `hub.KerasLayer` takes: a folder, or an address on the web. The same cell takes
either.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "bert"
PREPROCESS, ENCODER = str(FOLDER / "preprocess"), str(FOLDER / "encoder")
PUBLIC_PREPROCESS = "https://tfhub.dev/tensorflow/bert_en_uncased_preprocess/3"
PUBLIC_ENCODER = "https://tfhub.dev/tensorflow/small_bert/bert_en_uncased_L-4_H-512_A-8/1"

INPUTS = ("input_word_ids", "input_mask", "input_type_ids")  # what the first half gives and the second takes
OUTPUTS = ("pooled_output", "sequence_output", "encoder_outputs")
