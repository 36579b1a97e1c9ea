"""Reference results in NumPy, written from the papers' formulas and independent of the solutions they judge.

Every oracle keeps the float type of its inputs; the grader runs it in float64, and in float32 to measure rounding.
Keyword flags make the mistakes that the course can name.
"""
