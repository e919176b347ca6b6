from .collect import (
    ReportInputs as ReportInputs,
    collect_run as collect_run,
    read_corpus_report as read_corpus_report,
)
from .compare import ComparedRun as ComparedRun, render_comparison as render_comparison
from .corpus_view import CorpusView as CorpusView
from .record import ArtifactRecord as ArtifactRecord, RunRecord as RunRecord
from .report import render_corpus_report as render_corpus_report, render_report as render_report
