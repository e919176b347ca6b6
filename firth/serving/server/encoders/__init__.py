"""Answers of encoders by the shapes of other servers: ranks, classes, tags and masks."""
