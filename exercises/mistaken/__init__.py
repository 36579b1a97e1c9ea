"""The oracles' formulas once more, with keyword switches that make the mistakes which the course can name.

They decide no mark: a result is right or wrong by `exercises.formulas` alone. `tests/test_mistaken.py` sees to it that
without any switch they agree with the oracles.
"""
