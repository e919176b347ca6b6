"""The work of Reporter: hands the artifacts' folders to `firth.analysis` and writes its page."""

from collections.abc import Mapping

from firth.analysis import ReportInputs, collect_run, render_report
from firth.components.reporting import ReportExecutor
from firth.recipes import Recipe


class Executor(ReportExecutor):
    """Writes the report of a pre-training."""

    recipe_type = Recipe

    def page(self, run: ReportInputs, folders: Mapping[str, str]) -> str:
        """Returns the page."""
        return render_report(collect_run(run))
