"""Attention: which tokens see which, and how much."""
