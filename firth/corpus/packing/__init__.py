"""Tokenization of cleaned documents, mixing of sources, and packing into rows of tokens."""
