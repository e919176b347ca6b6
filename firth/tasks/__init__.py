"""Downstream tasks: pure functions from rows with labels to Features."""

from firth.tasks.table import TASKS

__all__ = ["TASKS"]
