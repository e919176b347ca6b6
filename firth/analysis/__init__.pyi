from .collect import (
    ReportInputs as ReportInputs,
)
from .collect import (
    collect_run as collect_run,
)
from .collect import (
    read_corpus_report as read_corpus_report,
)
from .compare import ComparedRun as ComparedRun
from .compare import render_comparison as render_comparison
from .corpus_view import CorpusView as CorpusView
from .record import ArtifactRecord as ArtifactRecord
from .record import RunRecord as RunRecord
from .report import render_corpus_report as render_corpus_report
from .report import render_report as render_report
