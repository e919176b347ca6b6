"""Positions that embeddings add and attention reads."""
