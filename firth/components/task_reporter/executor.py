"""The work of TaskReporter: hands the artifacts' folders to `firth.analysis.tasks` and writes its page."""

from collections.abc import Mapping
from typing import Any

from firth.analysis import ReportInputs
from firth.analysis.tasks.collect import TaskReportInputs, collect_task
from firth.analysis.tasks.report import render_task_report
from firth.components.reporting import ReportExecutor
from firth.recipes.run.adapting import AdaptingRecipe


class Executor(ReportExecutor):
    """Writes the report of a run that adapts a model."""

    recipe_type = AdaptingRecipe

    def page(self, run: ReportInputs, folders: Mapping[str, str]) -> str:
        """Returns the page."""
        recipe: Any = run.recipe
        own = {name: folders[name] for name in ("records", "rows", "found")}
        return render_task_report(*collect_task(TaskReportInputs(recipe, run, **own)))
