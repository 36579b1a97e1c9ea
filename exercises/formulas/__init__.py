"""Reference results in NumPy: the right formulas alone, from the papers and independent of the solutions they judge.

Every oracle keeps the float type of its inputs; the grader runs it in float64, and in float32 to measure rounding.
"""
