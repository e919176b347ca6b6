"""TaskSchemaGen: the schema that a task requires of labelled records."""

from firth.components.task_schema_gen.component import TaskSchemaGen

__all__ = ["TaskSchemaGen"]
