import pytest

from firth.corpus import CorpusLimitsError, check_limits, measure_limits
from firth.recipes import CorpusLimits, StepLimit


def row(step, source, came, dropped=0, rejected=0):
    lost = [{"x": {"documents": count}} if count else {} for count in (dropped, rejected)]
    return {"step": step, "source": source, "documents_in": came, "dropped": lost[0], "rejected": lost[1]}


REPORT = {
    "funnel": [
        row("read", "books", 10, rejected=2),
        row("read", "web", 40),
        row("length", "books", 8, dropped=1),
        row("length", "web", 40, dropped=11),
        row("c4", "books", 7),
        row("c4", "web", 29, dropped=17),
    ],
    "splits": [
        {"split": "train", "source": "books", "documents": 7, "bytes": 900},
        {"split": "train", "source": "web", "documents": 10, "bytes": 80},
        {"split": "eval", "source": "web", "documents": 2, "bytes": 20},
    ],
}
CASES = {
    "max_dropped_fraction": (29 / 48, "(29 of 48; 17 by c4; 12 by length)"),
    "max_rejected_fraction": (2 / 50, "of the records were rejected (2 of 50; 2 by read)"),
    "max_eval_fraction": (0.02, "of the bytes that are left are held out (20 of 1,000)"),
    "max_source_fraction": (0.9, "of the bytes that are left are of source 'books'"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_share_is_kept_up_to_its_limit_and_no_further(name):
    measured, words = CASES[name]
    for bound, is_kept in ((measured, True), (measured - 1e-6, False)):
        (found,) = measure_limits(REPORT, CorpusLimits(**{name: bound}))
        assert (found.key, found.bound, found.is_kept) == (f"cleaning.limits.{name}", bound, is_kept)
        assert found.measured == pytest.approx(measured) and words in found.what


def test_a_number_of_documents_and_limits_of_single_steps():
    steps = (
        StepLimit(step="length", max_dropped_fraction=0.3),
        StepLimit(step="c4", max_dropped_fraction=0.3),
    )
    found = measure_limits(REPORT, CorpusLimits(min_documents=20, steps=steps))
    assert [(each.key, each.measured, each.is_kept) for each in found] == [
        ("cleaning.limits.min_documents", 19, False),
        ("cleaning.limits.steps.0.max_dropped_fraction", 12 / 48, True),
        ("cleaning.limits.steps.1.max_dropped_fraction", 17 / 36, False),
    ]


def test_an_error_names_each_broken_limit_with_what_was_measured_and_the_report():
    limits = CorpusLimits(max_dropped_fraction=0.6, max_source_fraction=0.95, min_documents=20)
    with pytest.raises(CorpusLimitsError) as caught:
        check_limits(measure_limits(REPORT, limits), "runs/corpus_report.json")
    assert str(caught.value) == (
        "cleaning.limits.max_dropped_fraction is 0.6, but 0.6042 of the documents that came into the "
        "cleaning were dropped (29 of 48; 17 by c4; 12 by length); cleaning.limits.min_documents is 20, "
        "but 19 documents are left. The report is runs/corpus_report.json"
    )


def test_a_corpus_without_limits_or_rows_passes():
    check_limits(measure_limits(REPORT, CorpusLimits()), "")
    empty = {"funnel": [], "splits": []}
    check_limits(measure_limits(empty, CorpusLimits(max_dropped_fraction=0.0, max_source_fraction=0.0)), "")
