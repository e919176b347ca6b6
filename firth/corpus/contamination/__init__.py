"""The evaluation data that were found in a corpus, as they go with the models that are trained on it."""
