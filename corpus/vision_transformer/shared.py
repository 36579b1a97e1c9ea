"""Lab 09: templates that variants of more than one exercise fill in."""

REFUSE = "if images.shape[1] % patch_size or images.shape[2] % patch_size:\n        raise ValueError('sizes')"


def cut(first, axes, last="(-1, n, p * p * c)", refuse=REFUSE):
    """A way to cut patches: first reshape, transposition, last reshape."""
    return f"""
def extract_patches(images, patch_size):
    {refuse}
    p = patch_size
    b, h, w, c = images.shape
    n = (h // p) * (w // p)
    x = ops.reshape(images, {first})
    return ops.reshape(ops.transpose(x, {axes}), {last})
"""


SIX = "(-1, h // p, p, w // p, p, c)"

EMBEDDING = """
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.patch_size, self.num_patches, self.d_model = patch_size, num_patches, d_model
        self.projection = keras.layers.Dense(d_model{dense})
        self.class_token = {class_token}
        self.position_embedding = {positions}

    def call(self, images):
        x = self.projection({patches})
        front = ops.broadcast_to(self.class_token, (ops.shape(x)[0], 1, self.d_model))
        table = self.position_embedding
        return {result}

    def get_config(self):
        {config}
"""

GOOD_EMBEDDING = {
    "dense": "",
    "class_token": "self.add_weight(shape=(1, 1, d_model), initializer='zeros')",
    "positions": "self.add_weight(shape=(1, num_patches + 1, d_model), initializer='random_normal')",
    "patches": "extract_patches(images, self.patch_size)",
    "result": "ops.concatenate([front, x], axis=1) + table",
    "config": 'return {**super().get_config(), "patch_size": self.patch_size, "num_patches": self.num_patches, "d_model": self.d_model}',
}


def embedding(**changes):
    """The embedding with some of its parts changed."""
    return EMBEDDING.format(**{**GOOD_EMBEDDING, **changes})
