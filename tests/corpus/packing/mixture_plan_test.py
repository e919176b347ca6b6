import math

import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.documents.errors import MixtureError
from firth.corpus.packing.mixture_plan import plan_mixture
from tests.corpus.packing.mixtures import TWO, sized, weighted

PLANS = [
    # Each document at least once, and no source more often than it may.
    (weighted(TWO), {"web": 900, "books": 100}, {"web": 900, "books": 300}),
    (weighted(TWO), {"web": 9000, "books": 100}, {"web": 1200, "books": 400}),
    (weighted(TWO, max_repeats_of={"books": 2.5}), {"web": 9000, "books": 100}, {"web": 750, "books": 250}),
    (weighted(TWO, total=100), {"web": 900, "books": 100}, {"web": 75, "books": 25}),
    (
        weighted(TWO, total=5000, on_exhausted="shrink"),
        {"web": 9000, "books": 100},
        {"web": 1200, "books": 400},
    ),
    (
        weighted(TWO, total=5000, on_exhausted="renormalize"),
        {"web": 9000, "books": 100},
        {"web": 4600, "books": 400},
    ),
    (weighted(TWO, on_exhausted="renormalize"), {"web": 9000}, {"web": 9000, "books": 0}),
    (sized(), {"web": 9000, "books": 1000}, {"web": 9000, "books": 1000}),
    (sized(temperature=2.0), {"web": 9000, "books": 1000}, {"web": 9000, "books": 3000}),
    (sized(limit=3000), {"web": 9000, "books": 1000}, {"web": 9000, "books": 3000}),
    (sized(total=600, limit=1), {"web": 9000, "books": 1000}, {"web": 300, "books": 300}),
]  # fmt: skip


@pytest.mark.parametrize(("mixture", "available", "amounts"), PLANS)
def test_plans_by_hand(mixture, available, amounts):
    shares = plan_mixture(mixture, available, ["web", "books"])
    assert {share.source: share.amount for share in shares} == amounts
    total = sum(amounts.values())
    assert [share.planned for share in shares] == pytest.approx(
        [amount / total for amount in amounts.values()]
    )


@pytest.mark.parametrize(
    ("mixture", "available", "said"),
    [
        (weighted(TWO, total=5000), {"web": 9000, "books": 100}, "takes 1,250 .*'books'.* 400 .* 1600"),
        (weighted(TWO), {"web": 9000}, "'books'"),
        (weighted(TWO, on_exhausted="shrink"), {"web": 9000}, "'books'"),
        (sized(), {"web": 9000}, "'books'"),
        (weighted(TWO), {"web": 9, "books": 9, "code": 9}, "'code'"),
        (weighted({**TWO, "boks": 1.0}), {"web": 9, "books": 9}, "weights.boks: .* books"),
        (sized(on_exhausted="renormalize"), {}, "nothing is left"),
    ],
)  # fmt: skip
def test_what_a_source_has_not_is_an_error(mixture, available, said):
    with pytest.raises(MixtureError, match=said):
        plan_mixture(mixture, available, ["web", "books"])


NAMES = st.sampled_from(["web", "books", "code"])


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.dictionaries(NAMES, st.floats(0.1, 9.0), min_size=3),
    st.dictionaries(NAMES, st.integers(1, 10**6), min_size=3),
    st.integers(1, 10**7) | st.none(),
    st.sampled_from(["renormalize", "shrink"]),
)
def test_a_plan_keeps_to_caps_and_says_where_it_is_not_what_was_asked(weights, sizes, total, on_exhausted):
    shares = plan_mixture(weighted(weights, total=total, on_exhausted=on_exhausted), sizes, [])
    taken = sum(share.amount for share in shares)
    assert all(share.amount <= 4 * share.available for share in shares)
    assert math.isclose(sum(share.planned for share in shares), 1.0)
    if on_exhausted == "shrink" or not any(share.exhausted for share in shares):
        assert [share.planned for share in shares] == pytest.approx([share.asked for share in shares])
    if total and not any(share.exhausted for share in shares):
        assert abs(taken - total) <= 2
    if not total and on_exhausted == "shrink":
        whole = all(share.amount >= share.available - 1 for share in shares)
        assert whole or any(share.amount >= 4 * share.available - 1 for share in shares)
