"""Settings of training, evaluation and export."""
