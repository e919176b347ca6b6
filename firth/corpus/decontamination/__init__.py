"""The step that removes evaluation data from a corpus, and the evidence of it that models carry."""
