"""Lab 10, exercise `derive_base_rate`."""

from scipy.special import digamma

from autograder.declare import Case, Exercise, edit

LN_2 = 0.6931471805599453

exercise = Exercise("derive_base_rate", returns=("rate",), no_loops=True)


@exercise.formula
def base_rate(period: int) -> float:
    """The mean of 1/(t + 1) over t = period … 2·period − 1: a difference of two harmonic numbers, by digamma."""
    return float((digamma(2 * period + 1) - digamma(period + 1)) / period)


@exercise.group("right values", points=2)
def values(rng):
    periods = [1, 2, 3, *(int(rng.integers(low, 3 * low)) for low in (5, 40, 2000))]
    return [Case({"period": period}, scale=0.0) for period in periods]


exercise.group(
    "periods that nobody can add up",
    long=lambda rng: [Case({"period": int(rng.integers(1, 9)) * 10**power}, scale=0.0) for power in (14, 15)],
)
DIFFERENCE = "(digamma(2 * period + 1) - digamma(period + 1)) / period"

exercise.mistakes(
    itself_not_seen=edit("2 * period + 1) - digamma(period + 1)", "2 * period) - digamma(period)", see="02#causal")
    | "This is the mean of 1/t. A token sees itself as well: at position t there are t + 1 keys."
    | "How many keys does position 0 see?",
    limit_only=edit(DIFFERENCE, "LN_2 / period")
    | "ln 2 / period is what the rate approaches for long periods. For short ones it is too large."
    | "Compare it with the exact value for period = 1: only t = 1 counts there.",
    both_copies=edit(DIFFERENCE, "(digamma(2 * period + 1) - digamma(1)) / (2 * period)")
    | "The mean runs over both copies. The score counts the second one alone.",
    large_numbers_only=edit(DIFFERENCE, "(LN_2 - 1 / (4 * period)) / period")
    | "ln n + γ + 1/(2n) is close to Hₙ for large n. For a short period it is not: `digamma` is exact."
    | "Compare Hₙ and its approximation for n = 1 and n = 2.",
    last_position=edit(DIFFERENCE, "1 / (2 * period)")
    | "1/(2·period) is the weight at the last position. The others see fewer keys, so their weights are larger."
    | "How many keys does the first position of the second copy see?",
    one_copy=edit(DIFFERENCE, "1 / period")
    | "1/period would be the weight of a head that sees one copy. At position t it sees t + 1 keys."
    | "How many keys does the first position of the second copy see, and how many the last?",
    mean_number_of_keys=edit(DIFFERENCE, "2 / (3 * period + 1)")
    | "This is 1 over the mean number of keys. The mean of 1/n is larger than 1 over the mean of n."
    | "By hand for period 2: (1/3 + 1/4)/2.",
    first_copy=edit(DIFFERENCE, "(digamma(period + 1) - digamma(1)) / period")
    | "The mean runs over the first copy. The score counts the second one.",
)

exercise.advice(
    values="At position t a head sees t + 1 keys. With equal weights each gets 1/(t + 1); take the mean over the "
    "second copy.",
    long="Σ 1/n up to n is the harmonic number Hₙ. The sum from n + 1 to 2n is a difference of two of them, and for "
    "these there is a formula without a sum.",
)
exercise.hints(
    values=("Write the mean as a sum of 1/n: which n is the first, and which is the last?", "H₂ₚ − Hₚ, divided by p."),
    long="`scipy.special.digamma(n + 1)` is Hₙ minus a constant. What becomes of the constant in a difference?",
)
exercise.worked = (
    "At position t a token sees itself and the t tokens before it, so t + 1 keys. With equal weights each of them "
    "gets 1/(t + 1).\n"
    "The score is the mean over the second copy, t = p … 2p − 1 with p = period: (1/(p + 1) + 1/(p + 2) + … + "
    "1/(2p))/p.\n"
    "The bracket is the sum of 1/n up to 2p without its first p terms: the harmonic number H₂ₚ minus Hₚ.\n"
    "The harmonic number Hₙ is ψ(n + 1) + γ, and γ cancels in the difference: the bracket is ψ(2p + 1) − ψ(p + "
    "1).\n"
    "Divide it by p. For p = 2 this is (1/3 + 1/4)/2 = 7/24. For long periods the bracket approaches ln 2, so the "
    "rate falls like ln 2/p."
)
