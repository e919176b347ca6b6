"""TaskReporter: one page on a run that adapts a model."""

from firth.components.task_reporter.component import TaskReporter

__all__ = ["TaskReporter"]
