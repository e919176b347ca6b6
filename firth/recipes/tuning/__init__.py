"""The types of methods that adapt a model."""
