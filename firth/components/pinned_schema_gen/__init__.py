"""PinnedSchemaGen: a schema that a person has pinned."""

from firth.components.pinned_schema_gen.component import PinnedSchemaGen

__all__ = ["PinnedSchemaGen"]
