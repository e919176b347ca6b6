"""Labelled data of a recipe: the kinds, the records as examples, their schema, how their splits differ."""
