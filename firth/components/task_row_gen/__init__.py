"""TaskRowGen: labelled records tokenized and packed into rows."""

from firth.components.task_row_gen.component import TaskRowGen

__all__ = ["TaskRowGen"]
