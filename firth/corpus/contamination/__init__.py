"""Evidence of evaluation data in a corpus, which the models carry that are trained on it."""
