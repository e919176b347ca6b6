"""What tests need of the backend that Keras runs on, TensorFlow or JAX, and the light environment's own."""
