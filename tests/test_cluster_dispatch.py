"""Which worker gets what: nothing twice at a time, nothing lost with a worker, and nobody waits for a bad neighbour."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from autograder.integrations.cluster.dispatch import DEPTH, MOST_LOSSES, SUSPECT, Dispatch


def given(dispatch: Dispatch, slots: dict[str, int]) -> dict[str, list]:
    found: dict[str, list] = {address: [] for address in slots}
    for item, address in dispatch.assign(slots):
        found[address].append(item)
    return found


def test_workers_are_filled_by_their_slots_and_no_more_is_read_than_they_can_take():
    read = []
    dispatch = Dispatch(number for number in range(100) if not read.append(number))
    found = given(dispatch, {"a": 1, "b": 2})
    assert {address: len(items) for address, items in found.items()} == {"a": DEPTH, "b": 2 * DEPTH}
    assert len(read) == 3 * DEPTH
    assert given(dispatch, {"a": 1, "b": 2}) == {"a": [], "b": []}
    dispatch.finish(found["a"][0])
    assert len(given(dispatch, {"a": 1, "b": 2})["a"]) == 1


def test_few_submissions_are_spread():
    found = given(Dispatch(iter(range(4))), {"a": 1, "b": 1, "c": 2})
    assert {address: len(items) for address, items in found.items()} == {"a": 1, "b": 1, "c": 2}


def test_what_is_lost_with_a_worker_goes_to_another_before_anything_new():
    dispatch = Dispatch(iter(range(100)))
    found = given(dispatch, {"a": 1, "b": 1})
    for item in dispatch.held("a"):
        assert dispatch.lose(item)
    assert dispatch.held("a") == ()
    for item in found["b"]:
        dispatch.finish(item)
    again = given(dispatch, {"b": 1})["b"]
    assert {item.content for item in again} == {item.content for item in found["a"]}


def test_what_takes_workers_down_travels_alone_and_is_given_up_at_last():
    """A poisoned submission ends every worker that has it; the others lose their turn a few times, and are done."""
    dispatch = Dispatch(iter(["poison", *range(20)]))
    done, given_up = [], []
    for _ in range(200):
        if dispatch.is_done():
            break
        given(dispatch, {"a": 1, "b": 1})
        for address in ("a", "b"):
            held = dispatch.held(address)
            if any(item.content == "poison" for item in held):
                given_up += [item.content for item in held if not dispatch.lose(item)]
            elif held:
                dispatch.finish(held[0])
                done.append(held[0].content)
    assert given_up == ["poison"]
    assert sorted(done) == list(range(20))


def test_a_suspect_is_alone_with_its_worker():
    dispatch = Dispatch(iter(range(50)))
    for _ in range(SUSPECT):
        (item, _) = next(dispatch.assign({"a": 1}))
        dispatch.lose(item)
    found = given(dispatch, {"a": 1, "b": 1})
    assert [items for items in found.values() if item in items] == [[item]]


def test_an_unfit_worker_is_no_reason_to_give_anything_up():
    dispatch = Dispatch(iter([1]))
    for _ in range(5 * MOST_LOSSES):
        (item, _) = next(dispatch.assign({"a": 1}))
        assert dispatch.lose(item, counts=False)
    assert not dispatch.is_done()


def test_nothing_to_do_is_done():
    assert Dispatch(iter(())).is_done()


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_everything_is_done_once(seed):
    chance = random.Random(seed)
    count = chance.randrange(60)
    dispatch = Dispatch(iter(range(count)))
    done: Counter = Counter()
    while not dispatch.is_done():
        slots = {address: chance.randint(1, 3) for address in "abcd" if chance.random() < 0.8}
        for item, address in dispatch.assign(slots):
            assert address in slots and item in dispatch.held(address)
        items = [item for address in dispatch.holders for item in dispatch.held(address)]
        assert len(items) == len({item.content for item in items})
        for item in items:
            if chance.random() < 0.5:
                dispatch.finish(item)
                done[item.content] += 1
            elif chance.random() < 0.3:
                dispatch.lose(item, counts=False)
    assert done == Counter(range(count))
