"""Analysis: the report on a run, and the page that compares runs.

Names load on first use, so that the command line can print durations without loading Matplotlib.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.analysis.collect import ReportInputs, collect_run, read_corpus_report
    from firth.analysis.compare import ComparedRun, render_comparison
    from firth.analysis.corpus_view import CorpusView
    from firth.analysis.record import ArtifactRecord, RunRecord
    from firth.analysis.report import render_corpus_report, render_report

_HOMES = {
    "ArtifactRecord": "record",
    "ComparedRun": "compare",
    "CorpusView": "corpus_view",
    "ReportInputs": "collect",
    "RunRecord": "record",
    "collect_run": "collect",
    "read_corpus_report": "collect",
    "render_comparison": "compare",
    "render_corpus_report": "report",
    "render_report": "report",
}

__all__ = [
    "ArtifactRecord",
    "ComparedRun",
    "CorpusView",
    "ReportInputs",
    "RunRecord",
    "collect_run",
    "read_corpus_report",
    "render_comparison",
    "render_corpus_report",
    "render_report",
]

__getattr__ = lazy_names(__name__, _HOMES)
