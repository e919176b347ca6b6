import pytest

from firth.corpus import CorpusLimitsError
from firth.corpus.report.limits import check_changes, measure_changes


def report(languages=None, sources=None, domains=None, number=None):
    """The parts of a corpus report that have shares, of counts by name."""
    domains = domains or {}
    rows = [
        {"domain": name, "documents_in": 2 * kept, "documents_kept": kept} for name, kept in domains.items()
    ]
    return {
        "languages": {"read": {"xx": 1}, "cleaned": languages or {}},
        "splits": [
            {"source": name, "split": split, "bytes": size, "documents": 50}
            for name, sizes in (sources or {}).items()
            for split, size in zip(("train", "eval"), sizes)
        ],
        "domains": {"number": len(rows) if number is None else number, "largest": rows},
    }


def changes(now, before, **bounds):
    return [
        (each.name, each.share, each.before, pytest.approx(each.change), each.is_kept)
        for each in measure_changes(now, before, bounds)
    ]


def test_languages_are_those_of_the_cleaned_sample_and_may_come_and_go():
    now, before = report({"en": 6, "de": 4}), report({"en": 9, "fr": 1})
    assert changes(now, before, languages=0.3) == [
        ("de", 0.4, 0.0, 0.4, False),
        ("en", 0.6, 0.9, 0.3, True),
        ("fr", 0.0, 0.1, 0.1, True),
    ]
    assert changes(now, before) == [] and changes(now, now, languages=0.0)[0][3:] == (0.0, True)


def test_sources_are_shares_of_the_bytes_of_both_splits():
    now, before = report(sources={"web": (60, 20), "books": (20, 0)}), report(sources={"web": (50, 0)})
    assert changes(now, before, sources=0.1) == [
        ("books", 0.2, 0.0, 0.2, False),
        ("web", 0.8, 1.0, 0.2, False),
    ]


def test_a_domain_that_a_report_does_not_list_may_have_had_the_share_of_the_least_that_it_lists():
    web = {"web": (1, 1)}
    now, before = (
        report(sources=web, domains={"a.org": 40, "b.org": 20}),
        report(sources=web, domains={"a.org": 50, "c.org": 8}, number=900),
    )
    # 100 documents are left. Of b.org at most the 16 that were read of c.org were left before.
    assert changes(now, before, domains=0.09) == [
        ("a.org", 0.4, 0.5, 0.1, False),
        ("c.org", 0.0, 0.08, 0.08, True),
        ("b.org", 0.2, 0.0, 0.04, True),
    ]


def test_an_error_has_both_shares_of_the_largest_changes():
    before = report({f"l{number}": 1 for number in range(8)})
    check_changes(measure_changes(before, before, {"languages": 0.0}))
    with pytest.raises(CorpusLimitsError) as caught:
        check_changes(measure_changes(report({"en": 8}), before, {"languages": 0.1}))
    said = str(caught.value)
    assert said.startswith(
        "share of en among languages: 1, and 0 in the last run; it moved by 1, more than 0.1; share of l0 "
    )
    assert said.count("share of") == 3 and said.endswith("say validation.on_anomaly: report")


def test_nothing_is_left_of_a_corpus_in_no_language():
    assert changes(report(), report({"en": 1}), languages=0.5) == [("en", 0.0, 1.0, 1.0, False)]
