"""Cleaning, splitting and output of a corpus, with a report."""
