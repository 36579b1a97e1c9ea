"""Lab 10, exercise `design`: solutions as different students write them, right and wrong."""


def sizes(d_model: object, num_layers: object, num_heads: object, num_kv_heads: object, d_ff: object) -> str:
    return (
        f"def design():\n    return dict(d_model={d_model}, num_layers={num_layers}, num_heads={num_heads}, "
        f"num_kv_heads={num_kv_heads}, d_ff={d_ff})\n"
    )


CORRECT = [
    sizes(128, 4, 4, 1, 344),
    sizes(128, 4, 8, 2, 344),
    sizes(128, 4, 8, 2, 400),
    sizes(96, 8, 6, 1, 256),
    sizes(96, 4, 4, 1, 500),
    sizes(120, 5, 6, 1, 300),
    sizes(160, 4, 8, 1, 240),
    sizes("np.int64(128)", 5, 8, 1, "344.0"),
    sizes(64, 8, 4, 1, 480),
    'def design():\n    heads = 8\n    return {"num_heads": heads, "d_model": 16 * heads, "num_layers": 4, "num_kv_heads": heads // 4, "d_ff": int(128 * 8 / 3), "vocab_size": 512}\n',
]  # fmt: skip

WRONG = [
    # the example of the text chooses nothing, and earns nothing
    (None, sizes(128, 4, 4, 2, 344)),
    ("cache_too_large", sizes(128, 4, 4, 2, 340)),
    ("cache_too_large", sizes(128, 5, 4, 1, 300)),
    ("cache_too_large", sizes(256, 4, 4, 1, 50)),
    ("too_many_parameters", sizes(128, 4, 4, 1, 512)),
    ("too_many_parameters", sizes(256, 4, 16, 1, 400)),
    ("too_few_parameters", sizes(128, 4, 4, 1, 256)),
    ("too_few_parameters", sizes(64, 4, 4, 1, 170)),
    ("do_not_divide", sizes(130, 4, 4, 1, 344)),
    ("do_not_divide", sizes(80, 4, 5, 2, 700)),
    ("do_not_divide", sizes(126, 4, 4, 1, 344)),
    ("odd_or_narrow", sizes(124, 4, 4, 1, 344)),
    ("odd_or_narrow", sizes(128, 4, 16, 2, 344)),
    ("odd_or_narrow", sizes(112, 5, 8, 1, 330)),
    ("too_shallow", sizes(128, 3, 4, 1, 480)),
    ("too_shallow", sizes(160, 1, 5, 1, 1300)),
    ("too_shallow", sizes(128, 4, 2, 1, 344).replace("num_layers=4", "num_layers=2").replace("d_ff=344", "d_ff=800")),
    ("too_shallow", sizes(96, 4, 3, 1, 500)),
    ("", sizes(128, 2, 2, 2, 344)),
    ("", sizes(512, 12, 8, 8, 2048)),
    ("", sizes(128, 4, 4, 0, 344)),
    ("", sizes(128, 4, 4, 1, -344)),
    ("", sizes(128.5, 4, 4, 1, 344)),
    ("", sizes('"128"', 4, 4, 1, 344)),
    ("", sizes(128, 4, 4, 1, None)),
    ("", sizes([128], 4, 4, 1, 344)),
    ("", sizes(1, 4, 4, 1, 344)),
    ("", "def design():\n    return 128, 4, 4, 1, 344\n"),
    ("", "def design():\n    return {'d_model': 128, 'num_layers': 4, 'num_heads': 4, 'd_ff': 344}\n"),
    ("", "def design():\n    pass\n"),
    ("", "design = {'d_model': 128, 'num_layers': 4, 'num_heads': 4, 'num_kv_heads': 1, 'd_ff': 344}\n"),
]
