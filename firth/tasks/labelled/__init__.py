"""Labelled data of a recipe: their kinds, records as examples, schema, and skew between splits."""
