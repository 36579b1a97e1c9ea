"""Lab 05: templates that variants of more than one exercise fill in."""

LAYER_HEAD = """
    def __init__(self, max_length, vocab_size, d_model, **kwargs):
        super().__init__(**kwargs)
        self.max_length, self.vocab_size, self.d_model = max_length, vocab_size, d_model
"""

LAYER_TAIL = """
    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length, "vocab_size": self.vocab_size, "d_model": self.d_model}
"""
