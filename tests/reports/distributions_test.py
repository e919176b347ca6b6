import pytest

from firth.reports.distributions import BINS, Distribution

# Values, documents of each, and whether the bins have equal ratios.
CASES = {
    "one": ((0.0,), (7,), False),
    "shares": ((0.0, 0.012, 0.5, 1.0), (1, 970, 20, 9), False),
    "tiny": ((1e-9, 1.0), (50, 50), False),
    "words": ((3, 40, 500, 9_000, 99_000), (5, 30, 40, 20, 5), True),
    "zero": ((0, 40, 9_000), (50, 30, 20), False),
    "negative": ((-3.0, 2.0), (1, 1), False),
}


@pytest.mark.parametrize(("values", "documents", "is_logarithmic"), CASES.values(), ids=CASES)
def test_bins_hold_every_document_once(values, documents, is_logarithmic):
    distribution = Distribution("step", "value", values, documents)
    bounds, counts = distribution.bins()
    assert 1 <= len(counts) == len(bounds) - 1 <= BINS and bounds == sorted(set(bounds))
    assert sum(counts) == sum(documents) == distribution.total
    assert distribution.is_logarithmic == is_logarithmic
    assert (distribution.quantiles[0], distribution.quantiles[-1]) == (values[0], values[-1])


def test_a_few_documents_beyond_do_not_widen_the_bins():
    distribution = Distribution("step", "value", (1, 2, 3, 5_000), (500, 300, 195, 5))
    bounds, counts = distribution.bins()
    assert (bounds[0], bounds[-1]) == (1, 3) and (counts[0], counts[-1]) == (500, 200)
