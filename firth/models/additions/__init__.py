"""What methods add to a model and do not merge into its weights, so that it is a part of the model."""
