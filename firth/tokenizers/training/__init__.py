"""Counting words, and training tokenizers on the counts."""
