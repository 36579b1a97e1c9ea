"""Lab 10, exercise `train_bpe`."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import drawn_until
from exercises.language_model.shared import FORBIDDEN_BYTE_PAIRS, OVERLAPS_MERGED, drawn_chunks, learned

exercise = Exercise("train_bpe", forbidden=FORBIDDEN_BYTE_PAIRS)


@exercise.formula
def train_bpe(chunks: dict[str, int], num_merges: int) -> dict[str, str]:
    """The merges as text."""
    return {"merges": str(learned(chunks, num_merges))}


def counted_once(chunks: dict[str, int], num_merges: int) -> dict[str, str]:
    """The most frequent pairs of the bytes, which are never counted again."""
    counts: Counter = Counter()
    for chunk, number in chunks.items():
        for pair in pairwise(chunk.encode()):
            counts[pair] += number
    return {"merges": str(sorted(counts, key=lambda pair: (-counts[pair], pair))[:num_merges])}


def one_text(chunks: dict[str, int], num_merges: int) -> dict[str, str]:
    """The chunks joined to one text, each as often as it occurs."""
    return {"merges": str(learned({"".join(chunk * number for chunk, number in chunks.items()): 1}, num_merges))}


ALWAYS = {"one_too_few", "second_stays", "nothing_joined", "ids_from_257", "ids_from_255", "over_the_ends"}


def _shown_by(chunks: dict[str, int], num_merges: int) -> set[str]:
    """The mistakes that change the merges of these chunks, without those that do so wherever pairs are left."""
    case = Case({"chunks": chunks, "num_merges": num_merges})
    right = train_bpe(**case.inputs)
    return {id for id in exercise.named_mistakes if id not in ALWAYS and exercise.mistaken_results(case, id) != right}


def _case(draw: Callable[[], dict[str, int]], num_merges: int, text: str, shows: set[str]) -> Case:
    """Chunks that show these mistakes and no others, so that marks do not depend on the seed."""
    chunks = drawn_until(lambda drawn: _shown_by(drawn, num_merges) == shows, draw)
    return Case({"chunks": chunks, "num_merges": num_merges}, description=text)


@exercise.group(
    "the most frequent pair, again and again",
    points=2,
    must_fail_for=("chunk_counted_once", "stale_counts"),
    advice="Count all pairs, take the best, replace it in every chunk, and count again.",
)
def counts(rng: Generator) -> list[Case]:
    shows = {"chunk_counted_once", "stale_counts"}
    return [
        _case(partial(drawn_chunks, rng, "abcd", 6), 5, "six chunks, five merges", shows),
        _case(partial(drawn_chunks, rng, "efghi", 9), 7, "nine chunks, seven merges", shows),
    ]


@exercise.group(
    "ties",
    points=1,
    must_fail_for=("larger_of_ties", "first_seen", "ids_from_257"),
    advice="Of equally frequent pairs take the smaller one; Python compares tuples from the left.",
)
def ties(rng: Generator) -> list[Case]:
    def alike() -> dict[str, int]:
        return dict.fromkeys(drawn_chunks(rng, "abcdef", 6), 3)

    shows = {"larger_of_ties", "first_seen", "stale_counts"}
    return [
        _case(alike, 4, "six chunks, each three times, four merges", shows),
        _case(alike, 6, "six chunks, each three times, six merges", shows),
    ]


@exercise.group(
    "runs, bytes, and nothing left",
    points=1,
    must_fail_for=("overlaps_merged", "characters"),
    advice="“aaa” holds (a, a) twice. “é” is two bytes. A pair that occurs once is merged too, and when no pair is "
    "left the list ends early.",
)
def edges(rng: Generator) -> list[Case]:
    def runs() -> dict[str, int]:
        often, seldom = int(rng.integers(9, 11)), int(rng.integers(3, 6))
        return {"aaa": int(rng.integers(5, 8)), "ba": often, "aaaaa": 2, "cba": seldom}

    def accents() -> dict[str, int]:
        return {"é" + chunk: number for chunk, number in drawn_chunks(rng, "éabö", 4).items()}

    def two_pairs() -> dict[str, int]:
        return {"ab": int(rng.integers(2, 9)), "abc": 1, "d": 5}

    def one_pair() -> dict[str, int]:
        return {"ab": int(rng.integers(2, 9)), "c": 3}

    return [
        _case(runs, 4, "runs of one letter", {"overlaps_merged", "stale_counts", "once_in_a_chunk"}),
        _case(accents, 5, "letters of two bytes", {"characters", "stale_counts"}),
        _case(
            two_pairs,
            9,
            "nine merges asked for, and only two are there",
            {"stale_counts", "seldom_pairs_left", "one_kind_left"},
        ),
        _case(one_pair, 3, "one pair, which stands more than once", {"one_kind_left"}),
    ]


exercise.mistakes(
    chunk_counted_once=wrong(
        "Each chunk counts once, however often it occurs. A pair counts as often as its chunks do.",
        ("counts[pair] += chunks[chunk]", "counts[pair] += 1"),
        hint="What do the values of `chunks` say?",
        see="10#byte-pairs",
    ),
    stale_counts=wrong(
        "The pairs are counted once, at the beginning. Each merge changes the pairs: count again.",
        instead=counted_once,
        hint="After (l, f) has become 257, how often does (e, l) occur in “self”?",
        see="10#byte-pairs",
    ),
    overlaps_merged=OVERLAPS_MERGED,
    larger_of_ties=wrong(
        "Of equally frequent pairs the larger one is taken. Take the smaller one.",
        ("(-counts[pair], pair)", "(-counts[pair], -pair[0], -pair[1])"),
        hint="`max` with the key (count, pair) prefers the larger pair. Which sign turns one of the two around?",
    ),
    first_seen=wrong(
        "Of equally frequent pairs the one seen first is taken. Take the smaller one, so that everybody "
        "learns the same merges.",
        ("(-counts[pair], pair)", "-counts[pair]"),
    ),
    characters=wrong(
        "The chunks are read as characters. The ids 0 to 255 are bytes: `chunk.encode()`.",
        ("list(chunk.encode())", "[ord(letter) for letter in chunk]"),
        see="10#byte-pairs",
    ),
    one_too_few=wrong(
        "The last merge is missing: `num_merges` are asked for.",
        ("range(256, 256 + num_merges)", "range(256, 255 + num_merges)"),
    ),
    once_in_a_chunk=wrong(
        "A pair that stands more than once in a chunk counts too seldom. “aaa” holds (a, a) twice: every place counts, "
        "also where two of them overlap.",
        ("for pair in pairwise(ids):", "for pair in set(pairwise(ids)):"),
    ),
    seldom_pairs_left=wrong(
        "The list ends when no pair occurs twice. A pair that occurs once is merged too.",
        ("if not counts:", "if not counts or max(counts.values()) < 2:"),
        hint="“abc” stands once. Which merges are left when nothing else is?",
    ),
    one_kind_left=wrong(
        "The list ends when one kind of pair is left. This pair is merged too; it ends when none is left.",
        ("if not counts:", "if len(counts) < 2:"),
        hint="What are the merges of {“ab”: 3}?",
    ),
    second_stays=wrong(
        "The second token of a merged pair stays: after the new id, go on behind both.",
        ("place and place - 1 == first", "False"),
        hint="What becomes of [1, 2, 3] when (1, 2) is merged to 256? It has two ids.",
    ),
    nothing_joined=wrong(
        "The same pair is found again and again: it is not replaced in the chunks before the next count.",
        ("joined(ids, best, new)", "ids"),
        hint="After a merge, print the ids of one chunk that holds the pair.",
    ),
    ids_from_257=wrong(
        "The new ids begin at 257. Merge number 0 makes the id 256.",
        ("joined(ids, best, new)", "joined(ids, best, new + 1)"),
    ),
    ids_from_255=wrong(
        "The new ids begin at 255, which is a byte. Merge number 0 makes the id 256.",
        ("joined(ids, best, new)", "joined(ids, best, new - 1)"),
    ),
    over_the_ends=wrong(
        "Pairs reach over the end of a chunk. Count and merge in each chunk on its own.",
        instead=one_text,
        see="10#byte-pairs",
    ),
)

exercise.hints(
    "Do one merge on paper: {“self”: 2, “set”: 1}. Which pairs are there, and how often?",
    "`min(counts, key=lambda pair: (-counts[pair], pair))` is the most frequent pair, and of ties the smaller.",
)
