"""Evaluation data, kept out of a corpus."""
