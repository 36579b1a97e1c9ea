"""Lab 07, exercise `design`: solutions as different students write them, right and wrong."""


def chosen(batch_size: object, epochs: object, warmup_steps: object, total_steps: object, peak: object) -> str:
    return (
        f"def design():\n    return dict(batch_size={batch_size}, epochs={epochs}, warmup_steps={warmup_steps}, "
        f"total_steps={total_steps}, peak={peak})\n"
    )


CORRECT = [
    chosen(16, 2, 20, 126, 8e-4),
    chosen(16, 2, 25, 126, 1e-3),
    chosen(16, 2, 9, 126, 5e-4),
    chosen(32, 4, 25, 128, 1e-3),
    chosen(24, 3, 17, 126, 1e-3),
    chosen(8, 2, 15, 250, 9e-4),
    chosen(20, 2, 20, 100, 8e-4),
    chosen(25, 4, 32, 160, 6e-4),
    chosen(13, 2, "15.0", "np.int64(154)", "0.6e-3"),
    chosen(32, 4, 20, 128, "4e-5 * 20"),
    chosen(16, 3, "0.1 * 189", "3 * np.ceil(1000 / 16)", 7e-4),
    chosen(8, 2, 12.5, 250, 7e-4),
    "def design():\n    batch_size, epochs = 16, 2\n    total = epochs * int(np.ceil(1000 / batch_size))\n"
    "    return {'batch_size': batch_size, 'epochs': epochs, 'total_steps': total, 'warmup_steps': total // 6,\n"
    "            'peak': 7e-4, 'dropout': 0.2}\n",
]

WRONG = [
    (
        "ends_too_late",
        """
def design():
    return dict(batch_size=16, epochs=3, warmup_steps=19, total_steps=190, peak=0.0007)
""",
    ),
    ("warmup_as_share", chosen(16, 3, 0.1, 189, 7e-4)),
    ("last_batch_in_part", chosen(16, 3, 19, "3 * 1000 / 16", 7e-4)),
    (
        "",
        """
def design():
    return dict(batch_size=16, epochs=2.5, warmup_steps=19, total_steps=157, peak=0.0007)
""",
    ),
    ("one_pass", chosen(8, 1, 20, 125, 8e-4)),
    ("too_often", chosen(50, 6, 20, 120, 8e-4)),
    ("last_batch_forgotten", chosen(16, 2, 20, 124, 8e-4)),
    ("last_batch_forgotten", chosen(32, 4, 20, 124, 8e-4)),
    ("of_one_epoch", chosen(8, 2, 20, 125, 8e-4)),
    ("ends_too_early", chosen(16, 2, 20, 120, 8e-4)),
    ("ends_too_late", chosen(16, 2, 20, 150, 8e-4)),
    ("ends_too_late", chosen(16, 2, 20, 127, 8e-4)),
    ("too_few_steps", chosen(21, 2, 19, 96, 7e-4)),
    ("too_many_steps", chosen(16, 4, 20, 252, 8e-4)),
    ("warmup_too_short", chosen(8, 2, 12, 250, 7e-4)),
    ("warmup_too_short", chosen(10, 2, 9, 200, 5e-4)),
    ("warmup_too_long", chosen(16, 2, 26, 126, 1e-3)),
    ("peak_outside", chosen(16, 2, 20, 126, 3e-5)),
    ("peak_outside", chosen(16, 2, 20, 126, 1.2e-3)),
    ("peak_outside", chosen(16, 2, 20, 126, -8e-4)),
    ("steep", chosen(16, 2, 12, 126, 1e-3)),
    ("steep", chosen(16, 2, 13, 126, 8e-4)),
    ("", chosen(8, 1, 0, 126, 1e-2)),
    ("", chosen(16, 2, 0, 126, 8e-4)),
    ("", chosen(16, 2, 6, 126, 8e-4)),
    ("", chosen(16.5, 2, 20, 126, 8e-4)),
    ("", chosen(0, 2, 20, 126, 8e-4)),
    ("", chosen(16, 2, -20, 126, 8e-4)),
    ("", chosen(16, 2, 20, 126, "'8e-4'")),
    ("", chosen(16, 2, 20, 126, None)),
    ("", chosen(16, 2, 20, 126, "float('nan')")),
    ("", chosen(16, 2, [20], 126, 8e-4)),
    ("", "def design():\n    return 16, 2, 20, 126, 8e-4\n"),
    ("", "def design():\n    return {'batch_size': 16, 'epochs': 2, 'warmup_steps': 20, 'peak': 8e-4}\n"),
    ("", "def design():\n    pass\n"),
    ("", "design = {'batch_size': 16, 'epochs': 2, 'warmup_steps': 20, 'total_steps': 126, 'peak': 8e-4}\n"),
]
