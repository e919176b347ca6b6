"""CorpusExampleGen: from a recipe's sources to documents."""

from firth.components.corpus_example_gen.component import CorpusExampleGen

__all__ = ["CorpusExampleGen"]
