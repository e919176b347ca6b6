"""Texts that a trained model writes, token by token."""

from firth.generation.greedy import Reader, Written, write_greedily
from firth.generation.readers import DecoderReader, StackReader

__all__ = ["DecoderReader", "Reader", "StackReader", "Written", "write_greedily"]
