"""Measures of gradients on the backend that Keras runs on, TensorFlow or JAX."""
