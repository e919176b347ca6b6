"""Heads on a stack of blocks."""
