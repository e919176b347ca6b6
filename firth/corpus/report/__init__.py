"""The report of a corpus and the checks on it."""
