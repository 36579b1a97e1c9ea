"""Lab 02, exercise `attention_cost`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def attention_cost(length, d_model):\n    return dict(multiply_adds=2 * length * length * d_model, weights_entries=length * length)",
    """
def attention_cost(length, d_model):
    scores = length * length * d_model
    values = length * d_model * length
    return {"weights_entries": length ** 2, "multiply_adds": scores + values}
""",
    "def attention_cost(length, d_model):\n    n = np.int64(length)\n    return {'multiply_adds': 2 * n * n * d_model, 'weights_entries': n * n}",
    """
def attention_cost(length, d_model):
    entries = sum(length for _ in range(length))
    return {"multiply_adds": float(2 * entries * d_model), "weights_entries": entries, "note": "one head"}
""",
    "attention_cost = lambda length, d_model: {'multiply_adds': 2 * d_model * length**2, 'weights_entries': pow(length, 2)}",
]

WRONG = [
    ("parameters_counted", "def attention_cost(length, d_model):\n    return {'multiply_adds': 2 * length**2 * d_model, 'weights_entries': 3 * d_model**2}"),
    ("width_left_out", 'def attention_cost(length, d_model):\n    return {"multiply_adds": 2 * length ** 2, "weights_entries": length ** 2}'),
    ("projections_counted", 'def attention_cost(length, d_model):\n    return {"multiply_adds": 2 * length ** 2 * d_model + 3 * length * d_model ** 2, "weights_entries": length ** 2}'),
    ("one_product", "def attention_cost(length, d_model):\n    return {'multiply_adds': length**2 * d_model, 'weights_entries': length**2}"),
    ("counts_flops", "def attention_cost(length, d_model):\n    return {'multiply_adds': 4 * length**2 * d_model, 'weights_entries': length**2}"),
    ("width_squared", "def attention_cost(length, d_model):\n    return {'multiply_adds': 2 * length * d_model**2, 'weights_entries': length**2}"),
]  # fmt: skip
