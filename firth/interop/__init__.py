"""Weights and tokenizers of others, in and out."""
