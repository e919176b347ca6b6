"""LSTMs."""
