"""What a corpus was found to hold of evaluation data, as it goes with the models that are trained on it."""
