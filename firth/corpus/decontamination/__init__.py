"""The step that removes evaluation data from a corpus."""
