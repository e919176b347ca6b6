"""Tokenization inside the TensorFlow graph."""
