"""PinnedSchemaGen: a schema that a person has pinned."""
