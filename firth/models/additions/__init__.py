"""Layers and vectors that methods add to a model, and that stay there, as weights cannot take them in."""
