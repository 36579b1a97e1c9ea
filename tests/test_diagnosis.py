"""The mistakes that are named are those that the rule of `diagnose` asks for, looked for without any short cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.diagnosis import diagnose, fingerprint, possible_mistakes

IDS = ("a", "b", "c")
RIGHT = 0  # a result is one number; any other is wrong
CASES = st.lists(
    st.tuples(
        st.integers(0, 3),  # what the student returns
        st.dictionaries(st.sampled_from(possible_mistakes(IDS)), st.integers(1, 3)),  # what mistakes return
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=500, deadline=None)
@given(CASES)
def test_the_best_explanation_is_found(cases):
    def score(mistakes):
        explained = sum(returned != RIGHT and wrong.get(mistakes) == returned for returned, wrong in cases)
        contradicted = sum(returned == RIGHT and mistakes in wrong for returned, wrong in cases)
        return explained, contradicted

    named = diagnose(
        IDS,
        [{"y": np.array([float(returned)])} for returned, _ in cases],
        [{"y": np.array([float(RIGHT)])} for _ in cases],
        [{each: {"y": fingerprint(np.array([float(v)]))} for each, v in wrong.items()} for _, wrong in cases],
        [{"y": 0.1} for _ in cases],
    )
    failing = sum(returned != RIGHT for returned, _ in cases)
    speaking = {each: score(each) for each in possible_mistakes(IDS) if score(each)[0]}
    whole = [each for each, (explained, contradicted) in speaking.items() if explained == failing and not contradicted]
    allowed = {each: e - c for each, (e, c) in speaking.items() if e >= c}
    if whole:
        assert named in whole and len(named) == min(map(len, whole))
    elif allowed:
        assert allowed[named] == max(allowed.values())
        assert len(named) == min(len(each) for each, rank in allowed.items() if rank == allowed[named])
    else:
        assert named == ()
