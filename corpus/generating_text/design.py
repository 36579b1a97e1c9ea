"""Lab 08b, exercise `design`: solutions as different students write them, right and wrong."""


def chosen(num_kv_heads: object, texts: object) -> str:
    return f"def design():\n    return dict(num_kv_heads={num_kv_heads}, texts={texts})\n"


CORRECT = [
    chosen(8, 32),
    chosen(8, 38),
    chosen(8, 24),
    chosen(5, 31),
    chosen(5, 61),
    chosen(10, 30),
    chosen("np.int64(10)", "24.0"),
    'def design():\n    heads = 40 // 8\n    per_text = 2 * 40 * heads * 128 * 4096 * 2\n    return {"num_kv_heads": heads, "texts": 24 * 2**30 // per_text, "query_heads": 40}\n',
]  # fmt: skip

WRONG = [
    ("too_large", chosen(8, 39)),
    ("too_large", chosen(40, 24)),
    ("too_large", chosen(5, 62)),
    ("half_empty", chosen(5, 30)),
    ("half_empty", chosen(5, 24)),
    ("does_not_divide", chosen(6, 40)),
    ("does_not_divide", chosen(7, 30)),
    ("too_few_key_heads", chosen(4, 60)),
    ("too_few_key_heads", chosen(1, 200)),
    ("too_few_texts", chosen(10, 20)),
    ("too_few_texts", chosen(40, 6)),
    # the example of the text chooses nothing, and earns nothing
    (None, chosen(40, 7)),
    ("", chosen(1, 24)),
    ("", chosen(0, 24)),
    ("", chosen(8, -32)),
    ("", chosen(8.5, 32)),
    ("", chosen('"8"', 32)),
    ("", chosen(8, None)),
    ("", "def design():\n    return 8, 32\n"),
    ("", "def design():\n    return {'G': 8, 'texts': 32}\n"),
    ("", "def design():\n    pass\n"),
]
