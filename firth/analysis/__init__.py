"""Analysis: the report on a run.

Names load on first use, so that the command line can print durations without loading Matplotlib.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.analysis.collect import ReportInputs, collect_run
    from firth.analysis.record import ArtifactRecord, RunRecord
    from firth.analysis.report import render_report

_HOMES = {
    "ArtifactRecord": "record",
    "ReportInputs": "collect",
    "RunRecord": "record",
    "collect_run": "collect",
    "render_report": "report",
}

__all__ = ["ArtifactRecord", "ReportInputs", "RunRecord", "collect_run", "render_report"]

__getattr__ = lazy_names(__name__, _HOMES)
