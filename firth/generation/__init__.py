"""Texts that a trained model writes, token by token."""

from firth.generation.greedy import NextTokenReader, WrittenTexts, write_greedily
from firth.generation.readers import DecoderReader, StackReader

__all__ = ["DecoderReader", "NextTokenReader", "StackReader", "WrittenTexts", "write_greedily"]
