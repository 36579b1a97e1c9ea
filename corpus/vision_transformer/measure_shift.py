"""Lab 09, exercise `measure_shift`: solutions as different students write them, right and wrong."""


def measured(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def moved(images, shift):
    result = np.zeros_like(images)
    if shift > 0:
        result[:, :, shift:] = images[:, :, :-shift]
    elif shift < 0:
        result[:, :, :shift] = images[:, :, -shift:]
    else:
        result = images.copy()
    return result


def measure_shift(predict, images, labels, shifts, patch_size):
    base = (predict(images, 0) == labels).astype(float)
    result = {}
    for shift in shifts:
        now = moved(images, shift)
        right = (predict(now, 0) == labels).astype(float)
        differences = right - base
        error = np.std(differences, ddof=1) / np.sqrt(len(images))
        along = None
        if shift % patch_size == 0:
            along = np.mean(predict(now, shift // patch_size) == labels)
        result[shift] = (right.mean(), differences.mean(), error, along)
    return result
"""

ROLLED = "    result = np.roll(images, shift, axis=2)\n"
BODY = PLAIN[PLAIN.index("    result = np.zeros_like") : PLAIN.index("    return result\n\n\ndef measure")]
ERROR = "np.std(differences, ddof=1) / np.sqrt(len(images))"

CORRECT = [
    PLAIN,
    # rolled, and what came in set to 0
    measured((BODY, ROLLED + "    if shift > 0:\n        result[:, :, :shift] = 0\n    if shift < 0:\n        result[:, :, shift:] = 0\n")),
    # padded on both sides
    measured((BODY, "    w = images.shape[2]\n    wide = np.pad(images, [(0, 0), (0, 0), (w, w), (0, 0)])\n    result = wide[:, :, w - shift : w - shift + w, :]\n")),
    # NaN where the rows cannot move along, one image after the other, lists in place of tuples
    """
def measure_shift(predict, images, labels, shifts, patch_size):
    def hits(shift, rows):
        found = []
        for image, label in zip(images, labels):
            moved = np.zeros_like(image)
            for column in range(image.shape[1]):
                if 0 <= column + shift < image.shape[1]:
                    moved[:, column + shift] = image[:, column]
            found.append(int(predict(moved[None], rows)[0] == label))
        return np.array(found)

    still = hits(0, 0)
    table = {}
    for shift in shifts:
        now = hits(shift, 0)
        change = now - still
        along = hits(shift, shift / patch_size).mean() if shift % patch_size == 0 else float("nan")
        table[shift] = [now.mean(), now.mean() - still.mean(), change.std(ddof=1) / len(images) ** 0.5, along]
    return table
""",
    # TensorFlow, all shifts at once; the error from the sum of squares
    """
def measure_shift(predict, images, labels, shifts, patch_size):
    n, width = len(images), images.shape[2]
    wide = tf.pad(images, [[0, 0], [0, 0], [width, width], [0, 0]])
    moved = [wide[:, :, width - shift : 2 * width - shift] for shift in shifts]
    answers = np.split(predict(tf.concat([images, *moved], axis=0), 0), len(shifts) + 1)
    base, *hits = [(answer == labels) * 1 for answer in answers]
    found = {}
    for shift, image, hit in zip(shifts, moved, hits):
        d = hit - base
        error = (((d**2).sum() - n * d.mean() ** 2) / (n - 1) / n) ** 0.5
        rows, rest = divmod(shift, patch_size)
        found[shift] = np.mean(hit), np.mean(d), error, None if rest else np.mean(predict(image, rows) == labels)
    return found
""",
    measured((ERROR, "(np.var(differences, ddof=1) / differences.size) ** 0.5")),
    measured(("    result = {}\n    for", "    result = {0: (base.mean(), 0.0, 0.0, base.mean())}\n    for")),
]  # fmt: skip

WRONG = [
    ("predictions_changed", measured(
        ("base = (predict(images, 0) == labels).astype(float)", "base = predict(images, 0)"),
        ("differences = right - base", "differences = (predict(now, 0) != base).astype(float)"),
    )),
    ("rolled", measured((BODY, ROLLED))),
    # a move by the whole width is none
    ("", measured((BODY, ROLLED + "    w = images.shape[2]\n    if shift > 0:\n        result[:, :, : shift % w] = 0\n    if shift < 0:\n        result[:, :, w - -shift % w :] = 0\n"))),
    ("other_direction", measured(("moved(images, shift)\n        right", "moved(images, -shift)\n        right"))),
    ("downwards", measured((BODY, BODY.replace("[:, :, ", "[:, ")))),
    ("first_as_base", measured(("base = (predict(images, 0) == labels)", "base = (predict(moved(images, shifts[0]), 0) == labels)"))),
    ("loss", measured(("differences = right - base", "differences = base - right"))),
    ("unpaired", measured((ERROR, "np.sqrt((right.mean() * (1 - right.mean()) + base.mean() * (1 - base.mean())) / len(images))"))),
    ("rows_not_moved", measured(("predict(now, shift // patch_size)", "predict(now, 0)"))),
    ("rows_in_pixels", measured(("predict(now, shift // patch_size)", "predict(now, shift)"))),
    ("rows_other_way", measured(("predict(now, shift // patch_size)", "predict(now, -(shift // patch_size))"))),
    ("rows_at_every_shift", measured(("if shift % patch_size == 0:", "if True:"))),
    # the outermost column repeated; rows moved without the images; white comes in
    ("border_repeated", measured((BODY, "    w = images.shape[2]\n    result = np.pad(images, [(0, 0), (0, 0), (w, w), (0, 0)], mode='edge')[:, :, w - shift : 2 * w - shift]\n"))),
    ("rows_without_image", measured(("predict(now, shift // patch_size)", "predict(images, shift // patch_size)"))),
    ("", measured(("np.zeros_like(images)", "np.ones_like(images)"))),
    ("", measured(("if shift % patch_size == 0:", "if shift > 0 and shift % patch_size == 0:"))),
    ("", measured(("if shift % patch_size == 0:", "if shift == patch_size:"))),
    ("", measured(("if shift % patch_size == 0:", "if False:"))),
    ("", measured(("along = None", "along = 0.0"))),
    ("whole_population", measured((", ddof=1", ""))),
    ("deviation", measured((" / np.sqrt(len(images))", ""))),
    ("interval", measured((ERROR, "1.96 * " + ERROR))),
    ("moved_alone", measured((ERROR, "np.std(right, ddof=1) / np.sqrt(len(images))"))),
    ("sample_variances", measured((ERROR, "np.sqrt((right.var(ddof=1) + base.var(ddof=1)) / len(images))"))),
    ("percent", measured(("(right.mean(), differences.mean(), error, along)", "(100 * right.mean(), 100 * differences.mean(), 100 * error, along)"))),
    # a whole patch is at least one patch; the absolute change; the change from the accuracy with the rows moved along
    ("", measured(("if shift % patch_size == 0:", "if abs(shift) >= patch_size:"))),
    ("", measured(("differences = right - base", "differences = np.abs(right - base)"))),
    ("", measured(("np.mean(predict(now, shift // patch_size) == labels)", "np.mean(predict(now, shift // patch_size) == labels) - base.mean()"))),
    ("", measured((ERROR, "np.var(differences, ddof=1) / np.sqrt(len(images))"))),
    ("", measured((ERROR, "np.sqrt(right.mean() * (1 - right.mean()) / len(images))"))),
    ("relative_change", measured(("differences.mean(), error", "differences.mean() / base.mean(), error"))),
    # errors of the change alone; the share of answers that flip; accuracies in place of their change
    ("", measured((ERROR, "np.sqrt(abs(differences.mean()) * (1 - abs(differences.mean())) / len(images))"))),
    ("", measured(("differences.mean(), error", "np.mean(differences != 0), error"))),
    ("", measured(("differences.mean(), error", "100 * differences.mean(), error"))),
    ("", measured(("differences.mean(), error", "error, differences.mean()"))),
    ("", measured(("differences.mean(), error, along", "differences.mean(), error"))),
    ("", measured(("right.mean(), differences", "right.sum(), differences"))),
    ("", measured(("right.mean(), differences", "1 - right.mean(), differences"))),
    ("", measured(("right.mean(), differences", "right, differences"))),
    ("", measured(("now = moved(images, shift)", "now = moved(images[::2], shift)"))),
    ("", measured(("now = moved(images, shift)", "now = moved(images[::-1], shift)"))),
    ("", measured(("now = moved(images, shift)", "images = now = moved(images, shift)"))),
    ("", measured(("result = np.zeros_like(images)", "result = images"))),
    ("", measured(("result[shift] =", "result[str(shift)] ="))),
    ("", measured(("result[shift] =", "result[abs(shift)] ="))),
    ("", measured(("        result[shift] = (right.mean(), differences.mean(), error, along)\n    return result", "        result[shift] = (right.mean(), differences.mean(), error, along)\n    return list(result.values())"))),
    ("", measured(("        result[shift] = (right.mean(), differences.mean(), error, along)\n    return result", "        result[shift] = (right.mean(), differences.mean(), error, along)"))),
]  # fmt: skip
