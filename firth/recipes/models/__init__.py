"""The shape of a model."""
