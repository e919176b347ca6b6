"""Constraints are compiled once, for several that wait too, and those that were requested last are kept."""

import pytest

from firth.constraints import token_automaton
from firth.constraints.constraint_cache import ConstraintCache
from firth.constraints.matcher import ConstraintError, LimitError
from firth.constraints.token_bytes import SINGLE_BYTES
from firth.recipes.generation.constraints import Regex, TextChoices


def test_the_constraints_that_were_requested_last_are_kept_up_to_some_bytes():
    small, large = TextChoices(choices=("a", "b")), TextChoices(choices=("yes" * 40,))
    size = ConstraintCache(lambda: SINGLE_BYTES).compiled(large, finish=True).size
    for room, kept in ((size + 9000, [True, True]), (size, [True, False])):
        cache = ConstraintCache(lambda: SINGLE_BYTES, room)
        made = {each: cache.compiled(each, finish=True) for each in (small, large)}
        assert [cache.compiled(each, finish=True) is made[each] for each in (large, small)] == kept
    # One of them is a matcher of llguidance, whose grammar counts.
    assert cache.compiled(small).size > 0


def test_a_constraint_is_compiled_once_for_all_that_wait_and_again_after_a_refused_thread():
    cache, works = ConstraintCache(lambda: SINGLE_BYTES), []
    first, second = (cache.future(Regex(pattern="a+"), run=works.append) for _ in range(2))
    assert first is second and len(works) == 1 and not first.cancel() and not first.done()
    works[0]()
    assert cache.compiled(Regex(pattern="a+")) is first.result()

    def refuse(work):
        raise OverflowError

    for _ in range(2):
        with pytest.raises(OverflowError):
            cache.future(Regex(pattern="b+"), run=refuse)
    for _ in range(2):
        with pytest.raises(ConstraintError, match="unclosed"):
            cache.compiled(Regex(pattern="(a"))


def test_a_refused_constraint_holds_no_frames_and_one_that_took_too_long_is_compiled_again(monkeypatch):
    cache = ConstraintCache(lambda: SINGLE_BYTES)
    for constraint, finish in ((Regex(pattern="(a"), False), (Regex(pattern="a(?=b)"), True)):
        errors = set()
        for _ in range(2):
            with pytest.raises(ConstraintError) as raised:
                cache.compiled(constraint, finish)
            errors.add(raised.value)
        kept = cache.future(constraint, finish).exception()
        assert len({*errors, kept}) == 3 and kept.__traceback__ is None and kept.__context__ is None
    with monkeypatch.context() as slow:
        slow.setattr(token_automaton, "MOST_SECONDS", -1)
        with pytest.raises(LimitError, match="finish needs an automaton: it takes more than"):
            cache.compiled(Regex(pattern="a+"), finish=True)
    assert cache.compiled(Regex(pattern="a+"), finish=True).size > 0
