"""Layers and vectors that methods add to a model and that do not merge into its weights."""
