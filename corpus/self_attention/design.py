"""Lab 02, exercise `design`: solutions as different students write them, right and wrong."""


def chosen(queries: object, keys: object, blocks: object) -> str:
    return f"def design():\n    return dict(block_queries={queries}, block_keys={keys}, key_blocks={blocks})\n"


CORRECT = [
    chosen(64, 127, 33),
    chosen(64, 64, 64),
    chosen(128, 63, 66),
    chosen(128, 16, 256),
    chosen(249, 1, 4096),
    chosen("np.int64(100)", 50.0, 82),
    "import math\ndef design():\n    free = 128 * 1024 // 4 - 128 * 130\n    keys = free // (128 + 128)\n"
    '    return {"block_queries": 128, "block_keys": keys, "key_blocks": math.ceil(4096 / keys), "passes": 32}\n',
]

WRONG = [
    ("too_large", chosen(64, 128, 32)),
    ("too_large", chosen(256, 16, 256)),
    ("too_large", chosen(4096, 4096, 1)),
    ("half_empty", chosen(64, 16, 256)),
    ("too_many_readings", chosen(63, 100, 41)),
    ("too_many_readings", chosen(1, 250, 17)),
    ("keys_left_out", chosen(128, 60, 68)),
    ("keys_left_out", chosen(64, 100, "4096 // 100")),
    ("empty_blocks", chosen(128, 32, 129)),
    ("empty_blocks", chosen(64, 100, 42)),
    ("", chosen(0, 32, 128)),
    ("", chosen(128, 32.5, 127)),
    ("", chosen('"128"', 32, 128)),
    ("", chosen(128, 32, None)),
    ("", "def design():\n    return 128, 32, 128\n"),
    ("", "def design():\n    return {'R': 128, 'C': 32, 'key_blocks': 128}\n"),
    ("", "def design():\n    pass\n"),
]
