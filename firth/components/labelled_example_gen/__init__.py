"""LabelledExampleGen: from a recipe's labelled data to examples."""

from firth.components.labelled_example_gen.component import LabelledExampleGen

__all__ = ["LabelledExampleGen"]
