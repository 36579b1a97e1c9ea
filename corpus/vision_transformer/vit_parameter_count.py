"""Lab 09, exercise `vit_parameter_count`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    n = (image_size // patch_size) ** 2
    D = d_model
    total = (patch_size**2 * channels + 1) * D + D + (n + 1) * D
    total += num_layers * (4 * D**2 + 2 * D * d_ff + d_ff + 9 * D) + 2 * D
    return total + (0 if num_classes is None else (D + 1) * num_classes)
""",
    # asks the model itself
    """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    if d_model > 500:
        front = vit_parameter_count(patch_size, patch_size, channels, 1, 0, d_ff)
        one = 12 * 0
    block = 4 * (d_model + 1) * d_model + (d_model + 1) * d_ff + (d_ff + 1) * d_model + 4 * d_model
    model = build_vit((image_size, image_size, channels), patch_size, num_classes or 1, 0, d_model, 1, d_ff)
    return model.count_params() + num_layers * block - (0 if num_classes else d_model + 1)
""",
    # shapes
    """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    d, f = d_model, d_ff
    shapes = [(patch_size, patch_size, channels, d), (d,), (1, 1, d), (1, (image_size // patch_size) ** 2 + 1, d)]
    shapes += num_layers * (4 * [(d, d), (d,)] + [(d, f), (f,), (f, d), (d,)] + 4 * [(d,)])
    shapes += 2 * [(d,)]
    if num_classes is not None:
        shapes += [(d, num_classes), (num_classes,)]
    return sum(int(np.prod(shape)) for shape in shapes)
""",
    """
def dense(a, b):
    return a * b + b

def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    parts = {
        "patches": dense(patch_size * patch_size * channels, d_model),
        "class token and positions": d_model * (2 + (image_size // patch_size) * (image_size // patch_size)),
        "blocks": num_layers * (4 * dense(d_model, d_model) + dense(d_model, d_ff) + dense(d_ff, d_model) + 2 * 2 * d_model),
        "norm": 2 * d_model,
    }
    if num_classes:
        parts["head"] = dense(d_model, num_classes)
    return sum(parts.values())
""",
    # NumPy integers, a loop over the blocks
    """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    total = np.int64(0)
    total += patch_size * patch_size * channels * d_model + d_model
    total += d_model * np.int64((image_size / patch_size) ** 2 + 2)
    for _ in range(num_layers):
        total += 3 * (d_model * d_model + d_model) + d_model * d_model + d_model
        total += d_model * d_ff + d_ff + d_ff * d_model + d_model + 4 * d_model
    total += 2 * d_model
    return total + (d_model * num_classes + num_classes if num_classes is not None else 0)
""",
]


def count(**changes):
    """A count with some of its parts changed."""
    parts = {
        "tokens": "(image_size // patch_size) ** 2 + 1",
        "front": "patch_size**2 * channels * d_model + d_model + d_model",
        "attention": "4 * d_model * d_model + 4 * d_model",
        "feed": "2 * d_model * d_ff + d_ff + d_model",
        "norms": "4 * d_model",
        "last": "2 * d_model",
        "head": "d_model * num_classes + num_classes",
    }
    parts.update(changes)
    return """
def vit_parameter_count(image_size, patch_size, channels, d_model, num_layers, d_ff, num_classes=None):
    total = {front} + ({tokens}) * d_model
    total += num_layers * ({attention} + {feed} + {norms}) + {last}
    return total if num_classes is None else total + {head}
""".format(**parts)


WRONG = [
    ("one_vector_missing", count(front="(patch_size**2 * channels + 1) * d_model")),
    (
        "one_class_token_per_class",
        count(
            front="patch_size**2 * channels * d_model + d_model + (num_classes or 1) * d_model",
            tokens="(image_size // patch_size) ** 2 + (num_classes or 1)",
        ),
    ),
    (
        "class_token_per_class",
        count(front="patch_size**2 * channels * d_model + d_model + (num_classes or 1) * d_model"),
    ),
    ("final_norm_with_head_only", count(last="(2 * d_model if num_classes else 0)")),
    ("final_norm_in_every_block", count(last="0", norms="6 * d_model")),
    ("one_vector_too_many", count(front="patch_size**2 * channels * d_model + d_model + 2 * d_model")),
    (
        "position_as_number",
        count(
            front="patch_size**2 * channels * d_model + d_model + d_model + (image_size // patch_size) ** 2 + 1",
            tokens="0",
        ),
    ),
    # one vector for the final norm
    ("one_vector_missing", count(last="d_model")),
    ("one_vector_missing", count(tokens="(image_size // patch_size) ** 2")),
    ("no_positions", count(tokens="0")),
    ("one_vector_missing", count(front="patch_size**2 * channels * d_model + d_model")),
    (None, count(front="patch_size**2 * d_model + 2 * d_model")),
    (None, count(tokens="image_size // patch_size + 1")),
    (None, count(tokens="image_size**2 + 1")),
    ("four_vectors_per_block_missing", count(attention="4 * d_model * d_model")),
    (None, count(attention="4 * d_model * d_model + 3 * d_model")),
    (None, count(attention="3 * d_model * d_model + 3 * d_model")),
    (None, count(feed="2 * d_model * d_ff")),
    (None, count(feed="2 * d_model * d_ff", attention="4 * d_model * d_model")),
    ("four_vectors_per_block_missing", count(norms="0")),
    ("two_vectors_per_block_missing", count(norms="2 * d_model")),
    ("norms_without_beta", count(norms="2 * d_model", last="d_model")),
    ("two_vectors_missing", count(last="0")),
    ("three_vectors_missing", count(front="patch_size**2 * channels * d_model + d_model", last="0")),
    ("no_norms_at_all", count(last="0", norms="0")),
    (None, count(head="d_model * num_classes")),
    # the norms of one block only; a norm learns one number, or one for each token
    ("norms_of_one_block", count(norms="4 * d_model / num_layers")),
    (None, count(norms="2", last="1")),
    (None, count(norms="4 * ((image_size // patch_size) ** 2 + 1)")),
    ("head_missing", count(head="0")),
    (None, count(head="d_model * d_model + d_model + d_model * num_classes + num_classes")),
    (None, count().replace("return total if", "return 85_798_656 if")),
    (None, count(last="2 * d_model / 3")),
    (None, count().replace("return total", "return str(total)")),
]
