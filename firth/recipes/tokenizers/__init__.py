"""Tokenizers, and how their pieces become sequences."""
