"""SequenceGen: tokenized documents packed into rows."""

from firth.components.sequence_gen.component import SequenceGen

__all__ = ["SequenceGen"]
