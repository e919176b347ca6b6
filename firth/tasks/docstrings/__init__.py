"""Labelled records made of docstrings: their tasks, their texts, questions on types."""
