"""CorpusValidator: checks that the cleaned corpus keeps the recipe's limits."""

from firth.components.corpus_validator.component import CorpusValidator

__all__ = ["CorpusValidator"]
