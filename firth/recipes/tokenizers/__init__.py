"""Tokenizers, and the rows that their pieces are packed into."""
