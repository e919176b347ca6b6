"""What tokenizers do in the TensorFlow graph."""
