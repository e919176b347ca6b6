"""Losses over large vocabularies."""
