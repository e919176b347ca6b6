"""Training on Keras's JAX backend, in a process of its own, which `firth.training.train` starts."""
