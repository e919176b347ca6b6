"""TaskDataValidator: stops where labelled records do not fit their task."""

from firth.components.task_data_validator.component import TaskDataValidator

__all__ = ["TaskDataValidator"]
