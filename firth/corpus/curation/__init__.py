"""Cleaning and splitting of a corpus, with a report."""
