"""Lab 03, exercise `kv_cache_numbers`: solutions as different students write them, right and wrong."""

CORRECT = [
    "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 2 * batch * num_layers * num_kv_heads * head_dim * length",
    "import math\ndef kv_cache_numbers(*sizes, batch=1):\n    return 2 * batch * math.prod(sizes)",
    "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    key = value = (batch, num_kv_heads, length, head_dim)\n    return num_layers * int(np.prod(key) + np.prod(value))",
    "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return sum(2 * num_kv_heads * head_dim for _ in range(num_layers)) * length * batch",
    "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 2.0 * length * num_layers * num_kv_heads * head_dim * batch",
]

WRONG = [
    ("keys_alone", "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return batch * num_layers * num_kv_heads * head_dim * length"),
    ("bytes_of_float16", "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 4 * batch * num_layers * num_kv_heads * head_dim * length"),
    ("one_layer", "def kv_cache_numbers(length, num_layers, num_kv_heads, head_dim, batch=1):\n    return 2 * batch * num_kv_heads * head_dim * length"),
]  # fmt: skip
