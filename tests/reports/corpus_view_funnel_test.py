from firth.reports.corpus_view import FunnelLine, funnel_lines, sources_of
from tests.reports.records import corpus_report


def test_sources_add_up():
    rows = corpus_report()["funnel"]
    assert sources_of(rows) == ["books", "news"]
    whole = funnel_lines(rows)
    assert whole == [
        FunnelLine("read", "in", 15, 150, 30),
        FunnelLine("read", "rejected: too_long", 1, 10, 2),
        FunnelLine("read", "kept", 14, 140, 28),
        FunnelLine("length", "in", 14, 140, 28),
        FunnelLine("length", "dropped: too_few_words", 3, 30, 6),
        FunnelLine("length", "kept", 11, 110, 22),
    ]
    books, news = (funnel_lines(rows, source) for source in ("books", "news"))
    assert books[-1].documents + news[-1].documents == whole[-1].documents
    assert [line.what for line in news] == ["in", "kept", "in", "dropped: too_few_words", "kept"]


def test_no_rows_no_lines():
    assert funnel_lines([]) == []
