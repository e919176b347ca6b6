"""The step that trains a classifier of text quality and drops documents by it."""
